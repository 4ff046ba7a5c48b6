"""How the papers prepared and cut their data: padded sequences, and folds whose training sets are disjoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from structens.core import Alphabet, DataError, ExpertPredictions, Ragged

PAD = "\N{SYMBOL FOR NULL}"
"""A unit that stands for nothing."""


def padded(X: ExpertPredictions, symbol: str = PAD) -> ExpertPredictions:
    """All answers and references filled up on the right to the length of the longest of them.

    The papers padded on a side they do not name. An expert that gave no answer says only padding.

    Parameters
    ----------
    X : ExpertPredictions
    symbol : str
        A unit that does not occur in X.

    Raises
    ------
    DataError
        If the symbol occurs in X, or answers are texts.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": [["x"], None], "b": [["x", "y"], ["z"]]}, gold=[["x"], ["z"]])
    >>> Y = padded(X, "_")
    >>> Y["a"], Y["b"], Y.gold
    ([['x', '_'], ['_', '_']], [['x', 'y'], ['z', '_']], [['x', '_'], ['z', '_']])
    """
    if X.is_text:
        raise DataError("texts cannot be padded with a symbol", hint="give answers as lists of units")
    if symbol in X.alphabet.labels:
        raise DataError(f"the padding symbol {symbol!r} occurs in the data", hint="choose another symbol")
    longest = int(max(X.hypotheses.lengths.max(initial=0), X.references.lengths.max(initial=0)))
    alphabet = Alphabet((*X.alphabet.labels, symbol))
    code = len(X.alphabet)
    return replace(
        X,
        alphabet=alphabet,
        hypotheses=_filled(X.hypotheses, longest, code),
        references=_filled(X.references, longest, code),
        present=np.ones_like(X.present),
        confidence=None,
    )


def disjoint_folds(
    n: int, m: int | None = None, n_folds: int = 10, seed: int | None = 0
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Records to learn from and to test on: training sets are disjoint, each is tested on all other records.

    Parameters
    ----------
    n : int
        Number of records.
    m : int, optional
        Records to learn from; default as many as there are for `n_folds` sets.
    n_folds : int
    seed : int or None
        Of the order in which records are dealt out; None leaves them in theirs.

    Yields
    ------
    train, test : ndarray of int64

    Raises
    ------
    DataError
        If there are too few records.

    Examples
    --------
    >>> [(a.tolist(), b.tolist()) for a, b in disjoint_folds(4, 1, 2, seed=None)]
    [([0], [1, 2, 3]), ([1], [0, 2, 3])]
    """
    m = n // n_folds if m is None else m
    if m < 1 or m * n_folds > n:
        raise DataError(f"{n} records do not give {n_folds} disjoint sets of {m} to learn from")
    order = np.arange(n) if seed is None else np.random.default_rng(seed).permutation(n)
    for k in range(n_folds):
        train = np.sort(order[k * m : (k + 1) * m])
        yield train, np.setdiff1d(np.arange(n), train, assume_unique=True)


def folds_of(fold: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """As `disjoint_folds`, by the given number of each record's fold: learn on one fold, test on the others.

    Examples
    --------
    >>> [(a.tolist(), b.tolist()) for a, b in folds_of(np.array([1, 0, 1]))]
    [([1], [0, 2]), ([0, 2], [1])]
    """
    for k in np.unique(fold):
        yield np.flatnonzero(fold == k), np.flatnonzero(fold != k)


def _filled(rows: Ragged, longest: int, code: int) -> Ragged:
    values = np.full((len(rows), longest), code, dtype=np.int32)
    values[np.repeat(np.arange(len(rows)), rows.lengths), rows.places] = rows.values
    return Ragged(values.ravel(), np.arange(len(rows) + 1) * longest)
