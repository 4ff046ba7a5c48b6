"""Folds of whole records, and honest predictions: each record is combined by what was learnt without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.align import needs_alignment
from structens.core import DataError, ExpertPredictions
from structens.ensembles.base import Ensemble


def folds(ids: Sequence[str | int], n_folds: int = 5, seed: int = 0) -> NDArray[np.int64]:
    """Number of the fold of each record, by a hash of its id: the same whatever the order of the records.

    Parameters
    ----------
    ids : sequence of str or int
    n_folds : int
        Folds differ in size by at most one record.
    seed : int

    Raises
    ------
    DataError
        If there are fewer records than folds.

    Examples
    --------
    >>> folds(["a", "b", "c", "d"], 2).tolist()
    [0, 1, 0, 1]
    """
    if not 2 <= n_folds <= len(ids):
        raise DataError(f"cannot cut {len(ids)} records into {n_folds} folds")
    keys = [blake2b(f"{seed}:{i}".encode(), digest_size=8).digest() for i in ids]
    order = sorted(range(len(ids)), key=lambda i: (keys[i], str(ids[i])))
    out = np.empty(len(ids), dtype=np.int64)
    out[order] = np.arange(len(ids)) % n_folds
    return out


def cross_predict(
    ensemble: Ensemble,
    X: ExpertPredictions,
    *,
    n_folds: int = 5,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[Any]:
    """Answer to every record with gold from an ensemble that did not learn from it.

    Parameters
    ----------
    ensemble : Ensemble
        Learnt anew `n_folds` times; left learnt from the last.
    X : ExpertPredictions
    n_folds, seed : int
        See `folds`.
    progress : callable, optional
        Called with the folds done and `n_folds`.

    Returns
    -------
    list
        One answer a record, None for records without gold.

    Examples
    --------
    >>> from structens.ensembles import BestExpert
    >>> X = ExpertPredictions.of({"a": ["x"] * 6, "b": ["y"] * 6}, gold=["y"] * 5 + ["x"])
    >>> cross_predict(BestExpert(), X, n_folds=3)
    ['y', 'y', 'y', 'y', 'y', 'y']
    """
    known = np.flatnonzero(X.has_gold)
    fold = folds([X.ids[i] for i in known], n_folds, seed)
    out: list[Any] = [None] * len(X)
    asked = ensemble.align
    if asked == "auto":  # lengths may agree in all records of a fold, but not in all records
        ensemble.align = "always" if needs_alignment(X) else "never"
    try:
        for k in range(n_folds):
            inside = known[fold == k]
            ensemble.fit(X[known[fold != k]])
            for i, answer in zip(inside.tolist(), ensemble.predict(X[inside]), strict=True):
                out[i] = answer
            if progress is not None:
                progress(k + 1, n_folds)
    finally:
        ensemble.align = asked
    return out
