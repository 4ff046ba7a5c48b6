"""Between votes and labels: decoding from left to right, scores after given labels, confidences as votes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def half_log_odds(p: Floats) -> Floats:
    """Half the log-odds of probabilities, kept finite: what calibrators take for votes.

    Examples
    --------
    >>> half_log_odds(np.array([0.5, 0.75])).round(4).tolist()
    [0.0, 0.5493]
    """
    kept = np.clip(p, 1e-12, 1.0 - 1e-12)
    out: Floats = 0.5 * (np.log(kept) - np.log1p(-kept))
    return out


def greedy(score: Floats, offsets: NDArray[np.int64]) -> NDArray[np.int32]:
    """The best label of each position, from left to right where scores depend on the label before.

    Examples
    --------
    >>> greedy(np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([0, 2])).tolist()
    [1, 0]
    """
    if score.ndim == 2:
        best: NDArray[np.int32] = np.argmax(score, axis=1).astype(np.int32)
        return best
    out = np.zeros(len(score), dtype=np.int32)
    starts, lengths = offsets[:-1], np.diff(offsets)
    before = np.full(len(starts), score.shape[2], dtype=np.int32)
    for k in range(int(lengths.max(initial=0))):
        here = np.flatnonzero(lengths > k)
        place = starts[here] + k
        out[place] = before[here] = np.argmax(score[place, before[here]], axis=1)
    return out


def after(score: Floats, codes: NDArray[Any], offsets: NDArray[np.int64]) -> Floats:
    """The row of scores after the label before, for given labels.

    Examples
    --------
    >>> after(np.array([[[0.1], [0.2]], [[0.3], [0.4]]]), np.array([0, 0]), np.array([0, 2])).tolist()
    [[0.2], [0.3]]
    """
    before = np.roll(codes, 1)
    before[offsets[:-1][np.diff(offsets) > 0]] = score.shape[2]
    out: Floats = score[np.arange(len(score)), before]
    return out


def of_codes(p: Floats, codes: NDArray[np.int32]) -> Floats:
    """The number of each row in the column of its code.

    Examples
    --------
    >>> of_codes(np.array([[0.1, 0.9], [0.7, 0.3]]), np.array([1, 0], np.int32)).tolist()
    [0.9, 0.7]
    """
    out: Floats = p[np.arange(len(codes)), codes]
    return out
