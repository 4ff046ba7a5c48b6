"""Shortest distance: the semiring sum of all paths from the start to each state, or from each state to the end.

One sweep over the states in topological order; O(states + transitions). With REAL weights a distance is kept as a
mantissa and an exponent, so that 100,000 positions neither underflow nor lose digits; with LOG weights whole blocks of
states are summed around a common minimum, so that the exponentials run eight at a time.

Source: Mohri, "Semiring frameworks and algorithms for shortest-distance problems" (2002), section 4.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from structens.automata.semiring import Semiring
from structens.automata.weights import as_weights
from structens.core import Automaton


def shortest_distance(
    automaton: Automaton,
    weight: ArrayLike,
    final_weight: ArrayLike | None = None,
    semiring: Semiring = Semiring.LOG,
    reverse: bool = False,
) -> NDArray[np.float64]:
    """Distance of each state from the start, or to the end.

    Parameters
    ----------
    automaton : Automaton
    weight : array_like, shape (n_transitions,)
        Costs (LOG, TROPICAL) or real numbers, negative ones too (REAL).
    final_weight : array_like, shape (n_states,), or None
        None is one at every final state. Only looked at with `reverse`.
    semiring : Semiring
    reverse : bool
        False: from the start, final weights not counted. True: to the end, final weights counted.

    Returns
    -------
    ndarray of float64, shape (n_states,)
        The semiring's zero where no path leads. A REAL distance out of the range of float64 becomes 0 or inf: use LOG.

    Raises
    ------
    DataError
        If the weights do not fit, or one of them is NaN.

    References
    ----------
    Mohri (2002), "Semiring frameworks and algorithms for shortest-distance problems", figure 2.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 9)], final=[2])
    >>> shortest_distance(a, [0.3, 0.2, 0.5], semiring=Semiring.REAL).tolist()
    [1.0, 0.5, 0.25]
    >>> shortest_distance(a, [3, 2, 5], semiring=Semiring.TROPICAL, reverse=True).tolist()
    [7.0, 5.0, 0.0]
    """
    semiring = Semiring(semiring)
    weight, final = as_weights(automaton, weight, final_weight, semiring)
    if reverse:
        return distance_to_end(automaton.offsets, automaton.target, weight, final, semiring)
    final = np.full(automaton.n_states, semiring.zero)
    final[automaton.n_states - 1 - automaton.start :][:1] = semiring.one
    offsets, target, transition = _reverse(automaton.source, automaton.target, automaton.n_states)
    return distance_to_end(offsets, target, weight[transition], final, semiring)[::-1].copy()


def total_weight(
    automaton: Automaton,
    weight: ArrayLike,
    final_weight: ArrayLike | None = None,
    semiring: Semiring = Semiring.LOG,
) -> float:
    """Semiring sum over all accepting paths: the distance of the start to the end.

    Parameters and errors are those of `shortest_distance`. The semiring's zero if there is no accepting path.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 9)], final=[2])
    >>> total_weight(a, [0.3, 0.2, 0.5], semiring=Semiring.REAL)
    0.25
    """
    if automaton.n_states == 0:
        return Semiring(semiring).zero
    return float(shortest_distance(automaton, weight, final_weight, semiring, reverse=True)[automaton.start])


def distance_to_end(
    offsets: NDArray[np.int64],
    target: NDArray[np.int32],
    weight: NDArray[np.float64],
    final: NDArray[np.float64],
    semiring: Semiring,
) -> NDArray[np.float64]:
    """`shortest_distance` to the end on checked arrays; for the other verbs of this package.

    Examples
    --------
    >>> one_step = np.array([0, 1, 1]), np.array([1], np.int32), np.array([2.0]), np.array([np.inf, 1.0])
    >>> distance_to_end(*one_step, Semiring.TROPICAL).tolist()
    [3.0, 1.0]
    """
    if semiring is Semiring.REAL:
        mantissa, exponent = scaled_distance_to_end(offsets, target, weight, final)
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(np.ldexp(mantissa, exponent))
    if semiring is Semiring.LOG:
        distance: NDArray[np.float64] = log_distance_to_end(offsets, target, weight, final)[0]
        return distance
    distance = np.empty(len(final))
    _tropical(offsets, target, weight, final, distance)
    return distance


def log_distance_to_end(
    offsets: NDArray[np.int64], target: NDArray[np.int32], weight: NDArray[np.float64], final: NDArray[np.float64]
) -> NDArray[np.float64]:
    """LOG distances to the end, and the two parts that they are the difference of; shape (3, n_states).

    The parts are a cost near the least one of the state, and the log of the mass around it. Pushing subtracts them one
    after the other, so that the weights of a state sum to one to the last digits however large the distances are.

    Examples
    --------
    >>> two_ways = np.array([0, 2, 2]), np.array([1, 1], np.int32), np.array([1e6, 1e6]), np.array([np.inf, 0.0])
    >>> log_distance_to_end(*two_ways)[:, 0].round(3).tolist()
    [999999.307, 1000000.0, 0.693]
    """
    parts = np.empty((3, len(final)))
    _log(offsets, target, weight, final, parts, np.empty((2, _room(offsets))), np.empty(0))
    return parts


def push_log(
    offsets: NDArray[np.int64], target: NDArray[np.int32], weight: NDArray[np.float64], final: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The three rows of `log_distance_to_end`, and the pushed weights of the transitions, in one sweep.

    Examples
    --------
    >>> two_ways = np.array([0, 2, 2]), np.array([1, 1], np.int32), np.array([5.0, 5.0]), np.array([np.inf, 0.0])
    >>> push_log(*two_ways)[1].round(3).tolist()
    [0.693, 0.693]
    """
    parts, pushed = np.empty((3, len(final))), np.empty(len(target))
    _log(offsets, target, weight, final, parts, np.empty((2, _room(offsets))), pushed)
    return parts, pushed


