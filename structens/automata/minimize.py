"""Minimisation: the smallest deterministic automaton with the same weighted strings.

Weights are pushed, which makes equivalent states equal in weights; then states are merged from the last to the first:
two states are one if they have the same final weight and the same transitions to states already merged.

Sources: Mohri, "Minimization algorithms for sequential transducers" (2000); Revuz, "Minimisation of acyclic
deterministic automata in linear time" (1992).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structens.automata.determinize import is_deterministic
from structens.automata.push import push
from structens.automata.semiring import Semiring
from structens.automata.weighted import WeightedAutomaton, trimmed
from structens.core import Automaton, AutomatonError


def minimize(weighted: WeightedAutomaton, semiring: Semiring = Semiring.LOG, *, digits: int = 10) -> WeightedAutomaton:
    """Minimise a deterministic acceptor.

    Parameters
    ----------
    weighted : WeightedAutomaton
    semiring : Semiring
    digits : int
        Weights count as equal if they agree after rounding to so many decimals.

    Returns
    -------
    WeightedAutomaton
        Trimmed; weights are pushed, with the total at the start.

    Raises
    ------
    AutomatonError
        If the automaton is a transducer, not deterministic, or accepts nothing.
    DataError
        If the weights do not fit; REAL weights must be >= 0.

    References
    ----------
    Mohri (2000), section 3.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 2, 8), (1, 3, 9), (2, 4, 9)], final=[3, 4])
    >>> made = minimize(WeightedAutomaton(a, [1.0, 2.0, 5.0, 5.0]))
    >>> made.automaton.n_states, made.automaton.label.tolist(), made.weight.round(9).tolist()
    (3, [7, 8, 9], [6.0, 7.0, 0.0])
    """
    automaton, weight, final = trimmed(weighted, semiring, non_negative=True)
    if automaton.output is not None or not is_deterministic(automaton):
        raise AutomatonError("minimize takes deterministic acceptors; call determinize first")
    pushed = push(automaton, weight, final, semiring)
    members = _merge(automaton, pushed.weight, pushed.final_weight, digits)
    kept = np.flatnonzero(members == np.arange(automaton.n_states))
    number = np.cumsum(members == np.arange(automaton.n_states)) - 1
    transition = np.flatnonzero(np.isin(automaton.source, kept))
    counts = np.diff(automaton.offsets)[kept]
    small = Automaton(
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        target=number[members[automaton.target[transition]]].astype(np.int32),
        label=automaton.label[transition],
        is_final=automaton.is_final[kept],
        start=int(number[automaton.start]),
    )
    weights, endings = pushed.weight[transition], pushed.final_weight[kept]
    begin, end = small.offsets[small.start : small.start + 2]
    if semiring is Semiring.REAL:
        weights[begin:end] *= pushed.total
        endings[small.start] *= pushed.total
    else:
        weights[begin:end] += pushed.total
        endings[small.start] += pushed.total
    return WeightedAutomaton(small, weights, endings)


def _merge(
    automaton: Automaton, weight: NDArray[np.float64], final: NDArray[np.float64], digits: int
) -> NDArray[np.int64]:
    """For each state the highest-numbered state it is merged into."""
    members = np.arange(automaton.n_states, dtype=np.int64)
    rounded = (np.round(weight, digits) + 0.0).tolist()
    endings = (np.round(final, digits) + 0.0).tolist()
    seen: dict[tuple[object, ...], int] = {}
    for q in range(automaton.n_states - 1, -1, -1):
        steps = [
            (int(automaton.label[e]), int(members[automaton.target[e]]), rounded[e])
            for e in range(automaton.offsets[q], automaton.offsets[q + 1])
        ]
        members[q] = seen.setdefault((endings[q], *sorted(steps)), q)
    return members
