"""What `evaluate` does: find out what the files hold, join them by id, count, list, compare."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from structens.cli.console import progress, say
from structens.cli.job import refuse_without_answers
from structens.core import DataError, ExpertPredictions, ParameterError
from structens.ensembles import METHODS
from structens.evaluate import (
    Evaluation,
    Row,
    alignment,
    compare_counts,
    evaluate_experts,
    evaluate_methods,
    record_rows,
)
from structens.io import Folding, Sequences, join_by_id, read_records, read_sequences
from structens.io.jsonl import kind_of, parse_line, place
from structens.io.record import check_tokens, references_of
from structens.io.source import read_bytes, read_lines
from structens.io.warning import Watch
from structens.report import render_comparison

EXPERTS_SHOWN = ("vote", "rover")


def read_scored(
    files: list[str], gold: str | None, experts: list[str] | None, unit: str, by: str | None, reading: dict[str, Any]
) -> tuple[ExpertPredictions, bool]:
    """The records to score, and whether they came with experts (else each file of predictions is one)."""
    if files.count("-") + (gold == "-") > 1:
        raise ParameterError("standard input can be read once")
    if len(files) == 1 and _has_experts(files[0]):
        X: ExpertPredictions = read_records(
            _open(files[0]),
            experts=experts,
            other_experts="refuse" if experts is None else "ignore",
            unit=unit,
            keep=[by] if by else [],
            **reading,
        )
        if experts is not None:
            refuse_without_answers(X, files[0])
        if by is not None and not any(by in field for field in X.fields or ()):
            raise DataError(f"no record has the field {by!r}", path=files[0], hint="--by names a key of the records")
        if gold is not None:
            X = _with_gold_of(X, read_sequences(_open(gold), _GOLD_KEYS, unit=unit, **reading), files[0])
        return X, True
    return _predictions(files, gold, unit, by, reading), False


def system_name(path: str) -> str:
    """Name in tables of a file of predictions.

    Examples
    --------
    >>> system_name("runs/a.jsonl.gz"), system_name("-")
    ('a', '-')
    """
    return Path(path).name.removesuffix(".gz").removesuffix(".zst").removesuffix(".jsonl") if path != "-" else "-"


class _Kept(io.BytesIO):
    """Bytes of a source that cannot be read twice."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


def _open(path: str) -> Any:
    """A source that can be read again: what comes by standard input or by a pipe is kept."""
    if path != "-" and (os.path.isfile(path) or not os.path.exists(path) or os.path.isdir(path)):
        return path
    if path not in _kept:
        _kept[path] = read_bytes(path)
    return _Kept(_kept[path], "standard input" if path == "-" else path)


_kept: dict[str, bytes] = {}


def _has_experts(path: str) -> bool:
    """Whether the first record of a file holds experts' answers; faults are left to the reader."""
    for line in lines_of(path):
        if line.strip():
            try:
                first = parse_line(line, path, 1) or {}
            except DataError:
                return True
            return isinstance(first.get("experts"), dict) or ("experts" in first and "prediction" not in first)
    return True


def lines_of(path: str) -> Iterator[bytes]:
    """The lines of a file, which may have been read before."""
    return (line for _, group in read_lines(_open(path)) for line in group)


def _predictions(
    files: list[str], gold: str | None, unit: str, by: str | None, reading: dict[str, Any]
) -> ExpertPredictions:
    """Files of predictions as experts of one collection: the records are those that have gold."""
    systems = {}
    for path in files:
        name = system_name(path)
        if name in systems:
            raise ParameterError(f"two files are named {name!r}; the rows of the table need different names")
        systems[name] = read_sequences(_open(path), ("prediction", "tokens", "text"), unit=unit, **reading)
    right = read_sequences(_open(gold or files[0]), "gold" if gold is None else _GOLD_KEYS, unit=unit, **reading)
    answers = {name: _joined(right, found) for name, found in systems.items()}
    kind = next((type(value) for value in right.values if value is not None), None)
    for found in systems.values():
        _check_kind(found, kind, right.path)
    alternatives, fields = _extras(gold or files[0], right.key, by, unit, Folding(**reading))
    X = ExpertPredictions.of(
        answers, gold=list(right.values), alternatives=alternatives, ids=list(right.ids), unit=unit
    )
    paths = ", ".join(dict.fromkeys([right.path, *(found.path for found in systems.values())]))
    watch = Watch(paths, normal_forms=reading["normalize"] == "none", spaces=X.unit in ("token", "word"))
    watch.look(X.alphabet.labels)
    return X if by is None else replace(X, fields=fields)


_GOLD_KEYS = ("gold", "tokens", "text")


def _joined(right: Sequences, found: Sequences) -> list[Any]:
    """Answers in the order of the gold; None where there is none."""
    pairs = join_by_id(right.ids, found.ids, left_name=right.path, right_name=found.path)
    out: list[Any] = [None] * len(right)
    for i, k in zip(pairs.left.tolist(), pairs.right.tolist(), strict=True):
        out[i] = found.values[k]
    if len(pairs.only_right):
        example = found.ids[int(pairs.only_right[0])]
        say(f"note: {found.path}: {len(pairs.only_right):,} records have no gold (first {example!r}) and are left out")
    return out


