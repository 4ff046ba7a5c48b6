"""Ensemble: what all combiners share: align, weigh, vote, and hand out answers with confidences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from structens.align import align, needs_alignment
from structens.core import GAP, DataError, Estimator, ExpertPredictions, ParameterError, Ragged, Slots
from structens.ensembles.decoding import Decode, Weighted, check_decode, decode_slots, invalid_tags
from structens.ensembles.n_best import NBest, n_best_answers
from structens.ensembles.restriction import Restriction, check_restriction, compile_restriction
from structens.ensembles.vote import Votes, shares, vote

ALIGN = ("auto", "always", "never")
TIES = ("order", "random")


@dataclass(frozen=True, eq=False)
class Combined:
    """One answer for each of n records, with what it rests on.

    Parameters
    ----------
    X : ExpertPredictions
        The records combined, in the order of the ensemble's experts.
    prediction : Ragged of int32, n rows
        Codes of ``X.alphabet``.
    confidence : ndarray of float64, shape (n_units,)
        Share of the vote behind each unit, in [0, 1]; where it is calibrated, the probability that the unit is right.
    support : ndarray of bool, shape (n_units, p)
        The experts that proposed the unit.
    source : ndarray of int64, shape (n_units,)
        Place in ``X.hypotheses.values`` of the unit as the first expert behind it gave it.
    n_ties : ndarray of int64, shape (n,)
        Slots in which another label had as many votes.
    notes : tuple of str
        What a user should know, such as positions beyond those learnt.
    n_best : NBest or None
        Other likely answers, where they were asked for.
    record_confidence : ndarray of float64, shape (n,), or None
        Probability that the whole answer is right, where it is calibrated.
    slot : ndarray of int64, shape (n_units,), or None
        Number of the slot in which each unit stands.
    posteriors : structens.ensembles.slot_posteriors.Posteriors or None
        Distributions over the labels of the slots, where the method has them.
    """

    X: ExpertPredictions
    prediction: Ragged
    confidence: NDArray[np.float64]
    support: NDArray[np.bool_]
    source: NDArray[np.int64]
    n_ties: NDArray[np.int64]
    notes: tuple[str, ...] = ()
    n_best: NBest | None = None
    record_confidence: NDArray[np.float64] | None = None
    slot: NDArray[np.int64] | None = None
    posteriors: Any = None

    def __len__(self) -> int:
        return len(self.prediction)

    @property
    def answers(self) -> list[Any]:
        """Answers of the input's type."""
        return self.X.render(self.prediction)

    @property
    def confidences(self) -> list[list[float]]:
        """Confidence of each unit of each record."""
        return Ragged(self.confidence, self.prediction.offsets).to_list()

    @property
    def experts(self) -> list[list[list[str]]]:
        """For each unit of each record the names of the experts that proposed it."""
        names = np.array(self.X.names, dtype=object)
        rows = [names[row].tolist() for row in self.support]
        cuts = self.prediction.offsets.tolist()
        return [rows[a:b] for a, b in pairwise(cuts)]


