"""Reversal: the automaton that accepts every string backwards, with the same weight.

Source: Mohri, "Weighted automata algorithms" (2009).
"""

from __future__ import annotations

import numpy as np

from structens.automata.semiring import Semiring
from structens.automata.topological import top_sort
from structens.automata.weighted import WeightedAutomaton, checked
from structens.core import EPSILON


def reverse(weighted: WeightedAutomaton, semiring: Semiring = Semiring.LOG) -> WeightedAutomaton:
    """Turn every transition round; a new start leads to the old final states by EPSILON with their final weights.

    Parameters
    ----------
    weighted : WeightedAutomaton
    semiring : Semiring

    Raises
    ------
    DataError
        If the weights do not fit.

    Examples
    --------
    >>> from structens.core import Automaton
    >>> a = Automaton.from_transitions([(0, 1, 7), (1, 2, 8)], final=[2])
    >>> turned = reverse(WeightedAutomaton(a, [1.0, 2.0], [0.0, 0.0, 5.0]))
    >>> turned.automaton.label.tolist(), turned.weight.tolist()
    ([-1, 8, 7], [5.0, 2.0, 1.0])
    """
    automaton, weight, final = checked(weighted, semiring)
    ends = np.flatnonzero(automaton.is_final)
    new = automaton.n_states
    entry = np.full(len(ends), EPSILON, dtype=np.int32)
    made = top_sort(
        np.concatenate([automaton.target, np.full(len(ends), new)]),
        np.concatenate([automaton.source, ends]),
        np.concatenate([automaton.label, entry]),
        final=[automaton.start] if automaton.n_states else [],
        start=new,
        n_states=new + 1,
        output=None if automaton.output is None else np.concatenate([automaton.output, entry]),
    )
    weights = np.concatenate([weight, final[ends]])[made.transition]
    return WeightedAutomaton(made.automaton, weights, np.where(made.automaton.is_final, semiring.one, semiring.zero))
