"""A round of AdaBoost.MH on binned features: trim, grow a Hamming tree, vote, reweight.

All threads run a round side by side. Blocks of rows are summed apart and then in order, so that sums
do not depend on the number of threads. `histogram_layout` explains the words.
"""

from __future__ import annotations

import numpy as np

from structens.boosting.compiled import lean_entry, lean_inner
from structens.boosting.histogram_kernels import grow_tree
from structens.boosting.histogram_layout import CUT, END, FEATURE, HIGH, LEFT, LOW, N_BUCKETS, RIGHT, SLOT, START, STATE
from structens.boosting.lanes import accumulate, load, meet, nothing, plus, reweight, size, store, total


@lean_entry
def play_round(tid, plan, rates, table, work, out):  # type: ignore[no-untyped-def]
    """A round: a tree, votes, coefficient, weights.

    `out` takes total weight, edge, coefficient, cells, leaves, Z, rows that took part, and 1 once it is over.
    """
    grow_tree(tid, plan, rates, table, work, out)
    n_leaves = _leaves(tid, np.int64(work.weight_sum[tid, 1]), plan, table, work)
    _leaf_sums(tid, n_leaves, plan, work)
    meet(work.gate, plan[4], plan[5])
    if tid == 0:
        out[4] = n_leaves
    if _step(tid, n_leaves, plan, rates, work, out):
        _reweight(tid, n_leaves, plan, rates, work)
    meet(work.gate, plan[4], plan[5])
    if tid == 0:
        out[7] = 1.0


