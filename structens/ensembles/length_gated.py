"""LengthGated: the best expert for short records, an ensemble for long ones.

Cortes, Kuznetsov and Mohri (ACL 2014, section 5.4) saw on speech that no ensemble beats the best expert on short
sequences while all do on longer ones, and advise "for short sequences use the best expert model and for longer
sequences, use the ensemble model"; there the border was four units. Here it may be learnt from held-out answers.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.ranges import check_whole
from structens.core import ExpertPredictions, ParameterError, Ragged, Slots
from structens.ensembles.base import Combined, Ensemble
from structens.ensembles.model_selection import cross_predict
from structens.ensembles.n_best import NBest
from structens.ensembles.path_experts import PathExpertEnsemble
from structens.ensembles.voting import BestExpert
from structens.losses import edit_distance


class LengthGated(Ensemble):
    """Below a length the best expert answers, from it on an ensemble.

    The length of a record is the median of the lengths of its experts' answers (the lower of two): gold is not there
    when answers are wanted. Both learn from all records with gold.

    Parameters
    ----------
    ensemble : Ensemble, optional
        What answers long records; default ``PathExpertEnsemble()``. It is not changed: a copy learns.
    min_len : int, optional
        Least length that the ensemble answers; 0 is the ensemble alone. None learns it: the one with the fewest edits
        in answers that were given without having seen their record, and of equally good ones the least.
    n_folds : int
        Folds of the held-out answers.
    seed : int
        Of the folds.
    align : {"auto", "always", "never"}
        How answers become slots, for both. A restriction of `ensemble` is that of the best expert too.

    Attributes
    ----------
    min_len_ : int
    lengths_ : ndarray of int64
        Borders tried, ascending: 0 and one above each length that occurs; empty where `min_len` is given.
    held_out_ : ndarray of float64
        Token error of the held-out answers with each border. That of the border taken is a little too good, since it
        was chosen by these answers.
    short_, long_ : Ensemble
        The two, learnt.

    Raises
    ------
    ParameterError
        In `fit`, if an option is out of range.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["to", "cot", "sun", "ten"], "b": ["no", "cat", "sin", "tin"],
    ...                           "c": ["no", "cat", "sun", "tin"]}, gold=["to", "cat", "sun", "tin"])
    >>> from structens.ensembles import MajorityVote
    >>> model = LengthGated(MajorityVote(), min_len=3).fit(X)
    >>> model.short_.best_, model.predict({"a": ["so", "pet"], "b": ["go", "pat"], "c": ["me", "pat"]})
    ('c', ['me', 'pat'])
    """

    needs_gold = True

    min_len_: int
    lengths_: NDArray[np.int64]
    held_out_: NDArray[np.float64]
    short_: BestExpert
    long_: Ensemble

    def __init__(
        self,
        ensemble: Ensemble | None = None,
        min_len: int | None = None,
        n_folds: int = 5,
        seed: int = 0,
        align: str = "auto",
    ) -> None:
        self.ensemble = ensemble
        self.min_len = min_len
        self.n_folds = n_folds
        self.seed = seed
        self.align = align

    def _learn(self, slots: Slots, X: ExpertPredictions) -> None:
        if self.min_len is not None:
            check_whole("min_len", self.min_len, 0, "None, to learn it, or a length")
        check_whole("n_folds", self.n_folds, 2)
        if self.ensemble is not None and not isinstance(self.ensemble, Ensemble):
            raise ParameterError(f"ensemble must be an ensemble, such as MajorityVote(); got {self.ensemble!r}")
        mode = "always" if self.aligned_ else "never"
        above = PathExpertEnsemble() if self.ensemble is None else self.ensemble
        above = type(above)(**{**above.get_params(deep=False), "align": mode})
        best = BestExpert(align=mode, restriction=above.restriction)
        self.lengths_, self.held_out_ = np.zeros(0, np.int64), np.zeros(0)
        if self.min_len is not None:
            self.min_len_ = int(self.min_len)
        elif len(X) < 2:
            self.min_len_ = 0
        else:
            self.lengths_, self.held_out_ = self._held_out(best, above, X)
            self.min_len_ = int(self.lengths_[self.held_out_.argmin()])
        self.short_, self.long_ = best.fit(X), above.fit(X)

    def _held_out(
        self, best: Ensemble, above: Ensemble, X: ExpertPredictions
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Borders, and the error with each, of answers from ensembles that did not learn from their record."""
        n_folds = min(self.n_folds, len(X))
        short, long = (
            _edits(cross_predict(ensemble, X, folds=n_folds, random_state=self.seed), X) for ensemble in (best, above)
        )
        length = record_lengths(X)
        borders = np.concatenate([[0], np.unique(length) + 1]).astype(np.int64)
        below = length[None, :] < borders[:, None]
        errors = np.where(below, short, long).sum(axis=1)
        units = X.references.lengths[X.reference_offsets[:-1]].sum()
        return borders, errors / max(int(units), 1)

    def _recoded(self, X: ExpertPredictions) -> ExpertPredictions:
        return self.long_._recoded(X)

    def _decided(self, slots: Slots, X: ExpertPredictions, n_best: int) -> Combined:
        below = record_lengths(X) < self.min_len_
        if below.all():
            return self.short_._decided(slots, X, n_best)
        if not below.any():
            return self.long_._decided(slots, X, n_best)
        short = _part(self.short_, slots, X, np.flatnonzero(below), n_best)
        long = _part(self.long_, slots, X, np.flatnonzero(~below), n_best)
        return _merged(short, long, below, X)

    def _weights(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64]:
        below = (record_lengths(X) < self.min_len_)[slots.record]
        return np.where(below[:, None], self.short_._weights(slots, X), self.long_._weights(slots, X))


