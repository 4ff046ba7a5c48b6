"""OpenFst's binary files of type ``const``, straight from arrays and back, without a step a transition.

OpenFst reads them as they are (`Fst.read`); ``fstconvert --fst_type=vector`` makes them mutable. Layout, from OpenFst
1.8 (``const-fst.h``, ``fst.cc``, ``symbol-table.cc``): a header, symbol tables, an array of states, an array of arcs.
"""

from __future__ import annotations

import os
import struct
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata import LabelledAutomaton, Semiring, as_weights
from structens.automata.labelled import Cycle, sorted_or_cycle
from structens.core import Alphabet, Automaton, DataError, ParameterError
from structens.io.fst_text import MOST
from structens.io.output import atomic_output
from structens.io.source import Source, display_name, read_blocks
from structens.io.symbols import EPSILON_NAME, Symbols

ARC_TYPES = {"log64": "<f8", "log": "<f4", "standard": "<f4"}
_MAGIC, _SYMBOLS_MAGIC = 2125659606, 2125658996
_VERSION, _ALIGNED_VERSION = 2, 1
_HAS_INPUT, _HAS_OUTPUT, _IS_ALIGNED = 1, 2, 4
# Properties of OpenFst, from fst/properties.h; those that are not set either way are unknown to it.
_EXPANDED, _ACYCLIC, _INITIAL_ACYCLIC, _TOP_SORTED = 0x1, 0x800000000, 0x2000000000, 0x4000000000
_ACCEPTOR, _NO_ACCEPTOR = 0x10000, 0x20000
_EPSILONS, _INPUT_EPSILONS, _OUTPUT_EPSILONS = 0x400000, 0x1000000, 0x4000000  # each is twice that for "no"
_WEIGHTED, _UNWEIGHTED = 0x100000000, 0x200000000


def write_const_fst(
    path: str | os.PathLike[str],
    automaton: Automaton,
    weight: ArrayLike | None = None,
    final_weight: ArrayLike | None = None,
    *,
    arc_type: str = "log64",
    alphabet: Alphabet | None = None,
    output_alphabet: Alphabet | None = None,
) -> None:
    """Write an automaton as a binary file of OpenFst.

    Parameters
    ----------
    path : path, or "-" for standard output
    automaton : Automaton
    weight : array_like, shape (n_transitions,), or None
        Costs; None is 0.
    final_weight : array_like, shape (n_states,), or None
    arc_type : {"log64", "log", "standard"}
        The log semiring in 64 or 32 bits, or the tropical one in 32.
    alphabet, output_alphabet : Alphabet or None
        Put in as symbol tables; the output's are those of the input if only these are given.

    Raises
    ------
    DataError
        If weights do not fit, there are more than 2^32 - 1 transitions, or the file cannot be written.
    ParameterError
        If the arc type is unknown.
    """
    data = const_fst_bytes(
        automaton, weight, final_weight, arc_type=arc_type, alphabet=alphabet, output_alphabet=output_alphabet
    )
    with atomic_output(path) as out:
        out.write(data)


def const_fst_bytes(
    automaton: Automaton,
    weight: ArrayLike | None = None,
    final_weight: ArrayLike | None = None,
    *,
    arc_type: str = "log64",
    alphabet: Alphabet | None = None,
    output_alphabet: Alphabet | None = None,
) -> bytes:
    """The bytes that `write_const_fst` writes; ``pywrapfst.Fst.read_from_string`` takes them.

    Examples
    --------
    >>> import io
    >>> data = const_fst_bytes(Automaton.from_transitions([(0, 1, 7)], final=[1]), [0.1])
    >>> len(data), read_const_fst(io.BytesIO(data)).weight.tolist()
    (134, [0.1])
    """
    state_type, transition_type = _types(arc_type)
    unweighted = np.zeros(automaton.n_transitions) if weight is None else weight
    weights, finals = as_weights(automaton, unweighted, final_weight, Semiring.LOG)
    if automaton.n_transitions >= 1 << 32:
        raise DataError(f"{automaton.n_transitions} transitions are too many for this format", hint="2^32 - 1 fit")
    transitions = np.zeros(automaton.n_transitions, transition_type)
    transitions["input"] = automaton.label + 1
    transitions["output"] = transitions["input"] if automaton.output is None else automaton.output + 1
    transitions["weight"], transitions["target"] = weights, automaton.target
    states = np.zeros(automaton.n_states, state_type)
    states["weight"], states["first"], states["number"] = finals, automaton.offsets[:-1], np.diff(automaton.offsets)
    for name, column in (("input_epsilons", "input"), ("output_epsilons", "output")):
        sums = np.concatenate([[0], np.cumsum(transitions[column] == 0)])
        states[name] = sums[automaton.offsets[1:]] - sums[automaton.offsets[:-1]]
    tables = [alphabet, output_alphabet or alphabet]
    flags = (_HAS_INPUT if tables[0] is not None else 0) | (_HAS_OUTPUT if tables[1] is not None else 0)
    start = automaton.start if automaton.n_states else -1
    size = automaton.n_states, automaton.n_transitions
    numbers = struct.pack("<iiQqqq", _VERSION, flags, _properties(transitions, finals), start, *size)
    header = struct.pack("<i", _MAGIC) + _text("const") + _text(arc_type) + numbers
    symbols = b"".join(_table(table) for table in tables if table is not None)
    return header + symbols + states.tobytes() + transitions.tobytes()


