"""Rounds: records with gold as the rounds of the on-line game on slots.

Losses are centred: the mean over the slot's experts that are there is subtracted, and an absent expert is charged just
this mean. For contexts shared by all experts of a slot ("position", "expert", a function) this changes no weight. It
gives an absent expert the neutral loss; it stands for an expert that picks one of those present at random. For "label"
it makes parameters comparable that were charged a different number of times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.core import ParameterError, Slots
from structens.losses import AdditiveLoss, largest_loss, slot_losses
from structens.online.tying import Tying

SCALES = ("per_substructure", "normalized")


class Rounds(NamedTuple):
    """What the learner sees: T records as rounds.

    Parameters
    ----------
    loss : ndarray of float64, shape (n_slots, p)
        Loss of each transition; that of an absent expert is the mean over those present.
    parameter : ndarray of int32, shape (n_slots, p)
        Parameter id of each transition, -1 for none.
    offsets : ndarray of int64, shape (T + 1,)
    scale : ndarray of float64, shape (T,)
        Factor between slot losses and what is charged: 1, or 1/l for the normalised loss.
    n_parameters : int
    largest : float
        Largest loss of a slot, M.
    by_slot : bool
        All experts of a slot share its context.
    """

    loss: NDArray[np.float64]
    parameter: NDArray[np.int32]
    offsets: NDArray[np.int64]
    scale: NDArray[np.float64]
    n_parameters: int
    largest: float
    by_slot: bool

    @property
    def n_rounds(self) -> int:
        """Number of rounds T."""
        return len(self.offsets) - 1

    @property
    def n_experts(self) -> int:
        """Number of experts p."""
        return int(self.loss.shape[1])

    @property
    def charged(self) -> NDArray[np.float64]:
        """Losses in the units in which they are charged, shape (n_slots, p)."""
        return self.loss * np.repeat(self.scale, np.diff(self.offsets))[:, None]


def rounds_of(
    slots: Slots, tying: Tying, loss: str | AdditiveLoss = "hamming", loss_scale: str = "per_substructure"
) -> Rounds:
    """Records with gold as rounds of the on-line game.

    Parameters
    ----------
    slots : Slots
        Records that all have gold.
    tying : Tying
    loss : "hamming" or AdditiveLoss
    loss_scale : {"per_substructure", "normalized"}
        Charge every slot its loss (0/1; what the published tables were made with), or divide by the record's number of
        slots (what the papers' text says). Beta means something else in each; see `structens.online.rates`.

    Raises
    ------
    ParameterError
        If the loss or the scale is unknown.

    Examples
    --------
    >>> from structens.core import Alphabet
    >>> s = Slots(np.array([[0, 1], [1, -2]], np.int32), np.array([0, 2]), np.zeros((2, 2), int), ("a", "b"),
    ...           Alphabet(("x", "y")), np.array([0, 0], np.int32), np.zeros(1, int))
    >>> rounds_of(s, Tying.learn(s, "expert")).loss.tolist()
    [[0.0, 1.0], [1.0, 1.0]]
    """
    if loss_scale not in SCALES:
        raise ParameterError(f"loss_scale must be one of {', '.join(SCALES)}; got {loss_scale!r}")
    losses, awake = slot_losses(slots, loss), slots.awake
    mean = losses.sum(axis=1) / np.maximum(awake.sum(axis=1), 1)
    lengths = slots.lengths
    return Rounds(
        loss=np.where(awake, losses, mean[:, None]),
        parameter=np.ascontiguousarray(tying.parameters(slots)),
        offsets=slots.offsets,
        scale=1.0 / np.maximum(lengths, 1) if loss_scale == "normalized" else np.ones(len(lengths)),
        n_parameters=tying.n_parameters,
        largest=largest_loss(slots, loss),
        by_slot=tying.by_slot,
    )