def scaled_distance_to_end(
    offsets: NDArray[np.int64], target: NDArray[np.int32], weight: NDArray[np.float64], final: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """REAL distances to the end as ``mantissa * 2**exponent``, which no length of path can push out of range.

    Examples
    --------
    >>> one_step = np.array([0, 1, 1]), np.array([1], np.int32), np.array([0.25]), np.array([0.0, 1.0])
    >>> [part.tolist() for part in scaled_distance_to_end(*one_step)]
    [[0.5, 0.5], [-1, 1]]
    """
    mantissa, exponent = np.frexp(final)
    _scaled(offsets, target, *np.frexp(weight), mantissa, exponent)
    return mantissa, exponent


def _room(offsets: NDArray[np.int64]) -> int:
    """Transitions of a block, or of the largest state."""
    n_transitions = int(offsets[-1])
    return n_transitions if n_transitions <= _BLOCK else max(_BLOCK, int(np.diff(offsets).max()))


_BLOCK = 8192
"""Transitions whose exponentials are taken together; 64 KiB of scratch stays in the second cache, and larger steps back
through memory suit the prefetcher."""
_FAINT = 1e-17
"""A state whose sum is below this, against the best of its block, is summed again around its own minimum."""
_STEPS = 8
_POWERS = np.exp2(-np.arange(128 * _STEPS) / _STEPS)
_HALVES = np.exp2(-np.arange(1100.0))
_PER_STEP = _STEPS / math.log(2)
_STEP_HIGH, _STEP_LOW = 6.93147180369123816490e-01 / _STEPS, 1.9082149292705877e-10 / _STEPS  # log(2) in two parts


# Places in the inner loops are unsigned: numba then leaves out the check for negative ones, half of the time there.


@njit(cache=True, fastmath={"nnan", "nsz"})
def _tropical(offsets, target, weight, final, distance):  # type: ignore[no-untyped-def]
    stop = np.uint64(offsets[len(final)])
    for q in range(len(final) - 1, -1, -1):
        best, start = final[q], np.uint64(offsets[q])
        for k in range(stop - start):
            e = start + np.uint64(k)
            best = min(best, weight[e] + distance[np.uint64(target[e])])
        distance[q] = best
        stop = start


@njit(cache=True)
def _log(offsets, target, weight, final, parts, rows, pushed):  # type: ignore[no-untyped-def]
    """Distances to the end; and the pushed weights, if there is room for them."""
    scratch = rows[0]
    distance, low, excess = parts[0], parts[1], parts[2]
    last = len(final) - 1
    while last >= 0:
        # The block: states down to `first`, none of which leads to another of them.
        stop, first = offsets[last + 1], last
        while first > 0 and stop - offsets[first - 1] <= _BLOCK and _leaps(target, offsets, first - 1, last):
            first -= 1
        start = offsets[first]
        # Pushed weights begin as the costs. Exponentials go elsewhere, or that loop would not become vector code.
        costs, first_cost = (pushed, start) if len(pushed) else (rows[1], np.int64(0))
        least = _extend(weight, target, distance, start, stop, costs, first_cost)
        if least < np.inf:
            _exp(costs, first_cost, scratch, stop - start, least)
        for q in range(first, last + 1):
            mass = _sum(scratch, offsets[q] - start, offsets[q + 1] - start)
            low[q] = least
            if not (least < np.inf and mass > _FAINT and final[q] == np.inf):
                low[q], mass = _sum_of_state(weight, target, distance, offsets[q], offsets[q + 1], final[q])
            excess[q] = math.log(mass)
            distance[q] = low[q] - excess[q]
            if len(pushed):
                _normalise(pushed, offsets[q], offsets[q + 1], low[q], excess[q])
        last = first - 1


@njit(cache=True)
def _leaps(target, offsets, q, last):  # type: ignore[no-untyped-def]
    """True if every transition of state q leads beyond state `last`."""
    nearest, start = np.int32(last + 1), np.uint64(offsets[q])
    for k in range(np.uint64(offsets[q + 1]) - start):
        nearest = min(nearest, target[start + np.uint64(k)])
    return nearest > last


@njit(cache=True, fastmath={"nnan", "nsz"})
def _extend(weight, target, distance, start, stop, costs, first):  # type: ignore[no-untyped-def]
    low, begin, place = np.inf, np.uint64(start), np.uint64(first)
    for k in range(np.uint64(stop) - begin):
        e = begin + np.uint64(k)
        x = weight[e] + distance[np.uint64(target[e])]
        costs[place + np.uint64(k)] = x
        low = min(low, x)
    return low


@njit(cache=True)
def _normalise(pushed, start, stop, low, excess):  # type: ignore[no-untyped-def]
    """Take the distance of a state out of its weights: first the near cost, then the log of the mass around it."""
    begin = np.uint64(start)
    for k in range(np.uint64(stop) - begin):
        e = begin + np.uint64(k)
        pushed[e] = (pushed[e] - low) + excess if low < np.inf else np.inf


@njit(cache=True)
def _sum(scratch, start, stop):  # type: ignore[no-untyped-def]
    """In two halves that do not wait for each other."""
    even, odd, e, end = 0.0, 0.0, np.uint64(start), np.uint64(stop)
    for _ in range((end - e) >> np.uint64(1)):
        even += scratch[e]
        odd += scratch[e + np.uint64(1)]
        e += np.uint64(2)
    if e < end:
        even += scratch[e]
    return even + odd


@njit(cache=True, fastmath={"contract"})
def _exp(costs, first, scratch, size, low):  # type: ignore[no-untyped-def]
    """``scratch = exp(low - costs[first:])`` to 6e-16; the compiler turns the loop into vector instructions.

    exp(x) = 2^(k/8) exp(r) with k the nearest integer to 8 x / log 2, a table for the first factor and Taylor's series
    to the seventh power for the second (|r| <= log(2)/16). Arguments below -80 count as -80: 1.8e-35 of the best.
    """
    place = np.uint64(first)
    for i in range(np.uint64(size)):
        x = max(low - costs[place + np.uint64(i)], -80.0)
        k = math.floor(x * _PER_STEP + 0.5)
        r = (x - k * _STEP_HIGH) - k * _STEP_LOW
        r2 = r * r
        series = (1.0 + r) + (1 / 2 + r * (1 / 6)) * r2
        series += ((1 / 24 + r * (1 / 120)) + (1 / 720 + r * (1 / 5040)) * r2) * (r2 * r2)
        scratch[np.uint64(i)] = series * _POWERS[np.uint64(-int(k))]


@njit(cache=True)
def _sum_of_state(weight, target, distance, start, stop, final):  # type: ignore[no-untyped-def]
    """Least cost of a state and the mass around it."""
    low = final
    for e in range(start, stop):
        low = min(low, weight[e] + distance[target[e]])
    if low == np.inf:
        return low, 1.0
    mass = math.exp(low - final)
    for e in range(start, stop):
        mass += math.exp(low - (weight[e] + distance[target[e]]))
    return low, mass


@njit(cache=True)
def _scaled(offsets, target, weight, power, mantissa, exponent):  # type: ignore[no-untyped-def]
    """`mantissa` and `exponent` hold the final weights at first, the distances at last."""
    for q in range(len(mantissa) - 1, -1, -1):
        start, stop = offsets[q], offsets[q + 1]
        top = np.int64(-(2**62))
        if mantissa[q] != 0.0:
            top = np.int64(exponent[q])
        for e in range(start, stop):
            if weight[e] != 0.0 and mantissa[target[e]] != 0.0:
                top = max(top, np.int64(power[e]) + np.int64(exponent[target[e]]))
        mass = 0.0
        if mantissa[q] != 0.0 and top - exponent[q] < len(_HALVES):
            mass = mantissa[q] * _HALVES[top - exponent[q]]
        for e in range(start, stop):
            x = weight[e] * mantissa[target[e]]
            if x != 0.0:
                below = top - power[e] - exponent[target[e]]
                if below < len(_HALVES):
                    mass += x * _HALVES[below]
        mantissa[q], exponent[q] = 0.0, 0
        if mass != 0.0:
            part, more = math.frexp(mass)
            mantissa[q], exponent[q] = part, top + more


@njit(cache=True)
def _reverse(source, target, n_states):  # type: ignore[no-untyped-def]
    """Transitions turned round and states counted from the end, so that the order is topological again.

    Transitions into one state keep their order; the third array is the old number of each.
    """
    offsets = np.zeros(n_states + 1, dtype=np.int64)
    for e in range(len(target)):
        offsets[n_states - target[e]] += 1
    for q in range(n_states):
        offsets[q + 1] += offsets[q]
    place = offsets[:-1].copy()
    turned = np.empty(len(target), dtype=np.int32)
    transition = np.empty(len(target), dtype=np.int64)
    for e in range(len(target)):
        q = n_states - 1 - target[e]
        turned[place[q]] = n_states - 1 - source[e]
        transition[place[q]] = e
        place[q] += 1
    return offsets, turned, transition
