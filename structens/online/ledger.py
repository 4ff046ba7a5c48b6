"""The ledger that all learners on the paths of an automaton keep: what each round charged, and what they paid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structens.core import Automaton


class RoundLedger:
    """Base of the learners on paths: the losses of their rounds, kept so that any round can be looked at again.

    Memory grows by one number a transition and round.

    Examples
    --------
    >>> ledger = RoundLedger(Automaton.from_transitions([(0, 1, 0), (0, 1, 1)], final=[1]))
    >>> ledger._enter(np.array([0.0, 1.0]), 0.5)
    >>> ledger.n_rounds, ledger.losses.tolist(), ledger.round_losses.tolist()
    (1, [[0.0, 1.0]], [0.5])
    """

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self._losses: list[NDArray[np.float64]] = []
        self._round_losses: list[float] = []

    @property
    def n_rounds(self) -> int:
        """Number of rounds played."""
        return len(self._losses)

    @property
    def losses(self) -> NDArray[np.float64]:
        """Losses of all rounds, shape (n_rounds, n_transitions)."""
        return np.array(self._losses).reshape(self.n_rounds, self.automaton.n_transitions)

    @property
    def round_losses(self) -> NDArray[np.float64]:
        """What the learner paid in each round, by what it knew before it, shape (n_rounds,)."""
        return np.array(self._round_losses)

    def _enter(self, loss: NDArray[np.float64], paid: float) -> None:
        self._losses.append(loss)
        self._round_losses.append(paid)
