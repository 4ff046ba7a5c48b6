"""Many labels a row: losses and thresholds against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structens.boosting import AdaBoostMH, HammingTree, held_out_votes, label_thresholds, multi_label_scores
from structens.core import DataError


@st.composite
def tables(draw):
    n, k = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    sign = [[draw(st.sampled_from([-1, 0, 1])) for _ in range(k)] for _ in range(n)]
    votes = [[draw(st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 3.0])) for _ in range(k)] for _ in range(n)]
    sign[0][0] = -1  # so that it is read as signs
    return np.array(sign), np.array(votes)


def f1(sign, votes, threshold):
    named = [v > threshold for v in votes]
    right = sum(a and s > 0 for a, s in zip(named, sign, strict=True))
    total = sum(a and s != 0 for a, s in zip(named, sign, strict=True)) + sum(s > 0 for s in sign)
    return 2 * right / total if total else 0.0


@given(tables())
def test_scores_are_those_of_the_definitions(table):
    sign, votes = table
    found = multi_label_scores(sign, votes)
    pairs = [(s, v) for row, f in zip(sign, votes, strict=True) for s, v in zip(row, f, strict=True) if s != 0]
    assert found.hamming_loss == pytest.approx(np.mean([(v > 0) != (s > 0) for s, v in pairs]))
    assert found.macro_f1 == pytest.approx(np.mean([f1(s, v, 0.0) for s, v in zip(sign.T, votes.T, strict=True)]))
    tops = [
        max((v, -k, s) for k, (s, v) in enumerate(zip(row, f, strict=True)) if s != 0)
        for row, f in zip(sign, votes, strict=True)
        if row.any()
    ]
    assert found.one_error == pytest.approx(np.mean([s < 0 for _, _, s in tops]))
    rows = [
        any(s != 0 and (v > 0) != (s > 0) for s, v in zip(*row, strict=True)) for row in zip(sign, votes, strict=True)
    ]
    assert found.subset_error == pytest.approx(np.mean(rows))


@given(tables())
def test_no_threshold_is_better(table):
    sign, votes = table
    for k, found in enumerate(label_thresholds(sign, votes)):
        best = max(f1(sign[:, k], votes[:, k], b) for b in (-9.0, -1.5, -0.75, -0.25, 0.25, 1.75, 9.0))
        assert f1(sign[:, k], votes[:, k], found) == pytest.approx(best)
        assert found not in votes[sign[:, k] != 0, k] or not (sign[:, k] > 0).any()


def test_neighbouring_votes_are_told_apart():
    upper = np.nextafter(1.0, 2.0)
    found = label_thresholds([[1], [0]], [[upper], [1.0]])[0]
    assert 1.0 <= found < upper


def test_shapes_and_values_are_checked():
    for y, scores in (([[1, 0]], [[1.0]]), ([1, 0], [1.0, 2.0]), ([[2, 0]], [[1.0, 2.0]]), ([[1, 0]], [[np.nan, 1.0]])):
        with pytest.raises(DataError):
            multi_label_scores(y, scores)


def test_thresholds_raise_f1_where_labels_are_rare():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = ((X + rng.normal(scale=0.7, size=X.shape)) > [0.0, 1.0, 1.6]).astype(int)
    model = AdaBoostMH(HammingTree(2), n_rounds=15)
    votes = held_out_votes(model, X[:250], y[:250], n_folds=3, random_state=0)
    assert votes.shape == (250, 3)
    threshold = label_thresholds(y[:250], votes)
    new = model.fit(X[:250], y[:250]).decision_function(X[250:])
    plain, tuned = multi_label_scores(y[250:], new), multi_label_scores(y[250:], new, threshold)
    assert tuned.macro_f1 > plain.macro_f1
    assert tuned.one_error == plain.one_error
    named = model.predict(X[250:])
    assert plain.hamming_loss == pytest.approx(np.mean(named != y[250:]))
    assert plain.subset_error == pytest.approx(1 - model.score(X[250:], y[250:]))
