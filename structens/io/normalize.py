"""Folding of units on request: votes are counted on folded keys, surfaces are kept to be printed.

Unicode normal forms are those of Unicode Standard Annex 15; case folding is the full one of the Unicode Standard,
section 3.13. Compatibility forms (NFKC, NFKD) are never applied unless asked for.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import Alphabet, Encoder, ParameterError, Ragged
from structens.core.units import cut, join

FORMS = ("none", "NFC", "NFD", "NFKC", "NFKD")


@dataclass(frozen=True)
class Folding:
    """What makes two units equal.

    Parameters
    ----------
    normalize : {"none", "NFC", "NFD", "NFKC", "NFKD"}
    casefold : bool
    strip_punct : bool
        Take punctuation (general categories P*) off both ends of a unit; a unit of punctuation only has no key.

    Raises
    ------
    ParameterError
        If the normal form is unknown.

    Examples
    --------
    >>> Folding(casefold=True, strip_punct=True).key("(Yes,"), Folding("NFC").key("e\u0301") == "\u00e9"
    ('yes', True)
    """

    normalize: str = "none"
    casefold: bool = False
    strip_punct: bool = False

    def __post_init__(self) -> None:
        if self.normalize not in FORMS:
            raise ParameterError(f"normalize must be one of {', '.join(FORMS)}; got {self.normalize!r}")

    @property
    def is_identity(self) -> bool:
        """True where nothing is folded."""
        return self == Folding()

    def key(self, unit: str) -> str:
        """The key of a unit; empty where there is none."""
        key = self._normal(unit)
        if self.casefold:
            key = self._normal(key.casefold())
        if self.strip_punct:
            start, end = 0, len(key)
            while start < end and unicodedata.category(key[start]).startswith("P"):
                start += 1
            while start < end and unicodedata.category(key[end - 1]).startswith("P"):
                end -= 1
            key = key[start:end]
        return key

    def keys(self, label: str, unit: str) -> list[str]:
        """The keys of one unit: none, one, or, of a character that folds to several, several."""
        key = self.key(label)
        if unit == "char" and len(key) > 1:
            return cut(key, "char")
        return [key] if key else []

    def answer(self, answer: str | list[str], unit: str) -> str | list[str]:
        """A folded text or list of tokens.

        Examples
        --------
        >>> Folding(casefold=True).answer("Stra\u00dfe", "char"), Folding(strip_punct=True).answer(["a", ","], "char")
        ('strasse', ['a'])
        """
        if self.is_identity:
            return answer
        if isinstance(answer, str):
            return join([key for part in cut(answer, unit) for key in self.keys(part, unit)], unit)
        return [key for part in answer for key in self.keys(part, "token")]

    def _normal(self, text: str) -> str:
        return text if self.normalize == "none" else unicodedata.normalize(self.normalize, text)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Surface:
    """The forms in which units were written before they were folded.

    Parameters
    ----------
    alphabet : Alphabet
        Of surface forms and of keys.
    rows : Ragged of int32
        Row u holds the forms behind unit u of ``hypotheses.values``: one; several where a unit of punctuation
        follows, which belongs to the unit before it; none where a character folded to several and this is a later one.
    """

    alphabet: Alphabet
    rows: Ragged

    def __getitem__(self, units: NDArray[np.int64]) -> Surface:
        return Surface(self.alphabet, self.rows[units])


class Folder:
    """Folds coded answers; what a label folds to is worked out once.

    Parameters
    ----------
    folding : Folding
    unit : {"token", "char", "word", "line"}
    labels : sequence of str
        Keys that take the first codes, such as a model's.

    Attributes
    ----------
    encoder : Encoder
        Of the keys.

    Raises
    ------
    ParameterError
        If the unit is "codepoint": a normal form may join several.
    """

    def __init__(self, folding: Folding, unit: str, labels: Sequence[str] = ()) -> None:
        if unit == "codepoint":
            raise ParameterError("code points cannot be folded one by one; use unit 'char'")
        self.folding, self.unit = folding, unit
        self.encoder = Encoder(labels)
        self._table = Ragged(np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64))

    def look_up(self, new: Sequence[str]) -> None:
        """Work out the keys of surface forms, given in the order of their codes, each once."""
        rows = self.encoder.tokens([self.folding.keys(label, self.unit) for label in new])
        values = np.concatenate([self._table.values, rows.values])
        self._table = Ragged.from_lengths(values, np.concatenate([self._table.lengths, rows.lengths]))

    def fold(self, answers: Ragged) -> tuple[Ragged, NDArray[np.int64], Ragged]:
        """Keys of answers, the surface unit each key comes from, and the surface codes behind each key.

        Parameters
        ----------
        answers : Ragged of int32
            Codes of surface forms that were looked up.

        Returns
        -------
        keys : Ragged of int32, as many rows as answers
        owner : ndarray of int64, shape (n_keys,)
            Place in ``answers.values``.
        behind : Ragged of int32, n_keys rows
        """
        units, counts = answers.values, self._table.lengths[answers.values]
        n = len(units)
        if (counts == 1).all():
            owner = np.arange(n, dtype=np.int64)
            keys = self._table.values[self._table.offsets[units]]
            return Ragged(keys, answers.offsets), owner, Ragged(units, np.arange(n + 1, dtype=np.int64))
        spread = self._table[units]
        key_offsets = spread.offsets[answers.offsets]
        owner = np.repeat(np.arange(n, dtype=np.int64), counts)
        return Ragged(spread.values, key_offsets), owner, _behind(answers, counts, spread.offsets)


def _behind(answers: Ragged, counts: NDArray[np.int64], key_offsets: NDArray[Any]) -> Ragged:
    """Give every surface unit to one key of its answer: its own first, else the one before, else the next."""
    has_key = counts > 0
    rank = np.cumsum(has_key)  # of the last unit with a key, from 1
    before = np.concatenate([[0], rank])[answers.offsets]
    rows = answers.rows
    governor = np.maximum(rank, before[:-1][rows] + 1) - 1
    placed = (before[1:] > before[:-1])[rows]  # an answer without any key has nothing to print
    first_keys = key_offsets[:-1][has_key]
    lengths = np.zeros(int(key_offsets[-1]), dtype=np.int64)
    lengths[first_keys] = np.bincount(governor[placed], minlength=len(first_keys))
    return Ragged.from_lengths(answers.values[placed], lengths)


def printed_units(
    surface: Surface, alphabet: Alphabet, prediction: Ragged, source: NDArray[np.int64]
) -> tuple[Ragged, NDArray[np.int64]]:
    """Units to print for predicted keys: the surface forms at the sources.

    Parameters
    ----------
    surface : Surface
        Of the records, ``X.surface``.
    alphabet : Alphabet
        Of the predicted codes, ``X.alphabet``.
    prediction : Ragged of int32, one row a record
        Codes of keys.
    source : ndarray of int64, shape (n_units,)
        Place in ``X.hypotheses.values`` of the unit whose form is printed for each predicted unit (that of the first
        expert behind it, from ``Slots.source``); -1 prints the key itself.

    Returns
    -------
    printed : Ragged of int32, one row a record
        Codes of ``surface.alphabet``.
    owner : ndarray of int64, shape (n_printed,)
        The predicted unit behind each printed one, to repeat confidences by.

    Examples
    --------
    >>> surface = Surface(Alphabet(("Yes", ",", "yes")), Ragged.of([[0, 1]]))
    >>> printed, owner = printed_units(surface, Alphabet(("yes",)), Ragged.of([[0, 0]]), np.array([0, -1]))
    >>> surface.alphabet.decode(printed.values), owner.tolist()
    (['Yes', ',', 'yes'], [0, 0, 1])
    """
    known = source >= 0
    n = len(source)
    # One more row a predicted unit: its key, for units without a source.
    keys = alphabet.codes_in(surface.alphabet)[prediction.values]
    base = len(surface.rows)
    forms = Ragged(
        np.concatenate([surface.rows.values, keys]).astype(np.int32),
        np.concatenate([surface.rows.offsets, surface.rows.offsets[-1] + 1 + np.arange(n)]),
    )
    units = forms[np.where(known, source, base + np.arange(n))]
    printed = Ragged(units.values, units.offsets[prediction.offsets])
    return printed, units.rows
