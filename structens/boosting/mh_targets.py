"""What AdaBoost.MH learns: single labels as codes, or the signs of many labels, with all weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.boosting.validation import numbers_of, row_weights_of
from structens.core import DataError, ParameterError


@dataclass(frozen=True, eq=False)
class Targets:
    """Rows of positive weight.

    Attributes
    ----------
    y : ndarray
        Codes, int32, shape (n,); or signs +1, -1, and 0 where not known, int8, shape (n, K).
    classes : ndarray, shape (K,)
        For many labels their numbers.
    row_weight : ndarray of float64, shape (n,)
    label_weight, init_score : ndarray of float64, shape (n, K), or None
    """

    y: NDArray[Any]
    classes: NDArray[Any]
    row_weight: NDArray[np.float64]
    label_weight: NDArray[np.float64] | None
    init_score: NDArray[np.float64] | None

    @property
    def multi_label(self) -> bool:
        """Whether a row has many labels."""
        return self.y.ndim == 2

    @property
    def n_classes(self) -> int:
        """K."""
        return len(self.classes)

    def rows(self, kept: NDArray[np.bool_]) -> Targets:
        """Some of the rows."""
        given: dict[str, Any] = {
            name: None if getattr(self, name) is None else getattr(self, name)[kept]
            for name in ("label_weight", "init_score")
        }
        return replace(self, y=self.y[kept], row_weight=self.row_weight[kept], **given)

    def prior(self) -> NDArray[np.float64]:
        """Half the log-odds of each class's share of the weight: what a model without rounds votes."""
        if self.multi_label or self.n_classes < 2:
            return np.zeros(self.n_classes)
        total = np.bincount(self.y, self.row_weight / self.row_weight.max(), minlength=self.n_classes)
        share = total / total.sum()
        out: NDArray[np.float64] = np.log(share / (1.0 - share)) / 2.0
        return out


def targets_of(
    owner: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    label_weight: ArrayLike | None,
    init_score: ArrayLike | None,
) -> tuple[Any, Targets]:
    """Features and targets of a fit, without the rows of weight 0; `owner` is the classifier.

    Raises
    ------
    DataError
        If they do not fit each other.
    """
    name = type(owner).__name__
    shape = y.shape if hasattr(y, "shape") else np.asarray(y, dtype=object).shape
    if len(shape) == 2 and shape[1] > 1:
        for option in ("class_weight", "calibrate"):
            if getattr(owner, option) is not None:
                raise ParameterError(f"{name}: {option} is for one label a row, y has {shape[1]}")
        X = owner._read_features(X)
        signs = signs_of(y, X.shape[0], name)
        weight = row_weights_of(sample_weight, X.shape[0], name)
        classes = np.arange(signs.shape[1])
        kept = weight > 0
        targets = Targets(signs, classes, weight, *_given(label_weight, init_score, signs.shape, name))
        return (X, targets) if kept.all() else (X[kept], targets.rows(kept))
    X, classes, codes, weight = owner._read(X, y, sample_weight, owner.class_weight)
    if label_weight is None and init_score is None:
        return X, Targets(codes, classes, weight, None, None)
    given_weight = row_weights_of(sample_weight, len(np.asarray(y)), name)
    kept = given_weight > 0
    if np.count_nonzero(kept) != len(codes):
        raise DataError(f"{name}: label_weight and init_score do not go with classes of weight 0")
    given = _given(label_weight, init_score, (len(given_weight), len(classes)), name)
    return X, Targets(codes, classes, weight, *(None if a is None else a[kept] for a in given))


def signs_of(y: Any, n: int, name: str) -> NDArray[np.int8]:
    """Many labels as +1, -1, and 0 where not known, shape (n, K).

    From 1 and 0 with NaN where not known, or from 1, -1 and 0 where not known.

    Raises
    ------
    DataError
        If y has another shape, or holds anything else.

    Examples
    --------
    >>> signs_of([[1, 0], [0, float("nan")]], 2, "AdaBoostMH").tolist()
    [[1, -1], [-1, 0]]
    """
    if hasattr(y, "toarray"):
        y = y.toarray()
    labels = numbers_of(y, f"{name}: y of many labels")
    if labels.ndim != 2 or labels.shape[0] != n:
        raise DataError(f"{name}: y must have shape ({n}, labels); got {labels.shape}")
    known = ~np.isnan(labels)
    if not np.isin(labels[known], (-1.0, 0.0, 1.0)).all():
        raise DataError(f"{name}: y of many labels holds 1 and 0 (NaN: not known), or 1 and -1 (0: not known)")
    if (labels[known] == -1.0).any():
        return np.where(known, labels, 0.0).astype(np.int8)
    return np.where(known, 2.0 * labels - 1.0, 0.0).astype(np.int8)


def _given(
    label_weight: ArrayLike | None, init_score: ArrayLike | None, shape: tuple[int, ...], name: str
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
    weight = score = None
    if label_weight is not None:
        weight = numbers_of(label_weight, f"{name}: label_weight")
        _check_given("label_weight", weight, shape, np.isfinite(weight) & (weight >= 0), "finite numbers >= 0", name)
    if init_score is not None:
        score = numbers_of(init_score, f"{name}: init_score")
        if score.ndim == 1 and shape[1] == 2:
            score = np.stack([-score, score], axis=1)
        _check_given("init_score", score, shape, np.isfinite(score), "finite numbers", name)
    return weight, score


def _check_given(
    what: str, given: NDArray[np.float64], shape: tuple[int, ...], right: NDArray[np.bool_], rule: str, owner: str
) -> None:
    if given.shape != shape:
        raise DataError(f"{owner}: {what} must have shape {shape}; got {given.shape}")
    if not right.all():
        i, k = np.argwhere(~right)[0].tolist()
        raise DataError(f"{owner}: {what} must be {rule}; that of row {i}, label {k} is {given[i, k]}")
