"""On-line-to-batch conversion of any learner by context: the rules of `structens.online.converted` on a `History`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import ParameterError
from structens.online.adahedge import SlotAdaHedge
from structens.online.context_learner import ContextLearner
from structens.online.converted import Converted, with_fallback
from structens.online.fixed_share import FixedShare
from structens.online.gamma import cv_penalty, suffix_start
from structens.online.history import History, average, later_losses, mean_losses, weights_at
from structens.online.leading import LeadingLearner
from structens.online.restricted_slots import RestrictedGame
from structens.online.rounds import Rounds
from structens.online.sleeping import SleepingHedge
from structens.online.slot_conversion import MOST_NUMBERS, grid_size, spread
from structens.online.squint import Squint

LEARNERS = ("hedge", "adahedge", "squint", "fixed-share", "component-hedge", "prequential")
RATELESS = ("adahedge", "squint", "prequential")
"""Learners that take no rate."""
_LEAST_WEIGHT = 1e-300


def context_learner(name: str, n_experts: int, eta: float = 0.0, share: float = 0.01) -> ContextLearner:
    """The learner of that name.

    Parameters
    ----------
    name : {"hedge", "adahedge", "squint", "fixed-share", "component-hedge", "prequential"}
    n_experts : int
    eta : float
        For "hedge", "fixed-share" and "component-hedge".
    share : float
        For "fixed-share" and "prequential".

    Raises
    ------
    ParameterError
        If there is no such learner.

    Examples
    --------
    >>> type(context_learner("squint", 3)).__name__
    'Squint'
    """
    if name not in LEARNERS:
        raise ParameterError(f"learner must be one of {', '.join(LEARNERS)}; got {name!r}")
    if name in ("hedge", "component-hedge"):  # on slots the projection on unit flows is division by the sum
        return SleepingHedge(n_experts, eta)
    if name == "fixed-share":
        return FixedShare(n_experts, eta, share)
    if name == "prequential":
        return LeadingLearner(n_experts, share=share)
    return SlotAdaHedge(n_experts) if name == "adahedge" else Squint(n_experts)


def convert_history(
    history: History,
    rounds: Rounds,
    rule: str = "mvote",
    *,
    delta: float = 0.05,
    union_bound: bool = False,
    game: RestrictedGame | None = None,
) -> Converted:
    """The batch predictor of a game played by context; snapshots are to be read at rate 1.

    Parameters
    ----------
    history : History
        At least one round.
    rounds : Rounds
        Those of the history.
    rule : {"mvote", "cv", "rand", "last"}
    delta, union_bound
        See `structens.online.gamma`.
    game : RestrictedGame, optional
        What was played, where learning is restricted.

    Examples
    --------
    >>> from structens.online.visits import visits_of
    >>> r = Rounds(np.array([[0, 1.0]] * 2), np.array([[0, 1]] * 2, np.int32), np.arange(3), np.ones(2), 2, 1.0, True)
    >>> convert_history(SleepingHedge(2, np.log(2)).play(visits_of(r)), r).weights.round(4).tolist()
    [[0.5833, 0.4167], [0.5833, 0.4167]]
    """
    losses, n_rounds = mean_losses(history) if game is None else game.round_losses(history), rounds.n_rounds
    count = np.bincount(rounds.parameter[:, 0] // rounds.n_experts, minlength=len(history.final))
    snapshots, kept = np.zeros((0, rounds.n_parameters + rounds.n_experts)), np.zeros(0, np.int64)
    if rule == "last":
        final = history.final if game is None else game.left(history.final)
        return Converted(with_mean_row(final, count), snapshots, kept, losses, n_rounds)
    if rule == "cv":
        largest = rounds.largest
        start = chosen_round(history, delta, largest=largest) if game is None else game.chosen_round(history, delta)
        weights = weights_at(history, np.array([start]))[0]
    else:
        start = suffix_start(losses, delta, union_bound=union_bound, largest=rounds.largest)
        weights = average(history, start)
    if rule == "rand":
        kept = spread(start, n_rounds, grid_size(rounds.n_parameters, MOST_NUMBERS))
        costs = -np.log(np.maximum(weights_at(history, kept), _LEAST_WEIGHT))
        counts = np.repeat(count[:, None], rounds.n_experts, axis=1)
        snapshots = with_fallback(costs.reshape(len(kept), -1), counts, 1.0, True)
    weights = weights if game is None else game.left(weights)
    return Converted(with_mean_row(weights, count), snapshots, kept, losses, start)


def chosen_round(history: History, delta: float = 0.05, *, largest: float = 1.0) -> int:
    """Round t whose p_t minimises Theta(p_t) + c_delta (H_CV); 0 where there is one round only.

    Examples
    --------
    >>> from structens.online.visits import Visits
    >>> loss = np.array([[0, 1], [0, 1], [1, 0], [0, 1], [0, 1], [0, 1.0]])
    >>> v = Visits(loss, loss < 2, np.zeros(6, np.int32), np.arange(6), np.ones(6), np.ones(6), 6, 1)
    >>> chosen_round(SleepingHedge(2, np.log(2)).play(v))
    2
    """
    penalty = cv_penalty(history.visits.n_rounds, delta, largest=largest)
    return int((later_losses(history) + penalty).argmin()) if len(penalty) else 0


def with_mean_row(weights: NDArray[np.float64], count: NDArray[Any]) -> NDArray[np.float64]:
    """One more row for contexts that are new: the mean over the slots of learning; uniform where there are none.

    Examples
    --------
    >>> with_mean_row(np.array([[1.0, 0.0], [0.4, 0.6]]), np.array([1, 1])).tolist()
    [[1.0, 0.0], [0.4, 0.6], [0.7, 0.3]]
    """
    total = count.sum()
    mean = count @ weights / total if total else np.full(weights.shape[1], 1.0 / weights.shape[1])
    return np.vstack([weights, mean])