def read_const_fst(source: Source, *, key: str = "") -> LabelledAutomaton:
    """Read a binary file of OpenFst of type ``const`` (``fstconvert --fst_type=const`` makes one of any).

    Raises
    ------
    DataError
        If it is another kind of file, cut, holds a cycle, or its numbers do not fit together.

    Examples
    --------
    >>> import io
    >>> a = Automaton.from_transitions([(0, 1, 1), (0, 1, -1)], final=[1])
    >>> made = read_const_fst(io.BytesIO(const_fst_bytes(a, alphabet=Alphabet(("K", "T")))))
    >>> made.automaton.label.tolist(), made.alphabet.labels
    ([1, -1], ('K', 'T'))
    """
    reader = _Reader(b"".join(read_blocks(source)), display_name(source))
    arc_type, flags, start, n_states, n_transitions = _header(reader)
    tables = [reader.symbols() if flags & flag else None for flag in (_HAS_INPUT, _HAS_OUTPUT)]
    state_type, transition_type = _types(arc_type)
    states, transitions = reader.array(state_type, n_states), reader.array(transition_type, n_transitions)
    first = states["first"].astype(np.int64)
    ends = first + states["number"]
    tight = np.array_equal(first, np.concatenate([[0], ends])[:-1]) and (ends[-1] if n_states else 0) == n_transitions
    in_range = ((transitions["target"] >= 0) & (transitions["target"] < n_states)).all()
    if not tight or not in_range or not (-1 if n_states == 0 else 0) <= start < max(n_states, 1):
        raise reader.error("its states and transitions do not fit together; it may be damaged")
    labels = [_codes(transitions[name], table, reader) for name, table in zip(("input", "output"), tables, strict=True)]
    acceptor = np.array_equal(transitions["input"], transitions["output"])
    final_weight = states["weight"].astype(np.float64)
    if not ((final_weight > -np.inf).all() and (transitions["weight"] > -np.inf).all()):
        raise reader.error("a weight in it is NaN or minus infinity", "a cost is a number or +inf")
    made = sorted_or_cycle(
        np.repeat(np.arange(n_states), states["number"]).tolist() if n_states else [],
        transitions["target"].tolist(),
        labels[0],
        final=np.flatnonzero(final_weight < np.inf),
        start=start,
        states=range(n_states),
        output=None if acceptor else labels[1],
    )
    if isinstance(made, Cycle):
        raise reader.error(f"only acyclic automata are used; this one has the cycle {made.text}")
    return LabelledAutomaton(
        made.automaton,
        transitions["weight"].astype(np.float64)[made.transition],
        final_weight[made.state],
        None if tables[0] is None else tables[0].alphabet,
        None if acceptor or tables[1] is None else tables[1].alphabet,
        key,
        tuple(made.state.tolist()),
    )


def _header(reader: _Reader) -> tuple[str, int, int, int, int]:
    """Type of the arcs, flags, start, and how many states and transitions follow."""
    if reader.numbers("i") != (_MAGIC,):
        raise reader.error("this is no binary file of OpenFst", "for its text format use read_openfst")
    kind, arc_type = reader.text(), reader.text()
    if kind != "const" or arc_type not in ARC_TYPES:
        allowed = ", ".join(ARC_TYPES)
        raise reader.error(
            f"this is of type {kind} with arcs {arc_type}; type const with arcs {allowed} is read",
            "convert it with fstconvert --fst_type=const",
        )
    version, flags, _, start, n_states, n_transitions = reader.numbers("iiQqqq")
    if flags & _IS_ALIGNED or version == _ALIGNED_VERSION:
        raise reader.error("this file is aligned, which is not read", "write it without --fst_align")
    return arc_type, flags, start, n_states, n_transitions


