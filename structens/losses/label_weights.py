"""Weights of labels: how much each pair of an example and a label counts before the first round (spec of AdaBoost.MH).

Signed weights w * y are all that boosting needs: for single labels there is never an n x K matrix of labels beside
them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import DataError, ParameterError

SCHEMES = ("sharepoints", "uniform", "sharelabels", "proportional", "balanced")
_ROWS, _NUMBERS = 4096, 2**17  # rows written at a time; numbers, where there are more than 256 classes


def signed_weights(
    y: NDArray[Any],
    n_classes: int,
    scheme: str = "sharepoints",
    *,
    row_weight: NDArray[np.float64] | None = None,
    label_weight: NDArray[np.float64] | None = None,
    init_score: NDArray[np.float64] | None = None,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """w * y for every example and label, of total size 1.

    Parameters
    ----------
    y : ndarray, shape (n,) or (n, K)
        Codes of single labels, or +1, -1 and 0 (not known: weight 0) for each label.
    n_classes : int
        K.
    scheme : str
        - "sharepoints": half of an example's weight for its positive labels, half for its negative ones, all for one
        side
          if the other is empty. For single labels 1/2 for the label and 1 / (2 (K - 1)) for each other (Kegl 2014,
          equation 3);
        - "uniform": 1/K for each label, known or not;
        - "sharelabels": an example's weight is shared by the labels that are known;
        - "proportional": the weights as given;
        - "balanced": 1/K for each label, half of it for its positive examples, half for its negative ones.
    row_weight : ndarray, shape (n,), optional
        Weights of examples.
    label_weight : ndarray, shape (n, K), optional
        What the labels' weights start from, instead of 1.
    init_score : ndarray, shape (n, K), optional
        Votes cast before the first round: weights are multiplied by exp(-f y).
    out : ndarray, shape (n, K), optional
        Where to write.

    Raises
    ------
    ParameterError
        If there is no such scheme.
    DataError
        If nothing has a weight.

    References
    ----------
    Benbouzid, Busa-Fekete, Casagrande, Collin and Kegl, "MultiBoost: a multi-purpose boosting package" (JMLR 13, 2012).

    Examples
    --------
    >>> (signed_weights(np.array([0, 2]), 3) * 24).round(6).tolist()
    [[6.0, -3.0, -3.0], [-3.0, -3.0, 6.0]]
    """
    if scheme not in SCHEMES:
        raise ParameterError(f"label_weights must be one of {', '.join(SCHEMES)}; got {scheme!r}")
    n = len(y)
    out = np.empty((n, n_classes)) if out is None else out
    given = row_weight, label_weight, init_score
    by_label = _label_totals(y, n_classes, given) if scheme == "balanced" else None
    highest = 0.0
    if init_score is not None:
        highest = max(float((-init_score[r] * _signs(y[r], n_classes)).max()) for r in _batches(n, n_classes))
    total = 0.0
    for rows in _batches(n, n_classes):
        sign = _signs(y[rows], n_classes)
        weight = _share(sign, scheme, by_label, *(None if a is None else a[rows] for a in given[:2]))
        if init_score is not None:
            weight *= np.exp(-init_score[rows] * sign - highest)
        out[rows] = sign * weight
        total += float(np.abs(out[rows]).sum(dtype=np.float64))
    if not 0 < total < np.inf:
        raise DataError("the weights of all labels are zero", hint="see sample_weight, label_weight and missing labels")
    for rows in _batches(n, n_classes):
        out[rows] /= total
    return out


def _batches(n: int, n_classes: int) -> list[slice]:
    size = _ROWS if n_classes <= 256 else max(1, _NUMBERS // n_classes)
    return [slice(begin, min(begin + size, n)) for begin in range(0, n, size)]


def row_masses(weight: NDArray[Any]) -> NDArray[np.float64]:
    """Sums of the sizes of each row's weights, shape (n,), without a second matrix of weights.

    Examples
    --------
    >>> row_masses(np.array([[0.5, -0.25], [-0.25, 0.0]])).tolist()
    [0.75, 0.25]
    """
    out = np.zeros(len(weight))
    for rows in _batches(*weight.shape):
        out[rows] = np.abs(weight[rows]).sum(axis=1, dtype=np.float64)
    return out


def _signs(y: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
    if y.ndim == 2:
        return y.astype(np.float64)
    sign = np.full((len(y), n_classes), -1.0)
    sign[np.arange(len(y)), y] = 1.0
    return sign


def _share(
    sign: NDArray[np.float64],
    scheme: str,
    by_label: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
    row_weight: NDArray[np.float64] | None,
    label_weight: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Weights of the labels of some examples; labels that are not known get 0."""
    weight = np.abs(sign) if label_weight is None else np.abs(sign) * label_weight
    positive = weight * (sign > 0)
    negative = weight - positive
    if scheme == "sharepoints":
        sides = [side.sum(axis=1, keepdims=True) for side in (positive, negative)]
        both = 1.0 + (sides[0] > 0) * (sides[1] > 0)
        weight = sum(
            side / (np.where(size > 0, size, 1.0) * both)
            for side, size in zip((positive, negative), sides, strict=True)
        )
    elif scheme == "sharelabels":
        known = weight.sum(axis=1, keepdims=True)
        weight = weight / np.where(known > 0, known, 1.0)
    elif by_label is not None:
        own = 1.0 if row_weight is None else row_weight[:, None]  # they are in the totals, too
        halves = [2.0 * np.where(side > 0, side, 1.0) for side in by_label]
        return own * (positive / halves[0] + negative / halves[1])
    return weight if row_weight is None else weight * row_weight[:, None]


def _label_totals(y: NDArray[Any], n_classes: int, given: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights of the positive and of the negative examples of each label."""
    row_weight, label_weight, _ = given
    sums = np.zeros(n_classes), np.zeros(n_classes)
    for rows in _batches(len(y), n_classes):
        sign = _signs(y[rows], n_classes)
        weight = np.ones_like(sign) if label_weight is None else label_weight[rows]
        if row_weight is not None:
            weight = weight * row_weight[rows][:, None]
        sums[0][:] += (weight * (sign > 0)).sum(axis=0)
        sums[1][:] += (weight * (sign < 0)).sum(axis=0)
    return sums
