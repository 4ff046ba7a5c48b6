"""How often a candidate is right, given who says what: smoothed log-odds, without the record that they are used for.

`reliabilities` has a number for each expert, what it says, and the candidate in question: if it supports the candidate,
how often it is right when it says that; if not, how often the candidate is right when it says something else. Rates of
few cases are drawn to those of the expert and of the pool of all experts. `Rates` does the same for any other key.

Rates of records learnt from are counted in the other folds (out of fold): a count that holds the record itself would
tell the answer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.ensembles.calibration import expit
from structens.ensembles.candidate_features import View

STRENGTH = 4.0
"""Cases that a rate from elsewhere counts as."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Counts(NamedTuple):
    """Cases, and those in which the candidate was right, by fold and key."""

    n: Floats
    right: Floats

    def without(self, fold: int) -> tuple[Floats, Floats]:
        """Of all folds but one; of all if there is no such fold."""
        n, right = self.n.sum(axis=0), self.right.sum(axis=0)
        return (n, right) if fold < 0 else (n - self.n[fold], right - self.right[fold])


def count_said(view: View, right: NDArray[np.bool_], fold: Ints, shape: tuple[int, int]) -> Counts:
    """Cases by fold, expert, what it said, and the candidate; the last column is for those it supports.

    Parameters
    ----------
    view : View
    right : ndarray of bool, shape (n,)
    fold : ndarray of int, shape (n,)
        From 0; -1 where a candidate is not counted.
    shape : (n_folds, n_classes)
    """
    (n_folds, k), p = shape, view.of.shape[1]
    n, hits = np.zeros((n_folds, p, k, k + 1)), np.zeros((n_folds, p, k, k + 1))
    used = np.flatnonzero(fold >= 0)
    for j in range(p):
        mine = view.of[view.slot[used], j]
        rows = used[mine >= 0]
        mine = mine[mine >= 0]
        column = np.where(mine == rows, k, view.said[rows])
        key = (fold[rows] * k + view.said[mine]) * (k + 1) + column
        size = n_folds * k * (k + 1)
        n[:, j] = np.bincount(key, minlength=size).reshape(n_folds, k, k + 1)
        hits[:, j] = np.bincount(key, right[rows], minlength=size).reshape(n_folds, k, k + 1)
    return Counts(n, hits)


def reliabilities(n: Floats, right: Floats) -> NDArray[np.float32]:
    """Smoothed log-odds of right, shape (p, K, K + 1), from counts of that shape."""
    k = n.shape[1]
    out = np.empty(n.shape, np.float32)
    mine_n, mine_right = n[:, :, k], right[:, :, k]
    pool = _rate(mine_right.sum(), mine_n.sum(), 0.5, 2.0)
    expert = logit(_rate(mine_right.sum(axis=1), mine_n.sum(axis=1), pool, STRENGTH))
    label = logit(_rate(mine_right.sum(axis=0), mine_n.sum(axis=0), pool, STRENGTH))
    prior = expit(expert[:, None] + label[None, :] - logit(pool))
    out[:, :, k] = logit(_rate(mine_right, mine_n, prior, STRENGTH))
    other_n, other_right = n[:, :, :k], right[:, :, :k]
    rest = _rate(other_right.sum(), other_n.sum(), 0.2, 2.0)
    by_expert = logit(_rate(other_right.sum(axis=(1, 2)), other_n.sum(axis=(1, 2)), rest, STRENGTH))
    by_pair = logit(_rate(other_right.sum(axis=0), other_n.sum(axis=0), rest, STRENGTH))
    prior = expit(by_expert[:, None, None] + by_pair[None] - logit(rest))
    out[:, :, :k] = logit(_rate(other_right, other_n, prior, STRENGTH))
    return out


def _rate(right: Floats, n: Floats, prior: Floats | float, strength: float) -> Floats:
    out: Floats = np.clip((right + strength * prior) / (n + strength), 1e-4, 1.0 - 1e-4)
    return out


class Rates(NamedTuple):
    """Cases by key, as learnt from all records: sorted keys, cases, and right ones."""

    key: Ints
    n: Floats
    right: Floats

    def log_odds(self, key: Ints, prior: Floats) -> Floats:
        """Smoothed toward prior log-odds, which are the answer for keys that never were."""
        n, right = np.zeros(len(key)), np.zeros(len(key))
        if len(self.key):
            at = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
            known = self.key[at] == key
            n[known], right[known] = self.n[at[known]], self.right[at[known]]
        out: Floats = logit(_rate(right, n, expit(prior), STRENGTH))
        return out


def learn_rates(key: Ints, right: NDArray[np.bool_], fold: Ints, prior: Floats) -> tuple[Rates, Floats]:
    """Rates of all rows, and for each row the log-odds without its fold.

    Parameters
    ----------
    key : ndarray of int64, shape (n,)
    right : ndarray of bool, shape (n,)
    fold : ndarray of int, shape (n,)
        From 0.
    prior : ndarray of float64, shape (n,)
        Log-odds, out of fold themselves.
    """
    keys, place = np.unique(key, return_inverse=True)
    n: Floats = np.bincount(place).astype(np.float64)
    hits: Floats = np.bincount(place, right).astype(np.float64)
    n_folds = int(fold.max(initial=-1)) + 1
    again = np.unique(place * n_folds + fold, return_inverse=True)[1]
    own_n: Floats = np.bincount(again).astype(np.float64)[again]
    own_hits: Floats = np.bincount(again, right).astype(np.float64)[again]
    out = logit(_rate(hits[place] - own_hits, n[place] - own_n, expit(prior), STRENGTH))
    return Rates(keys, n, hits), out


def logit(p: Floats) -> Floats:
    """Logarithm of p / (1 - p), for 0 < p < 1."""
    out: Floats = np.log(p) - np.log1p(-p)
    return out
