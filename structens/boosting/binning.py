"""Features to bins: each number becomes the number of its bin, one byte, as histograms want it.

A feature with at most `max_bins` different values has a bin for each, so that no cut is lost. Otherwise bins hold about
equally many rows. Rows with NaN have a last bin of their own. Thresholds lie in the middle between the bins they part
(section 8.4 of Kegl 2014, Figure 3: halfway between neighbours), and ``x >= threshold`` is the + side.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.compiled import lean_entry
from structens.boosting.histogram_layout import MISSING, NOMINAL, NUMERIC
from structens.core import ParameterError

BLOCK = 8  # features that lie beside each other: their histograms share the fastest cache
MOST_BINS = 255
_WORTH_THREADS = 100_000  # numbers
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
    X: NDArray[Any], max_bins: int = MOST_BINS, nominal: NDArray[np.bool_] | None = None, n_threads: int = 1
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
    n_threads : int
        Blocks of features that are binned at the same time. The bins do not depend on it.

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
    bounds: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = [(np.zeros(0), np.zeros(0))] * d

    def bin_block(block: int) -> None:
        begin = block * BLOCK
        columns = np.ascontiguousarray(X[:, begin : begin + BLOCK].T)
        for place, column in enumerate(columns):
            j = begin + place
            is_nominal = nominal is not None and bool(nominal[j])
            lower, upper = _bin_into(code[block], place, column, MOST_BINS if is_nominal else max_bins)
            if is_nominal and (lower != upper).any():
                raise ParameterError(f"nominal feature {j} has more than {MOST_BINS} values; bin or hash them first")
            missing = column.dtype != np.uint8 and bool(np.isnan(column).any())
            if missing and len(lower) == 0:
                missing, lower, upper = False, np.zeros(1), np.zeros(1)
            kind[j] = NOMINAL if is_nominal else MISSING if missing else NUMERIC
            n_bins[j] = len(lower) + missing
            bounds[j] = lower, upper

    if n_threads > 1 and n * d >= _WORTH_THREADS:
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(bin_block, range(len(code))))
    else:
        for block in range(len(code)):
            bin_block(block)
    first = np.concatenate([[0], np.cumsum([len(lower) for lower, _ in bounds])])[:-1].astype(np.int64)
    lower, upper = (np.concatenate([pair[k] for pair in bounds]) for k in (0, 1))
    return BinnedFeatures(code.reshape(-1), n_bins, kind, first, lower, upper, n)


def bin_column(
    column: NDArray[Any], max_bins: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.uint8]]:
    """Least and largest value of each bin, and the bin of each row; NaN comes after the last."""
    codes = np.zeros((len(column), 1), np.uint8)
    lower, upper = _bin_into(codes, 0, np.ascontiguousarray(column), max_bins)
    return lower, upper, codes[:, 0]


def _bin_into(
    codes: NDArray[np.uint8], place: int, column: NDArray[Any], max_bins: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Least and largest value of each bin; the bin of each row goes to codes[:, place], NaN's comes after the last."""
    if column.dtype == np.uint8:
        held = np.flatnonzero(np.bincount(column, minlength=256))
        if len(held) <= max_bins:
            table = np.zeros(256, np.uint8)
            table[held] = np.arange(len(held))
            codes[:, place] = table[column]
            return held.astype(np.float64), held.astype(np.float64)
        column = column.astype(np.float64)
    there = ~np.isnan(column)
    present = column if there.all() else column[there]
    ordered = np.sort(present if len(present) <= _MOST_ROWS else present[:: len(present) // _MOST_ROWS])
    values = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered
    if len(values) <= max_bins and len(present) > _MOST_ROWS:
        values = np.unique(present)
    exact = len(values) <= max_bins
    if exact:
        starts = values[1:]
    else:
        starts = np.unique(ordered[np.arange(1, max_bins) * len(ordered) // max_bins])  # a bin begins with such a value
        starts = starts[starts > ordered[0]]
    # from the rows, since quantiles may have seen a part of them only
    lower, upper = np.full(len(starts) + 1, np.inf), np.full(len(starts) + 1, -np.inf)
    _find_bins(column, np.ascontiguousarray(starts), min(len(values), len(starts) + 1), codes, place, lower, upper)
    return (values.astype(np.float64), values.astype(np.float64)) if exact else (lower, upper)


@lean_entry
def _find_bins(column, starts, missing, codes, place, lower, upper):  # type: ignore[no-untyped-def]
    """The bin of each row, by bisection without branches, and the range of each bin."""
    for i in range(len(column)):
        x = column[i]
        if np.isnan(x):
            codes[i, place] = missing
            continue
        at, left = 0, len(starts)
        while left > 0:
            half = (left + 1) >> 1
            at += half if starts[at + half - 1] <= x else 0
            left -= half
        codes[i, place] = at
        lower[at] = min(lower[at], x)
        upper[at] = max(upper[at], x)
