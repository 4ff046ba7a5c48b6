"""ReliabilitySelection: the whole answer of one worker, chosen by reliability and by likeness to the others' answers.

A baseline in the manner of HRRASA: a worker is reliable where its answers are like those of others, an answer is good
where it is like the answers of reliable workers; the two are found in turn. Likeness is one minus the edit distance by
the length of the longer answer, in place of embeddings. It selects and cannot mend: no answer is better than the best
that somebody gave.

Source: Li (2020), "Crowdsourced text sequence aggregation based on hybrid reliability and representation" (SIGIR).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from structens.core import ExpertPredictions, ParameterError, Slots
from structens.ensembles.base import Ensemble

TIES = 1e-9
"""Weight of a worker's own reliability on its answer's score: of two answers, the more reliable worker's."""


class ReliabilitySelection(Ensemble):
    """One whole answer for each record, by reliability of workers (or experts) and likeness of answers.

    Parameters
    ----------
    n_iterations : int
        Rounds of reliabilities given scores and scores given reliabilities.
    shrinkage : float
        Weight of the pool on a worker's reliability, in answers.
    align : {"auto", "always", "never"}
        Only for how units are shown; the choice compares answers as wholes.

    Attributes
    ----------
    reliability_ : dict of str to float
        Of each worker or expert, its mean likeness to the answers of reliable others.

    Raises
    ------
    ParameterError
        In `fit`, if an option is out of range.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["the cat sat"], "b": ["the cat sad"], "c": ["a hat"]}, unit="word")
    >>> ReliabilitySelection().fit(X).predict(X)
    ['the cat sat']
    """

    reliability_: dict[str, float]

    def __init__(self, n_iterations: int = 5, shrinkage: float = 4.0, align: str = "auto") -> None:
        self.n_iterations = n_iterations
        self.shrinkage = shrinkage
        self.align = align

    def fit(self, X: Any, y: Sequence[Any] | None = None) -> Self:
        """Learn reliabilities from the answers alone; gold is not used."""
        if self.n_iterations < 1 or not self.shrinkage > 0:
            rule = "n_iterations must be at least 1 and shrinkage above 0"
            raise ParameterError(f"{rule}; got {self.n_iterations!r} and {self.shrinkage!r}")
        X = ExpertPredictions.of(X)
        super().fit(X)
        like, (names, who) = likeness(X), _sources(X)
        weight = np.ones(len(names) + 1)
        for _ in range(self.n_iterations):
            score = _scores(like, weight[who], X.present)
            inside = X.present & (X.present.sum(axis=1, keepdims=True) > 1)
            total = np.bincount(who[inside], score[inside], minlength=len(weight))
            n = np.bincount(who[inside], minlength=len(weight))
            pool = total.sum() / max(n.sum(), 1)
            weight = (total + self.shrinkage * pool) / (n + self.shrinkage)
        self.reliability_ = dict(zip([*names, ""], weight.tolist(), strict=True))
        return self

    def _weights(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64]:
        names, who = _sources(X)
        pool = self.reliability_[""]
        weight = np.array([self.reliability_.get(name, pool) for name in [*names, ""]])
        score = _scores(likeness(X), weight[who], X.present) + TIES * weight[who]
        score = np.where(X.present, score, -1.0)
        out = np.zeros(slots.labels.shape)
        out[np.arange(len(out)), score.argmax(axis=1)[slots.record]] = 1.0
        return out


def likeness(X: ExpertPredictions) -> NDArray[np.float64]:
    """Likeness of any two answers to a record, shape (n, p, p); 0 where one is absent.

    Examples
    --------
    >>> likeness(ExpertPredictions.of({"a": ["cat"], "b": ["hat"], "c": [None]})).round(2)[0].tolist()
    [[1.0, 0.67, 0.0], [0.67, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    p, rows = X.n_experts, X.hypotheses.to_list()
    texts = ["".join(chr(code if code < 0xD800 else code + 0x800) for code in row) for row in rows]
    out = np.zeros((len(X), p, p))
    for i in range(len(X)):
        own = texts[i * p : (i + 1) * p]
        out[i] = cdist(own, own, scorer=Levenshtein.normalized_similarity)
    return out * (X.present[:, :, None] & X.present[:, None, :])


def _sources(X: ExpertPredictions) -> tuple[list[str], NDArray[np.int64]]:
    """Names of workers or experts, and the number of each answer's, the last for none known."""
    if X.workers is None:
        return list(X.names), np.broadcast_to(np.arange(X.n_experts), X.present.shape)
    names = sorted({str(w) for w in X.workers.ravel() if w is not None})
    place = {name: i for i, name in enumerate(names)}
    rows = [[place.get(str(w), len(names)) if w is not None else len(names) for w in row] for row in X.workers.tolist()]
    return names, np.array(rows, np.int64).reshape(X.present.shape)


def _scores(like: NDArray[np.float64], weight: NDArray[np.float64], present: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Mean likeness of each answer to the others of its record, weighted by their reliability."""
    others = np.where(present, weight, 0.0)[:, None, :] * (1.0 - np.eye(like.shape[1]))
    total = others.sum(axis=2)
    return np.asarray((like * others).sum(axis=2) / np.where(total > 0, total, 1.0))
