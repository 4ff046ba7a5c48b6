"""Where the states and transitions of an acyclic automaton go: layers from left to right by longest distance.

A bundle is all transitions between the same two states. Every bundle crosses at least one column between its layers,
and has a box of its own height there, so labels never overlap. The order within columns is found by barycentres, the
heights by least squares under the distances that boxes need.

Source: Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical system structures" (1981); heights
by pooling adjacent violators (isotonic regression).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, field

SWEEPS = 12
GAP = 14.0


@dataclass
class Box:
    """A state, or the place of a bundle in one column."""

    column: int
    up: float
    down: float
    y: float = 0.0
    before: list[tuple[int, float]] = field(default_factory=list)
    after: list[tuple[int, float]] = field(default_factory=list)


@dataclass(frozen=True)
class Layout:
    """Columns and heights.

    Attributes
    ----------
    column : list of int
        Of each state; even.
    y : list of float
        Of each state.
    way : list of lists of (column, height)
        Of each bundle: the boxes between its two states, from left to right.
    """

    column: list[int]
    y: list[float]
    way: list[list[tuple[int, float]]]


def layered(
    n_states: int,
    bundles: Sequence[tuple[int, int]],
    extents: Sequence[tuple[float, float]],
    importance: Sequence[float],
    state_extent: float,
) -> Layout:
    """Lay out states in topological order.

    Parameters
    ----------
    n_states : int
    bundles : sequence of (source, target)
        Each pair once.
    extents : sequence of (up, down)
        What each bundle needs above and below its line.
    importance : sequence of float
        How straight each bundle wants to be.
    state_extent : float
        What a state needs above and below.

    Examples
    --------
    >>> layered(3, [(0, 1), (1, 2), (0, 2)], [(5.0, 5.0)] * 3, [9.0, 9.0, 1.0], 10.0).column
    [0, 2, 4]
    """
    column = [0] * n_states
    for q, r in bundles:  # sorted by source, and sources are in topological order
        column[r] = max(column[r], column[q] + 2)
    boxes = [Box(c, state_extent, state_extent) for c in column]
    chains: list[list[int]] = []
    for (q, r), (up, down), weight in zip(bundles, extents, importance, strict=True):
        chain = []
        for c in range(column[q] + 1, column[r]):
            chain.append(len(boxes))
            boxes.append(Box(c, up, down))
        for a, b in zip([q, *chain], [*chain, r], strict=True):
            inner = 8.0 if a >= n_states and b >= n_states else 1.0
            boxes[a].after.append((b, weight * inner))
            boxes[b].before.append((a, weight * inner))
        chains.append(chain)
    columns: list[list[int]] = [[] for _ in range(max((b.column for b in boxes), default=-1) + 1)]
    for i, box in enumerate(boxes):
        columns[box.column].append(i)
    _order(columns, boxes)
    _settle(columns, boxes)
    top = min((box.y - box.up for box in boxes), default=0.0)
    for box in boxes:
        box.y -= top
    ways = [[(boxes[i].column, boxes[i].y) for i in chain] for chain in chains]
    return Layout(column, [boxes[q].y for q in range(n_states)], ways)


def _order(columns: list[list[int]], boxes: list[Box]) -> None:
    """Sweep to and fro, each box to the mean place of its neighbours; keep the order with the fewest crossings."""
    best, fewest = [list(column) for column in columns], _crossings(columns, boxes)
    for sweep in range(SWEEPS):
        if fewest == 0:
            break
        forward = sweep % 2 == 0
        places = {i: k for column in columns for k, i in enumerate(column)}
        for column in columns if forward else reversed(columns):
            means = {}
            for i in column:
                near = boxes[i].before if forward else boxes[i].after
                means[i] = sum(places[j] for j, _ in near) / len(near) if near else float(places[i])
            column.sort(key=lambda i: (means[i], places[i]))
            places.update((i, k) for k, i in enumerate(column))
        found = _crossings(columns, boxes)
        if found < fewest:
            best, fewest = [list(column) for column in columns], found
    for column, kept in zip(columns, best, strict=True):
        column[:] = kept


def _crossings(columns: list[list[int]], boxes: list[Box]) -> int:
    total = 0
    for left in columns:
        places = {j: k for k, j in enumerate(columns[boxes[left[0]].column + 1])} if left is not columns[-1] else {}
        seen: list[int] = []
        for i in left:
            ends = sorted(places[j] for j, _ in boxes[i].after)
            total += sum(len(seen) - bisect_left(seen, end + 1) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _settle(columns: list[list[int]], boxes: list[Box]) -> None:
    for column in columns:
        _place(column, boxes, [(0.0, 1.0)] * len(column))
    for sweep in range(4 * SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            wishes = []
            for i in column:
                box = boxes[i]
                # first to one side, so that straight lines form; then to both, so that they settle in the middle
                one = (box.after if sweep % 2 else box.before) if sweep < 2 * SWEEPS else []
                near = one or box.before + box.after
                weight = sum(w for _, w in near)
                mean = sum(w * boxes[j].y for j, w in near) / weight if weight else box.y
                wishes.append((mean, weight or 1.0))
            _place(column, boxes, wishes)


def _place(column: list[int], boxes: list[Box], wishes: list[tuple[float, float]]) -> None:
    """Heights as near to the wishes as the boxes' sizes allow, in the column's order: pool adjacent violators."""
    shift, shifts = 0.0, []
    for k, i in enumerate(column):
        if k:
            shift += boxes[column[k - 1]].down + boxes[i].up + GAP
        shifts.append(shift)
    pools: list[list[float]] = []  # sum of weight * wish, weight, number of boxes
    for (wish, weight), moved in zip(wishes, shifts, strict=True):
        pools.append([weight * (wish - moved), weight, 1.0])
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] > pools[-1][0] * pools[-2][1]:
            total, heavy, count = pools.pop()
            pools[-1] = [pools[-1][0] + total, pools[-1][1] + heavy, pools[-1][2] + count]
    levels = [total / weight for total, weight, count in pools for _ in range(int(count))]
    for i, level, moved in zip(column, levels, shifts, strict=True):
        boxes[i].y = level + moved