@lean_entry
def first_masses(plan, work):  # type: ignore[no-untyped-def]
    """Masses of the rows and their buckets, from the weights."""
    n, kp, n_blocks = plan[0], plan[2], plan[7]
    for block in range(n_blocks):
        for k in range(N_BUCKETS):
            work.bucket[block, k] = 0.0
        for row in range(n * block // n_blocks, n * (block + 1) // n_blocks):
            mass = nothing()
            for c in range(0, kp, 8):
                mass = plus(mass, size(load(work.weight, row * kp + c)))
            work.mass[row] = total(mass)
            work.bucket[block, work.mass_bits[row] >> 20] += np.float64(work.mass[row])


@lean_inner
def _leaves(tid, n_cells, plan, table, work):  # type: ignore[no-untyped-def]
    """Number the leaves from left to right, and find the leaf of every row of this thread's blocks of rows."""
    n, fb, kp, n_threads, n_blocks = plan[0], plan[1], plan[2], plan[4], plan[7]
    cell, leaf = work.cell[tid], work.leaf[tid]
    base = tid * work.cell.shape[1] * kp
    for block in range(tid, n_blocks, n_threads):
        for row in range(n * block // n_blocks, n * (block + 1) // n_blocks):
            leaf[row] = -1
    stack = work.stack[tid]
    stack[0], depth, n_leaves = 0, 1, 0
    while depth > 0:
        depth -= 1
        it = stack[depth]
        if cell[it, STATE] == CUT:
            stack[depth], stack[depth + 1] = cell[it, RIGHT], cell[it, LEFT]
            depth += 2
            continue
        for r in range(cell[it, START], cell[it, END]):
            leaf[work.row[tid, r]] = n_leaves
        for c in range(kp):  # the sums are no longer needed: their place takes the votes in order
            work.plus[base + n_leaves * kp + c] = 0.0
            work.total[base + n_leaves * kp + c] = 0.0
        cell[it, SLOT] = n_leaves
        n_leaves += 1
    for it in range(n_cells):
        if cell[it, STATE] != CUT:
            for c in range(kp):
                work.plus[base + cell[it, SLOT] * kp + c] = work.vote[base + it * kp + c]
    for block in range(tid, n_blocks, n_threads):
        for row in range(n * block // n_blocks, n * (block + 1) // n_blocks):
            if leaf[row] < 0:
                it = np.int64(0)
                while cell[it, STATE] == CUT:
                    p = cell[it, FEATURE]
                    code = table.code[table.block[p] * n * fb + row * fb + table.place[p]]
                    it = cell[it, RIGHT] if cell[it, LOW] <= code <= cell[it, HIGH] else cell[it, LEFT]
                leaf[row] = cell[it, SLOT]
    return n_leaves


@lean_inner
def _leaf_sums(tid, n_leaves, plan, work):  # type: ignore[no-untyped-def]
    """Sums of the signed weights of each leaf and class, and for real votes of their sizes, over blocks of rows."""
    n, kp, n_threads, n_blocks, real = plan[0], plan[2], plan[4], plan[7], plan[11]
    span = n_leaves * kp
    for block in range(tid, n_blocks, n_threads):
        at = block * 2 * span
        for k in range(at, at + 2 * span):
            work.leaf_sum[k] = 0.0
        for row in range(n * block // n_blocks, n * (block + 1) // n_blocks):
            to = at + work.leaf[tid, row] * kp
            for c in range(0, kp, 8):
                weight = load(work.weight, row * kp + c)
                accumulate(work.leaf_sum, to + c, weight)
                if real:
                    accumulate(work.leaf_sum, to + span + c, size(weight))


@lean_inner
def _step(tid, n_leaves, plan, rates, work, out):  # type: ignore[no-untyped-def]
    """Edge, coefficient and votes of the finished tree; whether there is a step to make."""
    kp, n_blocks, n_classes, real = plan[2], plan[7], plan[10], plan[11]
    base, span = tid * work.cell.shape[1] * kp, n_leaves * kp
    weight = work.weight_sum[tid, 0]
    edge, z = 0.0, 0.0
    for k in range(span):
        signed, sizes = 0.0, 0.0
        for block in range(n_blocks):
            signed += work.leaf_sum[block * 2 * span + k]
            if real:
                sizes += work.leaf_sum[(block * 2 + 1) * span + k]
        edge += work.plus[base + k] * signed
        if real and k % kp < n_classes:
            right, wrong = 0.5 * (sizes + signed), 0.5 * (sizes - signed)
            smooth = rates[2] * weight
            vote = rates[1] * 0.5 * np.log((max(right, 0.0) + smooth) / (max(wrong, 0.0) + smooth))
            work.plus[base + k] = vote
            vote = np.float64(work.plus[base + k])
            z += right * np.exp(-vote) + wrong * np.exp(vote)
    edge /= weight
    coefficient = 1.0
    if not real:
        inside = min(edge, 1.0 - 2.0 * rates[3])
        odds = (1.0 + inside) / (1.0 - inside)
        coefficient = rates[1] * (0.5 * np.log(odds) - rates[6]) if odds > 0.0 else 0.0
        z = 0.5 * ((1.0 + edge) * np.exp(-coefficient) + (1.0 - edge) * np.exp(coefficient)) * weight
    if tid == 0:
        out[0], out[1], out[2], out[5] = weight, edge, coefficient, z / weight
    for k in range(span):  # factors of the weights: for y = +1, then for y = -1
        vote = coefficient * np.float64(work.plus[base + k])
        work.vote[base + k] = np.exp(-vote) / z
        work.total[base + k] = np.exp(vote) / z
    return edge > rates[4]


@lean_inner
def _reweight(tid, n_leaves, plan, rates, work):  # type: ignore[no-untyped-def]
    """Multiply every weight by exp(-h y) / Z; masses and their buckets anew. The floor keeps numbers normal."""
    n, kp, n_threads, n_blocks = plan[0], plan[2], plan[4], plan[7]
    base = tid * work.cell.shape[1] * kp
    floor = np.float32(rates[5])
    for block in range(tid, n_blocks, n_threads):
        for k in range(N_BUCKETS):
            work.bucket[block, k] = 0.0
        for row in range(n * block // n_blocks, n * (block + 1) // n_blocks):
            at, factor = row * kp, base + work.leaf[tid, row] * kp
            mass = nothing()
            for c in range(0, kp, 8):
                new = reweight(
                    load(work.weight, at + c), load(work.vote, factor + c), load(work.total, factor + c), floor
                )
                store(work.weight, at + c, new)
                mass = plus(mass, size(new))
            work.mass[row] = total(mass)
            work.bucket[block, work.mass_bits[row] >> 20] += np.float64(work.mass[row])
