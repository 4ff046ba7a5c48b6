"""Votes of a forest of Hamming trees for new rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.classifier_trees import ClassifierTree, ClassifierTrees
from structens.boosting.prediction_kernels import ROWS, add_votes, code_rows, leaves_of
from structens.boosting.trees import AT_LEAST_OR_NAN_BELOW, EQUAL, Forest
from structens.boosting.validation import is_sparse

_MOST_CUTS = 60_000  # of a group of trees: its thresholds are numbered with two bytes
_FEW_RANKS = 256  # of a feature: to compare a number with all of them is faster than to search
_MOST_CODES = 16 * 2**20  # numbers coded at a time


def votes_of(forest: Forest, X: Any, n_trees: int, n_threads: int = 1) -> NDArray[np.float64]:
    """Sum of the votes of the first trees, shape (n, K).

    Parameters
    ----------
    forest : Forest
    X : ndarray of float32, float64 or uint8, or sparse matrix, shape (n, d)
    n_trees : int
    n_threads : int
        Rows are shared out; the answer does not depend on it.
    """
    out = np.zeros((X.shape[0], forest.n_classes))
    for group in _groups(forest):
        begin, end = group.begin, min(group.end, n_trees * forest.width)
        if begin >= end:
            break
        for rows, part in _parts(X, len(group.used)):
            out[rows] += group.add(part, begin, end, n_threads)
    return out


def staged_votes_of(forest: Forest, X: NDArray[Any]) -> Iterator[NDArray[np.float64]]:
    """Sum of the votes after each round, shape (n, K); the same array each time."""
    out = np.zeros((X.shape[0], forest.n_classes))
    for group in _groups(forest):
        code = group.codes(X)
        for t in range(group.begin, group.end):
            out += group.add_coded(code, X.shape[0], t, t + 1, 1)
            if (t + 1) % forest.width == 0:
                yield out


def leaves_in(forest: Forest, X: NDArray[Any]) -> NDArray[np.int32]:
    """The leaf of each row in each tree, from 0, one column a tree."""
    out = np.zeros((X.shape[0], len(forest.trees)), np.int32)
    for group in _groups(forest):
        for rows, part in _parts(X, len(group.used)):
            out[rows, group.begin : group.end] = group.leaves(part)
    return out


class _Group:
    """Some trees in a row, their thresholds numbered by rank."""

    def __init__(self, forest: Forest, begin: int, end: int) -> None:
        self.begin, self.end = begin, end
        trees = forest.trees[begin:end]
        counts = np.array([len(tree.feature) for tree in trees], np.int64)
        feature, threshold, test, left, right = (
            np.concatenate([getattr(tree, name) for tree in trees])
            for name in ("feature", "threshold", "test", "left", "right")
        )
        self.used, number = np.unique(feature, return_inverse=True)
        self.thresholds: list[NDArray[np.float64]] = []
        low, high = np.zeros(len(feature), np.int64), np.zeros(len(feature), np.int64)
        for j in range(len(self.used)):
            mine = np.flatnonzero(number == j)
            wanted, equal = threshold[mine], test[mine] == EQUAL
            above = np.nextafter(wanted, np.inf)
            ranks = np.unique(np.concatenate([wanted, above[equal]]))
            low[mine] = np.searchsorted(ranks, wanted) + 1
            high[mine] = np.where(test[mine] == AT_LEAST_OR_NAN_BELOW, len(ranks), len(ranks) + 1)
            high[mine] = np.where(equal, np.searchsorted(ranks, above), high[mine])
            self.thresholds.append(ranks)
        self.few_ranks = _in_single_precision(self.thresholds)
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.cuts = first, number.reshape(-1).astype(np.int64), low.astype(np.uint16), high.astype(np.uint16)
        self.children = left.astype(np.int64), right.astype(np.int64)
        self.most_leaves = int(counts.max()) + 1
        self.n_classes, self.kp = forest.n_classes, -(-forest.n_classes // 8) * 8
        votes = np.zeros((len(feature) + len(trees), self.kp), np.float32)
        np.concatenate([tree.vote for tree in trees], out=votes[:, : self.n_classes])
        self.votes = votes.reshape(-1)
        self.coefficient = np.array([tree.coefficient for tree in trees])

    def shape(self, n: int) -> NDArray[np.int64]:
        return np.array([0, -(-n // ROWS), n, len(self.used), self.kp, self.most_leaves], np.int64)

    def codes(self, X: Any) -> NDArray[np.uint16]:
        """How many thresholds each number reaches; one more for NaN."""
        n = X.shape[0]
        code = np.zeros((-(-n // ROWS), len(self.used), ROWS), np.uint16)
        flat = code.reshape(-1)
        if self.few_ranks is not None and not is_sparse(X) and X.dtype == np.float32 and X.flags.c_contiguous:
            work = np.zeros(ROWS, np.float32), np.zeros(ROWS, np.int32)
            code_rows(X, self.used, *self.few_ranks, work, flat)
            return flat
        padded = np.zeros(code.shape[0] * ROWS, np.uint16)
        for j, feature in enumerate(self.used):
            ranks = self.thresholds[j]
            if is_sparse(X):  # column by column: zeros, then what is stored
                held = slice(X.indptr[feature], X.indptr[feature + 1])
                padded[:n] = np.searchsorted(ranks, 0.0, side="right")
                padded[X.indices[held]] = _ranks(ranks, X.data[held])
            else:
                padded[:n] = _ranks(ranks, X[:, feature])
            code[:, j] = padded.reshape(-1, ROWS)
        return flat

    def leaves(self, X: NDArray[Any]) -> NDArray[np.int32]:
        """The leaf of each row in each tree, shape (n, trees)."""
        trees = np.array([0, self.end - self.begin])
        found = np.zeros((X.shape[0], self.end - self.begin), np.int32)
        leaves_of(self.codes(X), self.shape(X.shape[0]), trees, self.cuts, self.children, found)
        return found

    def add(self, X: NDArray[Any], begin: int, end: int, n_threads: int) -> NDArray[np.float64]:
        return self.add_coded(self.codes(X), X.shape[0], begin, end, n_threads)

    def add_coded(self, code: NDArray[np.uint16], n: int, begin: int, end: int, n_threads: int) -> NDArray[np.float64]:
        out = np.zeros(n * self.kp)
        trees = np.array([begin - self.begin, end - self.begin])
        args = (trees, self.cuts, self.children, self.votes, self.coefficient, out)
        whole = self.shape(n)
        bounds = np.linspace(0, whole[1], min(n_threads, int(whole[1])) + 1).astype(np.int64)
        parts = [np.concatenate([[a, b], whole[2:]]) for a, b in itertools.pairwise(bounds)]
        if len(parts) == 1:
            add_votes(code, parts[0], *args)
        else:
            with ThreadPoolExecutor(len(parts)) as pool:
                list(pool.map(lambda part: add_votes(code, part, *args), parts))
        return out.reshape(n, self.kp)[:, : self.n_classes]


def _in_single_precision(
    thresholds: list[NDArray[np.float64]],
) -> tuple[NDArray[np.float32], NDArray[np.int64]] | None:
    """Thresholds that are few, rounded up: float32 numbers reach the same of them. And where each feature's begin."""
    sizes = [len(ranks) for ranks in thresholds]
    if max(sizes, default=0) > _FEW_RANKS:
        return None
    exact = np.concatenate([np.zeros(0), *thresholds])
    with np.errstate(over="ignore"):
        rounded = exact.astype(np.float32)
    rounded = np.where(rounded < exact, np.nextafter(rounded, np.float32(np.inf)), rounded)
    return rounded, np.cumsum([0, *sizes]).astype(np.int64)


