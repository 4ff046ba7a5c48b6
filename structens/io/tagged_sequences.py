"""Sequences to tag: tokens or vectors of numbers, with labels or without; what their readers give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import DataError
from structens.io.identity import IdRegister


@dataclass(frozen=True)
class TaggedSequences:
    """Sequences with their labels, where these are known.

    Parameters
    ----------
    ids : tuple of str or int, n
    sequences : list, n
        Lists of tokens, or arrays of numbers of shape (positions, d).
    gold : list of list of str, or None, n
        Labels, one a position; None where unknown.
    lines : ndarray of int64, shape (n,)
        Physical line where each begins; 0 for npz.
    path : str
    folds : ndarray, shape (n,), or None
        The data's own folds.
    """

    ids: tuple[str | int, ...]
    sequences: list[Any]
    gold: list[list[str] | None]
    lines: NDArray[np.int64]
    path: str
    folds: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def has_gold(self) -> NDArray[np.bool_]:
        """Where labels are known, shape (n,)."""
        return np.array([row is not None for row in self.gold], dtype=np.bool_)

    @property
    def is_tokens(self) -> bool:
        """Whether sequences are lists of tokens."""
        return all(isinstance(sequence, list) for sequence in self.sequences)

    def select(self, index: Any) -> TaggedSequences:
        """Some of the sequences, by a mask, a slice or numbers."""
        chosen = np.arange(len(self))[index].tolist()
        return TaggedSequences(
            tuple(self.ids[i] for i in chosen),
            [self.sequences[i] for i in chosen],
            [self.gold[i] for i in chosen],
            self.lines[chosen],
            self.path,
            None if self.folds is None else self.folds[chosen],
        )


class Gathered:
    """Sequences as they come; ids may occur once.

    Examples
    --------
    >>> gathered = Gathered("a.txt")
    >>> gathered.add("s1", ["a"], None, 1)
    >>> gathered.sequences_or_refuse("nothing", "").ids
    ('s1',)
    """

    def __init__(self, path: str) -> None:
        self.path, self.register = path, IdRegister(path)
        self.ids: list[Any] = []
        self.sequences: list[Any] = []
        self.gold: list[list[str] | None] = []
        self.lines: list[int] = []

    def add(self, ident: str | int, sequence: Any, gold: list[str] | None, line: int) -> None:
        """Take one more."""
        self.ids.append(ident)
        self.sequences.append(sequence)
        self.gold.append(gold)
        self.lines.append(line)

    def sequences_or_refuse(self, rule: str, hint: str) -> TaggedSequences:
        """All of them. Raises DataError if there are none, or an id occurs twice."""
        if not self.ids:
            raise DataError(rule, path=self.path, hint=hint)
        self.register.add(self.ids, self.lines)
        return TaggedSequences(
            tuple(self.ids), self.sequences, self.gold, np.array(self.lines, dtype=np.int64), self.path
        )
