"""The rounds of binary AdaBoost: find a cut, weigh it, weigh the rows anew.

Freund and Schapire (JCSS 55, 1997), Figure 2; Schapire and Singer (Machine Learning 37, 1999), Figure 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.adaboost_kernels import best_cut
from structens.boosting.adaboost_trace import Trace

GOES_ON, PERFECT, NOTHING = 0, 1, 2
"""What a round says: go on; its cut makes no error; no cut is better than a coin, and none was kept."""

_CHANCE = 1e-12
"""A cut whose error is within this of 1/2 is no better than a coin."""
_LARGEST_ALPHA = 350.0
"""exp(2 alpha) and its inverse stay finite and above 0."""


@dataclass
class Cut:
    """What a round found."""

    feature: int
    threshold: float
    sign: int
    error: float
    alpha: float
    z: float
    training_error: float


class Rounds:
    """The rounds so far: row weights, votes for the training rows, cuts.

    Parameters
    ----------
    columns : ndarray of float64, shape (d, n)
    truth : ndarray of float64, shape (n,)
        1.0 or -1.0.
    weight : ndarray of float64, shape (n,)
        Positive.
    rate : float
        Multiplies the coefficients.
    tie_is_second : bool
        Whether a vote of 0 is for the second class.
    keep : bool
        Whether to keep the row weights of every round.
    least : float
        Share of the weight that both sides of a cut must have.

    Examples
    --------
    >>> rounds = Rounds(np.array([[1.0, 2.0, 3.0]]), np.array([-1.0, 1.0, 1.0]), np.ones(3), 1.0, False, True)
    >>> rounds.play() == PERFECT, rounds.cuts[0].threshold
    (True, 1.5)
    """

    def __init__(
        self,
        columns: NDArray[np.float64],
        truth: NDArray[np.float64],
        weight: NDArray[np.float64],
        rate: float,
        tie_is_second: bool,
        keep: bool,
        least: float = 0.0,
    ) -> None:
        self.columns, self.truth, self.rate, self.tie_is_second = columns, truth, rate, tie_is_second
        self.start = shares(weight)
        self.weight, self.f = self.start.copy(), np.zeros(len(truth))
        self.order, self.least = presort(columns), np.array([least])
        self.cuts: list[Cut] = []
        self.kept: list[NDArray[np.float64]] | None = [self.weight.copy()] if keep else None

    @property
    def n(self) -> int:
        """Number of rounds kept."""
        return len(self.cuts)

    def play(self) -> int:
        """One round: find the cut, weigh it, weigh the rows anew."""
        found, edge = np.zeros(2, dtype=np.int64), np.zeros(1)
        best_cut(self.order, self.weight * self.truth, self.least, found, edge)
        j, sign = int(found[0]), 1 if edge[0] >= 0 else -1
        threshold = -np.inf if j < 0 else midpoint(self.columns[j], self.order[j], int(found[1]))
        says = np.full(len(self.f), float(sign)) if j < 0 else np.where(self.columns[j] >= threshold, sign, -sign)
        wrong = says != self.truth
        # summed apart, not 1 minus the other: a tiny error keeps all its digits
        bad, good = float(self.weight[wrong].sum()), float(self.weight[~wrong].sum())
        if bad >= good - 2.0 * _CHANCE:
            return NOTHING
        why = GOES_ON
        if bad == 0.0:
            why = PERFECT
            # nothing is left to divide by; alone it decides alone, later it votes as one that errs on half a row
            alpha = 1.0 if self.n == 0 else min(0.5 * np.log(2.0 * len(self.f) - 1.0), _LARGEST_ALPHA)
        else:
            alpha = min(0.5 * self.rate * (np.log(good) - np.log(bad)), _LARGEST_ALPHA)
        right, raised = np.exp(-alpha), np.exp(alpha)
        z = (good * right + bad * raised) / (good + bad)
        self.weight *= np.where(wrong, raised, right)
        self.weight /= self.weight.sum()
        self.f += alpha * says
        training = vote_error(self.f, self.truth, self.start, self.tie_is_second)
        self.cuts.append(Cut(j, float(threshold), sign, bad / (good + bad), float(alpha), float(z), training))
        if self.kept is not None:
            self.kept.append(self.weight.copy())
        return why

    def vote(self) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Feature, threshold and vote of the last cut."""
        cut = self.cuts[-1]
        return np.array([cut.feature]), np.array([cut.threshold]), np.array([cut.alpha * cut.sign])

    def trace(self, **known: Any) -> Trace:
        """All rounds, with what else is known of them."""

        def column(name: str, dtype: Any = np.float64) -> NDArray[Any]:
            return np.array([getattr(cut, name) for cut in self.cuts], dtype=dtype)

        return Trace(
            feature=column("feature", np.int64),
            threshold=column("threshold"),
            sign=column("sign", np.int64),
            error=column("error"),
            alpha=column("alpha"),
            z=column("z"),
            training_error=column("training_error"),
            weights=None if self.kept is None else np.array(self.kept),
            **known,
        )


def shares(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights over their sum, whatever their size.

    Examples
    --------
    >>> shares(np.array([1e308, 1e308])).tolist()
    [0.5, 0.5]
    """
    weight = weight / weight.max()
    out: NDArray[np.float64] = weight / weight.sum()
    return out


def presort(columns: NDArray[np.float64]) -> NDArray[np.int32]:
    """Rows by rising value of each feature; the complement where the next value is larger."""
    order = np.empty(columns.shape, dtype=np.int32)
    for j, column in enumerate(columns):
        rows = np.argsort(column, kind="stable")
        ends = np.zeros(len(rows), dtype=bool)
        ends[:-1] = column[rows[:-1]] < column[rows[1:]]
        order[j] = np.where(ends, ~rows, rows)
    return order


def midpoint(column: NDArray[np.float64], order: NDArray[np.int32], place: int) -> float:
    """Threshold b between two neighbours: lower < b <= upper also where they touch or their distance overflows."""
    rows = [row if row >= 0 else ~row for row in order[place : place + 2].tolist()]
    lower, upper = float(column[rows[0]]), float(column[rows[1]])
    half = upper / 2.0 - lower / 2.0
    middle = lower + (upper - lower) / 2.0 if half < 8e307 else lower / 2.0 + upper / 2.0
    return middle if lower < middle <= upper else upper


def vote_error(
    f: NDArray[np.float64], truth: NDArray[np.float64], weight: NDArray[np.float64], tie_is_second: bool
) -> float:
    """Weight of the rows whose vote is for the wrong class."""
    says = f >= 0 if tie_is_second else f > 0
    return float(weight[says != (truth > 0)].sum())
