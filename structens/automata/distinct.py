"""The n best different strings by cost (tropical semiring): best first over prefixes, determinising on the way.

A node of the search is a prefix, with the states it leads to and the least cost of each. Its bound, the least sum of
such a cost and the state's distance to the end, is exact: the best string that begins so costs just that. So the search
goes straight from one string to the next, and reads at most n times the length of a string prefixes, whatever the size
of the deterministic automaton. What cannot be among the n best any more is dropped at once.

Source: Mohri and Riley, "An efficient algorithm for the n-best-strings problem" (2002).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structens.automata.distinct_kernels import FOUND, ROOT, Machine, empty, larger, measure, search_strings, spell
from structens.automata.semiring import Semiring
from structens.automata.shortest_distance import distance_to_end
from structens.core import EPSILON, Automaton, AutomatonError, Ragged


def best_distinct(
    automaton: Automaton, weight: NDArray[np.float64], final: NDArray[np.float64], n: int
) -> tuple[Ragged, NDArray[np.float64]]:
    """Best path and cost of each of the n best strings; the arrays are checked already. See `n_best`.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 7), (0, 1, 8)], final=[1])
    >>> paths, cost = best_distinct(a, np.array([2.0, 1.0, 3.0]), np.array([np.inf, 0.0]), 5)
    >>> paths.to_list(), cost.tolist()
    ([[1], [2]], [1.0, 3.0])
    """
    distance = distance_to_end(automaton.offsets, automaton.target, weight, final, Semiring.TROPICAL)
    if automaton.n_states == 0 or distance[automaton.start] == np.inf:
        raise AutomatonError(f"no path of finite cost leads from start state {automaton.start} to a final state")
    label = automaton.label
    if label.max(initial=0) > 4 * len(label) + 1024:
        label = (np.unique(label, return_inverse=True)[1] - (label.min() == EPSILON)).astype(np.int32)
    key = automaton.source * (int(label.max(initial=0)) + 2) + label.astype(np.int64)
    order = np.argsort(key, kind="stable").astype(np.int32)
    machine = Machine(automaton.offsets, automaton.target[order], label[order], weight[order], final, distance, order)
    search = empty(automaton.n_states, int(label.max(initial=0)) + 1, n)
    search.node_cost[0] = distance[automaton.start]
    search.node[0] = automaton.start, ROOT, 0
    search.best[0] = distance[automaton.start]
    while status := search_strings(machine, search):
        search = larger(search, status)
    n_found = int(search.progress[FOUND])
    lengths = np.empty(n_found, dtype=np.int64)
    cost = np.empty(n_found)
    measure(search.found[:n_found], search.entry, search.entry_cost, final, lengths, cost)
    transitions = np.empty(int(lengths.sum()), dtype=np.int64)
    spell(search.found[:n_found], search.entry, order, lengths, transitions)
    paths = Ragged.from_lengths(transitions, lengths)
    return _sorted(automaton, paths, cost)


def _sorted(automaton: Automaton, paths: Ragged, cost: NDArray[np.float64]) -> tuple[Ragged, NDArray[np.float64]]:
    """Equal costs by their labels, so that nothing depends on the order of transitions."""
    order = np.argsort(cost, kind="stable")
    ties = np.flatnonzero(np.diff(cost[order]) == 0)
    if len(ties):
        tied = set(order[ties].tolist()) | set(order[ties + 1].tolist())
        strings = {i: automaton.label[paths[i]] for i in tied}
        keys = {i: (float(cost[i]), s[s != EPSILON].tolist()) for i, s in strings.items()}
        order = np.array(sorted(order.tolist(), key=lambda i: keys.get(i, (float(cost[i]), []))), dtype=np.int64)
    if (order == np.arange(len(order))).all():
        return paths, cost
    chosen = [paths[i] for i in order.tolist()]
    return Ragged.from_lengths(np.concatenate(chosen), np.array([len(c) for c in chosen])), cost[order]
