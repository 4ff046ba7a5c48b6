"""From votes to probabilities by calibrators that are fitted on held-out votes.

Votes come as a matrix of shape (n, K), or for two classes as (n,), positive for the second class. A calibrator learns
from votes for rows that the classifier had not learnt from (`held_out_scores`); those for its own rows are too sure.
"""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression, minimize_scalar
from scipy.special import expit, logsumexp

from structens.boosting.posteriors import pair, softmax_posteriors
from structens.core import DataError, ParameterError

Scores = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]


class Calibrator(Protocol):
    """What maps votes to probabilities after it has seen votes and truth."""

    def fit(self, scores: Scores, codes: Codes, weight: NDArray[np.float64] | None = None) -> Self:
        """Learn from the votes for rows, their classes 0..K-1, and weights."""
        ...

    def probabilities(self, scores: Scores) -> NDArray[np.float64]:
        """Probabilities, shape (n, K)."""
        ...

    def state(self) -> dict[str, NDArray[np.float64]]:
        """What was learnt, as arrays."""
        ...

    def restore(self, state: dict[str, NDArray[np.float64]]) -> Self:
        """Take what `state` gave."""
        ...


class Temperature:
    """One temperature for `softmax_posteriors`: that of the greatest likelihood.

    The order of the classes stays, so that predictions do. Guo, Pleiss, Sun and Weinberger, "On calibration of modern
    neural networks" (ICML 2017); here on twice the votes.

    Attributes
    ----------
    temperature_ : float

    Examples
    --------
    >>> f = np.array([2.0, 2.0, 2.0, -2.0])  # sure, but right in three of four
    >>> Temperature().fit(f, np.array([1, 1, 0, 0])).probabilities(f)[:, 1].round(3).tolist()
    [0.75, 0.75, 0.75, 0.25]
    """

    def __init__(self) -> None:
        self.temperature_ = 1.0

    def fit(self, scores: Scores, codes: Codes, weight: NDArray[np.float64] | None = None) -> Self:
        """Learn; raises DataError if the arrays do not fit each other."""
        weight = _checked(scores, codes, weight)
        columns = np.stack([np.zeros_like(scores), scores], axis=1) if scores.ndim == 1 else scores
        columns = 2.0 * (columns - columns.max(axis=1, keepdims=True))
        scale = -columns.mean()
        if scale == 0.0:  # no vote differs from another
            return self
        gold = columns[np.arange(len(columns)), codes]

        def risk(log_inverse: float) -> float:
            inverse = np.exp(log_inverse) / scale
            return float(np.dot(weight, logsumexp(columns * inverse, axis=1) - gold * inverse))

        with np.errstate(under="ignore"):
            best = minimize_scalar(risk, bounds=(-12.0, 12.0), method="bounded", options={"xatol": 1e-6})
        self.temperature_ = float(scale / np.exp(best.x))
        return self

    def probabilities(self, scores: Scores) -> NDArray[np.float64]:
        """Probabilities, shape (n, K)."""
        return softmax_posteriors(scores, self.temperature_)

    def state(self) -> dict[str, NDArray[np.float64]]:
        """The temperature."""
        return {"temperature": np.array([self.temperature_])}

    def restore(self, state: dict[str, NDArray[np.float64]]) -> Self:
        """Take what `state` gave."""
        self.temperature_ = float(state["temperature"][0])
        return self


