"""Cuts of sparse features for Hamming products and one-against-all stumps: the twin of `value_table` on entries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.cut_search import CutSearch
from structens.boosting.entries import Entries
from structens.boosting.entry_kernels import UNIT
from structens.boosting.histogram_rounds import aligned, padded
from structens.boosting.trees import AT_LEAST
from structens.boosting.value_table import Cut


class EntryCuts:
    """Finds cuts for weights of shape (n, K), as `ValueTable` does.

    Parameters
    ----------
    entries : Entries
    n_classes : int
    n_threads : int
    """

    def __init__(self, entries: Entries, n_classes: int, n_threads: int = 1) -> None:
        self.entries, self.n, self.d = entries, entries.n, entries.d
        self.kp = padded(n_classes + 1)
        self.flat = aligned(entries.n * self.kp, np.float32)
        self.by_row = self.flat.reshape(entries.n, self.kp)
        self.by_row[:, n_classes] = UNIT
        self.search = CutSearch(entries, self.kp, n_classes, n_threads)

    def best_cut(self, signed: NDArray[np.float64], features: NDArray[np.int64]) -> Cut | None:
        """The cut of the largest edge with the best votes, never the constant; the first of equal ones."""
        histogram, whole = self._count(signed, features)
        found = self.search.best(histogram, whole)
        self.search.free.append(histogram)
        return None if found is None else self._cut(found[1:], signed)

    def best_cuts(self, signed: NDArray[np.float64], features: NDArray[np.int64]) -> list[Cut]:
        """For each class the cut, or the constant, of the largest edge; the constant and the first win ties."""
        histogram, whole = self._count(signed, features)
        _, found = self.search.best_by_class(histogram, whole)
        self.search.free.append(histogram)
        out = []
        for k, place in enumerate(found.tolist()):
            own = signed[:, k : k + 1]
            if place[0] >= 0:
                out.append(self._cut(place, own))
            else:
                out.append(Cut(-1, -np.inf, AT_LEAST, np.ones(self.n, np.bool_), own.sum(axis=0)))
        return out

    def _count(self, signed: NDArray[np.float64], features: NDArray[np.int64]) -> tuple[Any, NDArray[np.float32]]:
        self.search.list_features(None if len(features) == self.d else features)
        self.by_row[:, : signed.shape[1]] = signed
        return self.search.count(self.flat), self.search.sums(self.flat).astype(np.float32)

    def _cut(self, place: Any, signed: NDArray[np.float64]) -> Cut:
        feature, low, high = place
        threshold, test = self.entries.test(feature, low, high)
        positive = self.entries.positive(feature, low, high)
        edges = 2.0 * signed[positive].sum(axis=0) - signed.sum(axis=0)  # no matrix product: its threads burn time
        return Cut(feature, threshold, test, positive, edges)
