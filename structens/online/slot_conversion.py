"""On-line-to-batch conversion on slots: average the distributions (H_MVote, H_Rand) or choose one round's (H_CV).

Cortes, Kuznetsov and Mohri (ICML 2014), sections 3.2 to 3.3 and appendix C. Two passes over the records: one for the
losses that choose the rounds, one for their weights. For contexts shared by all experts of a slot both conversions are
exact and linear in the number of transitions: a context's weights change only in rounds that touch it, so averages and
sums over later rounds are brought up to date when it is touched. For tying by label, where the weights of a slot depend
on which labels meet there, both work on a grid of rounds: H_CV chooses among at most `MOST_ROUNDS`, averages take
at most `MOST_AVERAGED`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structens.online.gamma import cv_penalty
from structens.online.hedge import cumulative_at, slot_flows
from structens.online.rounds import Rounds
from structens.online.slot_kernels import average_kernel, later_losses_kernel

MOST_ROUNDS = 64
"""Candidates of H_CV where it works on a grid."""
MOST_AVERAGED = 16
"""Rounds averaged over where it is done on a grid; each costs a pass over the records at prediction."""
MOST_NUMBERS = 4_000_000
"""Numbers that kept rounds may take in memory and in a model file (32 MB)."""


def average_weights(rounds: Rounds, eta: float, start: int) -> NDArray[np.float64]:
    """Weights of each context averaged over p_start, ..., p_{T-1}, exactly; only for contexts shared by a slot.

    Parameters
    ----------
    rounds : Rounds
    eta : float
    start : int
        First round of the suffix, in 0 to T - 1.

    Returns
    -------
    ndarray of float64, shape (n_contexts, p)
        Rows sum to 1.

    Examples
    --------
    >>> import math
    >>> r = Rounds(np.array([[0, 1.0], [0, 1.0]]), np.array([[0, 1], [0, 1]], np.int32), np.arange(3), np.ones(2), 2,
    ...            1.0, True)
    >>> average_weights(r, math.log(2), 0).round(6).tolist()  # the mean of (1/2, 1/2) and (2/3, 1/3)
    [[0.583333, 0.416667]]
    """
    p = rounds.n_experts
    out = np.zeros((rounds.n_parameters // p, p))
    cumulative = np.zeros(rounds.n_parameters)
    loss = np.ascontiguousarray(rounds.loss)
    average_kernel(loss, rounds.parameter, rounds.offsets, rounds.scale, eta, start, cumulative, out)
    return out


def slot_thetas(
    rounds: Rounds, eta: float, candidates: NDArray[np.int64], *, corrected: bool = False
) -> NDArray[np.float64]:
    """Theta(p_t): mean loss of p_t over the rounds after t (from t on where corrected), for each candidate t.

    Parameters
    ----------
    rounds : Rounds
    eta : float
    candidates : ndarray of int64, shape (n,)
        Increasing, from 0 to T - 2 (T - 1 where corrected).
    corrected : bool
        See `structens.online.gamma.cv_penalty`.

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> import math
    >>> loss = np.array([[0, 1], [0, 1], [1, 0], [0, 1], [0, 1], [0, 1.0]])
    >>> r = Rounds(loss, np.tile(np.array([[0, 1]], np.int32), (6, 1)), np.arange(7), np.ones(6), 2, 1.0, True)
    >>> slot_thetas(r, math.log(2), np.arange(5)).round(6).tolist()
    [0.5, 0.416667, 0.2, 0.333333, 0.2]
    """
    n_later = rounds.n_rounds - candidates - (0 if corrected else 1)
    if rounds.by_slot:
        sums = np.zeros(rounds.n_rounds)
        loss = np.ascontiguousarray(rounds.loss)
        later_losses_kernel(loss, rounds.parameter, rounds.offsets, rounds.scale, eta, corrected, sums)
        later: NDArray[np.float64] = sums[candidates] / n_later
        return later
    out = np.zeros(len(candidates))
    mean_over = np.repeat(np.maximum(np.diff(rounds.offsets), 1), np.diff(rounds.offsets))
    for k, cumulative in enumerate(cumulative_at(rounds, candidates)):
        first = rounds.offsets[candidates[k] + (0 if corrected else 1)]
        flow = slot_flows(cumulative, rounds.parameter[first:], eta)
        out[k] = ((flow * rounds.loss[first:]).sum(axis=1) / mean_over[first:]).sum()
    return out / n_later


def slot_cv_round(rounds: Rounds, eta: float, delta: float = 0.05, *, corrected: bool = False) -> int:
    """Round t whose p_t minimises Theta(p_t) + c_delta (H_CV); the first of equals, 0 where there is one round only.

    Parameters
    ----------
    rounds : Rounds
    eta, delta : float
    corrected : bool
        See `structens.online.gamma.cv_penalty`.

    Examples
    --------
    >>> import math
    >>> loss = np.array([[0, 1], [0, 1], [1, 0], [0, 1], [0, 1], [0, 1.0]])
    >>> r = Rounds(loss, np.tile(np.array([[0, 1]], np.int32), (6, 1)), np.arange(7), np.ones(6), 2, 1.0, True)
    >>> slot_cv_round(r, math.log(2))
    2
    """
    penalty = cv_penalty(rounds.n_rounds, delta, corrected=corrected, largest=rounds.largest)
    if len(penalty) == 0:
        return 0
    n_most = len(penalty) if rounds.by_slot else grid_size(rounds.n_parameters)
    candidates = np.union1d([0], spread(0, len(penalty), n_most))  # with the uniform start
    values = slot_thetas(rounds, eta, candidates, corrected=corrected) + penalty[candidates]
    return int(candidates[values.argmin()])


def spread(start: int, stop: int, n_most: int) -> NDArray[np.int64]:
    """All rounds from start to stop - 1, or `n_most` of them at even distances.

    Examples
    --------
    >>> spread(2, 6, 9).tolist(), spread(0, 100, 4).tolist()
    ([2, 3, 4, 5], [12, 37, 62, 87])
    """
    n = stop - start
    if n <= n_most:
        return np.arange(start, stop, dtype=np.int64)
    return start + ((2 * np.arange(n_most, dtype=np.int64) + 1) * n) // (2 * n_most)


def grid_size(n_parameters: int, n_most: int = MOST_ROUNDS) -> int:
    """Number of rounds to keep: `n_most`, or what fits into `MOST_NUMBERS`; at least one.

    Examples
    --------
    >>> grid_size(100), grid_size(1_000_000), grid_size(50, 500_000)
    (64, 4, 80000)
    """
    return max(1, min(n_most, MOST_NUMBERS // max(n_parameters, 1)))
