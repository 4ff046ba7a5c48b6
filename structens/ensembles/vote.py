"""The vote of a slot: the label with the largest summed weight, by one fixed rule for ties.

Equal labels add their weights (H_MVote of Cortes, Kuznetsov and Mohri, ACL 2014, eq. 5); GAP, "nothing stands here",
is a candidate like any label, but loses ties: with an even number of experts, leaving units out whenever one half does
costs far more than keeping them (speech of four recognisers: 13.0 % against 6.6 %). Among labels a tie goes to the one
whose first supporter comes first in the expert order, never to the alphabet, a hash or the order of keys. Where only
two experts answered, every difference is a tie, and the first decides gaps as well: a mixture is worse than either.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.core import ABSENT, GAP

TIE_TOLERANCE = 1e-12
"""Sums of weights closer than this part of the slot's total are a tie."""


class Votes(NamedTuple):
    """What was decided in each slot.

    label : int32 (n_slots,), the winner, or GAP; share : float64 (n_slots,), its part of the summed weights;
    tie : bool (n_slots,), another label had as much; first : int32 (n_slots,), the first expert behind the winner.
    """

    label: NDArray[np.int32]
    share: NDArray[np.float64]
    tie: NDArray[np.bool_]
    first: NDArray[np.int32]


def vote(labels: NDArray[np.int32], weights: NDArray[np.float64], *, draw: NDArray[np.float64] | None = None) -> Votes:
    """Decide every slot by weighted vote.

    Parameters
    ----------
    labels : ndarray of int32, shape (n_slots, p)
        Codes, GAP or ABSENT, experts in the order that decides ties.
    weights : ndarray of float64, shape (n_slots, p)
        Weight of each vote, >= 0; that of an ABSENT expert does not count. Where all weights of a slot are 0 every
        expert present has one vote.

    Returns
    -------
    Votes

    Examples
    --------
    >>> labels = np.array([[4, 4, 7], [4, 7, -2]], dtype=np.int32)
    >>> v = vote(labels, np.array([[0.3, 0.3, 0.4], [0.5, 0.5, 0.0]]))
    >>> v.label.tolist(), v.share.round(2).tolist(), v.tie.tolist(), v.first.tolist()
    ([4, 4], [0.6, 0.5], [False, True], [0, 0])
    """
    out, lots = _nothing_decided(len(labels), draw)
    _vote(np.ascontiguousarray(labels), np.require(weights, np.float64, ("C", "W")), lots, *out)
    return out


def rover(
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    confidence: NDArray[np.float64],
    *,
    alpha: float,
    null_confidence: float,
    maximum: bool,
    draw: NDArray[np.float64] | None = None,
) -> Votes:
    """Decide every slot by the ROVER rule: ``alpha * frequency + (1 - alpha) * confidence``.

    Parameters
    ----------
    labels : ndarray of int32, shape (n_slots, p)
    weights : ndarray of float64, shape (n_slots, p)
        Weight of each vote, as in `vote`; the frequency is the weighted one.
    confidence : ndarray of float64, shape (n_slots, p)
        Confidence of each expert in its label, in [0, 1]; NaN where it gives none.
    alpha : float
        Weight of the frequency; 1 is the plain vote.
    null_confidence : float
        Confidence of GAP, and of a label none of whose supporters gives one.
    maximum : bool
        Take the highest confidence of a label's supporters, not the mean.
    draw : ndarray of float64, shape (n_slots,), optional
        As in `vote`.

    Returns
    -------
    Votes
        `share` is the winner's part of the summed scores.

    References
    ----------
    Fiscus (1997), "A post-processing system to yield reduced word error rates: ROVER".

    Examples
    --------
    >>> labels = np.array([[4, 4, 7]], dtype=np.int32)
    >>> rover(labels, np.ones((1, 3)), np.array([[.1, .1, .95]]), alpha=.5, null_confidence=.5,
    ...       maximum=False).label.tolist()
    [7]
    """
    out, lots = _nothing_decided(len(labels), draw)
    rule = np.array([alpha, null_confidence, float(maximum)])
    weights = np.ascontiguousarray(weights, np.float64)
    _rover(np.ascontiguousarray(labels), weights, np.ascontiguousarray(confidence, np.float64), rule, lots, *out)
    return out


