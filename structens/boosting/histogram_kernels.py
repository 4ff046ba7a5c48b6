"""Kernels that grow a Hamming tree on binned features: histograms, scans, best-first splits.

All threads run them side by side. Each keeps the histograms of its own blocks of features and its own order of the
rows; they meet once a node, to exchange their best cuts. Every sum is taken in an order that does not depend on the
number of threads, so the model does not either; scores are compared on a grid, so that what differs by rounding only is
a tie: the first feature wins, and in it the first bin. `round_kernels` has the rest of a round, `histogram_layout`
explains the words.
"""

from __future__ import annotations

import numpy as np

from structens.boosting.compiled import lean_inner
from structens.boosting.histogram_layout import (
    CLOSED,
    CUT,
    END,
    FEATURE,
    GRID,
    HIGH,
    HYBRID,
    INNER,
    LEFT,
    LOW,
    MISSING,
    MULTIBOOST,
    N_BUCKETS,
    NOMINAL,
    OPEN,
    RIGHT,
    SLOT,
    START,
    STATE,
)
from structens.boosting.lanes import load, meet, minus, nothing, plus, size, store, total


@lean_inner
def grow_tree(tid, plan, rates, table, work, out):  # type: ignore[no-untyped-def]
    """First half of a round: trim, and grow a tree best first. Kegl (2014), Figure 2.

    `out` takes the number of cells (3) and of rows that took part (6).
    """
    n_active = _active(tid, plan, rates, work)
    kp, n_inner = plan[2], plan[3]
    cell, key = work.cell[tid], work.key[tid]
    at = tid * work.cell.shape[1] * kp
    weight = work.weight_sum[tid, 0]
    for c in range(0, kp, 8):
        root = nothing()
        for r in range(n_active):
            root = plus(root, load(work.weight, work.row[tid, r] * kp + c))
        store(work.total, at + c, root)
        store(work.vote, at + c, nothing())
    cell[0, START], cell[0, END], cell[0, SLOT], cell[0, STATE], cell[0, INNER] = 0, n_active, 0, OPEN, 0
    key[0, 1] = 0.0
    n_cells, n_slots, met = np.int64(1), np.int64(1), np.int64(0)
    small, large = np.int64(0), np.int64(-1)
    for step in range(1, n_inner + 1):
        if small >= 0:
            _consider(tid, met, small, large, plan, table, work)
            met += 1
        best = _most_improving(n_cells, cell, key, GRID / weight)
        if best < 0:
            if step > 1 or cell[0, FEATURE] < 0:
                break
            best = np.int64(0)  # the root gains nothing, but its cut may open the way to leaves that do: exclusive or
        cell[best, INNER] = step
        middle = cell[best, START]
        if cell[best, FEATURE] >= 0:
            middle = _partition(tid, best, plan, table, work)
        if middle == cell[best, START] or middle == cell[best, END]:
            cell[best, STATE], cell[best, FEATURE] = CLOSED, -1  # a constant: it changes the vote of its leaf
        _set_votes(tid, best, plan, work, weight)
        small = np.int64(-1)
        if cell[best, STATE] == OPEN:
            small, large = _split(tid, best, middle, n_cells, plan, work)
            cell[small, SLOT], cell[large, SLOT] = n_slots, cell[best, SLOT]
            n_cells += 2
            n_slots += 1
    work.weight_sum[tid, 1] = n_cells
    if tid == 0:
        out[3], out[6] = n_cells, n_active


@lean_inner
def _active(tid, plan, rates, work):  # type: ignore[no-untyped-def]
    """List the rows but those of least mass, which together have at most the share `rates[0]`; returns their number."""
    n, n_blocks = plan[0], plan[7]
    weight = 0.0
    for block in range(n_blocks):
        for k in range(N_BUCKETS):
            weight += work.bucket[block, k]
    work.weight_sum[tid, 0] = weight
    spared = rates[0] * weight
    least = 0
    if spared > 0:
        for k in range(N_BUCKETS):
            for block in range(n_blocks):
                spared -= work.bucket[block, k]
            if spared < 0:
                least = k
                break
    row, m = work.row[tid], 0
    for i in range(n):
        row[m] = i
        m += (work.mass_bits[i] >> 20) >= least
    return m


