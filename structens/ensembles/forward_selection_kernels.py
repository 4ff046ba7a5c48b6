"""The counts behind forward selection: who wins each slot, and who would if an expert had one copy more.

One pass over slots and candidates finds the loss of every candidate: a copy more changes one label's count, so that
this label wins, joins those that share the top, or changes nothing. Ties follow `structens.ensembles.vote`, with
experts in the order in which they entered; a loss summed over slots takes the mean over the labels that are tied
instead, so that a tie is worth what a lot would give.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.core import ABSENT, GAP, Slots

NEVER = 1 << 30
"""Rank of a label without an expert that entered."""


class Counts:
    """Copies behind each label of each slot, and the winners.

    Parameters
    ----------
    slots : Slots

    Attributes
    ----------
    winner : ndarray of int32, shape (n_slots,)
        First expert in the run's order that says the winning label; -1 where nobody answered. Before any expert
        entered, and where none of those that did answered, the plain vote.

    Examples
    --------
    >>> from structens.core import Alphabet
    >>> s = Slots(np.array([[0, 1, 1], [0, 0, 1]], np.int32), np.array([0, 2]), np.zeros((2, 3), int), ("a", "b", "c"),
    ...           Alphabet(("x", "y")), np.array([0, 1], np.int32), np.zeros(1, int))
    >>> counts = Counts(s)
    >>> counts.winner.tolist(), counts.with_one_more(2).tolist()
    ([1, 0], [1, 2])
    >>> loss = np.array([[0.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    >>> counts.losses(loss).tolist()
    [1.0, 2.0, 1.0]
    >>> counts.add(0); counts.entered, counts.losses(loss).tolist(), counts.loss(loss)
    ([0], [1.0, 1.5, 1.0], 1.0)
    """

    def __init__(self, slots: Slots) -> None:
        labels = np.ascontiguousarray(slots.labels, np.int32)
        self._leader = np.empty(labels.shape, np.int32)
        self._count = np.zeros(labels.shape, np.int32)
        self._rank = np.full(labels.shape, NEVER, np.int32)
        self._gap = np.empty(len(labels), np.int32)
        self.winner = np.empty(len(labels), np.int32)
        self.entered: list[int] = []
        _begin(labels, self._leader, self._gap, self.winner)

    def losses(self, loss: NDArray[np.float64]) -> NDArray[np.float64]:
        """Summed loss if each expert had one copy more; of labels that share the top of a slot the mean.

        Parameters
        ----------
        loss : ndarray of float64, shape (n_slots, p)

        Returns
        -------
        ndarray of float64, shape (p,)
        """
        return self._losses(loss)[:-1]

    def loss(self, loss: NDArray[np.float64]) -> float:
        """Summed loss as the copies stand; the argument and ties as in `losses`."""
        return float(self._losses(loss)[-1])

    def _losses(self, loss: NDArray[np.float64]) -> NDArray[np.float64]:
        out = np.zeros(loss.shape[1] + 1)
        _losses(self._leader, self._count, self._gap, np.ascontiguousarray(loss), out)
        return out

    def with_one_more(self, expert: int) -> NDArray[np.int32]:
        """Winners if the expert had one copy more, as `winner`."""
        out = self.winner.copy()
        counts = self._leader, self._count, self._rank, self._gap
        _winners(*counts, self.winner, self._ranks, np.array([expert]), out)
        return out

    def add(self, expert: int) -> None:
        """Give the expert one copy more."""
        winner = self.with_one_more(expert)
        rank = int(self._ranks[expert])
        here = np.flatnonzero(self._leader[:, expert] >= 0)
        leader = self._leader[here, expert]
        self._count[here, leader] += 1
        self._rank[here, leader] = np.minimum(self._rank[here, leader], rank)
        self.winner = winner
        if expert not in self.entered:
            self.entered.append(expert)

    @property
    def _ranks(self) -> NDArray[np.int32]:
        """Rank that each expert has, or would have if it entered now."""
        n_experts = len(self._leader.T)
        out = np.full(n_experts, len(self.entered), np.int32)
        out[self.entered] = np.arange(len(self.entered))
        return out


@njit(cache=True)
def _begin(labels, leader, gap, winner):  # type: ignore[no-untyped-def]
    """Leader of each label of a slot, -1 where absent; leader of GAP where GAP loses ties, else -1; plain votes."""
    n, p = labels.shape
    votes = np.zeros(p, np.int32)
    for s in range(n):
        awake = 0
        gap[s], winner[s] = -1, -1
        for j in range(p):
            votes[j] = 0
            leader[s, j] = -1
            if labels[s, j] == ABSENT:
                continue
            awake += 1
            leader[s, j] = j
            for i in range(j):
                if labels[s, i] == labels[s, j]:
                    leader[s, j] = i
                    break
            votes[leader[s, j]] += 1
            if labels[s, j] == GAP:
                gap[s] = leader[s, j]
        if awake <= 2:
            gap[s] = -1
        for j in range(p):
            if votes[j] == 0:
                continue
            w = winner[s]
            if w < 0 or votes[j] > votes[w] or (votes[j] == votes[w] and gap[s] == w):
                winner[s] = j


@njit(cache=True)
def _losses(leader, count, gap, loss, out):  # type: ignore[no-untyped-def]
    n, p = leader.shape
    plain = np.zeros(p, np.int32)
    for s in range(n):
        top, tied, total = _top(leader[s], count[s], gap[s], loss[s])
        stays = total / max(tied, 1)
        if top <= 0:  # none of those that entered answered: the plain vote
            plain[:] = 0
            for j in range(p):
                if leader[s, j] >= 0:
                    plain[leader[s, j]] += 1
            _, n_plain, sum_plain = _top(leader[s], plain, gap[s], loss[s])
            stays = sum_plain / max(n_plain, 1)
        out[p] += stays
        for j in range(p):
            g = leader[s, j]
            rises = 2 * count[s, g] + 2 - (g == gap[s]) if g >= 0 else top - 1
            if rises < top:
                out[j] += stays
            elif rises > top:
                out[j] += loss[s, g]
            else:
                out[j] += (total + loss[s, g]) / (tied + 1)


@njit(cache=True)
def _top(leader, count, gap, loss):  # type: ignore[no-untyped-def]
    """Most copies behind a label, doubled, how many labels share them, and their summed loss.

    A GAP that loses ties counts for half a copy less than it has: then it shares the top with no label.
    """
    top, tied, total = -2, 0, 0.0
    for j in range(len(leader)):
        if leader[j] != j:
            continue
        height = 2 * count[j] - (j == gap)
        if height > top:
            top, tied, total = height, 1, loss[j]
        elif height == top:
            tied += 1
            total += loss[j]
    return top, tied, total


@njit(cache=True)
def _winners(leader, count, rank, gap, winner, ranks, expert, out):  # type: ignore[no-untyped-def]
    for s in range(len(leader)):
        out[s] = _winner(s, expert[0], leader, count, rank, gap, winner, ranks)


@njit(cache=True)
def _winner(s, j, leader, count, rank, gap, winner, ranks):  # type: ignore[no-untyped-def]
    """Winner of slot s if expert j had one copy more."""
    g, w = leader[s, j], winner[s]
    if g < 0 or g == w:
        return w
    copies = count[s, g] + 1
    if copies != count[s, w]:
        return g if copies > count[s, w] else w
    if gap[s] == g or gap[s] == w:
        return w if gap[s] == g else g
    return g if min(rank[s, g], ranks[j]) < rank[s, w] else w
