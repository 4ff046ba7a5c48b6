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

The band of row i begins at column ``LOWEST + i * RISE // RUN`` and has WIDTH columns, kept with one cell to the left
and two to the right that no path enters.

Ties, from the end backwards: first stand in the slot, then leave the slot out, then open one.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from structens.align.scratch import (
    BEFORE,
    BLOCK,
    BONUS,
    CURSOR,
    ENOUGH,
    EXTRA,
    GAIN,
    HEAD,
    LOWEST,
    NEAR,
    NEW,
    NEXT,
    PATH,
    RISE,
    RUN,
    SKIP,
    SLACK,
    SLOT,
    SLOTS,
    STATE,
    TAIL,
    WIDTH,
    WORTH,
)

_FAR = 1 << 60
_MARGIN = 3


@njit(cache=True)
def _align(units, work, cells):  # type: ignore[no-untyped-def]
    """Least cost of aligning the units to SLOTS slots; fills rows PATH and NEAR of the table if it is below WORTH.

    The band runs parallel to the diagonal, EXTRA wider than it must be on both sides. A path outside it opens more
    than EXTRA slots too many, so it costs more than the cost found, less SLACK, once the band is wide enough. A cost of
    at most ENOUGH ends the search at once; where there is hope for that (ENOUGH >= 0), a narrow band from corner to
    corner is tried first.
    """
    n, n_slots, new = len(units), work[STATE, SLOTS], work[STATE, NEW]
    total, n_open, limit = 0, max(0, n - n_slots), max(n, n_slots)
    work[GAIN, 0] = 0
    for j in range(n_slots):
        total += work[SKIP, j]
        work[GAIN, j + 1] = new - work[SKIP, j]
    slanted = work[STATE, ENOUGH] >= 0 and 0 < n < n_slots <= 2 * n
    extra = min(work[STATE, EXTRA], limit)
    while True:
        work[STATE, LOWEST] = -extra if slanted else min(0, n_slots - n) - extra
        work[STATE, WIDTH] = 2 * extra + 1 + (0 if slanted else abs(n_slots - n))
        work[STATE, RISE] = n_slots if slanted else 1
        work[STATE, RUN] = n if slanted else 1
        need = _set_blocks(n, work, len(cells))
        room = cells if need <= len(cells) else np.empty(need, np.int64)
        cost = total + _forward(units, work, room)
        wide = not slanted and (cost < (extra + 1 + n_open) * new - work[STATE, SLACK] or extra >= limit)
        if wide or cost <= work[STATE, ENOUGH]:
            break
        if not slanted:
            proven = max(extra + 1, (cost + work[STATE, SLACK]) // new - n_open)
            extra = min(limit, proven, 4 * extra + 8)
        slanted = False
    if cost < work[STATE, WORTH]:
        _backward(units, work, room)
    return cost


@njit(cache=True)
def _set_blocks(n, work, n_cells):  # type: ignore[no-untyped-def]
    """Keep all rows where there is room, else blocks of about sqrt(n) rows; returns the number of cells needed."""
    stride = work[STATE, WIDTH] + _MARGIN
    block = max(n, 1) if (n + 2) * stride <= n_cells or n < 16 else int(np.sqrt(n)) + 1
    work[STATE, BLOCK] = block
    return (block + 2 + max(0, n - 1) // block) * stride


@njit(cache=True)
def _forward(units, work, cells):  # type: ignore[no-untyped-def]
    """E(n, n_slots). Leaves the rows of the last block in place, and the first row of each block after them."""
    lowest, width, block = work[STATE, LOWEST], work[STATE, WIDTH], work[STATE, BLOCK]
    n, n_slots, stride = len(units), work[STATE, SLOTS], width + _MARGIN
    for t in units:
        work[CURSOR, t] = work[HEAD, t]
    for x in range(stride):
        cells[x] = _FAR
    for j in range(min(n_slots, lowest + width - 1) + 1):
        cells[1 - lowest + j] = 0
    for start in range(0, max(n, 1), block):
        kept = (block + 1 + start // block) * stride
        for x in range(stride):
            if start > 0:
                cells[x] = cells[block * stride + x]
            cells[kept + x] = cells[x]
        _rows(units, work, cells, start, min(n, start + block))
    height = n - max(0, n - 1) // block * block
    return cells[height * stride + 1 + n_slots - lowest - n * work[STATE, RISE] // work[STATE, RUN]]


@njit(cache=True)
def _rows(units, work, cells, start, stop):  # type: ignore[no-untyped-def]
    """Rows start + 1 .. stop of the matrix, below the row of `start` units at the head of `cells`."""
    width, rise, run = work[STATE, WIDTH], work[STATE, RISE], work[STATE, RUN]
    n_slots, new = work[STATE, SLOTS], work[STATE, NEW]
    stride, gains = width + _MARGIN, work[GAIN]
    edge, rest = work[STATE, LOWEST] + start * rise // run, start * rise % run
    for i in range(start + 1, stop + 1):
        above_edge = edge
        rest += rise
        while rest >= run:
            rest -= run
            edge += 1
        left, right = max(0, edge), min(n_slots, edge + width - 1)
        count = right - left + 1
        first, here = (i - 1 - start) * stride + left - above_edge, (i - start) * stride + 1 + left - edge
        above, row, gain = cells[first : first + count + 1], cells[here : here + count], gains[left : right + 1]
        cells[here - 1] = _FAR
        cells[here + count] = _FAR
        cells[here + count + 1] = _FAR
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
            least = min(least, same, diagonal + new)
            row[x] = least


@njit(cache=True)
def _backward(units, work, cells):  # type: ignore[no-untyped-def]
    """Follow the cheapest path from the end, block by block."""
    block, stride = work[STATE, BLOCK], work[STATE, WIDTH] + _MARGIN
    n, j = len(units), work[STATE, SLOTS]
    for t in units:
        work[CURSOR, t] = work[TAIL, t]
    stop = n
    while stop > 0:
        start = (stop - 1) // block * block
        if stop < n:
            kept = (block + 1 + start // block) * stride
            for x in range(stride):
                cells[x] = cells[kept + x]
            _seek(units, work, start, stop, work[STATE, LOWEST] + start * work[STATE, RISE] // work[STATE, RUN])
            _rows(units, work, cells, start, stop)
            _seek(units, work, start, stop, j)
        j = _trace(units, work, cells, start, stop, j)
        stop = start


@njit(cache=True)
def _seek(units, work, start, stop, column):  # type: ignore[no-untyped-def]
    """Move the cursors of some units to the last entry before a column, or the first entry; -1 is past the last."""
    for i in range(start, stop):
        t = units[i]
        e = work[CURSOR, t]
        if e < 0:
            e = work[TAIL, t]
        while e >= 0 and work[NEXT, e] >= 0 and work[SLOT, work[NEXT, e]] < column:
            e = work[NEXT, e]
        while e >= 0 and work[SLOT, e] >= column:
            e = work[BEFORE, e]
        work[CURSOR, t] = e if e >= 0 else work[HEAD, t]


@njit(cache=True)
def _trace(units, work, cells, start, stop, j):  # type: ignore[no-untyped-def]
    lowest, rise, run = work[STATE, LOWEST], work[STATE, RISE], work[STATE, RUN]
    stride = work[STATE, WIDTH] + _MARGIN
    at = (stop - start) * stride + 1 + j - lowest - stop * rise // run
    for i in range(stop - 1, start - 1, -1):
        t = units[i]
        over = (i - start) * stride + 1 + j - lowest - i * rise // run
        e = work[CURSOR, t]
        while True:
            while e >= 0 and work[SLOT, e] >= j:
                e = work[BEFORE, e]
            known = work[BONUS, e] if e >= 0 and work[SLOT, e] == j - 1 else 0
            stands = j > 0 and cells[over - 1] + work[GAIN, j] - known == cells[at]
            if stands or j == 0 or cells[at - 1] != cells[at]:
                break
            at -= 1
            over -= 1
            j -= 1
        work[CURSOR, t] = e if e >= 0 else work[HEAD, t]
        work[NEAR, i] = e
        work[PATH, i] = j - 1 if stands else -1 - j
        at = over - 1 if stands else over
        j -= stands
    return j