@lean_inner
def _most_improving(n_cells, cell, key, scale):  # type: ignore[no-untyped-def]
    """The open cell whose best cut raises the edge most, -1 if none does; the first of equal ones."""
    best, highest = n_cells * 0 - 1, n_cells * 0
    for c in range(n_cells):
        if cell[c, STATE] == OPEN:
            score = np.int64(key[c, 0] * scale + 0.5)
            if score > highest:
                best, highest = c, score
    return best


@lean_inner
def _split(tid, parent, middle, n_cells, plan, work):  # type: ignore[no-untyped-def]
    """Make two cells out of one; returns the smaller and the larger."""
    kp = plan[2]
    cell, key = work.cell[tid], work.key[tid]
    base = tid * work.cell.shape[1] * kp
    left, right = n_cells, n_cells + 1
    cell[parent, STATE], cell[parent, LEFT], cell[parent, RIGHT] = CUT, left, right
    cell[left, START], cell[left, END] = cell[parent, START], middle
    cell[right, START], cell[right, END] = middle, cell[parent, END]
    above, below, beyond = base + parent * kp, base + left * kp, base + right * kp
    edge_left, edge_right = np.float32(0.0), np.float32(0.0)
    for c in range(kp):
        vote, sums = work.vote[above + c], work.plus[above + c]
        rest = work.total[above + c] - sums
        work.total[below + c], work.total[beyond + c] = rest, sums
        work.vote[below + c], work.vote[beyond + c] = -vote, vote
        edge_left -= vote * rest
        edge_right += vote * sums
    for side, edge in ((left, edge_left), (right, edge_right)):
        cell[side, STATE], cell[side, FEATURE], cell[side, INNER] = OPEN, -1, 0
        key[side, 0], key[side, 1] = 0.0, edge
    if middle - cell[parent, START] <= cell[parent, END] - middle:
        return left, right
    return right, left


@lean_inner
def _consider(tid, met, small, large, plan, table, work):  # type: ignore[no-untyped-def]
    """Best cuts of one cell (`large` -1), or of two children: from this thread's features, then from all threads'.

    With a pool the larger child's histogram is the parent's less the smaller's, in the parent's place.
    """
    kp, n_threads, span = plan[2], plan[4], plan[6]
    cell, pool, parity = work.cell[tid], work.pool, met & 1
    found = work.found[parity, tid]
    found[0, 0], found[1, 0] = -1, -1
    scale = np.float32(GRID / work.weight_sum[tid, 0])
    rows = work.row[tid]
    for block in range(tid, len(table.first) - 1, n_threads):
        begin, end = table.first[block], table.first[block + 1]
        if begin == end:
            continue
        low, high = table.offset[begin], table.offset[end - 1] + table.n_bins[end - 1] * kp
        for child in range(2):
            it = small if child == 0 else large
            if it < 0:
                continue
            shift = cell[it, SLOT] * span if span > 0 else tid * plan[8] - low
            if child == 0 or span == 0:
                for k in range(shift + low, shift + high, 8):
                    store(pool, k, nothing())
                base = block * plan[0] * plan[1]
                spans = begin, end, cell[it, START], cell[it, END], base, shift, kp
                _add_rows(spans, rows, table.code, table.place, table.offset, work.weight, pool)
            else:
                other = cell[small, SLOT] * span
                for k in range(low, high, 8):
                    store(pool, shift + k, minus(load(pool, shift + k), load(pool, other + k)))
            sums = (tid * work.cell.shape[1] + it) * kp
            to = ((parity * n_threads + tid) * 2 + child) * kp
            for p in range(begin, end):
                at = shift + table.offset[p]
                if _scan(
                    p,
                    table.kind[p],
                    table.n_bins[p],
                    at,
                    kp,
                    sums,
                    scale,
                    work.total,
                    pool,
                    work.part,
                    tid,
                    found[child],
                ):
                    for c in range(0, kp, 8):
                        side = nothing()
                        for k in range(found[child, 2], found[child, 3] + 1):
                            side = plus(side, load(pool, at + k * kp + c))
                        store(work.found_plus, to + c, side)
    meet(work.gate, n_threads, plan[5])
    for child in range(2):
        it = small if child == 0 else large
        if it >= 0:
            _candidate(tid, parity, it, child, plan, work)


