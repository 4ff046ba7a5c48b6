"""Labels that nobody proposed, but to which what was said there and stands beside it points.

In a closed vocabulary experts may all take one label for others. A pool of experts' posteriors, P(c) times the product
of (P(c | expert j says l) / P(c)) to a power below 1, since experts copy each other, and label n-grams choose a few;
whether one of them is right is for the model to say.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.core import ABSENT
from structens.ensembles.candidate_features import View, neighbours, ngram_features
from structens.ensembles.candidate_logit import fit_logit, slot_posteriors
from structens.ensembles.label_ngram import LabelNGram

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STRENGTH = 2.0
"""Cases that a distribution from elsewhere counts as."""
LOOKED_AT = 6
"""Labels of a slot that n-grams are asked about."""
FAR = 7.0
"""Labels that much less likely than the best, in nats, are not looked at."""
LEAST = 0.02
"""Probability of a label that becomes a candidate."""
MOST = 2
"""Such candidates of a slot."""
POWERS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 1.0)


class Pool(NamedTuple):
    """What turns answers into a distribution over labels.

    Attributes
    ----------
    table : ndarray of float32, shape (n_tables, p, K, K)
        Log of P(c | expert j says l) / P(c), by expert, l and c.
    log_prior : ndarray of float64, shape (n_tables, K)
    weights : ndarray of float64, shape (3,)
        Power of the experts; weights of the pool's log probability and of the n-gram's in the choice.
    """

    table: NDArray[np.float32]
    log_prior: Floats
    weights: Floats


def pool_tables(n: Floats) -> tuple[NDArray[np.float32], Floats]:
    """Table and log prior from counts of experts, what they said, and gold, shape (p, K, K).

    Examples
    --------
    >>> table, prior = pool_tables(np.array([[[9.0, 1.0], [1.0, 9.0]]]))
    >>> (np.exp(table[0]) * np.exp(prior)).round(2).tolist()
    [[0.89, 0.11], [0.11, 0.89]]
    """
    whole = n.sum(axis=(0, 1)) + 0.5
    prior = whole / whole.sum()
    pooled = n.sum(axis=0) + STRENGTH * prior
    pooled /= pooled.sum(axis=1, keepdims=True)
    own = n + STRENGTH * pooled
    own /= own.sum(axis=2, keepdims=True)
    return np.log(own / prior).astype(np.float32), np.log(prior)


def count_gold(view: View, gold: Ints, fold: Ints, shape: tuple[int, int]) -> Floats:
    """Slots by fold, expert, class said and class of gold, shape (n_folds, p, K, K).

    Parameters
    ----------
    view : View
    gold : ndarray of int64, shape (n_slots,)
        Class of gold; -1 where it is not known.
    fold : ndarray of int64, shape (n_slots,)
    shape : (n_folds, K)
    """
    (n_folds, k), p = shape, view.of.shape[1]
    out = np.zeros((n_folds, p, k, k))
    for j in range(p):
        rows = np.flatnonzero((view.of[:, j] >= 0) & (gold >= 0))
        key = (fold[rows] * k + view.said[view.of[rows, j]]) * k + gold[rows]
        out[:, j] = np.bincount(key, minlength=n_folds * k * k).reshape(n_folds, k, k)
    return out


class Likely(NamedTuple):
    """The likeliest labels of slots: slot, class, and log probability by the pool and by n-grams."""

    slot: NDArray[np.int32]
    said: Ints
    score: Floats


def likely_labels(view: View, pool: Pool, ngrams: list[LabelNGram], table: Ints) -> Likely:
    """Labels to choose from, in view of the plain vote in the neighbouring slots."""
    n_slots = len(view.record)
    label = np.full((n_slots, LOOKED_AT), -1, np.int64)
    score = np.full((n_slots, LOOKED_AT), -np.inf)
    _likely(view, pool, table, label, score)
    slot, column = np.nonzero(label >= 0)
    said = label[slot, column]
    total = np.bincount(view.slot, view.n_supporters, minlength=n_slots)
    around = neighbours(view, view.n_supporters / np.maximum(total, 1)[view.slot])
    context = ngram_features(view, slot.astype(np.int32), said, around, ngrams, table)[:, 1]
    return Likely(slot.astype(np.int32), said, np.column_stack([score[slot, column], context]))


def fit_pool(
    view: View, gold: Ints, tables: tuple[NDArray[np.float32], Floats], ngrams: list[LabelNGram], table: Ints
) -> Floats:
    """Power and weights of greatest likelihood on records that the tables have not seen."""
    best, power = -np.inf, 1.0
    known = np.flatnonzero((gold >= 0) & (view.of >= 0).any(axis=1))
    for candidate in POWERS:
        value = _log_likelihood(view, Pool(*tables, np.array([candidate, 1.0, 0.0])), table, gold, known)
        if value > best:
            best, power = value, candidate
    found = likely_labels(view, Pool(*tables, np.array([power, 1.0, 0.0])), ngrams, table)
    right = gold[found.slot] == found.said
    winnable = np.bincount(found.slot, right, minlength=len(gold)) > 0
    rows = np.flatnonzero(winnable[found.slot])
    begins = np.flatnonzero(np.diff(found.slot[rows], prepend=-1) != 0)
    weights = fit_logit(found.score[rows], begins, np.flatnonzero(right[rows]), np.array([1.0, 0.0]), 1.0)
    return np.array([power, *weights])


def propose(view: View, found: Likely, weights: Floats, codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Further candidates of each slot, shape (n_slots, MOST); ABSENT for none.

    Parameters
    ----------
    view : View
        Of the candidates that there are.
    found : Likely
    weights : ndarray of float64, shape (3,)
    codes : ndarray of int32, shape (K,)
        Code of each class; ABSENT for those that are no labels of their own.
    """
    n_slots = len(view.record)
    cuts = np.concatenate([[0], np.cumsum(np.bincount(found.slot, minlength=n_slots))])
    p = slot_posteriors(found.score @ weights[1:], cuts)
    out = np.full((n_slots, MOST), ABSENT, np.int32)
    _choose(view, found.slot, found.said, p, np.asarray(codes, np.int32), out)
    return out


