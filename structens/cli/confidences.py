"""The confidences that predictions carry, and how `evaluate` shows whether they can be trusted."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from structens.cli.scoring import lines_of, system_name
from structens.core import DataError, ExpertPredictions
from structens.evaluate import Reliability, record_reliability, unit_reliability
from structens.io.jsonl import parse_line
from structens.report import reliability_svg, render_reliability

Found = dict[str, dict[str, Reliability]]


def confidences_of(X: ExpertPredictions, files: list[str]) -> Found:
    """Reliability of the confidences in files of predictions, of those that have some.

    Parameters
    ----------
    X : ExpertPredictions
        The predictions as experts, named after the files.
    files : list of str

    Raises
    ------
    DataError
        If a confidence is no number in [0, 1], or an answer has another number of them than of units.
    """
    out: Found = {}
    number = {i: k for k, i in enumerate(X.ids)}
    for path in files:
        name = system_name(path)
        units = np.full(len(X.hypotheses.values), np.nan)
        records: list[float | None] = [None] * len(X)
        for line, raw in enumerate(lines_of(path), 1):
            record = parse_line(raw, path, line)
            if record is None or record.get("id") not in number:
                continue
            k = number[record["id"]]
            where = {"path": path, "line": line, "record": record["id"]}
            row = k * X.n_experts + X.column(name)
            span = slice(*X.hypotheses.offsets[row : row + 2].tolist())
            _fill(units, span, record.get("confidence"), where)
            if record.get("confidence_record") is not None:
                records[k] = _checked([record["confidence_record"]], where)[0]
        each = {
            "units": unit_reliability(replace(X, confidence=units), name),
            "records": record_reliability(X, name, records),
        }
        if any(each.values()):
            out[name] = {what: one for what, one in each.items() if one is not None}
    return out


def _fill(units: Any, span: slice, given: Any, where: dict[str, Any]) -> None:
    if not isinstance(given, list):
        return
    n = span.stop - span.start
    if len(given) != n:
        hint = "evaluate predictions with the --unit they were made with, and unfolded"
        raise DataError(f"{len(given)} confidences for {n} units", hint=hint, **where)
    units[span] = _checked([np.nan if c is None else c for c in given], where)


def _checked(given: list[Any], where: dict[str, Any]) -> list[float]:
    for c in given:
        if isinstance(c, bool) or not isinstance(c, (int, float)) or not (np.isnan(c) or 0 <= c <= 1):
            raise DataError(f"a confidence must be a number between 0 and 1; got {c!r}", **where)
    return given


def shown(text: str, found: Found, form: str) -> str:
    """The evaluation's text with what is known of confidences."""
    if not found:
        return text
    if form == "json":
        plain = {name: {what: one.to_dict() for what, one in each.items()} for name, each in found.items()}
        return json.dumps({**json.loads(text), "reliability": plain}, allow_nan=False) + "\n"
    return text + "\n" + render_reliability(found, form)


def write_curve(path: str, found: Found) -> None:
    """Write the curve of units to an SVG file.

    Raises
    ------
    DataError
        If no prediction carries confidences.
    """
    from structens.io.output import atomic_output

    if not any("units" in each for each in found.values()):
        raise DataError("no prediction carries confidences", hint="files of `structens combine` do, as `confidence`")
    with atomic_output(path) as out:
        out.write(reliability_svg(found).encode())
