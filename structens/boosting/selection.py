"""Selection as in Kegl (ICML 2014), section 4: parameters and rounds by cross-validation with the smoothed curve.

Every setting of the grid is learnt once a fold with the most rounds; the held-out error after each round is smoothed;
its minimum gives the rounds T* of the setting, the least of those minima the setting N*; then all rows are learnt with
(N*, T*).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.boosting.folds import fold_of_rows, unfitted
from structens.boosting.progress import Progress, progress_of
from structens.boosting.stopping import smoothed_curve, smoothed_minimum
from structens.boosting.validation import row_weights_of
from structens.core import DataError, ParameterError


@dataclass(frozen=True, eq=False)
class Selection:
    """What cross-validation found for each of m settings.

    Parameters
    ----------
    settings : tuple of dict
        Parameters of each setting, without the number of rounds.
    n_rounds : ndarray of int64, shape (m,)
        T* of each setting.
    error : ndarray of float64, shape (m,)
        Smoothed held-out error at T*.
    curves : ndarray of float64, shape (m, T)
        Held-out error after each round; a setting that ended early keeps its last error.
    smoothed : ndarray of float64, shape (m, T)
    best : int
        The setting of least error, the first of equals.
    params : dict
        Its parameters, with its number of rounds.
    estimator : estimator or None
        Fitted with them on all rows; None if that was not wanted.
    """

    settings: tuple[dict[str, Any], ...]
    n_rounds: NDArray[np.int64]
    error: NDArray[np.float64]
    curves: NDArray[np.float64]
    smoothed: NDArray[np.float64]
    best: int
    params: dict[str, Any]
    estimator: Any = None

    def table(self) -> str:
        """One line a setting; the best is marked by a star."""
        names = list(self.settings[0])
        head = ["", *names, "rounds", "error", "last error"]
        rows = [
            [
                "*" if k == self.best else "",
                *(str(setting[name]) for name in names),
                str(self.n_rounds[k]),
                f"{self.error[k]:.4f}",
                f"{self.curves[k, -1]:.4f}",
            ]
            for k, setting in enumerate(self.settings)
        ]
        width = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        lines = ("  ".join(cell.rjust(w) for cell, w in zip(row, width, strict=True)) for row in [head, *rows])
        return "\n".join(line.rstrip() for line in lines)

    def __str__(self) -> str:
        return self.table()


def select(
    estimator: Any,
    X: Any,
    y: Any,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    n_folds: int | Iterable[tuple[ArrayLike, ArrayLike]] = 10,
    min_rounds: int = 50,
    kegl_exact: bool = False,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: int | None = 0,
    rounds: str = "n_rounds",
    refit: bool = True,
    progress: Progress = None,
) -> Selection:
    """Choose parameters and the number of rounds by cross-validation; learn all rows with them.

    Parameters
    ----------
    estimator : estimator
        With `staged_predict`; its number of rounds is the most that is tried. `calibrate` waits for the last fit.
    X : array, data frame or sparse matrix, shape (n, d)
    y : array_like, shape (n,)
    grid : mapping of parameter name to values, optional
        All combinations are tried, such as ``{"base__n_inner_nodes": [2, 4, 8, 16]}``; without it, rounds only.
    n_folds : int, or pairs of indices
        Folds with all classes spread over them; or (train, test) rows of each fold, one pair for a single split.
    min_rounds, kegl_exact
        As in `smoothed_minimum`.
    sample_weight : array_like of float, shape (n,), optional
        For learning and for counting errors.
    groups : array_like, shape (n,), optional
        Rows of one group share a fold.
    random_state : int, optional
        Seed of the folds; None keeps the rows' order.
    rounds : str
        Name of the parameter that is the number of rounds.
    refit : bool
        Whether to learn all rows at the end.
    progress : bool or function, optional
        True: a line on standard error, where that is a terminal. A function is called after each fit of a fold with the
        number of fits done and of all fits.

    Raises
    ------
    ParameterError
        If the estimator has no `staged_predict` or stops by itself, or the grid is empty or has the rounds.
    DataError
        If y or the weights do not fit X.

    Examples
    --------
    >>> from structens.boosting import AdaBoost
    >>> X = np.arange(60.0)[:, None]
    >>> y = (X[:, 0] % 20 < 10)
    >>> found = select(AdaBoost(n_rounds=40), X, y, {"learning_rate": [0.1, 1.0]}, n_folds=3, min_rounds=5)
    >>> found.params, round(found.estimator.score(X, y), 2)
    ({'learning_rate': 1.0, 'n_rounds': 12}, 1.0)
    """
    settings = _settings(estimator, grid or {}, rounds)
    y = np.asarray(y)
    if y.ndim == 0 or len(y) == 0 or np.shape(X)[0] != len(y):
        raise DataError(f"X and y must have the same number of rows, at least one; got {np.shape(X)} and {y.shape}")
    weight = row_weights_of(sample_weight, len(y), "select")
    folds = _folds(y, n_folds, random_state, groups)
    most = int(estimator.get_params(deep=False)[rounds])
    wrong, done = np.zeros((len(settings), most)), 0
    report = progress_of(progress, "select", "fits")
    try:
        for k, setting in enumerate(settings):
            for train, test in folds:
                learnt = unfitted(estimator, **setting, **_plain(estimator))
                given = {} if sample_weight is None else {"sample_weight": weight[train]}
                learnt.fit(_rows(X, train), y[train], **given)
                wrong[k] += _staged_wrong(learnt, _rows(X, test), y[test], weight[test], most)
                done += 1
                report(done, len(settings) * len(folds))
    finally:
        report.close()
    curves = wrong / sum(weight[test].sum() for _, test in folds)
    return _chosen(estimator, X, y, sample_weight, settings, curves, rounds, refit, min_rounds, kegl_exact)


def _settings(estimator: Any, grid: Mapping[str, Sequence[Any]], rounds: str) -> list[dict[str, Any]]:
    name = type(estimator).__name__
    if not hasattr(estimator, "staged_predict"):
        raise ParameterError(f"{name} has no staged_predict; its error after each round cannot be known")
    known = estimator.get_params()
    if rounds not in known:
        raise ParameterError(f"{name} has no parameter {rounds!r}; name its number of rounds by rounds=")
    if known.get("early_stopping"):
        raise ParameterError(
            f"{name} stops by early_stopping={known['early_stopping']!r}; here the rounds are chosen: leave it out"
        )
    for key, values in grid.items():
        if key == rounds:
            raise ParameterError(f"{rounds} is chosen from one fit of the most rounds; leave it out of the grid")
        if len(values) == 0:
            raise ParameterError(f"the grid has no values for {key}")
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def _folds(
    y: NDArray[Any], n_folds: int | Iterable[tuple[ArrayLike, ArrayLike]], seed: int | None, groups: ArrayLike | None
) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    if isinstance(n_folds, (int, np.integer)):
        codes = np.unique(y, return_inverse=True)[1].reshape(-1) if y.ndim == 1 else np.zeros(len(y), dtype=np.int64)
        fold = fold_of_rows(codes, int(n_folds), seed, groups)
        return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(int(n_folds))]
    pairs = [(np.asarray(train), np.asarray(test)) for train, test in n_folds]
    if not pairs or any(len(train) == 0 or len(test) == 0 for train, test in pairs):
        raise ParameterError("n_folds must be a number, or pairs of rows to learn from and rows to test, none empty")
    return pairs


def _plain(estimator: Any) -> dict[str, Any]:
    known = estimator.get_params(deep=False)
    return {name: value for name, value in (("calibrate", None), ("keep_weights", False)) if name in known}


def _rows(X: Any, rows: NDArray[Any]) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else (X[rows] if hasattr(X, "shape") else np.asarray(X)[rows])


def _staged_wrong(learnt: Any, X: Any, y: NDArray[Any], weight: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Weight of the rows named wrongly after each round; the last value goes on where there are fewer rounds."""
    out = np.zeros(most)
    t = 0
    for predicted in itertools.islice(learnt.staged_predict(X), most):
        out[t] = _wrong(predicted, y, weight)
        t += 1
    out[t:] = out[t - 1] if t else _wrong(learnt.predict(X), y, weight)
    return out


def _wrong(predicted: Any, y: NDArray[Any], weight: NDArray[np.float64]) -> float:
    differ = np.asarray(predicted) != y
    return float(np.dot(weight, differ if differ.ndim == 1 else differ.mean(axis=1)))  # several labels: Hamming loss


def _chosen(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    sample_weight: ArrayLike | None,
    settings: list[dict[str, Any]],
    curves: NDArray[np.float64],
    rounds: str,
    refit: bool,
    min_rounds: int,
    kegl_exact: bool,
) -> Selection:
    smoothed = np.array([smoothed_curve(curve, kegl_exact=kegl_exact) for curve in curves])
    n_rounds = np.array([smoothed_minimum(c, min_rounds=min_rounds, kegl_exact=kegl_exact) for c in curves])
    error = smoothed[np.arange(len(curves)), n_rounds - 1]
    best = int(np.argmax(error <= error.min() + 1e-12))
    params = {**settings[best], rounds: int(n_rounds[best])}
    model = None
    if refit:
        model = unfitted(estimator, **params)
        model.fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
    return Selection(tuple(settings), n_rounds, error, curves, smoothed, best, params, model)
