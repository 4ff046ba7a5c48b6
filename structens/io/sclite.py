"""The formats of NIST's scoring toolkit: transcripts with ids (trn), timed segments (stm), timed words (ctm).

Sources: the format descriptions of SCTK ("infmts"). Comments begin with ``;;``. In references ``{ a / b }`` are
alternatives, and ``@`` among them is nothing.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from structens.io.answers import Answers
from structens.io.line_answers import words_of
from structens.io.source import Source, display_name, text_lines

IGNORED = "IGNORE_TIME_SEGMENT_IN_SCORING"
"""Text of a segment that is not scored."""
MOST_ALTERNATIVES = 64
"""Right answers of one record."""
MOST_NESTED = 50
"""Braces within braces."""

_TRN_ID = re.compile(r"\(([^()\s]+)\)[ \t]*$")


class Segment(NamedTuple):
    """A stretch of a recording's channel, in seconds; `ident` is None where it is not scored."""

    recording: str
    channel: str
    begin: float
    end: float
    ident: str | None


class _Word(NamedTuple):
    middle: float
    text: str
    confidence: float | None
    line: int


def read_trn(path: Source) -> Answers:
    """Words, then the id in parentheses.

    Raises
    ------
    DataError
        If the file cannot be read, a line has no id, an id occurs twice, or alternatives are not closed.

    Examples
    --------
    >>> import io
    >>> said = read_trn(io.BytesIO(b"a { cat / @ } ran (u1)\\n"))
    >>> said.values, said.alternatives
    ([['a', 'cat', 'ran']], {'u1': [['a', 'ran']]})
    """
    said = Answers(display_name(path))
    for line, text in _uncommented(path):
        found = _TRN_ID.search(text)
        if found is None:
            raise said.error("the line does not end with an id in parentheses", line)
        first, *others = expanded(words_of(text[: found.start()]), said, line)
        said.add(found[1], first, line, others)
    return said.checked("each line is words and an id in parentheses")


def read_stm(path: Source) -> tuple[Answers, list[Segment]]:
    """Segments: recording, channel, speaker, begin, end, a label in angle brackets or none, words.

    A segment's id is recording, channel, begin and end as they are written, joined by hyphens. Those that are not
    scored are among the segments, not among the answers.

    Raises
    ------
    DataError
        If the file cannot be read, a line lacks a column, or ends before it begins, or a segment occurs twice.

    Examples
    --------
    >>> import io
    >>> said, segments = read_stm(io.BytesIO(b"rec1 A ann 0.0 1.5 <o,f0> good day\\n"))
    >>> said.ids, said.values, segments[0].end
    (['rec1-A-0.0-1.5'], [['good', 'day']], 1.5)
    """
    said, segments = Answers(display_name(path)), []
    for line, text in _uncommented(path):
        columns = words_of(text)
        if len(columns) < 5:
            rule = f"the line has {len(columns)} columns, five are needed: recording, channel, speaker, begin, end"
            raise said.error(rule, line)
        recording, channel, _, begin, end, *words = columns
        if words and words[0].startswith("<") and words[0].endswith(">"):
            del words[0]
        ident = None if words == [IGNORED] else "-".join((recording, channel, begin, end))
        segment = Segment(recording, channel, _seconds(begin, said, line), _seconds(end, said, line), ident)
        if segment.end < segment.begin:
            raise said.error(f"the segment ends at {end}, before it begins at {begin}", line)
        segments.append(segment)
        if ident is not None:
            first, *others = expanded(words, said, line)
            said.add(ident, first, line, others)
    return said.checked("each line is recording, channel, speaker, begin, end and words"), segments


