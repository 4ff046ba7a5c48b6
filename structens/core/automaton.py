"""Automaton: an acyclic finite automaton as flat arrays, its weights kept apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core.errors import AutomatonError

EPSILON = -1
"""Label of a transition that reads or writes nothing; the same code as a GAP in a slot."""


@dataclass(frozen=True, eq=False)
class Automaton:
    """Topology and labels of an acyclic automaton; transitions sorted by source, states in topological order.

    One automaton serves many weight vectors: weights are separate arrays, one number a transition, with one number a
    state for final weights. In the log and tropical semirings a weight is a cost (minus log of a probability).

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_states + 1,)
        The transitions that leave state q are ``offsets[q]:offsets[q + 1]``.
    target : ndarray of int32, shape (n_transitions,)
        Every target is greater than its source.
    label : ndarray of int32, shape (n_transitions,)
        Input label, or EPSILON.
    is_final : ndarray of bool, shape (n_states,)
    start : int
    output : ndarray of int32, shape (n_transitions,), or None
        Output label of a transducer; None for an acceptor.

    Raises
    ------
    AutomatonError
        If the arrays do not fit, a target is out of range, or the states are not in topological order.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 9)], final=[2])
    >>> a.n_states, a.n_transitions, a.source.tolist(), a.label.tolist()
    (3, 3, [0, 0, 1], [7, 8, 9])
    """

    offsets: NDArray[np.int64]
    target: NDArray[np.int32]
    label: NDArray[np.int32]
    is_final: NDArray[np.bool_]
    start: int = 0
    output: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        for name, dtype in (("offsets", np.int64), ("target", np.int32), ("label", np.int32), ("is_final", np.bool_)):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=dtype))
        n_states, n_transitions = len(self.is_final), len(self.target)
        if len(self.offsets) != n_states + 1 or self.offsets[0] != 0 or self.offsets[-1] != n_transitions:
            raise AutomatonError(f"offsets must run from 0 to {n_transitions} over {n_states} states")
        if len(self.label) != n_transitions or (self.output is not None and len(self.output) != n_transitions):
            raise AutomatonError("need one label a transition")
        if n_states and not 0 <= self.start < n_states:
            raise AutomatonError(f"start state {self.start} is not one of {n_states} states")
        if n_transitions:
            source = self.source
            if (self.target <= source).any():
                e = int(np.flatnonzero(self.target <= source)[0])
                edge = f"{source[e]} -> {self.target[e]}"
                raise AutomatonError(f"transition {edge} is against topological order; build with from_transitions")
            if self.target.max() >= n_states:
                raise AutomatonError(f"a transition leads to state {self.target.max()}, but there are {n_states}")

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.is_final)

    @property
    def n_transitions(self) -> int:
        """Number of transitions."""
        return len(self.target)

    @cached_property
    def source(self) -> NDArray[np.int32]:
        """Source state of each transition, shape (n_transitions,)."""
        return np.repeat(np.arange(self.n_states, dtype=np.int32), np.diff(self.offsets))

    @classmethod
    def from_transitions(
        cls,
        transitions: Iterable[Sequence[int]],
        *,
        final: Iterable[int],
        start: int = 0,
        n_states: int | None = None,
    ) -> Automaton:
        """Build from (source, target, label) or (source, target, label, output) in any order.

        States are renumbered to a topological order (ties to the lower old number) only when the given numbers are
        not one already; transitions keep their relative order within a source. Use `order_of_transitions` to bring
        weights given in the old order along. The states are 0 to the largest number in `transitions`, `final` and
        `start`, or to ``n_states - 1`` if that is larger: a state without transitions is there, too.

        Raises
        ------
        AutomatonError
            If there is a cycle; the message names a state on it. If something is no whole number, or a state negative.
        """
        rows = _whole(list(transitions), (3, 4), "a transition is (source, target, label) or (..., label, output)")
        final_states = _whole([(q,) for q in final], (1,), "final states are numbers").ravel()
        _whole([(start,)], (1,), "the start state is a number")
        size = 1 + max([start, *rows[:, :2].ravel().tolist(), *final_states.tolist()])
        size = max(size, n_states or 0)
        rank = topological_rank(rows[:, 0], rows[:, 1], size)
        source, target = rank[rows[:, 0]], rank[rows[:, 1]]
        order = np.argsort(source, kind="stable")
        is_final = np.zeros(size, dtype=bool)
        is_final[rank[final_states]] = True
        return cls(
            offsets=np.concatenate([[0], np.cumsum(np.bincount(source, minlength=size))]),
            target=target[order].astype(np.int32),
            label=rows[order, 2].astype(np.int32),
            is_final=is_final,
            start=int(rank[start]),
            output=rows[order, 3].astype(np.int32) if rows.shape[1] > 3 else None,
        )


def _whole(rows: list[Any], widths: tuple[int, ...], rule: str) -> NDArray[np.int64]:
    """Rows of 32-bit whole numbers, of which the first two columns are states."""
    try:
        given = np.array([tuple(row) for row in rows])
    except (TypeError, ValueError):
        given = np.array(None)
    if not rows:
        return np.zeros((0, widths[0]), dtype=np.int64)
    fits = given.ndim == 2 and given.shape[1] in widths and given.dtype.kind in "iuf"
    if fits and ((given == np.floor(given)) & (abs(given) < 2**31)).all() and (given[:, :2] >= 0).all():
        return given.astype(np.int64)
    for row in rows if len(rows) > 1 else ():
        _whole([row], widths, rule)  # names the first that is wrong by itself
    got = repr(rows[0]) if len(rows) == 1 else "rows of unequal length or kind"
    raise AutomatonError(f"{rule}, whole numbers below 2**31, states from 0 on; got {got}")


def topological_rank(source: NDArray[Any], target: NDArray[Any], n_states: int) -> NDArray[np.int64]:
    """New number of each state so that every transition leads upwards; unchanged where it already does.

    Raises
    ------
    AutomatonError
        If there is a cycle.

    Examples
    --------
    >>> topological_rank(np.array([2, 0]), np.array([0, 1]), 3).tolist()
    [1, 2, 0]
    """
    if (np.asarray(target) > np.asarray(source)).all():
        return np.arange(n_states, dtype=np.int64)
    import heapq

    followers: list[list[int]] = [[] for _ in range(n_states)]
    waiting = np.bincount(target, minlength=n_states)
    for q, r in zip(source.tolist(), target.tolist(), strict=True):
        followers[q].append(r)
    ready = [q for q in range(n_states) if waiting[q] == 0]
    rank = np.full(n_states, -1, dtype=np.int64)
    for place in range(n_states):
        if not ready:
            state = int(np.flatnonzero(rank < 0)[0])
            raise AutomatonError(
                f"the automaton has a cycle through or before state {state}; only acyclic ones are used"
            )
        q = heapq.heappop(ready)
        rank[q] = place
        for r in followers[q]:
            waiting[r] -= 1
            if waiting[r] == 0:
                heapq.heappush(ready, r)
    return rank


def order_of_transitions(transitions: Sequence[Sequence[int]], *, n_states: int | None = None) -> NDArray[np.int64]:
    """Place in the given list of each transition of ``Automaton.from_transitions``.

    Examples
    --------
    >>> order_of_transitions([(1, 2, 5), (0, 1, 6)]).tolist()
    [1, 0]
    """
    rows = np.array([tuple(t)[:2] for t in transitions], dtype=np.int64).reshape(-1, 2)
    size = max(n_states or 0, 1 + int(rows.max(initial=0)))
    return np.argsort(topological_rank(rows[:, 0], rows[:, 1], size)[rows[:, 0]], kind="stable")
