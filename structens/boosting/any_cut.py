"""Any binary classifier as the cut of a base classifier: Kegl's alternating scheme (2014, section 3.2).

Given votes v, row i is labelled by the sign of its sum of w_il v_l y_il over labels and weighs the size of that sum;
the classifier learns these; given the cut, v is best by sign. This goes on while the edge rises.
"""

from __future__ import annotations

import copy
import inspect
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.boosting.classifier_cuts import ClassifierCut, LinearCut, cut_of
from structens.boosting.ranges import check_whole
from structens.core import DataError, Estimator, ParameterError

TIE = 1e-12


class AnyCut(Estimator):
    """A vote vector times the answer of any binary classifier of scikit-learn, such as a linear one.

    It is a base learner of its own, or makes the cuts of a tree: ``HammingTree(8, cut=AnyCut(LogisticRegression()))``.
    Each cut fits the classifier some times, on rows labelled -1 and +1 and weighted. Linear classifiers of
    scikit-learn, alone or after a scaler in a pipeline, are kept as plain numbers, which a model file can hold; others
    can be pickled only. Feature importances are zero.

    Parameters
    ----------
    estimator : object
        With ``fit(X, y, sample_weight=...)`` and ``predict(X)``; cloned, never changed. It sees missing values and
        sparse features as they are. Of a pipeline the last step gets the weights. None: it was left out of a model
        file, and must be given before `fit`.
    max_alternations : int
        Most fits from each start.
    n_starts : int
        Vote vectors to start from: the heaviest class against all others, then random ones.
    random_state : int
        Seed of the starts; they are drawn anew for each cut.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from structens.boosting import AdaBoostMH
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.0]], ["a", "b", "a", "b"]
    >>> AdaBoostMH(AnyCut(LogisticRegression(C=1e3)), n_rounds=3).fit(X, y).predict([[5.0, 5.5], [5.5, 5.0]]).tolist()
    ['a', 'b']
    """

    def __init__(
        self, estimator: Any = None, *, max_alternations: int = 10, n_starts: int = 2, random_state: int = 0
    ) -> None:
        self.estimator = estimator
        self.max_alternations = max_alternations
        self.n_starts = n_starts
        self.random_state = random_state

    def check(self) -> None:
        """Raise ParameterError if a parameter is out of its range, or the estimator takes no weights."""
        if isinstance(self.estimator, type) or not all(hasattr(self.estimator, name) for name in ("fit", "predict")):
            raise ParameterError(f"estimator must be a classifier with fit and predict; got {self.estimator!r}")
        learner = self.estimator.steps[-1][1] if hasattr(self.estimator, "steps") else self.estimator
        taken = inspect.signature(learner.fit).parameters
        if "sample_weight" not in taken and not any(p.kind is p.VAR_KEYWORD for p in taken.values()):
            raise ParameterError(
                f"estimator must take weights of rows: {type(learner).__name__}.fit has no sample_weight"
            )
        check_whole("max_alternations", self.max_alternations, 1)
        check_whole("n_starts", self.n_starts, 1)
        check_whole("random_state", self.random_state, 0)


class FoundCut(NamedTuple):
    """A cut of some rows: its edge with the best votes for the + side, and which rows are there."""

    edge: float
    cut: LinearCut | ClassifierCut
    vote: NDArray[np.float64]  # (K,)
    positive: NDArray[np.bool_]


def find_cut(base: AnyCut, X: Any, weight: NDArray[np.float64]) -> FoundCut | None:
    """The best cut of all starts and alternations; None where no two rows want different answers.

    Parameters
    ----------
    base : AnyCut
    X : ndarray or sparse matrix in row order, shape (n, d)
    weight : ndarray of float64, shape (n, K)
        Signed.

    Raises
    ------
    DataError
        If the classifier cannot learn.
    """
    # drawn by the weights, so that each cut draws anew, and a warm start draws the same
    rng = np.random.default_rng([base.random_state, int.from_bytes(weight[:1].tobytes()[:4], "little")])
    tie, best = TIE * float(np.abs(weight).sum()), None
    for start in _starts(base, weight, rng):
        vote, reached = start, -1.0
        for _ in range(base.max_alternations):
            found = _fit(base, X, weight, weight @ vote)
            if found is None or found.edge <= reached + tie:
                break
            reached, vote = found.edge, found.vote
            best = found if best is None or found.edge > best.edge + tie else best
    return best


def votes_by(edges: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    """The best votes for sums of signed weights, -1 where it makes no difference, shape (K,)."""
    return np.where(edges > TIE * weight, 1.0, -1.0)


def _starts(base: AnyCut, weight: NDArray[np.float64], rng: np.random.Generator) -> list[NDArray[np.float64]]:
    """Vote vectors: the heaviest class against all others, then random ones."""
    n_classes = weight.shape[1]
    first = -np.ones(n_classes)
    first[int(np.argmax(np.abs(weight).sum(axis=0)))] = 1.0
    return [first, *(rng.choice([-1.0, 1.0], n_classes) for _ in range(base.n_starts - 1))]


def _fit(base: AnyCut, X: Any, weight: NDArray[np.float64], pseudo: NDArray[np.float64]) -> FoundCut | None:
    """The classifier for labels and weights of that sign and size."""
    label, size = np.where(pseudo > 0, 1, -1), np.abs(pseudo)
    used = size > TIE * size.max(initial=0.0)
    if len(np.unique(label[used])) < 2:
        return None
    fitted = _clone(base.estimator)
    name = f"{fitted.steps[-1][0]}__sample_weight" if hasattr(fitted, "steps") else "sample_weight"
    given = {name: size[used] * (used.sum() / size[used].sum())}
    try:
        fitted.fit(X if used.all() else X[used], label[used], **given)
    except (TypeError, ValueError) as error:
        said = str(error).strip().split("\n")[0]
        raise DataError(f"AnyCut: {type(base.estimator).__name__} could not learn: {said}") from error
    cut = cut_of(fitted, X.shape[1])
    positive = cut.positive(X)
    edges = 2.0 * weight[positive].sum(axis=0) - weight.sum(axis=0)
    return FoundCut(float(np.abs(edges).sum()), cut, votes_by(edges, float(np.abs(weight).sum())), positive)


def _clone(estimator: Any) -> Any:
    """A classifier with the same parameters that has learnt nothing."""
    if hasattr(estimator, "__sklearn_clone__") or hasattr(estimator, "get_params"):
        from sklearn.base import clone

        return clone(estimator)
    return copy.deepcopy(estimator)
