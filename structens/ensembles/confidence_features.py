"""What speaks for a unit of an answer, and for a whole answer, as numbers that a calibrator weighs.

All features are log-odds or logarithms of probabilities, so that a linear model of them needs few weights.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structens.core import ABSENT, GAP, Slots
from structens.ensembles.base import Combined

Floats = NDArray[np.float64]

LEAST = 1e-3
"""Probabilities are kept this far from 0 and 1: a share of the vote of 1 is no certainty."""
UNIT_FEATURES = ("share", "votes", "gap", "left", "right", "alone")
RECORD_FEATURES = ("all units", "least sure unit", "gaps", "length")


def slot_of_unit(done: Combined, slots: Slots) -> NDArray[np.int64]:
    """The slot in which each unit of the answers stands, shape (n_units,)."""
    if done.slot is not None:
        return done.slot
    place = np.zeros(len(done.X.hypotheses.values) + 1, dtype=np.int64)
    place[slots.source] = np.arange(len(slots.labels), dtype=np.int64)[:, None]  # -1: the last, never asked for
    return place[done.source]


def unit_features(done: Combined, slots: Slots, share: Floats) -> Floats:
    """Features of each unit of the answers.

    Parameters
    ----------
    done : Combined
        Answers of some method.
    slots : Slots
        Of the same records.
    share : ndarray of float64, shape (n_slots, p)
        Probabilities of labels by that method, see `structens.ensembles.vote.shares`.

    Returns
    -------
    ndarray of float64, shape (n_units, 6)
        Log-odds of the unit's share and of its part of equal votes, of GAP's share, of the best shares of the slots to
        its left and right; and 1 where a single expert answered.
    """
    at = slot_of_unit(done, slots)
    awake = slots.awake.sum(axis=1)
    gap = np.where((slots.labels == GAP) & (share >= 0), share, 0.0).max(axis=1, initial=0.0)
    best = share.max(axis=1, initial=0.0)
    same_record = np.append(np.diff(slots.record) == 0, False)
    left, right = np.ones(len(best)), np.ones(len(best))
    if len(best):
        left[1:] = np.where(same_record[:-1], best[:-1], 1.0)
        right[:-1] = np.where(same_record[:-1], best[1:], 1.0)
    votes = done.support.sum(axis=1) / np.maximum(awake[at], 1)
    columns = (done.confidence, votes, gap[at], left[at], right[at])
    return np.column_stack([*(log_odds(column) for column in columns), awake[at] == 1]).astype(np.float64)


def record_features(done: Combined, slots: Slots, share: Floats, confidence: Floats) -> Floats:
    """Features of each whole answer.

    Parameters
    ----------
    done, slots, share
        As in `unit_features`.
    confidence : ndarray of float64, shape (n_units,)
        Calibrated.

    Returns
    -------
    ndarray of float64, shape (n, 4)
        Log-odds of the product of the units' confidences and of the least of them, logarithm of the product of GAP's
        shares where nothing was said, and logarithm of the number of units.
    """
    n, row = len(done), done.prediction.rows
    sure = np.clip(confidence, LEAST, 1.0)
    total = np.bincount(row, weights=np.log(sure), minlength=n)
    least = np.ones(n)
    np.minimum.at(least, row, sure)
    silent = np.ones(len(slots.labels), np.bool_)
    silent[slot_of_unit(done, slots)] = False
    gap = np.where((slots.labels == GAP) & (share >= 0), share, 0.0).max(axis=1, initial=0.0)
    gaps = np.bincount(slots.record, weights=np.where(silent, np.log(np.clip(gap, LEAST, 1.0)), 0.0), minlength=n)
    length = np.log1p(done.prediction.lengths)
    return np.column_stack([log_odds(np.exp(np.maximum(total, np.log(LEAST)))), log_odds(least), gaps, length])


def log_odds(p: Floats) -> Floats:
    """Logarithm of p / (1 - p), p kept from 0 and 1.

    Examples
    --------
    >>> log_odds(np.array([0.0, 0.5, 1.0])).round(2).tolist()
    [-6.91, 0.0, 6.91]
    """
    kept = np.clip(p, LEAST, 1.0 - LEAST)
    out: Floats = np.log(kept) - np.log1p(-kept)
    return out


def answered(slots: Slots) -> NDArray[np.bool_]:
    """True for each slot in which some expert is there, shape (n_slots,)."""
    return np.asarray((slots.labels != ABSENT).any(axis=1))
