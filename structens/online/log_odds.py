"""LogOdds: votes by the log odds of being right, by context.

Where experts err independently the best weights of a vote between two answers are ln((1 - e) / e), e the error rate of
each (Nitzan and Paroush, "Optimal decision rules in uncertain dichotomous choice situations", International Economic
Review 23, 1982). Error rates are those of the records so far, as if half an error had been seen in one unit before. No
bound on regret is known. Good experts weigh less than by Hedge, and more than in a plain vote.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.online.context_learner import ContextLearner

_LEAST = 1e-3
"""Weight of experts that are wrong half of the time or more often."""


class LogOdds(ContextLearner):
    """Log odds for each context; an expert that is asleep is not judged.

    Parameters
    ----------
    n_experts : int

    Examples
    --------
    >>> from structens.online.visits import Visits
    >>> v = Visits(np.array([[1, 2.0]]), np.ones((1, 2), bool), np.zeros(1, np.int32), np.zeros(1, int), np.ones(1),
    ...            np.full(1, 4.0), 1, 1)
    >>> LogOdds(2).play(v).final.round(4).tolist()  # rates .3 and .5
    [[0.9988, 0.0012]]
    """

    by_expert: ClassVar[tuple[str, ...]] = ("wrong", "seen")

    def _play(
        self,
        loss: NDArray[np.float64],
        awake: NDArray[np.bool_],
        context: NDArray[np.int32],
        width: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        before = np.empty(loss.shape)
        _play(loss, awake, context, width, self.state["wrong"], self.state["seen"], before)
        return before


@njit(cache=True)
def _play(loss, awake, context, width, wrong, seen, before):  # type: ignore[no-untyped-def]
    p = loss.shape[1]
    for v in range(len(context)):
        c, total = context[v], 0.0
        for j in range(p):
            rate = (wrong[c, j] + 0.5) / (seen[c, j] + 1.0)
            before[v, j] = max(np.log((1.0 - rate) / rate), _LEAST) if rate < 1.0 else _LEAST
            total += before[v, j]
            if awake[v, j]:
                wrong[c, j] += loss[v, j]
                seen[c, j] += width[v]
        for j in range(p):
            before[v, j] /= total
