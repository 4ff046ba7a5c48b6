"""FixedShare: Hedge by context for experts that drift: after every round each expert gets back a share of the weight.

Herbster and Warmuth, "Tracking the best expert" (1998); in the form that mixes with the uniform distribution, whose
regret is bounded against the best sequence of experts with few switches.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.core import ParameterError
from structens.online.context_learner import ContextLearner


class FixedShare(ContextLearner):
    """Fixed share for each context; experts that are asleep take part in the sharing only.

    Parameters
    ----------
    n_experts : int
    eta : float
        Learning rate, >= 0.
    share : float
        In (0, 1): the part of the weight that is dealt out equally after every visit.

    Raises
    ------
    ParameterError
        If the share is not between 0 and 1.

    Examples
    --------
    >>> from structens.online.visits import Visits
    >>> learner = FixedShare(2, math.log(2), 0.1)
    >>> v = Visits(np.array([[0, 1.0]]), np.ones((1, 2), bool), np.zeros(1, np.int32), np.zeros(1, int), np.ones(1),
    ...            np.ones(1), 1, 1)
    >>> learner.play(v).final.round(4).tolist()
    [[0.65, 0.35]]
    """

    by_expert: ClassVar[tuple[str, ...]] = ("moved",)  # weight minus 1/p, so that a new row begins at 0

    def __init__(self, n_experts: int, eta: float, share: float) -> None:
        super().__init__(n_experts)
        if not 0.0 < share < 1.0:
            raise ParameterError(f"share must be a number with 0 < share < 1; got {share!r}; without sharing use hedge")
        self.eta, self.share = eta, share

    def regret_bound(self) -> float:
        """Against one expert a context all along; see `tracking_regret` for sequences with switches."""
        if self.eta <= 0:
            return math.inf
        n = self.state["n_visits"]
        met = n > 0
        kept = -math.log1p(-self.share) * float((n[met] - 1).sum())
        log_n = float(met.sum()) * math.log(self.n_experts) + kept
        return log_n / self.eta + self.eta / 8.0 * float(self.state["width"].sum())

    def _play(
        self,
        loss: NDArray[np.float64],
        awake: NDArray[np.bool_],
        context: NDArray[np.int32],
        width: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        before = np.empty(loss.shape)
        _play(loss, awake, context, self.eta, self.share, self.state["moved"], before)
        return before


def tracking_regret(
    n_experts: int, n_rounds: int, n_switches: int, eta: float, share: float, largest: float = 1.0
) -> float:
    """Bound of fixed share against any sequence of experts with `n_switches` switches, losses in [0, M].

    (ln p + m ln(p / alpha) + (T - 1 - m) ln(1 / (1 - alpha))) / eta + eta M^2 T / 8: the logarithm of the weight that
    sharing gives to the sequence, in Hedge's bound (Cesa-Bianchi and Lugosi 2006, theorem 5.2).

    Examples
    --------
    >>> round(tracking_regret(2, 100, 1, 0.5, 0.01), 4)
    20.2028
    """
    switches = n_switches * math.log(n_experts / share)
    stays = -(n_rounds - 1 - n_switches) * math.log1p(-share)
    return (math.log(n_experts) + switches + stays) / eta + eta * largest**2 * n_rounds / 8.0


@njit(cache=True)
def _play(loss, awake, context, eta, share, moved, before):  # type: ignore[no-untyped-def]
    p = loss.shape[1]
    for v in range(len(context)):
        row = moved[context[v]]
        low, total_before = np.inf, 0.0
        for j in range(p):
            before[v, j] = row[j] + 1.0 / p
            if awake[v, j]:
                low = min(low, loss[v, j])
                total_before += before[v, j]
        if low == np.inf:
            continue
        total_after = 0.0
        for j in range(p):
            if awake[v, j]:
                total_after += before[v, j] * np.exp(-eta * (loss[v, j] - low))
        for j in range(p):
            new = before[v, j]
            if awake[v, j]:
                new *= np.exp(-eta * (loss[v, j] - low)) * (total_before / total_after)
            row[j] = (1.0 - share) * (new - 1.0 / p)
