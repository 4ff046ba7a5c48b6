"""Learning from losses that no fixed automaton makes additive: the automata of all rounds, intersected.

Each round brings a deterministic automaton V_t over the names of transitions that gives every path expert its loss;
W_t = W_{t-1} o V_t gives every path its summed loss and stays deterministic, so its paths are drawn by pushing (RRWM,
TRWM), and the leader is followed by a best path (FPRL, FPTL). W_t grows from round to round, so this is a reference for
small automata; `structens.online.rational` and `structens.online.tropical` make the V_t. Source: Cortes, Kuznetsov,
Mohri and Warmuth, "On-line learning algorithms for path experts with non-additive losses" (COLT 2015), sections 4 and
5, appendix B.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata import Semiring, WeightedAutomaton, as_weights, compose, flows, sample, shortest_path
from structens.core import Automaton, AutomatonError, ParameterError, Ragged


class PathLoss(NamedTuple):
    """The loss of every path expert in one round.

    Attributes
    ----------
    automaton : Automaton
        Deterministic; labels are numbers of transitions of the path experts' automaton, and it accepts all its paths.
    loss : ndarray of float64, shape (n_transitions,)
    final_loss : ndarray of float64, shape (n_states,)
        The loss of a path is the sum along it.
    """

    automaton: Automaton
    loss: NDArray[np.float64]
    final_loss: NDArray[np.float64]


class ComposedLearner:
    """Distribution over path experts that learns from any loss given as an automaton.

    Parameters
    ----------
    automaton : Automaton
        Of the path experts; the same in all rounds.
    eta : float
        Learning rate, >= 0; may be changed at any time. With loss -log U it is the power of the gain U.
    max_states : int
        Give up when the intersection needs more states.

    Raises
    ------
    ParameterError
        If eta is negative or not finite.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 0), (0, 1, 1)], final=[1])
    >>> learner = ComposedLearner(a, eta=1.0)
    >>> learner.learn(PathLoss(a, np.array([0.0, 1.0]), np.zeros(2)))  # labels of a are names: 0 and 1
    0.5
    >>> learner.flows().round(4).tolist()
    [0.7311, 0.2689]
    """

    def __init__(self, automaton: Automaton, eta: float, *, max_states: int = 200_000) -> None:
        if not (np.isfinite(eta) and eta >= 0):
            raise ParameterError(f"eta must be a finite number >= 0; got {eta!r}")
        self.automaton, self.eta, self.max_states = automaton, eta, max_states
        self.cumulative = WeightedAutomaton(by_name(automaton), np.zeros(automaton.n_transitions))
        self.n_rounds = 0

    def learn(self, loss: PathLoss) -> float:
        """Play one round.

        Parameters
        ----------
        loss : PathLoss

        Returns
        -------
        float
            Expected loss of the distribution before the round.

        Raises
        ------
        AutomatonError
            If more than `max_states` states are needed; the learner is left as it was.
        """
        new = WeightedAutomaton(loss.automaton, loss.loss, loss.final_loss)
        old = self.cumulative.automaton
        both = compose(self.cumulative, new, Semiring.TROPICAL)
        alone = compose(WeightedAutomaton(old, np.zeros(old.n_transitions)), new, Semiring.TROPICAL)
        if both.automaton.n_states > self.max_states:
            rule = f"after {self.n_rounds + 1} rounds the losses of paths need {both.automaton.n_states} states"
            raise AutomatonError(
                f"{rule}, more than {self.max_states}; n-gram gains, slots and the sampled surrogate do not grow"
            )
        is_final = both.automaton.is_final
        own = np.where(is_final, alone.final_weight, 0.0)
        before = np.where(is_final, both.final_weight, 0.0) - own
        flow = flows(both.automaton, self.eta * (both.weight - alone.weight), self.eta * before)
        self.cumulative = WeightedAutomaton(both.automaton, both.weight, both.final_weight)
        self.n_rounds += 1
        return float(flow.transition @ alone.weight + flow.final @ own)

    def weight(self) -> WeightedAutomaton:
        """Automaton over names of transitions with costs eta times cumulative loss, for verbs in the LOG semiring."""
        automaton, cost, final = self.cumulative
        cost, final = as_weights(automaton, cost, final)
        scaled = self.eta * np.where(automaton.is_final, final, 0.0)  # 0 times inf is no number
        return WeightedAutomaton(automaton, self.eta * cost, scaled)

    def flows(self) -> NDArray[np.float64]:
        """Probability that a path expert drawn now takes each transition of the automaton, shape (n_transitions,)."""
        weighted = self.weight()
        flow = flows(*weighted).transition
        out: NDArray[Any] = np.bincount(weighted.automaton.label, flow, minlength=self.automaton.n_transitions)
        return out

    def draw(self, n: int, seed: int | np.random.Generator) -> Ragged:
        """Path experts drawn at random, as numbers of transitions (RRWM and TRWM)."""
        automaton, weight, final = self.weight()
        drawn = sample(automaton, weight, n, seed, final)
        return Ragged(automaton.label[drawn.values].astype(np.int64), drawn.offsets)

    def follow(self, noise: ArrayLike) -> NDArray[np.int64]:
        """The path expert of least cumulative loss plus noise (FPRL and FPTL).

        Parameters
        ----------
        noise : array_like, shape (n_transitions,)
            One number a transition, drawn anew in every round: `laplace_noise`.
        """
        automaton, cost, final = self.cumulative
        best = shortest_path(automaton, np.asarray(cost) + np.asarray(noise)[automaton.label], final)
        return automaton.label[best].astype(np.int64)


def laplace_noise(n_transitions: int, epsilon: float, seed: int | np.random.Generator) -> NDArray[np.float64]:
    """Independent two-sided Laplace noise of scale 1/epsilon (COLT 2015, section 4).

    Raises
    ------
    ParameterError
        If epsilon is not positive.

    Examples
    --------
    >>> laplace_noise(3, 0.5, 0).shape
    (3,)
    """
    if not epsilon > 0:
        raise ParameterError(f"epsilon must be > 0; got {epsilon!r}")
    return np.random.default_rng(seed).laplace(scale=1.0 / epsilon, size=n_transitions)


def by_name(automaton: Automaton) -> Automaton:
    """The same automaton with the number of each transition as its label.

    Examples
    --------
    >>> by_name(Automaton.from_transitions([(0, 1, 7), (0, 1, 7)], final=[1])).label.tolist()
    [0, 1]
    """
    return replace(automaton, label=np.arange(automaton.n_transitions, dtype=np.int32), output=None)
