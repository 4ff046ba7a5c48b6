"""Answers in files of one line an answer: plain lines, Kaldi's text, tab-separated values, pronouncing dictionaries."""

from __future__ import annotations

import re

from structens.io.answers import Answers
from structens.io.source import Source, display_name, text_lines

_VARIANT = re.compile(r"(.+)\(([0-9]+)\)")


def words_of(text: str) -> list[str]:
    r"""Tokens between blanks and tabs; a no-break space, and other white space, is part of a token.

    Examples
    --------
    >>> words_of("  5\u00a0km \t north ")
    ['5\xa0km', 'north']
    """
    return [word for word in text.replace("\t", " ").split(" ") if word]


def read_plain_lines(path: Source) -> Answers:
    """One text a line; ids are line numbers, and an empty line is the answer "nothing".

    Raises
    ------
    DataError
        If the file cannot be read, or is empty.

    Examples
    --------
    >>> import io
    >>> said = read_plain_lines(io.BytesIO(b"a cat\\n\\n"))
    >>> said.ids, said.values
    (['1', '2'], ['a cat', ''])
    """
    said = Answers(display_name(path), by_number=True)
    for line, text in text_lines(path):
        said.add(str(line), text, line)
    return said.checked("write one answer a line")


def read_kaldi_text(path: Source) -> Answers:
    """Kaldi's text: an id, then tokens, between blanks and tabs; an id alone is the answer "nothing".

    Raises
    ------
    DataError
        If the file cannot be read, holds no answer, or an id twice.

    Examples
    --------
    >>> import io
    >>> said = read_kaldi_text(io.BytesIO(b"u1\\tgood day\\nu2\\n"))
    >>> dict(zip(said.ids, said.values))
    {'u1': ['good', 'day'], 'u2': []}
    """
    said = Answers(display_name(path))
    for line, text in text_lines(path):
        words = words_of(text)
        if words:
            said.add(words[0], list(words[1:]), line)
    return said.checked("each line is an id and tokens")


def read_tsv(path: Source) -> Answers:
    """An id, a tab, a text.

    Raises
    ------
    DataError
        If the file cannot be read, a line has not two columns, or an id occurs twice.

    Examples
    --------
    >>> import io
    >>> read_tsv(io.BytesIO(b"u1\\ta cat\\n")).values
    ['a cat']
    """
    said = Answers(display_name(path))
    for line, text in text_lines(path):
        if not text.strip():
            continue
        columns = text.split("\t")
        if len(columns) != 2:
            rule = f"the line has {len(columns)} columns, two are needed: id and text"
            raise said.error(rule, line, hint="columns are parted by one tab")
        said.add(columns[0], columns[1], line)
    return said.checked("each line is an id, a tab and a text")


def read_dictionary(path: Source) -> Answers:
    """A pronouncing dictionary as CMUdict's: a word, then phones; ``word(2)`` is another right answer to ``word``.

    Lines that begin with ``;;;``, and what follows ``" #"``, are comments.

    Raises
    ------
    DataError
        If the file cannot be read, a word has no phones or stands twice, or a variant has no first.

    Examples
    --------
    >>> import io
    >>> said = read_dictionary(io.BytesIO(b";;; c\\nTOMATO  T AH\\nTOMATO(2)  T AA # rare\\n"))
    >>> said.ids, said.values, said.alternatives
    (['TOMATO'], [['T', 'AH']], {'TOMATO': [['T', 'AA']]})
    """
    said = Answers(display_name(path))
    for line, text in text_lines(path):
        if text.startswith(";;;"):
            continue
        words = words_of(text.partition(" #")[0])
        if not words:
            continue
        if len(words) < 2:
            raise said.error("the word has no phones", line, record=words[0])
        variant = _VARIANT.fullmatch(words[0])
        if variant is None:
            said.add(words[0], list(words[1:]), line)
        elif said.ids and said.ids[-1] == variant[1]:
            said.alternatives.setdefault(variant[1], []).append(list(words[1:]))
        else:
            rule = f"the variant does not follow {variant[1]!r}"
            raise said.error(rule, line, record=words[0], hint="a word's first pronunciation comes before its others")
    return said.checked("each line is a word and its phones")
