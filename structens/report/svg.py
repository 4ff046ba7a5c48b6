"""A picture of an automaton as SVG, drawn here: nothing else is needed to see it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import accumulate, pairwise
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from structens.report.layout import Layout, layered
from structens.report.picture import Picture, refuse_large
from structens.report.text import visible

MOST_DRAWN = 2000
LONGEST = 28
"""Cells of a label or note; the rest is cut, and told where the pointer is."""

_RADIUS, _PITCH, _NOTED_PITCH, _REACH, _MARGIN = 13.0, 26.0, 36.0, 44.0, 22.0
_LABEL_SIZE, _NOTE_SIZE = 15.0, 10.0
_BEST, _OTHER, _INK, _FAINT = "#1a5fb4", "#a9b4c2", "#1f2937", "#5b6675"
_STYLE = (
    "text{font-family:'DejaVu Sans','Segoe UI',Helvetica,Arial,sans-serif;text-anchor:middle}"
    f".l{{font-size:{_LABEL_SIZE:g}px;fill:{_INK}}}.p{{fill:#fff}}"
    f".n{{font-size:{_NOTE_SIZE:g}px;fill:{_FAINT};stroke:#fff;stroke-width:3px;paint-order:stroke}}"
    f".b{{font-weight:bold;fill:#123f7a}}.s{{font-size:11px;fill:{_FAINT}}}"
    f".t{{font-size:16px;font-weight:bold;fill:{_INK};text-anchor:start}}"
    f".e{{fill:none;stroke:{_OTHER}}}.a{{fill:{_OTHER}}}.e.h{{stroke:{_BEST}}}.a.h{{fill:{_BEST}}}"
    f".q{{fill:#fff;stroke:#46566b;stroke-width:1.5}}"
)

Point = tuple[float, float]


def to_svg(picture: Picture) -> str:
    """An SVG document: left to right, thick where weight is, final states as double circles.

    Parallel transitions fan out, the thickest in the middle. It needs no fonts or scripts; the text is escaped, and the
    hint of a transition shows under the pointer.

    Parameters
    ----------
    picture : Picture
        From `structens.report.picture` or `structens.report.expert_picture`.

    Raises
    ------
    ParameterError
        If it has more than 2,000 transitions or states.

    Examples
    --------
    >>> from structens.core import Alphabet, Automaton
    >>> from structens.report import picture
    >>> text = to_svg(picture(Automaton.from_transitions([(0, 1, 0)], final=[1]), alphabet=Alphabet(("<",))))
    >>> text.startswith("<svg"), ">&lt;</text>" in text
    (True, True)
    """
    refuse_large(picture, MOST_DRAWN)
    bundles = _bundles(picture)
    noted = any(picture.notes)
    pitch = _NOTED_PITCH if noted else _PITCH
    plan = layered(
        picture.automaton.n_states,
        [(b.source, b.target) for b in bundles],
        [_extent(b, pitch, noted) for b in bundles],
        [8.0 if b.best else 1.0 for b in bundles],
        _RADIUS,
    )
    left, width = _columns(picture, bundles, plan)
    top = _MARGIN + (30.0 if picture.title else 0.0)
    canvas = _Canvas(left, [y + top for y in plan.y], plan, top)
    edges: list[str] = []
    texts: dict[int, str] = {}
    order = sorted(
        ((e in picture.best, picture.thickness[e], e, k, b) for b in bundles for k, e in enumerate(b.members)),
        key=lambda row: row[:3],
    )
    for best, _, e, k, bundle in order:  # the best path last, on top
        line, texts[e] = _transition(picture, canvas, bundle, e, _offset(k) * pitch, best)
        edges.append(line)
    bottom = [y + _RADIUS for y in canvas.y]
    bottom += [y + top + _extent(b, pitch, noted)[1] for b, way in zip(bundles, plan.way, strict=True) for _, y in way]
    height = max(bottom, default=top) + _MARGIN + (10.0 if any(picture.stops) else 0.0)
    return _document(picture, width, height, [*edges, *_states(picture, canvas), *(texts[e] for e in sorted(texts))])


class _Bundle(NamedTuple):
    """All transitions between two states, the thickest first."""

    number: int
    source: int
    target: int
    members: list[int]
    best: bool


class _Canvas(NamedTuple):
    left: list[tuple[float, float]]  # left and right of each column
    y: list[float]
    plan: Layout
    top: float

    def state(self, q: int) -> Point:
        a, b = self.left[self.plan.column[q]]
        return (a + b) / 2, self.y[q]


def _bundles(picture: Picture) -> list[_Bundle]:
    groups: dict[tuple[int, int], list[int]] = {}
    automaton = picture.automaton
    for e, pair in enumerate(zip(automaton.source.tolist(), automaton.target.tolist(), strict=True)):
        groups.setdefault(pair, []).append(e)
    out: list[_Bundle] = []
    for (q, r), members in sorted(groups.items()):
        members.sort(key=lambda e: (e not in picture.best, -round(float(picture.thickness[e]), 9), e))
        out.append(_Bundle(len(out), q, r, members, members[0] in picture.best))
    return out


def _offset(k: int) -> int:
    """Rows of a bundle: 0, -1, 1, -2, 2, ... from its middle."""
    return (k + 1) // 2 * (-1 if k % 2 else 1)


def _extent(bundle: _Bundle, pitch: float, noted: bool) -> tuple[float, float]:
    n = len(bundle.members)
    return n // 2 * pitch + 10.0, (n - 1) // 2 * pitch + (20.0 if noted else 10.0)


def _columns(picture: Picture, bundles: Sequence[_Bundle], plan: Layout) -> tuple[list[tuple[float, float]], float]:
    """Left and right of each column: states take their size, what lies between them its longest text."""
    n_columns = max(plan.column, default=0) + 1
    widths = [2 * _RADIUS if c % 2 == 0 else 16.0 for c in range(n_columns)]
    for bundle, way in zip(bundles, plan.way, strict=True):
        c = way[len(way) // 2][0]
        for e in bundle.members:
            widths[c] = max(widths[c], _width(picture, e))
    gaps = [0.0 if c == 0 else _REACH for c in range(n_columns)]
    ends = list(accumulate(gap + width for gap, width in zip(gaps, widths, strict=True)))
    begin = _MARGIN + 30.0  # the arrow into the start
    columns = [(begin + end - width, begin + end) for end, width in zip(ends, widths, strict=True)]
    title = _MARGIN * 2 + 10.2 * cell_len(visible(picture.title))
    return columns, max(columns[-1][1] + _MARGIN, title)


def _width(picture: Picture, e: int) -> float:
    label, note = (clipped(text) for text in (picture.labels[e], picture.notes[e]))
    return max(0.68 * _LABEL_SIZE * cell_len(label), 0.62 * _NOTE_SIZE * cell_len(note)) + 6.0


def clipped(text: str) -> str:
    """A text of at most `LONGEST` cells.

    Examples
    --------
    >>> clipped("short"), len(clipped("x" * 100))
    ('short', 28)
    """
    return text if cell_len(text) <= LONGEST else set_cell_size(text, LONGEST - 1).rstrip() + "…"


def _transition(
    picture: Picture, canvas: _Canvas, bundle: _Bundle, e: int, offset: float, best: bool
) -> tuple[str, str]:
    boxes = [(*canvas.left[c], y + canvas.top + offset) for c, y in canvas.plan.way[bundle.number]]
    middle = len(boxes) // 2
    left, right, y = boxes[middle]
    centres = [((a + b) / 2, at) for a, b, at in boxes]
    share = min(max(float(picture.thickness[e]), 0.0), 1.0)
    stroke = 1.2 + 6.8 * share
    way = [*centres[:middle], (left, y), (right, y), *centres[middle + 1 :]]
    path, (tip, angle) = _curve(canvas.state(bundle.source), way, canvas.state(bundle.target), stroke)
    mark = " h" if best else ""
    hint = f"<title>{_text(picture.hints[e])}</title>"
    edge = (
        f'<g><path class="e{mark}" d="{path}" stroke-width="{stroke:.1f}"/>'
        f'<path class="a{mark}" d="{_arrow(tip, angle, stroke)}"/>{hint}</g>'
    )
    x, bold = (left + right) / 2, " b" if best else ""
    label, note = clipped(picture.labels[e]), clipped(picture.notes[e])
    half = 0.31 * _LABEL_SIZE * cell_len(label) + 4.5
    text = f'<rect class="p" x="{x - half:.1f}" y="{y - 9:.1f}" width="{2 * half:.1f}" height="18" rx="5"/>'
    text += f'<text class="l{bold}" x="{x:.1f}" y="{y + 5.3:.1f}">{_text(label)}</text>'
    if note:
        text += f'<text class="n" x="{x:.1f}" y="{y + 18:.1f}">{_text(note)}</text>'
    return edge, f"<g>{text}{hint}</g>"


def _curve(start: Point, way: Sequence[Point], end: Point, stroke: float) -> tuple[str, tuple[Point, float]]:
    """A smooth path from circle to circle through the points, and where its arrow's tip is, and the arrow's angle.

    It is level at the label, and elsewhere goes through a point in the direction of the points around it.
    """
    points = [start, *way, end]
    secants = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(points)]
    # harmonic means, so that a path rises and falls no more than its points do (Fritsch and Butland, 1984)
    slopes = [2 * m * n / (m + n) if m * n > 0 else 0.0 for m, n in pairwise(secants)]
    first = start[0] + 0.45 * (way[0][0] - start[0]), start[1] + 0.85 * (way[0][1] - start[1])
    x, y = _on_circle(start, first, _RADIUS)
    reach = 0.4 * (way[0][0] - x)
    out = [f"M{x:.1f} {y:.1f}C{first[0]:.1f} {first[1]:.1f} "]
    out.append(f"{way[0][0] - reach:.1f} {way[0][1] - slopes[0] * reach:.1f} {way[0][0]:.1f} {way[0][1]:.1f}")
    for (a, b), (m, n) in zip(pairwise(way), pairwise(slopes), strict=True):
        reach = 0.4 * (b[0] - a[0])
        out.append(f"C{a[0] + reach:.1f} {a[1] + m * reach:.1f} {b[0] - reach:.1f} {b[1] - n * reach:.1f} ")
        out.append(f"{b[0]:.1f} {b[1]:.1f}")
    right, y = way[-1]
    last = end[0] - 0.45 * (end[0] - right), end[1] + 0.85 * (y - end[1])
    tip = _on_circle(end, last, _RADIUS + 1.5)
    base = _on_circle(end, last, _RADIUS + 1.5 + 0.8 * _arrow_length(stroke))
    reach = 0.4 * (base[0] - right)
    out.append(f"C{right + reach:.1f} {y + slopes[-1] * reach:.1f} {last[0]:.1f} {last[1]:.1f} ")
    out.append(f"{base[0]:.1f} {base[1]:.1f}")
    return "".join(out), (tip, math.atan2(end[1] - last[1], end[0] - last[0]))


def _on_circle(centre: Point, towards: Point, radius: float) -> Point:
    dx, dy = towards[0] - centre[0], towards[1] - centre[1]
    length = math.hypot(dx, dy) or 1.0
    return centre[0] + radius * dx / length, centre[1] + radius * dy / length


def _arrow_length(stroke: float) -> float:
    return 6.0 + 0.7 * stroke


def _arrow(tip: Point, angle: float, stroke: float) -> str:
    length, half = _arrow_length(stroke), 2.6 + 0.55 * stroke
    cos, sin = math.cos(angle), math.sin(angle)
    corners = [(0.0, 0.0), (-length, half), (-length, -half)]
    points = [(tip[0] + u * cos - v * sin, tip[1] + u * sin + v * cos) for u, v in corners]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + "Z"


def _states(picture: Picture, canvas: _Canvas) -> list[str]:
    out = []
    for q in range(picture.automaton.n_states):
        x, y = canvas.state(q)
        name = visible(picture.states[q])
        circles = f'<circle class="q" cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS:g}"/>'
        if picture.automaton.is_final[q]:
            circles += f'<circle class="q" cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS - 3:g}"/>'
        if q == picture.automaton.start:
            circles += f'<path class="e" d="M{x - 40:.1f} {y:.1f}H{x - 21:.1f}" stroke-width="1.5"/>'
            circles += f'<path class="a" d="{_arrow((x - _RADIUS - 1, y), 0.0, 1.5)}"/>'
        if cell_len(name) <= 3:
            circles += f'<text class="s" x="{x:.1f}" y="{y + 4:.1f}">{_text(name)}</text>'
        if picture.stops[q]:
            circles += f'<text class="n" x="{x:.1f}" y="{y + _RADIUS + 12:.1f}">{_text(picture.stops[q])}</text>'
        out.append(f"<g>{circles}<title>{_text('state ' + name)}</title></g>")
    return out


def _document(picture: Picture, width: float, height: float, parts: list[str]) -> str:
    title = _text(visible(picture.title) or "automaton")
    heading = f'<text class="t" x="{_MARGIN:g}" y="{_MARGIN + 12:g}">{title}</text>' if picture.title else ""
    w, h = math.ceil(width), math.ceil(height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n"
        f'<rect width="{w}" height="{h}" rx="6" fill="#fff"/>\n{heading}\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _text(text: str) -> str:
    return escape("".join("\ufffd" if c in "\ufffe\uffff" else c for c in text))
