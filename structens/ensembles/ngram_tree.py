"""NGramTree: an n-gram model of label sequences, smoothed by interpolated Kneser-Ney, as a tree for decoders.

A node is a sequence of labels, its children are the sequences one label longer, side by side and sorted. A label after
a context costs the search for a child, or the context's backoff weight and the same question to the context without
its first label. The states of the model are the contexts that occur, so that a decoder visits few of them, whatever the
order and the number of labels.

Sources: Ney, Essen and Kneser (1994), "On structuring probabilistic dependences in stochastic language modelling";
Chen and Goodman (1999), "An empirical study of smoothing techniques for language modeling".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.core import ParameterError, Ragged


class NGramTree(NamedTuple):
    """A smoothed n-gram model over n_labels labels and the end of a sequence.

    Attributes
    ----------
    first_child : ndarray of int64, shape (n_nodes + 1,)
        Node i has the children ``first_child[i]:first_child[i + 1]``, numbers of nodes; node 0 is the empty sequence.
    label : ndarray of int32, shape (n_nodes,)
        Last label of each node's sequence; ``n_labels`` is the end, ``n_labels + 1`` the beginning.
    log_probability : ndarray of float64, shape (n_nodes,)
        Of the last label after the others.
    log_backoff : ndarray of float64, shape (n_nodes,)
        Weight of the shorter context where the longer one does not know a label.
    shorter : ndarray of int64, shape (n_nodes,)
        The sequence without its first label.
    state : ndarray of int64, shape (n_nodes,)
        The longest end of the sequence that is a context.
    sizes : ndarray of int64, shape (3,)
        Number of labels, order, and the state before the first label.
    """

    first_child: NDArray[np.int64]
    label: NDArray[np.int32]
    log_probability: NDArray[np.float64]
    log_backoff: NDArray[np.float64]
    shorter: NDArray[np.int64]
    state: NDArray[np.int64]
    sizes: NDArray[np.int64]


def grow_ngrams(sequences: Ragged, n_labels: int, order: int) -> NGramTree:
    """Count n-grams and smooth them, in time proportional to order times length, times a logarithm.

    Parameters
    ----------
    sequences : Ragged of int32
        Codes from 0 to n_labels - 1.
    n_labels : int
        Labels that exist, whether they occur or not.
    order : int
        Length of the longest n-gram, at least 1.

    Returns
    -------
    NGramTree

    Raises
    ------
    ParameterError
        If the order is not at least 1, or a code is out of range.

    Examples
    --------
    >>> model = grow_ngrams(Ragged.of([[0, 1, 0, 1], [0, 1]]), 2, 2)
    >>> round(float(np.exp(log_probability(model, np.array([0, 1], np.int32)))), 3)
    0.572
    """
    if order < 1:
        raise ParameterError(f"the order of n-grams must be at least 1; got {order}")
    if len(sequences.values) and not 0 <= sequences.values.min() <= sequences.values.max() < n_labels:
        raise ParameterError(f"codes of sequences must be from 0 to {n_labels - 1}")
    text, place = _with_ends(sequences, n_labels)
    keys, counts, shorter = _tree(text, place, n_labels, order)
    base = n_labels + 2
    parent, label = keys // base, (keys % base).astype(np.int32)
    n_nodes = len(keys) + 1
    first_child = np.searchsorted(parent, np.arange(n_nodes + 1)).astype(np.int64) + 1
    depth = np.zeros(n_nodes, np.int64)
    for i in range(1, order + 1):  # parents come before their children
        depth[1:] = np.where(depth[parent] == i - 1, i, depth[1:]) if i > 1 else (parent == 0)
    log_p, log_backoff = _smoothed(parent, label, counts, shorter, depth, n_labels, order)
    state = np.arange(n_nodes)
    childless = (np.diff(first_child) == 0) | (depth >= order)
    for i in range(1, order + 1):
        rows = np.flatnonzero(childless & (depth == i))
        state[rows] = state[shorter[rows]]
    start = int(state[n_labels + 2]) if order > 1 else 0  # the node of the beginning
    sizes = np.array([n_labels, order, start], np.int64)
    return NGramTree(first_child, np.append(np.int32(-1), label), log_p, log_backoff, shorter, state, sizes)


def checked(model: NGramTree) -> NGramTree:
    """A model whose arrays come from elsewhere, such as a file, if walking it leads nowhere outside.

    Raises
    ------
    ValueError
        If the arrays do not fit each other.

    Examples
    --------
    >>> model = grow_ngrams(Ragged.of([[0], [0], [1]]), 2, 1)
    >>> checked(NGramTree(*(np.array(part) for part in model))).sizes.tolist()
    [2, 1, 0]
    """
    n = len(model.label)
    if n < 1 or model.sizes.shape != (3,) or model.first_child.shape != (n + 1,):
        raise ValueError("the n-grams have no beginning")
    if not all(part.shape == (n,) for part in model[2:6]):
        raise ValueError("the n-grams do not fit their probabilities")
    child, itself = model.first_child, np.arange(n)
    if (np.diff(child) < 0).any() or child[-1] > n or (child[:-1] <= itself).any():
        raise ValueError("a longer n-gram is not among those there are")
    if ((model.shorter < 0) | (model.shorter >= np.maximum(itself, 1))).any():
        raise ValueError("a shorter n-gram is not among those before")
    n_labels, order, start = model.sizes.tolist()
    if n_labels < 0 or order < 1 or not 0 <= start < n or ((model.state < 0) | (model.state >= n)).any():
        raise ValueError("a state of the n-grams is none")
    return model


def log_probability(model: NGramTree, sequence: NDArray[np.int32]) -> float:
    """Log probability of a whole sequence and its end.

    Examples
    --------
    >>> model = grow_ngrams(Ragged.of([[0], [0], [1]]), 2, 1)
    >>> round(log_probability(model, np.array([0], np.int32)), 3)
    -1.792
    """
    return float(_log_probability(model, np.ascontiguousarray(sequence, np.int32)))


def _with_ends(sequences: Ragged, n_labels: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All sequences with beginning and end, and the place of each unit in its sequence."""
    lengths = sequences.lengths + 2
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    text = np.empty(offsets[-1], np.int64)
    place = np.arange(len(text)) - np.repeat(offsets[:-1], lengths)
    text[offsets[:-1]], text[offsets[1:] - 1] = n_labels + 1, n_labels
    inner = (place > 0) & (place < np.repeat(lengths, lengths) - 1)
    text[inner] = sequences.values
    return text, place


