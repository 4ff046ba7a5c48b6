"""Union: the automaton that accepts what one or the other accepts; weights of common strings are added.

Source: Mohri, "Weighted automata algorithms" (2009).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structens.automata.semiring import Semiring
from structens.automata.weighted import WeightedAutomaton, checked
from structens.core import EPSILON, Automaton


def union(first: WeightedAutomaton, second: WeightedAutomaton, semiring: Semiring = Semiring.LOG) -> WeightedAutomaton:
    """A new start state 0 with an EPSILON transition to each of the two starts.

    Transitions 0 and 1 are the new ones; those of the first come next, then those of the second, each in their order.

    Parameters
    ----------
    first, second : WeightedAutomaton
        A side without states accepts nothing and adds no transition.
    semiring : Semiring

    Raises
    ------
    DataError
        If weights do not fit.

    Examples
    --------
    >>> from structens.automata import total_weight
    >>> a = WeightedAutomaton(Automaton.from_transitions([(0, 1, 7)], final=[1]), [0.25])
    >>> total_weight(*union(a, a, Semiring.REAL), Semiring.REAL)
    0.5
    """
    one, weight_1, final_1 = checked(first, semiring)
    two, weight_2, final_2 = checked(second, semiring)
    shift_1, shift_2 = 1, 1 + one.n_states
    starts = [a.start + shift for a, shift in ((one, shift_1), (two, shift_2)) if a.n_states]
    both = one.output is None and two.output is None
    n_new = len(starts)
    automaton = Automaton(
        offsets=np.concatenate([[0], n_new + one.offsets, n_new + one.n_transitions + two.offsets[1:]]),
        target=np.concatenate([starts, one.target + shift_1, two.target + shift_2]).astype(np.int32),
        label=_join(n_new, one.label, two.label),
        is_final=np.concatenate([[False], one.is_final, two.is_final]),
        output=None if both else _join(n_new, _output(one), _output(two)),
    )
    weight = np.concatenate([np.full(n_new, semiring.one), weight_1, weight_2])
    return WeightedAutomaton(automaton, weight, np.concatenate([[semiring.zero], final_1, final_2]))


def _join(n_new: int, one: NDArray[np.int32], two: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.concatenate([np.full(n_new, EPSILON, dtype=np.int32), one, two])


def _output(automaton: Automaton) -> NDArray[np.int32]:
    return automaton.label if automaton.output is None else automaton.output
