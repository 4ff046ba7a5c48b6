"""The errors that users meet: each is a ValueError and says what is wrong, where, and what to do."""

from __future__ import annotations


class StructensError(ValueError):
    """Base of every error that structens raises on purpose.

    Examples
    --------
    >>> issubclass(DataError, ValueError)
    True
    """


class DataError(StructensError):
    """A record, a file or an argument holds something that cannot be used.

    Parameters
    ----------
    rule : str
        What is wrong and what is expected instead.
    path : str, optional
        Name of the file.
    line, column : int, optional
        Physical line (from 1) and column (from 1) in the file.
    record : str or int, optional
        Id of the record.
    expert : str, optional
        Name of the expert.
    hint : str, optional
        The way out.

    Examples
    --------
    >>> print(DataError("no tokens", path="a.jsonl", line=3, record="u1", hint="write [] for nothing"))
    a.jsonl:3: record 'u1': no tokens; write [] for nothing
    """

    def __init__(
        self,
        rule: str,
        *,
        path: str | None = None,
        line: int | None = None,
        column: int | None = None,
        record: str | int | None = None,
        expert: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.rule, self.path, self.line, self.column = rule, path, line, column
        self.record, self.expert, self.hint = record, expert, hint
        super().__init__(self._message())

    def _message(self) -> str:
        where = ""
        if self.path is not None:
            where = self.path + (f":{self.line}" if self.line is not None else "")
            where += (f":{self.column}" if self.column is not None else "") + ": "
        elif self.line is not None:
            where = f"line {self.line}: "
        if self.record is not None:
            where += f"record {self.record!r}: "
        if self.expert is not None:
            where += f"expert {self.expert!r}: "
        return where + self.rule + (f"; {self.hint}" if self.hint else "")


class ParameterError(StructensError):
    """An option has a value that is not allowed; the message names option, rule and value."""


class AutomatonError(StructensError):
    """An automaton breaks the precondition of an algorithm (a cycle, no accepting path, ...)."""


class ModelError(StructensError):
    """A model file is cut, damaged, of a newer format, or not a model at all."""


class NotFittedError(StructensError):
    """An estimator is asked to predict before it has learnt.

    Examples
    --------
    >>> raise NotFittedError("call fit first")
    Traceback (most recent call last):
    structens.core.errors.NotFittedError: call fit first
    """
