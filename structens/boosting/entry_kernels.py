"""Kernels of boosting on entries (see `entries`): sums of weights by bin, the best cut by them, votes, new weights.

Rows of signed weights have `kp` float32 numbers: K classes, then in lane K the constant `UNIT`, which adds up to the
number of rows, exact to 2**24 of them, and is too small to be seen in a score. The weights' total size is 1.
"""

from __future__ import annotations

import numpy as np

from structens.boosting.compiled import entry, inner
from structens.boosting.histogram_layout import MISSING, NOMINAL
from structens.boosting.lanes import accumulate, load, minus, nothing, plus, reweight, size, store, total

UNIT = 2.0**-60
TIE = 1e-6  # of scores that differ by no more, the first found is taken
_BLOCK = 64


@entry
def count_bins(begin, end, bins, table, weight, kp, histogram):  # type: ignore[no-untyped-def]
    """Sums of the weights of all rows of the listed bins from `begin` to `end` - 1."""
    for k in range(begin, end):
        at = k * kp
        for c in range(0, kp, 8):
            store(histogram, at + c, nothing())
        last = table.bin_first[bins[k] + 1]
        for first in range(table.bin_first[bins[k]], last, _BLOCK):
            for c in range(0, kp, 8):
                part = nothing()
                for e in range(first, min(first + _BLOCK, last)):
                    part = plus(part, load(weight, table.entry_row[e] * kp + c))
                store(histogram, at + c, plus(load(histogram, at + c), part))


@entry
def count_rows(rows, slot, table, weight, kp, histogram):  # type: ignore[no-untyped-def]
    """The same for some rows; `slot`: place of each bin in the list, -1 where it is not listed."""
    for k in range(0, len(histogram), 8):
        store(histogram, k, nothing())
    for row in rows:
        for e in range(table.row_first[row], table.row_first[row + 1]):
            at = slot[table.row_bin[e]] * kp
            if at >= 0:
                for c in range(0, kp, 8):
                    store(histogram, at + c, plus(load(histogram, at + c), load(weight, row * kp + c)))


@entry
def search_cuts(listed, slot, table, histogram, whole, plan, score, found):  # type: ignore[no-untyped-def]
    """The cut of the largest edge, or for each class its own.

    `whole`: sums over all rows of the cell, (kp,). `plan`: kp, K, whether by class. `score`: best so far, (1,) or (K,).
    `found`: feature, low, high of each, int64.
    """
    side = np.empty(plan[0], np.float32)
    for j in listed:
        first, last = table.feature_first[j], table.feature_first[j + 1]
        if first == last:
            continue
        place, at = table.place[j], slot[first]
        positions = last - first + 1
        if table.kind[j] >= NOMINAL:
            for p in range(positions - (table.kind[j] > NOMINAL)):
                if p != place:
                    _take(side, histogram, at + p - (p > place), plan[0])
                elif table.implicit[j]:
                    _rest(side, histogram, at, at + positions - 1, whole, plan[0])
                else:
                    continue
                _consider(j, p, p + 1, side, whole, plan, score, found)
            continue
        for nan_below in range(2 if table.kind[j] == MISSING else 1):
            high = positions - nan_below
            for c in range(plan[0]):
                side[c] = whole[c]
            if nan_below:
                _leave(side, histogram, at + positions - 2, plan[0])
            for p in range(1, high):
                if p - 1 != place:
                    _leave(side, histogram, at + p - 1 - (p - 1 > place), plan[0])
                elif table.implicit[j]:
                    _sum(side, histogram, at + place, at + high - 1, plan[0])
                else:
                    continue
                _consider(j, p, high, side, whole, plan, score, found)


@entry
def leaf_sums(leaf, weight, kp, out):  # type: ignore[no-untyped-def]
    """Sums of each leaf's signed weights, then of their sizes: float64, (2 * leaves * kp,)."""
    half = len(out) // 2
    out[:] = 0.0
    for row in range(len(leaf)):
        for c in range(0, kp, 8):
            w = load(weight, row * kp + c)
            accumulate(out, leaf[row] * kp + c, w)
            accumulate(out, half + leaf[row] * kp + c, size(w))


@entry
def reweight_rows(leaf, for_positive, for_negative, kp, weight):  # type: ignore[no-untyped-def]
    """Multiply all weights by their leaf's factors, (leaves * kp,), for y = +1 and for y = -1."""
    for row in range(len(leaf)):
        for c in range(0, kp, 8):
            k = leaf[row] * kp + c
            new = reweight(load(weight, row * kp + c), load(for_positive, k), load(for_negative, k), np.float32(1e-30))
            store(weight, row * kp + c, new)


@inner
def _consider(j, low, high, side, whole, plan, score, found):  # type: ignore[no-untyped-def]
    """Take the cut if it is better than the best, and neither side is empty."""
    rows = side[plan[1]]
    if rows < 0.5 * UNIT or whole[plan[1]] - rows < 0.5 * UNIT:
        return
    if plan[2]:
        for c in range(plan[1]):
            edge = abs(2.0 * side[c] - whole[c])
            if edge > score[c] + TIE:
                score[c], found[c, 0], found[c, 1], found[c, 2] = edge, j, low, high
        return
    sizes = nothing()
    for c in range(0, plan[0], 8):
        part = load(side, c)
        sizes = plus(sizes, size(minus(plus(part, part), load(whole, c))))
    edge = np.float64(total(sizes))
    if edge > score[0] + TIE:
        score[0], found[0, 0], found[0, 1], found[0, 2] = edge, j, low, high


@inner
def _take(side, histogram, k, kp):  # type: ignore[no-untyped-def]
    for c in range(0, kp, 8):
        store(side, c, load(histogram, k * kp + c))


@inner
def _leave(side, histogram, k, kp):  # type: ignore[no-untyped-def]
    for c in range(0, kp, 8):
        store(side, c, minus(load(side, c), load(histogram, k * kp + c)))


@inner
def _sum(side, histogram, begin, end, kp):  # type: ignore[no-untyped-def]
    for c in range(0, kp, 8):
        part = nothing()
        for k in range(begin, end):
            part = plus(part, load(histogram, k * kp + c))
        store(side, c, part)


@inner
def _rest(side, histogram, begin, end, whole, kp):  # type: ignore[no-untyped-def]
    _sum(side, histogram, begin, end, kp)
    for c in range(0, kp, 8):
        store(side, c, minus(load(whole, c), load(side, c)))
