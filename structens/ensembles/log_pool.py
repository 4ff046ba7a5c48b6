"""LogPool: several methods' probabilities for the labels of a slot, multiplied with learnt exponents.

The logarithmic opinion pool of experts' distributions (Genest and Zidek, "Combining probability distributions",
Statistical Science 1986; Heskes, "Selecting weighting factors in logarithmic opinion pools", NIPS 1997): the
probability of a label is proportional to the product of those that the methods give it, each to a power. As a function
of the powers it is McFadden's conditional logit, so the likelihood has one maximum, which Newton's method finds. Two
more weights are those of GAP, "nothing stands here", and of labels that nobody proposed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from structens.core import GAP

Floats = NDArray[np.float64]

LEAST = 1e-3
"""Probability that is added to every label's: methods that give none to the right label are wrong, not refuted."""
N_STEPS = 50


def pool_features(
    labels: NDArray[np.int32], shares: Sequence[Floats], n_experts: int
) -> tuple[Floats, NDArray[np.int64]]:
    """Logarithms of probabilities of all labels.

    Parameters
    ----------
    labels : ndarray of int32, shape (n_slots, q)
    shares : sequence of K ndarrays of float64, shape (n_slots, q)
        As from `structens.ensembles.vote.shares`, or from `structens.ensembles.opinions.side_by_side`.
    n_experts : int
        Columns of experts; those after them hold labels that nobody proposed.

    Returns
    -------
    features : ndarray of float64, shape (n_entries, K + 2)
        The last columns are 1 for GAP, and for labels that nobody proposed.
    place : ndarray of int64, shape (n_entries,)
        Places of the labels in ``labels.ravel()``, slot by slot.
    """
    place = np.flatnonzero(shares[0] >= 0)
    columns = [np.log(np.maximum(share.ravel()[place], 0.0) + LEAST) for share in shares]
    columns += [labels.ravel()[place] == GAP, place % labels.shape[1] >= n_experts]
    return np.column_stack(columns).astype(np.float64), place


def pooled(labels: NDArray[np.int32], shares: Sequence[Floats], power: Floats, n_experts: int | None = None) -> Floats:
    """Probabilities of the pool, in the shape of `shares`.

    Examples
    --------
    >>> labels, powers = np.array([[4, 7]], dtype=np.int32), np.array([1.0, 1.0, 0.0, 0.0])
    >>> pooled(labels, [np.array([[0.8, 0.2]]), np.array([[0.5, 0.5]])], powers).round(3).tolist()
    [[0.799, 0.201]]
    """
    features, place = pool_features(labels, shares, labels.shape[1] if n_experts is None else n_experts)
    out = np.full(labels.shape, -1.0)
    if len(place):
        out.ravel()[place] = _probabilities(features @ power, _begins(place, labels.shape[1]))
    return out


def learn_powers(
    labels: NDArray[np.int32],
    gold: NDArray[np.int32],
    shares: Sequence[Floats],
    prior: Floats,
    strength: float,
    n_experts: int | None = None,
) -> Floats:
    """Powers of greatest penalised likelihood of the gold, where it is among the labels.

    Parameters
    ----------
    labels, shares, n_experts
        As for `pool_features`; from methods that had not learnt from the slots they are of.
    gold : ndarray of int32, shape (n_slots,)
    prior : ndarray of float64, shape (K + 2,)
        Powers without data.
    strength : float
        Penalty of half the squared distance to the prior.

    Returns
    -------
    ndarray of float64, shape (K + 2,)
        Powers of the methods, of GAP, and of labels that nobody proposed.
    """
    q = labels.shape[1]
    features, place = pool_features(labels, shares, q if n_experts is None else n_experts)
    right, slot = labels.ravel()[place] == gold[place // q], place // q
    begin = _begins(place, q)
    if not len(begin):
        return prior.copy()
    size = np.diff(np.append(begin, len(place)))
    contested = np.repeat((np.add.reduceat(right, begin, dtype=np.int64) == 1) & (size > 1), size)
    if not contested.any():
        return prior.copy()
    features, right, slot = features[contested], right[contested], slot[contested]
    begin = np.flatnonzero(np.append(True, slot[1:] != slot[:-1]))
    return _newton(features, right.astype(np.float64), begin, prior, strength)


def _newton(features: Floats, right: Floats, begin: NDArray[np.int64], prior: Floats, strength: float) -> Floats:
    size = np.diff(np.append(begin, len(right)))
    power = prior.copy()

    def risk(at: Floats) -> float:
        p = _probabilities(features @ at, begin)
        return float(-np.log(np.maximum(p[right == 1], 1e-300)).sum() + 0.5 * strength * ((at - prior) ** 2).sum())

    value = risk(power)
    for _ in range(N_STEPS):
        p = _probabilities(features @ power, begin)
        gradient = features.T @ (p - right) + strength * (power - prior)
        weighted = features * p[:, None]
        mean = np.repeat(np.add.reduceat(weighted, begin, axis=0), size, axis=0)
        hessian = features.T @ weighted - (mean * p[:, None]).T @ mean + strength * np.eye(len(power))
        step = np.linalg.solve(hessian, gradient)
        scale = 1.0
        while (better := risk(power - scale * step)) > value and scale > 1e-6:
            scale *= 0.5
        if value - better < 1e-9 * (1.0 + abs(value)):
            break
        power, value = power - scale * step, better
    return power


def _begins(place: NDArray[np.int64], q: int) -> NDArray[np.int64]:
    """First entry of each slot."""
    slot = place // q
    return np.flatnonzero(np.append(True, slot[1:] != slot[:-1])) if len(slot) else np.zeros(0, np.int64)


def _probabilities(score: Floats, begin: NDArray[np.int64]) -> Floats:
    size = np.diff(np.append(begin, len(score)))
    score = np.exp(score - np.repeat(np.maximum.reduceat(score, begin), size))
    out: Floats = score / np.repeat(np.add.reduceat(score, begin), size)
    return out
