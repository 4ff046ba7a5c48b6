"""Features as numbers of their values, and sums of signed weights for each: what products and one-against-all stumps
use.

Every value may have a number of its own, or values share bins as in `binning`; NaN has the last number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.binning import bin_features
from structens.boosting.compiled import lean_entry
from structens.boosting.histogram_layout import MISSING, NOMINAL, NUMERIC
from structens.boosting.trees import AT_LEAST, AT_LEAST_OR_NAN_BELOW, EQUAL

TIE = 1e-12


@dataclass(frozen=True, eq=False)
class Cut:
    """A cut phi, or the constant 1 (feature -1).

    Attributes
    ----------
    feature : int
    threshold : float
    test : int
        As in `HammingTreeArrays`.
    positive : ndarray of bool, shape (n,)
        Rows on the + side.
    edges : ndarray of float64, shape (K,)
        Classwise edges of phi: sums of w * y * phi.
    """

    feature: int
    threshold: float
    test: int
    positive: NDArray[np.bool_]
    edges: NDArray[np.float64]


class ValueTable:
    """Numbers of values, shape (d, n).

    Parameters
    ----------
    X : ndarray, shape (n, d)
    max_bins : int, optional
        None: a number for each value.
    nominal : ndarray of bool, shape (d,), optional
        Features whose cuts part one value from all others.
    """

    def __init__(self, X: NDArray[Any], max_bins: int | None = None, nominal: NDArray[np.bool_] | None = None) -> None:
        self.n, self.d = X.shape
        if max_bins is not None:
            binned = bin_features(X, max_bins, nominal)
            self.codes = [binned.column(j).astype(np.int32) for j in range(self.d)]
            self.kinds = binned.kind.tolist()
            counts = binned.n_bins - (binned.kind == MISSING)
            spans = [slice(a, a + m) for a, m in zip(binned.first.tolist(), counts.tolist(), strict=True)]
            self.bounds = [(binned.lower[span], binned.upper[span]) for span in spans]
            return
        self.codes, self.kinds, self.bounds = [], [], []
        for j in range(self.d):
            column = X[:, j].astype(np.float64)
            values = np.unique(column[~np.isnan(column)])
            missing = bool(np.isnan(column).any())
            is_nominal = nominal is not None and bool(nominal[j])
            self.codes.append(np.searchsorted(values, column).astype(np.int32))
            self.kinds.append(NOMINAL if is_nominal else MISSING if missing and len(values) else NUMERIC)
            self.bounds.append((values, values))

    def scan(self, j: int, signed: NDArray[np.float64]) -> NDArray[np.float64]:
        """Classwise edges of every cut on feature j, shape (cuts, K), in the order in which ties are broken."""
        n_values = len(self.bounds[j][0])
        sums = np.zeros((n_values + 1, signed.shape[1]))
        add_by_code(self.codes[j], signed, sums)
        total = sums.sum(axis=0)
        if self.kinds[j] == NOMINAL:
            return 2.0 * sums[:n_values] - total if n_values > 1 else sums[:0]
        below = np.cumsum(sums[:n_values], axis=0)
        if self.kinds[j] == MISSING:
            return np.concatenate([total - 2.0 * below, total - 2.0 * (below[:-1] + sums[n_values])])
        out: NDArray[np.float64] = total - 2.0 * below[: max(n_values - 1, 0)]
        return out

    def cut(self, j: int, place: int, edges: NDArray[np.float64]) -> Cut:
        """The cut of a row of `scan`."""
        code, (lower, upper) = self.codes[j], self.bounds[j]
        if self.kinds[j] == NOMINAL:
            return Cut(j, float(lower[place]), EQUAL, code == place, edges)
        n_values, test, positive = len(lower), AT_LEAST, code > place
        if place >= n_values:
            place -= n_values
            test, positive = AT_LEAST_OR_NAN_BELOW, (code > place) & (code < n_values)
        if place == n_values - 1:
            return Cut(j, np.inf, test, positive, edges)
        a, b = float(upper[place]), float(lower[place + 1])
        middle = a / 2 + b / 2 if a < 0.0 < b else a + (b - a) / 2  # neither overflows
        return Cut(j, middle if a < middle <= b else b, test, positive, edges)

    def constant(self, edges: NDArray[np.float64]) -> Cut:
        """The constant 1, whose edges are the sums of the signed weights."""
        return Cut(-1, -np.inf, AT_LEAST, np.ones(self.n, np.bool_), edges)

    def best_cut(self, signed: NDArray[np.float64], features: NDArray[np.int64]) -> Cut | None:
        """The cut of the largest edge with the best votes, never the constant; the first of equal ones."""
        best, found = -1.0, None
        for j in features.tolist():
            edges = self.scan(j, signed)
            if len(edges):
                score = np.abs(edges).sum(axis=1)
                place = int(np.argmax(score > score.max() - TIE))
                if score[place] > best + TIE:
                    best, found = float(score[place]), (j, place, edges[place])
        return None if found is None else self.cut(*found)

    def best_cuts(self, signed: NDArray[np.float64], features: NDArray[np.int64]) -> list[Cut]:
        """For each class the cut, or the constant, of the largest edge; among equals the constant, then the first."""
        n_classes = signed.shape[1]
        constant = signed.sum(axis=0)
        best, found = np.abs(constant), [(-1, -1, constant[k : k + 1]) for k in range(n_classes)]
        for j in features.tolist():
            edges = self.scan(j, signed)
            if len(edges) == 0:
                continue
            score = np.abs(edges)
            place = np.argmax(score > score.max(axis=0) - TIE, axis=0)
            reached = score[place, np.arange(n_classes)]
            for k in np.flatnonzero(reached > best + TIE).tolist():
                best[k], found[k] = reached[k], (j, int(place[k]), edges[place[k], k : k + 1])
        return [self.constant(edges) if j < 0 else self.cut(j, place, edges) for j, place, edges in found]


@lean_entry
def add_by_code(code, signed, out):  # type: ignore[no-untyped-def]
    """out[code[i]] += signed[i]."""
    for i in range(len(code)):
        for c in range(signed.shape[1]):
            out[code[i], c] += signed[i, c]
