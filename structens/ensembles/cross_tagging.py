"""Out-of-fold answers of taggers: each sequence is tagged by what was learnt without it, and without its like."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.folds import fold_of_rows, unfitted
from structens.core import DataError
from structens.ensembles.features import labels_of_sequences, sequence_hashes
from structens.ensembles.position_tagger import PositionTagger
from structens.ensembles.tagged import Tagged


def cross_tag(
    taggers: Mapping[str, PositionTagger],
    X: Sequence[Any],
    y: Sequence[Sequence[str]],
    folds: int | Sequence[Any] = 5,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
    checkpoint: MutableMapping[str, Tagged] | None = None,
) -> dict[str, Tagged]:
    """What each tagger says; parameters and errors are those of `structens.ensembles.cross_predict`.

    Examples
    --------
    >>> X, y = [["a"], ["b"], ["a", "b"], ["b", "a"]], [["A"], ["B"], ["A", "B"], ["B", "A"]]
    >>> tagger = PositionTagger(calibrate=None, bigram_weight=0.0)
    >>> cross_tag({"t": tagger}, X * 2, y * 2, folds=[0, 0, 1, 1] * 2)["t"].labels[:4]
    [['A'], ['B'], ['A', 'B'], ['B', 'A']]
    """
    labels_of_sequences(X, y)
    hashes = sequence_hashes(X)
    fold = fold_of_sequences(hashes, folds, random_state)
    kinds = np.unique(fold)
    digest = _digest(hashes, y, fold)
    out: dict[str, Tagged] = {}
    for t, (name, tagger) in enumerate(taggers.items()):
        labels: list[Any] = [None] * len(X)
        sure: list[Any] = [None] * len(X)
        for k, kind in enumerate(kinds):
            inside = np.flatnonzero(fold == kind)
            others = np.flatnonzero(~np.isin(hashes, hashes[inside]))  # folds that are given may part equal sequences
            said = _one_fold(tagger, X, y, inside, others, f"{name}-{k}-{digest}", checkpoint)
            for i, row, confidence in zip(inside.tolist(), said.labels, said.confidences, strict=True):
                labels[i], sure[i] = row, confidence
            if progress is not None:
                progress(t * len(kinds) + k + 1, len(taggers) * len(kinds))
        out[name] = Tagged(labels, sure)
    return out


def fold_of_sequences(
    hashes: NDArray[np.uint64], folds: int | Sequence[Any], random_state: int = 0
) -> NDArray[np.int64]:
    """Fold of each sequence: dealt by hash, so that sequences of the same content share one; or as given.

    Parameters
    ----------
    hashes : ndarray of uint64, shape (n,)
        Of `structens.ensembles.features.sequence_hashes`.
    folds : int or sequence of n
    random_state : int

    Raises
    ------
    DataError
        If there are fewer different sequences than folds, or not one fold a sequence, or all in one.

    Examples
    --------
    >>> fold_of_sequences(np.array([5, 7, 5, 9], np.uint64), 2).tolist()
    [0, 1, 0, 1]
    """
    if isinstance(folds, (int, np.integer)):
        n_different = len(np.unique(hashes))
        if not 2 <= folds <= n_different:
            raise DataError(f"cannot cut {n_different} different sequences into {folds} folds")
        return fold_of_rows(np.zeros(len(hashes), np.int64), int(folds), random_state, groups=hashes)
    given = np.unique(np.asarray(folds), return_inverse=True)[1].reshape(-1).astype(np.int64)
    if len(given) != len(hashes):
        raise DataError(f"there are {len(given)} fold numbers for {len(hashes)} sequences")
    if given.max(initial=0) == 0:
        raise DataError("all sequences are in one fold: nothing is left to learn from", hint="give two folds or more")
    return given


def _one_fold(
    tagger: PositionTagger,
    X: Sequence[Any],
    y: Sequence[Sequence[str]],
    inside: NDArray[np.int64],
    others: NDArray[np.int64],
    key: str,
    checkpoint: MutableMapping[str, Tagged] | None,
) -> Tagged:
    """What a tagger says of one fold, learnt from the others; or what it said before."""
    if checkpoint is not None:
        key = f"{key}-{blake2b(_plan(tagger).encode(), digest_size=6).hexdigest()}"
        if key in checkpoint:
            return checkpoint[key]
    if not len(others):
        rule = "all sequences outside a fold are also in it: nothing is left to learn from"
        raise DataError(rule, hint="give folds that differ in their sequences")
    learnt = unfitted(tagger).fit([X[i] for i in others.tolist()], [y[i] for i in others.tolist()])
    said: Tagged = learnt.tag([X[i] for i in inside.tolist()])
    if checkpoint is not None:
        checkpoint[key] = said
    return said


def _plan(tagger: PositionTagger) -> str:
    """Parameters, but for `progress`, which changes nothing: a function's repr is its address, another in each run."""
    quiet = unfitted(tagger, progress=None)
    if hasattr(quiet.classifier, "progress"):
        quiet.classifier.set_params(progress=None)
    return repr(quiet)


def learning_key(tagger: PositionTagger, X: Sequence[Any], y: Sequence[Sequence[str]]) -> str:
    """Of a tagger's parameters and of what it learns from: equal keys are equal learnings.

    Examples
    --------
    >>> learning_key(PositionTagger(), [["a"]], [["A"]]) == learning_key(PositionTagger(), [["a"]], [["B"]])
    False
    """
    digest = _digest(sequence_hashes(X), y, np.zeros(len(X), dtype=np.int64))
    return blake2b(f"{digest}-{_plan(tagger)}".encode(), digest_size=12).hexdigest()


def _digest(hashes: NDArray[np.uint64], y: Sequence[Sequence[str]], fold: NDArray[np.int64]) -> str:
    data = [hashes.astype("<u8").tobytes(), sequence_hashes(y).astype("<u8").tobytes(), fold.astype("<i8").tobytes()]
    return blake2b(b"".join(data), digest_size=8).hexdigest()
