"""Determinisation: the same weighted strings, with at most one transition a label from each state.

A state of the result is a weighted subset: the states in which the argument can be after reading a string, each with
what of its weight has not been paid yet. On acyclic automata this ends, though the result can be exponentially large.

Source: Mohri, "Finite-state transducers in language and speech processing" (1997), section 3.
"""

from __future__ import annotations

import numpy as np

from structens.automata.push import push
from structens.automata.semiring import Semiring, divide, plus, times
from structens.automata.topological import top_sort
from structens.automata.weighted import WeightedAutomaton, trimmed
from structens.core import EPSILON, Automaton, AutomatonError

Subset = list[tuple[int, float]]
"""States of the argument, ascending, with their residual weights."""


def is_deterministic(automaton: Automaton) -> bool:
    """True if no transition is EPSILON and no state has two transitions with the same label.

    Examples
    --------
    >>> is_deterministic(Automaton.from_transitions([(0, 1, 7), (0, 2, 7)], final=[1, 2]))
    False
    """
    pairs = np.stack([automaton.source, automaton.label])
    return EPSILON not in automaton.label and len(np.unique(pairs, axis=1).T) == automaton.n_transitions


def determinize(
    weighted: WeightedAutomaton,
    semiring: Semiring = Semiring.LOG,
    *,
    max_states: int = 1_000_000,
    digits: int = 10,
) -> WeightedAutomaton:
    """Determinise an acceptor without EPSILON.

    Weights are pushed first, so that a residual is a share of what is still to come. With the path property
    (TROPICAL) a string gets the weight of its best path, otherwise the sum of all its paths.

    Parameters
    ----------
    weighted : WeightedAutomaton
    semiring : Semiring
    max_states : int
        Give up beyond this many states.
    digits : int
        Two subsets are one state if their residuals agree after rounding: to so many decimals (costs) or significant
        digits (REAL).

    Returns
    -------
    WeightedAutomaton
        Trimmed and deterministic; the total weight stands at the start.

    Raises
    ------
    AutomatonError
        If it is a transducer, has EPSILON transitions, accepts nothing, or needs too many states.
    DataError
        If the weights do not fit; REAL weights must be >= 0.

    References
    ----------
    Mohri (1997), figure 10.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 2, 7), (1, 3, 8), (2, 3, 8)], final=[3])
    >>> made = determinize(WeightedAutomaton(a, [0.25, 0.25, 1.0, 1.0]), Semiring.REAL)
    >>> made.automaton.label.tolist(), made.weight.tolist()
    ([7, 8], [0.5, 1.0])
    """
    automaton, weight, final = trimmed(weighted, semiring, non_negative=True)
    if automaton.output is not None:
        raise AutomatonError("determinize takes acceptors; project the transducer first")
    if EPSILON in automaton.label:
        raise AutomatonError("determinize takes automata without EPSILON; call remove_epsilon first")
    pushed = push(automaton, weight, final, semiring)
    code = int(semiring)
    subsets: list[Subset] = [[(automaton.start, semiring.one)]]
    numbers = {_key(subsets[0], semiring, digits): 0}
    rows: list[tuple[int, int, int, float]] = []
    final_weight: list[float] = []
    for q, subset in enumerate(subsets):  # grows while it is walked through
        ending = semiring.zero
        for state, residual in subset:
            ending = plus(code, ending, times(code, residual, float(pushed.final_weight[state])))
        final_weight.append(ending)
        for label, (cost, follower) in sorted(_followers(automaton, pushed.weight, subset, semiring).items()):
            key = _key(follower, semiring, digits)
            if key not in numbers:
                numbers[key] = len(subsets)
                subsets.append(follower)
                if len(subsets) > max_states:
                    raise AutomatonError(f"more than {max_states} states are needed; raise max_states or prune first")
            rows.append((q, numbers[key], label, cost))
    return _build(rows, final_weight, pushed.total, semiring)


def _followers(
    automaton: Automaton, weight: np.ndarray[tuple[int], np.dtype[np.float64]], subset: Subset, semiring: Semiring
) -> dict[int, tuple[float, Subset]]:
    """For each label: the weight of the transition, and the subset it leads to."""
    code = int(semiring)
    reached: dict[int, dict[int, float]] = {}
    for state, residual in subset:
        for e in range(automaton.offsets[state], automaton.offsets[state + 1]):
            paid = times(code, residual, float(weight[e]))
            targets = reached.setdefault(int(automaton.label[e]), {})
            target = int(automaton.target[e])
            targets[target] = plus(code, targets[target], paid) if target in targets else paid
    followers = {}
    for label, targets in reached.items():
        cost = semiring.zero
        for target in sorted(targets):
            cost = plus(code, cost, targets[target])
        if cost != semiring.zero:  # a product of REAL weights can underflow
            followers[label] = (cost, [(target, divide(code, targets[target], cost)) for target in sorted(targets)])
    return followers


def _key(subset: Subset, semiring: Semiring, digits: int) -> tuple[tuple[int, float], ...]:
    if semiring is Semiring.REAL:
        return tuple((state, float(f"{residual:.{digits}g}")) for state, residual in subset)
    return tuple((state, round(residual, digits) + 0.0) for state, residual in subset)


def _build(
    rows: list[tuple[int, int, int, float]], final_weight: list[float], total: float, semiring: Semiring
) -> WeightedAutomaton:
    """Sort topologically; the total goes to the weights of the start."""
    columns = np.array([row[:3] for row in rows], dtype=np.int64).reshape(-1, 3).T
    final = [q for q, ending in enumerate(final_weight) if ending != semiring.zero]
    made = top_sort(columns[0], columns[1], columns[2], final=final, n_states=len(final_weight))
    automaton = made.automaton
    weight = np.array([row[3] for row in rows], dtype=np.float64)[made.transition]
    ending = np.array(final_weight)[made.state]
    begin, end = automaton.offsets[automaton.start : automaton.start + 2]
    code = int(semiring)
    weight[begin:end] = [times(code, total, cost) for cost in weight[begin:end].tolist()]
    ending[automaton.start] = times(code, total, float(ending[automaton.start]))
    return WeightedAutomaton(automaton, weight, ending)
