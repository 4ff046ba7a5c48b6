"""Agreement of experts among themselves: no gold needed.

Experts that always agree are probably one model under several names, and their copies win every plain vote. Experts
that share no label speak different tag sets, and a vote between them is a tie at every place.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import ExpertPredictions, ParameterError
from structens.evaluate.alignment import edit_errors


@dataclass(frozen=True, eq=False)
class Agreement:
    """Pairwise agreement of p experts over the records that both answered.

    Parameters
    ----------
    names : tuple of str, p
    agreed, compared : ndarray of int64, shape (p, p)
        Equal units, and columns, of the alignments of their answers; their ratio is the agreement. Answers of equal
        length are compared position by position where all answers of a record are of equal length.
    identical, common : ndarray of int64, shape (p, p)
        Records with exactly the same answer, and records that both answered.
    shared_labels : ndarray of int64, shape (p, p)
        Distinct labels that both use; on the diagonal, labels the expert uses.
    """

    names: tuple[str, ...]
    agreed: NDArray[np.int64]
    compared: NDArray[np.int64]
    identical: NDArray[np.int64]
    common: NDArray[np.int64]
    shared_labels: NDArray[np.int64]

    @property
    def rate(self) -> NDArray[np.float64]:
        """Share of equal units, shape (p, p); NaN where two experts have nothing to compare."""
        out = np.full(self.agreed.shape, np.nan)
        np.divide(self.agreed, self.compared, out=out, where=self.compared > 0)
        return out

    def to_dict(self) -> dict[str, Any]:
        """Nested lists, None where an agreement is undefined."""
        rate = [[None if np.isnan(value) else value for value in row] for row in self.rate.tolist()]
        counts = ("agreed", "compared", "identical", "common", "shared_labels")
        return {"names": list(self.names), "rate": rate, **{name: getattr(self, name).tolist() for name in counts}}


def agreement(X: ExpertPredictions, *, max_records: int | None = None) -> Agreement:
    """Pairwise agreement of the experts.

    Parameters
    ----------
    X : ExpertPredictions
    max_records : int, optional
        Align at most so many records, evenly spread: the cost is p * (p - 1) / 2 alignments a record. Identical
        answers and labels are always taken from all records.

    Examples
    --------
    >>> X = ExpertPredictions.of({"A": [["DET", "NOUN"], ["NOUN"]], "B": [["DT", "NN"], ["NN"]]})
    >>> a = agreement(X)
    >>> int(a.agreed[0, 1]), int(a.compared[0, 1]), int(a.shared_labels[0, 1])
    (0, 3, 0)
    """
    if max_records is not None and max_records < 1:
        raise ParameterError(f"max_records must be at least 1, got {max_records!r}")
    n, p = len(X), X.n_experts
    chosen = X
    if max_records is not None and n > max_records:
        chosen = X[np.linspace(0, n - 1, max_records).astype(np.int64)]
    agreed, compared = _aligned_units(chosen)
    here = X.present.astype(np.int64)
    return Agreement(X.names, agreed, compared, identical_answers(X), here.T @ here, _shared_labels(X, p))


def identical_answers(X: ExpertPredictions) -> NDArray[np.int64]:
    """Records that experts j and k answered in exactly the same way, shape (p, p).

    Examples
    --------
    >>> identical_answers(ExpertPredictions.of({"a": ["x", "y"], "b": ["x", None]})).tolist()
    [[2, 1], [1, 1]]
    """
    n, p = len(X), X.n_experts
    answers = _answer_numbers(X)
    out = np.zeros((p, p), dtype=np.int64)
    for j in range(p):
        same = (answers == answers[:, j : j + 1]) & X.present & X.present[:, j : j + 1]
        out[j] = same.sum(axis=0) if n else 0
    return out


def possible_copies(X: ExpertPredictions) -> list[list[str]]:
    """Groups of experts that gave the same answer to every record that both answered.

    Examples
    --------
    >>> possible_copies(ExpertPredictions.of({"a": ["x", "y"], "b": ["x", "z"], "c": ["x", "y"]}))
    [['a', 'c']]
    """
    here = X.present.astype(np.int64)
    common = here.T @ here
    same = (identical_answers(X) == common) & (common > 0)
    left, groups = list(range(X.n_experts)), []
    while left:
        # Copies of the first that are copies of each other: with absent experts the relation is not transitive.
        group: list[int] = []
        for j in left:
            if all(same[j, k] for k in group) and same[j, j]:
                group.append(j)
        if len(group) > 1:
            groups.append([X.names[j] for j in group])
        left = [j for j in left if j not in group and j != left[0]]
    return groups


def disjoint_labels(X: ExpertPredictions) -> list[tuple[str, str]]:
    """Pairs of experts that both use labels but share none.

    Examples
    --------
    >>> disjoint_labels(ExpertPredictions.of({"A": [["DET"]], "B": [["DT"]], "C": [["DET", "DT"]]}))
    [('A', 'B')]
    """
    shared = _shared_labels(X, X.n_experts)
    used = np.diag(shared) > 0
    pairs = np.argwhere(np.triu((shared == 0) & used[:, None] & used[None, :], 1))
    return [(X.names[j], X.names[k]) for j, k in pairs.tolist()]


def coverage(X: ExpertPredictions) -> dict[str, int]:
    """Number of records that each expert answered.

    Examples
    --------
    >>> coverage(ExpertPredictions.of({"A": ["ab", "cde"], "C": ["ab", None]}))
    {'A': 2, 'C': 1}
    """
    return dict(zip(X.names, X.present.sum(axis=0).tolist(), strict=True))


def _answer_numbers(X: ExpertPredictions) -> NDArray[np.int64]:
    """A number for each answer, equal for equal answers of any record; shape (n, p)."""
    data = np.ascontiguousarray(X.hypotheses.values, dtype=np.int32).tobytes()
    cuts = (X.hypotheses.offsets * 4).tolist()
    table: dict[bytes, int] = {}
    numbers = [table.setdefault(data[a:b], len(table)) for a, b in pairwise(cuts)]
    return np.array(numbers, dtype=np.int64).reshape(len(X), X.n_experts)


def _shared_labels(X: ExpertPredictions, p: int) -> NDArray[np.int64]:
    used = np.zeros((p, len(X.alphabet)), dtype=bool)
    used[X.hypotheses.rows % p, X.hypotheses.values] = True
    # A pair shares few or many labels: sums over labels, in floating point for speed, are exact below 2**53.
    as_float = used.astype(np.float64)
    shared: NDArray[np.int64] = (as_float @ as_float.T).astype(np.int64)
    return shared


def _aligned_units(X: ExpertPredictions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Equal units and columns of the alignments, both of shape (p, p)."""
    n, p = len(X), X.n_experts
    agreed, compared = np.zeros((p, p), dtype=np.int64), np.zeros((p, p), dtype=np.int64)
    lengths = X.hypotheses.lengths.reshape(n, p)
    longest = np.where(X.present, lengths, -1).max(axis=1, initial=-1)
    equal = ((lengths == longest[:, None]) | ~X.present).all(axis=1)
    tags, others = X[equal], X[~equal]
    if len(tags):
        _equal_units(tags, agreed, compared)
    first, second = np.triu_indices(p)
    for j, k in zip(first.tolist(), second.tolist(), strict=True):
        both = np.flatnonzero(others.present[:, j] & others.present[:, k])
        left, right = both * p + j, both * p + k
        errors, substitutions = edit_errors(others.hypotheses, others.hypotheses, left, right)
        total = others.hypotheses.lengths[left] + others.hypotheses.lengths[right]
        hits = (total - errors - substitutions) // 2
        agreed[j, k] += hits.sum()
        compared[j, k] += (hits + errors).sum()
    below = np.tril_indices(p, -1)
    agreed[below], compared[below] = agreed.T[below], compared.T[below]
    return agreed, compared


def _equal_units(X: ExpertPredictions, agreed: NDArray[np.int64], compared: NDArray[np.int64]) -> None:
    """Adds position by position, for records whose answers are all of one length."""
    n, p = len(X), X.n_experts
    lengths = X.hypotheses.lengths.reshape(n, p).max(axis=1)
    table = np.full((int(lengths.sum()), p), -1, dtype=np.int64)
    start = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    row = X.hypotheses.rows
    table[start[row // p] + X.hypotheses.places, row % p] = X.hypotheses.values
    for j in range(p):
        here = table[:, j : j + 1] >= 0
        agreed[j] += ((table == table[:, j : j + 1]) & here).sum(axis=0)
        compared[j] += ((table >= 0) & here).sum(axis=0)
