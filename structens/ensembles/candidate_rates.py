"""Rates at which candidates were right in like cases: the same supporters, or the same label, rival and neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.ensembles.candidate_features import View, neighbours
from structens.ensembles.reliability import Rates, learn_rates

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class LikeCases(NamedTuple):
    """Rates of cases that are alike, each smoothed toward one that is less alike."""

    rates: list[Rates]
    base: float

    def log_odds(self, keys: Ints, parents: tuple[int, ...]) -> NDArray[np.float32]:
        """Of new rows; `parents` as in `learn_like_cases`."""
        out = np.empty(keys.shape, np.float32)
        for k, parent in enumerate(parents):
            prior = np.full(len(keys), self.base) if parent < 0 else out[:, parent].astype(np.float64)
            out[:, k] = self.rates[k].log_odds(keys[:, k], prior)
        return out


SUPPORTERS = (-1, 0)
"""Parents of the columns of `supporter_keys`."""
SURROUNDINGS = (-1, 0, 0, 0, -1, 4)
"""Parents of the columns of `surrounding_keys`; the last two are of open vocabularies."""


def parents_of(n: int) -> tuple[int, ...]:
    """Parents of n columns of `surrounding_keys`."""
    return SURROUNDINGS[:n]


def learn_like_cases(
    keys: Ints, parents: tuple[int, ...], right: NDArray[np.bool_], fold: Ints
) -> tuple[LikeCases, NDArray[np.float32]]:
    """Rates, and the log-odds of the rows learnt from, each without its fold.

    Parameters
    ----------
    keys : ndarray of int64, shape (n, m)
    parents : tuple of int, m
        Column that a column's rates are smoothed toward; -1 for the rate of all.
    right : ndarray of bool, shape (n,)
    fold : ndarray of int, shape (n,)
    """
    share = np.clip(right.mean() if len(right) else 0.5, 0.01, 0.99)
    base = float(np.log(share / (1.0 - share)))
    rates, out = [], np.empty(keys.shape, np.float32)
    for k, parent in enumerate(parents):
        prior = np.full(len(keys), base) if parent < 0 else out[:, parent].astype(np.float64)
        learnt, out[:, k] = learn_rates(keys[:, k], right, fold, prior)
        rates.append(learnt)
    return LikeCases(rates, base), out


def supporter_keys(view: View, rows: Ints) -> Ints:
    """Numbers of supporters and candidates; who the supporters are. Shape (len(rows), 2)."""
    p = view.of.shape[1]
    number = np.random.default_rng(0).integers(1, 2**62, size=p)  # the sum of a set of them is its number
    out = np.zeros((len(rows), 2), np.int64)
    _supporter_keys(view, rows, number, out)
    return out


def surrounding_keys(view: View, rows: Ints, q: Floats, n_classes: int, word: Ints | None = None) -> Ints:
    """Label and rival; with the label on the left; with that on the right; label and both. Shape (len(rows), 4).

    With `word`, the number of each candidate's word below 2^31, there are two columns more: the word, and it with its
    rival's. A rival is the most probable other candidate of the slot.
    """
    out = np.zeros((len(rows), 4 if word is None else 6), np.int64)
    words = np.zeros(0, np.int64) if word is None else word
    _surrounding_keys(view, rows, q, neighbours(view, q), words, np.array([n_classes + 1], np.int64), out)
    return out


@njit(cache=True)
def _supporter_keys(view, rows, number, out):  # type: ignore[no-untyped-def]
    for i in range(len(rows)):
        c = rows[i]
        s = view.slot[c]
        out[i, 0] = view.n_supporters[c] * np.int64(64) + min(view.offsets[s + 1] - view.offsets[s], np.int64(63))
        for j in range(view.of.shape[1]):
            if view.of[s, j] == c:
                out[i, 1] += number[j]


@njit(cache=True)
def _surrounding_keys(view, rows, q, around, word, size, out):  # type: ignore[no-untyped-def]
    k = size[0]
    for i in range(len(rows)):
        c = rows[i]
        s, rival = view.slot[c], np.int64(-1)
        for other in range(view.offsets[s], view.offsets[s + 1]):
            if other != c and (rival < 0 or q[other] > q[rival]):
                rival = np.int64(other)
        left = view.said[around.top[around.left[s]]] if around.left[s] >= 0 else k - 1
        right = view.said[around.top[around.right[s]]] if around.right[s] >= 0 else k - 1
        pair = view.said[c] * k + view.said[rival]
        out[i, 0], out[i, 1], out[i, 2] = pair, pair * k + left, pair * k + right
        out[i, 3] = (view.said[c] * k + left) * k + right
        if len(word) > 0:
            out[i, 4], out[i, 5] = word[c], (word[c] << np.int64(31)) | word[rival]
