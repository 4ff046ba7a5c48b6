"""Features to bins: each number becomes the number of its bin, one byte, as histograms want it.

A feature with at most `max_bins` different values has a bin for each, so that no cut is lost. Otherwise bins hold about
equally many rows. Rows with NaN have a last bin of their own. Thresholds lie in the middle between the bins they part
(section 8.4 of Kegl 2014, Figure 3: halfway between neighbours), and ``x >= threshold`` is the + side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.histogram_layout import MISSING, NOMINAL, NUMERIC
from structens.core import ParameterError

BLOCK = 8  # features that lie beside each other: their histograms share the fastest cache
MOST_BINS = 255
_MOST_ROWS = 200_000  # quantiles of more rows are taken from every so many


@dataclass(frozen=True, eq=False)
class BinnedFeatures:
    """Bin numbers of all rows and what the bins hold.

    Attributes
    ----------
    code : ndarray of uint8, shape (blocks * n * 8,)
        Block by block of eight features, row by row.
    n_bins, kind, first : ndarray of int64, shape (d,)
        Bins of each feature, that of NaN included; `NUMERIC`, `MISSING` (the last bin is NaN) or `NOMINAL`; where its
        bins begin in the next two.
    lower, upper : ndarray of float64
        Least and largest value in each bin.
    n : int
        Rows.
    """

    code: NDArray[np.uint8]
    n_bins: NDArray[np.int64]
    kind: NDArray[np.int64]
    first: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    n: int

    @property
    def d(self) -> int:
        """Number of features."""
        return len(self.n_bins)

    def column(self, feature: int) -> NDArray[np.uint8]:
        """Bin numbers of one feature, shape (n,)."""
        block = self.code.reshape(-1, self.n, BLOCK)[feature // BLOCK]
        out: NDArray[np.uint8] = block[:, feature % BLOCK]
        return out


def default_bins(d: int) -> int:
    """255 bins, or 64 where there are more than 100 features: looking through the bins costs more than filling them."""
    return MOST_BINS if d <= 100 else 64


def bin_features(
    X: NDArray[Any], max_bins: int = MOST_BINS, nominal: NDArray[np.bool_] | None = None
) -> BinnedFeatures:
    """Bin every column.

    Parameters
    ----------
    X : ndarray of float32, float64 or uint8, shape (n, d)
        Finite but for NaN, a missing value.
    max_bins : int
        From 2 to 255; bins of a feature, not counting that of NaN.
    nominal : ndarray of bool, shape (d,), optional
        Features whose values have no order; each value has a bin.

    Raises
    ------
    ParameterError
        If max_bins is out of range, or a nominal feature has more than 255 values.

    Examples
    --------
    >>> binned = bin_features(np.array([[1.0], [np.nan], [3.0], [1.0]]))
    >>> binned.column(0).tolist(), binned.n_bins.tolist(), binned.lower.tolist()
    ([0, 2, 1, 0], [3], [1.0, 3.0])
    """
    if not 2 <= max_bins <= MOST_BINS:
        raise ParameterError(f"max_bins must be from 2 to {MOST_BINS}; got {max_bins}")
    n, d = X.shape
    code = np.zeros((-(-d // BLOCK), n, BLOCK), np.uint8)
    kind, n_bins = np.full(d, NUMERIC, np.int64), np.zeros(d, np.int64)
    bounds: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    for j in range(d):
        column = np.ascontiguousarray(X[:, j])
        is_nominal = nominal is not None and bool(nominal[j])
        lower, upper, codes = _bin_column(column, MOST_BINS if is_nominal else max_bins)
        if is_nominal and (lower != upper).any():
            raise ParameterError(f"nominal feature {j} has more than {MOST_BINS} values; bin or hash them first")
        missing = column.dtype != np.uint8 and bool((codes == len(lower)).any())
        if missing and len(lower) == 0:
            missing, lower, upper = False, np.zeros(1), np.zeros(1)
        code[j // BLOCK, :, j % BLOCK] = codes
        kind[j] = NOMINAL if is_nominal else MISSING if missing else NUMERIC
        n_bins[j] = len(lower) + missing
        bounds.append((lower, upper))
    first = np.concatenate([[0], np.cumsum([len(lower) for lower, _ in bounds])])[:-1].astype(np.int64)
    lower, upper = (np.concatenate([pair[k] for pair in bounds]) for k in (0, 1))
    return BinnedFeatures(code.reshape(-1), n_bins, kind, first, lower, upper, n)


def _bin_column(
    column: NDArray[Any], max_bins: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.uint8]]:
    """Least and largest value of each bin, and the bin of each row; NaN comes after the last."""
    if column.dtype == np.uint8:
        held = np.flatnonzero(np.bincount(column, minlength=256))
        if len(held) <= max_bins:
            table = np.zeros(256, np.uint8)
            table[held] = np.arange(len(held))
            return held.astype(np.float64), held.astype(np.float64), table[column]
        column = column.astype(np.float64)
    present = column[~np.isnan(column)]
    ordered = np.sort(present if len(present) <= _MOST_ROWS else present[:: len(present) // _MOST_ROWS])
    values = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered
    if len(values) <= max_bins and len(present) > _MOST_ROWS:
        values = np.unique(present)
    if len(values) <= max_bins:
        exact = values.astype(np.float64)
        return exact, exact, np.searchsorted(values, column).astype(np.uint8)
    cuts = np.arange(1, max_bins) * len(ordered) // max_bins
    starts = np.unique(ordered[cuts])  # a bin begins with such a value
    starts = starts[starts > ordered[0]]
    codes = np.searchsorted(starts, column, side="right")
    codes[np.isnan(column)] = len(starts) + 1
    lower, upper = np.full(len(starts) + 1, np.inf), np.full(len(starts) + 1, -np.inf)
    inside = codes <= len(starts)
    np.minimum.at(lower, codes[inside], column[inside])  # also where quantiles saw a part of the rows only
    np.maximum.at(upper, codes[inside], column[inside])
    return lower, upper, codes.astype(np.uint8)