def read_ctm(path: Source, segments: Sequence[Segment] | None = None) -> Answers:
    """Words of recordings: recording, channel, begin, duration, word, and a confidence or none.

    Parameters
    ----------
    path : path, "-" for standard input, or binary stream
    segments : sequence of Segment, optional
        Each word is of the segment that holds its middle; words outside all of them, or in one that is not scored,
        are left out. Without: an answer for each channel, its id recording and channel joined by a hyphen.

    Raises
    ------
    DataError
        If the file cannot be read, or a line lacks a column or has a number that is none.

    Examples
    --------
    >>> import io
    >>> said = read_ctm(io.BytesIO(b"rec1 A 0.5 0.2 day .5\\nrec1 A 0.1 0.2 good .75\\n"))
    >>> said.ids, said.values, said.confidences
    (['rec1-A'], [['good', 'day']], {'rec1-A': [0.75, 0.5]})
    """
    said = Answers(display_name(path))
    timed: dict[tuple[str, str], list[_Word]] = {}
    inside: dict[tuple[str, str], list[Segment]] = {}
    for segment in segments or ():
        inside.setdefault((segment.recording, segment.channel), []).append(segment)
    for line, text in _uncommented(path):
        columns = words_of(text)
        if len(columns) < 5:
            rule = f"the line has {len(columns)} columns, five are needed: recording, channel, begin, duration, word"
            raise said.error(rule, line)
        if columns[4].startswith("<ALT"):
            raise said.error("alternatives of timed words are not read", line, hint="keep one of them in the file")
        begin, length = (_seconds(number, said, line) for number in columns[2:4])
        word = _Word(begin + length / 2, columns[4], _confidence(columns, said, line), line)
        timed.setdefault((columns[0], columns[1]), []).append(word)
    for key, words in timed.items():
        words.sort(key=lambda word: word.middle)
        scored: set[int] = set()
        for ident, some in _by_segment(words, None if segments is None else inside.get(key, ()), "-".join(key)):
            scored.update(map(id, some))
            said.add(ident, [word.text for word in some], words[0].line)
            sure = [word.confidence for word in some if word.confidence is not None]
            if sure and len(sure) == len(some):
                said.confidences[ident] = sure
        said.n_outside += len(words) - len(scored)
    hint = None if segments is None else "recordings and channels must be named as in the segments"
    return said.checked(hint)


def expanded(words: Sequence[str], said: Answers, line: int) -> list[list[str]]:
    """All answers that words with alternatives in braces stand for; the first alternatives come first.

    Raises
    ------
    DataError
        If braces are not closed, or there are more than `MOST_ALTERNATIVES`.

    Examples
    --------
    >>> expanded("{ a / the } cat".split(), Answers("a.trn"), 1)
    [['a', 'cat'], ['the', 'cat']]
    """
    readings, _ = _readings(list(words), 0, 0, said, line)
    return [list(one) for one in dict.fromkeys(map(tuple, readings))]


def _readings(words: list[str], at: int, depth: int, said: Answers, line: int) -> tuple[list[list[str]], int]:
    """What the words from a place on stand for, up to the / or } of the braces they are in, and where that is."""
    if depth > MOST_NESTED:
        raise said.error(f"braces stand in more than {MOST_NESTED} others", line)
    found: list[list[str]] = [[]]
    while at < len(words) and not (depth and words[at] in ("/", "}")):
        if words[at] == "}":
            raise said.error("there is } without {", line)
        choices = [[] if depth and words[at] == "@" else [words[at]]]
        if words[at] == "{":
            choices = []
            while not choices or words[at] != "}":
                part, at = _readings(words, at + 1, depth + 1, said, line)
                choices += part
                if at == len(words):
                    raise said.error("there is { without }", line)
        found = [one + choice for one in found for choice in choices]
        if len(found) > MOST_ALTERNATIVES:
            raise said.error(f"the alternatives make more than {MOST_ALTERNATIVES} answers", line)
        at += 1
    return found, at


def _by_segment(
    words: list[_Word], segments: Sequence[Segment] | None, whole: str
) -> Iterator[tuple[str, list[_Word]]]:
    if segments is None:
        yield whole, words
        return
    middles = [word.middle for word in words]
    for segment in segments:
        if segment.ident is not None:
            yield segment.ident, words[bisect_left(middles, segment.begin) : bisect_left(middles, segment.end)]


def _uncommented(path: Source) -> Iterator[tuple[int, str]]:
    for line, text in text_lines(path):
        if text.strip() and not text.startswith(";;"):
            yield line, text


def _seconds(text: str, said: Answers, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 <= value < math.inf:
        raise said.error(f"a time in seconds is needed; got {text!r}", line)
    return value


def _confidence(columns: list[str], said: Answers, line: int) -> float | None:
    if len(columns) < 6 or columns[5] == "NA":
        return None
    try:
        value = float(columns[5])
    except ValueError:
        value = math.nan
    if not 0.0 <= value <= 1.0:
        raise said.error(
            f"a confidence in [0, 1] is needed; got {columns[5]!r}", line, hint="write NA where none is known"
        )
    return value
