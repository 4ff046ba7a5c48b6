"""Selection of parameters and rounds: its arithmetic on a made-up booster, then on real ones."""

from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from structens.boosting import AdaBoost, AdaBoostMH, HammingTree, select, smoothed_minimum
from structens.core import DataError, Estimator, ParameterError


class MadeUp(Estimator):
    """Errs on the first rows of each test set, as many as a curve says; the curve depends on `size`."""

    log: ClassVar[list] = []

    def __init__(self, size=1, n_rounds=20, calibrate=None):
        self.size, self.n_rounds, self.calibrate = size, n_rounds, calibrate

    def fit(self, X, y, sample_weight=None):
        self.log.append(
            (self.size, self.n_rounds, self.calibrate, len(y), None if sample_weight is None else list(sample_weight))
        )
        self.fitted_ = True
        return self

    def share(self, t):
        return abs(t - 5 * self.size) / 20 + (0.1 if self.size == 1 else 0.0)

    def staged_predict(self, X):
        for t in range(1, min(self.n_rounds, 12) + 1):  # ends early
            yield np.where(np.arange(len(X)) < self.share(t) * len(X), "no", "yes")

    def predict(self, X):
        return np.full(len(X), "yes")


def test_curves_minima_and_the_last_fit():
    MadeUp.log.clear()
    X, y = np.zeros((80, 1)), np.full(80, "yes")
    seen = []
    found = select(
        MadeUp(calibrate="sigmoid"),
        X,
        y,
        {"size": [1, 2]},
        n_folds=4,
        min_rounds=2,
        progress=lambda *done: seen.append(done),
    )
    truth = np.array([[np.ceil(MadeUp(size).share(min(t, 12)) * 20) / 20 for t in range(1, 21)] for size in (1, 2)])
    np.testing.assert_allclose(found.curves, truth)
    assert found.n_rounds.tolist() == [smoothed_minimum(curve, min_rounds=2) for curve in truth]
    assert found.best == 1
    assert found.params == {"size": 2, "n_rounds": int(found.n_rounds[1])}
    np.testing.assert_allclose(found.error[1], found.smoothed[1, found.n_rounds[1] - 1])
    assert seen == [(k, 8) for k in range(1, 9)]
    assert MadeUp.log[:8] == [(size, 20, None, 60, None) for size in (1, 2) for _ in range(4)]
    assert MadeUp.log[8:] == [(2, found.params["n_rounds"], "sigmoid", 80, None)]
    lines = found.table().splitlines()
    assert len(lines) == 3
    assert [line.split()[0] for line in lines] == ["size", "1", "*"]


def test_weights_splits_and_no_last_fit():
    MadeUp.log.clear()
    y = np.full(8, "yes")
    weight = np.arange(1.0, 9.0)
    found = select(
        MadeUp(n_rounds=5),
        np.zeros((8, 1)),
        y,
        n_folds=[([0, 1, 2, 3], [4, 5, 6, 7])],
        sample_weight=weight,
        min_rounds=0,
        refit=False,
    )
    # at round 5 of size 1: a tenth of four rows, so the first of them, of weight 5 in 26
    np.testing.assert_allclose(found.curves[0, 4], 5 / 26)
    assert found.estimator is None
    assert MadeUp.log == [(1, 5, None, 4, [1.0, 2.0, 3.0, 4.0])]
    assert found.settings == ({},)


@pytest.mark.parametrize(
    ("estimator", "grid", "options", "word"),
    [
        (Estimator(), None, {}, "staged_predict"),
        (MadeUp(), {"n_rounds": [1]}, {}, "leave it out of the grid"),
        (MadeUp(), {"size": []}, {}, "no values for size"),
        (MadeUp(), None, {"rounds": "n_estimators"}, "no parameter 'n_estimators'"),
        (MadeUp(), None, {"n_folds": 1}, "n_folds"),
        (MadeUp(), None, {"n_folds": []}, "n_folds"),
        (AdaBoost(early_stopping="online"), None, {}, "early_stopping"),
    ],
)
def test_what_cannot_be_selected_is_refused(estimator, grid, options, word):
    with pytest.raises(ParameterError, match=word):
        select(estimator, np.zeros((4, 1)), np.full(4, "yes"), grid, **options)


def test_rows_must_match():
    with pytest.raises(DataError, match="same number of rows"):
        select(MadeUp(), np.zeros((4, 1)), ["yes"] * 3)


def test_adaboost_stops_before_it_learns_the_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, "up", "down")
    found = select(AdaBoost(n_rounds=60), X, y, {"learning_rate": [0.1, 1.0]}, n_folds=3, min_rounds=0)
    assert found.estimator.n_rounds_ == found.params["n_rounds"] < 60
    assert found.error[found.best] <= found.curves[:, -1].min() + 0.01
    again = select(AdaBoost(n_rounds=60), X, y, {"learning_rate": [0.1, 1.0]}, n_folds=3, min_rounds=0)
    np.testing.assert_array_equal(found.curves, again.curves)


def test_boosters_of_scikit_learn_take_part():
    from sklearn import ensemble

    X = np.random.default_rng(0).normal(size=(60, 2))
    model = ensemble.AdaBoostClassifier(n_estimators=12, random_state=0)
    found = select(model, X, X[:, 0] > 0, n_folds=2, min_rounds=0, rounds="n_estimators")
    assert found.params["n_estimators"] <= 12
    assert found.estimator.n_estimators == found.params["n_estimators"]


DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "classification"


@pytest.mark.parametrize(("name", "paper", "bar"), [("wine", 0.02, 0.03), ("blood", 0.22, 0.04)])
def test_nodes_and_rounds_are_chosen_as_in_the_paper(name, paper, bar):
    if not (DATA / f"{name}.npz").exists():
        pytest.skip(f"the data set {name} is not beside the repository")
    data = np.load(DATA / f"{name}.npz", allow_pickle=False)
    grid = {"base__n_inner_nodes": [1, 2]}
    found = select(AdaBoostMH(HammingTree(), n_rounds=60), data["X"], data["y"], grid, n_folds=5, min_rounds=10)
    assert abs(found.error[found.best] - paper) <= bar  # the error it was chosen by
    assert found.estimator.n_rounds_ == found.params["n_rounds"]
    assert found.estimator.base.n_inner_nodes == found.params["base__n_inner_nodes"]


def test_the_base_learner_given_is_not_changed():
    base = HammingTree(3)
    X, y = np.arange(12.0)[:, None], np.repeat(["a", "b", "c"], 4)
    found = select(AdaBoostMH(base, n_rounds=4), X, y, {"base__n_inner_nodes": [1]}, n_folds=2, min_rounds=0)
    assert base.n_inner_nodes == 3
    assert found.estimator.base.n_inner_nodes == 1
