"""Sequences to tag from a file of any of the known formats, told by its name."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from structens.core import DataError, ParameterError
from structens.io.conllu import read_conllu
from structens.io.feature_arrays import read_feature_arrays
from structens.io.features import read_features
from structens.io.jsonl import parse_line
from structens.io.source import Source, display_name, read_lines
from structens.io.tagged_sequences import TaggedSequences

FORMATS = ("auto", "jsonl", "conllu", "npz")
OPTIONS = {"jsonl": ("key",), "conllu": ("column",), "npz": ("array", "gold_array", "unpack_bits", "id_format")}
"""What each format can be told."""
DEFAULTS: dict[str, Any] = {
    "key": None,
    "column": "UPOS",
    "array": "pixels",
    "gold_array": "letters",
    "unpack_bits": False,
    "id_format": "{:d}",
}


def format_of(path: Source, format: str = "auto") -> str:
    """The format of a file: as said, or by the end of its name, without .gz or .zst; JSON Lines for all other names.

    Raises
    ------
    ParameterError
        If there is no such format.

    Examples
    --------
    >>> format_of("a.conllu.gz"), format_of("a.npz"), format_of("-"), format_of("-", "conllu")
    ('conllu', 'npz', 'jsonl', 'conllu')
    """
    if format not in FORMATS:
        raise ParameterError(f"format must be one of {', '.join(FORMATS)}; got {format!r}")
    name = display_name(path).removesuffix(".gz").removesuffix(".zst").lower()
    by_name = "conllu" if name.endswith((".conllu", ".conll")) else "npz" if name.endswith(".npz") else "jsonl"
    return by_name if format == "auto" else format


def read_tagged(
    path: Source,
    *,
    format: str = "auto",
    key: str | None = None,
    column: str = "UPOS",
    array: str = "pixels",
    gold_array: str = "letters",
    unpack_bits: bool = False,
    id_format: str = "{:d}",
    fold_field: str | None = None,
) -> TaggedSequences:
    """Sequences of a file of JSON Lines, CoNLL-U or npz.

    Parameters
    ----------
    path : path, "-" for standard input, or binary stream
    format : {"auto", "jsonl", "conllu", "npz"}
    key : {"tokens", "features"}, optional
        Of JSON Lines, see `read_features`.
    column : str
        Of CoNLL-U, the labels; see `read_conllu`.
    array, gold_array : str
        Of npz, the arrays of features and labels; see `read_feature_arrays`.
    unpack_bits : bool
        Of npz, whether each byte holds eight binary features.
    id_format : str
        Of npz, makes ids of numbers where there is no array "ids", such as "w-{:05d}".
    fold_field : str, optional
        Key of JSON Lines that holds the fold of each record; npz files have theirs in the array "folds".

    Raises
    ------
    DataError
        If the file is not as its format says, or a record has no fold.
    ParameterError
        If an option is out of its range.

    Examples
    --------
    >>> import io
    >>> read_tagged(io.BytesIO(b'{"id": 1, "tokens": ["a"], "part": "x"}'), fold_field="part").folds.tolist()
    ['x']
    """
    kind = format_of(path, format)
    if kind == "npz":
        if path == "-" or not isinstance(path, (str, os.PathLike)):
            raise DataError("an npz archive cannot be read from a pipe", hint="name a file")
        read = read_feature_arrays(
            path, features=array, gold=gold_array, unpack_bits=unpack_bits, id_format=_checked(id_format)
        )
        if fold_field not in (None, "folds"):
            raise ParameterError(f"an npz archive has its folds in the array 'folds'; got fold_field {fold_field!r}")
        if fold_field is not None and read.folds is None:
            raise DataError("there is no array 'folds'", path=read.path, hint="give a number of folds")
        return read
    if kind == "conllu":
        if fold_field is not None:
            raise ParameterError("CoNLL-U has no field of folds; give a number of folds")
        return read_conllu(path, column)
    if fold_field is None:
        return read_features(path, key=key)
    kept = b"\n".join(raw for _, group in read_lines(path) for raw in group)
    return _with_folds(read_features(_named(kept, display_name(path)), key=key), kept, fold_field)


def _with_folds(read: TaggedSequences, data: bytes, field: str) -> TaggedSequences:
    raw, folds = data.split(b"\n"), []
    for ident, line in zip(read.ids, read.lines.tolist(), strict=True):
        record = parse_line(raw[line - 1], read.path, line) or {}
        value = record.get(field)
        if type(value) not in (str, int):
            rule = (
                f"there is no fold in {field!r}" if value is None else f"{field} is neither a text nor a whole number"
            )
            raise DataError(rule, path=read.path, line=line, record=ident, hint="give each record one")
        folds.append(str(value))
    return TaggedSequences(read.ids, read.sequences, read.gold, read.lines, read.path, np.array(folds, dtype=str))


def _checked(id_format: str) -> str:
    try:
        fits = id_format.format(0) != id_format.format(1)
    except (ValueError, LookupError, AttributeError):
        fits = False
    if not fits:
        raise ParameterError(f"id_format must make an id of a number, such as w-{{:05d}}; got {id_format!r}")
    return id_format


def _named(data: bytes, name: str) -> Any:
    import io

    stream = io.BytesIO(data)
    stream.name = name
    return stream
