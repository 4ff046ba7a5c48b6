"""DL-CoTrain: two decision lists that label rows for each other, the simple baseline beside CoBoost.

Collins and Singer, "Unsupervised models for named entity classification" (EMNLP 1999), section 3.1; decision lists as
in Yarowsky (ACL 1995).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from structens.boosting.two_views import TwoViewClassifier, View
from structens.core import DataError, ParameterError

SEED_STRENGTH = 0.9999
_LISTS = ("label", "strength")


class DecisionRule(NamedTuple):
    """A rule of a decision list: where the feature is present, the label.

    Parameters
    ----------
    view : int
        1 or 2.
    feature : str or int
        Its name, or its column where the view has no names.
    label : object
    strength : float
        Smoothed share of the rows with the feature that have the label.
    """

    view: int
    feature: str | int
    label: Any
    strength: float

    def __str__(self) -> str:
        name = f"[{self.feature}]" if isinstance(self.feature, int) else self.feature
        return f"{self.view} {name} -> {self.label} {self.strength:.4f}"


class DLCoTrain(TwoViewClassifier):
    """Two decision lists, one a view, from few labels or seed rules.

    X is a pair of views, as for `CoBoost`. The list of view 1 begins as the seed rules. In turn, each list labels the
    rows, and from these labels a list of the other view is induced: for each label the most frequent rules of high
    precision, a few more each time. At the end both lists together label the rows, and from that all rules are induced,
    whatever their strength; the strongest rule that applies decides.

    Parameters
    ----------
    n_first, n_more, n_last : int
        Most rules for each label at first, how many more each time, and at most.
    min_precision : float
        The share of the rows with the feature that have the label must be more than this, 0 to 1.
    smoothing : float
        Added to each count in the strength, > 0.

    Attributes
    ----------
    classes_ : ndarray, shape (K,)
    rules_ : list of DecisionRule
        The strongest first; equals by view, then by feature.
    n_iterations_ : int
    class_prior_ : ndarray of float64, shape (K,)
        Shares of the classes among the rows that were labelled at the end; used for rows that no rule speaks of.

    References
    ----------
    Collins and Singer, "Unsupervised models for named entity classification" (EMNLP 1999), section 3.1.

    Examples
    --------
    >>> names = [["Mr.", "Hill"], ["Mr.", "Wood"], ["Acme"], ["Hill"], ["Acme"]]
    >>> contexts = [["said"], ["said"], ["shares"], ["said"], ["shares"]]
    >>> model = DLCoTrain().fit((names, contexts), seeds={"Mr.": "person", "Acme": "company"})
    >>> print(model.rules_[0])
    1 Acme -> company 0.9999
    >>> model.predict(([["Brown"], ["Brown"]], [["said"], ["shares"]])).tolist()
    ['person', 'company']
    """

    def __init__(
        self,
        *,
        n_first: int = 5,
        n_more: int = 5,
        n_last: int = 2500,
        min_precision: float = 0.95,
        smoothing: float = 0.1,
    ) -> None:
        self.n_first = n_first
        self.n_more = n_more
        self.n_last = n_last
        self.min_precision = min_precision
        self.smoothing = smoothing

    def fit(self, X: Any, y: Any = None, *, seeds: Any = None) -> Self:
        """Learn.

        Parameters
        ----------
        X : pair of views, n rows each
        y : array_like, shape (n,), optional
            Labels, which stay; None, NaN or the number -1 for rows without.
        seeds : mapping or sequence of pairs, optional
            Seed rules, from feature to label. A feature is a name, of either view, or a pair (view, column) with view 1
            or 2.

        Raises
        ------
        DataError
            If X is no pair of views, y has other than n labels, fewer than two classes are known, or no view has the
            feature of a seed rule.
        ParameterError
            If a parameter is out of its range.
        """
        self._check_parameters()
        views, known, rules = self._learn_from(X, y, seeds)
        seeds_of = [[(feature, code) for view, feature, code in rules if view == j] for j in (0, 1)]
        sides = [_Side(view, seeds_of[j], len(self.classes_), self.smoothing) for j, view in enumerate(views)]
        if not (known >= 0).any() and all((side.seeded() < 0).all() for side in sides):
            raise DataError("DLCoTrain: the seed rules leave no row labelled", hint="give labels or other seed rules")
        labels = self._alternate(sides, known)
        for side in sides:
            side.induce(labels, None, 0.0)
        self._sides, self.n_rounds_ = sides, 1
        shares = np.bincount(labels[labels >= 0], minlength=len(self.classes_)).astype(np.float64)
        self.class_prior_ = shares / shares.sum()
        return self

    @property
    def rules_(self) -> list[DecisionRule]:
        """The rules, the strongest first."""
        self._check_fitted()
        labels = self.classes_.tolist()
        found = [
            DecisionRule(j + 1, self.views_[j].name(int(f)), labels[side.label[f]], float(side.strength[f]))
            for j, side in enumerate(self._sides)
            for f in np.flatnonzero(side.label >= 0)
        ]
        return sorted(found, key=lambda rule: -rule.strength)

    def state(self) -> dict[str, NDArray[Any]]:
        """What was learnt, without names of classes and features, as arrays: for a model file."""
        self._check_fitted()
        lists = {f"{what}.{j}": getattr(side, what) for j, side in enumerate(self._sides) for what in _LISTS}
        return {**lists, "class_prior": self.class_prior_, "n_iterations": np.array([self.n_iterations_])}

    def restore(self, state: dict[str, NDArray[Any]]) -> Self:
        """Take what `state` gave; `classes_` and `views_` are there.

        Raises
        ------
        ValueError
            If the arrays do not fit the classes or the views.
        """
        K = len(self.classes_)
        self._sides = [_Side(view, [], K, self.smoothing) for view in self.views_]
        for j, side in enumerate(self._sides):
            side.label, side.strength = (state[f"{what}.{j}"] for what in _LISTS)
            if not side.label.shape == side.strength.shape == (side.view.n_features,) or side.label.dtype != np.int32:
                raise ValueError("there must be one label and strength a feature")
            if not ((side.label >= -1) & (side.label < K)).all() or not np.isfinite(side.strength).all():
                raise ValueError("a rule is for no class, or its strength is not finite")
        self.class_prior_, self.n_rounds_ = state["class_prior"], 1
        self.n_iterations_ = int(state["n_iterations"][0])
        return self

    def _alternate(self, sides: Sequence[_Side], known: NDArray[np.int32]) -> NDArray[np.int32]:
        """Labels of the rows by both lists, after the last iteration."""
        self.n_iterations_ = 0
        before = [sides[0].seeded(), sides[1].seeded()]
        labels = _filled(known, *before)
        for n in range(self.n_first, self.n_last + 1, self.n_more):
            self.n_iterations_ += 1
            full = False
            after = []
            for side in (sides[1], sides[0]):
                full |= side.induce(labels, n, self.min_precision)
                labels = _filled(known, side.decide()[0])
                after.append(labels)
            settled = all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
            before = after
            if settled and not full:  # more rules are allowed, but there are none
                break
        return _filled(known, _strongest([side.decide() for side in sides])[0])

    def _scores(self, X: tuple[View, View], n_rounds: int) -> NDArray[np.float64]:
        K = len(self.classes_)
        label, strength = _strongest([side.decide(view) for side, view in zip(self._sides, X, strict=True)])
        scores = np.zeros((len(label), K))
        spoken = np.flatnonzero(label >= 0) if n_rounds else np.zeros(0, dtype=np.int64)
        p = np.clip(strength[spoken], 1e-12, 1.0 - 1e-12)
        scores[spoken] = np.log((1.0 - p) / (K - 1))[:, None]
        scores[spoken, label[spoken]] = np.log(p)
        return 0.5 * (scores[:, 1] - scores[:, 0]) if K == 2 else scores

    def _staged_scores(self, X: tuple[View, View]) -> Iterator[NDArray[np.float64]]:
        yield self._scores(X, 1)

    def _check_parameters(self) -> None:
        for name in ("n_first", "n_more", "n_last"):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
                raise ParameterError(f"{name} must be a whole number >= 1; got {value!r}")
        if self.n_last < self.n_first:
            raise ParameterError(f"n_last must be at least n_first; got {self.n_last} and {self.n_first}")
        if not 0 <= self.min_precision < 1:
            raise ParameterError(f"min_precision must be from 0 to under 1; got {self.min_precision!r}")
        if not 0 < self.smoothing < np.inf:
            raise ParameterError(f"smoothing must be positive and finite; got {self.smoothing!r}")


class _Side:
    """The decision list of one view: for each feature a label (-1: no rule) and a strength."""

    def __init__(self, view: View, seeds: Sequence[tuple[int, int]], n_classes: int, smoothing: float) -> None:
        self.view, self.seeds, self.n_classes, self.smoothing = view, seeds, n_classes, smoothing
        self.row = np.repeat(np.arange(len(view)), np.diff(view.offsets))
        self._clear()

    def _clear(self) -> None:
        self.label = np.full(self.view.n_features, -1, dtype=np.int32)
        self.strength = np.zeros(self.view.n_features)

    def _plant(self) -> None:
        for feature, code in self.seeds:
            self.label[feature], self.strength[feature] = code, SEED_STRENGTH

    def seeded(self) -> NDArray[np.int32]:
        """Labels by the seed rules alone."""
        self._clear()
        self._plant()
        return self.decide()[0]

    def induce(self, labels: NDArray[np.int32], most: int | None, min_precision: float) -> bool:
        """Rules from labelled rows and the seeds; whether there were more than `most` of a label."""
        K = self.n_classes
        said = labels[self.row]
        entry = self.view.features[said >= 0].astype(np.int64) * K + said[said >= 0]
        counts = np.bincount(entry, minlength=self.view.n_features * K).reshape(-1, K)
        total, best, label = counts.sum(axis=1), counts.max(axis=1), counts.argmax(axis=1)
        good = best > min_precision * total
        self._clear()
        full = False
        for k in range(K):
            features = np.flatnonzero(good & (label == k))
            if most is not None and len(features) > most:
                full = True
                features = features[np.argsort(-total[features], kind="stable")[:most]]
            self.label[features] = k
            self.strength[features] = (best[features] + self.smoothing) / (total[features] + K * self.smoothing)
        self._plant()
        return full

    def decide(self, view: View | None = None) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Label and strength of each row's strongest rule, the first of equals; -1 and 0 without any."""
        view = self.view if view is None else view
        rules = np.flatnonzero(self.label >= 0)
        order = rules[np.argsort(-self.strength[rules], kind="stable")]
        rank = np.full(len(self.label), len(order))
        rank[order] = np.arange(len(order))
        out = np.full(len(view), len(order))
        some = np.flatnonzero(np.diff(view.offsets))
        if len(some):
            out[some] = np.minimum.reduceat(rank[view.features], view.offsets[some])
        best = np.append(order, -1)[out]
        label, strength = np.append(self.label, np.int32(-1)), np.append(self.strength, 0.0)
        return label[best], strength[best]


def _filled(known: NDArray[np.int32], *lists: NDArray[np.int32]) -> NDArray[np.int32]:
    """Known labels, else those of the first list that has one."""
    out = known.copy()
    for labels in lists:
        out = np.where(out >= 0, out, labels).astype(np.int32)
    return out


def _strongest(
    decided: Sequence[tuple[NDArray[np.int32], NDArray[np.float64]]],
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The stronger of the two views' rules, view 1 among equals."""
    (label, strength), (other, stronger) = decided
    second = stronger > strength
    return np.where(second, other, label).astype(np.int32), np.where(second, stronger, strength)