class Sigmoid:
    """Platt's sigmoid 1 / (1 + exp(a f + b)) for each class against the others, then scaled to sum 1.

    Platt, "Probabilistic outputs for support vector machines" (1999), with his smoothed targets, fitted by the Newton
    steps of Lin, Lin and Weng, "A note on Platt's probabilistic outputs" (Machine Learning 68, 2007). For two classes
    there is one sigmoid, of the second.

    Attributes
    ----------
    slope_, intercept_ : ndarray of float64, shape (K,), or (1,) for two classes

    Examples
    --------
    >>> f = np.repeat([1.0, -1.0], 50)
    >>> codes = np.array(([1] * 40 + [0] * 10) * 2)
    >>> Sigmoid().fit(f, codes).probabilities(f)[[0, 50], 1].round(2).tolist()  # the votes say nothing
    [0.8, 0.8]
    """

    def __init__(self) -> None:
        self.slope_ = self.intercept_ = np.zeros(0)

    def fit(self, scores: Scores, codes: Codes, weight: NDArray[np.float64] | None = None) -> Self:
        """Learn; raises DataError if the arrays do not fit each other."""
        weight = _checked(scores, codes, weight)
        fitted = [_sigmoid(f, codes == k, weight) for k, f in _against_rest(scores)]
        self.slope_, self.intercept_ = np.array(fitted).T.copy()
        return self

    def probabilities(self, scores: Scores) -> NDArray[np.float64]:
        """Probabilities, shape (n, K)."""
        if scores.ndim == 1:
            return pair(expit(-(self.slope_[0] * scores + self.intercept_[0])))
        return _normalised(expit(-(self.slope_ * scores + self.intercept_)), scores)

    def state(self) -> dict[str, NDArray[np.float64]]:
        """Slopes and intercepts."""
        return {"slope": self.slope_, "intercept": self.intercept_}

    def restore(self, state: dict[str, NDArray[np.float64]]) -> Self:
        """Take what `state` gave."""
        self.slope_, self.intercept_ = state["slope"], state["intercept"]
        return self


class Isotonic:
    """Rising steps for each class against the others, joined by lines, then scaled to sum 1.

    Zadrozny and Elkan, "Transforming classifier scores into accurate multiclass probability estimates" (KDD 2002), with
    Platt's targets, so that no class is ruled out by a few rows. A billionth of `softmax_posteriors` is mixed in: equal
    probabilities are told apart by the votes.

    Attributes
    ----------
    knots_, values_ : ndarray of float64
        Of all classes, one after the other.
    offsets_ : ndarray of int64

    Examples
    --------
    >>> f = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    >>> Isotonic().fit(f, np.array([0, 1, 0, 1, 1])).probabilities(f)[:, 1].round(6).tolist()
    [0.25, 0.525, 0.525, 0.8, 0.8]
    """

    def __init__(self) -> None:
        self.knots_, self.values_, self.offsets_ = np.zeros(0), np.zeros(0), np.zeros(1, dtype=np.int64)

    def fit(self, scores: Scores, codes: Codes, weight: NDArray[np.float64] | None = None) -> Self:
        """Learn; raises DataError if the arrays do not fit each other."""
        weight = _checked(scores, codes, weight)
        fitted = [_steps(f, codes == k, weight) for k, f in _against_rest(scores)]
        self.knots_ = np.concatenate([knots for knots, _ in fitted])
        self.values_ = np.concatenate([values for _, values in fitted])
        self.offsets_ = np.cumsum([0] + [len(knots) for knots, _ in fitted], dtype=np.int64)
        return self

    def probabilities(self, scores: Scores) -> NDArray[np.float64]:
        """Probabilities, shape (n, K)."""
        columns = scores[:, None] if scores.ndim == 1 else scores
        out = np.empty(columns.shape)
        for k in range(columns.shape[1]):
            place = slice(*self.offsets_[k : k + 2])
            out[:, k] = np.interp(columns[:, k], self.knots_[place], self.values_[place])
        p = pair(out[:, 0]) if scores.ndim == 1 else _normalised(out, scores)
        return p + 1e-9 * (softmax_posteriors(scores) - p)

    def state(self) -> dict[str, NDArray[np.float64]]:
        """Knots, values and where each class begins."""
        return {"knots": self.knots_, "values": self.values_, "offsets": self.offsets_.astype(np.float64)}

    def restore(self, state: dict[str, NDArray[np.float64]]) -> Self:
        """Take what `state` gave."""
        self.knots_, self.values_, self.offsets_ = state["knots"], state["values"], state["offsets"].astype(np.int64)
        return self


CALIBRATORS: dict[str, type[Temperature] | type[Sigmoid] | type[Isotonic]] = {
    "temperature": Temperature,
    "sigmoid": Sigmoid,
    "isotonic": Isotonic,
}


