"""An automaton together with one weight vector, for the verbs that make a new automaton out of weighted ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata.semiring import Semiring
from structens.automata.topological import connect
from structens.automata.weights import as_weights
from structens.core import Automaton


class WeightedAutomaton(NamedTuple):
    """Unpacks into the arguments of the other verbs: ``push(*weighted)``.

    Attributes
    ----------
    automaton : Automaton
    weight : array_like, shape (n_transitions,)
    final_weight : array_like, shape (n_states,), or None

    Examples
    --------
    >>> from structens.automata import total_weight
    >>> total_weight(*WeightedAutomaton(Automaton.from_transitions([(0, 1, 7)], final=[1]), [2.0]))
    2.0
    """

    automaton: Automaton
    weight: ArrayLike
    final_weight: ArrayLike | None = None


def checked(
    weighted: WeightedAutomaton, semiring: Semiring, *, non_negative: bool = False
) -> tuple[Automaton, NDArray[np.float64], NDArray[np.float64]]:
    """The automaton and its weights as arrays; errors as in `as_weights`.

    Examples
    --------
    >>> w = WeightedAutomaton(Automaton.from_transitions([(0, 1, 7)], final=[1]), [2.0])
    >>> checked(w, Semiring.LOG)[2].tolist()
    [inf, 0.0]
    """
    automaton = weighted.automaton
    return automaton, *as_weights(
        automaton, weighted.weight, weighted.final_weight, semiring, non_negative=non_negative
    )


def trimmed(
    weighted: WeightedAutomaton, semiring: Semiring, *, non_negative: bool = False
) -> tuple[Automaton, NDArray[np.float64], NDArray[np.float64]]:
    """As `checked`, without what lies on no accepting path of positive weight.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 2, 8)], final=[1])
    >>> trimmed(WeightedAutomaton(a, [2.0, 3.0]), Semiring.LOG)[1].tolist()
    [2.0]
    """
    automaton, weight, final = checked(weighted, semiring, non_negative=non_negative)
    kept = connect(automaton, weight, final, semiring)
    return kept.automaton, weight[kept.transition], np.where(kept.automaton.is_final, final[kept.state], semiring.zero)
