"""Kernels of the search for different strings; see `distinct`.

No kernel makes an array larger: the search stops when one is full and does its last step again when called anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.core import EPSILON


class Machine(NamedTuple):
    """Transitions sorted by label within each state."""

    offsets: NDArray[np.int64]
    target: NDArray[np.int32]
    label: NDArray[np.int32]
    weight: NDArray[np.float64]
    final: NDArray[np.float64]
    distance: NDArray[np.float64]
    order: NDArray[np.int32]


class Search(NamedTuple):
    """Where the search is."""

    node: NDArray[np.int32]  # prefix without the last label (a start state: none), last label, length
    node_cost: NDArray[np.float64]
    heap: NDArray[np.int32]  # of nodes
    prefix: NDArray[np.int64]  # where the entries of a prefix that has been read begin
    entry: NDArray[np.int32]  # state, transition that led here, entry it came from
    entry_cost: NDArray[np.float64]
    found: NDArray[np.int32]  # last entry of each string
    best: NDArray[np.float64]  # heap, the highest on top, of the n least bounds of different strings
    of_state: NDArray[np.int64]  # mark, entry
    of_label: NDArray[np.float64]  # least cost with each label
    labels: NDArray[np.int32]  # those that occur
    progress: NDArray[np.int64]


ROOT, _END = -3, -2
"""In place of a last label: the empty prefix; nothing follows. A string that stops comes before those that go on."""
_NODES, _HEAP, _PREFIXES, _ENTRIES, FOUND, _BEST, _MARK = range(7)
_FULL_NODES, _FULL_PREFIXES, _FULL_ENTRIES = 1, 2, 3
_SAME = 1e-12
"""Bounds that differ by less, relatively, are those of one path added up in another order."""


def empty(n_states: int, n_labels: int, n: int) -> Search:
    """A search that has not begun: one node, the empty prefix, whose fields the caller fills in."""
    progress = np.zeros(7, dtype=np.int64)
    progress[[_NODES, _HEAP, _BEST]] = 1
    return Search(
        node=np.empty((4096, 3), dtype=np.int32),
        node_cost=np.empty(4096),
        heap=np.zeros(4096, dtype=np.int32),
        prefix=np.zeros(4097, dtype=np.int64),
        entry=np.empty((8192, 3), dtype=np.int32),
        entry_cost=np.empty(8192),
        found=np.empty(n, dtype=np.int32),
        best=np.empty(n),
        of_state=np.zeros((n_states, 2), dtype=np.int64),
        of_label=np.full(n_labels, np.inf),
        labels=np.empty(n_labels, dtype=np.int32),
        progress=progress,
    )


def larger(search: Search, status: int) -> Search:
    """Make room for twice as many of what there was no room for."""
    names = {
        _FULL_NODES: ("node", "node_cost", "heap"),
        _FULL_PREFIXES: ("prefix",),
        _FULL_ENTRIES: ("entry", "entry_cost"),
    }[status]
    more = {}
    for name in names:
        array = getattr(search, name)
        more[name] = np.empty((2 * len(array), *array.shape[1:]), dtype=array.dtype)
        more[name][: len(array)] = array
    return search._replace(**more)


@njit(cache=True)
def search_strings(machine, search):  # type: ignore[no-untyped-def]
    """Until n strings are found, nothing is left, or an array is full; then the last step is done again."""
    progress, found, node, node_cost, heap = search.progress, search.found, search.node, search.node_cost, search.heap
    while progress[FOUND] < len(found) and progress[_HEAP] > 0:
        top = heap[0]
        before, label = node[top, 0], node[top, 1]
        if label == _END:
            found[progress[FOUND]] = _last(search.entry, search.entry_cost, search.prefix, machine.final, before)
            progress[FOUND] += 1
            progress[_HEAP] = _pop(heap, progress[_HEAP], node, node_cost)
            continue
        if progress[_PREFIXES] + 2 >= len(search.prefix):
            return _FULL_PREFIXES
        size = _read(machine, search, before, label)
        if size < 0:
            return _FULL_ENTRIES
        n_labels = _offer(machine, search, progress[_ENTRIES], size)
        if progress[_NODES] + n_labels + 1 > len(node):
            for i in range(n_labels):
                search.of_label[search.labels[i]] = np.inf
            return _FULL_NODES
        cost, length = node_cost[top], node[top, 2]
        progress[_HEAP] = _pop(heap, progress[_HEAP], node, node_cost)
        ending = np.inf
        for i in range(progress[_ENTRIES], size):
            ending = min(ending, search.entry_cost[i] + machine.final[search.entry[i, 0]])
        _extend(search, cost, length, ending, n_labels)
        progress[_ENTRIES] = size
        progress[_PREFIXES] += 1
        search.prefix[progress[_PREFIXES]] = size
    return 0


@njit(cache=True)
def _last(entry, entry_cost, prefix, final, before):  # type: ignore[no-untyped-def]
    """Entry of a prefix with which it is cheapest to stop."""
    best = prefix[before]
    for i in range(prefix[before], prefix[before + 1]):
        if entry_cost[i] + final[entry[i, 0]] < entry_cost[best] + final[entry[best, 0]]:
            best = i
    return best


@njit(cache=True)
def _read(machine, search, before, label):  # type: ignore[no-untyped-def]
    """Entries of the prefix with one label more; returns where they end, -1 if there is no room."""
    offsets, target, labels, weight = machine.offsets, machine.target, machine.label, machine.weight
    entry, entry_cost, progress, marks = search.entry, search.entry_cost, search.progress, search.of_state
    distance, prefix = machine.distance, search.prefix
    begin = progress[_ENTRIES]
    size = begin
    progress[_MARK] += 1
    mark = progress[_MARK]
    limit = search.best[0] + _SAME * (1 + abs(search.best[0])) if progress[_BEST] == len(search.best) else np.inf
    if label == ROOT:
        size = _relax(entry, entry_cost, marks, mark, size, before, 0.0, np.int64(-1), np.int64(-1))
    else:
        for i in range(prefix[before], prefix[before + 1]):
            q = entry[i, 0]
            low = _first(labels, offsets[q], offsets[q + 1], label)
            while low < offsets[q + 1] and labels[low] == label:
                cost = entry_cost[i] + weight[low]
                if cost + distance[target[low]] < np.inf and cost + distance[target[low]] <= limit:
                    if size == len(entry):
                        return -1
                    size = _relax(entry, entry_cost, marks, mark, size, target[low], cost, low, i)
                low += 1
    again = True
    while again:  # what reads nothing; again where an entry already passed has become cheaper
        again = False
        i = begin
        while i < size:
            q = entry[i, 0]
            e = offsets[q]
            while e < offsets[q + 1] and labels[e] == EPSILON:
                cost, r = entry_cost[i] + weight[e], target[e]
                if cost + distance[r] < np.inf and cost + distance[r] <= limit:
                    if size == len(entry):
                        return -1
                    if marks[r, 0] == mark and marks[r, 1] < i and cost < entry_cost[marks[r, 1]]:
                        again = True
                    size = _relax(entry, entry_cost, marks, mark, size, r, cost, e, i)
                e += 1
            i += 1
    return size


@njit(cache=True)
def _relax(entry, entry_cost, marks, mark, size, q, cost, transition, origin):  # type: ignore[no-untyped-def]
    """Reach a state at a cost; the new number of entries."""
    if marks[q, 0] == mark:
        at = marks[q, 1]
        if cost >= entry_cost[at]:
            return size
    else:
        at = size
        size += 1
        marks[q, 0], marks[q, 1] = mark, at
    entry[at, 0], entry[at, 1], entry[at, 2], entry_cost[at] = q, transition, origin, cost
    return size


@njit(cache=True)
def _first(labels, low, high, wanted):  # type: ignore[no-untyped-def]
    while low < high:
        middle = (low + high) // 2
        if labels[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def _offer(machine, search, begin, size):  # type: ignore[no-untyped-def]
    """Least cost of a string that goes on with each label; returns how many labels there are."""
    offsets, target, label, weight = machine.offsets, machine.target, machine.label, machine.weight
    distance, entry, entry_cost = machine.distance, search.entry, search.entry_cost
    of_label, labels = search.of_label, search.labels
    n_labels = 0
    for i in range(begin, size):
        q, paid = entry[i, 0], entry_cost[i]
        for e in range(offsets[q], offsets[q + 1]):
            a = label[e]
            cost = paid + weight[e] + distance[target[e]]
            if a != EPSILON and cost < of_label[a]:
                if of_label[a] == np.inf:
                    labels[n_labels] = a
                    n_labels += 1
                of_label[a] = cost
    return n_labels


@njit(cache=True)
def _extend(search, cost, length, ending, n_labels):  # type: ignore[no-untyped-def]
    """New nodes for the end and for each label, unless n better strings are known. The cheapest inherits `cost`."""
    of_label, labels, best, progress = search.of_label, search.labels, search.best, search.progress
    node, node_cost, heap = search.node, search.node_cost, search.heap
    heir = -1
    least = ending
    for i in range(n_labels):
        if of_label[labels[i]] < least or (of_label[labels[i]] == least and heir >= 0 and labels[i] < labels[heir]):
            heir, least = i, of_label[labels[i]]
    for i in range(-1, n_labels):
        bound = ending
        if i >= 0:
            bound = of_label[labels[i]]
            of_label[labels[i]] = np.inf
        if bound == np.inf:
            continue
        if i == heir or bound - cost <= _SAME * (1 + abs(cost)):
            bound = cost
        if i != heir:
            if progress[_BEST] == len(best):
                if bound > best[0]:
                    continue
                _lower(best, bound)
            else:
                progress[_BEST] = _raise(best, progress[_BEST], bound)
        new = progress[_NODES]
        progress[_NODES] += 1
        node[new, 0], node[new, 1] = progress[_PREFIXES], _END if i < 0 else labels[i]
        node[new, 2], node_cost[new] = length + 1, bound
        progress[_HEAP] = _push(heap, progress[_HEAP], new, node, node_cost)


@njit(cache=True)
def _raise(best, size, value):  # type: ignore[no-untyped-def]
    """Add a value to the heap with the highest on top."""
    at = size
    while at > 0 and best[(at - 1) >> 1] < value:
        best[at] = best[(at - 1) >> 1]
        at = (at - 1) >> 1
    best[at] = value
    return size + 1


@njit(cache=True)
def _lower(best, value):  # type: ignore[no-untyped-def]
    """Put a value in place of the highest."""
    at = 0
    while 2 * at + 1 < len(best):
        child = 2 * at + 1
        if child + 1 < len(best) and best[child + 1] > best[child]:
            child += 1
        if best[child] <= value:
            break
        best[at] = best[child]
        at = child
    best[at] = value


@njit(cache=True)
def _before(a, b, node, cost):  # type: ignore[no-untyped-def]
    """Lower bound first, then the longer prefix, the lower last label, the older node."""
    if cost[a] != cost[b]:
        return cost[a] < cost[b]
    if node[a, 2] != node[b, 2]:
        return node[a, 2] > node[b, 2]
    if node[a, 1] != node[b, 1]:
        return node[a, 1] < node[b, 1]
    return a < b


@njit(cache=True)
def _push(heap, size, new, node, cost):  # type: ignore[no-untyped-def]
    at = size
    while at > 0 and _before(new, heap[(at - 1) >> 1], node, cost):
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = new
    return size + 1


@njit(cache=True)
def _pop(heap, size, node, cost):  # type: ignore[no-untyped-def]
    size -= 1
    value, at = heap[size], 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _before(heap[child + 1], heap[child], node, cost):
            child += 1
        if not _before(heap[child], value, node, cost):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value
    return size


@njit(cache=True)
def measure(found, entry, entry_cost, final, lengths, cost):  # type: ignore[no-untyped-def]
    """Length and cost of the path behind each string."""
    for i in range(len(found)):
        at = found[i]
        cost[i] = entry_cost[at] + final[entry[at, 0]]
        lengths[i] = 0
        while entry[at, 1] >= 0:
            lengths[i] += 1
            at = entry[at, 2]


@njit(cache=True)
def spell(found, entry, order, lengths, transitions):  # type: ignore[no-untyped-def]
    """Transitions of the path behind each string."""
    end = 0
    for i in range(len(found)):
        end += lengths[i]
        at, place = found[i], end
        while entry[at, 1] >= 0:
            place -= 1
            transitions[place] = order[entry[at, 1]]
            at = entry[at, 2]
