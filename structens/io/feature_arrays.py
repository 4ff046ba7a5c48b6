"""Reader of npz archives: flat arrays of features and labels, with the offsets of the sequences."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import DataError
from structens.io.identity import IdRegister
from structens.io.source import display_name, read_bytes
from structens.io.tagged_sequences import TaggedSequences


def read_feature_arrays(
    path: str | os.PathLike[str],
    *,
    features: str = "pixels",
    gold: str | None = "letters",
    labels: Sequence[str] | None = None,
    unpack_bits: bool = False,
    id_format: str = "{:d}",
) -> TaggedSequences:
    """Sequences in an npz file of flat arrays: positions one after the other, and ``offsets`` of the sequences.

    ``ids`` and ``folds``, one a sequence, are taken where they are there. No array of Python objects is opened.

    Parameters
    ----------
    path : path
    features : str
        Array of shape (positions, d).
    gold : str, optional
        Array of shape (positions,): labels, or codes of `labels`. None for none; one that is not there is none either.
    labels : sequence of str, optional
        Names of the codes; default the letters a to z for codes below 26, else the codes as text.
    unpack_bits : bool
        Whether each byte holds eight binary features, the highest bit first.
    id_format : str
        Makes an id of a sequence's number where there are no ``ids``.

    Raises
    ------
    DataError
        If the file is no npz file, an array is not there, or arrays do not fit each other.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "words.npz")
    ...     np.savez(path, pixels=np.array([[128], [1]], np.uint8), letters=np.array([0, 1]), offsets=[0, 1, 2])
    ...     read = read_feature_arrays(path, unpack_bits=True, id_format="w{:03d}")
    >>> read.ids, read.gold, read.sequences[0].tolist()
    (('w000', 'w001'), [['a'], ['b']], [[1, 0, 0, 0, 0, 0, 0, 0]])
    """
    name = display_name(path)
    arrays = _arrays(path, name)
    rows, offsets = _array_of(arrays, features, name), _array_of(arrays, "offsets", name)
    if rows.ndim != 2 or rows.dtype.kind not in "biuf":
        raise DataError(f"{features} must be numbers of shape (positions, d); it has {rows.shape}", path=name)
    if unpack_bits:
        if rows.dtype != np.uint8:
            raise DataError(f"{features} holds {rows.dtype}, bits are unpacked from uint8 only", path=name)
        rows = np.unpackbits(rows, axis=1)
    offsets = offsets.astype(np.int64)
    n = len(offsets) - 1
    if offsets.ndim != 1 or n < 1 or offsets[0] != 0 or offsets[-1] != len(rows) or (np.diff(offsets) < 0).any():
        raise DataError(f"offsets must start at 0, never decrease and end at {len(rows)}", path=name)
    tags = None if gold is None or gold not in arrays else _labels(arrays[gold], labels, len(rows), gold, name)
    ids = arrays["ids"].tolist() if "ids" in arrays else [id_format.format(i) for i in range(n)]
    folds = arrays.get("folds")
    if len(ids) != n or (folds is not None and folds.shape != (n,)):
        raise DataError(f"ids and folds must have one entry for each of {n} sequences", path=name)
    spans = list(pairwise(offsets.tolist()))
    sequences = [rows[a:b] for a, b in spans]
    known: list[list[str] | None] = [None if tags is None else tags[a:b] for a, b in spans]
    IdRegister(name).add(ids, [0] * n)
    return TaggedSequences(tuple(ids), sequences, known, np.zeros(n, np.int64), name, folds)


def _arrays(path: str | os.PathLike[str], name: str) -> dict[str, NDArray[Any]]:
    try:
        with np.load(io.BytesIO(read_bytes(path)), allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise DataError("the file holds one array, not an npz archive of several", path=name)
            return {key: archive[key] for key in archive.files}
    except DataError:
        raise
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"the file is no npz archive of plain arrays: {error}", path=name) from None


def _array_of(arrays: dict[str, NDArray[Any]], key: str, name: str) -> NDArray[Any]:
    if key not in arrays:
        raise DataError(f"there is no array {key!r}", path=name, hint=f"there are {', '.join(sorted(arrays))}")
    return arrays[key]


def _labels(codes: NDArray[Any], names: Sequence[str] | None, n: int, key: str, path: str) -> list[str]:
    if codes.shape != (n,):
        raise DataError(f"{key} has shape {codes.shape}, one label for each of {n} positions is needed", path=path)
    if codes.dtype.kind == "U":
        return [str(label) for label in codes.tolist()]
    if codes.dtype.kind not in "iu":
        raise DataError(f"{key} holds {codes.dtype}, labels are texts or codes", path=path)
    if names is None and n and codes.min() >= 0 and codes.max() < 26:
        names = "abcdefghijklmnopqrstuvwxyz"
    if names is None:
        return [str(code) for code in codes.tolist()]
    if n and not (codes.min() >= 0 and codes.max() < len(names)):
        raise DataError(f"{key} holds code {codes.max()}, there are {len(names)} labels", path=path)
    return [names[code] for code in codes.tolist()]
