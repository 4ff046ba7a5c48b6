"""Rounds of boosting with Hamming products, or with a stump for each class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.mh_step import Step, reweight, step_of
from structens.boosting.settings import RoundSettings
from structens.boosting.trees import HammingTreeArrays
from structens.boosting.value_table import TIE, Cut, ValueTable, add_by_code


class TableRounds:
    """Weights, and what products and one-against-all stumps have in common.

    Parameters
    ----------
    table : ValueTable
    weight : ndarray of float64, shape (n, K)
        Signed weights w * y, of total size 1; changed in place.
    settings : RoundSettings
    """

    def __init__(self, table: ValueTable, weight: NDArray[np.float64], settings: RoundSettings) -> None:
        self.table, self.weight, self.settings = table, weight, settings
        self.n_classes, self.least_edge = weight.shape[1], settings.over()
        self.all_features = np.arange(table.d)

    def weights(self) -> NDArray[np.float64]:
        """Signed weights, shape (n, K)."""
        return self.weight

    def close(self) -> None:
        """Nothing to let go."""

    def _step(self, vote: NDArray[Any], signed: NDArray[Any], sizes: NDArray[Any], leaf: NDArray[Any]) -> Step:
        """The step for leaves of such sums; where its edge is positive, the weights change."""
        step = step_of(self.settings, vote, signed, sizes)
        if step.edge > self.least_edge:
            reweight(self.weight, step, leaf)
        return step

    def _sums(self, leaf: NDArray[Any], n_leaves: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums of the signed weights of each leaf and class, and of their sizes."""
        signed, sizes = np.zeros((2, n_leaves, self.n_classes))
        add_by_code(leaf, self.weight, signed)
        add_by_code(leaf, np.abs(self.weight), sizes)
        return signed, sizes


class ProductRounds(TableRounds):
    """Hamming products: h = alpha * product of v_j phi_j, class by class.

    Kegl and Busa-Fekete, "Boosting products of base classifiers" (ICML 2009): each factor in turn is learnt anew with
    the others fixed, on labels times what they say, until the edge does not rise.
    """

    def __init__(
        self,
        table: ValueTable,
        weight: NDArray[np.float64],
        settings: RoundSettings,
        n_factors: int,
        loop: bool,
    ) -> None:
        super().__init__(table, weight, settings)
        self.n_factors, self.loop = n_factors, loop

    def play(self, features: NDArray[np.int64] | None = None) -> HammingTreeArrays:
        """The next product, as a tree with the same cut at all nodes of a level."""
        factors, edges = self._factors(self.all_features if features is None else features)
        votes = [np.where(cut.edges > TIE, 1.0, -1.0) for cut in factors]
        leaf = np.zeros(self.table.n, np.int32)
        vote = np.ones((1, self.n_classes))
        for cut, v in zip(factors, votes, strict=True):
            leaf = (2 * leaf + cut.positive).astype(np.int32)
            vote = np.stack([-vote * v, vote * v], axis=1).reshape(-1, self.n_classes)
        if not factors:
            vote = -vote
        step = self._step(vote, *self._sums(leaf, len(vote)), leaf)
        return _level_tree(factors, np.diff(edges, prepend=0.0), step, step.vote)

    def _factors(self, features: NDArray[np.int64]) -> tuple[list[Cut], list[float]]:
        """The factors, and the edge after each of the first pass; the last is that of the product."""
        factors: list[Cut] = []
        working, edges = self.weight.copy(), list[float]()
        reached, k = -1.0, 0
        while True:
            j = k % self.n_factors
            if k >= self.n_factors:
                working *= _signs(factors[j])
            cut = self.table.best_cut(working, features)
            edge = -1.0 if cut is None else float(np.abs(cut.edges).sum())
            if cut is None or edge <= reached + TIE:
                break
            reached = edge
            if k < self.n_factors:
                factors.append(cut)
                edges.append(edge)
            else:
                factors[j], edges[-1] = cut, edge
            working *= _signs(cut)
            k += 1
            if k == self.n_factors and not self.loop:
                break
        return factors, edges


class OneAgainstAllRounds(TableRounds):
    """A stump of its own for each class, and one coefficient: Schapire and Singer (1999)."""

    def play(self, features: NDArray[np.int64] | None = None) -> list[HammingTreeArrays]:
        """The next stumps: a tree for each class, which votes 0 on all others."""
        cuts = self.table.best_cuts(self.weight, self.all_features if features is None else features)
        vote, signed, sizes = np.zeros((3, 2, self.n_classes))
        side = np.stack([cut.positive for cut in cuts], axis=1).astype(np.int64)  # the leaf of a row, class by class
        for k, cut in enumerate(cuts):
            own = self.weight[:, k]
            vote[:, k] = (-1.0, 1.0) if cut.edges[0] > TIE else (1.0, -1.0)
            signed[:, k], sizes[:, k] = np.bincount(side[:, k], own, 2), np.bincount(side[:, k], np.abs(own), 2)
        step = step_of(self.settings, vote, signed, sizes)
        if step.edge > self.least_edge:
            self.weight *= np.where(
                self.weight > 0, *(np.take_along_axis(f, side, axis=0) for f in (step.for_positive, step.for_negative))
            )
        out = []
        for k, cut in enumerate(cuts):
            votes = np.zeros_like(step.vote)
            votes[:, k] = step.vote[:, k]
            none = cut.feature < 0
            gain = abs(float(cut.edges[0]))
            out.append(_level_tree([], [], step, votes[1:], gain) if none else _level_tree([cut], [gain], step, votes))
        return out


def _signs(cut: Cut) -> NDArray[np.float64]:
    """v phi, shape (n, K): its own inverse."""
    vote = np.where(cut.edges > TIE, 1.0, -1.0)
    return np.where(cut.positive[:, None], vote, -vote)


def _level_tree(
    cuts: list[Cut],
    gains: Any,
    step: Step,
    vote: NDArray[np.float32],
    constant_gain: float = 0.0,
) -> HammingTreeArrays:
    """A full tree with one cut a level; the gain of a level is shared by its nodes."""
    level = np.repeat(np.arange(len(cuts)), 2 ** np.arange(len(cuts)))
    place = np.arange(len(level)) - (2**level - 1)
    left = np.where(level == len(cuts) - 1, -1 - 2 * place, 2 ** (level + 1) - 1 + 2 * place)
    right = np.where(level == len(cuts) - 1, left - 1, left + 1)
    return HammingTreeArrays(
        np.array([cut.feature for cut in cuts], np.int32)[level],
        np.array([cut.threshold for cut in cuts], np.float64)[level],
        np.array([cut.test for cut in cuts], np.int8)[level],
        left.astype(np.int32),
        right.astype(np.int32),
        (np.asarray(gains, np.float64) / 2.0 ** np.arange(len(cuts)))[level],
        vote,
        step.coefficient,
        step.edge,
        step.normalizer,
        constant_gain,
    )
