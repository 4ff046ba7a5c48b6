"""The options of the command line, and that Python calls them by the same names."""

import inspect
import os
import threading
from pathlib import Path

import pytest
from run_cli import GREEK, put, records, run

import structens
from structens.cli import collect, combine, evaluate, fit, tag, train
from structens.ensembles import METHODS
from structens.evaluate import compare_counts, count_errors
from structens.io import DataWarning


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Every test runs in an empty folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_chosen_experts_and_their_order():
    tie = {"id": 1, "experts": {"a": ["x"], "b": ["y"], "c": ["z"]}}
    put(made=[tie])
    assert run("combine", "e.jsonl").answers == {1: ["x"]}
    assert run("combine", "e.jsonl", "--experts", "c, b").answers == {1: ["z"]}
    for command in ("combine", "evaluate"):
        run(command, "e.jsonl", "--experts", "q").refused("e.jsonl: no record has an answer of 'q'")
    some = run("combine", "e.jsonl", "--experts", "b,q")
    assert some.answers == {1: ["y"]}
    assert some.notes[0] == "e.jsonl: no record has the expert 'q'"


def test_methods_that_learn_need_gold():
    put(gold=False)
    assert "by ROVER" in run("combine", "e.jsonl").err
    for method in ("best", "mvote", "cv", "rand"):
        result = run("combine", "e.jsonl", "--method", method, "-o", "o.jsonl")
        result.refused("e.jsonl: no record has gold, and this method learns from gold")
    assert os.listdir() == ["e.jsonl"]
    put(n=5)
    assert "5 records have gold, which vote does not use" in run("combine", "e.jsonl", "--method", "vote").notes


def test_kept_keys():
    put()
    result = run("combine", "e.jsonl", "--keep", "part", "--keep", "note", "--keep", "none")
    assert [(row["part"], row["note"]) for row in result.rows] == [("xy"[k % 2], {"n": [k, None]}) for k in range(40)]
    assert result.notes == ["e.jsonl: no record has the key to keep 'none'"]


def test_alignment_on_request():
    put(made=[{"id": 1, "experts": {"a": list("bcd"), "b": list("abc"), "c": list("abc")}}])
    assert run("combine", "e.jsonl").answers == {1: ["a", "b", "c"]}
    assert len(run("combine", "e.jsonl", "--align", "always").answers[1]) >= 3
    assert len(run("combine", "e.jsonl", "--align", "always").rows[0]["experts"][1]) == 3
    put(made=records())
    run("combine", "e.jsonl", "--align", "never").refused("record 'r", "position by position needs equal lengths")
    run("fit", "e.jsonl", "-o", "m", "--align", "never").refused("e.jsonl:")
    put("even.jsonl", records(uneven=False))
    assert run("fit", "even.jsonl", "-o", "m.structens").code == 0
    one = {"id": "x", "experts": {"alpha": ["a"], "beta": ["a", "b"]}}
    put("new.jsonl", [{"id": 1, "experts": {"alpha": ["a"]}}, one])
    said = run("combine", "new.jsonl", "-m", "m.structens").refused("position by position needs equal lengths")
    assert said.startswith("structens: new.jsonl:2: record 'x': 'alpha' says 1 units, but 'beta' says 2")


def test_surface_forms_of_folded_units():
    put(made=[{"id": 1, "experts": {"a": "Stra\u00dfe, x", "b": "STRASSE x", "c": "strasse y"}}])
    result = run("combine", "e.jsonl", "--unit", "word", "--casefold", "--strip-punct")
    assert result.rows[0]["prediction"] == "Stra\u00dfe, x"
    assert result.rows[0]["experts"] == [["a", "b", "c"], ["a", "b"]]
    assert result.rows[0]["confidence"] == [1.0, 0.666667]
    composed = [{"id": 1, "experts": {"a": ["e\u0301"], "b": ["\u00e9"], "c": ["e"]}}]
    put(made=composed)
    assert run("combine", "e.jsonl", "--normalize", "NFC").answers == {1: ["e\u0301"]}
    run("combine", "e.jsonl", "--normalize", "NFC", "--unit", "codepoint")
    for unit, n in (("char", 1), ("codepoint", 2)):
        put(made=[{"id": 1, "experts": {"a": "e\u0301", "b": "e\u0301"}}])
        assert len(run("combine", "e.jsonl", "--unit", unit).rows[0]["confidence"]) == n


