"""Stumps and Hamming trees of both engines against brute force, and the printed numbers."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import boosting as naive

from structens.boosting import AdaBoostMH, HammingTree, Stump
from structens.boosting.exact_rounds import ExactRounds
from structens.boosting.prediction import _in_single_precision
from structens.boosting.prediction_kernels import code_rows
from structens.boosting.settings import RoundSettings
from structens.losses import signed_weights

X6, Y6 = np.arange(1.0, 7.0)[:, None], np.array([0, 0, 1, 1, 2, 2])
XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
ENGINES = ("exact", "histogram")


def first_tree(X, y, base, engine="exact", **params):
    return AdaBoostMH(base, n_rounds=1, engine=engine, **params).fit(X, y).forest_.trees[0]


def votes(tree, X):
    leaf = np.zeros(len(X), int)
    for i, x in enumerate(X):
        at = 0 if len(tree.feature) else -1
        while at >= 0:
            value, b = x[tree.feature[at]], tree.threshold[at]
            up = (
                tree.test[at] == 0
                if np.isnan(value) and tree.test[at] < 2
                else value == b
                if tree.test[at] == 2
                else value >= b
            )
            at = tree.right[at] if up else tree.left[at]
        leaf[i] = -1 - at
    return tree.vote[leaf]


@pytest.mark.parametrize("engine", ENGINES)
def test_printed_numbers(engine):
    close = {"rtol": 1e-6}
    tree = first_tree(X6, Y6, Stump(), engine)
    assert tree.threshold.tolist() == [2.5]
    assert tree.vote.tolist() == [[1, -1, -1], [-1, 1, 1]]
    np.testing.assert_allclose([tree.edge, tree.coefficient, tree.normalizer], [2 / 3, 0.804719, 0.745356], **close)
    tree = first_tree(X6, Y6, HammingTree(2), engine)
    assert tree.threshold.tolist() == [2.5, 4.5]
    assert tree.vote[1:].tolist() == [[1, 1, -1], [-1, -1, 1]]  # node 1 votes (-1, -1, 1)
    np.testing.assert_allclose(tree.gain, [2 / 3, 1 / 6], **close)
    np.testing.assert_allclose([tree.edge, tree.coefficient], [5 / 6, 1.198948], **close)
    tree = first_tree(X6, Y6, HammingTree(3), engine)
    assert tree.threshold.tolist() == [2.5, 4.5]  # the third node is constant: it changes a vote
    assert tree.vote[1].tolist() == [-1, 1, -1]
    np.testing.assert_allclose([tree.constant_gain, tree.edge], [1 / 6, 1.0], **close)
    assert np.isfinite(tree.coefficient)


@pytest.mark.parametrize("engine", ENGINES)
def test_printed_real_votes(engine):
    tree = first_tree(X6, Y6, Stump(), engine, votes="real")
    np.testing.assert_allclose(tree.vote[0], [0.972955, -0.693147, -0.693147], rtol=1e-5)
    np.testing.assert_allclose(tree.vote[1], [-0.972955, 0.279808, 0.279808], rtol=1e-5)


@pytest.mark.parametrize("engine", ENGINES)
def test_exclusive_or_needs_a_cut_that_gains_nothing(engine):
    y = [0, 1, 1, 0]
    tree = first_tree(XOR, y, HammingTree(3), engine)
    np.testing.assert_allclose(tree.gain, [0.0, 0.5, 0.5], atol=1e-7)
    assert tree.feature.tolist() == [0, 1, 1]
    with pytest.warns(UserWarning, match="no weak learner"):
        model = AdaBoostMH(HammingTree(3, constant="paper"), n_rounds=5, engine=engine).fit(XOR, y)
    assert model.n_rounds_ == 0


tables = st.integers(2, 9).flatmap(
    lambda n: st.tuples(
        st.lists(
            st.lists(st.sampled_from([0.0, 1.0, 2.5, 2.5, 4.0, float("nan")]), min_size=2, max_size=2),
            min_size=n,
            max_size=n,
        ),
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
        st.integers(1, 4),
        st.sampled_from(["hybrid", "paper"]),
        st.sampled_from([(), (1,)]),
    )
)


@given(tables)
def test_exact_tree_is_brute_force(table):
    X, y, n_inner, rule, nominal = table
    if nominal:
        X = [[a, 7.0 if b != b else b] for a, b in X]
    signed = naive.signed_weights(y, 3)
    keys, cuts, out = naive.tree(X, signed, n_inner, rule, nominal)
    mask = np.array([j in nominal for j in range(2)])
    rounds = ExactRounds(np.array(X), np.array(signed), RoundSettings(n_inner, rule), mask)
    tree = rounds.play()
    made = [(j, b) for j, b, _ in (cut for cut in cuts if cut is not None)]
    assert list(zip(tree.feature.tolist(), tree.threshold.tolist(), strict=True)) == made
    np.testing.assert_allclose(tree.edge, sum(keys), atol=1e-9)
    np.testing.assert_allclose(tree.gain.sum() + tree.constant_gain, sum(keys), atol=1e-9)
    if keys:
        np.testing.assert_array_equal(votes(tree, np.array(X)), out)


@given(tables)
def test_histogram_tree_has_the_edge_of_brute_force(table):
    X, y, n_inner, _, nominal = table
    X = np.array(X)
    X[np.isnan(X)] = 3.0 if nominal else np.nan
    if len(set(y)) < 2 or np.isnan(X).all():
        return
    _, codes = np.unique(y, return_inverse=True)
    signed = naive.signed_weights(codes.tolist(), codes.max() + 1)
    keys, _, _ = naive.tree(X.tolist(), signed, n_inner, "hybrid", nominal)
    if sum(keys) < 1e-6:
        return
    model = AdaBoostMH(HammingTree(n_inner), n_rounds=1, engine="histogram", nominal_features=list(nominal)).fit(X, y)
    np.testing.assert_allclose(model.edges_[0], sum(keys), atol=2e-6)
    phi = votes(model.forest_.trees[0], X)
    np.testing.assert_allclose(model.edges_[0], (np.array(signed) * phi).sum(), atol=1e-6)
    np.testing.assert_allclose(model._votes(X, 1), model.coefficients_[0] * phi, atol=1e-9)


@pytest.mark.compiled
@pytest.mark.parametrize("engine", ENGINES)
def test_multiboost_rule_grows_the_trees_of_multiboost(engine):
    """Edges of its first stump and first two trees on pendigits, and the cuts of the first."""
    path = Path(__file__).resolve().parents[2] / "shared" / "data" / "classification" / "pendigits.npz"
    if not path.exists():
        pytest.skip("needs the data set pendigits, which is not in the repository")
    data = np.load(path)
    X, y = data["X"][data["train_idx"]], data["y"][data["train_idx"]]
    np.testing.assert_allclose(first_tree(X, y, Stump(), engine).edge, 0.43828, atol=5e-6)
    model = AdaBoostMH(HammingTree(8, constant="multiboost"), n_rounds=2, engine=engine, trim=0.0).fit(X, y)
    np.testing.assert_allclose(model.edges_, [0.56630, 0.52875], atol=6e-6)
    first = model.forest_.trees[0]
    assert first.feature.tolist() == [15, 5, 13, 4, 1, 14, 13, 6]
    assert first.threshold.tolist() == [12.5, 63.5, 1.5, 45.5, 13.0, 77.5, 13.5, 8.5]


def test_both_engines_grow_the_same_first_trees():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 30, (400, 6)).astype(float)
    y = (X[:, 0] > 9).astype(int) + (X[:, 1] * X[:, 2] > 200)
    models = [AdaBoostMH(HammingTree(8), n_rounds=2, engine=engine, trim=0.0).fit(X, y) for engine in ENGINES]
    for a, b in zip(*(m.forest_.trees for m in models), strict=True):
        assert a.feature.tolist() == b.feature.tolist()
        np.testing.assert_array_equal(a.threshold, b.threshold)
        np.testing.assert_allclose([a.edge, a.coefficient], [b.edge, b.coefficient], rtol=1e-5)


def test_a_threshold_parts_neighbours_and_never_overflows():
    for low, high in ((1.0, np.nextafter(1.0, 2.0)), (-1.7e308, 1.7e308), (np.nextafter(0.3, 0.0), 0.3)):
        X = np.array([[low], [high]])
        for engine in ENGINES:
            tree = first_tree(X, ["a", "b"], Stump(), engine)
            assert low < tree.threshold[0] <= high
            assert AdaBoostMH(Stump(), engine=engine).fit(X, ["a", "b"]).predict(X).tolist() == ["a", "b"]


def test_weights_change_as_the_definition_says():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 3, 30)
    signed = signed_weights(y, 3)
    np.testing.assert_allclose(signed, naive.signed_weights(y.tolist(), 3))
    before = signed.copy()
    rounds = ExactRounds(X, signed, RoundSettings(3))
    tree = rounds.play()
    after, z = naive.reweighted(before.tolist(), (tree.coefficient * votes(tree, X).astype(float)).tolist())
    np.testing.assert_allclose(rounds.weights(), after, rtol=1e-9)
    np.testing.assert_allclose([tree.normalizer, z], np.sqrt(1 - tree.edge**2), rtol=1e-9)


def test_thresholds_in_single_precision_are_reached_by_the_same_numbers():
    thresholds = np.sort([-np.inf, -1e300, -0.1, 0.0, 1e-50, 0.1, 1.0 / 3.0, 1e300, np.inf])
    rounded, first = _in_single_precision([thresholds, np.zeros(0)])
    assert first.tolist() == [0, len(thresholds), len(thresholds)]
    near = thresholds[np.abs(thresholds) < 1].astype(np.float32)
    values = np.concatenate([near, np.nextafter(near, np.float32(9)), np.nextafter(near, np.float32(-9))])
    values = np.concatenate([values, np.array([np.nan, np.inf, -np.inf, 3e38, -3e38], np.float32)])
    code = np.zeros(2 * 64, np.uint16)
    work = np.zeros(64, np.float32), np.zeros(64, np.int32)
    code_rows(values[:, None], np.zeros(2, np.int64), rounded, first, work, code)
    expected = np.searchsorted(thresholds, values.astype(np.float64), side="right")
    expected[np.isnan(values)] = len(thresholds) + 1
    assert code[: len(values)].tolist() == expected.tolist()
    assert code[64 : 64 + len(values)].tolist() == np.isnan(values).tolist()
