"""Rounds of boosting with Hamming products, or with a stump for each class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.settings import RoundSettings
from structens.boosting.trees import HammingTreeArrays
from structens.boosting.value_table import TIE, Cut, ValueTable


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
        self.n_classes, self.least_edge = weight.shape[1], settings.least_edge
        self.all_features = np.arange(table.d)

    def weights(self) -> NDArray[np.float64]:
        """Signed weights, shape (n, K)."""
        return self.weight

    def close(self) -> None:
        """Nothing to let go."""

    def _coefficient(self, edge: float) -> float:
        inside = min(edge, 1.0 - self.settings.clamp)
        return self.settings.shrinkage * 0.5 * float(np.log((1 + inside) / (1 - inside)))

    def _real(self, signed: NDArray[Any], sizes: NDArray[Any]) -> NDArray[np.float64]:
        """Half the smoothed log-odds, from sums of signed weights and of their sizes."""
        smooth = self.settings.smoothing / (self.n_classes * self.settings.n_rows)
        right, wrong = np.maximum((sizes + signed) / 2, 0), np.maximum((sizes - signed) / 2, 0)
        out: NDArray[np.float64] = self.settings.shrinkage * np.log((right + smooth) / (wrong + smooth)) / 2
        return out

    def _reweight(self, h: NDArray[np.float64]) -> float:
        """Multiply the weights by exp(-h y) / Z; returns Z."""
        self.weight *= np.exp(-h * np.sign(self.weight))
        z = float(np.abs(self.weight).sum())
        self.weight /= z
        return z


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
        leaf = np.zeros(self.table.n, np.int64)
        vote = np.ones((1, self.n_classes))
        for cut, v in zip(factors, votes, strict=True):
            leaf = 2 * leaf + cut.positive
            vote = np.stack([-vote * v, vote * v], axis=1).reshape(-1, self.n_classes)
        if not factors:
            vote = -vote
        signed = np.stack([np.bincount(leaf, self.weight[:, k], len(vote)) for k in range(self.n_classes)], axis=1)
        edge = float((signed * vote).sum())
        coefficient = self._coefficient(edge)
        if self.settings.real:
            size = np.abs(self.weight)
            sizes = np.stack([np.bincount(leaf, size[:, k], len(vote)) for k in range(self.n_classes)], axis=1)
            vote, coefficient = self._real(signed, sizes), 1.0
        rounded = vote.astype(np.float32)
        z = self._reweight(coefficient * rounded.astype(np.float64)[leaf]) if edge > self.least_edge else 1.0
        return _level_tree(factors, np.diff(edges, prepend=0.0), rounded, coefficient, edge, z)

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
        edge = float(sum(abs(cut.edges[0]) for cut in cuts))
        coefficient = 1.0 if self.settings.real else self._coefficient(edge)
        h, votes = np.zeros_like(self.weight), []
        for k, cut in enumerate(cuts):
            vote = np.zeros((2, self.n_classes), np.float32)
            vote[:, k] = (-1.0, 1.0) if cut.edges[0] > TIE else (1.0, -1.0)
            if self.settings.real:
                side = cut.positive.astype(np.int64)
                own = self.weight[:, k]
                vote[:, k] = self._real(np.bincount(side, own, 2), np.bincount(side, np.abs(own), 2))
            h[:, k] = coefficient * vote[cut.positive.astype(np.int64), k].astype(np.float64)
            votes.append(vote)
        z = self._reweight(h) if edge > self.least_edge else 1.0
        return [
            _level_tree([cut], np.abs(cut.edges), vote, coefficient, edge, z)
            if cut.feature >= 0
            else _level_tree([], np.zeros(0), vote[1:], coefficient, edge, z, abs(float(cut.edges[0])))
            for cut, vote in zip(cuts, votes, strict=True)
        ]


def _signs(cut: Cut) -> NDArray[np.float64]:
    """v phi, shape (n, K): its own inverse."""
    vote = np.where(cut.edges > TIE, 1.0, -1.0)
    return np.where(cut.positive[:, None], vote, -vote)


def _level_tree(
    cuts: list[Cut],
    gains: Any,
    vote: NDArray[np.float32],
    coefficient: float,
    edge: float,
    normalizer: float,
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
        coefficient,
        edge,
        normalizer,
        constant_gain,
    )
