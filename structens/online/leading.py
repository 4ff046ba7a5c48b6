"""LeadingLearner: several learners play side by side, and each record is answered by the one that led before it.

No rate serves all data: where one expert is far ahead a fast one is best, in a crowd of equals the plain vote. The
candidates are fixed share at fourteen rates, the plain vote among them, and log odds (`structens.online.log_odds`).
They are judged by their own answers to the records so far, made before the gold was seen (prequentially: Dawid,
"Statistical theory: the prequential approach", Journal of the Royal Statistical Society A 147, 1984), not by the
experts' mean loss, of which a vote makes less. So this is what held-out choice of a rate is for `fit`, one record at a
time. No bound on regret is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from structens.online.context_learner import ContextLearner
from structens.online.fixed_share import FixedShare
from structens.online.history import History
from structens.online.log_odds import LogOdds
from structens.online.rates import eta_of
from structens.online.visits import Visits

RATES = (1.0, 0.9997, 0.999, 0.998, 0.995, 0.99, 0.98, 0.97, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3)
"""Betas of the candidates; of equals the first leads, so that before any gold it is the plain vote."""
Judge = Callable[[NDArray[np.float64]], NDArray[np.float64]]


class LeadingLearner(ContextLearner):
    """The candidate with the fewest errors so far.

    Parameters
    ----------
    n_experts : int
    candidates : sequence of ContextLearner, optional
        One for each of `RATES`, and others; default `FixedShare` at these rates and LogOdds.
    share : float
        Of FixedShare.

    Attributes
    ----------
    judge : callable
        From weights before each visit, shape (n_visits, p), to the errors of the answers they give, shape (n_rounds,);
        0 for records without gold. To be set before `play`.

    Examples
    --------
    Two experts agree and are wrong; the third is right. All begin with a plain vote; the fastest is right first.

    >>> v = Visits(np.array([[0, 1.0, 1]] * 3), np.ones((3, 3), bool), np.zeros(3, np.int32), np.arange(3), np.ones(3),
    ...            np.ones(3), 3, 1)
    >>> learner = LeadingLearner(3)
    >>> learner.judge = lambda weights: (weights[:, 0] < 0.5).astype(float)
    >>> learner.play(v).before[:, 0].round(3).tolist(), learner.beta
    ([0.333, 0.333, 0.841], 0.3)
    """

    def __init__(self, n_experts: int, candidates: Sequence[ContextLearner] | None = None, share: float = 0.01) -> None:
        super().__init__(n_experts)
        if candidates is None:
            candidates = [*(FixedShare(n_experts, eta_of(beta), share) for beta in RATES), LogOdds(n_experts)]
        self.candidates = list(candidates)
        self.state["errors"] = np.zeros(len(self.candidates))
        self.judge: Judge | None = None
        self._gather()

    @property
    def leader(self) -> int:
        """Number of the candidate with the fewest errors."""
        return int(self.state["errors"].argmin())

    @property
    def beta(self) -> float | None:
        """Rate of the leader; None where it has none."""
        return RATES[self.leader] if self.leader < len(RATES) else None

    def restore(self, state: dict[str, NDArray[np.float64]]) -> None:
        """Go on from a stored state."""
        super().restore(state)
        for k, one in enumerate(self.candidates):
            for name in one.by_expert:
                one.state[name] = self.state[f"{name} {k}"]

    def grow(self, place: NDArray[np.int64], n_contexts: int) -> None:
        """Make room for new contexts; context k moves to row ``place[k]``."""
        errors = self.state.pop("errors")
        super().grow(place, n_contexts)
        self.state["errors"] = errors
        for k, one in enumerate(self.candidates):
            for name in one.by_expert:
                one.state[name] = self.state[f"{name} {k}"]

    def weights(self) -> NDArray[np.float64]:
        """Present weights of each context, by the leader; shape (n_contexts, p)."""
        return self._present(self.candidates[self.leader])

    def play(self, visits: Visits) -> History:
        """Play the visits in order."""
        if visits.n_contexts > self.n_contexts:
            self.grow(np.arange(self.n_contexts), visits.n_contexts)
        tables = [one._play(visits.loss, visits.awake, visits.context, visits.width) for one in self.candidates]
        self._gather()
        errors = np.array([np.zeros(visits.n_rounds) if self.judge is None else self.judge(one) for one in tables])
        upto = np.cumsum(np.hstack([self.state["errors"][:, None], errors]), axis=1)
        self.state["errors"] = upto[:, -1]
        leader = upto[:, :-1].argmin(axis=0)
        before = np.array(tables)[leader[visits.record], np.arange(len(visits.record))]
        history = History(visits, before, self.weights())
        self._charge(history)
        return history

    def _present(self, one: ContextLearner) -> NDArray[np.float64]:
        nobody = np.zeros((self.n_contexts, self.n_experts))
        context = np.arange(self.n_contexts, dtype=np.int32)
        return one._play(nobody, nobody.astype(bool), context, np.zeros(len(context)))

    def _gather(self) -> None:
        """The candidates' tables are parts of the state."""
        for k, one in enumerate(self.candidates):
            for name in one.by_expert:
                self.state[f"{name} {k}"] = one.state[name]
