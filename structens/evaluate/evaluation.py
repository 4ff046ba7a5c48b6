"""Evaluation: every expert and every system on the same records, with intervals, groups and what a reader must know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from structens.core import DataError, ExpertPredictions, Slots
from structens.core.predictions import RecordId
from structens.evaluate.agreement import coverage, disjoint_labels, possible_copies
from structens.evaluate.bootstrap import Interval, interval, resampled_rates
from structens.evaluate.comparison import Comparison, canonical_order, compare_counts
from structens.evaluate.counts import Answers, count_systems
from structens.evaluate.error_counts import ErrorCounts
from structens.evaluate.fingerprint import fingerprint
from structens.evaluate.groups import groups
from structens.evaluate.notes import notes_on_experts, notes_on_records
from structens.evaluate.oracle import best_expert_per_record, best_path
from structens.evaluate.rates import Rates, rates

ORACLE_EXPERT = "best expert of each record"
ORACLE_PATH = "best path through the slots"


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


def evaluate_experts(
    X: ExpertPredictions,
    systems: Mapping[str, Answers | ErrorCounts] | None = None,
    *,
    kinds: Mapping[str, str] | None = None,
    slots: Slots | None = None,
    loss: str = "auto",
    by: str | None = None,
    present_only: bool = False,
    ignore_tokens: Iterable[str] = (),
    n_resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Evaluation:
    """Evaluate the experts of X, other systems, and the oracles on the records that have gold.

    Parameters
    ----------
    X : ExpertPredictions
    systems : mapping of name to answers, optional
        One answer a record, None where there is none; codes of ``X.alphabet``; or `ErrorCounts`.
    kinds : mapping of name to str, optional
        Kind of a system, "ensemble" where it is not given.
    slots : Slots, optional
        Aligned answers of X; adds the path oracle.
    loss : {"auto", "edit", "hamming"}
        "auto": position by position where all lengths agree, else edit distance.
    by : str, optional
        Field of the records; adds rows for each of its values.
    present_only : bool
        Score each system on the records it answered. The default counts missing answers as deletions.
    ignore_tokens : iterable of str
        Units removed from both sides before anything is compared.
    n_resamples, seed, level
        Of the paired bootstrap.

    Raises
    ------
    DataError
        If there are no records or no gold, a name is taken twice, or answers do not fit the records.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["abc", "dxx"], "b": ["axc", "def"]}, gold=["abc", "def"])
    >>> e = evaluate_experts(X, {"vote": ["abc", "def"]})
    >>> [(row.name, row.kind, row.rates.errors) for row in e.rows]
    [('a', 'expert', 2), ('b', 'expert', 1), ('vote', 'ensemble', 0), ('best expert of each record', 'oracle', 0)]
    """
    systems = dict(systems or {})
    _check_names(X, systems)
    ignore = (ignore_tokens,) if isinstance(ignore_tokens, str) else tuple(ignore_tokens)
    counts = count_systems({**{name: name for name in X.names}, **systems}, X, loss=loss, ignore_tokens=ignore)
    used = counts[X.names[0]].loss
    order = canonical_order(X, counts[X.names[0]])
    counts = {name: c[order] if len(c) == len(order) else c for name, c in counts.items()}
    counts[ORACLE_EXPERT] = best_expert_per_record([counts[name] for name in X.names])
    if slots is not None and not ignore:
        counts[ORACLE_PATH] = best_path(X, slots, loss=used)[order]
    kind = dict.fromkeys(X.names, "expert") | dict.fromkeys(systems, "ensemble") | dict(kinds or {})
    kind |= {ORACLE_EXPERT: "oracle", ORACLE_PATH: "oracle"}
    draws = {"n_resamples": n_resamples, "seed": seed, "level": level}
    rows = _rows(counts, kind, present_only, draws)
    verdict = _verdict(rows, counts, present_only, draws)
    missing = {name: ids for name, c in counts.items() if (ids := [X.ids[i] for i in c.record[c.missing].tolist()])}
    missing = {name: ids for name, ids in missing.items() if kind[name] != "oracle"}
    copies, disjoint = possible_copies(X), disjoint_labels(X)
    changed = None if verdict is None else _changed(X, systems, verdict)
    notes = notes_on_records(X, counts, missing, present_only=present_only)
    notes += notes_on_experts(copies, disjoint)
    if verdict is not None and changed == 0:
        notes.append(f"{verdict.a!r} answers every record exactly as {verdict.b!r}: combining changed nothing")
    return Evaluation(
        rows=rows,
        groups=_groups(X, by, counts, kind, present_only, draws) if by is not None else (),
        by=by,
        notes=tuple(notes),
        verdict=verdict,
        changed=changed,
        missing=missing,
        n_records=len(order),
        n_unscored=len(X) - len(order),
        loss=used,
        unit=X.unit,
        present_only=present_only,
        fingerprint=fingerprint(X),
        version=_version(),
        counts=counts,
        copies=copies,
        disjoint=disjoint,
        coverage=coverage(X),
        n_resamples=n_resamples,
        seed=seed,
        level=level,
    )


def _check_names(X: ExpertPredictions, systems: Mapping[str, Any]) -> None:
    taken = {*X.names, ORACLE_EXPERT, ORACLE_PATH}
    for name in systems:
        if name in taken:
            raise DataError(f"the name {name!r} is taken", hint="give each system a name of its own")


def _rows(
    counts: Mapping[str, ErrorCounts], kind: Mapping[str, str], present_only: bool, draws: Mapping[str, Any]
) -> tuple[Row, ...]:
    kept = {name: c[~c.missing] if present_only else c for name, c in counts.items()}
    first = next(iter(counts.values()))
    if not len(first):
        return tuple(Row(name, kind[name], rates(c), None) for name, c in kept.items())
    # A record left out stays in the draws without errors and without length, so that all systems share them.
    weight = {name: ~c.missing if present_only else np.ones(len(c), bool) for name, c in counts.items()}
    errors = np.stack([c.errors * weight[name] for name, c in counts.items()])
    lengths = np.stack([c.reference_length * weight[name] for name, c in counts.items()])
    samples = resampled_rates(errors, lengths, n_resamples=draws["n_resamples"], seed=draws["seed"])
    return tuple(
        Row(name, kind[name], rates(c), interval(samples[k], level=draws["level"]) if len(c) > 1 else None)
        for k, (name, c) in enumerate(kept.items())
    )


def _groups(
    X: ExpertPredictions,
    by: str,
    counts: Mapping[str, ErrorCounts],
    kind: Mapping[str, str],
    present_only: bool,
    draws: Mapping[str, Any],
) -> tuple[Group, ...]:
    out = []
    record = next(iter(counts.values())).record
    for value, members in groups(X, by):
        inside = np.isin(record, members)
        rows = _rows({name: c[inside] for name, c in counts.items()}, kind, present_only, draws)
        if inside.any():
            out.append(Group(value, int(inside.sum()), rows))
    return tuple(out)


def _verdict(
    rows: Sequence[Row], counts: Mapping[str, ErrorCounts], present_only: bool, draws: Mapping[str, Any]
) -> Comparison | None:
    """Best system that is no expert against the best expert, where both have a rate; the first in a tie."""
    known = [row for row in rows if row.rates.rate is not None]
    experts = [row for row in known if row.kind == "expert"]
    others = [row for row in known if row.kind not in ("expert", "oracle")]
    if not experts or not others:
        return None
    a, b = (min(some, key=_rate).name for some in (others, experts))
    both = ~(counts[a].missing | counts[b].missing) if present_only else np.ones(len(counts[a]), bool)
    if not both.any():
        return None
    return compare_counts(counts[a][both], counts[b][both], (a, b), **draws)


def _rate(row: Row) -> float:
    return np.inf if row.rates.rate is None else row.rates.rate


def _changed(X: ExpertPredictions, systems: Mapping[str, Any], verdict: Comparison) -> int | None:
    answers: Any = systems[verdict.a]
    if isinstance(answers, ErrorCounts):
        return None
    if not isinstance(answers, Sequence):
        answers = X.render(answers)
    plain = [a if a is None or isinstance(a, str) else list(a) for a in answers]
    return sum(bool(a != b) for a, b in zip(plain, X[verdict.b], strict=True))


def _version() -> str:
    try:
        return version("structens")
    except PackageNotFoundError:
        return "unknown"
