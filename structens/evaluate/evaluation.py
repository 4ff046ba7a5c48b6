"""Evaluation: rows of systems with their rates and intervals, groups, and what a reader must know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from structens.core import DataError
from structens.core.predictions import RecordId
from structens.evaluate.bootstrap import Interval
from structens.evaluate.comparison import Comparison
from structens.evaluate.error_counts import ErrorCounts
from structens.evaluate.rates import Rates


@dataclass(frozen=True)
class Row:
    """One system.

    Parameters
    ----------
    name : str
    kind : str
        "expert", "baseline", "ensemble" or "oracle", or what the caller said.
    rates : Rates
    interval : Interval or None
        Of the token error rate; None for fewer than two records.
    """

    name: str
    kind: str
    rates: Rates
    interval: Interval | None

    def to_dict(self) -> dict[str, Any]:
        """Flat, fit for strict JSON."""
        band = None if self.interval is None else list(self.interval)
        return {"name": self.name, "kind": self.kind, **self.rates.to_dict(), "interval": band}


@dataclass(frozen=True)
class Group:
    """The rows of the records that have one value of a field; value None: those without it."""

    value: Any
    n_records: int
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate_experts` found.

    Parameters
    ----------
    rows : tuple of Row
        Experts in their order, systems in theirs, then oracles.
    groups : tuple of Group
    by : str or None
    notes : tuple of str
        Sentences for the reader: what was left out, missing, suspicious.
    verdict : Comparison or None
        Best combination or baseline against the best expert.
    changed : int or None
        Records where the answers of those two differ; None where the system was given as counts.
    missing : dict of name to ids
        Records with gold that a system did not answer; systems that answered all are left out.
    copies : list of groups of names
        Experts that agree on everything.
    disjoint : list of pairs of names
        Experts that share no label.
    coverage : dict of name to int
        Records of the collection that each expert answered.
    counts : dict of name to ErrorCounts
        Counts of each row, record by record.
    n_records, n_unscored : int
        Records with gold, which are scored, and without.
    """

    rows: tuple[Row, ...]
    groups: tuple[Group, ...]
    by: str | None
    notes: tuple[str, ...]
    verdict: Comparison | None
    changed: int | None
    missing: dict[str, list[RecordId]]
    copies: list[list[str]]
    disjoint: list[tuple[str, str]]
    coverage: dict[str, int]
    n_records: int
    n_unscored: int
    loss: str
    unit: str
    seed: int
    n_resamples: int
    level: float
    present_only: bool
    fingerprint: str
    version: str
    counts: dict[str, ErrorCounts] = field(repr=False, compare=False, default_factory=dict)

    def __getitem__(self, name: str) -> Row:
        for row in self.rows:
            if row.name == name:
                return row
        raise DataError(f"there is no row {name!r}", hint=f"there are {', '.join(row.name for row in self.rows)}")

    @property
    def signature(self) -> str:
        """What another must know to get the same table: version, loss, seed, data, records."""
        return (
            f"structens {self.version} | loss {self.loss} | seed {self.seed} | data {self.fingerprint}"
            f" | {self.n_records} records"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the counts of single records, fit for strict JSON: undefined is None, never NaN."""
        plain = ("by", "changed", "missing", "copies", "coverage", "n_records", "n_unscored", "loss", "unit", "seed")
        more = ("n_resamples", "level", "present_only", "fingerprint", "version")
        return {
            "rows": [row.to_dict() for row in self.rows],
            "groups": [
                {"value": g.value, "n_records": g.n_records, "rows": [row.to_dict() for row in g.rows]}
                for g in self.groups
            ],
            "verdict": None if self.verdict is None else self.verdict.to_dict(),
            "notes": list(self.notes),
            "disjoint": [list(pair) for pair in self.disjoint],
            **{name: getattr(self, name) for name in (*plain, *more)},
        }
