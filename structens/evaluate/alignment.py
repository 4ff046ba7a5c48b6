"""Alignment of an answer with its reference: the one tie rule behind totals, record counts and printed alignments.

An alignment pairs units of the reference with units of the hypothesis in order. A pair of equal units is a hit, of
different units a substitution; a reference unit alone is a deletion, a hypothesis unit alone an insertion. Unit-cost
edit distance (Levenshtein 1966) leaves ties: "a b" against "b c" is two substitutions, or a deletion and an insertion.
The rule here: **fewest errors, then fewest substitutions** (which is the same as most hits). It fixes the three counts
whatever the algorithm, the length or the direction of reading. Where alignments are still tied, `alignment` takes from
left to right the pair before the deletion before the insertion.

The kernels search a band of diagonals that holds every alignment of at most t errors and double t until the distance
found is no more than t (Ukkonen 1985): time O(n t) for sequences of length n, memory O(n) for counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.core import DataError, ParameterError, Ragged

Loss = Literal["edit", "hamming"]
Op = Literal["hit", "sub", "del", "ins"]
_OPS: tuple[Op, ...] = ("hit", "sub", "del", "ins")


class Operation(NamedTuple):
    """One column of an alignment; `reference` is None for an insertion, `hypothesis` for a deletion."""

    op: Op
    reference: str | None
    hypothesis: str | None


def edit_errors(
    reference: Ragged, hypothesis: Ragged, reference_row: NDArray[Any], hypothesis_row: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Errors and substitutions of many pairs of sequences under the tie rule of this module.

    Parameters
    ----------
    reference, hypothesis : Ragged of int32
        Codes of one alphabet.
    reference_row, hypothesis_row : ndarray of int, shape (n_pairs,)
        Which sequences to align.

    Returns
    -------
    errors : ndarray of int64, shape (n_pairs,)
        Unit-cost edit distance.
    substitutions : ndarray of int64, shape (n_pairs,)
        Fewest substitutions of an alignment with so many errors.

    Examples
    --------
    >>> one = np.zeros(1, dtype=np.int64)
    >>> errors, subs = edit_errors(Ragged.of([[1, 2]]), Ragged.of([[2, 3]]), one, one)
    >>> errors.tolist(), subs.tolist()
    ([2], [0])
    """
    out = np.zeros((len(reference_row), 2), dtype=np.int64)
    _edit_errors(
        np.ascontiguousarray(reference.values, dtype=np.int32),
        reference.offsets,
        np.ascontiguousarray(hypothesis.values, dtype=np.int32),
        hypothesis.offsets,
        np.ascontiguousarray(reference_row, dtype=np.int64),
        np.ascontiguousarray(hypothesis_row, dtype=np.int64),
        out,
    )
    return out[:, 0], out[:, 1]


def alignment(reference: Sequence[str], hypothesis: Sequence[str], *, loss: Loss = "edit") -> list[Operation]:
    """Alignment of two sequences, column by column; its operations add up to what `count_errors` counts.

    Memory is one byte for each reference unit and each of the (errors + 1) diagonals searched.

    Parameters
    ----------
    reference, hypothesis : sequence of str
        Units; a text is taken as its code points.
    loss : {"edit", "hamming"}
        "hamming" pairs the k-th unit with the k-th unit.

    Raises
    ------
    DataError
        If the loss is "hamming" and the lengths differ.

    Examples
    --------
    >>> [tuple(column) for column in alignment(["a", "b", "c", "d"], ["b", "c", "d", "x"])]
    [('del', 'a', None), ('hit', 'b', 'b'), ('hit', 'c', 'c'), ('hit', 'd', 'd'), ('ins', None, 'x')]
    """
    if loss not in ("edit", "hamming"):
        raise ParameterError(f"loss must be edit or hamming, got {loss!r}")
    if loss == "hamming":
        if len(reference) != len(hypothesis):
            lengths = f"{len(reference)} and {len(hypothesis)} units"
            raise DataError(f"{lengths} cannot be compared position by position", hint="use loss='edit'")
        pairs = zip(reference, hypothesis, strict=True)
        return [Operation("hit" if ref == hyp else "sub", ref, hyp) for ref, hyp in pairs]
    code: dict[str, int] = {}
    ref = np.array([code.setdefault(unit, len(code)) for unit in reference], dtype=np.int32)
    hyp = np.array([code.setdefault(unit, len(code)) for unit in hypothesis], dtype=np.int32)
    zero = np.zeros(1, dtype=np.int64)
    distance = int(edit_errors(Ragged.of([ref]), Ragged.of([hyp]), zero, zero)[0][0])
    out, i, j = [], 0, 0
    for op in _trace(ref, hyp, distance).tolist():
        out.append(Operation(_OPS[op], reference[i] if op != 3 else None, hypothesis[j] if op != 2 else None))
        i, j = i + (op != 3), j + (op != 2)
    return out


