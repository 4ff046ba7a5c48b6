"""What words tell of themselves: how often they occurred, how alike the candidates of a slot are.

For open vocabularies, whose labels are too many to be learnt one by one. Counts of records learnt from are those in the
other folds: a count that holds the record itself would tell the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from structens.core import ExpertPredictions
from structens.ensembles.candidate_features import View

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WORDS = ("length", "in gold", "in answers", "likest", "alike", "alike votes", "like left", "like right", "in gold lead")
"""Columns of `word_features`."""


class Lexicon(NamedTuple):
    """How often words occurred in gold and in the experts' answers.

    Attributes
    ----------
    gold, said : ndarray of float64, shape (n_tables, n_words)
        One row for each fold, without it; or one row.
    """

    gold: Floats
    said: Floats


def count_words(X: ExpertPredictions, fold: Ints, n_folds: int) -> Lexicon:
    """Counts by fold, shape (n_folds, n_labels): `without` makes a lexicon of them."""
    n, gold = len(X.alphabet), X.references[X.reference_offsets[:-1]]
    said_fold = np.repeat(np.repeat(fold, X.n_experts), X.hypotheses.lengths)
    return Lexicon(
        _by_fold(gold.values, np.repeat(fold, gold.lengths), n_folds, n),
        _by_fold(X.hypotheses.values, said_fold, n_folds, n) / X.n_experts,
    )


def _by_fold(codes: NDArray[np.int32], fold: Ints, n_folds: int, n: int) -> Floats:
    return np.bincount(fold * n + codes, minlength=n_folds * n).reshape(n_folds, n).astype(np.float64)


def without(counts: Lexicon) -> Lexicon:
    """For each fold the counts of all others.

    Examples
    --------
    >>> without(Lexicon(np.array([[1.0, 0.0], [2.0, 1.0]]), np.zeros((2, 2)))).gold.tolist()
    [[2.0, 1.0], [1.0, 0.0]]
    """
    return Lexicon(*(part.sum(axis=0) - part for part in counts))


def word_features(view: View, rows: Ints, labels: Sequence[str], lexicon: Lexicon, table: Ints) -> NDArray[np.float32]:
    """Features of contested candidates, shape (len(rows), len(WORDS)).

    Parameters
    ----------
    view : View
    rows : ndarray of int64
        All candidates of a slot beside each other.
    labels : sequence of str
        Of each code.
    lexicon : Lexicon
        Of the codes.
    table : ndarray of int64, shape (n_records,)
        Row of the lexicon for each record.
    """
    code, slot = view.label[rows], view.slot[rows]
    known, at = code >= 0, table[view.record[slot]]
    out = np.zeros((len(rows), len(WORDS)), np.float32)
    lengths = np.array([len(label) for label in labels] or [0])
    safe = np.where(known, code, 0)
    out[:, 0] = np.where(known, lengths[safe], 0)
    out[:, 1] = np.where(known, np.log1p(lexicon.gold[at, safe]), np.nan)
    out[:, 2] = np.where(known, np.log1p(lexicon.said[at, safe]), np.nan)
    _alike(view, rows, labels, out)
    return out


def _alike(view: View, rows: Ints, labels: Sequence[str], out: NDArray[np.float32]) -> None:
    """Likeness to rivals: the largest, the mean over their votes, the summed over all votes; and to the neighbours."""
    slot = view.slot[rows]
    begins = np.flatnonzero(np.diff(slot, prepend=-1) != 0)
    sizes = np.diff(np.append(begins, len(rows)))
    each = np.repeat(sizes, sizes)  # rivals, and itself
    mine = np.repeat(np.arange(len(rows)), each)
    first = np.repeat(np.repeat(begins, sizes), each)
    other = first + np.arange(len(mine)) - np.repeat(np.cumsum(each) - each, each)
    like = _likeness(view.label[rows[mine]], view.label[rows[other]], labels)
    is_rival, votes = mine != other, view.n_supporters[rows[other]]
    n_rivals = np.bincount(mine, votes * is_rival, minlength=len(rows))
    weighted = np.bincount(mine, like * votes * is_rival, minlength=len(rows))
    if len(rows):
        out[:, 3] = np.maximum.reduceat(np.where(is_rival, like, 0.0), np.cumsum(each) - each)
        lead = np.where(is_rival, np.nan_to_num(out[other, 1], nan=-1.0), -1.0)
        out[:, 8] = out[:, 1] - np.maximum.reduceat(lead, np.cumsum(each) - each)
    out[:, 4] = weighted / np.maximum(n_rivals, 1)
    out[:, 5] = weighted + view.n_supporters[rows]
    top = _most_votes(view)
    for column, step in ((6, -1), (7, 1)):
        beside = np.clip(slot + step, 0, len(view.record) - 1)
        inside = (beside != slot) & (view.record[beside] == view.record[slot]) & (top[beside] >= 0)
        near = np.where(inside, view.label[top[beside]], -1)
        out[:, column] = _likeness(view.label[rows], near, labels)


def _most_votes(view: View) -> Ints:
    """Candidate with the most supporters of each slot; -1 where there is none."""
    out = np.full(len(view.record), -1, np.int64)
    order = np.lexsort((np.arange(len(view.slot)), -view.n_supporters, view.slot))
    begins = np.flatnonzero(np.diff(view.slot[order], prepend=-1) != 0)
    out[view.slot[order[begins]]] = order[begins]
    return out


def _likeness(a: NDArray[np.int32], b: NDArray[np.int32], labels: Sequence[str]) -> Floats:
    """1 - edit distance / length of the longer; 0 with nothing."""
    out = np.zeros(len(a))
    used = np.flatnonzero((a >= 0) & (b >= 0))
    key, place = np.unique(a[used].astype(np.int64) * len(labels) + b[used], return_inverse=True)
    if len(key):
        left, right = ([labels[i] for i in side.tolist()] for side in (key // len(labels), key % len(labels)))
        out[used] = cpdist(left, right, scorer=Levenshtein.normalized_similarity, dtype=np.float64)[place]
    return out
