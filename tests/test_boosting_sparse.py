"""Sparse features: every base learner against the definition and against dense features; nothing is made dense."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from naive import boosting as naive
from naive.boosting_bases import sums_by_value

import structens
from structens.boosting import AdaBoostMH, HammingProduct, HammingTree, Indicator, OneAgainstAll, Stump
from structens.boosting.cut_search import CutSearch
from structens.boosting.entries import entries_of
from structens.boosting.entry_kernels import UNIT
from structens.core import DataError, ParameterError

X6, Y6 = np.arange(1.0, 7.0)[:, None], np.array([0, 0, 1, 1, 2, 2])
BASES = [Stump(), HammingTree(4), HammingProduct(3), OneAgainstAll(), Indicator()]

tables = st.integers(2, 9).flatmap(
    lambda n: st.tuples(
        st.lists(
            st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0, -1.0, float("nan")]), min_size=2, max_size=2),
            min_size=n,
            max_size=n,
        ),
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
    )
)


def random_task(seed=1, n=200, d=30, n_classes=3):
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, 0.15, random_state=seed, format="csr")
    X.data = np.ceil(X.data * 3) - (rng.random(X.nnz) < 0.2)
    return X, np.argmax(X @ rng.normal(size=(d, n_classes)), axis=1)


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_matrix, sp.coo_array])
def test_printed_numbers(form):
    tree = AdaBoostMH(HammingTree(3), n_rounds=1).fit(form(X6), Y6).forest_.trees[0]
    assert tree.threshold.tolist() == [2.5, 4.5]
    assert tree.vote.tolist() == [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    np.testing.assert_allclose(tree.gain, [2 / 3, 1 / 6], rtol=1e-6)
    np.testing.assert_allclose([tree.constant_gain, tree.edge], [1 / 6, 1.0], rtol=1e-6)
    model = AdaBoostMH(OneAgainstAll(), n_rounds=1).fit(form(X6), Y6)
    assert [tree.threshold.tolist() for tree in model.forest_.trees] == [[2.5], [2.5], [4.5]]
    np.testing.assert_allclose([tree.gain[0] for tree in model.forest_.trees], [1 / 3, 1 / 6, 1 / 3])
    np.testing.assert_array_equal([tree.vote[1][k] for k, tree in enumerate(model.forest_.trees)], [-1, 1, 1])
    np.testing.assert_allclose(model.edges_, [5 / 6])


def test_printed_product():
    X = sp.csr_matrix([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y, weight = [1, 0, 0, 1], [0.4, 0.2, 0.2, 0.2]
    one = AdaBoostMH(HammingProduct(1), n_rounds=1).fit(X, y, weight).forest_.trees[0]
    assert (one.feature.tolist(), one.threshold.tolist()) == ([0], [0.5])
    np.testing.assert_allclose([one.edge, one.normalizer], [0.2, 0.979796], rtol=1e-6)
    two = AdaBoostMH(HammingProduct(2), n_rounds=1).fit(X, y, weight).forest_.trees[0]
    assert two.feature.tolist() == [0, 1, 1]
    np.testing.assert_allclose([two.edge, two.normalizer], [1.0, 0.0], atol=3e-3)  # Z of the largest coefficient
    assert AdaBoostMH(HammingProduct(5), n_rounds=1).fit(X, y, weight).forest_.trees[0].feature.tolist() == [0, 1, 1]


@given(tables, st.integers(1, 5), st.sampled_from(["hybrid", "paper", "multiboost"]), st.booleans())
def test_tree_is_brute_force(table, n_inner, rule, nominal):
    X, y = np.array(table[0]), table[1]
    classes = sorted(set(y))
    if len(classes) < 2:
        return
    if nominal:
        X = np.nan_to_num(X)  # a missing value is none to ask for
    signed = naive.signed_weights([classes.index(label) for label in y], len(classes))
    keys, made, out = naive.tree(X.tolist(), signed, n_inner, rule, (0,) if nominal else ())
    base = HammingTree(n_inner, constant=rule)
    model = AdaBoostMH(base, n_rounds=1, nominal_features=[0] if nominal else None)
    if sum(keys) <= 1e-6:
        with pytest.warns(UserWarning, match="no weak learner"):
            assert model.fit(sp.csr_matrix(X), y).n_rounds_ == 0
        return
    tree = model.fit(sp.csr_matrix(X), y).forest_.trees[0]
    cuts = [cut for cut in made if cut is not None]
    np.testing.assert_allclose(tree.gain, [k for k, cut in zip(keys, made, strict=True) if cut], atol=2e-6)
    np.testing.assert_allclose(tree.edge, sum(keys), atol=1e-5)
    np.testing.assert_array_equal(tree.feature, [cut[0] for cut in cuts])
    np.testing.assert_array_equal(tree.vote[model.apply(sp.csr_matrix(X))[:, 0]], out)
    np.testing.assert_array_equal(model.apply(X), model.apply(sp.csr_matrix(X)))


@given(tables, st.booleans())
def test_sums_by_bin_and_by_row_are_those_of_the_definition(table, dense):
    X = np.array(table[0])
    entries = entries_of(X if dense else sp.csr_matrix(X))
    n = len(X)
    weight = np.zeros((n, 8), np.float32)
    weight[:, :2], weight[:, 2] = np.arange(2 * n).reshape(n, 2) / 64, UNIT
    search = CutSearch(entries, 8, 2)
    by_bin, by_row = search.count(weight.reshape(-1)), search.count(weight.reshape(-1), np.arange(n, dtype=np.int32))
    np.testing.assert_array_equal(by_bin, by_row)
    rows = by_bin.reshape(-1, 8)
    for j in range(2):
        expected = sums_by_value(X[:, j], weight[:, :2].tolist())
        for b in range(entries.table.feature_first[j], entries.table.feature_first[j + 1]):
            value = entries.lower[b]
            np.testing.assert_allclose(rows[b, :2], expected[None if np.isnan(value) else value])


@pytest.mark.parametrize("base", BASES, ids=str)
@pytest.mark.parametrize("votes", ["discrete", "real"])
def test_sparse_is_dense(base, votes, tmp_path):
    X, y = random_task()
    model = AdaBoostMH(base, n_rounds=8, votes=votes, warm_start=True).fit(X, y)
    dense = AdaBoostMH(base, n_rounds=8, votes=votes).fit(X.toarray(), y)
    np.testing.assert_allclose(model.edges_, dense.edges_, atol=1e-4)
    np.testing.assert_allclose(model.decision_function(X), dense.decision_function(X.toarray()), atol=1e-3)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.decision_function(X.toarray()), scores)
    np.testing.assert_allclose(list(model.staged_decision_function(X.tocsc()))[-1], scores)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), scores)
    structens.save(model, tmp_path / "m.structens")
    np.testing.assert_array_equal(structens.load(tmp_path / "m.structens").decision_function(X), scores)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    apart = AdaBoostMH(base, n_rounds=3, votes=votes, warm_start=True).fit(X, y).set_params(n_rounds=8).fit(X, y)
    np.testing.assert_allclose(apart.decision_function(X), scores, atol=1e-5)
    errors = AdaBoostMH(base, n_rounds=8, votes=votes).fit(X, y, X_val=X, y_val=y).validation_errors_
    np.testing.assert_allclose(1 - errors, list(model.staged_score(X, y)))


def test_bits_do_not_depend_on_threads_form_or_stored_zeros():
    X, y = random_task(n=400, d=60)
    model = AdaBoostMH(HammingTree(5), n_rounds=5).fit(X, y)
    coo = X.tocoo()
    halves = sp.coo_matrix(
        (np.concatenate([coo.data / 2, coo.data / 2, [0.0]]), [np.r_[coo.row, coo.row, 0], np.r_[coo.col, coo.col, 0]]),
        X.shape,
    )
    for other in (X.tocsc(), halves):
        again = AdaBoostMH(HammingTree(5), n_rounds=5, n_jobs=2).fit(other, y)
        np.testing.assert_array_equal(again.decision_function(halves), model.decision_function(X))


def test_rows_of_weight_zero_many_labels_and_held_out_rows():
    X, y = random_task()
    weight = np.arange(200) % 3 != 0
    model = AdaBoostMH(HammingTree(3), n_rounds=4).fit(X, y, weight)
    np.testing.assert_array_equal(
        model.decision_function(X),
        AdaBoostMH(HammingTree(3), n_rounds=4).fit(X[weight], y[weight]).decision_function(X),
    )
    many = AdaBoostMH(HammingTree(3), n_rounds=4).fit(X, np.eye(3)[y])
    assert many.score(X, np.eye(3)[y]) > 0.5
    stopped = AdaBoostMH(HammingTree(3), n_rounds=9, early_stopping="smoothed", min_rounds=2, calibrate="temperature")
    stopped.fit(X, y)
    assert 2 < stopped.n_rounds_ <= 9
    np.testing.assert_allclose(stopped.predict_proba(X).sum(axis=1), 1.0)


def test_wide_data_are_never_made_dense():
    rng = np.random.default_rng(0)
    X = sp.csr_matrix((np.ones(6000), rng.integers(0, 20_000, 6000), np.arange(0, 6001, 3)), (2000, 20_000))
    y = (np.asarray(X[:, :9000].sum(axis=1)).reshape(-1) > 1).astype(int)
    model = AdaBoostMH(HammingTree(3), n_rounds=2, max_memory=2e7).fit(X, y)  # dense: 320 MB
    assert model.edges_[0] > 0
    with pytest.raises(DataError, match="GiB of memory"):
        AdaBoostMH(HammingTree(3), n_rounds=2, max_memory=1e5).fit(X, y)


def test_bins_of_many_values_do_not_cross_zero():
    values = np.r_[np.linspace(-1, -0.01, 40), np.linspace(0.01, 1, 40), np.zeros(20)]
    entries = entries_of(sp.csr_matrix(values[:, None]), max_bins=8)
    assert not ((entries.lower < 0) & (entries.upper > 0)).any()
    assert entries.table.place.tolist() == [int((entries.upper < 0).sum())]
    model = AdaBoostMH(Stump(), n_rounds=1, max_bins=8).fit(sp.csr_matrix(values[:, None]), values > 0)
    assert 0 < model.forest_.trees[0].threshold[0] <= 0.01
    assert model.edges_[0] == pytest.approx(1.0)


def test_what_does_not_go_with_sparse_features():
    X, y = random_task(n=20)
    with pytest.raises(ParameterError, match="engine 'exact'"):
        AdaBoostMH(engine="exact").fit(X, y)
    with pytest.raises(ParameterError, match="min_weight_fraction_leaf"):
        AdaBoostMH(min_weight_fraction_leaf=0.1).fit(X, y)


def test_rows_that_sit_out_still_vote_and_count():
    X, y = random_task(n=600)
    X.data[X.data == 0] = 1.0
    plain, trimmed = (AdaBoostMH(HammingTree(6), n_rounds=40, trim=trim).fit(X, y) for trim in (0.0, 0.3))
    assert (plain.edges_[1:] != trimmed.edges_[1:]).any()  # some did sit out
    assert trimmed.score(X, y) > 0.95
    sign = np.where(np.arange(3) == y[:, None], 1.0, -1.0)
    risk = (np.where(sign > 0, 0.5, 0.25) / len(y) * np.exp(-trimmed.decision_function(X) * sign)).sum()
    np.testing.assert_allclose(np.prod(trimmed.normalizers_), risk, rtol=1e-4)
