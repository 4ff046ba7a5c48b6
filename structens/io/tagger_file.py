"""A fitted `PositionTagger`, or several, in a model file, and back. Opening one runs no code from it.

The classifier is stored as `classifier_file` stores one; makers of features as their parameters and arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import ModelError, Ragged
from structens.io.classifier_file import CLASSIFIERS, classifier_of, decoded, described, encoded
from structens.io.model_file import fitting, write_model

TAGGERS = ("PositionTagger",)
"""Kinds that a file may name."""
SEVERAL = "Taggers"
"""The kind of a file of several taggers."""
_OUT_OF_FOLD = tuple(f"out_of_fold.{what}" for what in ("fingerprints", "labels", "offsets", "confidences"))
_NUMBERS = ("bigram_weight_", "temperature_", "held_out_error_")


def save_tagger(tagger: Any, path: str | Path, *, reading: dict[str, Any] | None = None, data: str = "") -> None:
    """Write a fitted tagger to one `.structens` file; `structens.load` opens it.

    Parameters
    ----------
    tagger : PositionTagger
        Its `progress` is left out.
    path : str or Path
        Written aside and renamed: an interrupted run leaves the old file.
    reading : dict, optional
        How its sequences were read, to read others in the same way; JSON values.
    data : str
        Fingerprint of the data learnt from.

    Raises
    ------
    NotFittedError
        Before `fit`.
    ModelError
        If its features or its classifier are of a user's class.

    Examples
    --------
    >>> import tempfile, structens
    >>> tagger = structens.PositionTagger(bigram_weight=0).fit([["a", "b"], ["b"]] * 4, [["A", "B"], ["B"]] * 4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     structens.save(tagger, folder + "/m.structens")
    ...     structens.load(folder + "/m.structens").predict([["b", "a"]])
    [['B', 'A']]
    """
    arrays: dict[str, NDArray[Any]] = {}
    header = _tagger_described(tagger, arrays)
    write_model(path, header | {"reading": reading or {}, "data": data}, arrays)


def save_taggers(
    taggers: Mapping[str, Any], path: str | Path, *, reading: dict[str, Any] | None = None, data: str = ""
) -> None:
    """Write several fitted taggers, by name, to one `.structens` file, of which `structens.load` makes a dict.

    Parameters and errors are those of `save_tagger`.

    Raises
    ------
    ModelError
        If there is no tagger, or what is named is none.
    """
    if not taggers:
        raise ModelError("there is no tagger to write")
    arrays: dict[str, NDArray[Any]] = {}
    headers = []
    for k, (name, tagger) in enumerate(taggers.items()):
        own: dict[str, NDArray[Any]] = {}
        headers.append({"name": str(name), "tagger": _tagger_described(tagger, own)})
        arrays |= {f"{k}.{key}": array for key, array in own.items()}
    write_model(path, {"kind": SEVERAL, "taggers": headers, "reading": reading or {}, "data": data}, arrays)


def taggers_of(header: dict[str, Any], arrays: dict[str, NDArray[Any]], name: str) -> dict[str, Any]:
    """The taggers of a file of several, by name.

    Raises
    ------
    ModelError
        As `tagger_of`.
    """
    with fitting(name):
        out = {}
        for k, entry in enumerate(header["taggers"]):
            own = {key.removeprefix(f"{k}."): a for key, a in arrays.items() if key.startswith(f"{k}.")}
            out[str(entry["name"])] = tagger_of(entry["tagger"], own, name)
        if not out or len(out) != len(header["taggers"]):
            raise ValueError("taggers have no names of their own")
    return out


def _tagger_described(tagger: Any, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """What makes a tagger, but for arrays, which go to `arrays`."""
    if type(tagger).__name__ not in TAGGERS:
        raise ModelError(f"a {type(tagger).__name__} cannot be stored in a model file")
    tagger._check_fitted()
    arrays |= {f"features.{k}": array for k, array in tagger.features_.state().items()}
    arrays |= {"fingerprints": tagger.fingerprints_, "bigrams": tagger.bigrams_.ratio_}
    parameters = tagger.get_params(deep=False) | {"progress": None}
    features, classifier = parameters.pop("features"), parameters.pop("classifier")
    header = {
        "kind": "PositionTagger",
        "parameters": {name: encoded(value, f"parameters.{name}", arrays) for name, value in parameters.items()},
        "features": features if isinstance(features, str) else _maker_described(features),
        "classifier": None if classifier is None else _plan_described(classifier, arrays),
        "classes": tagger.classes_.tolist(),
        "learnt_features": _maker_described(tagger.features_),
        "learnt_classifier": described(tagger.classifier_, arrays, "classifier."),
        "calibrator": encoded(tagger.calibrator_, "calibrator", arrays),
        "numbers": {name: encoded(float(getattr(tagger, name)), name, arrays) for name in _NUMBERS},
    }
    if hasattr(tagger, "out_of_fold_"):
        said = tagger.out_of_fold_
        parts = (said.fingerprints, said.labels.values, said.labels.offsets, said.confidences)
        arrays |= dict(zip(_OUT_OF_FOLD, parts, strict=True))
    return header


def tagger_of(header: dict[str, Any], arrays: dict[str, NDArray[Any]], name: str) -> Any:
    """The tagger of a header and arrays; `name` is the file's, for errors.

    Raises
    ------
    ModelError
        If they do not fit this version, or each other.
    """
    from structens.ensembles.label_bigrams import LabelBigrams
    from structens.ensembles.position_tagger import PositionTagger

    with fitting(name):
        parameters = {key: decoded(value, arrays) for key, value in header["parameters"].items()}
        features = header["features"]
        tagger: Any = PositionTagger(
            features if isinstance(features, str) else _maker(features),
            None if header["classifier"] is None else _plan(header["classifier"], arrays),
            **parameters,
        )
        tagger._check()
        tagger.classes_ = np.array([str(label) for label in header["classes"]], dtype=object)
        state = {key.removeprefix("features."): a for key, a in arrays.items() if key.startswith("features.")}
        tagger.features_ = _maker(header["learnt_features"]).restore(state)
        tagger.classifier_ = classifier_of(header["learnt_classifier"], arrays, name)
        tagger.bigrams_ = LabelBigrams()
        tagger.bigrams_.ratio_ = arrays["bigrams"]
        tagger.calibrator_ = decoded(header["calibrator"], arrays)
        tagger.fingerprints_ = arrays["fingerprints"]
        for key in _NUMBERS:
            setattr(tagger, key, float(decoded(header["numbers"][key], arrays)))
        if _OUT_OF_FOLD[0] in arrays:
            tagger.out_of_fold_ = _out_of_fold(arrays, len(tagger.classes_))
        _check(tagger)
    return tagger


def _out_of_fold(arrays: dict[str, NDArray[Any]], n_classes: int) -> Any:
    """What the tagger said out of fold of the sequences that it learnt from."""
    from structens.ensembles.in_sample import OutOfFold

    fingerprints, labels, offsets, confidences = (arrays[key] for key in _OUT_OF_FOLD)
    if offsets.shape != (len(fingerprints) + 1,) or not len(labels) == len(confidences) == offsets[-1]:
        raise ValueError("answers out of fold do not fit each other")
    if (np.diff(fingerprints) == 0).any() or (fingerprints[1:] < fingerprints[:-1]).any() or fingerprints.dtype != "u8":
        raise ValueError("the fingerprints of answers out of fold do not rise")
    if offsets[0] != 0 or (np.diff(offsets) < 0).any() or not ((labels >= 0) & (labels < n_classes)).all():
        raise ValueError("an answer out of fold is no label")
    if not ((confidences >= 0) & (confidences <= 1)).all():
        raise ValueError("a confidence is not between 0 and 1")
    return OutOfFold(fingerprints, Ragged(labels.astype(np.int32), offsets.astype(np.int64)), confidences)


def _makers() -> dict[str, Any]:
    from structens.ensembles.tagger_learning import MAKERS

    return {maker.__name__: maker for maker in MAKERS.values()}


def _maker_described(maker: Any) -> dict[str, Any]:
    kind = type(maker).__name__
    if _makers().get(kind) is not type(maker):
        raise ModelError(f"features of a {kind} cannot be stored in a model file; {', '.join(_makers())} can")
    return {"kind": kind, "parameters": {k: encoded(v, k, {}) for k, v in maker.get_params(deep=False).items()}}


def _maker(header: dict[str, Any]) -> Any:
    maker = _makers()[header["kind"]]
    return maker(**{key: decoded(value, {}) for key, value in header["parameters"].items()})


def _plan_described(classifier: Any, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """A classifier that was given to learn with, not what it learnt."""
    kind = type(classifier).__name__
    if kind not in CLASSIFIERS:
        raise ModelError(f"a {kind} cannot be stored in a model file; {' and '.join(CLASSIFIERS)} can")
    parameters = classifier.get_params(deep=False) | {"callback": None}
    return {"kind": kind, "parameters": {k: encoded(v, f"classifier.plan.{k}", arrays) for k, v in parameters.items()}}


def _plan(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
    boosting = import_module("structens.boosting")

    if header["kind"] not in CLASSIFIERS:
        raise ValueError(f"there is no classifier {header['kind']!r}")
    return getattr(boosting, header["kind"])(**{k: decoded(v, arrays) for k, v in header["parameters"].items()})


def _check(tagger: Any) -> None:
    """Refuse parts that do not fit each other, and tag one position."""
    n, codes = len(tagger.classes_), np.asarray(tagger.classifier_.classes_)
    if n < 1 or codes.dtype.kind != "i" or not ((codes >= 0) & (codes < n)).all():
        raise ValueError("the classifier's classes are not the labels")
    if tagger.bigrams_.ratio_.shape != (n + 1, n + 1) or not np.isfinite(tagger.bigrams_.ratio_).all():
        raise ValueError("the bigrams are not those of the labels")
    if tagger.fingerprints_.dtype != np.uint64 or tagger.fingerprints_.ndim != 1:
        raise ValueError("the fingerprints are no 64-bit numbers")
    if not (tagger.temperature_ > 0 and 0 <= tagger.bigram_weight_ < np.inf):
        raise ValueError("temperature or weight is out of its range")
    maker = tagger.features_
    sample: Any = ["x"] if hasattr(maker, "vocabulary_") else np.zeros((1, maker.n_columns_))
    for _ in tagger._scored([sample]):  # whatever does not fit fails here, and not in the middle of the work
        pass
