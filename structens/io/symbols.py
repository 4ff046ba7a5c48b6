"""Symbol tables of OpenFst as text: one name and its number a line; number 0 is the empty label.

Source: OpenFst, "FST File Formats"; https://www.openfst.org/twiki/bin/view/FST/FstQuickTour.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote_to_bytes

from structens.core import EPSILON, Alphabet, DataError
from structens.io.fst_text import MOST, Place, fields
from structens.io.output import atomic_output
from structens.io.source import Source, display_name, text_lines

EPSILON_NAME = "<eps>"
_UNWRITABLE = re.compile("[\x00\t\n\r \ud800-\udfff]")
_ESCAPED = re.compile("[\x00\t\n\r %\ud800-\udfff]")


@dataclass(frozen=True, eq=False)
class Symbols:
    """Names, their numbers in files, and their codes here.

    Parameters
    ----------
    alphabet : Alphabet
        All names but that of number 0, by rising number.
    numbers : tuple of int
        Number of each label of the alphabet.
    epsilon : str or None
        Name of number 0.

    Examples
    --------
    >>> table = Symbols.of(Alphabet(("K", "T")))
    >>> table.numbers, table.code_of_number
    ((1, 2), {0: -1, 1: 0, 2: 1})
    """

    alphabet: Alphabet
    numbers: tuple[int, ...]
    epsilon: str | None = EPSILON_NAME

    @classmethod
    def of(cls, alphabet: Alphabet) -> Symbols:
        """The table that gives code c the number c + 1."""
        return cls(alphabet, tuple(range(1, len(alphabet) + 1)))

    @cached_property
    def code_of_number(self) -> dict[int, int]:
        """Code of each number."""
        return {0: EPSILON, **{number: code for code, number in enumerate(self.numbers)}}


def read_symbols(source: Source, *, escape: bool = False) -> Symbols:
    """Read a symbol table.

    Parameters
    ----------
    source : path, "-", or binary stream
    escape : bool
        Names are percent-encoded, as `write_symbols` does on request.

    Raises
    ------
    DataError
        With file and line, if a line is not a name and a number from 0 on, or a name or number comes twice.

    Examples
    --------
    >>> import io
    >>> read_symbols(io.BytesIO(b"<eps> 0\\nK\\t7\\n")).numbers
    (7,)
    """
    path = display_name(source)
    names: dict[int, str] = {}
    seen: dict[tuple[str, bool], int] = {}
    for line, text in text_lines(source):
        parts, place = fields(text), Place(path, line)
        if not parts:
            continue
        if len(parts) != 2:
            found = "one field" if len(parts) == 1 else f"{len(parts)} fields"
            raise place.error(f"a line holds a name and its number; this one has {found}")
        name, number = unescaped(parts[0]) if escape else parts[0], place.whole(parts[1], "the number", MOST)
        mark = name, escape and number == 0  # where names are escaped, one may be called like EPSILON
        if mark in seen:
            raise place.error(f"name {name!r} is in line {seen[mark]} already")
        if number in names:
            raise place.error(f"number {number} is that of {names[number]!r} already")
        names[number], seen[mark] = name, line
    epsilon = names.pop(0, None)
    numbers = tuple(sorted(names))
    return Symbols(Alphabet(tuple(names[number] for number in numbers)), numbers, epsilon)


def write_symbols(path: str | os.PathLike[str], alphabet: Alphabet, *, escape: bool = False) -> None:
    """Write a symbol table: ``<eps>`` is 0, and the label of code c is c + 1.

    Parameters
    ----------
    path : path, or "-" for standard output
    alphabet : Alphabet
    escape : bool
        Percent-encode what would break a line (``%20`` for a blank), and ``%`` itself.

    Raises
    ------
    DataError
        If a label cannot stand in a table (it is empty, has a blank in it, or is ``<eps>``), or the file cannot be
        written.
    """
    with atomic_output(path) as out:
        out.write(symbols_text(alphabet, escape=escape).encode())


def symbols_text(alphabet: Alphabet, *, escape: bool = False) -> str:
    r"""The text that `write_symbols` writes.

    Examples
    --------
    >>> symbols_text(Alphabet(("K", "T")))
    '<eps>\t0\nK\t1\nT\t2\n'
    """
    names = [EPSILON_NAME, *written_names(alphabet, escape=escape)]
    return "".join(f"{name}\t{number}\n" for number, name in enumerate(names))


def written_names(alphabet: Alphabet, *, escape: bool = False) -> list[str]:
    """Labels as they stand in tables and texts.

    Raises
    ------
    DataError
        If a label cannot stand there and `escape` is off.

    Examples
    --------
    >>> written_names(Alphabet((" ", "5%")), escape=True)
    ['%20', '5%25']
    """
    if escape:
        return [escaped(label) for label in alphabet.labels]
    for label in alphabet.labels:
        if needs_escape(label):
            why = "is the name of the empty label" if label == EPSILON_NAME else "would break a line"
            raise DataError(f"label {label!r} {why} in the text format", hint="use escape=True to percent-encode names")
    return list(alphabet.labels)


def needs_escape(label: str) -> bool:
    """True where a label cannot stand in a table as it is.

    Examples
    --------
    >>> needs_escape("K"), needs_escape(" "), needs_escape("")
    (False, True, True)
    """
    return not label or label == EPSILON_NAME or _UNWRITABLE.search(label) is not None


def escaped(label: str) -> str:
    """Percent-encoded where needed; the empty label is ``%``.

    Examples
    --------
    >>> escaped("a b"), escaped(""), escaped("<eps>")
    ('a%20b', '%', '%3Ceps>')
    """
    if label == EPSILON_NAME:
        return "%3C" + label[1:]
    return _ESCAPED.sub(lambda m: "".join(f"%{b:02X}" for b in m[0].encode(errors="surrogatepass")), label) or "%"


def unescaped(name: str) -> str:
    """What `escaped` took.

    Examples
    --------
    >>> unescaped("a%20b"), unescaped("%")
    ('a b', '')
    """
    return "" if name == "%" else unquote_to_bytes(name).decode(errors="surrogatepass")
