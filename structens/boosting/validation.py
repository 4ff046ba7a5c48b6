"""What a classifier checks before it learns or predicts: features, labels, weights of rows and of classes.

scikit-learn's rules and, where its checks ask for them, its words, without importing it (1.1 s of CPU at every start).
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.core import DataError, ParameterError


class SparseInputError(DataError, TypeError):
    """A sparse matrix is given to what works on dense features only; also a TypeError, as scikit-learn has it."""


class NotNumbersError(DataError, TypeError):
    """Objects are given where numbers are wanted; also a TypeError, as scikit-learn has it."""


class DataConversionWarning(UserWarning):
    """Labels come as a column and are read as a row; scikit-learn's warning of that name where it is in use."""


def is_sparse(X: Any) -> bool:
    """Whether X is a scipy sparse matrix or array.

    Examples
    --------
    >>> is_sparse([[0.0]])
    False
    """
    return hasattr(X, "tocsc") and hasattr(X, "nnz")


def features_of(
    X: Any, owner: str, *, allow_nan: bool = False, dtypes: tuple[Any, ...] = (np.float64,)
) -> NDArray[Any]:
    """Dense features as numbers, shape (n, d), n and d at least 1.

    Parameters
    ----------
    X : array_like, shape (n, d)
        An array, lists of numbers, or a data frame.
    owner : str
        Name of the estimator, for messages.
    allow_nan : bool
        Whether NaN (a missing value) passes. Infinities never do.
    dtypes : tuple of dtype
        Arrays of these types stay as they are; all else becomes the first.

    Raises
    ------
    DataError
        If X is sparse (also a TypeError), complex, of other than two dimensions, empty, or not finite; the first such
        value is named by row and column.

    Examples
    --------
    >>> features_of([[1, 2]], "AdaBoost")
    array([[1., 2.]])
    >>> features_of([[0.0], [float("nan")]], "AdaBoost")
    Traceback (most recent call last):
    structens.core.errors.DataError: AdaBoost: X must be finite; row 1, column 0 is NaN; replace or drop such rows
    """
    if is_sparse(X):
        raise SparseInputError(f"{owner}: sparse input is not supported", hint="pass X.toarray() if it fits in memory")
    X = _plain_array(X)
    if np.iscomplexobj(X):
        raise DataError(f"{owner}: Complex data not supported; X is {X.dtype}")
    if X.ndim != 2:
        raise DataError(
            f"{owner}: Expected 2D array, got {X.ndim}D array instead",
            hint="Reshape your data: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one row",
        )
    if X.dtype.kind in "SUMm":
        raise DataError(f"{owner}: X must hold numbers; it holds {X.dtype}", hint="encode such columns first")
    if X.dtype not in dtypes:
        X = numbers_of(X, f"{owner}: X", dtypes[0])
    check_size(X.shape, owner)
    _check_finite(X, owner, allow_nan)
    out: NDArray[Any] = X
    return out


def check_size(shape: tuple[int, ...], owner: str) -> None:
    """Refuse a table without rows or columns.

    Raises
    ------
    DataError
    """
    for count, what in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise DataError(f"{owner}: 0 {what}(s) (shape={shape}) while a minimum of 1 is required.")


def feature_names_of(X: Any) -> NDArray[np.object_] | None:
    """Names of a data frame's columns where all are strings, else None.

    Raises
    ------
    TypeError
        If some are strings and some are not.
    """
    columns = getattr(X, "columns", None)
    if columns is None or isinstance(X, np.ndarray):
        return None
    names = np.asarray(list(columns), dtype=object)
    text = [isinstance(name, str) for name in names]
    if not all(text) and any(text):
        raise TypeError(
            "Feature names are only supported if all input features have string names; some of these are not: "
            f"{sorted({type(name).__name__ for name in names})}"
        )
    return names if len(names) and all(text) else None


