"""Kernels of a round of AdaBoost.MH on presorted features, in float64: every threshold is tried, ties are exact.

For small data, and where the printed numbers matter; `histogram_kernels` does the same on bins, far faster on large
data; `histogram_layout` explains the words. Here a cut sends the places from `LOW` to `HIGH` - 1 of a cell, in the
order of its feature, to the + side. A better score is one that is larger by more than 1e-12 of the total weight.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from structens.boosting.compiled import lean_entry, lean_inner
from structens.boosting.histogram_layout import (
    CLOSED,
    CUT,
    END,
    FEATURE,
    HIGH,
    HYBRID,
    INNER,
    LEFT,
    LOW,
    MULTIBOOST,
    NOMINAL,
    OPEN,
    RIGHT,
    SLOT,
    START,
    STATE,
)

_TIE = 1e-12


class ExactWork(NamedTuple):
    """All arrays of a round."""

    column: Any  # float64, (d, n)
    kind: Any  # int64, (d,)
    order: Any  # int32, (d, n): rows by value, NaN last; cell by cell
    weight: Any  # float64, (n, K): signed
    cell: Any  # int64, (cells, 10)
    key: Any  # float64, (cells, 2): improvement of the edge; edge of the parent's vote
    threshold: Any  # float64, (cells,)
    total: Any  # float64, (cells, K); at the end sums of the sizes of a leaf's weights
    plus: Any  # float64, (cells, K); at the end sums of a leaf's weights
    vote: Any  # float64, (cells, K); at the end one row a leaf
    leaf: Any  # int32, (n,)
    positive: Any  # bool, (n,)
    spare: Any  # int32, (n,)
    sums: Any  # float64, (K,)
    stack: Any  # int64, (cells,)
    ordered: Any  # float64, (cells, K): votes of the leaves from left to right
    mass: Any  # float64, (n,): sum of the sizes of a row's weights
    least: Any  # float64, (1,): share of the weight that both sides of a cut must have


@lean_entry
def grow_exact(features, plan, work, out):  # type: ignore[no-untyped-def]
    """Grow a tree on the listed features.

    `plan`: inner nodes, rule. `out` takes total weight, cells (3), leaves (4).
    """
    n_inner, rule = plan[0], plan[1]
    cell, key = work.cell, work.key
    n, n_classes = work.weight.shape
    weight = 0.0
    for c in range(n_classes):
        work.total[0, c], work.vote[0, c] = 0.0, 0.0
    for row in range(n):
        work.mass[row] = 0.0
        for c in range(n_classes):
            work.total[0, c] += work.weight[row, c]
            work.mass[row] += abs(work.weight[row, c])
        weight += work.mass[row]
    cell[0, START], cell[0, END], cell[0, STATE], cell[0, INNER] = 0, n, OPEN, 0
    key[0, 1] = 0.0
    n_cells = np.int64(1)
    _search(np.int64(0), features, rule, weight, work)
    for step in range(1, n_inner + 1):
        best: Any = np.int64(0)  # of the type of c, which spares a second compilation of what it goes to
        for c in range(1, n_cells):
            if cell[c, STATE] == OPEN and (cell[best, STATE] != OPEN or key[c, 0] > key[best, 0] + _TIE * weight):
                best = c
        nothing_gained = key[best, 0] <= _TIE * weight and (step > 1 or cell[best, FEATURE] < 0)
        if cell[best, STATE] != OPEN or nothing_gained:
            break
        cell[best, INNER] = step
        _set_votes(best, weight, work)
        if cell[best, FEATURE] < 0:
            cell[best, STATE] = CLOSED
            continue
        _split(best, n_cells, features, work)
        n_cells += 2
        if step < n_inner:
            _search(n_cells - 2, features, rule, weight, work)
            _search(n_cells - 1, features, rule, weight, work)
    out[0], out[3], out[4] = weight, n_cells, _leaves(n_cells, features, work)


@lean_entry
def reweight_exact(votes, weight, leaf, total):  # type: ignore[no-untyped-def]
    """Multiply the weights by exp(-h y) / total."""
    n, n_classes = weight.shape
    for row in range(n):
        for c in range(n_classes):
            w = weight[row, c]
            if w > 0:
                weight[row, c] = max(w * np.exp(-votes[leaf[row], c]) / total, 1e-300)
            elif w < 0:
                weight[row, c] = min(w * np.exp(votes[leaf[row], c]) / total, -1e-300)


@lean_inner
def _search(it, features, rule, weight, work):  # type: ignore[no-untyped-def]
    """The best cut of a cell, or its constant, and by how much it raises the edge. Kegl (2014), Figures 2 and 3."""
    cell, key = work.cell, work.key
    n_classes = work.weight.shape[1]
    constant = 0.0
    for c in range(n_classes):
        constant += abs(work.total[it, c])
    best = -1.0
    cell[it, FEATURE] = -1
    for j in features:
        best = _search_feature(it, j, best, weight, work)
    cut_wins = cell[it, FEATURE] >= 0 and (best > constant - (_TIE if rule == HYBRID else -_TIE) * weight)
    if rule == MULTIBOOST and cell[it, FEATURE] >= 0:
        cut_wins = it > 0 or best >= constant
    if not cut_wins:
        cell[it, FEATURE] = -1
    edge = best if cut_wins else constant
    key[it, 0] = edge - (constant if rule == MULTIBOOST and it > 0 else key[it, 1])


@lean_inner
def _search_feature(it, j, best, weight, work):  # type: ignore[no-untyped-def]
    """Try all cuts on one feature; returns the best score so far."""
    cell, order, column = work.cell, work.order[j], work.column[j]
    start, end = cell[it, START], cell[it, END]
    n_classes, sums, nominal = work.weight.shape[1], work.sums, work.kind[j] == NOMINAL
    present = end
    while present > start and np.isnan(column[order[present - 1]]):
        present -= 1
    whole = _mass_of(order, start, end, work)
    for missing_below in range(2 if start < present < end and not nominal else 1):
        mass = _clear(sums)
        if missing_below:
            for i in range(present, end):
                mass += work.mass[order[i]]
                for c in range(n_classes):
                    sums[c] += work.weight[order[i], c]
        begin = start
        for i in range(start, end):
            if i == present and not nominal:
                break
            mass += work.mass[order[i]]
            for c in range(n_classes):
                sums[c] += work.weight[order[i], c]
            if i + 1 < end:
                here, then = column[order[i]], column[order[i + 1]]
                if here == then or (np.isnan(here) and np.isnan(then)) or (missing_below and i + 1 == present):
                    continue
            elif not nominal:
                continue
            score = _score(it, work)
            too_light = work.least[0] > 0 and min(mass, whole - mass) < work.least[0] * weight
            if too_light or (nominal and begin == start and i + 1 == end):
                score = -1.0
            if score > best + _TIE * weight:
                best = score
                _note_cut(it, j, nominal, work)
                cell[it, LOW], cell[it, HIGH] = i + 1, present if missing_below else end
                if nominal:
                    cell[it, LOW], cell[it, HIGH] = begin, i + 1
            if nominal:
                begin = i + 1
                mass = _clear(sums)
    return best


@lean_inner
def _mass_of(order, start, end, work):  # type: ignore[no-untyped-def]
    """Weight of a cell; 0 where no side of a cut need have a share of it."""
    whole = 0.0
    if work.least[0] > 0:
        for i in range(start, end):
            whole += work.mass[order[i]]
    return whole


@lean_inner
def _score(it, work):  # type: ignore[no-untyped-def]
    """The edge of the cut whose - side has these sums."""
    score = 0.0
    for c in range(work.weight.shape[1]):
        score += abs(work.total[it, c] - 2.0 * work.sums[c])
    return score


@lean_inner
def _note_cut(it, j, nominal, work):  # type: ignore[no-untyped-def]
    """The best cut so far, and the sums of its + side; those of a value are its own."""
    work.cell[it, FEATURE] = j
    for c in range(work.weight.shape[1]):
        work.plus[it, c] = work.sums[c] if nominal else work.total[it, c] - work.sums[c]


@lean_inner
def _clear(sums):  # type: ignore[no-untyped-def]
    """Zeros in place (a slice takes numba seconds to compile); returns 0."""
    for c in range(len(sums)):
        sums[c] = 0.0
    return 0.0


@lean_inner
def _set_votes(it, weight, work):  # type: ignore[no-untyped-def]
    """+1 where the edge of the class is positive, else -1: of the cell's cut, or of the constant."""
    for c in range(work.weight.shape[1]):
        edge = work.total[it, c]
        if work.cell[it, FEATURE] >= 0:
            edge = 2.0 * work.plus[it, c] - edge
        work.vote[it, c] = 1.0 if edge > _TIE * weight else -1.0


