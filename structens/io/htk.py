"""Lattices in HTK's standard lattice format (SLF), also as SRILM and Julius write them, as acceptors of words.

Nodes may carry words, or links: a link without a word has the word of the node it leads to. Scores are logarithms of
likelihoods in the base that the header names; costs here are minus natural logarithms.

Source: The HTK Book (3.4), chapter "HTK Standard Lattice Format (SLF)".
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection
from typing import NamedTuple

from structens.automata import LabelledAutomaton
from structens.core import EPSILON, Alphabet, DataError, ParameterError
from structens.io.fst_text import Collected, Place
from structens.io.source import Source, display_name, text_lines

NULL_WORDS = ("!NULL", "!ENTER", "!EXIT", "!SENT_START", "!SENT_END", "<s>", "</s>")
"""Words that stand for nothing said."""

_FIELD = re.compile(r"""\s*([^\s=]+)=("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?!")(?:[^\s\\]|\\.)*)(?=\s|$)""")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_SHORT = {
    "START": "S",
    "END": "E",
    "WORD": "W",
    "acoustic": "a",
    "language": "l",
    "NODES": "N",
    "LINKS": "L",
    "UTTERANCE": "U",
    "VERSION": "V",
}


def read_htk_lattice(
    source: Source,
    *,
    acoustic_scale: float | None = None,
    lm_scale: float | None = None,
    word_penalty: float | None = None,
    null_words: Collection[str] = NULL_WORDS,
) -> LabelledAutomaton:
    """Read a lattice.

    Parameters
    ----------
    source : path, "-", or binary stream
    acoustic_scale, lm_scale, word_penalty : float or None
        The score of a link is ``acoustic_scale * a + lm_scale * l + prscale * r``, plus the penalty if it has a word.
        None takes what the header says (acscale, lmscale, wdpenalty), else 1, 1 and 0.
    null_words : collection of str
        Words that become EPSILON.

    Returns
    -------
    LabelledAutomaton
        The key is the header's utterance, else the name of the file without its suffix; `states` holds the numbers of
        nodes. If the first node carries a word there is one state more before it, -1.

    Raises
    ------
    DataError
        With file and line: fields that cannot be read, numbers of nodes and links that differ from the header (a cut
        file), a node that is not there, several starts or ends, sublattices, a cycle.
    ParameterError
        If a scale is not a finite number.

    References
    ----------
    Young et al., The HTK Book.

    Examples
    --------
    >>> import io
    >>> text = b"N=2 L=2\\nI=0\\nI=1\\nJ=0 S=0 E=1 W=yes a=-5 l=-1\\nJ=1 S=0 E=1 W=!NULL a=-7\\n"
    >>> made = read_htk_lattice(io.BytesIO(text), lm_scale=2.0)
    >>> made.automaton.label.tolist(), made.alphabet.labels, made.weight.tolist()
    ([0, -1], ('yes',), [7.0, 7.0])
    """
    path = display_name(source)
    parsed = _parse(source, path)
    scales = _scales(parsed.header, acoustic_scale, lm_scale, word_penalty)
    made, codes = Collected(path), dict.fromkeys(null_words, EPSILON)
    ends = [_ends(place, link, parsed) for place, link in parsed.links]
    start, end = (_terminal(parsed, ends, name) for name in ("start", "end"))
    fresh = 0

    def code(word: str | None) -> int:
        nonlocal fresh
        if word is None:
            return EPSILON
        if word not in codes:
            codes[word] = fresh
            fresh += 1
        return codes[word]

    entry = code(parsed.nodes[start][1].get("W")) if parsed.nodes else EPSILON
    if entry != EPSILON:
        place = parsed.nodes[start][0]
        made.add(place, -1, start, entry, None, -scales.penalty * scales.unit)
    for (place, link), (q, r) in zip(parsed.links, ends, strict=True):
        label = code(link.get("W", parsed.nodes[r][1].get("W")))
        made.add(place, q, r, label, None, scales.cost(place, link, label != EPSILON))
    if parsed.nodes:
        made.start = -1 if entry != EPSILON else start
        made.final[end] = 0.0
        made.weighted = True
        # a node on no link is a state all the same
        for q in parsed.nodes:
            made.final.setdefault(q, math.inf)
    key = parsed.header.get("U", (None, ""))[1] or os.path.splitext(os.path.basename(path))[0]
    return made.built(alphabet=Alphabet(tuple(w for w, number in codes.items() if number >= 0)), key=key)


Fields = dict[str, str]


class _Parsed(NamedTuple):
    path: str
    header: dict[str, tuple[Place, str]]
    nodes: dict[int, tuple[Place, Fields]]
    links: list[tuple[Place, Fields]]


class _Scales(NamedTuple):
    acoustic: float
    language: float
    pronunciation: float
    penalty: float
    unit: float  # natural logarithm of the base; 0 where scores are no logarithms

    def cost(self, place: Place, link: Fields, has_word: bool) -> float:
        scores = [self._log(place, link.get(name)) for name in ("a", "l", "r")]
        total = self.penalty * self.unit if has_word else 0.0
        for score, scale in zip(scores, self[:3], strict=True):
            total += scale * score if scale else 0.0
        return 0.0 - total

    def _log(self, place: Place, text: str | None) -> float:
        if text is None:
            return 0.0
        minus_infinite = text.lower() in ("-inf", "-infinity")
        value = -math.inf if minus_infinite else place.number(text, "a score", infinite=False)
        if self.unit:
            return value * self.unit
        if value < 0:
            raise place.error(f"with base=0 scores are likelihoods >= 0; got {text}")
        return math.log(value) if value else -math.inf


def _parse(source: Source, path: str) -> _Parsed:
    parsed = _Parsed(path, {}, {}, [])
    numbers: dict[int, int] = {}
    for line, text in text_lines(source):
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        place = Place(path, line)
        row = _fields(place, text)
        if "I" in row:
            number = place.whole(row["I"], "a node")
            if number in parsed.nodes:
                raise place.error(f"node {number} is in line {parsed.nodes[number][0].line} already")
            if "L" in row:
                raise place.error("sublattices are not read", "expand them first, with HLRescore or lattice-tool")
            parsed.nodes[number] = place, row
        elif "J" in row:
            number = place.whole(row["J"], "a link")
            if number in numbers:
                raise place.error(f"link {number} is in line {numbers[number]} already")
            numbers[number] = line
            parsed.links.append((place, row))
        elif parsed.links or parsed.nodes:
            raise place.error("after the header each line is a node (I=) or a link (J=)")
        else:
            parsed.header.update({name: (place, value) for name, value in row.items()})
    for name, what, found in (("N", "nodes", len(parsed.nodes)), ("L", "links", len(parsed.links))):
        if name in parsed.header:
            place, value = parsed.header[name]
            if place.whole(value, f"the number of {what}") != found:
                raise place.error(f"{value} {what} are announced, and there are {found}", "the file may be cut")
    if not parsed.nodes and "N" not in parsed.header:
        raise DataError("there are no nodes (I=...); this is no lattice in HTK's format", path=path)
    return parsed


def _fields(place: Place, text: str) -> Fields:
    row: Fields = {}
    at = 0
    text = text.rstrip()
    while at < len(text):
        found = _FIELD.match(text, at)
        if found is None:
            raise place.error(f"fields are name=value; cannot read {text[at:].strip()[:40]!r}")
        name = _SHORT.get(found[1], found[1])
        if name in row:
            raise place.error(f"field {found[1]} comes twice")
        row[name], at = _unquoted(place, found[2]), found.end()
    return row


def _unquoted(place: Place, text: str) -> str:
    if text[:1] in ("'", '"') and len(text) > 1 and text[-1] == text[0]:
        text = text[1:-1]
    if "\\" not in text:
        return text

    def character(match: re.Match[bytes]) -> bytes:
        return bytes([int(match[1], 8) & 255]) if len(match[1]) == 3 else match[1]

    try:
        return _ESCAPE.sub(character, text.encode()).decode()
    except UnicodeDecodeError:
        raise place.error(f"the escapes of {text!r} do not make UTF-8") from None


def _scales(
    header: dict[str, tuple[Place, str]], acoustic: float | None, language: float | None, penalty: float | None
) -> _Scales:
    def value(name: str, given: float | None, default: float) -> float:
        if given is not None:
            if not math.isfinite(given):
                raise ParameterError(f"scales and penalty must be finite numbers; got {given}")
            return float(given)
        if name not in header:
            return default
        place, text = header[name]
        return place.number(text, name, infinite=False)

    base = value("base", None, math.e)
    if base < 0 or base == 1:
        raise header["base"][0].error(f"base must be 0 (no logarithms) or a base of logarithms; got {base}")
    return _Scales(
        value("acscale", acoustic, 1.0),
        value("lmscale", language, 1.0),
        value("prscale", None, 1.0),
        value("wdpenalty", penalty, 0.0),
        1.0 if base == math.e else math.log(base) if base else 0.0,
    )


def _ends(place: Place, link: Fields, parsed: _Parsed) -> tuple[int, int]:
    ends = []
    for name, what in (("S", "start"), ("E", "end")):
        if name not in link:
            raise place.error(f"a link names its {what} node ({name}=)")
        node = place.whole(link[name], f"the {what} of a link")
        if node not in parsed.nodes:
            raise place.error(f"node {node} is not among the {len(parsed.nodes)} nodes")
        ends.append(node)
    return ends[0], ends[1]


def _terminal(parsed: _Parsed, ends: list[tuple[int, int]], name: str) -> int:
    """The start or the end: what the header says, else the only node that no link leads to, or from."""
    if name in parsed.header:
        place, text = parsed.header[name]
        node = place.whole(text, f"the {name} node")
        if node not in parsed.nodes:
            raise place.error(f"the {name} node {node} is not among the {len(parsed.nodes)} nodes")
        return node
    if not parsed.nodes:
        return 0
    taken = {pair[1 if name == "start" else 0] for pair in ends}
    free = sorted(parsed.nodes.keys() - taken)
    if not free:
        return min(parsed.nodes)  # there is a cycle then, and building names it
    if len(free) > 1:
        where = "lead to" if name == "start" else "lead away from"
        what = f"there are {len(free)} nodes that no links {where}: {', '.join(map(str, free[:5]))}"
        raise DataError(what, path=parsed.path, hint=f"say which in the header: {name}=node")
    return free[0]
