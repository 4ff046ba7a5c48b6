"""Fitted binary classifiers as cuts: linear ones as plain numbers, others as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.validation import is_sparse
from structens.core import DataError

_LINEAR_HOMES = ("sklearn.linear_model.", "sklearn.svm.", "sklearn.discriminant_analysis.")


@dataclass(frozen=True, eq=False)
class LinearCut:
    """The half space ``x @ coefficient + intercept > 0``, in float64.

    Attributes
    ----------
    coefficient : ndarray of float64, shape (d,)
    intercept : float
    """

    coefficient: NDArray[np.float64]
    intercept: float

    def positive(self, X: Any) -> NDArray[np.bool_]:
        """Which rows are on the + side, shape (n,); the answer for a row does not depend on the others.

        Raises
        ------
        DataError
            If a value is missing.
        """
        if is_sparse(X):
            score = X.astype(np.float64) @ self.coefficient
        else:  # not by BLAS, which adds in another order where there are more rows
            score = np.einsum("ij,j->i", X.astype(np.float64, copy=False), self.coefficient)
        if np.isnan(score).any():
            row = int(np.argmax(np.isnan(score)))
            raise DataError(f"a linear cut cannot take missing values; row {row} has one", hint="fill them in first")
        out: NDArray[np.bool_] = score + self.intercept > 0
        return out

    def question(self, features: list[str], digits: int = 6, most: int = 3) -> str:
        """The cut in words, its largest coefficients only.

        Examples
        --------
        >>> LinearCut(np.array([0.5, -2.0]), 1.0).question(["age", "height"])
        '-2 height + 0.5 age > -1?'
        """
        order = np.argsort(-np.abs(self.coefficient), kind="stable")
        used = [j for j in order.tolist() if self.coefficient[j] != 0]
        words = [f"{float(self.coefficient[j]):.{digits}g} {features[j]}" for j in used[:most]]
        words += ["..."] * (len(used) > most)
        text = " + ".join(words or ["0"]).replace("+ -", "- ")
        return f"{text} > {0.0 - self.intercept:.{digits}g}?"


@dataclass(frozen=True, eq=False)
class ClassifierCut:
    """A fitted classifier of -1 and +1."""

    estimator: Any

    def positive(self, X: Any) -> NDArray[np.bool_]:
        """Which rows it calls +1, shape (n,)."""
        out: NDArray[np.bool_] = np.asarray(self.estimator.predict(X)) > 0
        return out

    def question(self, features: list[str], digits: int = 6) -> str:
        """The cut in words."""
        return f"{type(self.estimator).__name__} says +?"


def cut_of(estimator: Any, d: int) -> LinearCut | ClassifierCut:
    """A fitted classifier as a cut: a linear one of scikit-learn as its numbers, after scalers as one with it.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> cut_of(RidgeClassifier(alpha=0.0).fit([[0.0], [1.0], [2.0], [3.0]], [-1, -1, 1, 1]), 1).question(["x"], 3)
    '0.8 x > 1.2?'
    """
    steps = [step for _, step in getattr(estimator, "steps", [("", estimator)])]
    linear, scalers = steps[-1], steps[:-1]
    home = type(linear).__module__
    coefficient = np.asarray(getattr(linear, "coef_", np.zeros(0)))
    one_row = coefficient.shape in ((d,), (1, d))
    plain = home.startswith(_LINEAR_HOMES) and one_row and _signs(linear)
    factors = [_factor_and_shift(scaler) for scaler in scalers]
    if not plain or any(factor is None for factor in factors):
        return ClassifierCut(estimator)
    weight = coefficient.reshape(-1).astype(np.float64)
    intercept = float(np.asarray(getattr(linear, "intercept_", 0.0)).reshape(-1)[0])
    for found in reversed(factors):
        if found is not None:
            factor, shift = found
            intercept += float(np.sum(weight * shift))
            weight = weight * factor
    return LinearCut(weight, intercept) if np.isfinite(weight).all() else ClassifierCut(estimator)


def _signs(linear: Any) -> bool:
    return np.array_equal(getattr(linear, "classes_", ()), [-1, 1])


def _factor_and_shift(scaler: Any) -> tuple[Any, Any] | None:
    """A scaler of scikit-learn as x * factor + shift; None if it is none of these."""
    name = type(scaler).__name__ if type(scaler).__module__.startswith("sklearn.preprocessing.") else ""
    if name == "StandardScaler":
        scale = 1.0 if scaler.scale_ is None else scaler.scale_
        return 1.0 / scale, -(0.0 if scaler.mean_ is None or not scaler.with_mean else scaler.mean_) / scale
    if name == "MinMaxScaler" and not scaler.clip:
        return scaler.scale_, scaler.min_
    return (1.0 / scaler.scale_, 0.0) if name == "MaxAbsScaler" else None
