"""Slots: every record as S slots x p experts, the one shape that everything downstream sees."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from structens.core.alphabet import ABSENT, GAP, Alphabet
from structens.core.errors import DataError
from structens.core.ragged import Index


@dataclass(frozen=True, eq=False)
class Slots:
    """Aligned answers: in each slot every expert says one label, nothing (GAP), or is absent (ABSENT).

    Parameters
    ----------
    labels : ndarray of int32, shape (n_slots, p)
        Codes of the alphabet, or GAP, or ABSENT.
    offsets : ndarray of int64, shape (n_records + 1,)
        Record i has slots ``offsets[i]:offsets[i + 1]``.
    source : ndarray of int64, shape (n_slots, p)
        Place in ``ExpertPredictions.hypotheses.values`` of the unit that stands here; -1 for GAP and ABSENT.
    names : tuple of str, p
    alphabet : Alphabet
    gold : ndarray of int32, shape (n_slots,)
        The right code of each slot, GAP where nothing is right, UNKNOWN where the record has no gold.
    unplaced : ndarray of int64, shape (n_records,)
        Units of gold for which the record has no slot: no combination of the experts can give them.

    Examples
    --------
    >>> from structens.core.alphabet import UNKNOWN
    >>> labels = np.array([[0, 0], [1, -1]], dtype=np.int32)
    >>> s = Slots(labels, np.array([0, 2]), np.zeros((2, 2), int), ("a", "b"), Alphabet(("x", "y")),
    ...           np.full(2, UNKNOWN, np.int32), np.zeros(1, int))
    >>> len(s), s.n_experts, s.lengths.tolist(), s.has_gold.tolist(), s.position.tolist()
    (1, 2, [2], [False], [0, 1])
    """

    labels: NDArray[np.int32]
    offsets: NDArray[np.int64]
    source: NDArray[np.int64]
    names: tuple[str, ...]
    alphabet: Alphabet
    gold: NDArray[np.int32]
    unplaced: NDArray[np.int64]

    def __post_init__(self) -> None:
        n_slots = len(self.labels)
        if self.labels.shape != (n_slots, len(self.names)) or self.offsets[-1] != n_slots:
            raise DataError(f"labels of shape {self.labels.shape} do not fit {len(self.names)} experts and the offsets")
        if len(self.gold) != n_slots or len(self.unplaced) != len(self):
            raise DataError("one gold code a slot and one count a record are needed")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_experts(self) -> int:
        """Number of experts p."""
        return len(self.names)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of slots of each record, shape (n_records,)."""
        return np.diff(self.offsets)

    @property
    def record(self) -> NDArray[np.int64]:
        """Number of the record of each slot, shape (n_slots,)."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)

    @property
    def position(self) -> NDArray[np.int64]:
        """Place of each slot in its record, from 0, shape (n_slots,)."""
        return np.arange(len(self.labels), dtype=np.int64) - np.repeat(self.offsets[:-1], self.lengths)

    @property
    def awake(self) -> NDArray[np.bool_]:
        """True where the expert gave an answer for the record, shape (n_slots, p)."""
        return np.not_equal(self.labels, ABSENT)

    @property
    def has_gold(self) -> NDArray[np.bool_]:
        """True where every slot of the record has gold; shape (n_records,). A record without slots has none."""
        known = self.gold >= GAP
        sums = np.concatenate([[0], np.cumsum(known)])
        counted = sums[self.offsets[1:]] - sums[self.offsets[:-1]]
        complete: NDArray[np.bool_] = (counted == self.lengths) & (self.lengths > 0)
        return complete

    def __getitem__(self, index: Index) -> Slots:
        chosen = np.arange(len(self))[index]
        lengths = self.lengths[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], lengths)
        return replace(
            self,
            labels=self.labels[rows],
            offsets=offsets,
            source=self.source[rows],
            gold=self.gold[rows],
            unplaced=self.unplaced[chosen],
        )
