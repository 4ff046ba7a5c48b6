"""Composition: read with the first transducer, hand its output to the second; of two acceptors, their intersection.

Where the first writes nothing it moves alone, where the second reads nothing it moves alone; between two matches the
first moves before the second, so that every pair of paths is counted once (without such a filter, sums of weights would
come out too large). Pairs of states are met in topological order and kept in a hash table: time and memory grow with
the pairs that are reached, not with all pairs there are.

Source: Mohri, Pereira and Riley, "Weighted automata in text and speech processing" (1996); the filter is OpenFst's
`SequenceComposeFilter`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.automata.compose_kernels import (
    FULL_PAIRS,
    First,
    Second,
    Work,
    explore,
    gather,
    keep_useful,
    rehash,
)
from structens.automata.semiring import Semiring
from structens.automata.topological import connect
from structens.automata.transducer import Transducer, nothing_read_order
from structens.automata.trusted import trusted
from structens.automata.weighted import WeightedAutomaton, checked
from structens.automata.weights import refuse_weights
from structens.core import EPSILON, Automaton, AutomatonError


class Composed(NamedTuple):
    """A weighted automaton, and where its transitions come from.

    Attributes
    ----------
    automaton : Automaton
        Trimmed; an acceptor if both arguments are.
    weight : ndarray of float64, shape (n_transitions,)
    final_weight : ndarray of float64, shape (n_states,)
    first, second : ndarrays of int32, shape (n_transitions,)
        Number of the transition of each argument; -1 where it stays.
    """

    automaton: Automaton
    weight: NDArray[np.float64]
    final_weight: NDArray[np.float64]
    first: NDArray[np.int32]
    second: NDArray[np.int32]


def compose(
    first: WeightedAutomaton,
    second: WeightedAutomaton | Transducer,
    semiring: Semiring = Semiring.LOG,
    *,
    max_states: int = 200_000_000,
) -> Composed:
    """Compose two transducers, or intersect two acceptors.

    Parameters
    ----------
    first : WeightedAutomaton
    second : WeightedAutomaton or Transducer
        A Transducer may have cycles, but none that reads nothing.
    semiring : Semiring
        The weight of a transition is ``times`` of the two.
    max_states : int
        Give up when more pairs of states are reached.

    Raises
    ------
    AutomatonError
        If too many pairs are reached, or a cycle of the second reads nothing.
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
    two, weight_2, final_2 = _second(second, semiring)
    if one.n_states == 0 or two.n_states == 0:
        no = np.zeros(0, dtype=np.int32)
        written = None if one.output is None and two.output is None else no
        nothing = trusted(np.zeros(1, dtype=np.int64), no, no, np.zeros(0, dtype=np.bool_), 0, written)
        return Composed(nothing, np.zeros(0), np.zeros(0), no, no)
    rank = nothing_read_order(two.offsets, two.target, two.label)
    sides = (
        _first_side(one, weight_1 != semiring.zero, final_1 != semiring.zero),
        _second_side(two, weight_2 != semiring.zero, rank),
    )
    work, n_places = _explored(*sides, one.start, int(rank[two.start]), max_states)
    return _built((one, weight_1, final_1), (two, weight_2, final_2), rank, work, n_places, semiring)


def _second(
    second: WeightedAutomaton | Transducer, semiring: Semiring
) -> tuple[Automaton | Transducer, NDArray[np.float64], NDArray[np.float64]]:
    if isinstance(second, Transducer):
        refuse_weights(second.weight, semiring, "weight", "transition")
        refuse_weights(second.final_weight, semiring, "final weight", "state")
        return second, second.weight, second.final_weight
    return checked(second, semiring)


def _first_side(one: Automaton, present: NDArray[np.bool_], final: NDArray[np.bool_]) -> First:
    written = one.label if one.output is None else one.output
    silent = (written == EPSILON) & present
    # 0: it never writes nothing, 1: it may, 2: it cannot do otherwise, so that a wait of the second leads nowhere.
    kind = np.zeros(one.n_states, dtype=np.int8)
    if silent.any():
        n_silent, n_all = (np.bincount(one.source[which], minlength=one.n_states) for which in (silent, present))
        kind = np.where(n_silent == 0, 0, np.where((n_silent == n_all) & ~final, 2, 1)).astype(np.int8)
    return First(one.offsets, one.target, written, present, kind)