def test_confidences_and_weights_count():
    sure = {
        "id": 1,
        "experts": {"a": ["x"], "b": ["x"], "c": ["y"]},
        "confidences": {"a": [0.1], "b": [0.1], "c": [0.95]},
    }
    put(made=[sure])
    assert run("combine", "e.jsonl").answers == {1: ["y"]}
    assert run("combine", "e.jsonl", "--method", "vote").answers == {1: ["x"]}
    assert run("combine", "e.jsonl", "--use-confidence", "none").answers == {1: ["x"]}
    assert run("combine", "e.jsonl", "--alpha", "1").answers == {1: ["x"]}
    put(made=[{**sure, "weights": {"c": 2.5}}])
    assert run("combine", "e.jsonl", "--method", "vote").rows[0]["confidence"] == [0.555556]


def test_table_of_methods():
    put()
    table = run("combine", "e.jsonl", "--table").err
    for row in (*GREEK, "best expert", "majority", "ROVER", "H_MVote", "H_CV", "best expert per record", "best path"):
        assert f"\n   {row} " in table or f"\n*  {row} " in table, row
    put(made=records(1))
    for made in (records(1), records(gold=False)):
        put(made=made)
        one = run("combine", "e.jsonl", "--table")
        assert one.code == 0
        assert one.err.startswith("no table: at least two records with gold are needed")


def test_folds_of_equal_lengths_are_aligned_like_all():
    made = [{"id": k, "gold": ["x", "y"], "experts": {"a": ["x", "y"], "b": ["x", "z"]}} for k in range(9)]
    made.append({"id": 9, "gold": ["x"], "experts": {"a": ["x", "y"], "b": ["x"]}})
    put(made=made)
    assert run("evaluate", "e.jsonl", "--methods", "best,mvote,cv,rand").code == 0


def test_evaluation_of_experts():
    put()
    table = run("evaluate", "e.jsonl", "--json", "--by", "part", "--methods", "vote,mvote").json
    assert [row["name"] for row in table["rows"]][:6] == [*sorted(GREEK), "majority", "H_MVote"]
    assert [(group["value"], group["n_records"]) for group in table["groups"]] == [("x", 20), ("y", 20)]
    errors = {row["name"]: row["errors"] for row in table["rows"]}
    for group in table["groups"]:
        for row in group["rows"]:
            errors[row["name"]] -= row["errors"]
    assert set(errors.values()) == {0}
    run("evaluate", "e.jsonl", "--by", "none").refused("no record has", "'none'")
    text, markdown = run("evaluate", "e.jsonl", "--definitions").out, run("evaluate", "e.jsonl", "--format", "md").out
    assert text.startswith("Token error on 40 records")
    assert "| H" not in text
    assert "| :-- |" in markdown
    X = structens.read_records("e.jsonl")
    alpha = count_errors("alpha", X)
    assert table["rows"][0]["errors"] == alpha.errors.sum()
    compared = run("evaluate", "e.jsonl", "--compare", "alpha,vote", "--json", "--seed", "4").json
    api = compare_counts(alpha, count_errors(structens.make_ensemble("vote").fit(X).predict(X), X), seed=4)
    assert compared["difference"] == pytest.approx(api.difference)
    assert compared["a"], compared["b"] == ("alpha", "majority")
    run("evaluate", "e.jsonl", "--compare", "alpha,none").refused("there is no row 'none'")


def test_evaluation_of_predictions():
    made = records(kind="texts")
    put(made=made)
    run("combine", "e.jsonl", "-o", "out.jsonl", "--keep", "part")
    run("combine", "e.jsonl", "-o", "out2.jsonl.gz", "--method", "vote", "--keep", "gold")
    both = run("evaluate", "out.jsonl", "out2.jsonl.gz", "--gold", "e.jsonl", "--json", "--by", "part").json
    assert [(row["name"], row["kind"]) for row in both["rows"]] == [("out", "system"), ("out2", "system")]
    assert [group["value"] for group in both["groups"]] == ["x", "y"]
    alone = run("evaluate", "out2.jsonl.gz", "--json").json
    assert alone["rows"][0]["errors"] == both["rows"][1]["errors"]
    listed = run("evaluate", "out.jsonl", "--gold", "e.jsonl", "--per-record").rows
    assert sum(row["errors"] for row in listed) == both["rows"][0]["errors"]
    put("gold.jsonl", [{"id": r["id"], "text": r["gold"]} for r in made[:30]])
    fewer = run("evaluate", "out.jsonl", "--gold", "gold.jsonl", "--json")
    assert fewer.json["n_records"] == 30
    assert fewer.err == "note: out.jsonl: 10 records have no gold (first 'r30') and are left out\n"
    with_experts = run("evaluate", "e.jsonl", "--gold", "gold.jsonl", "--json").json
    assert (with_experts["n_records"], with_experts["n_unscored"]) == (30, 10)
    assert with_experts["notes"][0] == "records without gold, not scored: 10 of 40"
    run("evaluate", "out.jsonl", "out.jsonl", "--gold", "e.jsonl").refused("two files are named 'out'", code=2)
    run("evaluate", "e.jsonl", "out.jsonl").refused("e.jsonl:1: record 'r0': there is no key prediction")


