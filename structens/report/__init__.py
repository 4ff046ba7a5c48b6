"""Reports: evaluations, comparisons and alignments as text."""

from structens.report.agreement import render_agreement
from structens.report.alignment import render_alignment
from structens.report.dot import to_dot
from structens.report.legend import DEFINITIONS, legend
from structens.report.picture import Picture, expert_picture, picture
from structens.report.svg import to_svg
from structens.report.table import render, render_comparison
from structens.report.text import wants_color

__all__ = [
    "DEFINITIONS",
    "Picture",
    "expert_picture",
    "legend",
    "picture",
    "render",
    "render_agreement",
    "render_alignment",
    "render_comparison",
    "to_dot",
    "to_svg",
    "wants_color",
]
