"""Cuts on features whose values have no order: a set of values against all others, MultiBoost's indicator learner.

A cut on one value against all others, its selector, is what every base learner does with ``nominal_features``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.cut_search import Cut, CutSearch, votes_for
from structens.boosting.entry_kernels import TIE
from structens.boosting.entry_rounds import Grown
from structens.boosting.histogram_layout import NOMINAL
from structens.boosting.trees import EQUAL
from structens.core import Estimator, ParameterError


class Indicator(Estimator):
    """One cut, and one vote vector: on a nominal feature any set of its values goes to the + side.

    Signs u of the values and votes v of the classes are made best in turn, by the signs of M v and of u M for the sums
    M of signed weights by value and class, while the edge rises. Other features are cut by thresholds, as stumps do.
    Values not learnt from, and missing ones, go with the larger set of values.

    Parameters
    ----------
    n_starts : int
        Signs of the values to start from: the best single value, then random ones.
    random_state : int

    Examples
    --------
    >>> from structens.boosting import AdaBoostMH
    >>> X, y = [[3], [7], [5], [4], [7], [4]], ["a", "b", "a", "b", "b", "b"]
    >>> model = AdaBoostMH(Indicator(), n_rounds=1, nominal_features=[0]).fit(X, y)
    >>> model.edges_.tolist(), model.predict([[3], [4], [5], [7]]).tolist()
    ([1.0], ['a', 'b', 'a', 'b'])

    References
    ----------
    Benbouzid, Busa-Fekete, Casagrande, Collin and Kegl, "MultiBoost: a multi-purpose boosting package" (JMLR 13, 2012).
    """

    def __init__(self, *, n_starts: int = 4, random_state: int = 0) -> None:
        self.n_starts = n_starts
        self.random_state = random_state

    def check(self) -> None:
        """Raise ParameterError if a parameter is out of its range."""
        if not isinstance(self.n_starts, (int, np.integer)) or self.n_starts < 1:
            raise ParameterError(f"n_starts must be a whole number >= 1; got {self.n_starts!r}")


class IndicatorGrower:
    """Finds the cut of a round; drawn numbers are the same in each."""

    def __init__(self, base: Indicator) -> None:
        self.base = base

    def grow(self, search: CutSearch, weight: NDArray[np.float32]) -> Grown:
        """The best set of values of a feature, or cut by a threshold, or the constant."""
        k, histogram = search.n_classes, search.count(weight)
        whole = search.sums(weight).astype(np.float32)
        nominal = search.entries.table.kind[search.features] >= NOMINAL
        cut = search.best(histogram, whole, search.features[~nominal])
        best, chosen = -1.0 if cut is None else cut.edge, None
        for j in search.features[nominal].tolist():
            positions, sums = _sums_by_value(search, histogram, whole, j)
            edge, signs = best_signs(sums, self.base.n_starts, np.random.default_rng([self.base.random_state, j]))
            if edge > best + TIE:
                best, chosen = edge, (j, positions[signs > 0], positions[signs < 0])
        search.free.append(histogram)
        if best < np.abs(whole[:k]).sum() - TIE:
            return _constant(whole[:k], search.entries.n)
        if chosen is not None:
            return _chain(search, weight, best, *chosen)
        return _threshold(search, weight, cut)


def best_signs(sums: NDArray[np.float64], n_starts: int, rng: np.random.Generator) -> tuple[float, NDArray[np.float64]]:
    """Signs u of the rows, not all the same, that make the sum of sizes of u M large; -1 and ones where there are none.

    Parameters
    ----------
    sums : ndarray, shape (values, K)
        M.
    n_starts : int
    rng : Generator

    Examples
    --------
    >>> best_signs(np.array([[1.0, -1.0], [-1.0, 1.0], [2.0, -2.0]]), 1, np.random.default_rng(0))
    (8.0, array([-1.,  1., -1.]))
    """
    n = len(sums)
    best, found = -1.0, np.ones(n)
    single = np.abs(2.0 * sums - sums.sum(axis=0)).sum(axis=1)
    for start in range(n_starts if n > 1 else 0):
        u = np.where(np.arange(n) == np.argmax(single), 1.0, -1.0) if start == 0 else rng.choice([-1.0, 1.0], n)
        reached = -1.0
        while True:
            edges = u @ sums
            edge = float(np.abs(edges).sum())
            if edge <= reached + TIE:
                break
            if edge > best + TIE and abs(u.sum()) < n:
                best, found = edge, u
            reached = edge
            u = np.where(sums @ np.where(edges > 0, 1.0, -1.0) > 0, 1.0, -1.0)
    return best, found


def _sums_by_value(search: CutSearch, histogram: Any, whole: Any, j: int) -> tuple[NDArray[np.int64], Any]:
    """Positions of the values that rows have, NaN left out, and their sums of weights."""
    entries, kp, k = search.entries, search.kp, search.n_classes
    first, last = entries.table.feature_first[j], entries.table.feature_first[j + 1]
    at = int(search.slot[first]) if last > first else 0
    sums = histogram[at * kp : (at + last - first) * kp].reshape(-1, kp)[:, :k].astype(np.float64)
    place = int(entries.table.place[j])
    sums = np.insert(sums, place, whole[:k] - sums.sum(axis=0), axis=0)
    kept = [p for p in range(len(sums)) if not np.isnan(entries.bounds(j, p)[0])]
    kept = [p for p in kept if p != place or entries.table.implicit[j]]
    return np.array(kept, np.int64), sums[kept]


def _chain(search: CutSearch, weight: Any, edge: float, j: int, up: Any, down: Any) -> Grown:
    """A tree that asks for one value of the smaller set after the other."""
    entries, values = search.entries, up if len(up) <= len(down) else down
    leaf, m = np.zeros(entries.n, np.int32), len(values)
    for i, position in enumerate(values.tolist()):
        leaf[entries.positive(j, position, position + 1)] = m - i
    vote = _votes(search, weight, leaf > 0)
    left, right = np.arange(1, m + 1), -1 - (m - np.arange(m))
    left[-1] = -1
    thresholds = [entries.bounds(j, p)[0] for p in values.tolist()]
    votes = np.concatenate([-vote[None], np.repeat(vote[None], m, axis=0)])
    return Grown(np.full(m, j), thresholds, np.full(m, EQUAL), left, right, np.full(m, edge / m), votes, leaf)


def _threshold(search: CutSearch, weight: Any, cut: Cut | None) -> Grown:
    if cut is None:
        return _constant(np.zeros(search.n_classes), search.entries.n)
    threshold, test = search.entries.test(*cut[1:])
    positive = search.positive(cut)
    vote = _votes(search, weight, positive)
    ends = [-1], [-2]
    return Grown(
        [cut.feature], [threshold], [test], *ends, [cut.edge], np.stack([-vote, vote]), positive.astype(np.int32)
    )


def _votes(search: CutSearch, weight: Any, positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    sums = 2.0 * search.sums(weight, positive) - search.sums(weight)
    return votes_for(sums[: search.n_classes])


def _constant(whole: Any, n: int) -> Grown:
    none: list[int] = []
    gain = float(np.abs(whole).sum())
    return Grown(none, none, none, none, none, none, votes_for(whole)[None], np.zeros(n, np.int32), gain)
