"""Kernels of `structens.automata.edit_loss`: bounds backward from the end, states and transitions forward.

A graph is (offsets, target, label, is_final, leader); transitions of one state with one label and target are done once,
at their leader. `price` is (insertion, deletion, substitution), `y` the answer; a column holds the cost of each of its
prefixes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from structens.core import EPSILON


@njit(cache=True)
def bounds_kernel(graph, y, price, bounds):  # type: ignore[no-untyped-def]
    """bounds[q, i, j]: most by which any continuation from q costs more after prefix i of y than after prefix j.

    With c(j) the cost of the rest: the difference c(i) - c(j) is the greatest over the first edits of j's best
    alignment of the least over those of i; `best[i, k]` bounds c(i) before a label less c(k) after it.
    """
    offsets, target, label, is_final, leader = graph
    ins, dele, sub = price
    m = len(y)
    best, here = np.empty((m + 1, m + 1)), np.empty((m + 1, m + 1))
    for q in range(len(offsets) - 2, -1, -1):
        own = bounds[q]
        if is_final[q]:
            for i in range(m + 1):
                for j in range(m + 1):
                    own[i, j] = (j - i) * dele
        for e in range(offsets[q], offsets[q + 1]):
            after = bounds[target[e]]
            if leader[e] != e:
                continue
            if label[e] == EPSILON:
                for i in range(m + 1):
                    for j in range(m + 1):
                        own[i, j] = max(own[i, j], after[i, j])
                continue
            for i in range(m, -1, -1):
                for k in range(m + 1):
                    least = ins + after[i, k]
                    if i < m:
                        wrong = sub if y[i] != label[e] else 0.0
                        least = min(least, wrong + after[i + 1, k], dele + best[i + 1, k])
                    best[i, k] = least
                for j in range(m, -1, -1):
                    most = best[i, j] - ins
                    if j < m:
                        wrong = sub if y[j] != label[e] else 0.0
                        most = max(most, best[i, j + 1] - wrong, here[i, j + 1] - dele)
                    here[i, j] = most
                    own[i, j] = max(own[i, j], most)
        for i in range(m + 1):
            for j in range(m + 1):
                own[i, j] = min(own[i, j], (j - i) * dele if j >= i else (i - j) * ins)


@njit(cache=True)
def _clip(column, bound):  # type: ignore[no-untyped-def]
    """Drop entries that another one makes needless; those already dropped decide nothing."""
    for j in range(len(column)):
        for i in range(len(column)):
            if i != j and column[i] < np.inf and column[i] + bound[i, j] <= column[j]:
                column[j] = np.inf
                break


@njit(cache=True)
def _read(closed, label, y, price, out):  # type: ignore[no-untyped-def]
    """Column after one more label, or after nothing, from a column closed under deletions."""
    if label == EPSILON:
        out[:] = closed
        return
    ins, dele, sub = price
    out[0] = closed[0] + ins
    for j in range(len(y)):
        wrong = sub if y[j] != label else 0.0
        out[j + 1] = min(closed[j + 1] + ins, closed[j] + wrong, out[j] + dele)


@njit(cache=True)
def _find(q, column, columns, base, table):  # type: ignore[no-untyped-def]
    """Place in the hash table of the state (q, column), or the free place where it belongs."""
    bits = column.view(np.int64)
    h = q + 1
    for j in range(len(bits)):
        h = ((h ^ (bits[j] >> 44)) * 1000003) & 0xFFFFFFFFFF
    place = (h ^ (h >> 17)) & (len(table) - 1)
    while table[place] >= 0:
        s = table[place]
        if base[s] == q:
            same = True
            for j in range(len(column)):
                if columns[s, j] != column[j]:
                    same = False
                    break
            if same:
                return place
        place = (place + 1) & (len(table) - 1)
    return place


@njit(cache=True)
def _nothing_found(room, n_base):  # type: ignore[no-untyped-def]
    """A hash table, at most half full, and the lists: first state of each base state, next one of the same."""
    size = 2
    while size < 2 * room:
        size *= 2
    return np.full(size, -1, np.int64), np.full(n_base, -1, np.int64), np.empty(room, np.int64)


@njit(cache=True)
def _close(columns, s, deletion, closed):  # type: ignore[no-untyped-def]
    """Entries that were dropped come back at the price of the deletions that lead to them."""
    closed[0] = columns[s, 0]
    for j in range(len(closed) - 1):
        closed[j + 1] = min(columns[s, j + 1], closed[j] + deletion)


@njit(cache=True)
def expand_kernel(graph, start, y, price, bounds, arrays):  # type: ignore[no-untyped-def]
    """Build all states and transitions; (-1, -1) if the arrays are too small.

    States of one base state form a list (`head`, `following`) and are worked off together, in topological order.
    """
    offsets, target, label, is_final, leader = graph
    columns, base, ending, order, target_state, paid = arrays
    table, head, following = _nothing_found(len(columns), len(is_final))
    column, closed = np.arange(len(y) + 1) * price[1], np.empty(len(y) + 1)
    if len(bounds):
        _clip(column, bounds[start])
    columns[0], base[0], head[start], following[0] = column, start, 0, -1
    n_states, n_done, n_steps = 1, 0, 0
    for q in range(len(is_final)):
        s = head[q]
        while s >= 0:
            order[n_done] = s
            n_done += 1
            _close(columns, s, price[1], closed)
            ending[s] = closed[-1] if is_final[q] else 0.0
            first = n_steps
            for e in range(offsets[q], offsets[q + 1]):
                if leader[e] != e:
                    twin = first + leader[e] - offsets[q]
                    target_state[n_steps], paid[n_steps] = target_state[twin], paid[twin]
                else:
                    r = target[e]
                    _read(closed, label[e], y, price, column)
                    if len(bounds):
                        _clip(column, bounds[r])
                    low = column.min()
                    column -= low
                    place = _find(r, column, columns, base, table)
                    if table[place] < 0:
                        if n_states == len(columns):
                            return -1, -1
                        columns[n_states], base[n_states], following[n_states] = column, r, head[r]
                        head[r] = table[place] = n_states
                        n_states += 1
                    target_state[n_steps], paid[n_steps] = table[place], low
                n_steps += 1
            s = following[s]
    return n_states, n_steps
