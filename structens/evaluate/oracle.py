"""Oracles: the errors that remain when each record is answered by its best expert, or by the best path of its slots.

They bound what combining can reach: choosing one expert a record cannot beat the first, and no combination of what the
experts propose slot by slot can beat the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np
from numba import njit

from structens.core import GAP, DataError, ExpertPredictions, Slots
from structens.evaluate.alignment import Loss
from structens.evaluate.error_counts import ErrorCounts, check_same_records, choose_references, unequal_lengths


def best_expert_per_record(counts: Sequence[ErrorCounts]) -> ErrorCounts:
    """Counts of the expert with the fewest errors of each record; the first in a tie, an absent one only if all are.

    Parameters
    ----------
    counts : sequence of ErrorCounts
        One for each expert, over the same records.

    Raises
    ------
    DataError
        If there are no experts, or they were scored on different records.

    Examples
    --------
    >>> from structens.evaluate import count_errors
    >>> X = ExpertPredictions.of({"a": ["ab", "xx"], "b": ["xx", "cx"]}, gold=["ab", "cd"])
    >>> best_expert_per_record([count_errors(name, X) for name in X.names]).errors.tolist()
    [0, 1]
    """
    if not counts:
        raise DataError("no experts to choose from")
    check_same_records(counts)
    errors = np.stack([np.where(c.missing, np.inf, c.errors) for c in counts])
    best, each = errors.argmin(axis=0), np.arange(len(counts[0]))
    names = [f.name for f in fields(ErrorCounts) if f.name != "loss"]
    arrays = {name: np.stack([getattr(c, name) for c in counts])[best, each] for name in names}
    return replace(counts[0], **arrays)


def best_path(X: ExpertPredictions, slots: Slots, *, loss: Loss = "edit") -> ErrorCounts:
    """Counts of the answer nearest to a reference among all that take one expert's word in each slot.

    Parameters
    ----------
    X : ExpertPredictions
        Holds the references.
    slots : Slots
        The aligned answers of the same records.
    loss : {"edit", "hamming"}
        "hamming" needs as many slots as reference units.

    Returns
    -------
    ErrorCounts
        Fewest errors, then fewest substitutions, then the first reference. `missing` is true where no expert answered.

    Raises
    ------
    DataError
        If the slots are of other records, or under "hamming" no reference has as many units as there are slots.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["xb"], "b": ["ax"]}, gold=["ab"])
    >>> labels = X.hypotheses.values.reshape(2, 2).T
    >>> s = Slots(labels, np.array([0, 2]), labels * 0, X.names, X.alphabet, np.zeros(2, int), np.zeros(1, int))
    >>> best_path(X, s).errors.tolist()
    [0]
    """
    if len(slots) != len(X) or not X.has_gold.any():
        raise DataError(f"slots of {len(slots)} records do not fit {len(X)} records with gold")
    table = X.alphabet.codes_in(slots.alphabet)
    references = replace(
        X.references, values=np.where(table < 0, _FOREIGN, table)[X.references.values].astype(np.int32)
    )
    owner = np.repeat(np.arange(len(X)), np.diff(X.reference_offsets))
    edits = np.zeros((len(owner), 3), dtype=np.int64)
    labels = np.ascontiguousarray(slots.labels, dtype=np.int32)
    _path_edits(references.values, references.offsets, owner, labels, slots.offsets, loss == "hamming", edits)
    present = np.asarray(X.present.any(axis=1))
    if loss == "edit":
        return choose_references(X, edits, references.lengths, present, loss=loss)
    equal = np.asarray(references.lengths == slots.lengths[owner])
    if (unequal := unequal_lengths(X, equal, present)) is not None:
        rule = f"{slots.lengths[unequal]} slots, but gold of another length"
        raise DataError(rule, record=X.ids[unequal], hint="loss='edit' compares unequal lengths")
    return choose_references(X, edits, references.lengths, present, allowed=equal, loss=loss)


_FOREIGN = -9  # a reference label that no expert uses
_NEVER = 1 << 60
_ERROR, _SUBSTITUTION = 1 << 40, 1 << 20  # errors first, then substitutions, then insertions


@njit(cache=True)
def _path_edits(ref_values, ref_offsets, owner, labels, slot_offsets, by_place, out):  # type: ignore[no-untyped-def]
    """Substitutions, deletions and insertions of the best path for each reference; by place: if lengths agree."""
    longest = 0
    for k in range(len(owner)):
        longest = max(longest, ref_offsets[k + 1] - ref_offsets[k])
    cost = np.empty(longest + 1, dtype=np.int64)
    for k in range(len(owner)):
        ref = ref_values[ref_offsets[k] : ref_offsets[k + 1]]
        n, first, last = len(ref), slot_offsets[owner[k]], slot_offsets[owner[k] + 1]
        if by_place:
            if last - first == n:
                for i in range(n):
                    out[k, 0] += not _proposes(labels[first + i], ref[i])
            continue
        for i in range(n + 1):
            cost[i] = i * _ERROR
        for s in range(first, last):
            _read_slot(ref, labels[s], cost)
        rest = cost[n] % _ERROR
        out[k, 0] = rest // _SUBSTITUTION
        out[k, 2] = rest % _SUBSTITUTION
        out[k, 1] = cost[n] // _ERROR - out[k, 0] - out[k, 2]


@njit(cache=True)
def _proposes(proposed, label):  # type: ignore[no-untyped-def]
    for other in proposed:  # noqa: SIM110 - no generators in kernels
        if other == label:
            return True
    return False


@njit(cache=True)
def _read_slot(ref, proposed, cost):  # type: ignore[no-untyped-def]
    """One slot more: it is read as a unit, skipped where an expert says nothing, or else an insertion."""
    speaks = False
    for j in range(len(proposed)):
        speaks |= proposed[j] >= 0
    skip = 0 if _proposes(proposed, GAP) or not speaks else _ERROR + 1
    wrong = _ERROR + _SUBSTITUTION if speaks else _NEVER
    diagonal = cost[0]
    cost[0] += skip
    for i in range(1, len(ref) + 1):
        read = 0 if _proposes(proposed, ref[i - 1]) else wrong
        best = min(diagonal + read, cost[i] + skip)
        diagonal = cost[i]
        cost[i] = min(best, cost[i - 1] + _ERROR)
