"""Binary AdaBoost: the published example, brute force, theorems, weights, hard numbers, ends."""

import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import adaboost as naive

from structens.boosting import AdaBoost
from structens.boosting.adaboost_kernels import add_votes, best_cut
from structens.boosting.adaboost_rounds import midpoint, presort
from structens.core import DataError, NotFittedError, ParameterError

SPEC_X = np.arange(1.0, 7.0)[:, None]
SPEC_Y = np.array([1, 1, -1, -1, 1, 1])


@st.composite
def problems(draw, min_weight=1):
    """Small whole numbers: equal values and equal cuts are common."""
    n, d = draw(st.integers(2, 9)), draw(st.integers(1, 3))
    X = [[float(draw(st.integers(0, 3))) for _ in range(d)] for _ in range(n)]
    y = [draw(st.sampled_from([-1, 1])) for _ in range(n)]
    y[0], y[1] = 1, -1
    weight = [float(draw(st.integers(min_weight, 3))) for _ in range(n)]
    return np.array(X), np.array(y), np.array(weight)


def quiet(model, *args, **kwargs):
    """Fit where it may be that nothing can be learnt."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(*args, **kwargs)


def same(a, b):
    """Two models are equal to the last bit."""
    return all(np.array_equal(getattr(a, k), getattr(b, k)) for k in ("feature_", "threshold_", "sign_", "alpha_"))


# ---- the example of section 9


def test_the_four_rounds_of_the_specification():
    model = AdaBoost(n_rounds=4).fit(SPEC_X, SPEC_Y)
    trace = model.trace_
    assert trace.feature.tolist() == [-1, 0, 0, -1]
    assert trace.threshold.tolist() == [-math.inf, 2.5, 4.5, -math.inf]
    assert trace.sign[:3].tolist() == [1, -1, 1]
    np.testing.assert_allclose(trace.error, [1 / 3, 0.25, 1 / 6, 0.2], atol=1e-12)
    np.testing.assert_allclose(trace.alpha[:3], [0.346574, 0.549306, 0.804719], atol=5e-7)
    np.testing.assert_allclose(trace.z[0], 0.942809, atol=5e-7)
    assert trace.training_error[2] == 0.0


def test_forms_say_the_same_in_other_words():
    old, new = (AdaBoost(n_rounds=4, form=form).fit(SPEC_X, SPEC_Y) for form in ("FS97", "SS99"))
    np.testing.assert_array_equal(old.decision_function(SPEC_X), new.decision_function(SPEC_X))
    trace = old.trace_
    np.testing.assert_allclose(trace.beta, trace.error / (1 - trace.error))
    np.testing.assert_allclose(np.log(1 / trace.beta), 2 * trace.alpha)
    # D * beta^[correct], scaled, and sum of log(1/beta) h >= half the sum, h in {0, 1}
    votes, total = np.zeros(6), np.zeros(6)
    D = np.full(6, 1 / 6)
    for t in range(4):
        h = SPEC_X[:, 0] >= trace.threshold[t] if trace.sign[t] > 0 else SPEC_X[:, 0] < trace.threshold[t]
        D = D * trace.beta[t] ** (h == (SPEC_Y > 0))
        D /= D.sum()
        np.testing.assert_allclose(trace.weights[t + 1], D)
        votes += np.log(1 / trace.beta[t]) * h
        total += np.log(1 / trace.beta[t])
    assert ((votes >= total / 2) == (old.predict(SPEC_X) == 1)).all()
    header = old.trace_table().splitlines()[0]
    assert "beta" in header
    assert "beta" not in new.trace_table().splitlines()[0]


def test_table_shows_each_round_as_a_lecture_would():
    lines = AdaBoost(n_rounds=3).fit(SPEC_X, ["a", "a", "b", "b", "a", "a"]).trace_table().splitlines()
    assert lines[0].split() == [
        "round",
        "cut",
        "error",
        "alpha",
        "Z",
        "bound",
        "training",
        "error",
        "w1",
        "w2",
        "w3",
        "w4",
        "w5",
        "w6",
    ]
    assert "x[0] >= 2.5: b, else a" in lines[2] or "x[0] >= 2.5: a, else b" in lines[2]
    assert len(lines) == 5
    assert lines[1].split()[-6:] == ["0.1667"] * 6
    assert AdaBoost(n_rounds=3).fit(SPEC_X, SPEC_Y).trace_table(1).splitlines()[-2] == "... and 2 more rounds"


def test_weights_are_kept_when_asked_for():
    assert AdaBoost(n_rounds=3, keep_weights=False).fit(SPEC_X, SPEC_Y).trace_.weights is None
    kept = AdaBoost(n_rounds=3).fit(SPEC_X, SPEC_Y).trace_.weights
    assert kept.shape == (4, 6)
    np.testing.assert_allclose(kept.sum(axis=1), 1.0)
    assert AdaBoost(n_rounds=20_000, stop_when_perfect=True).fit(SPEC_X, SPEC_Y).trace_.weights is None


# ---- brute force and theorems


@settings(max_examples=60, deadline=None)
@given(problems())
def test_every_round_is_that_of_brute_force(problem):
    X, y, weight = problem
    expected = naive.adaboost(X.tolist(), y.tolist(), weight.tolist(), 6)
    model = quiet(AdaBoost(n_rounds=6), X, y, sample_weight=weight)
    found = list(zip(model.feature_.tolist(), model.threshold_.tolist(), model.sign_.tolist(), strict=True))
    assert found == [cut for cut, *_ in expected]
    np.testing.assert_allclose(model.trace_.error, [error for _, error, *_ in expected], atol=1e-9)
    np.testing.assert_allclose(model.alpha_, [alpha for _, _, alpha, *_ in expected], rtol=1e-6)
    np.testing.assert_allclose(model.trace_.z, [z for *_, z, _ in expected], rtol=1e-6)
    for t, (*_, D) in enumerate(expected):
        np.testing.assert_allclose(model.trace_.weights[t + 1], D, atol=1e-9)
    f = [naive.vote(expected, row) for row in X.tolist()]
    np.testing.assert_allclose(model.decision_function(X), f, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(problems(), st.sampled_from([0.3, 1.0]))
def test_training_error_stays_under_the_product_of_z(problem, rate):
    X, y, weight = problem
    model = quiet(AdaBoost(n_rounds=8, learning_rate=rate), X, y, sample_weight=weight)
    trace, D = model.trace_, weight / weight.sum()
    assert (trace.training_error <= trace.bound + 1e-12).all()
    if rate == 1.0 and (trace.error > 0).all():
        np.testing.assert_allclose(trace.z, np.sqrt(1 - trace.edge**2))
        assert (trace.bound <= np.exp(-0.5 * np.cumsum(trace.edge**2)) + 1e-12).all()
    for f, bound in zip(
        model.staged_decision_function(X), trace.bound, strict=True
    ):  # the bound is the exponential risk itself
        np.testing.assert_allclose(np.dot(D, np.exp(-y * f)), bound)


def test_the_last_cut_is_a_coin_after_the_update():
    model = AdaBoost(n_rounds=5).fit(SPEC_X, SPEC_Y)
    for t in range(4):
        at_least = model.threshold_[t] <= SPEC_X[:, 0]
        wrong = np.where(at_least, model.sign_[t], -model.sign_[t]) != SPEC_Y
        np.testing.assert_allclose(model.trace_.weights[t + 1][wrong].sum(), 0.5)


def test_kernels_run_on_one_row():
    found, edge = np.zeros(2, dtype=np.int64), np.zeros(1)
    best_cut(presort(np.array([[3.0]])), np.array([0.25]), np.zeros(1), found, edge)
    assert (found.tolist(), edge.tolist()) == ([-1, -1], [0.25])
    out = np.zeros(1)
    add_votes(np.array([[3.0]]), np.array([0, -1]), np.array([3.0, -np.inf]), np.array([0.5, 0.25]), out)
    assert out.tolist() == [0.75]  # at the threshold is from the threshold on


# ---- weights


@settings(max_examples=40, deadline=None)
@given(problems(min_weight=0))
def test_weights_are_rows_given_so_many_times(problem):
    X, y, weight = problem
    weight[0] = weight[1] = 1.0  # both classes stay
    times = weight.astype(int)
    weighed = quiet(AdaBoost(n_rounds=6), X, y, sample_weight=weight)
    repeated = quiet(AdaBoost(n_rounds=6), np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighed.feature_.tolist() == repeated.feature_.tolist()
    assert weighed.threshold_.tolist() == repeated.threshold_.tolist()
    np.testing.assert_allclose(weighed.alpha_, repeated.alpha_, rtol=1e-9)
    kept = weight > 0
    assert same(weighed, quiet(AdaBoost(n_rounds=6), X[kept], y[kept], sample_weight=weight[kept]))


def test_rows_of_weight_zero_are_not_there():  # BOOST-09
    X, y = np.array([[0.0], [1.0], [4.0]]), [0, 0, 1]
    assert AdaBoost().fit(X, y, sample_weight=[1, 0, 1]).threshold_.tolist() == [2.0]
    assert AdaBoost().fit(X, y).threshold_.tolist() == [2.5]
    wild = np.array([[0.0], [1e300], [4.0]])
    assert same(AdaBoost().fit(wild, y, sample_weight=[1, 0, 1]), AdaBoost().fit(X[[0, 2]], [0, 1]))
    for bad in ([0, 0, 0], [1, -1, 1], [1, math.nan, 1], [1, math.inf, 1], [1, 1]):
        with pytest.raises(DataError, match="weight"):
            AdaBoost().fit(X, y, sample_weight=bad)


@pytest.mark.parametrize("scale", [0.1, 0.01, 3.0, 1e-300, 1e300])
def test_scaling_weights_changes_nothing(scale):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (40, 3)).astype(float), rng.integers(0, 2, 40)
    plain, scaled = AdaBoost(n_rounds=20).fit(X, y), AdaBoost(n_rounds=20).fit(X, y, sample_weight=np.full(40, scale))
    assert plain.threshold_.tolist() == scaled.threshold_.tolist()
    np.testing.assert_allclose(plain.alpha_, scaled.alpha_, rtol=1e-9)


def test_tiny_weights_keep_their_digits():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 1, 0, 1, 1])
    model = AdaBoost(n_rounds=50).fit(X, y, sample_weight=[1, 1, 1e-200, 1e-200, 1, 1])
    assert np.isfinite(model.alpha_).all()
    assert 0 < model.trace_.error[0] < 1e-199
    assert model.score(X, y) == 1.0


def test_class_weights_are_row_weights():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), np.array(["no"] * 45 + ["yes"] * 15)
    by_class = AdaBoost(n_rounds=15, class_weight={"yes": 3.0}).fit(X, y)
    by_row = AdaBoost(n_rounds=15).fit(X, y, sample_weight=np.where(y == "yes", 3.0, 1.0))
    assert same(by_class, by_row)
    assert by_class.threshold_.tolist() == AdaBoost(n_rounds=15, class_weight="balanced").fit(X, y).threshold_.tolist()
    with pytest.raises(ParameterError, match="class_weight"):
        AdaBoost(class_weight="even").fit(X, y)


# ---- ends


def test_a_perfect_cut_ends_it_and_votes_one():  # BOOST-01
    model = AdaBoost(n_rounds=10).fit([[0], [1]], ["a", "b"])
    assert (model.n_rounds_, model.alpha_.tolist(), model.threshold_.tolist()) == (1, [1.0], [0.5])
    assert model.predict([[0], [1]]).tolist() == ["a", "b"]
    assert np.isfinite(model.trace_.z).all()
    assert "makes no error" in model.trace_.stopped


@pytest.mark.parametrize(
    ("X", "y"), [([[7], [7], [7], [7]], [0, 0, 1, 1]), ([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])]
)
def test_no_better_than_a_coin_is_no_round(X, y):  # BOOST-03
    with pytest.warns(UserWarning, match="no weak learner with positive edge"):
        model = AdaBoost(n_rounds=10).fit(X, y)
    assert (model.n_rounds_, model.predict(X).tolist()) == (0, [0, 0, 0, 0])
    assert model.predict_proba(X).tolist() == [[0.5, 0.5]] * 4
    assert model.feature_importances_.tolist() == [0.0] * len(X[0])
    assert model.margins(X, y).tolist() == [0.0] * 4


def test_the_constant_has_one_round():  # BOOST-04
    model = AdaBoost(n_rounds=1000).fit([[7], [7], [7], [7]], [0, 0, 0, 1])
    assert model.n_rounds_ == 1
    np.testing.assert_allclose(model.alpha_, [0.5493061443340549])
    assert model.predict([[7]]).tolist() == [0]


def test_one_class_is_predicted_always():
    model = AdaBoost().fit([[1.0], [2.0]], ["x", "x"])
    assert model.predict([[5.0]]).tolist() == ["x"]
    assert model.predict_proba([[5.0]]).tolist() == [[1.0]]
    assert model.decision_function([[5.0]]).tolist() == [0.0]


def test_more_than_two_classes_are_sent_elsewhere():
    with pytest.raises(DataError, match="AdaBoostMH"):
        AdaBoost().fit([[1], [2], [3]], [0, 1, 2])


def test_stop_when_perfect():
    model = AdaBoost(n_rounds=50, stop_when_perfect=True).fit(SPEC_X, SPEC_Y)
    assert model.n_rounds_ == 3
    assert model.trace_.training_error.tolist()[-1] == 0.0
    assert AdaBoost(n_rounds=50).fit(SPEC_X, SPEC_Y).n_rounds_ == 50


def test_long_runs_stay_finite():
    model = AdaBoost(n_rounds=10_000).fit(SPEC_X, SPEC_Y)
    assert model.n_rounds_ == 10_000
    assert np.isfinite(model.alpha_).all()
    assert np.isfinite(model.predict_proba(SPEC_X)).all()
    np.testing.assert_allclose(model.feature_importances_, [1.0])


@pytest.mark.parametrize("rate", [0.1, 3.0, 1000.0])
def test_learning_rates_neither_warn_nor_overflow(rate):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 2, 50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AdaBoost(n_rounds=30, learning_rate=rate).fit(X, y)
    for value in (model.alpha_, model.trace_.z, model.trace_.weights, model.decision_function(X)):
        assert np.isfinite(value).all()


# ---- hard numbers


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (1.0, np.nextafter(1.0, 2.0)),
        (-1.7e308, 1.7e308),
        (1.0, 1.0 + 3e-8),
        (0.0, 5e-324),
        (-5e-324, 0.0),
        (1e308, 1.7e308),
    ],
)
def test_neighbours_and_extremes_are_told_apart(low, high):
    X = np.array([[low], [high]])
    model = AdaBoost().fit(X, [0, 1])
    assert low < model.threshold_[0] <= high
    assert model.predict(X).tolist() == [0, 1]
    assert midpoint(np.array([low, high]), np.array([~0, 1], dtype=np.int32), 0) == model.threshold_[0]


def test_features_stay_doubles():  # BOOST-06
    model = AdaBoost().fit([[0.1], [0.3]], [0, 1])
    assert model.threshold_.tolist() == [0.2]
    assert model.predict([[0.1999999999]]).tolist() == [0]
    assert model.predict([[0.2]]).tolist() == [1]


def test_missing_and_infinite_values_are_refused_by_place():  # BOOST-07
    for bad, word in ((math.nan, "NaN"), (math.inf, "inf"), (-math.inf, "inf")):
        with pytest.raises(DataError, match=f"row 1, column 0 is.*{word}"):
            AdaBoost().fit([[0.0], [bad], [2.0]], [0, 1, 1])
        with pytest.raises(DataError, match=f"row 0, column 0 is.*{word}"):
            AdaBoost().fit([[0.0], [2.0]], [0, 1]).predict([[bad]])


def test_sparse_input_is_a_type_error():  # BOOST-12
    from scipy.sparse import csr_matrix

    for error in (TypeError, DataError):
        with pytest.raises(error, match="sparse input is not supported"):
            AdaBoost().fit(csr_matrix([[0, 3], [0, 0]]), [0, 1])


def test_ties_go_to_the_lowest_threshold():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1]
    assert AdaBoost(n_rounds=1).fit(X, y).threshold_.tolist() == [0.5]  # as good as 2.5


def test_min_weight_fraction_leaf_keeps_both_sides_heavy():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    model = AdaBoost(n_rounds=20, min_weight_fraction_leaf=0.3).fit(X, y)
    for t in np.flatnonzero(model.feature_ >= 0):
        upper = model.trace_.weights[t][X[:, model.feature_[t]] >= model.threshold_[t]].sum()
        assert 0.3 - 1e-9 <= upper <= 0.7 + 1e-9


# ---- what users call


def test_predictions_probabilities_and_stages_agree():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = AdaBoost(n_rounds=25).fit(X, y)
    f, p = model.decision_function(X), model.predict_proba(X)
    assert f.shape == (80,)
    assert ((p[:, 1] > 0.5) == (f > 0)).all()
    np.testing.assert_allclose(p[:, 1], 1 / (1 + np.exp(-2 * f)))
    assert (model.predict(X) == p.argmax(axis=1)).all()
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p)
    stages = zip(
        model.staged_predict(X),
        model.staged_predict_proba(X),
        model.staged_decision_function(X),
        model.staged_score(X, y),
        strict=True,
    )
    for t, (label, proba, vote, score) in enumerate(stages, start=1):
        assert (label == proba.argmax(axis=1)).all()
        np.testing.assert_array_equal(vote, model.decision_function(X, n_rounds=t))
        assert score == np.mean(label == y) == pytest.approx(1 - model.trace_.training_error[t - 1])
    assert t == model.n_rounds_ == len(model.alpha_)
    margins = model.margins(X, y)
    assert (np.abs(margins) <= 1 + 1e-12).all()
    assert ((margins > 0) == (model.predict(X) == y)).all()
    np.testing.assert_allclose(model.alpha_, 0.5 * np.log((1 + model.trace_.edge) / (1 - model.trace_.edge)))
    with pytest.raises(ParameterError, match="n_rounds"):
        model.predict(X, n_rounds=26)


def test_a_tied_vote_is_the_first_class_or_in_the_old_form_the_second():
    # two cuts of equal weight against each other: the vote between them is 0
    for form, winner in (("SS99", 0), ("FS97", 1)):
        model = AdaBoost(n_rounds=2, form=form).fit(SPEC_X, SPEC_Y == 1)
        model.feature_, model.threshold_ = np.array([0, 0]), np.array([2.5, 4.5])
        model.sign_, model.alpha_ = np.array([1, -1]), np.array([0.5, 0.5])
        assert model.predict([[1.0]]).tolist() == [bool(winner)]
        assert model.predict_proba([[1.0]]).argmax() == winner
        assert (model.decision_function([[1.0]])[0] > 0) == bool(winner)
        assert next(iter(list(model.staged_predict([[1.0]]))[1:])).tolist() == [bool(winner)]


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a"],
        [-1, 1],
        [7, 3],
        [True, False],
        [2.0, 5.0],
        np.array(["x", "y"], dtype=object),
        [np.int8(1), np.int8(2)],
    ],
)
def test_labels_of_any_kind_come_back(labels):
    y = np.array([labels[0], labels[0], labels[1], labels[1], labels[0], labels[0]])
    model = AdaBoost(n_rounds=3).fit(SPEC_X, y)
    assert model.classes_.tolist() == sorted(labels)
    predicted = model.predict(SPEC_X)
    assert predicted.tolist() == y.tolist()
    assert predicted.dtype == model.classes_.dtype


def test_labels_that_are_none_are_refused():
    for bad, word in (
        ([0.5, 1.5, 2.5], "continuous"),
        ([0, math.nan, 1], "NaN"),
        (np.array(["a", None, "b"], dtype=object), "known"),
        (np.array(["a", 1, "b"], dtype=object), "mixes"),
        ([[0, 1], [1, 0], [1, 1]], "1d"),
        ([0, 1], "one a row"),
        (None, "requires y"),
    ):
        with pytest.raises(DataError, match=word):
            AdaBoost().fit([[1], [2], [3]], bad)


def test_data_frames_bring_their_names():
    import pandas as pd

    X = pd.DataFrame({"age": [1, 2, 3, 4], "size": [5.0, 1.0, 7.0, 2.0]})
    model = AdaBoost(n_rounds=2).fit(X, ["a", "a", "b", "b"])
    assert model.feature_names_in_.tolist() == ["age", "size"]
    assert "age >= 2.5: b, else a" in model.trace_table()
    assert model.predict(X).tolist() == ["a", "a", "b", "b"]
    with pytest.raises(DataError, match="same order"):
        model.predict(X[["size", "age"]])
    with pytest.raises(DataError, match="unseen at fit time:\n- height"):
        model.predict(X.rename(columns={"age": "height"}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X.to_numpy())
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        AdaBoost().fit(X.to_numpy(), [0, 0, 1, 1]).predict(X)
    with pytest.raises(DataError, match="NaN"):
        AdaBoost().fit(pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64")}), [0, 1, 1])


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_rounds": 0},
        {"n_rounds": 1.5},
        {"form": "x"},
        {"learning_rate": 0.0},
        {"early_stopping": "x"},
        {"validation_fraction": 1.0},
        {"calibrate": "x"},
        {"min_weight_fraction_leaf": 0.6},
    ],
)
def test_parameters_are_checked_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        AdaBoost(**wrong).fit(SPEC_X, SPEC_Y)


def test_before_fit_there_is_nothing():
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(AdaBoost(), method)(SPEC_X)
    with pytest.raises(NotFittedError):
        AdaBoost().trace_table()
    with pytest.raises(DataError, match="not learnt"):
        AdaBoost().fit(SPEC_X, SPEC_Y).margins(SPEC_X, [0, 1, 1, 1, 1, 1])


def test_pickled_models_predict_the_same():
    model = AdaBoost(n_rounds=4, calibrate="sigmoid", n_folds=2).fit(SPEC_X, SPEC_Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.predict_proba(SPEC_X), again.predict_proba(SPEC_X))
    assert again.trace_table() == model.trace_table()


# ---- early stopping and calibration within fit


def noisy(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + X[:, 1] + rng.normal(scale=1.0, size=n) > 0).astype(int)


def test_early_stopping_keeps_the_smoothed_minimum_of_given_rows():
    from structens.boosting import smoothed_minimum

    (X, y), (X_val, y_val) = noisy(), noisy(seed=1)
    full = AdaBoost(n_rounds=120).fit(X, y, X_val=X_val, y_val=y_val)
    assert full.n_rounds_ == 120  # only watched
    errors = [1 - score for score in full.staged_score(X_val, y_val)]
    np.testing.assert_allclose(full.trace_.validation_error, errors)
    stopped = AdaBoost(n_rounds=120, early_stopping="smoothed", min_rounds=5).fit(X, y, X_val=X_val, y_val=y_val)
    assert stopped.n_rounds_ == smoothed_minimum(errors, min_rounds=5) < 120
    np.testing.assert_array_equal(stopped.alpha_, full.alpha_[: stopped.n_rounds_])
    assert len(stopped.trace_.validation_error) == stopped.n_rounds_
    assert stopped.trace_.weights.shape[0] == stopped.n_rounds_ + 1


def test_online_stopping_ends_learning():
    (X, y), (X_val, y_val) = noisy(), noisy(seed=1)
    stopped = AdaBoost(n_rounds=2000, early_stopping="online", min_rounds=10).fit(X, y, X_val=X_val, y_val=y_val)
    assert stopped.n_rounds_ < 500
    assert "has not fallen" in stopped.trace_.stopped


def test_rows_are_held_out_where_none_are_given():
    X, y = noisy()
    a = AdaBoost(n_rounds=80, early_stopping="smoothed", min_rounds=5, random_state=0).fit(X, y)
    b = AdaBoost(n_rounds=80, early_stopping="smoothed", min_rounds=5, random_state=0).fit(X, y)
    assert same(a, b)
    assert a.trace_.weights is None or a.trace_.weights.shape[1] == 360
    with pytest.raises(DataError, match="hold some out"):
        AdaBoost(early_stopping="smoothed").fit([[0], [1]], [0, 1])


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["temperature", "sigmoid", "isotonic"])
def test_calibration_helps_and_decides(name):
    (X, y), (X_val, y_val) = noisy(), noisy(2000, seed=1)
    plain = AdaBoost(n_rounds=150).fit(X, y)
    model = AdaBoost(n_rounds=150, calibrate=name, random_state=0).fit(X, y)
    assert same(plain, model)

    def log_loss(m):
        return -np.mean(np.log(m.predict_proba(X_val)[np.arange(len(y_val)), y_val]))

    gain = 0.005 if name == "isotonic" else 0.03  # few rows for so many steps
    assert log_loss(model) < log_loss(plain) - gain
    assert (model.predict(X_val) == model.predict_proba(X_val).argmax(axis=1)).all()
    assert abs(model.score(X_val, y_val) - plain.score(X_val, y_val)) < 0.03
    np.testing.assert_allclose(model.predict_proba(X_val).sum(axis=1), 1.0)


def test_too_little_to_calibrate_says_so():
    with pytest.warns(UserWarning, match="too little data to calibrate"):
        AdaBoost(calibrate="sigmoid").fit([[0], [1], [2]], [0, 1, 1])