@lean_inner
def _split(it, n_cells, features, work):  # type: ignore[no-untyped-def]
    """Order the cell's rows by side in all features; two new cells."""
    cell, key, order = work.cell, work.key, work.order
    start, end, p, low, high = cell[it, START], cell[it, END], cell[it, FEATURE], cell[it, LOW], cell[it, HIGH]
    if work.kind[p] == NOMINAL:
        work.threshold[it] = work.column[p, order[p, low]]
    elif np.isnan(work.column[p, order[p, low]]):
        work.threshold[it] = np.inf
    else:
        a, b = work.column[p, order[p, low - 1]], work.column[p, order[p, low]]
        middle = a * 0.5 + b * 0.5 if a < 0.0 < b else a + (b - a) * 0.5  # neither overflows
        work.threshold[it] = middle if a < middle <= b else b
    key[it, 1] = 1.0 if high == end and np.isnan(work.column[p, order[p, end - 1]]) else 0.0  # NaN on the + side
    for i in range(start, end):
        work.positive[order[p, i]] = low <= i < high
    middle_place = end - (high - low)
    for j in features:
        left, right = start, 0
        for i in range(start, end):
            row = order[j, i]
            if work.positive[row]:
                work.spare[right] = row
                right += 1
            else:
                order[j, left] = row
                left += 1
        for i in range(right):
            order[j, left + i] = work.spare[i]
    edge_minus, edge_plus = 0.0, 0.0
    for c in range(work.weight.shape[1]):
        vote, side, whole = work.vote[it, c], work.plus[it, c], work.total[it, c]
        work.total[n_cells, c], work.total[n_cells + 1, c] = whole - side, side
        work.vote[n_cells, c], work.vote[n_cells + 1, c] = -vote, vote
        edge_minus -= vote * (whole - side)
        edge_plus += vote * side
    cell[it, STATE], cell[it, LEFT], cell[it, RIGHT] = CUT, n_cells, n_cells + 1
    for k in range(2):
        child = n_cells + k
        cell[child, STATE], cell[child, FEATURE], cell[child, INNER] = OPEN, -1, 0
        cell[child, START] = start if k == 0 else middle_place
        cell[child, END] = middle_place if k == 0 else end
        key[child, 0], key[child, 1] = 0.0, edge_minus if k == 0 else edge_plus