def _second_side(two: Automaton | Transducer, present: NDArray[np.bool_], rank: NDArray[np.int64]) -> Second:
    """Transitions by rank of their source, then by label; with a table of places where that is small."""
    source = rank[two.source]
    order = np.lexsort((two.label, source))
    order = order[present[order]]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(source[order], minlength=two.n_states))]).astype(np.int64)
    label = two.label[order]
    n_labels = int(label.max(initial=-1)) + 1
    places = np.zeros(0, dtype=np.int32)
    if two.n_states * n_labels <= 4 * len(order) + 1_000_000:
        # Row r, column a: first transition of r with label a or higher; a + 1 is where they end. The last two columns
        # are for all labels that are not there.
        key = source[order] * (n_labels + 2) + label
        wanted = np.arange(two.n_states)[:, None] * (n_labels + 2) + np.arange(n_labels + 2)
        places = np.searchsorted(key, wanted.ravel()).astype(np.int32)
    silent = np.bincount(source[order[label == EPSILON]], minlength=two.n_states).astype(np.int64)
    return Second(
        offsets, rank[two.target[order]].astype(np.int32), label, order.astype(np.int32), silent, places, n_labels
    )


def _explored(one: First, two: Second, start: int, start_2: int, max_states: int) -> tuple[Work, int]:
    """Find all pairs and their transitions; the arrays are made larger between two runs of the kernel, never in it."""
    # Large at once: pages that are never touched cost nothing, moving what has been found does.
    n_states, n_flags = len(one.kind), 1 + int(one.kind.any())
    n_pairs, n_steps = min(n_flags * len(two.silent), 16) * n_states + 1024, 24 * len(one.target) + 4096
    n_slots = 1 << (2 * n_pairs - 1).bit_length()
    work = Work(
        key=np.full(n_slots, -1, dtype=np.int64),
        number=np.empty(n_slots, dtype=np.int32),
        pair=np.empty((n_pairs, 3), dtype=np.int32),
        place=np.empty(n_pairs, dtype=np.int32),
        order=np.empty(n_pairs, dtype=np.int32),
        ends=np.zeros(n_pairs + 1, dtype=np.int64),
        heap=np.empty(n_pairs, dtype=np.int64),
        step=np.empty((n_steps, 3), dtype=np.int32),
        head=np.full(len(one.kind), -1, dtype=np.int32),
    )
    progress = np.zeros(5, dtype=np.int64)
    while status := explore(one, two, work, progress, start, start_2):
        if progress[1] > max_states or len(work.pair) >= 2**30:
            break
        work = _with_more_pairs(work) if status == FULL_PAIRS else work._replace(step=_larger(work.step))
    if progress[1] > max_states or status:
        raise AutomatonError(f"more than {max_states} pairs of states are reached; trim or prune the arguments first")
    return work, int(progress[2])


def _with_more_pairs(work: Work) -> Work:
    key, number = np.full(2 * len(work.key), -1, dtype=np.int64), np.empty(2 * len(work.key), dtype=np.int32)
    rehash(work.key, work.number, key, number)
    work = work._replace(key=key, number=number, pair=_larger(work.pair), order=_larger(work.order))
    return work._replace(place=_larger(work.place), ends=_larger(work.ends), heap=_larger(work.heap))


def _larger(array: NDArray[Any]) -> NDArray[Any]:
    more = np.empty((2 * len(array), *array.shape[1:]), dtype=array.dtype)
    more[: len(array)] = array
    return more


Side = tuple[Automaton | Transducer, NDArray[np.float64], NDArray[np.float64]]


def _built(one: Side, two: Side, rank: NDArray[np.int64], work: Work, n_places: int, semiring: Semiring) -> Composed:
    """Trim, then look up labels and weights of the transitions that stay."""
    state = np.empty(len(rank), dtype=np.int64)
    state[rank] = np.arange(len(rank))
    pair = work.pair[work.order[:n_places]]
    ending = _times(semiring, one[2][pair[:, 0]], two[2][state[pair[:, 1] >> 1]])
    final = ending != semiring.zero
    useful = np.zeros(n_places, dtype=np.bool_)
    offsets = np.zeros(n_places + 1, dtype=np.int64)
    keep_useful(work.place, work.step, work.ends, final, useful, offsets)
    offsets = np.cumsum(np.concatenate([[0], offsets[1:][useful]]))
    size = int(offsets[-1])
    acceptor = one[0].output is None and two[0].output is None
    target, first, second, label = (np.empty(size, dtype=np.int32) for _ in range(4))
    written, weight = np.empty(0 if acceptor else size, dtype=np.int32), np.empty(size)
    labels = one[0].label, two[0].label if two[0].output is None else two[0].output
    weights = one[1], two[1], semiring.one, semiring is Semiring.REAL
    number = (np.cumsum(useful) - 1).astype(np.int32)
    gather(work.step, work.ends, useful, number, labels, weights, (target, first, second, label, written, weight))
    made = trusted(offsets, target, label, final[useful], 0, None if acceptor else written)
    composed = Composed(made, weight, ending[useful], first, second)
    if len(weight) and (weight == semiring.zero).any():  # a product of REAL weights can underflow
        kept = connect(made, weight, composed.final_weight, semiring)
        parts = (array[kept.transition] for array in (first, second))
        return Composed(kept.automaton, weight[kept.transition], composed.final_weight[kept.state], *parts)
    return composed


def _times(semiring: Semiring, a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    return a * b if semiring is Semiring.REAL else a + b
