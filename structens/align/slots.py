"""Answers to slots: position by position where all lengths agree, else by alignment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structens.align.batch import _fill, _networks
from structens.align.gold import _gold, _gold_by_position
from structens.align.scratch import scratch
from structens.core import GAP, UNKNOWN, DataError, ExpertPredictions, ParameterError, Slots

_MODES = ("auto", "always", "never")


def needs_alignment(X: ExpertPredictions) -> bool:
    """True if in some record two answers, or an answer and a reference, differ in length.

    Parameters
    ----------
    X : ExpertPredictions

    Examples
    --------
    >>> needs_alignment(ExpertPredictions.of({"a": ["cat", "dog"], "b": ["cut", None]}, gold=["cat", "dog"]))
    False
    >>> needs_alignment(ExpertPredictions.of({"a": ["cat"], "b": ["cart"]}))
    True
    """
    shortest, longest = _answer_lengths(X)
    return bool((shortest < longest).any() or _misfits(X, longest).any())


def align(X: ExpertPredictions, *, mode: str = "auto") -> Slots:
    """Slots of all records, with gold where X has it.

    Aligned slots come from progressive alignment (see `structens.align.network`), and gold from the alignment of least
    error to what the slots offer (see `structens.align.gold`). The order of the experts in X decides nothing: ties are
    decided by their names. An expert that is absent has ABSENT in every slot of the record.

    Parameters
    ----------
    X : ExpertPredictions
    mode : {"auto", "always", "never"}
        "never": slot k of a record is unit k of every answer and reference. "always": align every record. "auto":
        "never" if all lengths agree in all records, else "always". A model keeps the decision of `needs_alignment` and
        passes "always" or "never", so that new records cannot change it.

    Returns
    -------
    Slots
        Experts in the order of X. A record in which nobody says anything has no slots. Gold is UNKNOWN where X has
        none, or where in mode "never" no expert answered.

    Raises
    ------
    DataError
        In mode "never", if lengths differ within a record.
    ParameterError
        If the mode is unknown.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["cat"], "b": ["cart"], "c": [None]}, gold=["carts"])
    >>> s = align(X)
    >>> [[X.alphabet.labels[c] if c >= 0 else c for c in row] for row in s.labels.tolist()]
    [['c', 'c', -2], ['a', 'a', -2], [-1, 'r', -2], ['t', 't', -2]]
    >>> s.source.tolist()
    [[0, 3, -1], [1, 4, -1], [-1, 5, -1], [2, 6, -1]]
    >>> X.alphabet.decode(s.gold), s.unplaced.tolist()
    (['c', 'a', 'r', 't'], [1])
    """
    if mode not in _MODES:
        raise ParameterError(f"mode must be one of {', '.join(_MODES)}; got {mode!r}")
    if mode == "never":
        _refuse_misfits(X)
    aligned = mode == "always" or (mode == "auto" and needs_alignment(X))
    local = np.full(len(X.alphabet), -1, np.int32)
    buffers = (*scratch(X.n_experts), local)
    place, lengths = _places(X, buffers) if aligned else _positions(X)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    labels = np.empty((offsets[-1], X.n_experts), np.int32)
    source = np.empty((offsets[-1], X.n_experts), np.int64)
    _fill(*_answers(X), place, offsets, labels, source)
    gold, unplaced = _place_gold(X, labels, offsets, buffers, aligned)
    return Slots(labels, offsets, source, X.names, X.alphabet, gold, unplaced)


def oracle_errors(X: ExpertPredictions, slots: Slots) -> NDArray[np.int64]:
    """Fewest errors that any choice of one expert a slot can make, against the reference closest to the slots.

    Parameters
    ----------
    X : ExpertPredictions
    slots : Slots
        Of the same records: ``align(X)``.

    Returns
    -------
    ndarray of int64, shape (n,)
        Number of slots where no expert that is awake says what gold has, plus units of gold without a slot; -1 where
        the record has no gold.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["cat", "on"], "b": ["cart", None]}, gold=["carts", None])
    >>> oracle_errors(X, align(X)).tolist()
    [1, -1]
    """
    if len(X) != len(slots):
        raise DataError(f"{len(slots)} records of slots for {len(X)} records", hint="pass align(X) of the same X")
    offered = (slots.labels == slots.gold[:, None]).any(axis=1)
    idle = (slots.gold == GAP) & ~slots.awake.any(axis=1)
    wrong = np.concatenate([[0], np.cumsum(~(offered | idle))])
    errors: NDArray[np.int64] = wrong[slots.offsets[1:]] - wrong[slots.offsets[:-1]] + slots.unplaced
    errors[~X.has_gold] = -1
    return errors


def _answer_lengths(X: ExpertPredictions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Shortest and longest answer of each record; where nobody answered the shortest is the largest integer."""
    lengths = X.hypotheses.lengths.reshape(len(X), X.n_experts)
    shortest = np.where(X.present, lengths, np.iinfo(np.int64).max).min(axis=1, initial=np.iinfo(np.int64).max)
    longest = np.where(X.present, lengths, 0).max(axis=1, initial=0)
    return shortest, longest