def _log_likelihood(view: View, pool: Pool, table: Ints, gold: Ints, known: Ints) -> float:
    return float(_likelihood(view, pool, table, gold, known))


@njit(cache=True)
def _scores(view, pool, table, s, out):  # type: ignore[no-untyped-def]
    t = table[view.record[s]]
    out[:] = pool.log_prior[t]
    for j in range(view.of.shape[1]):
        if view.of[s, j] >= 0:
            row = pool.table[t, j, view.said[view.of[s, j]]]
            for c in range(len(out)):
                out[c] += pool.weights[0] * row[c]


@njit(cache=True)
def _likelihood(view, pool, table, gold, known):  # type: ignore[no-untyped-def]
    score, total = np.empty(pool.log_prior.shape[1]), 0.0
    for s in known:
        _scores(view, pool, table, s, score)
        top = score.max()
        total += score[gold[s]] - top - np.log(np.exp(score - top).sum())
    return total


@njit(cache=True)
def _likely(view, pool, table, label, score):  # type: ignore[no-untyped-def]
    all_scores = np.empty(pool.log_prior.shape[1])
    for s in range(len(view.record)):
        if view.offsets[s + 1] == view.offsets[s]:
            continue
        _scores(view, pool, table, s, all_scores)
        top = all_scores.max()
        for k in range(label.shape[1]):
            best = np.argmax(all_scores)
            if all_scores[best] < top - FAR:
                break
            label[s, k], score[s, k] = best, all_scores[best]
            all_scores[best] = -np.inf
        if view.offsets[s + 1] == view.offsets[s] + 1 and label[s, 1] < 0:
            label[s, 0] = -1 if label[s, 0] == view.said[view.offsets[s]] else label[s, 0]


@njit(cache=True)
def _choose(view, slot, said, p, codes, out):  # type: ignore[no-untyped-def]
    for i in range(len(slot)):
        s = slot[i]
        if p[i] < LEAST or codes[said[i]] == ABSENT:
            continue
        proposed = False
        for c in range(view.offsets[s], view.offsets[s + 1]):
            proposed |= view.said[c] == said[i]
        if proposed:
            continue
        at = 0  # the first that is free, or less likely
        while at < out.shape[1] and out[s, at] != ABSENT:
            at += 1
        if at < out.shape[1]:
            out[s, at] = codes[said[i]]
