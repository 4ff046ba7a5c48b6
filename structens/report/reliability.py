"""Reliability of confidences as text, Markdown, and as a curve in SVG."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from structens.core import ParameterError
from structens.evaluate.reliability import Reliability
from structens.report.text import number, visible

Found = Mapping[str, Mapping[str, Reliability]]
"""Name of the system -> "units" or "records" -> reliability."""

_SIZE, _MARGIN = 320.0, 46.0
_INK, _FAINT, _COLORS = "#1f2937", "#a9b4c2", ("#1a5fb4", "#c64600", "#26a269", "#813d9c", "#a51d2d", "#63452c")


def render_reliability(found: Found, format: str = "table") -> str:
    """What can be said of confidences, as text that ends in a line feed; empty where there are none.

    Parameters
    ----------
    found : mapping
    format : {"table", "md"}

    Raises
    ------
    ParameterError
        If the format is unknown.

    Examples
    --------
    >>> from structens.evaluate import reliability
    >>> one = reliability([0.95] * 8 + [0.45] * 2, [True] * 8 + [True, False])
    >>> print(render_reliability({"out": {"units": one}}), end="")
    Confidences of out, units: 10, of which 1 wrong; expected calibration error 0.050, Brier score 0.053;
      the 10 % least sure hold 50 % of the errors
      confidence       n  mean   right
      0.4 to 0.5       2  0.450  0.500
      0.9 to 1.0       8  0.950  1.000
    """
    if format not in ("table", "md"):
        raise ParameterError(f"format must be table or md; got {format!r}")
    parts = [_block(visible(name), what, one, format) for name, each in found.items() for what, one in each.items()]
    return "\n".join(parts)


def _block(name: str, what: str, one: Reliability, format: str) -> str:
    head = f"Confidences of {name}, {what}: {number(one.n)}, of which {number(one.n_wrong)} wrong; "
    head += f"expected calibration error {one.calibration_error:.3f}, Brier score {one.brier:.3f}"
    least = one.errors_in_least_sure
    held = "" if least is None else f"the 10 % least sure hold {100 * least:.0f} % of the errors"
    rows = [(f"{b.low:.1f} to {b.high:.1f}", number(b.n), f"{b.confidence:.3f}", f"{b.right:.3f}") for b in one.bins]
    if format == "md":
        lines = ["| confidence | n | mean | right |", "| :-- | --: | --: | --: |"]
        lines += ["| " + " | ".join(row) + " |" for row in rows]
        return f"{head}{'; ' if held else ''}{held}\n\n" + "\n".join(lines) + "\n"
    lines = [head + (f";\n  {held}" if held else ""), f"  {'confidence':<10}  {'n':>6}  {'mean':<5}  {'right':<5}"]
    lines += [f"  {a:<10}  {n:>6}  {mean}  {right}" for a, n, mean, right in rows]
    return "\n".join(lines) + "\n"


def reliability_svg(found: Found, what: str = "units") -> str:
    """Part right against mean confidence, a line a system; on the diagonal confidences can be taken at their word.

    Parameters
    ----------
    found : mapping
        As for `render_reliability`.
    what : {"units", "records"}

    Examples
    --------
    >>> from structens.evaluate import reliability
    >>> one = reliability([0.95, 0.45], [True, False])
    >>> text = reliability_svg({"<out>": {"units": one}})
    >>> text.count("<circle"), "&lt;out&gt;" in text
    (2, True)
    """
    systems = [(name, each[what]) for name, each in found.items() if what in each]
    body = [_axes(what)]
    for k, (name, one) in enumerate(systems):
        color = _COLORS[k % len(_COLORS)]
        points = [(_x(b.confidence), _y(b.right), 3.0 + 6.0 * (b.n / one.n) ** 0.5, b) for b in one.bins]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _, _ in points)
        body.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="1.5"/>')
        body += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" fill="{color}" fill-opacity="0.6">'
            f"<title>{b.n} of mean confidence {b.confidence:.3f}, {b.right:.3f} right</title></circle>"
            for x, y, r, b in points
        ]
        label = f"{visible(name)}: calibration error {one.calibration_error:.3f}"
        body.append(f'<text x="{_x(0.03):.1f}" y="{_y(0.97) + 16 * k:.1f}" fill="{color}">{escape(label)}</text>')
    size = _SIZE + 2 * _MARGIN
    style = f"<style>text{{font:12px 'DejaVu Sans','Segoe UI',Arial,sans-serif;fill:{_INK}}}</style>"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size:g} {size:g}" width="{size:g}" height="{size:g}">'
    )
    return head + style + f'<rect width="{size:g}" height="{size:g}" fill="#fff"/>' + "".join(body) + "</svg>\n"


def _axes(what: str) -> str:
    out = [
        f'<rect x="{_MARGIN:g}" y="{_MARGIN:g}" width="{_SIZE:g}" height="{_SIZE:g}" fill="none" stroke="{_FAINT}"/>',
        f'<path d="M{_x(0):g},{_y(0):g}L{_x(1):g},{_y(1):g}" stroke="{_FAINT}" stroke-dasharray="4 4"/>',
        f'<text x="{_x(0.5):g}" y="{_y(0) + 36:g}" text-anchor="middle">mean confidence of {what}</text>',
        f'<text transform="translate({_x(0) - 32:g},{_y(0.5):g}) rotate(-90)" text-anchor="middle">part right</text>',
    ]
    for tick in (0.0, 0.5, 1.0):
        out.append(f'<text x="{_x(tick):g}" y="{_y(0) + 18:g}" text-anchor="middle">{tick:g}</text>')
        out.append(f'<text x="{_x(0) - 8:g}" y="{_y(tick) + 4:g}" text-anchor="end">{tick:g}</text>')
    return "".join(out)


def _x(value: float) -> float:
    return _MARGIN + _SIZE * value


def _y(value: float) -> float:
    return _MARGIN + _SIZE * (1.0 - value)