@lean_inner
def _add_rows(spans, rows, code, place, offset, weight, pool):  # type: ignore[no-untyped-def]
    """Add the weights of rows to the histograms of a block's listed features."""
    begin, end, first, last, base, shift, kp = spans
    if kp == 8:
        for r in range(first, last):
            row = np.int64(rows[r])
            w0, at = load(weight, row * 8), base + row * 8
            for p in range(begin, end):
                to = shift + offset[p] + np.int64(code[at + place[p]]) * 8
                store(pool, to, plus(load(pool, to), w0))
    elif kp == 16:
        for r in range(first, last):
            row = np.int64(rows[r])
            w0, w1, at = load(weight, row * 16), load(weight, row * 16 + 8), base + row * 8
            for p in range(begin, end):
                to = shift + offset[p] + np.int64(code[at + place[p]]) * 16
                store(pool, to, plus(load(pool, to), w0))
                store(pool, to + 8, plus(load(pool, to + 8), w1))
    elif kp == 32:
        for r in range(first, last):
            row = np.int64(rows[r])
            w0, w1 = load(weight, row * 32), load(weight, row * 32 + 8)
            w2, w3, at = load(weight, row * 32 + 16), load(weight, row * 32 + 24), base + row * 8
            for p in range(begin, end):
                to = shift + offset[p] + np.int64(code[at + place[p]]) * 32
                store(pool, to, plus(load(pool, to), w0))
                store(pool, to + 8, plus(load(pool, to + 8), w1))
                store(pool, to + 16, plus(load(pool, to + 16), w2))
                store(pool, to + 24, plus(load(pool, to + 24), w3))
    else:
        for r in range(first, last):
            row = np.int64(rows[r])
            at = base + row * 8
            for p in range(begin, end):
                to = shift + offset[p] + np.int64(code[at + place[p]]) * kp
                for c in range(0, kp, 8):
                    store(pool, to + c, plus(load(pool, to + c), load(weight, row * kp + c)))


@lean_inner
def _scan(p, kind, n_bins, at, kp, sums, scale, totals, pool, part, tid, found):  # type: ignore[no-untyped-def]
    """Compare the cuts on one feature with the best so far; whether one is better. Kegl (2014), Figure 3."""
    n_cuts, last, better, mine = n_bins - 1, n_bins - 1, False, tid * 2048
    if kind == NOMINAL and n_bins > 2:
        n_cuts = n_bins
    for missing_below in range(2 if kind == MISSING else 1):
        if missing_below:
            n_cuts, last = n_bins - 2, n_bins - 2
        for c in range(0, kp, 8):
            whole, one_side = load(totals, sums + c), nothing()
            if missing_below:
                one_side = load(pool, at + (n_bins - 1) * kp + c)
            for b in range(n_cuts):
                here = load(pool, at + b * kp + c)
                if kind != NOMINAL:
                    one_side = plus(one_side, here)
                    here = one_side
                edge = size(minus(whole, plus(here, here)))
                if c > 0:
                    edge = plus(edge, load(part, mine + b * 8))
                store(part, mine + b * 8, edge)
        for b in range(n_cuts):
            score = np.int64(total(load(part, mine + b * 8)) * scale + np.float32(0.5))
            if score > found[0]:
                better = True
                found[0], found[1] = score, p
                found[2], found[3] = (b, b) if kind == NOMINAL else (b + 1, last)
    return better


