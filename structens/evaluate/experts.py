"""Evaluation of all experts, other systems and oracles of a collection, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from structens.core import DataError, ExpertPredictions, Slots
from structens.core.fingerprint import fingerprint
from structens.evaluate.agreement import coverage, disjoint_labels, possible_copies
from structens.evaluate.bootstrap import interval, resampled_rates
from structens.evaluate.comparison import Comparison, canonical_order, compare_counts
from structens.evaluate.counts import Answers, count_systems
from structens.evaluate.error_counts import ErrorCounts, check_same_records
from structens.evaluate.evaluation import Evaluation, Group, Row
from structens.evaluate.groups import groups
from structens.evaluate.notes import notes_on_experts, notes_on_records
from structens.evaluate.oracle import best_expert_per_record, best_path
from structens.evaluate.rates import rates

ORACLE_EXPERT = "best expert per record"
ORACLE_PATH = "best path of the slots"


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
        "auto": position by position for lists of tokens whose lengths all agree, else edit distance.
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
    [('a', 'expert', 2), ('b', 'expert', 1), ('vote', 'ensemble', 0), ('best expert per record', 'oracle', 0)]
    """
    systems = dict(systems or {})
    _check_names(X, systems)
    ignore = ignore_tokens if isinstance(ignore_tokens, str) else tuple(ignore_tokens)
    counts = _counts(X, systems, slots if not ignore else None, loss, ignore)
    kind = _kinds(X, systems, kinds or {})
    draws = {"n_resamples": n_resamples, "seed": seed, "level": level}
    rows = _rows(counts, kind, present_only, draws)
    verdict = _verdict(rows, counts, present_only, draws)
    absent = {name: c.record[c.missing].tolist() for name, c in counts.items() if kind[name] != "oracle"}
    missing = {name: [X.ids[i] for i in records] for name, records in absent.items() if records}
    copies, disjoint = possible_copies(X), disjoint_labels(X)
    changed = None if verdict is None else _changed(X, systems, verdict)
    notes = notes_on_records(X, counts, missing, present_only=present_only)
    notes += notes_on_experts(copies, disjoint)
    if verdict is not None and changed == 0:
        notes.append(f"{verdict.a!r} answers every record exactly as {verdict.b!r}: combining changed nothing")
    if slots is not None and ignore:
        notes.append("the best path of the slots is not shown: it cannot leave out ignored tokens")
    return Evaluation(
        rows=rows,
        groups=_groups(X, by, counts, kind, present_only, draws) if by is not None else (),
        by=by,
        notes=tuple(notes),
        verdict=verdict,
        changed=changed,
        missing=missing,
        n_records=len(counts[ORACLE_EXPERT]),
        n_unscored=len(X) - len(counts[ORACLE_EXPERT]),
        loss=counts[ORACLE_EXPERT].loss,
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


def _counts(
    X: ExpertPredictions, systems: Mapping[str, Any], slots: Slots | None, loss: str, ignore: Iterable[str]
) -> dict[str, ErrorCounts]:
    """Counts of experts, systems and oracles over the same records, by rising id."""
    counts = count_systems({**{name: name for name in X.names}, **systems}, X, loss=loss, ignore_tokens=ignore)
    check_same_records(list(counts.values()))
    used, order = counts[X.names[0]].loss, canonical_order(X, counts[X.names[0]])
    counts = {name: c[order] for name, c in counts.items()}
    counts[ORACLE_EXPERT] = best_expert_per_record([counts[name] for name in X.names])
    if slots is not None:
        counts[ORACLE_PATH] = best_path(X, slots, loss=used)[order]
    return counts


def _kinds(X: ExpertPredictions, systems: Mapping[str, Any], kinds: Mapping[str, str]) -> dict[str, str]:
    for name, kind in kinds.items():
        if name not in systems or kind in ("expert", "oracle"):
            raise DataError(
                f"{name!r} cannot be given the kind {kind!r}", hint="kinds are of systems, such as 'baseline'"
            )
    oracles = {ORACLE_EXPERT: "oracle", ORACLE_PATH: "oracle"}
    return dict.fromkeys(X.names, "expert") | dict.fromkeys(systems, "ensemble") | dict(kinds) | oracles


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
