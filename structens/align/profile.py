"""One sequence onto a network of slots at least cost: banded dynamic programming with bounded memory.

The matrix of Needleman and Wunsch (1970) over units (rows) and slots (columns), in the band of Ukkonen (1985), which
is widened until no path outside it can be better. Both users share it: `network` aligns an answer to the others, `gold`
a reference to the alternatives. With N = ``new``, the cost of a unit in a slot of its own:

* unit t in slot j costs N less the bonus of t in j (0 where t is not listed there);
* leaving slot j out costs ``SKIP[j]``;
* a unit outside every slot costs N.

Cells hold E(i, j) = D(i, j) - SKIP[0] - ... - SKIP[j - 1], D being the cost, so that leaving slots out is free. A row
costs the width of the band and the slots in it that know the unit. Where the matrix would not fit, rows are kept at
about every sqrt(n)-th unit only and those between are computed a second time on the way back: memory n^(3/2).

Ties, from the end backwards: first stand in the slot, then leave the slot out, then open one.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from structens.align.scratch import BEFORE, BONUS, CURSOR, GAIN, HEAD, NEAR, NEXT, PATH, SKIP, SLOT, TAIL

_FAR = 1 << 60


@njit(cache=True)
def _align(units, work, cells, n_slots, new, extra, slack, enough, worth):  # type: ignore[no-untyped-def]
    """Least cost of aligning the units; fills rows PATH and NEAR of the table if it is below `worth`.

    The band has `extra` diagonals more than are needed on both sides. A path outside it opens more than `extra` slots
    too many, so it costs more than the cost found, less `slack`, once the band is wide enough. A cost of at most
    `enough` ends the search at once.
    """
    n = len(units)
    total, n_open, limit = 0, max(0, n - n_slots), max(n, n_slots)
    for j in range(n_slots):
        total += work[SKIP, j]
        work[GAIN, j + 1] = new - work[SKIP, j]
    extra = min(extra, limit)
    while True:
        lowest, width = min(0, n_slots - n) - extra, abs(n_slots - n) + 2 * extra + 1
        block = _rows_a_block(n, width + 2, len(cells))
        need = (block + 2 + max(0, n - 1) // block) * (width + 2)
        room = cells if need <= len(cells) else np.empty(need, np.int64)
        cost = total + _forward(units, work, room, n_slots, new, lowest, width, block)
        if cost <= enough or cost < (extra + 1 + n_open) * new - slack or extra >= limit:
            break
        proven = max(extra + 1, (cost + slack) // new - n_open)
        extra = min(limit, proven, 4 * extra + 8)
    if cost < worth:
        _backward(units, work, room, n_slots, new, lowest, width, block)
    return cost


@njit(cache=True)
def _rows_a_block(n, stride, n_cells):  # type: ignore[no-untyped-def]
    if (n + 2) * stride <= n_cells or n < 16:
        return max(n, 1)
    return int(np.sqrt(n)) + 1


@njit(cache=True)
def _forward(units, work, cells, n_slots, new, lowest, width, block):  # type: ignore[no-untyped-def]
    """E(n, n_slots). Leaves the rows of the last block in place, and the first row of each block after them."""
    n, stride, start = len(units), width + 2, 0
    for t in units:
        work[CURSOR, t] = work[HEAD, t]
    for x in range(stride):
        cells[x] = _FAR
    for j in range(min(n_slots, lowest + width - 1) + 1):
        cells[1 - lowest + j] = 0
    while True:
        kept = (block + 1 + start // block) * stride
        for x in range(stride):
            cells[kept + x] = cells[x]
        stop = min(n, start + block)
        _rows(units, work, cells, n_slots, new, lowest, width, start, stop)
        if stop == n:
            return cells[(n - start) * stride + 1 + n_slots - n - lowest]
        for x in range(stride):
            cells[x] = cells[block * stride + x]
        start = stop


@njit(cache=True)
def _rows(units, work, cells, n_slots, new, lowest, width, start, stop):  # type: ignore[no-untyped-def]
    """Rows start + 1 .. stop of the matrix, below the row of `start` units at the head of `cells`."""
    stride = width + 2
    gains = work[GAIN]
    for i in range(start + 1, stop + 1):
        left, right = max(0, i + lowest), min(n_slots, i + lowest + width - 1)
        count = right - left + 1
        first = (i - 1 - start) * stride + 1 + left - i - lowest
        above, row = cells[first : first + count + 1], cells[first + stride : first + stride + count]
        gain = gains[left : right + 1]
        cells[first + stride - 1] = _FAR
        cells[first + stride + count] = _FAR
        t = units[i - 1]
        e = work[CURSOR, t]
        while e >= 0 and work[SLOT, e] + 1 < left:
            e = work[NEXT, e]
        work[CURSOR, t] = e
        column = work[SLOT, e] + 1 - left if e >= 0 else _FAR
        least, diagonal = _FAR, above[0]
        for x in range(count):
            same = diagonal + gain[x]
            if x == column:
                same -= work[BONUS, e]
                e = work[NEXT, e]
                column = work[SLOT, e] + 1 - left if e >= 0 else _FAR
            diagonal = above[x + 1]
            least = min(least, min(same, diagonal + new))
            row[x] = least


@njit(cache=True)
def _backward(units, work, cells, n_slots, new, lowest, width, block):  # type: ignore[no-untyped-def]
    """Follow the cheapest path from the end, block by block."""
    n, stride = len(units), width + 2
    j, stop = n_slots, n
    while stop > 0:
        start = (stop - 1) // block * block
        if stop < n:
            kept = (block + 1 + start // block) * stride
            for x in range(stride):
                cells[x] = cells[kept + x]
            for t in units:
                work[CURSOR, t] = work[HEAD, t]
            _rows(units, work, cells, n_slots, new, lowest, width, start, stop)
        for t in units:
            work[CURSOR, t] = work[TAIL, t]
        j = _trace(units, work, cells, lowest, width, start, stop, j)
        stop = start


@njit(cache=True)
def _trace(units, work, cells, lowest, width, start, stop, j):  # type: ignore[no-untyped-def]
    at = (stop - start) * (width + 2) + 1 + j - stop - lowest
    i = stop
    while i > start:
        t = units[i - 1]
        e = work[CURSOR, t]
        while e >= 0 and work[SLOT, e] >= j:
            e = work[BEFORE, e]
        work[CURSOR, t] = e
        stands = False
        if j > 0:
            known = work[BONUS, e] if e >= 0 and work[SLOT, e] == j - 1 else 0
            stands = cells[at - width - 2] + work[GAIN, j] - known == cells[at]
            if not stands and cells[at - 1] == cells[at]:
                at -= 1
                j -= 1
                continue
        i -= 1
        at -= width + 2
        work[NEAR, i] = e
        if stands:
            j -= 1
            work[PATH, i] = j
        else:
            at += 1
            work[PATH, i] = -1 - j
    return j
