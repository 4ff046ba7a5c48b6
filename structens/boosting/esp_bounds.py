"""Guarantees of ESPBoost: theorems 4 and 5 of Cortes, Kuznetsov and Mohri (ACL 2014), the missing factor put in."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from structens.boosting.esp_complexity import massart


def margin_loss_bound(log_f: float, rho: float, norm: float) -> float:
    """Theorem 5: the share of slots with a margin of at most rho |alpha| is at most F(alpha) exp(rho |alpha|).

    This is the product of the factors Z_t exp(rho alpha_t); see `round_factors`.

    Parameters
    ----------
    log_f : float
        log F(alpha), the sum of log Z_t.
    rho : float
    norm : float
        |alpha|, the sum of the coefficients.

    Examples
    --------
    >>> alpha, z = 0.5 * math.log(0.7 / 0.3), 2 * math.sqrt(0.3 * 0.7)
    >>> round(margin_loss_bound(10 * math.log(z), 0.1, 10 * alpha), 6)
    0.638829
    """
    return math.exp(min(log_f + rho * norm, 700.0))


def round_factors(epsilon: ArrayLike, rho: float) -> np.ndarray:
    """What each round multiplies the bound of theorem 5 with: 2 sqrt(eps^(1 - rho) (1 - eps)^(1 + rho)).

    The papers write 2^T for the product, but leave the 4 under the root out where they show that a factor is below 1:
    4 eps^(1-rho) (1-eps)^(1+rho) <= (1 - 2 gamma)^(1-rho) (1 + 2 gamma)^(1+rho) < 1 for eps <= 1/2 - gamma and
    rho < gamma.

    Examples
    --------
    >>> round(float(round_factors([0.3] * 10, 0.1).prod()), 6)
    0.638829
    """
    e = np.asarray(epsilon, dtype=np.float64)
    out: np.ndarray = 2.0 * np.sqrt(e ** (1.0 - rho) * (1.0 - e) ** (1.0 + rho))
    return out


def margin_bound(
    margin_loss: float, rho: float, n_experts: int, n_labels: int, length: int, n_records: int, delta: float = 0.05
) -> float:
    """Theorem 4: with probability 1 - delta the expected normalised Hamming loss is at most this.

    margin loss + 2 / (rho l) sum_k |Y_k|^2 R_m(H^k) + sqrt(log(l / delta) / (2 m)), with Massart's bound for R_m. For
    records that all have l slots.

    Parameters
    ----------
    margin_loss : float
        Share of slots with a normalised margin of at most rho.
    rho, delta : float
    n_experts, n_labels, length, n_records : int

    Examples
    --------
    >>> round(margin_bound(0.1, 0.5, 5, 2, 10, 10**6), 4)
    0.136
    """
    complexity = 2.0 / rho * n_labels**2 * massart(n_experts * n_labels, n_records)
    return margin_loss + complexity + math.sqrt(math.log(length / delta) / (2.0 * n_records))
