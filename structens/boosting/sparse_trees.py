"""Hamming trees on entries: for each node the rows of its smaller child are counted, the larger is the difference.

Kegl (ICML 2014), Figures 2 and 3; the rules for constants are those of `exact_kernels`. A node of a sparse matrix costs
the non-zeros of its smaller child, and one look at each bin.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.cut_search import Cut, CutSearch, votes_for
from structens.boosting.entry_kernels import TIE
from structens.boosting.entry_rounds import Grown
from structens.boosting.histogram_rounds import LARGEST_POOL

_OPEN, _CUT, _CLOSED = range(3)


@dataclass(eq=False)
class _Cell:
    """A node of the tree being grown."""

    rows: NDArray[np.int32] | None  # None: all
    whole: NDArray[np.float32]  # sums of the weights of its rows, (kp,)
    vote: NDArray[np.float64]  # as a leaf
    vote_edge: float = 0.0  # what that vote reaches
    cut: Cut | None = None
    key: float = 0.0
    state: int = _OPEN
    made: int = 0
    children: tuple[int, int] = (-1, -1)
    histogram: NDArray[np.float32] | None = field(default=None, repr=False)


class TreeGrower:
    """Grows trees of at most `n_inner_nodes` cuts by one of the rules of `HammingTree`.

    Parameters
    ----------
    n_inner_nodes : int
    rule : {"hybrid", "paper", "multiboost"}
    trim : float
        Rows that together have this share of the weight sit out the growing, if they are at least half of all rows.
    going_on : bool
        Whether rounds have been played already; nothing is trimmed in the first, whose weights say nothing yet.
    """

    def __init__(self, n_inner_nodes: int, rule: str, trim: float = 0.0, going_on: bool = False) -> None:
        self.n_inner_nodes, self.rule, self.trim, self.going_on = n_inner_nodes, rule, trim, going_on

    def grow(self, search: CutSearch, weight: NDArray[np.float32]) -> Grown:
        """The tree for these weights."""
        k = search.n_classes
        rows = self._heavy(search, weight)
        cells = [_Cell(rows, search.sums(weight, rows).astype(np.float32), np.zeros(k))]
        cells[0].histogram = search.count(weight, rows)
        self._look(cells[0], search, root=True)
        for step in range(1, self.n_inner_nodes + 1):
            best = cells[0]
            for cell in cells:
                if cell.state == _OPEN and (best.state != _OPEN or cell.key > best.key + TIE):
                    best = cell
            if best.state != _OPEN or (best.key <= TIE and (step > 1 or best.cut is None)):
                break
            best.made = step
            if best.cut is None:
                best.vote, best.state = votes_for(best.whole[:k].astype(np.float64)), _CLOSED
                continue
            self._split(best, cells, search, weight, last=step == self.n_inner_nodes)
        for cell in cells:
            _release(cell, search)
        return _finished(cells, search)

    def _heavy(self, search: CutSearch, weight: NDArray[np.float32]) -> NDArray[np.int32] | None:
        """The rows that take part; None: all."""
        trim = self.trim if self.going_on else 0.0
        self.going_on = True
        if trim == 0.0:
            return None
        mass = np.abs(weight).reshape(-1, search.kp).sum(axis=1)
        ordered = np.sort(mass)
        reached = np.cumsum(ordered, dtype=np.float64)
        light = int(np.searchsorted(reached, trim * reached[-1]))
        return None if 2 * light < len(mass) else np.flatnonzero(mass >= ordered[light]).astype(np.int32)

    def _look(self, cell: _Cell, search: CutSearch, root: bool = False) -> None:
        """The best cut of a cell, or its constant, and by how much it raises the edge."""
        constant = float(np.abs(cell.whole[: search.n_classes]).sum())
        cut = None if cell.histogram is None else search.best(cell.histogram, cell.whole)
        if cut is not None:
            wins = cut.edge > constant + (-TIE if self.rule == "hybrid" else TIE)
            if self.rule == "multiboost":
                wins = not root or cut.edge >= constant - TIE
            cell.cut = cut if wins else None
        edge = constant if cell.cut is None else cell.cut.edge
        cell.key = edge - (constant if self.rule == "multiboost" and not root else cell.vote_edge)

    def _split(
        self, cell: _Cell, cells: list[_Cell], search: CutSearch, weight: NDArray[np.float32], last: bool
    ) -> None:
        cut, k = cell.cut, search.n_classes
        if cut is None:
            return
        positive = search.positive(cut)
        here = positive if cell.rows is None else positive[cell.rows]
        rows = [np.flatnonzero(s).astype(np.int32) if cell.rows is None else cell.rows[s] for s in (~here, here)]
        small = int(len(rows[1]) <= len(rows[0]))
        sums = search.sums(weight, rows[small]).astype(np.float32)
        whole = [sums, cell.whole - sums] if small == 0 else [cell.whole - sums, sums]
        cell.vote = votes_for((whole[1] - whole[0])[:k].astype(np.float64))
        sides = [
            _Cell(rows[s], whole[s], vote, float(vote @ whole[s][:k])) for s, vote in ((0, -cell.vote), (1, cell.vote))
        ]
        cell.state, cell.children = _CUT, (len(cells), len(cells) + 1)
        cells.extend(sides)
        if last:
            return
        counted = sides[small].histogram = search.count(weight, rows[small])
        if cell.histogram is None:
            sides[1 - small].histogram = search.count(weight, rows[1 - small])
        else:
            np.subtract(cell.histogram, counted, out=cell.histogram)
            sides[1 - small].histogram, cell.histogram = cell.histogram, None
        for side in sides:
            self._look(side, search)
            kept = sum(other.histogram is not None for other in cells)
            if side.cut is None or kept * len(side.histogram) * 4 > LARGEST_POOL:  # type: ignore[arg-type]
                _release(side, search)


def _release(cell: _Cell, search: CutSearch) -> None:
    if cell.histogram is not None:
        search.free.append(cell.histogram)
        cell.histogram = None


def _finished(cells: list[_Cell], search: CutSearch) -> Grown:
    """The tree in arrays; leaves from left to right."""
    leaf, votes = np.zeros(search.entries.n, np.int32), list[NDArray[np.float64]]()
    everyone = None if cells[0].rows is None else np.arange(search.entries.n, dtype=np.int32)
    number, stack = dict[int, int](), [(0, everyone)]
    cuts = sorted((c for c in range(len(cells)) if cells[c].state == _CUT), key=lambda c: cells[c].made)
    number.update({c: place for place, c in enumerate(cuts)})
    while stack:
        c, rows = stack.pop()
        cell = cells[c]
        if cell.cut is not None and cell.state == _CUT:
            sides: Any = (None, None)
            if rows is not None:  # some sat out: they follow the cuts now
                here = search.positive(cell.cut)[rows]
                sides = rows[~here], rows[here]
            stack.extend(((cell.children[1], sides[1]), (cell.children[0], sides[0])))
            continue
        rows = cell.rows if rows is None else rows
        leaf[slice(None) if rows is None else rows] = len(votes)
        number[c] = -1 - len(votes)
        votes.append(cell.vote if cell.vote.any() else -np.ones(search.n_classes))
    made = [cells[c] for c in cuts]
    tests = [search.entries.test(*cell.cut[1:]) for cell in made if cell.cut is not None]
    return Grown(
        [cell.cut.feature for cell in made if cell.cut is not None],
        [test[0] for test in tests],
        [test[1] for test in tests],
        [number[cell.children[0]] for cell in made],
        [number[cell.children[1]] for cell in made],
        [cell.key for cell in made],
        np.array(votes),
        leaf,
        float(sum(cell.key for cell in cells if cell.made and cell.state == _CLOSED)),
    )
