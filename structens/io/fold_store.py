"""What taggers said of folds, kept in a directory, so that `cross_predict` goes on where it was interrupted."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, MutableMapping
from hashlib import blake2b
from pathlib import Path

import numpy as np

from structens.core import DataError
from structens.ensembles.tagged import Tagged
from structens.io.output import atomic_output
from structens.io.source import read_bytes, reason


class FoldStore(MutableMapping[str, Tagged]):
    """A mapping whose values are files of JSON, written whole or not at all.

    A file that is damaged counts as not there.

    Parameters
    ----------
    directory : path
        Made if it is not there.

    Raises
    ------
    DataError
        If it cannot be made or written to.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     FoldStore(folder)["t-0"] = Tagged([["A"]], [np.array([0.5])])
    ...     store = FoldStore(folder)
    ...     print(list(store), store["t-0"].labels, "t-1" in store)
    ['t-0'] [['A']] False
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"the directory cannot be made: {reason(error)}", path=str(directory)) from None

    def __getitem__(self, key: str) -> Tagged:
        found = self._read(self._file(key))
        if found is None or found[0] != key:
            raise KeyError(key)
        return found[1]

    def __setitem__(self, key: str, value: Tagged) -> None:
        rows = [row.tolist() for row in value.confidences]
        text = json.dumps({"key": key, "labels": value.labels, "confidences": rows})
        with atomic_output(self._file(key)) as out:
            out.write(text.encode())

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self._file(key).unlink()

    def __iter__(self) -> Iterator[str]:
        for file in sorted(self.directory.glob("*.fold.json")):
            found = self._read(file)
            if found is not None:
                yield found[0]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _file(self, key: str) -> Path:
        return self.directory / f"{blake2b(key.encode(), digest_size=12).hexdigest()}.fold.json"

    @staticmethod
    def _read(file: Path) -> tuple[str, Tagged] | None:
        try:
            held = json.loads(read_bytes(file))
            rows = [np.array(row, dtype=np.float64) for row in held["confidences"]]
            if [len(row) for row in rows] != [len(row) for row in held["labels"]]:
                return None
            return str(held["key"]), Tagged(held["labels"], rows)
        except (ValueError, KeyError, TypeError):
            return None
