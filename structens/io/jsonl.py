"""Strict JSON of one line: the fast way with msgspec, and a slow second look that words the refusal.

msgspec refuses what RFC 8259 refuses, and lone surrogates, NaN and numbers that overflow; it does not see keys that
stand twice in an object. Those are found by counting: an object's every key is followed by one colon, so as many
colons as keys in the decoded value means that no key was lost.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from structens.core import DataError

decode = msgspec.json.Decoder().decode
"""Decode one line; raises one of `FAILURES`."""
FAILURES = (msgspec.MsgspecError, ValueError, RecursionError)

_KEY_ENDS = re.compile(rb'"[ \t\r]*:')
_PLAIN_KEY = re.compile(r"[\w-]+")
_ARRAY = "this is one JSON array"
_ONE_OBJECT = "write one object a line, without brackets and commas around them"


def is_blank(raw: bytes) -> bool:
    """True for a line of white space only."""
    return not raw.strip()


def parse_line(raw: bytes, path: str, line: int) -> dict[str, Any] | None:
    """The object of one line, None for a blank line.

    Raises
    ------
    DataError
        If the line is not one strict JSON object.

    Examples
    --------
    >>> parse_line(b'{"id": 1}', "a.jsonl", 7), parse_line(b" ", "a.jsonl", 8)
    ({'id': 1}, None)
    >>> parse_line(b'{"id": 1},', "a.jsonl", 7)
    Traceback (most recent call last):
    structens.core.errors.DataError: a.jsonl:7:10: there is a comma after the object; remove it: one object a line
    """
    try:
        value = decode(raw)
    except FAILURES as error:
        if is_blank(raw):
            return None
        raise refusal(raw, path, line, str(error)) from None
    if type(value) is not dict or (raw.count(b":") != len(value) and has_repeated_key(raw, value)):
        raise refusal(raw, path, line, "not an object")
    return value


def has_repeated_key(raw: bytes, value: Any) -> bool:
    """True where a key stands twice in one object of the line that decodes to the value."""
    keys, objects = _count_keys(value, lists=False)
    if objects != raw.count(b"{"):  # some may stand in lists, which take longer to go through
        keys, _ = _count_keys(value, lists=True)
    if keys == raw.count(b":") or keys == len(_KEY_ENDS.findall(raw)):
        return False
    repeated: list[str] = []

    def hook(pairs: list[tuple[str, Any]]) -> None:
        names = [key for key, _ in pairs]
        if len(set(names)) != len(names):
            repeated.append("yes")

    json.loads(raw, object_pairs_hook=hook)
    return bool(repeated)


def refusal(raw: bytes, path: str, line: int, reason: str = "") -> DataError:
    """The error that says what is wrong with a line, found by a second, slow look."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        hint = "save the file as UTF-8"
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
            hint = "the file looks like UTF-16; save it as UTF-8"
        rule = f"byte 0x{raw[error.start]:02X} at byte offset {error.start} of the line is not UTF-8"
        return DataError(rule, path=path, line=line, hint=hint)
    body = text.lstrip(" \t\r")
    if body.startswith("["):
        column = len(text) - len(body) + 1
        return DataError(_ARRAY, path=path, line=line, column=column, hint=_ONE_OBJECT)
    try:
        value = json.loads(text, object_pairs_hook=_Object, parse_constant=_Constant)
    except json.JSONDecodeError as error:
        return _syntax(error, text, path, line)
    except RecursionError:
        return DataError("lists or objects are nested too deeply", path=path, line=line)
    except ValueError:
        return DataError("a number has too many digits", path=path, line=line)
    if not isinstance(value, dict):
        return DataError(f"the line is {kind_of(value)}, an object is needed", path=path, line=line, hint=_ONE_OBJECT)
    return _second_look(value, path, line) or DataError(f"not valid JSON: {reason}", path=path, line=line)


