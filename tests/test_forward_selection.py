from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import forward_selection as naive

from structens.align import align
from structens.core import ABSENT, GAP, DataError, ExpertPredictions, ParameterError
from structens.datasets import ads
from structens.ensembles import BestExpert, make_ensemble
from structens.ensembles.forward_selection import ForwardSelection
from structens.io.ensemble_file import load, save
from structens.losses import CostMatrix, edit_distance, slot_losses

FIVE = ExpertPredictions.of(  # specification, section 5: five examples of one position, three experts that err once
    {name: [["n" if i == j else "y"] for i in range(5)] for j, name in enumerate("abc")}, gold=[["y"]] * 5
)


def strings(seed, n=12, p=4, length=5, drop=0.15, absent=0.1):
    """Answers of unequal length, some missing."""
    rng = np.random.default_rng(seed)
    gold = ["".join(rng.choice(list("abc"), rng.integers(1, length + 1))) for _ in range(n)]

    def noisy(text):
        if rng.random() < absent:
            return None
        return "".join(rng.choice(list("abc")) if rng.random() < 0.3 else c for c in text if rng.random() > drop)

    return ExpertPredictions.of({f"e{j}": [noisy(text) for text in gold] for j in range(p)}, gold=gold)


@pytest.mark.parametrize(("tie", "counts", "error"), [("index", (3, 0, 0), 0.2), ("spread", (1, 1, 1), 0.0)])
def test_ties_of_candidates(tie, counts, error):
    model = ForwardSelection(n_rounds=3, tie=tie, best_prefix=False).fit(FIVE)
    assert tuple(model.counts_) == counts
    assert model.path_.tolist() == [[0.2, 0.2, error]]
    assert 1 - model.score(FIVE) == pytest.approx(error)
    stuck = ForwardSelection(tie="index", best_prefix=False).fit(FIVE)
    assert stuck.counts_.tolist() == [100, 0, 0]
    assert (stuck.path_ == 0.2).all()


@pytest.mark.parametrize("metric", ["hamming", "edit", lambda gold, said: gold != said])
def test_the_initial_experts_may_be_the_best_prefix(metric):
    model = ForwardSelection(metric, n_init=3, n_rounds=1).fit(FIVE)
    assert model.counts_.tolist() == [1, 1, 1]
    assert model.path_[0, 0] == 0.0
    assert model.path_.shape == (1, 2)
    assert model.score(FIVE) == 1.0
    assert ForwardSelection(metric, n_init=3, n_rounds=1, best_prefix=False).fit(FIVE).counts_.sum() == 4
    bags = ForwardSelection(n_init=1, n_rounds=4, n_bags=3, fraction=1.0).fit(FIVE)
    assert bags.path_.shape == (3, 5)


@given(st.integers(0, 10_000), st.integers(1, 4))
@settings(max_examples=15)
def test_the_loss_of_the_initial_experts(seed, n_init):
    X = strings(seed)
    slots = align(X, mode="always")
    loss = slot_losses(slots)
    model = ForwardSelection(n_init=n_init, n_rounds=2, align="always", best_prefix=False).fit(X)
    drawn = [X.names.index(name) for name in model.selected_[0]]
    copies = [int(n) - drawn.count(j) for j, n in enumerate(model.counts_)]
    order = [j for j in model.entered_ if copies[j]]
    wrong = 0.0
    for row, g in zip(slots.labels.tolist(), slots.gold.tolist(), strict=True):
        tied = naive.tied_labels(row, copies, order)
        wrong += sum(label != g for label in tied) / max(len(tied), 1)
    assert model.path_[0, 0] * len(loss) == pytest.approx(wrong)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, np.zeros(2), "x", 1j])
