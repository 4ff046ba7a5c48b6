"""AdaHedge: Hedge that finds its own rate from the losses, by context on slots and over paths of any automaton.

de Rooij, van Erven, Gruenwald and Koolen, "Follow the leader if you can, hedge if you must" (JMLR 2014), section 3. The
rate before a round is ln N / Delta, Delta the sum over the rounds so far of the mixability gap: the learner's expected
loss minus its mix loss -ln(sum_h p(h) exp(-eta loss(h))) / eta. At first, and for as long as Delta is 0, the rate is
infinite and the leaders share the weight. The regret is at most 2 Delta. Losses need no known range.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from structens.automata import Pushed, Semiring, flows, push, shortest_distance, total_weight
from structens.core import Automaton, DataError
from structens.online.context_learner import ContextLearner
from structens.online.ledger import RoundLedger

_LEAST_GAP = 1e-12
"""Gaps below this part of the largest loss are rounding."""


class SlotAdaHedge(ContextLearner):
    """AdaHedge for each context; experts that are asleep keep their weight.

    Parameters
    ----------
    n_experts : int

    Examples
    --------
    >>> from structens.online.visits import Visits
    >>> learner, losses = SlotAdaHedge(2), np.array([[0, 1.0], [1, 0], [0, 1], [0, 1]])
    >>> v = Visits(losses, np.ones((4, 2), bool), np.zeros(4, np.int32), np.arange(4), np.ones(4), np.ones(4), 4, 1)
    >>> learner.play(v).before[:, 0].round(4).tolist(), learner.state["gap"].round(6).tolist()
    ([0.5, 0.8, 0.5, 0.7114], [0.848484])
    >>> round(learner.regret(), 6), round(learner.regret_bound(), 6)
    (1.088639, 1.696968)
    """

    by_expert: ClassVar[tuple[str, ...]] = ("cumulative",)
    by_context: ClassVar[tuple[str, ...]] = ("gap",)

    @property
    def eta(self) -> NDArray[np.float64]:
        """Present rate of each context, shape (n_contexts,); infinite where the gap is 0."""
        gap = self.state["gap"]
        return np.where(gap > 0, math.log(self.n_experts) / np.where(gap > 0, gap, 1.0), np.inf)

    def regret_bound(self) -> float:
        """Twice the summed gaps of all contexts."""
        return 2.0 * float(self.state["gap"].sum())

    def _play(
        self,
        loss: NDArray[np.float64],
        awake: NDArray[np.bool_],
        context: NDArray[np.int32],
        width: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        before = np.empty(loss.shape)
        _play(loss, awake, context, width, self.state["cumulative"], self.state["gap"], before)
        return before


class AdaHedge(RoundLedger):
    """AdaHedge over the paths of an acyclic automaton, by cumulative losses and weight pushing.

    Parameters
    ----------
    automaton : Automaton
        The same in all rounds.

    Raises
    ------
    AutomatonError
        If no path leads from the start to a final state.

    Examples
    --------
    >>> learner = AdaHedge(Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1]))
    >>> for loss in ([0, 1], [1, 0], [0, 1], [0, 1]):
    ...     _ = learner.update(loss)
    >>> learner.eta_of_rounds.round(6).tolist(), round(learner.gap, 6)
    ([inf, 1.386294, 1.084676, 0.902004, 0.816924], 0.848484)
    >>> round(learner.regret, 6), round(learner.regret_bound, 6)
    (1.088639, 1.696968)
    """

    def __init__(self, automaton: Automaton) -> None:
        super().__init__(automaton)
        self.log_n = -total_weight(automaton, np.zeros(automaton.n_transitions), semiring=Semiring.LOG)
        self.gap = 0.0
        self._eta = [math.inf]
        self._cumulative = np.zeros(automaton.n_transitions)
        self.pushed()  # refuses an automaton without paths

    @property
    def eta_of_rounds(self) -> NDArray[np.float64]:
        """Rate of every round and of the next, shape (n_rounds + 1,)."""
        return np.array(self._eta)

    @property
    def regret(self) -> float:
        """Summed expected losses minus the loss of the best path in hindsight."""
        return sum(self._round_losses) - total_weight(self.automaton, self._cumulative, semiring=Semiring.TROPICAL)

    @property
    def regret_bound(self) -> float:
        """Twice the gap."""
        return 2.0 * self.gap

    def weight(self, t: int | None = None) -> NDArray[np.float64]:
        """Costs of the transitions before round t (default: the next), not pushed; at rate infinity 0 on best paths."""
        t = self.n_rounds if t is None else t
        is_last = t == self.n_rounds
        cumulative = self._cumulative if is_last else np.sum(self._losses[:t], axis=0) + np.zeros_like(self._cumulative)
        eta = self._eta[t]
        return best_paths_only(self.automaton, cumulative) if eta == math.inf else eta * cumulative

    def pushed(self, t: int | None = None) -> Pushed:
        """Pushed costs: exp(-weight) are the transition probabilities of p_t."""
        return push(self.automaton, self.weight(t), None, Semiring.LOG)

    def flows(self, t: int | None = None) -> NDArray[np.float64]:
        """Probability that a path drawn from p_t takes each transition, shape (n_transitions,)."""
        return flows(self.automaton, self.weight(t), None, Semiring.LOG).transition

    def update(self, loss: ArrayLike) -> float:
        """Play one round; returns the learner's expected loss.

        Parameters
        ----------
        loss : array_like, shape (n_transitions,)
            Finite and >= 0.

        Raises
        ------
        DataError
            If a loss is negative or not finite, or their number is wrong.
        """
        n = self.automaton.n_transitions
        loss = np.array(loss, dtype=np.float64)
        if loss.shape != (n,) or not (np.isfinite(loss) & (loss >= 0)).all():
            raise DataError(f"need one finite loss >= 0 for each of {n} transitions; got shape {loss.shape}")
        expected, eta = float(self.flows() @ loss), self._eta[-1]
        after = self._cumulative + loss
        if eta == math.inf:
            ends = [total_weight(self.automaton, c, semiring=Semiring.TROPICAL) for c in (self._cumulative, after)]
            mix = ends[1] - ends[0]
        else:
            ends = [total_weight(self.automaton, eta * c, semiring=Semiring.LOG) for c in (self._cumulative, after)]
            mix = (ends[1] - ends[0]) / eta
        if expected - mix > _LEAST_GAP * loss.max(initial=0.0):
            self.gap += expected - mix
        self._cumulative = after
        self._enter(loss, expected)
        self._eta.append(self.log_n / self.gap if self.gap > 0 else math.inf)
        return expected


def best_paths_only(automaton: Automaton, cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cost 0 of transitions that lie on a path of least cost, infinity of others: its push is uniform over these paths.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (0, 1, 9)], final=[1])
    >>> best_paths_only(a, np.array([1.0, 2.0, 1.0])).tolist()
    [0.0, inf, 0.0]
    """
    to_end = shortest_distance(automaton, cost, semiring=Semiring.TROPICAL, reverse=True)
    room = _LEAST_GAP * max(1.0, float(np.abs(cost).max(initial=0.0)))
    reached = cost + to_end[automaton.target]
    with np.errstate(invalid="ignore"):
        slack = reached - to_end[automaton.source]
    return np.where(np.isfinite(reached) & (slack <= room), 0.0, np.inf)


