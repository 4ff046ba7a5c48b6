"""Classes of labels: those that are frequent in gold, each by itself; all others; and nothing.

A closed vocabulary (tags, phones, letters) is learnt label by label. Of an open one (words) only what occurs often in
gold has an identity: the rest is told apart by who supports it, by its characters and by its frequency.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from structens.core import Alphabet, ExpertPredictions, ParameterError

VOCABULARIES = ("auto", "closed", "open")
MOST_CLOSED = 250
MOST_OPEN = 100
LEAST = 5
"""Occurrences in gold of a label with a class of its own; in an open vocabulary ten times as many."""
COVERED = 0.9
"""Share of gold's units that must have such labels for a vocabulary to be closed."""


def frequent_labels(counts: NDArray[np.int64], vocabulary: str) -> tuple[NDArray[np.int64], bool]:
    """Codes of the labels with classes of their own, the most frequent first, and whether the vocabulary is closed.

    Parameters
    ----------
    counts : ndarray of int, shape (n_labels,)
        Occurrences in gold.
    vocabulary : {"auto", "closed", "open"}

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> [codes.tolist() for codes in frequent_labels(np.array([9, 1, 90]), "auto")[:1]]
    [[2, 0]]
    """
    if vocabulary not in VOCABULARIES:
        raise ParameterError(f"vocabulary must be one of {', '.join(VOCABULARIES)}; got {vocabulary!r}")
    order = np.argsort(-counts, kind="stable")
    kept = order[:MOST_CLOSED][counts[order[:MOST_CLOSED]] >= LEAST]
    few = int((counts > 0).sum()) <= MOST_CLOSED and counts.sum() >= 4 * int((counts > 0).sum())
    closed = few or counts[kept].sum() >= COVERED * max(counts.sum(), 1)
    if vocabulary == "open" or (vocabulary == "auto" and not closed):
        return kept[:MOST_OPEN][counts[kept[:MOST_OPEN]] >= 10 * LEAST], False
    return kept, True


def class_table(alphabet: Alphabet, classes: Sequence[str]) -> NDArray[np.int64]:
    """Class of each code; the last entry is for GAP, whose code is -1. Others are ``len(classes)``.

    Examples
    --------
    >>> class_table(Alphabet(("a", "b", "c")), ["c", "a"]).tolist()
    [1, 2, 0, 3]
    """
    number = {label: k for k, label in enumerate(classes)}
    n = len(number)
    return np.array([*(number.get(label, n) for label in alphabet.labels), n + 1], dtype=np.int64)


def gold_classes(X: ExpertPredictions, table: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The gold of records as classes, all in one array, and offsets."""
    gold = X.references[X.reference_offsets[:-1]]
    return table[gold.values], gold.offsets
