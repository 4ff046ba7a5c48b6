"""Candidates of slots, and the parts of their scores: likelihoods of what experts say, and the label's prior."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.boosting.compiled import lean_entry, lean_inner
from structens.ensembles.confusions import Answers

MOST_CANDIDATES = 8
"""Candidates of a slot: the likeliest."""
LEAST_LIKELY = -14.0
"""Candidates that nobody proposed are dropped if they are, in nats, that much below the likeliest."""


class Channel(NamedTuple):
    """How what is said depends on the truth.

    Attributes
    ----------
    table : ndarray of float64, shape (n_sources, A + 1, A + 1), or empty
        Log P(said | truth), from `structens.ensembles.confusions.tables`.
    coin : ndarray of float64, shape (n_sources, 5), or empty
        From `structens.ensembles.confusions.coins`; the other of the two is empty.
    log_spread : ndarray of float64, shape (A + 1,)
        Log frequency of labels among errors, for coins.
    log_prior : ndarray of float64, shape (A + 1,)
        Log frequency of truths; GAP is the last.
    """

    table: NDArray[np.float64]
    coin: NDArray[np.float64]
    log_spread: NDArray[np.float64]
    log_prior: NDArray[np.float64]

    @property
    def is_closed(self) -> bool:
        """Labels that nobody proposed can be candidates."""
        return len(self.table) > 0


def candidates_of(
    answers: Answers,
    channel: Channel,
    exponents: NDArray[np.float64],
    gold: NDArray[np.int32] | None = None,
    most: int = MOST_CANDIDATES,
) -> NDArray[np.int32]:
    """The likeliest truths of each slot; with an open vocabulary, of those proposed.

    Parameters
    ----------
    answers : Answers
    channel : Channel
    exponents : ndarray of float64, shape (p,)
        Of each column's likelihood.
    gold : ndarray of int32, shape (n_slots,), optional
        Truths to have among the candidates; -1 for none.
    most : int
        Number of candidates.

    Returns
    -------
    ndarray of int32, shape (n_slots, K)
        Codes as in `Answers.said`, the likeliest first; -1 where there are fewer.

    Examples
    --------
    >>> a = Answers(np.array([[0, 2]], np.int32), np.array([[0, 1]]), 2, 2)
    >>> coin = np.log(np.tile([0.8, 0.1, 0.1, 0.5, 0.5], (2, 1)))
    >>> channel = Channel(np.zeros((0, 0, 0)), coin, np.log(np.full(3, 0.25)), np.log([0.5, 0.25, 0.25]))
    >>> candidates_of(a, channel, np.ones(2)).tolist()
    [[0, 2, -1]]
    """
    k = min(most, answers.n_labels + 1)
    out = np.full((len(answers.said), k), -1, np.int32)
    n = answers.n_labels + 1
    work = np.empty(n), np.zeros(n, np.bool_), np.empty(max(n, answers.said.shape[1]), np.int64)
    _candidates(answers.said, answers.who, channel, exponents, work, out)
    if gold is not None:
        missing = (gold >= 0) & ~(out == gold[:, None]).any(axis=1)
        filled = np.minimum((out >= 0).sum(axis=1), k - 1)
        out[missing, filled[missing]] = gold[missing]
    return out


def features_of(
    answers: Answers, channel: Channel, label: NDArray[np.int32], groups: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Parts of the candidates' scores, shape (n_slots, K, n_groups + 2).

    The log likelihoods of what the columns of each group say; the log prior of the truth; 1 for GAP.

    Examples
    --------
    >>> a = Answers(np.array([[0, 2]], np.int32), np.array([[0, 1]]), 2, 2)
    >>> coin = np.log(np.tile([0.8, 0.1, 0.1, 0.5, 0.5], (2, 1)))
    >>> channel = Channel(np.zeros((0, 0, 0)), coin, np.log(np.full(3, 0.25)), np.log([0.5, 0.25, 0.25]))
    >>> np.exp(features_of(a, channel, np.array([[0]], np.int32), np.arange(2))).round(3).tolist()
    [[[0.8, 0.1, 0.5, 1.0]]]
    """
    n_groups = int(groups.max(initial=-1)) + 1
    out = np.zeros((*label.shape, n_groups + 2))
    _features(answers.said, answers.who, channel, label, groups, out)
    return out


@lean_inner
def _log_likelihood(channel, who, said, truth):  # type: ignore[no-untyped-def]
    table, coin, log_spread, log_prior = channel
    if len(table):
        return table[who, said, truth]
    gap = len(log_prior) - 1
    if truth == gap:
        return coin[who, 3] if said == gap else coin[who, 4] + log_spread[said]
    if said == truth:
        return coin[who, 0]
    return coin[who, 1] if said == gap else coin[who, 2] + log_spread[said]


@lean_entry
def _candidates(said, who, channel, exponents, work, out):  # type: ignore[no-untyped-def]
    table, log_prior = channel[0], channel[3]
    n_truths, p, most = len(log_prior), said.shape[1], out.shape[1]
    score, proposed, truths = work
    for s in range(len(said)):
        n = 0
        if len(table):
            for t in range(n_truths):
                truths[t], score[t] = t, log_prior[t]
            n = n_truths
            for j in range(p):
                if said[s, j] >= 0:
                    row = table[who[s, j], said[s, j]]
                    for t in range(n_truths):
                        score[t] += exponents[j] * row[t]
        for j in range(p):
            x = said[s, j]
            if x >= 0 and not proposed[x]:
                proposed[x] = True
                if not len(table):
                    truths[n] = x
                    n += 1
                    score[x] = log_prior[x]
                    for i in range(p):
                        if said[s, i] >= 0:
                            score[x] += exponents[i] * _log_likelihood(channel, who[s, i], said[s, i], x)
        least, k = -np.inf, 0
        while k < most:
            best = -1
            for i in range(n):
                t = truths[i]
                if score[t] > -np.inf and (best < 0 or score[t] > score[best]):
                    best = t
            if best < 0:
                break
            if k == 0:
                least = score[best] + LEAST_LIKELY
            if proposed[best] or score[best] >= least:
                out[s, k] = best
                k += 1
            score[best] = -np.inf
        for j in range(p):
            if said[s, j] >= 0:
                proposed[said[s, j]] = False


@lean_entry
def _features(said, who, channel, label, groups, out):  # type: ignore[no-untyped-def]
    log_prior = channel[3]
    n_groups = out.shape[2] - 2
    for s in range(len(said)):
        for k in range(label.shape[1]):
            t = label[s, k]
            if t < 0:
                continue
            for j in range(said.shape[1]):
                if said[s, j] >= 0:
                    out[s, k, groups[j]] += _log_likelihood(channel, who[s, j], said[s, j], t)
            out[s, k, n_groups] = log_prior[t]
            out[s, k, n_groups + 1] = 1.0 if t == len(log_prior) - 1 else 0.0
