"""How much "nothing" counts in a choice, so that whole answers have the fewest errors, not single slots.

A wrong word in the place of a word costs no more than a gap, and may turn out right: gold lies across slots in one way
of several, and where a word was missed here, one that stands beside it can take its place. Nor does the likeliest label
of each slot see that. So the posterior of a gap is multiplied by a weight, that with the fewest edits from held-out
answers to gold.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structens.core import ABSENT, GAP, ExpertPredictions
from structens.ensembles.slot_posteriors import Posteriors
from structens.losses import edit_distance

WEIGHTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.6)


def weigh_gaps(found: Posteriors, weight: float) -> Posteriors:
    """Posteriors in which a gap has so many times its odds.

    Examples
    --------
    >>> found = Posteriors(np.array([[5, -1]], np.int32), np.array([[0.4, 0.6]]))
    >>> weigh_gaps(found, 0.5).probability.round(2).tolist()
    [[0.57, 0.43]]
    """
    if weight == 1.0:
        return found
    p = np.where(found.label == GAP, weight, 1.0) * found.probability
    return found._replace(probability=p / np.maximum(p.sum(axis=1, keepdims=True), 1e-300))


def learn_gap_weight(found: Posteriors, offsets: NDArray[np.int64], X: ExpertPredictions) -> float:
    """The weight with the fewest edits to the nearest gold; 1 unless the gain is over two standard errors (about zero).

    Parameters
    ----------
    found : Posteriors
        Held out.
    offsets : ndarray of int64, shape (n_records + 1,)
        Slots of each record.
    X : ExpertPredictions
        With gold.
    """
    gaps = (found.label == GAP) & (found.probability > 0)
    touched = np.flatnonzero(gaps.any(axis=1) & ((found.label != ABSENT).sum(axis=1) > 1))
    records = np.unique(np.searchsorted(offsets, touched, side="right") - 1)
    if not len(records):
        return 1.0
    errors = np.array([_errors(weigh_gaps(found, weight), offsets, X, records) for weight in WEIGHTS])
    plain = errors[WEIGHTS.index(1.0)]
    best = int(errors.sum(axis=1).argmin())
    gain = plain - errors[best]
    # about zero: a few records that all gain alike are not taken for certain
    return WEIGHTS[best] if gain.sum() > 2.0 * np.sqrt(np.square(gain).sum()) else 1.0


def _errors(
    found: Posteriors, offsets: NDArray[np.int64], X: ExpertPredictions, records: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Edits of the likeliest labels to the nearest gold, of some records."""
    label = found.label[np.arange(len(found.label)), found.probability.argmax(axis=1)]
    references, spans = X.references.to_list(), X.reference_offsets.tolist()
    out = []
    for i in records.tolist():
        row = label[offsets[i] : offsets[i + 1]]
        said = row[row >= 0].tolist()
        out.append(min(edit_distance(gold, said) for gold in references[spans[i] : spans[i + 1]]))
    return np.array(out, np.int64)
