"""A fitted `AdaBoost` or `AdaBoostMH` in a model file, and back. Opening one runs no code from it.

Numbers are stored as they are in memory, so predictions are the same bit for bit. A file can name no other classes than
those listed here, and every index is checked before compiled code follows it.
"""

from __future__ import annotations

import dataclasses
import math
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.classifier import Classifier
from structens.boosting.trees import Forest
from structens.core import ModelError
from structens.io.forest_file import check_forest, decoded_forest, encoded_forest
from structens.io.model_file import fitting, read_model, write_model

CLASSIFIERS = {"AdaBoost": "adaboost", "AdaBoostMH": "adaboost_mh"}
"""Modules of `structens.boosting` by the names a file may have."""
PARTS = {
    "Trace": "adaboost_trace",
    "Temperature": "calibration",
    "Sigmoid": "calibration",
    "Isotonic": "calibration",
}


def save_classifier(model: Classifier, path: str | Path, *, data: str = "") -> None:
    """Write a fitted classifier to one `.structens` file.

    Parameters
    ----------
    model : AdaBoost or AdaBoostMH
    path : str or Path
        Written aside and renamed: an interrupted run leaves the old file.
    data : str
        Fingerprint of the data learnt from.

    Raises
    ------
    NotFittedError
        Before `fit`.
    ModelError
        If a parameter or a label cannot be stored, such as an object of a user's class, or a cut that is no linear
        classifier. `callback`, `progress` and the estimator of an `AnyCut`, which only learning needs, are left out.

    Examples
    --------
    >>> import tempfile
    >>> from structens.boosting import AdaBoost
    >>> model = AdaBoost(n_rounds=3).fit([[1.0], [2.0], [3.0]], ["a", "b", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_classifier(model, folder + "/m.structens")
    ...     load_classifier(folder + "/m.structens").predict([[1.4], [1.6]]).tolist()
    ['a', 'b']
    """
    arrays: dict[str, NDArray[Any]] = {}
    write_model(path, {**described(model, arrays), "data": data}, arrays)


def described(model: Classifier, arrays: dict[str, NDArray[Any]], key: str = "") -> dict[str, Any]:
    """The header of a fitted classifier, which `classifier_of` takes; arrays go to `arrays` under names after `key`.

    Raises
    ------
    NotFittedError, ModelError
        As `save_classifier`.
    """
    kind = type(model).__name__
    if kind not in CLASSIFIERS:
        raise ModelError(f"a {kind} cannot be stored in a model file; {' and '.join(CLASSIFIERS)} can")
    model._check_fitted()
    parameters = {
        name: encoded(value, f"{key}parameters.{name}", arrays)
        for name, value in _without_code(model.get_params(False)).items()
    }
    fitted = {
        name: encoded(value, f"{key}fitted.{name}", arrays)
        for name, value in sorted(vars(model).items())
        if name.endswith("_") and not name.startswith("_")
    }
    return {"kind": kind, "parameters": parameters, "fitted": fitted}


def load_classifier(path: str | Path) -> Any:
    """Read a classifier.

    Raises
    ------
    ModelError
        If the file is not a model, cut, changed, of a newer format, of another kind, or holds what no
        `save_classifier` writes.
    """
    header, arrays = read_model(path)
    kind = header.get("kind")
    if str(kind) not in CLASSIFIERS:
        raise ModelError(f"{path}: a model of kind {kind!r} is no classifier; structens.load opens ensembles")
    return classifier_of(header, arrays, str(path))


def classifier_of(header: dict[str, Any], arrays: dict[str, NDArray[Any]], name: str) -> Any:
    """The classifier of a header and arrays; `name` is the file's, for errors.

    Raises
    ------
    ModelError
        If they do not fit this version, or each other.
    """
    with fitting(name):
        kind = _class(header["kind"], CLASSIFIERS)
        model = kind(**{key: decoded(value, arrays) for key, value in header["parameters"].items()})
        for key, value in header["fitted"].items():
            if not key.endswith("_") or key.startswith("_") or isinstance(getattr(kind, key, None), property):
                raise ValueError(f"{key} is nothing that is learnt")
            setattr(model, key, decoded(value, arrays))
        _check(model)
        model.predict(np.zeros((1, model.n_features_in_)) if not hasattr(model, "feature_names_in_") else _named(model))
    return model


def _class(name: str, known: dict[str, str]) -> Any:
    if name not in known:
        raise ValueError(f"there is no {name!r}")
    return getattr(import_module(f"structens.boosting.{known[name]}"), name)


def _base_learner(name: str) -> Any:
    """A base learner by its public name: an estimator of `structens.boosting` that is no classifier."""
    found = getattr(import_module("structens.boosting"), name) if name.isidentifier() else None
    if not isinstance(found, type) or not hasattr(found, "get_params") or issubclass(found, Classifier):
        raise ValueError(f"there is no base learner {name!r}")
    return found


