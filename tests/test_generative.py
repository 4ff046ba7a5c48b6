"""ConfusionPaths, DawidSkene, ReliabilitySelection: n-grams, lattices by enumeration, EM, workers, model files."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structens.align import align
from structens.core import DataError, ExpertPredictions, ParameterError, Ragged
from structens.ensembles import (
    ConfusionPaths,
    DawidSkene,
    MajorityVote,
    ReliabilitySelection,
    make_ensemble,
    slot_lattice,
)
from structens.ensembles.ngram_tree import checked, grow_ngrams, log_probability, step
from structens.ensembles.opinions import opinion_behind, opinion_of
from structens.ensembles.slot_lattice import Candidates, best_path, marginals
from structens.ensembles.slot_lattice_kernels import sum_paths
from structens.io.ensemble_file import load, save
from tests.naive import slot_lattice as naive


def noisy(n, rates, seed=0, n_labels=6, gold=True):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_labels, (n, 5))
    truth[:, 1:] = (truth[:, :1] + np.arange(1, 5)) % n_labels  # each label tells the next
    said = {}
    for j, rate in enumerate(rates):
        wrong = rng.random(truth.shape) < rate
        said[f"e{j}"] = np.where(wrong, rng.integers(0, n_labels, truth.shape), truth)
    as_tokens = {name: [[f"t{x}" for x in row] for row in rows] for name, rows in said.items()}
    right = [[f"t{x}" for x in row] for row in truth]
    return ExpertPredictions.of(as_tokens, gold=right if gold else None), right


def test_ngram_probabilities_sum_to_one_in_every_state():
    rng = np.random.default_rng(1)
    rows = Ragged.of([rng.integers(0, 4, k).tolist() for k in (0, 1, 5, 9, 3)])
    model, follower = grow_ngrams(rows, 5, 3), np.zeros(1, np.int64)
    contexts = np.flatnonzero(model.state == np.arange(len(model.state)))
    for state in contexts.tolist():
        total = sum(np.exp(step(model, state, label, follower)) for label in range(6))
        assert total == pytest.approx(1.0)
    with pytest.raises(ParameterError):
        grow_ngrams(rows, 5, 0)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("first_child", 0),
        ("first_child", 99),
        ("shorter", 99),
        ("shorter", -1),
        ("state", 99),
        ("sizes", -1),
        ("label", None),
    ],
)
def test_ngrams_of_a_file_lead_nowhere_outside(part, value):
    model = grow_ngrams(Ragged.of([[0, 1, 2], [2, 1]]), 3, 3)
    assert checked(model) is model
    wrong = np.array(getattr(model, part))
    wrong = wrong[1:] if value is None else np.where(np.arange(len(wrong)) == 1, value, wrong)
    with pytest.raises(ValueError, match="n-gram"):
        checked(model._replace(**{part: wrong}))


@pytest.mark.parametrize("seed", range(4))
def test_lattice_against_all_paths(seed, monkeypatch):
    monkeypatch.setattr(slot_lattice, "WHOLE_STATES", 48)  # as many as there are: exact
    rng = np.random.default_rng(seed)
    model = grow_ngrams(Ragged.of([rng.integers(0, 3, 6).tolist() for _ in range(5)]), 3, 3)
    label = np.array([rng.permutation([0, 1, 2, -1])[:3] for _ in range(4)], np.int32)
    score, scale = rng.normal(size=(4, 3)), 0.7
    mass, best = np.zeros((4, 3)), (-np.inf, ())
    for path in itertools.product(range(3), repeat=4):
        text = [label[s, k] for s, k in enumerate(path) if label[s, k] >= 0]
        value = sum(score[s, k] for s, k in enumerate(path)) + scale * log_probability(model, np.array(text, np.int32))
        best = max(best, (value, path))
        for s, k in enumerate(path):
            mass[s, k] += np.exp(value)
    candidates = Candidates(np.array([0, 4]), label, score)
    found = marginals(candidates, model, scale, np.inf)
    assert np.allclose(found.probability, mass / mass[0].sum())
    assert found.log_total[0] == pytest.approx(np.log(mass[0].sum()))
    assert tuple(best_path(candidates, model, scale, np.inf).tolist()) == best[1]


@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([2.0, 8.0, np.inf]))
@settings(max_examples=40, deadline=None)
def test_sums_merge_states_as_their_definition_says(seed, whole, width):
    rng = np.random.default_rng(seed)
    model = grow_ngrams(Ragged.of([rng.integers(0, 5, 8).tolist() for _ in range(8)]), 5, int(rng.integers(1, 5)))
    label = np.array([rng.permutation([0, 1, 2, 3, 4, -1, -9, -2])[:4] for _ in range(9)], np.int32)
    label[rng.integers(9)] = -2  # nobody is there
    score = np.where((label == -2) | (rng.random(label.shape) < 0.1), -np.inf, 3 * rng.normal(size=label.shape))
    out = np.zeros(label.shape), np.zeros(2), np.zeros(2)
    sum_paths(np.array([0, 4, 9]), label, score, model, np.array([0.7, whole, width]), *out)
    for r, (a, b) in enumerate(((0, 4), (4, 9))):
        found = naive.sums(label[a:b].tolist(), score[a:b].tolist(), model, 0.7, whole, width)
        assert np.allclose(out[0][a:b], found[0])
        assert (out[1][r], out[2][r]) == pytest.approx(found[1:])


def test_an_opinion_is_that_behind_the_answer():
    X, _ = noisy(40, (0.3, 0.35, 0.4))
    model = ConfusionPaths().fit(X)
    slots = align(X, mode="never")
    said = opinion_of(model, slots, X), opinion_behind(model.combine(X), model, slots)
    for one, other in zip(*said, strict=True):
        np.testing.assert_array_equal(one, other)


def test_confusions_learn_what_nobody_says_and_use_context():
    X, _ = noisy(120, (0.3, 0.35, 0.4))
    model = ConfusionPaths().fit(X[:80])
    plain = make_ensemble("vote").fit(X[:80])
    assert model.score(X[80:]) > plain.score(X[80:]) + 0.1
    assert ConfusionPaths(decode="viterbi").fit(X[:80]).score(X[80:]) > plain.score(X[80:]) + 0.1
    one = ConfusionPaths().fit(X[:1])
    assert len(one.predict(X)) == 120
    assert len(ConfusionPaths(vocabulary="open").fit(X[:80]).predict(X)) == 120


def test_workers_reach_the_estimators():
    X = ExpertPredictions.of(
        {"a": ["cat", "dig", "sun"], "b": ["cut", "dog", "sin"]}, workers={"a": ["u", "v", "u"], "b": ["v", "u", None]}
    )
    assert X[1:].workers.tolist() == [["v", "u"], ["u", None]]
    assert X.select(["b"]).workers.tolist() == [["v"], ["u"], [None]]
    assert ExpertPredictions.concatenate([X[:1], X[1:]]).workers.tolist() == X.workers.tolist()
    for model in (DawidSkene().fit(X), ReliabilitySelection().fit(X)):
        assert len(model.predict(X)) == 3
    assert DawidSkene().fit(X).sources_ == ["u", "v"]
    with pytest.raises(DataError):
        X.with_workers({"a": ["u"]})


@pytest.mark.parametrize("method", ["confusion", "dawid-skene", "hrrasa"])
def test_model_files(method, tmp_path):
    X, _ = noisy(30, (0.2, 0.3, 0.4))
    model = make_ensemble(method).fit(X)
    save(model, tmp_path / "m.structens")
    again = load(tmp_path / "m.structens")
    assert again.predict(X) == model.predict(X)
    assert again.confidence(X) == model.confidence(X)


@pytest.mark.parametrize(
    "model",
    [
        ConfusionPaths(vocabulary="x"),
        ConfusionPaths(label_order=-1),
        ConfusionPaths(shrinkage=0.0),
        DawidSkene(vocabulary="x"),
        DawidSkene(exponents=0.0),
        DawidSkene(label_order=-1),
        DawidSkene(n_iterations=0),
        ReliabilitySelection(n_iterations=0),
    ],
)
def test_options_out_of_range(model):
    with pytest.raises(ParameterError):
        model.fit(noisy(5, (0.1, 0.2))[0])


@pytest.mark.parametrize("decode", ["marginal", "viterbi"])
def test_tags_of_equal_length_stay_so(decode):
    gold = ["ABC", "BCD"] * 10
    said = {"a": ["ABC", "BCD"], "b": ["ACC", "BBD"], "c": ["ABD", "ACD"]}
    X = ExpertPredictions.of({name: rows * 10 for name, rows in said.items()}, gold=gold)
    new = {"a": ["AABC", "ZABC"], "b": ["AABC", "ZABC"], "c": ["CABC", "ZABC"]}  # n-grams would drop the first
    for method in (ConfusionPaths(decode=decode), DawidSkene(decode=decode)):
        assert [len(row) for row in method.fit(X).predict(new)] == [4, 4]


def test_gold_without_any_answer_teaches_nothing():
    nobody = ExpertPredictions.of({"a": [None] * 12, "b": [None] * 12}, gold=["ab"] * 12)
    assert DawidSkene().fit(nobody).predict({"a": ["ab"], "b": ["ab"]}) == ["ab"]


def test_score_counts_units_and_alternatives():
    X = ExpertPredictions.of({"a": ["hello there"]}, gold=["hello world"], alternatives=[["x y"]], unit="word")
    assert MajorityVote().fit(X).score(X) == 0.5
    assert MajorityVote().fit(X).score({"a": ["x y"]}, ["x y"]) == 1.0
    assert (
        MajorityVote().fit(X).score(ExpertPredictions.of({"a": ["x y"]}, gold=["q r"], alternatives=[["x y"]])) == 1.0
    )
