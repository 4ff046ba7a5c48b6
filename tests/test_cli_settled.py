"""What a command refuses because something else has settled it, or because it would destroy an input."""

import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from run_cli import lines, run

import structens as st
from structens.core import ModelError
from structens.ensembles import PathExpertEnsemble
from structens.io.ensemble_file import load, save

GOLD = ["cat", "dog", "sun", "map", "tip", "log"] * 3
X = st.ExpertPredictions.of({"a": GOLD, "b": ["cut", "dig", "sin", "mop", "tap", "lag"] * 3, "c": GOLD}, gold=GOLD)


ROWS = [
    {"id": i, "experts": {name: X[name][i] for name in X.names}, "gold": GOLD[i], "kind": "x"} for i in range(len(X))
]


@pytest.fixture(scope="module")
def learnt(tmp_path_factory):
    """A file of records and a model of auto learnt from them, once for all tests."""
    folder = tmp_path_factory.mktemp("learnt")
    (folder / "e.jsonl").write_text(lines(*ROWS))
    assert run("fit", folder / "e.jsonl", "-o", folder / "m.structens", "-q").code == 0
    return folder


@pytest.fixture
def folder(learnt, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in learnt.iterdir():
        shutil.copy(path, tmp_path)
    return tmp_path


SETTLED = [
    ("--method", "vote"),
    ("--table",),
    ("--experts", "a"),
    ("--unit", "word"),
    ("--align", "never"),
    ("--normalize", "NFC"),
    ("--casefold",),
    ("--tie", "position"),
    ("--beta", "0.9"),
    ("--delta", "0.1"),
    ("--ties", "random"),
    ("--use-confidence", "maximum"),
    ("--union-bound",),
    ("--seed", "4"),
]


@pytest.mark.parametrize("option", SETTLED, ids=lambda option: option[0])
def test_a_model_has_settled_its_options(folder, option):
    done = run("combine", "e.jsonl", "-m", "m.structens", *option)
    assert (done.code, done.out) == (2, "")
    assert f"{option[0]} does not go with --model" in done.err


RANGES = [
    ("--beta", "2"),
    ("--beta", "0"),
    ("--alpha", "3"),
    ("--delta", "-1"),
    ("--epsilon", "inf"),
    ("--epsilon", "nan"),
]


@pytest.mark.parametrize(("option", "value"), RANGES)
def test_ranges_are_checked_whatever_the_method(folder, option, value):
    done = run("combine", "e.jsonl", "--method", "best", option, value)
    assert (done.code, done.out) == (2, "")
    assert option[2:] in done.err


def test_evaluate_says_what_is_missing(folder):
    Path("no.jsonl").write_text('{"id": 1, "experts": {"a": "x", "b": "y"}}\n')
    assert "none of the 1 records has gold" in run("evaluate", "no.jsonl").err
    assert "no record has the field 'nope'" in run("evaluate", "e.jsonl", "--by", "nope").err
    assert run("evaluate", "e.jsonl", "--alignment").code == 2
    run("combine", "e.jsonl", "-o", "out.jsonl", "-q", "--method", "vote")
    assert "what combine writes" in run("combine", "out.jsonl").err
    assert run("evaluate", "out.jsonl", "--gold", "out.jsonl").code == 1


def test_evaluate_shows_who_agrees(folder):
    table = run("evaluate", "e.jsonl", "--agreement").out
    assert "100" in table
    rate = json.loads(run("evaluate", "e.jsonl", "--agreement", "--json").out)["rate"]
    assert rate[0][2] == 1.0
    assert rate[0][1] == pytest.approx(2 / 3)


def changed(model, tmp_path, **attributes):
    for name, value in attributes.items():
        setattr(model, name, value)
    save(model, tmp_path / "bad.structens", reading=attributes.pop("reading", None))
    return tmp_path / "bad.structens"


@pytest.mark.parametrize(
    "attributes",
    [
        {"weights_": np.ones((1, 1))},
        {"weights_": np.full((2, 3), np.nan)},
        {"weights_": np.full((2, 3), -1.0)},
        {"rule": "zzz"},
        {"tie": "zzz"},
        {"names_": ("a",)},
    ],
    ids=str,
)
def test_a_model_that_cannot_be_right_is_refused_before_any_work(tmp_path, attributes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        path = changed(PathExpertEnsemble(beta=0.9).fit(X), tmp_path, **attributes)
        with pytest.raises(ModelError, match=r"bad\.structens"):
            load(path)


@pytest.mark.parametrize("reading", [{"nonsense": 1}, {"unit": "bogus"}, {"normalize": "NFX"}])
def test_a_model_that_asks_for_another_reading_is_refused(tmp_path, reading):
    save(PathExpertEnsemble(beta=0.9).fit(X), tmp_path / "bad.structens", reading=reading)
    with pytest.raises(ModelError, match=r"bad\.structens"):
        load(tmp_path / "bad.structens")


UNUSED = [
    (["--method", "mvote", "--noise", "laplace"], "method mvote: it is for method fpl, fpl-cv or fpl-rand"),
    (["--noise", "exp_add"], "method mvote, the default where there is gold: it is for method fpl"),
    (["--method", "vote", "--epsilon", "0.1"], "it is for method fpl, fpl-cv or fpl-rand"),
    (["--share", "0.1"], "it is for learner fixed-share or prequential, and learner is 'hedge'"),
    (["--method", "best", "--share", "0.1"], "it is for method rand, mvote"),
    (["--learner", "squint", "--beta", "0.5"], "it is for learner hedge, fixed-share or component-hedge"),
    (["--method", "fpl", "--beta", "0.5"], "they take epsilon"),
    (["--method", "best", "--tie", "label"], "it is for method rand, mvote"),
    (["--method", "cv", "--use-confidence", "average"], "it is for method vote or rover"),
    (["--method", "vote", "--alpha", "0.2"], "use_confidence average or maximum"),
    (["--method", "best", "--decode", "mbr"], "it is for method auto, vote, rover"),
    (["--ngram-order", "3"], "it is for loss ngram"),
    (["--method", "cv", "--union-bound"], "it is for method rand, mvote"),
    (["--tie", "label", "--absent", "neutral"], "it is not for rules"),
    (["--method", "esp-boost", "--null-confidence", "0.1"], "it is for method rover"),
    (["--method", "deep-esp-boost", "--null-confidence", "0.1"], "it is for method rover"),
    (["--method", "deep-esp-boost", "--beta", "0.5"], "it is for method rand, mvote"),
    (["--method", "deep-esp-boost", "--beta", "position"], "it is for method rand, mvote"),
]


@pytest.mark.parametrize(("options", "words"), UNUSED, ids=lambda value: value if isinstance(value, str) else value[-2])
def test_options_that_change_nothing_are_refused(folder, options, words):
    for command in (["combine", "e.jsonl"], ["fit", "e.jsonl", "-o", "new.structens"]):
        run(*command, *options).refused("changes nothing with method", words, code=2)
    assert not Path("new.structens").exists()


def test_options_that_another_row_of_the_table_uses_are_taken(folder):
    run("combine", "e.jsonl", "--use-confidence", "average").refused("it is for method vote or rover", code=2)
    assert run("combine", "e.jsonl", "--use-confidence", "average", "--table").code == 0
    assert run("combine", "e.jsonl", "--seed", "3", "--method", "vote").code == 0
    Path("no.jsonl").write_text('{"id": 1, "experts": {"a": "x", "b": "y"}}\n')
    run("combine", "no.jsonl", "--beta", ".9").refused("method rover, the default where no record has gold", code=2)
    assert run("combine", "e.jsonl", "--online", "--share", ".1").code == 0
    online = ("combine", "e.jsonl", "--online", "--learner", "squint")
    run(*online, "--share", ".1").refused("method last (--online): it is for learner", code=2)
    assert run("fit", "e.jsonl", "-o", "b.structens", "--method", "best").code == 0
    run("combine", "e.jsonl", "-m", "b.structens", "--decode", "mbr").refused("a model of BestExpert", code=2)
