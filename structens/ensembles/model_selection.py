"""Folds of whole records, and honest predictions: each record is combined by what was learnt without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from structens.align import needs_alignment
from structens.core import DataError, ExpertPredictions, ParameterError
from structens.ensembles.base import Ensemble
from structens.ensembles.tagged import Tagged

if TYPE_CHECKING:
    from structens.ensembles.position_tagger import PositionTagger


def folds(ids: Sequence[str | int], n_folds: int = 5, seed: int = 0) -> NDArray[np.int64]:
    """Number of the fold of each record, by a hash of its id: the same whatever the order of the records.

    Parameters
    ----------
    ids : sequence of str or int
    n_folds : int
        Folds differ in size by at most one record.
    seed : int

    Raises
    ------
    DataError
        If there are fewer records than folds.

    Examples
    --------
    >>> folds(["a", "b", "c", "d"], 2).tolist()
    [0, 1, 0, 1]
    """
    if not 2 <= n_folds <= len(ids):
        raise DataError(f"cannot cut {len(ids)} records into {n_folds} folds")
    keys = [blake2b(f"{seed}:{i}".encode(), digest_size=8).digest() for i in ids]
    order = sorted(range(len(ids)), key=lambda i: (keys[i], str(ids[i])))
    out = np.empty(len(ids), dtype=np.int64)
    out[order] = np.arange(len(ids)) % n_folds
    return out


@overload
def cross_predict(
    model: Ensemble,
    X: ExpertPredictions,
    y: None = None,
    *,
    folds: int | Sequence[Any] = 5,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[Any]: ...
@overload
def cross_predict(
    model: PositionTagger,
    X: Sequence[Any],
    y: Sequence[Sequence[str]],
    *,
    folds: int | Sequence[Any] = 5,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
    checkpoint: MutableMapping[str, Tagged] | None = None,
) -> Tagged: ...
@overload
def cross_predict(
    model: Mapping[str, PositionTagger],
    X: Sequence[Any],
    y: Sequence[Sequence[str]],
    *,
    folds: int | Sequence[Any] = 5,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
    checkpoint: MutableMapping[str, Tagged] | None = None,
) -> dict[str, Tagged]: ...
def cross_predict(
    model: Any,
    X: Any,
    y: Sequence[Sequence[str]] | None = None,
    *,
    folds: int | Sequence[Any] = 5,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
    checkpoint: MutableMapping[str, Tagged] | None = None,
) -> Any:
    """Honest answers: each record, or sequence, is answered by what did not learn from it.

    Parameters
    ----------
    model : Ensemble, PositionTagger or mapping of name to PositionTagger
        An ensemble is learnt anew for each fold, and left learnt from the last. Taggers are not touched.
    X : ExpertPredictions, or sequence of sequences
        For taggers, what `PositionTagger.fit` takes.
    y : sequence of sequences of str
        Labels of the sequences; for taggers only.
    folds : int or sequence
        A number of folds, dealt by hash; sequences of the same content share one. Or the fold of each sequence;
        no fold is then learnt for from what is of the same content as a sequence in it.
    random_state : int
        Seed of the folds.
    progress : callable, optional
        Called with the folds done and the number of all.
    checkpoint : mutable mapping, optional
        Keeps what each tagger said of each fold, and gives it back to a later call with the same data, folds and
        parameters, which then goes on where this one was interrupted; such as `structens.io.FoldStore` of a directory.

    Returns
    -------
    list, Tagged or dict of str to Tagged
        Of an ensemble one answer a record, None for records without gold. Of a tagger labels and confidences, those of
        several by name; `add_experts` makes them experts.

    Raises
    ------
    DataError
        If there are fewer records than folds, or X, y and folds do not fit each other.

    Examples
    --------
    >>> from structens.ensembles import BestExpert
    >>> X = ExpertPredictions.of({"a": ["x"] * 6, "b": ["y"] * 6}, gold=["y"] * 5 + ["x"])
    >>> cross_predict(BestExpert(), X, folds=3)
    ['y', 'y', 'y', 'y', 'y', 'y']
    """
    if isinstance(model, Ensemble):
        if y is not None or not isinstance(folds, int):
            raise ParameterError("records carry their gold, and folds of records are a number: leave out y")
        return _records(model, X, folds, random_state, progress)
    if y is None:
        raise ParameterError("taggers learn from labels: give y")
    from structens.ensembles.cross_tagging import cross_tag  # boosting, and what it imports, only where it is used

    taggers = model if isinstance(model, Mapping) else {"": model}
    said = cross_tag(taggers, X, y, folds, random_state, progress, checkpoint)
    return said if isinstance(model, Mapping) else said[""]


def _records(
    ensemble: Ensemble,
    X: ExpertPredictions,
    n_folds: int,
    random_state: int,
    progress: Callable[[int, int], None] | None,
) -> list[Any]:
    known = np.flatnonzero(X.has_gold)
    fold = folds([X.ids[i] for i in known], n_folds, random_state)
    out: list[Any] = [None] * len(X)
    asked = ensemble.align
    if asked == "auto":  # lengths may agree in all records of a fold, but not in all records
        ensemble.align = "always" if needs_alignment(X) else "never"
    try:
        for k in range(n_folds):
            inside = known[fold == k]
            ensemble.fit(X[known[fold != k]])
            for i, answer in zip(inside.tolist(), ensemble.predict(X[inside]), strict=True):
                out[i] = answer
            if progress is not None:
                progress(k + 1, n_folds)
    finally:
        ensemble.align = asked
    return out
