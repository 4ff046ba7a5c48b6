"""Ragged: many sequences of different lengths in one flat array."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from structens.core.errors import DataError

Index = slice | Sequence[int] | NDArray[Any]


@dataclass(frozen=True, eq=False)
class Ragged:
    """Sequences stored back to back; sequence i is ``values[offsets[i]:offsets[i + 1]]``.

    Parameters
    ----------
    values : ndarray, shape (n_positions,) or (n_positions, k)
        All positions of all sequences.
    offsets : ndarray of int64, shape (n_sequences + 1,)
        Starts at 0, never decreases, ends at ``n_positions``.

    Raises
    ------
    DataError
        If the offsets do not describe the values.

    Examples
    --------
    >>> r = Ragged.of([[1, 2, 3], [], [4]])
    >>> len(r), r.lengths.tolist(), r[0].tolist()
    (3, [3, 0, 1], [1, 2, 3])
    >>> r[1:].to_list()
    [[], [4]]
    """

    values: NDArray[Any]
    offsets: NDArray[np.int64]

    def __post_init__(self) -> None:
        offsets = np.ascontiguousarray(self.offsets, dtype=np.int64)
        object.__setattr__(self, "offsets", offsets)
        good = offsets.ndim == 1 and len(offsets) > 0 and offsets[0] == 0
        if not good or offsets[-1] != len(self.values) or (np.diff(offsets) < 0).any():
            raise DataError(
                f"offsets must start at 0, never decrease and end at {len(self.values)}, the number of positions"
            )

    @classmethod
    def of(cls, sequences: Iterable[Any], dtype: Any = np.int32) -> Ragged:
        """Build from an iterable of sequences; a ``Ragged`` is returned unchanged."""
        if isinstance(sequences, Ragged):
            return sequences
        rows = [np.asarray(row, dtype=dtype) for row in sequences]
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        values = np.concatenate(rows) if rows else np.zeros(0, dtype=dtype)
        return cls(values.astype(dtype, copy=False), offsets)

    @classmethod
    def from_lengths(cls, values: NDArray[Any], lengths: NDArray[Any]) -> Ragged:
        """Build from flat values and the length of each sequence."""
        offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return cls(values, offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Length of each sequence, shape (n_sequences,)."""
        return np.diff(self.offsets)

    @property
    def rows(self) -> NDArray[np.int64]:
        """Number of the sequence each position belongs to, shape (n_positions,)."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)

    @property
    def places(self) -> NDArray[np.int64]:
        """Place of each position within its sequence, from 0, shape (n_positions,)."""
        return np.arange(len(self.values), dtype=np.int64) - np.repeat(self.offsets[:-1], self.lengths)

    @overload
    def __getitem__(self, index: int) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, index: Index) -> Ragged: ...
    def __getitem__(self, index: int | Index) -> NDArray[Any] | Ragged:
        if isinstance(index, (int, np.integer)):
            i = range(len(self))[int(index)]
            return self.values[self.offsets[i] : self.offsets[i + 1]]
        if isinstance(index, slice) and index.step in (None, 1):
            start, stop, _ = index.indices(len(self))
            stop = max(start, stop)
            offsets = self.offsets[start : stop + 1]
            return Ragged(self.values[offsets[0] : offsets[-1]], offsets - offsets[0])
        chosen = np.arange(len(self))[index]
        lengths = self.lengths[chosen]
        offsets = np.zeros(len(chosen) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        shift = np.repeat(self.offsets[chosen] - offsets[:-1], lengths)
        return Ragged(self.values[np.arange(offsets[-1]) + shift], offsets)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        for i in range(len(self)):
            yield self[i]

    def to_list(self) -> list[list[Any]]:
        """Nested Python lists."""
        flat, cuts = self.values.tolist(), self.offsets.tolist()
        return [flat[a:b] for a, b in pairwise(cuts)]
