"""Bounds on regret and on the loss of the converted predictors, as printed and as they should be.

ICML 2014 is Cortes, Kuznetsov and Mohri, "Ensemble methods for structured prediction"; T rounds, path losses in [0, M],
ln N the logarithm of the number of path experts, confidence 1 - delta.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike


def hedge_regret(log_n: float, n_rounds: int, eta: float, largest: float = 1.0) -> float:
    """Regret of Hedge at rate eta: at most ln N / eta + eta M^2 T / 8.

    Examples
    --------
    >>> round(hedge_regret(2.0, 100, 0.4), 6)
    10.0
    """
    return log_n / eta + eta * largest**2 * n_rounds / 8.0


def tuned_regret(log_n: float, n_rounds: int, largest: float = 1.0) -> float:
    """Regret at the best fixed rate: at most M sqrt(T ln N / 2).

    On Figure 1 with a rate a position, ln N = ln p gives the regret of the *normalised* Hamming loss, without sqrt(l).

    Examples
    --------
    >>> import math
    >>> round(tuned_regret(10 * math.log(5), 200) / 200, 5), round(tuned_regret(math.log(5), 200) / 200, 5)
    (0.20059, 0.06343)
    """
    return largest * math.sqrt(n_rounds * log_n / 2.0)


def printed_regret(log_n: float, n_rounds: int, largest: float = 1.0) -> float:
    """The looser regret of ICML 2014: 2 M sqrt(T ln N).

    Examples
    --------
    >>> import math
    >>> round(printed_regret(10 * math.log(5), 200) / 200, 5)
    0.56735
    """
    return 2.0 * largest * math.sqrt(n_rounds * log_n)


def weighted_majority_loss(log_n: float, beta: float, best_loss: float) -> float:
    """Cumulative loss of Weighted Majority, losses in [0, 1]: at most (ln(1/beta) L* + ln N) / (1 - beta).

    Examples
    --------
    >>> round(weighted_majority_loss(1.0, 0.5, 10.0), 4)
    15.8629
    """
    return (math.log(1.0 / beta) * best_loss + log_n) / (1.0 - beta)


def small_loss(log_n: float, best_loss: float) -> float:
    """Cumulative loss at `small_loss_beta`: at most L* + sqrt(2 L* ln N) + ln N.

    Examples
    --------
    >>> small_loss(8.0, 4.0)
    20.0
    """
    return best_loss + math.sqrt(2.0 * best_loss * log_n) + log_n


def rand_loss(round_losses: ArrayLike, delta: float = 0.05, largest: float = 1.0) -> float:
    """Expected loss of H_Rand, with probability 1 - delta: mean L_t + M sqrt(ln(1/delta) / T) (ICML 2014, prop. 1).

    Examples
    --------
    >>> round(rand_loss([0.5, 0.5, 0.5]), 4)
    1.4993
    """
    losses = np.asarray(round_losses, dtype=np.float64)
    return float(losses.mean()) + largest * math.sqrt(math.log(1.0 / delta) / len(losses))


def excess_of_rand(log_n: float, n_rounds: int, delta: float = 0.05, largest: float = 1.0) -> float:
    """Excess of H_Rand over the best path expert: 2 M sqrt(ln N / T) + 2 M sqrt(ln(2/delta) / T) (ICML 2014, thm. 1).

    Examples
    --------
    >>> import math
    >>> round(excess_of_rand(10 * math.log(5), 200), 4)  # more than any loss here: says nothing
    0.839
    """
    return 2.0 * largest * (math.sqrt(log_n / n_rounds) + math.sqrt(math.log(2.0 / delta) / n_rounds))


def vote_loss(rand_loss: float) -> float:
    """Normalised Hamming loss of H_MVote: at most twice that of H_Rand (ICML 2014, prop. 2).

    Examples
    --------
    >>> vote_loss(0.25)
    0.5
    """
    return 2.0 * rand_loss


def refined_vote_loss(wrong_weight: ArrayLike) -> float:
    """Normalised Hamming loss of H_MVote on one record, from the weight of the wrong labels at each position.

    At most 2 H_Rand - (2 / l) sum_k max(0, wrong_k - 1/2) (ICML 2014, prop. 4, with the 1/l that is missing in print).

    Parameters
    ----------
    wrong_weight : array_like, shape (l,)
        Share of the averaged weights that is on wrong labels at each position.

    Examples
    --------
    >>> round(refined_vote_loss([0.7, 0.2]), 6)
    0.7
    """
    wrong = np.asarray(wrong_weight, dtype=np.float64)
    return float(2.0 * wrong.mean() - 2.0 * np.maximum(0.0, wrong - 0.5).mean())
