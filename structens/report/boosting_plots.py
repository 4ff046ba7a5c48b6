"""Pictures of boosting with matplotlib: trees, decision regions round by round, learning curves.

matplotlib is an extra (``pip install structens[plots]``) and imported when a picture is drawn.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.boosting.trees import HammingTreeArrays
from structens.core import DataError, ParameterError
from structens.report.hamming_tree_graph import tree_graph
from structens.report.learning_curves import LearningCurves

COLORS = ("#1a5fb4", "#e66100", "#26a269", "#9141ac", "#c01c28", "#2190a4", "#986a44", "#b5835a", "#5e5c64", "#e5a50a")
"""One for each class; then they begin anew."""

_INK, _FAINT, _LINE = "#1f2937", "#5b6675", "#a9b4c2"
_MARKERS = ("o", "s", "^", "D", "v", "P")


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
    figure = _figure((max(4.5, unit * n_leaves + 0.3), 1.25 * depth + 1.9))
    axes = figure.add_axes((0.0, 0.08, 1.0, 0.84))
    axes.set(xlim=(-0.6, n_leaves - 0.4), ylim=(-depth - 0.55, 0.45))
    axes.axis("off")
    for parent, child, answer in graph.edges(data="answer"):
        (x0, y0), (x1, y1) = places[parent], places[child]
        axes.plot([x0, x1], [y0, y1], color=_LINE, lw=1.4, zorder=1)
        axes.text(
            *(x0 + 0.5 * (x1 - x0), y0 + 0.5 * (y1 - y0)), answer, ha="center", va="center", fontsize=8.5, color=_FAINT,
            bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none"}, zorder=2,
        )  # fmt: skip
    scale = float(np.abs(tree.vote).max()) or 1.0
    in_colors = len(labels) <= len(COLORS)
    for node, data in graph.nodes(data=True):
        if "vote" in data and not in_colors:
            words = textwrap.fill(data["label"].replace(", ", " "), 15)
            box: dict[str, Any] = {"boxstyle": "round,pad=0.3", "fc": "white", "ec": _LINE}
            axes.text(*places[node], words, ha="center", va="center", fontsize=7.5, color=_INK, bbox=box, zorder=3)
        elif "vote" in data:
            _draw_votes(axes, places[node], np.array(data["vote"]) / scale)
        else:
            box = {"boxstyle": "round,pad=0.45", "fc": "#eef3fa", "ec": COLORS[0], "lw": 1.1}
            text = f"{data['label']}\n"
            axes.text(*places[node], text, ha="center", va="center", fontsize=9.5, color=_INK, bbox=box, zorder=3)
            gain = f"\n+{data['gain']:.3f} edge"
            axes.text(*places[node], gain, ha="center", va="center", fontsize=8, color=_FAINT, zorder=4)
    if in_colors:
        _legend(figure, labels)
    figure.suptitle(
        title or f"coefficient {tree.coefficient:.3f}, edge {tree.edge:.3f}", fontsize=11, color=_INK, y=0.985, va="top"
    )
    return figure


def plot_regions(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    rounds: Sequence[int] = (1, 2, 3, 4),
    *,
    features: Sequence[str] | None = None,
    resolution: int = 300,
) -> Any:
    """Draw the decision regions of a 2-D problem after some rounds, as lecture slides do.

    For `AdaBoost` the first row shows each round's cut and the row weights it saw, as the sizes of the points; the row
    below shows the vote of all rounds so far. For `AdaBoostMH` there is the vote only.

    Parameters
    ----------
    model : AdaBoost or AdaBoostMH
        Fitted on two features.
    X : array_like, shape (n, 2)
    y : array_like, shape (n,)
    rounds : sequence of int
        From 1; those beyond the last are left out.
    features : sequence of 2 str, optional
    resolution : int
        Points of the background in each direction.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError
        If X does not have two features.
    ParameterError
        If no round is left, or matplotlib is missing.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    if X.ndim != 2 or X.shape[1] != 2:
        raise DataError(f"regions are drawn for two features; X has shape {X.shape}")
    shown = [t for t in rounds if 1 <= t <= model.n_rounds_]
    if not shown:
        raise ParameterError(f"rounds must hold one from 1 to {model.n_rounds_}; got {list(rounds)}")
    trace = getattr(model, "trace_", None)
    n_rows = 1 if trace is None else 2
    figure = _figure((2.6 * len(shown) + 0.4, 2.75 * n_rows + 0.55))
    panels = figure.subplots(n_rows, len(shown), squeeze=False, sharex=True, sharey=True)
    grid = _Grid(X, resolution)
    for k, t in enumerate(shown):
        below = panels[-1, k]
        probability = model.predict_proba(grid.points, n_rounds=t)
        _draw_background(below, grid, probability)
        _draw_points(below, X, y, model.classes_, np.full(len(X), 18.0))
        wrong = float(np.mean(model.predict(X, n_rounds=t) != y))
        said = f"after {t} round{'s' * (t > 1)}: error {100 * wrong:.1f} %"
        below.set_title(said if trace is not None else f"{t} round{'s' * (t > 1)}: error {100 * wrong:.1f} %", **_TITLE)
        if trace is not None:
            _draw_cut(panels[0, k], grid, trace, t - 1, model.classes_)
            _draw_points(panels[0, k], X, y, model.classes_, _sizes(trace, t - 1, len(X)))
            said = f"round {t}: error {trace.error[t - 1]:.3f}, α {trace.alpha[t - 1]:.3f}"
            panels[0, k].set_title(said, **_TITLE)
    for panel in panels.flat:
        panel.set(xlim=grid.x_range, ylim=grid.y_range, xticks=[], yticks=[])
        panel.spines[:].set_color(_LINE)
    if features is not None:
        for panel in panels[-1]:
            panel.set_xlabel(str(features[0]), **_TITLE)
        for panel in panels[:, 0]:
            panel.set_ylabel(str(features[1]), **_TITLE)
    _legend(figure, [str(label) for label in model.classes_], markers=True)
    figure.tight_layout(rect=(0.0, 0.3 / figure.get_figheight(), 1.0, 1.0))
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
    figure = _figure((9.0, 3.6))
    left, right = figure.subplots(1, 2)
    t = np.arange(1, len(curves) + 1)
    for k, (name, error) in enumerate(curves.error.items()):
        left.plot(t, 100 * error, color=COLORS[k % len(COLORS)], lw=1.6, label=name)
    left.plot(t, 100 * curves.bound, color=_FAINT, lw=1.2, ls="--", label="product of Z (bound)")
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
        panel.grid(color=_LINE, alpha=0.35, lw=0.6)
        panel.spines[["top", "right"]].set_visible(False)
        panel.spines[["left", "bottom"]].set_color(_LINE)
        panel.tick_params(colors=_FAINT, labelsize=8.5, which="both")
        panel.legend(frameon=False, fontsize=8.5, labelcolor=_INK)
    if title:
        figure.suptitle(title, fontsize=11, color=_INK)
    figure.tight_layout()
    return figure