def _ranks(ranks: NDArray[np.float64], values: NDArray[Any]) -> NDArray[np.int64]:
    code = np.searchsorted(ranks, values, side="right")
    if values.dtype.kind == "f":
        code[np.isnan(values)] = len(ranks) + 1
    return code


def _groups(forest: Forest) -> list[Any]:
    """The forest in groups of trees; kept with it until a tree is added."""
    kept = forest.kept
    if "groups" not in kept:
        groups, begin, n_cuts = list[Any](), 0, 0
        if forest.trees and isinstance(forest.trees[0], ClassifierTree):
            groups.append(ClassifierTrees(forest.trees, 0, len(forest.trees)))
            begin = len(forest.trees)
        for t, tree in enumerate(forest.trees[begin:]):
            if n_cuts + len(tree.feature) > _MOST_CUTS and t > begin:
                groups.append(_Group(forest, begin, t))
                begin, n_cuts = t, 0
            n_cuts += len(tree.feature)
        if len(forest.trees) > begin:
            groups.append(_Group(forest, begin, len(forest.trees)))
        kept["groups"] = groups
    out: list[Any] = kept["groups"]
    return out


def _parts(X: Any, n_features: int) -> Iterator[tuple[slice, Any]]:
    """X in parts of which codes fit into memory; sparse ones in column order."""
    parts = list(_batches(X.shape[0], n_features))
    if len(parts) == 1:
        yield parts[0], X
    elif is_sparse(X):
        X = X.tocsr()
        yield from ((rows, X[rows].tocsc()) for rows in parts)
    else:
        yield from ((rows, X[rows]) for rows in parts)


def _batches(n: int, n_features: int) -> Iterator[slice]:
    size = max(ROWS, _MOST_CODES // max(1, n_features) // ROWS * ROWS)
    for begin in range(0, n, size):
        yield slice(begin, min(n, begin + size))