def test_alternatives_of_predictions_are_read_strictly():
    pair = {"id": "u", "gold": "a", "prediction": "B"}
    for others, said in (
        (7, "gold_alternatives is a number, a list of answers is needed"),
        ([5], "gold_alternatives[0] is a number, a string is needed"),
        (["x", ["b"]], "gold_alternatives[1] is a list, a string is needed"),
        ([None], "gold_alternatives[0] is null"),
    ):
        put("p.jsonl", [{**pair, "gold_alternatives": others}])
        run("evaluate", "p.jsonl").refused("p.jsonl:1: record 'u': ", said)
    put("p.jsonl", [{**pair, "gold_alternatives": ["b"]}])
    assert run("evaluate", "p.jsonl", "--json").json["rows"][0]["errors"] == 1
    assert run("evaluate", "p.jsonl", "--json", "--casefold").json["rows"][0]["errors"] == 0
    put("p.jsonl", [{**pair, "prediction": ["B"]}])
    run("evaluate", "p.jsonl").refused("p.jsonl: prediction holds lists of tokens, but the gold of p.jsonl is texts")
    put("p.jsonl", [{"id": 1, "gold": ["a"], "gold_alternatives": [[""]], "prediction": ["a"]}])
    run("evaluate", "p.jsonl").refused("token gold_alternatives[0][0] is empty")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_are_read_once_and_kept():
    put("p.jsonl", [{"id": "u", "gold": "a", "prediction": "b"}])
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_bytes(Path("p.jsonl").read_bytes()))
    writer.start()
    result = run("evaluate", "pipe", "--json")
    writer.join(10)
    assert result.json["rows"][0]["errors"] == 1
    assert run("evaluate", "-", "--json", stdin=Path("p.jsonl").read_bytes()).json["rows"][0]["name"] == "-"


def test_suspicious_experts_are_noted():
    made = [{"id": k, "experts": {"a": [f"x{k}"], "b": [f"x{k}"], "c": [f"y{k}"]}} for k in range(10)]
    put(made=made)
    copies = "possible copies, equal in every record they share: a, b"
    apart = [f"{j!r} and 'c' share no label (0 agreements): map the labels first" for j in "ab"]
    assert run("combine", "e.jsonl").notes == [copies, *apart]
    assert run("fit", "e.jsonl", "-o", "m").notes[:3] == [copies, *apart]
    put(made=made[:9])
    assert run("combine", "e.jsonl").notes == apart
    made[9]["experts"]["b"] = ["y9"]
    put(made=made)
    assert run("combine", "e.jsonl").notes == apart[:1]
    put(made=[{"id": 1, "experts": {f"e{j}": [f"t{j}"] for j in range(6)}}])
    notes = run("combine", "e.jsonl").notes
    assert len(notes) == 6
    assert notes[-1] == "and 10 more of this kind"


def test_readers_warnings_become_notes():
    put(made=[{"id": 1, "experts": {"a": ["a\u00a0b"]}}])
    with pytest.warns(DataWarning, match="U\\+00A0"):
        structens.read_records("e.jsonl")
    assert len(run("combine", "e.jsonl").notes) == 1
    assert run("combine", "e.jsonl", "-q").err == ""


ELSEWHERE = {
    "add": "taggers of honest_tags and add_experts",
    "expert": "experts of structens.io.collect; an option is repeated, so it has the name of one",
    "file": "path of read_records",
    "files": "paths of read_records and read_sequences",
    "output": "path of write_predictions and save",
    "model": "path of load",
    "taggers": "model of cross_predict, a mapping",
    "table": "evaluate_methods",
    "nbest": "n_best of Ensemble.combine",
    "constraint": "restriction of the ensembles, which may be a file's content too",
    "compare": "compare_counts",
    "per_record": "record_rows",
    "alignment": "structens.evaluate.alignment",
    "agreement": "structens.evaluate.agreement",
    "ignore_token": "ignore_tokens of evaluate_experts; an option is repeated, so it has the name of one",
    "json": "format of render",
    "online": "combine_online of the ensembles",
    "reliability": "path of what structens.report.reliability_svg gives",
    "save_model": "path of save",
    "verbose": "bounds_ of the ensembles",
    "quiet": "Python is quiet by itself",
}
"""Options that are no parameters of the same name, and what they are in Python."""


