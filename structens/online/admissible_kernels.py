"""Kernels of admissible paths on slots, in one file: numba does not notice when a kernel of another file changes.

`cuts` holds the offsets of records in runs and the first slot of each run (one more at the end); `tables` those of a
`LabelAcceptor` and its start; scratch arrays are as long as the longest record has runs, and one more.
"""

from __future__ import annotations

from numba import njit

from structens.core import ABSENT, GAP

_LEAST = 1e-300
"""Weights are at least this part of their run's largest: those that underflowed still make a path."""


@njit(cache=True)
def survivors_kernel(labels, present, context, cuts, tables, scratch, alive, out):  # type: ignore[no-untyped-def]
    """Which transitions lie on admissible paths; returns the record after which a context has nobody left, or -1.

    `alive` (contexts x experts) loses the transitions that do not, where it has rows; `there` is what was alive before.
    """
    run_offsets, runs = cuts
    reach, good, onward = scratch
    there, live, after, possible = out
    for i in range(len(possible)):
        bounds = runs[run_offsets[i] : run_offsets[i + 1] + 1]
        n = len(bounds) - 1
        for s in range(bounds[0], bounds[n]):
            for j in range(labels.shape[1]):
                there[s, j] = present[s, j] and (len(alive) == 0 or alive[context[s], j])
        _trace(labels, there, bounds, tables, reach, onward)
        for q in range(good.shape[1]):
            good[n, q] = tables[3][q]
        for k in range(n - 1, -1, -1):
            for q in range(good.shape[1]):
                good[k, q] = False
                if reach[k, q]:
                    for j in range(labels.shape[1]):
                        r = onward[k, q, j]
                        if r >= 0 and good[k + 1, r]:
                            good[k, q] = True
                            for s in range(bounds[k], bounds[k + 1]):
                                live[s, j] = True
        possible[i] = good[0, tables[4]]
        if len(alive) and not _delete(present, live, context, bounds[0], bounds[n], alive):
            return i
        for s in range(bounds[0], bounds[n]):
            for j in range(labels.shape[1]):
                after[s, j] = len(alive) == 0 or alive[context[s], j]
    return -1


@njit(cache=True)
def paths_kernel(labels, weights, there, cuts, tables, scratch, choice, out):  # type: ignore[no-untyped-def]
    """Write each transition's probability among the admissible paths, or 1 on those of one path drawn by `choice`."""
    run_offsets, runs = cuts
    reach, onward, mass, back, part = scratch
    n_states, p = back.shape[1], labels.shape[1]
    for i in range(len(run_offsets) - 1):
        bounds = runs[run_offsets[i] : run_offsets[i + 1] + 1]
        n = len(bounds) - 1
        _trace(labels, there, bounds, tables, reach, onward)
        for q in range(n_states):
            back[n, q] = 1.0 if tables[3][q] else 0.0
        for k in range(n - 1, -1, -1):
            _relative(labels[bounds[k]], weights[bounds[k]], there[bounds[k]], part[k])
            top = 0.0
            for q in range(n_states):
                back[k, q] = 0.0
                if reach[k, q]:
                    for j in range(p):
                        r = onward[k, q, j]
                        if r >= 0:
                            back[k, q] += part[k, j] * back[k + 1, r]
                    top = max(top, back[k, q])
            if top > 0.0:
                for q in range(n_states):
                    back[k, q] /= top
        possible = back[0, tables[4]] > 0.0
        mass[: n + 1] = 0.0
        mass[0, tables[4]] = 1.0
        for k in range(n):
            flow = out[bounds[k]]
            if not possible:
                flow[:] = part[k]
            else:
                _forward(k, mass, back, part[k], onward[k], flow)
            if len(choice):
                j = _drawn(flow, choice[bounds[k]])
                if possible:  # go on from where the draw leads
                    for q in range(n_states):
                        if mass[k, q] > 0.0:
                            mass[k + 1] = 0.0
                            mass[k + 1, onward[k, q, j]] = 1.0
                flow[:] = 0.0
                flow[j] = 1.0
            else:
                flow /= max(flow.sum(), _LEAST)
            for s in range(bounds[k] + 1, bounds[k + 1]):
                out[s] = flow


@njit(cache=True)
def _trace(labels, there, bounds, tables, reach, onward):  # type: ignore[no-untyped-def]
    """States in which each run can begin, and where each expert's labels lead from them; -1 where they are refused."""
    column, follower, allowed, _, start = tables
    reach[: len(bounds)] = False
    reach[0, start] = True
    for k in range(len(bounds) - 1):
        for q in range(len(follower)):
            if not reach[k, q]:
                continue
            for j in range(labels.shape[1]):
                r = q if there[bounds[k], j] else -1
                s = bounds[k]
                while r >= 0 and s < bounds[k + 1]:
                    if labels[s, j] != GAP:
                        c = column[labels[s, j]]
                        r = follower[r, c] if allowed[r, c] else -1
                    s += 1
                onward[k, q, j] = r
                if r >= 0:
                    reach[k + 1, r] = True


@njit(cache=True)
def _delete(present, live, context, begin, end, alive):  # type: ignore[no-untyped-def]
    """Take what these slots refuse out of `alive`; False where a context has nobody left."""
    left = True
    for s in range(begin, end):
        n = 0
        for j in range(present.shape[1]):
            if present[s, j] and not live[s, j]:
                alive[context[s], j] = False
            n += alive[context[s], j]
        left = left and n > 0
    return left


@njit(cache=True)
def _relative(labels, weights, there, out):  # type: ignore[no-untyped-def]
    """Weights over their largest; equal ones of all who say something where nobody is there."""
    top, n = 0.0, 0
    for j in range(len(weights)):
        if there[j]:
            n += 1
            top = max(top, weights[j])
    for j in range(len(weights)):
        out[j] = 0.0
        if n == 0:
            out[j] = 1.0 if labels[j] != ABSENT else 0.0
        elif there[j]:
            out[j] = max(weights[j] / top, _LEAST) if top > 0.0 else 1.0


@njit(cache=True)
def _forward(k, mass, back, part, onward, flow):  # type: ignore[no-untyped-def]
    """Pass the probability of each state on by what each expert's way is worth."""
    flow[:] = 0.0
    for q in range(mass.shape[1]):
        if mass[k, q] > 0.0:
            total = 0.0
            for j in range(len(part)):
                if onward[q, j] >= 0:
                    total += part[j] * back[k + 1, onward[q, j]]
            if total > 0.0:
                for j in range(len(part)):
                    r = onward[q, j]
                    if r >= 0:
                        given = mass[k, q] * (part[j] * back[k + 1, r] / total)
                        flow[j] += given
                        mass[k + 1, r] += given


@njit(cache=True)
def _drawn(flow, choice):  # type: ignore[no-untyped-def]
    """The expert into whose part of the whole `choice` falls."""
    rest = choice * flow.sum()
    last = 0
    for j in range(len(flow)):
        if flow[j] > 0.0:
            last = j
            if rest < flow[j]:
                return j
            rest -= flow[j]
    return last
