"""Gold onto slots: the alignment of a right answer to the alternatives of a record with the least error.

A unit of gold in a slot costs 0 if an expert that is awake says it there, else 1. Leaving a slot out costs 0 if an
expert that is awake says nothing there, or none is awake, else 1. A unit without a slot costs 1. So the cost is the
least number of errors that any choice of one expert a slot can make (the oracle path). Among alignments of equal cost
the one that most experts support is taken, counting those that say just what gold has in their slot; then the one that,
seen from the end, stands in the slot rather than leave it out, and leaves it out rather than use none. Of several right
answers the one with the least cost is taken, then the most support, then the first.

Both wishes are one cost: an error weighs more than all support together.
"""

from __future__ import annotations

from numba import njit

from structens.align.network import _enter
from structens.align.profile import _FAR, _align
from structens.align.scratch import (
    BONUS,
    CODE,
    ENOUGH,
    EXTRA,
    FORMER,
    FREE,
    HEAD,
    MADE,
    NEW,
    PATH,
    SKIP,
    SLACK,
    SLOT,
    SLOTS,
    STATE,
    TAIL,
    WORTH,
    _grown,
)
from structens.core import ABSENT, GAP


@njit(cache=True)
def _gold(labels, offsets, units, unit_offsets, references, buffers, gold, unplaced):  # type: ignore[no-untyped-def]
    """Fill `gold` and `unplaced` of the records that have references: rows of `units`, cut by `references`."""
    work, cells, local = buffers
    p = labels.shape[1]
    for i in range(len(offsets) - 1):
        first, last, a, b = references[i], references[i + 1], offsets[i], offsets[i + 1]
        if first == last:
            continue
        n_units = (b - a) * p + 1
        for r in range(first, last):
            n_units = max(n_units, unit_offsets[r + 1] - unit_offsets[r])
        work = _grown(work, n_units, p)
        error = p * (b - a + 1) + 1
        n_labels = _alternatives(labels, a, b, error, work, local)
        work[STATE, SLOTS], work[STATE, NEW], work[STATE, EXTRA] = b - a, error, 1
        work[STATE, SLACK], work[STATE, ENOUGH] = error - 1, -_FAR
        best = _FAR
        for r in range(first, last):
            start, n = unit_offsets[r], unit_offsets[r + 1] - unit_offsets[r]
            for x in range(n):
                t = local[units[start + x]]
                work[CODE, x] = t if t >= 0 else n_labels
                work[PATH, x] = -1
            cost = n * error
            if a < b:
                work[STATE, WORTH] = best
                cost = _align(work[CODE, :n], work, cells)
            if cost < best:
                best = cost
                unplaced[i] = _write(units, start, n, a, b, work, gold)
        for t in range(n_labels):
            local[work[FORMER, t]] = -1


@njit(cache=True)
def _alternatives(labels, a, b, error, work, local):  # type: ignore[no-untyped-def]
    """Enter what is said in slots a .. b - 1; labels are numbered as they come, FORMER keeps their codes."""
    n_labels = 0
    work[STATE, MADE], work[STATE, FREE] = 0, -1
    for s in range(a, b):
        silent, n_awake = 0, 0
        for j in range(labels.shape[1]):
            code = labels[s, j]
            if code == ABSENT:
                continue
            n_awake += 1
            if code == GAP:
                silent += 1
                continue
            t = local[code]
            if t < 0:
                t = n_labels
                local[code] = t
                work[FORMER, t], work[HEAD, t], work[TAIL, t] = code, -1, -1
                n_labels += 1
            e = work[TAIL, t]
            if e < 0 or work[SLOT, e] != s - a:
                e = _enter(t, e, work)
                work[SLOT, e] = s - a
                work[BONUS, e] = error
            work[BONUS, e] += 1
        work[SKIP, s - a] = error if silent == 0 and n_awake > 0 else -silent
    work[HEAD, n_labels], work[TAIL, n_labels] = -1, -1
    return n_labels


@njit(cache=True)
def _write(units, start, n, a, b, work, gold):  # type: ignore[no-untyped-def]
    """Gold of slots a .. b - 1 along the path; returns the units without a slot."""
    for s in range(a, b):
        gold[s] = GAP
    unplaced = 0
    for x in range(n):
        j = work[PATH, x]
        if j >= 0:
            gold[a + j] = units[start + x]
        else:
            unplaced += 1
    return unplaced


@njit(cache=True)
def _gold_by_position(labels, offsets, units, unit_offsets, references, gold, unplaced):  # type: ignore[no-untyped-def]
    """Fill `gold` where unit k of a reference stands in slot k: least error, then most support, then the first.

    References have as many units as the record has slots, but where nobody answered.
    """
    n_experts = labels.shape[1]
    for i in range(len(offsets) - 1):
        a, n = offsets[i], offsets[i + 1] - offsets[i]
        error = n_experts * (n + 1) + 1
        best = _FAR
        for r in range(references[i], references[i + 1]):
            start, outside = unit_offsets[r], unit_offsets[r + 1] - unit_offsets[r] - n
            cost = outside * error
            for k in range(n):
                support = 0
                for j in range(n_experts):
                    support += labels[a + k, j] == units[start + k]
                cost += error if support == 0 else -support
            if cost < best:
                best = cost
                unplaced[i] = outside
                for k in range(n):
                    gold[a + k] = units[start + k]
