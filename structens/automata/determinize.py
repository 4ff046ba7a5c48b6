"""Determinisation: the same weighted strings, with at most one transition a label from each state.

A state of the result is a weighted subset: the states in which the argument can be after reading a string, each with
what of its weight has not been paid yet. On acyclic automata this ends, though the result can be exponentially large.

Source: Mohri, "Finite-state transducers in language and speech processing" (1997), section 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structens.automata.determinize_kernels import FULL, Machine, Work, expand, rehash
from structens.automata.push import push
from structens.automata.semiring import Semiring
from structens.automata.topological import top_sort
from structens.automata.weighted import WeightedAutomaton, trimmed
from structens.core import EPSILON, Automaton, AutomatonError


def is_deterministic(automaton: Automaton) -> bool:
    """True if no transition is EPSILON and no state has two transitions with the same label.

    Examples
    --------
    >>> is_deterministic(Automaton.from_transitions([(0, 1, 7), (0, 2, 7)], final=[1, 2]))
    False
    """
    low = int(automaton.label.min(initial=0))
    key = automaton.source.astype(np.int64) * (int(automaton.label.max(initial=0)) - low + 1) + automaton.label - low
    if not (np.diff(key) > 0).all():
        key.sort()
    return low != EPSILON and bool((np.diff(key) > 0).all())


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
        Two subsets are one state if their residuals, as costs, agree after rounding to so many decimals; for REAL that
        is so many significant digits.

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
    n_labels = int(automaton.label.max(initial=0)) + 1
    key = (automaton.source.astype(np.int64) * n_labels + automaton.label) * (automaton.n_states + 1) + automaton.target
    order = np.argsort(key, kind="stable") if not (np.diff(key) > 0).all() else np.arange(len(key))
    machine = Machine(
        automaton.offsets,
        automaton.target[order],
        automaton.label[order],
        pushed.weight[order],
        pushed.final_weight,
        int(semiring),
        10.0**digits,
    )
    work = _first_subset(automaton, semiring)
    while status := expand(machine, work):
        if work.progress[0] > max_states:
            break
        work = _larger(work, status)
    if work.progress[0] > max_states:
        raise AutomatonError(f"more than {max_states} states are needed; raise max_states or prune first")
    return _build(work, pushed.total, semiring)


def _first_subset(automaton: Automaton, semiring: Semiring) -> Work:
    size = max(1024, automaton.n_states)
    work = Work(
        ends=np.zeros(size + 1, dtype=np.int64),
        state=np.empty(4 * size, dtype=np.int32),
        residual=np.empty(4 * size),
        code=np.empty(4 * size, dtype=np.int64),
        hash=np.empty(size, dtype=np.int64),
        table=np.full(1 << (2 * size - 1).bit_length(), -1, dtype=np.int32),
        step_ends=np.zeros(size + 1, dtype=np.int64),
        target=np.empty(2 * automaton.n_transitions + 1024, dtype=np.int32),
        label=np.empty(2 * automaton.n_transitions + 1024, dtype=np.int32),
        weight=np.empty(2 * automaton.n_transitions + 1024),
        final=np.empty(size),
        key=np.empty((2, 1024), dtype=np.int64),
        paid=np.empty((2, 1024)),
        progress=np.zeros(3, dtype=np.int64),
    )
    work.state[0], work.residual[0], work.code[0], work.ends[1], work.hash[0] = automaton.start, semiring.one, 0, 1, 0
    work.progress[0] = 1
    return work


def _larger(work: Work, status: int) -> Work:
    """Make room for twice as many of what there was no room for."""
    more = {}
    for name in FULL[status]:
        array = getattr(work, name)
        shape = (2, 2 * array.shape[1]) if array.ndim == 2 else 2 * len(array)
        more[name] = np.empty(shape, dtype=array.dtype)
        if array.ndim == 1:
            more[name][: len(array)] = array
    if "hash" in more:
        more["table"] = np.full(2 * len(work.table), -1, dtype=np.int32)
        rehash(more["hash"], int(work.progress[0]), more["table"])
    return work._replace(**more)


def _build(work: Work, total: float, semiring: Semiring) -> WeightedAutomaton:
    """Sort topologically; the total goes to the weights of the start."""
    n_states, n_steps = int(work.progress[0]), int(work.progress[2])
    source = np.repeat(np.arange(n_states), np.diff(work.step_ends[: n_states + 1]))
    ending: NDArray[np.float64] = work.final[:n_states].copy()
    final = np.flatnonzero(ending != semiring.zero)
    made = top_sort(source, work.target[:n_steps], work.label[:n_steps], final=final, n_states=n_states)
    automaton = made.automaton
    weight, ending = work.weight[made.transition], ending[made.state]
    begin, end = automaton.offsets[automaton.start : automaton.start + 2]
    if semiring is Semiring.REAL:
        weight[begin:end] *= total
        ending[automaton.start] *= total
    else:
        weight[begin:end] += total
        ending[automaton.start] += total
    return WeightedAutomaton(automaton, weight, ending)
