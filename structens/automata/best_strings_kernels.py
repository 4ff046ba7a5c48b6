"""Kernels of `structens.automata.best_strings`: bounds of prefixes, and A* over weighted subsets of states."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

_EQUAL = 1e-12
"""Shares of a subset that differ by less are the same."""


class Arcs(NamedTuple):
    """A network whose weights are divided by their bounds: no subset's mass exceeds the number of starts."""

    offsets: NDArray[np.int64]
    target: NDArray[np.int32]
    label: NDArray[np.int32]
    weight: NDArray[np.float64]
    final: NDArray[np.float64]


class Queue(NamedTuple):
    """Nodes, a heap of them, and the subsets."""

    # parent, label, state of the acceptor, begin and end of the subset, 1 for a whole string, prefixes extended
    node: NDArray[np.int64]
    bound: NDArray[np.float64]
    heap: NDArray[np.int64]
    state: NDArray[np.int32]
    mass: NDArray[np.float64]
    group: NDArray[np.int64]  # for one expansion: entries of each label, begin of its subset
    table: NDArray[np.int64]  # first node of each state of the determinised automaton, by a hash
    used: NDArray[np.int64]  # nodes, heap, subset entries


@njit(cache=True)
def bounds_kernel(offsets, target, label, weight, final, value):  # type: ignore[no-untyped-def]
    """Upper bounds on the log probability of any one string from each state."""
    for q in range(len(final) - 1, -1, -1):
        best = final[q]
        e, end = offsets[q], offsets[q + 1]
        while e < end:
            stop, top = e, -np.inf
            while stop < end and label[stop] == label[e]:
                top = max(top, weight[stop] + value[target[stop]])
                stop += 1
            if top > -np.inf:
                total = 0.0
                for i in range(e, stop):
                    total += math.exp(weight[i] + value[target[i]] - top)
                best = max(best, top + math.log(total))
            e = stop
        value[q] = best


@njit(cache=True)
def reweight_kernel(offsets, target, weight, final, value, new_weight, new_final):  # type: ignore[no-untyped-def]
    """Probabilities relative to the bounds, so that the best completion of every state weighs about one."""
    for q in range(len(final)):
        dead = value[q] == -np.inf
        new_final[q] = 0.0 if dead else math.exp(final[q] - value[q])
        for e in range(offsets[q], offsets[q + 1]):
            new_weight[e] = 0.0 if dead else math.exp(weight[e] + value[target[e]] - value[q])


@njit(cache=True)
def search_kernel(arcs, first, mass, admissible, queue, max_expansions, ended, probability):  # type: ignore[no-untyped-def]
    """Number of strings found, and whether the search ended by itself."""
    node = queue.node
    for i in range(len(first)):
        queue.state[i] = first[i]
        queue.mass[i] = mass[i]
    queue.used[2] = len(first)
    none, zero = np.int64(-1), np.int64(0)  # literals would compile `_put` three times
    _put(queue, mass.sum(), none, none, np.int64(admissible.start), zero, len(first), zero)
    count, n_expansions = 0, 0
    while queue.used[1] > 0:
        best = _pop(queue)
        if node[best, 5] == 1:
            ended[count] = node[best, 0]
            probability[count] = queue.bound[best]
            count += 1
            if count == len(ended):
                return count, True
            continue
        same = _same_state(queue, best)
        if node[same, 6] == len(ended):
            continue  # as many prefixes as strings are wanted were at least as good, and go on in the same way
        node[same, 6] += 1
        if n_expansions == max_expansions:
            return count, False
        n_expansions += 1
        if not _expand(arcs, admissible, queue, best):
            return count, False
    return count, True


@njit(cache=True)
def _expand(arcs, admissible, queue, best):  # type: ignore[no-untyped-def]
    """Put the node's children and its own string into the queue; False if there is no room."""
    node, group = queue.node, queue.group
    q_label, begin, end = node[best, 2], node[best, 3], node[best, 4]
    follower = admissible.follower[q_label]
    low, high, total, stopping = _count(arcs, follower, queue.state, queue.mass, group, begin, end)
    if queue.used[2] + total > len(queue.state) or queue.used[0] + min(total, high - low + 1) + 1 > len(queue.bound):
        for a in range(low, high + 1):
            group[0, a] = 0
        return False
    place = queue.used[2]
    for a in range(low, high + 1):
        group[1, a] = place
        place += group[0, a]
        group[0, a] = group[1, a]  # end of what is filled
    queue.used[2] = place
    _fill(arcs, follower, queue.state, queue.mass, group, begin, end)
    for a in range(low, high + 1):
        _sort(queue.state, queue.mass, group[1, a], group[0, a])
    # Of equal bounds the last one in comes out first: the search goes deep, by the label that occurs first.
    for a in range(high, low - 1, -1):
        bound = 0.0
        for k in range(group[1, a], group[0, a]):
            bound += queue.mass[k]
        if bound > 0.0:
            _put(queue, bound, best, a, np.int64(follower[a]), group[1, a], group[0, a], np.int64(0))
        group[0, a] = 0
    if stopping > 0.0 and admissible.is_final[q_label]:
        none, zero = np.int64(-1), np.int64(0)
        _put(queue, stopping, best, none, q_label, zero, zero, np.int64(1))
    return True


