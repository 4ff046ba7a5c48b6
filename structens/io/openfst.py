"""OpenFst's text format (AT&T format): a transition a line, then or between them a line a final state.

An acceptor's line is ``source target label [cost]``, a transducer's ``source target input output [cost]``, a final
state's ``state [cost]``. The source of the first line is the start. Label 0, or the name ``<eps>``, is EPSILON. Weights
are costs. OpenFst's own printer keeps six digits; here all are written.

Source: https://www.openfst.org/twiki/bin/view/FST/FstQuickTour, "Creating FSTs from text files".
"""

from __future__ import annotations

import math
import os

import numpy as np
from numpy.typing import ArrayLike

from structens.automata import LabelledAutomaton, Semiring, as_weights
from structens.automata.graph import named
from structens.core import EPSILON, Alphabet, Automaton, DataError
from structens.io.fst_text import MOST, Collected, Place, fields, is_number
from structens.io.output import atomic_output
from structens.io.source import Source, display_name, text_lines
from structens.io.symbols import EPSILON_NAME, Symbols, escaped, read_symbols, unescaped, written_names


def write_openfst(
    path: str | os.PathLike[str],
    automaton: Automaton,
    weight: ArrayLike | None = None,
    final_weight: ArrayLike | None = None,
    *,
    alphabet: Alphabet | None = None,
    output_alphabet: Alphabet | None = None,
    escape: bool = False,
) -> None:
    """Write an automaton as text; `structens.io.write_symbols` writes the table that goes with it.

    Parameters
    ----------
    path : path, or "-" for standard output
    automaton : Automaton
    weight : array_like, shape (n_transitions,), or None
        Costs, written with all digits; None writes none.
    final_weight : array_like, shape (n_states,), or None
    alphabet, output_alphabet : Alphabet or None
        Write names instead of numbers (code c is number c + 1); the output's are those of the input if only these are
        given.
    escape : bool
        Percent-encode names that would break a line.

    Raises
    ------
    DataError
        If weights do not fit, a name cannot be written, or the file cannot.
    """
    text = openfst_text(
        automaton, weight, final_weight, alphabet=alphabet, output_alphabet=output_alphabet, escape=escape
    )
    with atomic_output(path) as out:
        out.write(text.encode())


def openfst_text(
    automaton: Automaton,
    weight: ArrayLike | None = None,
    final_weight: ArrayLike | None = None,
    *,
    alphabet: Alphabet | None = None,
    output_alphabet: Alphabet | None = None,
    escape: bool = False,
) -> str:
    r"""The text that `write_openfst` writes: the start state first, the others by number.

    A final state of infinite cost is written as one that is not final, which it is to OpenFst.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 0), (0, 1, -1)], final=[1])
    >>> openfst_text(a, [0.5, 2.0], alphabet=Alphabet(("K",)))
    '0\t1\tK\t0.5\n0\t1\t<eps>\t2.0\n1\t0.0\n'
    """
    no_weights = weight is None and final_weight is None
    weights, finals = as_weights(
        automaton, np.zeros(automaton.n_transitions) if weight is None else weight, final_weight, Semiring.LOG
    )
    columns = [automaton.source.tolist(), automaton.target.tolist(), _names(automaton.label, alphabet, escape)]
    if automaton.output is not None:
        columns.append(_names(automaton.output, output_alphabet or alphabet, escape))
    if not no_weights:
        columns.append([_cost(w) for w in weights.tolist()])
    lines = ["\t".join(map(str, row)) for row in zip(*columns, strict=True)]
    cuts, out = automaton.offsets.tolist(), []
    rest = (q for q in range(automaton.n_states) if q != automaton.start)
    for q in [automaton.start, *rest] if automaton.n_states else []:
        out += lines[cuts[q] : cuts[q + 1]]
        if finals[q] < math.inf:
            out.append(f"{q}" if no_weights else f"{q}\t{_cost(finals[q])}")
        elif cuts[q] == cuts[q + 1]:  # it would be forgotten otherwise
            out.append(f"{q}\tInfinity")
    return "".join(line + "\n" for line in out)


