"""AdaBoostMH: theorems, weights, many labels, missing values and labels, ways to stop, and what others got wrong."""

import pickle
import time
import warnings

import numpy as np
import pytest

from structens.boosting import AdaBoostMH, HammingTree, Stump
from structens.core import DataError, ParameterError
from structens.losses import signed_weights

ENGINES = ("exact", "histogram")


def blobs(n=300, d=5, n_classes=3, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n_classes, d))[y] * 1.5 + noise * rng.normal(size=(n, d))
    return X.round(2), y


X, Y = blobs()


def fitted(engine="exact", X=X, y=Y, base=None, n_rounds=8, **params):
    return AdaBoostMH(base or HammingTree(4), n_rounds=n_rounds, engine=engine, **params).fit(X, y)


def same(a, b):
    assert a.n_rounds_ == b.n_rounds_
    for s, t in zip(a.forest_.trees, b.forest_.trees, strict=True):
        for name in ("feature", "threshold", "test", "left", "right", "gain", "vote"):
            np.testing.assert_array_equal(getattr(s, name), getattr(t, name))
        assert (s.coefficient, s.edge, s.normalizer) == (t.coefficient, t.edge, t.normalizer)


# ---- theorems


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("params", [{}, {"votes": "real", "learning_rate": 0.3}, {"learning_rate": 0.1}])
def test_training_error_is_under_the_product_of_z(engine, params):
    model = fitted(engine, n_rounds=20, trim=0.0, **params)
    bound = np.cumprod(model.normalizers_)
    assert (model.normalizers_ < 1).all()
    signed = signed_weights(Y, 3)
    f = np.zeros((len(X), 3))
    for t in range(20):
        f = model._votes(X, t + 1)
        risk = (np.abs(signed) * np.exp(-f * np.sign(signed))).sum()
        np.testing.assert_allclose(risk, bound[t], rtol=1e-4)  # the exponential risk is the product itself
        assert (np.abs(signed) * (np.sign(f) != np.sign(signed))).sum() <= bound[t] + 1e-9
    if not params:
        np.testing.assert_allclose(model.normalizers_, np.sqrt(1 - model.edges_**2), rtol=1e-6)
        np.testing.assert_allclose(model.coefficients_, np.log((1 + model.edges_) / (1 - model.edges_)) / 2, rtol=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("params", [{}, {"votes": "real"}])
def test_a_double_weight_is_a_row_given_twice_and_none_a_row_left_out(engine, params):
    weight = np.random.default_rng(2).integers(0, 3, len(X)).astype(float)
    weight[:2] = 1.0
    many = X[np.repeat(np.arange(len(X)), weight.astype(int))]
    outlier = X.copy()
    outlier[weight == 0] *= 1e3  # rows of weight 0 must not be seen by bins either
    a = AdaBoostMH(HammingTree(4), n_rounds=4, engine=engine, trim=0.0, **params).fit(outlier, Y, weight)
    b = fitted(engine, many, np.repeat(Y, weight.astype(int)), n_rounds=4, trim=0.0, **params)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=2e-5)
    c = AdaBoostMH(HammingTree(4), n_rounds=4, engine=engine, trim=0.0, **params)
    same(a, c.fit(X[weight > 0], Y[weight > 0], weight[weight > 0]))


@pytest.mark.parametrize("engine", ENGINES)
def test_scaling_weights_changes_nothing(engine):
    weight = np.random.default_rng(2).uniform(0.5, 2.0, len(X))
    models = [AdaBoostMH(HammingTree(4), n_rounds=5, engine=engine).fit(X, Y, weight * s) for s in (1.0, 2.0**-40)]
    same(*models)


# ---- prediction


def test_votes_are_the_sum_over_the_trees_of_what_their_leaves_say():
    nan = X.copy()
    nan[::7, 1] = np.nan
    for base in (HammingTree(4), HammingTree(90)):  # more leaves than fit into one word
        model = fitted(X=nan, base=base, n_rounds=4)
        leaf = model.apply(nan)
        f = sum(t.coefficient * t.vote.astype(float)[leaf[:, k]] for k, t in enumerate(model.forest_.trees))
        np.testing.assert_allclose(model.decision_function(nan), f, rtol=1e-12)
        for i in range(0, len(nan), 29):
            for k, tree in enumerate(model.forest_.trees):
                at = 0
                while at >= 0:
                    x = nan[i, tree.feature[at]]
                    up = tree.test[at] == 0 if np.isnan(x) else x >= tree.threshold[at]
                    at = tree.right[at] if up else tree.left[at]
                assert leaf[i, k] == -1 - at
    staged = list(model.staged_decision_function(nan))
    np.testing.assert_array_equal(staged[-1], model.decision_function(nan))
    np.testing.assert_array_equal(staged[1], model.decision_function(nan, n_rounds=2))


