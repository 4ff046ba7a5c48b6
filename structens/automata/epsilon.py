"""Epsilon removal: the same weighted strings without transitions that read and write nothing.

From the last state to the first: an EPSILON transition is replaced by what its target can do, which by then is free of
EPSILON; equal transitions to the same state are added.

Source: Mohri, "Generic epsilon-removal and input epsilon-normalization algorithms for weighted transducers" (2002).
"""

from __future__ import annotations

import numpy as np

from structens.automata.semiring import Semiring, plus, times
from structens.automata.weighted import WeightedAutomaton, trimmed
from structens.core import EPSILON, Automaton

Step = tuple[int, int, int]
"""Label, output, target."""


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
    code = int(semiring)
    output = automaton.label if automaton.output is None else automaton.output
    steps: list[dict[Step, float]] = [{} for _ in range(automaton.n_states)]
    final_weight = final.tolist()
    transitions = list(zip(automaton.label.tolist(), output.tolist(), automaton.target.tolist(), strict=True))
    for q in range(automaton.n_states - 1, -1, -1):
        own = steps[q]
        for e in range(automaton.offsets[q], automaton.offsets[q + 1]):
            cost, (label, written, target) = float(weight[e]), transitions[e]
            if label != EPSILON or written != EPSILON:
                step = transitions[e]
                own[step] = plus(code, own[step], cost) if step in own else cost
                continue
            final_weight[q] = plus(code, final_weight[q], times(code, cost, final_weight[target]))
            for step, onward in steps[target].items():
                through = times(code, cost, onward)
                own[step] = plus(code, own[step], through) if step in own else through
    rows = [(q, *step, cost) for q, own in enumerate(steps) for step, cost in sorted(own.items())]
    columns = np.array([row[:4] for row in rows], dtype=np.int64).reshape(-1, 4).T
    free = Automaton(
        offsets=np.concatenate([[0], np.cumsum(np.bincount(columns[0], minlength=automaton.n_states))]),
        target=columns[3].astype(np.int32),
        label=columns[1].astype(np.int32),
        is_final=np.array(final_weight) != semiring.zero,
        start=automaton.start,
        output=None if automaton.output is None else columns[2].astype(np.int32),
    )
    made = WeightedAutomaton(free, np.array([row[4] for row in rows], dtype=np.float64), np.array(final_weight))
    return WeightedAutomaton(*trimmed(made, semiring))
