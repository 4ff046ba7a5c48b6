"""Any binary classifier as the cut of a base classifier: Kegl's alternating scheme (2014, section 3.2).

Given votes v, row i is labelled by the sign of its sum of w_il v_l y_il over labels and weighs the size of that sum;
the classifier learns these; given the cut, v is best by sign. This goes on while the edge rises.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.mh_step import step_of
from structens.boosting.settings import RoundSettings
from structens.boosting.trees import HammingTreeArrays
from structens.core import Estimator, ParameterError

TIE = 1e-12


class AnyCut(Estimator):
    """A vote vector times the answer of any binary classifier of scikit-learn, such as a linear one.

    Each round fits the classifier some times, on rows labelled -1 and +1 and weighted. A model with such cuts can be
    pickled; the model file, which runs no code when opened, does not hold it. Feature importances are zero.

    Parameters
    ----------
    estimator : object
        With ``fit(X, y, sample_weight=...)`` and ``predict(X)``; cloned, never changed. It sees missing values and
        sparse features as they are.
    max_alternations : int
        Most fits from each start.
    n_starts : int
        Vote vectors to start from: the heaviest class against all others, then random ones.
    random_state : int
        Seed of the starts; they are drawn anew each round.

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
        """Raise ParameterError if a parameter is out of its range."""
        if not (hasattr(self.estimator, "fit") and hasattr(self.estimator, "predict")):
            raise ParameterError(f"estimator must be a classifier with fit and predict; got {self.estimator!r}")
        for name in ("max_alternations", "n_starts"):
            if not isinstance(getattr(self, name), (int, np.integer)) or getattr(self, name) < 1:
                raise ParameterError(f"{name} must be a whole number >= 1; got {getattr(self, name)!r}")


@dataclass(frozen=True, eq=False)
class EstimatorCut(HammingTreeArrays):
    """A base classifier whose only cut is a fitted classifier: ``vote[1]`` where it answers +1, ``vote[0]`` elsewhere.

    No feature of its own: the arrays of cuts are empty, and there are two leaves.
    """

    estimator: Any = None

    def leaf(self, X: Any) -> NDArray[np.int32]:
        """0 or 1 for each row."""
        return (np.asarray(self.estimator.predict(_rows_first(X))) > 0).astype(np.int32)


class EstimatorCuts:
    """Such base classifiers from `begin` to `end` - 1 of a forest, as prediction wants them: codes are X itself."""

    used: tuple[int, ...] = ()

    def __init__(self, trees: list[Any], begin: int, end: int) -> None:
        self.trees, self.begin, self.end = trees[begin:end], begin, end

    def codes(self, X: Any) -> Any:
        """X."""
        return X

    def add(self, X: Any, begin: int, end: int, n_threads: int) -> NDArray[np.float64]:
        """Sum of the votes of some, numbered as in the forest, shape (n, K)."""
        out = np.zeros((X.shape[0], self.trees[0].vote.shape[1]))
        for tree in self.trees[begin - self.begin : end - self.begin]:
            out += tree.coefficient * tree.vote.astype(np.float64)[tree.leaf(X)]
        return out

    def add_coded(self, code: Any, n: int, begin: int, end: int, n_threads: int) -> NDArray[np.float64]:
        """The same."""
        return self.add(code, begin, end, n_threads)

    def leaves(self, X: Any) -> NDArray[np.int32]:
        """Leaf of each row in each, shape (n, end - begin)."""
        return np.stack([tree.leaf(X) for tree in self.trees], axis=1)