def labels_of(y: Any, n: int, owner: str) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Single labels as codes.

    Parameters
    ----------
    y : array_like, shape (n,)
        Strings, integers, truth values, objects, or floats that are whole numbers.
    n : int
        Number of rows of X.
    owner : str
        Name of the estimator, for messages.

    Returns
    -------
    classes : ndarray, shape (K,)
        The labels, sorted.
    codes : ndarray of int32, shape (n,)
        ``classes[codes]`` is y.

    Raises
    ------
    DataError
        If y is missing, of other shape, holds NaN or None, fractions (a regression target) or labels without an order.

    Examples
    --------
    >>> labels_of(["b", "a", "b"], 3, "AdaBoost")
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1], dtype=int32))
    """
    if y is None:
        raise DataError(f"{owner} requires y to be passed, but the target y is None")
    y = _plain_array(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), "
            "for example using ravel().",
            getattr(sys.modules.get("sklearn.exceptions"), "DataConversionWarning", DataConversionWarning),
            stacklevel=4,
        )
        y = y[:, 0]
    if y.ndim != 1:
        raise DataError(f"{owner}: y should be a 1d array of labels, got an array of shape {y.shape}")
    if len(y) != n:
        raise DataError(f"{owner}: X has {n} rows, y has {len(y)} labels; there must be one a row")
    if y.dtype.kind == "f":
        if not np.isfinite(y).all():
            i = int(np.argmin(np.isfinite(y)))
            raise DataError(f"{owner}: labels must be known; y[{i}] is {'NaN' if np.isnan(y[i]) else 'infinity'}")
        if (y != np.floor(y)).any():
            raise DataError(
                f"{owner}: Unknown label type: continuous; y holds fractions, as for regression",
                hint="give classes, such as y > 0",
            )
    return _codes(y, owner)


def row_weights_of(sample_weight: ArrayLike | None, n: int, owner: str) -> NDArray[np.float64]:
    """Weights of rows as given, ones where there are none.

    Raises
    ------
    DataError
        If they are not n finite numbers >= 0, one of them positive.

    Examples
    --------
    >>> row_weights_of(None, 2, "AdaBoost")
    array([1., 1.])
    """
    if sample_weight is None:
        return np.ones(n)
    weight = np.atleast_1d(numbers_of(sample_weight, f"{owner}: sample_weight")).copy()
    if weight.ndim != 1:
        raise DataError(f"{owner}: Sample weights must be 1D array or scalar, got an array of shape {weight.shape}")
    if weight.shape == (1,) and np.ndim(sample_weight) == 0:
        weight = np.full(n, weight[0])
    if weight.shape != (n,):
        raise DataError(f"{owner}: sample_weight.shape == {weight.shape}, expected {(n,)}!")
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        i = int(np.argmax(bad))
        raise DataError(f"{owner}: a sample weight must be finite and >= 0; sample_weight[{i}] is {weight[i]}")
    if not weight.any():
        raise DataError(f"{owner}: Sample weights must contain at least one non-zero number.")
    return weight


def class_weights_of(
    class_weight: Any, classes: NDArray[Any], codes: NDArray[np.int32], weight: NDArray[np.float64], owner: str
) -> NDArray[np.float64]:
    """What the rows of each class are multiplied by, shape (K,).

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        By label, 1 where a label is not named. "balanced" gives all classes the same total of row weights.
    classes : ndarray, shape (K,)
    codes : ndarray of int32, shape (n,)
    weight : ndarray of float64, shape (n,)
        Weights of rows; "balanced" heeds them, so that a weight of 2 is a row given twice.
    owner : str
        Name of the estimator, for messages.

    Raises
    ------
    ParameterError
        If it is neither, or a weight is not finite and >= 0.

    Examples
    --------
    >>> class_weights_of("balanced", np.array(["a", "b"]), np.array([0, 0, 0, 1]), np.ones(4), "AdaBoost")
    array([0.66666667, 2.        ])
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ParameterError(f"{owner}: class_weight must be a dict, 'balanced' or None; got {class_weight!r}")
        total = np.bincount(codes, weight, minlength=len(classes))
        used = total > 0
        return np.where(used, weight.sum() / (np.count_nonzero(used) * np.where(used, total, 1.0)), 0.0)
    if not hasattr(class_weight, "get"):
        raise ParameterError(f"{owner}: class_weight must be a dict, 'balanced' or None; got {class_weight!r}")
    labels = classes.tolist()
    strange = [label for label in class_weight if label not in labels]
    if strange and any(label not in class_weight for label in labels):  # all classes named, some not in a fold: no slip
        raise ParameterError(f"{owner}: class_weight names {strange[0]!r}, which is no class; classes are {labels[:9]}")
    out = numbers_of([class_weight.get(label, 1.0) for label in labels], f"{owner}: class_weight")
    if not (np.isfinite(out) & (out >= 0)).all():
        k = int(np.argmin(np.isfinite(out) & (out >= 0)))
        raise ParameterError(f"{owner}: a class weight must be finite and >= 0; that of {classes[k]} is {out[k]}")
    return out


def numbers_of(values: Any, what: str, dtype: Any = np.float64) -> NDArray[Any]:
    """An array of numbers; `what` they are is for the message.

    Raises
    ------
    DataError
        If something is no number.

    Examples
    --------
    >>> numbers_of([1, "a"], "AdaBoost: X")
    Traceback (most recent call last):
    structens.core.errors.DataError: AdaBoost: X must hold numbers (could not convert string to float: 'a'); encode ...
    """
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        said = str(error).replace("np.str_", "").replace("('", "'").replace("')", "'")
        said = "rows have different lengths" if "inhomogeneous" in said else said
        kind = NotNumbersError if isinstance(error, TypeError) else DataError
        raise kind(f"{what} must hold numbers ({said})", hint="encode words and labels first") from None


def _plain_array(values: Any) -> NDArray[Any]:
    """An array of what is array-like; missing values of data frames become NaN."""
    if hasattr(values, "to_numpy"):
        try:
            return np.asarray(values.to_numpy(na_value=np.nan))
        except TypeError:
            return np.asarray(values.to_numpy())
    try:
        return np.asarray(values)
    except ValueError:
        raise DataError("rows must have the same length, as those of a table") from None


def _check_finite(X: NDArray[Any], owner: str, allow_nan: bool) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum()):  # quick way: no temporary of the size of X
            return
    bad = np.isinf(X) if allow_nan else ~np.isfinite(X)
    if bad.any():
        i, j = np.argwhere(bad)[0].tolist()
        value = "NaN" if np.isnan(X[i, j]) else "infinity (inf)"
        rule = "must be finite or NaN" if allow_nan else "must be finite"
        raise DataError(f"{owner}: X {rule}; row {i}, column {j} is {value}", hint="replace or drop such rows")


def _codes(y: NDArray[Any], owner: str) -> tuple[NDArray[Any], NDArray[np.int32]]:
    if y.dtype.kind == "O":
        for i, label in enumerate(y.tolist()):
            if label is None or (isinstance(label, float) and np.isnan(label)):
                raise DataError(f"{owner}: labels must be known; y[{i}] is {label}")
        kinds = {isinstance(label, str) for label in y.tolist()}
        if len(kinds) > 1:
            raise DataError(f"{owner}: Unknown label type: y mixes strings with other labels", hint="use one kind")
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError as error:
        raise DataError(f"{owner}: Unknown label type: labels must have an order ({error})") from None
    return classes, codes.reshape(-1).astype(np.int32)
