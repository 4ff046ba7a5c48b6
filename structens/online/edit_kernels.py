"""Kernels of `structens.online.edit_learning`, in one file: numba does not notice when another file changes.

`price` is (insertion, deletion, substitution); the answers to a record are rows `first` to `end` of a ragged array
(`units`, `cuts`).
"""

from __future__ import annotations

import numpy as np
from numba import njit

_ABSENT = -2


@njit(cache=True)
def _tables(path, y, price, before, after):  # type: ignore[no-untyped-def]
    """before[k, j]: cost of the first k slots against the first j units; after[k, j]: of the rest against the rest."""
    ins, dele, sub = price
    n, m = len(path), len(y)
    for j in range(m + 1):
        before[0, j], after[n, j] = j * dele, (m - j) * dele
    for k in range(n):
        label = path[k]
        for j in range(m + 1):
            if label < 0:
                before[k + 1, j] = before[k, j]
                continue
            least = before[k, j] + ins
            if j > 0:
                wrong = sub if y[j - 1] != label else 0.0
                least = min(least, before[k, j - 1] + wrong, before[k + 1, j - 1] + dele)
            before[k + 1, j] = least
    for k in range(n - 1, -1, -1):
        label = path[k]
        for j in range(m, -1, -1):
            if label < 0:
                after[k, j] = after[k + 1, j]
                continue
            least = after[k + 1, j] + ins
            if j < m:
                wrong = sub if y[j] != label else 0.0
                least = min(least, after[k + 1, j + 1] + wrong, after[k, j + 1] + dele)
            after[k, j] = least


@njit(cache=True)
def _replaced(label, y, price, before, after):  # type: ignore[no-untyped-def]
    """Edit distance of the path with one slot saying `label`; rows of the tables before and after that slot."""
    ins, _, sub = price
    best = np.inf
    for j in range(len(y) + 1):
        if label < 0:
            best = min(best, before[j] + after[j])
            continue
        best = min(best, before[j] + ins + after[j])
        if j < len(y):
            wrong = sub if y[j] != label else 0.0
            best = min(best, before[j] + wrong + after[j + 1])
    return best


@njit(cache=True)
def _replacements(labels, path, y, price, out):  # type: ignore[no-untyped-def]
    """Lower out[k, j] to the edit distance of the path with slot k as expert j has it, where that is less."""
    n, p = labels.shape
    before, after = np.empty((n + 1, len(y) + 1)), np.empty((n + 1, len(y) + 1))
    _tables(path, y, price, before, after)
    for k in range(n):
        for j in range(p):
            twin = j
            for i in range(j):
                if labels[k, i] == labels[k, j]:
                    twin = i
                    break
            if twin < j:
                out[k, j] = out[k, twin]
            elif labels[k, j] != _ABSENT:
                out[k, j] = min(out[k, j], _replaced(labels[k, j], y, price, before[k], after[k + 1]))


@njit(cache=True)
def gradient_kernel(labels, flow, draw, answers, price, out):  # type: ignore[no-untyped-def]
    """Add to `out` the mean, over paths drawn from `flow` by `draw` (n_slots, n_samples), of all replacements."""
    units, cuts, first, end = answers
    n, p = labels.shape
    path = np.empty(n, np.int32)
    one = np.empty((n, p))
    for s in range(draw.shape[1]):
        for k in range(n):
            mass, pick = 0.0, -1
            for j in range(p):
                if flow[k, j] > 0.0:
                    pick = j
                    mass += flow[k, j]
                    if mass > draw[k, s]:
                        break
            path[k] = labels[k, pick] if pick >= 0 else -1
        one[:] = np.inf
        for r in range(first, end):
            _replacements(labels, path, units[cuts[r] : cuts[r + 1]], price, one)
        for k in range(n):
            for j in range(p):
                if labels[k, j] != _ABSENT:
                    out[k, j] += one[k, j] / draw.shape[1]


@njit(cache=True)
def _flows(cumulative, parameter, labels, eta, out):  # type: ignore[no-untyped-def]
    for k in range(len(parameter)):
        low, total = np.inf, 0.0
        for j in range(parameter.shape[1]):
            if parameter[k, j] >= 0 and labels[k, j] != _ABSENT:
                low = min(low, cumulative[parameter[k, j]])
        for j in range(parameter.shape[1]):
            out[k, j] = 0.0
            if parameter[k, j] >= 0 and labels[k, j] != _ABSENT:
                out[k, j] = np.exp(-eta * (cumulative[parameter[k, j]] - low))
                total += out[k, j]
        if total > 0.0:
            out[k] /= total


@njit(cache=True)
def game_kernel(slots, references, draw, scale, eta, price, n_parameters, loss):  # type: ignore[no-untyped-def]
    """Play the rounds; the loss of a transition is what its replacement costs beyond the cheapest one of its slot."""
    labels, offsets, parameter = slots
    units, cuts, rows = references
    p = labels.shape[1]
    cumulative = np.zeros(n_parameters)
    for t in range(len(offsets) - 1):
        a, b = offsets[t], offsets[t + 1]
        flow = np.zeros((b - a, p))
        _flows(cumulative, parameter[a:b], labels[a:b], eta, flow)
        gradient_kernel(labels[a:b], flow, draw[a:b], (units, cuts, rows[t], rows[t + 1]), price, loss[a:b])
        for k in range(a, b):
            low, total, awake = np.inf, 0.0, 0
            for j in range(p):
                if labels[k, j] != _ABSENT:
                    low = min(low, loss[k, j])
            for j in range(p):
                if labels[k, j] != _ABSENT:
                    loss[k, j] -= low
                    total += loss[k, j]
                    awake += 1
            for j in range(p):
                if labels[k, j] == _ABSENT and awake > 0:
                    loss[k, j] = total / awake
                if parameter[k, j] >= 0 and awake > 0:
                    cumulative[parameter[k, j]] += scale[t] * (loss[k, j] - total / awake)
