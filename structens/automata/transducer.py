"""Transducer: a weighted transducer that may have cycles, as the second argument of composition.

An `Automaton` has no cycles, but the transducers that one composes it with often have: the edit transducer loops on
every label, an n-gram automaton comes back to the same history. As long as no cycle reads nothing, what comes out is
acyclic again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from structens.core import EPSILON, AutomatonError


@dataclass(frozen=True, eq=False)
class Transducer:
    """Transitions sorted by source, in any order of states.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_states + 1,)
    target : ndarray of int32, shape (n_transitions,)
    label : ndarray of int32, shape (n_transitions,)
        What is read; EPSILON is nothing.
    weight : ndarray of float64, shape (n_transitions,)
        In the semiring of the verb that takes it.
    final_weight : ndarray of float64, shape (n_states,)
        The semiring's zero where a state is not final.
    start : int
    output : ndarray of int32, shape (n_transitions,), or None
        What is written; None for an acceptor.

    Raises
    ------
    AutomatonError
        If the arrays do not fit or a state is out of range.

    Examples
    --------
    >>> loop = Transducer.from_transitions([(0, 0, 7, 8, 0.5)], final={0: 0.0})
    >>> loop.n_states, loop.n_transitions, loop.output.tolist()
    (1, 1, [8])
    """

    offsets: NDArray[np.int64]
    target: NDArray[np.int32]
    label: NDArray[np.int32]
    weight: NDArray[np.float64]
    final_weight: NDArray[np.float64]
    start: int = 0
    output: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        types = {"offsets": np.int64, "target": np.int32, "label": np.int32, "output": np.int32}
        for name in ("offsets", "target", "label", "weight", "final_weight", "output"):
            if getattr(self, name) is not None:
                value = np.ascontiguousarray(getattr(self, name), dtype=types.get(name, np.float64))
                object.__setattr__(self, name, value)
        sizes = {len(self.label), len(self.weight), len(self.target)}
        sizes |= set() if self.output is None else {len(self.output)}
        if len(self.offsets) != self.n_states + 1 or self.offsets[0] != 0 or sizes != {int(self.offsets[-1])}:
            raise AutomatonError(f"offsets must run from 0 to {len(self.target)} over {self.n_states} states")
        if (np.diff(self.offsets) < 0).any():
            raise AutomatonError("offsets must not decrease")
        low, high = self.target.min(initial=0), self.target.max(initial=-1)
        if low < 0 or high >= self.n_states or not 0 <= self.start < self.n_states:
            raise AutomatonError(f"a state is not one of {self.n_states}: targets {low} to {high}, start {self.start}")

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.final_weight)

    @property
    def n_transitions(self) -> int:
        """Number of transitions."""
        return len(self.target)

    @property
    def source(self) -> NDArray[np.int32]:
        """Source state of each transition, shape (n_transitions,)."""
        return np.repeat(np.arange(self.n_states, dtype=np.int32), np.diff(self.offsets))

    @classmethod
    def from_transitions(
        cls,
        transitions: Iterable[Sequence[float]],
        *,
        final: dict[int, float],
        start: int = 0,
        zero: float = np.inf,
    ) -> Transducer:
        """Build from (source, target, label, output, weight) in any order and final weights by state.

        Parameters
        ----------
        zero : float
            Weight of states that are not final: inf for costs, 0 for real weights.

        Examples
        --------
        >>> Transducer.from_transitions([(1, 0, 3, -1, 2.0), (0, 1, 4, 5, 1.0)], final={1: 0.0}).label.tolist()
        [4, 3]
        """
        rows = [tuple(t) for t in transitions]
        states = np.array([row[:2] for row in rows], dtype=np.int64).reshape(-1, 2)
        labels = np.array([row[2:4] for row in rows], dtype=np.int64).reshape(-1, 2)
        size = 1 + max([start, int(states.max(initial=0)), *final])
        order = np.argsort(states[:, 0], kind="stable")
        final_weight = np.full(size, zero)
        for q, weight in final.items():
            final_weight[q] = weight
        return cls(
            offsets=np.concatenate([[0], np.cumsum(np.bincount(states[:, 0], minlength=size))]),
            target=states[order, 1].astype(np.int32),
            label=labels[order, 0].astype(np.int32),
            weight=np.array([row[4] for row in rows], dtype=np.float64)[order],
            final_weight=final_weight,
            start=start,
            output=labels[order, 1].astype(np.int32),
        )


def nothing_read_order(
    offsets: NDArray[np.int64], target: NDArray[np.int32], label: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Rank of each state, so that transitions that read nothing lead upwards; the numbers themselves if they do.

    Raises
    ------
    AutomatonError
        If a cycle reads nothing.

    Examples
    --------
    >>> nothing_read_order(np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([7, EPSILON], np.int32)).tolist()
    [1, 0]
    """
    from structens.automata.topological import depths

    n_states = len(offsets) - 1
    silent = np.flatnonzero(label == EPSILON)
    source = (np.searchsorted(offsets, silent, side="right") - 1).astype(np.int64)
    if (target[silent] > source).all():
        return np.arange(n_states, dtype=np.int64)
    depth, n_sorted = depths(source, target[silent].astype(np.int64), n_states)
    if n_sorted < n_states:
        rule = "a cycle of the transducer reads nothing, so that the composition would have cycles"
        raise AutomatonError(f"{rule}; compose it with what it shall write first (for edits: edit_transducer(n, y))")
    rank = np.empty(n_states, dtype=np.int64)
    rank[np.lexsort((np.arange(n_states), depth))] = np.arange(n_states)
    return rank
