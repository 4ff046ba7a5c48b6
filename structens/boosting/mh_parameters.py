"""Ranges of the parameters of `AdaBoostMH`."""

from __future__ import annotations

from typing import Any

import numpy as np

from structens.boosting.bandit import BANDITS
from structens.boosting.calibration import calibrator
from structens.boosting.hamming_tree import HammingTree
from structens.boosting.label_weights import SCHEMES
from structens.core import ParameterError

_CHOICES = {
    "votes": ("discrete", "real"),
    "engine": ("auto", "exact", "histogram"),
    "label_weights": (None, *SCHEMES),
    "feature_choice": ("uniform", *BANDITS),
    "early_stopping": (None, "smoothed", "online"),
}


def check_parameters(model: Any) -> Any:
    """The base learner, once all parameters are in range.

    Raises
    ------
    ParameterError
        Naming the parameter, its rule and its value.
    """
    base = HammingTree() if model.base is None else model.base
    if not hasattr(base, "check"):
        raise ParameterError(f"base must be a base learner, such as HammingTree(); got {base!r}")
    base.check()
    for name, allowed in _CHOICES.items():
        if getattr(model, name) not in allowed:
            shown = ", ".join(map(str, allowed))
            raise ParameterError(f"{name} must be one of {shown}; got {getattr(model, name)!r}")
    _whole(model, "n_rounds", 1)
    _whole(model, "min_rounds", 0)
    _between(model, "learning_rate", 0.0, np.inf)
    _between(model, "smoothing", 0.0, np.inf)
    _between(model, "validation_fraction", 0.0, 1.0)
    if not 0 <= model.trim < 1:
        raise ParameterError(f"trim must be from 0 to under 1; got {model.trim!r}")
    share = model.min_weight_fraction_leaf
    if not 0 <= share <= 0.5 or (share > 0 and model.engine == "histogram"):
        raise ParameterError(f"min_weight_fraction_leaf must be from 0 to 0.5, and 0 for histograms; got {share!r}")
    if model.max_bins is not None and not 2 <= model.max_bins <= 255:
        raise ParameterError(f"max_bins must be from 2 to 255; got {model.max_bins!r}")
    features = model.max_features
    if features is not None and (features <= 0 or (isinstance(features, float) and features > 1)):
        raise ParameterError(f"max_features must be a number of features, or a share up to 1.0; got {features!r}")
    if features is None and model.feature_choice != "uniform":
        raise ParameterError(f"feature_choice {model.feature_choice!r} needs max_features: how many an arm has")
    if not isinstance(model.n_jobs, (int, np.integer)) or model.n_jobs == 0:
        raise ParameterError(f"n_jobs must be a number of threads, or -1 for one a core; got {model.n_jobs!r}")
    if model.calibrate is not None:
        calibrator(model.calibrate)
    return base


def _whole(model: Any, name: str, least: int) -> None:
    value = getattr(model, name)
    if not isinstance(value, (int, np.integer)) or value < least:
        raise ParameterError(f"{name} must be a whole number >= {least}; got {value!r}")


def _between(model: Any, name: str, low: float, high: float) -> None:
    value = getattr(model, name)
    if not low < value < high:
        raise ParameterError(f"{name} must be over {low:g} and under {high:g}; got {value!r}")
