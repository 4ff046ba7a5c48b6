"""Rounds of boosting on entries: sparse features, and base learners other than trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from structens.boosting.cut_search import CutSearch
from structens.boosting.entries import Entries
from structens.boosting.entry_kernels import UNIT, leaf_sums, reweight_rows
from structens.boosting.histogram_rounds import aligned, padded
from structens.boosting.mh_step import step_of
from structens.boosting.settings import RoundSettings
from structens.boosting.trees import HammingTreeArrays


@dataclass(frozen=True, eq=False)
class Grown:
    """A base classifier before its coefficient: a tree (see `HammingTreeArrays`), and the leaf of each row.

    Gains are of a total weight of 1; votes are +1 and -1.
    """

    feature: Any
    threshold: Any
    test: Any
    left: Any
    right: Any
    gain: Any
    vote: NDArray[np.float64]
    leaf: NDArray[np.int32]
    constant_gain: float = 0.0


class Grower(Protocol):
    """A base learner at work."""

    def grow(self, search: CutSearch, weight: NDArray[np.float32]) -> Grown:
        """The base classifier for these weights, (n * kp,)."""


class EntryRounds:
    """State of boosting: entries and weights.

    Parameters
    ----------
    entries : Entries
    n_classes : int
    settings : RoundSettings
    grower : Grower
    n_threads : int
    """

    def __init__(
        self, entries: Entries, n_classes: int, settings: RoundSettings, grower: Grower, n_threads: int = 1
    ) -> None:
        self.settings, self.grower, self.n_classes = settings, grower, n_classes
        self.kp = padded(n_classes + 1)
        self.weight = aligned(entries.n * self.kp, np.float32)
        self.by_row = self.weight.reshape(entries.n, self.kp)
        self.by_row[:, n_classes] = UNIT
        self.search = CutSearch(entries, self.kp, n_classes, n_threads)
        self.least_edge = settings.over(1e-6)
        self._listed: Any = None

    def weights(self) -> NDArray[np.float32]:
        """Signed weights, shape (n, K): a view, to be filled before the first round."""
        return self.by_row[:, : self.n_classes]

    def close(self) -> None:
        """Nothing to let go."""

    def play(self, features: NDArray[np.int64] | None = None) -> Any:
        """The next base classifier; where its edge is positive, the weights change."""
        if features is not None or self._listed is not None:
            self.search.list_features(features)
            self._listed = features
        grown = self.grower.grow(self.search, self.weight)
        n_leaves, k = len(grown.vote), self.n_classes
        sums = np.zeros(2 * n_leaves * self.kp)
        leaf_sums(grown.leaf, self.weight, self.kp, sums)
        signed, sizes = sums.reshape(2, n_leaves, self.kp)[:, :, :k]
        step = step_of(self.settings, grown.vote, signed, sizes)
        if step.edge > self.least_edge:
            factors = np.ones((2, n_leaves, self.kp), np.float32)
            factors[0, :, :k], factors[1, :, :k] = step.for_positive, step.for_negative
            reweight_rows(grown.leaf, factors[0].reshape(-1), factors[1].reshape(-1), self.kp, self.weight)
        return HammingTreeArrays(
            np.asarray(grown.feature, np.int32),
            np.asarray(grown.threshold, np.float64),
            np.asarray(grown.test, np.int8),
            np.asarray(grown.left, np.int32),
            np.asarray(grown.right, np.int32),
            np.asarray(grown.gain, np.float64),
            step.vote,
            step.coefficient,
            step.edge,
            step.normalizer,
            grown.constant_gain,
        )
