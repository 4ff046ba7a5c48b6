"""The table of how often each two experts say the same."""

from __future__ import annotations

import json
import math

from structens.core import ParameterError
from structens.evaluate import Agreement
from structens.report.text import visible


def render_agreement(agreement: Agreement, format: str = "table") -> str:
    """Agreement of each two experts in percent of aligned units, as text that ends in a line feed.

    Columns are numbered like the rows, so that any number of experts fits.

    Parameters
    ----------
    agreement : Agreement
    format : {"table", "json", "md"}

    Raises
    ------
    ParameterError
        If the format is unknown.

    Examples
    --------
    >>> from structens.core import ExpertPredictions
    >>> from structens.evaluate import agreement
    >>> print(render_agreement(agreement(ExpertPredictions.of({"a": ["abcd"], "b": ["abxd"]}))), end="")
    Agreement of experts, % of aligned units
            1    2
    1  a    -   75
    2  b   75    -
    """
    if format not in ("table", "json", "md"):
        raise ParameterError(f"format must be table, json or md, got {format!r}")
    if format == "json":
        return json.dumps(agreement.to_dict(), allow_nan=False) + "\n"
    names = [visible(name) for name in agreement.names]
    heads = [str(j + 1) for j in range(len(names))]
    rows = [
        ["-" if i == j or math.isnan(value) else f"{100 * value:.0f}" for j, value in enumerate(row)]
        for i, row in enumerate(agreement.rate.tolist())
    ]
    if format == "md":
        lines = ["| " + " | ".join(["expert", *heads]) + " |", "|---" * (len(names) + 1) + "|"]
        lines += [
            f"| {i + 1} {name} | " + " | ".join(row) + " |"
            for i, (name, row) in enumerate(zip(names, rows, strict=True))
        ]
        return "\n".join(lines) + "\n"
    place, width = len(heads[-1]), max(len(name) for name in names)
    blank = " " * (place + 2 + width)
    lines = ["Agreement of experts, % of aligned units", blank + "".join(f"{head:>5}" for head in heads)]
    for head, name, row in zip(heads, names, rows, strict=True):
        lines.append(f"{head:>{place}}  {name:<{width}}" + "".join(f"{cell:>5}" for cell in row))
    return "\n".join(lines) + "\n"
