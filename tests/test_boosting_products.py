"""Hamming products and stumps one against all, against their definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import boosting as naive

import structens
from structens.boosting import AdaBoostMH, HammingProduct, OneAgainstAll, Stump
from structens.boosting.settings import RoundSettings
from structens.boosting.table_rounds import OneAgainstAllRounds, ProductRounds
from structens.boosting.value_table import ValueTable

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
X6, Y6 = np.arange(1.0, 7.0)[:, None], np.array([0, 0, 1, 1, 2, 2])


def product(signed, loop=True, n_factors=2):
    return ProductRounds(ValueTable(XOR), signed.copy(), RoundSettings(), n_factors, loop)


def test_printed_product():
    weight, truth = np.array([0.4, 0.2, 0.2, 0.2]), np.array([1, -1, -1, 1])
    signed = np.stack([weight * truth, -weight * truth], axis=1) / 2
    one = product(signed, n_factors=1).play()
    assert (one.feature.tolist(), one.threshold.tolist()) == ([0], [0.5])
    np.testing.assert_allclose([one.edge, one.normalizer], [0.2, 0.979796], rtol=1e-6)
    for loop in (True, False):
        tree = product(signed, loop).play()
        assert tree.feature.tolist() == [0, 1, 1]
        np.testing.assert_allclose(tree.edge, 1.0)
        np.testing.assert_array_equal(tree.vote[:, 0], truth)
    many = product(signed, n_factors=5).play()  # a third factor does not raise the edge
    assert len(many.feature) == 3


def test_printed_stumps_one_against_all():
    signed = np.array(naive.signed_weights(Y6.tolist(), 3))
    cuts = ValueTable(X6).best_cuts(signed, np.arange(1))
    assert [cut.threshold for cut in cuts] == [2.5, 2.5, 4.5]
    np.testing.assert_allclose([cut.edges[0] for cut in cuts], [-1 / 3, 1 / 6, 1 / 3])
    model = AdaBoostMH(OneAgainstAll(), n_rounds=1).fit(X6, Y6)
    np.testing.assert_allclose(model.edges_, [5 / 6])
    np.testing.assert_array_equal([tree.vote[1][k] for k, tree in enumerate(model.forest_.trees)], [-1, 1, 1])


tables = st.integers(3, 8).flatmap(
    lambda n: st.tuples(
        st.lists(
            st.lists(st.sampled_from([0.0, 1.0, 2.0, float("nan")]), min_size=2, max_size=2), min_size=n, max_size=n
        ),
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
    )
)


@given(tables)
def test_one_against_all_is_the_best_cut_of_each_class(table):
    X, y = table
    signed = naive.signed_weights(y, 3)
    rows = list(range(len(X)))
    found = ValueTable(np.array(X)).best_cuts(np.array(signed), np.arange(2))
    for k, cut in enumerate(found):
        own = [[row[k]] for row in signed]
        choices = [[1] * len(X)] + [phi for *_, phi in naive.cuts(X, rows)]
        best = max(abs(naive.edge(own, phi, [1])) for phi in choices)
        np.testing.assert_allclose(abs(cut.edges[0]), best, atol=1e-12)
        np.testing.assert_allclose(naive.edge(own, np.where(cut.positive, 1, -1), [1]), cut.edges[0], atol=1e-12)
    best = naive.stump(X, signed, rows)[0]
    edge = OneAgainstAllRounds(ValueTable(np.array(X)), np.array(signed), RoundSettings()).play()[0].edge
    assert edge >= best - 1e-12


@given(tables)
def test_a_product_is_at_least_its_best_stump_and_locally_best(table):
    X, y = table
    signed = naive.signed_weights(y, 3)
    choices = [phi for *_, phi in naive.cuts(X, list(range(len(X))))]
    if not choices:
        return
    tree = ProductRounds(ValueTable(np.array(X)), np.array(signed), RoundSettings(), 2, True).play()
    signs = np.array(choices, float)
    best_one = max(np.abs(np.array(signed).T @ phi).sum() for phi in signs)
    best_two = max(np.abs(np.array(signed).T @ (a * b)).sum() for a, b in itertools.product(signs, signs))
    assert best_one - 1e-9 <= tree.edge <= max(best_one, best_two) + 1e-9


@pytest.mark.parametrize("base", [HammingProduct(3), HammingProduct(2, loop=False), OneAgainstAll()])
@pytest.mark.parametrize(
    "params", [{}, {"votes": "real", "learning_rate": 0.5}, {"max_bins": 16, "engine": "histogram"}]
)
def test_products_and_stumps_boost(base, params, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).round(1)
    y = np.array(["a", "b", "c"])[(X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 1)]
    model = AdaBoostMH(base, n_rounds=30, **params).fit(X, y)
    assert model.n_rounds_ == len(model.edges_) == 30
    if isinstance(base, HammingProduct):
        assert model.score(X, y) > AdaBoostMH(Stump(), n_rounds=30).fit(X, y).score(X, y) + 0.05
    f = model.decision_function(X)
    signs = np.where(np.arange(3) == np.searchsorted(model.classes_, y)[:, None], 1.0, -1.0)
    weight = np.where(signs > 0, 0.5, 0.25) / len(X)
    np.testing.assert_allclose((weight * np.exp(-f * signs)).sum(), np.prod(model.normalizers_), rtol=1e-5)
    np.testing.assert_allclose(list(model.staged_decision_function(X))[-1], f, rtol=1e-12)
    assert np.abs(model.margins(X, y)).max() <= 1
    early = AdaBoostMH(base, n_rounds=12, **params).fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    np.testing.assert_allclose(early.validation_errors_[-1], 1 - early.score(X[200:], y[200:]))
    path = str(tmp_path / "m.structens")
    structens.save(model, path)
    np.testing.assert_array_equal(structens.load(path).decision_function(X), f)
