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
from numpy.typing import ArrayLike, NDArray

from structens.automata.edit_kernels import SLACK, product, spread, substitute, write
from structens.automata.edit_transducer import UNIT, EditCosts, as_string, edit_tables
from structens.automata.memory import room
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
    table, insertion, deletion = edit_tables(costs, labels, string)
    alike = np.ndim(costs.substitution) == 0
    prices = insertion, deletion, float(np.asarray(costs.substitution)) if alike else 0.0
    every = automaton.offsets, automaton.target, labels, weights
    lettered = _lettered(automaton.offsets, labels, automaton.target, labels, weights)
    size = automaton.n_transitions + m * (len(lettered[1]) + automaton.n_transitions + n)
    target, total = room(size + SLACK, np.int32), room(size + SLACK, np.float64)
    offsets, ending = room(n * (m + 1) + 1, np.int64), room(n * (m + 1), np.float64)
    places = np.empty(len(deletion), np.int64), np.empty(m, np.int64)
    row = *_row(automaton.offsets, np.int32, np.float64), *places
    product(every, lettered, string, prices, (target, total, offsets), row)
    if not alike:
        substitute(automaton.offsets, lettered, table, total)
    ending[:] = np.inf
    ending[m :: m + 1] = final
    is_final = np.zeros(n * (m + 1), dtype=np.bool_)
    is_final[m :: m + 1] = automaton.is_final
    origin = partial(_origins, automaton.offsets, labels, m, size)
    make = partial(_labels, automaton.offsets, labels, string, size)
    made = LateLabels.of(offsets, target[:size], is_final, automaton.start * (m + 1), make)
    return EditComposed(made, total[:size], ending, origin)


def _lettered(
    offsets: NDArray[np.int64], labels: NDArray[np.int32], *columns: NDArray[Any]
) -> tuple[NDArray[Any], ...]:
    """Offsets and columns of the transitions that are not EPSILON."""
    if labels.min(initial=0) > EPSILON:
        return offsets, *columns
    proper = labels != EPSILON
    return np.concatenate([[0], np.cumsum(proper)])[offsets], *(column[proper] for column in columns)


def _row(offsets: NDArray[np.int64], *kinds: type) -> tuple[NDArray[Any], ...]:
    """Room for what leaves one state of the composition."""
    most = int(np.diff(offsets).max(initial=0))
    return tuple(np.empty(2 * most + 1 + SLACK, dtype=kind) for kind in kinds)


def _origins(offsets: NDArray[np.int64], labels: NDArray[np.int32], m: int, size: int) -> NDArray[np.int32]:
    return _spread(offsets, labels, m, np.arange(len(labels), dtype=np.int32), size)


def _labels(
    offsets: NDArray[np.int64], labels: NDArray[np.int32], string: NDArray[np.int32], size: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    written = room(size + SLACK, np.int32)
    write(offsets, _lettered(offsets, labels)[0], string, written)
    return _spread(offsets, labels, len(string), labels, size), written[:size]


def _spread(
    offsets: NDArray[np.int64], labels: NDArray[np.int32], m: int, values: NDArray[np.int32], size: int
) -> NDArray[np.int32]:
    out = room(size + SLACK, np.int32)
    spread(offsets, values, _lettered(offsets, labels, values), m, _row(offsets, np.int32)[0], out)
    return out[:size]


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
