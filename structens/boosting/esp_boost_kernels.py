"""Kernels of ESPBoost on slots: masses of every choice, margins of a path expert, one dimensional steps.

A cell is a slot of a record (or all slots that look the same to every path expert). ``rho[g, j]`` is the margin of
expert j's answer in cell g: 1 right, -1 wrong, 0 no answer, in between for real-valued scores.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


def slot_masses(
    rho: NDArray[np.float64], context: NDArray[np.int32], weight: NDArray[np.float64], n_contexts: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums of weight times positive, and times negative margins, of each expert in each context.

    Parameters
    ----------
    rho : ndarray of float64, shape (n_cells, p)
    context : ndarray of int32, shape (n_cells,)
    weight : ndarray of float64, shape (n_cells,)
    n_contexts : int

    Returns
    -------
    plus, minus : ndarray of float64, shape (n_contexts, p)

    Examples
    --------
    >>> plus, minus = slot_masses(np.array([[1.0, -1], [1, 0]]), np.zeros(2, np.int32), np.array([.25, .75]), 1)
    >>> plus.tolist(), minus.tolist()
    ([[1.0, 0.0]], [[0.0, 0.25]])
    """
    plus = np.zeros((n_contexts, rho.shape[1]))
    minus = np.zeros_like(plus)
    _slot_masses(rho, context, weight, plus, minus)
    return plus, minus


def label_masses(
    rho: NDArray[np.float64], parameter: NDArray[np.int32], weight: NDArray[np.float64], n_parameters: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same where experts of a cell have contexts of their own; -1 has none. Shapes (n_parameters,).

    Examples
    --------
    >>> ids = np.array([[0, 3], [2, -1]], np.int32)
    >>> plus, minus = label_masses(np.array([[1.0, -1], [1, 0]]), ids, np.array([.25, .75]), 4)
    >>> plus.tolist(), minus.tolist()
    ([0.25, 0.0, 0.75, 0.0], [0.0, 0.0, 0.0, 0.25])
    """
    plus, minus = np.zeros(n_parameters), np.zeros(n_parameters)
    _label_masses(rho, parameter, weight, plus, minus)
    return plus, minus


def label_margins(
    rho: NDArray[np.float64], parameter: NDArray[np.int32], chosen: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Margin of a choice of parameters in each cell: the best right answer less the best wrong one, 0 for none.

    Examples
    --------
    >>> ids = np.array([[0, 3], [2, -1]], np.int32)
    >>> label_margins(np.array([[1.0, -1], [1, 0]]), ids, np.array([1, 0, 1, 1], bool)).tolist()
    [0.0, 1.0]
    """
    out = np.empty(len(rho))
    _label_margins(rho, parameter, chosen, out)
    return out


def transition_masses(
    rho: NDArray[np.float64], weight: NDArray[np.float64], slot: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums of weight times positive, and times negative margins, of each transition of an automaton.

    Parameters
    ----------
    rho : ndarray of float64, shape (m, n_transitions)
    weight : ndarray of float64, shape (m, n_slots)
    slot : ndarray of int64, shape (n_transitions,)

    Examples
    --------
    >>> rho, weight = np.array([[1.0, -1], [1, 0]]), np.array([[.5, .25], [0, .25]])
    >>> plus, minus = transition_masses(rho, weight, np.array([0, 1]))
    >>> plus.tolist(), minus.tolist()
    ([0.5, 0.0], [0.0, 0.25])
    """
    plus, minus = np.zeros(rho.shape[1]), np.zeros(rho.shape[1])
    _transition_masses(rho, np.ascontiguousarray(weight), slot, plus, minus)
    return plus, minus


def newton_step(rho: NDArray[np.float64], weight: NDArray[np.float64], highest: float) -> float:
    """The a in [0, highest] that minimises the sum of weight times exp(-a rho), which is convex.

    Newton's method, kept inside a bracket.

    Examples
    --------
    >>> round(newton_step(np.array([1.0, -1.0]), np.array([0.75, 0.25]), 10.0), 6)
    0.549306
    """
    return float(_newton_step(rho, weight, highest))


@njit(cache=True)
def _slot_masses(rho, context, weight, plus, minus):  # type: ignore[no-untyped-def]
    n, p = rho.shape
    for g in range(n):
        c, d = context[g], weight[g]
        for j in range(p):
            v = rho[g, j]
            if v > 0.0:
                plus[c, j] += d * v
            elif v < 0.0:
                minus[c, j] -= d * v


@njit(cache=True)
def _label_masses(rho, parameter, weight, plus, minus):  # type: ignore[no-untyped-def]
    n, p = rho.shape
    for g in range(n):
        d = weight[g]
        for j in range(p):
            v, e = rho[g, j], parameter[g, j]
            if e < 0:
                continue
            if v > 0.0:
                plus[e] += d * v
            elif v < 0.0:
                minus[e] -= d * v


@njit(cache=True)
def _label_margins(rho, parameter, chosen, out):  # type: ignore[no-untyped-def]
    n, p = rho.shape
    for g in range(n):
        right, wrong = 0.0, 0.0
        for j in range(p):
            e = parameter[g, j]
            if e >= 0 and chosen[e]:
                right = max(right, rho[g, j])
                wrong = max(wrong, -rho[g, j])
        out[g] = right - wrong


@njit(cache=True)
def _transition_masses(rho, weight, slot, plus, minus):  # type: ignore[no-untyped-def]
    m, n = rho.shape
    for i in range(m):
        for e in range(n):
            v = rho[i, e] * weight[i, slot[e]]
            if v > 0.0:
                plus[e] += v
            else:
                minus[e] -= v


@njit(cache=True)
def _slope(rho, weight, a):  # type: ignore[no-untyped-def]
    slope, bend = 0.0, 0.0
    for g in range(len(rho)):
        part = weight[g] * rho[g] * np.exp(-a * rho[g])
        slope -= part
        bend += part * rho[g]
    return slope, bend


@njit(cache=True)
def _newton_step(rho, weight, highest):  # type: ignore[no-untyped-def]
    low, high, a = 0.0, highest, 0.0
    if _slope(rho, weight, highest)[0] <= 0.0:
        return highest
    for _ in range(100):
        slope, bend = _slope(rho, weight, a)
        if slope > 0.0:
            high = a
        else:
            low = a
        following = a - slope / bend if bend > 0.0 else low
        if not low <= following <= high:
            following = 0.5 * (low + high)
        if abs(following - a) <= 1e-14 * (1.0 + abs(a)):
            return following
        a = following
    return a
