"""One file a system put together into records: each format, the join, and what is refused."""

import io
import json
from pathlib import Path

import pytest
from run_cli import run

from structens.core import DataError, ParameterError
from structens.io import collect

STM = b""";; c
rec1 1 spk1 0.00 1.50 <o,f0,male> good day
rec1 1 spk1 1.50 2.00 IGNORE_TIME_SEGMENT_IN_SCORING
rec1 A spk2 2.00 3.00 { bye / good { bye / night } / @ } now
"""
CTM = b"""rec1 1 0.9 0.2 day 0.5
rec1 1 0.2 0.3 good 0.75
rec1 1 1.6 0.2 uh 0.1
rec1 A 2.1 0.2 now NA
"""


def of(**files):
    return {name: io.BytesIO(data) for name, data in files.items()}


def named(tmp_path, **files):
    """Files with names that say their format: x_trn is x.trn."""
    paths = {}
    for name, data in files.items():
        stem, _, suffix = name.rpartition("_")
        paths[stem] = str(tmp_path / f"{stem}.{suffix}")
        Path(paths[stem]).write_bytes(data)
    return paths


def test_timed_words_are_cut_at_the_segments_of_the_gold(tmp_path):
    files = named(tmp_path, ref_stm=STM, a_ctm=CTM, b_stm=b"rec1 1 x 0.00 1.50 good\n")
    made = collect({"a": files["a"], "b": files["b"]}, files["ref"])
    first, second = made.records
    assert first == {
        "id": "rec1-1-0.00-1.50",
        "experts": {"a": ["good", "day"], "b": ["good"]},
        "confidences": {"a": [0.75, 0.5]},
        "gold": ["good", "day"],
    }
    assert second["gold"] == ["bye", "now"]
    assert second["gold_alternatives"] == [["good", "bye", "now"], ["good", "night", "now"], ["now"]]
    assert second["experts"] == {"a": ["now"], "b": None}
    assert "confidences" not in second
    assert made.notes == [
        "a: 1 words lie in no segment that is scored, and are left out",
        "b: no answer to 1 of 2 records (first 'rec1-A-2.00-3.00')",
    ]
    twice = STM + b"rec1 1 spk2 0.00 1.00 good\n"  # people speak at once
    overlapping = collect({"a": files["a"]}, named(tmp_path, two_stm=twice)["two"])
    assert overlapping.notes == ["a: 1 words lie in no segment that is scored, and are left out"]
    assert overlapping.records[2]["experts"] == {"a": ["good"]}
    alone = collect({"a": files["a"]})
    assert [record["id"] for record in alone.records] == ["rec1-1", "rec1-A"]
    assert alone.records[0]["experts"]["a"] == ["good", "day", "uh"]


def test_formats_are_joined_by_id(tmp_path):
    conllu = "# sent_id = u1\n1\tI\t_\tPRON" + "\t_" * 6 + "\n2\tgo\t_\tVERB" + "\t_" * 6 + "\n\n"
    files = named(tmp_path, gold_conllu=conllu.encode(), a_trn=b"PRON NOUN (u1)\n", b_tsv=b"u1\tPRON  VERB\n")
    made = collect({"a": files["a"], "b": files["b"]}, files["gold"], split=True)
    (record,) = made.records
    assert record["experts"] == {"a": ["PRON", "NOUN"], "b": ["PRON", "VERB"]}
    assert (record["gold"], record["tokens"], made.notes) == (["PRON", "VERB"], ["I", "go"], [])
    words = collect(of(a=b"CAT  K AE T\n"), io.BytesIO(b"CAT  K AE T\nCAT(2)  K AA T\n"), format="dict")
    assert words.records[0]["gold_alternatives"] == [["K", "AA", "T"]]
    plain = collect(of(a=b"a cat\n\n", b=b"the cat\nx\n"), format="text")
    assert plain.records[1] == {"id": "2", "experts": {"a": "", "b": "x"}}
    more = collect(of(a=b"u1 x\nu2 y\n"), io.BytesIO(b"u1 x\n"), format="kaldi")
    assert more.notes == ["no gold for 1 of 2 records (first 'u2')"]


