"""Path experts of any acyclic automaton, as ESPBoost sees them: the oracle is a shortest path.

Every state lies before a slot: a transition says its label in the slot of its source, and skips the slots from the next
one up to that of its target; a path that ends early skips the rest. Paths may differ in length, in two ways:
"epsilon", where a skipped slot is the answer "nothing", right where gold says nothing; and "abstain", where it is no
answer, rho = 0. ESPBoost, Cortes, Kuznetsov and Mohri (ACL 2014), section 4.2, and Figure 2 of the ICML 2014 paper.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata import shortest_path
from structens.boosting.esp_boost_kernels import transition_masses
from structens.core import ABSENT, EPSILON, GAP, Automaton, DataError, ParameterError

GRID = 2.0**42
"""Costs are whole numbers of 1/GRID of the largest, so that equal sums are equal, and ties go to the first path."""


class AutomatonPaths:
    """Path experts of an automaton that all records share.

    A path is the array of its transitions, and ``n_transitions + q`` for the state q where it ends.

    Parameters
    ----------
    automaton : Automaton
    rho : array_like, shape (m, n_transitions)
        Margin of what each transition says in each record, in [-1, 1]; 0 for no answer.
    n_slots : int
    slot : array_like of int, shape (n_states,), optional
        Slot of each state, from 0 to `n_slots`; by default the length of the longest path to it.
    silence : array_like, shape (m, n_slots), optional
        Margin of saying nothing in a slot; by default 0, which abstains.
    weight : array_like, shape (m, n_slots), optional
        D_1 up to a factor; 0 where a record has no such slot.

    Raises
    ------
    DataError
        If the arrays do not fit, there is no slot, or a transition does not lead to a later slot.
    AutomatonError
        If no path leads from the start to a final state.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 7), (1, 2, 8)], final=[2])
    >>> paths = AutomatonPaths.of_outputs(a, [[0, 1, 1, 0], [0, 1, 0, 1]], [[0, 1], [1, 0]])
    >>> plus, minus = paths.masses(paths.weight)
    >>> paths.best(plus - minus, plus + minus).tolist(), paths.margin(np.array([0, 2, 6])).tolist()
    ([0, 2, 6], [1.0, 1.0, -1.0, 1.0])
    """

    is_additive = True

    def __init__(
        self,
        automaton: Automaton,
        rho: ArrayLike,
        n_slots: int,
        *,
        slot: ArrayLike | None = None,
        silence: ArrayLike | None = None,
        weight: ArrayLike | None = None,
    ) -> None:
        self.automaton, self.n_slots = automaton, n_slots
        self.rho = np.ascontiguousarray(rho, dtype=np.float64)
        m = len(self.rho)
        depth = depths(automaton)
        self._reached = depth >= 0
        self.slot = np.maximum(depth, 0) if slot is None else np.asarray(slot, dtype=np.int64)
        self.silence = np.zeros((m, n_slots)) if silence is None else np.asarray(silence, dtype=np.float64)
        weights = np.ones((m, n_slots)) if weight is None else np.asarray(weight, dtype=np.float64)
        self._check(weights)
        self._cells = np.flatnonzero(weights)
        self.weight = (weights / weights.sum()).ravel()[self._cells]
        self.n = float(len(self._cells))
        discrete = [bool((x == np.rint(x)).all()) for x in (self.rho, self.silence)]
        self.is_discrete = all(discrete)
        shortest_path(automaton, np.zeros(automaton.n_transitions))  # refuses an automaton without paths

    def _check(self, weight: NDArray[np.float64]) -> None:
        a, m = self.automaton, len(self.rho)
        if self.n_slots < 1:
            raise DataError(f"need at least one slot; got n_slots = {self.n_slots!r}")
        if self.rho.shape != (m, a.n_transitions) or not self.rho.size or not (np.abs(self.rho) <= 1).all():
            rule = f"need margins between -1 and 1 of shape (m, {a.n_transitions}), at least one"
            raise DataError(f"{rule}; got shape {self.rho.shape}")
        for name, table in (("silence", self.silence), ("weight", weight)):
            if table.shape != (m, self.n_slots) or not np.isfinite(table).all():
                raise DataError(f"{name} must be finite, of shape ({m}, {self.n_slots}); got shape {table.shape}")
        if not (np.abs(self.silence) <= 1).all() or not (weight >= 0).all() or not weight.any():
            raise DataError("silence must be between -1 and 1, and weights at least 0, one of them above")
        if self.slot.shape != (a.n_states,) or self.slot[a.start] != 0:
            raise DataError(
                f"need a slot for each of {a.n_states} states, 0 for the start; got shape {self.slot.shape}"
            )
        back = self._reached[a.source] & (self.slot[a.target] <= self.slot[a.source])
        if back.any() or not ((self.slot >= 0) & (self.slot <= self.n_slots)).all():
            raise DataError(f"every transition must lead to a later slot, and slots lie between 0 and {self.n_slots}")

    @classmethod
    def of_outputs(
        cls,
        automaton: Automaton,
        outputs: ArrayLike,
        gold: ArrayLike,
        *,
        slot: ArrayLike | None = None,
        unequal: str = "epsilon",
        weight: ArrayLike | None = None,
    ) -> AutomatonPaths:
        """Path experts from what their transitions say.

        Parameters
        ----------
        automaton : Automaton
        outputs : array_like of int, shape (m, n_transitions)
            Label codes, GAP (or EPSILON) for nothing, ABSENT for no answer.
        gold : array_like of int, shape (m, n_slots)
            Label codes; GAP where nothing is right, as behind the end of a shorter record.
        unequal : {"epsilon", "abstain"}
        slot, weight
            As of the class.

        Raises
        ------
        ParameterError
            If there is no such way with paths of unequal length.
        DataError
            As of the class.
        """
        if unequal not in ("epsilon", "abstain"):
            raise ParameterError(f"unequal must be epsilon or abstain; got {unequal!r}")
        said, right = np.asarray(outputs, dtype=np.int64), np.asarray(gold, dtype=np.int64)
        if said.ndim != 2 or right.ndim != 2 or len(said) != len(right) or said.shape[1] != automaton.n_transitions:
            raise DataError(
                f"need outputs (m, {automaton.n_transitions}) and gold (m, n_slots); got shapes "
                f"{said.shape} and {right.shape}"
            )
        if not right.shape[1]:
            raise DataError(f"need gold of at least one slot; got shape {right.shape}")
        where = np.maximum(depths(automaton), 0) if slot is None else np.asarray(slot, dtype=np.int64)
        rho = np.where(said == right[:, np.minimum(where[automaton.source], right.shape[1] - 1)], 1.0, -1.0)
        rho[said == ABSENT] = 0.0
        silence = None
        if unequal == "epsilon":
            silence = np.where(right == GAP, 1.0, -1.0)
        else:
            rho[said == EPSILON] = 0.0
        return cls(automaton, rho, right.shape[1], slot=where, silence=silence, weight=weight)

    def masses(self, d: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """As in `structens.boosting.esp_slots.PathExperts`; shape (n_transitions + n_states,)."""
        a, table = self.automaton, np.zeros((len(self.rho), self.n_slots))
        table.ravel()[self._cells] = d
        said = self.slot[a.source]
        plus, minus = transition_masses(self.rho, table, said)
        out = []
        for own, skipped in ((plus, np.maximum(self.silence, 0.0)), (minus, np.maximum(-self.silence, 0.0))):
            up_to = np.concatenate([[0.0], np.cumsum((table * skipped).sum(axis=0))])
            between = up_to[self.slot[a.target]] - up_to[said + 1]
            out.append(np.concatenate([own + between, up_to[-1] - up_to[self.slot]]))
        return out[0], out[1]

    def best(self, gain: NDArray[np.float64], mass: NDArray[np.float64]) -> NDArray[np.int64]:
        """The longest path by gain; of equal ones the one whose first differing transition has the lowest number."""
        a = self.automaton
        cost = -np.rint(gain * (GRID / max(1.0, float(np.abs(gain).max()))))
        final = np.where(a.is_final, cost[a.n_transitions :], np.inf)
        return self._closed(shortest_path(a, cost[: a.n_transitions], final))

    def path(self, transitions: ArrayLike) -> NDArray[np.int64]:
        """Parameters of the path of these transitions."""
        return self._closed(np.asarray(transitions, dtype=np.int64))

    def _closed(self, path: NDArray[np.int64]) -> NDArray[np.int64]:
        a = self.automaton
        end = int(a.target[path[-1]]) if len(path) else a.start
        return np.append(path, a.n_transitions + end)

    def margin(self, path: NDArray[np.int64]) -> NDArray[np.float64]:
        """As in `structens.boosting.esp_slots.PathExperts`; cells are (record, slot) of a weight above 0."""
        out = self.silence.copy()
        transitions = path[:-1]
        out[:, self.slot[self.automaton.source[transitions]]] = self.rho[:, transitions]
        return out.ravel()[self._cells]


def depths(automaton: Automaton) -> NDArray[np.int64]:
    """Number of transitions on the longest path from the start to each state, -1 for those out of reach.

    Examples
    --------
    >>> depths(Automaton.from_transitions([(0, 1, 7), (1, 2, 7), (0, 2, 8)], final=[2])).tolist()
    [0, 1, 2]
    """
    out = np.full(automaton.n_states, -1, dtype=np.int64)
    out[automaton.start] = 0
    for q, r in zip(automaton.source.tolist(), automaton.target.tolist(), strict=True):
        if out[q] >= 0:
            out[r] = max(out[r], out[q] + 1)
    return out
