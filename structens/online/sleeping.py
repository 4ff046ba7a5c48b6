"""SleepingHedge: Hedge by context where an expert that is absent sleeps: its weight stays as it is.

Freund, Schapire, Singer and Warmuth, "Using and combining predictors that specialize" (1997). The learner follows the
experts awake, by their weights, and multiplies these by beta^loss, then by the one factor that keeps their sum. Against
every expert, in the rounds where it is awake, Hedge's bound holds. On Figure 1 only: on a general automaton a path with
a sleeping transition has no product form.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.online.context_learner import ContextLearner


class SleepingHedge(ContextLearner):
    """Hedge for each context, with sleeping experts.

    Parameters
    ----------
    n_experts : int
    eta : float
        Learning rate, >= 0.

    Examples
    --------
    Expert 3 sleeps and keeps its third; the other two share what they had.

    >>> from structens.online.visits import Visits
    >>> learner = SleepingHedge(3, math.log(2))
    >>> v = Visits(np.array([[0, 1.0, 0]]), np.array([[True, True, False]]), np.zeros(1, np.int32), np.zeros(1, int),
    ...            np.ones(1), np.ones(1), 1, 1)
    >>> learner.play(v).final.round(4).tolist()
    [[0.4444, 0.2222, 0.3333]]
    """

    by_expert: ClassVar[tuple[str, ...]] = ("cumulative",)

    def __init__(self, n_experts: int, eta: float) -> None:
        super().__init__(n_experts)
        self.eta = eta

    def regret_bound(self) -> float:
        """Sum over contexts of ln p / eta + eta / 8 times the summed squares of the largest charges."""
        if self.eta <= 0:
            return math.inf
        met = int((self.state["n_visits"] > 0).sum())
        return met * math.log(self.n_experts) / self.eta + self.eta / 8.0 * float(self.state["width"].sum())

    def _play(
        self,
        loss: NDArray[np.float64],
        awake: NDArray[np.bool_],
        context: NDArray[np.int32],
        width: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        before = np.empty(loss.shape)
        _play(loss, awake, context, self.eta, self.state["cumulative"], before)
        return before


@njit(cache=True)
def _play(loss, awake, context, eta, cumulative, before):  # type: ignore[no-untyped-def]
    p = loss.shape[1]
    for v in range(len(context)):
        c = cumulative[context[v]]
        low = c.min()
        total = 0.0
        for j in range(p):
            before[v, j] = np.exp(-eta * (c[j] - low))
            total += before[v, j]
        for j in range(p):
            before[v, j] /= total
        mix = _mix_loss(c, loss[v], awake[v], eta)
        for j in range(p):
            if awake[v, j]:
                c[j] += loss[v, j] - mix


@njit(cache=True)
def _mix_loss(cumulative, loss, awake, eta):  # type: ignore[no-untyped-def]
    """-ln(sum awake after / sum awake before) / eta: the loss that leaves a weight as it is."""
    old, new = np.inf, np.inf
    n, plain = 0, 0.0
    for j in range(len(loss)):
        if awake[j]:
            old = min(old, cumulative[j])
            new = min(new, cumulative[j] + loss[j])
            n += 1
            plain += loss[j]
    if n == 0:
        return 0.0
    if eta == 0.0:
        return plain / n
    sum_old, sum_new = 0.0, 0.0
    for j in range(len(loss)):
        if awake[j]:
            sum_old += np.exp(-eta * (cumulative[j] - old))
            sum_new += np.exp(-eta * (cumulative[j] + loss[j] - new))
    return (new - old) - np.log(sum_new / sum_old) / eta
