"""Reader of JSON Lines with tokens or features of sequences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import DataError, ParameterError
from structens.io.jsonl import kind_of, parse_line, place
from structens.io.record import check_tokens, refuse_id
from structens.io.source import Source, display_name, read_lines
from structens.io.tagged_sequences import Gathered, TaggedSequences


def read_features(path: Source, *, key: str | None = None) -> TaggedSequences:
    r"""Sequences in JSON Lines: one object a line, with ``id``, ``tokens`` or ``features``, and perhaps ``gold``.

    Parameters
    ----------
    path : path, "-" for standard input, or binary stream
        Plain, gzip or zstd, recognised by content.
    key : {"tokens", "features"}, optional
        What to learn from; default: the one that the first record has, tokens if both. Tokens are lists of strings,
        features lists of lists of numbers, of one length in the whole file.

    Raises
    ------
    DataError
        If anything is not as said; names file, line, record, rule and way out.
    ParameterError
        If the key is another.

    Examples
    --------
    >>> import io
    >>> data = b'{"id": 1, "tokens": ["a", "b"], "gold": ["A", "B"]}\n{"id": 2, "tokens": []}'
    >>> read = read_features(io.BytesIO(data))
    >>> read.ids, read.sequences, read.gold
    ((1, 2), [['a', 'b'], []], [['A', 'B'], None])
    """
    if key not in (None, "tokens", "features"):
        raise ParameterError(f"key must be tokens or features; got {key!r}")
    out = Gathered(display_name(path))
    for ident, sequence, gold, line in iter_features(path, key=key):
        out.add(ident, sequence, gold, line)
    hint = f"each line is one object with id and {key or 'tokens'}"
    return out.sequences_or_refuse("there are no records in the file", hint)


def iter_features(path: Source, *, key: str | None = None) -> Iterator[tuple[str | int, Any, list[str] | None, int]]:
    r"""Id, sequence, gold and line of each record, read when it is asked for; as `read_features`.

    Raises
    ------
    DataError
        As soon as the record with the fault is reached; ids that occur twice are not found.

    Examples
    --------
    >>> import io
    >>> next(iter_features(io.BytesIO(b'\n{"id": 1, "tokens": ["a", "b"]}')))
    (1, ['a', 'b'], None, 2)
    """
    name, width = display_name(path), None
    for first, group in read_lines(path):
        for line, raw in enumerate(group, first):
            record = parse_line(raw, name, line)
            if record is None:
                continue
            if type(record.get("id")) not in (str, int):
                refuse_id(record, name, line)
            where: dict[str, Any] = {"path": name, "line": line, "record": record["id"]}
            key = key or ("features" if "features" in record and "tokens" not in record else "tokens")
            sequence: Any = _sequence(record, key, where)
            if key == "features":
                sequence = _vectors(sequence, width, where)
                width = width or sequence.shape[1] or None
            yield record["id"], sequence, _gold(record, len(sequence), where), line


def _sequence(record: dict[str, Any], key: str, where: dict[str, Any]) -> list[Any]:
    if key not in record:
        raise DataError(f"there is no key {key}", hint=f'write {{"id": ..., "{key}": [...]}}', **where)
    sequence = record[key]
    if type(sequence) is not list:
        hint = "cut it into words first" if isinstance(sequence, str) else None
        raise DataError(f"{key} is {kind_of(sequence)}, a list is needed", hint=hint, **where)
    if key == "tokens":
        check_tokens(sequence, (key,), where)
    return sequence


def _vectors(rows: list[Any], width: int | None, where: dict[str, Any]) -> NDArray[np.float64]:
    """An array of rows of numbers, all of one length."""
    for i, row in enumerate(rows):
        if type(row) is not list or not row:
            said = "an empty list" if row == [] else kind_of(row)
            raise DataError(f"{place('features', i)} is {said}, a list of numbers is needed", **where)
        width = width or len(row)
        if len(row) != width:
            raise DataError(f"{place('features', i)} has {len(row)} numbers, those before have {width}", **where)
        for j, number in enumerate(row):
            if type(number) not in (int, float):
                raise DataError(f"{place('features', i, j)} is {kind_of(number)}, a number is needed", **where)
    try:
        return np.array(rows, dtype=np.float64).reshape(len(rows), width or 0)
    except OverflowError:
        raise DataError("features holds a whole number too large for a float", **where) from None


def _gold(record: dict[str, Any], n: int, where: dict[str, Any]) -> list[str] | None:
    gold = record.get("gold")
    if gold is None:
        return None
    if type(gold) is not list:
        raise DataError(f"gold is {kind_of(gold)}, a list of labels is needed", **where)
    check_tokens(gold, ("gold",), where)
    if len(gold) != n:
        raise DataError(f"gold has {len(gold)} labels for {n} positions", hint="give one label a position", **where)
    return gold
