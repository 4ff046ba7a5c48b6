"""Converted: the batch predictor that a game on slots leaves behind, and the weights it gives to new records.

H_MVote and H_Rand average the distributions of the best suffix of rounds, H_CV takes those of one round (Cortes,
Kuznetsov and Mohri, ICML 2014, sections 3.2 to 3.3). Contexts that never occurred in learning, such as positions beyond
the longest record, get each expert's mean over the slots of learning; a label that an expert never proposed there gets
the mean cumulative loss over those it did.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.core import ABSENT, Slots
from structens.online.gamma import suffix_start
from structens.online.hedge import cumulative_at, play, slot_flows, softmin
from structens.online.rounds import Rounds
from structens.online.slot_conversion import (
    MOST_AVERAGED,
    MOST_NUMBERS,
    average_weights,
    grid_size,
    slot_cv_round,
    spread,
)
from structens.online.tying import Tying

RULES = ("mvote", "cv", "rand", "last")


class Converted(NamedTuple):
    """What prediction needs.

    Parameters
    ----------
    weights : ndarray of float64, shape (n_contexts + 1, p)
        Weights of each context, averaged over the rounds kept; the last row is for new contexts. Empty for "label".
    snapshots : ndarray of float64, shape (n_kept, n_parameters + p)
        Cumulative losses before each round kept, the last p for new contexts. Empty where `weights` suffice.
    kept : ndarray of int64, shape (n_kept,)
        The rounds kept.
    round_losses : ndarray of float64, shape (T,)
    start : int
        First round of the suffix (mvote, rand), or the round chosen (cv); T for "last".
    """

    weights: NDArray[np.float64]
    snapshots: NDArray[np.float64]
    kept: NDArray[np.int64]
    round_losses: NDArray[np.float64]
    start: int


def convert(
    rounds: Rounds,
    eta: float,
    rule: str = "mvote",
    *,
    delta: float = 0.05,
    union_bound: bool = False,
    n_most: int = MOST_AVERAGED,
) -> Converted:
    """Play the rounds and convert.

    Parameters
    ----------
    rounds : Rounds
        At least one round.
    eta : float
    rule : {"mvote", "cv", "rand", "last"}
        "last" takes the distribution after the last round.
    delta, union_bound
        See `structens.online.gamma`.
    n_most : int
        For tying by label, most rounds of the suffix to average over. "rand" keeps every round of the suffix, or as
        many at even distances as `MOST_NUMBERS` allows.

    Examples
    --------
    >>> import math
    >>> r = Rounds(np.array([[0, 1.0], [0, 1.0]]), np.array([[0, 1], [0, 1]], np.int32), np.arange(3), np.ones(2), 2,
    ...            1.0, True)
    >>> convert(r, math.log(2)).weights.round(4).tolist()
    [[0.5833, 0.4167], [0.5833, 0.4167]]
    """
    round_losses = play(rounds, eta)
    if rule in ("cv", "last"):
        start = slot_cv_round(rounds, eta, delta) if rule == "cv" else rounds.n_rounds
        stop = start + 1
    else:
        start = suffix_start(round_losses, delta, union_bound=union_bound, largest=rounds.largest)
        stop = rounds.n_rounds
    p = rounds.n_experts
    count = np.bincount(rounds.parameter[rounds.parameter >= 0], minlength=rounds.n_parameters).reshape(-1, p)
    kept, snapshots = np.zeros(0, np.int64), np.zeros((0, rounds.n_parameters + p))
    if not rounds.by_slot or rule == "rand":
        most = grid_size(rounds.n_parameters, MOST_NUMBERS if rule == "rand" else n_most)
        kept = spread(start, stop, most)
        snapshots = with_fallback(cumulative_at(rounds, kept), count, eta, rounds.by_slot)
    if not rounds.by_slot:
        return Converted(np.zeros((0, p)), snapshots, kept, round_losses, start)
    if rule in ("cv", "last"):
        weights = softmin(cumulative_at(rounds, np.array([start]))[0].reshape(-1, p), eta)
    else:
        weights = average_weights(rounds, eta, start)
    share = count[:, :1] / max(count[:, 0].sum(), 1)
    return Converted(np.vstack([weights, (share * weights).sum(axis=0)]), snapshots, kept, round_losses, start)


def parameters_of(slots: Slots, tying: Tying) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Parameter ids for prediction, and which transitions lie in new contexts.

    Parameters
    ----------
    slots : Slots
    tying : Tying

    Returns
    -------
    parameter : ndarray of int32, shape (n_slots, p)
        -1 for ABSENT experts; ids of the last context, the fallback, where the context is new.
    is_new : ndarray of bool, shape (n_slots, p)

    Examples
    --------
    >>> from structens.core import Alphabet
    >>> s = Slots(np.array([[0, -2], [0, 0]], np.int32), np.array([0, 1, 2]), np.zeros((2, 2), int), ("a", "b"),
    ...           Alphabet(("x",)), np.zeros(2, np.int32), np.zeros(2, int))
    >>> parameters_of(s, Tying("position", np.array([4]), 2))[0].tolist()
    [[2, -1], [2, 3]]
    """
    parameter = tying.parameters(slots)
    awake = slots.labels != ABSENT
    is_new = (parameter < 0) & awake
    fallback = tying.n_parameters + np.arange(tying.n_experts, dtype=np.int32)
    parameter = np.where(is_new, fallback, parameter)
    return np.where(awake, parameter, np.int32(-1)).astype(np.int32, copy=False), is_new


