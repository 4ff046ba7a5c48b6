"""Conditional logit over the candidates of a slot: one weight a feature, learnt so that the right candidate wins.

P(c | slot) is the softmax over the slot's candidates of w . x_c. With the log-odds of experts as features it is a naive
Bayes vote whose weights have learnt who copies whom: of experts that always agree each gets a part of one vote.

McFadden, "Conditional logit analysis of qualitative choice behavior" (1973). Fitted by L-BFGS with a quadratic penalty.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def fit_logit(x: Floats, begins: NDArray[np.int64], gold: NDArray[np.int64], start: Floats, penalty: float) -> Floats:
    """Weights of least negative log-likelihood plus penalty * |w - start|^2.

    Parameters
    ----------
    x : ndarray of float64, shape (n, d)
        Rows of a slot lie beside each other.
    begins : ndarray of int64, shape (n_slots,)
        First row of each slot.
    gold : ndarray of int64, shape (n_slots,)
        Row of the right candidate of each slot.
    start : ndarray of float64, shape (d,)
        Weights before anything is learnt, to which few data are drawn.
    penalty : float
        > 0.

    Examples
    --------
    >>> x = np.array([[1.0, 1.0], [-1.0, -1.0]] * 50)  # a copy
    >>> gold = np.arange(0, 100, 2) + (np.arange(50) % 5 == 0)
    >>> fit_logit(x, np.arange(0, 100, 2), gold, np.zeros(2), 0.01).round(2).tolist()  # half of log(4) / 2 each
    [0.35, 0.35]
    """
    sizes = np.diff(np.append(begins, len(x)))

    def risk(w: Floats) -> tuple[float, Floats]:
        score = x @ w
        top = np.maximum.reduceat(score, begins)
        raised = np.exp(score - np.repeat(top, sizes))
        total = np.add.reduceat(raised, begins)
        p = raised / np.repeat(total, sizes)
        value = float((np.log(total) + top - score[gold]).sum())
        p[gold] -= 1.0
        away = w - start
        return value + penalty * float(away @ away), x.T @ p + 2.0 * penalty * away

    if not len(begins):
        return start.copy()
    with np.errstate(under="ignore"):
        from scipy.optimize import minimize  # a quarter of a second, which a vote can spare

        found = minimize(risk, start, jac=True, method="L-BFGS-B", options={"maxiter": 100})
    return np.asarray(found.x, np.float64)


def slot_posteriors(score: Floats, offsets: NDArray[np.int64]) -> Floats:
    """Softmax over the candidates of each slot, shape (n,).

    Examples
    --------
    >>> slot_posteriors(np.array([0.0, np.log(3.0), 5.0]), np.array([0, 2, 2, 3])).round(6).tolist()
    [0.25, 0.75, 1.0]
    """
    sizes = np.diff(offsets)
    begins, held = offsets[:-1][sizes > 0], sizes[sizes > 0]
    if not len(begins):
        return np.zeros(0)
    top = np.repeat(np.maximum.reduceat(score, begins), held)
    with np.errstate(under="ignore"):
        raised = np.exp(score - top)
        out: Floats = raised / np.repeat(np.add.reduceat(raised, begins), held)
    return out
