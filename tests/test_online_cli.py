"""`combine --online` and `fit --verbose` on the command line."""

import json
import queue
import random
import subprocess
import threading

import pytest
from run_cli import COMMAND, lines, run, strict

import structens

pytestmark = pytest.mark.compiled  # nothing here that the learners' own tests do not run without the compiler


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def some(n=60, seed=0):
    """Records of three experts, the first good; every fifth without gold."""
    rng = random.Random(seed)
    out = []
    for i in range(n):
        gold = "".join(rng.choice("abcd") for _ in range(5))
        wrong = "".join("abcd"[("abcd".index(c) + 1) % 4] for c in gold)
        pick = ["".join(rng.choice((g, w)) for g, w in zip(gold, wrong, strict=True)) for _ in range(2)]
        record = {"id": i, "experts": {"a": gold, "b": pick[0], "c": pick[1] if i % 3 else None}}
        out.append(record if i % 5 == 4 else {**record, "gold": gold})
    return out


def test_answers_as_gold_arrives(folder):
    rows = some()
    (folder / "e.jsonl").write_text(lines(*rows))
    done = run("combine", "e.jsonl", "--online", "-o", "o.jsonl", "--json", "--align", "never")
    assert done.code == 0, done.err
    summary = done.json
    assert summary["method"] == "last"
    assert summary["learner"] == "prequential"
    assert summary["learnt_from"] == 48
    python = structens.PathExpertEnsemble("last", learner="prequential", align="never")
    python.combine_online(structens.read_records("e.jsonl"))
    assert summary["regret"] == pytest.approx(python.regret_)
    bounded = run("combine", "e.jsonl", "--online", "-o", "o2.jsonl", "--json", "--learner", "adahedge").json
    assert 0 <= bounded["regret"] <= bounded["bounds"]["bound on regret"]
    answers = [strict(line)["prediction"] for line in (folder / "o.jsonl").read_text().splitlines()]
    right = [a == r["experts"]["a"] for a, r in zip(answers, rows, strict=True)]
    assert sum(right[10:]) >= 48
    # the gold of later records changes nothing before it
    changed = [{**r, "gold": r["experts"]["b"]} if i >= 30 else r for i, r in enumerate(rows)]
    (folder / "f.jsonl").write_text(lines(*changed))
    again = run("combine", "f.jsonl", "--online", "--align", "never")
    assert [row["prediction"] for row in again.rows][:31] == answers[:31]


def test_going_on_from_a_model(folder):
    rows = some(80)
    for name, part in (("all", rows), ("one", rows[:37]), ("two", rows[37:])):
        (folder / f"{name}.jsonl").write_text(lines(*part))
    for given in (
        [],
        ["--beta", "0.8"],
        ["--learner", "squint", "--tie", "position"],
        ["--learner", "fixed-share", "--beta", ".9"],
        ["--share", "0.1"],
    ):
        options = [*given, "--align", "never"]
        whole = run("combine", "all.jsonl", "--online", *options)
        first = run("combine", "one.jsonl", "--online", "--save-model", "m.structens", *options)
        then = run("combine", "two.jsonl", "--online", "-m", "m.structens", "--save-model", "n.structens")
        assert (whole.code, first.code, then.code) == (0, 0, 0), (whole.err, first.err, then.err)
        assert first.out + then.out == whole.out
        fitted = run(
            "fit",
            "one.jsonl",
            "-o",
            "f.structens",
            "--method",
            "last",
            *given,
            *([] if {"--learner", "--beta"} & set(given) else ["--learner", "prequential"]),
            *options[-2:],
        )
        assert fitted.code == 0, fitted.err
        assert run("combine", "two.jsonl", "--online", "-m", "f.structens").out == then.out
        assert run("combine", "two.jsonl", "-m", "n.structens").code == 0


def test_standard_input_is_streamed_with_experts_named(folder):
    text = lines(*some()).encode()
    (folder / "e.jsonl").write_bytes(text)
    streamed = run("combine", "-", "--online", "--experts", "a,b,c", stdin=text)
    assert streamed.code == 0
    assert streamed.out == run("combine", "e.jsonl", "--online").out


