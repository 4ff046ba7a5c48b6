"""Folds for held-out scores and for selection: every class, or every group, spread over all of them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.boosting.classifier import Classifier
from structens.core import DataError, ParameterError


def fold_of_rows(
    codes: NDArray[np.integer[Any]], n_folds: int, random_state: int | None = None, groups: ArrayLike | None = None
) -> NDArray[np.int64]:
    """Fold of each row, 0..n_folds-1.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Class of each row; a class's rows are dealt out to the folds in turn, so that sizes differ by one at most.
    n_folds : int
        At least 2, at most n (or the number of groups).
    random_state : int, optional
        Seed of the shuffle; None keeps the rows' order.
    groups : array_like, shape (n,), optional
        Rows of one group (a sequence, a writer, a patient) share a fold; large groups are placed first, each where
        there are fewest rows. Classes are not looked at then.

    Raises
    ------
    ParameterError
        If there are too few rows or groups.
    DataError
        If groups has another length.

    Examples
    --------
    >>> fold_of_rows(np.array([0, 0, 0, 0, 1, 1]), 2).tolist()
    [0, 1, 0, 1, 0, 1]
    """
    n = len(codes)
    unit = np.arange(n) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1].reshape(-1)
    if len(unit) != n:
        raise DataError(f"groups must give one group for each of {n} rows; got {len(unit)}")
    n_units = int(unit.max(initial=-1)) + 1
    if not 2 <= n_folds <= n_units:
        what = "rows" if groups is None else "groups"
        raise ParameterError(f"n_folds must be from 2 to the number of {what}, {n_units}; got {n_folds}")
    shuffled = np.arange(n_units) if random_state is None else np.random.default_rng(random_state).permutation(n_units)
    fold = np.empty(n_units, dtype=np.int64)
    if groups is None:
        fold[shuffled[np.argsort(codes[shuffled], kind="stable")]] = np.arange(n) % n_folds
        return fold
    size = np.bincount(unit)
    load = np.zeros(n_folds, dtype=np.int64)
    for g in shuffled[np.argsort(-size[shuffled], kind="stable")].tolist():
        fold[g] = int(np.argmin(load))
        load[fold[g]] += size[g]
    return fold[unit]


def unfitted(estimator: Any, **params: Any) -> Any:
    """A new estimator with the same parameters, some of them changed; nothing is shared with the old one.

    Examples
    --------
    >>> from structens.boosting import AdaBoost
    >>> unfitted(AdaBoost(n_rounds=5), n_rounds=7)
    AdaBoost(n_rounds=7)
    """
    new = type(estimator)(**copy.deepcopy(estimator.get_params(deep=False)))
    return new.set_params(**params) if params else new


def held_out_scores(
    estimator: Classifier,
    X: Any,
    codes: NDArray[np.integer[Any]],
    weight: NDArray[np.float64],
    *,
    n_folds: int = 5,
    random_state: int | None = None,
    groups: ArrayLike | None = None,
    **params: Any,
) -> NDArray[np.float64]:
    """Votes for each row by a classifier that had not learnt from it.

    Parameters
    ----------
    estimator : Classifier
        Its parameters count, not what it has learnt.
    X : array or sparse matrix, shape (n, d)
    codes : ndarray of int, shape (n,)
        Classes 0..K-1, all of them used.
    weight : ndarray of float64, shape (n,)
    n_folds, random_state, groups
        As in `fold_of_rows`; there are never more folds than rows.
    **params
        Parameters to change.

    Returns
    -------
    ndarray of float64, shape (n, K), or (n,) for two classes
        A class that the other folds lack has the row's lowest vote.

    Examples
    --------
    >>> from structens.boosting import AdaBoost
    >>> X, codes = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    >>> held_out_scores(AdaBoost(), X, codes, np.ones(8), n_folds=2).tolist()
    [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    n_classes = int(codes.max()) + 1
    fold = fold_of_rows(codes, min(n_folds, len(codes)), random_state, groups)
    out = np.empty((len(codes), n_classes))
    for k in range(int(fold.max()) + 1):
        held = fold == k
        learnt = unfitted(estimator, **params).fit(X[~held], codes[~held], sample_weight=weight[~held])
        scores = learnt.decision_function(X[held])
        if scores.ndim == 1 and len(learnt.classes_) == 2:
            scores = np.stack([-scores, scores], axis=1)
        scores = scores.reshape(len(scores), -1)
        out[held] = scores.min(axis=1, keepdims=True)
        out[np.ix_(held, learnt.classes_)] = scores
    return out[:, 1] if n_classes == 2 else out
