"""ErrorCounts: substitutions, deletions, insertions and hits of every scored record, and the choice of reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import DataError, ExpertPredictions
from structens.evaluate.alignment import Loss


@dataclass(frozen=True, eq=False)
class ErrorCounts:
    """What one system gets wrong in each scored record; arrays of shape (n_scored,).

    Parameters
    ----------
    record : ndarray of int64
        Number of the record in the collection.
    substitutions, deletions, insertions, hits : ndarray of int64 (float64 for expectations)
        Operations of the alignment with the reference used.
    missing : ndarray of bool
        True where the system gave no answer.
    reference : ndarray of int64
        Which reference was used: 0 is gold, 1 the first alternative.
    loss : {"edit", "hamming"}

    Examples
    --------
    >>> from structens.evaluate import count_errors
    >>> X = ExpertPredictions.of({"a": [["b", "c", "d", "x"], None]}, gold=[["a", "b", "c", "d"], ["e"]])
    >>> c = count_errors("a", X)
    >>> c.errors.tolist(), c.hits.tolist(), c.reference_length.tolist(), c.missing.tolist()
    ([2, 1], [3, 0], [4, 1], [False, True])
    """

    record: NDArray[np.int64]
    substitutions: NDArray[Any]
    deletions: NDArray[Any]
    insertions: NDArray[Any]
    hits: NDArray[Any]
    missing: NDArray[np.bool_]
    reference: NDArray[np.int64]
    loss: Loss = "edit"

    def __len__(self) -> int:
        return len(self.record)

    @property
    def errors(self) -> NDArray[Any]:
        """Substitutions, deletions and insertions together."""
        total: NDArray[Any] = self.substitutions + self.deletions + self.insertions
        return total

    @property
    def reference_length(self) -> NDArray[Any]:
        """Units of the reference used."""
        length: NDArray[Any] = self.hits + self.substitutions + self.deletions
        return length

    @property
    def hypothesis_length(self) -> NDArray[Any]:
        """Units of the answer."""
        length: NDArray[Any] = self.hits + self.substitutions + self.insertions
        return length

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """True where the answer is not exactly right; a missing one never is."""
        wrong: NDArray[np.bool_] = (self.errors > 0) | self.missing
        return wrong

    def __getitem__(self, index: Any) -> ErrorCounts:
        arrays = {f.name: getattr(self, f.name)[index] for f in fields(self) if f.name != "loss"}
        return replace(self, **arrays)


def unequal_lengths(X: ExpertPredictions, equal: NDArray[np.bool_], present: NDArray[np.bool_]) -> int | None:
    """First answered record with gold that has no reference as long as its answer; `equal` has one item a reference."""
    sums = np.concatenate([[0], np.cumsum(equal)])
    fits = sums[X.reference_offsets[1:]] > sums[X.reference_offsets[:-1]]
    bad = np.flatnonzero(X.has_gold & present & ~fits)
    return int(bad[0]) if len(bad) else None


def choose_references(
    X: ExpertPredictions,
    edits: NDArray[np.int64],
    reference_length: NDArray[np.int64],
    present: NDArray[np.bool_],
    *,
    allowed: NDArray[np.bool_] | None = None,
    loss: Loss,
) -> ErrorCounts:
    """Counts against the reference with the fewest errors, the first in a tie, of each record with gold.

    Parameters
    ----------
    X : ExpertPredictions
    edits : ndarray of int64, shape (n_references, 3)
        Substitutions, deletions and insertions against each reference; those of missing answers are replaced by
        deletions.
    reference_length : ndarray of int64, shape (n_references,)
    present : ndarray of bool, shape (n_records,)
    allowed : ndarray of bool, shape (n_references,), optional
        References that may be chosen; of each answered record at least one.
    loss : {"edit", "hamming"}
    """
    n_references = np.diff(X.reference_offsets)
    scored = np.flatnonzero(n_references)
    starts = X.reference_offsets[scored]
    here = present[np.repeat(np.arange(len(X)), n_references)]
    edits = np.where(here[:, None], edits, 0)
    edits[:, 1] = np.where(here, edits[:, 1], reference_length)
    errors = edits.sum(axis=1)
    if allowed is not None:
        errors = np.where(allowed | ~here, errors, _FORBIDDEN)
    place = np.arange(len(here)) - np.repeat(starts, n_references[scored])
    # The smallest (errors, place) of each record, as one number.
    width = int(n_references.max()) + 1
    chosen = starts + np.minimum.reduceat(errors * width + place, starts) % width
    substitutions, deletions, insertions = edits[chosen].T
    return ErrorCounts(
        record=scored,
        substitutions=substitutions,
        deletions=deletions,
        insertions=insertions,
        hits=reference_length[chosen] - substitutions - deletions,
        missing=~present[scored],
        reference=place[chosen],
        loss=loss,
    )


_FORBIDDEN = 1 << 40


def check_same_records(counts: Sequence[ErrorCounts]) -> None:
    """Refuse counts over different records."""
    if any(not np.array_equal(c.record, counts[0].record) for c in counts):
        raise DataError("the systems were scored on different records", hint="count with present_only=False")


def ratio(errors: float, length: float) -> float | None:
    """Errors over units: 0.0 where both are 0, None where only the length is.

    Examples
    --------
    >>> ratio(2, 4), ratio(0, 0), ratio(1, 0)
    (0.5, 0.0, None)
    """
    if length == 0:
        return 0.0 if errors == 0 else None
    return float(errors) / float(length)
