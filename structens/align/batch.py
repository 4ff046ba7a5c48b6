"""The slots of all records of a batch: equal answers and common ends taken out, the rest aligned."""

from __future__ import annotations

import numpy as np
from numba import njit

from structens.align.distance import _distances
from structens.align.network import _network
from structens.align.scratch import CODE, COUNT, CURSOR, EDGE, GIVER, MASK, PLACE, ROW, START, _grown
from structens.core import ABSENT, GAP


@njit(cache=True)
def _networks(values, offsets, present, order, buffers, place, lengths):  # type: ignore[no-untyped-def]
    """Fill the slot of each unit and the number of slots of each record.

    Units that all answers begin or end with stand in common slots at no cost: some alignment of least cost has them so.
    """
    work, cells, local = buffers
    n, p = present.shape
    distance = np.zeros((p, p), np.int64)
    for i in range(n):
        rows = offsets[i * p : (i + 1) * p + 1]
        n_rows = _distinct(values, rows, present[i], order, work)
        if n_rows == 0:
            continue
        head, tail = _ends(values, rows, n_rows, work)
        work = _grown(work, _size(rows, n_rows, work) - n_rows * (head + tail), p)
        _collect(values, rows, n_rows, head, tail, work, local)
        n_slots = 0
        if n_rows > 1:
            _distances(work[CODE], work[START], n_rows, distance, work[MASK], work[EDGE])
            n_slots = _network(n_rows, work, cells, distance)
        lengths[i] = head + n_slots + tail
        for j in range(p):
            if present[i, j]:
                _put(rows[j], rows[j + 1], work[START, work[ROW, j]], head, tail, n_slots, work, place)


@njit(cache=True)
def _distinct(values, rows, present, order, work):  # type: ignore[no-untyped-def]
    """Number the distinct answers in order, and say which row each expert gave."""
    n_rows = 0
    for j in order:
        if not present[j]:
            continue
        c = 0
        while c < n_rows and not _equal(values, rows, j, work[GIVER, c]):
            c += 1
        if c == n_rows:
            n_rows += 1
            work[GIVER, c] = j
            work[COUNT, c] = 0
        work[COUNT, c] += 1
        work[ROW, j] = c
    return n_rows


@njit(cache=True)
def _equal(values, rows, j, k):  # type: ignore[no-untyped-def]
    a, b, n = rows[j], rows[k], rows[j + 1] - rows[j]
    if n != rows[k + 1] - b:
        return False
    same = 0
    while same < n and values[a + same] == values[b + same]:
        same += 1
    return same == n


@njit(cache=True)
def _ends(values, rows, n_rows, work):  # type: ignore[no-untyped-def]
    """Lengths of the common beginning and, apart from it, the common end of the distinct answers."""
    a, b = rows[work[GIVER, 0]], rows[work[GIVER, 0] + 1]
    head, shortest = b - a, b - a
    for c in range(1, n_rows):
        x, n = rows[work[GIVER, c]], rows[work[GIVER, c] + 1] - rows[work[GIVER, c]]
        shortest = min(shortest, n)
        same, limit = 0, min(head, n)
        while same < limit and values[a + same] == values[x + same]:
            same += 1
        head = same
    tail = shortest - head
    for c in range(1, n_rows):
        y, same = rows[work[GIVER, c] + 1], 0
        while same < tail and values[b - 1 - same] == values[y - 1 - same]:
            same += 1
        tail = same
    return head, tail


@njit(cache=True)
def _size(rows, n_rows, work):  # type: ignore[no-untyped-def]
    size = 0
    for c in range(n_rows):
        size += rows[work[GIVER, c] + 1] - rows[work[GIVER, c]]
    return size


@njit(cache=True)
def _collect(values, rows, n_rows, head, tail, work, local):  # type: ignore[no-untyped-def]
    """Copy what is left of the distinct answers in labels of the record, numbered from 0 as they come."""
    n_labels, size = 0, 0
    for c in range(n_rows):
        j = work[GIVER, c]
        work[START, c] = size
        for x in range(rows[j] + head, rows[j + 1] - tail):
            t = local[values[x]]
            if t < 0:
                t = n_labels
                local[values[x]] = t
                work[CURSOR, t] = values[x]
                n_labels += 1
            work[CODE, size] = t
            size += 1
    work[START, n_rows] = size
    for t in range(n_labels):
        local[work[CURSOR, t]] = -1


@njit(cache=True)
def _put(a, b, inner, head, tail, n_slots, work, place):  # type: ignore[no-untyped-def]
    for x in range(a, a + head):
        place[x] = x - a
    for x in range(a + head, b - tail):
        place[x] = head + work[PLACE, inner + x - a - head]
    for x in range(b - tail, b):
        place[x] = head + n_slots + tail - b + x


@njit(cache=True)
def _fill(values, offsets, present, place, slot_offsets, labels, source):  # type: ignore[no-untyped-def]
    """Write every unit into its slot; the rest is GAP, or ABSENT."""
    n, p = present.shape
    for i in range(n):
        for s in range(slot_offsets[i], slot_offsets[i + 1]):
            for j in range(p):
                labels[s, j] = GAP if present[i, j] else ABSENT
                source[s, j] = -1
        for j in range(p):
            for x in range(offsets[i * p + j], offsets[i * p + j + 1]):
                s = slot_offsets[i] + place[x]
                labels[s, j] = values[x]
                source[s, j] = x
