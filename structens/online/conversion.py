"""On-line-to-batch conversion on a general automaton: which rounds to keep, and their averaged flows.

Cortes, Kuznetsov and Mohri (ICML 2014), sections 3.2 to 3.3 and appendix C, with flows in place of the conditional
weights that the papers print in Gamma. The twins for slots, linear in all transitions, are in `slot_conversion`.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from structens.core import Automaton, ParameterError
from structens.online.gamma import cv_penalty, suffix_start


class PathLearner(Protocol):
    """What the conversions need: `WeightedMajority`, `AdaHedge`, `PerturbedLeader` and others have it."""

    automaton: Automaton

    @property
    def n_rounds(self) -> int:
        """Number of rounds played."""

    @property
    def losses(self) -> NDArray[np.float64]:
        """Losses of all rounds, shape (n_rounds, n_transitions)."""

    def flows(self, t: int | None = None) -> NDArray[np.float64]:
        """Probability that p_t takes each transition, shape (n_transitions,)."""


class AveragedFlows(NamedTuple):
    """Flows of the mixture of the distributions p_start, ..., p_{T-1}.

    Attributes
    ----------
    transition : ndarray of float64, shape (n_transitions,)
    state : ndarray of float64, shape (n_states,)
    start : int
        First round of the suffix.
    """

    transition: NDArray[np.float64]
    state: NDArray[np.float64]
    start: int


def round_losses(learner: PathLearner) -> NDArray[np.float64]:
    """Expected loss of each p_t in round t under the learner's present beta, shape (T,).

    Examples
    --------
    >>> from structens.online import WeightedMajority
    >>> learner = WeightedMajority(Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1]), beta=0.5)
    >>> _ = learner.update([0, 1]), learner.update([0, 1])
    >>> round_losses(learner).round(4).tolist()
    [0.5, 0.3333]
    """
    return np.array([learner.flows(t) @ loss for t, loss in enumerate(learner.losses)])


def averaged_flows(
    learner: PathLearner, delta: float = 0.05, *, union_bound: bool = False, largest: float = 1.0
) -> AveragedFlows:
    """Flows averaged over the suffix that minimises Gamma; the weights of H_MVote and of H_Rand's expected loss.

    Parameters
    ----------
    learner : PathLearner
        After at least one round, with losses normalised to paths of loss at most `largest`.
    delta, union_bound, largest
        See `structens.online.gamma`.

    Raises
    ------
    ParameterError
        If no round was played.

    Examples
    --------
    >>> from structens.online import WeightedMajority
    >>> learner = WeightedMajority(Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1]), beta=0.5)
    >>> _ = learner.update([0, 1])
    >>> averaged_flows(learner).transition.tolist()
    [0.5, 0.5]
    """
    start = suffix_start(round_losses(learner), delta, union_bound=union_bound, largest=largest)
    transition = np.zeros(learner.automaton.n_transitions)
    for t in range(start, learner.n_rounds):
        transition += learner.flows(t)
    transition /= learner.n_rounds - start
    state: NDArray[Any] = np.bincount(
        learner.automaton.target, weights=transition, minlength=learner.automaton.n_states
    )
    state[learner.automaton.start] += 1.0
    return AveragedFlows(transition, state, start)


def thetas(learner: PathLearner, *, corrected: bool = False) -> NDArray[np.float64]:
    """Theta(p_t): mean loss of p_t over the rounds after t (from t on where corrected); O(T n_transitions).

    Returns
    -------
    ndarray of float64, shape (T - 1,), or (T,) where corrected

    Examples
    --------
    >>> from structens.online import WeightedMajority
    >>> learner = WeightedMajority(Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1]), beta=0.5)
    >>> for loss in ([0, 1], [0, 1], [1, 0], [0, 1], [0, 1], [0, 1]):
    ...     _ = learner.update(loss)
    >>> thetas(learner).round(6).tolist()
    [0.5, 0.416667, 0.2, 0.333333, 0.2]
    """
    losses, n_rounds = learner.losses, learner.n_rounds
    later = losses[::-1].cumsum(axis=0)[::-1]  # row t: sum over rounds t, ..., T - 1
    skip = 0 if corrected else 1
    rounds = range(n_rounds - skip)
    return np.array([learner.flows(t) @ later[t + skip] / (n_rounds - skip - t) for t in rounds])


def cv_round(learner: PathLearner, delta: float = 0.05, *, corrected: bool = False, largest: float = 1.0) -> int:
    """Round whose p_t minimises Theta(p_t) + c_delta (H_CV); 0 where one round was played.

    Examples
    --------
    >>> from structens.online import WeightedMajority
    >>> learner = WeightedMajority(Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1]), beta=0.5)
    >>> for loss in ([0, 1], [0, 1], [1, 0], [0, 1], [0, 1], [0, 1]):
    ...     _ = learner.update(loss)
    >>> cv_round(learner)
    2
    """
    if learner.n_rounds == 0:
        raise ParameterError("there is no round to choose from; call update first")
    values = thetas(learner, corrected=corrected)
    if len(values) == 0:
        return 0
    return int((values + cv_penalty(learner.n_rounds, delta, corrected=corrected, largest=largest)).argmin())
