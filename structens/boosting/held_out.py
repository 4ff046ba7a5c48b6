"""Rows that learning does not see: for early stopping, and for the calibration of votes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.calibration import Calibrator, calibrator
from structens.boosting.folds import fold_of_rows, held_out_scores, unfitted
from structens.core import DataError

_PLAIN = {
    "calibrate": None,
    "early_stopping": None,
    "class_weight": None,
    "warm_start": False,
    "callback": None,
    "progress": None,
    "time_limit": None,
    "keep_weights": False,
}


def rows_held_out(model: Any, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """The rows for early stopping: the last of as many folds as the validation fraction has room for.

    Raises
    ------
    DataError
        If there are too few rows, or but one of a class.
    """
    n_folds = max(2, round(1.0 / model.validation_fraction))
    if len(codes) < n_folds or np.bincount(codes).min() < 2:
        raise DataError(
            f"{type(model).__name__}: early stopping needs {n_folds} rows, and two of each class, to hold some out",
            hint="give X_val and y_val, or early_stopping=None",
        )
    held: NDArray[np.bool_] = fold_of_rows(codes, n_folds, model.random_state) == n_folds - 1
    return held


def calibrator_for(
    model: Any, X: Any, codes: NDArray[np.int32], weight: NDArray[np.float64], n_classes: int
) -> Calibrator | None:
    """The calibrator that a model with ``n_rounds_`` rounds asks for, fitted on votes for rows not learnt from.

    None where none is wanted, or, with a warning, where there are too few rows of a class.
    """
    if model.calibrate is None:
        return None
    fitted = calibrator(model.calibrate)
    if model.n_rounds_ == 0 or np.bincount(codes, minlength=n_classes).min() < 2:
        owner = type(model).__name__
        warnings.warn(f"{owner}: too little data to calibrate by {model.calibrate}; it is left out", stacklevel=3)
        return None
    known = model.get_params(deep=False)
    plain = {name: value for name, value in _PLAIN.items() if name in known} | {"n_rounds": model.n_rounds_}
    scores = held_out_scores(
        unfitted(model, **plain), X, codes, weight, n_folds=model.n_folds, random_state=model.random_state
    )
    return fitted.fit(scores, codes, weight)
