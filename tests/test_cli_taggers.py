"""`structens train`, `tag` and `combine --add`: the whole road, leaks, interruption, and garbage."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from run_cli import COMMAND, environment, lines, run

import structens
from structens.ensembles import honest_tags
from structens.ensembles.position_tagger import PositionTagger

QUICK = ("--n-rounds", 60, "--n-inner-nodes", 2, "--min-count", 1)
LABEL = {"the": "D", "a": "D", "dog": "N", "cat": "N", "sees": "V", "sleeps": "V", "old": "J"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Every test runs in an empty folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sentences(n=40, seed=0, **more):
    """Records with tokens, gold and two experts, no two with the same tokens."""
    chance, out, seen = random.Random(seed), [], set()
    while len(out) < n:
        tokens = [chance.choice(sorted(LABEL)) for _ in range(chance.randrange(3, 8))]
        gold = [LABEL[token] for token in tokens]
        if tuple(tokens) not in seen:
            seen.add(tuple(tokens))
            bad = [label if chance.random() < 0.7 else "N" for label in gold]
            out.append({"id": f"s{len(out)}", "tokens": tokens, "gold": gold, "experts": {"x": bad, "y": bad}, **more})
    return out


def put(name, records):
    Path(name).write_text(lines(*records), encoding="utf-8")
    return name


def trained(*options, name="m.structens", records=None):
    put("s.jsonl", records or sentences())
    done = run("train", "s.jsonl", "-o", name, *QUICK, *options)
    assert done.code == 0, done.err
    return done


# ---- the whole road


def test_train_tag_and_evaluate():
    said = trained("--json").json
    assert (said["records"], said["labels"], said["output"]) == (40, 4, "m.structens")
    new = sentences(60, seed=1)
    put("new.jsonl", new)
    run("tag", "new.jsonl", "-m", "m.structens", "-m", "m.structens=again", "-o", "tagged.jsonl")
    rows = [json.loads(line) for line in Path("tagged.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == [row["id"] for row in new]
    assert rows[0]["tokens"] == new[0]["tokens"]
    tagger = structens.load("m.structens")
    assert [row["experts"]["m"] for row in rows] == tagger.predict([row["tokens"] for row in new])
    assert rows[0]["experts"]["again"] == rows[0]["experts"]["m"]
    assert len(rows[0]["confidences"]["m"]) == len(rows[0]["tokens"])
    table = run("evaluate", "tagged.jsonl", "--json").json["rows"]
    assert min(row["errors"] for row in table if row["name"] == "m") < 30


def test_folds_are_those_of_python():
    trained("--folds", 3, "--out-of-fold", "oof.jsonl", "--seed", 5)
    assert not os.path.exists("m.structens.folds")
    tagger = structens.load("m.structens")
    made = sentences()
    X, y = [row["tokens"] for row in made], [row["gold"] for row in made]
    said = structens.cross_predict(tagger, X, y, folds=3, random_state=5)
    rows = [json.loads(line) for line in Path("oof.jsonl").read_text().splitlines()]
    assert [row["experts"]["m"] for row in rows] == said.labels
    np.testing.assert_allclose(
        np.concatenate(said.confidences), np.concatenate([r["confidences"]["m"] for r in rows]), atol=1e-6
    )
    assert honest_tags(tagger, X).labels == said.labels
    assert run("tag", "s.jsonl", "-m", "m.structens").rows == rows  # not what it says having learnt from them


def test_folds_of_a_field():
    made = [{**row, "part": "pq"[k % 2]} for k, row in enumerate(sentences())]
    trained("--fold-field", "part", "--out-of-fold", "oof.jsonl", records=made)
    half = [row for row in made if row["part"] == "p"]
    tagger = structens.load("m.structens").set_params(progress=None)
    other = [row for row in made if row["part"] == "q"]
    tagger.fit([row["tokens"] for row in other], [row["gold"] for row in other])
    rows = {row["id"]: row["experts"]["m"] for row in map(json.loads, Path("oof.jsonl").read_text().splitlines())}
    assert [rows[row["id"]] for row in half] == tagger.predict([row["tokens"] for row in half])
    del made[7]["part"]
    put("s.jsonl", made)
    said = run("train", "s.jsonl", "-o", "n", "--fold-field", "part").refused(
        "s.jsonl:8: record 's7': there is no fold"
    )
    assert "'part'" in said


def test_conllu_and_npz():
    text = "".join(
        f"# sent_id = {row['id']}\n"
        + "".join(
            f"{k}\t{w}\t_\t{LABEL[w]}\t{LABEL[w].lower()}\t_\t0\t_\t_\t_\n" for k, w in enumerate(row["tokens"], 1)
        )
        + "\n"
        for row in sentences()
    )
    Path("s.conllu").write_text(text)
    assert run("train", "s.conllu", "-o", "m", *QUICK, "--column", "XPOS").code == 0
    assert structens.load("m").classes_.tolist() == ["d", "j", "n", "v"]
    assert run("tag", "s.conllu", "-m", "m").rows[3]["gold"][0] == LABEL[sentences()[3]["tokens"][0]].lower()
    rng = np.random.default_rng(0)
    letters = rng.integers(0, 3, 60)
    arrays = {"pixels": (letters[:, None] == np.arange(3)).astype(np.uint8), "letters": letters}
    np.savez("w.npz", **arrays, offsets=np.arange(0, 61, 4), folds=np.arange(15) % 3)
    more = ("--fold-field", "folds", "--id-format", "w{:02d}", "--out-of-fold", "oof.jsonl")
    assert run("train", "w.npz", "-o", "v.structens", "--n-rounds", 60, *more).code == 0
    experts = [
        {"id": f"w{i:02d}", "experts": {"x": ["a"] * 4}, "gold": ["abc"[k] for k in letters[4 * i : 4 * i + 4]]}
        for i in range(15)
    ]
    put("e.jsonl", experts)
    added = run("combine", "e.jsonl", "--add", "v.structens", "--features", "w.npz", "--method", "best")
    assert "best expert (expert v)" in added.err
    assert added.answers["w03"] == experts[3]["gold"]


# ---- no leak


def test_in_sample_answers_are_refused():
    trained()
    for command in (("combine", "s.jsonl"), ("fit", "s.jsonl", "-o", "f")):
        said = run(*command, "--add", "m.structens").refused("s.jsonl:1: record 's0': expert 'm': ", "and from 39 more")
        for way in ("structens train --folds 5", "--out-of-fold", "--in-sample absent"):
            assert way in said
    new = sentences(50, seed=3)
    put("mixed.jsonl", [*new[:30], {**sentences()[5], "id": "old"}])
    run("combine", "mixed.jsonl", "--add", "m.structens").refused("mixed.jsonl:31: record 'old'")
    absent = run("combine", "mixed.jsonl", "--add", "m.structens", "--in-sample", "absent", "--method", "vote")
    assert absent.rows[30]["experts"][0] == ["x", "y"]
    assert "1 of the sequences m has learnt from: it gives no answer there" in absent.notes
    put("new.jsonl", new[:30])
    assert (
        "combined 30 records of 3 experts"
        in run("combine", "new.jsonl", "--add", "m.structens", "--method", "best").err
    )


def test_out_of_fold_answers_are_used_from_the_model_or_a_file():
    trained("--folds", 2, "--out-of-fold", "oof.jsonl")
    trained(name="plain.structens")
    inside = run("combine", "s.jsonl", "--add", "m.structens", "--method", "vote")
    assert "40 of the sequences m has learnt from: its answers there are out of fold" in inside.notes
    given = run("combine", "s.jsonl", "--add", "plain.structens=m", "--out-of-fold", "oof.jsonl", "--method", "vote")
    assert given.rows == inside.rows
    rows = [json.loads(line) for line in Path("oof.jsonl").read_text().splitlines()]
    said = {row["id"]: row["experts"]["m"] for row in rows}
    for row in inside.rows:
        votes = [label for label, who in zip(row["prediction"], row["experts"], strict=True) if "m" in who]
        assert all(label in said[row["id"]] for label in votes)
    put("some.jsonl", [{k: v for k, v in row.items() if k != "confidences" or i} for i, row in enumerate(rows)])
    some = ("--add", "plain.structens=m", "--out-of-fold", "some.jsonl", "--method", "vote")
    assert run("combine", "s.jsonl", *some).rows == inside.rows
    put("half.jsonl", rows[:20])
    part = ("--add", "plain.structens=m", "--out-of-fold", "half.jsonl")
    run("combine", "s.jsonl", *part).refused("record 's20'", "and from 19 more of 40")
    run("combine", "s.jsonl", "--add", "plain.structens", "--out-of-fold", "oof.jsonl").refused(
        "no record has answers of"
    )
    rows[2]["experts"]["m"] = ["N"]
    put("short.jsonl", [{k: v for k, v in row.items() if k in ("id", "experts")} for row in rows])
    broken = run("combine", "s.jsonl", "--add", "plain.structens=m", "--out-of-fold", "short.jsonl")
    broken.refused("record 's2'", "said 1 labels out of fold")


def test_a_fitted_ensemble_takes_its_tagger_along():
    trained("--folds", 2)
    assert run("fit", "s.jsonl", "--add", "m.structens", "-o", "f.structens", "--method", "mvote").code == 0
    put("new.jsonl", [{k: v for k, v in row.items() if k != "gold"} for row in sentences(20, seed=9)])
    added = run("combine", "new.jsonl", "-m", "f.structens", "--add", "m.structens", "--in-sample", "absent")
    assert any("m" in who for row in added.rows for who in row["experts"])
    made = sentences()[:9] + [{**row, "id": f"n{row['id']}"} for row in sentences(20, seed=9)]
    put("mixed.jsonl", [{k: v for k, v in row.items() if k != "gold"} for row in made])
    line = ("combine", "mixed.jsonl", "-m", "f.structens", "--add", "m.structens")
    whole = run(*line)
    with mock.patch("structens.cli.added.iter_records", partial(structens.iter_records, batch_size=4)):
        streamed = run(*line)
    assert streamed.rows == whole.rows == run(*line, "--features", "mixed.jsonl").rows
    assert len(whole.rows) == 29
    assert streamed.err == whole.err
    learnt = [row["tokens"] for row in sentences()]
    n_known = sum(row["tokens"] in learnt for row in made)
    assert f"{n_known} of the sequences m has learnt from: its answers there are out of fold" in streamed.notes
    run("combine", "new.jsonl", "-m", "f.structens", "--add", "m.structens=q").refused("without an expert 'q'", code=2)
    run("combine", "new.jsonl", "-m", "m.structens").refused("a tagger of sequences, not an ensemble")


def test_what_does_not_go_with_add():
    trained()
    for options, said in (
        (("--features", "s.jsonl"), "--features goes with --add"),
        (("--in-sample", "absent"), "--in-sample goes with --add"),
        (("--add", "m.structens", "--online"), "--add does not go with --online"),
        (("--add", "m.structens", "--add", "m.structens"), "two taggers are named 'm'"),
        (("--add", "m.structens", "-o", "m.structens"), "--output would replace the file m.structens"),
    ):
        run("combine", "s.jsonl", *options).refused(said, code=2)
    run("combine", "-", "--add", "m.structens", stdin=b"{}").refused("standard input can be read once", code=2)
    run("combine", "s.jsonl", "--add", "none").refused("none: there is no such model file", "structens train")
    run("combine", "s.jsonl", "--add", "s.jsonl").refused("not a structens model: it is JSON")
    run("fit", "s.jsonl", "-o", "f.structens", "--method", "vote")
    run("combine", "s.jsonl", "--add", "f.structens").refused("not a tagger")
    run("combine", "s.jsonl", "--add", "m.structens=x", "--in-sample", "absent").refused("have an expert 'x' already")
    put("part.jsonl", sentences()[:5])
    run("combine", "s.jsonl", "--add", "m.structens", "--features", "part.jsonl").refused(
        "s.jsonl:6: record 's5'", "part.jsonl"
    )


# ---- interruption


def test_finished_folds_are_kept_and_found_again():
    put("s.jsonl", sentences())
    options = ("train", "s.jsonl", "-o", "m.structens", *QUICK, "--folds", 4)
    fit, calls = PositionTagger.fit, []

    def interrupted(tagger, X, y):
        calls.append(len(X))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return fit(tagger, X, y)

    with mock.patch.object(PositionTagger, "fit", interrupted):
        first = run(*options)
    assert first.code == 130
    assert "the same command goes on from there" in first.err
    assert len(os.listdir("m.structens.folds")) == 2
    assert not os.path.exists("m.structens")
    calls.extend([0] * 3)
    with mock.patch.object(PositionTagger, "fit", interrupted):
        again = run(*options)
    assert again.code == 0
    assert len(calls) == 6 + 3  # two folds and the model
    assert "went on from 2 finished folds" in again.notes[0]
    whole = Path("m.structens").read_bytes()
    assert sorted(os.listdir()) == ["m.structens", "s.jsonl"]
    run(*options)
    assert Path("m.structens").read_bytes() == whole


def test_other_data_do_not_go_on_from_finished_folds():
    put("s.jsonl", sentences())
    options = ("-o", "m.structens", *QUICK, "--folds", 2, "--checkpoint", "kept")
    with mock.patch("structens.cli.training.save", side_effect=KeyboardInterrupt):
        assert run("train", "s.jsonl", *options).code == 130
    assert len(os.listdir("kept")) == 2
    put("t.jsonl", sentences(seed=2))
    run("train", "t.jsonl", *options)
    changed = Path("m.structens").read_bytes()
    run("train", "t.jsonl", *options)
    assert Path("m.structens").read_bytes() == changed


@pytest.mark.cli
@pytest.mark.skipif(not hasattr(signal, "SIGINT") or sys.platform == "win32", reason="needs signals")
def test_ctrl_c_ends_with_130():
    chance = random.Random(0)  # nothing to be learnt without an error, so that all rounds are played
    put("s.jsonl", [{**row, "gold": [chance.choice("DNVJ") for _ in row["gold"]]} for row in sentences(400)])
    line = [*COMMAND, "train", "s.jsonl", "-o", "m.structens", "--n-rounds", "20000", "--folds", "5"]
    ignored = signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell may have it ignored, also for the command
    with subprocess.Popen(line, stderr=subprocess.PIPE, env=environment()) as process:
        signal.signal(signal.SIGINT, ignored)
        begin = time.monotonic()
        while not os.path.exists("m.structens.folds") and time.monotonic() < begin + 60:
            time.sleep(0.05)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 130, said
    assert "interrupted" in said
    assert "Traceback" not in said
    assert not os.path.exists("m.structens")


# ---- several taggers in one call

PLANS = """
[words]
[ends]
radius = 0
affixes = 2
[half]
subsample = 0.5
seed = 3
decode = "position"
"""


def test_several_taggers_are_learnt_in_one_call():
    Path("t.toml").write_text(PLANS)
    done = trained("--taggers", "t.toml", "--folds", 2, "--out-of-fold", "oof.jsonl", "--json")
    assert list(done.json["taggers"]) == ["words", "ends", "half"]
    assert sorted(os.listdir()) == ["m.structens", "oof.jsonl", "s.jsonl", "t.toml"]
    trained("--folds", 2, "--radius", 0, "--affixes", 2, name="ends.structens")
    several, alone = structens.load("m.structens"), structens.load("ends.structens")
    assert repr(several["ends"]) == repr(alone)
    put("new.jsonl", sentences(30, seed=4))
    rows = run("tag", "new.jsonl", "-m", "m.structens", "-m", "ends.structens=alone").rows
    assert [row["experts"]["ends"] for row in rows] == [row["experts"]["alone"] for row in rows]
    assert list(rows[0]["experts"]) == ["words", "ends", "half", "alone"]
    X = [row["tokens"] for row in sentences()]
    assert several["half"].decode == "position"
    assert 10 < several["half"].learnt_from(X).sum() < 30
    assert several["words"].learnt_from(X).all()
    assert run("tag", "s.jsonl", "-m", "m.structens").rows == list(
        map(json.loads, Path("oof.jsonl").read_text().splitlines())
    )
    kept = run("combine", "s.jsonl", "--add", "m.structens", "--method", "vote").rows
    assert {who for row in kept for names in row["experts"] for who in names} == {"x", "y", "words", "ends", "half"}
    assert run("fit", "s.jsonl", "--add", "m.structens=t", "-o", "f.structens", "--method", "mvote").code == 0
    assert run("combine", "new.jsonl", "-m", "f.structens", "--add", "m.structens=t").code == 0
    run("tag", "s.jsonl", "-m", "m.structens", "-m", "m.structens").refused("two taggers are named 'words'", code=2)
    run("combine", "s.jsonl", "-m", "m.structens").refused("a tagger of sequences, not an ensemble")


def test_finished_taggers_are_kept_and_found_again():
    Path("t.json").write_text(json.dumps({"a": {"radius": 0}, "b": {"affixes": 2}}))
    put("s.jsonl", sentences())
    options = ("train", "s.jsonl", "-o", "m.structens", *QUICK, "--taggers", "t.json")
    fit, calls = PositionTagger.fit, []

    def interrupted(tagger, X, y):
        calls.append(len(X))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return fit(tagger, X, y)

    with mock.patch.object(PositionTagger, "fit", interrupted):
        first = run(*options)
        assert first.code == 130
        assert "finished folds and taggers are kept in m.structens.folds" in first.err
        again = run(*options)
    assert len(calls) == 3
    assert "took finished taggers from m.structens.folds: 1" in again.notes
    whole = Path("m.structens").read_bytes()
    run(*options)
    assert Path("m.structens").read_bytes() == whole
    assert sorted(os.listdir()) == ["m.structens", "s.jsonl", "t.json"]


@pytest.mark.parametrize(
    ("content", "said", "code"),
    [
        ("", "t.toml: a file of taggers holds a table of options for each, by name; write [NAME]", 1),
        ("radius = 1", "a table of options for each", 1),
        ("[a", "t.toml: this is no TOML (", 1),
        ("[a]\nfolds = 2", "tagger 'a': 'folds' is none of features, radius", 2),
        ("[a]\nradius = -1", "tagger 'a': radius: ", 2),
        ("[a]\nn_rounds = 2.5", "tagger 'a': n_rounds: ", 2),
        ("[a]\nradius = true", "tagger 'a': radius must be a number or a text; got True", 2),
        ("[a]\nsubsample = 0", "tagger 'a': subsample must be above 0", 2),
        ("[a]\n[b]\ndecode = 'x'", "tagger 'b': decode must be one of viterbi, position", 2),
        ("[a]\nrestrict = 'bio'\ndecode = 'position'", "tagger 'a': restrict needs decode='viterbi'", 2),
        ("[a]\n[b]\nfeatures = 'matrix'", "tagger 'b': --features matrix does not go with a file of tokens", 2),
    ],
)
def test_files_of_taggers_that_are_none(content, said, code):
    Path("t.toml").write_text(content)
    put("s.jsonl", sentences(5))
    run("train", "s.jsonl", "-o", "m", "--taggers", "t.toml").refused(said, code=code)
    assert sorted(os.listdir()) == ["s.jsonl", "t.toml"]


# ---- garbage


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "s.jsonl: there are no records"),
        ('{"id": 1}\n', "s.jsonl:1: record 1: there is no key tokens"),
        ('{"id": 1, "tokens": "a b"}\n', "tokens is a string"),
        ('{"id": 1, "tokens": ["a"], "gold": ["A", "B"]}\n', "gold has 2 labels for 1 positions"),
        ('{"id": 1, "tokens": ["a"]}\n', "s.jsonl: no record has labels to learn from"),
        ('{"id": 1, "features": [[1, "x"]], "gold": ["A"]}\n', "features[0][1] is a string"),
        ('{"id": 1, "tokens": [], "gold": []}\n', "there is no position to learn from"),
        ("[1]\n", "s.jsonl:1:1: this is one JSON array"),
        ("\x00\x01", "s.jsonl:1"),
    ],
)
def test_files_that_are_none(content, said):
    Path("s.jsonl").write_text(content)
    run("train", "s.jsonl", "-o", "m").refused(said)
    assert os.listdir() == ["s.jsonl"]


def test_wrong_use_of_train_and_tag():
    trained()
    train = ("train", "s.jsonl", "-o", "n")
    for options, said in (
        (("--out-of-fold", "o"), "--out-of-fold needs folds"),
        (("--folds", 3, "--fold-field", "part"), "exclude each other"),
        (("--time-limit", 0), "time_limit must be a finite number > 0"),
        (("--features", "vectors"), "--features vectors does not go with a file of tokens"),
        (("--column", "XPOS"), "--column is for conllu; the file is read as jsonl"),
        (("--unpack-bits",), "--unpack-bits is for npz"),
        (("--restrict", "bilou"), "restrict must be one of bio, bioes"),
        (("--restrict", "bio", "--decode", "position"), "restrict needs decode='viterbi'"),
    ):
        run(*train, *options).refused(said, code=2)
    run("train", "s.jsonl", "-o", "-").refused("name a file with -o", code=2)
    run("train", "s.jsonl", "-o", "s.jsonl").refused("--output would replace the input s.jsonl", code=2)
    run("train", "none.jsonl", "-o", "n").refused("none.jsonl: cannot be read")
    with mock.patch.object(PositionTagger, "fit", side_effect=AssertionError):  # refused before it learns
        run("train", "s.jsonl", "-o", "no/n", "--folds", 2).refused("no/n: cannot be written: there is no such file")
        run(*train, "--folds", 2, "--out-of-fold", "no/o").refused("no/o: cannot be written")
    assert sorted(os.listdir()) == ["m.structens", "s.jsonl"]
    run(*train, "--folds", 99).refused("s.jsonl: cannot cut 40 different sequences into 99 folds")
    run("tag", "s.jsonl", "-m", "none").refused("none: there is no such model file")
    put("v.jsonl", [{"id": 1, "features": [[1.0]]}])
    run("tag", "v.jsonl", "-m", "m.structens").refused(
        "v.jsonl: there are vectors of numbers, but the tagger of m.structens"
    )
    run("tag", "s.jsonl", "-m", "m.structens", "--in-sample", "refuse").refused("s.jsonl:1: record 's0'")
    allowed = run("tag", "s.jsonl", "-m", "m.structens")
    assert allowed.notes == [
        "40 of the sequences m has learnt from: its answers there are not honest: learn nothing from them"
    ]
    assert "m.structens.folds" not in os.listdir()


def test_time_limit_and_vectors():
    vectors = [
        {"id": row["id"], "features": [[len(w), 1] for w in row["tokens"]], "gold": row["gold"]} for row in sentences()
    ]
    put("v.jsonl", vectors)
    done = run("train", "v.jsonl", "-o", "v.structens", "--radius", 0, "--time-limit", 0.05, "--calibrate", "none")
    assert done.code == 0
    tagger = structens.load("v.structens")
    assert tagger.time_limit == 0.05
    assert tagger.features_.radius == 0
    run("train", "v.jsonl", "-o", "w", "--affixes", 2).refused(
        "--affixes changes nothing with features vectors", code=2
    )
