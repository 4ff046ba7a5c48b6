"""Weight pushing: the same distribution over paths, written so that each state's weights sum to one.

After pushing toward the start, the product of weights along a path is the path's share of the total, and a path can be
drawn by a walk. Multiplying transition weights and normalising each state by itself does *not* do this, except on the
automaton of Figure 1 (the trap of equation 3 in the 2014 paper): multiply, then push.

Sources: Mohri, "Weighted automata algorithms" (2009), section on reweighting; Cortes, Kuznetsov, Mohri, Rahmanian and
Warmuth, "Online non-additive path learning" (2019), appendix C, which has the final weights right.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from structens.automata.semiring import Semiring
from structens.automata.shortest_distance import distance_to_end, push_log, scaled_distance_to_end
from structens.automata.weights import as_semiring, as_weights
from structens.core import Automaton, AutomatonError


class Pushed(NamedTuple):
    """Weights after pushing, in the semiring they came in.

    Attributes
    ----------
    weight : ndarray of float64, shape (n_transitions,)
    final_weight : ndarray of float64, shape (n_states,)
        Zero of the semiring at states that are not final.
    total : float
        Semiring sum over all accepting paths, taken out of the weights. A REAL total out of the range of float64 is 0
        or inf, though the pushed weights are right: use LOG to read it.
    """

    weight: NDArray[np.float64]
    final_weight: NDArray[np.float64]
    total: float


def push(
    automaton: Automaton,
    weight: ArrayLike,
    final_weight: ArrayLike | None = None,
    semiring: Semiring = Semiring.LOG,
) -> Pushed:
    """Push weights toward the start.

    Parameters
    ----------
    automaton : Automaton
    weight : array_like, shape (n_transitions,)
        Costs (LOG, TROPICAL) or real weights >= 0 (REAL).
    final_weight : array_like, shape (n_states,), or None
        None is one at every final state.
    semiring : Semiring
        TROPICAL gives Viterbi potentials: each state's least weight is 0. Sampling needs LOG or REAL.

    Returns
    -------
    Pushed
        At every state that leads to a final state, the weights of its transitions and its final weight sum to one in
        the semiring. Transitions from and to other states have weight zero. Weight of a path = total times its pushed
        weight.

    Raises
    ------
    AutomatonError
        If no path with positive weight leads from the start to a final state.
    DataError
        If the weights do not fit, or one is NaN or a negative real number.

    References
    ----------
    Cortes et al. (ALT 2019), appendix C; spec of the final weight: old weight divided by the state's own distance.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 9)], final=[2])
    >>> pushed = push(a, [0.3, 0.1, 0.5], semiring=Semiring.REAL)
    >>> pushed.weight.round(12).tolist(), pushed.total
    ([0.75, 0.25, 1.0], 0.2)
    """
    semiring = Semiring(semiring)
    weight, final = as_weights(automaton, weight, final_weight, semiring, non_negative=True)
    offsets, target, start = automaton.offsets, automaton.target, automaton.start
    if automaton.n_states == 0:
        raise _no_path(start)
    if semiring is Semiring.REAL:
        pushed = np.empty(automaton.n_transitions)
        mantissa, exponent = scaled_distance_to_end(offsets, target, weight, final)
        if mantissa[start] == 0.0:
            raise _no_path(start)
        _reweight_scaled(offsets, target, *np.frexp(weight), mantissa, exponent, pushed)
        with np.errstate(all="ignore"):
            total = float(np.ldexp(mantissa[start], exponent[start]))
            part, power = np.frexp(final)
            pushed_final = np.where(final > 0, np.ldexp(part / mantissa, power - exponent), 0.0)
        return Pushed(pushed, pushed_final, total)
    if semiring is Semiring.LOG:
        parts, pushed = push_log(offsets, target, weight, final)
    else:
        distance = distance_to_end(offsets, target, weight, final, semiring)
        parts, pushed = np.stack([distance, distance, np.zeros(len(distance))]), np.empty(automaton.n_transitions)
        _reweight(offsets, target, weight, distance, pushed)
    if parts[0, start] == np.inf:
        raise _no_path(start)
    pushed_final = np.empty(automaton.n_states)
    _reweight_final(final, parts, pushed_final)
    return Pushed(pushed, pushed_final, float(parts[0, start]))


def push_to_probabilities(
    automaton: Automaton,
    weight: ArrayLike,
    final_weight: ArrayLike | None,
    semiring: Semiring,
    verb: str,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Probability of each transition, and of stopping, given its state; for the verbs that need a distribution.

    Raises
    ------
    ParameterError
        If the semiring is TROPICAL, which holds no distribution.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1])
    >>> p, stop = push_to_probabilities(a, [1000.0, 1000.0], None, Semiring.LOG, "flows")
    >>> p.round(12).tolist(), stop.tolist()
    ([0.5, 0.5], [0.0, 1.0])
    """
    semiring = as_semiring(
        semiring, (Semiring.LOG, Semiring.REAL), verb, "best costs are no distribution over paths; push costs with LOG"
    )
    pushed = push(automaton, weight, final_weight, semiring)
    if semiring is Semiring.REAL:
        return pushed.weight, pushed.final_weight
    return np.exp(-pushed.weight), np.exp(-pushed.final_weight)


def _no_path(start: int) -> AutomatonError:
    return AutomatonError(
        f"no path with positive weight leads from start state {start} to a final state: "
        "there is no distribution over paths to push toward"
    )


@njit(cache=True)
def _reweight(offsets, target, weight, distance, pushed):  # type: ignore[no-untyped-def]
    for q in range(len(distance)):
        own = distance[q]
        for e in range(offsets[q], offsets[q + 1]):
            pushed[e] = weight[e] + distance[target[e]] - own if own < np.inf else np.inf


@njit(cache=True)
def _reweight_final(final, parts, pushed):  # type: ignore[no-untyped-def]
    for q in range(len(final)):
        pushed[q] = (final[q] - parts[1, q]) + parts[2, q] if parts[1, q] < np.inf else np.inf


@njit(cache=True)
def _reweight_scaled(offsets, target, weight, power, mantissa, exponent, pushed):  # type: ignore[no-untyped-def]
    for q in range(len(mantissa)):
        own, own_power = mantissa[q], exponent[q]
        for e in range(offsets[q], offsets[q + 1]):
            x = weight[e] * mantissa[target[e]]
            if x == 0.0:
                pushed[e] = 0.0
            else:
                pushed[e] = math.ldexp(x / own, int(power[e] + exponent[target[e]] - own_power))
