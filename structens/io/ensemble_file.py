"""A fitted ensemble in a model file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.classifier import Classifier
from structens.boosting.two_views import TwoViewClassifier
from structens.core import ExpertPredictions, ModelError
from structens.core.units import cut
from structens.ensembles import (
    AutoEnsemble,
    BestExpert,
    BoostedPaths,
    Calibrated,
    ConfusionPaths,
    DawidSkene,
    DeepESPBoost,
    Ensemble,
    ESPBoost,
    ForwardSelection,
    LengthGated,
    MajorityVote,
    PathExpertEnsemble,
    ReliabilitySelection,
)
from structens.ensembles.pool import LogPool
from structens.ensembles.recipe import ALL_RULES
from structens.io.classifier_file import CLASSIFIERS, classifier_of, save_classifier
from structens.io.model_file import fitting, read_model, write_model
from structens.io.normalize import Folding
from structens.io.tagger_file import SEVERAL, TAGGERS, save_tagger, save_taggers, tagger_of, taggers_of
from structens.io.two_view_file import TWO_VIEWS, save_two_views, two_views_of

if TYPE_CHECKING:
    from structens.ensembles import PositionTagger

KINDS: dict[str, type[Ensemble]] = {
    kind.__name__: kind
    # a file can name no other class
    for kind in (
        *(AutoEnsemble, BestExpert, ConfusionPaths, DeepESPBoost, ESPBoost, ForwardSelection, LengthGated),
        *(DawidSkene, ReliabilitySelection),
        *(BoostedPaths, Calibrated, LogPool, MajorityVote, PathExpertEnsemble),
    )
}


def save(
    ensemble: Ensemble | Classifier | PositionTagger | Mapping[str, PositionTagger],
    path: str | Path,
    *,
    reading: dict[str, Any] | None = None,
    data: str = "",
) -> None:
    """Write a fitted ensemble, or a classifier, to one `.structens` file.

    Parameters
    ----------
    ensemble : Ensemble, PositionTagger, or AdaBoost, AdaBoostMH, CoBoost or DLCoTrain
        Or several taggers by name: `load` makes a dict of them.
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
    ...     model = load(folder + "/m.structens")
    >>> model.best_
    'a'
    """
    if isinstance(ensemble, TwoViewClassifier):
        save_two_views(ensemble, path, data=data)
        return
    if isinstance(ensemble, Classifier):
        save_classifier(ensemble, path, data=data)
        return
    if isinstance(ensemble, Mapping):
        save_taggers(ensemble, path, reading=reading, data=data)
        return
    if not isinstance(ensemble, Ensemble):
        save_tagger(ensemble, path, reading=reading, data=data)
        return
    arrays: dict[str, NDArray[Any]] = {}
    header = {**_described(ensemble, arrays, ""), "reading": reading or {}, "data": data}
    write_model(path, header, arrays)


def load(path: str | Path) -> Any:
    """Read an ensemble, a tagger, several by name or a classifier. Runs no code from the file.

    Raises
    ------
    ModelError
        If the file is not a model, cut, changed, of a newer format, of an unknown kind, or holds what no `save` writes.
    """
    header, arrays = read_model(path)
    if str(header.get("kind")) in CLASSIFIERS:
        return classifier_of(header, arrays, str(path))
    if str(header.get("kind")) in TWO_VIEWS:
        return two_views_of(header, arrays, str(path))
    if str(header.get("kind")) in TAGGERS:
        return tagger_of(header, arrays, str(path))
    if header.get("kind") == SEVERAL:
        return taggers_of(header, arrays, str(path))
    return _ensemble_of(header, arrays, path)


def load_with_header(path: str | Path) -> tuple[Ensemble, dict[str, Any]]:
    """Read an ensemble and what else the file says: how records were read, the fingerprint of the data.

    Raises
    ------
    ModelError
        As in `load`.
    """
    header, arrays = read_model(path)
    return _ensemble_of(header, arrays, path), header


def _ensemble_of(header: dict[str, Any], arrays: dict[str, NDArray[Any]], path: str | Path) -> Ensemble:
    if str(header.get("kind")) in (*CLASSIFIERS, *TWO_VIEWS):
        raise ModelError(f"{path}: the model is a classifier of features, {header['kind']}, not an ensemble of experts")
    if str(header.get("kind")) in (*TAGGERS, SEVERAL):
        raise ModelError(
            f"{path}: the model is a tagger of sequences, not an ensemble of experts; structens tag uses it"
        )
    if str(header.get("kind")) not in KINDS:
        raise ModelError(f"{path}: a model of kind {header.get('kind')!r} is unknown; it may need a newer structens")
    with fitting(path):
        ensemble = _revived(header, arrays)
        _try_out(ensemble, header["reading"])
    return ensemble


def _try_out(ensemble: Ensemble, reading: dict[str, Any]) -> None:
    """Combine one record, so that a model that cannot is refused before any work, not in the middle of it."""
    if set(reading) - {"unit", "normalize", "casefold", "strip_punct"}:
        raise ValueError(f"records cannot be read by {', '.join(sorted(reading))}")
    Folding(**{name: value for name, value in reading.items() if name != "unit"})
    cut("x", reading.get("unit", "char"))
    for part in (ensemble, *parts(ensemble)):
        _check_learnt(part)
    ensemble.combine(ExpertPredictions.of({name: [["x"]] for name in ensemble.names_}))


def parts(ensemble: Ensemble) -> list[Ensemble]:
    """The learnt ensembles that one is made of.

    Examples
    --------
    >>> from structens.core import ExpertPredictions
    >>> parts(LengthGated(min_len=2).fit(ExpertPredictions.of({"a": ["b"]}, gold=["b"])))
    [PathExpertEnsemble(align='never'), BestExpert(align='never')]
    """
    found: list[Ensemble] = []
    for name, value in sorted(vars(ensemble).items()):
        if name.endswith("_"):
            found += [one for one in (value if isinstance(value, list) else [value]) if _is_ensemble(one)]
    return found


def _is_ensemble(value: Any) -> bool:
    return isinstance(value, Ensemble)


def _check_learnt(ensemble: Ensemble) -> None:
    fitted, p = vars(ensemble), len(ensemble.names_)
    weights, snapshots = fitted.get("weights_", np.ones((0, p))), fitted.get("snapshots_", np.zeros(0))
    if not (np.isfinite(weights).all() and (weights >= 0).all() and np.isfinite(snapshots).all()):
        raise ValueError("weights must be finite and >= 0")
    if len(fitted.get("error_", ensemble.names_)) != p or (len(weights) and weights.shape[1:] != (p,)):
        raise ValueError(f"what was learnt is not of {p} experts")
    if getattr(ensemble, "rule", ALL_RULES[0]) not in ALL_RULES:
        raise ValueError(f"there is no rule {fitted['rule']!r}")


def _described(ensemble: Ensemble, arrays: dict[str, NDArray[Any]], key: str) -> dict[str, Any]:
    """Kind, parameters and what was learnt; arrays go to `arrays`."""
    return {
        "kind": type(ensemble).__name__,
        "parameters": {
            name: _plain(value, name, arrays, f"{key}parameters.{name}")
            for name, value in ensemble.get_params(deep=False).items()
            if name != "text"  # as large as it likes; what was learnt from it is among the n-grams
        },
        "fitted": {
            name: _plain(value, name, arrays, f"{key}fitted.{name}")
            for name, value in sorted(vars(ensemble).items())
            if name.endswith("_")
        },
    }


def _revived(described: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Ensemble:
    kind = KINDS[str(described["kind"])]
    ensemble = kind(**{name: _lively(value, arrays) for name, value in described["parameters"].items()})
    for name, value in described["fitted"].items():
        setattr(ensemble, name, _lively(value, arrays))
    if described["fitted"]:
        ensemble.names_ = tuple(ensemble.names_)
    return ensemble


def _plain(value: Any, name: str, arrays: dict[str, NDArray[Any]], key: str) -> Any:
    """JSON for a value; arrays go to `arrays` and leave their key."""
    if _is_ensemble(value) and type(value).__name__ in KINDS:
        return {"ensemble": _described(value, arrays, f"{key}.")}
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
        if "ensemble" in value:
            return _revived(value["ensemble"], arrays)
        return {k: _lively(v, arrays) for k, v in value["dict"].items()}
    if isinstance(value, list):
        return [_lively(v, arrays) for v in value]
    return value
