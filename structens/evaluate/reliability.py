"""Can confidences be trusted? Reliability by bins, expected calibration error, and the errors among the least sure.

Confidences are calibrated if of all units with confidence c a part c is right. DeGroot and Fienberg, "The comparison
and evaluation of forecasters" (The Statistician 1983), for the curve; Naeini, Cooper and Hauskrecht, "Obtaining well
calibrated probabilities using Bayesian binning" (AAAI 2015), for the expected calibration error; Brier (1950).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import DataError, ExpertPredictions, ParameterError
from structens.losses.hits import judge

LEAST_SURE = 0.1
"""Part of the units that is looked at for errors."""


@dataclass(frozen=True)
class Bin:
    """The items whose confidence lies in a range.

    Parameters
    ----------
    low, high : float
        The range; the last one includes its upper end.
    n : int
    confidence, right : float
        Mean confidence, and part that is right.
    """

    low: float
    high: float
    n: int
    confidence: float
    right: float


@dataclass(frozen=True)
class Reliability:
    """Confidences beside what was right.

    Parameters
    ----------
    n, n_wrong : int
        Items, and those that are wrong.
    calibration_error : float
        Mean over items of the distance between mean confidence and part right of their bin.
    brier : float
        Mean squared distance of confidences from 1 (right) or 0 (wrong).
    errors_in_least_sure : float or None
        Part of all errors that lies in the 10 % least sure items; equal confidences share. None without errors.
    bins : tuple of Bin
        Those that are not empty.
    """

    n: int
    n_wrong: int
    calibration_error: float
    brier: float
    errors_in_least_sure: float | None
    bins: tuple[Bin, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for strict JSON."""
        return {**asdict(self), "bins": [asdict(one) for one in self.bins]}


def reliability(confidence: Sequence[float], right: Sequence[bool], *, n_bins: int = 10) -> Reliability:
    """Reliability of confidences of anything that is right or wrong.

    Parameters
    ----------
    confidence : sequence of n numbers in [0, 1]
    right : sequence of n bool
    n_bins : int
        Ranges of equal width.

    Raises
    ------
    DataError
        If there are none, the lengths differ, or a confidence is out of range.
    ParameterError
        If there is no bin.

    Examples
    --------
    >>> found = reliability([0.95, 0.95, 0.55, 0.15], [True, True, False, False], n_bins=2)
    >>> round(found.calibration_error, 3), [(b.n, round(b.right, 2)) for b in found.bins], found.errors_in_least_sure
    (0.15, [(1, 0.0), (3, 0.67)], 0.2)
    """
    c, hit = np.asarray(confidence, dtype=np.float64), np.asarray(right, dtype=np.bool_)
    if n_bins < 1:
        raise ParameterError(f"n_bins must be a whole number >= 1; got {n_bins!r}")
    if not len(c) or len(c) != len(hit) or not ((c >= 0) & (c <= 1)).all():
        raise DataError(f"need as many confidences in [0, 1] as judgements, one at least; got {len(c)} and {len(hit)}")
    place = np.minimum((c * n_bins).astype(np.int64), n_bins - 1)
    bins = []
    for k in np.unique(place).tolist():
        inside = place == k
        n, mean, part = int(inside.sum()), float(c[inside].mean()), float(hit[inside].mean())
        bins.append(Bin(k / n_bins, (k + 1) / n_bins, n, mean, part))
    return Reliability(
        n=len(c),
        n_wrong=int((~hit).sum()),
        calibration_error=sum(b.n * abs(b.confidence - b.right) for b in bins) / len(c),
        brier=float(((c - hit) ** 2).mean()),
        errors_in_least_sure=_least_sure(c, ~hit),
        bins=tuple(bins),
    )


def _least_sure(c: NDArray[np.float64], wrong: NDArray[np.bool_]) -> float | None:
    """Part of the errors in the tenth of items with the lowest confidence; a level that it cuts counts in part."""
    if not wrong.any():
        return None
    left, found = LEAST_SURE * len(c), 0.0
    levels, place = np.unique(c, return_inverse=True)
    sizes = np.bincount(place, minlength=len(levels))
    errors = np.bincount(place, weights=wrong, minlength=len(levels))
    for size, n_wrong in zip(sizes.tolist(), errors.tolist(), strict=True):
        taken = min(left, size)
        found += n_wrong * taken / size
        left -= taken
        if left <= 0:
            break
    return float(found / wrong.sum())


def unit_reliability(X: ExpertPredictions, name: str, *, n_bins: int = 10) -> Reliability | None:
    """Reliability of the confidences that an expert, or a system read as one, gives with the units of its answers.

    A unit is right if it stands against an equal one in a best alignment to the nearest reference. Units without a
    confidence, and records without gold, are left out.

    Parameters
    ----------
    X : ExpertPredictions
    name : str
        The expert.
    n_bins : int

    Returns
    -------
    Reliability, or None where nothing is left

    Examples
    --------
    >>> sure = {"a": [[1, 1, 1], [1, 0.5, 1]]}
    >>> X = ExpertPredictions.of({"a": ["cat", "dug"]}, gold=["cat", "dog"], confidences=sure)
    >>> round(unit_reliability(X, "a").calibration_error, 3)
    0.083
    """
    if X.confidence is None:
        return None
    column, cuts = X.column(name), X.reference_offsets.tolist()
    references, answers = X.references.to_list(), X.hypotheses
    sure, right = [np.zeros(0)], [np.zeros(0, np.bool_)]
    for i, (a, b) in enumerate(pairwise(cuts)):
        if a == b or not X.present[i, column]:
            continue
        row = i * X.n_experts + column
        given = X.confidence[answers.offsets[row] : answers.offsets[row + 1]]
        known = np.isfinite(given)
        if known.any():
            hit = judge(references[a:b], answers[row].tolist()).hit
            sure.append(given[known])
            right.append(hit[known])
    c = np.concatenate(sure)
    return reliability(c, np.concatenate(right), n_bins=n_bins) if len(c) else None  # type: ignore[arg-type]


def record_reliability(
    X: ExpertPredictions, name: str, confidence: Sequence[float | None], *, n_bins: int = 10
) -> Reliability | None:
    """Reliability of one confidence a record: whether the whole answer is right.

    Parameters
    ----------
    X : ExpertPredictions
    name : str
        The expert.
    confidence : sequence of n numbers or None
        None where there is none; such records, and those without gold, are left out.
    n_bins : int

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["cat", "dug"]}, gold=["cat", "dog"])
    >>> round(record_reliability(X, "a", [0.9, 0.2]).calibration_error, 3)
    0.15
    """
    if len(confidence) != len(X):
        raise DataError(f"{len(confidence)} confidences for {len(X)} records")
    column, references = X.column(name), X.references.to_list()
    sure, right = [], []
    for i, ((a, b), c) in enumerate(zip(pairwise(X.reference_offsets.tolist()), confidence, strict=True)):
        if a < b and c is not None and X.present[i, column]:
            sure.append(c)
            right.append(X.hypotheses[i * X.n_experts + column].tolist() in references[a:b])
    return reliability(sure, right, n_bins=n_bins) if sure else None