@pytest.mark.parametrize(
    ("form", "data", "said"),
    [
        ("trn", b"a b\n", "<stream>:1: the line does not end with an id in parentheses"),
        ("trn", b"a (u)\nb (u)\n", "<stream>:2: record 'u': the id stands in line 1 too"),
        ("trn", b"{ a / b (u)\n", "there is { without }"),
        ("trn", b"a } (u)\n", "there is } without {"),
        ("trn", b"{ a / b } " * 7 + b"(u)\n", "more than 64 answers"),
        ("trn", b"{ " * 3000 + b"(u)\n", "braces stand in more than 50 others"),
        ("stm", b"r 1 s 2.0\n", "the line has 4 columns, five are needed"),
        ("stm", b"r 1 s 2.0 1.0 a\n", "the segment ends at 1.0, before it begins at 2.0"),
        ("stm", b"r 1 s x 1.0 a\n", "a time in seconds is needed; got 'x'"),
        ("ctm", b"r 1 0 nan a\n", "a time in seconds is needed; got 'nan'"),
        ("ctm", b"r 1 0 1 a 1.5\n", "a confidence in [0, 1] is needed; got '1.5'"),
        ("ctm", b"r 1 * * <ALT_BEGIN>\n", "alternatives of timed words are not read"),
        ("ctm", b"r 1 0 1\n", "the line has 4 columns"),
        ("tsv", b"u a\n", "the line has 1 columns, two are needed"),
        ("dict", b"A\n", "record 'A': the word has no phones"),
        ("dict", b"A  B\nC(2)  D\n", "record 'C(2)': the variant does not follow 'C'"),
        ("kaldi", b"\n", "there are no answers in the file"),
        ("kaldi", b"u \xff\n", "byte 0xFF at byte offset 2 of the line is not UTF-8"),
    ],
)
def test_bad_files_are_refused(form, data, said):
    with pytest.raises(DataError) as caught:
        collect({"a": io.BytesIO(data)}, format=form)
    assert said in str(caught.value)
    assert str(caught.value).startswith("<stream>")


def test_files_that_do_not_go_together_are_refused(tmp_path):
    files = named(tmp_path, a_trn=b"x (u1)\n", b_txt=b"x\n", c_trn=b"x (u2)\n", d_txt=b"x\ny\n")
    for pair, said in (
        ("ab", "b.txt: it holds texts, but {a} lists of tokens; cut texts at blanks with split"),
        ("ac", "c.trn: 0 of 1 ids are shared with {a}: 'u2' here, 'u1' there"),
        ("bd", "d.txt: it has 2 lines, but {b} has 1; plain lines are joined by number"),
    ):
        with pytest.raises(DataError) as caught:
            collect({name: files[name] for name in pair})
        assert said.format(**files) in str(caught.value)
    for options in ({"format": "csv"}, {"format": "auto"}):
        with pytest.raises(ParameterError, match=r"format must be one of|the format of <stream> is not known"):
            collect(of(a=b"x\n"), **options)
    with pytest.raises(ParameterError, match="name at least one system"):
        collect({})
    word = "1\t{}\t_\tX" + "\t_" * 6 + "\n\n"
    with pytest.raises(DataError, match="systems tag different words"):
        collect(of(a=word.format("I").encode(), b=word.format("you").encode()), format="conllu")


def test_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    named(tmp_path, a_trn=b"x y (u1)\nz (u2)\n", b_trn=b"x (u1)\n", gold_trn=b"x y (u1)\nz (u2)\n")
    done = run("collect", "-e", "a.trn", "-e", "B=b.trn", "--gold", "gold.trn", "-o", "e.jsonl")
    assert done.err.splitlines() == [
        "note: B: no answer to 1 of 2 records (first 'u2')",
        "collected 2 records of 2 experts, 2 with gold; wrote e.jsonl",
    ]
    rows = [json.loads(line) for line in Path("e.jsonl").read_text().splitlines()]
    assert rows[1] == {"id": "u2", "experts": {"a": ["z"], "B": None}, "gold": ["z"]}
    errors = {row["name"]: row["errors"] for row in run("evaluate", "e.jsonl", "--json").json["rows"]}
    assert (errors["a"], errors["B"]) == (0, 2)
    assert json.loads(run("collect", "-e", "a.trn", "--json").err)["experts"] == ["a"]
    run("collect", "-e", "a.trn", "-e", "a=b.trn").refused("two systems are named 'a'", code=2)
    run("collect", "-e", "a=-", "-e", "b=-", "--format", "trn").refused("standard input can be read once", code=2)
    run("collect", "-e", "a.trn", "-o", "a.trn").refused(code=2)
    run("collect", "-e", "none.trn", "-o", "o.jsonl").refused("none.trn: cannot be read")
    assert not Path("o.jsonl").exists()
