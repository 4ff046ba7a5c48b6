"""From votes to probabilities: closed forms, other implementations, what must hold for all calibrators."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from structens.boosting import AdaBoost, softmax_posteriors, vote_posteriors
from structens.boosting.calibration import CALIBRATORS, calibrator
from structens.boosting.folds import fold_of_rows, held_out_scores
from structens.core import DataError, ParameterError

NAMES = sorted(CALIBRATORS)


def votes(n=600, n_classes=4, sure=3.0, seed=0):
    """Votes that are right more often than not, but far too sure; their classes."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, n)
    f = rng.normal(size=(n, n_classes))
    f[np.arange(n), codes] += 1.0
    f *= sure
    return (f[:, 1] - f[:, 0], codes) if n_classes == 2 else (f, codes)


def log_loss(p, codes):
    return -np.mean(np.log(np.maximum(p[np.arange(len(codes)), codes], 1e-300)))


# ---- straight from the votes


@settings(max_examples=50, deadline=None)
@given(arrays(np.float64, (5,), elements=st.floats(-1e3, 1e3)))
def test_two_classes_side_with_the_sign_of_the_vote(f):
    for p in (softmax_posteriors(f), softmax_posteriors(f, 7.0), vote_posteriors(f, 1e3)):
        assert ((p[:, 1] > 0.5) == (f > 0)).all()
        assert ((p[:, 1] > p[:, 0]) == (f > 0)).all()
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(softmax_posteriors(f)[:, 1], softmax_posteriors(np.stack([0 * f, f], axis=1))[:, 1])


def test_votes_are_scaled_as_in_the_ranking_paper():
    f, total = np.array([[1.5, -0.5, -2.0], [2.0, 2.0, -2.0]]), 2.0
    scaled = 0.5 * (1 + f / total)
    np.testing.assert_allclose(vote_posteriors(f, total), scaled / scaled.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(vote_posteriors(np.array([1.0]), 2.0), [[0.25, 0.75]])
    np.testing.assert_allclose(vote_posteriors(np.full((1, 4), -2.0), 2.0), 0.25)
    np.testing.assert_allclose(vote_posteriors(np.zeros((1, 3)), 0.0), 1 / 3)
    for wrong in (-1.0, np.inf, np.nan):
        with pytest.raises(ParameterError, match="sum of the coefficients"):
            vote_posteriors(f, wrong)


def test_softmax_of_huge_votes_is_finite():
    p = softmax_posteriors(np.array([[1e5, -1e5, 1e5]]))
    np.testing.assert_allclose(p, [[0.5, 0.0, 0.5]])
    with pytest.raises(ParameterError, match="temperature"):
        softmax_posteriors(np.zeros((1, 2)), 0.0)


# ---- calibrators


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("name", NAMES)
def test_new_rows_get_better_probabilities(name, n_classes):
    f, codes = votes(n_classes=n_classes)
    fitted = calibrator(name).fit(f, codes)
    new, truth = votes(4000, n_classes, seed=1)
    p = fitted.probabilities(new)
    assert p.shape == (4000, n_classes)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p >= 0).all()
    assert log_loss(p, truth) < log_loss(softmax_posteriors(new), truth) - 0.2
    again = calibrator(name).restore(fitted.state())
    np.testing.assert_array_equal(again.probabilities(new), p)
    for value in fitted.state().values():
        assert np.isfinite(value).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_weights_are_rows_given_so_many_times(name, n_classes):
    f, codes = votes(60, n_classes)
    times = np.arange(60) % 3
    times[:3] = 1
    weighed = calibrator(name).fit(f, codes, times.astype(float) * 7)
    rows = calibrator(name).fit(np.repeat(f, times, axis=0), np.repeat(codes, times))
    plain = weighed.fit(f, codes, times.astype(float))
    if name == "temperature":  # the others count rows for their targets: there only the scale of weights is free
        np.testing.assert_allclose(weighed.temperature_, rows.temperature_, rtol=1e-4)
    for a, b in zip(weighed.state().values(), plain.state().values(), strict=True):
        np.testing.assert_allclose(a, b)


def test_the_temperature_has_the_least_risk():
    f, codes = votes()
    best = calibrator("temperature").fit(f, codes).temperature_
    assert best > 2
    for other in (0.9 * best, 1.1 * best):
        assert log_loss(softmax_posteriors(f, best), codes) < log_loss(softmax_posteriors(f, other), codes)
    assert (softmax_posteriors(f, best).argmax(axis=1) == f.argmax(axis=1)).all()


