"""SlotComponentHedge: Component Hedge by context on slots, where the projection on unit flows has a closed form.

Koolen, Warmuth and Kivinen, "Hedging structured concepts" (COLT 2010). On Figure 1 the unit flows are one distribution
for each context, and the nearest of them in relative entropy is the usages divided by their sum: nothing is to be
iterated, as `structens.online.component_hedge` must on other automata. So usages are Hedge's weights; what differs is
the state, usages instead of summed losses. The usages of experts that are asleep stay, and the others keep their sum.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.online.context_learner import ContextLearner


class SlotComponentHedge(ContextLearner):
    """Component Hedge for each context.

    Parameters
    ----------
    n_experts : int
    eta : float
        Learning rate, >= 0.

    Examples
    --------
    >>> from structens.online.visits import Visits
    >>> learner = SlotComponentHedge(3, math.log(2))
    >>> v = Visits(np.array([[0, 1.0, 0]]), np.array([[True, True, False]]), np.zeros(1, np.int32), np.zeros(1, int),
    ...            np.ones(1), np.ones(1), 1, 1)
    >>> learner.play(v).final.round(4).tolist()
    [[0.4444, 0.2222, 0.3333]]
    """

    by_expert: ClassVar[tuple[str, ...]] = ("log_usage",)  # of usage times p, so that a new row begins at 0

    def __init__(self, n_experts: int, eta: float) -> None:
        super().__init__(n_experts)
        self.eta = eta

    def regret_bound(self) -> float:
        """Sum over contexts of ln p / eta + eta / 8 times the summed squares of the largest charges.

        The relative entropy from equal usages to one expert is ln p.
        """
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
        _play(loss, awake, context, self.eta, self.state["log_usage"], before)
        return before


@njit(cache=True)
def _play(loss, awake, context, eta, log_usage, before):  # type: ignore[no-untyped-def]
    p = loss.shape[1]
    for v in range(len(context)):
        usage = log_usage[context[v]]
        total = 0.0
        for j in range(p):
            before[v, j] = np.exp(usage[j]) / p
            total += before[v, j]
        old, new = -np.inf, -np.inf
        for j in range(p):
            before[v, j] /= total  # it is 1 but for rounding
            if awake[v, j]:
                old = max(old, usage[j])
                new = max(new, usage[j] - eta * loss[v, j])
        if old == -np.inf:
            continue
        sum_old, sum_new = 0.0, 0.0
        for j in range(p):
            if awake[v, j]:
                sum_old += np.exp(usage[j] - old)
                sum_new += np.exp(usage[j] - eta * loss[v, j] - new)
        scale = (old - new) + np.log(sum_old / sum_new)
        for j in range(p):
            if awake[v, j]:
                usage[j] += scale - eta * loss[v, j]