def test_two_classes_and_one():
    y = np.where(Y == 0, "no", "yes")
    model = fitted(y=y)
    f, p = model.decision_function(X), model.predict_proba(X)
    assert f.shape == (len(X),)
    assert ((f > 0) == (model.predict(X) == "yes")).all()
    assert ((p[:, 1] > 0.5) == (f > 0)).all()
    swapped = fitted(y=np.where(Y == 0, 1, 0)).decision_function(X)
    np.testing.assert_allclose(swapped, -f, atol=1e-9)
    one = fitted(y=np.full(len(X), 7.0))
    assert one.n_rounds_ == 0
    assert one.predict(X[:2]).tolist() == [7.0, 7.0]
    assert one.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]


def test_margins_and_importances():
    model = fitted(n_rounds=15)
    margin = model.margins(X, Y)
    assert np.abs(margin).max() <= 1
    assert ((margin > 0) == (model.predict(X) == Y)).all()
    share = model.feature_importances_
    np.testing.assert_allclose(share.sum(), 1.0)
    noise = np.random.default_rng(0).normal(size=(len(X), 1))
    share = fitted(X=np.hstack([X[:, :3], noise]), n_rounds=3).feature_importances_
    assert share.argmin() == 3


# ---- engine: threads, trimming, features, memory


@pytest.mark.compiled
@pytest.mark.parametrize("params", [{}, {"votes": "real"}, {"max_features": 0.3}, {"trim": 0.0}])
def test_any_number_of_threads_gives_the_same_model(params):
    Z, y = blobs(1500, 40, 9, noise=2.0)
    models = [fitted("histogram", Z, y, HammingTree(12), 6, n_jobs=k, random_state=1, **params) for k in (1, 2, 3)]
    same(models[0], models[1])
    same(models[0], models[2])
    np.testing.assert_array_equal(models[0].decision_function(Z), models[2].decision_function(Z))


def test_trimming_leaves_rows_out_and_hardly_changes_the_error():
    Z, y = blobs(1200, 6, 4, noise=1.5)
    errors = [1 - fitted("histogram", Z[:800], y[:800], n_rounds=60, trim=t).score(Z[800:], y[800:]) for t in (0, 0.02)]
    assert abs(errors[0] - errors[1]) < 0.03
    from structens.boosting.binning import bin_features
    from structens.boosting.histogram_rounds import HistogramRounds, aligned
    from structens.boosting.settings import RoundSettings

    weight = aligned(len(Z) * 8, np.float32)
    signed_weights(y, 4, out=weight.reshape(-1, 8)[:, :4])
    rounds = HistogramRounds(bin_features(Z), weight, 4, RoundSettings(4, trim=0.02))
    taken = []
    for _ in range(30):
        mass = np.sort(np.abs(rounds.weights()).sum(axis=1))
        rounds.play()
        taken.append(int(rounds.out[6]))
        assert mass[: len(Z) - taken[-1]].sum() <= 0.02 * mass.sum()
    assert taken[0] == len(Z)
    assert taken[-1] < len(Z)


def test_no_pool_for_histograms_gives_the_same_trees(monkeypatch):
    Z, y = blobs(600, 10, 3)
    a = fitted("histogram", Z, y, n_rounds=3)
    monkeypatch.setattr("structens.boosting.histogram_rounds.LARGEST_POOL", 0)
    b = fitted("histogram", Z, y, n_rounds=3)
    np.testing.assert_allclose(a.decision_function(Z), b.decision_function(Z), atol=1e-5)


