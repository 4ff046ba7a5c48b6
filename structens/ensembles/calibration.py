"""Calibrated confidences: the probability that a unit is right, and that a whole answer is, learnt out of fold.

A logistic model of a few log-odds (`structens.ensembles.confidence_features`), whose penalty pulls it to the method's
own shares where gold is scarce: a kind of Platt's scaling ("Probabilistic outputs for support vector machines", 1999)
and of beta calibration (Kull, Silva Filho and Flach, AISTATS 2017) with context. Where there are many units, rising
steps correct what is left (Zadrozny and Elkan, KDD 2002).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structens.core import Slots
from structens.ensembles.base import Combined
from structens.ensembles.confidence_features import RECORD_FEATURES, UNIT_FEATURES, record_features, unit_features

Floats = NDArray[np.float64]
Learnt = dict[str, NDArray[np.float64]]
"""Weights of units and of records, each with a constant in front, and knots and values of the steps of both."""

STRENGTH = 2.0
"""Penalty of half the squared distance of each weight to its value without data."""
FEWEST_FOR_STEPS = 500
"""Rows, right and wrong ones at least a tenth of that, from which on steps are learnt."""
N_STEPS = 60

UNIT_PRIOR = np.array([0.0, 1.0, *np.zeros(len(UNIT_FEATURES) - 1)])
RECORD_PRIOR = np.array([0.0, 1.0, *np.zeros(len(RECORD_FEATURES) - 1)])


def learn_calibration(
    done: Combined, slots: Slots, share: Floats, hit: NDArray[np.bool_], right: NDArray[np.bool_]
) -> Learnt:
    """Learn from answers to records that their method had not learnt from.

    Parameters
    ----------
    done : Combined
    slots : Slots
        Of the same records.
    share : ndarray of float64, shape (n_slots, p)
        Probabilities of labels by the method.
    hit : ndarray of bool, shape (n_units,)
        The units that are right.
    right : ndarray of bool, shape (n,)
        The records whose answer is right.

    Returns
    -------
    dict of str to ndarray
        For `calibrated`.
    """
    learnt: Learnt = {}

    def learn(what: str, features: Floats, target: NDArray[np.bool_], prior: Floats) -> Floats:
        learnt[what] = logistic(features, target, prior)
        score = linear(features, learnt[what])
        learnt[f"{what}_knots"], learnt[f"{what}_values"] = steps(score, target)
        return _probability(score, learnt, what)

    unit = learn("unit", unit_features(done, slots, share), hit, UNIT_PRIOR)
    learn("record", record_features(done, slots, share, unit), right, RECORD_PRIOR)
    return learnt


def calibrated(done: Combined, slots: Slots, share: Floats, learnt: Learnt) -> tuple[Floats, Floats]:
    """Probabilities that units are right, shape (n_units,), and that whole answers are, shape (n,)."""
    unit = _probability(linear(unit_features(done, slots, share), learnt["unit"]), learnt, "unit")
    features = record_features(done, slots, share, unit)
    return unit, _probability(linear(features, learnt["record"]), learnt, "record")


def _probability(score: Floats, learnt: Learnt, what: str) -> Floats:
    knots = learnt[f"{what}_knots"]
    out: Floats = np.interp(score, knots, learnt[f"{what}_values"]) if len(knots) else expit(score)
    # a millionth of the unstepped probability tells apart what stands on one step
    out = out + 1e-6 * (expit(score) - out)
    return out


def expit(score: Floats) -> Floats:
    """1 / (1 + exp(-score)), without overflow.

    Examples
    --------
    >>> expit(np.array([-1e4, 0.0, 1e4])).tolist()
    [0.0, 0.5, 1.0]
    """
    small = np.exp(-np.minimum(np.abs(score), 700.0))
    out: Floats = np.where(score >= 0, 1.0, small) / (1.0 + small)
    return np.where(score < -700.0, 0.0, out)


def linear(features: Floats, weights: Floats) -> Floats:
    """Constant and weighted sum."""
    out: Floats = weights[0] + features @ weights[1:]
    return out


def logistic(features: Floats, target: NDArray[np.bool_], prior: Floats) -> Floats:
    """Weights of greatest penalised likelihood, the constant first, by Newton's method with halved steps.

    Parameters
    ----------
    features : ndarray of float64, shape (n, k)
    target : ndarray of bool, shape (n,)
    prior : ndarray of float64, shape (k + 1,)
        The weights without data.

    Examples
    --------
    >>> f = np.repeat([[1.0], [-1.0]], 500, axis=0)
    >>> logistic(f, np.arange(1000) % 500 < 250, np.array([0.0, 1.0])).round(2).tolist()
    [0.0, 0.01]
    """
    x = np.column_stack([np.ones(len(features)), features])
    y = target.astype(np.float64)
    weights = prior.copy()

    def risk(at: Floats) -> float:
        z = x @ at
        return float((np.logaddexp(0.0, z) - y * z).sum() + 0.5 * STRENGTH * ((at - prior) ** 2).sum())

    value = risk(weights)
    for _ in range(N_STEPS):
        p = expit(x @ weights)
        gradient = x.T @ (p - y) + STRENGTH * (weights - prior)
        hessian = (x * (p * (1.0 - p))[:, None]).T @ x + STRENGTH * np.eye(x.shape[1])
        step, scale = np.linalg.solve(hessian, gradient), 1.0
        while (better := risk(weights - scale * step)) > value and scale > 1e-6:
            scale *= 0.5
        if value - better < 1e-9 * (1.0 + abs(value)):
            break
        weights, value = weights - scale * step, better
    return weights


def steps(score: Floats, target: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Knots and values of a rising function from scores to probabilities; none where rows are few.

    Examples
    --------
    >>> steps(np.zeros(10), np.ones(10, bool))
    (array([], dtype=float64), array([], dtype=float64))
    """
    n, n_wrong = len(target), int((~target).sum())
    if n < FEWEST_FOR_STEPS or min(n_wrong, n - n_wrong) < FEWEST_FOR_STEPS // 10:
        return np.zeros(0), np.zeros(0)
    from structens.boosting.calibration import Isotonic  # scipy, which costs a quarter of a second, only in learning

    made = Isotonic().fit(score, target.astype(np.int64))
    return made.knots_, made.values_
