"""Text for people: what may be printed, how wide it is, and when it may be coloured."""

from __future__ import annotations

import os
import unicodedata
from typing import Any

from rich.cells import cell_len, set_cell_size

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_COLORS = {"good": "1;32", "dim": "2", "warn": "33", "head": "1"}


def wants_color(stream: Any) -> bool:
    """True where escape codes are welcome: a terminal, with NO_COLOR unset or empty and TERM not "dumb".

    Examples
    --------
    >>> import io
    >>> wants_color(io.StringIO())
    False
    """
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    is_terminal = getattr(stream, "isatty", None)
    return bool(is_terminal and is_terminal())


def paint(text: str, style: str, color: bool) -> str:
    r"""The text between escape codes, or unchanged.

    Examples
    --------
    >>> paint("x", "good", False), paint("x", "good", True)
    ('x', '\x1b[1;32mx\x1b[0m')
    """
    code = _COLORS.get(style)
    return f"\x1b[{code}m{text}\x1b[0m" if color and code and text else text


def visible(text: object) -> str:
    r"""The text with control characters, lone surrogates and marks of writing direction as escapes.

    Names and tokens come from files: unescaped they could move the cursor or turn a line around.

    Examples
    --------
    >>> visible("a\x1b[31m\n"), visible("na\u00efve")
    ('a\\x1b[31m\\n', 'naïve')
    """
    out = []
    for char in str(text):
        strange = char in _BIDI or unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")
        out.append(char.encode("unicode_escape").decode("ascii") if strange else char)
    return "".join(out)


def fit(text: str, width: int, align: str = "left") -> str:
    """The text in exactly `width` terminal cells; what is too long ends in an ellipsis.

    Examples
    --------
    >>> fit("abc", 5, "right"), fit("abcdef", 4), fit("\u4e2d\u6587", 5)
    ('  abc', 'abc…', '中文 ')
    """
    size = cell_len(text)
    if size > width:
        text = set_cell_size(text, width - 1).rstrip(" ") + "…" if width else ""
        size = cell_len(text)  # a wide character may have left a blank
    blanks = " " * (width - size)
    return blanks + text if align == "right" else text + blanks


def percent(rate: float | None) -> str:
    """A rate in percent with two decimals, "-" where it is undefined.

    Examples
    --------
    >>> percent(0.0615), percent(None)
    ('6.15', '-')
    """
    return "-" if rate is None else f"{100 * rate:.2f}"


def number(value: float) -> str:
    """A count with thousands separated; expectations get one decimal.

    Examples
    --------
    >>> number(20000), number(0.6)
    ('20,000', '0.6')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
