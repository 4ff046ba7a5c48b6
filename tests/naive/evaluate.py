"""Slow twins of structens.evaluate, written from the definitions."""

import itertools
from functools import cache

import numpy as np


def optimal_splits(ref, hyp):
    """All (substitutions, deletions, insertions) of alignments with the fewest errors."""

    @cache
    def splits(i, j):
        if i == 0 and j == 0:
            return frozenset({(0, 0, 0)})
        out = set()
        if i and j:
            step = int(ref[i - 1] != hyp[j - 1])
            out |= {(s + step, d, n) for s, d, n in splits(i - 1, j - 1)}
        if i:
            out |= {(s, d + 1, n) for s, d, n in splits(i - 1, j)}
        if j:
            out |= {(s, d, n + 1) for s, d, n in splits(i, j - 1)}
        least = min(map(sum, out))
        return frozenset(split for split in out if sum(split) == least)

    return splits(len(ref), len(hyp))


def edits(ref, hyp):
    """The split that the tie rule takes: fewest substitutions."""
    return min(optimal_splits(tuple(ref), tuple(hyp)))


def best_reference(references, hyp):
    """Number of the reference with the fewest errors, and the edits against it; a missing answer is empty."""
    rows = [(sum(edits(ref, hyp or [])), k) for k, ref in enumerate(references)]
    _, k = min(rows)
    return k, edits(references[k], hyp or [])


def resampled_rates(errors, lengths, n_resamples, seed):
    """The plain loop, with the draws of the fast one."""
    n = len(errors[0])
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n_resamples):
        drawn = rng.integers(0, n, size=n)
        row = []
        for e, m in zip(errors, lengths, strict=True):
            over = sum(e[i] for i in drawn)
            under = sum(m[i] for i in drawn)
            row.append(over / under if under else np.nan)
        out.append(row)
    return np.array(out).T


def randomization_p_value(errors, lengths, n_resamples, seed):
    n = len(errors[0])
    rng = np.random.default_rng(seed)

    def difference(swap):
        e, m = [0, 0], [0, 0]
        for i in range(n):
            for k in (0, 1):
                e[k] += errors[1 - k if swap[i] else k][i]
                m[k] += lengths[1 - k if swap[i] else k][i]
        return abs(e[0] / m[0] - e[1] / m[1]) if m[0] and m[1] else np.inf

    observed = difference([0] * n)
    swaps = rng.integers(0, 2, size=(n_resamples, n), dtype=np.uint8)
    return (1 + sum(difference(s) >= observed * (1 - 1e-12) for s in swaps)) / (1 + n_resamples)


def path_edits(references, slots):
    """(errors, substitutions, insertions) of the best path: every choice of one proposal a slot; None says nothing."""
    best = []
    for k, ref in enumerate(references):
        for choice in itertools.product(*slots):
            s, d, i = edits(ref, [label for label in choice if label is not None])
            best.append((s + d + i, k, s, i))
    least = min(best)[:2]
    return min((s, i) for e, k, s, i in best if (e, k) == least), least


def agreement(a, b):
    """Hits and columns of the alignment of two answers."""
    s, d, i = edits(a, b)
    hits = len(a) - s - d
    return hits, hits + s + d + i
