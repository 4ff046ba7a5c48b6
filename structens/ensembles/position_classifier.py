"""A classifier of positions: features, the label before among them if wanted, and votes for every label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.adaboost_mh import AdaBoostMH
from structens.boosting.hamming_tree import HammingTree
from structens.core import Ragged

Floats = NDArray[np.float64]


class PositionClassifier:
    """A maker of features and a classifier, as one.

    Parameters
    ----------
    features : object
        A fitted maker of features.
    classifier : object
    previous_labels : {0, 1}
    n_labels : int
        Labels are codes 0 to n_labels - 1, some of which the classifier may never see.
    """

    def __init__(self, features: Any, classifier: Any, previous_labels: int, n_labels: int) -> None:
        self.features, self.classifier = features, classifier
        self.previous_labels, self.n_labels = previous_labels, n_labels

    def rows(self, X: Sequence[Any], labels: Ragged) -> Any:
        """Features to learn from, with the true labels before, if wanted."""
        rows = self.features.transform(X)
        if self.previous_labels:
            before = np.roll(labels.values, 1)
            before[labels.offsets[:-1][labels.lengths > 0]] = self.n_labels
            rows = _with_labels(rows, before, self.n_labels)
        return rows

    def votes(self, X: Sequence[Any]) -> Floats:
        """Votes for each label, shape (positions, n_labels); after each label before, if that is a feature.

        In the second case the shape is (positions, n_labels + 1, n_labels); the last row of a position is that after
        the start.
        """
        rows = self.features.transform(X)
        n = rows.shape[0]
        if not self.previous_labels:
            return self._votes(rows)
        out = np.empty((n, self.n_labels + 1, self.n_labels))
        for a in range(self.n_labels + 1):
            out[:, a] = self._votes(_with_labels(rows, np.full(n, a), self.n_labels))
        return out

    def _votes(self, rows: Any) -> Floats:
        """A label that the classifier has not seen has the row's lowest vote."""
        n = rows.shape[0]
        if n == 0:
            return np.zeros((0, self.n_labels))
        model = self.classifier
        if hasattr(model, "decision_function"):
            f = np.asarray(model.decision_function(rows), dtype=np.float64)
            if f.ndim == 1 and len(model.classes_) == 2:
                f = np.stack([-f, f], axis=1)
            f = f.reshape(n, -1)
        else:
            f = 0.5 * np.log(np.maximum(np.asarray(model.predict_proba(rows), dtype=np.float64), 1e-12))
        out = np.repeat(f.min(axis=1, keepdims=True), self.n_labels, axis=1)
        out[:, np.asarray(model.classes_, dtype=np.int64)] = f
        return out


def default_classifier(rows: Any, random_state: int, n_jobs: int) -> AdaBoostMH:
    """The classifier of a `PositionTagger` that is given none: real votes, and many columns are drawn from.

    Where a tree may cut only some of many sparse columns, drawn anew each round, it is cheaper, and trees together are
    more accurate: English parts of speech, position by position, 8.0 % errors instead of 10.2 % in half the time.

    Parameters
    ----------
    rows : array or sparse matrix
        Features, which decide how many of them are drawn.

    Examples
    --------
    >>> default_classifier(np.zeros((2, 3)), 0, 1)
    AdaBoostMH(base=HammingTree(), n_rounds=200, votes='real', learning_rate=0.3, random_state=0)
    """
    base, n_rounds = HammingTree(20), 200
    share: float | None = None
    if not isinstance(rows, np.ndarray):
        base, n_rounds = HammingTree(60), 600
        share = max(0.04, 300 / max(rows.shape[1], 1))
    return AdaBoostMH(
        base,
        n_rounds,
        votes="real",
        learning_rate=0.3,
        max_features=None if share is None or share >= 1 else share,  # few columns are no burden
        random_state=random_state,
        n_jobs=n_jobs,
    )


def _with_labels(rows: Any, before: NDArray[Any], n_labels: int) -> Any:
    """Rows with one column more for each label before, the last for the start."""
    if isinstance(rows, np.ndarray):
        marks = np.zeros((len(rows), n_labels + 1), dtype=rows.dtype)
        marks[np.arange(len(rows)), before] = 1
        return np.concatenate([rows, marks], axis=1)
    from scipy.sparse import csr_matrix, hstack

    n = rows.shape[0]
    marks = csr_matrix((np.ones(n, rows.dtype), before.astype(np.int32), np.arange(n + 1)), (n, n_labels + 1))
    return hstack([rows, marks], format="csr")
