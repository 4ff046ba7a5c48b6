"""Pictures of boosting with matplotlib: trees and learning curves; `region_plots` has the regions.

matplotlib is an extra (``pip install structens[plots]``) and imported when a picture is drawn.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.trees import HammingTreeArrays
from structens.core import ParameterError
from structens.report.hamming_tree_graph import tree_graph
from structens.report.learning_curves import LearningCurves
from structens.report.plot_style import COLORS, FAINT, INK, LINE, draw_legend, figure_of


def plot_tree(
    tree: HammingTreeArrays,
    *,
    classes: Sequence[Any] | None = None,
    features: Sequence[str] | None = None,
    digits: int = 4,
    title: str | None = None,
) -> Any:
    """Draw a Hamming tree: cuts as questions, leaves as their votes on every class, + above the line and - under it.

    Leaves for more classes than there are colours name those of the smaller side.

    Parameters
    ----------
    tree : HammingTreeArrays
        One round of AdaBoostMH.
    classes : sequence of K labels, optional
    features : sequence of str, optional
    digits : int
        Of a threshold.
    title : str, optional
        Default the coefficient and the edge.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ParameterError
        If there are not K classes, too few features, or matplotlib is missing.
    """
    graph = tree_graph(tree, classes=classes, features=features, digits=digits, max_classes=12)
    labels = [str(k) for k in range(tree.vote.shape[1])] if classes is None else [str(label) for label in classes]
    places: dict[str, tuple[float, float]] = dict(graph.nodes(data="pos"))
    n_leaves, depth = len(tree.vote), int(-min(y for _, y in places.values()))
    longest = max((len(data["label"]) for node, data in graph.nodes(data=True) if "vote" not in data), default=0)
    unit = max(1.0, 0.04 * longest + 0.25)  # inches a leaf: two questions side by side are two leaves apart at least
    figure = figure_of((max(4.5, unit * n_leaves + 0.3), 1.25 * depth + 1.9))
    axes = figure.add_axes((0.0, 0.08, 1.0, 0.84))
    axes.set(xlim=(-0.6, n_leaves - 0.4), ylim=(-depth - 0.55, 0.45))
    axes.axis("off")
    for parent, child, answer in graph.edges(data="answer"):
        (x0, y0), (x1, y1) = places[parent], places[child]
        axes.plot([x0, x1], [y0, y1], color=LINE, lw=1.4, zorder=1)
        axes.text(
            *(x0 + 0.5 * (x1 - x0), y0 + 0.5 * (y1 - y0)), answer, ha="center", va="center", fontsize=8.5, color=FAINT,
            bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none"}, zorder=2,
        )  # fmt: skip
    scale = float(np.abs(tree.vote).max()) or 1.0
    in_colors = len(labels) <= len(COLORS)
    for node, data in graph.nodes(data=True):
        if "vote" in data and not in_colors:
            words = textwrap.fill(data["label"].replace(", ", " "), 15)
            box: dict[str, Any] = {"boxstyle": "round,pad=0.3", "fc": "white", "ec": LINE}
            axes.text(*places[node], words, ha="center", va="center", fontsize=7.5, color=INK, bbox=box, zorder=3)
        elif "vote" in data:
            _draw_votes(axes, places[node], np.array(data["vote"]) / scale)
        else:
            box = {"boxstyle": "round,pad=0.45", "fc": "#eef3fa", "ec": COLORS[0], "lw": 1.1}
            text = f"{data['label']}\n"
            axes.text(*places[node], text, ha="center", va="center", fontsize=9.5, color=INK, bbox=box, zorder=3)
            gain = f"\n+{data['gain']:.3f} edge"
            axes.text(*places[node], gain, ha="center", va="center", fontsize=8, color=FAINT, zorder=4)
    if in_colors:
        draw_legend(figure, labels)
    figure.suptitle(
        title or f"coefficient {tree.coefficient:.3f}, edge {tree.edge:.3f}", fontsize=11, color=INK, y=0.985, va="top"
    )
    return figure


def plot_curves(curves: LearningCurves, *, title: str | None = None) -> Any:
    """Draw learning curves: errors and the bound; edge and coefficient of each round; rounds on a logarithmic scale.

    Parameters
    ----------
    curves : LearningCurves
        From `structens.report.learning_curves`.
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ParameterError
        If there are no rounds, or matplotlib is missing.
    """
    if len(curves) == 0:
        raise ParameterError("there are no rounds to draw")
    figure = figure_of((9.0, 3.6))
    left, right = figure.subplots(1, 2)
    t = np.arange(1, len(curves) + 1)
    for k, (name, error) in enumerate(curves.error.items()):
        left.plot(t, 100 * error, color=COLORS[k % len(COLORS)], lw=1.6, label=name)
    left.plot(t, 100 * curves.bound, color=FAINT, lw=1.2, ls="--", label="product of Z (bound)")
    largest = max((float(error.max()) for error in curves.error.values()), default=1.0)
    left.set_ylim(0, max(5.0, 130.0 * largest))
    left.set_ylabel("error, %")
    right.plot(t, curves.coefficient, color=COLORS[1], lw=1.3, label="coefficient")
    right.plot(t, curves.edge, color=COLORS[0], lw=1.3, label="edge")
    right.set_ylim(bottom=0)
    for panel in (left, right):
        panel.set_xlabel("round")
        panel.set_xlim(1, max(len(curves), 2))
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter("{x:.0f}")
        panel.grid(color=LINE, alpha=0.35, lw=0.6)
        panel.spines[["top", "right"]].set_visible(False)
        panel.spines[["left", "bottom"]].set_color(LINE)
        panel.tick_params(colors=FAINT, labelsize=8.5, which="both")
        panel.legend(frameon=False, fontsize=8.5, labelcolor=INK)
    if title:
        figure.suptitle(title, fontsize=11, color=INK)
    figure.tight_layout()
    return figure


def _draw_votes(axes: Any, place: tuple[float, float], vote: NDArray[np.float64]) -> None:
    """Bars of a leaf's votes, one a class."""
    x, y = place
    width = 0.8 / len(vote)
    left = x - 0.4 + width * (0.07 + np.arange(len(vote)))
    color = [COLORS[k % len(COLORS)] for k in range(len(vote))]
    axes.add_patch(_rectangle((x - 0.43, y - 0.36), 0.86, 0.72, fc="white", ec=LINE, lw=1.0, zorder=3))
    axes.bar(left, 0.3 * vote, width * 0.86, bottom=y, align="edge", color=color, zorder=4)
    axes.plot([x - 0.4, x + 0.4], [y, y], color=FAINT, lw=0.8, zorder=5)


def _rectangle(*args: Any, **kwargs: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(*args, **kwargs)