def test_a_metric_that_returns_no_number_is_refused(value):
    def strange(gold, said):
        return value

    with pytest.raises(DataError, match="metric strange must return a finite number"):
        ForwardSelection(strange, n_rounds=2).fit(FIVE)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_rounds", 2.5), ("n_rounds", "x"), ("n_rounds", True), ("seed", -1), ("n_init", None), ("fraction", "a")],
)
def test_options_that_are_no_numbers(name, value):
    with pytest.raises(ParameterError, match=f"{name} must be"):
        ForwardSelection(**{name: value}).fit(FIVE)


def test_experts_that_are_right_in_different_places_cannot_be_selected():
    # ICML 2014, appendix I: l = p = 2, expert j right at position j only, both wrong elsewhere
    gold = [["a", "b"]] * 8
    X = ExpertPredictions.of({"e1": [["a", "x"]] * 8, "e2": [["x", "b"]] * 8}, gold=gold)
    for tie in ("index", "spread"):
        assert ForwardSelection(tie=tie).fit(X).score(X) == 0.5
    assert make_ensemble("mvote", tie="position", beta=0.5).fit(X).score(X) == 1.0


@pytest.mark.parametrize("tie", ["index", "spread"])
def test_one_expert_on_ads1(tie):
    X = ads(1, "matched", n=1200)
    learn, test = X[:200], X[200:]
    alone = BestExpert().fit(learn)
    kept = ForwardSelection(tie=tie).fit(learn)
    assert [name for name, n in zip(X.names, kept.counts_, strict=True) if n] == [alone.best_]
    whole = ForwardSelection(tie=tie, best_prefix=False).fit(learn)
    assert whole.counts_.max() > 50  # whoever enters later cannot outvote it
    assert whole.predict(test) == kept.predict(test) == alone.predict(test)


def test_ties_that_spread_find_what_the_index_does_not():
    # every expert of ADS2 errs in 4 of 10 places, so that the first is never left
    X = ads(2, n=1000)
    by_index, spread = (ForwardSelection(tie=tie).fit(X[:200]) for tie in ("index", "spread"))
    assert 1 - by_index.score(X[200:]) == pytest.approx(0.4, abs=0.001)  # edit distance: a shift may be cheaper
    assert 1 - spread.score(X[200:]) == pytest.approx(0.238, abs=0.01)


@given(st.integers(0, 10_000), st.sampled_from(["index", "spread"]), st.integers(2, 5))
@settings(max_examples=15)
def test_counts_are_those_of_the_definition(seed, tie, p):
    X = strings(seed, p=p)
    slots = align(X, mode="always")
    rows, loss = slots.labels.tolist(), slot_losses(slots)
    model = ForwardSelection(n_rounds=6, tie=tie, align="always").fit(X)
    gold = slots.gold.tolist()

    def wrong(tied):
        return sum(sum(w != g for w in ws) / len(ws) for ws, g in zip(tied, gold, strict=True) if ws)

    chosen, path = naive.select(rows, wrong, 6, tie)
    assert model.selected_ == [[X.names[j] for j in chosen]]
    assert model.path_[0] * len(loss) == pytest.approx(path)
    kept = chosen[: int(np.argmin(model.path_[0])) + 1]
    assert model.counts_.tolist() == [kept.count(j) for j in range(p)]
    done = model.combine(X).prediction.to_list()
    order = list(dict.fromkeys(kept))
    voted = [naive.winner(row, [kept.count(j) for j in range(p)], order) for row in rows]
    cuts = slots.offsets.tolist()
    assert done == [[v for v in voted[a:b] if v not in (None, GAP)] for a, b in pairwise(cuts)]


