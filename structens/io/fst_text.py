"""What the text formats of automata have in common: lines of fields, whole numbers, costs, and a strict collection."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.automata.labelled import Cycle, LabelledAutomaton, sorted_or_cycle
from structens.core import Alphabet, DataError

MOST = 2**31 - 2
"""Highest label number: codes are int32."""

_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|\+?[Ii]nf(?:inity)?", re.ASCII)


def fields(text: str) -> list[str]:
    r"""Fields between blanks and tabs; other white space is part of a field, as in OpenFst.

    Examples
    --------
    >>> fields(" 0 1\tK "), fields(" ")
    (['0', '1', 'K'], [])
    """
    parts = text.replace("\t", " ").split(" ")
    return [part for part in parts if part] if "" in parts else parts


class Place(NamedTuple):
    """A line of a file, to raise errors about it and to read its fields."""

    path: str
    line: int

    def error(self, rule: str, hint: str | None = None) -> DataError:
        """The error, to raise."""
        return DataError(rule, path=self.path, line=self.line, hint=hint)

    def whole(self, text: str, what: str, most: int | None = None) -> int:
        """A whole number >= 0, of at most 18 digits.

        Raises
        ------
        DataError
        """
        if text.isascii() and text.isdecimal() and len(text) <= 18 and (most is None or int(text) <= most):
            return int(text)
        limit = "" if most is None else f" to {most}"
        raise self.error(f"{what} must be a whole number from 0{limit}; got {text!r}")

    def number(self, text: str, what: str, *, infinite: bool = True) -> float:
        """A number; not NaN, not minus infinity, and no overflow in disguise.

        Raises
        ------
        DataError
        """
        if not is_number(text) or (abs(number := float(text)) == math.inf and not (infinite and "n" in text.lower())):
            raise self.error(f"{what} must be a number; got {text!r}")
        return number


def is_number(text: str) -> bool:
    """True where the text is a cost as OpenFst prints it.

    Examples
    --------
    >>> is_number("1e-3"), is_number("Infinity"), is_number("nan"), is_number("1_0")
    (True, True, False, False)
    """
    return _NUMBER.fullmatch(text) is not None


@dataclass
class Collected:
    """Transitions and final states as they are read; `built` makes the automaton."""

    path: str
    source: list[int] = field(default_factory=list)
    target: list[int] = field(default_factory=list)
    label: list[int] = field(default_factory=list)
    output: list[int] = field(default_factory=list)
    weight: list[float] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    final: dict[int, float] = field(default_factory=dict)
    start: int | None = None
    weighted: bool = False

    def add(self, place: Place, source: int, target: int, label: int, output: int | None, weight: float | None) -> None:
        """Add a transition; the first state seen is the start."""
        self.start = source if self.start is None else self.start
        self.source.append(source)
        self.target.append(target)
        self.label.append(label)
        if output is not None:
            self.output.append(output)
        self.weight.append(0.0 if weight is None else weight)
        self.weighted |= weight is not None
        self.line.append(place.line)

    def end(self, place: Place, state: int, weight: float | None) -> None:
        """Add a final state; one of infinite cost is a state that is not final.

        Raises
        ------
        DataError
            If the state was given already.
        """
        self.start = state if self.start is None else self.start
        if state in self.final:
            raise place.error(f"state {state} has a line of its own already; each final state is given once")
        self.final[state] = 0.0 if weight is None else weight
        self.weighted |= weight is not None and weight < math.inf

    def built(
        self,
        *,
        alphabet: Alphabet | None,
        output_alphabet: Alphabet | None = None,
        key: str = "",
        transducer: bool = False,
    ) -> LabelledAutomaton:
        """The automaton; states in the order of their numbers where that is topological.

        Raises
        ------
        DataError
            If there is a cycle; the message spells it out, with the line of one transition on it.
        """
        states = sorted({*self.source, *self.target, *self.final})
        place = {state: q for q, state in enumerate(states)}
        final = [place[q] for q, weight in self.final.items() if weight < math.inf]
        source, target = [place[q] for q in self.source], [place[q] for q in self.target]
        made = sorted_or_cycle(
            source,
            target,
            self.label,
            final=final,
            start=0 if self.start is None else place[self.start],
            states=states,
            output=self.output if transducer else None,
        )
        if isinstance(made, Cycle):
            line = max(self.line[e] for e in made.transitions)
            raise Place(self.path, line).error(f"only acyclic automata are used; this one has the cycle {made.text}")
        weight: NDArray[np.float64] | None = None
        final_weight: NDArray[np.float64] | None = None
        if self.weighted:
            weight = np.array(self.weight, dtype=np.float64)[made.transition]
            given = np.full(len(states), np.inf)
            for q, cost in self.final.items():
                given[place[q]] = cost
            final_weight = given[made.state]
        names = tuple(states[q] for q in made.state.tolist())
        return LabelledAutomaton(made.automaton, weight, final_weight, alphabet, output_alphabet, key, names)