_TITLE: dict[str, Any] = {"fontsize": 8.5, "color": _INK}


def _figure(size: tuple[float, float]) -> Any:
    """A figure that no window shows and no global list keeps."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ParameterError("pictures need matplotlib: pip install structens[plots]") from None
    figure = Figure(figsize=size, dpi=110)
    FigureCanvasAgg(figure)
    return figure


class _Grid:
    """Points all over the picture."""

    def __init__(self, X: NDArray[np.float64], resolution: int) -> None:
        low, high = X.min(axis=0), X.max(axis=0)
        space = 0.08 * np.where(high > low, high - low, 1.0)
        self.x_range, self.y_range = ((float(a), float(b)) for a, b in zip(low - space, high + space, strict=True))
        self.shape = (resolution, resolution)
        xs, ys = np.linspace(*self.x_range, resolution), np.linspace(*self.y_range, resolution)
        self.points = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)


def _rgb(colors: Sequence[str]) -> NDArray[np.float64]:
    return np.array([[int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)] for color in colors], dtype=np.float64)


def _draw_background(axes: Any, grid: _Grid, probability: NDArray[np.float64]) -> None:
    """The winner's colour, paler where it is less sure."""
    k = probability.argmax(axis=1)
    sure = probability[np.arange(len(k)), k] - 1.0 / max(probability.shape[1], 2)
    strength = (0.14 + 0.30 * np.clip(sure / 0.5, 0.0, 1.0))[:, None]
    image = 1.0 - strength * (1.0 - _rgb(COLORS)[k % len(COLORS)])
    extent = (*grid.x_range, *grid.y_range)
    axes.imshow(image.reshape(*grid.shape, 3), origin="lower", extent=extent, aspect="auto", interpolation="nearest")