_NEVER = 1 << 60
_ERROR = 1 << 31  # one error outweighs any number of substitutions


@njit(cache=True)
def _band_cost(ref, hyp, limit, row):  # type: ignore[no-untyped-def]
    """Errors times _ERROR plus substitutions, over alignments within the band of `limit` errors; row is scratch."""
    n, m = len(ref), len(hyp)
    down, right = (limit + n - m) // 2, (limit + m - n) // 2  # most deletions, most insertions
    for j in range(m + 1):
        row[j] = j * _ERROR if j <= right else _NEVER
    for i in range(1, n + 1):
        lo, hi = max(1, i - down), min(m, i + right)
        diagonal = row[lo - 1]
        left = _NEVER
        if i <= down:
            left = i * _ERROR
            row[0] = left
        unit = ref[i - 1]
        for j in range(lo, hi + 1):
            best = diagonal
            if unit != hyp[j - 1]:
                best += _ERROR + 1
            diagonal = row[j]
            best = min(best, min(left, diagonal) + _ERROR)
            row[j] = best
            left = best
    return row[m]


@njit(cache=True)
def _edit_errors(ref_values, ref_offsets, hyp_values, hyp_offsets, ref_row, hyp_row, out):  # type: ignore[no-untyped-def]
    longest = 0
    for k in range(len(hyp_row)):
        longest = max(longest, hyp_offsets[hyp_row[k] + 1] - hyp_offsets[hyp_row[k]])
    row = np.empty(longest + 1, dtype=np.int64)
    for k in range(len(ref_row)):
        a, b = ref_offsets[ref_row[k]], ref_offsets[ref_row[k] + 1]
        c, d = hyp_offsets[hyp_row[k]], hyp_offsets[hyp_row[k] + 1]
        # A common beginning or end can always be hits: hits cost nothing and no exchange makes them dearer.
        while a < b and c < d and ref_values[a] == hyp_values[c]:
            a += 1
            c += 1
        while a < b and c < d and ref_values[b - 1] == hyp_values[d - 1]:
            b -= 1
            d -= 1
        n, m = b - a, d - c
        if n == 0 or m == 0:
            out[k, 0] = n + m
            continue
        limit = abs(n - m) + 4
        cost = _band_cost(ref_values[a:b], hyp_values[c:d], limit, row)
        while cost // _ERROR > limit:
            limit *= 2
            cost = _band_cost(ref_values[a:b], hyp_values[c:d], limit, row)
        out[k, 0] = cost // _ERROR
        out[k, 1] = cost % _ERROR


@njit(cache=True)
def _trace(ref, hyp, limit):  # type: ignore[no-untyped-def]
    """Operations (numbers of _OPS) from left to right of the alignment that the tie rule takes; limit: the distance.

    The costs of all ends of the sequences are filled from the right, so that the walk goes from the left.
    """
    n, m = len(ref), len(hyp)
    down, right = (limit + n - m) // 2, (limit + m - n) // 2
    taken = np.empty((n + 1, down + right + 1), dtype=np.uint8)  # cell (i, j) is in column j - i + down
    row = np.full(m + 2, _NEVER, dtype=np.int64)
    for i in range(n, -1, -1):
        # Of what is left, at most `down` deletions and `right` insertions fit before this cell.
        lo, hi = max(0, i - down), min(m, i + right)
        below_right = row[hi + 1]
        row[hi + 1] = _NEVER
        for j in range(hi, lo - 1, -1):
            below = row[j]
            best, op = _NEVER, 3
            if i == n and j == m:
                best = 0
            if i < n and j < m:
                equal = ref[i] == hyp[j]
                best, op = (below_right, 0) if equal else (below_right + _ERROR + 1, 1)
            if i < n and below + _ERROR < best:
                best, op = below + _ERROR, 2
            if j < m and row[j + 1] + _ERROR < best:
                best, op = row[j + 1] + _ERROR, 3
            below_right = below
            row[j] = best
            taken[i, j - i + down] = op
    out = np.empty(n + m, dtype=np.uint8)
    i, j, size = 0, 0, 0
    while i < n or j < m:
        op = taken[i, j - i + down]
        out[size] = op
        size += 1
        if op != 3:
            i += 1
        if op != 2:
            j += 1
    return out[:size]
