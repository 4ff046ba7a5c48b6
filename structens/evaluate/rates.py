"""Rates: what error counts say about a whole set of records, each under its own name.

The corpus rate is the ratio of summed counts (NIST's word error rate); the mean record rate is the mean of the
records' own rates. They answer different questions and can order systems differently. No rate is clipped. Match error
rate and word information preserved and lost: Morris, Maier and Green, Interspeech 2004.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.evaluate.error_counts import ErrorCounts, ratio


@dataclass(frozen=True)
class Rates:
    """Rates of one system over a set of records; None where a rate is undefined.

    Parameters
    ----------
    n_records : int
        Records scored.
    errors, substitutions, deletions, insertions, hits : int or float
        Summed counts (float for an expectation).
    reference_length, hypothesis_length : int or float
        Summed units.
    missing : int
        Records without an answer.
    rate : float or None
        Token error rate: errors / reference_length. None where all references are empty but there are errors.
    mean_record_rate : float or None
        Mean over records of the record's own rate; None if no record has one.
    undefined_records : int
        Records with an empty reference and errors: they have no rate and are left out of that mean only.
    sequence_error : float
        Share of records that are not exactly right.
    mean_errors : float
        Errors a record: the mean edit distance under the loss "edit".
    hamming : float or None
        Mean over records of the share of wrong positions (normalised Hamming); None unless the loss is "hamming".
    match_error_rate : float
        errors / (hits + errors), from the alignment.
    information_preserved, information_lost : float
        hits**2 / (reference_length * hypothesis_length), and 1 less that.
    """

    n_records: int
    errors: float
    substitutions: float
    deletions: float
    insertions: float
    hits: float
    reference_length: float
    hypothesis_length: float
    missing: int
    rate: float | None
    mean_record_rate: float | None
    undefined_records: int
    sequence_error: float | None
    mean_errors: float | None
    hamming: float | None
    match_error_rate: float | None
    information_preserved: float | None
    information_lost: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and None, fit for strict JSON."""
        return asdict(self)


def rates(counts: ErrorCounts) -> Rates:
    """All rates of some counts; without a record every rate is None.

    Examples
    --------
    >>> from structens.core import ExpertPredictions
    >>> from structens.evaluate import count_errors
    >>> X = ExpertPredictions.of({"s": [["x"], list("bcdefghij")]}, gold=[["a"], list("bcdefghij")])
    >>> r = rates(count_errors("s", X))
    >>> r.rate, r.mean_record_rate, r.sequence_error
    (0.1, 0.5, 0.5)
    """
    n = len(counts)
    substitutions, deletions, insertions, hits = (
        column.sum().item() for column in (counts.substitutions, counts.deletions, counts.insertions, counts.hits)
    )
    errors = substitutions + deletions + insertions
    reference_length, hypothesis_length = hits + substitutions + deletions, hits + substitutions + insertions
    own = record_rates(counts)
    defined = own[~np.isnan(own)]
    # fsum is exact: the mean does not depend on the order of the records.
    mean = fsum(defined.tolist()) / len(defined) if len(defined) else None
    preserved = _preserved(hits, reference_length, hypothesis_length) if n else None
    return Rates(
        n_records=n,
        errors=errors,
        substitutions=substitutions,
        deletions=deletions,
        insertions=insertions,
        hits=hits,
        reference_length=reference_length,
        hypothesis_length=hypothesis_length,
        missing=int(counts.missing.sum()),
        rate=ratio(errors, reference_length) if n else None,
        mean_record_rate=mean,
        undefined_records=n - len(defined),
        sequence_error=float(counts.wrong.mean()) if n else None,
        mean_errors=errors / n if n else None,
        hamming=mean if counts.loss == "hamming" else None,
        match_error_rate=(errors / (hits + errors) if hits + errors else 0.0) if n else None,
        information_preserved=preserved,
        information_lost=None if preserved is None else 1.0 - preserved,
    )


def record_rates(counts: ErrorCounts) -> NDArray[np.float64]:
    """Error rate of each record, shape (n_scored,); NaN where the reference is empty but there are errors.

    A record whose reference and answer are both empty has rate 0.
    """
    errors, lengths = counts.errors, counts.reference_length
    out = np.where(errors == 0, 0.0, np.nan)
    np.divide(errors, lengths, out=out, where=lengths > 0)
    return out


def _preserved(hits: float, reference_length: float, hypothesis_length: float) -> float:
    """Two empty sides lose nothing; one empty side preserves nothing."""
    if reference_length == 0 and hypothesis_length == 0:
        return 1.0
    if reference_length == 0 or hypothesis_length == 0:
        return 0.0
    return (hits / reference_length) * (hits / hypothesis_length)
