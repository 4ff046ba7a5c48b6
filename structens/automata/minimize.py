"""Minimisation: the smallest deterministic automaton with the same weighted strings.

Weights are pushed, which makes equivalent states equal in weights; then states are merged from the last to the first:
two states are one if they have the same final weight and the same transitions to states already merged.

Sources: Mohri, "Minimization algorithms for sequential transducers" (2000); Revuz, "Minimisation of acyclic
deterministic automata in linear time" (1992).
"""

from __future__ import annotations

import numpy as np
from numba import njit
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
    members = _merged(automaton, pushed.weight, pushed.final_weight, digits)
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


def _merged(
    automaton: Automaton, weight: NDArray[np.float64], final: NDArray[np.float64], digits: int
) -> NDArray[np.int64]:
    """For each state the highest-numbered state it is merged into."""
    order = np.lexsort((automaton.label, automaton.source))
    scale = 10.0**digits
    codes = np.floor(weight[order] * scale + 0.5).astype(np.int64)
    endings = np.full(automaton.n_states, -(2**62), dtype=np.int64)
    ends = np.isfinite(final)
    endings[ends] = np.floor(final[ends] * scale + 0.5).astype(np.int64)
    members = np.arange(automaton.n_states, dtype=np.int64)
    table = np.full(1 << (2 * automaton.n_states + 1).bit_length(), -1, dtype=np.int32)
    _merge(automaton.offsets, automaton.target[order], automaton.label[order], codes, endings, members, table)
    return members


@njit(cache=True)
def _merge(offsets, target, label, code, ending, members, table):  # type: ignore[no-untyped-def]
    """From the last state to the first: the state already seen with the same final weight and transitions, if any."""
    mask = len(table) - 1
    for q in range(len(ending) - 1, -1, -1):
        mixed = _mix(_mix(np.int64(0), ending[q]), ending[q] >> 31)
        for e in range(offsets[q], offsets[q + 1]):
            mixed = _mix(_mix(mixed, label[e]), members[target[e]])
            mixed = _mix(_mix(mixed, code[e]), code[e] >> 31)
        slot = mixed & mask
        while table[slot] >= 0 and not _same(offsets, target, label, code, ending, members, (q, table[slot])):
            slot = (slot + 1) & mask
        if table[slot] >= 0:
            members[q] = table[slot]
        else:
            table[slot] = q


@njit(cache=True)
def _same(offsets, target, label, code, ending, members, pair):  # type: ignore[no-untyped-def]
    q, r = pair
    begin, other = offsets[q], offsets[r]
    if ending[q] != ending[r] or offsets[q + 1] - begin != offsets[r + 1] - other:
        return False
    for k in range(offsets[q + 1] - begin):
        e, f = begin + k, other + k
        if label[e] != label[f] or code[e] != code[f] or members[target[e]] != members[target[f]]:
            return False
    return True


@njit(cache=True)
def _mix(mixed, value):  # type: ignore[no-untyped-def]
    """A hash below 2**31, so that no product reaches 2**63."""
    return (((mixed ^ (np.int64(value) & 0x7FFFFFFF)) * 0x9E3779B1) >> 16) & 0x7FFFFFFF