def test_wide_rows_of_classes():
    """More classes than the kernels have special loops for; codes of uint8 and float32 features."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 37, 1100)
    Z = np.stack([y * 5 + rng.integers(0, 3, 1100), rng.integers(0, 200, 1100)], axis=1)
    models = [fitted("histogram", Z.astype(t), y, HammingTree(30), 20) for t in (np.uint8, np.float32, np.float64)]
    assert models[0].score(Z.astype(np.uint8), y) == 1.0
    for model in models[1:]:
        same(models[0], model)


def test_memory_is_asked_for_before_it_is_taken():
    with pytest.raises(DataError, match=r"1,100 rows x 5 features x 2 classes need about .* GiB"):
        fitted("histogram", *blobs(1100, 5, 2), max_memory=1000.0)
    with pytest.raises(DataError, match="GiB of memory"):
        fitted("exact", max_memory=1000.0)


def test_features_drawn():
    model = fitted("exact", n_rounds=12, max_features=1, random_state=3)
    used = [set(tree.feature.tolist()) for tree in model.forest_.trees]
    assert all(len(u) <= 1 for u in used)
    assert len(set().union(*used)) > 2
    same(model, fitted("exact", n_rounds=12, max_features=1, random_state=3))


# ---- more rounds, fewer rounds


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("params", [{}, {"votes": "real"}, {"max_features": 2, "random_state": 4}])
def test_a_warm_start_is_as_if_there_had_been_no_pause(engine, params):
    whole = fitted(engine, n_rounds=9, **params)
    parts = AdaBoostMH(HammingTree(4), n_rounds=4, engine=engine, warm_start=True, **params).fit(X, Y)
    parts = pickle.loads(pickle.dumps(parts)).set_params(n_rounds=9).fit(X, Y)
    same(whole, parts)
    with pytest.raises(DataError, match="warm_start"):
        parts.fit(X[:50], Y[:50])
    with pytest.raises(ParameterError, match="9 rounds already"):
        parts.set_params(n_rounds=3).fit(X, Y)


def test_callback_time_and_validation_stop():
    seen = []
    model = fitted(n_rounds=50, callback=lambda t, edge, errors: seen.append((t, edge, errors)) or t == 3)
    assert model.n_rounds_ == 3
    assert [t for t, _, _ in seen] == [1, 2, 3]
    np.testing.assert_array_equal([e for _, e, _ in seen], model.edges_)
    np.testing.assert_allclose([e["bound"] for _, _, e in seen], np.cumprod(model.normalizers_))
    assert "callback" in model.stopped_
    begin = time.monotonic()
    quick = fitted(n_rounds=10**6, base=Stump(), time_limit=0.05)
    assert 1 <= quick.n_rounds_ < 10**6
    assert time.monotonic() - begin < 5
    Z, y = blobs(200, seed=0, noise=3.0)
    early = AdaBoostMH(n_rounds=40, early_stopping="smoothed", min_rounds=5).fit(
        Z[:100], y[:100], X_val=Z[100:], y_val=y[100:]
    )
    errors = early.validation_errors_
    assert len(errors) == 40
    np.testing.assert_allclose(
        errors, [1 - s for s in AdaBoostMH(n_rounds=40).fit(Z[:100], y[:100]).staged_score(Z[100:], y[100:])]
    )
    from structens.boosting import smoothed_minimum

    assert early.n_rounds_ == smoothed_minimum(errors, min_rounds=5)
    online = AdaBoostMH(n_rounds=400, early_stopping="online", min_rounds=5, random_state=0).fit(Z, y)
    assert online.n_rounds_ < 400
    assert "validation" in online.stopped_


def test_a_perfect_round_ends_unless_features_are_drawn():
    y = (X[:, 0] > 0).astype(int)
    model = fitted(y=y, n_rounds=10)
    assert model.n_rounds_ == 1
    assert "no error" in model.stopped_
    assert fitted(y=y, n_rounds=10, max_features=3).n_rounds_ == 10


# ---- weights of labels, many labels


def test_schemes_of_label_weights():
    y = np.array([[1, -1, -1], [1, 1, -1], [1, 1, 1], [0, -1, 1]])
    n = len(y)
    w = {
        s: np.abs(signed_weights(y, 3, s))
        for s in ("sharepoints", "uniform", "sharelabels", "proportional", "balanced")
    }
    for a in w.values():
        np.testing.assert_allclose(a.sum(), 1.0)
        assert a[3, 0] == 0
    share = np.array([[1 / 2, 1 / 4, 1 / 4], [1 / 4, 1 / 4, 1 / 2], [1 / 3] * 3, [0, 1 / 2, 1 / 2]]) / n
    np.testing.assert_allclose(w["sharepoints"], share)
    np.testing.assert_allclose(w["sharelabels"], np.array([[1 / 3] * 3] * 3 + [[0, 1 / 2, 1 / 2]]) / n)
    np.testing.assert_allclose(w["uniform"], np.abs(y) / 11)
    np.testing.assert_allclose(w["proportional"], np.abs(y) / 11)
    for k, (positive, negative) in enumerate([(3, 0), (2, 2), (2, 2)]):
        scale = w["balanced"][2, 2] * 2 * 2
        expected = scale / (2 * np.array([positive if s > 0 else negative for s in y[:, k]]).clip(1)) * np.abs(y[:, k])
        np.testing.assert_allclose(w["balanced"][:, k], expected)
    # single labels: the asymmetric scheme of the paper, and user weights of rows and of labels
    one = np.array([0, 2, 1])
    np.testing.assert_allclose(np.abs(signed_weights(one, 3))[0] * 3, [1 / 2, 1 / 4, 1 / 4])
    rows = np.array([1.0, 2.0, 1.0])
    np.testing.assert_allclose(np.abs(signed_weights(one, 3, row_weight=rows)).sum(axis=1), rows / 4)
    labels = np.array([[1.0, 3.0, 1.0]] * 3)
    given = signed_weights(one, 3, "proportional", label_weight=labels)
    np.testing.assert_allclose(given[0], np.array([1, -3, -1]) / 15)
    with pytest.raises(ParameterError, match="label_weights must be one of"):
        signed_weights(one, 3, "fair")
    with pytest.raises(DataError, match="all labels are zero"):
        signed_weights(np.zeros((2, 2)), 2)


@pytest.mark.parametrize("engine", ENGINES)
def test_many_labels_and_labels_that_are_not_known(engine):
    truth = np.stack([X[:, 0] > 0, X[:, 1] > 0.5, X[:, 0] + X[:, 2] > 0], axis=1).astype(int)
    model = fitted(engine, y=truth, n_rounds=25)
    f = model.decision_function(X)
    assert f.shape == (len(X), 3)
    np.testing.assert_array_equal(model.predict(X), (f > 0).astype(int))
    assert model.score(X, truth) > 0.95
    p = model.predict_proba(X)
    np.testing.assert_array_equal(p > 0.5, f > 0)
    assert model.margins(X, truth).shape == (len(X), 3)
    rng = np.random.default_rng(5)
    hidden = np.where(rng.random(truth.shape) < 0.3, np.nan, truth)
    garbage = np.where(np.isnan(hidden), 0, 2 * truth - 1)  # the same, written with signs
    a, b = fitted(engine, y=hidden, n_rounds=25), fitted(engine, y=garbage, n_rounds=25)
    same(a, b)
    assert (a.predict(X) == truth).mean() > 0.9
    with pytest.raises(DataError, match="y of many labels holds 1 and 0"):
        fitted(engine, y=truth * 3)


def test_single_labels_are_the_same_as_their_row_of_labels():
    onehot = np.eye(3, dtype=int)[Y]
    a, b = fitted(n_rounds=4), fitted(y=onehot, n_rounds=4, label_weights="sharepoints")
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


def test_init_score_is_where_boosting_goes_on():
    whole = fitted(n_rounds=6, trim=0.0)
    half = fitted(n_rounds=3, trim=0.0)
    rest = AdaBoostMH(HammingTree(4), n_rounds=3, engine="exact", trim=0.0)
    rest.fit(X, Y, init_score=half.decision_function(X))
    np.testing.assert_allclose(
        half.decision_function(X) + rest.decision_function(X), whole.decision_function(X), atol=1e-6
    )


def test_class_weights_move_the_border():
    Z, y = blobs(400, 2, 2, noise=2.5)
    plain, heavy = (fitted(X=Z, y=y, base=Stump(), class_weight=w) for w in (None, {1: 20.0}))
    assert heavy.predict(Z).mean() > plain.predict(Z).mean() + 0.1
    by_rows = AdaBoostMH(Stump(), n_rounds=8, engine="exact").fit(Z, y, np.where(y == 1, 20.0, 1.0))
    np.testing.assert_allclose(heavy.decision_function(Z), by_rows.decision_function(Z))


# ---- missing and nominal values


@pytest.mark.parametrize("engine", ENGINES)
def test_the_side_of_missing_values_is_learnt(engine):
    x = np.array([0.0, 0.0, 1.0, 1.0, np.nan, np.nan])[:, None]
    for y, side in (([0, 0, 1, 1, 0, 0], 0), ([0, 0, 1, 1, 1, 1], 1)):
        model = fitted(engine, x, y, Stump(), 3)
        assert model.predict([[np.nan]]).tolist() == [side]
        assert model.score(x, y) == 1.0
    only = fitted(engine, x, [0, 0, 0, 0, 1, 1], Stump(), 3)  # missing is all that tells
    assert only.predict([[-5.0], [5.0], [np.nan]]).tolist() == [0, 0, 1]
    never = fitted(engine, x[:4], [0, 0, 1, 1], Stump(), 3)  # counts as very large
    assert never.predict([[np.nan]]).tolist() == [1]


@pytest.mark.parametrize("engine", ENGINES)
def test_nominal_values_are_told_apart_one_by_one(engine):
    x = np.array([0.0, 1.0, 2.0, 3.0] * 5)[:, None]
    y = (x[:, 0] == 2).astype(int)
    model = fitted(engine, x, y, Stump(), 3, nominal_features=[0])
    assert model.n_rounds_ == 1
    assert model.predict([[2.0], [1.5], [3.0], [9.0]]).tolist() == [1, 0, 0, 0]
    assert fitted(engine, x, y, Stump(), 1).score(x, y) < 1


# ---- what boosting code gets wrong elsewhere


def test_long_runs_stay_finite_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for params in ({"learning_rate": 0.1}, {"learning_rate": 3.0}, {"votes": "real"}):
            for engine in ENGINES:
                model = fitted(engine, n_rounds=150, base=Stump(), max_features=3, **params)
                assert np.isfinite(model.decision_function(X)).all()
                assert np.isfinite(model.feature_importances_).all()
                assert np.isfinite(model.edges_).all()
    tiny = AdaBoostMH(HammingTree(4), n_rounds=5).fit(X, Y, np.full(len(X), 1e-300))
    same(tiny, fitted(n_rounds=5))


@pytest.mark.parametrize(
    "labels", [["b", "a", "c"], [True, False, True], [1, 5, 9], [0.0, 2.0, 4.0], np.array(["x", "y", "z"], object)]
)
def test_labels_of_any_kind(labels):
    y = np.array(labels)[Y]
    model = fitted(y=y, n_rounds=3)
    assert set(model.classes_.tolist()) == set(y.tolist())
    assert set(model.predict(X).tolist()) <= set(y.tolist())
    assert model.score(X, y) > 0.6


def test_rare_classes_are_not_forgotten():
    rng = np.random.default_rng(0)
    y = np.r_[np.zeros(1150, int), np.ones(30, int), np.full(20, 2)]
    Z = np.stack([y * 3 + rng.normal(size=1200), rng.normal(size=1200)], axis=1)
    model = fitted("histogram", Z, y, n_rounds=20)
    recall = [(model.predict(Z)[y == k] == k).mean() for k in range(3)]
    assert min(recall) > 0.8


def test_parameters_out_of_range_are_named():
    for name, value in (
        ("n_rounds", 0),
        ("votes", "loud"),
        ("learning_rate", 0.0),
        ("engine", "steam"),
        ("max_bins", 256),
        ("trim", 1.0),
        ("max_features", 1.5),
        ("n_jobs", 0),
        ("base", "tree"),
        ("base", HammingTree(0)),
        ("base", HammingTree(constant="none")),
        ("nominal_features", [9]),
        ("early_stopping", "soon"),
    ):
        with pytest.raises(ParameterError, match="n_inner_nodes|constant" if isinstance(value, HammingTree) else name):
            AdaBoostMH(**{name: value}).fit(X, Y)


def test_pickled_model_is_the_same():
    model = fitted("histogram", n_rounds=3)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