def read_openfst(
    source: Source,
    *,
    symbols: Symbols | Source | None = None,
    output_symbols: Symbols | Source | None = None,
    names: bool = False,
    acceptor: bool | None = None,
    escape: bool = False,
    key: str = "",
) -> LabelledAutomaton:
    """Read an automaton from text.

    Parameters
    ----------
    source : path, "-", or binary stream
    symbols, output_symbols : Symbols, or what `structens.io.read_symbols` reads
        The labels are names of this table; the output's table is the input's if only that is given. None: the labels
        are numbers, and number n has code n - 1.
    names : bool
        The labels are names without a table: codes in order of appearance, ``<eps>`` is EPSILON.
    acceptor : bool or None
        None finds out by the number of fields.
    escape : bool
        Names are percent-encoded; also those of the tables.
    key : str
        Passed on.

    Returns
    -------
    LabelledAutomaton
        `states` holds the numbers of the file. Weights are None if the file has none; a missing one is 0. A line
        ``state Infinity`` is a state that is not final.

    Raises
    ------
    DataError
        With file and line, if a line has a wrong number of fields, a label is not in its table, a weight is no number,
        a final state comes twice, or there is a cycle; also if the file could be either an acceptor or a transducer.

    Examples
    --------
    >>> import io
    >>> made = read_openfst(io.BytesIO(b"0 1 K 0.5\\n0 1 T 1\\n1\\n"), names=True, acceptor=True)
    >>> made.automaton.label.tolist(), made.weight.tolist(), made.final_weight.tolist()
    ([0, 1], [0.5, 1.0], [inf, 0.0])
    """
    path = display_name(source)
    rows = [(Place(path, line), parts) for line, text in text_lines(source) if (parts := fields(text))]
    for place, parts in rows:
        if len(parts) > 5:
            raise place.error(f"a line has at most 5 fields; this one has {len(parts)}")
    tables = [_Labels.of(table, names, escape) for table in (symbols, output_symbols)]
    if symbols is not None and output_symbols is None:
        tables[1] = tables[0]
    transducer = _is_transducer(rows, tables[1], path) if acceptor is None else not acceptor
    made = Collected(path)
    for place, parts in rows:
        state = place.whole(parts[0], "a state")
        if len(parts) < 3:
            made.end(place, state, place.number(parts[1], "a cost") if len(parts) == 2 else None)
            continue
        n_labels = 2 if transducer else 1
        if not 2 + n_labels <= len(parts) <= 3 + n_labels:
            kind = "a transducer" if transducer else "an acceptor"
            allowed = f"{2 + n_labels} or {3 + n_labels} fields (or 1 or 2 for a final state)"
            raise place.error(f"a line of {kind} has {allowed}; this one has {len(parts)}")
        cost = place.number(parts[2 + n_labels], "a cost") if len(parts) == 3 + n_labels else None
        label = tables[0].code(place, parts[2])
        output = tables[1].code(place, parts[3]) if transducer else None
        made.add(place, state, place.whole(parts[1], "a state"), label, output, cost)
    inputs, outputs = (table.alphabet for table in tables)
    return made.built(alphabet=inputs, output_alphabet=outputs if transducer else None, key=key, transducer=transducer)


class _Labels:
    """Codes of labels: numbers, names of a table, or names as they come."""

    def __init__(self, table: Symbols | None, names: bool, escape: bool) -> None:
        self.table, self.names, self.escape = table, names, escape
        # Keys are texts as they are written: a label that is called like EPSILON is another text when it is escaped.
        self._codes: dict[str | None, int] = {EPSILON_NAME if table is None else table.epsilon: EPSILON}
        if table is not None:
            labels = table.alphabet.labels
            self._codes |= {escaped(label) if escape else label: code for code, label in enumerate(labels)}

    @classmethod
    def of(cls, table: Symbols | Source | None, names: bool, escape: bool) -> _Labels:
        if table is not None and not isinstance(table, Symbols):
            table = read_symbols(table, escape=escape)
        return cls(table, names, escape)

    @property
    def alphabet(self) -> Alphabet | None:
        if self.table is not None:
            return self.table.alphabet
        if not self.names:
            return None
        return Alphabet(tuple(unescaped(t) if self.escape else t for t, code in self._codes.items() if t and code >= 0))

    def code(self, place: Place, text: str) -> int:
        if self.table is None and not self.names:
            hint = "labels are numbers unless symbols=table or names=True is given"
            try:
                return place.whole(text, "a label", MOST) - 1
            except DataError as error:
                raise place.error(error.rule, hint) from None
        if self.table is None:
            return self._codes.setdefault(text, len(self._codes) - 1)
        if text not in self._codes:
            raise place.error(f"label {text!r} is not in the symbol table of {len(self._codes)} names")
        return self._codes[text]

    def could_be(self, text: str) -> bool:
        if self.table is not None:
            return text in self._codes
        return self.names or (text.isascii() and text.isdecimal())


def _is_transducer(rows: list[tuple[Place, list[str]]], outputs: _Labels, path: str) -> bool:
    counts = {len(parts) for _, parts in rows}
    if 3 in counts or 5 in counts or 4 not in counts:
        return 5 in counts
    fourth = [parts[3] for _, parts in rows if len(parts) == 4]
    as_label, as_cost = all(map(outputs.could_be, fourth)), all(map(is_number, fourth))
    if as_label and as_cost:
        raise DataError("the fourth fields could be outputs or costs", path=path, hint="say acceptor=True or False")
    return not as_cost


def _names(codes: ArrayLike, alphabet: Alphabet | None, escape: bool) -> list[str]:
    numbers = np.asarray(codes, dtype=np.int64)
    if alphabet is None:
        return [str(code + 1) for code in numbers.tolist()]
    known = named(numbers.astype(np.int32), alphabet)
    written = dict(zip(alphabet.labels, written_names(alphabet, escape=escape), strict=True))
    return [EPSILON_NAME if name is None else written[name] for name in known]


def _cost(value: float) -> str:
    return "Infinity" if value == math.inf else repr(float(value))
