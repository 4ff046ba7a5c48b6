"""Strings to units and back: grapheme clusters, words or lines.

A grapheme cluster is what a reader takes for one character (Unicode Standard Annex 29): a letter with its
combining marks, an emoji of several code points, a carriage return with its line feed. `regex` finds the
borders; it is imported only when a string holds a code point that can be part of a longer cluster.
"""

from __future__ import annotations

import re
from typing import Literal

from structens.core.errors import ParameterError

Unit = Literal["token", "char", "codepoint", "word", "line"]
SEPARATOR: dict[str, str] = {"char": "", "codepoint": "", "word": " ", "line": "\n"}

_BLANKS = re.compile(r"[ \t\r\n\f\v]+")
_PLAIN = re.compile("[\x00-\x0c\x0e-\u02ff]*")


def is_plain(text: str) -> bool:
    r"""True where every code point surely is a cluster of its own (below U+0300 and no carriage return).

    Examples
    --------
    >>> is_plain("na\u00efve"), is_plain("nai\u0308ve")
    (True, False)
    """
    return (text.isascii() and "\r" not in text) or _PLAIN.fullmatch(text) is not None


def cut(text: str, unit: str = "char") -> list[str]:
    r"""Cut a string into units.

    Parameters
    ----------
    text : str
    unit : {"char", "codepoint", "word", "line"}
        "char" is a grapheme cluster. Words are separated by ASCII blanks only, so that a no-break space stays inside
        its word; no word is empty. Lines end at a line feed or a carriage return with line feed.

    Raises
    ------
    ParameterError
        If the unit is unknown.

    Examples
    --------
    >>> len(cut("cafe\u0301")), cut(" a  b ", "word"), cut("", "line")
    (4, ['a', 'b'], [])
    """
    if unit == "char":
        if is_plain(text):
            return list(text)
        import regex

        clusters: list[str] = regex.findall(r"\X", text)
        return clusters
    if unit == "codepoint":
        return list(text)
    if unit == "word":
        return [word for word in _BLANKS.split(text) if word]
    if unit == "line":
        lines = text.replace("\r\n", "\n").split("\n")
        return lines[:-1] if lines[-1] == "" else lines
    raise ParameterError(f"unit must be one of char, codepoint, word, line; got {unit!r}")


def join(units: list[str], unit: str) -> str:
    """Put units together again: the inverse of `cut`, but for the blanks between words.

    Examples
    --------
    >>> join(["a", "b"], "word"), join(["a", "b"], "char")
    ('a b', 'ab')
    """
    return SEPARATOR[unit].join(units)
