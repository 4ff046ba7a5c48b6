"""Classifier: what `AdaBoost` and `AdaBoostMH` share: scikit-learn's conventions, without importing scikit-learn.

A subclass writes `fit`, which begins with `_read` and ends with ``classes_`` and ``n_rounds_``, and two methods:
`_scores`, the sum of the votes of the first rounds, and `_staged_scores`, that sum after each round.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.boosting.validation import (
    check_size,
    class_weights_of,
    feature_names_of,
    features_of,
    is_sparse,
    labels_of,
    row_weights_of,
)
from structens.core import DataError, Estimator, NotFittedError, ParameterError


class Classifier(Estimator):
    """Base of the boosted classifiers.

    Attributes
    ----------
    multi_class, allows_nan, allows_sparse : bool
        What a subclass can take; its scikit-learn tags and the checks of its input follow.
    dtypes : tuple of dtype
        Types of features that stay as they are; all others become the first.
    """

    multi_class = True
    allows_nan = False
    allows_sparse = False
    dtypes: tuple[Any, ...] = (np.float64,)

    classes_: NDArray[Any]
    n_features_in_: int
    n_rounds_: int

    # ---- what a subclass writes

    def _scores(self, X: Any, n_rounds: int) -> NDArray[np.float64]:
        """Votes of the first `n_rounds` rounds, shape (n, K), or (n,) for two classes (positive: the second)."""
        raise NotImplementedError

    def _staged_scores(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """`_scores` after 1, 2, ... rounds; a yielded array may be overwritten by the next."""
        raise NotImplementedError

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities of the classes, shape (n, K), from scores; the largest decides what is predicted."""
        raise NotImplementedError

    # ---- what it gets

    def decision_function(self, X: Any, n_rounds: int | None = None) -> NDArray[np.float64]:
        """Sum of the votes, shape (n,) for two classes (positive: ``classes_[1]``), else (n, K).

        Parameters
        ----------
        X : array_like, shape (n, d)
        n_rounds : int, optional
            Only the first so many rounds vote; default all.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If X does not have the features learnt from.
        ParameterError
            If there are not so many rounds.
        """
        X = self._read_again(X)
        if n_rounds is None:
            n_rounds = self.n_rounds_
        elif not isinstance(n_rounds, (int, np.integer)) or not 0 <= n_rounds <= self.n_rounds_:
            raise ParameterError(f"n_rounds must be from 0 to the {self.n_rounds_} rounds learnt; got {n_rounds!r}")
        return self._scores(X, n_rounds)

    def predict_proba(self, X: Any, n_rounds: int | None = None) -> NDArray[np.float64]:
        """Probabilities of the classes, shape (n, K); columns in the order of ``classes_``. Raises as above."""
        return self._probabilities(self.decision_function(X, n_rounds))

    def predict_log_proba(self, X: Any, n_rounds: int | None = None) -> NDArray[np.float64]:
        """Natural logarithms of `predict_proba`; minus infinity for a probability of 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, n_rounds))

    def predict(self, X: Any, n_rounds: int | None = None) -> NDArray[Any]:
        """The most probable class of each row, shape (n,); the first of equal ones."""
        return self._decide(self.decision_function(X, n_rounds))

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """`decision_function` after 1, 2, ... rounds."""
        for scores in self._staged_scores(self._read_again(X)):
            yield scores.copy()

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """`predict_proba` after 1, 2, ... rounds."""
        for scores in self._staged_scores(self._read_again(X)):
            yield self._probabilities(scores)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """`predict` after 1, 2, ... rounds."""
        for scores in self._staged_scores(self._read_again(X)):
            yield self._decide(scores)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Share of the rows (of their weight) that `predict` names rightly."""
        return self._accuracy(self.predict(X), y, sample_weight)

    def staged_score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Iterator[float]:
        """`score` after 1, 2, ... rounds."""
        for predicted in self.staged_predict(X):
            yield self._accuracy(predicted, y, sample_weight)

    # ---- input

    def _read(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, class_weight: Any = None
    ) -> tuple[Any, NDArray[Any], NDArray[np.int32], NDArray[np.float64]]:
        """For `fit` on single labels: features, classes, codes and weights of the rows whose weight is positive.

        Sets `n_features_in_` and `feature_names_in_`. Rows of weight 0 are left out here, so that they cannot matter,
        and so are classes that only they have.
        """
        owner = type(self).__name__
        X = self._read_features(X)
        classes, codes = labels_of(y, X.shape[0], owner)
        weight = row_weights_of(sample_weight, X.shape[0], owner)
        X, codes, weight, classes = _present(X, codes, weight, classes)
        if class_weight is not None:
            weight = weight * class_weights_of(class_weight, classes, codes, weight, owner)[codes]
            if not weight.any():
                raise ParameterError(f"{owner}: class_weight leaves no row with a weight that is not zero")
            X, codes, weight, classes = _present(X, codes, weight, classes)
        return X, classes, codes, weight

    def _read_features(self, X: Any) -> Any:
        """Features of `fit`, shape (n, d), sparse ones in column order; what `predict` needs to know is noted."""
        names = feature_names_of(X)
        X = self._features(X)
        self.n_features_in_ = int(X.shape[1])
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return X

    def _read_again(self, X: Any) -> Any:
        """Features to predict for; they must be those learnt from."""
        self._check_fitted()
        self._check_names(feature_names_of(X))
        X = self._features(X)
        if X.shape[1] != self.n_features_in_:
            raise DataError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input"
            )
        return X

    def _features(self, X: Any) -> Any:
        if self.allows_sparse and is_sparse(X):
            X = X.tocsc()
            if not X.has_canonical_format:
                X = X.copy()
                X.sum_duplicates()
            owner = type(self).__name__
            check_size(X.shape, owner)
            if np.iscomplexobj(X.data):
                raise DataError(f"{owner}: Complex data not supported; X is {X.dtype}")
            X = X if X.dtype in self.dtypes else X.astype(self.dtypes[0])
            _check_entries(X, owner, self.allows_nan)
            return X
        return features_of(X, type(self).__name__, allow_nan=self.allows_nan, dtypes=self.dtypes)

    def _check_names(self, names: NDArray[Any] | None) -> None:
        owner, known = type(self).__name__, getattr(self, "feature_names_in_", None)
        if names is None and known is not None:
            said = f"X does not have valid feature names, but {owner} was fitted with feature names"
            warnings.warn(said, stacklevel=4)
        elif names is not None and known is None:
            warnings.warn(f"X has feature names, but {owner} was fitted without feature names", stacklevel=4)
        elif names is not None and known is not None and names.tolist() != known.tolist():
            unseen, missing = sorted(set(names) - set(known)), sorted(set(known) - set(names))
            said = "The feature names should match those that were passed during fit.\n"
            said += _listed("Feature names unseen at fit time:\n", unseen)
            said += _listed("Feature names seen at fit time, yet now missing:\n", missing)
            if not (unseen or missing):
                said += "Feature names must be in the same order as they were in fit.\n"
            raise DataError(said)

    def _check_fitted(self) -> None:
        if not hasattr(self, "n_features_in_") or not hasattr(self, "n_rounds_"):
            raise _not_fitted(f"this {type(self).__name__} has learnt nothing yet; call fit first")

    # ---- output

    def _decide(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        decided: NDArray[Any] = self.classes_[np.argmax(self._probabilities(scores), axis=1)]
        return decided

    def _accuracy(self, predicted: NDArray[Any], y: Any, sample_weight: ArrayLike | None) -> float:
        truth = np.asarray(y).reshape(-1)
        if len(truth) != len(predicted):
            raise DataError(f"{type(self).__name__}: X has {len(predicted)} rows, y has {len(truth)} labels")
        weight = row_weights_of(sample_weight, len(truth), type(self).__name__)
        return float(np.average(predicted == truth, weights=weight))

    # ---- scikit-learn

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(multi_class=self.multi_class),
            input_tags=InputTags(sparse=self.allows_sparse, allow_nan=self.allows_nan),
        )

    def set_fit_request(self, *, sample_weight: bool | str | None = None) -> Self:
        """Whether scikit-learn's metadata routing hands sample weights to `fit`."""
        return self._set_request("fit", sample_weight)

    def set_score_request(self, *, sample_weight: bool | str | None = None) -> Self:
        """Whether scikit-learn's metadata routing hands sample weights to `score`."""
        return self._set_request("score", sample_weight)

    def get_metadata_routing(self) -> Any:
        """The requests, for scikit-learn."""
        from sklearn.utils.metadata_routing import MetadataRequest

        if hasattr(self, "_metadata_request"):
            return self._metadata_request
        request = MetadataRequest(owner=self)
        for method in ("fit", "score"):
            getattr(request, method).add_request(param="sample_weight", alias=None)
        return request

    def _set_request(self, method: str, alias: bool | str | None) -> Self:
        self._metadata_request = self.get_metadata_routing()
        getattr(self._metadata_request, method).add_request(param="sample_weight", alias=alias)
        return self


