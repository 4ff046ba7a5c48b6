"""Marginals of the distribution over paths: how likely a path takes each transition, and what it costs on average.

The expected loss of a path drawn from the weights is the sum over transitions of flow times loss. The 2014 paper writes
the conditional weight in place of the flow; the two are equal on its Figure 1 only.

Sources: Cortes, Kuznetsov and Mohri, "Ensemble methods for structured prediction" (2014), with that correction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from structens.automata.push import push_to_probabilities
from structens.automata.semiring import Semiring
from structens.core import Automaton, DataError


class Flows(NamedTuple):
    """Probabilities under the distribution over accepting paths.

    Attributes
    ----------
    transition : ndarray of float64, shape (n_transitions,)
        That a path takes the transition.
    state : ndarray of float64, shape (n_states,)
        That a path goes through the state.
    final : ndarray of float64, shape (n_states,)
        That a path ends in the state; these sum to one.
    """

    transition: NDArray[np.float64]
    state: NDArray[np.float64]
    final: NDArray[np.float64]


def flows(
    automaton: Automaton,
    weight: ArrayLike,
    final_weight: ArrayLike | None = None,
    semiring: Semiring = Semiring.LOG,
) -> Flows:
    """Transition posteriors and state flows, from weights that need not be pushed.

    Parameters
    ----------
    automaton : Automaton
    weight : array_like, shape (n_transitions,)
        Costs (LOG) or real weights >= 0 (REAL), up to a common factor of all paths.
    final_weight : array_like, shape (n_states,), or None
    semiring : Semiring
        LOG or REAL.

    Raises
    ------
    AutomatonError
        If there is no accepting path with positive weight.
    DataError
        If the weights do not fit.
    ParameterError
        If the semiring is TROPICAL.

    References
    ----------
    Cortes, Kuznetsov and Mohri (2014), section 4; Mohri (2009) for pushing.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 2, 8), (1, 2, 9)], final=[2])
    >>> f = flows(a, [3.0, 1.0, 1.0], semiring=Semiring.REAL)
    >>> f.transition.tolist(), f.state.tolist(), f.final.tolist()
    ([0.75, 0.25, 0.75], [1.0, 0.75, 1.0], [0.0, 0.0, 1.0])
    """
    probability, stop = push_to_probabilities(automaton, weight, final_weight, semiring, "flows")
    state = np.zeros(automaton.n_states)
    transition = np.empty(automaton.n_transitions)
    state[automaton.start] = 1.0
    _flow(automaton.offsets, automaton.target, probability, state, transition)
    return Flows(transition, state, state * stop)


def expected_loss(
    automaton: Automaton,
    weight: ArrayLike,
    loss: ArrayLike,
    final_weight: ArrayLike | None = None,
    semiring: Semiring = Semiring.LOG,
) -> float:
    """Mean, over paths drawn from the weights, of the summed loss of a path's transitions.

    Parameters
    ----------
    automaton : Automaton
    weight : array_like, shape (n_transitions,)
    loss : array_like, shape (n_transitions,)
        Finite loss of each transition.
    final_weight : array_like, shape (n_states,), or None
    semiring : Semiring
        LOG or REAL.

    Raises
    ------
    AutomatonError, DataError, ParameterError
        As `flows`; DataError also if the losses do not fit or are not finite.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 2, 8), (1, 2, 9)], final=[2])
    >>> expected_loss(a, [3.0, 1.0, 1.0], [1.0, 1.0, 1.0], semiring=Semiring.REAL)
    1.75
    """
    losses = np.asarray(loss, dtype=np.float64)
    if losses.shape != (automaton.n_transitions,) or not np.isfinite(losses).all():
        raise DataError(f"need one finite loss a transition, {automaton.n_transitions} in all")
    return float(flows(automaton, weight, final_weight, semiring).transition @ losses)


@njit(cache=True)
def _flow(offsets, target, probability, state, transition):  # type: ignore[no-untyped-def]
    for q in range(len(state)):
        through = state[q]
        for e in range(offsets[q], offsets[q + 1]):
            transition[e] = through * probability[e]
            state[target[e]] += transition[e]
