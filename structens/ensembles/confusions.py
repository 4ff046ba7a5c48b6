"""What an expert says where a label is right: confusion tables for closed vocabularies, coins for open ones.

A table holds P(expert says l | truth t) for all labels and GAP. It is estimated in two steps, each shrunk to what is
known of more: how often the expert is right about t, shrunk to how often it is right at all; and what it says where it
is wrong, shrunk to what all experts say there, shrunk to how frequent the label is among all errors. A coin knows only
how often an expert is right, leaves out, and puts in: errors are spread over labels by their frequency, so that
vocabularies may be as large as a language.

Sources: Dawid and Skene (1979), "Maximum likelihood estimation of observer error-rates using the EM algorithm";
Raykar et al. (2010) for priors; Zhang et al. (2014) for one-coin models.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.core import ABSENT, GAP, ExpertPredictions, Slots


class Answers(NamedTuple):
    """What was said in each slot, in codes of the labels learnt.

    Attributes
    ----------
    said : ndarray of int32, shape (n_slots, p)
        Labels 0 to A - 1, A for GAP, -1 for no answer.
    who : ndarray of int64, shape (n_slots, p)
        Row of each answer's source: an expert, or a worker.
    n_labels : int
        A.
    n_sources : int
    """

    said: NDArray[np.int32]
    who: NDArray[np.int64]
    n_labels: int
    n_sources: int


class Shrinkage(NamedTuple):
    """Weights of priors, in answers.

    Attributes
    ----------
    rate : float
        Of a source's own rate on its rate for a label, and of the pool's on a source's.
    errors : float
        Of the pool's errors at a label on a source's.
    pool : float
        Of label frequencies on the pool's errors at a label.
    """

    rate: float = 4.0
    errors: float = 4.0
    pool: float = 4.0


def answers_of(labels: NDArray[np.int32], who: NDArray[np.int64], n_labels: int, n_sources: int) -> Answers:
    """Answers from the labels of slots, shape (n_slots, p).

    Examples
    --------
    >>> answers_of(np.array([[0, -1, -2]], np.int32), np.array([[0, 1, 2]]), 7, 3).said.tolist()
    [[0, 7, -1]]
    """
    said = np.where(labels == GAP, n_labels, np.where(labels == ABSENT, -1, labels)).astype(np.int32)
    return Answers(said, np.ascontiguousarray(who, np.int64), n_labels, n_sources)


def sources_of(X: ExpertPredictions) -> list[str]:
    """Names of those who answer: of workers, sorted, where records name them, or else of experts.

    Examples
    --------
    >>> sources_of(ExpertPredictions.of({"a": ["x", "y"]}, workers={"a": ["v", "u"]}))
    ['u', 'v']
    """
    if X.workers is None:
        return list(X.names)
    return sorted({str(w) for w in X.workers.ravel() if w is not None})


def worker_numbers(names: NDArray[np.object_] | None, shape: tuple[int, int], known: list[str]) -> NDArray[np.int64]:
    """Place of each name among those known; that after the last for others, and for none.

    Examples
    --------
    >>> worker_numbers(np.array([["eve", None], ["ann", "bob"]], object), (2, 2), ["None", "ann", "eve"]).tolist()
    [[2, 3], [1, 3]]
    """
    place: dict[str | None, int] = {name: k for k, name in enumerate(known)}
    if names is None:
        return np.full(shape, len(place), np.int64)
    rows = [
        [len(place) if name is None else place.get(str(name), len(place)) for name in row] for row in names.tolist()
    ]
    return np.array(rows, np.int64).reshape(shape)


def answers_by_worker(slots: Slots, X: ExpertPredictions, workers: list[str], n_labels: int) -> Answers:
    """Answers of workers; those not among these, or not named, are one more source, the last.

    Examples
    --------
    >>> from structens.align import align
    >>> X = ExpertPredictions.of({"a": ["x"], "b": ["y"]}, workers={"a": ["v"], "b": ["w"]})
    >>> answers_by_worker(align(X), X, ["u", "v"], 2).who.tolist()
    [[1, 2]]
    """
    who = worker_numbers(X.workers, (len(X), slots.n_experts), workers)[slots.record]
    return answers_of(slots.labels, who, n_labels, len(workers) + 1)


def count_said(answers: Answers, label: NDArray[np.int32], probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Expected counts of (source, truth, said), shape (n_sources, A + 1, A + 1).

    Parameters
    ----------
    answers : Answers
    label : ndarray of int32, shape (n_slots, K)
        Candidates, as in `Answers.said`; -1 for none.
    probability : ndarray of float64, shape (n_slots, K)

    Examples
    --------
    >>> a = Answers(np.array([[0, 1]], np.int32), np.array([[0, 1]]), 1, 2)
    >>> count_said(a, np.array([[0, 1]], np.int32), np.array([[0.75, 0.25]])).tolist()
    [[[0.75, 0.0], [0.25, 0.0]], [[0.0, 0.75], [0.0, 0.25]]]
    """
    out = np.zeros((answers.n_sources, answers.n_labels + 1, answers.n_labels + 1))
    _count(answers.said, answers.who, label, probability, out)
    return out


