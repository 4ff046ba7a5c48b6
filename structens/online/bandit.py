"""Bandit: learning over paths when only the summed gain of the whole path is seen.

ComBand (Cesa-Bianchi and Lugosi, "Combinatorial bandits", 2012), CDCB of Cortes and co-authors (ALT 2019), for gains
that are sums over transitions: they are estimated as gain times P v, v the path's indicator vector and P the
pseudo-inverse of E[v v^T] under the distribution drawn from. The sign in the exponent is plus, for these are gains; ALT
2019 prints minus.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.automata import Semiring, flows, longest_path, n_paths, push, sample
from structens.core import Automaton, AutomatonError, DataError, ParameterError

MOST_TRANSITIONS = 2000
"""E[v v^T] takes the square of this in numbers."""


class Bandit:
    """ComBand: a learner over the paths of an automaton that sees the summed gain of its own path.

    Parameters
    ----------
    automaton : Automaton
        Acyclic, the same in all rounds, with at most `MOST_TRANSITIONS` transitions.
    eta : float
        Rate, for gains of a path in the units given to `update`.
    gamma : float
        Chance to explore: to draw a path uniformly; in (0, 1].
    seed : int

    Raises
    ------
    ParameterError
        If a parameter is out of range.
    AutomatonError
        If the automaton is too large.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1])
    >>> learner = Bandit(a, eta=0.05, gamma=0.1)
    >>> for _ in range(300):
    ...     learner.update(float(learner.path()[0] == 1))
    >>> bool(learner.flows()[1] > 0.85)
    True
    """

    def __init__(self, automaton: Automaton, eta: float, gamma: float, *, seed: int = 0) -> None:
        if not (eta >= 0 and 0 < gamma <= 1):
            raise ParameterError(f"need eta >= 0 and gamma in (0, 1]; got {eta!r} and {gamma!r}")
        if automaton.n_transitions > MOST_TRANSITIONS:
            raise AutomatonError(
                f"{automaton.n_transitions} transitions are too many: at most {MOST_TRANSITIONS}; with gains of single "
                "transitions take SemiBandit"
            )
        self.automaton, self.eta, self.gamma, self.seed = automaton, eta, gamma, seed
        self.estimates = np.zeros(automaton.n_transitions)
        self._uniform = np.zeros(automaton.n_transitions)
        self._uniform_pairs = pair_flows(automaton, self._uniform)
        self.n_rounds = 0

    def flows(self) -> NDArray[np.float64]:
        """Chance of each transition in this round, exploration included; shape (n_transitions,)."""
        learnt = flows(self.automaton, -self.eta * self.estimates, None, Semiring.LOG).transition
        out: NDArray[Any] = (1.0 - self.gamma) * learnt + self.gamma * np.diag(self._uniform_pairs)
        return out

    def path(self) -> NDArray[np.int64]:
        """Transitions of the path drawn for this round; the same until `update`."""
        generator = np.random.default_rng([self.seed, self.n_rounds])
        cost = self._uniform if generator.random() < self.gamma else -self.eta * self.estimates
        path: NDArray[np.int64] = sample(self.automaton, cost, 1, generator)[0]
        return path

    def estimate(self, path: NDArray[np.int64], gain: float) -> NDArray[np.float64]:
        """Estimated gains of all transitions when this path earned `gain`; shape (n_transitions,).

        Right in expectation for every path: gains of single transitions are determined up to what no path can tell.
        """
        pairs = (1.0 - self.gamma) * pair_flows(self.automaton, -self.eta * self.estimates)
        pairs += self.gamma * self._uniform_pairs
        taken = np.zeros(self.automaton.n_transitions)
        taken[path] = 1.0
        out: NDArray[Any] = gain * (np.linalg.pinv(pairs, hermitian=True) @ taken)
        return out

    def update(self, gain: float) -> None:
        """Learn from the summed gain of `path`.

        Raises
        ------
        DataError
            If the gain is not finite.
        """
        if not math.isfinite(gain):
            raise DataError(f"the gain of a path must be a finite number; got {gain!r}")
        self.estimates = self.estimates + self.estimate(self.path(), gain)
        self.n_rounds += 1


def pair_flows(automaton: Automaton, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """E[v v^T]: the probability that a path takes both of two transitions, shape (n_transitions, n_transitions).

    Parameters
    ----------
    automaton : Automaton
    weight : ndarray of float64, shape (n_transitions,)
        Costs; paths have probability proportional to exp(-cost).

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 9)], final=[2])
    >>> pair_flows(a, np.zeros(3)).tolist()
    [[0.5, 0.0, 0.5], [0.0, 0.5, 0.5], [0.5, 0.5, 1.0]]
    """
    share = np.exp(-push(automaton, weight, None, Semiring.LOG).weight)
    flow = flows(automaton, weight, None, Semiring.LOG).transition
    out = np.zeros((automaton.n_transitions, automaton.n_transitions))
    _pair_flows(automaton.offsets, automaton.target, share, flow, out)
    return np.maximum(out, out.T)


def bandit_parameters(automaton: Automaton, n_rounds: int, largest: float) -> dict[str, float]:
    """Rate and exploration of ComBand's bound, for gains of a path up to `largest`: eta and gamma.

    With gains divided by `largest`: eta = sqrt(ln N / (T M (1 + 2 K / (M lambda)))), gamma = eta K / lambda, K the
    longest path, lambda the least positive eigenvalue of E[v v^T] under uniform paths.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1])
    >>> {name: round(x, 4) for name, x in bandit_parameters(a, 10_000, 1.0).items()}
    {'eta': 0.0034, 'gamma': 0.0068}
    """
    longest, least, log_n = _shape(automaton)
    m = automaton.n_transitions
    eta = math.sqrt(log_n / (n_rounds * m * (1.0 + 2.0 * longest / (m * least))))
    return {"eta": eta / largest, "gamma": min(1.0, eta * longest / least)}


def bandit_regret(automaton: Automaton, n_rounds: int, largest: float) -> float:
    """Expected regret of ComBand: at most 2 B sqrt(2 K / (M lambda) + 1) sqrt(T M ln N), B the largest gain of a path.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1])
    >>> round(bandit_regret(a, 10_000, 1.0), 1)
    407.9
    """
    longest, least, log_n = _shape(automaton)
    m = automaton.n_transitions
    return 2.0 * largest * math.sqrt(2.0 * longest / (m * least) + 1.0) * math.sqrt(n_rounds * m * log_n)


def _shape(automaton: Automaton) -> tuple[float, float, float]:
    pairs = pair_flows(automaton, np.zeros(automaton.n_transitions))
    values = np.linalg.eigvalsh(pairs)
    return float(longest_path(automaton)), float(values[values > 1e-9].min()), math.log(n_paths(automaton))


@njit(cache=True)
def _pair_flows(offsets, target, share, flow, out):  # type: ignore[no-untyped-def]
    mass = np.zeros(len(offsets) - 1)
    for e in range(len(target)):
        out[e, e] = flow[e]
        mass[:] = 0.0
        mass[target[e]] = flow[e]
        for q in range(target[e], len(mass)):
            if mass[q] > 0.0:
                for f in range(offsets[q], offsets[q + 1]):
                    out[e, f] = mass[q] * share[f]
                    mass[target[f]] += out[e, f]
