"""A fitted ensemble in a model file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import ModelError
from structens.ensembles import BestExpert, Ensemble, MajorityVote, PathExpertEnsemble
from structens.io.model_file import read_model, write_model

KINDS: dict[str, type[Ensemble]] = {
    kind.__name__: kind
    for kind in (BestExpert, MajorityVote, PathExpertEnsemble)  # a file can name no other class
}


def save(ensemble: Ensemble, path: str | Path, *, reading: dict[str, Any] | None = None, data: str = "") -> None:
    """Write a fitted ensemble to one `.structens` file.

    Parameters
    ----------
    ensemble : Ensemble
    path : str or Path
        Written aside and renamed: an interrupted run leaves the old file.
    reading : dict, optional
        How the records were read (unit, normalisation), to read others in the same way.
    data : str
        Fingerprint of the data learnt from.

    Raises
    ------
    ModelError
        If a parameter cannot be stored, such as a function of the user's.

    Examples
    --------
    >>> import tempfile
    >>> from structens.core import ExpertPredictions
    >>> X = ExpertPredictions.of({"a": ["cat", "dig"], "b": ["cut", "dog"]}, gold=["cat", "dog"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(BestExpert().fit(X), folder + "/m.structens", reading={"unit": "char"})
    ...     model, header = load(folder + "/m.structens")
    >>> model.best_, header["reading"]
    ('a', {'unit': 'char'})
    """
    arrays: dict[str, NDArray[Any]] = {}
    header = {
        "kind": type(ensemble).__name__,
        "parameters": {
            name: _plain(value, name, arrays, f"parameters.{name}")
            for name, value in ensemble.get_params(deep=False).items()
        },
        "fitted": {
            name: _plain(value, name, arrays, f"fitted.{name}")
            for name, value in sorted(vars(ensemble).items())
            if name.endswith("_")
        },
        "reading": reading or {},
        "data": data,
    }
    write_model(path, header, arrays)


def load(path: str | Path) -> tuple[Ensemble, dict[str, Any]]:
    """Read an ensemble; returns it with the file's header. Runs no code from the file.

    Raises
    ------
    ModelError
        If the file is not a model, cut, changed, of a newer format, or of an unknown kind.
    """
    header, arrays = read_model(path)
    kind = KINDS.get(str(header.get("kind")))
    if kind is None:
        raise ModelError(f"{path}: a model of kind {header.get('kind')!r} is unknown; it may need a newer structens")
    try:
        ensemble = kind(**{name: _lively(value, arrays) for name, value in header["parameters"].items()})
        for name, value in header["fitted"].items():
            setattr(ensemble, name, _lively(value, arrays))
    except (KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path}: the model does not fit this version of structens ({error})") from None
    ensemble.names_ = tuple(ensemble.names_)
    return ensemble, header


def _plain(value: Any, name: str, arrays: dict[str, NDArray[Any]], key: str) -> Any:
    """JSON for a value; arrays go to `arrays` and leave their key."""
    if isinstance(value, np.ndarray):
        arrays[key] = value
        return {"array": key}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict) and all(isinstance(k, str) for k in value):
        return {"dict": {k: _plain(v, name, arrays, f"{key}.{k}") for k, v in value.items()}}
    if isinstance(value, (list, tuple)):
        return [_plain(v, name, arrays, f"{key}.{i}") for i, v in enumerate(value)]
    if hasattr(value, "name") and hasattr(type(value), "cost_matrix") and not value.get_params():
        return value.name
    raise ModelError(f"{name} is a {type(value).__name__}, which a model file cannot hold; keep such a model in Python")


def _lively(value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    if isinstance(value, dict):
        if "array" in value:
            return arrays[value["array"]]
        return {k: _lively(v, arrays) for k, v in value["dict"].items()}
    if isinstance(value, list):
        return [_lively(v, arrays) for v in value]
    return value