@given(st.integers(0, 10_000), st.sampled_from(["index", "spread"]))
@settings(max_examples=12)
def test_edit_distance_as_metric(seed, tie):
    X = strings(seed)
    slots = align(X, mode="always")
    cuts, golds = slots.offsets.tolist(), X.gold

    def edits(tied):
        total, winners = 0, [ws[0] if ws else GAP for ws in tied]
        for a, b, gold in zip(cuts[:-1], cuts[1:], golds, strict=True):
            total += edit_distance(gold, X.alphabet.decode([w for w in winners[a:b] if w != GAP]))
        return total

    chosen, path = naive.select(slots.labels.tolist(), edits, 4, tie)
    by_name = ForwardSelection("edit", n_rounds=4, tie=tie, align="always").fit(X)
    by_function = ForwardSelection(edit_distance, n_rounds=4, tie=tie, align="always").fit(X)
    assert by_name.selected_ == by_function.selected_ == [[X.names[j] for j in chosen]]
    assert (by_name.path_[0] * sum(map(len, golds))).round(6).tolist() == path
    assert (by_function.path_[0] * len(X)).round(6).tolist() == path
    assert 1 - by_name.score(X) == pytest.approx(by_name.path_.min())


def test_never_worse_than_the_best_expert_on_the_records_learnt_from():
    for seed in range(10):
        X = strings(seed, absent=0.0)
        assert ForwardSelection("edit", n_rounds=8).fit(X).score(X) >= BestExpert().fit(X).score(X) - 1e-12


def test_a_loss_of_the_users():
    X = ExpertPredictions.of({"a": [["x"], ["z"]], "b": [["y"], ["x"]]}, gold=[["x"], ["x"]])
    dear = CostMatrix({("x", "z"): 9.0})
    assert ForwardSelection(n_rounds=1).fit(X).counts_.tolist() == [1, 0]
    assert ForwardSelection(dear, n_rounds=1).fit(X).counts_.tolist() == [0, 1]


def test_initial_experts_and_bags():
    X = ads(1, "matched", n=300, seed=2)
    worst_first = sorted(X.names, key=lambda j: BestExpert().fit(X).error_[X.column(j)])
    begun = ForwardSelection(n_rounds=1, n_init=3, best_prefix=False).fit(X)
    assert begun.counts_.sum() == 4
    assert {X.names[j] for j in np.flatnonzero(begun.counts_)} >= set(worst_first[:3])
    assert begun.entered_[:3] == [X.column(name) for name in worst_first[:3]]
    bagged = ForwardSelection(n_rounds=5, n_bags=7, fraction=0.6, seed=3, best_prefix=False).fit(X)
    again = ForwardSelection(n_rounds=5, n_bags=7, fraction=0.6, seed=3, best_prefix=False).fit(X)
    assert bagged.path_.shape == (7, 5)
    assert bagged.weights_.tolist() == again.weights_.tolist()
    assert bagged.counts_.sum() == pytest.approx(5)
    assert all(len(set(names)) <= 3 for names in bagged.selected_)
    assert bagged.weights_.sum() == pytest.approx(1)
    assert bagged.entered_[0] == int(bagged.weights_.argmax())
    whole = ForwardSelection(n_rounds=5, n_bags=1, fraction=1.0).fit(X)
    assert whole.selected_ == ForwardSelection(n_rounds=5).fit(X).selected_


def test_records_where_no_selected_expert_answered_are_voted_on():
    X = ExpertPredictions.of({"a": ["x", "x", None], "b": ["y", "y", "y"], "c": ["y", "y", "z"]}, gold=["x", "x", "x"])
    model = ForwardSelection(n_rounds=2, tie="index").fit(X)
    assert model.counts_.tolist() == [1, 0, 0]
    assert model.predict(X) == ["x", "x", "y"]
    assert align(X).labels[-1, 0] == ABSENT


def test_model_file(tmp_path):
    X = ads(2, n=150)
    model = make_ensemble("sle", tie="position").fit(X)
    assert model.tie == "spread"  # the command line's tie is a way of sharing weights, which selection has not
    save(model, tmp_path / "m.structens")
    assert load(tmp_path / "m.structens").predict(X) == model.predict(X)


@pytest.mark.parametrize(
    "wrong",
    [{"metric": "bleu"}, {"tie": "first"}, {"n_rounds": 0}, {"n_init": -1}, {"n_bags": -1}, {"fraction": 0.0}],
)
def test_wrong_options_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        ForwardSelection(**wrong).fit(FIVE)
