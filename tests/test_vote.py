from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import vote as naive

from structens.core import ABSENT, GAP
from structens.ensembles.vote import rover, vote

slots = st.integers(1, 6).flatmap(
    lambda p: st.lists(
        st.tuples(
            st.lists(st.sampled_from([ABSENT, GAP, 0, 1, 2]), min_size=p, max_size=p).filter(
                lambda row: any(label != ABSENT for label in row)
            ),
            st.lists(st.integers(0, 8), min_size=p, max_size=p),
        ),
        min_size=1,
        max_size=8,
    )
)


@given(slots)
def test_vote_equals_its_definition(rows):
    labels = np.array([row for row, _ in rows], dtype=np.int32)
    weights = np.array([w for _, w in rows], dtype=float) / 7  # sevenths: sums differ in the last bit
    got = vote(labels, weights)
    for s, (row, w) in enumerate(rows):
        label, share, tie, first = naive.vote(row, [Fraction(x, 7) for x in w])
        assert (got.label[s], got.tie[s], got.first[s]) == (label, tie, first)
        assert got.share[s] == pytest.approx(float(share))


@given(slots, st.sampled_from([0.0, 0.3, 0.5, 1.0]), st.booleans(), st.integers(0, 10**6))
def test_rover_equals_its_definition(rows, alpha, maximum, seed):
    labels = np.array([row for row, _ in rows], dtype=np.int32)
    confidence = np.random.default_rng(seed).random(labels.shape)
    confidence[confidence < 0.3] = np.nan
    ones = np.ones(labels.shape)
    got = rover(labels, ones, confidence, alpha=alpha, null_confidence=0.4, maximum=maximum)
    for s, row in enumerate(labels.tolist()):
        scores = naive.rover(row, confidence[s].tolist(), alpha, 0.4, maximum)
        assert scores[int(got.label[s])] == pytest.approx(max(scores.values()))


@given(slots)
def test_unanimity_is_always_obeyed(rows):
    p = len(rows[0][0])
    labels = np.array([[row[0] if row[0] != ABSENT else 5] * p for row, _ in rows], dtype=np.int32)
    weights = np.array([w for _, w in rows], dtype=float)
    assert (vote(labels, weights).label == labels[:, 0]).all()


def test_ties_go_to_the_first_supporter_not_to_the_code():
    got = vote(np.array([[9, 2, 9, 2]], dtype=np.int32), np.ones((1, 4)))
    assert got.label.tolist() == [9]
    assert got.tie.tolist() == [True]


def test_majority_vote_is_at_most_twice_as_wrong_as_the_random_rule():
    """Proposition 2 of the ACL 2014 paper, on random weights (case TAG-12)."""
    rng = np.random.default_rng(0)
    for _ in range(1000):
        labels = rng.integers(0, 3, (1, 4)).astype(np.int32)
        weights = rng.random((1, 4))
        wrong = float(weights[labels != 0].sum() / weights.sum())
        assert float(vote(labels, weights).label[0] != 0) <= 2 * wrong + 1e-12
    got = vote(np.array([[0, 1, 1]], dtype=np.int32), np.array([[0.4, 0.3, 0.3]]))
    assert got.label.tolist() == [1]


def test_nothing_loses_ties_but_between_two_the_first_decides():
    got = vote(
        np.array([[GAP, 7, 7, GAP], [GAP, 7, ABSENT, ABSENT], [7, GAP, ABSENT, ABSENT]], np.int32), np.ones((3, 4))
    )
    assert got.label.tolist() == [7, GAP, 7]
    assert got.first.tolist() == [1, 0, 0]
    assert got.tie.all()


def test_lots_choose_every_tied_candidate():
    labels = np.repeat(np.array([[3, GAP, 5, 3, 5, GAP]], dtype=np.int32), 300, axis=0)
    got = vote(labels, np.ones(labels.shape), draw=(np.arange(300) + 0.5) / 300)
    assert [int((got.label == label).sum()) for label in (3, GAP, 5)] == [100, 100, 100]
