"""Parallel transitions with equal labels as one, their weights added: no string changes its weight."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata.semiring import Semiring
from structens.automata.weights import as_weights
from structens.core import Automaton


class Merged(NamedTuple):
    """An automaton without parallel transitions of equal labels.

    Attributes
    ----------
    automaton : Automaton
    weight : ndarray of float64, shape (n_transitions,)
    group : ndarray of int64, shape (number of old transitions,)
        New number of each old transition.
    """

    automaton: Automaton
    weight: NDArray[np.float64]
    group: NDArray[np.int64]


def merge_parallel(automaton: Automaton, weight: ArrayLike, semiring: Semiring = Semiring.LOG) -> Merged:
    """Merge transitions that have source, target, label and output in common; states and their numbers stay.

    Transitions are in the order in which the first of each group stood.

    Parameters
    ----------
    automaton : Automaton
    weight : array_like, shape (n_transitions,)
    semiring : Semiring

    Raises
    ------
    DataError
        If the weights do not fit.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (0, 1, 7)], final=[1])
    >>> m = merge_parallel(a, [0.5, 0.25, 0.25], Semiring.REAL)
    >>> m.automaton.label.tolist(), m.weight.tolist(), m.group.tolist()
    ([7, 8], [0.75, 0.25], [0, 1, 0])
    """
    weights, _ = as_weights(automaton, weight, None, semiring)
    columns = [automaton.source, automaton.target, automaton.label]
    columns += [] if automaton.output is None else [automaton.output]
    _, first, group = np.unique(np.stack(columns, axis=1), axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    group = rank[group.ravel()]
    kept = np.sort(first)
    merged = Automaton(
        offsets=np.searchsorted(kept, automaton.offsets),
        target=automaton.target[kept],
        label=automaton.label[kept],
        is_final=automaton.is_final,
        start=automaton.start,
        output=None if automaton.output is None else automaton.output[kept],
    )
    return Merged(merged, _sums(weights, group, semiring), group)


def _sums(weights: NDArray[np.float64], group: NDArray[np.int64], semiring: Semiring) -> NDArray[np.float64]:
    order = np.argsort(group, kind="stable")
    cuts = np.flatnonzero(np.diff(group[order], prepend=-1))
    if not len(cuts):
        return np.zeros(0)
    if semiring is Semiring.REAL:
        return np.add.reduceat(weights[order], cuts)
    if semiring is Semiring.TROPICAL:
        return np.minimum.reduceat(weights[order], cuts)
    return -np.logaddexp.reduceat(-weights[order], cuts)
