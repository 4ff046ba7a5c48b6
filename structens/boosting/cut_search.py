"""The best cut of some rows by sums of weights over bins; what all base learners on entries stand on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.boosting.entries import Entries
from structens.boosting.entry_kernels import TIE, count_bins, count_rows, search_cuts
from structens.boosting.histogram_rounds import aligned


class Cut(NamedTuple):
    """A cut and its edge, times the weight of its cell; see `entries`."""

    edge: float
    feature: int
    low: int
    high: int


class CutSearch:
    """Histograms of the features that take part in a round.

    Parameters
    ----------
    entries : Entries
    kp : int
        Numbers a row of weights takes.
    n_classes : int
        K.
    n_threads : int
        For the histograms of all rows; the sums do not depend on it.
    """

    def __init__(self, entries: Entries, kp: int, n_classes: int, n_threads: int = 1) -> None:
        self.entries, self.kp, self.n_classes = entries, kp, n_classes
        self.n_threads = n_threads
        self.plan = np.array([kp, n_classes, 0], np.int64)
        self.slot = np.zeros(len(entries.lower), np.int64)
        self.free: list[NDArray[np.float32]] = []
        self.list_features(None)

    def list_features(self, features: NDArray[np.int64] | None) -> None:
        """Only these features may be cut from now on; None: all."""
        table = self.entries.table
        self.features = np.arange(self.entries.d) if features is None else features
        if features is None:
            self.bins = np.arange(len(self.entries.lower))
        else:
            ranges = zip(
                table.feature_first[features].tolist(), table.feature_first[features + 1].tolist(), strict=True
            )
            self.bins = np.concatenate([np.zeros(0, np.int64), *(np.arange(a, b) for a, b in ranges)])
        self.slot[:] = -1
        self.slot[self.bins] = np.arange(len(self.bins))
        if self.free and len(self.free[0]) != len(self.bins) * self.kp:
            self.free = []

    def room(self) -> NDArray[np.float32]:
        """Memory for a histogram; give it back with ``free.append``."""
        return self.free.pop() if self.free else aligned(len(self.bins) * self.kp, np.float32)

    def count(self, weight: NDArray[np.float32], rows: NDArray[np.int32] | None = None) -> NDArray[np.float32]:
        """Histogram of some rows; None: of all."""
        out, table = self.room(), self.entries.table
        if rows is not None:
            count_rows(rows, self.slot, table, weight, self.kp, out)
            return out
        part = self.bins, table, weight, self.kp, out
        if self.n_threads == 1:
            count_bins(0, len(self.bins), *part)
            return out
        reached = np.cumsum(np.diff(table.bin_first)[self.bins])
        shares = np.linspace(0, reached[-1] if len(reached) else 0, self.n_threads + 1)[1:-1]
        bounds = [0, *np.searchsorted(reached, shares).tolist(), len(self.bins)]
        with ThreadPoolExecutor(self.n_threads) as pool:
            list(pool.map(lambda k: count_bins(bounds[k], bounds[k + 1], *part), range(self.n_threads)))
        return out

    def best(
        self, histogram: NDArray[np.float32], whole: NDArray[np.float32], features: NDArray[np.int64] | None = None
    ) -> Cut | None:
        """The cut of the largest edge with its best votes; None if no feature has two bins with rows.

        The first feature and the lowest threshold win ties, which are edges that differ by 1e-6 or less.
        """
        score, found = np.full(1, -1.0), np.full((1, 3), -1, np.int64)
        listed = self.features if features is None else features
        search_cuts(listed, self.slot, self.entries.table, histogram, whole, self.plan, score, found)
        return None if found[0, 0] < 0 else Cut(float(score[0]), *found[0].tolist())

    def best_by_class(
        self, histogram: NDArray[np.float32], whole: NDArray[np.float32]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Edge and cut (feature -1: none is better than the constant) for each class on its own."""
        score = np.abs(whole[: self.n_classes].astype(np.float64))
        found = np.full((self.n_classes, 3), -1, np.int64)
        plan = self.plan + np.array([0, 0, 1])
        search_cuts(self.features, self.slot, self.entries.table, histogram, whole, plan, score, found)
        return score, found

    def positive(self, cut: Cut) -> NDArray[np.bool_]:
        """The rows on the + side, shape (n,)."""
        return self.entries.positive(cut.feature, cut.low, cut.high)

    def sums(self, weight: NDArray[np.float32], rows: Any = None) -> NDArray[np.float64]:
        """Sums of the weights of some rows, (kp,)."""
        table = weight.reshape(-1, self.kp)
        out: NDArray[np.float64] = (table if rows is None else table[rows]).sum(axis=0, dtype=np.float64)
        return out


def votes_for(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """+1 where an edge is positive, else -1; see `exact_kernels`."""
    return np.where(sums > 0.1 * TIE, 1.0, -1.0)
