"""Alphabet: label <-> int32 code, and the codes outside every alphabet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core.errors import DataError

GAP = -1
"""Code in a slot: the expert says nothing here. It is no label, so no token can collide with it."""
ABSENT = -2
"""Code in a slot: the expert gave no answer for this record."""
UNKNOWN = -3
"""Code in a slot's gold column: the record has no gold."""


@dataclass(frozen=True, eq=False)
class Alphabet:
    """An ordered set of labels; the code of a label is its place.

    Labels are opaque strings, compared exactly. The order carries no meaning: it never decides a tie.

    Parameters
    ----------
    labels : tuple of str
        Distinct labels.

    Raises
    ------
    DataError
        If a label occurs twice, or a label is asked for that is not there.

    Examples
    --------
    >>> a = Alphabet.of(["K", "AE", "T", "AE"])
    >>> a.labels, a.encode(["T", "K"]).tolist(), a.decode([1, 2])
    (('K', 'AE', 'T'), [2, 0], ['AE', 'T'])
    """

    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.codes) != len(self.labels):
            raise DataError("an alphabet holds each label once")

    @classmethod
    def of(cls, tokens: Iterable[str]) -> Alphabet:
        """Alphabet of the distinct tokens, in order of first appearance."""
        return cls(tuple(dict.fromkeys(tokens)))

    @cached_property
    def codes(self) -> dict[str, int]:
        """Code of each label."""
        return {label: code for code, label in enumerate(self.labels)}

    def __len__(self) -> int:
        return len(self.labels)

    def __contains__(self, label: object) -> bool:
        return label in self.codes

    def index(self, labels: str | Sequence[str]) -> int | list[int]:
        """Code of one label, or codes of several."""
        if isinstance(labels, str):
            return self._code(labels)
        return [self._code(label) for label in labels]

    def _code(self, label: str) -> int:
        try:
            return self.codes[label]
        except KeyError:
            raise DataError(f"label {label!r} is not in the alphabet of {len(self)} labels") from None

    def encode(self, tokens: Iterable[str]) -> NDArray[np.int32]:
        """Codes of the tokens, shape (n_tokens,)."""
        return np.array([self._code(token) for token in tokens], dtype=np.int32)

    def decode(self, codes: Iterable[Any]) -> list[str]:
        """Labels of the codes."""
        labels = self.labels
        return [labels[code] for code in codes]

    def codes_in(self, other: Alphabet) -> NDArray[np.int32]:
        """Code in `other` of each label of this alphabet, -1 where `other` lacks it; shape (n_labels,)."""
        table = other.codes
        return np.array([table.get(label, -1) for label in self.labels], dtype=np.int32)
