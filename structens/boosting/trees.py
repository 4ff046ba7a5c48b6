"""Hamming trees as flat arrays, one after the other: what boosting leaves behind and prediction reads.

A tree with m cuts has m + 1 leaves, numbered from left to right; its cuts are in the order in which they were made. A
child is the number of a cut, or -1 - leaf.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

AT_LEAST, AT_LEAST_OR_NAN_BELOW, EQUAL = 0, 1, 2
"""Tests of a cut: x >= threshold, where NaN goes to the + side, or to the - side; x == threshold."""


@dataclass(frozen=True, eq=False)
class HammingTreeArrays:
    """One base classifier h(x) = coefficient * vote[leaf of x].

    Attributes
    ----------
    feature : ndarray of int32, shape (m,)
    threshold : ndarray of float64, shape (m,)
    test : ndarray of int8, shape (m,)
        `AT_LEAST`, `AT_LEAST_OR_NAN_BELOW` or `EQUAL`.
    left, right : ndarray of int32, shape (m,)
        Child on the - and on the + side.
    gain : ndarray of float64, shape (m,)
        By how much each cut raised the edge.
    vote : ndarray of float32, shape (m + 1, K)
    coefficient, edge, normalizer : float
        alpha with shrinkage; edge gamma of the votes under the weights of the round; Z.
    constant_gain : float
        By how much constants in leaves raised the edge.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    test: NDArray[np.int8]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    gain: NDArray[np.float64]
    vote: NDArray[np.float32]
    coefficient: float
    edge: float
    normalizer: float
    constant_gain: float = 0.0


@dataclass(eq=False)
class Forest:
    """All trees of a model.

    Attributes
    ----------
    n_classes : int
    trees : list of HammingTreeArrays
    width : int
        Trees a round: 1, or K stumps one against all, which share coefficient, edge and Z.
    kept : dict
        What prediction has prepared; forgotten when the trees change, and not pickled.

    Examples
    --------
    >>> Forest(n_classes=3).n_trees
    0
    """

    n_classes: int
    trees: list[HammingTreeArrays] = field(default_factory=list)
    kept: dict[str, Any] = field(default_factory=dict, repr=False)
    width: int = 1

    @property
    def n_trees(self) -> int:
        """Number of rounds; of trees, where a round has one."""
        return len(self.trees) // self.width

    def append(self, tree: HammingTreeArrays | list[HammingTreeArrays]) -> None:
        """Add the tree, or the trees, of a round."""
        self.trees.extend(tree if isinstance(tree, list) else [tree])
        self.kept = {}

    def truncate(self, n_trees: int) -> None:
        """Keep the first rounds only."""
        del self.trees[n_trees * self.width :]
        self.kept = {}

    def numbers(self, name: str) -> NDArray[np.float64]:
        """One number a round: `coefficient`, `edge`, `normalizer` or `constant_gain`, shape (n_trees,)."""
        return np.array([getattr(tree, name) for tree in self.trees[:: self.width]], np.float64)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "kept": {}}
