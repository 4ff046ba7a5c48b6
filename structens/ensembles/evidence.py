"""Evidence: what Dawid and Skene's expectation-maximisation learns from, with gold in the codes of answers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.core import GAP, ExpertPredictions, Ragged, Slots
from structens.ensembles.confusions import Answers
from structens.ensembles.halved_ngrams import Texts, joined


class Evidence(NamedTuple):
    """All that is learnt from.

    Attributes
    ----------
    slots : Slots
    answers : Answers
    gold : ndarray of int32, shape (n_slots,)
        Truths, as in `Answers.said`; -1 for none.
    known : ndarray of bool, shape (n_records,)
        Records with gold.
    half : ndarray of int64, shape (n_records,)
        See `structens.ensembles.halved_ngrams`.
    right : Ragged
        Gold of each record, empty where there is none.
    text : Ragged
    """

    slots: Slots
    answers: Answers
    gold: NDArray[np.int32]
    known: NDArray[np.bool_]
    half: NDArray[np.int64]
    right: Ragged
    text: Ragged

    def texts(self, guess: Ragged, clamp: bool) -> Texts:
        """What n-grams are learnt from: where gold is clamped, gold for both halves."""
        free, known = np.flatnonzero(~self.known), np.flatnonzero(self.known)
        right = self.right[known]
        if clamp:
            return Texts(guess[free], self.half[free], joined(right, self.text))
        both = joined(guess[free], right)
        return Texts(both, np.concatenate([self.half[free], self.half[known]]), self.text)


def evidence_of(
    slots: Slots, answers: Answers, X: ExpertPredictions, half: NDArray[np.int64], text: Ragged
) -> Evidence:
    """What some records tell.

    Examples
    --------
    >>> from structens.align import align
    >>> from structens.ensembles.confusions import answers_of
    >>> X = ExpertPredictions.of({"a": ["xy", "y"]}, gold=["yy", None])
    >>> slots = align(X)
    >>> answers = answers_of(slots.labels, np.zeros((3, 1), int), 2, 1)
    >>> evidence = evidence_of(slots, answers, X, np.array([0, 1]), Ragged.of([]))
    >>> evidence.gold.tolist(), evidence.texts(Ragged.of([[0, 1], [1]]), clamp=True).both.to_list()
    ([1, 1, -1], [[1, 1]])
    """
    n_labels = answers.n_labels
    gold = np.where(slots.gold == GAP, n_labels, np.where(slots.gold < GAP, -1, slots.gold)).astype(np.int32)
    known = X.has_gold
    right = Ragged.from_lengths(np.zeros(0, np.int32), np.zeros(len(X), np.int64))
    if known.any():
        first = X.reference_offsets[:-1]
        lengths = np.where(known, X.references.lengths[np.minimum(first, len(X.references) - 1)], 0)
        right = Ragged.from_lengths(X.references[first[known]].values, lengths)
    return Evidence(slots, answers, gold, known, half, right, text)
