"""Paired bootstrap and approximate randomisation for ratios of sums, all systems at once.

Records are the sampling unit: units of one record are not independent. Every resample draws the same records for every
system, so that differences are paired (Bisani and Ney 2004; Koehn 2004). Approximate randomisation swaps the two
systems' results record by record (Noreen 1989). The draws depend on seed, number of records and number of resamples
only: give the records in a canonical order and file order does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.core import DataError, ParameterError

_CHUNK = 2_000_000


class Interval(NamedTuple):
    """An interval of percentiles."""

    low: float
    high: float


def resampled_rates(
    errors: ArrayLike, lengths: ArrayLike, *, n_resamples: int = 1000, seed: int = 0
) -> NDArray[np.float64]:
    """Rates (sum of errors / sum of lengths) of bootstrap resamples of the records.

    Parameters
    ----------
    errors, lengths : array, shape (n_systems, n_records)
        Counts; column i is the same record for all systems.
    n_resamples : int
    seed : int

    Returns
    -------
    ndarray, shape (n_systems, n_resamples)
        NaN where a resample has no reference unit.

    Examples
    --------
    >>> resampled_rates([[1, 1]], [[2, 2]], n_resamples=3).tolist()
    [[0.5, 0.5, 0.5]]
    """
    stacked, n_systems = _stacked(errors, lengths, n_resamples)
    sums = np.concatenate(
        [stacked @ draws.T for draws in _bootstrap_draws(stacked.shape[1], n_resamples, seed)], axis=1
    )
    return _quotients(sums[:n_systems], sums[n_systems:])


def interval(samples: NDArray[np.float64], *, level: float = 0.95) -> Interval | None:
    """Percentile interval of the samples; None if none of them is defined.

    Examples
    --------
    >>> interval(np.arange(101.0), level=0.5)
    Interval(low=25.0, high=75.0)
    """
    if not 0 < level < 1:
        raise ParameterError(f"level must be between 0 and 1, got {level!r}")
    defined = samples[~np.isnan(samples)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return Interval(low, high)


def bootstrap_p_value(differences: NDArray[np.float64]) -> float | None:
    """Two-sided p-value of resampled differences: twice the share on the rarer side of 0, counting the sample itself.

    Examples
    --------
    >>> bootstrap_p_value(np.array([0.1, 0.2, 0.1])), bootstrap_p_value(np.zeros(3))
    (0.5, 1.0)
    """
    defined = differences[~np.isnan(differences)]
    if not len(defined):
        return None
    rarer = min(int((defined <= 0).sum()), int((defined >= 0).sum()))
    return min(1.0, 2 * (1 + rarer) / (1 + len(defined)))


def randomization_p_value(
    errors: ArrayLike, lengths: ArrayLike, *, n_resamples: int = 1000, seed: int = 0
) -> float | None:
    """Two-sided p-value of approximate randomisation for the difference of two systems' rates.

    Parameters
    ----------
    errors, lengths : array, shape (2, n_records)
    n_resamples, seed : int

    Returns
    -------
    float or None
        (1 + swaps with a difference at least as large) / (1 + n_resamples); None if a rate is undefined.

    Examples
    --------
    >>> randomization_p_value([[1, 1], [1, 1]], [[2, 2], [2, 2]])
    1.0
    """
    stacked, n_systems = _stacked(errors, lengths, n_resamples)
    if n_systems != 2:
        raise ParameterError(f"randomisation compares 2 systems, got {n_systems}")
    first, second = stacked[[0, 2]], stacked[[1, 3]]  # rows: errors, lengths
    observed = abs(np.diff(_quotients(*_totals(first, second)))[0])
    if np.isnan(observed):
        return None
    rng, n, extreme = np.random.default_rng(seed), stacked.shape[1], 0
    for size in _chunks(n, n_resamples):
        swaps = rng.integers(0, 2, size=(size, n), dtype=np.uint8).astype(np.float64)
        moved = (second - first) @ swaps.T
        errors_of = np.stack([first[0].sum() + moved[0], second[0].sum() - moved[0]])
        lengths_of = np.stack([first[1].sum() + moved[1], second[1].sum() - moved[1]])
        differences = np.abs(np.diff(_quotients(errors_of, lengths_of), axis=0)[0])
        # Equal up to rounding counts as equal: the same rates come about by other sums.
        extreme += int((~(differences < observed * (1 - 1e-12))).sum())
    return (1 + extreme) / (1 + n_resamples)


def _totals(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    totals: NDArray[np.float64] = np.stack([first.sum(axis=1), second.sum(axis=1)], axis=1)
    return totals


def _stacked(errors: ArrayLike, lengths: ArrayLike, n_resamples: int) -> tuple[NDArray[np.float64], int]:
    if n_resamples < 1:
        raise ParameterError(f"n_resamples must be at least 1, got {n_resamples!r}")
    over, under = np.asarray(errors, dtype=np.float64), np.asarray(lengths, dtype=np.float64)
    if over.ndim != 2 or over.shape != under.shape or over.shape[1] == 0:
        raise DataError(f"errors and lengths must be (systems, records) alike, got {over.shape} and {under.shape}")
    return np.concatenate([over, under]), len(over)


def _chunks(n: int, n_resamples: int) -> Iterator[int]:
    size = max(1, _CHUNK // n)
    for start in range(0, n_resamples, size):
        yield min(size, n_resamples - start)


def _bootstrap_draws(n: int, n_resamples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """How often each record is drawn, in blocks of shape (some resamples, n)."""
    rng = np.random.default_rng(seed)
    for size in _chunks(n, n_resamples):
        drawn = rng.integers(0, n, size=(size, n))
        drawn += np.arange(size)[:, None] * n
        yield np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


def _quotients(errors: NDArray[np.float64], lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    out = np.full(errors.shape, np.nan)
    np.divide(errors, lengths, out=out, where=lengths > 0)
    return out
