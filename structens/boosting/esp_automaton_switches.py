"""Complexity of the path experts of an automaton by the number of times that they change their expert.

The oracle is a shortest path on states (state, last expert, switches), one for each number of switches; see
`structens.boosting.esp_complexity`, whose `SwitchComplexity` does this on slots.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata import shortest_path
from structens.boosting.esp_automaton import GRID
from structens.boosting.esp_slots import PathExperts
from structens.core import Automaton, AutomatonError, DataError
from structens.core.automaton import order_of_transitions

SLACK = 1e-12


class AutomatonSwitches:
    """Lambda_h = lambda r_s + beta, s the number of times that the path's transitions change the expert.

    Parameters
    ----------
    automaton : Automaton
    expert : array_like of int, shape (n_transitions,)
        Whose transition it is, from 0.
    r : array_like, shape (most switches + 1,)
        Rising. Paths with more switches are left out.
    lambda_, beta : float
        >= 0.

    Raises
    ------
    DataError
        If there is not one expert a transition.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 7), (1, 2, 8)], final=[2])
    >>> price = AutomatonSwitches(a, [0, 1, 0, 1], [0.1, 0.3], 1.0, 0.0)
    >>> price.penalty(np.array([0, 3, 6])), price.penalty(np.array([1, 3, 6]))
    (0.3, 0.1)
    """

    def __init__(self, automaton: Automaton, expert: ArrayLike, r: ArrayLike, lambda_: float, beta: float) -> None:
        self.automaton = automaton
        self.expert = np.asarray(expert, dtype=np.int64)
        self.r = np.asarray(r, dtype=np.float64)
        if self.expert.shape != (automaton.n_transitions,) or self.expert.min(initial=0) < 0:
            raise DataError(f"need one expert >= 0 for each of {automaton.n_transitions} transitions")
        self.lambda_, self.beta = lambda_, beta
        self._build()

    def _build(self) -> None:
        """The product: state ``(q * (p + 1) + last expert) * (S + 1) + switches``; expert p is none yet."""
        a, p, width = self.automaton, int(self.expert.max(initial=-1)) + 1, len(self.r)
        rows, origin = [], []
        for e, (q, r) in enumerate(zip(a.source.tolist(), a.target.tolist(), strict=True)):
            j = int(self.expert[e])
            for last in range(p + 1):
                for s in range(width if last < p else 1):
                    after = s + (last not in (j, p))
                    if after < width and (last < p) == (q != a.start):
                        rows.append(((q * (p + 1) + last) * width + s, (r * (p + 1) + j) * width + after, 0))
                        origin.append(e)
        n_states = a.n_states * (p + 1) * width
        places = np.arange(n_states)
        final = places[a.is_final[places // ((p + 1) * width)]]
        start = (a.start * (p + 1) + p) * width
        self.product = Automaton.from_transitions(rows, final=final.tolist(), start=start, n_states=n_states)
        self.origin = np.array(origin, dtype=np.int64)[order_of_transitions(rows, n_states=n_states)]
        self.state, self.switches = places // ((p + 1) * width), places % width

    def penalty(self, path: NDArray[np.int64]) -> float:
        """As in `structens.boosting.esp_complexity.Complexity`."""
        s = int((np.diff(self.expert[path[:-1]]) != 0).sum())
        return self.lambda_ * float(self.r[min(s, len(self.r) - 1)]) + self.beta

    def best(
        self, paths: PathExperts, gain: NDArray[np.float64], mass: NDArray[np.float64], scale: float
    ) -> NDArray[np.int64]:
        """As in `structens.boosting.esp_complexity.Complexity`; `paths` are `AutomatonPaths` of this automaton."""
        n = self.automaton.n_transitions
        cost = -np.rint(gain * (GRID / max(1.0, float(np.abs(gain).max()))))
        best: NDArray[np.int64] | None = None
        top = -np.inf
        for s in range(len(self.r)):
            final = np.where(self.product.is_final & (self.switches == s), cost[n + self.state], np.inf)
            try:
                path = self.origin[shortest_path(self.product, cost[self.origin], final)]
            except AutomatonError:  # no path with just so many switches
                continue
            path = np.append(path, n + (self.automaton.target[path[-1]] if len(path) else self.automaton.start))
            value = float(gain[path].sum()) - scale * self.lambda_ * float(self.r[s])
            if value > top + SLACK:
                best, top = path.astype(np.int64), value
        if best is None:
            raise AutomatonError(f"no path has at most {len(self.r) - 1} switches")
        return best