def kind_of(value: Any) -> str:
    """JSON's word for the type of a value.

    Examples
    --------
    >>> kind_of(1), kind_of(None), kind_of(True), kind_of([]), kind_of({})
    ('a number', 'null', 'true', 'a list', 'an object')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, _Constant):
        return value.text
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "an object"


def place(*steps: str | int) -> str:
    """A value's place in a record.

    Examples
    --------
    >>> place("experts", "A", 0), place("experts", "my system")
    ('experts.A[0]', 'experts["my system"]')
    """
    out = ""
    for step in steps:
        if isinstance(step, int):
            out += f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step):
            out += f".{step}" if out else step
        else:
            out += f"[{json.dumps(step, ensure_ascii=False)}]"
    return out.encode("utf-8", "backslashreplace").decode("utf-8")


class _Constant:
    """NaN, Infinity or -Infinity, which are not JSON."""

    def __init__(self, text: str) -> None:
        self.text = text


class _Object(dict[str, Any]):
    """A decoded object that remembers a key that stood twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.twice: str | None = None
        if len(self) != len(pairs):
            seen: set[str] = set()
            self.twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]


def _count_keys(value: Any, *, lists: bool) -> tuple[int, int]:
    """Number of keys and of objects in a value, those in lists left out unless asked for."""
    keys, objects, waiting = 0, 0, [value]
    while waiting:
        item = waiting.pop()
        if type(item) is dict:
            keys, objects = keys + len(item), objects + 1
            waiting.extend(item.values())
        elif lists and type(item) is list:
            waiting.extend(v for v in item if type(v) is dict or type(v) is list)
    return keys, objects


def _syntax(error: json.JSONDecodeError, text: str, path: str, line: int) -> DataError:
    rest = text[error.pos :].strip()
    column: int | None = error.pos + 1
    hint: str | None = None
    if error.msg == "Extra data" and rest == ",":
        rule, hint = "there is a comma after the object", "remove it: one object a line"
    elif error.msg == "Extra data":
        rule = "there is more after the object"
        hint = "one object a line" if rest.startswith(("{", ",")) else None
    elif not rest or error.msg.startswith("Unterminated string"):
        rule = "the line ends before its object does: a closing quote, bracket or brace is missing"
        hint = "an object must stand on one line"
    else:
        words = {
            "Expecting ',' delimiter": "a string, a number or a bracket ends wrongly here",
            "Expecting ':' delimiter": "a key without a value",
            "Expecting value": "a value is missing or misspelt here",
            "Expecting property name enclosed in double quotes": "a key in double quotes is needed here",
            "Illegal trailing comma before end of object": "a comma before the closing brace",
            "Illegal trailing comma before end of array": "a comma before the closing bracket",
        }
        said = error.msg.removesuffix(" at").removesuffix(":")
        rule = "not valid JSON: " + words.get(said, said[:1].lower() + said[1:])
    return DataError(rule, path=path, line=line, column=column, hint=hint)


def _second_look(value: Any, path: str, line: int) -> DataError | None:
    ident = value.get("id")
    record = ident if isinstance(ident, str) and not _has_surrogate(ident) else None
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while waiting:
        steps, item = waiting.pop()
        if isinstance(item, _Object):
            if item.twice is not None:
                rule = f"the key {place(*steps, item.twice)} stands twice"
                return DataError(rule, path=path, line=line, record=record, hint="keep one of the two")
            for key in item:
                if _has_surrogate(key):
                    rule = f"the key {place(*steps, key)} holds a lone surrogate, which is no character"
                    return DataError(rule, path=path, line=line, record=record)
            waiting.extend(((*steps, key), child) for key, child in reversed(item.items()))
        elif isinstance(item, list):
            waiting.extend(((*steps, i), child) for i, child in reversed(list(enumerate(item))))
        elif isinstance(item, _Constant) or (isinstance(item, float) and item in (float("inf"), float("-inf"))):
            said = item.text if isinstance(item, _Constant) else "too large for a number"
            rule = f"{place(*steps)} is {said}, a finite number is needed"
            return DataError(rule, path=path, line=line, record=record, hint="write null or leave it out")
        elif isinstance(item, str) and _has_surrogate(item):
            rule = f"{place(*steps)} holds a lone surrogate, which is no character"
            hint = "write the pair of escapes, or \\ufffd"
            return DataError(rule, path=path, line=line, record=record, hint=hint)
    return None


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= c <= "\udfff" for c in text)
