"""A fitted `CoBoost` or `DLCoTrain` in a model file, and back. Opening one runs no code from it.

Names of features are stored as one text and their lengths, which takes as much room as they have letters.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.two_views import TwoViewClassifier, View
from structens.core import ModelError
from structens.io.classifier_file import decoded, encoded
from structens.io.model_file import fitting, write_model

TWO_VIEWS = {"CoBoost": "coboost", "DLCoTrain": "co_training"}
"""Modules of `structens.boosting` by the names a file may have; they are imported when one is opened."""


def save_two_views(model: Any, path: str | Path, *, data: str = "") -> None:
    """Write a fitted learner of two views to one `.structens` file; `structens.load` opens it.

    Parameters
    ----------
    model : CoBoost or DLCoTrain
    path : str or Path
        Written aside and renamed: an interrupted run leaves the old file.
    data : str
        Fingerprint of the data learnt from.

    Raises
    ------
    NotFittedError
        Before `fit`.
    ModelError
        If it is neither of the two, or a label cannot be stored, such as an object of a user's class.

    Examples
    --------
    >>> import tempfile, structens
    >>> from structens.boosting import CoBoost
    >>> views = [["Mr."], ["Inc."], ["Hill"], ["Acme"]], [["said"], ["sold"], ["said"], ["sold"]]
    >>> model = CoBoost(5).fit(views, ["person", "company", None, None])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     structens.save(model, folder + "/m.structens")
    ...     structens.load(folder + "/m.structens").predict(([["Hill"]], [["sold"]])).tolist()
    ['company']
    """
    kind = type(model).__name__
    if kind not in TWO_VIEWS or type(model) is not _class(kind):
        raise ModelError(f"a {kind} cannot be stored in a model file; {' and '.join(TWO_VIEWS)} can")
    arrays: dict[str, NDArray[Any]] = {f"state.{name}": array for name, array in model.state().items()}
    header = {
        "kind": kind,
        "parameters": {key: encoded(v, f"parameters.{key}", arrays) for key, v in model.get_params(False).items()},
        "classes": encoded(model.classes_, "classes", arrays),
        "views": [_described(view, f"view{j}", arrays) for j, view in enumerate(model.views_)],
        "data": data,
    }
    write_model(path, header, arrays)


def two_views_of(header: dict[str, Any], arrays: dict[str, NDArray[Any]], name: str) -> Any:
    """The learner of a header and arrays; `name` is the file's, for errors.

    Raises
    ------
    ModelError
        If they do not fit this version, or each other.
    """
    with fitting(name):
        model = _class(header["kind"])(**{key: decoded(value, arrays) for key, value in header["parameters"].items()})
        model._check_parameters()
        model.classes_ = decoded(header["classes"], arrays)
        first, second = (_revived(view, arrays) for view in header["views"])
        model.views_ = (first, second)
        model.n_features_in_ = first.n_features + second.n_features
        begin = "state."
        model.restore({key.removeprefix(begin): array for key, array in arrays.items() if key.startswith(begin)})
        _check_classes(model)
        model.predict(tuple(_row_of(view) for view in model.views_))
    return model


def _class(kind: str) -> Any:
    return getattr(import_module(f"structens.boosting.{TWO_VIEWS[kind]}"), kind)


def _described(view: View, key: str, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    if view.names is not None:
        names = [name.encode("utf-8", "surrogatepass") for name in view.names]
        arrays[f"{key}.text"] = np.frombuffer(b"".join(names), np.uint8)
        arrays[f"{key}.length"] = np.array([len(name) for name in names], np.int64)
    return {"n_features": view.n_features, "names": None if view.names is None else key}


def _revived(described: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> View:
    n, key, names = int(described["n_features"]), described["names"], None
    if n < 0:
        raise ValueError("a view has features, or none")
    if key is not None:
        text, length = arrays[f"{key}.text"].tobytes(), arrays[f"{key}.length"]
        if len(length) != n or (length < 0).any() or length.sum() != len(text):
            raise ValueError("the names of the features are not as many and as long as is said")
        ends = np.cumsum(length).tolist()
        starts = [0, *ends[:-1]]
        names = tuple(text[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends, strict=True))
    return View(np.zeros(1, np.int64), np.zeros(0, np.int32), n, names)


def _check_classes(model: TwoViewClassifier) -> None:
    prior, classes = model.class_prior_, model.classes_
    if classes.ndim != 1 or len(classes) < 2 or prior.shape != classes.shape:
        raise ValueError("there must be two classes or more, and a share of each")
    if not (np.isfinite(prior).all() and (prior >= 0).all()):
        raise ValueError("a share of a class is no number >= 0")


def _row_of(view: View) -> View:
    """One row without a feature."""
    return View(np.zeros(2, np.int64), np.zeros(0, np.int32), view.n_features, view.names)
