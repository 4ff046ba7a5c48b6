"""How reliable the people are who gave the answers, where records name `workers`.

An expert is then a place that different people fill, and says little of them. A worker's rate is how often, in
contested slots of the other folds, what it said was right, drawn to the rate of all workers; those who never were have
that rate.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.ensembles.candidate_features import View
from structens.ensembles.reliability import logit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STRENGTH = 20.0
"""Slots that the rate of all workers counts as."""
WORKERS = ("workers", "best worker", "other workers", "workers' votes", "workers' lead")
"""Columns of `worker_features`."""


def learn_workers(
    view: View, workers: Ints, right: NDArray[np.bool_], fold: Ints, shape: tuple[int, int]
) -> NDArray[np.float32]:
    """Log-odds that a worker is right in a contested slot, without each fold and of all: shape (n_folds + 1, n + 1).

    Parameters
    ----------
    view : View
    workers : ndarray of int64, shape (n_records, p)
        Number of who gave each answer; n for one who is not known.
    right : ndarray of bool, shape (n_candidates,)
    fold : ndarray of int64, shape (n_records,)
    shape : (n_folds, n)
    """
    n_folds, n = shape
    slot, expert = np.nonzero((view.of >= 0) & (np.diff(view.offsets) > 1)[:, None])
    record = view.record[slot]
    key = fold[record] * (n + 1) + workers[record, expert]
    size = n_folds * (n + 1)
    cases = np.bincount(key, minlength=size).reshape(n_folds, n + 1).astype(np.float64)
    hits = np.bincount(key, right[view.of[slot, expert]], minlength=size).reshape(n_folds, n + 1)
    cases = np.concatenate([cases.sum(axis=0) - cases, cases.sum(axis=0)[None]])
    hits = np.concatenate([hits.sum(axis=0) - hits, hits.sum(axis=0)[None]])
    pool = (hits.sum(axis=1) + 1.0) / (cases.sum(axis=1) + 2.0)
    cases[:, n] = hits[:, n] = 0.0  # not known: several people
    rate = (hits + STRENGTH * pool[:, None]) / (cases + STRENGTH)
    return logit(np.clip(rate, 1e-4, 1.0 - 1e-4)).astype(np.float32)


def worker_features(
    view: View, rows: Ints, workers: Ints, log_odds: NDArray[np.float32], table: Ints
) -> NDArray[np.float32]:
    """Mean and largest log-odds of supporters, mean of the others, summed, and summed less that of the others.

    Parameters
    ----------
    view : View
    rows : ndarray of int64
        Candidates.
    workers : ndarray of int64, shape (n_records, p)
    log_odds : ndarray of float32, shape (n_tables, n + 1)
    table : ndarray of int64, shape (n_records,)
        Which table is for a record.

    Returns
    -------
    ndarray of float32, shape (len(rows), len(WORKERS))
        NaN where there is nobody.
    """
    out = np.full((len(rows), len(WORKERS)), np.nan, np.float32)
    _workers(view, rows, workers, log_odds, table, out)
    return out


@njit(cache=True)
def _workers(view, rows, workers, log_odds, table, out):  # type: ignore[no-untyped-def]
    for i in range(len(rows)):
        c = rows[i]
        s = view.slot[c]
        r = view.record[s]
        own, others, best, n, m = 0.0, 0.0, -np.inf, 0, 0
        for j in range(view.of.shape[1]):
            if view.of[s, j] < 0:
                continue
            x = log_odds[table[r], workers[r, j]]
            if view.of[s, j] == c:
                own += x
                n += 1
                best = max(best, x)
            else:
                others += x
                m += 1
        out[i, 3], out[i, 4] = own, own - others
        if n > 0:
            out[i, 0], out[i, 1] = own / n, best
        if m > 0:
            out[i, 2] = others / m
