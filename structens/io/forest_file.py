"""The trees of a boosted classifier in a model file, and back: a handful of arrays, however many trees there are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.classifier_cuts import ClassifierCut, LinearCut
from structens.boosting.classifier_trees import ClassifierTree
from structens.boosting.trees import Forest, HammingTreeArrays
from structens.core import ModelError

_NUMBERS = ("coefficient", "edge", "normalizer", "constant_gain")
_COLUMNS = ("feature", "threshold", "test", "left", "right", "gain")

_KINDS: dict[str, Any] = {
    "feature": np.int32,
    "threshold": np.float64,
    "test": np.int8,
    "left": np.int32,
    "right": np.int32,
    "gain": np.float64,
}


def encoded_forest(forest: Forest, key: str, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """All trees joined.

    Raises
    ------
    ModelError
        If a cut is a classifier that is not linear.
    """
    trees = forest.trees
    for name in _NUMBERS:
        arrays[f"{key}.{name}"] = np.array([getattr(tree, name) for tree in trees], np.float64)
    for name in _COLUMNS:
        kind = _KINDS[name]
        arrays[f"{key}.{name}"] = np.concatenate([np.zeros(0, kind), *(getattr(tree, name) for tree in trees)]).astype(
            kind
        )
    none = np.zeros((0, forest.n_classes), np.float32)
    arrays[f"{key}.vote"] = np.concatenate([none, *(tree.vote for tree in trees)]).astype(np.float32)
    arrays[f"{key}.n_cuts"] = np.array([len(tree.feature) for tree in trees], np.int64)
    out = {"forest": key, "n_classes": int(forest.n_classes), "width": int(forest.width)}
    cuts = [cut for tree in trees for cut in getattr(tree, "cuts", ())]
    if not any(isinstance(tree, ClassifierTree) for tree in trees):
        return out
    for cut in cuts:
        if isinstance(cut, ClassifierCut):
            raise ModelError(
                f"a {type(cut.estimator).__name__} as a cut cannot be stored in a model file, which runs no code; "
                "linear classifiers of scikit-learn can; pickle such a model"
            )
    columns = [cut.coefficient for cut in cuts]
    arrays[f"{key}.linear"] = np.array(columns, np.float64) if columns else np.zeros((0, 0))
    arrays[f"{key}.intercept"] = np.array([cut.intercept for cut in cuts], np.float64)
    return {**out, "cuts": "linear"}


def decoded_forest(value: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Forest:
    """The trees that `encoded_forest` wrote.

    Raises
    ------
    ValueError
        If its arrays do not fit each other.
    """
    key, width = value["forest"], int(value.get("width", 1))
    forest = Forest(n_classes=int(value["n_classes"]), width=width)
    n_cuts, vote = arrays[f"{key}.n_cuts"], arrays[f"{key}.vote"]
    total, n_trees = int(n_cuts.sum()), len(n_cuts)
    if n_cuts.dtype.kind != "i" or (n_cuts < 0).any() or vote.shape != (total + n_trees, forest.n_classes):
        raise ValueError("the trees do not fit their votes")
    columns = {name: arrays[f"{key}.{name}"] for name in _COLUMNS}
    numbers = {name: arrays[f"{key}.{name}"] for name in _NUMBERS}
    if any(columns[name].shape != (total,) or columns[name].dtype != _KINDS[name] for name in _COLUMNS):
        raise ValueError("there must be one entry a cut")
    if any(numbers[name].shape != (n_trees,) for name in _NUMBERS) or vote.dtype != np.float32:
        raise ValueError("there must be one number a tree")
    if width < 1 or n_trees % width:
        raise ValueError("the trees do not make whole rounds")
    linear = _linear_cuts(value, arrays, total)
    begin = 0
    for t, m in enumerate(n_cuts.tolist()):
        cuts: dict[str, Any] = {name: columns[name][begin : begin + m] for name in _COLUMNS}
        cuts |= {name: float(numbers[name][t]) for name in _NUMBERS}
        votes = vote[begin + t : begin + t + m + 1]
        if linear is None:
            forest.append(HammingTreeArrays(vote=votes, **cuts))
        else:
            forest.append(ClassifierTree(vote=votes, cuts=tuple(linear[begin : begin + m]), **cuts))
        begin += m
    return forest


def _linear_cuts(value: dict[str, Any], arrays: dict[str, NDArray[Any]], total: int) -> list[LinearCut] | None:
    """The linear cuts of all trees, None where cuts are thresholds."""
    if value.get("cuts") is None:
        return None
    rows, intercept = arrays[f"{value['forest']}.linear"], arrays[f"{value['forest']}.intercept"]
    if rows.ndim != 2 or rows.dtype != np.float64 or intercept.dtype != np.float64:
        raise ValueError("linear cuts are rows of numbers")
    if (
        len(rows) != total
        or intercept.shape != (total,)
        or not (np.isfinite(rows).all() and np.isfinite(intercept).all())
    ):
        raise ValueError("there must be one linear cut a node")
    return [LinearCut(row, float(b)) for row, b in zip(rows, intercept, strict=True)]


def check_forest(forest: Forest, d: int, n_classes: int) -> None:
    """Refuse what compiled code would follow out of its arrays.

    Raises
    ------
    ValueError
        Saying what does not fit.
    """
    if forest.n_classes != n_classes and not (n_classes == 1 and not forest.trees):
        raise ValueError("the trees do not vote on the classes")
    for tree in forest.trees:
        m = len(tree.feature)
        for side in (tree.left, tree.right):
            inner = (side > np.arange(m)) & (side < m)  # a child was made after its parent: no cycles
            if not (inner | ((side < 0) & (side >= -1 - m))).all():
                raise ValueError("a branch leads nowhere")
        if isinstance(tree, ClassifierTree):
            if any(cut.coefficient.shape != (d,) for cut in tree.cuts if isinstance(cut, LinearCut)):
                raise ValueError("a linear cut is of other features")
        elif not ((tree.feature >= 0) & (tree.feature < d)).all():
            raise ValueError("a cut is of no feature")
        if not (np.isfinite(tree.vote).all() and math.isfinite(tree.coefficient)):
            raise ValueError("a vote is not finite")
