"""One system's answers by id, whatever file they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from structens.core import DataError
from structens.io.identity import IdRegister

Answer = str | list[str]


@dataclass
class Answers:
    """Answers of one system, or gold, in the order of its file; made by adding one after the other.

    Parameters
    ----------
    path : str
    ids : list of str
    values : list
        Texts or lists of tokens; None for no answer.
    lines : list of int
        Physical line of each.
    alternatives : dict of str to list
        Further right answers of some ids.
    confidences : dict of str to list of float
        Of the units of some answers, in [0, 1].
    tokens : dict of str to list of str
        What some answers are labels of.
    by_number : bool
        Whether ids are line numbers: then files must have equally many lines.
    n_outside : int
        Timed words that lie in no segment.

    Examples
    --------
    >>> said = Answers("a.txt")
    >>> said.add("u1", ["a", "cat"], 1)
    >>> said.add("u1", ["a"], 2)
    >>> said.checked()
    Traceback (most recent call last):
    structens.core.errors.DataError: a.txt:2: record 'u1': the id stands in line 1 too; each id may occur once
    """

    path: str
    ids: list[str] = field(default_factory=list)
    values: list[Answer | None] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    alternatives: dict[str, list[Answer]] = field(default_factory=dict)
    confidences: dict[str, list[float]] = field(default_factory=dict)
    tokens: dict[str, list[str]] = field(default_factory=dict)
    by_number: bool = False
    n_outside: int = 0

    def add(self, ident: str, value: Answer | None, line: int, alternatives: Sequence[Answer] = ()) -> None:
        """Take one more."""
        self.ids.append(ident)
        self.values.append(value)
        self.lines.append(line)
        if alternatives:
            self.alternatives[ident] = list(alternatives)

    def checked(self, hint: str | None = None) -> Answers:
        """These, if there are any and each id occurs once.

        Raises
        ------
        DataError
        """
        if not self.ids:
            raise DataError("there are no answers in the file", path=self.path, hint=hint)
        register = IdRegister(self.path)
        register.add(self.ids, self.lines)
        return self

    def error(self, rule: str, line: int, **more: Any) -> DataError:
        """The refusal of a line, to raise."""
        return DataError(rule, path=self.path, line=line, **more)

    @property
    def of_tokens(self) -> bool | None:
        """Whether answers are lists of tokens; None where there is none."""
        first = next((value for value in self.values if value is not None), None)
        return None if first is None else isinstance(first, list)
