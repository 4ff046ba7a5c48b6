import inspect
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structens.core import GAP, DataError, ExpertPredictions, NotFittedError, ParameterError, Slots
from structens.ensembles import MajorityVote, make_ensemble
from structens.ensembles.held_out import BETA_GRID, between, held_out_beta
from structens.ensembles.path_experts import PathExpertEnsemble
from structens.losses import CostMatrix, Hamming
from structens.online import TIES

RULES = ("mvote", "cv", "rand")


def records(n, length, error, n_labels=4, seed=0, wrong=None):
    """Tags of experts with these error rates; n records of `length` slots."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(n_labels, size=(n, length))
    said = {}
    for j, e in enumerate(error):
        other = (gold + 1) % n_labels if wrong == "same" else (gold + rng.integers(1, n_labels, gold.shape)) % n_labels
        said[f"e{j}"] = np.where(rng.random(gold.shape) < e, other, gold)

    def text(rows):
        return [[f"L{x}" for x in row] for row in rows]

    return ExpertPredictions.of({k: text(v) for k, v in said.items()}, gold=text(gold), ids=[f"r{i}" for i in range(n)])


def error_of(predictions, X):
    pairs = [(a, g) for p, gold in zip(predictions, X.gold, strict=True) for a, g in zip(p, gold, strict=True)]
    return sum(a != g for a, g in pairs) / len(pairs)


def copies():
    X = records(400, 6, [0.05, 0.4])
    return X.add("e2", X["e1"]).add("e3", X["e1"])


COPIES = copies()


def test_a_good_expert_outvotes_many_bad_ones_that_agree():
    learn, test = COPIES[:200], COPIES[200:]
    assert error_of(PathExpertEnsemble(beta=1.0).fit(learn).predict(test), test) > 0.35
    for rule in ("mvote", "cv"):
        for tie in TIES:
            made = PathExpertEnsemble(rule, tie).fit(learn)
            assert made.beta_ < 1
            assert error_of(made.predict(test), test) < 0.07


@pytest.mark.parametrize("tie", [*TIES, lambda slots: slots.position % 2])
@pytest.mark.parametrize("rule", RULES)
def test_unanimous_experts_are_always_followed(rule, tie):  # TAG-06
    X = records(60, 5, [0.2, 0.5, 0.5])
    made = PathExpertEnsemble(rule, tie, beta=0.7).fit(X)
    same = [[f"L{x}" for x in row] for row in np.random.default_rng(5).integers(4, size=(200, 5))]
    assert made.predict({"e0": same, "e1": same, "e2": same}) == same


def test_labels_that_were_never_seen_can_win():  # TAG-05
    X = ExpertPredictions.of({key: [["A", "B"], ["B"]] for key in "abc"}, gold=[["A", "B"], ["B"]])
    for tie in TIES:
        made = PathExpertEnsemble(tie=tie).fit(X)
        assert made.predict({key: [["A", "Z", "B"]] for key in "abc"}) == [["A", "Z", "B"]]


def test_positions_beyond_those_learnt_have_a_fallback_and_are_counted():  # TAG-09
    X = records(50, 2, [0.05, 0.4, 0.4], wrong="same")
    made = PathExpertEnsemble(tie="position", beta=0.7).fit(X)
    new = {"e0": [["L0", "L1", "L2", "L3"]], "e1": [["L3"] * 4], "e2": [["L3"] * 4]}
    found = made.combine(new)
    assert found.answers == [["L0", "L1", "L2", "L3"]]
    assert len(found.notes) == 1
    assert found.notes[0].startswith("2 slots are in contexts that never occurred in learning (tie='position')")
    assert made.weights_.shape == (3, 3)
    assert made.weights_[2] == pytest.approx(made.weights_[:2].mean(axis=0))
    assert made.combine(X).notes == ()
    by_label = PathExpertEnsemble(tie="label", beta=0.7).fit(X).combine({"e0": [["L0", "L9"]], "e1": [["L1", "L1"]]})
    assert by_label.notes[0].startswith("1 slots hold a label that an expert never gave")


def test_ties_go_to_the_first_expert_in_order():  # TAG-11
    X = ExpertPredictions.of({"A": [["b"]], "B": [["a"]], "C": [["b"]], "D": [["a"]]}, gold=[["c"]])
    found = PathExpertEnsemble().fit(X).combine(X)
    assert found.answers == [["b"]]
    assert found.n_ties.tolist() == [1]


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from(["expert", "position"]), st.sampled_from([0.3, 0.8, 0.99]))
def test_vote_loses_at_most_twice_what_the_draw_loses(seed, tie, beta):  # TAG-12
    rng = np.random.default_rng(seed)
    X = records(40, 3, rng.random(3), n_labels=3, seed=seed)
    learn, test = X[:20], X[20:]
    made = PathExpertEnsemble(tie=tie, beta=beta).fit(learn)
    drawn = PathExpertEnsemble("rand", tie, beta=beta).fit(learn)
    assert made.expected_loss(test) == pytest.approx(drawn.expected_loss(test))
    assert error_of(made.predict(test), test) <= 2 * drawn.expected_loss(test) + 1e-12


@pytest.mark.parametrize("tie", TIES)
def test_mean_of_many_draws_is_the_expected_loss(tie):
    X = records(300, 4, [0.1, 0.5, 0.5])
    made = PathExpertEnsemble("rand", tie, beta=0.99).fit(X[:100])
    many = ExpertPredictions.concatenate([X[100:]] * 10)
    many = ExpertPredictions.of({n: many[n] for n in many.names}, gold=many.gold, ids=range(len(many)))
    drawn = error_of(made.predict(many), many)
    assert drawn == pytest.approx(made.expected_loss(many), abs=0.02)


def test_draws_depend_on_seed_and_id_not_on_order_or_batches():
    X = records(60, 4, [0.3, 0.5, 0.5])
    made = PathExpertEnsemble("rand", beta=0.99, seed=1).fit(X)
    whole = made.predict(X)
    assert made.predict(X[::-1]) == whole[::-1]
    assert [made.predict(X[i : i + 1])[0] for i in range(60)] == whole
    assert made.set_params(seed=2).predict(X) != whole
    for answer, experts in zip(whole, zip(*[X[n] for n in X.names], strict=True), strict=True):
        assert answer in experts  # tie="expert": one expert for the whole record


def test_order_of_experts_does_not_decide():
    X = COPIES.select(["e3", "e0", "e2", "e1"])
    for rule in RULES:
        here = PathExpertEnsemble(rule).fit(COPIES[:200])
        there = PathExpertEnsemble(rule).fit(X[:200])
        assert here.beta_ == there.beta_
        assert here.predict(COPIES[200:]) == there.predict(X[200:])


def test_absent_experts_do_not_vote_and_keep_their_weight():
    gold = [["x", "y"]] * 40
    good: list = [["x", "y"] if i % 4 == 0 else None for i in range(40)]
    X = ExpertPredictions.of({"rare": good, "b": [["y", "y"]] * 40, "c": [["y", "y"]] * 40}, gold=gold)
    made = PathExpertEnsemble(beta=0.5).fit(X)
    assert made.weights_[0, 0] > 0.5
    assert made.predict({"rare": [["x", "y"], None], "b": [["y", "y"]] * 2, "c": [["y", "y"]] * 2}) == [
        ["x", "y"],
        ["y", "y"],
    ]
    alone = PathExpertEnsemble("rand", beta=0.5).fit(X)
    assert alone.predict({"rare": [None], "b": [["q", "q"]]}) == [["q", "q"]]


def test_what_was_learnt_can_be_looked_at():
    made = PathExpertEnsemble(tie="position", beta="position").fit(COPIES)
    assert made.beta_ == pytest.approx(math.exp(-math.sqrt(8 * math.log(4) / 400)))
    assert PathExpertEnsemble(tie="position", beta="path").fit(COPIES).beta_ == pytest.approx(
        math.exp(-math.sqrt(8 * 6 * math.log(4) / 400) / 6)
    )
    assert made.round_losses_.shape == (400,)
    assert 0 <= made.suffix_start_ < 400
    assert made.regret_ <= made.regret_bound_
    assert PathExpertEnsemble(beta=1.0).fit(COPIES).regret_bound_ is None
    assert made.weights_.sum(axis=1) == pytest.approx(1)
    allowed = (np.ndarray, float, int, str, bool, list, tuple, dict)
    for name, value in vars(made).items():
        assert name.startswith("_") or value is None or isinstance(value, allowed), name
        assert not isinstance(value, float) or math.isfinite(value), name  # a model file is strict JSON
    assert sorted(PathExpertEnsemble(tie="label").fit(COPIES).contexts_) == ["L0", "L1", "L2", "L3"]


def test_normalised_losses_take_a_rate_of_their_own():
    slow = PathExpertEnsemble(tie="position", beta=0.5**6, loss_scale="normalized").fit(COPIES)
    fast = PathExpertEnsemble(tie="position", beta=0.5).fit(COPIES)
    assert slow.weights_ == pytest.approx(fast.weights_)


def test_held_out_beta_is_within_the_grid_and_survives_little_data():
    assert sorted(BETA_GRID) == list(BETA_GRID)
    assert BETA_GRID[-1] == 1.0
    assert BETA_GRID[0] <= PathExpertEnsemble().fit(COPIES).beta_ <= 1.0
    for n in (1, 2, 3, 6):
        for rule in RULES:
            for tie in TIES:
                made = PathExpertEnsemble(rule, tie).fit(COPIES[:n])
                assert 0 < made.beta_ <= 1
                assert len(made.predict(COPIES)) == len(COPIES)


def test_equal_experts_leave_the_vote_plain():
    X = records(50, 3, [0.0, 0.0, 0.0])
    made = PathExpertEnsemble().fit(X)
    assert made.beta_ == 1.0
    assert made.weights_ == pytest.approx(1 / 3)


def test_a_loss_of_ones_own_steers_the_weights():
    gold = [["a"], ["b"]] * 30
    X = ExpertPredictions.of({"x": [["a"]] * 60, "y": [["b"]] * 60}, gold=gold)
    dear = PathExpertEnsemble(loss=CostMatrix({("b", "a"): 5.0}), beta=0.9).fit(X)
    assert dear.weights_[0, 1] > 0.9
    assert PathExpertEnsemble(loss=Hamming(), beta=0.9).fit(X).weights_[0] == pytest.approx([0.5, 0.5], abs=0.3)
    assert dear.expected_loss(X) < 0.6


def test_bad_options_are_refused():
    for wrong, words in [
        ({"rule": "vote"}, "rule must be one of mvote, cv, rand"),
        ({"tie": "word"}, "tie must be one of"),
        ({"beta": 0.0}, "0 < beta <= 1"),
        ({"beta": "best"}, "beta must be one of held-out"),
        ({"loss": "bleu"}, "loss must be"),
        ({"loss_scale": "none"}, "loss_scale must be"),
        ({"delta": 0.0}, "delta must be"),
    ]:
        with pytest.raises(ParameterError, match=words):
            PathExpertEnsemble(**wrong).fit(COPIES)
    with pytest.raises(NotFittedError):
        PathExpertEnsemble().predict(COPIES)
    with pytest.raises(DataError, match="no record has gold"):
        PathExpertEnsemble().fit({"a": [["x"]], "b": [["x"]]})


def test_works_with_scikit_learn():
    from sklearn.base import clone

    made = PathExpertEnsemble("cv", beta=0.5)
    assert clone(made).get_params() == made.get_params()


def test_held_out_beta_is_judged_by_edit_distance_not_by_slots():
    """The vote "q" for gold "p" errs in two slots but is one edit, as is expert d's "pq", which errs in one slot."""
    hard = [i * 7 % 11 < 4 for i in range(110)]
    wrong = {"a": "p", "b": "q", "c": "q", "d": "pq", "e": "q"}
    X = ExpertPredictions.of(
        {name: [said if h else ("y" if name == "a" else "z") for h in hard] for name, said in wrong.items()},
        gold=["p" if h else "z" for h in hard],
    )
    rows, gold, lengths = [], [], []
    p, q, y, z = (X.alphabet.codes[label] for label in "pqyz")
    for h in hard:
        rows += [[p, GAP, GAP, p, GAP], [GAP, q, q, q, q]] if h else [[y, z, z, z, z]]
        gold += [p, GAP] if h else [z]
        lengths.append(2 if h else 1)
    labels, offsets = np.array(rows, np.int32), np.concatenate([[0], np.cumsum(lengths)])
    n = len(X)
    slots = Slots(labels, offsets, np.zeros(labels.shape, int), X.names, X.alphabet, np.array(gold), np.zeros(n, int))
    assert held_out_beta(slots, X, "expert") == 1.0  # no weights make fewer edits than the plain vote
    assert held_out_beta(slots, X, "expert", loss=CostMatrix({})) < 1.0  # by its slots, d outvotes the others