class AnyCutRounds:
    """State of boosting: rows and weights.

    Parameters
    ----------
    base : AnyCut
    X : ndarray or sparse matrix, shape (n, d)
    weight : ndarray of float64, shape (n, K)
        Signed weights w * y, of total size 1; changed in place.
    settings : RoundSettings
    """

    def __init__(self, base: AnyCut, X: Any, weight: NDArray[np.float64], settings: RoundSettings) -> None:
        self.base, self.X, self.weight, self.settings = base, _rows_first(X), weight, settings
        self.least_edge = settings.least_edge

    def weights(self) -> NDArray[np.float64]:
        """Signed weights, shape (n, K)."""
        return self.weight

    def close(self) -> None:
        """Nothing to let go."""

    def play(self, features: NDArray[np.int64] | None = None) -> HammingTreeArrays:
        """The best base classifier of all starts and alternations.

        Raises
        ------
        ParameterError
            If only some features may be used: the classifier sees all.
        """
        if features is not None:
            raise ParameterError("max_features does not go with AnyCut; choose features within its estimator")
        _, fitted, positive = self._search()
        vote = votes_of_cut(self.weight, positive)
        leaf = positive.astype(np.int64)
        signed, sizes = (
            np.stack([w[~positive].sum(axis=0), w[positive].sum(axis=0)]) for w in (self.weight, abs(self.weight))
        )
        step = step_of(self.settings, np.stack([-vote, vote]), signed, sizes)
        if step.edge > self.least_edge:
            self.weight *= np.where(self.weight > 0, step.for_positive[leaf], step.for_negative[leaf])
        none = np.zeros(0)
        numbers: Any = {name: none.astype(np.int32) for name in ("feature", "left", "right")}
        numbers |= {"threshold": none, "test": none.astype(np.int8), "gain": none}
        numbers |= {name: getattr(step, name) for name in ("vote", "coefficient", "edge", "normalizer")}
        return EstimatorCut(estimator=fitted, **numbers)

    def _search(self) -> tuple[float, Any, NDArray[np.bool_]]:
        # drawn by the weights, so that each round draws anew, and a warm start draws the same
        rng = np.random.default_rng([self.base.random_state, int.from_bytes(self.weight[:1].tobytes()[:4], "little")])
        best: tuple[float, Any, NDArray[np.bool_]] = (-1.0, None, np.zeros(len(self.weight), np.bool_))
        for start in self._starts(rng):
            vote, reached = start, -1.0
            for _ in range(self.base.max_alternations):
                found = self._fit(self.weight @ vote)
                if found is None or found[0] <= reached + TIE:
                    break
                reached = found[0]
                best = found if found[0] > best[0] + TIE else best
                vote = votes_of_cut(self.weight, found[2])
        return best

    def _starts(self, rng: np.random.Generator) -> list[NDArray[np.float64]]:
        """Vote vectors: the heaviest class against all others, then random ones."""
        n_classes = self.weight.shape[1]
        first = -np.ones(n_classes)
        first[int(np.argmax(np.abs(self.weight).sum(axis=0)))] = 1.0
        return [first, *(rng.choice([-1.0, 1.0], n_classes) for _ in range(self.base.n_starts - 1))]

    def _fit(self, pseudo: NDArray[np.float64]) -> tuple[float, Any, NDArray[np.bool_]] | None:
        """The classifier for labels and weights of that sign and size: edge with the best votes, its answer."""
        label, size = np.where(pseudo > 0, 1, -1), np.abs(pseudo)
        used = size > TIE * size.max(initial=0.0)
        if len(np.unique(label[used])) < 2:
            return None
        fitted = _clone(self.base.estimator)
        fitted.fit(self.X[used], label[used], sample_weight=size[used] * (used.sum() / size[used].sum()))
        positive = np.asarray(fitted.predict(self.X)) > 0
        edges = 2.0 * self.weight[positive].sum(axis=0) - self.weight.sum(axis=0)
        return float(np.abs(edges).sum()), fitted, positive


def votes_of_cut(weight: NDArray[np.float64], positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The best votes for the + side, -1 where it makes no difference, shape (K,)."""
    return np.where(2.0 * weight[positive].sum(axis=0) - weight.sum(axis=0) > TIE, 1.0, -1.0)


def _rows_first(X: Any) -> Any:
    return X.tocsr() if hasattr(X, "tocsr") else X


def _clone(estimator: Any) -> Any:
    """A classifier with the same parameters that has learnt nothing."""
    if hasattr(estimator, "__sklearn_clone__") or hasattr(estimator, "get_params"):
        from sklearn.base import clone

        return clone(estimator)
    return copy.deepcopy(estimator)
