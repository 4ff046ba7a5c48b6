"""Reports: evaluations, comparisons and alignments as text."""

from structens.report.agreement import render_agreement
from structens.report.alignment import render_alignment
from structens.report.boosting_plots import plot_curves, plot_tree
from structens.report.dot import to_dot
from structens.report.hamming_tree_graph import tree_graph
from structens.report.hamming_tree_text import tree_text
from structens.report.learning_curves import LearningCurves, learning_curves
from structens.report.legend import DEFINITIONS, legend
from structens.report.picture import Picture, expert_picture, picture
from structens.report.region_plots import plot_regions
from structens.report.reliability import reliability_svg, render_reliability
from structens.report.svg import to_svg
from structens.report.table import render, render_comparison
from structens.report.text import wants_color

__all__ = [
    "DEFINITIONS",
    "LearningCurves",
    "Picture",
    "expert_picture",
    "learning_curves",
    "legend",
    "picture",
    "plot_curves",
    "plot_regions",
    "plot_tree",
    "reliability_svg",
    "render",
    "render_agreement",
    "render_alignment",
    "render_comparison",
    "render_reliability",
    "to_dot",
    "to_svg",
    "tree_graph",
    "tree_text",
    "wants_color",
]