def _misfits(X: ExpertPredictions, lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
    """True for each reference that is not as long as the answers to its record, of which there are some."""
    record = np.repeat(np.arange(len(X)), np.diff(X.reference_offsets))
    answered = np.asarray(X.present.any(axis=1))
    misfits: NDArray[np.bool_] = answered[record] & (X.references.lengths != lengths[record])
    return misfits


def _refuse_misfits(X: ExpertPredictions) -> None:
    shortest, longest = _answer_lengths(X)
    bad = np.asarray(shortest < longest)
    misfits = _misfits(X, longest)
    record = np.repeat(np.arange(len(X)), np.diff(X.reference_offsets))
    bad[record[misfits]] = True
    if not bad.any():
        return
    i = int(np.flatnonzero(bad)[0])
    lengths = X.hypotheses.lengths[i * X.n_experts : (i + 1) * X.n_experts]
    here = np.flatnonzero(X.present[i])
    first, n = X.names[here[0]], int(lengths[here[0]])
    others = here[lengths[here] != n]
    if len(others):
        other = f"{X.names[others[0]]!r} says {lengths[others[0]]}"
    else:
        other = f"gold has {X.references.lengths[misfits & (record == i)][0]}"
    raise DataError(
        f"{first!r} says {n} units, but {other}; position by position needs equal lengths",
        record=X.ids[i],
        hint='align them ("auto" or "always"), or correct the record',
    )


def _answers(X: ExpertPredictions) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.bool_]]:
    """Units, offsets and presence in the one layout that the kernels are compiled for."""
    values = np.require(X.hypotheses.values, np.int32, ["C", "W"])
    return values, np.require(X.hypotheses.offsets, np.int64, ["C", "W"]), np.require(X.present, np.bool_, ["C", "W"])


def _positions(X: ExpertPredictions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return X.hypotheses.places, _answer_lengths(X)[1]


def _places(
    X: ExpertPredictions, buffers: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Slot of each unit within its record, and number of slots of each record."""
    order = np.array(sorted(range(X.n_experts), key=lambda j: X.names[j]), dtype=np.int64)
    place = np.zeros(len(X.hypotheses.values), np.int64)
    lengths = np.zeros(len(X), np.int64)
    _networks(*_answers(X), order, buffers, place, lengths)
    return place, lengths


def _place_gold(
    X: ExpertPredictions,
    labels: NDArray[np.int32],
    offsets: NDArray[np.int64],
    buffers: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]],
    aligned: bool,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    gold = np.full(len(labels), UNKNOWN, np.int32)
    unplaced = np.zeros(len(X), np.int64)
    if not X.has_gold.any():
        return gold, unplaced
    units = np.require(X.references.values, np.int32, ["C", "W"])
    if aligned:
        _gold(labels, offsets, units, X.references.offsets, X.reference_offsets, buffers, gold, unplaced)
    else:
        _gold_by_position(labels, offsets, units, X.references.offsets, X.reference_offsets, gold, unplaced)
    return gold, unplaced
