"""History of a game played context by context: the weights before every visit, and what conversions make of them.

The weights of a context change only when a record visits it. So the weights before each visit and those at the end tell
the distributions of all rounds, whatever the learner was, and every conversion of Cortes, Kuznetsov and Mohri (ICML
2014, sections 3.2 to 3.3) takes time linear in the visits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.online.visits import Visits


class History(NamedTuple):
    """What a learner leaves behind.

    Parameters
    ----------
    visits : Visits
    before : ndarray of float64, shape (n_visits, p)
        Weights of the visited context before its losses were seen; rows sum to 1 over all experts.
    final : ndarray of float64, shape (n_contexts, p)
        Weights at the end.
    """

    visits: Visits
    before: NDArray[np.float64]
    final: NDArray[np.float64]


def awake_share(history: History) -> NDArray[np.float64]:
    """Weights before each visit among the experts awake; shape (n_visits, p), 0 where nobody is.

    Where all experts awake have weight 0 they have equal ones.

    Examples
    --------
    >>> v = Visits(np.zeros((1, 2)), np.array([[True, False]]), np.zeros(1, np.int32), np.zeros(1, int), np.ones(1),
    ...            np.ones(1), 1, 1)
    >>> awake_share(History(v, np.array([[0.2, 0.8]]), np.ones((1, 2)) / 2)).tolist()
    [[1.0, 0.0]]
    """
    awake = history.visits.awake
    weight = history.before * awake
    total = weight.sum(axis=1, keepdims=True)
    weight = np.where(total > 0, weight, awake)
    total = np.where(total > 0, total, np.maximum(awake.sum(axis=1, keepdims=True), 1))
    out: NDArray[np.float64] = weight / total
    return out


def charges(history: History) -> NDArray[np.float64]:
    """What the learner is charged in each visit, shape (n_visits,): the mean over the experts awake, by their weights.

    Examples
    --------
    >>> v = Visits(np.array([[0, 1.0]]), np.ones((1, 2), bool), np.zeros(1, np.int32), np.zeros(1, int), np.ones(1),
    ...            np.ones(1), 1, 1)
    >>> charges(History(v, np.array([[0.2, 0.8]]), np.ones((1, 2)) / 2)).tolist()
    [0.8]
    """
    out: NDArray[np.float64] = (awake_share(history) * history.visits.loss).sum(axis=1)
    return out


def mean_losses(history: History) -> NDArray[np.float64]:
    """Expected loss L_t in each round, averaged over the record's slots, shape (T,).

    Examples
    --------
    >>> v = Visits(np.array([[0, 1.0]]), np.ones((1, 2), bool), np.zeros(1, np.int32), np.zeros(1, int), np.ones(1),
    ...            np.ones(1), 1, 1)
    >>> mean_losses(History(v, np.array([[0.2, 0.8]]), np.ones((1, 2)) / 2)).tolist()
    [0.8]
    """
    visits = history.visits
    out: NDArray[Any] = np.bincount(visits.record, weights=charges(history) * visits.factor, minlength=visits.n_rounds)
    return out


def average(history: History, start: int) -> NDArray[np.float64]:
    """Weights of each context averaged over the rounds start, ..., T - 1; shape (n_contexts, p).

    Examples
    --------
    >>> v = Visits(np.zeros((1, 2)), np.ones((1, 2), bool), np.zeros(1, np.int32), np.zeros(1, int), np.ones(1),
    ...            np.ones(1), 2, 1)
    >>> average(History(v, np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]])), 0).tolist()
    [[0.75, 0.25]]
    """
    visits = history.visits
    last = np.full(visits.n_contexts, start - 1, dtype=np.int64)  # last round counted of each context
    out = np.zeros(history.final.shape)
    _average(visits.context, visits.record, history.before, last, out)
    out += history.final * (visits.n_rounds - 1 - last)[:, None]
    out /= visits.n_rounds - start
    return out


def weights_at(history: History, times: NDArray[np.int64]) -> NDArray[np.float64]:
    """Weights before the rounds `times`, increasing; T stands for the end. Shape (n_times, n_contexts, p).

    Examples
    --------
    >>> v = Visits(np.zeros((1, 2)), np.ones((1, 2), bool), np.zeros(1, np.int32), np.zeros(1, int), np.ones(1),
    ...            np.ones(1), 1, 1)
    >>> weights_at(History(v, np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]])), np.array([0, 1])).tolist()
    [[[0.5, 0.5]], [[1.0, 0.0]]]
    """
    visits = history.visits
    out = np.empty((len(times), *history.final.shape))
    _weights_at(visits.context, visits.record, history.before, history.final, np.asarray(times, np.int64), out)
    return out


def later_losses(history: History, *, corrected: bool = False) -> NDArray[np.float64]:
    """Theta(p_t): mean loss of p_t over the rounds after t, shape (T - 1,); from t on and (T,) where corrected.

    An expert asleep counts with the mean of those awake: so the losses to come add up, whoever is there.

    Examples
    --------
    >>> v = Visits(np.array([[0, 1.0], [0, 1.0]]), np.ones((2, 2), bool), np.zeros(2, np.int32), np.arange(2),
    ...            np.ones(2), np.ones(2), 2, 1)
    >>> later_losses(History(v, np.array([[0.5, 0.5], [0.7, 0.3]]), np.array([[1.0, 0.0]]))).tolist()
    [0.5]
    """
    visits = history.visits
    sums = np.zeros(visits.n_rounds)
    loss = visits.loss * visits.factor[:, None]
    _later(visits.context, visits.record, loss, history.before, history.final, corrected, sums)
    out: NDArray[np.float64]
    if corrected:
        out = sums / np.arange(visits.n_rounds, 0, -1)
    else:
        out = sums[:-1] / np.arange(visits.n_rounds - 1, 0, -1)
    return out


@njit(cache=True)
def _average(context, record, before, last, out):  # type: ignore[no-untyped-def]
    for v in range(len(context)):
        c = context[v]
        if record[v] > last[c]:
            out[c] += (record[v] - last[c]) * before[v]
            last[c] = record[v]


@njit(cache=True)
def _weights_at(context, record, before, final, times, out):  # type: ignore[no-untyped-def]
    """Backwards: the weights of a context before a round are those of its next visit."""
    now = final.copy()
    v = len(context) - 1
    for k in range(len(times) - 1, -1, -1):
        while v >= 0 and record[v] >= times[k]:
            now[context[v]] = before[v]
            v -= 1
        out[k] = now


@njit(cache=True)
def _later(context, record, loss, before, final, inclusive, out):  # type: ignore[no-untyped-def]
    """Backwards: `later` holds each expert's loss in the rounds to come, `total` that of the present weights."""
    later = np.zeros(final.shape)
    now = final.copy()
    total, v = 0.0, len(context) - 1
    for t in range(len(out) - 1, -1, -1):
        first = v
        while first >= 0 and record[first] == t:
            c = context[first]
            for j in range(loss.shape[1]):
                total += (before[first, j] - now[c, j]) * later[c, j]
                now[c, j] = before[first, j]
            first -= 1
        if not inclusive:
            out[t] = total
        for u in range(first + 1, v + 1):
            c = context[u]
            for j in range(loss.shape[1]):
                later[c, j] += loss[u, j]
                total += now[c, j] * loss[u, j]
        if inclusive:
            out[t] = total
        v = first
