"""Out-of-fold answers on slots that are made once: what a method says of records that it did not learn from.

Folds are whole records. Slots, which do not depend on the fold, are shared by all methods and folds. A method never
sees the gold of a record that it answers, not even in the slots.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.core import UNKNOWN, ExpertPredictions, Ragged, Slots
from structens.ensembles.base import Combined, Ensemble
from structens.ensembles.confidence_features import slot_of_unit
from structens.ensembles.opinions import Opinion, opinion_behind, stacked
from structens.ensembles.voting import MajorityVote
from structens.losses.hits import judge


class Said(NamedTuple):
    """What a method says of records.

    Attributes
    ----------
    done : Combined
    opinion : Opinion
        Probabilities of labels, slot by slot.
    """

    done: Combined
    opinion: Opinion


@dataclass(frozen=True, eq=False)
class Judged:
    """Answers beside gold.

    Parameters
    ----------
    errors : ndarray of float64, shape (n,)
        Edit distance of each answer to the nearest reference.
    hit : ndarray of bool, shape (n_units,)
        The units of the answers that are right.
    """

    errors: NDArray[np.float64]
    hit: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Learning:
    """Records with gold, their slots, and folds of them.

    Parameters
    ----------
    slots : Slots
    X : ExpertPredictions
    aligned : bool
        Whether the slots come from alignment.
    fold : ndarray of int64, shape (n,)
        Number of each record's fold, from 0.
    others : ExpertPredictions, optional
        Records without gold, in the same alphabet, for methods that learn from them too.
    """

    slots: Slots
    X: ExpertPredictions
    aligned: bool
    fold: NDArray[np.int64]
    others: ExpertPredictions | None = None

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.fold.max()) + 1

    def learnt(self, ensemble: Ensemble, outside: int | None = None) -> Ensemble:
        """Let an ensemble learn from all records, or from those outside a fold.

        One that learns from records without gold as well has the others too, and those of the fold without their gold.
        """
        if learns_without_gold(ensemble):
            X = self.X if outside is None else hide_gold(self.X, self.fold == outside)
            whole = X if self.others is None else ExpertPredictions.concatenate([X, self.others])
            return learn_on(ensemble, self.slots, whole, self.aligned)
        if outside is None:
            return learn_on(ensemble, self.slots, self.X, self.aligned)
        slots, X, _ = part(self.slots, self.X, np.flatnonzero(self.fold != outside))
        return learn_on(ensemble, slots, X, self.aligned)

    def out_of_fold(self, ensemble: Ensemble, *, after: Callable[[int], None] | None = None) -> Said:
        """What an ensemble says of each record when it has learnt from the other folds.

        Parameters
        ----------
        ensemble : Ensemble
            Learnt anew for each fold, or once if it learns nothing.
        after : callable, optional
            Called with the number of folds done; what it raises ends the work.

        Examples
        --------
        >>> from structens.align import align
        >>> from structens.ensembles import BestExpert
        >>> X = ExpertPredictions.of({"a": ["x"] * 6, "b": ["y"] * 6}, gold=["y"] * 5 + ["x"])
        >>> Learning(align(X), X, False, np.arange(6) % 3).out_of_fold(BestExpert()).done.answers
        ['y', 'y', 'y', 'y', 'y', 'y']
        """
        blind, unknown = without_gold(self.slots, self.X)
        if not ensemble.needs_gold and not learns_without_gold(ensemble):
            return say(learn_on(ensemble, blind, unknown, self.aligned), blind, unknown)
        rows, places_of_slots, parts, opinions = [], [], [], []
        for k in range(self.n_folds):
            self.learnt(ensemble, outside=k)
            inside = np.flatnonzero(self.fold == k)
            slots, X, places = part(blind, unknown, inside)
            said, slot = say(ensemble, slots, X), np.flatnonzero(self.fold[self.slots.record] == k)
            at = slot[slot_of_unit(said.done, slots)]
            rows.append(inside)
            places_of_slots.append(slot)
            opinions.append(said.opinion)
            parts.append(replace(said.done, source=np.append(places, -1)[said.done.source], slot=at))
            if after is not None:
                after(k + 1)
        return Said(merged(parts, rows, unknown), stacked(opinions, places_of_slots, len(self.slots.labels)))


def learn_on(ensemble: Ensemble, slots: Slots, X: ExpertPredictions, aligned: bool) -> Ensemble:
    """Let an ensemble learn from slots that are there already.

    Parameters
    ----------
    ensemble : Ensemble
    slots : Slots
    X : ExpertPredictions
        The same records, all with gold if the ensemble needs any.
    aligned : bool
        Whether the slots come from alignment.
    """
    if _has_own_fit(ensemble):  # it looks at more than slots
        ensemble.align = "always" if aligned else "never"
        return ensemble.fit(X)
    ensemble.names_, ensemble.aligned_ = X.names, aligned
    if ensemble.needs_gold:
        ensemble._learn(slots, X)
    return ensemble


def learns_without_gold(ensemble: Ensemble) -> bool:
    """Whether it learns from records without gold, as expectation-maximisation does."""
    return _has_own_fit(ensemble) and not ensemble.needs_gold


def _has_own_fit(ensemble: Ensemble) -> bool:
    return type(ensemble).fit not in (Ensemble.fit, MajorityVote.fit)


def hide_gold(X: ExpertPredictions, hidden: NDArray[np.bool_]) -> ExpertPredictions:
    """The same records, the gold of some unknown.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["cat", "dig"]}, gold=["cat", "dog"], alternatives=[["cats"], []])
    >>> hide_gold(X, np.array([True, False])).gold, hide_gold(X, np.array([False, True])).reference_offsets.tolist()
    ([None, 'dog'], [0, 2, 2])
    """
    n_each = np.diff(X.reference_offsets)
    kept = X.references[np.flatnonzero(np.repeat(~hidden, n_each))]
    offsets = np.append(0, np.cumsum(np.where(hidden, 0, n_each)))
    return replace(X, references=kept, reference_offsets=offsets.astype(np.int64))


def without_gold(slots: Slots, X: ExpertPredictions) -> tuple[Slots, ExpertPredictions]:
    """The same records, gold unknown."""
    nothing = np.zeros(len(X) + 1, dtype=np.int64)
    return (
        replace(slots, gold=np.full_like(slots.gold, UNKNOWN), unplaced=np.zeros_like(slots.unplaced)),
        replace(X, references=X.references[:0], reference_offsets=nothing),
    )


def say(ensemble: Ensemble, slots: Slots, X: ExpertPredictions) -> Said:
    """Answers and probabilities of a learnt ensemble."""
    done = ensemble._decided(slots, X, 0)
    return Said(done, opinion_behind(done, ensemble, slots))


def part(
    slots: Slots, X: ExpertPredictions, rows: NDArray[np.int64]
) -> tuple[Slots, ExpertPredictions, NDArray[np.int64]]:
    """Some records, their slots, and the places of their units in ``X.hypotheses.values``."""
    p = X.n_experts
    units = Ragged(np.arange(len(X.hypotheses.values), dtype=np.int64), X.hypotheses.offsets)
    places = units[(rows[:, None] * p + np.arange(p)).ravel()].values
    inside = np.full(len(units.values) + 1, -1, dtype=np.int64)  # the last is for -1: nothing said
    inside[places] = np.arange(len(places))
    those = slots[rows]
    return replace(those, source=inside[those.source]), X[rows], places


def merged(parts: Sequence[Combined], rows: Sequence[NDArray[np.int64]], X: ExpertPredictions) -> Combined:
    """Answers to all records from those to disjoint sets of them, whose sources and slots are places in the whole."""
    order = np.argsort(np.concatenate(rows), kind="stable")
    texts = Ragged.from_lengths(
        np.concatenate([one.prediction.values for one in parts]),
        np.concatenate([one.prediction.lengths for one in parts]),
    )
    units = Ragged(np.arange(len(texts.values)), texts.offsets)[order].values
    return Combined(
        X=X,
        prediction=texts[order],
        confidence=np.concatenate([one.confidence for one in parts])[units],
        support=np.concatenate([one.support for one in parts])[units],
        source=np.concatenate([one.source for one in parts])[units],
        n_ties=np.concatenate([one.n_ties for one in parts])[order],
        slot=np.concatenate([one.slot for one in parts if one.slot is not None])[units],
    )


def judged(text: Ragged, X: ExpertPredictions) -> Judged:
    """Errors and hits of answers to records with gold.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["cat", "dig"]}, gold=["cat", "dog"])
    >>> found = judged(X.hypotheses, X)
    >>> found.errors.tolist(), found.hit.tolist()
    ([0.0, 1.0], [True, True, True, True, False, True])
    """
    rows, cuts = X.references.to_list(), X.reference_offsets.tolist()
    found = [judge(rows[a:b], answer) for answer, (a, b) in zip(text.to_list(), pairwise(cuts), strict=True)]
    hits = [one.hit for one in found]
    return Judged(
        np.array([one.errors for one in found], dtype=np.float64),
        np.concatenate([np.zeros(0, np.bool_), *hits]),
    )