def transition_weights(converted: Converted, parameter: NDArray[np.int32], eta: float) -> NDArray[np.float64]:
    """Weight of each transition, 0 where the id is -1; the mean over the rounds kept.

    Parameters
    ----------
    converted : Converted
    parameter : ndarray of int32, shape (n_slots, p)
        From `parameters_of`.
    eta : float

    Examples
    --------
    >>> c = Converted(np.array([[.7, .3], [.6, .4]]), np.zeros((0, 4)), np.zeros(0, int), np.zeros(1), 0)
    >>> transition_weights(c, np.array([[0, 1], [2, -1]], np.int32), 1.0).tolist()
    [[0.7, 0.3], [0.6, 0.0]]
    """
    if len(converted.weights):
        return np.append(converted.weights.ravel(), 0.0)[parameter]
    out = np.zeros(parameter.shape)
    for snapshot in converted.snapshots:
        out += slot_flows(snapshot, parameter, eta)
    return out / max(len(converted.snapshots), 1)


def drawn_weights(
    snapshots: NDArray[np.float64],
    parameter: NDArray[np.int32],
    eta: float,
    pick: NDArray[np.float64],
    choice: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Weight 1 on the expert drawn in each slot: a round by `pick`, then an expert by its distribution and `choice`.

    Parameters
    ----------
    snapshots : ndarray of float64, shape (n_kept, n_parameters + p)
    parameter : ndarray of int32, shape (n_slots, p)
    eta : float
    pick, choice : ndarray of float64, shape (n_slots,)
        In [0, 1); equal `pick` within a record, equal `choice` within a context of a record.

    Examples
    --------
    >>> ids = np.array([[0, 1], [0, 1]], np.int32)
    >>> drawn_weights(np.zeros((1, 2)), ids, 1.0, np.zeros(2), np.array([0.2, 0.7])).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    row = (pick * len(snapshots)).astype(np.int64)
    there = parameter >= 0
    cumulative = np.where(there, snapshots[row[:, None], np.maximum(parameter, 0)], np.inf)
    low = cumulative.min(axis=1, initial=np.inf, keepdims=True)
    weight = np.exp(-eta * np.where(there, cumulative - np.where(np.isfinite(low), low, 0.0), 0.0)) * there
    up_to = weight.cumsum(axis=1)
    below = np.minimum(choice * up_to[:, -1], np.nextafter(up_to[:, -1], 0.0))
    first = (up_to > below[:, None]).argmax(axis=1)
    out = np.zeros(parameter.shape)
    out[np.arange(len(out)), first] = there.any(axis=1)
    return out


def with_fallback(
    snapshots: NDArray[np.float64], count: NDArray[np.int64], eta: float, by_slot: bool
) -> NDArray[np.float64]:
    """Cumulative losses with p more, for new contexts: so that they give the mean weights, or (label) their mean.

    Parameters
    ----------
    snapshots : ndarray of float64, shape (n_kept, n_parameters)
    count : ndarray of int64, shape (n_contexts, p)
        Slots of each parameter.
    eta : float
    by_slot : bool

    Examples
    --------
    >>> with_fallback(np.array([[0.0, 1.0]]), np.array([[3, 3]]), 1.0, True).round(4).tolist()
    [[0.0, 1.0, 0.3133, 1.3133]]
    """
    p = count.shape[1]
    table = snapshots.reshape(len(snapshots), -1, p)
    if by_slot:
        share = count[:, 0] / max(count[:, 0].sum(), 1)
        mean = np.einsum("c,scj->sj", share, softmin(table, eta))
        fallback = -np.log(np.maximum(mean, 1e-300)) / eta if eta > 0 else np.zeros_like(mean)
    else:
        met = count > 0
        fallback = (table * met).sum(axis=1) / np.maximum(met.sum(axis=0), 1)
    return np.concatenate([snapshots, fallback], axis=1)