def parameters():
    """Name -> defaults of the parameters of the Python functions and classes behind the commands."""
    from structens.boosting import AdaBoostMH, HammingTree
    from structens.ensembles import honest_tags
    from structens.io import collect as collect_files
    from structens.io import read_sequences, read_tagged

    behind = [
        structens.PositionTagger,
        structens.WordFeatures,
        structens.cross_predict,
        AdaBoostMH,
        HammingTree,
        honest_tags,
        read_tagged,
        structens.read_records,
        structens.iter_records,
        structens.AutoEnsemble,
        structens.BestExpert,
        structens.MajorityVote,
        structens.PathExpertEnsemble,
        structens.LengthGated,
        structens.make_ensemble,
        structens.evaluate_experts,
        structens.evaluate_methods,
        structens.ExpertPredictions.of,
        structens.write_predictions,
        structens.save,
        structens.load,
        structens.render,
        collect_files,
        read_sequences,
    ]
    found = {}
    for call in behind:
        for name, parameter in inspect.signature(call).parameters.items():
            found.setdefault(name, set()).add(repr(parameter.default))
    return found


@pytest.mark.parametrize(
    "command", [combine.combine, fit.fit, evaluate.evaluate, train.train, tag.tag, collect.collect]
)
def test_every_option_is_a_parameter_of_the_same_name(command):
    known, options = parameters(), dict(inspect.signature(command).parameters)
    options.pop("ctx", None)  # typer's own
    missing = [name for name in options if name not in known and name not in ELSEWHERE]
    assert missing == []
    same = {"unit", "align", "normalize", "casefold", "strip_punct", "tie", "beta", "delta", "union_bound", "alpha"}
    same |= {"null_confidence", "ties", "seed", "loss", "by", "present_only", "n_resamples", "definitions", "format"}
    for name in same & options.keys():
        assert repr(options[name].default) in known[name], name


def test_methods_offered_are_the_methods():
    said = run("combine", "e.jsonl", "--method", "nope").refused(code=2)
    assert f"method must be one of {', '.join(METHODS)};" in said
    shown = " ".join(run("combine", "--help").out.split()).partition("--method <str> ")[2].partition(" (default")[0]
    shown = shown.replace("- ", "-")  # lines are broken at hyphens
    assert set(shown.replace(" or ", ", ").split(", ")) == set(METHODS)


def test_text_teaches_the_ngrams():
    import random

    draw = random.Random(0)
    words = ["".join(draw.choice(("ab", "cd", "ef")) for _ in range(3)) for _ in range(120)]

    def noisy(word, rate):
        return "".join(draw.choice("abcdef") if draw.random() < rate else letter for letter in word)

    made = [
        {"id": k, "experts": {name: noisy(word, 0.4) for name in "xyz"}, "gold": word if k < 12 else None}
        for k, word in enumerate(words)
    ]
    put(made=made)
    put("gold.jsonl", [{"id": k, "gold": word} for k, word in enumerate(words)])
    Path("more.txt").write_text("\n".join([*words[12:], ""]), encoding="utf-8")

    def errors(*options):
        run("combine", "e.jsonl", "-o", "out.jsonl", "--seed", "1", *options)
        return run("evaluate", "out.jsonl", "--gold", "gold.jsonl", "--json").json["rows"][0]["errors"]

    for method, part in (("confusion", 0.8), ("auto", 0.9)):
        assert errors("--method", method, "--text", "more.txt") < part * errors("--method", method)
    run("fit", "e.jsonl", "-o", "m.structens", "--method", "confusion", "--text", "more.txt", "--seed", "1")
    kept = structens.load("m.structens")
    assert kept.text is None
    whole = structens.read_records("e.jsonl")
    python = structens.make_ensemble("confusion", text=words[12:], seed=1).fit(whole)
    assert (
        kept.predict(whole)
        == python.predict(whole)
        == [*run("combine", "e.jsonl", "-m", "m.structens").answers.values()]
    )
    run("combine", "e.jsonl", "--method", "vote", "--text", "more.txt").refused(code=2)
    run("combine", "e.jsonl", "-m", "m.structens", "--text", "more.txt").refused(code=2)
    Path("none.txt").write_text("\n \n", encoding="utf-8")
    run("combine", "e.jsonl", "--text", "none.txt").refused("none.txt: there is no text in the file")
    put("tokens.jsonl", [{"id": 1, "gold": ["a"]}])
    run("combine", "e.jsonl", "--text", "tokens.jsonl").refused("gold holds lists of tokens, but the answers are texts")
    Path("bad.txt").write_bytes(b"ab\n\xffb\n")
    run("combine", "e.jsonl", "--text", "bad.txt").refused("bad.txt:2: byte 0xFF at byte offset 0 of the line")
