"""FPTL and TRWM: learning by edit distance, exactly, for small automata.

Cortes, Kuznetsov, Mohri and Warmuth, "On-line learning algorithms for path experts with non-additive losses" (COLT
2015), appendices B and D. The automaton of a round is `structens.automata.edit_loss`; how large their intersection gets
depends on how many different labels experts propose. At scale use slots, or `structens.online.edit_learning`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from structens.automata.edit_loss import edit_loss
from structens.core import Automaton, DataError
from structens.online.composed import ComposedLearner, PathLoss


class TropicalLearner(ComposedLearner):
    """TRWM by `update` and `draw`, FPTL by `update` and `follow`.

    Parameters
    ----------
    automaton : Automaton
    eta : float
    costs : (insertion, deletion, substitution)
    max_states : int

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 0), (0, 1, 1), (1, 2, 0), (1, 2, 1)], final=[2])
    >>> learner = TropicalLearner(a, eta=1.0)
    >>> learner.update(labels=[7, 8, 8, 9], target=[8])  # 78 and 89 are at 1, 88 at 1, 79 at 2
    1.25
    >>> learner.flows().round(3).tolist()
    [0.406, 0.594, 0.594, 0.406]
    """

    def __init__(
        self,
        automaton: Automaton,
        eta: float,
        *,
        costs: tuple[float, float, float] = (1.0, 1.0, 1.0),
        max_states: int = 200_000,
    ) -> None:
        super().__init__(automaton, eta, max_states=max_states)
        self.costs = costs

    def update(self, labels: ArrayLike, target: ArrayLike) -> float:
        """Play one round: the expected edit distance before it.

        Parameters
        ----------
        labels : array_like of int, shape (n_transitions,)
            What each transition says in this round; EPSILON for nothing.
        target : array_like of int, shape (n_units,)

        Raises
        ------
        AutomatonError
            If automata get too large.
        DataError
            If labels do not fit.
        """
        return self.learn(tropical_loss(self.automaton, labels, target, costs=self.costs, max_states=self.max_states))


def tropical_loss(
    automaton: Automaton,
    labels: ArrayLike,
    target: ArrayLike,
    *,
    costs: tuple[float, float, float] = (1.0, 1.0, 1.0),
    max_states: int = 200_000,
) -> PathLoss:
    """Edit distance of every path to the target.

    Parameters
    ----------
    automaton : Automaton
    labels : array_like of int, shape (n_transitions,)
    target : array_like of int, shape (n_units,)
    costs, max_states
        See `structens.automata.edit_loss`.

    Raises
    ------
    AutomatonError
        If more than `max_states` states are needed.
    DataError
        If labels do not fit.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 0), (0, 1, 1)], final=[1])
    >>> tropical_loss(a, [7, 8], [7]).loss.tolist()
    [0.0, 1.0]
    """
    said = np.asarray(labels, dtype=np.int32)
    if said.shape != (automaton.n_transitions,):
        raise DataError(f"need one label for each of {automaton.n_transitions} transitions; got shape {said.shape}")
    made = edit_loss(replace(automaton, label=said, output=None), target, costs=costs, max_states=max_states)
    named = replace(made.automaton, label=made.transition.astype(np.int32))
    return PathLoss(named, made.loss, made.final_loss)