@njit(cache=True)
def _count(arcs, follower, state, mass, group, begin, end):  # type: ignore[no-untyped-def]
    """Upper limit of each label's subset; least and greatest label, sum of the limits, mass of what ends here."""
    low, high, total, stopping = group.shape[1], -1, 0, 0.0
    for i in range(begin, end):
        q = state[i]
        stopping += mass[i] * arcs.final[q]
        for e in range(arcs.offsets[q], arcs.offsets[q + 1]):
            a = arcs.label[e]
            if arcs.weight[e] > 0.0 and follower[a] >= 0:
                group[0, a] += 1
                total += 1
                low, high = min(low, a), max(high, a)
    return low, high, total, stopping


@njit(cache=True)
def _fill(arcs, follower, state, mass, group, begin, end):  # type: ignore[no-untyped-def]
    """Put the targets into the subsets of their labels; a target met twice shares its entry."""
    for i in range(begin, end):
        q = state[i]
        for e in range(arcs.offsets[q], arcs.offsets[q + 1]):
            a = arcs.label[e]
            if arcs.weight[e] > 0.0 and follower[a] >= 0:
                k = group[1, a]
                while k < group[0, a] and state[k] != arcs.target[e]:
                    k += 1
                if k == group[0, a]:
                    group[0, a] += 1
                    state[k] = arcs.target[e]
                    mass[k] = 0.0
                mass[k] += mass[i] * arcs.weight[e]


@njit(cache=True)
def _sort(state, mass, begin, end):  # type: ignore[no-untyped-def]
    for i in range(begin + 1, end):
        q, m, k = state[i], mass[i], i
        while k > begin and state[k - 1] > q:
            state[k], mass[k] = state[k - 1], mass[k - 1]
            k -= 1
        state[k], mass[k] = q, m


@njit(cache=True)
def _same_state(queue, new):  # type: ignore[no-untyped-def]
    """The first node with the same subset up to a factor, and the same state of the acceptor; or the node itself."""
    node, table = queue.node, queue.table
    begin, end = node[new, 3], node[new, 4]
    h = node[new, 2] + 1
    for i in range(begin, end):
        share = int(queue.mass[i] / queue.bound[new] * 1073741824.0 + 0.5)
        h = (h * 1000003 + queue.state[i]) % 2147483647
        h = (h * 1000003 + share) % 2147483647
    place = h & (len(table) - 1)
    while table[place] >= 0:
        old = table[place]
        if node[old, 2] == node[new, 2] and node[old, 4] - node[old, 3] == end - begin:
            shift, equal = node[old, 3] - begin, True
            for i in range(begin, end):
                distance = queue.mass[i] / queue.bound[new] - queue.mass[i + shift] / queue.bound[old]
                equal = equal and queue.state[i] == queue.state[i + shift] and abs(distance) < _EQUAL
            if equal:
                return old
        place = (place + 1) & (len(table) - 1)
    table[place] = new
    return new


@njit(cache=True)
def _put(queue, bound, parent, label, q, begin, end, whole):  # type: ignore[no-untyped-def]
    new = queue.used[0]
    queue.used[0] = new + 1
    node, heap = queue.node, queue.heap
    node[new, 0], node[new, 1], node[new, 2] = parent, label, q
    node[new, 3], node[new, 4], node[new, 5], node[new, 6] = begin, end, whole, 0
    queue.bound[new] = bound
    i = queue.used[1]
    queue.used[1] = i + 1
    while i > 0:
        above = (i - 1) // 2
        if not _before(queue.bound, new, heap[above]):
            break
        heap[i] = heap[above]
        i = above
    heap[i] = new


@njit(cache=True)
def _pop(queue):  # type: ignore[no-untyped-def]
    heap = queue.heap
    best, size = heap[0], queue.used[1] - 1
    queue.used[1] = size
    last, i = heap[size], 0
    while 2 * i + 1 < size:
        below = 2 * i + 1
        if below + 1 < size and _before(queue.bound, heap[below + 1], heap[below]):
            below += 1
        if not _before(queue.bound, heap[below], last):
            break
        heap[i] = heap[below]
        i = below
    heap[i] = last
    return best


@njit(cache=True)
def _before(bound, i, j):  # type: ignore[no-untyped-def]
    return bound[i] > bound[j] or (bound[i] == bound[j] and i > j)
