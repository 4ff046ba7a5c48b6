"""Trace: what binary AdaBoost did in each round, as numbers and as the table of a lecture."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Trace:
    """One entry a round for each of T rounds; row weights where they were kept.

    Parameters
    ----------
    feature : ndarray of int64, shape (T,)
        -1 for the constant.
    threshold : ndarray of float64, shape (T,)
        The cut says `sign` where the feature is at least this; minus infinity for the constant.
    sign : ndarray of int64, shape (T,)
        1 or -1.
    error : ndarray of float64, shape (T,)
        Weighted error of the cut, under 1/2.
    alpha : ndarray of float64, shape (T,)
        Coefficient: half the logarithm of (1 - error) / error, times the learning rate.
    z : ndarray of float64, shape (T,)
        Sum of the row weights after they were multiplied, before they are divided by it.
    training_error : ndarray of float64, shape (T,)
        Weighted error of the vote of the first t cuts.
    validation_error : ndarray of float64, shape (T,), or None
    weights : ndarray of float64, shape (T + 1, n), or None
        Of the rows, before round 1, ..., T, and after the last; each row sums to 1.
    form : str
        "SS99" or "FS97": what the table shows.
    feature_names : tuple of str
    stopped : str
        Why there are no more rounds.

    Examples
    --------
    >>> from structens.boosting import AdaBoost
    >>> model = AdaBoost(n_rounds=3).fit(np.arange(1.0, 7.0)[:, None], [1, 1, 0, 0, 1, 1])
    >>> print(model.trace_.table(max_rows=0))
    round  cut                      error   alpha       Z   bound  training error
        1  1 always                0.3333  0.3466  0.9428  0.9428          0.3333
        2  x[0] >= 2.5: 0, else 1  0.2500  0.5493  0.8660  0.8165          0.3333
        3  x[0] >= 4.5: 1, else 0  0.1667  0.8047  0.7454  0.6086          0.0000
    3 rounds, as many as asked for.
    """

    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    sign: NDArray[np.int64]
    error: NDArray[np.float64]
    alpha: NDArray[np.float64]
    z: NDArray[np.float64]
    training_error: NDArray[np.float64]
    validation_error: NDArray[np.float64] | None = None
    weights: NDArray[np.float64] | None = None
    form: str = "SS99"
    feature_names: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    stopped: str = ""

    def __len__(self) -> int:
        return len(self.alpha)

    @property
    def edge(self) -> NDArray[np.float64]:
        """1 - 2 error: how much better than a coin, twice over."""
        return 1.0 - 2.0 * self.error

    @property
    def beta(self) -> NDArray[np.float64]:
        """Freund and Schapire's error / (1 - error), by which the weights of rows named rightly are multiplied."""
        return self.error / (1.0 - self.error)

    @property
    def bound(self) -> NDArray[np.float64]:
        """Product of all Z so far: the training error is at most this."""
        out: NDArray[np.float64] = np.exp(np.cumsum(np.log(self.z)))
        return out

    def head(self, n_rounds: int) -> Trace:
        """The first rounds."""
        kept: dict[str, Any] = {name: getattr(self, name)[:n_rounds] for name in _COLUMNS}
        if self.validation_error is not None:
            kept["validation_error"] = self.validation_error[:n_rounds]
        if self.weights is not None:
            kept["weights"] = self.weights[: n_rounds + 1]
        return replace(self, **kept)

    def cut(self, t: int) -> str:
        """The cut of round t (from 0) in words: which class where."""
        yes, no = (self.classes[1], self.classes[0]) if self.sign[t] > 0 else (self.classes[0], self.classes[1])
        if self.feature[t] < 0:
            return f"{yes} always"
        j = int(self.feature[t])
        name = self.feature_names[j] if self.feature_names else f"x[{j}]"
        return f"{name} >= {self.threshold[t]:.6g}: {yes}, else {no}"

    def table(self, max_rounds: int | None = None, *, digits: int = 4, max_rows: int = 12) -> str:
        """The rounds as text, one a line; the row weights too where they were kept for at most `max_rows` rows.

        Parameters
        ----------
        max_rounds : int, optional
            Only the first so many.
        digits : int
            After the point.
        max_rows : int
            Most rows of data whose weights are shown.
        """
        n = len(self) if max_rounds is None else min(max_rounds, len(self))
        columns: dict[str, list[str]] = {
            "round": [str(t + 1) for t in range(n)],
            "cut": [self.cut(t) for t in range(n)],
        }
        numbers: dict[str, NDArray[np.float64]] = {"error": self.error}
        if self.form == "FS97":
            numbers |= {"beta": self.beta, "log 1/beta": 2.0 * self.alpha}
        else:
            numbers |= {"alpha": self.alpha}
        numbers |= {"Z": self.z, "bound": self.bound, "training error": self.training_error}
        if self.validation_error is not None:
            numbers["validation error"] = self.validation_error
        if self.weights is not None and self.weights.shape[1] <= max_rows:
            numbers |= {f"w{i + 1}": self.weights[:, i] for i in range(self.weights.shape[1])}
        columns |= {name: [f"{value:.{digits}f}" for value in column[:n]] for name, column in numbers.items()}
        lines = _aligned(columns)
        if n < len(self):
            lines.append(f"... and {len(self) - n} more rounds")
        if self.stopped:
            lines.append(self.stopped)
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.table(30)


_COLUMNS = ("feature", "threshold", "sign", "error", "alpha", "z", "training_error")


def _aligned(columns: dict[str, list[str]]) -> list[str]:
    width = {name: max(len(name), *map(len, cells), 0) if cells else len(name) for name, cells in columns.items()}
    rows = [list(columns), *map(list, zip(*columns.values(), strict=True))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width[name]) if name == "cut" else cell.rjust(width[name])
            for name, cell in zip(columns, row, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
