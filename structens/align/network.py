"""The slots of one record by progressive alignment: closest pair first, then refinement.

The *network* is a list of slots; in each, every answer that has joined says one unit or nothing. Costs are sums of
pairs with real counts: the cost of a network is the number of (slot, pair of experts) where the two differ, saying
nothing being different from saying something. So for an answer that joins M others,

* standing with unit t in a slot costs the number of members that do not say t there,
* leaving a slot out costs the number of members that say something there,
* a slot of its own costs M.

Equal answers are one row that counts several times. The order of rows, which decides every tie, is that of their first
experts in the order given (by name), so the order of columns does not matter:

1. start with the closest pair (edit distance; a row that several experts gave is at distance 0 from itself);
2. add the row with the least sum of distances to the members, until all have joined;
3. take each row out in turn and align it to the others anew, keep what costs less, until a whole turn changes nothing
   (at most `_TURNS` turns). Rows at the lower bound, the sum of their distances to the others, are passed over;
4. drop the slots in which nobody says anything.

Feng and Doolittle (1987), "Progressive sequence alignment as a prerequisite to correct phylogenetic trees"; the
refinement is that of Barton and Sternberg (1987), "A strategy for the rapid multiple alignment of protein sequences".
"""

from __future__ import annotations

import numpy as np
from numba import njit

from structens.align.profile import _FAR, _align
from structens.align.scratch import (
    BEFORE,
    BONUS,
    CODE,
    COUNT,
    ENOUGH,
    ENTRY,
    EXTRA,
    FORMER,
    FREE,
    HEAD,
    JOINED,
    MADE,
    MOVED,
    NEAR,
    NEW,
    NEXT,
    PATH,
    PLACE,
    SKIP,
    SLACK,
    SLOT,
    SLOTS,
    START,
    STATE,
    TAIL,
    WORTH,
)

_TURNS = 2


@njit(cache=True)
def _network(n_rows, work, cells, distance):  # type: ignore[no-untyped-def]
    """Fill row PLACE of the table from the rows and their distances; return the number of slots."""
    row, other = _closest(n_rows, work, distance)
    _begin(n_rows, row, work)
    members, cost, low = work[COUNT, row], 0, 0
    for step in range(1, n_rows):
        row = other if step == 1 and other != row else _nearest(n_rows, work, distance)
        bound = _aim(row, n_rows, members, work, distance)
        work[STATE, WORTH] = _FAR
        paid = _align(work[CODE, work[START, row] : work[START, row + 1]], work, cells)
        _join(row, n_rows, work)
        cost += work[COUNT, row] * paid
        low += work[COUNT, row] * bound
        members += work[COUNT, row]
    if cost > low:
        _refine(n_rows, members, work, cells, distance)
        _drop(n_rows, work)
    return work[STATE, SLOTS]


@njit(cache=True)
def _closest(n_rows, work, distance):  # type: ignore[no-untyped-def]
    least, first, second = _FAR, 0, 0
    for c in range(n_rows):
        if work[COUNT, c] > 1:
            return c, c
        for d in range(c + 1, n_rows):
            if distance[c, d] < least:
                least, first, second = distance[c, d], c, d
    return first, second


@njit(cache=True)
def _nearest(n_rows, work, distance):  # type: ignore[no-untyped-def]
    least, row = _FAR, -1
    for c in range(n_rows):
        if work[JOINED, c] == 0:
            d = _bound(c, n_rows, work, distance)
            if d < least:
                least, row = d, c
    return row


@njit(cache=True)
def _bound(row, n_rows, work, distance):  # type: ignore[no-untyped-def]
    """Sum of distances to the members, below which no alignment to them can cost."""
    total = 0
    for c in range(n_rows):
        if work[JOINED, c]:
            total += work[COUNT, c] * distance[row, c]
    return total


