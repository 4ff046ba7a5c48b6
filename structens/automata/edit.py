"""Edit distance by automata: the composition of an automaton with the Levenshtein transducer and a string.

State (q, j) of the composition: the automaton is in q, and j labels of the string have been written. A transition of
the automaton writes the next label (a match or a substitution) or nothing (a deletion); an insertion writes the next
label and reads nothing. Built directly: no search for matches, no hash table, no trimming, topological by construction.

Source: Mohri, "Edit-distance of weighted automata: general definitions and algorithms" (2003).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from structens.automata.edit_transducer import UNIT, EditCosts, as_string, edit_tables
from structens.automata.shortest_path import shortest_path
from structens.automata.trusted import LateLabels
from structens.automata.weighted import WeightedAutomaton
from structens.automata.weights import as_weights
from structens.core import EPSILON, Automaton, AutomatonError


@dataclass(frozen=True, eq=False)
class EditComposed:
    """The composition of an automaton, the edit transducer and a string.

    Attributes
    ----------
    automaton : Automaton
        Transducer from the automaton's labels to the string's, EPSILON for an insertion or a deletion. State (q, j) has
        the number q (m + 1) + j, with m labels in the string. States that are not reached stay. Transitions of a state:
        the insertion, the substitutions in the automaton's order, the deletions in the same order. Labels are made when
        they are asked for.
    weight : ndarray of float64, shape (n_transitions,)
        Cost of the automaton's transition plus cost of the edit.
    final_weight : ndarray of float64, shape (n_states,)
    """

    automaton: Automaton
    weight: NDArray[np.float64]
    final_weight: NDArray[np.float64]
    _origin: Callable[[], NDArray[np.int32]] = field(repr=False)

    @cached_property
    def first(self) -> NDArray[np.int32]:
        """The automaton's transition behind each transition, -1 for an insertion; shape (n_transitions,)."""
        return self._origin()

    @property
    def weighted(self) -> WeightedAutomaton:
        """Automaton and weights, as the other verbs take them."""
        return WeightedAutomaton(self.automaton, self.weight, self.final_weight)


class Closest(NamedTuple):
    """The path of an automaton that is closest to a string.

    Attributes
    ----------
    cost : float
        Weight of the path plus cost of the edits.
    path : ndarray of int32
        Transitions of the automaton.
    alignment : ndarray of int32, shape (n_steps, 2)
        Label read and label written in each step, EPSILON for none.
    """

    cost: float
    path: NDArray[np.int32]
    alignment: NDArray[np.int32]


def compose_edit(
    automaton: Automaton,
    weight: ArrayLike,
    y: ArrayLike,
    final_weight: ArrayLike | None = None,
    costs: EditCosts = UNIT,
    *,
    reuse: EditComposed | None = None,
) -> EditComposed:
    """Compose an automaton with the edit transducer and a string.

    Paths of the result are alignments; the least cost (TROPICAL) over the alignments of a path is its weight plus its
    edit distance to the string. An EPSILON of the automaton and an insertion can change places, which gives two paths:
    for sums over alignments (LOG) call `remove_epsilon` first.

    Parameters
    ----------
    automaton : Automaton
        An acceptor, or a transducer of which the output counts.
    weight : array_like, shape (n_transitions,)
        Costs (LOG or TROPICAL).
    y : array_like of int, shape (m,)
    final_weight : array_like, shape (n_states,), or None
    costs : EditCosts
    reuse : EditComposed or None
        An earlier result that is no longer needed: its arrays are written over if they are large enough, which halves
        the time on large automata.

    Raises
    ------
    AutomatonError
        If there would be more than 2**31 states.
    DataError
        If weights or costs do not fit, or a label is negative or outside the costs.

    References
    ----------
    Mohri (2003), section 4; specification 6.4.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 0), (1, 2, 1)], final=[2])
    >>> made = compose_edit(a, [0.0, 0.0], [1])
    >>> made.automaton.n_states, made.automaton.n_transitions
    (6, 9)
    >>> from structens.automata import Semiring, total_weight
    >>> total_weight(*made.weighted, Semiring.TROPICAL)
    1.0
    """
    weights, final = as_weights(automaton, weight, final_weight)
    labels = automaton.label if automaton.output is None else automaton.output
    string = as_string(y)
    m, n = len(string), automaton.n_states
    if n * (m + 1) > 2**31 - 1:
        raise AutomatonError(f"{n} x {m + 1} pairs of states are too many; prune the automaton first")
    prices = edit_tables(costs, labels, string)
    n_silent = int(np.count_nonzero(labels < 0)) if labels.min(initial=0) < 0 else 0
    size = automaton.n_transitions * (2 * m + 1) - n_silent * m + n * m
    old = (None, None, None, None)
    if reuse is not None:
        old = reuse.automaton.target, reuse.weight, reuse.automaton.offsets, reuse.final_weight  # type: ignore[assignment]
    target, total = _room(size, np.int32, old[0]), _room(size, np.float64, old[1])
    offsets, ending = _room(n * (m + 1) + 1, np.int64, old[2]), _room(n * (m + 1), np.float64, old[3])
    ending[:] = np.inf
    made = (target, total, offsets)
    _product(automaton.offsets, automaton.target, labels, weights, prices, made, _scratch(automaton.offsets))
    ending[m :: m + 1] = final
    is_final = np.zeros(n * (m + 1), dtype=np.bool_)
    is_final[m :: m + 1] = automaton.is_final
    origin = partial(_origins, automaton.offsets, labels, string, len(target))
    make = partial(_labels, automaton.offsets, labels, string, len(target))
    product = LateLabels.of(offsets, target, is_final, automaton.start * (m + 1), make)
    return EditComposed(product, total, ending, origin)