def test_between_stays_in_the_grid():
    for i in range(len(BETA_GRID)):
        fine = between(BETA_GRID, i)
        assert fine == sorted(fine)
        assert any(abs(beta - BETA_GRID[i]) < 1e-5 for beta in fine)
        assert BETA_GRID[0] <= fine[0]
        assert fine[-1] <= 1.0


def test_lots_decide_ties_of_learnt_weights_too():
    X = ExpertPredictions.of({"a": [["x"]] * 40, "b": [["y"]] * 40}, gold=[["x"], ["y"]] * 20)
    drawn = PathExpertEnsemble(beta=1.0, ties="random", seed=3).fit(X).predict(X)
    assert drawn == PathExpertEnsemble(beta=1.0, ties="random", seed=3).fit(X).predict(X)
    assert {tuple(answer) for answer in drawn} == {("x",), ("y",)}
    assert PathExpertEnsemble(beta=1.0).fit(X).predict(X) == [["x"]] * 40


@pytest.mark.parametrize(
    ("options", "taker"),
    [
        ({"noise": "laplace"}, "rule fpl, fplcv or fplrand"),
        ({"epsilon": 0.5}, "rule fpl, fplcv or fplrand"),
        ({"share": 0.5}, "learner fixed-share or prequential, and learner is 'hedge'"),
        ({"beta": 0.5, "learner": "squint"}, "learner hedge, fixed-share or component-hedge"),
        ({"beta": 0.5, "rule": "fpl"}, "no perturbed leader"),
        ({"union_bound": True, "rule": "cv"}, "rule mvote, rand, fpl or fplrand"),
        ({"ngram_order": 3}, "loss ngram, and loss is 'hamming'"),
        ({"absent": "neutral", "tie": "label"}, "tie label"),
        ({"absent": "neutral", "rule": "fplcv"}, "rules fpl, fplcv or fplrand"),
        ({"absent": "neutral", "loss": "ngram"}, "n-gram gains"),
    ],
    ids=str,
)
def test_an_option_that_changes_nothing_is_refused(options, taker):
    X = records(4, 3, [0.1, 0.5])
    with pytest.raises(ParameterError, match=f"changes nothing: .*{taker}"):
        PathExpertEnsemble(**options).fit(X)
    name = next(iter(options))
    left_out = make_ensemble(
        {"fplcv": "fpl-cv"}.get(options.get("rule"), options.get("rule", "mvote")),
        **{key: value for key, value in options.items() if key != "rule"},
    )
    assert getattr(left_out, name) == inspect.signature(PathExpertEnsemble).parameters[name].default
    assert left_out.learner == options.get("learner", "hedge")


def test_a_vote_without_confidences_has_no_weights_for_them():
    for options in ({"alpha": 0.3}, {"null_confidence": 0.1}):
        with pytest.raises(ParameterError, match="use_confidence average or maximum"):
            MajorityVote(**options).fit({"a": ["x"]})
        MajorityVote(use_confidence="average", **options).fit({"a": ["x"]})