def _tree(
    text: NDArray[np.int64], place: NDArray[np.int64], n_labels: int, order: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Key (parent, label) of every node but the first, in the order of nodes; counts; shorter sequences."""
    base = n_labels + 2
    keys, counts = np.arange(base, dtype=np.int64), np.bincount(text, minlength=base).astype(np.int64)
    shorter = np.zeros(base + 1, np.int64)
    node = text + 1  # of the n-gram that ends here
    for k in range(2, order + 1):
        ends = np.flatnonzero(place >= k - 1)
        longer, inverse, n = np.unique(node[ends - 1] * base + text[ends], return_inverse=True, return_counts=True)
        known = np.searchsorted(keys, shorter[longer // base] * base + longer % base) + 1
        node = np.zeros(len(text), np.int64)
        node[ends] = inverse + len(keys) + 1
        keys, counts = np.concatenate([keys, longer]), np.concatenate([counts, n.astype(np.int64)])
        shorter = np.concatenate([shorter, known])
    return keys, counts, shorter


def _smoothed(
    parent: NDArray[np.int64],
    label: NDArray[np.int32],
    counts: NDArray[np.int64],
    shorter: NDArray[np.int64],
    depth: NDArray[np.int64],
    n_labels: int,
    order: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Interpolated Kneser-Ney: lower orders count the distinct labels before, not occurrences."""
    n_nodes = len(depth)
    # n-grams that begin with the beginning have nothing before them: they keep their counts
    before = np.bincount(shorter[1:][depth[1:] > 1], minlength=n_nodes)
    used = np.append(0, counts)
    used = np.where((depth < order) & (before > 0), before, used).astype(np.float64)
    used[1:][label == n_labels + 1] = 0.0  # the beginning follows nothing
    p, log_backoff = np.zeros(n_nodes), np.zeros(n_nodes)
    for k in range(1, order + 1):
        rows = np.flatnonzero(depth == k)
        up = parent[rows - 1]
        once, twice = (used[rows] == 1).sum(), (used[rows] == 2).sum()
        discount = min(max(once / max(once + 2.0 * twice, 1.0), 0.1), 0.9)
        total = np.bincount(up, weights=used[rows], minlength=n_nodes)
        kinds = np.bincount(up, weights=used[rows] > 0, minlength=n_nodes)
        whole = np.where(total > 0, total, 1.0)
        rest = np.where(total > 0, discount * kinds / whole, 1.0)
        contexts = depth == k - 1
        log_backoff[contexts] = np.log(rest[contexts])
        lower = p[shorter[rows]] if k > 1 else np.full(len(rows), 1.0 / (n_labels + 1))
        p[rows] = np.maximum(used[rows] - discount, 0.0) / whole[up] + rest[up] * lower
    p[0] = 1.0 / (n_labels + 1)
    return np.log(p), log_backoff


@njit(cache=True, inline="always")
def child_of(first_child, labels, state, label):  # type: ignore[no-untyped-def]
    """The sequence one label longer; 0 if there is none."""
    low, end = first_child[state], first_child[state + 1]
    high = end
    while low < high:
        middle = (low + high) // 2
        if labels[middle] < label:
            low = middle + 1
        else:
            high = middle
    return low if low < end and labels[low] == label else np.int64(0)


@njit(cache=True)
def step(model, state, label, follower):  # type: ignore[no-untyped-def]
    """Log probability of a label after a state; the state that follows is written to ``follower[0]``."""
    first_child, labels, log_p, log_backoff, shorter, contexts, _ = model  # named once: each naming is counted
    cost = 0.0
    while True:
        child = child_of(first_child, labels, state, label)
        if child > 0:
            follower[0] = contexts[child]
            return cost + log_p[child]
        if state == 0:
            follower[0] = 0
            return cost + log_backoff[0] + log_p[0]  # a label that learning did not know
        cost += log_backoff[state]
        state = shorter[state]


@njit(cache=True)
def _log_probability(model, sequence):  # type: ignore[no-untyped-def]
    follower = np.empty(1, np.int64)
    here = model[6][2]
    total = 0.0
    for i in range(len(sequence)):
        total += step(model, here, sequence[i], follower)
        here = follower[0]
    return total + step(model, here, model[6][0], follower)
