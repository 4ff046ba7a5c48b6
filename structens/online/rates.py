"""Learning rates: what the regret bounds recommend, and how the two conventions for beta convert.

The weight of a path expert is beta to the power of its cumulative loss, or exp(-eta loss) with eta = ln(1/beta)
(Littlestone and Warmuth 1994; Cesa-Bianchi and Lugosi 2006, section 2.2). ln N is the logarithm of the number of path
experts: (number of contexts) x ln p, and l ln p for l positions (Cortes, Kuznetsov and Mohri, ICML 2014).
"""

from __future__ import annotations

import math

from structens.core import ParameterError


def eta_of(beta: float) -> float:
    """Learning rate ln(1/beta).

    Raises
    ------
    ParameterError
        If beta is not in (0, 1].

    Examples
    --------
    >>> round(eta_of(0.5), 6), eta_of(1.0)
    (0.693147, 0.0)
    """
    if not 0.0 < beta <= 1.0:
        way_out = "1 learns nothing, a tiny value such as 1e-300 follows the leader"
        raise ParameterError(f"beta must be a number with 0 < beta <= 1; got {beta!r}; {way_out}")
    return -math.log(beta) if beta < 1.0 else 0.0


def path_rate(log_n: float, n_rounds: int, largest: float = 1.0) -> float:
    """Rate eta* = sqrt(8 ln N / (M^2 T)) that minimises Hedge's bound for path losses in [0, M].

    Parameters
    ----------
    log_n : float
        ln of the number of path experts.
    n_rounds : int
        T.
    largest : float
        M, the largest path loss: 1 for the normalised Hamming loss, l for 0/1 a position.

    Examples
    --------
    >>> import math
    >>> log_n = 10 * math.log(5)
    >>> round(math.exp(-path_rate(log_n, 200)), 3), round(math.exp(-path_rate(log_n, 200, 10)), 4)
    (0.448, 0.9229)
    """
    _check(n_rounds, largest)
    return math.sqrt(8.0 * log_n / n_rounds) / largest


def position_rate(n_experts: int, n_rounds: int, largest: float = 1.0) -> float:
    """Rate sqrt(8 ln p / T) for one context: on Figure 1 every position is a Hedge of its own, with 0/1 losses.

    Parameters
    ----------
    n_experts : int
        p.
    n_rounds : int
        T.
    largest : float
        Largest loss of the context in one round; with several slots of one context in a record, their number.

    Examples
    --------
    >>> import math
    >>> round(math.exp(-position_rate(5, 200)), 4)
    0.7759
    """
    _check(n_rounds, largest)
    return math.sqrt(8.0 * math.log(n_experts) / n_rounds) / largest


def small_loss_beta(log_n: float, best_loss: float) -> float:
    """Weighted Majority's tuning for a small best loss: beta = 1 / (1 + sqrt(2 ln N / L)); losses in [0, 1].

    Parameters
    ----------
    log_n : float
    best_loss : float
        L, an upper bound of the best path expert's cumulative loss; > 0.

    Examples
    --------
    >>> round(small_loss_beta(8.0, 4.0), 6)
    0.333333
    """
    _check(1, best_loss)
    return 1.0 / (1.0 + math.sqrt(2.0 * log_n / best_loss))


def beta_for_normalised_loss(beta: float, length: float) -> float:
    """Beta that does to the normalised path loss what `beta` does to 0/1 errors a position: beta^l.

    Examples
    --------
    >>> round(beta_for_normalised_loss(0.95, 10), 4)
    0.5987
    """
    return float(beta**length)


def beta_for_position_loss(beta: float, length: float) -> float:
    """Beta that does to 0/1 errors a position what `beta` does to the normalised path loss: beta^(1/l).

    Examples
    --------
    >>> round(beta_for_position_loss(0.5987, 10), 4)
    0.95
    """
    return float(beta ** (1.0 / length))


def _check(n_rounds: int, largest: float) -> None:
    if n_rounds < 1 or not largest > 0:
        raise ParameterError(f"need at least one round and a loss > 0; got {n_rounds} rounds, loss {largest!r}")