def _room(size: int, kind: type, old: NDArray[Any] | None) -> NDArray[Any]:
    """An array; the whole of an earlier one, not only the part that is shown, is written over if it is large enough."""
    if old is not None:
        whole = old if old.base is None else old.base
        if isinstance(whole, np.ndarray) and len(whole) >= size:
            return whole[:size]
    return np.empty(size, dtype=kind)


def _scratch(offsets: NDArray[np.int64]) -> tuple[NDArray[Any], ...]:
    most = int(np.diff(offsets).max(initial=0))
    ends, labels = np.empty(2 * most + 1, dtype=np.int32), np.empty(most + 1, dtype=np.int32)
    return ends, labels, np.empty((2, most + 1))


def _origins(
    offsets: NDArray[np.int64], labels: NDArray[np.int32], string: NDArray[np.int32], size: int
) -> NDArray[np.int32]:
    first = np.empty(size, dtype=np.int32)
    _spell(offsets, labels, string, np.arange(len(labels), dtype=np.int32), first, np.empty(0, dtype=np.int32))
    return first


def _labels(
    offsets: NDArray[np.int64], labels: NDArray[np.int32], string: NDArray[np.int32], size: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    read, written = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    _spell(offsets, labels, string, labels, read, written)
    return read, written


def closest_path(
    automaton: Automaton,
    weight: ArrayLike,
    y: ArrayLike,
    final_weight: ArrayLike | None = None,
    costs: EditCosts = UNIT,
) -> Closest:
    """The path with the least sum of weight and edit distance to a string: with weights 0, the oracle of a lattice.

    Parameters and errors are those of `compose_edit`; AutomatonError too if there is no accepting path.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 0), (0, 1, 1), (1, 2, 2)], final=[2])
    >>> found = closest_path(a, [0.0, 0.0, 0.0], [1, 3])
    >>> found.cost, found.path.tolist(), found.alignment.tolist()
    (1.0, [1, 2], [[1, 1], [2, 3]])
    """
    made = compose_edit(automaton, weight, y, final_weight, costs)
    best = shortest_path(*made.weighted)
    origin = made.first[best]
    written = made.automaton.output
    alignment = np.stack([made.automaton.label[best], written[best]], axis=1)  # type: ignore[index]
    last = int(made.automaton.target[best[-1]]) if len(best) else made.automaton.start
    return Closest(float(made.weight[best].sum() + made.final_weight[last]), origin[origin >= 0], alignment)


@njit(cache=True)
def _product(offsets, target, label, weight, prices, made, scratch):  # type: ignore[no-untyped-def]
    """Transitions of (q, j): the insertion; the substitutions; the deletions, that of EPSILON free.

    Places are unsigned: no check for negative ones, so that the inner loops become vector instructions.
    """
    (substitution, insertion, deletion), (ends, read, paid) = prices, scratch
    made_target, made_weight, made_offsets = made
    made_offsets[0] = 0
    m, at, one = len(insertion), np.uint64(0), np.uint64(1)
    paid_s, paid_d = paid[0], paid[1]
    state = np.uint64(0)
    for q in range(len(offsets) - 1):
        first, n = np.uint64(offsets[q]), one
        degree = np.uint64(offsets[q + 1]) - first
        ends[np.uint64(0)] = state + one
        for k in range(degree):
            e = first + np.uint64(k)
            if label[e] >= 0:
                ends[n] = target[e] * np.int32(m + 1) + np.int32(1)
                read[n] = label[e]
                paid_s[n] = weight[e]
                n += one
        for k in range(degree):
            e = first + np.uint64(k)
            ends[n + np.uint64(k)] = target[e] * np.int32(m + 1)
            paid_d[np.uint64(k)] = weight[e] + deletion[label[e]]
        # `ends` are the targets at j = 0 in the order of the transitions; at the end of the string only deletions stay.
        for j in range(m):
            row = substitution[j]
            for k in range(n + degree):
                made_target[at + np.uint64(k)] = ends[np.uint64(k)] + np.int32(j)
            made_weight[at] = insertion[j]
            for k in range(n - one):
                i = one + np.uint64(k)
                made_weight[at + i] = paid_s[i] + row[np.uint64(read[i])]
            at += n
            for k in range(degree):
                made_weight[at + np.uint64(k)] = paid_d[np.uint64(k)]
            at += degree
            state += one
            made_offsets[state] = at
        for k in range(degree):
            made_target[at + np.uint64(k)] = ends[n + np.uint64(k)] + np.int32(m)
            made_weight[at + np.uint64(k)] = paid_d[np.uint64(k)]
        at += degree
        state += one
        made_offsets[state] = at


@njit(cache=True)
def _spell(offsets, label, string, value, out, written):  # type: ignore[no-untyped-def]
    """A value of the automaton's transition (-1 for an insertion) behind each transition; labels written, if wanted."""
    at, one, both = np.uint64(0), np.uint64(1), len(written) > 0
    for q in range(len(offsets) - 1):
        begin = np.uint64(offsets[q])
        degree = np.uint64(offsets[q + 1]) - begin
        for j in range(len(string) + 1):
            start = at
            if j < len(string):
                out[at] = -1
                at += one
                for k in range(degree):
                    if label[begin + np.uint64(k)] >= 0:
                        out[at] = value[begin + np.uint64(k)]
                        at += one
                if both:
                    for k in range(at - start):
                        written[start + np.uint64(k)] = string[j]
            for k in range(degree):
                out[at + np.uint64(k)] = value[begin + np.uint64(k)]
            if both:
                for k in range(degree):
                    written[at + np.uint64(k)] = EPSILON
            at += degree
