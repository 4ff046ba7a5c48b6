"""The rounds of CoBoost: two views that label each other's unlabelled rows, one rule a view and round.

Collins and Singer, "Unsupervised models for named entity classification" (EMNLP 1999), section 4 and Figure 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from structens.boosting.coboost_kernels import (
    STEEPEST,
    best_rule,
    differing,
    reweigh,
    say,
    sum_again,
    vote,
)
from structens.boosting.two_views import View


@dataclass(eq=False)
class Rounds:
    """What was learnt: one entry a rule, in the order in which they were found.

    Parameters
    ----------
    round, view, feature, label : list of int
        The round from 0; view 0 or 1; the label's code.
    alpha, right, wrong, criterion : list of float
        Coefficient; W+, W- and W0 + 2 sqrt(W+ W-) at that time.
    agreement : list of float
        After each round: of the unlabelled rows of which both views speak, the share of which they say the same.
    largest_share : list of float
        Of the labels that the views give to unlabelled rows, the share of the most frequent.
    coverage : list of float
        Share of the unlabelled rows that a view speaks of, mean of both.
    label_shares : ndarray of float64, shape (K,)
        Of the labels that the views give to unlabelled rows at the end.
    """

    round: list[int] = field(default_factory=list)
    view: list[int] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    label: list[int] = field(default_factory=list)
    alpha: list[float] = field(default_factory=list)
    right: list[float] = field(default_factory=list)
    wrong: list[float] = field(default_factory=list)
    criterion: list[float] = field(default_factory=list)
    agreement: list[float] = field(default_factory=list)
    largest_share: list[float] = field(default_factory=list)
    coverage: list[float] = field(default_factory=list)
    label_shares: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))


class _Side:
    """One view while it learns."""

    def __init__(self, view: View, known: NDArray[np.int32], weight: NDArray[np.float64], n_classes: int) -> None:
        n, d = len(view), view.n_features
        self.rows, self.columns = view.rows, view.transposed()
        self.known, self.weight = known, weight.copy()
        self.score = np.zeros((n, n_classes))
        self.said, self.pseudo = known.copy(), np.full(n, -1, dtype=np.int32)
        self.right_wrong = np.zeros((n, 2 * n_classes))
        self.mass, self.origin = np.zeros(n), np.zeros(1)
        self.sums, self.gains = np.zeros((d, 2 * n_classes)), np.zeros((n_classes, d))
        self.stamp = np.zeros(d + 1, dtype=np.int64)
        self.changed = np.empty(n, dtype=np.int32)
        self.voted: list[NDArray[np.int32]] = []

    def postings(self, feature: int) -> NDArray[np.int32]:
        offsets, rows = self.columns
        return rows[offsets[feature] : offsets[feature + 1]]

    def take(self, wanted: NDArray[np.int32]) -> None:
        """Other pseudo-labels."""
        self.weigh(self.changed[: differing(wanted, self.pseudo, self.changed)])

    def speak(self, other: NDArray[np.int32], counts: NDArray[np.int64]) -> None:
        """Say what the votes of this round changed."""
        for rows in self.voted:
            say(rows, self.score, self.known, self.said, other, counts)
        self.voted.clear()

    def hold(self, most: float) -> None:
        """Bring the weight of the unlabelled rows down to at most so many times that of the labelled ones.

        Labelled rows that are right weigh ever less, and unlabelled rows of which the views disagree ever more: after
        some rounds rules are found for these alone.
        """
        free = self.known < 0
        labelled, unlabelled = float(self.mass[~free].sum()), float(self.mass[free].sum())
        if unlabelled > most * labelled:
            self.weight[free] *= most * labelled / unlabelled
            self.weigh(np.arange(len(free), dtype=np.int32))

    def weigh(self, rows: NDArray[np.int32]) -> None:
        """Weights of rows whose scores or pseudo-labels changed, and sums of their features."""
        if not len(rows):
            return
        steepest = self._reweigh(rows)
        if steepest > STEEPEST:  # another origin; all masses are relative to it
            self.origin[0] += steepest
            rows = np.arange(len(self.pseudo), dtype=np.int32)
            self._reweigh(rows)
        sum_again(rows, self.rows, self.columns, self.right_wrong, self.stamp, self.sums, self.gains)

    def _reweigh(self, rows: NDArray[np.int32]) -> float:
        steepest: float = reweigh(rows, self.score, self.pseudo, self.weight, self.origin, self.right_wrong, self.mass)
        return steepest


def learn(
    views: tuple[View, View],
    known: NDArray[np.int32],
    n_rounds: int,
    epsilon: float,
    unlabelled_weight: float = 1.0,
    shares: NDArray[np.float64] | None = None,
    most_unlabelled: float | None = None,
    *,
    n_classes: int,
) -> Rounds:
    """Boost both views in turn.

    Parameters
    ----------
    views : pair of View, n rows each
    known : ndarray of int32, shape (n,)
        Known labels, -1 for none.
    n_rounds : int
        Most rounds; fewer if neither view finds a rule, for then none ever will.
    epsilon : float
        Smooths the coefficient, half the logarithm of (W+ + epsilon) / (W- + epsilon).
    unlabelled_weight : float
        Weight of an unlabelled row at the beginning; that of a labelled one is 1.
    shares : ndarray of float64, shape (K,), optional
        Pseudo-labels of unlabelled rows are in proportion to these; the surest of each class are kept.
    most_unlabelled : float, optional
        Most weight of all unlabelled rows in every round, in units of that of all labelled ones.
    n_classes : int
        K. With two, a round finds one rule a view; with more, one a view and label.

    Returns
    -------
    Rounds
    """
    out = Rounds()
    weight = np.where(known >= 0, 1.0, unlabelled_weight)
    sides = [_Side(view, known, weight, n_classes) for view in views]
    counts = np.zeros(2 + n_classes, dtype=np.int64)
    # with two classes the second comes first: "+ before -" among equals
    choices = [np.array([1, 0])] if n_classes == 2 else [np.array([label]) for label in range(n_classes)]
    for t in range(n_rounds):
        n_before = len(out.alpha)
        for j in (0, 1):
            sides[j].take(_matched(sides[1 - j], shares))
            if most_unlabelled is not None:
                sides[j].hold(most_unlabelled)
            for labels in choices:
                _step(out, (t, j), sides[j], labels, epsilon)
            sides[j].speak(sides[1 - j].said, counts)
        if len(out.alpha) == n_before:
            break
        _diagnose(out, counts, int((known < 0).sum()))
    n_said = int(counts[2:].sum())
    out.label_shares = counts[2:] / n_said if n_said else np.full(n_classes, 1.0 / n_classes)
    return out


def _step(out: Rounds, when: tuple[int, int], side: _Side, labels: NDArray[np.int64], epsilon: float) -> None:
    """Find the best rule for one of the labels, and let it vote."""
    found, shares, whole = np.full(2, -1, dtype=np.int64), np.empty(3), side.mass.sum(keepdims=True)
    if whole[0] > 0:
        best_rule(side.sums, side.gains, whole, labels, found, shares)
    if found[0] < 0:
        return
    right, wrong, criterion = shares.tolist()
    alpha = 0.5 * math.log((right + epsilon) / (wrong + epsilon))
    rows = side.postings(found[0])
    vote(rows, found[1:], np.array([alpha]), side.score)
    side.weigh(rows)
    side.voted.append(rows)
    values = (*when, *found.tolist(), alpha, right, wrong, criterion)
    columns = (out.round, out.view, out.feature, out.label, out.alpha, out.right, out.wrong, out.criterion)
    for column, value in zip(columns, values, strict=True):
        column.append(value)  # type: ignore[attr-defined]


def _matched(side: _Side, shares: NDArray[np.float64] | None) -> NDArray[np.int32]:
    """Pseudo-labels for unlabelled rows in proportion to the classes' shares: the surest of each class.

    The class that is rarest for its share keeps all of its rows. Rows of equal margin stay or go as one.
    """
    if shares is None:
        return side.said
    out = side.said.copy()
    said = np.where(side.known < 0, side.said, -1)
    counts = np.bincount(said[said >= 0], minlength=len(shares))
    whole = float((counts / shares).min())
    for label, (count, share) in enumerate(zip(counts.tolist(), shares.tolist(), strict=True)):
        most = round(share * whole)
        if count <= most:
            continue
        rows = np.flatnonzero(said == label)
        margin = side.score[rows, label] - np.delete(side.score[rows], label, axis=1).max(axis=1)
        least = np.partition(margin, count - most)[count - most] if most else np.inf
        kept = margin >= least
        if kept.sum() > most:
            kept = margin > least
        out[rows[~kept]] = -1
    return out


def _diagnose(out: Rounds, counts: NDArray[np.int64], n_free: int) -> None:
    """Note how far the views agree, and on what."""
    both, same, *labels = counts.tolist()
    n_said = sum(labels)
    out.agreement.append(same / both if both else float("nan"))
    out.largest_share.append(max(labels) / n_said if n_said else float("nan"))
    out.coverage.append(n_said / (2 * n_free) if n_free else 0.0)