@pytest.mark.parametrize("known_by", ["--experts", "--model"])
def test_a_pipe_is_answered_record_by_record(folder, known_by):
    rows = some(8)
    (folder / "e.jsonl").write_text(lines(*rows))
    if known_by == "--model":
        assert run("fit", "e.jsonl", "-o", "m.structens", "--method", "last", "--beta", "0.5").code == 0
    options = ["--online", known_by, "a,b,c" if known_by == "--experts" else "m.structens"]
    whole = run("combine", "e.jsonl", *options)
    assert whole.code == 0, whole.err
    answers: queue.Queue = queue.Queue()
    with subprocess.Popen(
        [*COMMAND, "combine", "-", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        threading.Thread(target=lambda: [answers.put(line) for line in process.stdout], daemon=True).start()
        try:
            for row, wanted in zip(rows, whole.out.splitlines(keepends=True), strict=True):
                process.stdin.write(lines(row).encode())
                process.stdin.flush()
                assert answers.get(timeout=60).decode() == wanted  # before the next record is written
            process.stdin.write(b"no json\n")
            process.stdin.close()
            assert process.wait(timeout=60) == 1
        finally:
            process.kill()


def test_what_does_not_go_with_online(folder):
    (folder / "e.jsonl").write_text(lines(*some()))
    assert run("fit", "e.jsonl", "-o", "m.structens", "--method", "mvote").code == 0
    for options, words in [
        (["--online", "--method", "cv"], ["--method cv"]),
        (["--online", "-m", "m.structens"], ["m.structens", "fit --method last"]),
        (["--save-model", "x.structens"], ["--save-model goes with --online"]),
        (["--online", "--tie", "label", "--beta", "0.5"], ["any tie but 'label'"]),
        (["--online", "--beta", "position"], ["beta='position' needs all records"]),
        (["--learner", "prod"], ["learner must be one of"]),
    ]:
        run("combine", "e.jsonl", *options).refused(*words, code=2)


@pytest.mark.parametrize("method", ["mvote", "cv", "fpl", "fpl-cv", "last"])
def test_fit_prints_regret_and_bounds(folder, method):
    (folder / "e.jsonl").write_text(lines(*some()))
    done = run("fit", "e.jsonl", "-o", "m.structens", "--method", method, "--verbose", "--align", "never")
    assert done.code == 0, done.err
    said = dict(line.rsplit(": ", 1) for line in done.err.splitlines() if not line.startswith(("note", "fitted")))
    assert float(said["rounds T"]) == 48
    assert float(said["regret"]) >= 0
    assert float(said["vote on these records"]) <= float(said["vote on these records: refined bound (proposition 4)"])
    if method in ("mvote", "cv"):
        assert float(said["regret"]) <= float(said["bound on regret"])
        assert float(said["H_MVote: bound on expected loss (proposition 2)"]) > 0
    assert "epsilon" in done.err if method.startswith("fpl") else "epsilon" not in done.err
    note = done.err.splitlines()[-1]
    assert note.startswith("note: regret and its bound are in slot losses, summed over all records")
    assert ("Bounds suppose a beta fixed in advance" in note) == (not method.startswith("fpl"))
    fixed = run("fit", "e.jsonl", "-o", "m.structens", "--method", "mvote", "--verbose", "--beta", "0.9")
    assert "fixed in advance" not in fixed.err
    told = run("fit", "e.jsonl", "-o", "m.structens", "--method", method, "--json", "--align", "never")
    assert json.loads(told.out)["bounds"]["rounds T"] == 48


def test_a_vote_has_no_bounds(folder):
    (folder / "e.jsonl").write_text(lines(*some()))
    done = run("fit", "e.jsonl", "-o", "m.structens", "--method", "vote", "-v")
    assert "no bounds: majority learns nothing on line" in done.err


def test_losses_to_learn_by(folder):
    (folder / "e.jsonl").write_text(lines(*some()))
    X = structens.read_records("e.jsonl")
    for loss in ("hamming", "edit", "ngram"):
        done = run("combine", "e.jsonl", "--loss", loss, "--tie", "position", "--beta", "0.8")
        assert done.code == 0, done.err
        ensemble = structens.PathExpertEnsemble(loss=loss, tie="position", beta=0.8).fit(X)
        assert [row["prediction"] for row in done.rows] == ensemble.predict(X)
        assert run("fit", "e.jsonl", "-o", "m.structens", "--loss", loss, "--beta", "0.8").code == 0
        assert structens.load("m.structens").loss == loss
        run("combine", "e.jsonl", "-m", "m.structens", "--loss", loss).refused(
            "--loss does not go with --model", code=2
        )
        online = run("combine", "e.jsonl", "--online", "--loss", loss)
        assert online.code == 2 if loss == "ngram" else online.code == 0
    run("combine", "e.jsonl", "--loss", "zero").refused("loss must be one of hamming, edit, ngram", code=2)