def _draw_cut(axes: Any, grid: _Grid, trace: Any, t: int, classes: NDArray[Any]) -> None:
    """Half planes of one cut, and its line."""
    feature, threshold, sign = int(trace.feature[t]), float(trace.threshold[t]), int(trace.sign[t])
    above = np.ones(len(grid.points), dtype=bool) if feature < 0 else grid.points[:, feature] >= threshold
    k = np.where(above, sign > 0, sign < 0).astype(int)
    image = 1.0 - 0.22 * (1.0 - _rgb(COLORS)[k])
    extent = (*grid.x_range, *grid.y_range)
    axes.imshow(image.reshape(*grid.shape, 3), origin="lower", extent=extent, aspect="auto", interpolation="nearest")
    if feature == 0:
        axes.axvline(threshold, color=_INK, lw=1.2, ls="--")
    elif feature == 1:
        axes.axhline(threshold, color=_INK, lw=1.2, ls="--")


def _sizes(trace: Any, t: int, n: int) -> NDArray[np.float64]:
    """Areas of the points from the weights that round t saw; all equal where these are not known of these rows."""
    if trace.weights is None or trace.weights.shape[1] != n:
        return np.full(n, 18.0)
    area: NDArray[np.float64] = np.clip(18.0 * n * trace.weights[t], 2.0, 400.0)
    return area


def _draw_points(axes: Any, X: NDArray[np.float64], y: NDArray[Any], classes: NDArray[Any], area: NDArray[Any]) -> None:
    for k, label in enumerate(classes):
        mine = y == label
        color, marker = COLORS[k % len(COLORS)], _MARKERS[k % len(_MARKERS)]
        axes.scatter(*X[mine].T, s=area[mine], color=color, marker=marker, edgecolors="white", linewidths=0.5, zorder=3)


def _draw_votes(axes: Any, place: tuple[float, float], vote: NDArray[np.float64]) -> None:
    """Bars of a leaf's votes, one a class."""
    x, y = place
    width = 0.8 / len(vote)
    left = x - 0.4 + width * (0.07 + np.arange(len(vote)))
    color = [COLORS[k % len(COLORS)] for k in range(len(vote))]
    axes.add_patch(_rectangle((x - 0.43, y - 0.36), 0.86, 0.72, fc="white", ec=_LINE, lw=1.0, zorder=3))
    axes.bar(left, 0.3 * vote, width * 0.86, bottom=y, align="edge", color=color, zorder=4)
    axes.plot([x - 0.4, x + 0.4], [y, y], color=_FAINT, lw=0.8, zorder=5)


def _rectangle(*args: Any, **kwargs: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(*args, **kwargs)


def _legend(figure: Any, labels: Sequence[str], markers: bool = False) -> None:
    """The classes and their colours along the bottom."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [],
            [],
            ls="",
            marker=_MARKERS[k % len(_MARKERS)] if markers else "s",
            color=COLORS[k % len(COLORS)],
            label=label,
        )
        for k, label in enumerate(labels)
    ]
    figure.legend(
        handles=handles, loc="lower center", ncols=min(len(labels), 13), frameon=False, fontsize=8.5, labelcolor=_INK,
        handletextpad=0.1, columnspacing=1.2,
    )  # fmt: skip
