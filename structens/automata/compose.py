"""Composition: read with the first transducer, hand its output to the second; of two acceptors, their intersection.

Where the first writes nothing it moves alone, where the second reads nothing it moves alone; between two matches the
first moves before the second, so that every pair of paths is counted once (without such a filter, sums of weights would
come out too large).

Source: Mohri, Pereira and Riley, "Weighted automata in text and speech processing" (1996); the filter is OpenFst's
`SequenceComposeFilter`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.automata.semiring import Semiring
from structens.automata.topological import connect
from structens.automata.weighted import WeightedAutomaton, checked
from structens.core import EPSILON, Automaton, AutomatonError


class Composed(NamedTuple):
    """A weighted automaton, and where its transitions come from.

    Attributes
    ----------
    automaton : Automaton
        Trimmed; an acceptor if both arguments are.
    weight : ndarray of float64, shape (n_transitions,)
    final_weight : ndarray of float64, shape (n_states,)
    first, second : ndarrays of int64, shape (n_transitions,)
        Number of the transition of each argument; -1 where it stays.
    """

    automaton: Automaton
    weight: NDArray[np.float64]
    final_weight: NDArray[np.float64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]


def compose(first: WeightedAutomaton, second: WeightedAutomaton, semiring: Semiring = Semiring.LOG) -> Composed:
    """Compose two acyclic transducers, or intersect two acceptors.

    Time and memory grow with the product of the numbers of states, and with the transitions of the result.

    Parameters
    ----------
    first, second : WeightedAutomaton
    semiring : Semiring
        The weight of a transition is ``times`` of the two.

    Raises
    ------
    AutomatonError
        If the product would have more than 2**31 states.
    DataError
        If weights do not fit.

    References
    ----------
    Mohri, Pereira and Riley (1996), section 3.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 9)], final=[2])
    >>> b = Automaton.from_transitions([(0, 1, 8), (1, 2, 9)], final=[2])
    >>> both = compose(WeightedAutomaton(a, [1.0, 2.0, 3.0]), WeightedAutomaton(b, [10.0, 20.0]))
    >>> both.automaton.label.tolist(), both.weight.tolist(), both.first.tolist()
    ([8, 9], [12.0, 23.0], [1, 2])
    """
    one, weight_1, final_1 = checked(first, semiring)
    two, weight_2, final_2 = checked(second, semiring)
    if 2 * one.n_states * two.n_states > 2**31:
        raise AutomatonError(
            f"{one.n_states} x {two.n_states} pairs of states are too many to compose; trim the arguments first"
        )
    sides = _side(one, one.output), _side(two, two.label)
    reached = np.zeros(2 * one.n_states * two.n_states, dtype=np.bool_)
    if len(reached):
        reached[2 * (one.start * two.n_states + two.start)] = True
    steps = np.empty((_expand(*sides, reached, np.empty((0, 4), dtype=np.int64)), 4), dtype=np.int64)
    _expand(*sides, reached, steps)
    state = np.flatnonzero(reached)
    pair_1, pair_2 = np.divmod(state // 2, max(1, two.n_states))
    final_weight = _times(semiring, final_1[pair_1], final_2[pair_2])
    product = Automaton(
        offsets=np.concatenate(
            [[0], np.cumsum(np.bincount(np.searchsorted(state, steps[:, 0]), minlength=len(state)))]
        ),
        target=np.searchsorted(state, steps[:, 1]).astype(np.int32),
        label=_labels(one.label, steps[:, 2]),
        is_final=final_weight != semiring.zero,
        output=None if one.output is None and two.output is None else _labels(_output(two), steps[:, 3]),
    )
    weight = _times(semiring, _moved(weight_1, steps[:, 2], semiring.one), _moved(weight_2, steps[:, 3], semiring.one))
    kept = connect(product, weight, final_weight, semiring)
    origin = steps[kept.transition]
    return Composed(kept.automaton, weight[kept.transition], final_weight[kept.state], origin[:, 2], origin[:, 3])


class _Side(NamedTuple):
    """Transitions of one argument, with the label that must match sorted within each state."""

    offsets: NDArray[np.int64]
    target: NDArray[np.int32]
    label: NDArray[np.int32]
    order: NDArray[np.int64]


def _side(automaton: Automaton, label: NDArray[np.int32] | None) -> _Side:
    label = automaton.label if label is None else label
    order = np.lexsort((label, automaton.source))
    return _Side(automaton.offsets, automaton.target, label, order)


def _output(automaton: Automaton) -> NDArray[np.int32]:
    return automaton.label if automaton.output is None else automaton.output


def _labels(label: NDArray[np.int32], transition: NDArray[np.int64]) -> NDArray[np.int32]:
    """Labels of the transitions taken, EPSILON where the argument stays."""
    return np.append(label, np.int32(EPSILON))[transition]


def _moved(weight: NDArray[np.float64], transition: NDArray[np.int64], one: float) -> NDArray[np.float64]:
    return np.append(weight, one)[transition]


def _times(semiring: Semiring, a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    return a * b if semiring is Semiring.REAL else a + b


@njit(cache=True)
def _expand(one, two, reached, steps):  # type: ignore[no-untyped-def]
    """Mark the states that can be reached and count their transitions; write them if there is room for them.

    State 2 (q n + r) + f is the pair (q, r); f is 1 once the second has moved alone since the last match, after which
    the first may not. Every move leads to a higher number, so one pass over the numbers is enough.
    """
    n = len(two.offsets) - 1
    count = 0
    for state in range(len(reached)):
        if not reached[state]:
            continue
        waiting = state % 2
        q, r = divmod(state // 2, n)
        begin, end = two.offsets[r], two.offsets[r + 1]
        for e in one.order[one.offsets[q] : one.offsets[q + 1]]:
            if one.label[e] == EPSILON:
                if waiting == 0:
                    count = _step(state, 2 * (one.target[e] * n + r), e, -1, reached, steps, count)
                continue
            low = begin + _first_at_least(two.label, two.order[begin:end], one.label[e])
            while low < end and two.label[two.order[low]] == one.label[e]:
                other = two.order[low]
                count = _step(state, 2 * (one.target[e] * n + two.target[other]), e, other, reached, steps, count)
                low += 1
        for i in range(begin, end):
            other = two.order[i]
            if two.label[other] == EPSILON:
                count = _step(state, 2 * (q * n + two.target[other]) + 1, -1, other, reached, steps, count)
    return count


@njit(cache=True)
def _step(state, follower, first, second, reached, steps, count):  # type: ignore[no-untyped-def]
    reached[follower] = True
    if len(steps):
        steps[count, 0] = state
        steps[count, 1] = follower
        steps[count, 2] = first
        steps[count, 3] = second
    return count + 1


@njit(cache=True)
def _first_at_least(label, order, wanted):  # type: ignore[no-untyped-def]
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        if label[order[middle]] < wanted:
            low = middle + 1
        else:
            high = middle
    return low
