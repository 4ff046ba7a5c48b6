"""Reader of npz archives: flat arrays of features and labels, with the offsets of the sequences."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import DataError
from structens.io.source import display_name, read_blocks
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
        Plain, gzip or zstd, recognised by content.
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
        If the file is no npz file, an array is not there, arrays do not fit each other, a number is not finite, or an
        id occurs twice; names file, array, sequence where there is one, and rule.

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
    spans = _spans(offsets, len(rows), name)
    tags = None if gold is None or gold not in arrays else _labels(arrays[gold], labels, len(rows), gold, name)
    ids = _ids(arrays.get("ids"), len(spans), id_format, name)
    folds = arrays.get("folds")
    if folds is not None and folds.shape != (len(spans),):
        rule = f"folds has shape {folds.shape}, one for each of {len(spans)} sequences is needed"
        raise DataError(rule, path=name)
    sequences = [rows[a:b] for a, b in spans]
    _check_finite(rows, spans, ids, features, name)
    known: list[list[str] | None] = [None if tags is None else tags[a:b] for a, b in spans]
    return TaggedSequences(tuple(ids), sequences, known, np.zeros(len(spans), np.int64), name, folds)


def _arrays(path: str | os.PathLike[str], name: str) -> dict[str, NDArray[Any]]:
    data = b"".join(read_blocks(path))
    if not data.startswith((b"PK\3\4", b"PK\5\6")):
        what = "one array, no archive of several" if data.startswith(b"\x93NUMPY") else "no npz archive"
        raise DataError(
            f"the file is {what}", path=name, hint="write it with numpy.savez(file, pixels=..., offsets=...)"
        )
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            found = {key: archive[key] for key in archive.files}
            return {key: array for key, array in found.items() if isinstance(array, np.ndarray)}  # not other files
    except Exception as error:  # on damaged headers numpy and zipfile raise a dozen kinds, of tokenize and struct too
        if "allow_pickle" in str(error):
            rule, hint = (
                "the file holds an array of Python objects, which could run code",
                "leave it out, or save it as text",
            )
            raise DataError(rule, path=name, hint=hint) from None
        rule = f"the npz archive is cut or damaged: {' '.join(str(error).split()) or type(error).__name__}"
        raise DataError(rule, path=name, hint="write or get the file again") from None


def _array_of(arrays: dict[str, NDArray[Any]], key: str, name: str) -> NDArray[Any]:
    if key not in arrays:
        raise DataError(f"there is no array {key!r}", path=name, hint=f"there are {', '.join(sorted(arrays))}")
    return arrays[key]


def _spans(offsets: NDArray[Any], n: int, path: str) -> list[tuple[int, int]]:
    """Where each sequence begins and ends."""
    if offsets.ndim != 1 or offsets.dtype.kind not in "iu":
        rule = (
            f"offsets is {offsets.dtype} of shape {offsets.shape}, whole numbers of shape (sequences + 1,) are needed"
        )
        raise DataError(rule, path=path)
    offsets = offsets.astype(np.int64)
    if len(offsets) < 2 or offsets[0] != 0 or offsets[-1] != n or (np.diff(offsets) < 0).any():
        hint = "sequence i is positions offsets[i] to offsets[i + 1]"
        raise DataError(f"offsets must start at 0, never decrease and end at {n}", path=path, hint=hint)
    return list(pairwise(offsets.tolist()))


def _ids(given: NDArray[Any] | None, n: int, id_format: str, path: str) -> list[str | int]:
    ids = np.array([id_format.format(i) for i in range(n)]) if given is None else given
    if ids.shape != (n,) or ids.dtype.kind not in "iuU":
        rule = f"ids is {ids.dtype} of shape {ids.shape}, a text or whole number for each of {n} sequences is needed"
        raise DataError(rule, path=path)
    seen: set[str] = set()
    out: list[str | int] = ids.tolist()
    for ident in out:
        if str(ident) in seen:
            raise DataError("the id occurs twice", path=path, record=ident, hint="each id may occur once")
        seen.add(str(ident))
    return out


def _check_finite(rows: NDArray[Any], spans: list[tuple[int, int]], ids: list[str | int], key: str, path: str) -> None:
    if rows.dtype.kind != "f" or np.isfinite(rows).all():
        return
    k, column = np.argwhere(~np.isfinite(rows))[0].tolist()
    i = next(i for i, (a, b) in enumerate(spans) if a <= k < b)
    rule = f"{key}[{k}, {column}] is {rows[k, column]}, a finite number is needed"
    hint = "put a number there, and say in one more column that it is missing"
    raise DataError(rule, path=path, record=ids[i], hint=hint)


def _labels(codes: NDArray[Any], names: Sequence[str] | None, n: int, key: str, path: str) -> list[str]:
    if codes.shape != (n,):
        raise DataError(f"{key} has shape {codes.shape}, one label for each of {n} positions is needed", path=path)
    if codes.dtype.kind == "U":
        if (codes == "").any():
            raise DataError(f"{key}[{int(np.argmax(codes == ''))}] is empty, no label is", path=path)
        return [str(label) for label in codes.tolist()]
    if codes.dtype.kind not in "iu":
        raise DataError(f"{key} holds {codes.dtype}, labels are texts or codes", path=path)
    if names is None and n and codes.min() >= 0 and codes.max() < 26:
        names = "abcdefghijklmnopqrstuvwxyz"
    if names is None:
        return [str(code) for code in codes.tolist()]
    if n and not (codes.min() >= 0 and codes.max() < len(names)):
        wrong = codes.min() if codes.min() < 0 else codes.max()
        raise DataError(f"{key} holds code {wrong}, there are {len(names)} labels", path=path)
    return [names[code] for code in codes.tolist()]