class _Reader:
    """Walks over the bytes and says so when they end."""

    def __init__(self, data: bytes, path: str) -> None:
        self.data, self.path, self.at = data, path, 0

    def error(self, rule: str, hint: str | None = None) -> DataError:
        return DataError(rule, path=self.path, hint=hint)

    def take(self, size: int) -> bytes:
        if size < 0 or self.at + size > len(self.data):
            raise self.error(f"the file ends after {len(self.data)} bytes, in the middle; it may be cut")
        self.at += size
        return self.data[self.at - size : self.at]

    def numbers(self, form: str) -> tuple[int, ...]:
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))

    def text(self) -> str:
        try:
            return self.take(self.numbers("i")[0]).decode("utf-8")
        except UnicodeDecodeError:
            raise self.error("a name in it is not UTF-8") from None

    def array(self, kind: np.dtype[Any], size: int) -> NDArray[Any]:
        return np.frombuffer(self.take(kind.itemsize * size), kind)

    def symbols(self) -> Symbols:
        if self.numbers("i") != (_SYMBOLS_MAGIC,):
            raise self.error("its symbol table is damaged")
        self.text()
        _, size = self.numbers("qq")
        rows: dict[int, str] = {}
        for _ in range(size):
            name = self.text()
            rows[self.numbers("q")[0]] = name
        epsilon = rows.pop(0, None)
        numbers = tuple(sorted(rows))
        return Symbols(Alphabet(tuple(rows[number] for number in numbers)), numbers, epsilon)


def _types(arc_type: str) -> tuple[np.dtype[Any], np.dtype[Any]]:
    if arc_type not in ARC_TYPES:
        raise ParameterError(f"arc_type must be one of {', '.join(ARC_TYPES)}; got {arc_type!r}")
    real = ARC_TYPES[arc_type]
    counts = [(name, "<u4") for name in ("first", "number", "input_epsilons", "output_epsilons")]
    state = np.dtype([("weight", real), *counts], align=True)
    transition = np.dtype([("input", "<i4"), ("output", "<i4"), ("weight", real), ("target", "<i4")], align=True)
    return state, transition


def _codes(numbers: NDArray[Any], table: Symbols | None, reader: _Reader) -> NDArray[np.int32]:
    if table is None:
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() <= MOST:
            raise reader.error(f"labels run from {numbers.min()} to {numbers.max()}; they are numbers from 0 to {MOST}")
        return np.asarray(numbers - 1, dtype=np.int32)
    known = table.code_of_number
    different, place = np.unique(numbers, return_inverse=True)
    for number in different.tolist():
        if number not in known:
            raise reader.error(f"label number {number} is not in its symbol table")
    return np.array([known[number] for number in different.tolist()], dtype=np.int32)[place.ravel()]


def _properties(transitions: NDArray[Any], finals: NDArray[np.float64]) -> int:
    inputs, outputs = transitions["input"] == 0, transitions["output"] == 0
    bits = _EXPANDED | _ACYCLIC | _INITIAL_ACYCLIC | _TOP_SORTED
    bits |= _ACCEPTOR if np.array_equal(transitions["input"], transitions["output"]) else _NO_ACCEPTOR
    present = ((_EPSILONS, inputs & outputs), (_INPUT_EPSILONS, inputs), (_OUTPUT_EPSILONS, outputs))
    for bit, where in present:
        bits |= bit if where.any() else 2 * bit
    trivial = all(((values == 0) | (values == np.inf)).all() for values in (transitions["weight"], finals))
    return bits | (_UNWEIGHTED if trivial else _WEIGHTED)


def _text(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return struct.pack("<i", len(data)) + data


def _table(alphabet: Alphabet) -> bytes:
    rows = b"".join(_text(name) + struct.pack("<q", number) for number, name in enumerate(_table_names(alphabet)))
    size = len(alphabet) + 1
    return struct.pack("<i", _SYMBOLS_MAGIC) + _text("structens") + struct.pack("<qq", size, size) + rows


def _table_names(alphabet: Alphabet) -> list[str]:
    if EPSILON_NAME in alphabet:
        raise DataError(f"label {EPSILON_NAME!r} is the name of the empty label in the file", hint="rename it")
    return [EPSILON_NAME, *alphabet.labels]