def encoded(value: Any, key: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """JSON for a value; arrays go to `arrays` and leave their key."""
    if isinstance(value, np.ndarray):
        return _encoded_array(value, key, arrays)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        items = [encoded(item, f"{key}.{i}", arrays) for i, item in enumerate(value)]
        return items if isinstance(value, list) else {"tuple": items}
    if isinstance(value, dict):
        pairs = enumerate(value.items())
        return {"dict": [[encoded(k, f"{key}.k{i}", arrays), encoded(v, f"{key}.v{i}", arrays)] for i, (k, v) in pairs]}
    if isinstance(value, Forest):
        return encoded_forest(value, key, arrays)
    name = type(value).__name__
    if type(value).__module__.startswith("structens.boosting"):
        if name in PARTS and dataclasses.is_dataclass(value):
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            return {"part": name, "fields": {k: encoded(v, f"{key}.{k}", arrays) for k, v in fields.items()}}
        if name in PARTS:
            return {"part": name, "state": {k: encoded(v, f"{key}.{k}", arrays) for k, v in value.state().items()}}
        if hasattr(value, "get_params"):
            chosen = _without_code(value.get_params(deep=False))
            return {"base": name, "parameters": {k: encoded(v, f"{key}.{k}", arrays) for k, v in chosen.items()}}
    raise ModelError(f"{key} is a {name}, which a model file cannot hold; keep such a model in Python")


def _without_code(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters without what is code and only learning needs: it must be given anew before learning goes on."""
    return {
        name: None if name == "estimator" or (name in ("callback", "progress") and callable(value)) else value
        for name, value in parameters.items()
    }


def _encoded_array(value: NDArray[Any], key: str, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    if value.dtype.kind != "O":
        arrays[key] = value
        return {"array": key}
    if all(type(item) is str for item in value.flat):
        arrays[key] = np.asarray(value, dtype=str)
        return {"array": key, "objects": True}
    return {"objects": [encoded(item, f"{key}.{i}", arrays) for i, item in enumerate(value.tolist())]}


def decoded(value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """The value that `encoded` wrote; only classes named here are made."""
    if isinstance(value, list):
        return [decoded(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]].astype(object) if value.get("objects") else arrays[value["array"]]
    if "objects" in value:
        items = decoded(value["objects"], arrays)
        out = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):  # one by one: tuples would become rows
            out[i] = item
        return out
    if "float" in value:
        return float(value["float"])
    if "tuple" in value:
        return tuple(decoded(value["tuple"], arrays))
    if "dict" in value:
        return {decoded(k, arrays): decoded(v, arrays) for k, v in value["dict"]}
    if "forest" in value:
        return decoded_forest(value, arrays)
    if "base" in value:
        return _base_learner(value["base"])(**{k: decoded(v, arrays) for k, v in value["parameters"].items()})
    part = _class(value["part"], PARTS)
    if "state" in value:
        return part().restore({k: decoded(v, arrays) for k, v in value["state"].items()})
    return part(**{k: decoded(v, arrays) for k, v in value["fields"].items()})


def _check(model: Any) -> None:
    """Refuse what compiled code would follow out of its arrays, and what no learner leaves behind."""
    d, n = model.n_features_in_, model.n_rounds_
    if not (isinstance(d, int) and isinstance(n, int) and d >= 1 and n >= 0 and len(model.classes_) >= 1):
        raise ValueError("the number of features, rounds or classes is wrong")
    if hasattr(model, "alpha_") and hasattr(model, "sign_"):
        columns = (model.feature_, model.threshold_, model.sign_, model.alpha_)
        types = tuple(column.dtype.str for column in columns)
        if types != ("<i8", "<f8", "<i8", "<f8") or any(column.shape != (n,) for column in columns):
            raise ValueError("there must be one cut a round")
        if not ((model.feature_ >= -1) & (model.feature_ < d)).all() or not np.isfinite(model.alpha_).all():
            raise ValueError("a cut is of no feature, or its coefficient is not finite")
    if hasattr(model, "forest_"):
        if model.forest_.n_trees != n:
            raise ValueError("there must be one tree a round")
        check_forest(model.forest_, d, len(model.classes_))


def _named(model: Any) -> Any:
    """A row of zeros under the model's names of features."""
    return _Frame(np.zeros((1, model.n_features_in_)), list(model.feature_names_in_))


class _Frame:
    """The little of a data frame that a classifier looks at."""

    def __init__(self, values: NDArray[np.float64], columns: list[str]) -> None:
        self.values, self.columns = values, columns

    def to_numpy(self, **_: Any) -> NDArray[np.float64]:
        return self.values
