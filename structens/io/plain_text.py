"""Plain text for label n-grams: right sequences without experts' answers."""

from __future__ import annotations

import re
from typing import Any

from structens.core import DataError
from structens.io.normalize import Folding
from structens.io.sequences import KEYS, read_sequences
from structens.io.source import Source, display_name, text_lines

_BLANKS = re.compile(r"[ \t]+")
_JSON_LINES = re.compile(r"\.jsonl?(\.gz|\.zst)?$")


def read_text(
    path: Source, unit: str = "char", *, normalize: str = "none", casefold: bool = False, strip_punct: bool = False
) -> list[Any]:
    """Read right sequences, for the `text` of the methods with label n-grams.

    Parameters
    ----------
    path : path, "-" for standard input, or binary stream
        JSON Lines (by the ending .jsonl) with `gold`, `prediction`, `tokens` or `text` in each record; else one
        sequence a line, blank lines left out.
    unit : {"char", "codepoint", "word", "line", "token"}
        How the answers beside it are cut. "token": lists of tokens, and lines are cut at blanks and tabs.
    normalize, casefold, strip_punct
        How units are folded (see `Folding`).

    Returns
    -------
    list of str, or of list of str
        In memory, like the n-grams learnt from it.

    Raises
    ------
    DataError
        If it cannot be read, holds nothing, or texts where tokens are needed or the other way round.

    Examples
    --------
    >>> import io
    >>> read_text(io.BytesIO(b"K AE T\\n\\nD AO G\\n"), "token"), read_text(io.BytesIO(b"a cat\\n"), "word")
    ([['K', 'AE', 'T'], ['D', 'AO', 'G']], ['a cat'])
    """
    name, folding = display_name(path), Folding(normalize, casefold, strip_punct)
    of_tokens = unit == "token"
    if _JSON_LINES.search(name):
        read = read_sequences(path, KEYS)
        values = [value for value in read.values if value is not None]
        if values and isinstance(values[0], str) == of_tokens:
            kinds = ("texts", "lists of tokens") if of_tokens else ("lists of tokens", "texts")
            raise DataError(f"{read.key} holds {kinds[0]}, but the answers are {kinds[1]}", path=name)
    else:
        lines = [text for _, text in text_lines(path) if text.strip()]
        values = [_BLANKS.split(line.strip(" \t")) for line in lines] if of_tokens else lines
    if not values:
        raise DataError("there is no text in the file", path=name, hint="write one sequence a line")
    return [folding.answer(value, unit) for value in values]
