"""Candidates: in every slot each distinct answer given there, "nothing" (GAP) too, and others that may be right.

Those given are the labels of the transitions between two states of the path-expert automaton, each once, in the order
of their first supporters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.core import ABSENT


class Candidates(NamedTuple):
    """All candidates of some slots, slot by slot.

    Attributes
    ----------
    offsets : ndarray of int64, shape (n_slots + 1,)
        Slot s has candidates ``offsets[s]:offsets[s + 1]``; none where every expert is absent.
    slot, label, first, n_supporters : ndarray of int32, shape (n,)
        Slot, code or GAP, first supporter (p or more where there is none), and number of supporters of each.
    of : ndarray of int32, shape (n_slots, p)
        Number of the candidate that each expert supports; -1 where it is absent.
    """

    offsets: NDArray[np.int64]
    slot: NDArray[np.int32]
    label: NDArray[np.int32]
    first: NDArray[np.int32]
    n_supporters: NDArray[np.int32]
    of: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.label)

    @property
    def contested(self) -> NDArray[np.bool_]:
        """True for candidates that have a rival, shape (n,)."""
        out: NDArray[np.bool_] = np.diff(self.offsets)[self.slot] > 1
        return out


def candidates(labels: NDArray[np.int32], others: NDArray[np.int32] | None = None) -> Candidates:
    """Candidates of slots.

    Parameters
    ----------
    labels : ndarray of int32, shape (n_slots, p)
        As in `Slots`.
    others : ndarray of int32, shape (n_slots, m), optional
        Further candidates, which have no supporters; ABSENT for none.

    Examples
    --------
    >>> c = candidates(np.array([[4, 4, -1], [7, -2, 7]], np.int32))
    >>> c.label.tolist(), c.slot.tolist(), c.first.tolist(), c.n_supporters.tolist(), c.of.tolist()
    ([4, -1, 7], [0, 0, 1], [0, 2, 0], [2, 1, 2], [[0, 0, 1], [2, -1, 2]])
    """
    n_slots, p = labels.shape
    labels = np.ascontiguousarray(labels if others is None else np.column_stack([labels, others]), np.int32)
    of = np.empty(labels.shape, np.int32)
    offsets = np.zeros(n_slots + 1, np.int64)
    _number(labels, of, offsets)
    n = int(offsets[-1])
    slot, label, first = (np.full(n, -1, np.int32) for _ in range(3))
    _describe(labels, of, slot, label, first)
    mine = np.ascontiguousarray(of[:, :p])
    return Candidates(offsets, slot, label, first, _counted(mine, n), mine)


def _counted(of: NDArray[np.int32], n: int) -> NDArray[np.int32]:
    return np.bincount(of[of >= 0], minlength=n).astype(np.int32)


@njit(cache=True)
def _number(labels, of, offsets):  # type: ignore[no-untyped-def]
    n_slots, p = labels.shape
    total = 0
    for s in range(n_slots):
        for j in range(p):
            of[s, j] = -1
            if labels[s, j] == ABSENT:
                continue
            for i in range(j):
                if labels[s, i] == labels[s, j]:
                    of[s, j] = of[s, i]
                    break
            if of[s, j] < 0:
                of[s, j] = total
                total += 1
        offsets[s + 1] = total


@njit(cache=True)
def _describe(labels, of, slot, label, first):  # type: ignore[no-untyped-def]
    n_slots, p = labels.shape
    for s in range(n_slots):
        for j in range(p):
            c = of[s, j]
            if c >= 0 and first[c] < 0:
                slot[c], label[c], first[c] = s, labels[s, j], j
