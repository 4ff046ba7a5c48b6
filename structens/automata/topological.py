"""Topological order, and connection: the part of an automaton that lies on accepting paths.

Source: Mohri, "Weighted automata algorithms" (2009); a state is kept if it is accessible and co-accessible.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from structens.automata.semiring import Semiring
from structens.automata.weights import as_weights
from structens.core import Automaton, AutomatonError


class Renumbered(NamedTuple):
    """An automaton with new numbers, and the old ones, to bring weights along: ``weight[r.transition]``.

    Attributes
    ----------
    automaton : Automaton
    transition : ndarray of int64, shape (n_transitions,)
        Old number of each transition.
    state : ndarray of int64, shape (n_states,)
        Old number of each state.
    """

    automaton: Automaton
    transition: NDArray[np.int64]
    state: NDArray[np.int64]


def top_sort(
    source: ArrayLike,
    target: ArrayLike,
    label: ArrayLike,
    *,
    final: ArrayLike,
    start: int = 0,
    n_states: int | None = None,
    output: ArrayLike | None = None,
) -> Renumbered:
    """Build an automaton from transitions in any order, with the states in topological order; linear time.

    States keep their numbers where these are topological already. Otherwise they are ordered by the length of the
    longest path that leads to them, then by old number. Transitions keep their order within a state.

    Parameters
    ----------
    source, target, label : array_like of int, shape (n_transitions,)
    final : array_like of int
        Numbers of the final states.
    start : int
    n_states : int or None
        None is one more than the highest number that occurs.
    output : array_like of int, shape (n_transitions,), or None

    Raises
    ------
    AutomatonError
        If there is a cycle; the message spells it out.

    Examples
    --------
    >>> r = top_sort([2, 0], [0, 1], [5, 6], final=[1], start=2)
    >>> r.state.tolist(), r.transition.tolist(), r.automaton.label.tolist(), r.automaton.start
    ([2, 0, 1], [0, 1], [5, 6], 0)
    """
    sources, targets = np.asarray(source, dtype=np.int64), np.asarray(target, dtype=np.int64)
    finals = np.asarray(final, dtype=np.int64)
    size = 1 + max(int(sources.max(initial=-1)), int(targets.max(initial=-1)), int(finals.max(initial=-1)), start)
    size = max(size, n_states or 0)
    if min(int(sources.min(initial=0)), int(targets.min(initial=0)), int(finals.min(initial=0)), start) < 0:
        raise AutomatonError("state numbers start at 0; a negative one was given")
    state = np.arange(size, dtype=np.int64)
    if not (targets > sources).all():
        depth, n_sorted = depths(np.ascontiguousarray(sources), np.ascontiguousarray(targets), size)
        if n_sorted < size:
            raise AutomatonError(f"only acyclic automata are used; this one has the cycle {_cycle(sources, targets)}")
        state = np.lexsort((state, depth))
    rank = np.empty(size, dtype=np.int64)
    rank[state] = np.arange(size)
    transition = np.argsort(rank[sources], kind="stable")
    is_final = np.zeros(size, dtype=np.bool_)
    is_final[rank[finals]] = True
    automaton = Automaton(
        offsets=np.concatenate([[0], np.cumsum(np.bincount(rank[sources], minlength=size))]),
        target=rank[targets][transition].astype(np.int32),
        label=np.asarray(label, dtype=np.int32)[transition],
        is_final=is_final,
        start=int(rank[start]),
        output=None if output is None else np.asarray(output, dtype=np.int32)[transition],
    )
    return Renumbered(automaton, transition, state)


def connect(
    automaton: Automaton,
    weight: ArrayLike | None = None,
    final_weight: ArrayLike | None = None,
    semiring: Semiring = Semiring.LOG,
) -> Renumbered:
    """The automaton without the states and transitions that lie on no accepting path.

    Parameters
    ----------
    automaton : Automaton
    weight : array_like, shape (n_transitions,), or None
        If given, a transition with the semiring's zero (a cost of +inf, a real weight of 0) counts as missing.
    final_weight : array_like, shape (n_states,), or None
        If given, a final state with the semiring's zero counts as not final.
    semiring : Semiring

    Returns
    -------
    Renumbered
        What is kept, in the old order. If there is no accepting path: the start state alone, not final.

    Raises
    ------
    DataError
        If the weights do not fit.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 2, 8), (1, 4, 9), (3, 4, 5)], final=[4])
    >>> kept = connect(a)
    >>> kept.state.tolist(), kept.transition.tolist()
    ([0, 1, 4], [0, 2])
    """
    unweighted = np.full(automaton.n_transitions, semiring.one) if weight is None else weight
    weights, final = as_weights(automaton, unweighted, final_weight, semiring)
    present, is_final = weights != semiring.zero, final != semiring.zero
    useful = np.zeros(automaton.n_states, dtype=np.bool_)
    if automaton.n_states:
        _useful(automaton.offsets, automaton.target, present, is_final, automaton.start, useful)
        useful[automaton.start] = True
    keep = present & useful[automaton.source] & useful[automaton.target]
    state, transition = np.flatnonzero(useful), np.flatnonzero(keep)
    number = np.cumsum(useful) - 1
    counts = np.bincount(number[automaton.source[transition]], minlength=len(state))
    trimmed = Automaton(
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        target=number[automaton.target[transition]].astype(np.int32),
        label=automaton.label[transition],
        is_final=is_final[state],
        start=int(number[automaton.start]) if automaton.n_states else 0,
        output=None if automaton.output is None else automaton.output[transition],
    )
    return Renumbered(trimmed, transition, state)


def _cycle(source: NDArray[np.int64], target: NDArray[np.int64]) -> str:
    """One cycle as text: walk back among the states that wait for each other until one comes twice."""
    before: dict[int, list[int]] = {}
    after: dict[int, int] = {}
    for q, r in zip(source.tolist(), target.tolist(), strict=True):
        before.setdefault(r, []).append(q)
        after[q] = after.get(q, 0) + 1
    # Peel off the states that lead nowhere, so that every state left has a way on; then walk on.
    ends = [r for r in before if r not in after]
    while ends:
        for q in before.pop(ends.pop(), []):
            after[q] -= 1
            if after[q] == 0:
                del after[q]
                ends.append(q)
    on = {q: r for q, r in zip(source.tolist(), target.tolist(), strict=True) if q in after and r in after}
    walk: list[Any] = [min(on)]
    while on[walk[-1]] not in walk:
        walk.append(on[walk[-1]])
    ring = walk[walk.index(on[walk[-1]]) :]
    shown = ring if len(ring) <= 12 else [*ring[:6], "...", *ring[-5:]]
    return " -> ".join(map(str, [*shown, ring[0]]))


@njit(cache=True)
def depths(source, target, n_states):  # type: ignore[no-untyped-def]
    """Transitions on the longest path to each state, and how many states could be ordered at all: all if acyclic."""
    offsets = np.zeros(n_states + 1, dtype=np.int64)
    waiting = np.zeros(n_states, dtype=np.int64)
    for e in range(len(source)):
        offsets[source[e] + 1] += 1
        waiting[target[e]] += 1
    for q in range(n_states):
        offsets[q + 1] += offsets[q]
    place = offsets[:-1].copy()
    follower = np.empty(len(source), dtype=np.int64)
    for e in range(len(source)):
        follower[place[source[e]]] = target[e]
        place[source[e]] += 1
    depth = np.zeros(n_states, dtype=np.int64)
    queue = np.empty(n_states, dtype=np.int64)
    head, tail = 0, 0
    for q in range(n_states):
        if waiting[q] == 0:
            queue[tail] = q
            tail += 1
    while head < tail:
        q = queue[head]
        head += 1
        for i in range(offsets[q], offsets[q + 1]):
            r = follower[i]
            depth[r] = max(depth[r], depth[q] + 1)
            waiting[r] -= 1
            if waiting[r] == 0:
                queue[tail] = r
                tail += 1
    return depth, tail


@njit(cache=True)
def _useful(offsets, target, present, is_final, start, useful):  # type: ignore[no-untyped-def]
    """Mark the states that the start leads to and that lead to a final state."""
    for q in range(len(is_final) - 1, -1, -1):
        useful[q] = is_final[q]
        for e in range(offsets[q], offsets[q + 1]):
            if present[e] and useful[target[e]]:
                useful[q] = True
    reached = np.zeros(len(is_final), dtype=np.bool_)
    reached[start] = True
    for q in range(len(is_final)):
        useful[q] = useful[q] and reached[q]
        if reached[q]:
            for e in range(offsets[q], offsets[q + 1]):
                if present[e]:
                    reached[target[e]] = True
