"""What tells right words from wrong ones without gold: their frequency in other records, and how others spell them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LEAST_COUNT = 0.3
"""Added to the count of a word elsewhere."""


def elsewhere(
    said: NDArray[np.int32],
    label: NDArray[np.int32],
    record: NDArray[np.int64],
    counts: NDArray[np.float64],
    n_known: int,
) -> NDArray[np.float64]:
    """Log frequency of each candidate in the answers to other records, so that no answer speaks for itself.

    Parameters
    ----------
    said : ndarray of int32, shape (n_slots, p)
        As in `structens.ensembles.confusions.Answers`.
    label : ndarray of int32, shape (n_slots, K)
    record : ndarray of int64, shape (n_slots,)
    counts : ndarray of float64, shape (n_known + 1,)
        How often each label was said in learning.
    n_known : int
        Labels from this one on were not there.

    Examples
    --------
    Label 0 is said in both records, label 1 in the second only.

    >>> said, label = np.array([[0], [0], [1]], np.int32), np.array([[0], [0], [1]], np.int32)
    >>> elsewhere(said, label, np.array([0, 1, 1]), np.array([2.0, 1.0, 0.0]), 2).round(2).tolist()
    [[-0.84], [-0.84], [-2.3]]
    """
    n = int(max(said.max(initial=0), label.max(initial=0))) + 1
    rows, columns = np.nonzero(said >= 0)
    keys, own = np.unique(record[rows] * n + said[rows, columns], return_counts=True)
    wanted = record[:, None] * n + np.maximum(label, 0)
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    here = np.where(keys[at] == wanted, own[at], 0) if len(keys) else np.zeros(label.shape)
    known = np.zeros(n)
    known[: min(n, n_known)] = counts[: min(n, n_known)]
    other = np.maximum(known[np.maximum(label, 0)] - here, 0.0)
    return np.asarray(np.log((other + LEAST_COUNT) / max(float(counts[:-1].sum()), 1.0)))


def spelled_alike(said: NDArray[np.int32], label: NDArray[np.int32], labels: Sequence[str]) -> NDArray[np.float64]:
    """Summed similarity of each candidate to the other labels said in its slot, each in [0, 1].

    Similarity is one minus the edit distance by the length of the longer word; GAP is like nothing.

    Examples
    --------
    >>> spelled_alike(np.array([[0, 1, 2]], np.int32), np.array([[0, 2]], np.int32), ["sign", "sigh", "who"]).tolist()
    [[0.75, 0.0]]
    """
    from rapidfuzz.distance import Levenshtein

    n = len(labels)
    out = np.zeros(label.shape)
    open_slots = np.flatnonzero((label >= 0).sum(axis=1) > 1)
    pairs: list[NDArray[np.int64]] = []
    for k in range(label.shape[1]):
        for j in range(said.shape[1]):
            a, b = label[open_slots, k].astype(np.int64), said[open_slots, j].astype(np.int64)
            pairs.append(np.where((a >= 0) & (a < n) & (b >= 0) & (b < n) & (a != b), a * n + b, -1))
    if not pairs or not len(open_slots):
        return out
    table = np.stack(pairs).reshape(label.shape[1], said.shape[1], len(open_slots))
    keys, inverse = np.unique(table, return_inverse=True)
    similar = [
        0.0 if k < 0 else Levenshtein.normalized_similarity(labels[k // n], labels[k % n]) for k in keys.tolist()
    ]
    out[open_slots] = np.array(similar)[inverse.reshape(table.shape)].sum(axis=1).T
    return out