def calibrator(name: str) -> Calibrator:
    """A new calibrator of a name.

    Raises
    ------
    ParameterError
        If there is none of that name.

    Examples
    --------
    >>> type(calibrator("sigmoid")).__name__
    'Sigmoid'
    """
    if name not in CALIBRATORS:
        raise ParameterError(f"calibrate must be one of {', '.join(CALIBRATORS)}, or None; got {name!r}")
    return CALIBRATORS[name]()


def _checked(scores: Scores, codes: Codes, weight: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Weights with mean 1."""
    n, n_classes = len(scores), 2 if scores.ndim == 1 else scores.shape[1]
    if codes.shape != (n,) or n == 0 or codes.min() < 0 or codes.max() >= n_classes:
        raise DataError(f"there must be one class from 0 to {n_classes - 1} for each of {n} > 0 rows of votes")
    if weight is None:
        return np.ones(n)
    if weight.shape != (n,) or not (np.isfinite(weight).all() and (weight >= 0).all() and weight.any()):
        raise DataError(f"weights must be {n} finite numbers >= 0, not all zero")
    return np.asarray(weight * (np.count_nonzero(weight) / weight.sum()), dtype=np.float64)


def _against_rest(scores: Scores) -> list[tuple[int, Scores]]:
    return [(1, scores)] if scores.ndim == 1 else list(enumerate(scores.T))


def _normalised(p: NDArray[np.float64], scores: Scores) -> NDArray[np.float64]:
    sums = p.sum(axis=1, keepdims=True)
    out: NDArray[np.float64] = np.where(sums > 0, p / np.where(sums > 0, sums, 1.0), softmax_posteriors(scores))
    return out


def _targets(positive: NDArray[np.bool_], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Platt's targets: as if one row more of either class had been seen at each, so that nothing is certain."""
    n_positive, n_negative = weight[positive].sum(), weight[~positive].sum()
    out: NDArray[np.float64] = np.where(positive, (n_positive + 1.0) / (n_positive + 2.0), 1.0 / (n_negative + 2.0))
    return out


def _sigmoid(f: Scores, positive: NDArray[np.bool_], weight: NDArray[np.float64]) -> tuple[float, float]:
    """Slope a and intercept b of the sigmoid 1 / (1 + exp(a f + b)) by Newton's method with halved steps."""
    target = _targets(positive, weight)
    scale = float(np.abs(f).max()) or 1.0  # so that one step is as good for large votes as for small
    g = f / scale
    a, b = 0.0, float(np.log((weight[~positive].sum() + 1.0) / (weight[positive].sum() + 1.0)))

    def risk(a: float, b: float) -> float:
        z = a * g + b  # cross-entropy of 1 / (1 + exp(z)), written so that exp never overflows
        return float(np.dot(weight, np.logaddexp(0.0, z) - (1.0 - target) * z))

    here = risk(a, b)
    for _ in range(100):
        p = expit(-(a * g + b))
        slope, curve = weight * (target - p), weight * np.maximum(p * (1.0 - p), 1e-12)
        gradient = np.array([np.dot(slope, g), slope.sum()])
        hessian = np.array([[np.dot(curve, g * g), np.dot(curve, g)], [np.dot(curve, g), curve.sum()]])
        step = np.linalg.solve(hessian + 1e-10 * np.eye(2), gradient)
        if np.abs(gradient).max() < 1e-8 * len(g):
            break
        size = 1.0
        while size > 1e-10 and risk(a - size * step[0], b - size * step[1]) > here - 1e-4 * size * float(
            gradient @ step
        ):
            size /= 2.0
        if size <= 1e-10:
            break
        a, b = a - size * float(step[0]), b - size * float(step[1])
        here = risk(a, b)
    return a / scale, b


def _steps(
    f: Scores, positive: NDArray[np.bool_], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Knots and values of the rising function nearest to the truth; equal votes share one value."""
    used = weight > 0
    knots, place = np.unique(f[used], return_inverse=True)
    total = np.bincount(place, weight[used])
    share = np.bincount(place, (weight * _targets(positive, weight))[used]) / total
    values = np.asarray(isotonic_regression(share, weights=total).x)
    inner = np.zeros(len(knots), dtype=bool)
    inner[1:-1] = (values[1:-1] == values[:-2]) & (values[1:-1] == values[2:])
    return knots[~inner], np.clip(values[~inner], 0.0, 1.0)
