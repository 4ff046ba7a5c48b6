"""A Hamming tree in words and lines: which cuts, and how each leaf votes on every class.

The trees of Kegl, "The return of AdaBoost.MH: multi-class Hamming trees" (ICML 2014): a cut is a question with two
answers, a leaf is a vector of votes, +1 or -1 (or any number) for each class, times the coefficient of the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.classifier_cuts import LinearCut
from structens.boosting.classifier_trees import ClassifierTree
from structens.boosting.trees import AT_LEAST_OR_NAN_BELOW, EQUAL, HammingTreeArrays
from structens.core import ParameterError
from structens.report.text import visible


def tree_text(
    tree: HammingTreeArrays,
    *,
    classes: Sequence[Any] | None = None,
    features: Sequence[str] | None = None,
    digits: int = 6,
    max_classes: int = 6,
) -> str:
    """A tree as lines of text: the no-branch above the yes-branch of each cut.

    Parameters
    ----------
    tree : HammingTreeArrays
        One round of AdaBoostMH.
    classes : sequence of K labels, optional
        Default 0, 1, ...
    features : sequence of str, optional
        Default x[0], x[1], ...
    digits : int
        Of a threshold; 17 tell all numbers apart.
    max_classes : int
        Most classes named in a leaf.

    Raises
    ------
    ParameterError
        If there are not K classes, or too few features.

    Examples
    --------
    >>> import numpy as np
    >>> from structens.boosting.trees import HammingTreeArrays
    >>> stump = HammingTreeArrays(
    ...     feature=np.array([1]), threshold=np.array([2.5]), test=np.array([0]), left=np.array([-1]),
    ...     right=np.array([-2]), gain=np.array([0.667]), vote=np.array([[1, -1, -1], [-1, 1, 1]]),
    ...     coefficient=0.805, edge=0.667, normalizer=0.745)
    >>> print(tree_text(stump, classes=["setosa", "versicolor", "virginica"], features=["length", "width"]))
    coefficient 0.8050, edge 0.6670, Z 0.7450
    width >= 2.5?  (gain 0.6670)
    ├─ no:  + setosa
    └─ yes: - setosa
    """
    names = names_of(tree, classes, features)
    head = f"coefficient {tree.coefficient:.4f}, edge {tree.edge:.4f}, Z {tree.normalizer:.4f}"
    return "\n".join([head, *_lines(tree, root_of(tree), names, digits, max_classes)])


def names_of(
    tree: HammingTreeArrays, classes: Sequence[Any] | None, features: Sequence[str] | None
) -> tuple[list[str], list[str]]:
    """Names of the classes and of the features that the tree needs, printable.

    Raises
    ------
    ParameterError
        If there are not K classes, or too few features.
    """
    n_classes, n_features = tree.vote.shape[1], _n_features(tree)
    labels = [str(k) for k in range(n_classes)] if classes is None else [visible(str(label)) for label in classes]
    columns = [f"x[{j}]" for j in range(n_features)] if features is None else [visible(str(name)) for name in features]
    if len(labels) != n_classes:
        raise ParameterError(f"the tree votes on {n_classes} classes; got {len(labels)} names")
    if len(columns) < n_features:
        raise ParameterError(f"the tree cuts feature {n_features - 1}; got {len(columns)} names of features")
    return labels, columns


def _n_features(tree: HammingTreeArrays) -> int:
    """How many names of features a tree needs."""
    if isinstance(tree, ClassifierTree):
        return max((len(cut.coefficient) for cut in tree.cuts if isinstance(cut, LinearCut)), default=0)
    return int(tree.feature.max(initial=-1)) + 1


def root_of(tree: HammingTreeArrays) -> int:
    """The first cut, or the one leaf of a tree without cuts, numbered as children are."""
    return 0 if len(tree.feature) else -1


def question(tree: HammingTreeArrays, cut: int, features: Sequence[str], digits: int = 6) -> str:
    """The question of a cut; its + side is where the answer is yes.

    Examples
    --------
    >>> from structens.boosting.trees import HammingTreeArrays
    >>> one = np.zeros(1, dtype=np.int32)
    >>> t = HammingTreeArrays(one, one + 0.5, one, one, one, one, one, 1.0, 1.0, 1.0)
    >>> question(t, 0, ["age"])
    'age >= 0.5?'
    """
    if isinstance(tree, ClassifierTree):
        return tree.cuts[cut].question(list(features), digits)
    sign = "==" if tree.test[cut] == EQUAL else ">="
    known = " and known" if tree.test[cut] == AT_LEAST_OR_NAN_BELOW else ""
    return f"{features[int(tree.feature[cut])]} {sign} {float(tree.threshold[cut]):.{digits}g}{known}?"


def vote_text(vote: NDArray[Any], classes: Sequence[str], max_classes: int = 6) -> str:
    """The votes of a leaf: the side that has fewer classes, or for other numbers than +-1 the strongest.

    Examples
    --------
    >>> vote_text(np.array([1, -1, -1]), ["a", "b", "c"]), vote_text(np.array([0.5, -0.25]), ["a", "b"])
    ('+ a', 'a +0.5, b -0.25')
    """
    if np.isin(vote, (-1, 1)).all():
        plus, minus = np.flatnonzero(vote > 0), np.flatnonzero(vote < 0)
        sign, side = ("+", plus) if 0 < len(plus) <= len(minus) else ("-", minus)
        if len(side) == len(vote):
            return f"{sign} all classes"
        return f"{sign} {_some([classes[k] for k in side.tolist()], max_classes)}" if len(side) else "+ all classes"
    strong: list[int] = np.argsort(-np.abs(vote), kind="stable").tolist()
    return _some([f"{classes[k]} {float(vote[k]):+.3g}" for k in strong], max_classes)


def _some(words: list[str], most: int) -> str:
    more = len(words) - most
    return ", ".join(words) if more <= 0 else ", ".join(words[:most]) + f" and {more} more"


def _lines(
    tree: HammingTreeArrays, node: int, names: tuple[list[str], list[str]], digits: int, max_classes: int
) -> list[str]:
    """Lines of a subtree. Deep trees are walked without recursion: a chain may be as long as there are cuts."""
    classes, features = names
    lines: list[str] = []
    stack = [(node, "", "")]  # child, what stands before its first line, and before the others
    while stack:
        node, first, rest = stack.pop()
        if node < 0:
            lines.append(first + vote_text(tree.vote[-1 - node], classes, max_classes))
            continue
        lines.append(f"{first}{question(tree, node, features, digits)}  (gain {float(tree.gain[node]):.4f})")
        stack.append((int(tree.right[node]), rest + "└─ yes: ", rest + "        "))
        stack.append((int(tree.left[node]), rest + "├─ no:  ", rest + "│       "))
    return lines
