"""PerturbedLeader: Follow the Perturbed Leader over the paths of any acyclic automaton, by shortest paths.

Kalai and Vempala, "Efficient algorithms for online decision problems" (2005); Cortes, Kuznetsov and Mohri (ICML 2014),
algorithm 3. In every round fresh noise is added to the cumulative loss of each transition, and the best path h_t for
the sums is followed. It has the interface of `WeightedMajority`, its distributions being points, so that the
conversions of `structens.online.conversion` work on it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata import sample, shortest_path
from structens.core import Automaton, DataError
from structens.online.adahedge import best_paths_only
from structens.online.draws import record_keys
from structens.online.ledger import RoundLedger
from structens.online.noise import Perturbation


class PerturbedLeader(RoundLedger):
    """Follows one path a round, the best for perturbed cumulative losses.

    Parameters
    ----------
    automaton : Automaton
        Acyclic; the same in all rounds.
    epsilon : float
        Inverse scale of the noise; infinity means none: follow the leader, among equal ones by lot.
    noise : {"exp_add", "laplace", "exp_sub", "uniform"}
        See `structens.online.noise`.
    seed : int
        The noise of a round depends on the seed and the round's number only.

    Raises
    ------
    ParameterError
        If there is no such noise, or epsilon is not larger than 0.
    AutomatonError
        If no path leads from the start to a final state.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (0, 1, 9)], final=[1])
    >>> learner = PerturbedLeader(a, epsilon=math.inf)
    >>> learner.update([3, 1, 2]) in (1, 2, 3), learner.leader().tolist()
    (True, [1])
    """

    def __init__(self, automaton: Automaton, epsilon: float, noise: str = "exp_add", *, seed: int = 0) -> None:
        super().__init__(automaton)
        self.epsilon, self.noise, self.seed = epsilon, noise, seed
        self._cumulative = np.zeros(automaton.n_transitions)
        self.leader()  # refuses an automaton without paths

    def perturbation(self, t: int | None = None) -> NDArray[np.float64]:
        """Noise of round t (default: the next), shape (n_transitions,)."""
        how = Perturbation(self.epsilon, self.noise, self.seed)
        table = how.of_rounds([self.n_rounds if t is None else t], np.arange(self.automaton.n_transitions))
        return table.ravel()

    def leader(self, t: int | None = None) -> NDArray[np.int64]:
        """Transitions of the path h_t followed in round t (default: the next)."""
        t = self.n_rounds if t is None else t
        cumulative = self._cumulative if t == self.n_rounds else np.sum(self._losses[:t], axis=0, initial=0.0)
        cost = cumulative + self.perturbation(t)
        if self.epsilon < math.inf:
            return shortest_path(self.automaton, cost)
        seed = int(record_keys([t], self.seed)[0])
        path: NDArray[np.int64] = sample(self.automaton, best_paths_only(self.automaton, cost), 1, seed)[0]
        return path

    def flows(self, t: int | None = None) -> NDArray[np.float64]:
        """1 on the transitions of h_t, 0 elsewhere; shape (n_transitions,)."""
        out = np.zeros(self.automaton.n_transitions)
        out[self.leader(t)] = 1.0
        return out

    def update(self, loss: ArrayLike) -> float:
        """Play one round; returns the loss of the path followed.

        Parameters
        ----------
        loss : array_like, shape (n_transitions,)
            Finite; a path's loss is the sum over its transitions.

        Raises
        ------
        DataError
            If a loss is not finite, or their number is wrong.
        """
        n = self.automaton.n_transitions
        loss = np.array(loss, dtype=np.float64)
        if loss.shape != (n,) or not np.isfinite(loss).all():
            raise DataError(f"need one finite loss for each of {n} transitions; got shape {loss.shape}")
        paid = float(loss[self.leader()].sum())
        self._enter(loss, paid)
        self._cumulative = self._cumulative + loss
        return paid
