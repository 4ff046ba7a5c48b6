"""BestExpert and MajorityVote: the baselines that every table shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from structens.core import ExpertPredictions, ParameterError, Slots
from structens.ensembles.base import Ensemble
from structens.ensembles.decoding import Decode
from structens.ensembles.idle_options import refuse_idle
from structens.ensembles.restriction import Restriction
from structens.ensembles.vote import Votes, rover, rover_shares
from structens.losses import edit_distance

CONFIDENCE = ("none", "average", "maximum")


class BestExpert(Ensemble):
    """The single expert with the lowest token error on the records with gold; ties go to the first in order.

    A record for which that expert is absent gets the answer of the next best one that is there.

    Parameters
    ----------
    align : {"auto", "always", "never"}
        How answers become slots; see `structens.align.align`.
    restriction : "bio", "bioes", mapping, or None
        Admissible answers; an inadmissible one gets labels of other experts, as few as possible.

    Attributes
    ----------
    best_ : str
        Name of the best expert.
    error_ : ndarray of float64, shape (p,)
        Token error rate of each expert where it answered: summed edit distance (to the nearest alternative) over summed
        gold length; infinite for one that never did.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["cat", "dig"], "b": ["cut", "dog"], "c": ["cat", "dog"]}, gold=["cat", "dog"])
    >>> BestExpert().fit(X).best_
    'c'
    """

    needs_gold = True

    error_: NDArray[np.float64]
    best_: str

    def __init__(self, align: str = "auto", restriction: Restriction | None = None) -> None:
        self.align = align
        self.restriction = restriction

    def _learn(self, slots: Slots, X: ExpertPredictions) -> None:
        hypotheses, references = X.hypotheses.to_list(), X.references.to_list()
        spans = X.reference_offsets.tolist()
        wrong, length = np.zeros(X.n_experts), np.zeros(X.n_experts)
        for i in range(len(X)):
            golds = references[spans[i] : spans[i + 1]]
            for j in np.flatnonzero(X.present[i]).tolist():
                said = hypotheses[i * X.n_experts + j]
                wrong[j] += min(edit_distance(gold, said) for gold in golds)
                length[j] += len(golds[0])
        answered = X.present.any(axis=0)
        self.error_ = np.where(answered, wrong / np.maximum(length, 1), np.inf)
        self.best_ = X.names[int(self.error_.argmin())]

    def _weights(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64]:
        out = np.zeros(slots.labels.shape)
        error = np.where(slots.awake, self.error_, np.inf)
        finite = np.where(np.isfinite(error), error, np.finfo(float).max)
        finite[~slots.awake] = np.inf
        out[np.arange(len(out)), finite.argmin(axis=1)] = 1.0
        return out


class MajorityVote(Ensemble):
    """One vote an expert, or the votes given with the records; with `use_confidence` the ROVER rule.

    Learns nothing. The score of a label is ``alpha * frequency + (1 - alpha) * confidence`` where confidences are
    used; where a batch of records has none, or `use_confidence` is "none", it is the plain vote.

    Parameters
    ----------
    use_confidence : {"none", "average", "maximum"}
        Use the experts' confidences: their mean, or their maximum, over the supporters of a label.
    alpha : float
        Weight of the frequency, in [0, 1].
    null_confidence : float
        Confidence of "nothing stands here", and of labels whose supporters give no confidence, in [0, 1].
    align : {"auto", "always", "never"}
    ties : {"order", "random"}
        Ties go to the first expert in order, or are drawn by lot.
    seed : int
        Seed of the lots; a lot depends on the seed, the record's id and the slot only. Also of the samples of "mbr".
    decode : {"marginal", "viterbi", "string", "mbr"} or MBR
        How weighted slots become an answer, see `structens.ensembles.decoding`.
    restriction : "bio", "bioes", mapping, or None
        Admissible answers, see `structens.ensembles.restriction`.

    Raises
    ------
    ParameterError
        In `fit`, if an option is out of range.

    References
    ----------
    Fiscus (1997), ROVER.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": [["the", "cat"]], "b": [["the", "hat"]], "c": [["a", "hat"]]})
    >>> MajorityVote().fit(X).predict(X)
    [['the', 'hat']]
    """

    def __init__(
        self,
        use_confidence: str = "none",
        alpha: float = 0.5,
        null_confidence: float = 0.5,
        align: str = "auto",
        ties: str = "order",
        seed: int = 0,
        decode: Decode = "marginal",
        restriction: Restriction | None = None,
    ) -> None:
        self.use_confidence = use_confidence
        self.alpha = alpha
        self.null_confidence = null_confidence
        self.align = align
        self.ties = ties
        self.seed = seed
        self.decode = decode
        self.restriction = restriction

    def fit(self, X: Any, y: Sequence[Any] | None = None) -> Self:
        """Check the options and note the experts; nothing is learnt."""
        if self.use_confidence not in CONFIDENCE:
            raise ParameterError(f"use_confidence must be one of {', '.join(CONFIDENCE)}; got {self.use_confidence!r}")
        for name in ("alpha", "null_confidence"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ParameterError(f"{name} must be between 0 and 1; got {getattr(self, name)!r}")
        refuse_idle(self)
        return super().fit(X, y)

    def _weights(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64]:
        if X.weights is None:
            return np.ones(slots.labels.shape)
        return X.weights[slots.record]

    def _vote(self, slots: Slots, X: ExpertPredictions, draw: NDArray[np.float64] | None) -> Votes:
        if self.use_confidence == "none" or X.confidence is None:
            return super()._vote(slots, X, draw)
        known = np.append(X.confidence, np.nan)  # source is -1 where an expert says nothing
        return rover(
            slots.labels,
            self._weights(slots, X),
            known[slots.source],
            alpha=self.alpha,
            null_confidence=self.null_confidence,
            maximum=self.use_confidence == "maximum",
            draw=draw,
        )

    def _shares(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64]:
        if self.use_confidence == "none" or X.confidence is None:
            return super()._shares(slots, X)
        known = np.append(X.confidence, np.nan)
        return rover_shares(
            slots.labels,
            self._weights(slots, X),
            known[slots.source],
            alpha=self.alpha,
            null_confidence=self.null_confidence,
            maximum=self.use_confidence == "maximum",
        )
