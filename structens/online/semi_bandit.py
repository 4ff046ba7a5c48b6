"""SemiBandit: learning over paths when only the gains of the transitions taken are seen.

Gyoergy, Linder, Lugosi and Ottucsak, "The on-line shortest path problem under partial monitoring" (JMLR 2007); CDSB of
Cortes and co-authors (ALT 2019). A path is drawn from p_t, or with chance gamma uniformly from paths that together take
every transition. The gain of a transition is estimated by (gain + bias) / q if it was taken and bias / q if not, q the
chance that it is; weights are multiplied by exp(eta estimate) and pushed. The bias makes the regret small with high
probability, not in expectation only; with bias 0 the estimates are unbiased.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata import Semiring, flows, longest_path, sample, total_weight
from structens.core import Automaton, DataError, ParameterError
from structens.online.covering import covering_paths


class SemiBandit:
    """Learner over the paths of an automaton that sees the gains along its own path.

    Parameters
    ----------
    automaton : Automaton
        Acyclic; the same in all rounds.
    eta : float
        Rate, for gains between 0 and 1 a transition.
    gamma : float
        Chance to explore, in [0, 1].
    bias : float
        Beta of the papers, >= 0.
    seed : int
        Draws depend on it and the number of the round only.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1])
    >>> learner = SemiBandit(a, eta=0.1, gamma=0.1)
    >>> for _ in range(200):
    ...     path = learner.path()
    ...     learner.update([1.0] if path[0] == 1 else [0.0])
    >>> bool(learner.flows()[1] > 0.85)
    True
    """

    def __init__(self, automaton: Automaton, eta: float, gamma: float, bias: float = 0.0, *, seed: int = 0) -> None:
        if not (eta >= 0 and 0 <= gamma <= 1 and bias >= 0):
            raise ParameterError(f"need eta >= 0, gamma in [0, 1], bias >= 0; got {eta!r}, {gamma!r}, {bias!r}")
        self.automaton, self.eta, self.gamma, self.bias, self.seed = automaton, eta, gamma, bias, seed
        self.covering = covering_paths(automaton)
        self._explored = np.bincount(self.covering.values, minlength=automaton.n_transitions) / len(self.covering)
        self.estimates = np.zeros(automaton.n_transitions)
        self.n_rounds = 0

    def learnt_flows(self) -> NDArray[np.float64]:
        """Chance of each transition under p_t, without exploration."""
        return flows(self.automaton, -self.eta * self.estimates, None, Semiring.LOG).transition

    def flows(self) -> NDArray[np.float64]:
        """Chance q of each transition in this round, shape (n_transitions,)."""
        out: NDArray[Any] = (1.0 - self.gamma) * self.learnt_flows() + self.gamma * self._explored
        return out

    def path(self) -> NDArray[np.int64]:
        """Transitions of the path drawn for this round; the same until `update`."""
        generator = np.random.default_rng([self.seed, self.n_rounds])
        if generator.random() < self.gamma:
            return self.covering[int(generator.integers(len(self.covering)))]
        path: NDArray[np.int64] = sample(self.automaton, -self.eta * self.estimates, 1, generator)[0]
        return path

    def estimate(self, path: NDArray[np.int64], gain: ArrayLike) -> NDArray[np.float64]:
        """Estimated gains of all transitions when this path was taken; shape (n_transitions,).

        Parameters
        ----------
        path : ndarray of int64
        gain : array_like, shape (len(path),)
        """
        seen = np.full(self.automaton.n_transitions, self.bias)
        seen[path] += np.asarray(gain, dtype=np.float64)
        q = self.flows()
        return np.where(q > 0, seen / np.where(q > 0, q, 1.0), 0.0)

    def update(self, gain: ArrayLike) -> None:
        """Learn from the gains along `path`.

        Parameters
        ----------
        gain : array_like, shape (length of the path,)
            Between 0 and 1.

        Raises
        ------
        DataError
            If a gain is out of range, or their number is not that of the path's transitions.
        """
        path, gains = self.path(), np.asarray(gain, dtype=np.float64)
        if gains.shape != path.shape or not ((gains >= 0) & (gains <= 1)).all():
            raise DataError(f"need one gain between 0 and 1 for each of {len(path)} transitions taken; got {gain!r}")
        self.estimates = self.estimates + self.estimate(path, gains)
        self.n_rounds += 1


def semi_bandit_parameters(automaton: Automaton, n_rounds: int, delta: float = 0.05) -> dict[str, float]:
    """Rate, exploration and bias of the bound: eta, gamma, bias (Gyoergy and co-authors 2007, theorem 1).

    Examples
    --------
    >>> a = Automaton.from_transitions([(k, k + 1, j) for k in range(2) for j in range(2)], final=[2])
    >>> {name: round(x, 4) for name, x in semi_bandit_parameters(a, 10_000).items()}
    {'eta': 0.0021, 'gamma': 0.0167, 'bias': 0.0148}
    """
    longest, n_cover, m = longest_path(automaton), len(covering_paths(automaton)), automaton.n_transitions
    eta = math.sqrt(_log_paths(automaton) / (4.0 * n_rounds * longest**2 * n_cover))
    bias = math.sqrt(longest / (n_rounds * m) * math.log(m / delta))
    return {"eta": eta, "gamma": min(1.0, 2.0 * eta * longest * n_cover), "bias": bias}


def semi_bandit_regret(automaton: Automaton, n_rounds: int, delta: float = 0.05) -> float:
    """Regret with these parameters, with probability 1 - delta, for gains in [0, 1] and enough rounds.

    2 sqrt(T K) (sqrt(4 K |C| ln N) + sqrt(M ln(M / delta))), K transitions a path, C the covering paths.

    Examples
    --------
    >>> a = Automaton.from_transitions([(k, k + 1, j) for k in range(2) for j in range(2)], final=[2])
    >>> round(semi_bandit_regret(a, 10_000), 1)
    2516.3
    """
    longest, n_cover, m = longest_path(automaton), len(covering_paths(automaton)), automaton.n_transitions
    first = math.sqrt(4.0 * longest * n_cover * _log_paths(automaton))
    return 2.0 * math.sqrt(n_rounds * longest) * (first + math.sqrt(m * math.log(m / delta)))


def _log_paths(automaton: Automaton) -> float:
    return -total_weight(automaton, np.zeros(automaton.n_transitions), semiring=Semiring.LOG)
