"""Expectations over the paths of an automaton: mean, variance, covariance, gradients, entropy, divergence.

With weights pushed, all of them are sweeps over the transitions. A value of a path is the sum of values of its
transitions. The gradient of a mean with respect to the log weight of a transition is its flow times how far the mean
over the paths through it lies from the mean over all; and the covariance with a second value is that gradient times the
second value, because tilting the weights by exp(s u) moves the mean of v at the rate Cov(u, v).

Sources: Eisner, "Parameter estimation for probabilistic finite-state transducers" (2002), for the expectation
semiring; Li and Eisner, "First- and second-order expectation semirings" (2009); Cortes, Mohri, Rastogi and Riley, "On
the computation of the relative entropy of probabilistic automata" (2008).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from structens.automata.push import push, push_to_probabilities
from structens.automata.semiring import Semiring
from structens.automata.weights import as_semiring
from structens.core import Automaton, DataError

_NO_DISTRIBUTION = "tropical weights hold no distribution over paths"


class Expectation(NamedTuple):
    """Mean and second moments of values of paths.

    Attributes
    ----------
    total : float
        Semiring sum of all accepting paths.
    mean : float
        Of the summed value of a path.
    gradient : ndarray of float64, shape (n_transitions,)
        Of the mean with respect to each transition's log weight (minus its cost).
    final_gradient : ndarray of float64, shape (n_states,)
        The same for final weights.
    variance : float
    covariance : float
        With the second value; that with itself if none was given.
    """

    total: float
    mean: float
    gradient: NDArray[np.float64]
    final_gradient: NDArray[np.float64]
    variance: float
    covariance: float


def expectation(
    automaton: Automaton,
    weight: ArrayLike,
    value: ArrayLike,
    final_weight: ArrayLike | None = None,
    semiring: Semiring = Semiring.LOG,
    *,
    second: ArrayLike | None = None,
) -> Expectation:
    """Mean of a value over paths drawn from the weights, with gradient, variance and covariance; linear time.

    Parameters
    ----------
    automaton : Automaton
    weight : array_like, shape (n_transitions,)
        Costs (LOG) or real weights >= 0 (REAL); they need not be pushed.
    value : array_like, shape (n_transitions,)
        Finite; a loss, say.
    final_weight : array_like, shape (n_states,), or None
    semiring : Semiring
        LOG or REAL.
    second : array_like, shape (n_transitions,), or None
        A second value, for the covariance.

    Raises
    ------
    AutomatonError
        If there is no accepting path with positive weight.
    DataError
        If weights or values do not fit.
    ParameterError
        If the semiring is TROPICAL.

    References
    ----------
    Li and Eisner (2009), section 3; Eisner (2002), section 4.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1])
    >>> e = expectation(a, [3.0, 1.0], [0.0, 1.0], semiring=Semiring.REAL)
    >>> e.mean, e.variance, e.gradient.tolist()
    (0.25, 0.1875, [-0.1875, 0.1875])
    """
    values = _values(automaton, value)
    other = values if second is None else _values(automaton, second)
    as_semiring(semiring, (Semiring.LOG, Semiring.REAL), "expectation", _NO_DISTRIBUTION)
    pushed = push(automaton, weight, final_weight, semiring)
    real = semiring is Semiring.REAL
    probability = pushed.weight if real else np.exp(-pushed.weight)
    stop = pushed.final_weight if real else np.exp(-pushed.final_weight)
    onward = np.empty(automaton.n_states)
    _mean_onward(automaton.offsets, automaton.target, probability, values, onward)
    gradient, final_gradient = np.empty(automaton.n_transitions), np.empty(automaton.n_states)
    arrays = probability, stop, values, onward
    _gradients(automaton.offsets, automaton.target, arrays, automaton.start, gradient, final_gradient)
    mean = float(onward[automaton.start])
    variance = max(0.0, float(gradient @ values))
    return Expectation(pushed.total, mean, gradient, final_gradient, variance, float(gradient @ other))


def pushed_mean(automaton: Automaton, probability: ArrayLike, value: ArrayLike) -> float:
    """Mean value of a path from weights that are pushed already: one sweep that runs as fast as memory is read.

    Parameters
    ----------
    automaton : Automaton
    probability : array_like, shape (n_transitions,)
        Pushed REAL weights: those of a state and its final weight sum to one. Not checked.
    value : array_like, shape (n_transitions,)

    Raises
    ------
    DataError
        If the sizes do not fit.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1])
    >>> pushed_mean(a, [0.75, 0.25], [0.0, 1.0])
    0.25
    """
    shares, values = (np.ascontiguousarray(array, dtype=np.float64) for array in (probability, value))
    if shares.shape != (automaton.n_transitions,) or values.shape != shares.shape:
        raise DataError(f"need one probability and one value a transition, {automaton.n_transitions} in all")
    onward = np.empty(automaton.n_states)
    _mean_onward(automaton.offsets, automaton.target, shares, values, onward)
    return float(onward[automaton.start]) if automaton.n_states else 0.0


def entropy(
    automaton: Automaton,
    weight: ArrayLike,
    final_weight: ArrayLike | None = None,
    semiring: Semiring = Semiring.LOG,
) -> float:
    """Entropy of the distribution over accepting paths, in nats.

    Parameters and errors are those of `expectation`.

    Examples
    --------
    >>> a = Automaton.from_transitions([(k, k + 1, j) for k in range(3) for j in range(4)], final=[3])
    >>> float(round(entropy(a, [0.0] * 12) / np.log(2), 9))
    6.0
    """
    probability, stop = push_to_probabilities(automaton, weight, final_weight, semiring, "entropy")
    return -_mean_log(automaton, (probability, stop), (probability, stop))


def divergence(
    automaton: Automaton,
    weight: ArrayLike,
    other_weight: ArrayLike,
    final_weight: ArrayLike | None = None,
    other_final_weight: ArrayLike | None = None,
    semiring: Semiring = Semiring.LOG,
) -> float:
    """Relative entropy (Kullback-Leibler) of two weightings of one automaton, over its paths, in nats.

    Parameters
    ----------
    automaton : Automaton
    weight, other_weight : array_like, shape (n_transitions,)
        The distribution the mean is taken over, and the one it is compared with.
    final_weight, other_final_weight : array_like, shape (n_states,), or None
    semiring : Semiring
        Of both.

    Returns
    -------
    float
        inf if a path of positive probability has none in the other.

    Raises
    ------
    AutomatonError, DataError, ParameterError
        As `expectation`, for either of the two.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1])
    >>> round(divergence(a, [1.0, 1.0], [3.0, 1.0], semiring=Semiring.REAL), 6)
    0.143841
    """
    own = push_to_probabilities(automaton, weight, final_weight, semiring, "divergence")
    other = push_to_probabilities(automaton, other_weight, other_final_weight, semiring, "divergence")
    return max(0.0, _mean_log(automaton, own, own) - _mean_log(automaton, own, other))


Pushed = tuple[NDArray[np.float64], NDArray[np.float64]]


def _mean_log(automaton: Automaton, own: Pushed, other: Pushed) -> float:
    """Mean over paths of the log probability in the other distribution."""
    value, ending = np.empty(automaton.n_transitions), np.empty(automaton.n_states)
    for p, q, out in zip(own, other, (value, ending), strict=True):
        out[:] = 0.0
        np.log(q, out=out, where=(p > 0) & (q > 0))
        out[(p > 0) & (q == 0)] = -np.inf
    onward = np.empty(automaton.n_states)
    _mean_log_onward(automaton.offsets, automaton.target, own[0], own[1], value, ending, onward)
    return float(onward[automaton.start])


def _values(automaton: Automaton, value: ArrayLike) -> NDArray[np.float64]:
    values = np.ascontiguousarray(value, dtype=np.float64)
    if values.shape != (automaton.n_transitions,) or not np.isfinite(values).all():
        raise DataError(f"need one finite value a transition, {automaton.n_transitions} in all")
    return values


@njit(cache=True)
def _mean_onward(offsets, target, probability, value, onward):  # type: ignore[no-untyped-def]
    """Mean value of what is still to come, at each state."""
    stop = np.uint64(offsets[len(onward)])
    for q in range(len(onward) - 1, -1, -1):
        even, odd, start = 0.0, 0.0, np.uint64(offsets[q])
        n = (stop - start) >> np.uint64(1)
        for k in range(n):
            e = start + np.uint64(k)
            f = e + n
            even += probability[e] * (value[e] + onward[np.uint64(target[e])])
            odd += probability[f] * (value[f] + onward[np.uint64(target[f])])
        if n + n < stop - start:
            e = stop - np.uint64(1)
            even += probability[e] * (value[e] + onward[np.uint64(target[e])])
        onward[q] = even + odd
        stop = start


@njit(cache=True)
def _mean_log_onward(offsets, target, probability, stop, value, ending, onward):  # type: ignore[no-untyped-def]
    """The same where a value may be minus infinity, and where the end of a path counts."""
    for q in range(len(onward) - 1, -1, -1):
        mean = stop[q] * ending[q] if stop[q] > 0.0 else 0.0
        for e in range(offsets[q], offsets[q + 1]):
            if probability[e] > 0.0:
                mean += probability[e] * (value[e] + onward[target[e]])
        onward[q] = mean


@njit(cache=True)
def _gradients(offsets, target, arrays, start, gradient, final_gradient):  # type: ignore[no-untyped-def]
    """flow times (mean over the paths through the transition - mean over all)."""
    probability, stop, value, onward = arrays
    n_states = len(onward)
    reaching, gathered = np.zeros(n_states), np.zeros(n_states)  # mass, and mass times the mean gathered before
    reaching[start] = 1.0
    mean = onward[start]
    for q in range(start, n_states):
        mass = reaching[q]
        before = gathered[q] / mass if mass > 0.0 else 0.0
        final_gradient[q] = mass * stop[q] * (before - mean)
        for e in range(offsets[q], offsets[q + 1]):
            flow = mass * probability[e]
            gradient[e] = flow * (before + value[e] + onward[target[e]] - mean)
            reaching[target[e]] += flow
            gathered[target[e]] += flow * (before + value[e])
    for q in range(start):
        final_gradient[q] = 0.0
        for e in range(offsets[q], offsets[q + 1]):
            gradient[e] = 0.0
