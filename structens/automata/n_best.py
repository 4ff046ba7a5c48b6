"""The n best paths by cost (tropical semiring), by recursive enumeration.

Each state keeps the list of its best ways to the end, made only as far as it is asked for: the next one is the least of
a heap with one candidate for each transition, and taking a candidate asks the state it leads to for its next one. The
first list entry of every state comes from one sweep.

Sources: Mohri and Riley, "An efficient algorithm for the n-best-strings problem" (2002); Jiménez and Marzal, "Computing
the K shortest paths: a new algorithm and an experimental comparison" (1999), for the enumeration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from structens.automata.distinct import best_distinct
from structens.automata.semiring import Semiring
from structens.automata.shortest_distance import distance_to_end
from structens.automata.shortest_path import NO_BEST_PATH
from structens.automata.weights import as_semiring, as_weights, is_count
from structens.core import Automaton, AutomatonError, ParameterError, Ragged


class BestPaths(NamedTuple):
    """Paths from the best on.

    Attributes
    ----------
    paths : Ragged of int64
        Transition numbers of each path.
    weight : ndarray of float64, shape (n,)
        Cost of each path, final weight included; never decreasing.
    """

    paths: Ragged
    weight: NDArray[np.float64]


def n_best(
    automaton: Automaton,
    weight: ArrayLike,
    n: int,
    final_weight: ArrayLike | None = None,
    semiring: Semiring = Semiring.TROPICAL,
    *,
    distinct: bool = False,
) -> BestPaths:
    """The n accepting paths of least cost, or all of them if there are fewer.

    Parameters
    ----------
    automaton : Automaton
    weight : array_like, shape (n_transitions,)
        Costs.
    n : int
        At least 1.
    final_weight : array_like, shape (n_states,), or None
    semiring : Semiring
        TROPICAL.
    distinct : bool
        True: n different strings (labels read, EPSILON left out), each by its best path.

    Returns
    -------
    BestPaths
        Exactly ``min(n, number of paths of finite cost)`` paths; ties as in `shortest_path`. Paths differ in
        transitions; their labels may be the same. If `distinct`, ``min(n, number of strings of finite cost)`` paths;
        strings of equal cost in the order of their labels. Which of those that tie for the last places are listed is
        decided by labels too, never by the order of transitions.

    Raises
    ------
    AutomatonError
        If there is no accepting path of finite cost.
    DataError
        If the weights do not fit.
    ParameterError
        If n is less than 1, or the semiring has no path property.

    References
    ----------
    Jiménez and Marzal (1999), figure 3; Mohri and Riley (2002) for strings.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 9)], final=[2])
    >>> best = n_best(a, [3.0, 2.0, 5.0], 5)
    >>> best.paths.to_list(), best.weight.tolist()
    ([[1, 2], [0, 2]], [7.0, 8.0])
    >>> same = Automaton.from_transitions([(0, 1, 7), (0, 1, 7)], final=[1])
    >>> len(n_best(same, [1.0, 2.0], 5).paths), len(n_best(same, [1.0, 2.0], 5, distinct=True).paths)
    (2, 1)
    """
    if not is_count(n, 1):
        raise ParameterError(f"n must be a number of paths >= 1; got {n!r}")
    as_semiring(semiring, (Semiring.TROPICAL,), "n_best", NO_BEST_PATH)
    weight, final = as_weights(automaton, weight, final_weight, Semiring.TROPICAL)
    if distinct:
        return BestPaths(*best_distinct(automaton, weight, final, n))
    offsets, target, start, size = automaton.offsets, automaton.target, automaton.start, automaton.n_states
    best = distance_to_end(offsets, target, weight, final, Semiring.TROPICAL)
    if size == 0 or best[start] == np.inf:
        raise AutomatonError(f"no path of finite cost leads from start state {start} to a final state")
    n = int(_count(offsets, target, weight, final, best, start, n))
    lists = _empty(automaton, n)
    lists.entry_cost[:size] = best
    found = np.full(n, start, dtype=np.int64)
    n_found = 1
    while (n_found := _enumerate(offsets, target, weight, final, start, lists, found, n_found)) < n:
        lists = _larger(lists)
    lengths = np.empty(n, dtype=np.int64)
    _measure(offsets, target, weight, final, lists, found, lengths)
    transitions = np.empty(int(lengths.sum()), dtype=np.int64)
    _spell(lists.entry, found, transitions)
    return BestPaths(Ragged.from_lengths(transitions, lengths), lists.entry_cost[found])


class _Lists(NamedTuple):
    """The lists and heaps of all states, as arrays. Entry q is the best way from state q, written when first needed."""

    entry: NDArray[np.int32]  # transition or _STOP, entry that goes on from there, next entry of the same state
    entry_cost: NDArray[np.float64]
    node: NDArray[np.int32]  # of a skew heap: transition or _STOP, entry, left, right
    node_cost: NDArray[np.float64]
    state: NDArray[np.int32]  # root of the heap, last entry of the list, 1 if the best way is written
    used: NDArray[np.int64]  # entries, nodes


_STOP = -1
_NONE = -1
_UNKNOWN = 0
"""Root of a heap not made yet; next entry not asked for yet. No such node or entry has this number."""


def _empty(automaton: Automaton, n: int) -> _Lists:
    """Pages that are never touched cost nothing, so zeros are asked of the system, not written."""
    size = automaton.n_states
    n_entries = size + min((n - 1) * (size + 1), 1 << 16) + 1
    n_nodes = 1 + min(automaton.n_transitions + n_entries, 1 << 16)
    return _Lists(
        np.zeros((n_entries, 3), dtype=np.int32),
        np.empty(n_entries),
        np.empty((n_nodes, 4), dtype=np.int32),
        np.empty(n_nodes),
        np.zeros((size, 3), dtype=np.int32),
        np.array([max(1, size), 1], dtype=np.int64),
    )


def _larger(lists: _Lists) -> _Lists:
    """Room for twice as many entries and nodes."""
    n_entries, n_nodes = lists.used
    if max(len(lists.entry), len(lists.node)) >= 2**30:
        raise AutomatonError("so many paths of this length cannot be listed; ask for fewer")
    entry, node = (np.zeros((2 * len(old), old.shape[1]), np.int32) for old in (lists.entry, lists.node))
    entry_cost, node_cost = np.empty(len(entry)), np.empty(len(node))
    entry[:n_entries], entry_cost[:n_entries] = lists.entry[:n_entries], lists.entry_cost[:n_entries]
    node[:n_nodes], node_cost[:n_nodes] = lists.node[:n_nodes], lists.node_cost[:n_nodes]
    return lists._replace(entry=entry, entry_cost=entry_cost, node=node, node_cost=node_cost)


@njit(cache=True)
def _count(offsets, target, weight, final, best, start, limit):  # type: ignore[no-untyped-def]
    """Number of accepting paths of finite cost, at most `limit`: a walk in depth that meets no dead end."""
    state, at = np.empty(len(final), dtype=np.int64), np.empty(len(final), dtype=np.int64)
    state[0], at[0], depth = start, offsets[start], 1
    count = np.int64(final[start] < np.inf)
    while depth > 0 and count < limit:
        q, e = state[depth - 1], at[depth - 1]
        if e == offsets[q + 1]:
            depth -= 1
            continue
        at[depth - 1] = e + 1
        r = np.int64(target[e])
        if weight[e] + best[r] < np.inf:
            state[depth], at[depth] = r, offsets[r]
            depth += 1
            count += np.int64(final[r] < np.inf)
    return count


@njit(cache=True)
def _write(offsets, target, weight, final, q, entry, entry_cost, state):  # type: ignore[no-untyped-def]
    """Entry q: the first of the ways that attain the least cost."""
    state[q, 2] = 1
    entry[q, 0], entry[q, 1] = _STOP, _NONE
    if final[q] > entry_cost[q]:
        for e in range(offsets[q], offsets[q + 1]):
            if weight[e] + entry_cost[target[e]] == entry_cost[q]:
                entry[q, 0], entry[q, 1] = e, target[e]
                return


@njit(cache=True)
def _enumerate(offsets, target, weight, final, start, lists, found, n_found):  # type: ignore[no-untyped-def]
    """Find paths until all are found or there is no room for more; returns how many there are then."""
    entry, entry_cost, state, used = lists.entry, lists.entry_cost, lists.state, lists.used
    stack = np.empty(len(final), dtype=np.int64)
    for i in range(n_found, len(found)):
        # Down: each state asks the one that its last entry leads to, until one needs no further answer.
        depth, q = 0, np.int64(start)
        while True:
            stack[depth] = q
            depth += 1
            if state[q, 0] == _UNKNOWN:
                if used[1] + offsets[q + 1] - offsets[q] + 1 > len(lists.node):
                    return i
                if state[q, 2] == 0:
                    _write(offsets, target, weight, final, q, entry, entry_cost, state)
                _open(offsets, target, weight, final, q, lists)
            last = state[q, 1]
            if entry[last, 0] == _STOP or entry[entry[last, 1], 2] != _UNKNOWN:
                break
            q = np.int64(target[entry[last, 0]])
        if used[0] + depth > len(entry) or used[1] + depth > len(lists.node):
            return i
        # Up: each state takes the answer as a candidate, and its best candidate as its next entry.
        while depth > 0:
            depth -= 1
            q = stack[depth]
            last = state[q, 1]
            e = entry[last, 0]
            if e != _STOP and entry[entry[last, 1], 2] != _NONE:
                tail = entry[entry[last, 1], 2]
                _add(q, weight[e] + entry_cost[tail], np.int64(e), np.int64(tail), lists)
            _take(q, lists)
        found[i] = state[start, 1]
    return len(found)


@njit(cache=True)
def _open(offsets, target, weight, final, q, lists):  # type: ignore[no-untyped-def]
    """Make the heap of state q: every way on but the one already taken."""
    lists.state[q, 0], lists.state[q, 1] = _NONE, q
    taken = lists.entry[q, 0]
    if taken != _STOP and final[q] < np.inf:
        _add(q, final[q], np.int64(_STOP), np.int64(_NONE), lists)
    for e in range(offsets[q], offsets[q + 1]):
        cost = weight[e] + lists.entry_cost[target[e]]
        if e != taken and cost < np.inf:
            _add(q, cost, np.int64(e), np.int64(target[e]), lists)


@njit(cache=True)
def _add(q, cost, transition, tail, lists):  # type: ignore[no-untyped-def]
    new = lists.used[1]
    lists.used[1] += 1
    lists.node_cost[new] = cost
    lists.node[new, 0] = transition
    lists.node[new, 1] = tail
    lists.node[new, 2] = _NONE
    lists.node[new, 3] = _NONE
    lists.state[q, 0] = _merge(lists.state[q, 0], new, lists.node, lists.node_cost)


@njit(cache=True)
def _take(q, lists):  # type: ignore[no-untyped-def]
    """Move the least candidate of state q to the end of its list; mark the end where there is none."""
    entry, node = lists.entry, lists.node
    last, root = lists.state[q, 1], lists.state[q, 0]
    if root == _NONE:
        entry[last, 2] = _NONE
        return
    new = lists.used[0]
    lists.used[0] += 1
    entry[new, 0] = node[root, 0]
    entry[new, 1] = node[root, 1]
    entry[new, 2] = _UNKNOWN
    lists.entry_cost[new] = lists.node_cost[root]
    entry[last, 2] = new
    lists.state[q, 1] = new
    lists.state[q, 0] = _merge(node[root, 2], node[root, 3], node, lists.node_cost)


@njit(cache=True)
def _merge(a, b, node, cost):  # type: ignore[no-untyped-def]
    """Merge two skew heaps, from the top down; less is a lower cost, then a lower transition."""
    top, above = _NONE, _NONE
    while min(a, b) > _NONE:
        if cost[b] < cost[a] or (cost[b] == cost[a] and node[b, 0] < node[a, 0]):
            a, b = b, a
        if above == _NONE:
            top = a
        else:
            node[above, 2] = a
        right = node[a, 3]
        node[a, 3] = node[a, 2]
        above = a
        a = right
    rest = b if a == _NONE else a
    if above == _NONE:
        return rest
    node[above, 2] = rest
    return top


@njit(cache=True)
def _measure(offsets, target, weight, final, lists, found, lengths):  # type: ignore[no-untyped-def]
    """Lengths of the paths; the best ways that they end with are written on the way."""
    entry, entry_cost, state = lists.entry, lists.entry_cost, lists.state
    for i in range(len(found)):
        at, lengths[i] = found[i], 0
        while True:
            if at < len(final) and state[at, 2] == 0:
                _write(offsets, target, weight, final, at, entry, entry_cost, state)
            if entry[at, 0] == _STOP:
                break
            lengths[i] += 1
            at = np.int64(entry[at, 1])


@njit(cache=True)
def _spell(entry, found, transitions):  # type: ignore[no-untyped-def]
    place = 0
    for i in range(len(found)):
        at = found[i]
        while entry[at, 0] != _STOP:
            transitions[place] = entry[at, 0]
            place += 1
            at = entry[at, 1]