@lean_inner
def _candidate(tid, parity, it, child, plan, work):  # type: ignore[no-untyped-def]
    """The best of all threads' cuts against the constant: what the cell would gain, and how."""
    kp, n_threads, rule = plan[2], plan[4], plan[9]
    cell, key = work.cell[tid], work.key[tid]
    at = (tid * work.cell.shape[1] + it) * kp
    best, weight = 0, work.weight_sum[tid, 0]
    found = work.found[parity]
    for other in range(1, n_threads):
        better = found[other, child, 0] > found[best, child, 0]
        tie = found[other, child, 0] == found[best, child, 0] and found[other, child, 1] < found[best, child, 1]
        if found[other, child, 0] >= 0 and (better or tie):
            best = other
    constant, cut = np.float32(0.0), np.float32(0.0)
    taken = ((parity * n_threads + best) * 2 + child) * kp
    for c in range(kp):
        whole, side = work.total[at + c], work.found_plus[taken + c]
        constant += abs(whole)
        cut += abs(side + side - whole)
        work.plus[at + c] = side
    scores = found[best, child, 0], np.int64(constant * np.float32(GRID / weight) + np.float32(0.5))
    has_cut = scores[0] >= 0 and (
        rule == MULTIBOOST or scores[0] > scores[1] or (rule == HYBRID and scores[0] == scores[1])
    )
    cell[it, FEATURE] = found[best, child, 1] if has_cut else -1
    cell[it, LOW], cell[it, HIGH] = found[best, child, 2], found[best, child, 3]
    edge = cut if has_cut else constant
    key[it, 0] = edge - (constant if rule == MULTIBOOST and it > 0 else key[it, 1])
    if rule == MULTIBOOST and it == 0 and cut < constant:
        cell[it, FEATURE] = -1
        key[it, 0] = constant


@lean_inner
def _set_votes(tid, it, plan, work, weight):  # type: ignore[no-untyped-def]
    """Votes of the cell's cut (or of the constant): +1 where the edge of the class is positive, else -1."""
    kp = plan[2]
    at = (tid * work.cell.shape[1] + it) * kp
    least = np.float32(weight / GRID / 4)
    constant = work.cell[tid, it, FEATURE] < 0
    for c in range(plan[10]):
        edge = work.total[at + c]
        if not constant:
            side = work.plus[at + c]
            edge = side + side - edge
        work.vote[at + c] = np.float32(1.0) if edge > least else np.float32(-1.0)


@lean_inner
def _partition(tid, it, plan, table, work):  # type: ignore[no-untyped-def]
    """Order the cell's rows by side, - first; returns where + begins. Sets the threshold between the bins met."""
    n, fb = plan[0], plan[1]
    cell, row, spare = work.cell[tid], work.row[tid], work.spare[tid]
    p, low, high = cell[it, FEATURE], cell[it, LOW], cell[it, HIGH]
    base = table.block[p] * n * fb + table.place[p]
    seen = work.seen[tid]
    for k in range(256):
        seen[k] = False
    left, right = cell[it, START], 0
    for r in range(cell[it, START], cell[it, END]):
        i = row[r]
        code = table.code[base + np.int64(i) * fb]
        seen[code] = True
        positive = (code >= low) & (code <= high)
        row[left] = i
        spare[right] = i
        left += not positive
        right += positive
    for r in range(right):
        row[left + r] = spare[r]
    first = table.value[p]
    if table.kind[p] == NOMINAL:
        work.threshold[tid, it] = table.lower[first + low]
        return left
    last = table.n_bins[p] - 1 - (table.kind[p] == MISSING)  # of the bins with numbers
    below, above = low - 1, low
    while below > 0 and not seen[below]:
        below -= 1
    while above < last and not seen[above]:
        above += 1
    if above > last:  # all numbers on the - side, NaN on the other
        work.threshold[tid, it] = np.inf
        return left
    threshold = _between(table.upper[first + below], table.lower[first + above])
    low = below + 1
    while low < above and table.lower[first + low] < threshold:
        low += 1
    if table.upper[first + low - 1] >= threshold:
        threshold = _between(table.upper[first + low - 1], table.lower[first + low])
    cell[it, LOW] = low
    work.threshold[tid, it] = threshold
    return left


@lean_inner
def _between(a, b):  # type: ignore[no-untyped-def]
    """A threshold t with a < t <= b, in the middle where floating point has one."""
    middle = a * 0.5 + b * 0.5 if a < 0.0 < b else a + (b - a) * 0.5  # neither overflows
    return middle if a < middle <= b else b
