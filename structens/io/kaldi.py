"""Lattices of Kaldi as text (``lattice-copy ark:lat.1 ark,t:-``), lattices and compact lattices, as acceptors of words.

An archive holds one lattice after the other: a line with the key, a line a transition, a line a final state, an empty
line. Costs come in pairs, of the graph (language model, pronunciations, transitions) and acoustic. A line is
``source target word graph,acoustic,transition-ids`` in a compact lattice, ``source target transition-id word
graph,acoustic`` in the other; costs that are left out are 0. Transition ids are dropped.

Source: https://kaldi-asr.org/doc/lattices.html.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from structens.automata import LabelledAutomaton
from structens.core import EPSILON, Alphabet, DataError, ParameterError
from structens.io.fst_text import MOST, Collected, Place, fields
from structens.io.source import Source, display_name, text_lines
from structens.io.symbols import EPSILON_NAME, Symbols, read_symbols

Lines = list[tuple[Place, list[str]]]

_COMPACT = re.compile(r"[^,]*,[^,]*,(?:[0-9]+(?:_[0-9]+)*)?")


def iter_kaldi_lattices(
    source: Source,
    *,
    words: Symbols | Source | None = None,
    acoustic_scale: float = 1.0,
    lm_scale: float = 1.0,
) -> Iterator[LabelledAutomaton]:
    """The lattices of an archive, one after the other.

    Parameters
    ----------
    source : path, "-", or binary stream
        Text; ``.gz`` and ``.zst`` are recognised by content.
    words : Symbols, or what `structens.io.read_symbols` reads, or None
        Names of the word numbers (``words.txt``). None takes words as they stand, in order of appearance; ``0`` and
        ``<eps>`` are then EPSILON.
    acoustic_scale, lm_scale : float
        The cost of a transition is ``lm_scale * graph + acoustic_scale * acoustic``.

    Yields
    ------
    LabelledAutomaton
        With its key and the numbers of its states.

    Raises
    ------
    DataError
        With file and line: wrong fields, costs that are no numbers, words that are not in the table, a cycle, a
        key that comes twice.
    ParameterError
        If a scale is not a finite number.

    Examples
    --------
    >>> import io
    >>> text = b"utt1\\n0 1 hello 2.5,10.0,3_3_4\\n1 0,0.5,\\n\\n"
    >>> [made] = iter_kaldi_lattices(io.BytesIO(text), acoustic_scale=0.1)
    >>> made.key, made.alphabet.labels, made.weight.tolist(), made.final_weight.tolist()
    ('utt1', ('hello',), [3.5], [inf, 0.05])
    """
    for name, scale in (("acoustic_scale", acoustic_scale), ("lm_scale", lm_scale)):
        if not math.isfinite(scale):
            raise ParameterError(f"{name} must be a finite number; got {scale}")
    if words is not None and not isinstance(words, Symbols):
        words = read_symbols(words)
    seen: dict[str, int] = {}
    for place, key, lines in _blocks(source):
        if key in seen:
            raise place.error(f"key {key!r} is in line {seen[key]} already")
        seen[key] = place.line
        yield _lattice(lines, key, place, words, (lm_scale, acoustic_scale))


def read_kaldi_lattice(
    source: Source,
    *,
    key: str | None = None,
    words: Symbols | Source | None = None,
    acoustic_scale: float = 1.0,
    lm_scale: float = 1.0,
) -> LabelledAutomaton:
    """The lattice with that key; None takes the only one.

    Raises
    ------
    DataError
        As `iter_kaldi_lattices`; also if the key is not there, or none is given and there are several.

    Examples
    --------
    >>> import io
    >>> read_kaldi_lattice(io.BytesIO(b"u1\\n0 1 7 a 1,2\\n1\\n\\nu2\\n0\\n"), key="u1").alphabet.labels
    ('a',)
    """
    options = {"acoustic_scale": acoustic_scale, "lm_scale": lm_scale}
    keys: list[str] = []
    first: LabelledAutomaton | None = None
    for made in iter_kaldi_lattices(source, words=words, **options):
        if made.key == key:
            return made
        first = first or made
        keys.append(made.key)
    path = display_name(source)
    if key is None and first is not None and len(keys) == 1:
        return first
    listed = ", ".join(keys[:5]) + (", ..." if len(keys) > 5 else "")
    if not keys:
        raise DataError("the file holds no lattice", path=path)
    if key is None:
        raise DataError(f"there are {len(keys)} lattices: {listed}", path=path, hint="say which by its key")
    raise DataError(f"there is no lattice {key!r} among {len(keys)}: {listed}", path=path)


def _blocks(source: Source) -> Iterator[tuple[Place, str, Lines]]:
    path = display_name(source)
    head: tuple[Place, str] | None = None
    lines: Lines = []
    for number, text in text_lines(source):
        parts, place = fields(text), Place(path, number)
        if not parts:
            if head is not None:
                yield *head, lines
            head, lines = None, []
        elif head is not None:
            lines.append((place, parts))
        elif len(parts) > 1:
            raise place.error(
                f"a lattice begins with a line that holds its key alone; this one has {len(parts)} fields"
            )
        else:
            head = place, parts[0]
    if head is not None:
        yield *head, lines


def _lattice(
    lines: Lines, key: str, head: Place, words: Symbols | None, scales: tuple[float, float]
) -> LabelledAutomaton:
    made = Collected(head.path)
    compact = _is_compact(lines)
    codes: dict[str, int] = {"0": EPSILON, EPSILON_NAME: EPSILON}
    for place, parts in lines:
        state = place.whole(parts[0], "a state")
        if len(parts) < 3:
            made.end(place, state, _cost(place, parts[1], compact, scales) if len(parts) == 2 else 0.0)
            continue
        n_labels = 1 if compact else 2
        if not 2 + n_labels <= len(parts) <= 3 + n_labels:
            kind = "a compact lattice" if compact else "a lattice"
            raise place.error(f"a line of {kind} has {2 + n_labels} or {3 + n_labels} fields; got {len(parts)}")
        if not compact:
            place.whole(parts[2], "a transition id")
        text = parts[1 + n_labels]
        if words is None:
            label = codes.setdefault(text, len(codes) - 2)
        else:
            label = _word(place, text, words)
        cost = _cost(place, parts[-1], compact, scales) if len(parts) == 3 + n_labels else 0.0
        made.add(place, state, place.whole(parts[1], "a state"), label, None, cost)
    alphabet = Alphabet(tuple(w for w, code in codes.items() if code >= 0)) if words is None else words.alphabet
    return made.built(alphabet=alphabet, key=key)


def _is_compact(lines: Lines) -> bool:
    rows = [parts for _, parts in lines if len(parts) > 2]
    if any(len(parts) > 4 for parts in rows):
        return False
    if any(len(parts) == 3 for parts in rows):
        return True
    return bool(rows) and all(_COMPACT.fullmatch(parts[3]) for parts in rows)


def _word(place: Place, text: str, words: Symbols) -> int:
    number = place.whole(text, "a word (under a table of words)", MOST)
    if number not in words.code_of_number:
        raise place.error(f"word number {number} is not in the table of {len(words.numbers)} words")
    return words.code_of_number[number]


def _cost(place: Place, text: str, compact: bool, scales: tuple[float, float]) -> float:
    parts = text.split(",")
    # the ids of a final state may be left out where the lattice has no other line to tell its kind
    if len(parts) not in ((3,) if compact else (2, 3)):
        form = "graph,acoustic,transition-ids" if compact else "graph,acoustic"
        raise place.error(f"costs are {form}; got {text!r}")
    graph, acoustic = (place.number(part, "a cost") for part in parts[:2])
    if math.isinf(graph) or math.isinf(acoustic):
        return math.inf
    return scales[0] * graph + scales[1] * acoustic
