"""Draws that depend on a seed and a record's id only, not on record order, batches, workers or the hash seed."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def record_keys(ids: Iterable[str | int], seed: int) -> NDArray[np.uint64]:
    """Key of each record: a stable hash (BLAKE2b) of seed and id, shape (n,).

    Examples
    --------
    >>> a, b = record_keys(["u1", 1], seed=0).tolist()
    >>> [b] == record_keys([1], seed=0).tolist(), a == b
    (True, False)
    """
    digests = [blake2b(repr((seed, key)).encode(), digest_size=8).digest() for key in ids]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def uniforms(keys: NDArray[np.uint64], counter: NDArray[np.int64]) -> NDArray[np.float64]:
    """Numbers in [0, 1), one for each key and counter (SplitMix64: Steele, Lea and Flood 2014); shapes broadcast.

    Examples
    --------
    >>> u = uniforms(record_keys(["u1"], 0), np.arange(10_000))
    >>> bool((u >= 0).all() and (u < 1).all()), round(float(u.mean()), 1)
    (True, 0.5)
    """
    z = keys + (counter.astype(np.uint64) + np.uint64(1)) * _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    out: NDArray[np.float64] = (z >> np.uint64(11)) * 2.0**-53
    return out
