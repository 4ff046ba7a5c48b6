"""Checks of the acceptance cases of families 2 and 3: reading, and metrics."""

import gzip
import io
import json
import math
from pathlib import Path

import pytest
from case_adapter import check, option, row_of
from run_cli import lines, run

from structens.cli.collect import name_and_path
from structens.core import DataError, ExpertPredictions, ParameterError
from structens.io import read_conllu
from structens.losses import edit_counts, edit_distance


def refused(case, *mentioned, text=None):
    """The message with which `combine` refuses the case's file, or this one; no output is written."""
    if text is None:
        case.write()
    else:
        Path("experts.jsonl").write_bytes(text if isinstance(text, bytes) else text.encode())
    message = run("combine", "experts.jsonl", "-o", "out.jsonl").refused("experts.jsonl", *mentioned)
    assert not Path("out.jsonl").exists()
    return message


@check("PARSE-02")
def carriage_returns(case):
    ends = {name.removesuffix(".txt"): text.count("\r") for name, text in case.files.items()}
    assert ends == {"ref": 1, "hyp": 0}
    for name, text in case.files.items():
        ident, *tokens = text.split()
        line = json.dumps({"id": ident, "tokens": tokens}) + text[text.index(tokens[-1]) + 1 :]
        Path(name.replace(".txt", ".jsonl")).write_bytes(line.encode())
    row = row_of(run("evaluate", "hyp.jsonl", "--gold", "ref.jsonl", "--json"))
    assert (row["errors"], row["reference_length"], row["rate"]) == (0, case.values["ref_len"], case.values["rate"])
    case.write()
    run("collect", "-e", "hyp.txt", "--gold", "ref.txt", "--format", "kaldi", "-o", "both.jsonl")
    row = row_of(run("evaluate", "both.jsonl", "--json"))
    assert (row["errors"], row["reference_length"]) == (0, case.values["ref_len"])
    word = "\t".join(["1", "a", *"____", "0", *"___"])
    read = [read_conllu(io.BytesIO((word + end + end).encode()), "FORM") for end in ("\n", "\r\n")]
    assert [one.gold for one in read] == [[["a"]], [["a"]]]


@check("PARSE-03")
def blank_lines_count(case):
    name, line = case.values["message_mentions"]
    refused(case, f"{name}:{line}:")


@check("PARSE-05")
def commas_and_arrays(case):
    case.write()
    a, b = run("combine", "a.jsonl"), run("combine", "b.jsonl")
    place = case.values["a"]
    a.refused(f"a.jsonl:{place['line']}:{place['column']}: there is a comma after the object; remove it")
    b.refused(f"b.jsonl:{case.values['b']['line']}:1: this is one JSON array; write one object a line")


@check("PARSE-06")
def numbers_that_are_not_finite(case):
    assert repr(json.loads("1e400")) == case.values["json.loads('1e400')"]
    for number in ("NaN", "Infinity", "-Infinity", "1e400"):
        text = case.files["experts.jsonl"].replace("NaN", number)
        assert "weights.A" in refused(case, "experts.jsonl:1:", text=text)
    Path("pairs.jsonl").write_text(lines({"id": "u1", "gold": [], "prediction": ["x"]}))
    for options in (["--json"], ["--per-record"]):
        assert "NaN" not in run("evaluate", "pairs.jsonl", *options).out


@check("PARSE-08")
def tokens_of_other_types(case):
    refused(case, "token experts.A[0] is a number, a string is needed")


@check("PARSE-09")
def nested_values(case):
    line, value = case.values["message_mentions"]
    refused(case, "experts.jsonl:" + line.removeprefix("line ") + ":", value)


