"""Candidates of slots and what an n-gram model makes of them: probabilities by forward-backward, paths by Viterbi.

In each slot one candidate is right, a label or GAP. A path takes one candidate a slot; its score is the sum of the
candidates' scores and of the n-gram model's log probabilities, times a scale, of its labels without the GAPs. States of
the search are contexts of the model. States far below the best of their slot are left out (`WIDTH`). Sums keep the
`WHOLE_STATES` states of a slot with the best forward scores as they are and merge the others by their last label, so
that no probability is lost: what the n-grams make of unlikely pasts is less exact, not the pasts themselves. The best
path keeps `MOST_STATES` states. Otherwise, with an infinite width, both are exact.

Source: Rabiner (1989), "A tutorial on hidden Markov models", for both recursions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.core import ABSENT, GAP
from structens.ensembles.ngram_tree import NGramTree, step
from structens.ensembles.slot_lattice_kernels import sum_paths

MOST_STATES = 48
"""States kept in a slot by the search for the best path."""
WHOLE_STATES = 12
"""States of a slot that sums keep; the others are merged with those that end in the same label."""
WIDTH = 8.0
"""Candidates and states whose scores are, in nats, that much below their slot's best are left out."""


class Candidates(NamedTuple):
    """What may be right in each slot.

    Attributes
    ----------
    offsets : ndarray of int64, shape (n_records + 1,)
    label : ndarray of int32, shape (n_slots, K)
        Codes or GAP, distinct in a slot; ABSENT where there are fewer than K.
    score : ndarray of float64, shape (n_slots, K)
        Log likelihood, up to a constant a slot; -inf where ABSENT.
    """

    offsets: NDArray[np.int64]
    label: NDArray[np.int32]
    score: NDArray[np.float64]


class Marginals(NamedTuple):
    """Probabilities of candidates given their record.

    Attributes
    ----------
    probability : ndarray of float64, shape (n_slots, K)
    log_total : ndarray of float64, shape (n_records,)
        Logarithm of the summed exponentials of all paths' scores.
    log_ngram : ndarray of float64, shape (n_records,)
        Expected log probability under the n-gram model, before the scale; 0 without one.
    """

    probability: NDArray[np.float64]
    log_total: NDArray[np.float64]
    log_ngram: NDArray[np.float64]


def marginals(
    candidates: Candidates, model: NGramTree | None = None, scale: float = 1.0, width: float = WIDTH
) -> Marginals:
    """Probability of every candidate, by forward-backward.

    Time is linear in slots, states of a slot and candidates of a slot.

    Parameters
    ----------
    candidates : Candidates
    model : NGramTree, optional
        None: slots are independent.
    scale : float
        Exponent of the model's probabilities.
    width : float
        States that much below the best of their slot are left out, in nats; infinite for none.

    Examples
    --------
    >>> c = Candidates(np.array([0, 1]), np.array([[0, -1]], np.int32), np.log([[0.6, 0.2]]))
    >>> marginals(c).probability.round(2).tolist()
    [[0.75, 0.25]]
    """
    label, score = np.ascontiguousarray(candidates.label), np.ascontiguousarray(candidates.score)
    n = len(candidates.offsets) - 1
    out = Marginals(np.zeros(score.shape), np.zeros(n), np.zeros(n))
    if model is None or scale == 0.0:
        _independent(candidates.offsets, score, out.probability, out.log_total)
    else:
        sum_paths(candidates.offsets, label, score, model, np.array([scale, WHOLE_STATES, width]), *out)
    return out


def best_path(
    candidates: Candidates, model: NGramTree | None = None, scale: float = 1.0, width: float = WIDTH
) -> NDArray[np.int64]:
    """Column of the candidate of each slot on the path with the best score; shape (n_slots,).

    Examples
    --------
    >>> c = Candidates(np.array([0, 1]), np.array([[0, -1]], np.int32), np.log([[0.6, 0.2]]))
    >>> best_path(c).tolist()
    [0]
    """
    if model is None or scale == 0.0 or not len(candidates.label):
        return np.asarray(candidates.score.argmax(axis=1) if len(candidates.label) else np.zeros(0), np.int64)
    label, score = np.ascontiguousarray(candidates.label), np.ascontiguousarray(candidates.score)
    out = np.zeros(len(label), np.int64)
    _best_path(candidates.offsets, label, score, model, np.array([scale, MOST_STATES, width]), out)
    return out


def likely(score: NDArray[np.float64], ahead: NDArray[np.float64], width: float = WIDTH) -> NDArray[np.bool_]:
    """Candidates that are not far below the best of their slot, with what the n-grams may make of them.

    Parameters
    ----------
    score : ndarray of float64, shape (n_slots, K)
        -inf for none.
    ahead : ndarray of float64, shape (n_slots, K)
        What the n-grams give without a context.
    width : float

    Examples
    --------
    >>> likely(np.array([[0.0, -3.0, -np.inf]]), np.array([[-1.0, -7.0, 0.0]])).tolist()
    [[True, False, False]]
    """
    if not len(score):
        return np.zeros(score.shape, np.bool_)
    whole = score + ahead
    return np.asarray((whole >= whole.max(axis=1, keepdims=True) - width) & (score > -np.inf))


