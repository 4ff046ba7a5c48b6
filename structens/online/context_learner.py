"""ContextLearner: what the learners on slots share that keep a state for each context.

A subclass holds one row of state a context and plays `Visits` in order. States can be stored, and played on later. The
experts that are asleep in a visit are not updated, and do not count in what the learner is charged (Freund, Schapire,
Singer and Warmuth 1997).
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from structens.core import DataError
from structens.online.history import History, awake_share
from structens.online.visits import Visits


class ContextLearner:
    """Base of the learners by context.

    Parameters
    ----------
    n_experts : int

    Attributes
    ----------
    state : dict of str to ndarray of float64
        Rows are contexts. "advantage", shape (n_contexts, p): what the learner was charged beyond each expert while
        that was awake; "n_visits" and "width" (summed squares of the largest charges), shape (n_contexts,).
    """

    by_expert: ClassVar[tuple[str, ...]] = ()
    by_context: ClassVar[tuple[str, ...]] = ()

    def __init__(self, n_experts: int) -> None:
        self.n_experts = n_experts
        tables = {name: np.zeros((0, n_experts)) for name in ("advantage", *self.by_expert)}
        self.state = {**tables, **{name: np.zeros(0) for name in ("n_visits", "width", *self.by_context)}}

    @property
    def n_contexts(self) -> int:
        """Number of contexts."""
        return len(self.state["n_visits"])

    def restore(self, state: dict[str, NDArray[np.float64]]) -> None:
        """Go on from a stored state.

        Raises
        ------
        DataError
            If it is the state of another learner.
        """
        if set(state) != set(self.state):
            raise DataError(f"a state of {type(self).__name__} has {sorted(self.state)}; got {sorted(state)}")
        self.state = {name: np.array(rows, dtype=np.float64) for name, rows in state.items()}

    def grow(self, place: NDArray[np.int64], n_contexts: int) -> None:
        """Make room for new contexts; context k moves to row ``place[k]``."""
        for name, rows in self.state.items():
            wider = np.zeros((n_contexts, *rows.shape[1:]))
            wider[place] = rows
            self.state[name] = wider

    def weights(self) -> NDArray[np.float64]:
        """Present weights of each context, shape (n_contexts, p); rows sum to 1."""
        nobody = np.zeros((self.n_contexts, self.n_experts))
        context = np.arange(self.n_contexts, dtype=np.int32)
        return self._play(nobody, nobody.astype(bool), context, np.zeros(len(context)))

    def play(self, visits: Visits) -> History:
        """Play the visits in order.

        Parameters
        ----------
        visits : Visits
            Of no more contexts than there are rows of state; see `grow`.
        """
        if visits.n_contexts > self.n_contexts:
            self.grow(np.arange(self.n_contexts), visits.n_contexts)
        before = self._play(visits.loss, visits.awake, visits.context, visits.width)
        history = History(visits, before, self.weights())
        self._charge(history)
        return history

    def _charge(self, history: History) -> None:
        """Count what the learner and the experts lost."""
        visits = history.visits
        share, taught = awake_share(history), visits.awake.any(axis=1)
        charge = (share * visits.loss).sum(axis=1, keepdims=True)
        np.add.at(self.state["advantage"], visits.context, np.where(visits.awake, charge - visits.loss, 0.0))
        np.add.at(self.state["n_visits"], visits.context, taught.astype(np.float64))
        np.add.at(self.state["width"], visits.context, np.where(taught, visits.width**2, 0.0))

    def regret(self) -> float:
        """Charge beyond the best choice of one expert a context, each judged while it was awake, in hindsight."""
        return float(self.state["advantage"].max(axis=1, initial=-math.inf).sum()) if self.n_contexts else 0.0

    def regret_bound(self) -> float:
        """Bound on `regret` that holds whatever the losses were; infinite where there is none."""
        return math.inf

    def _play(
        self,
        loss: NDArray[np.float64],
        awake: NDArray[np.bool_],
        context: NDArray[np.int32],
        width: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Weights before each visit; brings the state up to date."""
        raise NotImplementedError
