"""Reader of CoNLL-U: words of sentences, and one of the columns as labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from structens.core import DataError, ParameterError
from structens.io.source import Source, display_name, text_lines
from structens.io.tagged_sequences import Gathered, TaggedSequences

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
"""Columns of CoNLL-U (https://universaldependencies.org/format.html)."""


def read_conllu(path: Source, column: str = "UPOS") -> TaggedSequences:
    r"""Words of a CoNLL-U file, and one of its columns as labels.

    Multiword tokens (ids like 1-2) and empty nodes (like 5.1) are left out. A sentence's id is its ``# sent_id``, else
    its number. A label "_" is none: a sentence that has one is without gold.

    Parameters
    ----------
    path : path, "-" for standard input, or binary stream
    column : str
        Name of a column, such as "UPOS", "XPOS" or "DEPREL".

    Raises
    ------
    DataError
        If a line is not of the format, an id occurs twice, or there is no sentence; names file, line and sentence.
    ParameterError
        If there is no such column.

    Examples
    --------
    >>> import io
    >>> text = b"# sent_id = s1\n" + b"1\tTime\ttime\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tflies\tfly\tVERB" + b"\t_" * 6
    >>> read = read_conllu(io.BytesIO(text))
    >>> read.ids, read.sequences, read.gold, read.lines.tolist()
    (('s1',), [['Time', 'flies']], [['NOUN', 'VERB']], [1])
    """
    if column.upper() not in COLUMNS:
        raise ParameterError(f"column must be one of {', '.join(COLUMNS)}; got {column!r}")
    name, which = display_name(path), COLUMNS.index(column.upper())
    out = Gathered(name)
    ident: str | None = None
    words: list[str] = []
    labels: list[str] = []
    begin = 0
    for line, text in _texts(path):
        if text.startswith("#") and not words:
            begin = begin or line
            key, _, value = text[1:].partition("=")
            if key.strip() == "sent_id":
                ident = value.strip()
        elif text:
            begin = begin or line
            row = _row(text, which, len(words) + 1, {"path": name, "line": line, "record": ident})
            if row is not None:
                words.append(row[1])
                labels.append(row[which])
        else:
            if words:
                out.add(ident or str(len(out.ids) + 1), words, None if "_" in labels else labels, begin)
            ident, words, labels, begin = None, [], [], 0
    return out.sequences_or_refuse("there are no sentences in the file", "each word is a line of ten columns")


def _texts(path: Source) -> Iterator[tuple[int, str]]:
    """Lines, and an empty one at the end, which closes the last sentence."""
    line = 0
    for line, text in text_lines(path):
        yield line, text
    yield line + 1, ""


_NO_WORD = re.compile(r"[0-9]+[-.][0-9]+")
"""Ids of multiword tokens and of empty nodes."""


def _row(text: str, which: int, number: int, where: dict[str, Any]) -> list[str] | None:
    """Columns of a word, None for what is no word of its own."""
    row = text.split("\t")
    if len(row) != len(COLUMNS):
        rule = f"the line has {len(row)} columns, CoNLL-U has {len(COLUMNS)}"
        raise DataError(rule, hint="columns are parted by one tab; an empty line ends a sentence", **where)
    if _NO_WORD.fullmatch(row[0]):
        return None
    if row[0] != str(number):
        hint = "count words from 1; an empty line ends a sentence"
        raise DataError(f"the word has ID {row[0]!r}, {number} comes next", hint=hint, **where)
    if not row[1]:
        raise DataError("the word is empty", hint="no token is empty", **where)
    if not row[which]:
        raise DataError(f"{COLUMNS[which]} is empty", hint="write _ where there is none", **where)
    return row
