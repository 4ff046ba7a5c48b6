"""Rounds of boosting with cuts by any classifier: Hamming trees of them, best first. Kegl (ICML 2014), Figure 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.any_cut import TIE, AnyCut, FoundCut, find_cut, votes_by
from structens.boosting.classifier_trees import BY_CLASSIFIER, ClassifierTree, rows_first
from structens.boosting.mh_step import reweight, step_of
from structens.boosting.settings import RoundSettings
from structens.core import DataError, ParameterError

_OPEN, _CUT, _CLOSED = range(3)


@dataclass(eq=False)
class _Cell:
    """A node of the tree being grown."""

    rows: NDArray[np.int64]
    whole: NDArray[np.float64]  # sums of the weights of its rows, (K,)
    vote: NDArray[np.float64]  # as a leaf
    vote_edge: float  # what that vote reaches
    found: FoundCut | None = None
    key: float = 0.0
    state: int = _OPEN
    made: int = 0
    children: tuple[int, int] = (-1, -1)


class AnyCutRounds:
    """State of boosting: rows and weights.

    Parameters
    ----------
    base : AnyCut
    X : ndarray or sparse matrix, shape (n, d)
    weight : ndarray of float64, shape (n, K)
        Signed weights w * y, of total size 1; changed in place.
    settings : RoundSettings
    """

    def __init__(self, base: AnyCut, X: Any, weight: NDArray[np.float64], settings: RoundSettings) -> None:
        self.base, self.X, self.weight, self.settings = base, rows_first(X), weight, settings
        self.least_edge = settings.over()

    def weights(self) -> NDArray[np.float64]:
        """Signed weights, shape (n, K)."""
        return self.weight

    def close(self) -> None:
        """Nothing to let go."""

    def play(self, features: NDArray[np.int64] | None = None) -> ClassifierTree:
        """Grow the next tree and, where its edge is positive, change the weights.

        Raises
        ------
        ParameterError
            If only some features may be used: the classifier sees all.
        """
        if features is not None:
            raise ParameterError("max_features does not go with AnyCut; choose features within its estimator")
        total = float(np.abs(self.weight).sum())
        cells = self._grow(total)
        leaf, votes, number = self._leaves(cells)
        signed, sizes = np.zeros((2, len(votes), self.weight.shape[1]))
        for k in range(len(votes)):
            own = self.weight[leaf == k]
            signed[k], sizes[k] = own.sum(axis=0), np.abs(own).sum(axis=0)
        step = step_of(self.settings, np.array(votes), signed, sizes)
        if step.edge > self.least_edge:
            reweight(self.weight, step, leaf)
        made = sorted((cell for cell in cells if cell.state == _CUT), key=lambda cell: cell.made)
        left, right = (np.array([number[cell.children[s]] for cell in made], np.int32) for s in (0, 1))
        return ClassifierTree(
            np.full(len(made), -1, np.int32),
            np.zeros(len(made)),
            np.full(len(made), BY_CLASSIFIER, np.int8),
            left,
            right,
            np.array([cell.key / total for cell in made], np.float64),
            *step[:4],
            float(sum(cell.key / total for cell in cells if cell.made and cell.state == _CLOSED)),
            tuple(cell.found.cut for cell in made if cell.found is not None),
        )

    def _grow(self, total: float) -> list[_Cell]:
        n, n_classes = self.weight.shape
        everyone = np.arange(n)
        cells = [_Cell(everyone, self.weight.sum(axis=0), -np.ones(n_classes), 0.0)]
        self._look(cells[0], total, root=True)
        for step in range(1, self.settings.n_inner_nodes + 1):
            best = cells[0]
            for cell in cells:
                if cell.state == _OPEN and (best.state != _OPEN or cell.key > best.key + TIE * total):
                    best = cell
            if best.state != _OPEN or (best.key <= TIE * total and (step > 1 or best.found is None)):
                break
            best.made = step
            if best.found is None:
                best.vote, best.state = votes_by(best.whole, total), _CLOSED
                continue
            best.state, best.children = _CUT, (len(cells), len(cells) + 1)
            for rows, vote in (
                (best.rows[~best.found.positive], -best.found.vote),
                (best.rows[best.found.positive], best.found.vote),
            ):
                whole = self.weight[rows].sum(axis=0)
                cells.append(_Cell(rows, whole, vote, float(vote @ whole)))
                if step < self.settings.n_inner_nodes:
                    self._look(cells[-1], total)
        return cells

    def _look(self, cell: _Cell, total: float, root: bool = False) -> None:
        """The best cut of a cell, or its constant, and by how much it raises the edge."""
        constant, rule = float(np.abs(cell.whole).sum()), self.settings.rule
        try:
            X = self.X if root else self.X[cell.rows]
            found = find_cut(self.base, X, self.weight[cell.rows]) if len(cell.rows) > 1 else None
        except DataError:
            if root:
                raise
            found = None  # few rows, of which it cannot learn: not cut again
        if found is not None and found.positive.all() == found.positive.any():
            found = None  # all rows on one side
        if found is not None:
            wins = found.edge > constant + (-TIE if rule == "hybrid" else TIE) * total
            if rule == "multiboost":
                wins = not root or found.edge >= constant
            cell.found = found if wins else None
        edge = constant if cell.found is None else cell.found.edge
        cell.key = edge - (constant if rule == "multiboost" and not root else cell.vote_edge)

    def _leaves(self, cells: list[_Cell]) -> tuple[NDArray[np.int64], list[Any], dict[int, int]]:
        """The leaf of each row, the votes of the leaves from left to right, numbers of the cells as children."""
        leaf, votes, stack = np.zeros(len(self.weight), np.int64), list[Any](), [0]
        made = sorted((c for c in range(len(cells)) if cells[c].state == _CUT), key=lambda c: cells[c].made)
        number = {c: place for place, c in enumerate(made)}
        while stack:
            c = stack.pop()
            if cells[c].state == _CUT:
                stack += [cells[c].children[1], cells[c].children[0]]
                continue
            leaf[cells[c].rows], number[c] = len(votes), -1 - len(votes)
            votes.append(cells[c].vote)
        return leaf, votes, number