@njit(cache=True)
def _play(loss, awake, context, width, cumulative, gap, before):  # type: ignore[no-untyped-def]
    p = loss.shape[1]
    log_p = np.log(p)
    for v in range(len(context)):
        c = cumulative[context[v]]
        so_far = gap[context[v]]
        eta = log_p / so_far if so_far > 0.0 else np.inf
        _weigh(c, eta, before[v])
        total, n = 0.0, 0
        for j in range(p):
            if awake[v, j]:
                total += before[v, j]
                n += 1
        if n == 0:
            continue
        expected = 0.0
        for j in range(p):
            if awake[v, j]:
                expected += loss[v, j] * (before[v, j] / total if total > 0.0 else 1.0 / n)
        mix = _mix_loss(c, loss[v], awake[v], eta)
        if expected - mix > _LEAST_GAP * width[v]:
            gap[context[v]] += expected - mix
        for j in range(p):
            if awake[v, j]:
                c[j] += loss[v, j] - mix


@njit(cache=True)
def _weigh(cumulative, eta, out):  # type: ignore[no-untyped-def]
    low = cumulative.min()
    room = _LEAST_GAP * max(1.0, np.abs(cumulative).max())
    total = 0.0
    for j in range(len(out)):
        if eta == np.inf:
            out[j] = 1.0 if cumulative[j] <= low + room else 0.0
        else:
            out[j] = np.exp(-eta * (cumulative[j] - low))
        total += out[j]
    for j in range(len(out)):
        out[j] /= total


@njit(cache=True)
def _mix_loss(cumulative, loss, awake, eta):  # type: ignore[no-untyped-def]
    old, new = np.inf, np.inf
    for j in range(len(loss)):
        if awake[j]:
            old = min(old, cumulative[j])
            new = min(new, cumulative[j] + loss[j])
    if eta == np.inf:
        return new - old
    sum_old, sum_new = 0.0, 0.0
    for j in range(len(loss)):
        if awake[j]:
            sum_old += np.exp(-eta * (cumulative[j] - old))
            sum_new += np.exp(-eta * (cumulative[j] + loss[j] - new))
    return (new - old) - np.log(sum_new / sum_old) / eta
