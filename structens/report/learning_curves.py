"""Learning curves of a boosted classifier as numbers: errors after each round, edge, coefficient, bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import NotFittedError, ParameterError


@dataclass(frozen=True, eq=False)
class LearningCurves:
    """One number a round for each of T rounds.

    Parameters
    ----------
    error : dict of name to ndarray of float64, shape (T,)
        Share of rows named wrongly after each round, by the name of the set of rows.
    edge, coefficient, z : ndarray of float64, shape (T,)
        Of each round's base classifier.
    """

    error: dict[str, NDArray[np.float64]]
    edge: NDArray[np.float64]
    coefficient: NDArray[np.float64]
    z: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.edge)

    @property
    def bound(self) -> NDArray[np.float64]:
        """Product of Z so far: the exponential risk of the votes, which is at least their weighted error."""
        with np.errstate(divide="ignore"):
            out: NDArray[np.float64] = np.exp(np.cumsum(np.log(self.z)))
        return out

    def table(self, rounds: int = 20) -> str:
        """Some rounds as text: all where there are few, else ever fewer as they go on."""
        n = len(self)
        kept = (
            np.unique(np.geomspace(1, max(n, 1), min(rounds, n)).round().astype(int)) if n else np.zeros(0, dtype=int)
        )
        columns = {**{f"error {name}": error for name, error in self.error.items()}, "edge": self.edge}
        columns |= {"coefficient": self.coefficient, "Z": self.z, "bound": self.bound}
        rows = [["round", *columns]]
        rows += [[str(t), *(f"{column[t - 1]:.4f}" for column in columns.values())] for t in kept.tolist()]
        width = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
        return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(row, width, strict=True)) for row in rows)

    def __str__(self) -> str:
        return self.table()


def learning_curves(model: Any, sets: Mapping[str, tuple[Any, Any]]) -> LearningCurves:
    """Errors of a fitted `AdaBoost` or `AdaBoostMH` on sets of rows, and what it noted of each round.

    Parameters
    ----------
    model : AdaBoost or AdaBoostMH
        Fitted.
    sets : mapping of name to (X, y)
        Such as ``{"train": (X, y), "test": (X_test, y_test)}``.

    Raises
    ------
    NotFittedError
        Before `fit`.
    ParameterError
        If the model is none of these.

    Examples
    --------
    >>> from structens.boosting import AdaBoost
    >>> X, y = np.arange(1.0, 7.0)[:, None], [1, 1, 0, 0, 1, 1]
    >>> print(learning_curves(AdaBoost(n_rounds=3).fit(X, y), {"train": (X, y)}))
    round  error train    edge  coefficient       Z   bound
        1       0.3333  0.3333       0.3466  0.9428  0.9428
        2       0.3333  0.5000       0.5493  0.8660  0.8165
        3       0.0000  0.6667       0.8047  0.7454  0.6086
    """
    if not hasattr(model, "staged_score"):
        raise ParameterError(f"learning curves are of a model with staged_score; a {type(model).__name__} has none")
    if not hasattr(model, "n_rounds_"):
        raise NotFittedError(f"this {type(model).__name__} has learnt nothing yet; call fit first")
    error = {name: 1.0 - np.fromiter(model.staged_score(X, y), dtype=np.float64) for name, (X, y) in sets.items()}
    if hasattr(model, "trace_"):
        trace = model.trace_
        return LearningCurves(error, trace.edge, trace.alpha, trace.z)
    if not hasattr(model, "forest_"):
        raise ParameterError(f"a {type(model).__name__} keeps no edges; give an AdaBoost or AdaBoostMH")
    edge, coefficient, z = (model.forest_.numbers(name) for name in ("edge", "coefficient", "normalizer"))
    return LearningCurves(error, edge, coefficient, z)
