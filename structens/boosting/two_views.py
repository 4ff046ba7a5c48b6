"""Two views of the same rows: binary feature sets with posting lists, labels for some rows, and seed rules.

A view is what one source says of each row: a matrix (sparse or dense, an entry that is not zero is a feature that is
present), or for each row the names of its features.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.classifier import Classifier
from structens.boosting.posteriors import softmax_posteriors
from structens.boosting.validation import feature_names_of, features_of, is_sparse, labels_of
from structens.core import DataError, ParameterError

UNLABELLED = -1

Lists = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Offsets and entries."""


@dataclass(frozen=True, eq=False)
class View:
    """A binary matrix by rows.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n + 1,)
    features : ndarray of int32
        Features of row i, rising, at ``offsets[i]:offsets[i + 1]``.
    n_features : int
    names : tuple of str, or None
        Of the features, where they have some.

    Examples
    --------
    >>> view = View.of([["x", "y"], [], ["y", "y"]])
    >>> view.names, view.offsets.tolist(), view.features.tolist()
    (('x', 'y'), [0, 2, 2, 3], [0, 1, 1])
    """

    offsets: NDArray[np.int64]
    features: NDArray[np.int32]
    n_features: int
    names: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def rows(self) -> Lists:
        """Offsets and features of the rows."""
        return self.offsets, self.features

    @classmethod
    def of(cls, view: Any, owner: str = "View", known: View | None = None) -> View:
        """Read a matrix or lists of names; `known` is the view learnt from, whose features are to be found again.

        Raises
        ------
        DataError
            If it is neither, has other columns than those learnt from, or a value is not finite.
        """
        if isinstance(view, View):
            return view
        if is_sparse(view) or getattr(view, "ndim", 1) == 2:
            return _of_matrix(view, owner, known)
        try:
            listed = list(view)
            rows = [row if isinstance(row, str) else list(row) for row in listed]
        except TypeError:
            raise DataError(f"{owner}: a view is a matrix, or for each row the names of its features") from None
        first = next((name for row in rows for name in row), "")
        if not isinstance(first, str):
            return _of_matrix(np.asarray(listed), owner, known)
        for i, row in enumerate(rows):
            if isinstance(row, str):
                raise DataError(f"{owner}: row {i} of a view is the string {row!r}", hint="write a list of names")
            if not all(isinstance(name, str) for name in row):
                raise DataError(f"{owner}: row {i} of a view has features that are no names")
        return _of_names(rows, owner, known)

    def transposed(self) -> Lists:
        """Posting lists: offsets and rows of the features; rows rise."""
        counts = np.bincount(self.features, minlength=self.n_features)
        row = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.offsets))
        offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        return offsets, row[np.argsort(self.features, kind="stable")]

    def add_up(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of the weights of each row's features, shape (n, K), from weights of shape (n_features, K)."""
        from scipy.sparse import csr_array

        matrix = csr_array((np.ones(len(self.features)), self.features, self.offsets), (len(self), self.n_features))
        out: NDArray[np.float64] = matrix @ weights
        return out

    def name(self, feature: int) -> str | int:
        """Name of a feature, or its number where they have none."""
        return int(feature) if self.names is None else self.names[feature]


class TwoViewClassifier(Classifier):
    """What learners from two views share: X is a pair of views, y has gaps, and seed rules may stand for labels.

    Attributes
    ----------
    class_prior_ : ndarray of float64, shape (K,)
        Shares of the classes: what is said of a row for which neither view votes.
    """

    allows_sparse = True

    views_: tuple[View, View]
    class_prior_: NDArray[np.float64]

    def abstains(self, X: Any) -> NDArray[np.bool_]:
        """Rows that no rule speaks of, shape (n,): `predict` falls back on the most frequent class there."""
        return _silent(self.decision_function(X))

    def _read_again(self, X: Any) -> tuple[View, View]:
        self._check_fitted()
        return read_pair(X, type(self).__name__, self.views_)

    def _learn_from(
        self, X: Any, y: Any, seeds: Any
    ) -> tuple[tuple[View, View], NDArray[np.int32], list[tuple[int, int, int]]]:
        """Views, codes of the known labels (-1 for none), and seed rules as (view, feature, code); sets `classes_`."""
        owner = type(self).__name__
        views = read_pair(X, owner)
        found = read_seeds(seeds, views, owner)
        given = [None] * len(views[0]) if y is None else list(_gaps(y, len(views[0]), owner))
        labels = [label for label in given if label is not None] + [label for _, _, label in found]
        if not labels:
            raise DataError(f"{owner}: no row has a label and there are no seed rules; give at least one of the two")
        self.classes_, codes = labels_of(labels, len(labels), owner)
        if len(self.classes_) < 2:
            raise DataError(
                f"{owner}: all known labels are {self.classes_.tolist()[0]!r}; two classes need labels or seed rules",
                hint="-1, None and NaN mean no label; name classes otherwise",
            )
        known = np.full(len(given), UNLABELLED, dtype=np.int32)
        has = np.array([label is not None for label in given], dtype=bool)
        known[has] = codes[: int(has.sum())]
        rules = [(v, f, int(c)) for (v, f, _), c in zip(found, codes[int(has.sum()) :], strict=True)]
        self.views_ = (_header(views[0]), _header(views[1]))
        self.n_features_in_ = views[0].n_features + views[1].n_features
        return views, known, rules

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        # a rule is + alpha for one label and - alpha for others: 2 alpha apart, as 2 f is for two classes
        out = softmax_posteriors(scores, 1.0 if scores.ndim == 1 else 2.0)
        out[_silent(scores)] = self.class_prior_
        return out


def read_pair(X: Any, owner: str, known: tuple[View, View] | None = None) -> tuple[View, View]:
    """Both views.

    Raises
    ------
    DataError
        If X is not a pair, or the views have different numbers of rows, or none.
    """
    if isinstance(X, np.ndarray) or is_sparse(X) or not hasattr(X, "__len__") or len(X) != 2:
        raise DataError(f"{owner}: X must be a pair of views, (view1, view2)")
    first, second = (View.of(X[j], owner, None if known is None else known[j]) for j in (0, 1))
    if len(first) != len(second):
        raise DataError(f"{owner}: view 1 has {len(first)} rows, view 2 has {len(second)}; they must describe the same")
    if known is None and not len(first):
        raise DataError(f"{owner}: there are no rows")
    return first, second


def read_seeds(seeds: Any, views: tuple[View, View], owner: str) -> list[tuple[int, int, Any]]:
    """Seed rules as (view, feature, label), views from 0.

    Parameters
    ----------
    seeds : mapping, or sequence of pairs (feature, label)
        A feature is a name, of either view, or a pair (view, column) with view 1 or 2.

    Raises
    ------
    DataError
        If no view has such a feature.
    """
    if seeds is None:
        return []
    pairs = list(seeds.items() if isinstance(seeds, Mapping) else seeds)
    numbers = [{name: f for f, name in enumerate(view.names or ())} for view in views]
    out: list[tuple[int, int, Any]] = []
    for feature, label in pairs:
        if isinstance(feature, str):
            places = [(j, numbers[j][feature]) for j in (0, 1) if feature in numbers[j]]
        else:
            view, column = feature
            places = [(view - 1, int(column))] if view in (1, 2) and 0 <= column < views[view - 1].n_features else []
        if not places:
            raise DataError(f"{owner}: seed rule {feature!r} -> {label!r}: no view has this feature")
        out.extend((j, f, label) for j, f in places)
    return out


def seed_labels(
    rules: Sequence[tuple[int, int, int]], columns: Sequence[Lists], known: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Labels of rows by known labels first, else by seed rules; -1 where there are none, or rules that disagree."""
    out = np.full(len(known), UNLABELLED, dtype=np.int32)
    disagree = np.zeros(len(known), dtype=bool)
    for view, feature, code in rules:
        offsets, rows = columns[view]
        here = rows[offsets[feature] : offsets[feature + 1]]
        disagree[here] |= (out[here] != UNLABELLED) & (out[here] != code)
        out[here] = code
    out[disagree] = UNLABELLED
    labelled = known != UNLABELLED
    out[labelled] = known[labelled]
    return out


def _header(view: View) -> View:
    """A view without rows: what is needed to read others."""
    return View(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), view.n_features, view.names)


def _silent(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    out: NDArray[np.bool_] = scores == 0 if scores.ndim == 1 else (scores == 0).all(axis=1)
    return out


def _gaps(y: Any, n: int, owner: str) -> Iterator[Any]:
    """Labels, None where there is none."""
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    labels = y.tolist() if isinstance(y, np.ndarray) else list(y)
    if len(labels) != n:
        raise DataError(f"{owner}: X has {n} rows, y has {len(labels)} labels; None and -1 stand for no label")
    for label in labels:
        number = isinstance(label, int | float | np.number) and not isinstance(label, bool)
        yield None if label is None or (number and (label == UNLABELLED or np.isnan(label))) else label


def _of_names(rows: list[Any], owner: str, known: View | None) -> View:
    if known is None:
        names = tuple(sorted(set(chain.from_iterable(rows))))
    elif known.names is None:
        raise DataError(f"{owner}: names of features are given, but a matrix of {known.n_features} columns was learnt")
    else:
        names = known.names
    number = {name: f for f, name in enumerate(names)}
    coded = [sorted({number[name] for name in row if name in number}) for row in rows]
    offsets = np.concatenate(([0], np.cumsum([len(row) for row in coded], dtype=np.int64))).astype(np.int64)
    return View(offsets, np.fromiter(chain.from_iterable(coded), np.int32, int(offsets[-1])), len(names), names)


def _of_matrix(view: Any, owner: str, known: View | None) -> View:
    from scipy.sparse import csr_array

    names = feature_names_of(view)
    if is_sparse(view):
        matrix = csr_array(view.tocsr(), copy=True)
        if matrix.nnz:
            features_of(matrix.data.reshape(-1, 1), owner)
    else:
        matrix = csr_array(features_of(view, owner))
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    if known is not None and matrix.shape[1] != known.n_features:
        raise DataError(f"{owner}: a view has {matrix.shape[1]} features, but {known.n_features} were learnt from")
    own = None if names is None else tuple(names)
    return View(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        int(matrix.shape[1]),
        own if known is None else known.names,
    )


def class_shares(prior: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Shares of the classes, shape (K,), from a mapping by label or numbers in the order of the classes.

    Raises
    ------
    ParameterError
        If there is not one positive number for each class.

    Examples
    --------
    >>> class_shares({"no": 1, "yes": 3}, np.array(["no", "yes"])).tolist()
    [0.25, 0.75]
    """
    try:
        values = [prior[label] for label in classes.tolist()] if isinstance(prior, Mapping) else list(prior)
        shares = np.array(values, dtype=np.float64)
    except (KeyError, TypeError, ValueError):
        shares = np.zeros(0)
    if shares.shape != classes.shape or not (np.isfinite(shares) & (shares > 0)).all():
        raise ParameterError(f"prior must have a positive number for each class {classes.tolist()}; got {prior!r}")
    out: NDArray[np.float64] = shares / shares.sum()
    return out