def _check_kind(found: Sequences, kind: type | None, gold: str) -> None:
    """Refuse a file of texts where the gold is lists of tokens, and the other way round."""
    value = next((value for value in found.values if value is not None), None)
    if value is not None and kind is not None and type(value) is not kind:
        ours, theirs = ("lists of tokens", "texts") if kind is str else ("texts", "lists of tokens")
        raise DataError(f"{found.key} holds {ours}, but the gold of {gold} is {theirs}", path=found.path)


def _extras(
    path: str, key: str, by: str | None, unit: str, folding: Folding
) -> tuple[list[list[Any]], tuple[dict[str, Any], ...]]:
    """Other right answers and the grouping field of each gold record; the file was read before."""
    alternatives, fields = [], []
    for line, raw in enumerate(lines_of(path), 1):
        record = parse_line(raw, path, line)
        if record is not None:
            others = references_of({**record, "gold": record[key]}, path, line)[1:]
            for i, other in enumerate(others):
                _check_alternative(other, type(record[key]), i, {"path": path, "line": line, "record": record["id"]})
            alternatives.append([folding.answer(other, unit) for other in others])
            fields.append({by: record[by]} if by and by in record else {})
    return alternatives, tuple(fields)


def _check_alternative(other: Any, kind: type, i: int, where: dict[str, Any]) -> None:
    steps = ("gold_alternatives", i)
    if type(other) is not kind:
        needed = "a string" if kind is str else "a list of strings"
        raise DataError(f"{place(*steps)} is {kind_of(other)}, {needed} is needed", **where)
    if isinstance(other, list):
        check_tokens(other, steps, where)


def _with_gold_of(X: ExpertPredictions, right: Sequences, name: str) -> ExpertPredictions:
    pairs = join_by_id(X.ids, right.ids, left_name=name, right_name=right.path)
    gold: list[Any] = [None] * len(X)
    for i, k in zip(pairs.left.tolist(), pairs.right.tolist(), strict=True):
        gold[i] = right.values[k]
    return X.with_gold(gold)


def evaluation_of(
    X: ExpertPredictions, methods: list[str] | None, scored: dict[str, Any], is_experts: bool, quiet: bool
) -> Evaluation:
    """Rows of experts or predictions, and of methods where there are experts to combine."""
    shown = list(methods) if methods is not None else list(EXPERTS_SHOWN if is_experts and X.n_experts > 1 else ())
    unknown = [name for name in shown if name not in METHODS]
    if unknown:
        raise ParameterError(f"method must be one of {', '.join(METHODS)}; got {unknown[0]!r}")
    if not is_experts:
        return _without_experts(evaluate_experts(X, **scored))
    if not shown:
        return evaluate_experts(X, **scored)
    with progress("methods", quiet=quiet, total=len(shown)) as step:
        return evaluate_methods(X, shown, progress=lambda name: step(1), **scored)


def _without_experts(evaluation: Evaluation) -> Evaluation:
    """Rows of files of predictions: no experts to choose from, so no oracles."""

    def system(rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return tuple(replace(row, kind="system") for row in rows if row.kind != "oracle")

    groups = tuple(replace(group, rows=system(group.rows)) for group in evaluation.groups)
    return replace(evaluation, rows=system(evaluation.rows), groups=groups)


def listed(X: ExpertPredictions, evaluation: Evaluation, with_alignment: bool) -> str:
    """One JSON line a record and system, whose counts add up to the table's."""
    lines = []
    for name in X.names:
        counts = evaluation.counts[name]
        answers = X[name]
        references = X.references
        for row, record in zip(record_rows(counts, X), counts.record.tolist(), strict=True):
            entry: dict[str, Any] = {"system": name, **row}
            if with_alignment:
                number = int(X.reference_offsets[record]) + max(row["reference"], 0)
                right = X.alphabet.decode(references[number])
                entry["alignment"] = [list(op) for op in alignment(right, _units(answers[record], X), loss=counts.loss)]
            lines.append(json.dumps(entry, ensure_ascii=False, allow_nan=False))
    return "\n".join(lines) + "\n"


def _units(answer: Any, X: ExpertPredictions) -> list[str]:
    from structens.core.units import cut

    if answer is None:
        return []
    return cut(answer, X.unit) if isinstance(answer, str) else answer


def compared(X: ExpertPredictions, evaluation: Evaluation, pair: str, form: str, n_resamples: int, seed: int) -> str:
    """Two rows of the table, record by record."""
    names = [name.strip() for name in pair.split(",")]
    if len(names) != 2:
        raise ParameterError(f"--compare takes two names by comma; got {pair!r}")
    by_label = {METHODS[name][0]: name for name in METHODS}
    rows = {row.name: row.name for row in evaluation.rows} | {by_label.get(n, n): n for n in evaluation.counts}
    for name in names:
        if name not in rows:
            raise DataError(f"there is no row {name!r}", hint=f"there are {', '.join(evaluation.counts)}")
    a, b = (rows[name] for name in names)
    found = compare_counts(evaluation.counts[a], evaluation.counts[b], (a, b), n_resamples=n_resamples, seed=seed)
    return render_comparison(found, form)
