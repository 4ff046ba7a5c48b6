"""Edit distances against the full matrix and against rapidfuzz."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import align as naive
from rapidfuzz.distance import Levenshtein

from structens.align import edit_distance
from structens.align.distance import _distances

codes = st.lists(st.integers(0, 3), max_size=80)


@given(codes, codes)
def test_equals_the_full_matrix(a, b):
    assert edit_distance(np.array(a, np.int32), np.array(b, np.int32)) == naive.edit_distance(a, b)


@given(st.lists(st.lists(st.integers(0, 2), max_size=70), min_size=1, max_size=4))
def test_all_pairs_leave_no_trace_in_the_masks(rows):
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    flat = np.array([x for row in rows for x in row], np.int64)
    out, masks = np.full((len(rows), len(rows)), -1), np.zeros(4, np.int64)
    _distances(flat, start, len(rows), out, masks, np.zeros(len(flat) + 1, np.int64))
    assert out.tolist() == [[naive.edit_distance(a, b) for b in rows] for a in rows]
    assert not masks.any()


@pytest.mark.compiled
@pytest.mark.parametrize("rate", [0.02, 0.3, 0.9])
@pytest.mark.parametrize("n", [61, 62, 63, 124, 300, 1500])
def test_blocks_and_bands(n, rate):
    rng = np.random.default_rng(n)
    a = rng.integers(0, 30, n).astype(np.int32)
    keep = rng.random(n) > rate / 3
    b = np.where(rng.random(n) < rate / 3, rng.integers(0, 30, n), a)
    b = np.repeat(b, keep + (rng.random(n) < rate / 3)).astype(np.int32)
    moved = np.concatenate([b[:10], b[n // 2 :], b[10 : n // 2]])  # far from the diagonal
    for other in (b, moved, b[: n // 3], a):
        assert edit_distance(a, other) == edit_distance(other, a) == Levenshtein.distance(a.tolist(), other.tolist())