def path_ngrams(offsets: NDArray[np.int64], labels: NDArray[np.int32], model: NGramTree) -> NDArray[np.float64]:
    """Log probability, under the model, of the labels of each record without its GAPs; shape (n_records,).

    Examples
    --------
    >>> from structens.core import Ragged
    >>> from structens.ensembles.ngram_tree import grow_ngrams
    >>> model = grow_ngrams(Ragged.of([[0], [0], [1]]), 2, 1)
    >>> path_ngrams(np.array([0, 2]), np.array([-1, 0], np.int32), model).round(3).tolist()
    [-1.792]
    """
    out = np.zeros(len(offsets) - 1)
    _path_ngrams(offsets, np.ascontiguousarray(labels, np.int32), model, out)
    return out


@njit(cache=True)
def _independent(offsets, score, probability, log_total):  # type: ignore[no-untyped-def]
    for i in range(len(offsets) - 1):
        for s in range(offsets[i], offsets[i + 1]):
            top = score[s, 0]
            for k in range(1, score.shape[1]):
                top = max(top, score[s, k])
            total = 0.0
            for k in range(score.shape[1]):
                probability[s, k] = np.exp(score[s, k] - top) if score[s, k] > -np.inf else 0.0
                total += probability[s, k]
            for k in range(score.shape[1]):
                probability[s, k] /= total
            log_total[i] += top + np.log(total)


@njit(cache=True)
def _longest(offsets):  # type: ignore[no-untyped-def]
    out = 0
    for i in range(len(offsets) - 1):
        out = max(out, offsets[i + 1] - offsets[i])
    return out


@njit(cache=True)
def _forward(span, label, score, model, setting, work):  # type: ignore[no-untyped-def]
    """States before and after each slot, the best scores of paths to them, and pointers back."""
    states, alpha, back, n_states, place = work
    follower = np.empty(1, np.int64)
    states[0, 0], alpha[0, 0], n_states[0] = model[6][2], 0.0, 1
    for s in range(span[0], span[1]):
        t = s - span[0]
        n_next = 0
        for k in range(label.shape[1]):
            x = label[s, k]
            if x == ABSENT or score[s, k] == -np.inf:
                continue
            for i in range(n_states[t]):
                value = alpha[t, i] + score[s, k]
                if x == GAP:
                    to = states[t, i]
                else:
                    value += setting[0] * step(model, states[t, i], x, follower)
                    to = follower[0]
                at = place[to]
                if at < 0:
                    if n_next == states.shape[1]:  # no room: it is kept in place of the worst, or not at all
                        at = 0
                        for j in range(1, n_next):
                            if alpha[t + 1, j] < alpha[t + 1, at]:
                                at = j
                        if alpha[t + 1, at] >= value:
                            continue
                        place[states[t + 1, at]] = -1
                    else:
                        at = n_next
                        n_next += 1
                    place[to] = at
                    states[t + 1, at], alpha[t + 1, at] = to, value
                    back[t + 1, at, 0], back[t + 1, at, 1] = i, k
                elif value > alpha[t + 1, at]:
                    alpha[t + 1, at] = value
                    back[t + 1, at, 0], back[t + 1, at, 1] = i, k
        top, kept = -np.inf, 0
        for i in range(n_next):
            place[states[t + 1, i]] = -1
            top = max(top, alpha[t + 1, i])
        for i in range(n_next):
            if alpha[t + 1, i] >= top - setting[2]:
                states[t + 1, kept], alpha[t + 1, kept] = states[t + 1, i], alpha[t + 1, i]
                back[t + 1, kept, 0], back[t + 1, kept, 1] = back[t + 1, i, 0], back[t + 1, i, 1]
                kept += 1
        n_states[t + 1] = kept


@njit(cache=True)
def _work(offsets, setting, n_nodes):  # type: ignore[no-untyped-def]
    n, most = _longest(offsets) + 1, int(setting[1])
    states, alpha = np.empty((n, most), np.int64), np.empty((n, most))
    place = np.full(n_nodes, -1, np.int64)
    return states, alpha, np.empty((n, most, 2), np.int64), np.empty(n, np.int64), place


@njit(cache=True)
def _best_path(offsets, label, score, model, setting, out):  # type: ignore[no-untyped-def]
    work = _work(offsets, setting, len(model[5]))
    states, alpha, back, n_states, _ = work
    follower = np.empty(1, np.int64)
    for r in range(len(offsets) - 1):
        span = offsets[r : r + 2]
        _forward(span, label, score, model, setting, work)
        n = span[1] - span[0]
        at, top = 0, -np.inf
        for i in range(n_states[n]):
            value = alpha[n, i] + setting[0] * step(model, states[n, i], model[6][0], follower)
            if value > top:
                at, top = i, value
        for t in range(n, 0, -1):
            out[span[0] + t - 1] = back[t, at, 1]
            at = back[t, at, 0]


@njit(cache=True)
def _path_ngrams(offsets, labels, model, out):  # type: ignore[no-untyped-def]
    follower = np.empty(1, np.int64)
    for r in range(len(offsets) - 1):
        here = model[6][2]
        for s in range(offsets[r], offsets[r + 1]):
            if labels[s] >= 0:
                out[r] += step(model, here, labels[s], follower)
                here = follower[0]
        out[r] += step(model, here, model[6][0], follower)
