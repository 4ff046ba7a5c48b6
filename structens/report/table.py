"""Evaluations and comparisons as text: a table for people, Markdown, or strict JSON."""

from __future__ import annotations

import json
import re
import textwrap
from typing import Literal

from rich.cells import cell_len

from structens.core import ParameterError
from structens.evaluate import Comparison, Evaluation
from structens.report.columns import JOINED, UNIT_NAME, Sheet, band, group_sheet, system_sheet
from structens.report.legend import legend
from structens.report.text import fit, number, paint, percent, visible

Format = Literal["table", "json", "md"]
_NAME_WIDTH, _SHORT_NAME = 30, 10
_SPACE = 2
_DROPPABLE = (("sub", "del", "ins", "errors"), ("kind",), ("wrong %",))  # both averages stay, by policy


def render(
    evaluation: Evaluation,
    format: Format | str = "table",
    *,
    width: int = 100,
    color: bool = False,
    definitions: bool = False,
) -> str:
    """The evaluation as text that ends in a line feed.

    Parameters
    ----------
    evaluation : Evaluation
    format : {"table", "json", "md"}
        "json" is one strict JSON object: undefined numbers are null.
    width : int
        Terminal cells that the table may take; columns are left out, least important first, until it fits.
    color : bool
        Use escape codes, in the table only; see `wants_color`.
    definitions : bool
        Define every printed number at length below the table.

    Raises
    ------
    ParameterError
        If the format is unknown.

    Examples
    --------
    >>> from structens.core import ExpertPredictions
    >>> from structens.evaluate import evaluate_experts
    >>> X = ExpertPredictions.of({"a": ["abc", "dxx"], "b": ["axc", "def"]}, gold=["abc", "def"])
    >>> text = render(evaluate_experts(X, {"vote": ["abc", "def"]}))
    >>> print(text.splitlines()[2][:35])
    *  vote                    ensemble
    """
    if format not in ("table", "json", "md"):
        raise ParameterError(f"format must be table, json or md, got {format!r}")
    if format == "json":
        return json.dumps(evaluation.to_dict(), allow_nan=False, default=str) + "\n"
    if format == "md":
        return _markdown_page(evaluation, definitions)
    parts = [paint(_title(evaluation), "head", color) + "\n" + _lines(system_sheet(evaluation), width, color)]
    if evaluation.groups:
        by = paint(f"error % by {visible(evaluation.by)}", "head", color)
        parts.append(by + "\n" + _lines(_groups_within(evaluation, width), width, color))
    remarks = [paint(_wrap(line, width), style, color) for style, line in _remarks(evaluation, definitions)]
    return "\n\n".join([*parts, "\n".join(remarks), paint(evaluation.signature, "dim", color)]) + "\n"


def render_comparison(comparison: Comparison, format: Format | str = "table", *, width: int = 100) -> str:
    """A comparison as text that ends in a line feed.

    Examples
    --------
    >>> from structens.core import ExpertPredictions
    >>> from structens.evaluate import compare
    >>> X = ExpertPredictions.of({"a": ["ab", "cd"], "b": ["ab", "cx"]}, gold=["ab", "cd"])
    >>> print(render_comparison(compare(X, "a", "b"), width=80), end="")
    a makes 100.0 % fewer errors than b: 0.00 % against 25.00 %, difference -25.00
      points [-50.00, 0.00], p = 0.436 (paired bootstrap, 1,000 resamples); records
      better 1, worse 0, equal 1
    """
    if format not in ("table", "json", "md"):
        raise ParameterError(f"format must be table, json or md, got {format!r}")
    if format == "json":
        return json.dumps(comparison.to_dict(), allow_nan=False) + "\n"
    sentence = compared(comparison)
    return (_wrap(sentence, width) if format == "table" else sentence.replace(JOINED, " ")) + "\n"


def compared(c: Comparison) -> str:
    """A comparison in one sentence."""
    a, b = visible(c.a), visible(c.b)
    rates = f"{percent(c.rate_a)} % against {percent(c.rate_b)} %"
    counts = f"records better {number(c.better)}, worse {number(c.worse)}, equal {number(c.equal)}"
    if c.difference is None or c.rate_b is None:
        return f"{a} and {b} have no error rates to compare; {counts}"
    if c.difference == 0:
        what = f"{a} makes as many errors as {b}"
    elif c.rate_b == 0:
        what = f"{a} makes errors, {b} none"
    else:
        share = abs(c.difference) / c.rate_b
        what = f"{a} makes {100 * share:.1f} % {'fewer' if c.difference < 0 else 'more'} errors than {b}"
    test = "paired bootstrap" if c.test == "bootstrap" else "approximate randomisation"
    limits = f" {band(c.interval)}" if c.interval is not None else ""
    p = "" if c.p_value is None else f", p = {c.p_value:.3f} ({test}, {number(c.n_resamples)} resamples)"
    return f"{what}: {rates}, difference {percent(c.difference)} points{limits}{p}; {counts}"


