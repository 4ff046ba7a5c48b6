"""Fingerprint of a collection: 12 hexadecimal digits that change with any answer, reference or id.

It does not depend on the order of records or experts, nor on how labels are coded, so that two tables with the same
fingerprint were made from the same data. It guards against mix-ups, not against an adversary.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from structens.core import ExpertPredictions, Ragged


def fingerprint(X: ExpertPredictions) -> str:
    """Fingerprint of ids, answers and references.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["x", "y"], "b": ["x", None]}, gold=["x", "y"])
    >>> fingerprint(X) == fingerprint(X[[1, 0]].select(["b", "a"])), fingerprint(X) == fingerprint(X[:1])
    (True, False)
    """
    n, p = len(X), X.n_experts
    labels = _hashes(X.alphabet.labels)
    answers = _row_hashes(X.hypotheses, labels).reshape(n, p) * X.present.astype(np.uint64)
    total = _hashes(f"{type(i).__name__} {i}" for i in X.ids)
    total += _mix(answers + _hashes(X.names)[None, :]).sum(axis=1, dtype=np.uint64)
    owner = np.repeat(np.arange(n), np.diff(X.reference_offsets))
    place = np.arange(len(owner), dtype=np.uint64) - X.reference_offsets[owner].astype(np.uint64)
    references = _mix(_row_hashes(X.references, labels) + _mix(place))
    np.add.at(total, owner, references)
    digest = hashlib.sha256(f"{X.unit} {p} ".encode() + np.sort(_mix(total)).astype("<u8").tobytes())
    return digest.hexdigest()[:12]


def _hashes(texts: Iterable[str]) -> NDArray[np.uint64]:
    digests = (hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
    return np.array([int.from_bytes(digest, "little") for digest in digests], dtype=np.uint64)


def _row_hashes(rows: Ragged, labels: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A hash a row, never 0, from labels and their places."""
    units = _mix(labels[rows.values] + _mix(rows.places.astype(np.uint64) + np.uint64(1)))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(units, dtype=np.uint64)])
    total = sums[rows.offsets[1:]] - sums[rows.offsets[:-1]]
    return _mix(total + rows.lengths.astype(np.uint64)) | np.uint64(1)


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64 (Steele, Lea and Flood 2014): every input bit reaches every output bit."""
    x = (x + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
