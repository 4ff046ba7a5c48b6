"""Reports: evaluations, comparisons and alignments as text."""

from structens.report.alignment import render_alignment
from structens.report.legend import DEFINITIONS, legend
from structens.report.table import render, render_comparison
from structens.report.text import wants_color

__all__ = ["DEFINITIONS", "legend", "render", "render_alignment", "render_comparison", "wants_color"]