def _title(evaluation: Evaluation) -> str:
    lengths = {row.rates.reference_length for row in evaluation.rows}
    unit = UNIT_NAME[evaluation.unit]
    size = f", {number(lengths.pop())} {unit}s of gold" if len(lengths) == 1 else ""
    return f"{unit.capitalize()} error on {number(evaluation.n_records)} records{size}"


def _remarks(evaluation: Evaluation, definitions: bool) -> list[tuple[str, str]]:
    """Style and text of each line below the tables."""
    out = []
    if evaluation.verdict is not None:
        changed = "" if evaluation.changed is None else f"; {number(evaluation.changed)} answers differ"
        out.append(("head", compared(evaluation.verdict) + changed))
    out += [("warn", f"note: {visible(note)}") for note in evaluation.notes]
    if definitions:
        return out + [("", line) for line in legend()]
    edits = "sub, del, ins: substitutions, deletions, insertions; " if evaluation.loss == "edit" else ""
    short = (
        f"error %: all errors / all reference units; {edits}mean %: mean of the records' own rates; wrong %: records "
    )
    short += f"not exactly right; interval: {number(evaluation.n_resamples)} paired resamples of the records; "
    return [*out, ("dim", short + "*: lowest error; oracle: a bound that looks at the right answers")]


def _groups_within(evaluation: Evaluation, width: int) -> Sheet:
    """As many systems beside the groups as fit, one at least."""
    n = min(len(evaluation.rows), 12)
    while n > 1 and _total(_sizes(group_sheet(evaluation, n))) > width:
        n -= 1
    return group_sheet(evaluation, n)


def _sizes(sheet: Sheet) -> list[int]:
    rows = [sheet.heads, *sheet.cells]
    return [min(_NAME_WIDTH, max(cell_len(row[k]) for row in rows)) for k in range(len(sheet.heads))]


def _total(sizes: list[int]) -> int:
    return sum(sizes) + _SPACE * (len(sizes) - 1)


def _lines(sheet: Sheet, width: int, color: bool) -> str:
    sizes, keep = _sizes(sheet), list(range(len(sheet.heads)))
    for names in _DROPPABLE:
        if _total([sizes[k] for k in keep]) > width:
            keep = [k for k in keep if sheet.heads[k] not in names]
    widest = max(range(sheet.n_text), key=sizes.__getitem__)
    excess = _total([sizes[k] for k in keep]) - width
    sizes[widest] = min(sizes[widest], max(_SHORT_NAME, sizes[widest] - excess))
    out = []
    for r, (cells, style) in enumerate(zip([sheet.heads, *sheet.cells], ["head", *sheet.styles], strict=True)):
        if sheet.rule_before is not None and r == sheet.rule_before + 1:
            out.append(paint("─" * _total([sizes[k] for k in keep]), "dim", color))
        fitted = (fit(cells[k], sizes[k], "left" if k < sheet.n_text else "right") for k in keep)
        out.append(paint((" " * _SPACE).join(fitted).rstrip(), style, color))
    return "\n".join(out)


def _markdown_page(evaluation: Evaluation, definitions: bool) -> str:
    parts = [f"**{_title(evaluation)}**", _markdown(system_sheet(evaluation))]
    if evaluation.groups:
        parts += [f"Error % by {_escaped(visible(evaluation.by))}:", _markdown(group_sheet(evaluation, 6))]
    remarks = (_escaped(line.replace(JOINED, " ")) for _, line in _remarks(evaluation, definitions))
    parts += ["\n".join(f"- {line}" for line in remarks), f"`{evaluation.signature}`"]
    return "\n\n".join(parts) + "\n"


def _markdown(sheet: Sheet) -> str:
    rule = tuple(":--" if k < sheet.n_text else "--:" for k in range(len(sheet.heads)))
    cells = [tuple(map(_escaped, row)) for row in (sheet.heads, *sheet.cells)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (cells[0], rule, *cells[1:]))


def _escaped(text: str) -> str:
    r"""The text without a meaning in Markdown or HTML: names come from files."""
    return re.sub(r"([\\`*_|<\[\]])", r"\\\1", text)


def _wrap(line: str, width: int) -> str:
    lines = textwrap.wrap(line, max(width, 20), subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace(JOINED, " ")