def test_a_temperature_of_votes_that_are_always_right_or_all_equal_is_finite():
    for f in (np.eye(3) * 5, np.zeros((3, 3))):
        fitted = calibrator("temperature").fit(f, np.arange(3))
        assert 0 < fitted.temperature_ < np.inf
        assert np.isfinite(fitted.probabilities(f)).all()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_sigmoid_has_the_least_risk_at_any_scale(scale):
    f, codes = votes(300, 2)
    fitted = calibrator("sigmoid").fit(scale * f, codes)
    positive = codes == 1
    target = np.where(positive, (positive.sum() + 1) / (positive.sum() + 2), 1 / ((~positive).sum() + 2))
    p = fitted.probabilities(scale * f)[:, 1]
    np.testing.assert_allclose([np.mean(p - target), np.mean((p - target) * f)], 0.0, atol=1e-7)  # gradient
    assert fitted.slope_[0] < 0


def test_sigmoid_equals_scikit_learns():
    from sklearn.calibration import _SigmoidCalibration

    f, codes = votes(300, 2)
    theirs = _SigmoidCalibration().fit(f, codes)
    ours = calibrator("sigmoid").fit(f, codes)
    np.testing.assert_allclose([ours.slope_[0], ours.intercept_[0]], [theirs.a_, theirs.b_], rtol=1e-3)


def test_isotonic_equals_scikit_learns():
    from sklearn.isotonic import IsotonicRegression

    f, codes = votes(200, 2)
    f = f.round(1)  # equal votes
    n = np.bincount(codes)
    target = np.where(codes == 1, (n[1] + 1) / (n[1] + 2), 1 / (n[0] + 2))
    theirs = IsotonicRegression(out_of_bounds="clip").fit(f, target)
    grid = np.linspace(f.min() - 1, f.max() + 1, 301)
    ours = calibrator("isotonic").fit(f, codes).probabilities(grid)[:, 1]
    np.testing.assert_allclose(ours, theirs.predict(grid), atol=1e-8)
    assert (np.diff(ours) >= 0).all()


def test_isotonic_tells_equal_steps_apart_by_the_votes():
    f = np.array([[3.0, 2.0, 0.0], [2.0, 3.0, 0.0]] * 20)
    codes = np.array([0, 1] * 10 + [1, 0] * 10)  # the votes say nothing: all steps are equal
    assert calibrator("isotonic").fit(f, codes).probabilities(f[:2]).argmax(axis=1).tolist() == [0, 1]


def test_what_does_not_fit_is_refused():
    f = np.zeros((3, 2))
    for codes, weight in (
        ([0, 1], None),
        ([0, 1, 2], None),
        ([0, 1, -1], None),
        ([0, 1, 1], [0, 0, 0]),
        ([0, 1, 1], [1, 1]),
    ):
        with pytest.raises(DataError):
            calibrator("sigmoid").fit(f, np.array(codes), None if weight is None else np.array(weight, dtype=float))
    with pytest.raises(ParameterError, match="calibrate must be one of"):
        calibrator("platt")


# ---- held-out votes


def test_folds_spread_every_class_and_keep_groups_together():
    codes = np.array([0] * 17 + [1] * 5 + [2] * 3)
    fold = fold_of_rows(codes, 5, random_state=0)
    for k in range(3):
        counts = np.bincount(fold[codes == k], minlength=5)
        assert counts.max() - counts.min() <= 1
    groups = np.repeat(np.arange(6), [10, 1, 1, 1, 5, 7])
    fold = fold_of_rows(codes, 3, groups=groups)
    assert all(len(set(fold[groups == g])) == 1 for g in range(6))
    assert sorted(np.bincount(fold).tolist()) == [7, 8, 10]
    for wrong in (1, 7):
        with pytest.raises(ParameterError, match="n_folds"):
            fold_of_rows(codes, wrong, groups=groups)
    with pytest.raises(DataError, match="one group for each"):
        fold_of_rows(codes, 2, groups=[1, 2])


def test_held_out_votes_are_those_of_models_that_had_not_seen_the_row():
    rng = np.random.default_rng(0)
    X, codes, weight = rng.normal(size=(30, 2)), rng.integers(0, 2, 30), rng.uniform(1, 2, 30)
    scores = held_out_scores(AdaBoost(n_rounds=5), X, codes, weight, n_folds=3, random_state=4)
    fold = fold_of_rows(codes, 3, 4)
    for k in range(3):
        learnt = AdaBoost(n_rounds=5).fit(X[fold != k], codes[fold != k], sample_weight=weight[fold != k])
        np.testing.assert_array_equal(scores[fold == k], learnt.decision_function(X[fold == k]))


def test_a_class_that_a_fold_lacks_has_the_lowest_vote():
    class Memory:
        """Votes +1 for every class it has seen, by its code."""

        def get_params(self, deep=True):
            return {}

        def fit(self, X, y, sample_weight=None):
            self.classes_ = np.unique(y)
            return self

        def decision_function(self, X):
            return np.tile(np.arange(1.0, 1 + len(self.classes_)), (len(X), 1))

    codes = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 3])  # class 3 has one row
    scores = held_out_scores(Memory(), np.zeros((10, 1)), codes, np.ones(10), n_folds=3)
    assert scores.shape == (10, 4)
    assert scores[9].tolist() == [1.0, 2.0, 3.0, 1.0]
