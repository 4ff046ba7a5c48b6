"""WeightedMajority: Hedge over the paths of any acyclic automaton, by cumulative losses and weight pushing.

WMWP of Cortes, Kuznetsov and Mohri (ICML 2014, section 3.1); Takimoto and Warmuth (2003), Mohri (2009) for pushing.
The weight of a path is prior times exp(-eta C), C its summed loss of all rounds so far. Multiplying transition weights
by beta^loss and normalising at each state by itself (eq. 3 of the ACL 2014 paper) gives another distribution unless the
automaton is that of Figure 1; here weights are multiplied, then pushed.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from structens.automata import Pushed, Semiring, flows, push
from structens.core import Automaton, DataError, ParameterError
from structens.online.ledger import RoundLedger
from structens.online.rates import eta_of


class Played(NamedTuple):
    """What many rounds on one automaton come to.

    Attributes
    ----------
    expected : ndarray of float64, shape (n_rounds,)
        Expected loss of p_t in round t.
    cumulative : ndarray of float64, shape (n_transitions,)
        Cumulative loss after all rounds.
    """

    expected: NDArray[np.float64]
    cumulative: NDArray[np.float64]


def play_automaton(automaton: Automaton, losses: ArrayLike, beta: float, *, prior: ArrayLike | None = None) -> Played:
    """Play all rounds of `WeightedMajority` in one compiled call; each costs a sweep back and one forth.

    Parameters
    ----------
    automaton : Automaton
    losses : array_like, shape (n_rounds, n_transitions)
        Finite and >= 0.
    beta : float
        In (0, 1].
    prior : array_like, shape (n_transitions,), optional
        Costs; default 0.

    Raises
    ------
    ParameterError, DataError, AutomatonError
        As `WeightedMajority`.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 7), (1, 2, 8)], final=[2])
    >>> play_automaton(a, [[0, 1, 1, 1], [0, 1, 0, 0]], beta=0.5).expected.round(6).tolist()
    [1.5, 0.333333]
    """
    eta = eta_of(beta)
    n = automaton.n_transitions
    table = np.ascontiguousarray(losses, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != n or not (np.isfinite(table) & (table >= 0)).all():
        raise DataError(f"need finite losses >= 0 of shape (n_rounds, {n}); got shape {table.shape}")
    start = np.zeros(n) if prior is None else np.array(prior, dtype=np.float64)
    push(automaton, start, None, Semiring.LOG)  # refuses a prior that does not fit, and automata without paths
    final = np.where(automaton.is_final, 0.0, np.inf)
    expected, cumulative = np.empty(len(table)), np.zeros(n)
    arrays = start, final, cumulative
    _play(automaton.offsets, automaton.target, automaton.start, table, eta, arrays, expected)
    return Played(expected, cumulative)


class WeightedMajority(RoundLedger):
    """Distribution over the paths of an automaton, that learns from one loss a transition and round.

    Parameters
    ----------
    automaton : Automaton
        Acyclic; the same in all rounds. What its transitions say may change from round to round.
    beta : float
        In (0, 1]; 1 keeps the prior for ever, a tiny value follows the leader. May be set to another value at any time:
        the losses are kept, so all distributions follow.
    prior : array_like, shape (n_transitions,), optional
        Costs (minus logarithms of weights); default 0, which is uniform over paths. It is pushed, not normalised state
        by state.
    parameter : array_like of int, shape (n_transitions,), optional
        Transitions with the same id share their cumulative loss (see `structens.online.tying`); default all different.

    Raises
    ------
    ParameterError
        If beta is not in (0, 1].
    DataError
        If an array does not fit the automaton.
    AutomatonError
        If no path leads from the start to a final state.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 7), (1, 2, 8)], final=[2])
    >>> learner = WeightedMajority(a, beta=0.5)
    >>> learner.update([0, 1, 1, 1]), learner.flows().round(4).tolist()
    (1.5, [0.6667, 0.3333, 0.5, 0.5])
    """

    def __init__(
        self,
        automaton: Automaton,
        beta: float,
        *,
        prior: ArrayLike | None = None,
        parameter: ArrayLike | None = None,
    ) -> None:
        n = automaton.n_transitions
        super().__init__(automaton)
        self.beta = beta
        self.prior = np.zeros(n) if prior is None else np.asarray(prior, dtype=np.float64)
        self.parameter = np.arange(n) if parameter is None else np.asarray(parameter, dtype=np.int64)
        if self.prior.shape != (n,) or self.parameter.shape != (n,) or self.parameter.min(initial=0) < 0:
            raise DataError(f"prior and parameter must give one cost and one id >= 0 for each of {n} transitions")
        self._cumulative = np.zeros(int(self.parameter.max(initial=-1)) + 1)
        self.pushed()  # refuses an automaton without paths before the first round

    @property
    def beta(self) -> float:
        """Factor by which a unit of loss shrinks a weight."""
        return self._beta

    @beta.setter
    def beta(self, beta: float) -> None:
        self._eta = eta_of(beta)
        self._beta = beta

    @property
    def eta(self) -> float:
        """Learning rate ln(1/beta)."""
        return self._eta

    def cumulative(self, t: int | None = None) -> NDArray[np.float64]:
        """Cumulative loss of each parameter before round t (default: of all rounds), shape (n_parameters,)."""
        if t is None or t == self.n_rounds:
            return self._cumulative.copy()
        if not 0 <= t < self.n_rounds:
            raise ParameterError(f"round must be between 0 and {self.n_rounds}; got {t}")
        out = np.zeros(len(self._cumulative))
        for loss in self._losses[:t]:
            out += self._of_parameters(loss)
        return out

    def weight(self, t: int | None = None) -> NDArray[np.float64]:
        """Costs of the transitions before round t, not pushed: prior + eta C; shape (n_transitions,)."""
        return self.prior + self._eta * self.cumulative(t)[self.parameter]

    def pushed(self, t: int | None = None) -> Pushed:
        """Pushed costs: exp(-weight) are the transition probabilities of p_t, by default of the next round's."""
        return push(self.automaton, self.weight(t), None, Semiring.LOG)

    def flows(self, t: int | None = None) -> NDArray[np.float64]:
        """Probability that a path drawn from p_t takes each transition, shape (n_transitions,)."""
        return flows(self.automaton, self.weight(t), None, Semiring.LOG).transition

    def expected_loss(self, loss: ArrayLike, t: int | None = None) -> float:
        """Expected loss of a path drawn from p_t: sum of flow times loss."""
        return float(self.flows(t) @ self._checked(loss))

    def update(self, loss: ArrayLike) -> float:
        """Play one round.

        Parameters
        ----------
        loss : array_like, shape (n_transitions,)
            Finite and >= 0; a path's loss is the sum over its transitions.

        Returns
        -------
        float
            Expected loss in this round, of the distribution before it.

        Raises
        ------
        DataError
            If a loss is negative or not finite, or their number is wrong.
        """
        loss = self._checked(loss)
        expected = float(self.flows() @ loss)
        self._enter(loss, expected)
        self._cumulative += self._of_parameters(loss)
        return expected

    def _of_parameters(self, loss: NDArray[np.float64]) -> NDArray[Any]:
        return np.bincount(self.parameter, weights=loss, minlength=len(self._cumulative))

    def _checked(self, loss: ArrayLike) -> NDArray[np.float64]:
        out = np.array(loss, dtype=np.float64)
        n = self.automaton.n_transitions
        if out.shape != (n,) or not (np.isfinite(out) & (out >= 0)).all():
            raise DataError(f"need one finite loss >= 0 for each of {n} transitions; got shape {out.shape}")
        return out


