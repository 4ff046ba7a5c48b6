"""Kernels of the edit composition: transitions of (q, j) are the insertion, the substitutions, the deletions.

What leaves (q, j) is for every j the same but for a shift of the targets, the prices of matches and the string's label:
the row of one q is made once and copied. Rows are copied in whole blocks, beyond their end, where the next row is
written over the rest, so that loops become vector instructions with nothing left over. Places are unsigned for the same
reason: nothing has to be checked for negative ones.
"""

from __future__ import annotations

import numpy as np
from numba import njit

SLACK = 16
"""Arrays that are written, and rows, need room for so many entries after the last."""
_0, _1, _8, _16 = np.uint64(0), np.uint64(1), np.uint64(8), np.uint64(16)


@njit(cache=True)
def product(every, lettered, string, prices, made, row):  # type: ignore[no-untyped-def]
    """`every`: offsets, target, label, weight; `lettered`: the same of the transitions with a label.

    Prices: insertions by place, deletions by label, all substitutions. Equal labels are free: `head` and `following`
    lead to the places of the string that have a label.
    """
    (offsets, target, label, weight), (offsets_s, target_s, label_s, weight_s) = every, lettered
    (insertion, deletion, different), (ends, base, head, following) = prices, row
    made_target, made_weight, made_offsets = made
    at, state, m, step = _0, _0, len(string), np.int32(len(string) + 1)
    _list_places(string, head, following)
    made_offsets[0] = 0
    for q in range(len(offsets) - 1):
        first, first_s = np.uint64(offsets[q]), np.uint64(offsets_s[q])
        degree, n = np.uint64(offsets[q + 1]) - first, np.uint64(offsets_s[q + 1]) - first_s
        ends[_0] = state + _1
        for k in range(n):
            ends[_1 + k] = target_s[first_s + k] * step + np.int32(1)
            base[_1 + k] = weight_s[first_s + k] + different
        for k in range(degree):
            ends[_1 + n + k] = target[first + k] * step
            base[_1 + n + k] = weight[first + k] + deletion[label[first + k]]
        block, whole = at, _1 + n + degree
        for j in range(m + 1):
            begin = _0 if j < m else _1 + n  # at the end of the string only deletions stay
            for k in range((whole - begin + _16 - _1) // _16 * _16):
                made_target[at + k] = ends[begin + k] + np.int32(j)
            for k in range((whole - begin + _8 - _1) // _8 * _8):
                made_weight[at + k] = base[begin + k]
            if j < m:
                made_weight[at] = insertion[j]
            at += whole - begin
            state += _1
            made_offsets[state] = at
        for k in range(n):
            j = head[np.uint64(label_s[first_s + k])]
            while j >= 0:
                made_weight[block + np.uint64(j) * whole + _1 + k] = weight_s[first_s + k]
                j = following[np.uint64(j)]


@njit(cache=True)
def _list_places(string, head, following):  # type: ignore[no-untyped-def]
    """First place of each label in the string, and next one of the same label; -1: none."""
    head[:] = -1
    for j in range(len(string) - 1, -1, -1):
        if string[j] < len(head):  # the automaton may lack it
            following[j] = head[string[j]]
            head[string[j]] = j


@njit(cache=True)
def substitute(offsets, lettered, table, made_weight):  # type: ignore[no-untyped-def]
    """Weights of the substitutions and matches anew, where each pair of labels has a price of its own."""
    (offsets_s, _, label_s, weight_s), at = lettered, _0
    for q in range(len(offsets) - 1):
        first_s, degree = np.uint64(offsets_s[q]), np.uint64(offsets[q + 1] - offsets[q])
        n = np.uint64(offsets_s[q + 1]) - first_s
        for j in range(len(table)):
            for k in range(n):
                made_weight[at + _1 + k] = weight_s[first_s + k] + table[j, np.uint64(label_s[first_s + k])]
            at += _1 + n + degree
        at += degree


@njit(cache=True)
def spread(offsets, values, lettered, m, row, out):  # type: ignore[no-untyped-def]
    """Values of the automaton's transitions, those of all and of the lettered, behind each transition; -1: none."""
    (offsets_s, values_s), at = lettered, _0
    row[_0] = -1
    for q in range(len(offsets) - 1):
        first, first_s = np.uint64(offsets[q]), np.uint64(offsets_s[q])
        degree, n = np.uint64(offsets[q + 1]) - first, np.uint64(offsets_s[q + 1]) - first_s
        for k in range(n):
            row[_1 + k] = values_s[first_s + k]
        for k in range(degree):
            row[_1 + n + k] = values[first + k]
        for j in range(m + 1):
            begin = _0 if j < m else _1 + n
            size = _1 + n + degree - begin
            for k in range((size + _16 - _1) // _16 * _16):
                out[at + k] = row[begin + k]
            at += size


@njit(cache=True)
def write(offsets, offsets_s, string, out):  # type: ignore[no-untyped-def]
    """What each transition writes: insertions and substitutions the label of the place, deletions nothing."""
    at = _0
    for q in range(len(offsets) - 1):
        degree, n = np.uint64(offsets[q + 1] - offsets[q]), _1 + np.uint64(offsets_s[q + 1] - offsets_s[q])
        for j in range(len(string) + 1):
            if j < len(string):
                for k in range((n + _16 - _1) // _16 * _16):
                    out[at + k] = string[j]
                at += n
            for k in range((degree + _16 - _1) // _16 * _16):
                out[at + k] = np.int32(-1)
            at += degree
