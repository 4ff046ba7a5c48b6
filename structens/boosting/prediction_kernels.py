"""Kernels that apply Hamming trees to blocks of 64 rows at once, without following a path.

All cuts of a tree are tested on all rows of a block; where a row goes to the + side, the leaves below the - side are
struck from its set of leaves, and the leftmost leaf that remains is the row's. Lucchese et al., "QuickScorer" (SIGIR
2015). Tests are on codes: how many of the thresholds in use a number reaches.
"""

from __future__ import annotations

import numpy as np

from structens.boosting.compiled import entry, inner, lean_entry
from structens.boosting.lanes import accumulate_scaled, load, lowest_bit

ROWS = 64  # of a block


@entry
def add_votes(code, shape, trees, cuts, children, votes, coefficient, out):  # type: ignore[no-untyped-def]
    """Add the votes of trees ``trees[0]`` to ``trees[1] - 1`` to `out`, float64, (n * kp,).

    `shape`: blocks from, to; rows, used features, kp; most leaves. `code`: uint16, block by block, feature by feature,
    64 rows each. `cuts`: first cut of each tree, feature, low, high of each cut. `children`: left, right. `votes`:
    float32, (leaves * kp,).
    """
    n, kp = shape[2], shape[4]
    first = cuts[0]
    leaf = np.empty(ROWS, np.int64)
    alive = np.empty((shape[5] + 63) // 64 * ROWS, np.uint64)
    span = np.empty((shape[5] + 1, 2), np.int64)
    for block in range(shape[0], shape[1]):
        rows = min(n - block * ROWS, ROWS)
        for t in range(trees[0], trees[1]):
            _exit_leaves(code, block * shape[3] * ROWS, first[t], first[t + 1], cuts, children, alive, span, leaf)
            base = (first[t] + t) * kp
            for r in range(rows):
                to, at = (block * ROWS + r) * kp, base + leaf[r] * kp
                for c in range(0, kp, 8):
                    accumulate_scaled(out, to + c, load(votes, at + c), coefficient[t])


@entry
def leaves_of(code, shape, trees, cuts, children, out):  # type: ignore[no-untyped-def]
    """The leaf of each row in each tree, int32, (n, trees)."""
    n = shape[2]
    first = cuts[0]
    leaf = np.empty(ROWS, np.int64)
    alive = np.empty((shape[5] + 63) // 64 * ROWS, np.uint64)
    span = np.empty((shape[5] + 1, 2), np.int64)
    for block in range(shape[0], shape[1]):
        for t in range(trees[0], trees[1]):
            _exit_leaves(code, block * shape[3] * ROWS, first[t], first[t + 1], cuts, children, alive, span, leaf)
            for r in range(min(n - block * ROWS, ROWS)):
                out[block * ROWS + r, t - trees[0]] = leaf[r]


@lean_entry
def code_rows(values, used, ranks, first, work, code):  # type: ignore[no-untyped-def]
    """How many of its feature's ranks each value reaches, one more than there are for NaN; `code` as in `add_votes`.

    `values`: float32, (n, d). `ranks`: float32, feature by feature, those of used feature j from ``first[j]`` on.
    `work`: float32 and int32, 64 each. All ranks are compared with all rows of a block: no branch, many at once.
    """
    column, count = work
    for block in range((len(values) + ROWS - 1) // ROWS):
        rows = min(ROWS, len(values) - block * ROWS)
        for j in range(len(used)):
            for r in range(rows):
                column[r] = values[block * ROWS + r, used[j]]
            for r in range(ROWS):
                count[r] = 0
            for k in range(first[j], first[j + 1]):
                rank = ranks[k]
                for r in range(ROWS):
                    count[r] += np.int32(rank <= column[r])
            to, size = (block * len(used) + j) * ROWS, first[j + 1] - first[j]
            for r in range(rows):
                code[to + r] = size + 1 if np.isnan(column[r]) else count[r]


@inner
def _exit_leaves(code, base, begin, end, cuts, children, alive, span, leaf):  # type: ignore[no-untyped-def]
    """Leaves of the rows of a block in the tree with cuts from `begin` to `end`."""
    _, feature, low, high = cuts
    left, right = children
    n_words = (end - begin) // 64 + 1
    everything = ~np.uint64(0)
    for k in range(n_words * ROWS):
        alive[k] = everything
    for k in range(end - begin - 1, -1, -1):  # children come after their parents
        at = begin + k
        span[k, 0] = -1 - left[at] if left[at] < 0 else span[left[at], 0]
        span[k, 1] = -1 - right[at] if right[at] < 0 else span[right[at], 1]
        last = -1 - left[at] if left[at] < 0 else span[left[at], 1]
        from_code, to_code, column = low[at], high[at], base + feature[at] * ROWS
        for word in range(span[k, 0] // 64, last // 64 + 1):
            lowest, highest = max(span[k, 0] - word * 64, 0), min(last - word * 64, 63)
            struck = everything >> np.uint64(63 - (highest - lowest)) << np.uint64(lowest)
            keep = ~struck
            rows = alive[word * ROWS : (word + 1) * ROWS]  # with slices, LLVM sees that no index wraps around
            codes = code[column : column + ROWS]
            for r in range(ROWS):
                rows[r] &= keep if from_code <= codes[r] <= to_code else everything
    for r in range(ROWS):
        word = 0
        while alive[word * ROWS + r] == 0:
            word += 1
        leaf[r] = word * 64 + lowest_bit(alive[word * ROWS + r])
