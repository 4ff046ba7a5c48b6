"""From data to rounds where it is not trees on dense features: sparse ones, indicators, cuts by any classifier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.any_cut import AnyCut
from structens.boosting.any_cut_rounds import AnyCutRounds
from structens.boosting.binning import MOST_BINS, default_bins
from structens.boosting.entries import Entries, entries_of
from structens.boosting.entry_cuts import EntryCuts
from structens.boosting.entry_rounds import EntryRounds
from structens.boosting.histogram_rounds import LARGEST_POOL, padded
from structens.boosting.memory import check_memory
from structens.boosting.nominal import Indicator, IndicatorGrower
from structens.boosting.product import HammingProduct, OneAgainstAll
from structens.boosting.settings import RoundSettings
from structens.boosting.sparse_trees import TreeGrower
from structens.boosting.table_rounds import OneAgainstAllRounds, ProductRounds
from structens.boosting.validation import is_sparse
from structens.core import ParameterError


def entry_rounds(
    start: Any,
    settings: RoundSettings,
    nominal: NDArray[np.bool_] | None,
    weights: Callable[[NDArray[Any]], NDArray[Any]],
) -> Any:
    """Rounds for the data of a `Start`.

    Parameters
    ----------
    start : Start
    settings : RoundSettings
    nominal : ndarray of bool, shape (d,), optional
    weights : function
        Writes the first signed weights into an array of shape (n, K), and returns it.

    Raises
    ------
    DataError
        If memory does not suffice.
    ParameterError
        If a parameter does not go with such data.
    """
    model, base, n_classes = start.model, start.base, start.targets.n_classes
    n, d = start.X.shape
    if model.engine == "exact" and is_sparse(start.X):
        raise ParameterError(
            "engine 'exact' is for dense features; sparse ones have a bin for each value up to max_bins"
        )
    if settings.least_share > 0:
        raise ParameterError("min_weight_fraction_leaf goes with trees on dense features only")
    what, any_cut = f"{n:,} rows x {d:,} features x {n_classes:,} classes", any_cut_of(base)
    if any_cut is not None:
        if nominal is not None:
            raise ParameterError("nominal_features do not go with AnyCut; encode them within its estimator")
        held = start.X.nnz * 12.0 if is_sparse(start.X) else n * d * 8.0
        check_memory(n * n_classes * 32.0 + 2.0 * held, what, model.max_memory)
        return AnyCutRounds(any_cut, start.X, weights(np.empty((n, n_classes))), settings)
    tables = isinstance(base, (HammingProduct, OneAgainstAll))
    needed = entry_memory(start.X, n_classes, settings.n_inner_nodes) + tables * n * n_classes * 32.0
    check_memory(needed, what, model.max_memory)
    bins = MOST_BINS if is_sparse(start.X) or isinstance(base, Indicator) else default_bins(d)
    entries = entries_of(start.X, bins if model.max_bins is None else model.max_bins, nominal)
    if tables:
        return _table_rounds(start, entries, settings, weights)
    grower: Any = IndicatorGrower(base) if isinstance(base, Indicator) else trees_of(start, settings)
    rounds = EntryRounds(entries, n_classes, settings, grower, start.n_threads)
    weights(rounds.weights())
    return rounds


def any_cut_of(base: Any) -> AnyCut | None:
    """What cuts by a classifier, of a base learner that does."""
    found: AnyCut | None = base if isinstance(base, AnyCut) else getattr(base, "cut", None)
    return found


def trees_of(start: Any, settings: RoundSettings) -> TreeGrower:
    """What grows the trees of a `Start`."""
    return TreeGrower(settings.n_inner_nodes, settings.rule, settings.trim, start.learnt is not None)


def entry_memory(X: Any, n_classes: int, n_inner_nodes: int) -> float:
    """Bytes that boosting on entries takes at most, about; the data themselves not counted."""
    kp, n, d = padded(n_classes + 1), X.shape[0], X.shape[1]
    n_entries = X.nnz if is_sparse(X) else n * d
    histogram = 4.0 * kp * min(n_entries, MOST_BINS * d)
    pool = max(3 * histogram, min(histogram * (n_inner_nodes + 1), LARGEST_POOL))
    return float(n * kp * 12.0 + n_entries * 28.0 + pool)


def _table_rounds(start: Any, entries: Entries, settings: RoundSettings, weights: Any) -> Any:
    n_classes, base = start.targets.n_classes, start.base
    table: Any = EntryCuts(entries, n_classes, start.n_threads)
    weight = weights(np.empty((entries.n, n_classes)))
    if isinstance(base, HammingProduct):
        return ProductRounds(table, weight, settings, base.n_factors, base.loop)
    return OneAgainstAllRounds(table, weight, settings)
