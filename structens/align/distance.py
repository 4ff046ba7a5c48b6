"""Edit distances between the answers to a record: bit-parallel, blocked and banded.

Myers (1999), "A fast bit-vector algorithm for approximate string matching based on dynamic programming", with the
blocks of Hyyro (2003), "A bit-vector algorithm for computing Levenshtein and Damerau edit distances", and the band of
Ukkonen (1985). A word holds 62 rows of the matrix, not 64, so that sums stay inside a signed integer: the same code
then runs compiled and, for debugging, in plain Python.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

_WORD = 62
_MASK = (1 << _WORD) - 1


def edit_distance(a: NDArray[np.int32], b: NDArray[np.int32]) -> int:
    """Levenshtein distance of two code sequences: insertion, deletion and substitution cost 1.

    Time O(n d / 62) for sequences of n codes that are d apart, memory O(n).

    Parameters
    ----------
    a, b : ndarray of int32, shape (n,) and (m,)
        Codes >= 0.

    Examples
    --------
    >>> edit_distance(np.array([1, 2, 3], np.int32), np.array([2, 3, 3], np.int32))
    2
    """
    both = np.concatenate([a, b]).astype(np.int32)
    _, codes = np.unique(both, return_inverse=True)
    codes = codes.astype(np.int32)
    masks, edges = np.zeros(len(both) + 1, np.int64), np.ones(len(b) + 1, np.int64)
    return int(_distance(codes[: len(a)], codes[len(a) :], masks, edges))


@njit(cache=True)
def _distances(codes, start, n_rows, out, masks, edges):  # type: ignore[no-untyped-def]
    """Fill out[i, j] for all pairs of rows ``codes[start[i]:start[i + 1]]``."""
    for i in range(n_rows):
        out[i, i] = 0
        a = codes[start[i] : start[i + 1]]
        short = 0 < len(a) <= _WORD
        if short:
            _set_masks(a, masks)
        for j in range(i + 1, n_rows):
            b = codes[start[j] : start[j + 1]]
            d = _short(len(a), b, masks) if short else _distance(a, b, masks, edges)
            out[i, j] = d
            out[j, i] = d
        if short:
            _clear_masks(a, masks)


@njit(cache=True)
def _distance(a, b, masks, edges):  # type: ignore[no-untyped-def]
    """One distance; the band grows fourfold until the distance is known to lie inside it."""
    n, m = len(a), len(b)
    if n == 0 or m == 0:
        return n + m
    if n <= _WORD:
        _set_masks(a, masks)
        d = _short(n, b, masks)
        _clear_masks(a, masks)
        return d
    limit = max(256, abs(n - m) + 64)
    while True:
        d = _blocks(a, b, masks, edges, limit)
        if d <= limit or limit >= max(n, m):
            return d
        limit *= 4


@njit(cache=True)
def _blocks(a, b, masks, edges, limit):  # type: ignore[no-untyped-def]
    """Distance over the diagonals that paths of cost <= limit can reach; never below the true distance.

    Rows of the matrix in blocks of a word; ``edges[j]`` is the horizontal step at the bottom of the block above. Left
    of a block's first column cells grow downwards by 1 each, right of the last one they grow sideways: both are costs
    of real paths.
    """
    n, m = len(a), len(b)
    slack = max(0, (limit - abs(n - m)) // 2)
    lowest, highest = min(0, m - n) - slack, max(0, m - n) + slack
    edges[:m] = 1
    corner, left = 0, 0
    for top in range(0, n, _WORD):
        height = min(_WORD, n - top)
        first, last = max(0, top + lowest), min(m, top + height + highest)
        for j in range(left, first):
            corner += edges[j]
        left = first
        rows = a[top : top + height]
        _set_masks(rows, masks)
        bottom, plus, minus = height - 1, _MASK, 0
        for j in range(first, last):
            step = edges[j]
            eq = masks[b[j]]
            vertical = eq | minus
            if step < 0:
                eq |= 1
            across = (((eq & plus) + plus) ^ plus) | eq
            up = (minus | ~(across | plus)) & _MASK
            down = plus & across
            edges[j] = ((up >> bottom) & 1) - ((down >> bottom) & 1)
            up = (up << 1) & _MASK
            down = (down << 1) & _MASK
            if step > 0:
                up |= 1
            elif step < 0:
                down |= 1
            plus = (down | ~(vertical | up)) & _MASK
            minus = up & vertical & _MASK
        _clear_masks(rows, masks)
        corner += height
    for j in range(left, m):
        corner += edges[j]
    return corner


@njit(cache=True)
def _short(n, b, masks):  # type: ignore[no-untyped-def]
    """Distance to a sequence of n <= 62 codes whose masks are set: the block above, alone."""
    plus, minus, d, bottom = _MASK, 0, n, n - 1
    for j in range(len(b)):
        eq = masks[b[j]]
        vertical = eq | minus
        across = (((eq & plus) + plus) ^ plus) | eq
        up = (minus | ~(across | plus)) & _MASK
        down = plus & across
        d += ((up >> bottom) & 1) - ((down >> bottom) & 1)
        up = ((up << 1) | 1) & _MASK
        down = (down << 1) & _MASK
        plus = (down | ~(vertical | up)) & _MASK
        minus = up & vertical
    return d


@njit(cache=True)
def _set_masks(a, masks):  # type: ignore[no-untyped-def]
    for i in range(len(a)):
        masks[a[i]] |= 1 << i


@njit(cache=True)
def _clear_masks(a, masks):  # type: ignore[no-untyped-def]
    for i in range(len(a)):
        masks[a[i]] = 0