class Ensemble(Estimator):
    """Base of the combiners.

    A subclass says which weight each transition of the path-expert automaton gets (`_weights`), and learns what it
    needs for that (`_learn`). Equal labels of a slot add their weights; see `structens.ensembles.vote`. `decode` says
    how weighted slots become an answer (`structens.ensembles.decoding`), `restriction` which answers are admissible
    (`structens.ensembles.restriction`); neither changes what is learnt.
    """

    needs_gold = False
    align = "auto"
    ties = "order"
    seed = 0
    decode: Decode = "marginal"
    restriction: Restriction | None = None

    names_: tuple[str, ...]
    aligned_: bool

    def fit(self, X: Any, y: Sequence[Any] | None = None) -> Self:
        """Learn from records with gold.

        Parameters
        ----------
        X : ExpertPredictions, or what `ExpertPredictions.of` takes
        y : sequence of answers, optional
            Gold, in place of the records' own.

        Raises
        ------
        DataError
            If there are no records, or gold is needed and no record has any.
        """
        X = ExpertPredictions.of(X)
        if y is not None:
            X = X.with_gold(y)
        for name, allowed in (("align", ALIGN), ("ties", TIES)):
            if getattr(self, name) not in allowed:
                raise ParameterError(f"{name} must be one of {', '.join(allowed)}; got {getattr(self, name)!r}")
        check_decode(self.decode)
        if self.restriction is not None:
            check_restriction(self.restriction)
        if len(X) == 0:
            raise DataError("there are no records to learn from")
        self.names_ = X.names
        self.aligned_ = needs_alignment(X) if self.align == "auto" else self.align == "always"
        known = X.has_gold
        if self.needs_gold and not known.any():
            raise DataError("no record has gold, and this method learns from gold", hint="use method vote or rover")
        if self.needs_gold:
            X = X if known.all() else X[known]
            self._learn(self._slots(X), X)
        return self

    def combine(self, X: Any, *, n_best: int = 0) -> Combined:
        """Combine records.

        Time is linear in the units of all experts for records of bounded length (decoders "string" and "mbr", and
        n-best lists, search a record at a time); memory grows with the records given, so hand over a long stream in
        batches.

        Parameters
        ----------
        X : ExpertPredictions, or what `ExpertPredictions.of` takes
        n_best : int
            Number of most probable answers to list as well; 0 lists none.

        Raises
        ------
        NotFittedError
            If `fit` was not called.
        DataError
            If there are experts that were not there in `fit`. Experts that are missing are absent: they do not vote.
        """
        self._check_fitted()
        X = self._recoded(ExpertPredictions.of(X).reindex(self.names_))
        return self._decided(self._slots(X), X, n_best)

    def _decided(self, slots: Slots, X: ExpertPredictions, n_best: int) -> Combined:
        """Vote and decode."""
        votes = self._vote(slots, X, None)
        if self.ties == "random" and votes.tie.any():
            votes = self._vote(slots, X, _lots(X.ids, slots, votes.tie, self.seed))
        notes, found = list(self._notes(slots)), None
        if self.decode != "marginal" or self.restriction is not None or n_best:
            score = None if self.restriction is None else self._scores(slots, X)
            weighted = Weighted(slots, self._weights(slots, X), self._shares(slots, X), votes, X.ids, self.seed, score)
            acceptor = None if self.restriction is None else compile_restriction(self.restriction, X.alphabet)
            votes, more = decode_slots(self._conditioned(weighted, X), self.decode, acceptor)
            notes += more
            found = n_best_answers(weighted, n_best, votes, acceptor) if n_best else None
        if self.restriction is None:
            notes += invalid_tags(slots, votes)
        return _collect(X, slots, votes, tuple(notes), found)

    def n_best(self, X: Any, n: int) -> list[list[tuple[Any, float]]]:
        """For each record the n most probable answers, of the input's type, with their probabilities.

        The answers of a record are different strings, and the probability of a string is that of all its alignments,
        under slots that are independent given their weights. They are in order and exact; a record has fewer if there
        are no more, or if the search reaches its cap. Under a restriction only admissible answers are listed, with
        their probabilities given admissibility.

        Raises
        ------
        ParameterError
            If n is less than 1.

        Examples
        --------
        >>> from structens.ensembles import MajorityVote
        >>> X = ExpertPredictions.of({"a": ["cat"], "b": ["cut"], "c": ["cat"]})
        >>> [(answer, round(p, 3)) for answer, p in MajorityVote().fit(X).n_best(X, 2)[0]]
        [('cat', 0.667), ('cut', 0.333)]
        """
        if n < 1:
            raise ParameterError(f"n must be a number of answers >= 1; got {n}")
        done = self.combine(X, n_best=n)
        return [] if done.n_best is None else done.n_best.rows(done.X)

    def predict(self, X: Any) -> list[Any]:
        """One answer for each record, of the input's type."""
        return self.combine(X).answers

    def confidence(self, X: Any) -> list[list[float]]:
        """Confidence in [0, 1] of each unit of the answers."""
        return self.combine(X).confidences

    def score(self, X: Any, y: Sequence[Any] | None = None) -> float:
        """One minus the token error rate: higher is better.

        That is edits to the nearest gold, summed over the records that have some, over the summed units of gold.

        Raises
        ------
        NotFittedError, DataError
            As `combine`, and if no record has gold.
        """
        from structens.ensembles.out_of_fold import judged

        X = ExpertPredictions.of(X)
        X = X if y is None else X.with_gold(y)
        if not X.has_gold.any():
            raise DataError("no record has gold, and a score compares with it")
        done = self.combine(X[X.has_gold])
        length = int(done.X.references.lengths[done.X.reference_offsets[:-1]].sum())
        return float(1.0 - judged(done.prediction, done.X).errors.sum() / max(length, 1))

    def weighted_slots(self, X: Any) -> tuple[Slots, NDArray[np.float64]]:
        """The slots of records and the weight of each expert in each: the weighted path-expert automata.

        Parameters
        ----------
        X : ExpertPredictions, or what `ExpertPredictions.of` takes

        Returns
        -------
        slots : Slots
        weights : ndarray of float64, shape (n_slots, p)
            Not negative, up to a factor a slot; of experts that are awake. `decode` and `restriction` play no part.

        Raises
        ------
        NotFittedError, DataError
            As `combine`.

        Examples
        --------
        >>> from structens.ensembles import MajorityVote
        >>> X = ExpertPredictions.of({"a": ["on"], "b": ["in"]})
        >>> MajorityVote().fit(X).weighted_slots(X)[1].tolist()
        [[1.0, 1.0], [1.0, 1.0]]
        """
        self._check_fitted()
        X = self._recoded(ExpertPredictions.of(X).reindex(self.names_))
        slots = self._slots(X)
        return slots, self._weights(slots, X)

    def _recoded(self, X: ExpertPredictions) -> ExpertPredictions:
        """The records in the codes that `_decided` and `_weights` take."""
        return X

    def _slots(self, X: ExpertPredictions) -> Slots:
        return align(X, mode="always" if self.aligned_ else "never")

    def _learn(self, slots: Slots, X: ExpertPredictions) -> None:
        """Learn from records that all have gold."""

    def _weights(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64]:
        """Weight of each vote, shape (n_slots, p)."""
        raise NotImplementedError

    def _vote(self, slots: Slots, X: ExpertPredictions, draw: NDArray[np.float64] | None) -> Votes:
        return vote(slots.labels, self._weights(slots, X), draw=draw)

    def _shares(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64]:
        """Part of the vote behind each label; see `structens.ensembles.vote.shares`."""
        return shares(slots.labels, self._weights(slots, X))

    def _conditioned(self, weighted: Weighted, X: ExpertPredictions) -> Weighted:
        """What is decoded: the weights that remain under a restriction, where it was learnt under."""
        slots = weighted.slots
        flows = self._admissible_flows(slots, weighted.weights, X)
        if flows is None:
            return weighted
        votes = vote(slots.labels, flows)
        if self.ties == "random" and votes.tie.any():
            votes = vote(slots.labels, flows, draw=_lots(X.ids, slots, votes.tie, self.seed))
        return weighted._replace(weights=flows, share=shares(slots.labels, flows), marginal=votes, score=None)

    def _admissible_flows(
        self, slots: Slots, weights: NDArray[np.float64], X: ExpertPredictions
    ) -> NDArray[np.float64] | None:
        """Weights given admissibility, shape (n_slots, p); None where they are as they are."""
        return None

    def _scores(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64] | None:
        """What a restricted answer sums over slots, where that is not the shares."""
        return None

    def _notes(self, slots: Slots) -> tuple[str, ...]:
        return ()