def _present(
    X: Any, codes: NDArray[np.int32], weight: NDArray[np.float64], classes: NDArray[Any]
) -> tuple[Any, NDArray[np.int32], NDArray[np.float64], NDArray[Any]]:
    """The rows with positive weight, and the classes they have."""
    kept = weight > 0
    if not kept.all():
        X, codes, weight = X[kept], codes[kept], weight[kept]
    present, renumbered = np.unique(codes, return_inverse=True)
    return X, renumbered.reshape(-1).astype(np.int32), weight, classes[present]


def _check_entries(X: Any, owner: str, allow_nan: bool) -> None:
    """Refuse what is not finite among the entries of a sparse matrix in column order, by row and column."""
    bad = np.zeros(0) if X.dtype.kind == "u" else np.isinf(X.data) if allow_nan else ~np.isfinite(X.data)
    if bad.any():
        k = int(np.argmax(bad))
        j, value = int(np.searchsorted(X.indptr, k, side="right")) - 1, X.data[k]
        rule = "must be finite or NaN" if allow_nan else "must be finite"
        raise DataError(
            f"{owner}: X {rule}; row {X.indices[k]}, column {j} is {'NaN' if np.isnan(value) else 'infinity (inf)'}",
            hint="replace or drop such rows",
        )


def _listed(title: str, names: list[str]) -> str:
    shown = [f"- {name}\n" for name in names[:5]] + ["- ...\n"] * (len(names) > 5)
    return title + "".join(shown) if names else ""


def _not_fitted(message: str) -> NotFittedError:
    """The house's error, which is scikit-learn's of that name too where scikit-learn is in use."""
    exceptions = sys.modules.get("sklearn.exceptions")
    if exceptions is None:
        return NotFittedError(message)
    both: Any = type("NotFittedError", (NotFittedError, exceptions.NotFittedError), {"__reduce__": _reduce})
    error: NotFittedError = both(message)
    return error


def _reduce(error: NotFittedError) -> tuple[Any, tuple[str]]:
    return _not_fitted, (str(error),)
