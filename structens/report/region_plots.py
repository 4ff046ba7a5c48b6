"""Decision regions of boosting on two features round by round, as lecture slides draw them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.boosting.prediction import leaves_in, votes_of
from structens.boosting.trees import Forest
from structens.core import DataError, ParameterError
from structens.report.plot_style import COLORS, INK, LINE, MARKERS, TITLE, draw_legend, figure_of, rgb_of

_AREA = 18.0  # of a point of mean weight


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

    The upper row shows each round's cut, or the cells of its tree in the colours of the classes they vote for, and the
    row weights it saw, as the sizes of the points; the lower row shows the vote of all rounds so far.

    Parameters
    ----------
    model : AdaBoost or AdaBoostMH
        Fitted on two features. Points have one size where the weights of these rows were not kept (`keep_weights`).
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
        If no round is left, rows have many labels, or matplotlib is missing.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    if X.ndim != 2 or X.shape[1] != 2:
        raise DataError(f"regions are drawn for two features; X has shape {X.shape}")
    shown = [t for t in rounds if 1 <= t <= model.n_rounds_]
    if not shown:
        raise ParameterError(f"rounds must hold one from 1 to {model.n_rounds_}; got {list(rounds)}")
    if getattr(model, "multi_label_", False):
        raise ParameterError("regions are drawn for one label a row; this model votes on many")
    figure = figure_of((2.6 * len(shown) + 0.4, 6.05))
    panels = figure.subplots(2, len(shown), squeeze=False, sharex=True, sharey=True)
    grid = _Grid(X, resolution)
    draw = _draw_cut if hasattr(model, "trace_") else _draw_cells
    for k, t in enumerate(shown):
        panels[0, k].set_title(draw(panels[0, k], grid, model, t - 1), **TITLE)
        _draw_points(panels[0, k], X, y, model.classes_, _sizes(model, t - 1, len(X)))
        _draw_background(panels[1, k], grid, model.predict_proba(grid.points, n_rounds=t))
        _draw_points(panels[1, k], X, y, model.classes_, np.full(len(X), _AREA))
        wrong = float(np.mean(model.predict(X, n_rounds=t) != y))
        panels[1, k].set_title(f"after {t} round{'s' * (t > 1)}: error {100 * wrong:.1f} %", **TITLE)
    for panel in panels.flat:
        panel.set(xlim=grid.x_range, ylim=grid.y_range, xticks=[], yticks=[])
        panel.spines[:].set_color(LINE)
    if features is not None:
        for panel in panels[-1]:
            panel.set_xlabel(str(features[0]), **TITLE)
        for panel in panels[:, 0]:
            panel.set_ylabel(str(features[1]), **TITLE)
    draw_legend(figure, [str(label) for label in model.classes_], markers=True)
    figure.tight_layout(rect=(0.0, 0.3 / figure.get_figheight(), 1.0, 1.0))
    return figure


class _Grid:
    """Points all over the picture."""

    def __init__(self, X: NDArray[np.float64], resolution: int) -> None:
        low, high = X.min(axis=0), X.max(axis=0)
        space = 0.08 * np.where(high > low, high - low, 1.0)
        self.x_range, self.y_range = ((float(a), float(b)) for a, b in zip(low - space, high + space, strict=True))
        self.shape = (resolution, resolution)
        self.xs, self.ys = np.linspace(*self.x_range, resolution), np.linspace(*self.y_range, resolution)
        self.points = np.stack(np.meshgrid(self.xs, self.ys), axis=-1).reshape(-1, 2)


def _draw_background(axes: Any, grid: _Grid, probability: NDArray[np.float64]) -> None:
    """The winner's colour, paler where it is less sure."""
    k = probability.argmax(axis=1)
    sure = probability[np.arange(len(k)), k] - 1.0 / max(probability.shape[1], 2)
    strength = (0.14 + 0.30 * np.clip(sure / 0.5, 0.0, 1.0))[:, None]
    _fill(axes, grid, 1.0 - strength * (1.0 - rgb_of(COLORS)[k % len(COLORS)]))


def _draw_cut(axes: Any, grid: _Grid, model: Any, t: int) -> str:
    """Half planes of one cut of AdaBoost, and its line; what to write above."""
    trace = model.trace_
    feature, threshold, sign = int(trace.feature[t]), float(trace.threshold[t]), int(trace.sign[t])
    above = np.ones(len(grid.points), dtype=bool) if feature < 0 else grid.points[:, feature] >= threshold
    k = np.where(above, sign > 0, sign < 0).astype(int)
    _fill(axes, grid, 1.0 - 0.22 * (1.0 - rgb_of(COLORS)[k]))
    if feature == 0:
        axes.axvline(threshold, color=INK, lw=1.2, ls="--")
    elif feature == 1:
        axes.axhline(threshold, color=INK, lw=1.2, ls="--")
    return f"round {t + 1}: error {trace.error[t]:.3f}, α {trace.alpha[t]:.3f}"


def _draw_cells(axes: Any, grid: _Grid, model: Any, t: int) -> str:
    """Cells of one round of AdaBoostMH in the mixed colours of the classes they vote for; what to write above."""
    forest = model.forest_
    alone = Forest(forest.n_classes, forest.trees[t * forest.width : (t + 1) * forest.width], width=forest.width)
    votes = np.maximum(votes_of(alone, grid.points, 1), 0.0)
    total = votes.sum(axis=1, keepdims=True)
    colors = rgb_of(COLORS)[np.arange(votes.shape[1]) % len(COLORS)]
    mixed = np.where(total > 0, votes @ colors / np.where(total > 0, total, 1.0), 0.6)  # grey: against all classes
    _fill(axes, grid, 1.0 - 0.3 * (1.0 - mixed))
    _, cell = np.unique(leaves_in(alone, grid.points), axis=0, return_inverse=True)
    cell = cell.reshape(grid.shape)
    for k in range(1, int(cell.max()) + 1):  # the borders of the first are borders of others
        axes.contour(grid.xs, grid.ys, cell == k, levels=[0.5], colors=[INK], linewidths=0.9)
    tree = alone.trees[0]
    said = "" if model.votes == "real" else f", α {tree.coefficient:.3f}"
    return f"round {t + 1}: edge {tree.edge:.3f}{said}"


def _fill(axes: Any, grid: _Grid, image: NDArray[np.float64]) -> None:
    extent = (*grid.x_range, *grid.y_range)
    axes.imshow(image.reshape(*grid.shape, 3), origin="lower", extent=extent, aspect="auto", interpolation="nearest")


def _sizes(model: Any, t: int, n: int) -> NDArray[np.float64]:
    """Areas of the points from the weights that round t saw; all equal where these are not known of these rows."""
    weights = model.trace_.weights if hasattr(model, "trace_") else getattr(model, "row_weights_", None)
    if weights is None or weights.shape[1] != n:
        return np.full(n, _AREA)
    area: NDArray[np.float64] = np.clip(_AREA * n * weights[t].astype(np.float64), 2.0, 400.0)
    return area


def _draw_points(axes: Any, X: NDArray[np.float64], y: NDArray[Any], classes: NDArray[Any], area: NDArray[Any]) -> None:
    for k, label in enumerate(classes):
        mine = y == label
        color, marker = COLORS[k % len(COLORS)], MARKERS[k % len(MARKERS)]
        axes.scatter(*X[mine].T, s=area[mine], color=color, marker=marker, edgecolors="white", linewidths=0.5, zorder=3)
