"""Squint: second-order quantile learning without a rate, by context on slots.

Koolen and van Erven, "Second-order quantile methods for experts and combinatorial games" (COLT 2015). An expert with
regret R (the learner's loss minus its own, summed) and V (summed squares of the same) weighs

    integral from 0 to 1/2 of exp(eta R - eta^2 V) d eta,

which is the improper prior 1/eta on rates. It learns fast where losses are easy and needs no number chosen by hand.
Instantaneous regrets must lie in [-1, 1]: they are divided by the largest charge of the context seen so far.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from structens.online.context_learner import ContextLearner

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(24)
_HALF_ROOT_PI = 0.5 * math.sqrt(math.pi)


class Squint(ContextLearner):
    """Squint for each context; an expert that is asleep has no regret.

    Parameters
    ----------
    n_experts : int

    Examples
    --------
    >>> from structens.online.visits import Visits
    >>> v = Visits(np.array([[0, 1.0]] * 9), np.ones((9, 2), bool), np.zeros(9, np.int32), np.arange(9), np.ones(9),
    ...            np.ones(9), 9, 1)
    >>> Squint(2).play(v).before[[0, 1, 8], 0].round(4).tolist()
    [0.5, 0.5615, 0.8578]
    """

    by_expert: ClassVar[tuple[str, ...]] = ("regret", "variance")
    by_context: ClassVar[tuple[str, ...]] = ("range",)

    def regret_bound(self) -> float:
        """What the potential allows with the V of each context's leader; the sum over contexts.

        The mean of `squint_potential` over the experts never rises above 0, and no other expert can fall
        below regret -n after n visits: so R of the leader is at most the R at which its own term meets their room.
        """
        total = 0.0
        for c in np.flatnonzero(self.state["n_visits"] > 0):
            size, n = self.state["range"][c], self.state["n_visits"][c]
            leader = int(self.state["regret"][c].argmax())
            variance = self.state["variance"][c, leader] / size**2
            total += size * _largest_regret(variance, n, self.n_experts)
        return total

    def _play(
        self,
        loss: NDArray[np.float64],
        awake: NDArray[np.bool_],
        context: NDArray[np.int32],
        width: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        before, s = np.empty(loss.shape), self.state
        _play(loss, awake, context, width, s["regret"], s["variance"], s["range"], before)
        return before


def log_squint_weight(regret: ArrayLike, variance: ArrayLike) -> NDArray[np.float64]:
    """Logarithm of the integral from 0 to 1/2 of exp(eta R - eta^2 V), right to ten digits for any R and V >= 0.

    Parameters
    ----------
    regret, variance : array_like of float
        R and V; shapes broadcast.

    Examples
    --------
    >>> np.exp(log_squint_weight([2, -1, 0, 1], [3, 3, 0, 0])).round(6).tolist()
    [0.644598, 0.3229, 0.5, 0.648721]
    """
    r, v = np.broadcast_arrays(np.asarray(regret, np.float64), np.asarray(variance, np.float64))
    flat = np.array([_log_weight(a, b) for a, b in zip(r.ravel().tolist(), v.ravel().tolist(), strict=True)])
    return flat.reshape(r.shape)


def squint_potential(regret: float, variance: float) -> float:
    """Integral from 0 to 1/2 of (exp(eta R - eta^2 V) - 1) / eta: its mean over experts never rises above 0.

    Examples
    --------
    >>> squint_potential(0.0, 0.0), round(squint_potential(1.0, 0.0), 6)
    (0.0, 0.570151)
    """
    # in s = ln(eta): the integrand is smooth, and falls to nothing on the left
    low = math.log(1e-12 / max(1.0, abs(regret), variance))
    edges = np.linspace(low, math.log(0.5), 65)
    middle, half = 0.5 * (edges[1:] + edges[:-1]), 0.5 * (edges[1:] - edges[:-1])
    eta = np.exp(middle[:, None] + half[:, None] * _NODES)
    exponent = np.minimum(eta * regret - eta**2 * variance, 700.0)
    return float((half[:, None] * _NODE_WEIGHTS * np.expm1(exponent)).sum())


def _largest_regret(variance: float, n_visits: float, n_experts: int) -> float:
    room = -(n_experts - 1) * squint_potential(-n_visits, n_visits)
    low, high = 0.0, n_visits
    if squint_potential(high, variance) <= room:
        return float(high)
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if squint_potential(middle, variance) <= room else (low, middle)
    return float(high)


@njit(cache=True)
def _play(loss, awake, context, width, regret, variance, range_, before):  # type: ignore[no-untyped-def]
    p = loss.shape[1]
    for v in range(len(context)):
        c = context[v]
        anybody = False
        for j in range(p):
            anybody |= awake[v, j]
        if anybody:
            range_[c] = max(range_[c], width[v])
        size = range_[c] if range_[c] > 0.0 else 1.0
        top, total, mass = -np.inf, 0.0, 0.0
        for j in range(p):
            before[v, j] = _log_weight(regret[c, j] / size, variance[c, j] / size**2)
            top = max(top, before[v, j])
        for j in range(p):
            before[v, j] = np.exp(before[v, j] - top)
            total += before[v, j]
        for j in range(p):
            before[v, j] /= total
            if awake[v, j]:
                mass += before[v, j]
        expected, n = 0.0, 0
        for j in range(p):
            n += awake[v, j]
        for j in range(p):
            if awake[v, j]:
                expected += loss[v, j] * (before[v, j] / mass if mass > 0.0 else 1.0 / n)
        for j in range(p):
            if awake[v, j]:
                regret[c, j] += expected - loss[v, j]
                variance[c, j] += (expected - loss[v, j]) ** 2


@njit(cache=True)
def _log_weight(r, v):  # type: ignore[no-untyped-def]
    if abs(r) <= 20.0 and v <= 1.0:  # smooth on [0, 1/2]: quadrature, without the cancellation of the closed form
        total = 0.0
        for k in range(len(_NODES)):
            eta = 0.25 + 0.25 * _NODES[k]
            total += _NODE_WEIGHTS[k] * np.exp(eta * r - eta * eta * v)
        return np.log(0.25 * total)
    if v < 1e-100:
        # (exp(r / 2) - 1) / r
        return r / 2.0 + np.log(-np.expm1(-r / 2.0) / r) if r > 0.0 else np.log(np.expm1(r / 2.0) / r)
    root = math.sqrt(v)
    high, low = r / (2.0 * root), (r - v) / (2.0 * root)
    scale = np.log(_HALF_ROOT_PI / root)
    gain = r / 2.0 - v / 4.0  # high^2 - low^2
    if low >= 0.0:
        return scale + gain + np.log(_erfcx(low) - np.exp(-gain) * _erfcx(high))
    if high <= 0.0:
        return scale + np.log(_erfcx(-high) - np.exp(gain) * _erfcx(-low))
    return scale + high * high + np.log(math.erf(high) + math.erf(-low))


@njit(cache=True)
def _erfcx(x):  # type: ignore[no-untyped-def]
    """exp(x^2) erfc(x) for x >= 0."""
    if x < 10.0:
        return np.exp(x * x) * math.erfc(x)
    inverse = 0.5 / (x * x)
    series = 1.0 - inverse * (1.0 - 3.0 * inverse * (1.0 - 5.0 * inverse * (1.0 - 7.0 * inverse)))
    return series / (x * math.sqrt(math.pi))
