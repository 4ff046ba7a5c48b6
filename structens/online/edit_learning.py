"""Weights learnt by edit distance itself, at any scale: a sampled gradient in place of the gold's slots.

The expected edit distance of a path drawn slot by slot is linear in the distribution of each slot. Its derivative by
the probability of expert j in slot k is the expected distance of a path that has expert j there, so for a path drawn at
random the distances of all paths that differ from it in one slot are an unbiased estimate; two tables of dynamic
programming give them all. Charging these distances is exponentiated gradient on the expected edit distance. The
expectation is not convex in all slots together, so no regret bound follows: this is a heuristic.

Slots with gold by alignment (`structens.losses.slot_losses`) charge an error where gold was placed; this charges it
where it makes the answer worse, at whatever place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.core import ABSENT, DataError, ExpertPredictions, ParameterError, Ragged, Slots
from structens.losses import AdditiveLoss
from structens.online.draws import record_keys, uniforms
from structens.online.edit_kernels import game_kernel, gradient_kernel
from structens.online.rounds import SCALES, Rounds, rounds_of
from structens.online.tying import Tying

N_SAMPLES = 16
"""Paths drawn for each record; the slots of many records average their noise out."""


class EditGradient(NamedTuple):
    """Mean edit distances over drawn paths.

    Attributes
    ----------
    gradient : ndarray of float64, shape (n_slots, p)
        Of the drawn path with that slot as that expert has it; 0 for ABSENT experts.
    expected : float
        Of the drawn path itself, by the same numbers.
    """

    gradient: NDArray[np.float64]
    expected: float


def edit_gradient(
    labels: ArrayLike,
    probability: ArrayLike,
    targets: Sequence[ArrayLike],
    *,
    n_samples: int = N_SAMPLES,
    seed: int | np.random.Generator = 0,
    costs: tuple[float, float, float] = (1.0, 1.0, 1.0),
) -> EditGradient:
    """Unbiased estimate of the gradient of the expected edit distance of one record.

    Time O(n_samples x references x slots x units x distinct labels a slot).

    Parameters
    ----------
    labels : array_like of int, shape (n_slots, p)
        Codes, GAP or ABSENT.
    probability : array_like, shape (n_slots, p)
        Distribution of each slot: rows sum to 1, ABSENT experts have 0.
    targets : sequence of array_like of int
        Right answers; the nearest counts.
    n_samples : int
        Paths drawn.
    seed : int or numpy.random.Generator
    costs : (insertion, deletion, substitution)

    Raises
    ------
    DataError
        If shapes differ, a row is no distribution, or there is no target.
    ParameterError
        If `n_samples` is below 1.

    Examples
    --------
    >>> made = edit_gradient([[7, 8], [9, -1]], [[0.5, 0.5], [1.0, 0.0]], [[7]], n_samples=4)
    >>> made.gradient[1].tolist(), (made.gradient[0, 1] - made.gradient[0, 0]).item()
    ([1.25, 0.25], 1.0)
    """
    table = np.ascontiguousarray(labels, dtype=np.int32)
    flow = np.ascontiguousarray(probability, dtype=np.float64)
    if table.ndim != 2 or flow.shape != table.shape or not len(targets):
        raise DataError(f"need one probability a label and a target; got shapes {table.shape} and {flow.shape}")
    if (flow < 0).any() or (np.abs(flow.sum(axis=1) - 1) > 1e-9).any() or flow[table == ABSENT].any():
        raise DataError("each slot needs probabilities that sum to 1, with 0 for ABSENT experts")
    if n_samples < 1:
        raise ParameterError(f"n_samples must be at least 1; got {n_samples!r}")
    draw = np.random.default_rng(seed).random((len(table), n_samples))
    out = np.zeros(table.shape)
    answers = Ragged.of(targets)
    gradient_kernel(table, flow, draw, (answers.values, answers.offsets, 0, len(answers)), np.array(costs, float), out)
    # every row weighs the distances of paths that differ in that slot only: their mean is the distance expected
    expected = float((flow * out).sum(axis=1).mean()) if len(table) else float(min(map(len, answers)))
    return EditGradient(out, expected)


def edit_rounds(
    slots: Slots,
    X: ExpertPredictions,
    tying: Tying,
    eta: float = 0.0,
    *,
    loss_scale: str = "per_substructure",
    n_samples: int = N_SAMPLES,
    seed: int = 0,
    costs: tuple[float, float, float] = (1.0, 1.0, 1.0),
) -> Rounds:
    """Rounds whose losses are sampled edit distances, under equal weights or those learnt so far.

    With eta > 0 the losses depend on the weights, so the game is played here once, at the rate it will be used with:
    playing, converting and averaging these rounds at the same `eta` (`structens.online.convert`) repeats it. With eta
    0 paths are drawn with equal weights; these losses serve any learner and rate, and did no worse on real data. Draws
    depend on the seed and the records' ids only.

    Parameters
    ----------
    slots : Slots
        Records that all have gold.
    X : ExpertPredictions
        The same records: their references are what paths are compared with.
    tying : Tying
    eta : float
        Learning rate of the game in which the paths are drawn.
    loss_scale : {"per_substructure", "normalized"}
    n_samples, seed : int
    costs : (insertion, deletion, substitution)

    Returns
    -------
    Rounds
        The loss of a transition is the edit distance with it beyond that of the best choice in its slot.

    Raises
    ------
    ParameterError
        If the scale is unknown or `n_samples` below 1.

    Examples
    --------
    >>> from structens.align import align
    >>> X = ExpertPredictions.of({"a": ["cat"], "b": ["cut"]}, gold=["cat"])
    >>> edit_rounds(align(X), X, Tying.learn(align(X), "expert"), 1.0).loss.tolist()
    [[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    if loss_scale not in SCALES or n_samples < 1:
        raise ParameterError(f"need n_samples >= 1 and loss_scale of {SCALES}; got {n_samples!r}, {loss_scale!r}")
    by_name = np.argsort(np.array(slots.names))  # draws do not depend on the order in which experts were given
    parameter = np.ascontiguousarray(tying.parameters(slots))
    lengths = slots.lengths
    scale = 1.0 / np.maximum(lengths, 1) if loss_scale == "normalized" else np.ones(len(lengths))
    keys = record_keys(X.ids, seed)[slots.record]
    draw = np.stack([uniforms(keys, slots.position * n_samples + s) for s in range(n_samples)], axis=1)
    loss = np.zeros(slots.labels.shape)
    game_kernel(
        (np.ascontiguousarray(slots.labels[:, by_name]), slots.offsets, np.ascontiguousarray(parameter[:, by_name])),
        (X.references.values, X.references.offsets, X.reference_offsets),
        draw,
        scale,
        eta,
        np.array(costs, dtype=np.float64),
        tying.n_parameters,
        loss,
    )
    loss = loss[:, np.argsort(by_name)]
    return Rounds(
        loss, parameter, slots.offsets, scale, tying.n_parameters, max(1.0, sum(costs[:2]), costs[2]), tying.by_slot
    )


def rounds_by(
    loss: str | AdditiveLoss, slots: Slots, X: ExpertPredictions, tying: Tying, loss_scale: str = "per_substructure"
) -> Rounds:
    """Records as rounds, by a loss on the slots' gold or by edit distance to the records' references.

    Parameters
    ----------
    loss : "hamming", "edit", or AdditiveLoss
    slots : Slots
        Nothing is charged in records without gold.
    X : ExpertPredictions
        The same records.
    tying : Tying
    loss_scale : {"per_substructure", "normalized"}

    Raises
    ------
    ParameterError
        If the loss or the scale is unknown.

    Examples
    --------
    >>> from structens.align import align
    >>> X = ExpertPredictions.of({"a": ["cat"], "b": ["cut"]}, gold=["cat"])
    >>> s = align(X)
    >>> [rounds_by(loss, s, X, Tying.learn(s, "expert")).loss[1].tolist() for loss in ("hamming", "edit")]
    [[0.0, 1.0], [0.0, 1.0]]
    """
    if isinstance(loss, str) and loss == "edit":
        known = X.has_gold
        if known.all():
            return edit_rounds(slots, X, tying, loss_scale=loss_scale)
        rows = np.flatnonzero(known)
        taught = edit_rounds(slots[rows], X[rows], tying, loss_scale=loss_scale)
        charged, scale = np.zeros(slots.labels.shape), np.ones(len(slots))
        charged[known[slots.record]], scale[rows] = taught.loss, taught.scale
        parameter = np.ascontiguousarray(tying.parameters(slots))
        return taught._replace(loss=charged, parameter=parameter, offsets=slots.offsets, scale=scale)
    return rounds_of(slots, tying, loss, loss_scale)