@lean_inner
def _leaves(n_cells, features, work):  # type: ignore[no-untyped-def]
    """Number the leaves from left to right, put their votes in order, add up their weights and the sizes of these."""
    cell, order = work.cell, work.order[features[0]]
    n_classes = work.weight.shape[1]
    stack, votes = work.stack, work.ordered
    stack[0], depth, n_leaves = 0, 1, 0
    while depth > 0:
        depth -= 1
        it = stack[depth]
        if cell[it, STATE] == CUT:
            stack[depth], stack[depth + 1] = cell[it, RIGHT], cell[it, LEFT]
            depth += 2
            continue
        for c in range(n_classes):
            votes[n_leaves, c] = work.vote[it, c]
        cell[it, SLOT] = n_leaves
        for i in range(cell[it, START], cell[it, END]):
            work.leaf[order[i]] = n_leaves
        n_leaves += 1
    for k in range(n_leaves):
        for c in range(n_classes):
            work.plus[k, c], work.total[k, c], work.vote[k, c] = 0.0, 0.0, votes[k, c]
    for row in range(len(work.leaf)):
        for c in range(n_classes):
            w = work.weight[row, c]
            work.plus[work.leaf[row], c] += w
            work.total[work.leaf[row], c] += abs(w)
    return n_leaves
