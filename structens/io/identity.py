"""Record ids of a file: found twice or not, in 16 bytes a record."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from structens.core import DataError


class IdRegister:
    """Remembers 64-bit hashes of ids with their line numbers, in sorted runs that are merged as they grow.

    Ids are compared as strings. Two different ids among n have the same hash with probability n^2 / 2^65: for ten
    million records, 3 in a million.

    Parameters
    ----------
    path : str

    Examples
    --------
    >>> register = IdRegister("a.jsonl")
    >>> register.add(["u1", 2], [1, 2])
    >>> register.add(["2"], [5])
    Traceback (most recent call last):
    structens.core.errors.DataError: a.jsonl:5: record '2': the id stands in line 2 too; each id may occur once
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._runs: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []

    def add(self, ids: Sequence[str | int], lines: Sequence[int]) -> None:
        """Add the ids of the next records.

        Raises
        ------
        DataError
            If an id was added before; the message names both lines.
        """
        n = len(ids)
        hashes = np.fromiter((hash(i) if type(i) is str else hash(str(i)) for i in ids), dtype=np.int64, count=n)
        numbers = np.asarray(lines, dtype=np.int64)
        order = np.argsort(hashes, kind="stable")
        run = hashes[order], numbers[order]
        found = self._pairs(run)
        if found:
            line, first = min(found)
            ident = ids[int(np.searchsorted(numbers, line))]
            rule = f"the id stands in line {first} too"
            raise DataError(rule, path=self.path, line=line, record=ident, hint="each id may occur once")
        while self._runs and len(self._runs[-1][0]) <= 2 * len(run[0]):
            run = _merge(self._runs.pop(), run)
        self._runs.append(run)

    def _pairs(self, run: tuple[NDArray[np.int64], NDArray[np.int64]]) -> list[tuple[int, int]]:
        hashes, numbers = run
        again = np.flatnonzero(hashes[1:] == hashes[:-1])
        found = [(int(numbers[i + 1]), int(numbers[i])) for i in again]
        for known, lines in self._runs:
            at = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
            found += [(int(numbers[i]), int(lines[at[i]])) for i in np.flatnonzero(known[at] == hashes)]
        return found


def _merge(
    a: tuple[NDArray[np.int64], NDArray[np.int64]], b: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    hashes, lines = np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]])
    order = np.argsort(hashes, kind="stable")
    return hashes[order], lines[order]