def _lots(ids: Sequence[str | int], slots: Slots, tie: NDArray[np.bool_], seed: int) -> NDArray[np.float64]:
    """A number in [0, 1) for each tied slot that depends on the seed, the record's id and the slot's place only."""
    out = np.zeros(len(tie))
    record, position = slots.record, slots.position
    for s in np.flatnonzero(tie).tolist():
        key = f"{seed}:{ids[record[s]]}:{position[s]}".encode()
        out[s] = int.from_bytes(blake2b(key, digest_size=6).digest(), "big") / 2.0**48
    return out


def _collect(
    X: ExpertPredictions, slots: Slots, votes: Votes, notes: tuple[str, ...], n_best: NBest | None
) -> Combined:
    said = np.flatnonzero(votes.label != GAP)
    record = slots.record
    n = len(X)
    lengths = np.bincount(record[said], minlength=n)
    return Combined(
        X=X,
        prediction=Ragged.from_lengths(votes.label[said], lengths),
        confidence=np.minimum(votes.share[said], 1.0),
        support=slots.labels[said] == votes.label[said, None],
        source=slots.source[said, votes.first[said]],
        n_ties=np.bincount(record, weights=votes.tie, minlength=n).astype(np.int64),
        notes=notes,
        n_best=n_best,
        slot=said,
    )
