"""Which rounds' distributions to keep: Gamma over suffixes, and the choice of one round for H_CV.

Cortes, Kuznetsov and Mohri (ICML 2014), section 3.2 and appendix C; after Cesa-Bianchi, Conconi and Gentile (2004).
Rounds count from 0: p_t is the distribution before round t, learnt from rounds 0 to t - 1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.core import ParameterError


def gamma(
    round_losses: ArrayLike, delta: float = 0.05, *, union_bound: bool = False, largest: float = 1.0
) -> NDArray[np.float64]:
    """Gamma of every suffix p_t, ..., p_{T-1}: mean loss + M sqrt(ln(1/delta) / size).

    Parameters
    ----------
    round_losses : array_like, shape (T,)
        Expected loss L_t of p_t in round t, averaged over the slots of the record.
    delta : float
        In (0, 1).
    union_bound : bool
        Use ln(T/delta), which the minimum over T suffixes needs to hold with probability 1 - delta; the paper prints
        ln(1/delta).
    largest : float
        M, the largest loss.

    Returns
    -------
    ndarray of float64, shape (T,)

    Examples
    --------
    >>> gamma([.8, .7, .5, .3, .2, .1, .1, 0, .1, 0]).round(4)[:4].tolist()
    [0.8273, 0.7992, 0.7744, 0.7685]
    """
    losses = np.asarray(round_losses, dtype=np.float64)
    _check_delta(delta)
    n_rounds = len(losses)
    size = np.arange(n_rounds, 0, -1)
    mean = losses[::-1].cumsum()[::-1] / size
    log_term = math.log((n_rounds if union_bound else 1) / delta) if n_rounds else 0.0
    out: NDArray[np.float64] = mean + largest * np.sqrt(log_term / size)
    return out


def suffix_start(
    round_losses: ArrayLike, delta: float = 0.05, *, union_bound: bool = False, largest: float = 1.0
) -> int:
    """First round of the suffix with the least Gamma; a tie goes to the longest suffix.

    Parameters
    ----------
    round_losses : array_like, shape (T,), T >= 1
    delta, union_bound, largest
        As in `gamma`.

    Examples
    --------
    >>> losses = [.8, .7, .5, .3, .2, .1, .1, 0, .1, 0]
    >>> suffix_start(losses), suffix_start(losses, union_bound=True)
    (3, 2)
    """
    values = gamma(round_losses, delta, union_bound=union_bound, largest=largest)
    if len(values) == 0:
        raise ParameterError("there is no round to choose from; learn from at least one record")
    return int(values.argmin())


def cv_penalty(
    n_rounds: int, delta: float = 0.05, *, corrected: bool = False, largest: float = 1.0
) -> NDArray[np.float64]:
    """Penalty c_delta(n) = M sqrt(ln(T (T + 1) / delta) / (2 n)) of each candidate round.

    Parameters
    ----------
    n_rounds : int
        T.
    delta : float
    corrected : bool
        As printed, p_t is judged by the n = T - t rounds after its own and the last p_T is no candidate, though p_t
        has not seen its own round either. True judges by rounds t to T, as Cesa-Bianchi and co-authors do.
    largest : float

    Returns
    -------
    ndarray of float64, shape (T - 1,), or (T,) where corrected

    Examples
    --------
    >>> cv_penalty(6).round(6).tolist()
    [0.820573, 0.917429, 1.059355, 1.29744, 1.834857]
    """
    _check_delta(delta)
    n_later = np.arange(n_rounds, 0, -1) if corrected else np.arange(n_rounds - 1, 0, -1)
    out: NDArray[np.float64] = largest * np.sqrt(math.log(n_rounds * (n_rounds + 1) / delta) / (2.0 * n_later))
    return out


def _check_delta(delta: float) -> None:
    if not 0.0 < delta < 1.0:
        raise ParameterError(f"delta must be between 0 and 1; got {delta!r}")
