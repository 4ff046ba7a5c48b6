"""Comparison of two systems on the same records: difference, paired interval, p-value, records better and worse."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from structens.core import DataError, ExpertPredictions, ParameterError
from structens.evaluate.bootstrap import (
    Interval,
    bootstrap_p_value,
    interval,
    randomization_p_value,
    resampled_rates,
)
from structens.evaluate.counts import Answers, count_systems
from structens.evaluate.error_counts import ErrorCounts, ratio

Test = Literal["bootstrap", "randomization"]


@dataclass(frozen=True)
class Comparison:
    """System a against system b.

    Parameters
    ----------
    a, b : str
        Names.
    rate_a, rate_b : float or None
        Token error rates over the records compared.
    difference : float or None
        rate_a - rate_b; negative where a is better.
    interval : Interval or None
        Paired bootstrap interval of the difference.
    p_value : float or None
        Two-sided.
    test : {"bootstrap", "randomization"}
    better, worse, equal : int
        Records where a has fewer, more, or as many errors as b.
    n_records, n_resamples, seed : int
    level : float
    loss : str
    """

    a: str
    b: str
    rate_a: float | None
    rate_b: float | None
    difference: float | None
    interval: Interval | None
    p_value: float | None
    test: str
    better: int
    worse: int
    equal: int
    n_records: int
    n_resamples: int
    seed: int
    level: float
    loss: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values and None, fit for strict JSON."""
        return {**asdict(self), "interval": None if self.interval is None else list(self.interval)}


def compare(
    X: ExpertPredictions,
    a: Answers | str | ErrorCounts,
    b: Answers | str | ErrorCounts,
    *,
    names: tuple[str, str] | None = None,
    loss: str = "auto",
    test: Test = "bootstrap",
    present_only: bool = False,
    ignore_tokens: Iterable[str] = (),
    n_resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Comparison:
    """Compare two systems on the records of X that have gold.

    Parameters
    ----------
    X : ExpertPredictions
    a, b : answers, name of an expert, or ErrorCounts
    names : pair of str, optional
        Names of the systems; default: the experts' own, else "a" and "b".
    loss : {"auto", "edit", "hamming"}
    test : {"bootstrap", "randomization"}
        Where the p-value comes from.
    present_only : bool
        Compare on the records that both answered.
    ignore_tokens, n_resamples, seed, level
        As in `evaluate_experts`.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["ab", "cd", "ee"], "b": ["ab", "cx", "xx"]}, gold=["ab", "cd", "ef"])
    >>> c = compare(X, "a", "b")
    >>> c.better, c.worse, c.equal, round(c.difference, 4)
    (2, 0, 1, -0.3333)
    """
    if names is None:
        names = (a if isinstance(a, str) else "a", b if isinstance(b, str) else "b")
    counts = count_systems({"a": a, "b": b}, X, loss=loss, ignore_tokens=ignore_tokens)
    first, second = counts["a"], counts["b"]
    if present_only:
        shared = np.intersect1d(first.record[~first.missing], second.record[~second.missing])
        first, second = first[np.isin(first.record, shared)], second[np.isin(second.record, shared)]
    _check_comparable(first, second)
    order = canonical_order(X, first)
    return compare_counts(
        first[order], second[order], names, test=test, n_resamples=n_resamples, seed=seed, level=level
    )


def compare_counts(
    a: ErrorCounts,
    b: ErrorCounts,
    names: tuple[str, str] = ("a", "b"),
    *,
    test: Test = "bootstrap",
    n_resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Comparison:
    """`compare` from counts of the same records, in the order given."""
    if test not in ("bootstrap", "randomization"):
        raise ParameterError(f"test must be bootstrap or randomization, got {test!r}")
    _check_comparable(a, b)
    if not len(a):
        raise DataError(f"no record was answered by both {names[0]!r} and {names[1]!r}")
    errors = np.stack([a.errors, b.errors])
    lengths = np.stack([a.reference_length, b.reference_length])
    rates = [ratio(e, n) for e, n in zip(errors.sum(axis=1).tolist(), lengths.sum(axis=1).tolist(), strict=True)]
    draws = resampled_rates(errors, lengths, n_resamples=n_resamples, seed=seed)
    differences = draws[0] - draws[1]
    if test == "randomization":
        p_value = randomization_p_value(errors, lengths, n_resamples=n_resamples, seed=seed)
    else:
        p_value = bootstrap_p_value(differences)
    return Comparison(
        a=names[0],
        b=names[1],
        rate_a=rates[0],
        rate_b=rates[1],
        difference=None if rates[0] is None or rates[1] is None else rates[0] - rates[1],
        interval=interval(differences, level=level) if len(a) > 1 else None,
        p_value=p_value,
        test=test,
        better=int((errors[0] < errors[1]).sum()),
        worse=int((errors[0] > errors[1]).sum()),
        equal=int((errors[0] == errors[1]).sum()),
        n_records=len(a),
        n_resamples=n_resamples,
        seed=seed,
        level=level,
        loss=a.loss,
    )


def _check_comparable(a: ErrorCounts, b: ErrorCounts) -> None:
    if not np.array_equal(a.record, b.record) or a.loss != b.loss:
        raise DataError("the two systems were not scored on the same records under the same loss")


def canonical_order(X: ExpertPredictions, counts: ErrorCounts) -> NDArray[np.int64]:
    """Places in `counts` by rising id, so that resamples do not depend on the order of the file."""
    keys = [(isinstance(X.ids[i], str), X.ids[i]) for i in counts.record.tolist()]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
