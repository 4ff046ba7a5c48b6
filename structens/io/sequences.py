"""Files of one sequence a record, such as gold or predictions, and joining two files by id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import DataError, ParameterError
from structens.io.identity import IdRegister
from structens.io.jsonl import kind_of, parse_line
from structens.io.normalize import Folding
from structens.io.record import check_tokens, refuse_id
from structens.io.source import Source, display_name, read_lines

KEYS = ("gold", "prediction", "tokens", "text")
"""Where a sequence is looked for, in this order."""


@dataclass(frozen=True)
class Sequences:
    """One sequence a record.

    Parameters
    ----------
    ids : tuple of str or int, n
    values : tuple, n
        Lists of tokens, or texts, as they stand in the file; None where it says null.
    lines : ndarray of int64, shape (n,)
        Physical line of each record.
    key : str
        The key the sequences were read from.
    path : str
    """

    ids: tuple[str | int, ...]
    values: tuple[Any, ...]
    lines: NDArray[np.int64]
    key: str
    path: str

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Join:
    """Records of two files with the same id, in the order of the first.

    Parameters
    ----------
    left, right : ndarray of int64, shape (n_shared,)
        Number of each shared record in either file.
    only_left, only_right : ndarray of int64
        Numbers of the others.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    only_left: NDArray[np.int64]
    only_right: NDArray[np.int64]


def read_sequences(
    path: Source,
    key: str | Sequence[str] = KEYS,
    *,
    unit: str = "char",
    normalize: str = "none",
    casefold: bool = False,
    strip_punct: bool = False,
) -> Sequences:
    """Read one sequence a record from JSON Lines, with the strictness of `read_records`.

    Parameters
    ----------
    path : path, "-" for standard input, or binary stream
    key : str or sequence of str
        Key of the sequence; of several, the first that the file's first record has, for the whole file.
    unit : {"char", "codepoint", "word", "line"}
        How texts are cut where they are folded.
    normalize, casefold, strip_punct
        How units are folded (see `Folding`).

    Raises
    ------
    DataError
        If anything in the file is not as the format says, or a record lacks the key.

    Examples
    --------
    >>> import io
    >>> gold = read_sequences(io.BytesIO(b'{"id": "u1", "tokens": ["a", "b"]}'))
    >>> gold.ids, gold.values, gold.key, gold.lines.tolist()
    (('u1',), (['a', 'b'],), 'tokens', [1])
    """
    folding = Folding(normalize, casefold, strip_punct)
    name, keys = display_name(path), (key,) if isinstance(key, str) else tuple(key)
    if not keys:
        raise ParameterError("name at least one key to read sequences from")
    register = IdRegister(name)
    ids: list[Any] = []
    values: list[Any] = []
    lines: list[int] = []
    used: str | None = None
    kind: type | None = None
    for first, group in read_lines(path):
        n_before = len(ids)
        for line, raw in enumerate(group, first):
            record = parse_line(raw, name, line)
            if record is None:
                continue
            if type(record.get("id")) not in (str, int):
                refuse_id(record, name, line)
            if used is None:
                used = next((k for k in keys if k in record), keys[0])
            value = _sequence(record, used, keys, name, line, kind)
            if value is not None:
                kind = type(value)
                value = folding.answer(value, unit)
            ids.append(record["id"])
            values.append(value)
            lines.append(line)
        register.add(ids[n_before:], lines[n_before:])
    if not ids or used is None:
        hint = f"each line is one object with id and {' or '.join(keys)}"
        raise DataError("there are no records in the file", path=name, hint=hint)
    return Sequences(tuple(ids), tuple(values), np.array(lines, dtype=np.int64), used, name)


def join_by_id(
    left: Sequence[str | int], right: Sequence[str | int], *, left_name: str = "left", right_name: str = "right"
) -> Join:
    """Pair records of two files by id, compared as strings; the order of records does not matter.

    Raises
    ------
    DataError
        If no id is shared, or one occurs twice in a file.

    Examples
    --------
    >>> pairs = join_by_id(["u1", "u2"], ["u2", "u3", "u1"])
    >>> pairs.left.tolist(), pairs.right.tolist(), pairs.only_right.tolist()
    ([0, 1], [2, 0], [1])
    """
    here, there = _numbers(left, left_name), _numbers(right, right_name)
    shared = [(i, there[ident]) for ident, i in here.items() if ident in there]
    if not shared:
        examples = " and ".join(
            f"{name} has {str(ids[0])!r}" if len(ids) else f"{name} has none"
            for name, ids in ((left_name, left), (right_name, right))
        )
        n_all = max(len(left), len(right))
        raise DataError(f"0 of {n_all} ids are shared by {left_name} and {right_name}: {examples}")
    pairs = np.array(shared, dtype=np.int64)
    return Join(
        pairs[:, 0],
        pairs[:, 1],
        np.setdiff1d(np.arange(len(left)), pairs[:, 0]),
        np.setdiff1d(np.arange(len(right)), pairs[:, 1]),
    )


def _sequence(record: dict[str, Any], key: str, keys: tuple[str, ...], path: str, line: int, kind: type | None) -> Any:
    where: Any = {"path": path, "line": line, "record": record["id"]}
    if key not in record:
        asked = key if len(keys) == 1 or line > 1 else " or ".join(keys)
        raise DataError(f"there is no key {asked}", hint="write null where the answer is not known", **where)
    value = record[key]
    if value is None:
        return None
    if type(value) is not str and type(value) is not list:
        raise DataError(f"{key} is {kind_of(value)}, a string, a list of strings or null is needed", **where)
    if kind is not None and type(value) is not kind:
        rule = f"texts and lists of tokens are mixed: {key} is {kind_of(value)}"
        raise DataError(rule, hint="use one of the two in a file", **where)
    if type(value) is list:
        check_tokens(value, (key,), where)
    return value


def _numbers(ids: Sequence[str | int], name: str) -> dict[str, int]:
    out = {str(ident): i for i, ident in enumerate(ids)}
    if len(out) != len(ids):
        seen: set[str] = set()
        for ident in map(str, ids):
            if ident in seen:
                raise DataError("the id occurs twice", path=name, record=ident, hint="each id may occur once")
            seen.add(ident)
    return out
