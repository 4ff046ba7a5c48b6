"""Visits: the game on slots cut by context, for learners that keep a state for each context.

On Figure 1 a context is a game of its own: a record visits it once, with the summed losses of its slots there. Every
learner plays the visits in order and leaves the weights before each of them; conversions need nothing more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.online.rounds import Rounds

ABSENCES = ("sleep", "neutral")


class Visits(NamedTuple):
    """The contexts that each record visits, in order of records, each context once a record.

    Parameters
    ----------
    loss : ndarray of float64, shape (n_visits, p)
        What each expert is charged: summed over the record's slots in the context, in the units of `Rounds.charged`.
        For one that is asleep the mean over those awake.
    awake : ndarray of bool, shape (n_visits, p)
        Whose losses count. A visit where nobody is awake teaches nothing: a record without gold.
    context : ndarray of int32, shape (n_visits,)
    record : ndarray of int64, shape (n_visits,)
    factor : ndarray of float64, shape (n_visits,)
        What a charge is to be multiplied with to give its part of the record's mean loss a slot.
    width : ndarray of float64, shape (n_visits,)
        Largest possible charge.
    n_rounds, n_contexts : int
    """

    loss: NDArray[np.float64]
    awake: NDArray[np.bool_]
    context: NDArray[np.int32]
    record: NDArray[np.int64]
    factor: NDArray[np.float64]
    width: NDArray[np.float64]
    n_rounds: int
    n_contexts: int


def visits_of(rounds: Rounds, awake: NDArray[np.bool_] | None = None) -> Visits:
    """Sum the slots of each context in each record.

    Parameters
    ----------
    rounds : Rounds
        With contexts shared by all experts of a slot.
    awake : ndarray of bool, shape (n_slots, p), optional
        `Slots.awake`, for sleeping experts; all False in records without gold. Default: all are awake, and an absent
        one is charged the mean of those present.

    Examples
    --------
    >>> r = Rounds(np.array([[0, 1.0], [1, 1]]), np.array([[0, 1], [0, 1]], np.int32), np.array([0, 2]), np.ones(1),
    ...            2, 1.0, True)
    >>> v = visits_of(r)
    >>> v.loss.tolist(), v.factor.tolist(), v.width.tolist()
    ([[1.0, 2.0]], [0.5], [2.0])
    """
    p = rounds.n_experts
    n_contexts = rounds.n_parameters // p
    lengths = np.diff(rounds.offsets)
    record = np.repeat(np.arange(rounds.n_rounds, dtype=np.int64), lengths)
    key = record * max(n_contexts, 1) + rounds.parameter[:, 0] // p
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    charged = rounds.charged[order]
    count = np.diff(np.append(first, len(key)))
    loss = np.add.reduceat(charged, first, axis=0) if len(first) else charged
    is_awake = np.ones(loss.shape, dtype=np.bool_) if awake is None else awake[order][first]
    record = key[first] // max(n_contexts, 1)
    scale = rounds.scale[record]
    return Visits(
        loss=np.ascontiguousarray(loss),
        awake=np.ascontiguousarray(is_awake),
        context=(key[first] % max(n_contexts, 1)).astype(np.int32),
        record=record,
        factor=1.0 / (scale * lengths[record]),
        width=count * scale * rounds.largest,
        n_rounds=rounds.n_rounds,
        n_contexts=n_contexts,
    )
