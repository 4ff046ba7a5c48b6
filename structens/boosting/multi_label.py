"""Many labels a row: how wrong votes are, and a threshold for each label that makes the best of held-out votes.

The losses of Schapire and Singer, "BoosTexter" (Machine Learning 39, 2000), section 6; thresholds by F1 a label as in
Yang, "A study of thresholding strategies for text categorization" (SIGIR 2001), there SCut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.boosting.folds import fold_of_rows, unfitted
from structens.boosting.mh_targets import signs_of
from structens.boosting.validation import row_weights_of
from structens.core import DataError


@dataclass(frozen=True)
class MultiLabelScores:
    """How well votes name the labels of rows.

    Parameters
    ----------
    hamming_loss : float
        Share of the known (row, label) pairs that are decided wrongly.
    one_error : float
        Share of the rows whose label of most votes is not one of theirs.
    macro_f1 : float
        Mean over the labels of the harmonic mean of precision and recall; 0 for a label that is never named rightly.
    subset_error : float
        Share of the rows with any label wrong.
    """

    hamming_loss: float
    one_error: float
    macro_f1: float
    subset_error: float


def multi_label_scores(y: Any, scores: ArrayLike, threshold: ArrayLike = 0.0) -> MultiLabelScores:
    """Score votes against the truth. A label is named where its vote is over its threshold.

    Parameters
    ----------
    y : array_like, shape (n, K)
        1 and 0, with NaN where not known; or 1 and -1, with 0 where not known.
    scores : array_like of float, shape (n, K)
        Votes, as `AdaBoostMH.decision_function` gives them.
    threshold : array_like of float, shape () or (K,)
        From `label_thresholds`.

    Raises
    ------
    DataError
        If the shapes differ, or y holds anything else.

    Examples
    --------
    >>> multi_label_scores([[1, 0], [0, 1]], [[2.0, 1.0], [-1.0, 3.0]])
    MultiLabelScores(hamming_loss=0.25, one_error=0.0, macro_f1=0.8333333333333333, subset_error=0.5)
    """
    f, sign = _checked(y, scores)
    known, named = sign != 0, f > np.asarray(threshold, dtype=np.float64)
    wrong = known & (named != (sign > 0))
    both = np.count_nonzero(named & (sign > 0), axis=0)
    either = np.count_nonzero(named & known, axis=0) + np.count_nonzero(sign > 0, axis=0)
    top = np.where(known, f, -np.inf).argmax(axis=1)
    used = known.any(axis=1)
    return MultiLabelScores(
        hamming_loss=float(wrong.sum() / max(known.sum(), 1)),
        one_error=float(np.mean(sign[np.arange(len(f)), top][used] <= 0)) if used.any() else 0.0,
        macro_f1=float(np.mean(2.0 * both / np.maximum(either, 1))),
        subset_error=float(wrong.any(axis=1).mean()),
    )


def label_thresholds(y: Any, scores: ArrayLike) -> NDArray[np.float64]:
    """For each label the threshold of its votes with the greatest F1.

    Parameters
    ----------
    y : array_like, shape (n, K)
        As in `multi_label_scores`.
    scores : array_like of float, shape (n, K)
        Votes for rows that were not learnt from, as `held_out_votes` gives them.

    Returns
    -------
    ndarray of float64, shape (K,)
        Halfway between two votes; of equally good ones the nearest to 0. 0 for a label that no row has.

    Raises
    ------
    DataError
        As there.

    Examples
    --------
    >>> label_thresholds([[1], [1], [0], [0]], [[0.5], [-0.25], [-0.75], [-2.0]]).tolist()
    [-0.5]
    """
    f, sign = _checked(y, scores)
    return np.array([_threshold(f[sign[:, k] != 0, k], sign[sign[:, k] != 0, k] > 0) for k in range(f.shape[1])])


def held_out_votes(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None = None,
    *,
    n_folds: int = 5,
    random_state: int | None = None,
    groups: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Votes on the labels of each row by a classifier that had not learnt from it.

    Parameters
    ----------
    estimator : AdaBoostMH
        Its parameters count, not what it has learnt.
    X : array_like, shape (n, d)
    y : array_like, shape (n, K)
    sample_weight : array_like of float, shape (n,), optional
    n_folds, random_state, groups
        As in `structens.boosting.folds.fold_of_rows`.

    Returns
    -------
    ndarray of float64, shape (n, K)

    Raises
    ------
    DataError
        If y or the weights do not fit X.
    ParameterError
        If there are fewer rows or groups than folds.
    """
    X = X if hasattr(X, "tocsr") else np.asarray(X)
    X = X.tocsr() if hasattr(X, "tocsr") else X
    sign = signs_of(y, X.shape[0], "held_out_votes")
    labels = np.where(sign == 0, np.nan, sign > 0)  # a fold may have no label that is absent: ones and zeros say so
    weight = row_weights_of(sample_weight, X.shape[0], "held_out_votes")
    fold = fold_of_rows(np.zeros(len(sign), dtype=np.int64), n_folds, random_state, groups)
    out = np.empty(sign.shape)
    for k in range(n_folds):
        held = fold == k
        learnt = unfitted(estimator).fit(X[~held], labels[~held], sample_weight=weight[~held])
        out[held] = learnt.decision_function(X[held])
    return out


def _checked(y: Any, scores: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    f = np.asarray(scores, dtype=np.float64)
    sign = signs_of(y, len(f), "multi-label scores")
    if f.shape != sign.shape or len(f) == 0 or not np.isfinite(f).all():
        raise DataError(f"there must be one finite vote for each label of {sign.shape}; got votes of shape {f.shape}")
    return f, sign


def _threshold(f: NDArray[np.float64], has: NDArray[np.bool_]) -> float:
    """Where the rows with the most votes are named: after which of them F1 is greatest."""
    if not has.any():
        return 0.0
    order = np.argsort(-f, kind="stable")
    f, has = f[order], has[order]
    last = np.append(f[:-1] > f[1:], True)  # equal votes are named together
    f1 = 2.0 * np.cumsum(has) / (np.arange(1, len(f) + 1) + np.count_nonzero(has))
    best = np.flatnonzero(last & (f1 >= f1[last].max() - 1e-12))
    below = np.append(f[1:], f[-1] - 2.0 * max(abs(f[-1]), 1.0))  # all rows named: somewhere under the least vote
    middle = f[best] / 2.0 + below[best] / 2.0
    middle = np.where(middle < f[best], middle, below[best])
    return float(middle[np.argmin(np.abs(middle))])
