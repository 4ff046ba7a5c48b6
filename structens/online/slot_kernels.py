"""Kernels of the learner on slots, in one file: numba does not notice when a kernel of another file changes.

Arrays as in `structens.online.rounds.Rounds`; `cumulative` is C, the cumulative centred loss of each parameter.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def _flows_of_slot(cumulative, parameter, eta, out):  # type: ignore[no-untyped-def]
    low = np.inf
    for j in range(len(parameter)):
        if parameter[j] >= 0:
            low = min(low, cumulative[parameter[j]])
    total = 0.0
    for j in range(len(parameter)):
        out[j] = 0.0
        if parameter[j] >= 0:
            out[j] = np.exp(-eta * (cumulative[parameter[j]] - low))
            total += out[j]
    if total > 0.0:
        for j in range(len(parameter)):
            out[j] /= total


@njit(cache=True)
def _same(parameter, s):  # type: ignore[no-untyped-def]
    same = True
    for j in range(parameter.shape[1]):
        same &= parameter[s, j] == parameter[s - 1, j]
    return same


@njit(cache=True)
def _charge(loss, parameter, scale, cumulative):  # type: ignore[no-untyped-def]
    """Add the centred losses of one slot."""
    p = len(loss)
    mean = 0.0
    for j in range(p):
        mean += loss[j]
    mean /= p
    for j in range(p):
        if parameter[j] >= 0:
            cumulative[parameter[j]] += scale * (loss[j] - mean)


@njit(cache=True)
def play_kernel(loss, parameter, offsets, scale, eta, cumulative, round_loss):  # type: ignore[no-untyped-def]
    """Write the expected loss of each round, averaged over its slots, into `round_loss`; `cumulative` starts at C_0."""
    p = loss.shape[1]
    flow = np.zeros(p)
    for t in range(len(offsets) - 1):
        first, end = offsets[t], offsets[t + 1]
        for s in range(first, end):
            if s == first or not _same(parameter, s):
                _flows_of_slot(cumulative, parameter[s], eta, flow)
            for j in range(p):
                round_loss[t] += flow[j] * loss[s, j]
        if end > first:
            round_loss[t] /= end - first
        for s in range(first, end):
            _charge(loss[s], parameter[s], scale[t], cumulative)


@njit(cache=True)
def cumulative_kernel(loss, parameter, offsets, scale, times, out):  # type: ignore[no-untyped-def]
    """Write C before each of the rounds `times` into the rows of `out`."""
    cumulative = np.zeros(out.shape[1])
    k = 0
    for t in range(len(offsets)):
        while k < len(times) and times[k] == t:
            out[k] = cumulative
            k += 1
        if t == len(offsets) - 1 or k == len(times):
            break
        for s in range(offsets[t], offsets[t + 1]):
            _charge(loss[s], parameter[s], scale[t], cumulative)


@njit(cache=True)
def flows_kernel(cumulative, parameter, eta, out):  # type: ignore[no-untyped-def]
    """Write the probability of each transition into `out`."""
    for s in range(len(parameter)):
        if s > 0 and _same(parameter, s):
            out[s] = out[s - 1]
        else:
            _flows_of_slot(cumulative, parameter[s], eta, out[s])


@njit(cache=True)
def average_kernel(loss, parameter, offsets, scale, eta, start, cumulative, out):  # type: ignore[no-untyped-def]
    """Write the weights of each context, averaged over the rounds from `start` on, into `out`."""
    n_contexts, p = out.shape
    n_rounds = len(offsets) - 1
    flow = np.zeros(p)
    counted = np.full(n_contexts, start)  # rounds before this one are in the sum
    for t in range(n_rounds):
        for s in range(offsets[t], offsets[t + 1]):
            c = parameter[s, 0] // p
            if counted[c] <= t:  # constant since: weigh its rounds up to this one
                _flows_of_slot(cumulative, parameter[s], eta, flow)
                out[c] += (t + 1 - counted[c]) * flow
                counted[c] = t + 1
        for s in range(offsets[t], offsets[t + 1]):
            _charge(loss[s], parameter[s], scale[t], cumulative)
    ids = np.empty(p, np.int32)
    for c in range(n_contexts):
        if counted[c] < n_rounds:
            for j in range(p):
                ids[j] = c * p + j
            _flows_of_slot(cumulative, ids, eta, flow)
            out[c] += (n_rounds - counted[c]) * flow
        out[c] /= n_rounds - start


@njit(cache=True)
def later_losses_kernel(loss, parameter, offsets, scale, eta, inclusive, out):  # type: ignore[no-untyped-def]
    """Sum of the losses of p_t over later rounds; `later` holds, for each parameter, its loss in the rounds to come."""
    p = loss.shape[1]
    n_parameters = 0
    for s in range(len(parameter)):
        n_parameters = max(n_parameters, parameter[s, 0] + p)
    later = np.zeros(n_parameters)
    cumulative = np.zeros(n_parameters)
    share = np.zeros(n_parameters // p)  # of each context: loss to come under its present weights
    flow = np.zeros(p)
    for t in range(len(offsets) - 1):
        for s in range(offsets[t], offsets[t + 1]):
            for j in range(p):
                later[parameter[s, j]] += loss[s, j] / (offsets[t + 1] - offsets[t])
    total = _refresh(cumulative, later, parameter, eta, flow, share)
    for t in range(len(offsets) - 1):
        mine = parameter[offsets[t] : offsets[t + 1]]
        if inclusive:
            out[t] = total
        for s in range(offsets[t], offsets[t + 1]):
            for j in range(p):
                later[parameter[s, j]] -= loss[s, j] / (offsets[t + 1] - offsets[t])
        total += _refresh(cumulative, later, mine, eta, flow, share)
        if not inclusive:
            out[t] = total
        for s in range(offsets[t], offsets[t + 1]):
            _charge(loss[s], parameter[s], scale[t], cumulative)
        total += _refresh(cumulative, later, mine, eta, flow, share)


@njit(cache=True)
def _refresh(cumulative, later, parameter, eta, flow, share):  # type: ignore[no-untyped-def]
    """Bring `share` of these slots' contexts up to date; returns by how much their sum changed."""
    p = parameter.shape[1]
    change = 0.0
    for s in range(len(parameter)):
        if s > 0 and _same(parameter, s):
            continue
        c = parameter[s, 0] // p
        _flows_of_slot(cumulative, parameter[s], eta, flow)
        new = 0.0
        for j in range(p):
            new += flow[j] * later[parameter[s, j]]
        change += new - share[c]
        share[c] = new
    return change
