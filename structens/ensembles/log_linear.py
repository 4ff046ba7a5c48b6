"""Exponents of a generative model, learnt from gold: how much each likelihood, the prior and the n-grams count.

Experts repeat each other's mistakes, so that the product of their likelihoods is far too sure of itself, and an n-gram
model rivals them on another scale. The score of a path is a weighted sum of the logarithms, and the weights are those
with the largest conditional likelihood of gold, under tables and n-grams that have not seen the record: a conditional
random field with a few weights over the lattice of candidates.

Sources: Lafferty, McCallum and Pereira (2001); Raina et al. (2003), "Classification with hybrid generative and
discriminative models", for exponents of groups of features.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.core import ABSENT
from structens.ensembles.ngram_tree import NGramTree
from structens.ensembles.slot_lattice import Candidates, likely, marginals, path_ngrams

MOST_WEIGHT = 3.0
"""Largest exponent."""
RIDGE = 10.0
"""Weight of the prior that exponents of all groups are equal."""


class Part(NamedTuple):
    """Records that share their n-gram model.

    Attributes
    ----------
    offsets : ndarray of int64, shape (n_records + 1,)
    label : ndarray of int32, shape (n_slots, K)
        Candidates: labels, GAP, or ABSENT for none.
    features : ndarray of float64, shape (n_slots, K, F)
    gold : ndarray of int64, shape (n_slots,)
        Column of the right candidate.
    model : NGramTree or None
    """

    offsets: NDArray[np.int64]
    label: NDArray[np.int32]
    features: NDArray[np.float64]
    gold: NDArray[np.int64]
    model: NGramTree | None


def fit_exponents(
    parts: list[Part],
    n_groups: int,
    *,
    max_iterations: int = 30,
    begin: NDArray[np.float64] | None = None,
    pull: float = 1.0,
) -> NDArray[np.float64]:
    """Exponents with the largest conditional likelihood of gold, less a penalty.

    Parameters
    ----------
    parts : list of Part
    n_groups : int
        The first features are the likelihoods of so many groups; their exponents are drawn to their mean.
    max_iterations : int
    begin : ndarray of float64, shape (F + 1,), optional
        Where exponents begin and are drawn to.
    pull : float
        Weight of the prior that they are there.

    Returns
    -------
    ndarray of float64, shape (F + 1,)
        Of the features, and of the n-gram model (0 without one).

    Examples
    --------
    >>> features = np.array([[[np.log(0.9), 0.0, 0.0], [np.log(0.1), 0.0, 0.0]]] * 10)
    >>> part = Part(np.array([0, 10]), np.array([[0, 1]] * 10, np.int32), features, np.array([0] * 8 + [1] * 2), None)
    >>> fit_exponents([part], 1).round(1).tolist()
    [0.6, 0.5, 0.5, 0.0]
    """
    from scipy.optimize import minimize

    n_features = parts[0].features.shape[2]
    has_model = any(part.model is not None for part in parts)
    gold_sums = [_gold_sums(part) for part in parts]
    if begin is None:
        ends = [0.4 if has_model else 0.0]
        begin = np.concatenate([np.full(n_groups, 0.7), np.full(n_features - n_groups, 0.5), ends])
        if has_model:
            begin[n_groups : n_groups + 1] = 0.1

    def objective(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slope = _penalty(w, begin, n_groups, pull)
        for part, (gold_sum, gold_ngram) in zip(parts, gold_sums, strict=True):
            found = marginals(scored(part, w), part.model, w[-1], width=np.inf)
            value += float(found.log_total.sum()) - float(w[:-1] @ gold_sum) - float(w[-1]) * gold_ngram
            slope[:-1] += np.tensordot(found.probability, part.features, axes=([0, 1], [0, 1])) - gold_sum
            if part.model is not None:
                slope[-1] += float(found.log_ngram.sum()) - gold_ngram
        return value, slope

    bounds: list[tuple[float | None, float | None]] = [(0.0, MOST_WEIGHT)] * n_groups
    bounds += [(None, None)] * (n_features - n_groups) + [(1e-3, MOST_WEIGHT) if has_model else (0.0, 0.0)]
    options = {"maxiter": max_iterations, "ftol": 1e-6}
    done = minimize(objective, begin, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(done.x, np.float64)


def scored(part: Part, weights: NDArray[np.float64]) -> Candidates:
    """Candidates with the weighted sums of their features as scores: gold, and what is not far below the best."""
    score = np.where(part.label == ABSENT, -np.inf, part.features @ weights[:-1])
    kept = likely(score, part.features[:, :, -2] * weights[-1])
    kept[np.arange(len(kept)), part.gold] = True
    return Candidates(part.offsets, part.label, np.where(kept, score, -np.inf))


def _gold_sums(part: Part) -> tuple[NDArray[np.float64], float]:
    """Summed features of gold, and its log probability under the n-gram model."""
    rows = np.arange(len(part.gold))
    gold_sum = part.features[rows, part.gold].sum(axis=0)
    if part.model is None:
        return gold_sum, 0.0
    return gold_sum, float(path_ngrams(part.offsets, part.label[rows, part.gold], part.model).sum())


def _penalty(
    w: NDArray[np.float64], begin: NDArray[np.float64], n_groups: int, pull: float
) -> tuple[float, NDArray[np.float64]]:
    """Exponents of groups are drawn to their mean, all to where they begin."""
    slope = pull * (w - begin)
    value = 0.5 * float(slope @ (w - begin))
    apart = w[:n_groups] - w[:n_groups].mean()
    slope[:n_groups] += RIDGE * apart
    return value + 0.5 * RIDGE * float(apart @ apart), slope
