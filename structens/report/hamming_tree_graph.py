"""A Hamming tree as a networkx graph, with a place for every node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structens.boosting.trees import HammingTreeArrays
from structens.report.hamming_tree_text import names_of, question, root_of, vote_text


def tree_graph(
    tree: HammingTreeArrays,
    *,
    classes: Sequence[Any] | None = None,
    features: Sequence[str] | None = None,
    digits: int = 4,
    max_classes: int = 6,
) -> Any:
    """The tree as a directed graph from the root to the leaves.

    Nodes are "cut 0", "cut 1", ... in the order in which they were made and "leaf 0", "leaf 1", ... from left to right.
    Their attributes: `label`; `pos`, (x, y) with leaves one apart and depth downwards; a cut's `feature`, `threshold`
    and `gain`; a leaf's `vote`, the list of K votes. An edge has `answer`, "no" or "yes".

    Parameters
    ----------
    tree : HammingTreeArrays
    classes, features, digits, max_classes
        As in `structens.report.tree_text`.

    Returns
    -------
    networkx.DiGraph

    Raises
    ------
    ParameterError
        As there.

    Examples
    --------
    >>> import numpy as np
    >>> stump = HammingTreeArrays(
    ...     feature=np.array([0]), threshold=np.array([2.5]), test=np.array([0]), left=np.array([-1]),
    ...     right=np.array([-2]), gain=np.array([0.667]), vote=np.array([[1, -1], [-1, 1]]),
    ...     coefficient=0.805, edge=0.667, normalizer=0.745)
    >>> graph = tree_graph(stump, classes=["a", "b"])
    >>> graph.nodes["cut 0"]["label"], graph.nodes["leaf 1"]["label"], graph.edges["cut 0", "leaf 1"]["answer"]
    ('x[0] >= 2.5?', '+ b', 'yes')
    """
    import networkx as nx

    labels, columns = names_of(tree, classes, features)
    graph = nx.DiGraph(coefficient=float(tree.coefficient), edge=float(tree.edge), normalizer=float(tree.normalizer))
    depth = {root_of(tree): 0}
    for node in _top_down(tree):
        if node < 0:
            vote = tree.vote[-1 - node]
            text = vote_text(vote, labels, max_classes)
            graph.add_node(
                _name(node), label=text, vote=[float(v) for v in vote], pos=(float(-1 - node), float(-depth[node]))
            )
            continue
        graph.add_node(
            _name(node),
            label=question(tree, node, columns, digits),
            feature=columns[tree.feature[node]] if tree.feature[node] >= 0 else None,
            threshold=float(tree.threshold[node]),
            gain=float(tree.gain[node]),
        )
        for child in (int(tree.left[node]), int(tree.right[node])):
            depth[child] = depth[node] + 1
    for node in reversed(_top_down(tree)):
        if node >= 0:
            sides = [_name(int(tree.left[node])), _name(int(tree.right[node]))]
            graph.add_edges_from(
                [(_name(node), sides[0], {"answer": "no"}), (_name(node), sides[1], {"answer": "yes"})]
            )
            middle = sum(graph.nodes[side]["pos"][0] for side in sides) / 2.0
            graph.nodes[_name(node)]["pos"] = (middle, float(-depth[node]))
    return graph


def _name(node: int) -> str:
    return f"cut {node}" if node >= 0 else f"leaf {-1 - node}"


def _top_down(tree: HammingTreeArrays) -> list[int]:
    """All nodes, a parent before its children."""
    out, stack = [], [root_of(tree)]
    while stack:
        node = stack.pop()
        out.append(node)
        if node >= 0:
            stack += [int(tree.right[node]), int(tree.left[node])]
    return out
