"""Notes: what the reader of a table must know before believing it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from structens.core import ExpertPredictions
from structens.core.predictions import RecordId
from structens.evaluate.error_counts import ErrorCounts


def notes_on_experts(copies: Sequence[Sequence[str]], disjoint: Sequence[tuple[str, str]]) -> list[str]:
    """Experts that are suspiciously equal, or that cannot agree at all.

    Examples
    --------
    >>> notes_on_experts([["a", "b"]], [])
    ['possible copies, equal in every record they share: a, b']
    """
    notes = [f"possible copies, equal in every record they share: {', '.join(group)}" for group in copies]
    pairs = [f"{a!r} and {b!r}" for a, b in disjoint]
    return notes + [f"{pair} share no label (0 agreements): map the labels first" for pair in pairs]


def notes_on_records(
    X: ExpertPredictions,
    counts: Mapping[str, ErrorCounts],
    missing: Mapping[str, Sequence[RecordId]],
    *,
    present_only: bool = False,
) -> list[str]:
    """Records without gold, without an answer, or with an empty reference."""
    notes = []
    n_scored = int(X.has_gold.sum())
    if n_scored < len(X):
        notes.append(f"records without gold, not scored: {len(X) - n_scored} of {len(X)}")
    if all((c.reference_length == 0).all() for c in counts.values()):
        notes.append("every reference is empty: there is no error rate, only errors")
    what = "left out" if present_only else "counted as deletions"
    for name, ids in missing.items():
        notes.append(f"records that {name!r} did not answer, {what}: {len(ids)} of {n_scored} (first {ids[0]!r})")
    empty = _undefined(counts)
    if len(empty):
        which = f"{len(empty)} (first {X.ids[int(empty[0])]!r})"
        notes.append(f"records with an empty reference and errors, which count in the totals: {which}")
    return notes


def _undefined(counts: Mapping[str, ErrorCounts]) -> NDArray[np.int64]:
    """Records with an empty reference in which some system makes errors, in the order scored."""
    bad = [c.record[(c.reference_length == 0) & (c.errors > 0)] for c in counts.values()]
    found: NDArray[np.int64] = np.unique(np.concatenate(bad))
    return found
