"""What the pictures of boosting share: colours, figures, legends. matplotlib is imported when one is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import ParameterError

COLORS = ("#1a5fb4", "#e66100", "#26a269", "#9141ac", "#c01c28", "#2190a4", "#986a44", "#b5835a", "#5e5c64", "#e5a50a")
"""One for each class; then they begin anew."""

INK, FAINT, LINE = "#1f2937", "#5b6675", "#a9b4c2"
MARKERS = ("o", "s", "^", "D", "v", "P")
TITLE: dict[str, Any] = {"fontsize": 8.5, "color": INK}


def figure_of(size: tuple[float, float]) -> Any:
    """A figure that no window shows and no global list keeps."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ParameterError("pictures need matplotlib: pip install structens[plots]") from None
    figure = Figure(figsize=size, dpi=110)
    FigureCanvasAgg(figure)
    return figure


def rgb_of(colors: Sequence[str]) -> NDArray[np.float64]:
    """Colours as numbers from 0 to 1, shape (colours, 3)."""
    return np.array([[int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)] for color in colors], dtype=np.float64)


def draw_legend(figure: Any, labels: Sequence[str], markers: bool = False) -> None:
    """The classes and their colours along the bottom."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [],
            [],
            ls="",
            marker=MARKERS[k % len(MARKERS)] if markers else "s",
            color=COLORS[k % len(COLORS)],
            label=label,
        )
        for k, label in enumerate(labels)
    ]
    figure.legend(
        handles=handles, loc="lower center", ncols=min(len(labels), 13), frameon=False, fontsize=8.5, labelcolor=INK,
        handletextpad=0.1, columnspacing=1.2,
    )  # fmt: skip
