"""Regret of a game on slots, and Hedge's bound on it, context by context.

Every context shared by a slot's experts is a Hedge of its own. A record charges context c at most M_c = (slots of the
record in c) x (largest slot loss), so the regret of the context is at most ln p / eta + eta / 8 times the sum of M_c^2
over the records (Cesa-Bianchi and Lugosi 2006, theorem 2.2, for losses in [0, M]); the regret is the sum over contexts.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from structens.online.rates import path_rate, position_rate
from structens.online.rounds import Rounds


def regret(rounds: Rounds, round_losses: NDArray[np.float64]) -> float:
    """Charged loss of the learner minus that of the best path expert: one expert for each context, in hindsight.

    For tying by label, where no such path expert exists, the best single expert stands in.

    Parameters
    ----------
    rounds : Rounds
    round_losses : ndarray of float64, shape (T,)
        From `structens.online.hedge.play`.

    Examples
    --------
    >>> from structens.online.hedge import play
    >>> r = Rounds(np.array([[0, 1.0]]), np.array([[0, 1]], np.int32), np.array([0, 1]), np.ones(1), 2, 1.0, True)
    >>> regret(r, play(r, 0.5))
    0.5
    """
    learner = float((round_losses * np.diff(rounds.offsets) * rounds.scale).sum())
    charged = rounds.charged
    if not rounds.by_slot:
        return learner - float(charged.sum(axis=0).min(initial=np.inf)) if charged.size else learner
    table = np.bincount(rounds.parameter.ravel(), weights=charged.ravel(), minlength=rounds.n_parameters)
    return learner - float(table.reshape(-1, rounds.n_experts).min(axis=1).sum())


def regret_bound(rounds: Rounds, eta: float) -> float:
    """Bound on `regret` at this rate; infinite at rate 0, and for tying by label, where none is known.

    Examples
    --------
    >>> r = Rounds(np.array([[0, 1.0]]), np.array([[0, 1]], np.int32), np.array([0, 1]), np.ones(1), 2, 1.0, True)
    >>> round(regret_bound(r, 1.0), 6)
    0.818147
    """
    if not rounds.by_slot or eta <= 0.0:
        return math.inf
    ranges = context_ranges(rounds)[2]
    n_contexts = rounds.n_parameters // rounds.n_experts
    return n_contexts * math.log(rounds.n_experts) / eta + eta / 8.0 * float((ranges**2).sum())


def recommended_rate(rounds: Rounds, kind: str) -> float:
    """Rate that the bounds recommend: for each context by itself ("position"), or for whole paths ("path").

    On Figure 1 these are sqrt(8 ln p / T) and sqrt(8 l ln p / T) / l for 0/1 losses a position.

    Examples
    --------
    >>> import math
    >>> r = Rounds(np.array([[0, 1.0]]), np.array([[0, 1]], np.int32), np.array([0, 1]), np.ones(1), 2, 1.0, True)
    >>> recommended_rate(r, "position") == math.sqrt(8 * math.log(2))
    True
    """
    record, _, ranges = context_ranges(rounds)
    if len(ranges) == 0:
        return 0.0
    p, n_rounds = rounds.n_experts, rounds.n_rounds
    if kind == "position":
        return position_rate(p, n_rounds, float(ranges.max()))
    largest = np.bincount(record, weights=ranges).max()
    return path_rate(rounds.n_parameters // p * math.log(p), n_rounds, float(largest))


def context_ranges(rounds: Rounds) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Largest charge of each context in each record: numbers of record and context, and the charge.

    Examples
    --------
    >>> r = Rounds(np.zeros((2, 2)), np.array([[0, 1], [0, 1]], np.int32), np.array([0, 2]), np.ones(1), 2, 1.0, True)
    >>> [a.tolist() for a in context_ranges(r)]
    [[0], [0], [2.0]]
    """
    record = np.repeat(np.arange(rounds.n_rounds, dtype=np.int64), np.diff(rounds.offsets))
    n_contexts = max(rounds.n_parameters // rounds.n_experts, 1)
    if rounds.by_slot:
        pairs, counts = np.unique(record * n_contexts + rounds.parameter[:, 0] // rounds.n_experts, return_counts=True)
        record, context = pairs // n_contexts, pairs % n_contexts
    else:
        context, counts = np.zeros_like(record), np.ones(len(record), dtype=np.int64)
    return record, context, counts * rounds.scale[record] * rounds.largest