def shares(labels: NDArray[np.int32], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Part of the vote behind each label, written at its first supporter; -1 at the others and where ABSENT.

    Parameters
    ----------
    labels, weights
        As in `vote`.

    Returns
    -------
    ndarray of float64, shape (n_slots, p)
        What is not -1 sums to one in each slot.

    Examples
    --------
    >>> shares(np.array([[4, 4, 7, -2]], dtype=np.int32), np.array([[1.0, 2.0, 1.0, 5.0]])).tolist()
    [[0.75, -1.0, 0.25, -1.0]]
    """
    out = np.empty(labels.shape)
    rule, unsure = np.array([1.0, 0.0, 0.0]), np.full((1, labels.shape[1]), np.nan)
    _shares(np.ascontiguousarray(labels), np.ascontiguousarray(weights, np.float64), unsure, rule, out)
    return out


def rover_shares(
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    confidence: NDArray[np.float64],
    *,
    alpha: float,
    null_confidence: float,
    maximum: bool,
) -> NDArray[np.float64]:
    """As `shares`, by the scores of `rover`.

    Examples
    --------
    >>> rover_shares(np.array([[4, 4, 7]], np.int32), np.ones((1, 3)), np.array([[0.5, 0.5, 1.0]]), alpha=0.0,
    ...              null_confidence=0.5, maximum=False).round(3).tolist()
    [[0.333, -1.0, 0.667]]
    """
    out = np.empty(labels.shape)
    rule = np.array([alpha, null_confidence, float(maximum)])
    weights = np.require(weights, np.float64, ("C", "W"))  # kernels are compiled once more for what cannot be written
    _shares(np.ascontiguousarray(labels), weights, np.ascontiguousarray(confidence, np.float64), rule, out)
    return out


def _nothing_decided(n: int, draw: NDArray[np.float64] | None) -> tuple[Votes, NDArray[np.float64]]:
    out = Votes(np.full(n, GAP, np.int32), np.zeros(n), np.zeros(n, np.bool_), np.zeros(n, np.int32))
    return out, np.full(n, -1.0) if draw is None else np.ascontiguousarray(draw, np.float64)


@njit(cache=True)
def _vote(labels, weights, draw, label, share, tie, first):  # type: ignore[no-untyped-def]
    n, p = labels.shape
    score = np.zeros(p)
    for s in range(n):
        _count(labels[s], weights[s], score)
        _decide(s, labels[s], score, draw[s], label, share, tie, first)


@njit(cache=True)
def _rover(labels, weights, confidence, rule, draw, label, share, tie, first):  # type: ignore[no-untyped-def]
    n, p = labels.shape
    score = np.zeros(p)
    for s in range(n):
        _rover_score(labels[s], weights[s], confidence[s], rule, score)
        _decide(s, labels[s], score, draw[s], label, share, tie, first)


@njit(cache=True)
def _shares(labels, weights, confidence, rule, out):  # type: ignore[no-untyped-def]
    for s in range(len(labels)):
        score = out[s]
        _rover_score(labels[s], weights[s], confidence[min(s, len(confidence) - 1)], rule, score)
        total, n_labels = 0.0, 0
        for j in range(len(score)):
            if score[j] >= 0.0:
                total += score[j]
                n_labels += 1
        for j in range(len(score)):
            if score[j] >= 0.0:
                score[j] = score[j] / total if total > 0.0 else 1.0 / n_labels


@njit(cache=True)
def _rover_score(labels, weights, confidence, rule, score):  # type: ignore[no-untyped-def]
    total = _count(labels, weights, score)
    for j in range(len(score)):
        if score[j] >= 0.0:
            sure = _confidence_of(labels, confidence, j, rule)
            score[j] = rule[0] * score[j] / total + (1.0 - rule[0]) * sure


@njit(cache=True)
def _count(labels, weights, score):  # type: ignore[no-untyped-def]
    """Summed weight of each label at its first supporter, -1 at the others; returns the total, 1 if that is 0."""
    p = len(labels)
    total = 0.0
    for j in range(p):
        if labels[j] != ABSENT:
            total += weights[j]
    equal = total <= 0.0  # no weight at all: one vote each
    if equal:
        total = 0.0
    for j in range(p):
        score[j] = -1.0
        if labels[j] == ABSENT:
            continue
        own = 1.0 if equal else weights[j]
        if equal:
            total += 1.0
        leader = j
        for i in range(j):
            if labels[i] == labels[j]:
                leader = i
                break
        score[leader] = own if leader == j else score[leader] + own
    return total if total > 0.0 else 1.0


@njit(cache=True)
def _confidence_of(labels, confidence, leader, rule):  # type: ignore[no-untyped-def]
    if labels[leader] == GAP:
        return rule[1]
    n, total, top = 0, 0.0, 0.0
    for i in range(leader, len(labels)):
        c = confidence[i]
        if labels[i] == labels[leader] and not np.isnan(c):
            n += 1
            total += c
            top = max(top, c)
    if n == 0:
        return rule[1]
    return top if rule[2] > 0.0 else total / n


@njit(cache=True)
def _decide(s, labels, score, draw, label, share, tie, first):  # type: ignore[no-untyped-def]
    top, total, awake = -1.0, 0.0, 0
    for j in range(len(score)):
        if labels[j] != ABSENT:
            awake += 1
        if score[j] >= 0.0:
            total += score[j]
            top = max(top, score[j])
    if top < 0.0:
        return
    # the sums of equal votes may differ in the last bit: within the tolerance they are a tie
    least = top - TIE_TOLERANCE * total
    n_tied, winner = 0, -1
    for j in range(len(score)):
        if score[j] >= 0.0 and score[j] >= least:
            n_tied += 1
            if winner < 0 or (labels[winner] == GAP and awake > 2):
                winner = j
    if draw >= 0.0:
        place = int(draw * n_tied)
        for j in range(len(score)):
            if score[j] >= 0.0 and score[j] >= least:
                if place == 0:
                    winner = j
                    break
                place -= 1
    label[s] = labels[winner]
    first[s] = winner
    share[s] = score[winner] / total if total > 0.0 else 0.0
    tie[s] = n_tied > 1
