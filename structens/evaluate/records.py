"""Records one by one: rows to list, and answers of another file joined by id, never by place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structens.core import DataError, ExpertPredictions
from structens.core.predictions import Sequenced
from structens.evaluate.error_counts import ErrorCounts, ratio


def record_rows(counts: ErrorCounts, X: ExpertPredictions) -> list[dict[str, Any]]:
    """One JSON-ready row a record: id, errors by kind, reference length, rate (None where undefined).

    Examples
    --------
    >>> from structens.evaluate import count_errors
    >>> X = ExpertPredictions.of({"a": [["uh", "huh"]]}, gold=[[]], ids=["u1"])
    >>> record_rows(count_errors("a", X), X)[0]["ins"], record_rows(count_errors("a", X), X)[0]["rate"]
    (2, None)
    """
    columns = {
        "errors": counts.errors,
        "sub": counts.substitutions,
        "del": counts.deletions,
        "ins": counts.insertions,
        "hits": counts.hits,
        "ref_len": counts.reference_length,
        "missing": counts.missing,
        "reference": counts.reference,
    }
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*(c.tolist() for c in columns.values()), strict=True)]
    ids = (X.ids[i] for i in counts.record.tolist())
    return [
        {"id": record, **row, "rate": ratio(row["errors"], row["ref_len"])}
        for record, row in zip(ids, rows, strict=True)
    ]


def match_by_id(X: ExpertPredictions, ids: Sequence[Any], answers: Sequence[Sequenced | None]) -> tuple[list[Any], int]:
    """Answers that stand in another file, in the order of X's records.

    Returns
    -------
    answers : list
        None for records that the other file lacks.
    n_unknown : int
        Answers with an id that X lacks.

    Raises
    ------
    DataError
        If an id occurs twice, the numbers of ids and answers differ, or no id is shared.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": [["x"], ["y"]]}, ids=["u1", "u2"])
    >>> match_by_id(X, ["u2", "u7"], [["z"], ["w"]])
    ([None, ['z']], 1)
    """
    if len(ids) != len(answers):
        raise DataError(f"{len(ids)} ids for {len(answers)} answers")
    table = dict(zip(ids, answers, strict=True))
    if len(table) != len(ids):
        seen: set[Any] = set()
        twice = next(i for i in ids if i in seen or seen.add(i))  # type: ignore[func-returns-value]
        raise DataError("two answers have this id", record=twice)
    shared = sum(i in table for i in X.ids)
    if not shared and len(X) and len(ids):
        rule = f"0 of {len(X)} ids are shared: here {X.ids[0]!r}, there {ids[0]!r}"
        raise DataError(rule, hint="make the ids equal, character by character")
    return [table.get(i) for i in X.ids], len(ids) - shared
