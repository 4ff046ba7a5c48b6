"""Weighted Majority over path experts on slots: the Figure-1 automaton, whose contexts are independent Hedges.

WMWP of Cortes, Kuznetsov and Mohri (ICML 2014, algorithm 1): one round a record, in file order; the distribution of a
round weighs the transitions of a slot by exp(-eta C), C the cumulative loss of each parameter over the rounds before.
Everything is linear in the number of transitions. C itself is kept, never a product of weights, and its minimum over
the slot is taken out before exp, so that no weight under- or overflows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structens.online.rounds import Rounds
from structens.online.slot_kernels import cumulative_kernel, flows_kernel, play_kernel


def play(rounds: Rounds, eta: float) -> NDArray[np.float64]:
    """Play all rounds: expected loss L_t of p_t in round t, averaged over the record's slots; shape (T,).

    Parameters
    ----------
    rounds : Rounds
    eta : float
        Learning rate, >= 0.

    Examples
    --------
    Two experts, two positions, beta = 1/2; the learner's summed losses are 3/2 and 1/3.

    >>> import math
    >>> loss = np.array([[0, 1], [1, 1], [0, 1], [0, 0.0]])
    >>> position = np.array([[0, 1], [2, 3], [0, 1], [2, 3]], np.int32)
    >>> r = Rounds(loss, position, np.array([0, 2, 4]), np.ones(2), 4, 1.0, True)
    >>> (play(r, math.log(2)) * 2).round(6).tolist()
    [1.5, 0.333333]
    """
    out = np.zeros(rounds.n_rounds)
    cumulative = np.zeros(rounds.n_parameters)
    loss = np.ascontiguousarray(rounds.loss)
    play_kernel(loss, rounds.parameter, rounds.offsets, rounds.scale, eta, cumulative, out)
    return out


def cumulative_at(rounds: Rounds, times: NDArray[np.int64]) -> NDArray[np.float64]:
    """Cumulative centred loss C of each parameter before the rounds `times`; T stands for the end.

    Parameters
    ----------
    rounds : Rounds
    times : ndarray of int64, shape (n_times,)
        Increasing, in 0 to T.

    Returns
    -------
    ndarray of float64, shape (n_times, n_parameters)

    Examples
    --------
    >>> r = Rounds(np.array([[0, 1.0]]), np.array([[0, 1]], np.int32), np.array([0, 1]), np.ones(1), 2, 1.0, True)
    >>> cumulative_at(r, np.array([0, 1])).tolist()
    [[0.0, 0.0], [-0.5, 0.5]]
    """
    out = np.zeros((len(times), rounds.n_parameters))
    times = np.ascontiguousarray(times, dtype=np.int64)
    loss = np.ascontiguousarray(rounds.loss)
    cumulative_kernel(loss, rounds.parameter, rounds.offsets, rounds.scale, times, out)
    return out


def softmin(cumulative: NDArray[np.float64], eta: float) -> NDArray[np.float64]:
    """Weights exp(-eta C) of each row, summing to 1, whatever the size of C.

    Parameters
    ----------
    cumulative : ndarray of float64, shape (..., p)
    eta : float

    Examples
    --------
    >>> softmin(np.array([2000.0, 2003.0]), 1.0).round(6).tolist()
    [0.952574, 0.047426]
    """
    weight = np.exp(-eta * (cumulative - cumulative.min(axis=-1, keepdims=True)))
    out: NDArray[np.float64] = weight / weight.sum(axis=-1, keepdims=True)
    return out


def slot_flows(cumulative: NDArray[np.float64], parameter: NDArray[np.int32], eta: float) -> NDArray[np.float64]:
    """Probability of each transition: softmin over the slot's parameters, 0 where the id is -1.

    Parameters
    ----------
    cumulative : ndarray of float64, shape (n_parameters,)
    parameter : ndarray of int32, shape (n_slots, p)
    eta : float

    Returns
    -------
    ndarray of float64, shape (n_slots, p)

    Examples
    --------
    >>> slot_flows(np.array([5.0, 5.0, 9.0]), np.array([[0, 1, -1]], np.int32), 1.0).tolist()
    [[0.5, 0.5, 0.0]]
    """
    out = np.zeros(parameter.shape)
    flows_kernel(np.ascontiguousarray(cumulative), np.ascontiguousarray(parameter), eta, out)
    return out
