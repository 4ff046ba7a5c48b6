"""ComponentHedge: learning in the polytope of unit flows instead of over paths.

Koolen, Warmuth and Kivinen, "Hedging structured concepts" (COLT 2010); CDCH of Cortes and co-authors, "Online
non-additive path learning under full and partial information" (ALT 2019). The state is a usage a transition, the
probability that the learner's path takes it. A round multiplies usages by exp(-eta loss), then projects back to the
nearest unit flow in relative entropy, by cyclic Bregman projections: at every inner state inflow is multiplied by
sqrt(out / in) and outflow by sqrt(in / out); the flow out of the start is scaled to 1. A path is drawn after the usages
were decomposed into paths. On Figure 1 this is a Hedge for each position. Its bounds do not pay for long paths with a
factor of the path's length, and usages can be mixed (fixed share), for the polytope is convex.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from structens.automata import Semiring, flows
from structens.core import Automaton, AutomatonError, DataError, ParameterError, Ragged
from structens.online.ledger import RoundLedger

MOST_CYCLES = 100_000
"""Sweeps of one projection before it is given up."""


class Decomposition(NamedTuple):
    """Paths whose weighted sum is a flow.

    Attributes
    ----------
    paths : Ragged of int64
        Transitions of each path.
    weight : ndarray of float64, shape (n_paths,)
        Sums to 1.
    """

    paths: Ragged
    weight: NDArray[np.float64]


class ComponentHedge(RoundLedger):
    """Hedge over unit flows of an acyclic automaton.

    Parameters
    ----------
    automaton : Automaton
        Acyclic; the same in all rounds.
    eta : float
        Learning rate, >= 0.
    tolerance : float
        The projection ends when inflow and outflow of every state agree within this part.

    Raises
    ------
    ParameterError
        If a parameter is out of range.
    AutomatonError
        If no path leads from the start to a final state.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 7), (1, 2, 8)], final=[2])
    >>> learner = ComponentHedge(a, eta=math.log(2))
    >>> learner.update([0, 1, 1, 1]), learner.flows().round(4).tolist()
    (1.5, [0.6667, 0.3333, 0.5, 0.5])
    """

    def __init__(self, automaton: Automaton, eta: float, *, tolerance: float = 1e-10) -> None:
        if not (eta >= 0 and math.isfinite(eta)) or not 0 < tolerance < 1:
            raise ParameterError(f"need a rate >= 0 and a tolerance between 0 and 1; got {eta!r} and {tolerance!r}")
        super().__init__(automaton)
        self.eta, self.tolerance = eta, tolerance
        first = flows(automaton, np.zeros(automaton.n_transitions), None, Semiring.LOG)
        stops = np.where(automaton.is_final, first.state, 0.0)
        out = np.bincount(automaton.source, weights=first.transition, minlength=automaton.n_states)
        # a path may stop at a final state that has transitions: stopping is a component too, without loss
        stop = np.where(automaton.is_final, stops - out, 0.0)
        with np.errstate(divide="ignore"):
            self._log_usage, self._log_stop = np.log(first.transition), np.log(np.maximum(stop, 0.0))
        self._usages = [first.transition]
        self._into = np.argsort(automaton.target, kind="stable")
        self._into_offsets = np.searchsorted(automaton.target[self._into], np.arange(automaton.n_states + 1))

    def flows(self, t: int | None = None) -> NDArray[np.float64]:
        """Usages before round t (default: the next), shape (n_transitions,)."""
        return self._usages[self.n_rounds if t is None else t].copy()

    def update(self, loss: ArrayLike) -> float:
        """Play one round; returns the expected loss.

        Parameters
        ----------
        loss : array_like, shape (n_transitions,)
            Finite.

        Raises
        ------
        DataError
            If a loss is not finite, or their number is wrong.
        AutomatonError
            If the projection does not converge.
        """
        n = self.automaton.n_transitions
        loss = np.array(loss, dtype=np.float64)
        if loss.shape != (n,) or not np.isfinite(loss).all():
            raise DataError(f"need one finite loss for each of {n} transitions; got shape {loss.shape}")
        expected = float(self._usages[-1] @ loss)
        self._log_usage -= self.eta * loss
        a = self.automaton
        cycles = _project(
            a.offsets, self._into, self._into_offsets, a.start, self._log_usage, self._log_stop, self.tolerance
        )
        if cycles >= MOST_CYCLES:
            raise AutomatonError(f"the projection on unit flows did not converge in {MOST_CYCLES:,} sweeps")
        self._enter(loss, expected)
        self._usages.append(np.exp(self._log_usage))
        return expected

    def decompose(self) -> Decomposition:
        """Paths whose weighted sum has the present usages: at most one for each transition and final state.

        A path of positive usage is taken out with its least usage, until nothing is left.

        Examples
        --------
        >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 7), (1, 2, 8)], final=[2])
        >>> found = ComponentHedge(a, 1.0).decompose()
        >>> found.paths.to_list(), found.weight.tolist()
        ([[0, 2], [1, 3]], [0.5, 0.5])
        """
        a = self.automaton
        left, stop = np.exp(self._log_usage), np.exp(self._log_stop)
        paths: list[list[int]] = []
        weights: list[float] = []
        total = 1.0
        while total > 1e-12 and len(paths) <= a.n_transitions + a.n_states:
            path, q = [], a.start
            while True:
                here = slice(a.offsets[q], a.offsets[q + 1])
                best = int(left[here].argmax()) + int(a.offsets[q]) if here.start < here.stop else -1
                if best < 0 or stop[q] >= left[best]:
                    break
                path.append(best)
                q = int(a.target[best])
            least = min([stop[q], *left[path].tolist()])
            left[path] -= least
            stop[q] -= least
            if least <= 0.0:  # what is left is rounding
                break
            paths.append(path)
            weights.append(float(least))
            total -= float(least)
        weight = np.array(weights)
        return Decomposition(Ragged.of(paths, dtype=np.int64), weight / weight.sum())

    def sample(self, n: int, seed: int | np.random.Generator) -> Ragged:
        """Draw n paths, each transition with the probability that is its usage.

        Parameters
        ----------
        n : int
        seed : int or numpy.random.Generator
        """
        paths, weight = self.decompose()
        return paths[np.random.default_rng(seed).choice(len(weight), size=n, p=weight)]


def component_regret(n_rounds: int, longest: int, n_transitions: int, largest: float = 1.0) -> float:
    """Regret of Component Hedge at `component_rate`: at most sqrt(2 T B^2 K^2 ln(K M)) + B K ln(K M) (ALT 2019).

    Parameters
    ----------
    n_rounds, longest, n_transitions : int
        T, K the number of transitions of a path (all of one length), M.
    largest : float
        B, the largest loss of a transition.

    Examples
    --------
    >>> round(component_regret(200, 10, 50), 1)
    560.7
    """
    log_km = math.log(longest * n_transitions)
    return largest * longest * (math.sqrt(2.0 * n_rounds * log_km) + log_km)


def component_loss(eta: float, best_loss: float, longest: int, n_transitions: int) -> float:
    """Cumulative loss, losses of transitions in [0, 1]: at most (eta L* + K ln(K M)) / (1 - exp(-eta)).

    Koolen, Warmuth and Kivinen (2010), theorem 1; the relative entropy from the start to a path is at most K ln(K M).

    Examples
    --------
    >>> round(component_loss(0.5, 100.0, 2, 4), 3)
    137.644
    """
    return (eta * best_loss + longest * math.log(longest * n_transitions)) / -math.expm1(-eta)


@njit(cache=True)
def _log_sum(high, values, index, begin, end):  # type: ignore[no-untyped-def]
    total = 0.0
    for k in range(begin, end):
        total += np.exp(values[index[k]] - high)
    return total


@njit(cache=True)
def _project(offsets, into, into_offsets, start, usage, stop, tolerance):  # type: ignore[no-untyped-def]
    """Cyclic Bregman projections on logarithms of usages; returns the number of sweeps."""
    n_states = len(stop)
    for sweep in range(MOST_CYCLES):
        worst = 0.0
        for q in range(n_states):
            high = stop[q]
            for e in range(offsets[q], offsets[q + 1]):
                high = max(high, usage[e])
            low = -np.inf
            for k in range(into_offsets[q], into_offsets[q + 1]):
                low = max(low, usage[into[k]])
            if high == -np.inf or (low == -np.inf and q != start):
                continue  # on no path
            outflow = np.exp(stop[q] - high)
            for e in range(offsets[q], offsets[q + 1]):
                outflow += np.exp(usage[e] - high)
            log_out = high + np.log(outflow)
            if q == start:
                shift = -log_out
            else:
                log_in = low + np.log(_log_sum(low, usage, into, into_offsets[q], into_offsets[q + 1]))
                shift = 0.5 * (log_in - log_out)
            worst = max(worst, abs(shift))
            stop[q] += shift
            for e in range(offsets[q], offsets[q + 1]):
                usage[e] += shift
            if q != start:
                for k in range(into_offsets[q], into_offsets[q + 1]):
                    usage[into[k]] -= shift
        if worst <= tolerance:
            return sweep
    return MOST_CYCLES