def record_lengths(X: ExpertPredictions) -> NDArray[np.int64]:
    """Median length of the answers to each record, the lower of two; 0 where nobody answered. Shape (n,).

    Examples
    --------
    >>> record_lengths(ExpertPredictions.of({"a": ["cat", ""], "b": ["at", None], "c": ["a", None]})).tolist()
    [2, 0]
    """
    lengths = X.hypotheses.lengths.reshape(len(X), X.n_experts).astype(np.int64)
    ordered = np.sort(np.where(X.present, lengths, np.iinfo(np.int64).max), axis=1)
    answered = X.present.sum(axis=1)
    middle = ordered[np.arange(len(X)), np.maximum(answered - 1, 0) // 2]
    return np.where(answered > 0, middle, 0).astype(np.int64)


def _edits(answers: list[Any], X: ExpertPredictions) -> NDArray[np.float64]:
    """Edit distance of each answer to the nearest reference."""
    golds, cuts = X.render(X.references), X.reference_offsets.tolist()
    spans = [golds[a:b] for a, b in pairwise(cuts)]
    return np.array([min(edit_distance(g, a) for g in span) for a, span in zip(answers, spans, strict=True)], float)


def _part(ensemble: Ensemble, slots: Slots, X: ExpertPredictions, rows: NDArray[np.int64], n_best: int) -> Combined:
    """What it answers to these records, so that its notes count no others; sources are places in all of X."""
    p = X.n_experts
    places = _rows(X.hypotheses.offsets, (rows[:, None] * p + np.arange(p)).ravel())
    inside = np.full(len(X.hypotheses.values) + 1, -1, dtype=np.int64)  # the last is for -1: nothing said
    inside[places] = np.arange(len(places))
    those = slots[rows]
    done = ensemble._decided(replace(those, source=inside[those.source]), X[rows], n_best)
    back = np.append(places, -1)
    lists = None if done.n_best is None else replace(done.n_best, source=back[done.n_best.source])
    return replace(done, source=back[done.source], n_best=lists)


def _merged(short: Combined, long: Combined, below: NDArray[np.bool_], X: ExpertPredictions) -> Combined:
    """Records of X: those of `short` where below, else those of `long`."""
    picked = np.where(below, np.cumsum(below) - 1, len(short) + np.cumsum(~below) - 1)
    text = _stacked(short.prediction, long.prediction)
    units = _rows(text.offsets, picked)
    lists = None
    if short.n_best is not None and long.n_best is not None:
        lists = _merged_lists(short.n_best, long.n_best, picked)
    return Combined(
        X=X,
        prediction=text[picked],
        confidence=np.concatenate([short.confidence, long.confidence])[units],
        support=np.concatenate([short.support, long.support])[units],
        source=np.concatenate([short.source, long.source])[units],
        n_ties=np.concatenate([short.n_ties, long.n_ties])[picked],
        notes=_summed(short.notes, long.notes),
        n_best=lists,
    )


def _summed(short: tuple[str, ...], long: tuple[str, ...]) -> tuple[str, ...]:
    """Notes of both; of two that differ by the count in front at most, one with the sum."""
    counts: dict[str, int | None] = {}
    for note in (*short, *long):
        first, _, rest = note.partition(" ")
        if first.isdecimal():
            counts[rest] = (counts.get(rest) or 0) + int(first)
        else:
            counts[note] = None
    return tuple(text if count is None else f"{count} {text}" for text, count in counts.items())


def _merged_lists(short: NBest, long: NBest, picked: NDArray[np.int64]) -> NBest:
    texts = _stacked(short.texts, long.texts)
    offsets = np.concatenate([short.offsets, long.offsets[1:] + short.offsets[-1]])
    answers = _rows(offsets, picked)
    return NBest(
        texts=texts[answers],
        probability=np.concatenate([short.probability, long.probability])[answers],
        offsets=np.concatenate([[0], np.cumsum(np.diff(offsets)[picked])]).astype(np.int64),
        source=np.concatenate([short.source, long.source])[_rows(texts.offsets, answers)],
    )


def _stacked(a: Ragged, b: Ragged) -> Ragged:
    return Ragged(np.concatenate([a.values, b.values]), np.concatenate([a.offsets, b.offsets[1:] + a.offsets[-1]]))


def _rows(offsets: NDArray[np.int64], picked: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places of all items of the rows picked, in their order."""
    lengths = np.diff(offsets)[picked]
    ends = np.cumsum(lengths)
    out: NDArray[np.int64] = np.arange(lengths.sum()) + np.repeat(offsets[picked] - (ends - lengths), lengths)
    return out
