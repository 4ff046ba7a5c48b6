"""Features as lists of entries: every row's bins, and every bin's rows, without the bin that most rows share.

What a sparse matrix leaves out, its zeros, is never stored: sums over the rows of that bin are those over all rows less
those of the other bins. Dense features leave out their most frequent bin likewise (MultiBoost 1.2 walks to the most
frequent value from both ends; Benbouzid et al., JMLR 13, 2012).

Words: a *position* is the place of a bin among a feature's bins in the order of their values, the *implicit* bin, which
is not stored, counted, and NaN last. A cut sends positions from `low` to `high` - 1 to the + side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.boosting.binning import MOST_BINS, bin_column
from structens.boosting.histogram_layout import MISSING, NOMINAL, NUMERIC
from structens.boosting.trees import AT_LEAST, AT_LEAST_OR_NAN_BELOW, EQUAL
from structens.boosting.validation import is_sparse
from structens.core import ParameterError

NOMINAL_MISSING = NOMINAL + 1  # the last bin is NaN, which no cut asks for


class EntryTable(NamedTuple):
    """What kernels read. Bins of all features are numbered through."""

    bin_first: Any  # int64, (bins + 1,): entries of a bin in the next
    entry_row: Any  # int32, (entries,): rows of each bin, ascending
    row_first: Any  # int64, (n + 1,): entries of a row in the next
    row_bin: Any  # int32, (entries,)
    feature_first: Any  # int64, (d + 1,): bins of a feature
    place: Any  # int64, (d,): position of the implicit bin
    implicit: Any  # int64, (d,): whether a row is in it
    kind: Any  # int64, (d,): NUMERIC, MISSING (the last bin is NaN), NOMINAL, NOMINAL_MISSING


@dataclass(frozen=True, eq=False)
class Entries:
    """The table, and what values the bins hold.

    Attributes
    ----------
    table : EntryTable
    lower, upper : ndarray of float64, shape (bins,)
        Least and largest value in each stored bin; NaN in that of NaN.
    implicit_lower, implicit_upper : ndarray of float64, shape (d,)
    n : int
        Rows.
    """

    table: EntryTable
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    implicit_lower: NDArray[np.float64]
    implicit_upper: NDArray[np.float64]
    n: int

    @property
    def d(self) -> int:
        """Number of features."""
        return len(self.table.place)

    def bounds(self, feature: int, position: int) -> tuple[float, float]:
        """Least and largest value at a position."""
        place = int(self.table.place[feature])
        if position == place:
            return float(self.implicit_lower[feature]), float(self.implicit_upper[feature])
        b = int(self.table.feature_first[feature]) + position - (position > place)
        return float(self.lower[b]), float(self.upper[b])

    def test(self, feature: int, low: int, high: int) -> tuple[float, int]:
        """Threshold and kind of test of a cut."""
        table = self.table
        first, last = table.feature_first[feature], table.feature_first[feature + 1]
        if table.kind[feature] >= NOMINAL:
            return self.bounds(feature, low)[0], EQUAL
        if low == table.place[feature] and not table.implicit[feature]:
            low += 1
        before = low - 1 - (low - 1 == table.place[feature] and not table.implicit[feature])
        below, above = self.bounds(feature, before)[1], self.bounds(feature, low)[0]
        kind = AT_LEAST if high == last - first + 1 else AT_LEAST_OR_NAN_BELOW
        if np.isnan(above):
            return np.inf, kind
        middle = below + (above - below) * 0.5 if abs(below) < 1e300 and abs(above) < 1e300 else below / 2 + above / 2
        return (middle if below < middle <= above else above), kind

    def positive(self, feature: int, low: int, high: int) -> NDArray[np.bool_]:
        """The rows that a cut sends to the + side, shape (n,)."""
        table, place = self.table, int(self.table.place[feature])
        out = np.full(self.n, low <= place < high)
        first, last = int(table.feature_first[feature]), int(table.feature_first[feature + 1])
        ends = [first, first + low - (low > place), first + high - (high > place), last]
        for k in range(3):
            rows = table.entry_row[table.bin_first[ends[k]] : table.bin_first[ends[k + 1]]]
            out[rows] = k == 1
        return out


def entries_of(X: Any, max_bins: int = MOST_BINS, nominal: NDArray[np.bool_] | None = None) -> Entries:
    """Entries of dense or sparse features.

    Parameters
    ----------
    X : ndarray or scipy sparse matrix, shape (n, d)
        Finite but for NaN, a missing value. Nothing is made dense.
    max_bins : int
        From 2 to 255; bins of a feature. A feature with no more different values has one for each.
    nominal : ndarray of bool, shape (d,), optional
        Features whose values have no order; each value has a bin.

    Raises
    ------
    ParameterError
        If a nominal feature has more than 255 values.

    Examples
    --------
    >>> entries = entries_of(np.array([[0.0, 5.0], [0.0, 7.0], [1.0, 5.0]]))
    >>> entries.table.entry_row.tolist(), entries.lower.tolist(), entries.implicit_lower.tolist()
    ([2, 1], [1.0, 7.0], [0.0, 5.0])
    """
    n, d = X.shape
    columns = _SparseColumns(X) if is_sparse(X) else _DenseColumns(X)
    found = [columns.bin(j, max_bins, nominal is not None and bool(nominal[j])) for j in range(d)]
    counts = np.array([len(column.sizes) for column in found], np.int64)
    feature_first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    sizes = np.concatenate([np.zeros(0, np.int64), *(column.sizes for column in found)])
    bin_first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows = np.concatenate([np.zeros(0, np.int32), *(column.rows for column in found)]).astype(np.int32)
    row_first, row_bin = _by_row(rows, bin_first, n)
    kind, place, implicit = (
        np.array([getattr(column, name) for column in found], np.int64) for name in ("kind", "place", "implicit")
    )
    lower, upper = (np.concatenate([np.zeros(0), *(column.bounds[k] for column in found)]) for k in (0, 1))
    hidden = np.array([column.hidden for column in found]).reshape(-1, 2)
    table = EntryTable(bin_first, rows, row_first, row_bin, feature_first, place, implicit, kind)
    return Entries(table, lower, upper, hidden[:, 0].copy(), hidden[:, 1].copy(), n)


def _by_row(rows: NDArray[np.int32], bin_first: NDArray[np.int64], n: int) -> tuple[Any, Any]:
    """The entries once more, row by row, bins ascending: where each row begins, and the bins."""
    from scipy.sparse import csc_array

    n_bins = len(bin_first) - 1
    by_bin = csc_array((np.repeat(np.arange(n_bins, dtype=np.int32), np.diff(bin_first)), rows, bin_first), (n, n_bins))
    by_row = by_bin.tocsr()
    return by_row.indptr.astype(np.int64), by_row.data.astype(np.int32, copy=False)


@dataclass(eq=False)
class _Column:
    """Stored bins of a feature: how many rows each has, these rows, bounds; and the bin that is not stored."""

    sizes: NDArray[np.int64]
    rows: NDArray[np.int32]
    bounds: tuple[NDArray[np.float64], NDArray[np.float64]]
    place: int
    implicit: bool
    hidden: tuple[float, float]
    kind: int


class _DenseColumns:
    def __init__(self, X: NDArray[Any]) -> None:
        self.X = X

    def bin(self, j: int, max_bins: int, nominal: bool) -> _Column:
        lower, upper, code = bin_column(np.ascontiguousarray(self.X[:, j]), MOST_BINS if nominal else max_bins)
        _check_nominal(j, nominal, lower, upper)
        sizes = np.bincount(code, minlength=len(lower))
        order = np.argsort(code, kind="stable").astype(np.int32)
        if len(lower) == 0:  # nothing but NaN: no cut
            return _Column(sizes[:0], order[:0], (lower, upper), 0, True, (0.0, 0.0), NUMERIC)
        place = int(np.argmax(sizes[: len(lower)]))
        begin = int(sizes[:place].sum())
        rows = np.concatenate([order[:begin], order[begin + sizes[place] :]])
        missing = len(sizes) > len(lower)
        kind = (NOMINAL_MISSING if missing else NOMINAL) if nominal else MISSING if missing else NUMERIC
        nan = [np.nan] * missing
        bounds = tuple(np.delete(np.concatenate([b, nan]), place) for b in (lower, upper))
        hidden = float(lower[place]), float(upper[place])
        return _Column(np.delete(sizes, place), rows, (bounds[0], bounds[1]), place, True, hidden, kind)


class _SparseColumns:
    """Columns of a sparse matrix; those with one value, the usual case, take a short way."""

    def __init__(self, X: Any) -> None:
        X = X.tocsc(copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        X.sort_indices()
        self.n, self.first, self.rows = X.shape[0], X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False)
        self.values = X.data.astype(np.float64, copy=False)
        self.same = np.zeros(X.shape[1], np.bool_)
        held = np.flatnonzero(np.diff(self.first))
        if len(held):
            starts = self.first[held]
            self.same[held] = np.minimum.reduceat(self.values, starts) == np.maximum.reduceat(self.values, starts)

    def bin(self, j: int, max_bins: int, nominal: bool) -> _Column:
        rows, values = (a[self.first[j] : self.first[j + 1]] for a in (self.rows, self.values))
        kind, zero, implicit = NOMINAL if nominal else NUMERIC, (0.0, 0.0), len(rows) < self.n
        if self.same[j] or len(rows) == 0:
            value = values[:1]
            place = int(len(value) and value[0] < 0)
            return _Column(np.full(len(value), len(rows), np.int64), rows, (value, value), place, implicit, zero, kind)
        lower, upper, code = bin_column(values, MOST_BINS if nominal else max_bins)
        _check_nominal(j, nominal, lower, upper)
        if ((lower < 0) & (upper > 0)).any():  # zero parts such a bin
            low, high = (
                bin_column(np.where(side, values, np.nan), max(1, max_bins // 2)) for side in (values < 0, values > 0)
            )
            code = np.where(values < 0, low[2], high[2].astype(np.int64) + len(low[0]))
            lower, upper = (np.concatenate([low[k], high[k]]) for k in (0, 1))
        sizes = np.bincount(code, minlength=len(lower)).astype(np.int64)
        missing = len(sizes) > len(lower)
        nan = [np.nan] * missing
        place = int(np.searchsorted(lower, 0.0))
        ordered = rows[np.argsort(code, kind="stable")]
        bounds = np.concatenate([lower, nan]), np.concatenate([upper, nan])
        kind = (NOMINAL_MISSING if nominal else MISSING) if missing else kind
        return _Column(sizes, ordered, bounds, place, implicit, zero, kind)


def _check_nominal(j: int, nominal: bool, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
    if nominal and (lower != upper).any():
        raise ParameterError(f"nominal feature {j} has more than {MOST_BINS} values; bin or hash them first")
