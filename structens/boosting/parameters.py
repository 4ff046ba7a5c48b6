"""Ranges of the parameters of `AdaBoost` and `AdaBoostMH`."""

from __future__ import annotations

from typing import Any

import numpy as np

from structens.boosting.bandit import BANDITS
from structens.boosting.calibration import calibrator
from structens.boosting.hamming_tree import HammingTree
from structens.boosting.ranges import check_whole, within
from structens.core import ParameterError
from structens.losses.label_weights import SCHEMES

STOPPING = (None, "smoothed", "online")
FORMS = ("SS99", "FS97")

_TINY, _ALMOST, _MOST = float(np.nextafter(0.0, 1.0)), float(np.nextafter(1.0, 0.0)), float(np.finfo(np.float64).max)
_CHOICES = {
    "votes": ("discrete", "abstain", "real"),
    "engine": ("auto", "exact", "histogram"),
    "label_weights": (None, *SCHEMES),
    "feature_choice": ("uniform", *BANDITS),
}


def check_adaboost(model: Any) -> None:
    """Refuse an `AdaBoost` with a parameter out of range.

    Raises
    ------
    ParameterError
        Naming the parameter, its rule and its value.
    """
    _check_both(model)
    _check_choice("form", model.form, FORMS)
    _check_range("min_weight_fraction_leaf", model.min_weight_fraction_leaf, 0.0, 0.5, "from 0 to 0.5")


def check_adaboost_mh(model: Any) -> Any:
    """The base learner of an `AdaBoostMH`, once all parameters are in range.

    Raises
    ------
    ParameterError
        As above.
    """
    base = HammingTree() if model.base is None else model.base
    if not hasattr(base, "check") or isinstance(base, type):
        raise ParameterError(f"base must be a base learner, such as HammingTree(); got {base!r}")
    base.check()
    _check_both(model)
    for name, allowed in _CHOICES.items():
        _check_choice(name, getattr(model, name), allowed)
    _check_range("edge_offset", model.edge_offset, 0.0, _ALMOST, "from 0 to under 1")
    if model.edge_offset > 0 and model.votes == "real":
        raise ParameterError(
            f"edge_offset does not go with real votes, which have no coefficient; got {model.edge_offset}"
        )
    _check_range("smoothing", model.smoothing, _TINY, _MOST, "a finite number > 0")
    _check_range("trim", model.trim, 0.0, _ALMOST, "from 0 to under 1")
    if model.max_memory is not None:
        _check_range("max_memory", model.max_memory, 0.0, np.inf, "None or a number >= 0")
    share = model.min_weight_fraction_leaf
    if not within(share, 0, 0.5) or (share > 0 and model.engine == "histogram"):
        raise ParameterError(f"min_weight_fraction_leaf must be from 0 to 0.5, and 0 for histograms; got {share!r}")
    if model.max_bins is not None and not (_whole(model.max_bins) and 2 <= model.max_bins <= 255):
        raise ParameterError(f"max_bins must be a whole number from 2 to 255; got {model.max_bins!r}")
    _check_features(model.max_features, model.feature_choice)
    if not _whole(model.n_jobs) or model.n_jobs == 0:
        raise ParameterError(f"n_jobs must be a number of threads, or -1 for one a core; got {model.n_jobs!r}")
    return base


def _check_both(model: Any) -> None:
    """What both have."""
    for name, least in (("n_rounds", 1), ("min_rounds", 0), ("n_folds", 2)):
        check_whole(name, getattr(model, name), least)
    if model.random_state is not None and not isinstance(
        model.random_state, (np.random.Generator, np.random.RandomState)
    ):
        check_whole("random_state", model.random_state, 0, "None, a generator of numpy, or a whole number")
    _check_range("learning_rate", model.learning_rate, _TINY, _MOST, "a finite number > 0")
    _check_range("validation_fraction", model.validation_fraction, _TINY, _ALMOST, "over 0 and under 1")
    _check_choice("early_stopping", model.early_stopping, STOPPING)
    if model.time_limit is not None:
        _check_range("time_limit", model.time_limit, 0.0, np.inf, "None or a number of seconds >= 0")
    if model.callback is not None and not callable(model.callback):
        raise ParameterError(f"callback must be a function or None; got {model.callback!r}")
    _check_choice("keep_weights", model.keep_weights, (True, False, "auto"))
    if not callable(model.progress):
        _check_choice("progress", model.progress, (None, True, False))
    if model.calibrate is not None:
        calibrator(model.calibrate)


def _check_features(features: Any, choice: str) -> None:
    if features is not None and not (_whole(features) and features >= 1) and not within(features, _TINY, 1.0):
        raise ParameterError(f"max_features must be a number of features, or a share up to 1.0; got {features!r}")
    if features is None and choice != "uniform":
        raise ParameterError(f"feature_choice {choice!r} needs max_features: how many an arm has")


def _check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    if not any(value is item or (type(value) is type(item) and value == item) for item in allowed):
        shown = ", ".join(map(str, allowed))
        raise ParameterError(f"{name} must be one of {shown}; got {value!r}")


def _check_range(name: str, value: Any, low: float, high: float, rule: str) -> None:
    if not within(value, low, high):
        raise ParameterError(f"{name} must be {rule}; got {value!r}")


def _whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
