"""Columns of the tables of an evaluation: what stands in them, before any layout."""

from __future__ import annotations

from dataclasses import dataclass

from structens.evaluate import Evaluation, Interval, Row
from structens.report.text import number, percent, visible

JOINED = "\x1f"
"""A blank where no line is broken; no name holds it, since `visible` escapes it."""
UNIT_NAME = {"char": "character", "codepoint": "code point", "word": "word", "line": "line", "token": "token"}


@dataclass(frozen=True)
class Sheet:
    """A table without layout.

    Parameters
    ----------
    heads : tuple of str
    cells : list of tuple of str
        One tuple a row.
    styles : list of str
        Style of each row.
    n_text : int
        So many first columns are text, aligned left; the others are numbers.
    rule_before : int or None
        Row before which a rule is drawn.
    """

    heads: tuple[str, ...]
    cells: list[tuple[str, ...]]
    styles: list[str]
    n_text: int
    rule_before: int | None = None


def ranked(rows: tuple[Row, ...]) -> list[Row]:
    """Rows by rising error rate, those without a rate by errors after them, oracles last; ties stay as given."""
    return sorted(rows, key=_rank)


def best_row(rows: tuple[Row, ...]) -> Row | None:
    """The row with the lowest error rate that is no oracle and has scored a record."""
    systems = [row for row in ranked(rows) if row.kind != "oracle" and row.rates.n_records]
    return systems[0] if systems else None


def band(interval: Interval | None) -> str:
    r"""An interval in percent; JOINED keeps it on one line.

    Examples
    --------
    >>> band(Interval(0.058, 0.0651))
    '[5.80,\x1f6.51]'
    """
    return "" if interval is None else f"[{percent(interval.low)},{JOINED}{percent(interval.high)}]"


def system_sheet(evaluation: Evaluation) -> Sheet:
    """One row a system, sorted; the best is marked with a star."""
    rows, best = ranked(evaluation.rows), best_row(evaluation.rows)
    edits = evaluation.loss == "edit"
    missing = any(row.rates.missing for row in rows)
    middle = ("sub", "del", "ins") if edits else ("errors",)
    heads = ["", "system", "kind", f"error % [{100 * evaluation.level:g} %]", *middle, "mean %", "wrong %"]
    widths = _band_widths([row.interval for row in rows])
    cells = []
    for row in rows:
        r = row.rates
        rate = f"{percent(r.rate)} {_padded_band(row.interval, widths)}".rstrip()
        counts = (r.substitutions, r.deletions, r.insertions) if edits else (r.errors,)
        cell = ["*" if row is best else "", visible(row.name), visible(row.kind), rate, *map(number, counts)]
        cell += [percent(r.mean_record_rate), percent(r.sequence_error)]
        cells.append((*cell, *((number(r.missing),) if missing else ())))
    styles = ["good" if row is best else "dim" if row.kind == "oracle" else "" for row in rows]
    oracles = [k for k, row in enumerate(rows) if row.kind == "oracle"]
    heads += ["missing"] * missing
    return Sheet(tuple(heads), cells, styles, 3, oracles[0] if oracles and oracles[0] else None)


def group_sheet(evaluation: Evaluation, n_systems: int) -> Sheet:
    """One row a group; error rates of the best expert, of other systems by rank, and of the last oracle."""
    names = group_systems(evaluation)[:n_systems]
    heads = (visible(evaluation.by), "records", *map(visible, names))
    cells: list[tuple[str, ...]] = []
    for group in evaluation.groups:
        rate = {row.name: row.rates.rate for row in group.rows}
        value = "(no value)" if group.value is None else visible(group.value)
        cells.append((value, number(group.n_records), *(percent(rate[name]) for name in names)))
    return Sheet(heads, cells, [""] * len(cells), 1)


def group_systems(evaluation: Evaluation) -> list[str]:
    """Systems worth a column beside groups, the most important first."""
    rows = ranked(evaluation.rows)
    others = [row.name for row in rows if row.kind not in ("expert", "oracle")]
    experts = [row.name for row in rows if row.kind == "expert"]
    oracles = [row.name for row in rows if row.kind == "oracle"]
    return [*others[:1], *experts[:1], *oracles[:1], *others[1:], *experts[1:]]


def _rank(row: Row) -> tuple[bool, bool, float]:
    rate = row.rates.rate
    return (row.kind == "oracle", rate is None, row.rates.errors if rate is None else rate)


def _band_widths(intervals: list[Interval | None]) -> tuple[int, int]:
    known = [i for i in intervals if i is not None]
    return (
        max((len(percent(i.low)) for i in known), default=0),
        max((len(percent(i.high)) for i in known), default=0),
    )


def _padded_band(interval: Interval | None, widths: tuple[int, int]) -> str:
    if interval is None:
        return ""
    return f"[{percent(interval.low):>{widths[0]}}, {percent(interval.high):>{widths[1]}}]"
