"""Choice of Deep ESPBoost's lambda, beta and loss by cross-validation on the records of learning.

Cortes, Mohri and Syed (ICML 2014) tried grids on validation data. That of lambda is theirs, with 0; that of beta, 4^-1
to 4^-9, is coarser: they had 2^0 to 2^-6, or 10^-3 to 10^-7. Folds and errors are those of
`structens.ensembles.held_out`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from structens.core import ExpertPredictions, Slots
from structens.ensembles.held_out import N_FOLDS, Judged, first_records

Choice = tuple[float, float, str]
"""lambda, beta, and the loss."""


class Fold(NamedTuple):
    """Records to learn from, and others to test on.

    Attributes
    ----------
    learn : Slots
    learn_records, test_records : ExpertPredictions
    test : Judged
        The slots to test on, and what answers to them are judged by.
    """

    learn: Slots
    learn_records: ExpertPredictions
    test: Judged
    test_records: ExpertPredictions


def esp_folds(slots: Slots, X: ExpertPredictions, n_folds: int = N_FOLDS) -> list[Fold]:
    """Folds of the first records, every fifth record in one; none where there is but one record.

    Parameters
    ----------
    slots : Slots
        Records with gold.
    X : ExpertPredictions
        The same records.
    n_folds : int

    Examples
    --------
    >>> from structens.align import align
    >>> X = ExpertPredictions.of({"a": ["x"] * 12, "b": ["y"] * 12}, gold=["x"] * 12)
    >>> [len(fold.test.slots) for fold in esp_folds(align(X), X)]
    [3, 3, 2, 2, 2]
    """
    slots, X = first_records(slots, X)
    n_folds = min(n_folds, len(slots))
    if n_folds < 2:
        return []
    number = np.arange(len(slots)) % n_folds
    parts = [(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in range(n_folds)]
    folds = [Fold(slots[a], X[a], Judged(slots[b], X[b]), X[b]) for a, b in parts]
    return [fold for fold in folds if len(fold.learn.labels)]


def least(choices: Sequence[Choice], errors: Sequence[Callable[[Choice], float]]) -> Choice:
    """The choice with the least summed error; of equal ones the first.

    Examples
    --------
    >>> least([(0.0, 0.1, "exp"), (0.0, 0.2, "exp"), (0.0, 0.3, "exp")], [lambda c: abs(c[1] - 0.2)])
    (0.0, 0.2, 'exp')
    """
    return choices[int(np.argmin([sum(error(choice) for error in errors) for choice in choices]))]