def tables(counts: NDArray[np.float64], shrinkage: Shrinkage) -> NDArray[np.float64]:
    """Log probabilities of what is said given the truth, shape (n_sources, A + 1, A + 1): said before truth.

    Examples
    --------
    >>> counts = np.zeros((1, 3, 3))
    >>> counts[0, 0, 0] = 9.0
    >>> np.exp(tables(counts, Shrinkage())).sum(axis=1).round(6).tolist()
    [[1.0, 1.0, 1.0]]
    """
    n_truths = counts.shape[1]
    right = np.diagonal(counts, axis1=1, axis2=2)  # (W, T)
    total = counts.sum(axis=2)
    rate = _rates(right, total, shrinkage.rate)
    errors = counts.copy()
    errors[:, np.arange(n_truths), np.arange(n_truths)] = 0.0
    pool = errors.sum(axis=0)
    frequency = pool.sum(axis=0) + 0.5
    base = np.tile(frequency, (n_truths, 1))
    base[np.arange(n_truths), np.arange(n_truths)] = 0.0
    base /= np.maximum(base.sum(axis=1, keepdims=True), 1e-300)  # 0 where nothing but GAP is known
    spread = (pool + shrinkage.pool * base) / (pool.sum(axis=1, keepdims=True) + shrinkage.pool)
    own = (errors + shrinkage.errors * spread) / (errors.sum(axis=2, keepdims=True) + shrinkage.errors)
    out = (1.0 - rate)[:, :, None] * own
    out[:, np.arange(n_truths), np.arange(n_truths)] = rate
    return np.ascontiguousarray(np.log(out).transpose(0, 2, 1))


def _rates(right: NDArray[np.float64], total: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    """How often a source is right about a truth, shrunk to the source, shrunk to the pool; GAP (last) by itself."""
    out = np.empty_like(right)
    for part in (slice(0, right.shape[1] - 1), slice(right.shape[1] - 1, right.shape[1])):
        r, n = right[:, part], total[:, part]
        pool = (r.sum() + 0.7) / (n.sum() + 1.0)
        own = (r.sum(axis=1) + weight * pool) / (n.sum(axis=1) + weight)
        out[:, part] = (r + weight * own[:, None]) / (n + weight)
    return np.clip(out, 1e-6, 1.0 - 1e-6)


def count_coins(answers: Answers, label: NDArray[np.int32], probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Expected counts of each source, shape (n_sources, 5): truth a label: right, left out, wrong; GAP: right, wrong.

    Examples
    --------
    >>> a = Answers(np.array([[0, 1]], np.int32), np.array([[0, 1]]), 1, 2)
    >>> count_coins(a, np.array([[0, 1]], np.int32), np.array([[0.75, 0.25]])).tolist()
    [[0.75, 0.0, 0.0, 0.0, 0.25], [0.0, 0.75, 0.0, 0.25, 0.0]]
    """
    out = np.zeros((answers.n_sources, 5))
    _count_coins(answers.said, answers.who, label, probability, answers.n_labels, out)
    return out


def coins(counts: NDArray[np.float64], weight: float = 4.0) -> NDArray[np.float64]:
    """Log probabilities, shape (n_sources, 5), shrunk to the pool's by an empirical Bayes prior of that many answers.

    Examples
    --------
    >>> np.exp(coins(np.array([[8.0, 1.0, 1.0, 3.0, 1.0]]))).round(3).tolist()
    [[0.783, 0.109, 0.109, 0.725, 0.275]]
    """
    out = np.empty(counts.shape)
    for part in (slice(0, 3), slice(3, 5)):
        n = counts[:, part]
        pool = (n.sum(axis=0) + 0.5) / (n.sum() + 0.5 * n.shape[1])
        out[:, part] = (n + weight * pool) / (n.sum(axis=1, keepdims=True) + weight)
    return np.log(np.clip(out, 1e-6, 1.0))


@njit(cache=True)
def _count(said, who, label, probability, out):  # type: ignore[no-untyped-def]
    for s in range(len(said)):
        for k in range(label.shape[1]):
            if label[s, k] >= 0 and probability[s, k] > 0.0:
                for j in range(said.shape[1]):
                    if said[s, j] >= 0:
                        out[who[s, j], label[s, k], said[s, j]] += probability[s, k]


@njit(cache=True)
def _count_coins(said, who, label, probability, gap, out):  # type: ignore[no-untyped-def]
    for s in range(len(said)):
        for k in range(label.shape[1]):
            if label[s, k] < 0 or probability[s, k] <= 0.0:
                continue
            for j in range(said.shape[1]):
                if said[s, j] < 0:
                    continue
                same = said[s, j] == label[s, k]
                if label[s, k] == gap:
                    out[who[s, j], 3 if same else 4] += probability[s, k]
                else:
                    out[who[s, j], 0 if same else (1 if said[s, j] == gap else 2)] += probability[s, k]
