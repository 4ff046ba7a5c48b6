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


def cv_loss(round_losses: ArrayLike, delta: float = 0.05, largest: float = 1.0) -> float:
    """Expected loss of H_CVRand: mean L_t + 6 M sqrt(ln(2 (T + 1) / delta) / T) (printed with the sign turned round).

    Examples
    --------
    >>> round(cv_loss([0.1] * 10_000), 4)
    0.3155
    """
    losses = np.asarray(round_losses, dtype=np.float64)
    n_rounds = len(losses)
    return float(losses.mean()) + 6.0 * largest * math.sqrt(math.log(2.0 * (n_rounds + 1) / delta) / n_rounds)


def leader_regret(n_transitions: int, longest: int, best_loss: float) -> float:
    """Expected regret of Follow the Perturbed Leader, transition losses in [0, 1]: at most sqrt(K L* |E| ln |E|).

    K is the longest path's number of transitions, L* the loss of the best path; epsilon tuned, up to constants. On
    Figure 1 with losses 1/l a position, that is sqrt(L* p l ln(p l)) for the normalised loss: pass K = 1 and |E| = p l.

    Examples
    --------
    >>> round(leader_regret(50, 10, 100.0), 2), round(leader_regret(50, 1, 10.0), 2)
    (442.27, 44.23)
    """
    return math.sqrt(longest * best_loss * n_transitions * math.log(n_transitions))


def leader_mean_regret(n_experts: int, length: int, n_rounds: int, largest: float = 1.0) -> float:
    """R_T / T of Follow the Perturbed Leader on Figure 1: sqrt(M p l^2 ln(p l) / T); the paper leaves out the T.

    Examples
    --------
    >>> round(leader_mean_regret(5, 10, 200), 4)  # worse than Weighted Majority's .5674, against the paper's remark
    3.1273
    """
    return math.sqrt(largest * n_experts * length**2 * math.log(n_experts * length) / n_rounds)


def uniform_leader_regret(
    epsilon: float, n_rounds: int, largest_path: float, largest_sum: float, diameter: float
) -> float:
    """Expected regret of FPL(epsilon) with uniform noise: at most epsilon R A T + D / epsilon.

    Kalai and Vempala (2005), theorem 1.1 (a): R bounds the loss of a path in a round, A the sum of the losses of all
    transitions, D the number of transitions in which two paths differ.

    Examples
    --------
    >>> round(uniform_leader_regret(0.01, 200, 10, 50, 20), 6)
    3000.0
    """
    return epsilon * largest_path * largest_sum * n_rounds + diameter / epsilon


def leader_rand_excess(mean_regret: float, n_rounds: int, delta: float = 0.05, largest: float = 1.0) -> float:
    """Excess of H_FPLRand over the best path expert: R_T / T + 3 M sqrt(ln(3/delta) / T) (ICML 2014).

    Examples
    --------
    >>> round(leader_rand_excess(0.1, 200), 4)
    0.5292
    """
    return mean_regret + 3.0 * largest * math.sqrt(math.log(3.0 / delta) / n_rounds)


def leader_cv_excess(mean_regret: float, n_rounds: int, delta: float = 0.05, largest: float = 1.0) -> float:
    """Excess of H_FPL-CV: R_T / T + 2 M sqrt(ln(3/delta) / T) + 6 M sqrt(ln(3 (T + 1) / delta) / T) (ICML 2014).

    Examples
    --------
    >>> round(leader_cv_excess(0.1, 200), 4)
    1.6868
    """
    first = 2.0 * largest * math.sqrt(math.log(3.0 / delta) / n_rounds)
    return mean_regret + first + 6.0 * largest * math.sqrt(math.log(3.0 * (n_rounds + 1) / delta) / n_rounds)


def adahedge_regret(n_experts: int, n_rounds: int, largest: float = 1.0) -> float:
    """Regret of AdaHedge whatever the losses in [0, M]: at most M sqrt(T ln p) + M (4/3 ln p + 2).

    de Rooij and co-authors (JMLR 2014), corollary 9, with at most M^2 T / 4 for the summed variances.

    Examples
    --------
    >>> round(adahedge_regret(5, 200), 4)
    22.0871
    """
    log_p = math.log(n_experts)
    return largest * (math.sqrt(n_rounds * log_p) + 4.0 / 3.0 * log_p + 2.0)