@check("PARSE-11")
def long_lines_and_tokens(case):
    n = case.values["output_length"]
    a = ["ab"] * n
    b = ["ab", "cd"] * (n // 2)
    with open("experts.jsonl", "w") as file:
        file.write(json.dumps({"id": "u1", "experts": {"A": a, "B": b, "C": a}}) + "\n")
        file.write(json.dumps({"id": "u2", "experts": {"A": ["x" * n], "B": ["x" * n]}}) + "\n")
    answers = run("combine", "experts.jsonl").answers
    assert answers == {"u1": a, "u2": ["x" * n]}


@check("PARSE-12")
def members_of_gzip(case):
    one, two = (lines({"id": f"u{k}", "experts": {"A": ["x"]}}).encode() for k in (1, 2))
    data = gzip.compress(one) + gzip.compress(two)
    for name in ("experts.jsonl.gz", "experts.jsonl"):
        Path(name).write_bytes(data)
        assert len(run("combine", name).rows) == case.values["records"]
    assert list(run("combine", "-", stdin=data).answers) == ["u1", "u2"]


@check("PARSE-14")
def keys_that_stand_twice(case):
    refused(case, "experts.jsonl:1:", "the key experts.A stands twice")


@check("PARSE-15")
def surrogates_and_bytes(case):
    second = case.files["experts.jsonl"].splitlines(keepends=True)[1]
    refused(case, "experts.jsonl:1:", "experts.A[0] holds a lone surrogate")
    token = run("combine", "-", stdin=second.encode()).answers["u2"][0]
    assert (len(token), f"{ord(token):x}") == (case.values["u2_codepoints"], case.values["u2_hex"])
    bad = second.encode().replace(b"\\ud83c", b"\xff")
    text = lines({"id": "u1", "experts": {"A": ["x"]}}).encode() + bad
    refused(case, f"experts.jsonl:2: byte 0xFF at byte offset {bad.index(255)} of the line", text=text)


@check("METR-02")
def empty_references(case):
    u1, u2 = case.evaluate("--per-record").rows
    assert (u1["ins"], u1["rate"]) == (case.values["u1"]["ins"], case.values["u1"]["rate"])
    assert (u2["errors"], u2["rate"]) == (0, 0.0)
    result = case.evaluate("--json")
    assert row_of(result)["rate"] == case.values["micro"]
    assert "an empty reference and errors, which count in the totals: 1 (first 'u1')" in " ".join(result.json["notes"])


@check("METR-03")
def rates_that_do_not_exist(case):
    result, expected = case.evaluate("--json"), case.values["first"]
    assert result.code == 0
    row = row_of(result)
    assert (row["errors"], row["reference_length"], row["rate"]) == (expected["errors"], expected["ref_len"], None)
    assert any("there is no error rate" in note for note in result.json["notes"])
    case.evaluate("--json", file="empty.jsonl").refused("empty.jsonl: there are no records")


@check("METR-05")
def two_averages(case):
    result = case.evaluate("--json")
    row = row_of(result)
    assert (row["rate"], row["mean_record_rate"]) == (case.values["micro"], case.values["macro"])
    heads = case.evaluate().out.split("\n")[1]
    assert "error %" in heads
    assert "mean %" in heads
    parts = [
        row_of(run("evaluate", "-", "--json", stdin=line)) for line in Path("pairs.jsonl").read_bytes().splitlines()
    ]
    assert sum(p["errors"] for p in parts) / sum(p["reference_length"] for p in parts) == case.values["micro"]
    assert sum(p["rate"] for p in parts) / len(parts) == case.values["macro"]


@check("METR-06")
def one_tie_rule(case):
    rows = case.evaluate("--per-record", "--alignment").rows
    total = row_of(case.evaluate("--json"))
    for name, row in zip(("u1", "u2"), rows, strict=True):
        counts = [row["sub"], row["del"], row["ins"]]
        assert sum(counts) == case.values[f"{name}_total"]
        assert counts in case.values[f"{name}_allowed_SDI"]
        read_off = [sum(op == kind for op, _, _ in row["alignment"]) for kind in ("sub", "del", "ins")]
        assert read_off == counts
        pair = json.loads(case.files["pairs.jsonl"].splitlines()[int(name[1]) - 1])
        assert row["del"] - row["ins"] == len(pair["gold"]) - len(pair["prediction"])
    for key, name in (("sub", "substitutions"), ("del", "deletions"), ("ins", "insertions")):
        assert total[name] == sum(row[key] for row in rows)


@check("METR-08")
def counts_come_from_the_alignment(case):
    row, expected = row_of(case.evaluate("--json", *option("--metric edit"))), case.values
    assert (row["hits"], row["substitutions"], row["deletions"], row["insertions"]) == (expected["hits"], 0, 1, 1)
    assert row["match_error_rate"] == pytest.approx(expected["mer"], rel=1e-9)
    assert row["information_preserved"] == pytest.approx(expected["wip"], rel=1e-9)
    assert row["information_lost"] == pytest.approx(expected["wil"], rel=1e-9)


@check("METR-09")
def costs_of_edits(case):
    expected = case.values["pin_pan"]
    assert edit_distance("pin", "pan", (1, 1, 10)) == expected["cost"]
    assert list(edit_counts("pin", "pan", (1, 1, 10))) == expected["SDI"]
    assert edit_distance("tab", "ab", (0.1, 0.1, 0.1)) == pytest.approx(case.values["tab_ab_.1"], rel=1e-9)
    assert edit_distance("tab", "ab", (0.1, 0.1, 1)) == pytest.approx(case.values["tab_ab_.1_.1_1"], rel=1e-9)
    for bad in (-1.0, math.nan, math.inf):
        with pytest.raises(ParameterError, match="finite numbers >= 0"):
            edit_distance("a", "b", (1, bad, 1))


@check("METR-11")
def alternatives(case):
    before, after = case.files["ref"].split("{")[0].split(), case.files["ref"].split("}")[1].split()
    choices = [word.strip() for word in case.files["ref"].split("{")[1].split("}")[0].split("/")]
    golds = [[*before, *([] if word == "@" else [word]), *after] for word in choices]
    for name in ("hyp1", "hyp2", "hyp3"):
        said, expected = case.files[name].split(), case.values[name]
        record = {"id": "u1", "gold": golds[0], "gold_alternatives": golds[1:], "prediction": said}
        Path("pairs.jsonl").write_text(lines(record))
        Path("ref.trn").write_text(case.files["ref"] + " (u1)")
        Path("hyp.trn").write_text(case.files[name] + " (u1)")
        run("collect", "-e", "hyp.trn", "--gold", "ref.trn", "-o", "both.jsonl")
        for file in ("pairs.jsonl", "both.jsonl"):
            row = row_of(run("evaluate", file, "--json"))
            assert row["errors"] == expected["errors"]
            assert row["reference_length"] == expected.get("ref_len", row["reference_length"])
    for name, key in (("hyp1", "naive_hyp1"), ("hyp2", "naive_hyp2")):
        record = {"id": "u1", "gold": case.files["ref"], "prediction": case.files[name]}
        Path("pairs.jsonl").write_text(lines(record))
        row = row_of(run("evaluate", "pairs.jsonl", "--json", "--unit", "word"))
        assert (row["errors"], row["reference_length"]) == (case.values[key]["errors"], case.values[key]["ref_len"])


@check("METR-12")
def ignored_tokens(case):
    plain = case.evaluate("--per-record").rows
    ignored = case.evaluate("--per-record", "--ignore-token", "<eos>").rows
    assert [plain[0]["rate"], ignored[0]["rate"]] == [case.values["u1_plain"], case.values["u1_ignored"]]
    assert [plain[1]["rate"], ignored[1]["rate"]] == [case.values["u2_rate"]] * 2


@check("METR-14")
def files_without_ids(case):
    case.write()
    said = run("collect", "-e", "hyp.txt", "--gold", "ref.txt", "-o", "o.jsonl")
    said.refused("hyp.txt: it has 1 lines, but ref.txt has 2; plain lines are joined by number")
    run("evaluate", "hyp.txt", "--gold", "ref.txt").refused("hyp.txt:1:", "not valid JSON")
    for name in case.files:
        tokens = [{"tokens": line.split()} for line in case.files[name].splitlines()]
        Path(name.replace(".txt", ".jsonl")).write_text(lines(*tokens))
    run("evaluate", "hyp.jsonl", "--gold", "ref.jsonl").refused("there is no id")
    with pytest.raises(DataError, match="2 gold answers for 1 records"):
        ExpertPredictions.of({"hyp": ["a b"]}, gold=["a b", "c d"])


@check("PARSE-17")
def segments_have_labels(case):
    case.write()
    Path("hyp.stm").write_text("rec1 1 spk1 0.00 1.50 good day\n")
    run("collect", "-e", "hyp.stm", "--gold", "ref.stm", "-o", "both.jsonl")
    rows = [json.loads(line) for line in Path("both.jsonl").read_text().splitlines()]
    assert [row["gold"] for row in rows] == [case.values["segment1"], ["bye"]]
    assert [row["id"].split("-")[1] for row in rows] == ["1", "A"]
    found = run("evaluate", "both.jsonl", "--json", "--present-only")
    assert (row_of(found)["errors"], row_of(found)["rate"]) == (case.values["errors"], case.values["rate"])


@check("PARSE-18")
def ranges_and_empty_nodes_are_no_words(case):
    case.write()
    read = read_conllu("s.conllu")
    assert read.gold == [case.values["upos"]]
    assert len(read.sequences[0]) == case.values["words"]
    run("collect", "-e", "s.conllu", "-o", "e.jsonl")
    (row,) = (json.loads(line) for line in Path("e.jsonl").read_text(encoding="utf-8").splitlines())
    assert row == {"id": "q1", "experts": {"s": case.values["upos"]}, "tokens": ["Da", "me", "lo", "ya"]}


@check("PARSE-20")
def columns_are_parted_by_tabs(case):
    case.write()
    n = case.values["bad_columns"]
    said = run("collect", "-e", "bad.conllu", "-o", "o.jsonl").refused(f"bad.conllu:{case.values['bad_line']}:")
    assert f"the line has {n} columns, CoNLL-U has 10; columns are parted by one tab" in said
    assert not Path("o.jsonl").exists()
    assert read_conllu("good.conllu").sequences == [case.values["good_forms"]]


@check("PARSE-21")
def kaldi_text(case):
    case.write()
    run("collect", "-e", "k=text", "-o", "e.jsonl")
    rows = [json.loads(line) for line in Path("e.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {row["id"]: row["experts"]["k"] for row in rows} == case.values


@check("CLI-06")
def names_end_at_the_first_equals_sign(case):
    for name, path in case.values.items():
        assert f"--expert {name}={path}" in case.input["cmd"]
        assert name_and_path(f"{name}={path}") == (name, path)
    Path("b=1.trn").write_text("x (u1)\n")
    assert run("collect", "-e", "B=b=1.trn").rows == [{"id": "u1", "experts": {"B": ["x"]}}]
