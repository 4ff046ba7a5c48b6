"""From data to rounds: which engine, its memory, its first weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.adaboost_rounds import shares
from structens.boosting.binning import bin_features, default_bins
from structens.boosting.entry_start import any_cut_of, entry_rounds
from structens.boosting.exact_rounds import ExactRounds
from structens.boosting.histogram_rounds import LARGEST_POOL, HistogramRounds, aligned, padded
from structens.boosting.memory import check_memory
from structens.boosting.mh_targets import Targets
from structens.boosting.nominal import Indicator
from structens.boosting.product import HammingProduct, OneAgainstAll
from structens.boosting.settings import RoundSettings
from structens.boosting.table_rounds import OneAgainstAllRounds, ProductRounds
from structens.boosting.validation import is_sparse
from structens.boosting.value_table import ValueTable
from structens.core import ParameterError
from structens.losses.label_weights import signed_weights

EXACT_ROWS = 1000  # up to so many the exact engine is as fast


@dataclass(frozen=True, eq=False)
class Start:
    """What the first round needs: the classifier (its parameters), base learner, data, threads, weights so far."""

    model: Any
    base: Any
    X: NDArray[Any]
    targets: Targets
    n_threads: int
    learnt: NDArray[Any] | None


def start_rounds(start: Start) -> Any:
    """Rounds of the engine that was asked for.

    Raises
    ------
    DataError
        If memory does not suffice, or nothing has a weight.
    """
    model, targets = start.model, start.targets
    n, d = start.X.shape
    settings = RoundSettings(
        getattr(start.base, "n_inner_nodes", 1),
        getattr(start.base, "constant", "hybrid"),
        model.votes,
        model.learning_rate,
        model.trim,
        model.smoothing,
        _counted_rows(targets.row_weight),
        least_share=model.min_weight_fraction_leaf,
        edge_offset=model.edge_offset,
    )
    exact = model.engine == "exact" or (model.engine == "auto" and (n <= EXACT_ROWS or settings.least_share > 0))
    table = isinstance(start.base, (HammingProduct, OneAgainstAll))
    what, nominal = _size(start), _nominal(model.nominal_features, d)
    binned_elsewhere = not exact and (table or model.votes == "abstain")  # the kernels of histograms know no silence
    classifiers = any_cut_of(start.base) is not None
    if is_sparse(start.X) or classifiers or isinstance(start.base, Indicator) or binned_elsewhere:
        return entry_rounds(start, settings, nominal, lambda out: _weights(start, out))
    if table:
        return _table_rounds(start, settings)
    if exact:
        check_memory(n * targets.n_classes * 8.0 + 16.0 * n * d, what, model.max_memory)
        weight = _weights(start, np.empty((n, targets.n_classes)))
        return ExactRounds(start.X, weight, settings, nominal)
    max_bins = default_bins(d) if model.max_bins is None else model.max_bins
    check_memory(histogram_memory(n, d, targets.n_classes, max_bins, settings.n_inner_nodes), what, model.max_memory)
    binned = bin_features(start.X, max_bins, nominal, start.n_threads)
    kp = padded(targets.n_classes)
    flat = aligned(n * kp, np.float32)
    _weights(start, flat.reshape(n, kp)[:, : targets.n_classes])
    return HistogramRounds(binned, flat, targets.n_classes, settings, start.n_threads, start.learnt is not None)


def _table_rounds(start: Start, settings: RoundSettings) -> Any:
    """Rounds of products, or of stumps one against all, that try every threshold."""
    model, targets = start.model, start.targets
    n, d = start.X.shape
    check_memory(n * (targets.n_classes * 32.0 + d * 4.0), _size(start), model.max_memory)
    table = ValueTable(start.X, None, _nominal(model.nominal_features, d))
    weight = _weights(start, np.empty((n, targets.n_classes)))
    if isinstance(start.base, HammingProduct):
        return ProductRounds(table, weight, settings, start.base.n_factors, start.base.loop)
    return OneAgainstAllRounds(table, weight, settings)


def _size(start: Start) -> str:
    n, d = start.X.shape
    return f"{n:,} rows x {d:,} features x {start.targets.n_classes:,} classes"


def histogram_memory(n: int, d: int, n_classes: int, max_bins: int, n_inner_nodes: int) -> float:
    """Bytes that boosting on histograms takes at most, the data themselves not counted."""
    kp = padded(n_classes)
    histogram = float(d) * min(max_bins + 1, n + 1) * kp * 4.0
    pool = histogram * (n_inner_nodes + 1)
    pool = pool if pool <= LARGEST_POOL else histogram / max(1, d) * 8.0
    leaves = (n_inner_nodes + 1) * kp * (16 * 2 * 8.0 + 6 * 4.0)
    return n * kp * 4.0 + n * (d + 24.0) + pool + leaves


def _weights(start: Start, out: NDArray[Any]) -> NDArray[Any]:
    targets = start.targets
    if start.learnt is not None:
        out[:] = start.learnt
        return out
    scheme = start.model.label_weights or ("uniform" if targets.multi_label else "sharepoints")
    return signed_weights(
        targets.y,
        targets.n_classes,
        scheme,
        row_weight=shares(targets.row_weight),
        label_weight=targets.label_weight,
        init_score=targets.init_score,
        out=out,
    )


def _counted_rows(row_weight: NDArray[np.float64]) -> float:
    """How many rows there are, in units of the least weight: two equal rows are then one of weight 2."""
    share = shares(row_weight)
    return float(min(1.0 / max(float(share.min()), 1e-300), 1000.0 * len(row_weight)))


def _nominal(features: Any, d: int) -> NDArray[np.bool_] | None:
    if features is None:
        return None
    given = np.asarray(features)
    mask = np.zeros(d, np.bool_)
    try:
        mask[given if given.size else given.astype(np.int64)] = True
    except IndexError as error:
        raise ParameterError(f"nominal_features must be numbers from 0 to {d - 1}, or a mask: {error}") from None
    return mask