@njit(cache=True)
def _play(offsets, target, start, losses, eta, arrays, expected):  # type: ignore[no-untyped-def]
    """Each round: distances to the end, shares of the transitions, flows times losses, losses added up."""
    prior, final, cumulative = arrays
    n = len(final)
    distance, share, reached = np.empty(n), np.empty(len(target)), np.empty(n)
    for t in range(len(losses)):
        for q in range(n - 1, -1, -1):
            low = final[q]
            for e in range(offsets[q], offsets[q + 1]):
                share[e] = prior[e] + eta * cumulative[e] + distance[target[e]]
                low = min(low, share[e])
            reached[q] = 0.0
            if low == np.inf:
                distance[q] = np.inf
                for e in range(offsets[q], offsets[q + 1]):
                    share[e] = 0.0
                continue
            mass = math.exp(low - final[q]) if final[q] < np.inf else 0.0
            for e in range(offsets[q], offsets[q + 1]):
                share[e] = math.exp(low - share[e])
                mass += share[e]
            distance[q] = low - math.log(mass)
            for e in range(offsets[q], offsets[q + 1]):
                share[e] /= mass
        reached[start] = 1.0
        expected[t] = 0.0
        for q in range(start, n):
            for e in range(offsets[q], offsets[q + 1]):
                flow = reached[q] * share[e]
                expected[t] += flow * losses[t, e]
                reached[target[e]] += flow
        for e in range(len(target)):
            cumulative[e] += losses[t, e]
