"""Choice of Deep ESPBoost's lambda, beta and loss by cross-validation on the records of learning.

Cortes, Mohri and Syed (ICML 2014) tried grids on validation data. That of lambda is theirs, with 0; that of beta, 4^-1
to 4^-9, is coarser: they had 2^0 to 2^-6, or 10^-3 to 10^-7. Every fifth record makes a fold, as in
`structens.ensembles.held_out`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.core import GAP, ExpertPredictions, Ragged, Slots
from structens.ensembles.vote import vote
from structens.losses import edit_distance

Choice = tuple[float, float, str]
"""lambda, beta, and the loss."""
N_FOLDS = 5
MOST_SLOTS = 200_000
"""Slots of the first records that the choice looks at."""


class Fold(NamedTuple):
    """Records to learn from, and others to test on.

    Attributes
    ----------
    learn, test : Slots
    learn_records, test_records : ExpertPredictions
    """

    learn: Slots
    test: Slots
    learn_records: ExpertPredictions
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
    >>> [len(fold.test) for fold in esp_folds(align(X), X)]
    [3, 3, 2, 2, 2]
    """
    most = max(int(np.searchsorted(slots.offsets, MOST_SLOTS, side="right")) - 1, 2)
    if most < len(slots):
        slots, X = slots[:most], X[:most]
    n_folds = min(n_folds, len(slots))
    if n_folds < 2:
        return []
    number = np.arange(len(slots)) % n_folds
    parts = [(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in range(n_folds)]
    folds = [Fold(slots[a], slots[b], X[a], X[b]) for a, b in parts]
    return [fold for fold in folds if len(fold.learn.labels)]


def edits_of_votes(slots: Slots, X: ExpertPredictions, weights: NDArray[np.float64]) -> float:
    """Summed edit distance of the voted answers to the nearest reference.

    Parameters
    ----------
    slots : Slots
    X : ExpertPredictions
        The same records.
    weights : ndarray of float64, shape (n_slots, p)

    Examples
    --------
    >>> from structens.align import align
    >>> X = ExpertPredictions.of({"a": ["cat"], "b": ["cut"], "c": ["cut"]}, gold=["cat"])
    >>> edits_of_votes(align(X), X, np.ones((3, 3)))
    1.0
    """
    label = vote(slots.labels, weights).label
    said = label != GAP
    answers = Ragged.from_lengths(label[said], np.bincount(slots.record[said], minlength=len(slots))).to_list()
    rows, cuts = X.references.to_list(), X.reference_offsets.tolist()
    golds = (rows[a:b] for a, b in pairwise(cuts))
    pairs = zip(answers, golds, strict=True)
    return float(sum(min(edit_distance(gold, answer) for gold in right) for answer, right in pairs))


def least(choices: Sequence[Choice], errors: Sequence[Callable[[Choice], float]]) -> Choice:
    """The choice with the least summed error; of equal ones the first.

    Examples
    --------
    >>> least([(0.0, 0.1, "exp"), (0.0, 0.2, "exp"), (0.0, 0.3, "exp")], [lambda c: abs(c[1] - 0.2)])
    (0.0, 0.2, 'exp')
    """
    return choices[int(np.argmin([sum(error(choice) for error in errors) for choice in choices]))]
