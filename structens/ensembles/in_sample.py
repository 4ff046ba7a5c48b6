"""What a tagger says of sequences without having learnt from them: in-sample answers are refused.

A tagger is nearly always right on what it learnt from, so a combiner that learns from such answers trusts it too much.
Where it did learn from a sequence, what counts is what it said of it out of fold (Wolpert, "Stacked generalization",
Neural Networks 1992).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from structens.core import DataError, ParameterError, Ragged
from structens.ensembles.features import sequence_hashes
from structens.ensembles.position_tagger import PositionTagger
from structens.ensembles.tagged import Tagged

IN_SAMPLE = ("refuse", "absent", "allow")


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Out-of-fold answers of a tagger to the sequences that it learnt from, found by their content.

    Parameters
    ----------
    fingerprints : ndarray of uint64, shape (n,)
        Of the sequences, rising.
    labels : Ragged of int32
        Codes in the order of the tagger's `classes_`.
    confidences : ndarray of float64
        One a label.

    Examples
    --------
    >>> said = Tagged([["N"], ["D", "N"]], [np.array([0.5]), np.array([0.9, 0.8])])
    >>> kept = OutOfFold.of([["dog"], ["the", "dog"]], said, ["D", "N"])
    >>> kept.find([["the", "dog"], ["cat"]], ["D", "N"]).labels
    [['D', 'N'], None]
    """

    fingerprints: NDArray[np.uint64]
    labels: Ragged
    confidences: NDArray[np.float64]

    @classmethod
    def of(cls, X: Sequence[Any], said: Tagged, classes: Sequence[str]) -> Self:
        """What `cross_predict` said of X, by a tagger with these classes."""
        hashes, rows = np.unique(sequence_hashes(X), return_index=True)
        number = {label: k for k, label in enumerate(classes)}
        labels = Ragged.of([[number[label] for label in said.labels[i]] for i in rows.tolist()])
        sure = [np.zeros(0), *(np.asarray(said.confidences[i], np.float64) for i in rows.tolist())]
        return cls(hashes, labels, np.concatenate(sure))

    def find(self, X: Sequence[Any], classes: Sequence[str]) -> Tagged:
        """What was said of these sequences; None for those that are not among them."""
        hashes = sequence_hashes(X)
        at = np.minimum(np.searchsorted(self.fingerprints, hashes), max(len(self.fingerprints) - 1, 0))
        known = self.fingerprints[at] == hashes if len(self.fingerprints) else np.zeros(len(X), np.bool_)
        offsets, codes = self.labels.offsets, self.labels.values
        labels: list[Any] = [None] * len(X)
        sure: list[Any] = [None] * len(X)
        for i in np.flatnonzero(known).tolist():
            a, b = offsets[at[i]], offsets[at[i] + 1]
            labels[i], sure[i] = [classes[code] for code in codes[a:b].tolist()], self.confidences[a:b]
        return Tagged(labels, sure)


def honest_tags(
    tagger: PositionTagger,
    X: Sequence[Any],
    *,
    out_of_fold: Tagged | None = None,
    in_sample: str = "refuse",
    ids: Sequence[str | int] | None = None,
    name: str | None = None,
) -> Tagged:
    """Labels and confidences of sequences, none of them by a tagger that learnt from the sequence.

    Parameters
    ----------
    tagger : PositionTagger
        Its `out_of_fold_`, if it has one, answers for the sequences that it learnt from.
    X : sequence of sequences
    out_of_fold : Tagged, optional
        What `cross_predict` said of X, None where it said nothing; goes before the tagger's own.
    in_sample : {"refuse", "absent", "allow"}
        What to do with sequences that the tagger learnt from, of which nothing honest is known: an error, no answer, or
        an answer that nothing must be learnt from.
    ids : sequence of str or int, optional
        Names of the sequences in errors; default their numbers.
    name : str, optional
        Of the tagger in errors.

    Raises
    ------
    DataError
        If the tagger learnt from a sequence, and what it says of it out of fold is not known, or does not fit it.
    ParameterError
        If `in_sample` is none of the three.

    Examples
    --------
    >>> X = [["the", "dog"], ["a", "dog"], ["the", "cat"], ["cat"], ["dog"]] * 2
    >>> tagger = PositionTagger(n_folds=2).fit(X, ([["D", "N"]] * 3 + [["N"]] * 2) * 2)
    >>> honest_tags(tagger, [["a", "cat"]]).labels
    [['D', 'N']]
    >>> honest_tags(tagger, [["a", "cat"], ["dog"]], ids=["s1", "s2"], name="words")
    Traceback (most recent call last):
    structens.core.errors.DataError: record 's2': expert 'words': the tagger learnt from this sequence; ...
    """
    if in_sample not in IN_SAMPLE:
        raise ParameterError(f"in_sample must be one of {', '.join(IN_SAMPLE)}; got {in_sample!r}")
    names = list(range(len(X))) if ids is None else list(ids)
    labels: list[Any] = [None] * len(X)
    sure: list[Any] = [None] * len(X)
    own: OutOfFold | None = getattr(tagger, "out_of_fold_", None)
    for said in (out_of_fold, None if own is None else own.find(X, tagger.classes_.tolist())):
        for i, row in enumerate(() if said is None else said.labels):
            if labels[i] is None and row is not None:
                if len(row) != len(X[i]):
                    rule = f"the tagger said {len(row)} labels out of fold, but there are {len(X[i])} positions"
                    raise DataError(rule, record=names[i], expert=name, hint="give the answers to these sequences")
                labels[i], sure[i] = row, None if said is None else said.confidences[i]
    unknown = np.array([row is None for row in labels], dtype=np.bool_)
    learnt = tagger.learnt_from(X) & unknown
    if learnt.any() and in_sample == "refuse":
        raise DataError(_rule(int(learnt.sum()), len(X)), record=names[int(np.argmax(learnt))], expert=name, hint=_WAYS)
    new = np.flatnonzero(unknown & (~learnt | (in_sample == "allow"))).tolist()
    fresh = tagger.tag([X[i] for i in new])
    for i, row, confidence in zip(new, fresh.labels, fresh.confidences, strict=True):
        labels[i], sure[i] = row, confidence
    return Tagged(labels, sure)


_WAYS = (
    "keep what it says out of fold in the model (structens train --folds 5), give it (out_of_fold), or let the tagger "
    "be silent there (in_sample 'absent')"
)


def _rule(n: int, n_all: int) -> str:
    others = f" and from {n - 1:,} more of {n_all:,}" if n > 1 else ""
    return f"the tagger learnt from this sequence{others}; its answers there are not honest"
