"""From votes to probabilities without learning anything more: by a softmax, or by scaling the votes.

Votes come as a matrix of shape (n, K), or for two classes as (n,), positive for the second class.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structens.core import ParameterError

Scores = NDArray[np.float64]

_ABOVE_HALF = np.nextafter(0.5, 1.0)


def softmax_posteriors(scores: Scores, temperature: float = 1.0) -> NDArray[np.float64]:
    """Softmax of twice the votes over a temperature, shape (n, K); for two classes 1 / (1 + exp(-2 f / temperature)).

    Twice, since boosting with the exponential loss drives a vote towards half the log-odds (Friedman, Hastie and
    Tibshirani, "Additive logistic regression", Annals of Statistics 28, 2000). A row's largest vote has its largest
    probability; with two classes that of the second is above 1/2 exactly where f > 0.

    Parameters
    ----------
    scores : ndarray of float64, shape (n, K) or (n,)
    temperature : float
        > 0; large is unsure.

    Raises
    ------
    ParameterError
        If the temperature is not positive and finite.

    Examples
    --------
    >>> softmax_posteriors(np.array([0.0, 0.5493061443340549])).round(6).tolist()
    [[0.5, 0.5], [0.25, 0.75]]
    """
    if not 0 < temperature < np.inf:
        raise ParameterError(f"temperature must be positive and finite; got {temperature}")
    if scores.ndim == 1:
        from scipy.special import expit  # a fifth of a second, which the command line can spare

        return _binary(expit(2.0 * scores / temperature), scores)
    with np.errstate(under="ignore"):
        shifted = np.exp(2.0 * (scores - scores.max(axis=1, keepdims=True)) / temperature)
        out: NDArray[np.float64] = shifted / shifted.sum(axis=1, keepdims=True)
    return out


def vote_posteriors(scores: Scores, total: float) -> NDArray[np.float64]:
    """Posteriors as in Busa-Fekete, Kegl, Elteto and Szarvas (2011): votes scaled to [0, 1], then to sum 1.

    Parameters
    ----------
    scores : ndarray of float64, shape (n, K) or (n,)
        Each from -total to total.
    total : float
        Sum of the coefficients, >= 0; with 0 all classes are equally likely.

    Returns
    -------
    ndarray of float64, shape (n, K)

    References
    ----------
    Busa-Fekete, Kegl, Elteto and Szarvas, "Ranking by calibrated AdaBoost" (JMLR W&CP 14, 2011).

    Examples
    --------
    >>> vote_posteriors(np.array([[1.0, -1.0, -0.5]]), total=2.0).tolist()
    [[0.5454545454545454, 0.18181818181818182, 0.2727272727272727]]
    """
    if not 0 <= total < np.inf:
        raise ParameterError(f"the sum of the coefficients must be finite and >= 0; got {total}")
    columns = np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores
    scaled = np.clip(0.5 * (1.0 + columns / total), 0.0, 1.0) if total > 0 else np.ones(columns.shape)
    sums = scaled.sum(axis=1, keepdims=True)
    out: NDArray[np.float64] = np.where(sums > 0, scaled / np.where(sums > 0, sums, 1.0), 1.0 / columns.shape[1])
    return _binary(out[:, 1], scores) if scores.ndim == 1 else out


def pair(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of both classes from that of the second, shape (n, 2).

    Examples
    --------
    >>> pair(np.array([0.25])).tolist()
    [[0.75, 0.25]]
    """
    return np.stack([1.0 - p, p], axis=1)


def _binary(p: NDArray[np.float64], scores: Scores) -> NDArray[np.float64]:
    """Both probabilities, that of the second above 1/2 where f > 0, and there only."""
    p = np.where(scores > 0, np.maximum(p, _ABOVE_HALF), np.minimum(p, 0.5))
    return pair(p)
