"""RestrictedMajority: Hedge over the paths of an automaton of which, in a round, only some have an admissible output.

Cortes, Kuznetsov and Mohri (ICML 2014), appendix A and figure 2: in round t the transitions say what they say of x_t,
and the automaton is intersected with an acceptor of the admissible strings, every transition keeping its identity.

* ``restrict="per_round"`` (default): the round is played, and its loss expected, on the admissible paths only. Then
  every transition is charged its loss, and a transition that lies on no admissible path the largest loss M, so that a
  path expert pays M for every such transition. If a path is inadmissible exactly when it has one, that is all; the
  round is *decomposable*. Otherwise an inadmissible path made of transitions that are admissible elsewhere is charged
  what its transitions cost, for the cumulative losses stay on the transitions of the original automaton.
* ``restrict="permanent"``: as printed, a path expert is deleted once it produces an inadmissible string, for good.

This is the exact form, for small automata. At scale, on slots of records of any lengths, see
`structens.online.restricted_slots`; on Figure 1 the two are the same per round, and where paths are whole answers of
experts, always.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata import (
    LabelAcceptor,
    Semiring,
    WeightedAutomaton,
    connect,
    flows,
    minimize,
    n_paths,
    restrict,
)
from structens.core import Automaton, AutomatonError, DataError, ParameterError
from structens.online.rates import eta_of

RESTRICTS = ("per_round", "permanent")


class Round(NamedTuple):
    """What happened in a round.

    Attributes
    ----------
    loss : float
        Expected loss of the distribution that was played.
    admissible : bool
        False where no path was admissible: the round was played on all paths.
    decomposable : bool
        True if the inadmissible paths were exactly those with an inadmissible transition.
    """

    loss: float
    admissible: bool
    decomposable: bool


class RestrictedMajority:
    """Distribution over the paths of an automaton, restricted anew in every round.

    Parameters
    ----------
    automaton : Automaton
        The same in all rounds; its own labels do not count.
    beta : float
        In (0, 1].
    restrict : {"per_round", "permanent"}
    largest : float
        Largest loss M of a path, charged for an inadmissible transition ("per_round").

    Attributes
    ----------
    cumulative : ndarray of float64, shape (n_transitions,)
        Summed loss of each transition.
    alive : Automaton
        The path experts that are left ("permanent"); a transition's label is its number in the original automaton.

    Raises
    ------
    ParameterError
        If an option is out of range.

    Examples
    --------
    Two slots, two experts; what they say is x x and y y, and only x y and y x are admissible.

    >>> a = Automaton.from_transitions([(0, 1, 0), (0, 1, 1), (1, 2, 0), (1, 2, 1)], final=[2])
    >>> learner = RestrictedMajority(a, beta=0.5)
    >>> differ = LabelAcceptor.forbidden([(0, 0), (1, 1)], 2)
    >>> learner.play([0, 1, 0, 1], [0, 1, 1, 0], differ)
    Round(loss=1.0, admissible=True, decomposable=False)
    >>> learner.flows([0, 1, 0, 1], differ).round(6).tolist()
    [0.8, 0.2, 0.2, 0.8]
    """

    def __init__(self, automaton: Automaton, beta: float, *, restrict: str = "per_round", largest: float = 1.0) -> None:
        if restrict not in RESTRICTS:
            raise ParameterError(f"restrict must be one of {', '.join(RESTRICTS)}; got {restrict!r}")
        if not (np.isfinite(largest) and largest >= 0):
            raise ParameterError(f"largest must be a finite loss >= 0; got {largest!r}")
        self.automaton, self.restrict, self.largest = automaton, restrict, largest
        self.eta = eta_of(beta)
        self.cumulative = np.zeros(automaton.n_transitions)
        self.alive = _named(automaton, np.arange(automaton.n_transitions))
        self.n_rounds = 0

    def flows(self, label: ArrayLike, acceptor: LabelAcceptor) -> NDArray[np.float64]:
        """Probability that the path of this round takes each transition, among the admissible paths.

        Parameters
        ----------
        label : array_like of int, shape (n_transitions,)
            What each transition says in this round, or EPSILON.
        acceptor : LabelAcceptor

        Returns
        -------
        ndarray of float64, shape (n_transitions,)
            Of the unrestricted distribution, where no path is admissible.
        """
        kept, identity = self._admissible(self._checked_label(label), acceptor)
        return self._flows(kept, identity) if kept.is_final.any() else self._flows(self.alive, self.alive.label)

    def play(self, label: ArrayLike, loss: ArrayLike, acceptor: LabelAcceptor) -> Round:
        """Play one round and learn from it.

        Parameters
        ----------
        label : array_like of int, shape (n_transitions,)
        loss : array_like, shape (n_transitions,)
            Finite and >= 0.
        acceptor : LabelAcceptor

        Raises
        ------
        AutomatonError
            If no path expert would be left ("permanent").
        DataError
            If an array does not fit.
        """
        costs = np.array(loss, dtype=np.float64)
        n = self.automaton.n_transitions
        if costs.shape != (n,) or not (np.isfinite(costs) & (costs >= 0)).all():
            raise DataError(f"need one finite loss >= 0 for each of {n} transitions; got shape {costs.shape}")
        kept, identity = self._admissible(self._checked_label(label), acceptor)
        possible = bool(kept.is_final.any())
        if not possible and self.restrict == "permanent":
            rule = f"no path expert is admissible in round {self.n_rounds}, and none would be left"
            raise AutomatonError(f"{rule}; use restrict='per_round'")
        played = self._flows(kept, identity) if possible else self._flows(self.alive, self.alive.label)
        dead = np.ones(n, dtype=np.bool_)
        dead[identity] = False
        surviving = np.where(dead[self.alive.label], np.inf, 0.0)
        decomposable = n_paths(kept) == n_paths(connect(self.alive, surviving).automaton)
        if self.restrict == "permanent":
            self.alive = _smallest(_named(kept, identity))
        self.cumulative += np.where(dead, self.largest, costs) if self.restrict == "per_round" and possible else costs
        self.n_rounds += 1
        return Round(float(played @ costs), possible, decomposable)

    def _admissible(self, label: NDArray[np.int32], acceptor: LabelAcceptor) -> tuple[Automaton, NDArray[np.int64]]:
        """The admissible path experts as an automaton, and the original transition behind each of its own."""
        alive = self.alive
        said = Automaton(alive.offsets, alive.target, label[alive.label], alive.is_final, alive.start)
        kept = restrict(WeightedAutomaton(said, np.zeros(said.n_transitions)), acceptor)
        return kept.automaton, alive.label[kept.first].astype(np.int64)

    def _flows(self, automaton: Automaton, identity: NDArray[np.int64] | NDArray[np.int32]) -> NDArray[np.float64]:
        found = flows(automaton, self.eta * self.cumulative[identity], None, Semiring.LOG).transition
        return np.bincount(identity, weights=found, minlength=self.automaton.n_transitions).astype(np.float64)

    def _checked_label(self, label: ArrayLike) -> NDArray[np.int32]:
        out = np.asarray(label, dtype=np.int32)
        if out.shape != (self.automaton.n_transitions,):
            raise DataError(f"need one label for each of {self.automaton.n_transitions} transitions; got {out.shape}")
        return out


def _named(automaton: Automaton, identity: NDArray[np.int64]) -> Automaton:
    """The automaton with the original transitions' numbers as labels."""
    label = identity.astype(np.int32)
    return Automaton(automaton.offsets, automaton.target, label, automaton.is_final, automaton.start)


def _smallest(automaton: Automaton) -> Automaton:
    """Merge states with the same futures: products of many rounds do not grow without need."""
    weighted = WeightedAutomaton(automaton, np.zeros(automaton.n_transitions))
    return minimize(weighted, Semiring.TROPICAL).automaton
