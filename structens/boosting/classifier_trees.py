"""Trees whose cuts are fitted classifiers, and their votes for new rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.classifier_cuts import ClassifierCut, LinearCut
from structens.boosting.trees import HammingTreeArrays
from structens.boosting.validation import is_sparse

BY_CLASSIFIER = 3
"""Test of such a cut; its feature is -1."""


@dataclass(frozen=True, eq=False)
class ClassifierTree(HammingTreeArrays):
    """A Hamming tree whose cuts are classifiers; `feature` is -1, `test` is `BY_CLASSIFIER`.

    Attributes
    ----------
    cuts : tuple of LinearCut or ClassifierCut
        m of them.
    """

    cuts: tuple[LinearCut | ClassifierCut, ...] = ()

    def leaf(self, X: Any) -> NDArray[np.int32]:
        """The leaf of each row, shape (n,); X by rows."""
        out = np.zeros(X.shape[0], np.int32)
        stack = [(0 if self.cuts else -1, np.arange(X.shape[0]))]
        while stack:
            node, rows = stack.pop()
            if node < 0:
                out[rows] = -1 - node
            elif len(rows):
                up = self.cuts[node].positive(X if len(rows) == X.shape[0] else X[rows])
                stack += [(int(self.left[node]), rows[~up]), (int(self.right[node]), rows[up])]
        return out


class ClassifierTrees:
    """Such trees, from `begin` to `end` - 1 of a forest, as prediction wants them: codes are X itself, by rows."""

    used: tuple[int, ...] = ()

    def __init__(self, trees: list[Any], begin: int, end: int) -> None:
        self.trees, self.begin, self.end = trees[begin:end], begin, end

    def codes(self, X: Any) -> Any:
        """X, by rows."""
        return rows_first(X)

    def add(self, X: Any, begin: int, end: int, n_threads: int) -> NDArray[np.float64]:
        """Sum of the votes of some, numbered as in the forest, shape (n, K)."""
        return self.add_coded(rows_first(X), X.shape[0], begin, end, n_threads)

    def add_coded(self, code: Any, n: int, begin: int, end: int, n_threads: int) -> NDArray[np.float64]:
        """The same from codes."""
        out = np.zeros((n, self.trees[0].vote.shape[1]))
        for tree in self.trees[begin - self.begin : end - self.begin]:
            out += tree.coefficient * tree.vote.astype(np.float64)[tree.leaf(code)]
        return out

    def leaves(self, X: Any) -> NDArray[np.int32]:
        """Leaf of each row in each, shape (n, end - begin)."""
        code = rows_first(X)
        return np.stack([tree.leaf(code) for tree in self.trees], axis=1)


def rows_first(X: Any) -> Any:
    """A sparse matrix in row order; others as they are."""
    return X.tocsr() if is_sparse(X) else X
