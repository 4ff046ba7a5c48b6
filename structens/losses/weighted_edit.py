"""Weighted edit distance: the true minimum for any three costs >= 0, by the recurrence of Wagner and Fischer (1974)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit


def weighted_edit(a: Sequence[int], b: Sequence[int], costs: tuple[float, float, float]) -> tuple[float, int, int, int]:
    """Least cost of turning codes a into codes b, and the edits of the alignment that the tie rule picks.

    Of the alignments of least cost those with the fewest substitutions, then the fewest deletions count. Time
    O(len(a) len(b)), memory O(len(b)).

    Parameters
    ----------
    a, b : sequence of int
    costs : (insertion, deletion, substitution)

    Returns
    -------
    cost, substitutions, deletions, insertions

    Examples
    --------
    >>> weighted_edit([0, 1], [1, 2], (1.0, 1.0, 1.0))
    (2.0, 0, 1, 1)
    """
    cost, n_sub, n_del = _weighted_edit(np.array(a, np.int64), np.array(b, np.int64), *costs)
    return float(cost), int(n_sub), int(n_del), int(n_del) + len(b) - len(a)


@njit(cache=True)
def _weighted_edit(a, b, ins, dele, sub):  # type: ignore[no-untyped-def]
    """Rows of the table, one reference item each; a cell is (cost, substitutions, deletions), least in this order."""
    cost = np.arange(len(b) + 1) * ins
    n_sub = np.zeros(len(b) + 1, np.int64)
    n_del = np.zeros(len(b) + 1, np.int64)
    for i in range(len(a)):
        pair_cost, pair_sub, pair_del = cost[0], n_sub[0], n_del[0]  # the cell up and left
        cost[0] += dele
        n_del[0] += 1
        for j in range(len(b)):
            wrong = a[i] != b[j]
            c, s, d = pair_cost + (sub if wrong else 0.0), pair_sub + wrong, pair_del
            up, up_sub, up_del = cost[j + 1] + dele, n_sub[j + 1], n_del[j + 1] + 1
            pair_cost, pair_sub, pair_del = cost[j + 1], n_sub[j + 1], n_del[j + 1]
            if up < c or (up == c and (up_sub < s or (up_sub == s and up_del < d))):
                c, s, d = up, up_sub, up_del
            left = cost[j] + ins
            if left < c or (left == c and (n_sub[j] < s or (n_sub[j] == s and n_del[j] < d))):
                c, s, d = left, n_sub[j], n_del[j]
            cost[j + 1], n_sub[j + 1], n_del[j + 1] = c, s, d
    return cost[len(b)], n_sub[len(b)], n_del[len(b)]
