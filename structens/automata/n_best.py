"""The n best paths by cost (tropical semiring), by recursive enumeration.

Each state keeps the list of its best ways to the end, made only as far as it is asked for: the next one is the least of
a heap with one candidate for each transition, and taking a candidate asks the state it leads to for its next one. The
first list entry of every state comes from one sweep.

Sources: Mohri and Riley, "An efficient algorithm for the n-best-strings problem" (2002); Jiménez and Marzal, "Computing
the K shortest paths: a new algorithm and an experimental comparison" (1999), for the enumeration.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from structens.automata.distinct import best_distinct
from structens.automata.semiring import Semiring
from structens.automata.shortest_path import NO_BEST_PATH
from structens.automata.weights import as_semiring, as_weights
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
    if not 1 <= n < 2**31:
        raise ParameterError(f"n must be a number of paths >= 1; got {n}")
    as_semiring(semiring, (Semiring.TROPICAL,), "n_best", NO_BEST_PATH)
    weight, final = as_weights(automaton, weight, final_weight, Semiring.TROPICAL)
    if distinct:
        return BestPaths(*best_distinct(automaton, weight, final, n))
    offsets, target, size = automaton.offsets, automaton.target, automaton.n_states
    best, step = np.empty(size), np.empty(size, dtype=np.int32)
    count, longest = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    _sweep(offsets, target, weight, final, n, best, (step, count, longest))
    n = min(n, int(count[automaton.start])) if size else 0
    if n == 0:
        raise AutomatonError(f"no path of finite cost leads from start state {automaton.start} to a final state")
    lists = _empty(automaton, n, int(longest[automaton.start]))
    # Entry q is the best way from state q.
    lists.entry_cost[:size], lists.entry[:size, 0], lists.entry[:size, 2] = best, step, _UNKNOWN
    lists.entry[:size, 1] = np.where(step == _STOP, _NONE, target[step]) if len(target) else _NONE
    lists.state[:, 0], lists.state[:, 1], lists.used[0] = _UNKNOWN, np.arange(size), size
    found = np.empty(n, dtype=np.int64)
    _enumerate(offsets, target, weight, final, automaton.start, lists, found)
    lengths = np.empty(n, dtype=np.int64)
    _measure(lists.entry, found, lengths)
    transitions = np.empty(int(lengths.sum()), dtype=np.int64)
    _spell(lists.entry, found, transitions)
    return BestPaths(Ragged.from_lengths(transitions, lengths), lists.entry_cost[found])


def _empty(automaton: Automaton, n: int, longest: int) -> _Lists:
    """As large as the worst case needs; pages that are never touched cost nothing."""
    n_entries = automaton.n_states + (n - 1) * (longest + 1)
    n_nodes = automaton.n_transitions + n_entries
    number = np.int32 if n_nodes < 2**31 else np.int64
    return _Lists(
        np.empty((n_entries, 3), dtype=number),
        np.empty(n_entries),
        np.empty((n_nodes, 4), dtype=number),
        np.empty(n_nodes),
        np.empty((automaton.n_states, 2), dtype=number),
        np.zeros(2, dtype=np.int64),
    )


class _Lists(NamedTuple):
    """The lists and heaps of all states, as arrays."""

    entry: NDArray[Any]  # transition or _STOP, entry that goes on from there, next entry of the same state
    entry_cost: NDArray[np.float64]
    node: NDArray[Any]  # of a skew heap: transition or _STOP, entry, left, right
    node_cost: NDArray[np.float64]
    state: NDArray[Any]  # root of the heap, last entry of the list
    used: NDArray[np.int64]  # entries, nodes


_STOP = -1
_NONE = -1
_UNKNOWN = -2
"""Root of a heap not made yet; next entry not asked for yet."""


@njit(cache=True)
def _sweep(offsets, target, weight, final, limit, best, others):  # type: ignore[no-untyped-def]
    """Of each state: least cost to the end and how it is got; paths of finite cost, at most `limit`; longest path."""
    step, count, longest = others
    stop = np.uint64(offsets[len(final)])
    for q in range(len(final) - 1, -1, -1):
        start, low, chosen = np.uint64(offsets[q]), final[q], np.int64(_STOP)
        ways, hops = np.int64(low < np.inf), np.int64(0)
        for k in range(stop - start):
            e = start + np.uint64(k)
            r = np.uint64(target[e])
            cost = weight[e] + best[r]
            if cost < low:
                low, chosen = cost, np.int64(e)
            if cost < np.inf:
                ways += np.int64(count[r])
                hops = max(hops, np.int64(longest[r]) + 1)
        best[q], step[q], count[q], longest[q] = low, chosen, min(ways, limit), hops
        stop = start


@njit(cache=True)
def _enumerate(offsets, target, weight, final, start, lists, found):  # type: ignore[no-untyped-def]
    entry, state = lists.entry, lists.state
    stack = np.empty(len(final), dtype=np.int64)
    found[0] = start
    for i in range(1, len(found)):
        # Down: each state asks the one that its last entry leads to, until one needs no further answer.
        depth, q = 0, start
        while True:
            stack[depth] = q
            depth += 1
            if state[q, 0] == _UNKNOWN:
                _open(offsets, target, weight, final, q, lists)
            last = state[q, 1]
            if entry[last, 0] == _STOP or entry[entry[last, 1], 2] != _UNKNOWN:
                break
            q = target[entry[last, 0]]
        # Up: each state takes the answer as a candidate, and its best candidate as its next entry.
        while depth > 0:
            depth -= 1
            q = stack[depth]
            last = state[q, 1]
            e = entry[last, 0]
            if e != _STOP and entry[entry[last, 1], 2] != _NONE:
                tail = entry[entry[last, 1], 2]
                _add(q, weight[e] + lists.entry_cost[tail], e, tail, lists)
            _take(q, lists)
        found[i] = state[start, 1]


@njit(cache=True)
def _open(offsets, target, weight, final, q, lists):  # type: ignore[no-untyped-def]
    """Make the heap of state q: every way on but the one already taken."""
    lists.state[q, 0] = _NONE
    taken = lists.entry[q, 0]
    if taken != _STOP and final[q] < np.inf:
        _add(q, final[q], _STOP, _NONE, lists)
    for e in range(offsets[q], offsets[q + 1]):
        cost = weight[e] + lists.entry_cost[target[e]]
        if e != taken and cost < np.inf:
            _add(q, cost, e, target[e], lists)


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
def _measure(entry, found, lengths):  # type: ignore[no-untyped-def]
    for i in range(len(found)):
        at, lengths[i] = found[i], 0
        while entry[at, 0] != _STOP:
            lengths[i] += 1
            at = entry[at, 1]


@njit(cache=True)
def _spell(entry, found, transitions):  # type: ignore[no-untyped-def]
    place = 0
    for i in range(len(found)):
        at = found[i]
        while entry[at, 0] != _STOP:
            transitions[place] = entry[at, 0]
            place += 1
            at = entry[at, 1]