@njit(cache=True)
def _aim(row, n_rows, members, work, distance):  # type: ignore[no-untyped-def]
    """Set what `_align` is to do for a row, but for WORTH; returns the lower bound of its cost.

    Costs within a 32nd of the bound are good enough. The width to try first is far below what a proof needs, since
    gains and losses of units balance like a random walk.
    """
    bound = _bound(row, n_rows, work, distance)
    mean = bound // members
    work[STATE, NEW], work[STATE, SLACK] = members, 0
    work[STATE, EXTRA] = min(mean, 2 + mean // 8, 2 + int(np.sqrt(mean)))
    work[STATE, ENOUGH] = bound + bound // 32
    return bound


@njit(cache=True)
def _begin(n_rows, row, work):  # type: ignore[no-untyped-def]
    work[STATE, MADE], work[STATE, FREE], work[STATE, SLOTS] = 0, -1, 0
    for c in range(n_rows):
        work[JOINED, c] = 0
    for x in range(work[START, n_rows]):
        work[HEAD, work[CODE, x]] = -1
        work[TAIL, work[CODE, x]] = -1
    for i in range(work[START, row + 1] - work[START, row]):
        work[PATH, i] = -1
        work[NEAR, i] = -1
    _join(row, n_rows, work)


@njit(cache=True)
def _join(row, n_rows, work):  # type: ignore[no-untyped-def]
    """Enter the row along PATH."""
    start, n, count = work[START, row], work[START, row + 1] - work[START, row], work[COUNT, row]
    for i in range(n - 1, -1, -1):
        e = work[NEAR, i]
        if e < 0 or work[SLOT, e] != work[PATH, i]:
            e = _enter(work[CODE, start + i], e, work)
        work[ENTRY, start + i] = e
    old, opened = 0, 0
    for i in range(n):
        j = work[PATH, i]
        until = j if j >= 0 else -1 - j
        while old < until:
            work[MOVED, old] = old + opened
            old += 1
        work[PLACE, start + i] = until + opened
        if j < 0:
            opened += 1
    if opened:
        while old < work[STATE, SLOTS]:
            work[MOVED, old] = old + opened
            old += 1
        _renumber(row, n_rows, work)
    for i in range(n):
        j, e = work[PLACE, start + i], work[ENTRY, start + i]
        work[SLOT, e] = j
        work[BONUS, e] += count
        work[SKIP, j] = count + (work[SKIP, j] if work[PATH, i] >= 0 else 0)
    work[JOINED, row] = 1
    work[STATE, SLOTS] += opened


@njit(cache=True)
def _renumber(row, n_rows, work):  # type: ignore[no-untyped-def]
    for c in range(n_rows):
        if work[JOINED, c] and c != row:
            for x in range(work[START, c], work[START, c + 1]):
                work[PLACE, x] = work[MOVED, work[PLACE, x]]
    for e in range(work[STATE, MADE]):
        work[SLOT, e] = work[MOVED, work[SLOT, e]]
    for j in range(work[STATE, SLOTS] - 1, -1, -1):
        work[SKIP, work[MOVED, j]] = work[SKIP, j]


@njit(cache=True)
def _enter(label, near, work):  # type: ignore[no-untyped-def]
    """A new entry of the label after the entry `near`, or first if that is -1."""
    e = work[STATE, FREE]
    if e >= 0:
        work[STATE, FREE] = work[NEXT, e]
    else:
        e = work[STATE, MADE]
        work[STATE, MADE] = e + 1
    after = work[HEAD, label] if near < 0 else work[NEXT, near]
    work[BEFORE, e], work[NEXT, e] = near, after
    work[SLOT, e], work[BONUS, e] = 0, 0
    if near < 0:
        work[HEAD, label] = e
    else:
        work[NEXT, near] = e
    if after < 0:
        work[TAIL, label] = e
    else:
        work[BEFORE, after] = e
    return e


@njit(cache=True)
def _leave(label, e, work):  # type: ignore[no-untyped-def]
    """Take an entry out of its list, to be used again."""
    near, after = work[BEFORE, e], work[NEXT, e]
    if near < 0:
        work[HEAD, label] = after
    else:
        work[NEXT, near] = after
    if after < 0:
        work[TAIL, label] = near
    else:
        work[BEFORE, after] = near
    work[SLOT, e] = 0
    work[NEXT, e] = work[STATE, FREE]
    work[STATE, FREE] = e


@njit(cache=True)
def _refine(n_rows, members, work, cells, distance):  # type: ignore[no-untyped-def]
    """Take each row out and align it again until nothing improves."""
    said = 0
    for c in range(n_rows):
        said += work[COUNT, c] * (work[START, c + 1] - work[START, c])
    row, unchanged = -1, 0
    for _ in range(_TURNS * n_rows):
        if unchanged == n_rows:
            break
        row = row + 1 if row + 1 < n_rows else 0
        unchanged += 1
        rest = members - work[COUNT, row]
        bound = _aim(row, n_rows, rest, work, distance)
        start, end = work[START, row], work[START, row + 1]
        cost = (rest - work[COUNT, row]) * (end - start) + said - _weigh(row, -work[COUNT, row], work)
        if cost > bound:
            work[STATE, WORTH] = cost
            if _align(work[CODE, start:end], work, cells) < cost:
                _move(row, n_rows, work)
                unchanged = 0
                continue
        _weigh(row, work[COUNT, row], work)


@njit(cache=True)
def _weigh(row, count, work):  # type: ignore[no-untyped-def]
    """Add to the counts at the places of a row; returns the sum of what they are then."""
    total = 0
    for x in range(work[START, row], work[START, row + 1]):
        e, j = work[ENTRY, x], work[PLACE, x]
        work[BONUS, e] += count
        work[SKIP, j] += count
        total += work[BONUS, e] + work[SKIP, j]
    return total


@njit(cache=True)
def _move(row, n_rows, work):  # type: ignore[no-untyped-def]
    """Enter the row, whose counts are out, along its new path; entries that nobody needs any more leave."""
    start, n = work[START, row], work[START, row + 1] - work[START, row]
    for i in range(n):
        work[FORMER, i] = work[ENTRY, start + i]
    _join(row, n_rows, work)
    for i in range(n):
        if work[BONUS, work[FORMER, i]] == 0:
            _leave(work[CODE, start + i], work[FORMER, i], work)


@njit(cache=True)
def _drop(n_rows, work):  # type: ignore[no-untyped-def]
    """Close the slots in which nobody says anything."""
    kept = 0
    for j in range(work[STATE, SLOTS]):
        work[MOVED, j] = kept
        kept += work[SKIP, j] > 0
    for x in range(work[START, n_rows]):
        work[PLACE, x] = work[MOVED, work[PLACE, x]]
    work[STATE, SLOTS] = kept
