"""Epsilon removal: the same weighted strings without transitions that read and write nothing.

From each state a sweep over what it reaches by EPSILON alone, in topological order, gives the weight of getting there;
the transitions from there that say something become its own. Equal ones are added.

Source: Mohri, "Generic epsilon-removal and input epsilon-normalization algorithms for weighted transducers" (2002).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.automata.semiring import Semiring
from structens.automata.trusted import trusted
from structens.automata.weighted import WeightedAutomaton, trimmed
from structens.core import EPSILON, Automaton


def remove_epsilon(weighted: WeightedAutomaton, semiring: Semiring = Semiring.LOG) -> WeightedAutomaton:
    """Remove the transitions whose label (and output) is EPSILON, and trim.

    Equal transitions between the same two states become one, with the sum of their weights. The number of transitions
    can grow as the square of the number of states.

    Parameters
    ----------
    weighted : WeightedAutomaton
    semiring : Semiring

    Raises
    ------
    DataError
        If the weights do not fit.

    References
    ----------
    Mohri (2002), section 3, for acyclic automata.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, EPSILON), (0, 1, 7), (1, 2, 8)], final=[2])
    >>> free = remove_epsilon(WeightedAutomaton(a, [0.5, 1.0, 0.5]), Semiring.REAL)
    >>> free.automaton.label.tolist(), free.weight.tolist()
    ([7, 8, 8], [1.0, 0.25, 0.5])
    """
    automaton, weight, final = trimmed(weighted, semiring)
    output = automaton.label if automaton.output is None else automaton.output
    silent = (automaton.label == EPSILON) & (output == EPSILON)
    n = automaton.n_states
    quiet, loud = (_part(automaton, weight, which) for which in (silent, ~silent))
    final_weight = final.copy()
    counts = np.empty(n, dtype=np.int64)
    none = np.empty(0, dtype=np.int64), np.empty(0)
    _close(quiet, loud, counts, final, final_weight, int(semiring), none)
    made = np.empty(int(counts.sum()), dtype=np.int64), np.empty(int(counts.sum()))
    _close(quiet, loud, counts, final, final_weight, int(semiring), made)
    source, transition = np.repeat(np.arange(n), counts), made[0]
    columns = source, automaton.label[transition], output[transition], automaton.target[transition]
    order, starts = _groups(columns, n)
    summed = _sums(made[1][order], starts, semiring)
    first = transition[order[starts]]  # of each group
    source = source[order[starts]]
    free = trusted(
        np.concatenate([[0], np.cumsum(np.bincount(source, minlength=n))]).astype(np.int64),
        automaton.target[first],
        automaton.label[first],
        final_weight != semiring.zero,
        automaton.start,
        None if automaton.output is None else output[first],
    )
    return WeightedAutomaton(*trimmed(WeightedAutomaton(free, summed, final_weight), semiring))


class _Part(NamedTuple):
    """Some of the transitions, by state."""

    offsets: NDArray[np.int64]
    target: NDArray[np.int32]
    weight: NDArray[np.float64]
    transition: NDArray[np.int64]


def _part(automaton: Automaton, weight: NDArray[np.float64], which: NDArray[np.bool_]) -> _Part:
    transition = np.flatnonzero(which)
    offsets = np.concatenate([[0], np.cumsum(which)])[automaton.offsets]
    return _Part(offsets, automaton.target[transition], weight[transition], transition)


def _groups(columns: tuple[NDArray[Any], ...], n_states: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Order by source, label, output and target, and where each group of equal transitions begins in it."""
    source, label, written, target = columns
    n_labels, n_written = int(label.max(initial=-1)) + 2, int(written.max(initial=-1)) + 2
    if float(n_states) ** 2 * n_labels * n_written < 2**62:
        key = ((source.astype(np.int64) * n_labels + label + 1) * n_written + written + 1) * n_states + target
        order = np.argsort(key, kind="stable")
        differs = np.diff(key[order]) != 0
    else:
        order = np.lexsort((target, written, label, source))
        differs = np.logical_or.reduce([np.diff(column[order]) != 0 for column in columns])
    return order, np.flatnonzero(np.concatenate([[True], differs])) if len(order) else order


def _sums(weight: NDArray[np.float64], starts: NDArray[np.int64], semiring: Semiring) -> NDArray[np.float64]:
    if len(starts) == len(weight):
        return weight
    if semiring is Semiring.LOG:
        summed: NDArray[np.float64] = -np.logaddexp.reduceat(-weight, starts)
        return summed
    add: Any = np.minimum if semiring is Semiring.TROPICAL else np.add
    summed = add.reduceat(weight, starts)
    return summed


@njit(cache=True)
def _close(quiet, loud, counts, final, final_weight, semiring, made):  # type: ignore[no-untyped-def]
    """Count the transitions of each state without EPSILON, and write them (number and weight) if there is room."""
    quiet_offsets, quiet_target, quiet_weight = quiet.offsets, quiet.target, quiet.weight
    loud_offsets, loud_weight, loud_transition = loud.offsets, loud.weight, loud.transition
    n = len(counts)
    heap, cost, mark = np.empty(n, dtype=np.int64), np.empty(n), np.full(n, -1, dtype=np.int64)
    transition, weight = made
    at, room = 0, len(transition)
    for q in range(n):
        counts[q], final_weight[q] = 0, 0.0 if semiring == _REAL else np.inf
        heap[0], size, mark[q], cost[q] = q, 1, q, 1.0 if semiring == _REAL else 0.0
        while size > 0:  # the lowest state first: nothing can lead to it any more
            s = heap[0]
            size = _pop(heap, size)
            paid = cost[s]
            final_weight[q] = _plus(semiring, final_weight[q], _times(semiring, paid, final[s]))
            begin, end = loud_offsets[s], loud_offsets[s + 1]
            counts[q] += end - begin
            if room > 0:
                for e in range(begin, end):
                    transition[at], weight[at] = loud_transition[e], _times(semiring, paid, loud_weight[e])
                    at += 1
            for e in range(quiet_offsets[s], quiet_offsets[s + 1]):
                r, through = quiet_target[e], _times(semiring, paid, quiet_weight[e])
                if mark[r] == q:
                    cost[r] = _plus(semiring, cost[r], through)
                else:
                    mark[r], cost[r] = q, through
                    size = _push(heap, size, r)


_TROPICAL, _REAL = int(Semiring.TROPICAL), int(Semiring.REAL)


@njit(cache=True)
def _times(semiring, a, b):  # type: ignore[no-untyped-def]
    return a * b if semiring == _REAL else a + b


@njit(cache=True)
def _plus(semiring, a, b):  # type: ignore[no-untyped-def]
    if semiring == _REAL:
        return a + b
    low, high = min(a, b), max(a, b)
    if semiring == _TROPICAL or high == np.inf:
        return low
    return low - math.log1p(math.exp(low - high))


@njit(cache=True)
def _push(heap, size, value):  # type: ignore[no-untyped-def]
    at = size
    while at > 0 and heap[(at - 1) >> 1] > value:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = value
    return size + 1


@njit(cache=True)
def _pop(heap, size):  # type: ignore[no-untyped-def]
    size -= 1
    value, at = heap[size], 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value
    return size
