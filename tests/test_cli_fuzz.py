"""Ten thousand mutations of good files through reading, learning, combining and writing: an answer, or one sentence."""

import io
import os
import random
import re
import warnings
from pathlib import Path

import pytest
from run_cli import lines, run, strict
from test_io_fuzz import mutate

from structens.cli.combine import rendered
from structens.cli.job import Tally, learnt
from structens.core import DataError
from structens.io import read_records

TEXTS = """\
{"id":"u1","experts":{"A":"abc","B":"abd","C":null},"gold":"abc","weights":{"A":1,"B":2.5}}
{"id":2,"experts":{"B":"caf\u00e9","A":""},"gold":"e\u0301a","gold_alternatives":["\\ud83c\\udf78"]}

{"id":"u3","experts":{"A":"x:y"},"confidences":{"A":[0.5,1,0]},"k":[{"a":1e3},-0.5,true]}
{"id":"u4","experts":{"A":"xyz","B":"xz","C":"yz"},"gold":"xyz"}
"""
TAGS = """\
{"id":"u1","experts":{"A":["K","AE","T"],"B":["K","EH","T"],"C":null},"gold":["K","AE","T"],"weights":{"A":1}}
{"id":"u2","experts":{"C":["\\"\\u00e9","T"],"A":["\\"\\u00e9","T"]},"confidences":{"A":[0.25,null]},"note":{"x":[[]]}}
{"id":3,"experts":{"A":["T"],"B":["D"],"C":["T"]},"gold":["T"],"gold_alternatives":[["D"]]}
"""
OPTIONS = [
    ["--method", "vote"],
    ["--method", "rover", "--keep", "note", "--unit", "word"],
    ["--casefold", "--strip-punct", "--normalize", "NFC"],
    ["--method", "best"],
    ["--method", "mvote", "--beta", "0.9", "--tie", "position"],
    ["--method", "rand", "--beta", "0.9", "--seed", "1"],
]
OUTPUT = {"id", "prediction", "confidence", "experts"}


def check_lines(data):
    """Every line is strict JSON with an answer, and a confidence and the experts of each unit."""
    assert data.endswith(b"\n")
    rows = [strict(line) for line in data.decode("utf-8").split("\n")[:-1]]
    for row in rows:
        assert row.keys() == OUTPUT
        assert len(row["confidence"]) == len(row["experts"])
        assert all(0 <= c <= 1 for c in row["confidence"])
        if isinstance(row["prediction"], list):
            assert len(row["prediction"]) == len(row["confidence"])
    return rows


def combined(data, method, options):
    """What the command does, without its parsing of arguments; the bytes written."""
    tally = Tally()
    X = read_records(io.BytesIO(data))
    ensemble = learnt(X, method, options, tally)
    written = list(rendered(iter([X]), ensemble, tally, False))
    tally.describe(ensemble)
    assert tally.sentence()
    return X, b"".join(written)


def outcome(data, method, options):
    """The records, what was written and no message; or the message of the refusal. No other error is caught."""
    try:
        return *combined(data, method, options), ""
    except DataError as error:
        return None, None, str(error)


def changed(data, chance):
    """The data with two letters or digits of its values changed into others, which leaves most files good."""
    out = bytearray(data)
    values = [m.span(1) for m in re.finditer(rb'"([A-Za-z0-9]+)"(?! *:)', data)]
    for start, end in chance.sample(values, 2):
        out[chance.randrange(start, end)] = chance.choice(b"abcxyz019")
    return bytes(out)


@pytest.mark.parametrize(("text", "seed"), [(TEXTS, 11), (TAGS, 12)])
def test_mutated_files_are_combined_or_refused(text, seed):
    chance, data = random.Random(seed), text.encode()
    outcomes = {True: 0, False: 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for k in range(5000):
            mutant = mutate(data, chance)
            method = ("vote", "rover", "best", "mvote")[k % 4]
            X, written, said = outcome(mutant, method, {"beta": 0.9, "tie": "label" if k % 8 == 7 else "expert"})
            if X is None:
                assert re.fullmatch(r"<stream>:(\d+:)* .+", said), mutant  # without DOTALL: one line
            else:
                assert [row["id"] for row in check_lines(written)] == list(X.ids), mutant
            outcomes[X is None] += 1
    assert min(outcomes.values()) > 500, outcomes


@pytest.mark.parametrize(("text", "seed"), [(TEXTS, 21), (TAGS, 22)])
def test_mutated_files_through_the_whole_command(text, seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chance, data = random.Random(seed), text.encode()
    source, target = Path("mutant.jsonl"), Path("out.jsonl")
    outcomes = {0: 0, 1: 0}
    for k in range(150):
        source.write_bytes((changed if k % 3 else mutate)(data, chance))
        old = b"old" if k % 2 else None
        if old:
            target.write_bytes(old)
        result = run("combine", "mutant.jsonl", "-o", "out.jsonl", "-q", *OPTIONS[k % len(OPTIONS)])
        assert result.out == ""
        outcomes[result.code] += 1
        if result.code == 0:
            assert result.err == ""
            assert [row.keys() - {"note"} for row in map(strict, target.read_text("utf-8").split("\n")[:-1])]
        else:
            said = result.refused()
            # a record at fault is named by its line; what concerns all of them, by the file
            whole = r"(there are no records|no record has gold)"
            assert re.match(rf"structens: mutant\.jsonl:((\d+:)+ | {whole})", said), said
            assert (target.read_bytes() if target.exists() else None) == old
        target.unlink(missing_ok=True)
        assert os.listdir() == ["mutant.jsonl"]
    assert min(outcomes.values()) > 25, outcomes


def test_mutated_models_are_opened_or_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("good.jsonl").write_text(TAGS, encoding="utf-8")
    assert run("fit", "good.jsonl", "-o", "m.structens", "--beta", "0.9").code == 0
    expected, data = run("combine", "good.jsonl", "-m", "m.structens").out, Path("m.structens").read_bytes()
    chance = random.Random(31)
    for _ in range(60):
        mutant = mutate(data, chance)
        Path("m.structens").write_bytes(mutant)
        result = run("combine", "good.jsonl", "-m", "m.structens")
        if mutant == data:
            assert result.out == expected
        else:
            result.refused("m.structens")


def test_mutated_predictions_are_evaluated_or_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    good = lines(
        {"id": "u1", "prediction": ["a", "b"], "gold": ["a"], "gold_alternatives": [["b"], ["a", "c"]]},
        {"id": 2, "prediction": None, "gold": []},
        {"id": "u3", "prediction": ["x"], "gold": None, "part": "y"},
    ).encode()
    chance, outcomes = random.Random(41), {0: 0, 1: 0}
    for k in range(150):
        Path("p.jsonl").write_bytes((changed if k % 2 else mutate)(good, chance))
        result = run("evaluate", "p.jsonl", "--n-resamples", "5", *(["--json"], ["--per-record"], [])[k % 3])
        outcomes[result.code] += 1
        if result.code == 0:
            assert result.out
            if k % 3 < 2:
                assert result.rows
        else:
            result.refused("p.jsonl")
    assert min(outcomes.values()) > 25, outcomes
