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

from numba import njit

from structens.align.distance import _distances
from structens.align.profile import _FAR, _align
from structens.align.scratch import (
    BEFORE,
    BONUS,
    CODE,
    COUNT,
    EDGE,
    ENTRY,
    FORMER,
    FREE,
    HEAD,
    JOINED,
    MADE,
    MASK,
    MOVED,
    NEAR,
    NEXT,
    PATH,
    PLACE,
    SKIP,
    SLOT,
    START,
    STATE,
    TAIL,
)

_TURNS = 3


@njit(cache=True)
def _network(n_rows, work, cells, distance):  # type: ignore[no-untyped-def]
    """Fill row PLACE of the table; return the number of slots."""
    _distances(work[CODE], work[START], n_rows, distance, work[MASK], work[EDGE])
    row, other = _closest(n_rows, work, distance)
    n_slots = _begin(n_rows, row, work)
    members, cost, low = work[COUNT, row], 0, 0
    for step in range(1, n_rows):
        row = other if step == 1 and other != row else _nearest(n_rows, work, distance)
        bound = _bound(row, n_rows, work, distance)
        units = work[CODE, work[START, row] : work[START, row + 1]]
        paid = _align(units, work, cells, n_slots, members, _extra(bound, members), 0, bound + bound // 32, _FAR)
        n_slots = _join(row, n_rows, n_slots, work)
        cost += work[COUNT, row] * paid
        low += work[COUNT, row] * bound
        members += work[COUNT, row]
    if cost > low:
        _refine(n_rows, n_slots, members, work, cells, distance)
        n_slots = _drop(n_rows, work)
    return n_slots


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
def _extra(bound, members):  # type: ignore[no-untyped-def]
    """Width to try first: gains and losses of units mostly balance, so far less than the proof needs."""
    return min(bound // members, 2 + bound // (8 * members))


@njit(cache=True)
def _begin(n_rows, row, work):  # type: ignore[no-untyped-def]
    work[STATE, MADE], work[STATE, FREE] = 0, -1
    for c in range(n_rows):
        work[JOINED, c] = 0
    for x in range(work[START, n_rows]):
        work[HEAD, work[CODE, x]] = -1
        work[TAIL, work[CODE, x]] = -1
    for i in range(work[START, row + 1] - work[START, row]):
        work[PATH, i] = -1
        work[NEAR, i] = -1
    return _join(row, n_rows, 0, work)


@njit(cache=True)
def _join(row, n_rows, n_slots, work):  # type: ignore[no-untyped-def]
    """Enter the row along PATH; return the new number of slots."""
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
        while old < n_slots:
            work[MOVED, old] = old + opened
            old += 1
        _renumber(row, n_rows, n_slots, work)
    for i in range(n):
        j, e = work[PLACE, start + i], work[ENTRY, start + i]
        work[SLOT, e] = j
        work[BONUS, e] += count
        work[SKIP, j] = count + (work[SKIP, j] if work[PATH, i] >= 0 else 0)
    work[JOINED, row] = 1
    return n_slots + opened


@njit(cache=True)
def _renumber(row, n_rows, n_slots, work):  # type: ignore[no-untyped-def]
    for c in range(n_rows):
        if work[JOINED, c] and c != row:
            for x in range(work[START, c], work[START, c + 1]):
                work[PLACE, x] = work[MOVED, work[PLACE, x]]
    for e in range(work[STATE, MADE]):
        work[SLOT, e] = work[MOVED, work[SLOT, e]]
    for j in range(n_slots - 1, -1, -1):
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
def _refine(n_rows, n_slots, members, work, cells, distance):  # type: ignore[no-untyped-def]
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
        bound = _bound(row, n_rows, work, distance)
        start, end = work[START, row], work[START, row + 1]
        rest = members - work[COUNT, row]
        cost = rest * (end - start) + said - work[COUNT, row] * (end - start) - _weigh(row, -1, work)
        if cost > bound:
            units = work[CODE, start:end]
            paid = _align(units, work, cells, n_slots, rest, _extra(bound, rest), 0, bound + bound // 32, cost)
            if paid < cost:
                n_slots = _move(row, n_rows, n_slots, work)
                unchanged = 0
                continue
        _weigh(row, 1, work)


@njit(cache=True)
def _weigh(row, sign, work):  # type: ignore[no-untyped-def]
    """Take the row's counts out (-1) or put them in (1); returns the sum of what stays, or is then, at its places."""
    total, count = 0, sign * work[COUNT, row]
    for x in range(work[START, row], work[START, row + 1]):
        e, j = work[ENTRY, x], work[PLACE, x]
        work[BONUS, e] += count
        work[SKIP, j] += count
        total += work[BONUS, e] + work[SKIP, j]
    return total


@njit(cache=True)
def _move(row, n_rows, n_slots, work):  # type: ignore[no-untyped-def]
    """Enter the row, whose counts are out, along its new path; entries that nobody needs any more leave."""
    start, n = work[START, row], work[START, row + 1] - work[START, row]
    for i in range(n):
        work[FORMER, i] = work[ENTRY, start + i]
    n_slots = _join(row, n_rows, n_slots, work)
    for i in range(n):
        if work[BONUS, work[FORMER, i]] == 0:
            _leave(work[CODE, start + i], work[FORMER, i], work)
    return n_slots


@njit(cache=True)
def _drop(n_rows, work):  # type: ignore[no-untyped-def]
    """Close the slots in which nobody says anything; returns how many stay."""
    size, last = work[START, n_rows], -1
    for x in range(size):
        last = max(last, work[PLACE, x])
    kept = 0
    for j in range(last + 1):
        work[MOVED, j] = kept
        kept += work[SKIP, j] > 0
    for x in range(size):
        work[PLACE, x] = work[MOVED, work[PLACE, x]]
    return kept
