"""Follow the Perturbed Leader on slots, and its batch versions H_FPL, H_FPL-CV and H_FPLRand.

Cortes, Kuznetsov and Mohri (ICML 2014), algorithm 3 and section 3: on Figure 1 the leader is the best expert of each
context by itself. Its path experts h_t are point masses, converted like the distributions of Weighted Majority: Gamma
picks a suffix P of rounds; H_FPL lets all h_t in P vote in each slot, H_FPLRand draws one of them, H_FPL-CV takes the
one that does best on later rounds. The noise of a round depends on the seed, the round and the parameter only.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.online.converted import Converted, with_fallback
from structens.online.draws import record_keys, uniforms
from structens.online.gamma import cv_penalty, suffix_start
from structens.online.hedge import cumulative_at, slot_flows
from structens.online.noise import Perturbation, noise_of, printed_epsilon
from structens.online.rounds import Rounds
from structens.online.slot_conversion import MOST_NUMBERS, MOST_ROUNDS, grid_size, spread

LEADER_RULES = ("fpl", "fplcv", "fplrand")
ARGMIN = 1e200
"""Rate at which softmin is an argmin: a difference in the last digit leaves nothing of a weight."""
_ROUNDING = 1e-10
"""Sums of losses closer than this are equal."""
MOST_LEADERS = 20_000_000
"""Draws of noise that one conversion spends on contexts a record does not visit; beyond, rounds at even distances."""


def epsilon_of_papers(rounds: Rounds) -> float:
    """0.5 / (p l), l the slots of the longest record.

    Examples
    --------
    >>> r = Rounds(np.zeros((2, 5)), np.zeros((2, 5), np.int32), np.array([0, 2]), np.ones(1), 5, 1.0, True)
    >>> epsilon_of_papers(r)
    0.05
    """
    return printed_epsilon(max(rounds.n_experts, 1), max(int(np.diff(rounds.offsets).max(initial=1)), 1))


def leader_losses(rounds: Rounds, how: Perturbation) -> NDArray[np.float64]:
    """Loss of h_t in round t, averaged over the record's slots, shape (T,).

    Parameters
    ----------
    rounds : Rounds
    how : Perturbation
        Epsilon is in the units of `Rounds.charged`; infinity follows the leader, ties by lot.

    Examples
    --------
    >>> r = Rounds(np.array([[0, 1.0]] * 3), np.array([[0, 1]] * 3, np.int32), np.arange(4), np.ones(3), 2, 1.0, True)
    >>> leader_losses(r, Perturbation(np.inf))[1:].tolist()
    [0.0, 0.0]
    """
    key = np.repeat(record_keys(range(rounds.n_rounds), how.seed), np.diff(rounds.offsets))
    u = uniforms(key[:, None], how.names(np.maximum(rounds.parameter, 0)))
    out, cumulative = np.zeros(rounds.n_rounds), np.zeros(rounds.n_parameters)
    shift = noise_of(how.noise, how.epsilon, u)
    _play(np.ascontiguousarray(rounds.loss), rounds.parameter, rounds.offsets, rounds.scale, shift, u, cumulative, out)
    return out


def perturbed(rounds: Rounds, times: NDArray[np.int64], how: Perturbation) -> NDArray[np.float64]:
    """Cumulative loss plus noise of each parameter before the rounds `times`, shape (n_times, n_parameters).

    Examples
    --------
    >>> r = Rounds(np.array([[0, 1.0]]), np.array([[0, 1]], np.int32), np.array([0, 1]), np.ones(1), 2, 1.0, True)
    >>> perturbed(r, np.array([1]), Perturbation(np.inf)).tolist()
    [[-0.5, 0.5]]
    """
    return cumulative_at(rounds, times) + how.of_rounds(times.tolist(), np.arange(rounds.n_parameters))


def leaders(rounds: Rounds, times: NDArray[np.int64], how: Perturbation) -> NDArray[np.int64]:
    """Expert of each context in the path experts h_t, t in `times`; shape (n_times, n_contexts).

    Examples
    --------
    >>> r = Rounds(np.array([[0, 1.0]]), np.array([[0, 1]], np.int32), np.array([0, 1]), np.ones(1), 2, 1.0, True)
    >>> leaders(r, np.array([1]), Perturbation(np.inf)).tolist()
    [[0]]
    """
    p, chunk = rounds.n_experts, max(1, 1_000_000 // max(rounds.n_parameters, 1))
    out = np.empty((len(times), rounds.n_parameters // p), dtype=np.int64)
    for a in range(0, len(times), chunk):
        some = times[a : a + chunk]
        cost = perturbed(rounds, some, how).reshape(len(some), -1, p)
        if np.isinf(how.epsilon):
            u = how.lots(some.tolist(), np.arange(rounds.n_parameters)).reshape(cost.shape)
            cost = np.where(cost <= cost.min(axis=2, keepdims=True) + _ROUNDING, u, 2.0)
        out[a : a + chunk] = cost.argmin(axis=2)
    return out


def convert_leaders(
    rounds: Rounds,
    how: Perturbation,
    rule: str = "fpl",
    *,
    delta: float = 0.05,
    union_bound: bool = False,
) -> Converted:
    """Play the rounds and convert; weights are shares of votes, snapshots to be read at rate `ARGMIN`.

    Parameters
    ----------
    rounds : Rounds
        At least one round.
    how : Perturbation
        See `leader_losses`.
    rule : {"fpl", "fplcv", "fplrand"}
    delta, union_bound
        See `structens.online.gamma`.

    Examples
    --------
    >>> r = Rounds(np.array([[0, 1.0]] * 9), np.array([[0, 1]] * 9, np.int32), np.arange(10), np.ones(9), 2, 1.0, True)
    >>> convert_leaders(r, Perturbation(np.inf), "fplcv").weights.tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    losses = leader_losses(rounds, how)
    p, n_rounds = rounds.n_experts, rounds.n_rounds
    if rule == "fplcv":
        start = _chosen_leader(rounds, how, delta)
        kept = np.array([start])
    else:
        start = suffix_start(losses, delta, union_bound=union_bound, largest=rounds.largest)
        most = MOST_ROUNDS if not rounds.by_slot and rule == "fpl" else n_rounds
        budget = MOST_NUMBERS if rule == "fplrand" else MOST_LEADERS
        kept = spread(start, n_rounds, max(1, min(most, budget // max(rounds.n_parameters, 1))))
    count = np.bincount(rounds.parameter[rounds.parameter >= 0], minlength=rounds.n_parameters).reshape(-1, p)
    if not rounds.by_slot:
        snapshots = perturbed(rounds, kept, how)
        snapshots = with_fallback(snapshots, count, ARGMIN, False)
        return Converted(np.zeros((0, p)), snapshots, kept, losses, start)
    chosen = leaders(rounds, kept, how)
    followed = chosen[:, :, None] == np.arange(p)
    weights = followed.mean(axis=0)
    share = count[:, :1] / max(count[:, 0].sum(), 1)
    weights = np.vstack([weights, (share * weights).sum(axis=0)])
    snapshots = np.zeros((0, rounds.n_parameters + p))
    if rule == "fplrand":
        snapshots = np.where(followed, 0.0, 1.0).reshape(len(kept), -1)
        snapshots = with_fallback(snapshots, count, ARGMIN, True)
    return Converted(weights, snapshots, kept, losses, start)


def _chosen_leader(rounds: Rounds, how: Perturbation, delta: float) -> int:
    """Round of H_FPL-CV: least mean loss on the rounds after it, plus the penalty; 0 where there is one round only."""
    penalty = cv_penalty(rounds.n_rounds, delta, largest=rounds.largest)
    if len(penalty) == 0:
        return 0
    most = grid_size(rounds.n_parameters, MOST_ROUNDS) if not rounds.by_slot else MOST_LEADERS // rounds.n_parameters
    times = spread(0, len(penalty), max(most, 1))
    length = np.maximum(np.diff(rounds.offsets), 1)
    if rounds.by_slot:
        chosen = leaders(rounds, times, how)
        sums = np.zeros(len(times))
        share = rounds.loss / np.repeat(length, np.diff(rounds.offsets))[:, None]
        _later(share, rounds.parameter, rounds.offsets, times, chosen, sums)
    else:
        mean_over = np.repeat(length, np.diff(rounds.offsets))
        cost = perturbed(rounds, times, how)
        sums = np.zeros(len(times))
        for k, first in enumerate(rounds.offsets[times + 1]):
            flow = slot_flows(cost[k], rounds.parameter[first:], ARGMIN)
            sums[k] = ((flow * rounds.loss[first:]).sum(axis=1) / mean_over[first:]).sum()
    theta = sums / (rounds.n_rounds - 1 - times)
    return int(times[(theta + penalty[times]).argmin()])


@njit(cache=True)
def _play(loss, parameter, offsets, scale, shift, lot, cumulative, round_loss):  # type: ignore[no-untyped-def]
    """Ties, which only losses without noise have, go to the smallest lot."""
    p = loss.shape[1]
    for t in range(len(offsets) - 1):
        for s in range(offsets[t], offsets[t + 1]):
            best = -1
            low = np.inf
            for j in range(p):
                if parameter[s, j] >= 0:
                    cost = cumulative[parameter[s, j]] + shift[s, j]
                    if cost < low - _ROUNDING or (cost <= low + _ROUNDING and lot[s, j] < lot[s, best]):
                        low, best = cost, j
            if best >= 0:
                round_loss[t] += loss[s, best] / (offsets[t + 1] - offsets[t])
        for s in range(offsets[t], offsets[t + 1]):
            mean = 0.0
            for j in range(p):
                mean += loss[s, j]
            mean /= p
            for j in range(p):
                if parameter[s, j] >= 0:
                    cumulative[parameter[s, j]] += scale[t] * (loss[s, j] - mean)


@njit(cache=True)
def _later(loss, parameter, offsets, times, chosen, sums):  # type: ignore[no-untyped-def]
    """Summed losses of each h_t over the rounds after t, backwards."""
    p = loss.shape[1]
    later = np.zeros(chosen.shape[1] * p)
    t = len(offsets) - 2
    for k in range(len(times) - 1, -1, -1):
        while t > times[k]:
            for s in range(offsets[t], offsets[t + 1]):
                for j in range(p):
                    later[parameter[s, j]] += loss[s, j]
            t -= 1
        for c in range(chosen.shape[1]):
            sums[k] += later[c * p + chosen[k, c]]
