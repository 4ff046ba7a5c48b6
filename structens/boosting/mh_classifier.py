"""What a fitted `AdaBoostMH` says: votes of its forest, probabilities, margins, importances, leaves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.boosting.calibration import Calibrator
from structens.boosting.classifier import Classifier
from structens.boosting.mh_targets import signs_of
from structens.boosting.posteriors import softmax_posteriors
from structens.boosting.prediction import leaves_in, staged_votes_of, votes_of
from structens.boosting.trees import Forest
from structens.boosting.validation import row_weights_of
from structens.core import DataError


class ForestClassifier(Classifier):
    """A classifier whose rounds are trees of a `Forest`; how they were learnt is the business of a subclass.

    Attributes
    ----------
    forest_ : Forest
    multi_label_ : bool
        Whether a row has many labels.
    prior_ : ndarray of float64, shape (K,)
        Votes of a model without rounds.
    calibrator_ : Calibrator or None
    n_jobs : int
    """

    forest_: Forest
    multi_label_: bool
    prior_: NDArray[np.float64]
    calibrator_: Calibrator | None
    n_jobs: int

    # ---- what was learnt

    @property
    def edges_(self) -> NDArray[np.float64]:
        """Edge of each round's base classifier."""
        return self.forest_.numbers("edge")

    @property
    def coefficients_(self) -> NDArray[np.float64]:
        """Coefficient of each round's base classifier, the learning rate in it."""
        return self.forest_.numbers("coefficient")

    @property
    def normalizers_(self) -> NDArray[np.float64]:
        """Z of each round."""
        return self.forest_.numbers("normalizer")

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of the fall of log Z that each feature's cuts have earned, shape (d,); zeros where there is no cut."""
        self._check_fitted()
        total = np.zeros(self.n_features_in_)
        for tree in self.forest_.trees:
            gained = np.maximum(tree.gain, 0.0)
            if gained.sum() > 0:
                fall = -np.log(max(tree.normalizer, 1e-300)) / gained.sum()
                known = tree.feature >= 0  # classifiers as cuts are of no one feature
                total += np.bincount(tree.feature[known], (fall * gained)[known], minlength=len(total))
        out: NDArray[np.float64] = total / total.sum() if total.any() else total
        return out

    def apply(self, X: Any) -> NDArray[np.int32]:
        """The leaf of each row in each round's tree, counted from the left from 0, shape (n, trees)."""
        return leaves_in(self.forest_, self._read_again(X))

    def margins(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Normalised margins, from -1 to 1: positive where the vote is right.

        For single labels half the lead of the true class over the best other, over the most that all rounds can vote,
        shape (n,); for many labels the vote for each label times its sign, shape (n, K).

        Raises
        ------
        DataError
            If y holds a class that was not learnt.
        """
        f = self._votes(self._read_again(X), self.n_rounds_)
        most = (
            sum(tree.coefficient * float(np.abs(tree.vote).max()) for tree in self.forest_.trees) / self.forest_.width
        )
        truth = self._truth(y, len(f))
        if truth.ndim == 2:
            return f * truth / most if most > 0 else np.zeros_like(f)
        if most == 0 or f.shape[1] == 1:
            return np.zeros(len(f))
        own = f[np.arange(len(f)), truth]
        f[np.arange(len(f)), truth] = -np.inf
        out: NDArray[np.float64] = (own - f.max(axis=1)) / (2.0 * most)
        return out

    # ---- what Classifier asks for

    def _votes(self, X: Any, n_rounds: int) -> NDArray[np.float64]:
        n_threads = threads_of(self.n_jobs)
        return votes_of(self.forest_, X, n_rounds, n_threads)

    def _shown(self, f: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.n_rounds_ == 0 and not self.multi_label_:
            f = f + self.prior_
        if f.shape[1] == 2 and not self.multi_label_:
            return (f[:, 1] - f[:, 0]) / 2.0
        return f

    def _scores(self, X: Any, n_rounds: int) -> NDArray[np.float64]:
        return self._shown(self._votes(X, n_rounds))

    def _staged_scores(self, X: Any) -> Iterator[NDArray[np.float64]]:
        for f in staged_votes_of(self.forest_, X):
            yield self._shown(f)

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.multi_label_:
            return np.exp(-np.logaddexp(0.0, -2.0 * scores))
        if len(self.classes_) == 1:
            return np.ones((len(scores), 1))
        return softmax_posteriors(scores) if self.calibrator_ is None else self.calibrator_.probabilities(scores)

    def _decide(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        if self.multi_label_:
            return (scores > 0).astype(np.int64)
        return super()._decide(scores)

    def _accuracy(self, predicted: NDArray[Any], y: Any, sample_weight: ArrayLike | None) -> float:
        if not self.multi_label_:
            return super()._accuracy(predicted, y, sample_weight)
        truth = signs_of(y, len(predicted), type(self).__name__)
        weight = row_weights_of(sample_weight, len(truth), type(self).__name__)
        return float(np.average(((predicted > 0) == (truth > 0)).all(axis=1), weights=weight))

    def _truth(self, y: Any, n: int) -> NDArray[Any]:
        return truth_of(y, n, self.classes_, self.multi_label_)


def truth_of(y: Any, n: int, classes: NDArray[Any], multi_label: bool) -> NDArray[Any]:
    """Codes of n single labels, shape (n,), or signs of many, shape (n, K), for classes that were learnt.

    Raises
    ------
    DataError
        If there are not n, or one is of another class.
    """
    if multi_label:
        return signs_of(y, n, "AdaBoostMH")
    truth = np.asarray(y).reshape(-1)
    if len(truth) != n:
        raise DataError(f"AdaBoostMH: X has {n} rows, y has {len(truth)} labels; there must be one a row")
    known = np.isin(truth, classes)
    if not known.all():
        strange = truth[[np.argmin(known)]].tolist()[0]
        raise DataError(f"AdaBoostMH: class {strange!r} was not learnt", hint=f"classes are {classes[:9].tolist()}")
    return np.searchsorted(classes, truth).astype(np.int32)


def threads_of(n_jobs: int) -> int:
    """Number of threads; negative ones count from the number of cores, -1 for all."""
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)
