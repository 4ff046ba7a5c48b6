"""Encoder: tokens and texts of many records to one alphabet's codes, in bulk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from structens.core.alphabet import Alphabet
from structens.core.ragged import Ragged
from structens.core.units import cut, is_plain

_N_POINTS = 0x110000


class _Codes(dict[str, int]):
    """Gives the next code to a label that is looked up for the first time."""

    def __missing__(self, label: str) -> int:
        code = self[label] = len(self)
        return code


class Encoder:
    """Gives out codes to labels as they come; the alphabet only grows.

    The cost is linear in the number of units. Memory grows with the number of distinct labels, and with a table of
    4 MiB as soon as a text is cut into characters.

    Parameters
    ----------
    labels : iterable of str
        Labels that take the first codes, such as a model's.

    Examples
    --------
    >>> e = Encoder()
    >>> e.tokens([["a", "b"], ["b"]]).to_list(), e.texts(["ba", "c"], "char").to_list(), e.alphabet.labels
    ([[0, 1], [1]], [[1, 0], [2]], ('a', 'b', 'c'))
    """

    def __init__(self, labels: Iterable[str] = ()) -> None:
        self._codes = _Codes((label, code) for code, label in enumerate(dict.fromkeys(labels)))
        self._point_code: NDArray[np.int32] | None = None

    @property
    def alphabet(self) -> Alphabet:
        """The labels met so far."""
        return Alphabet(tuple(self._codes))

    def __len__(self) -> int:
        return len(self._codes)

    def labels_from(self, code: int) -> list[str]:
        """The labels from this code on; the cost is their number, not that of all labels."""
        return list(islice(reversed(self._codes), len(self._codes) - code))[::-1]

    def tokens(self, sequences: Sequence[Sequence[str]]) -> Ragged:
        """Codes of token lists."""
        flat = list(chain.from_iterable(sequences))
        values = np.fromiter(map(self._codes.__getitem__, flat), dtype=np.int32, count=len(flat))
        lengths = np.fromiter(map(len, sequences), dtype=np.int64, count=len(sequences))
        return Ragged.from_lengths(values, lengths)

    def texts(self, texts: Sequence[str], unit: str = "char") -> Ragged:
        """Codes of texts cut into units."""
        if unit not in ("char", "codepoint"):
            return self.tokens([cut(text, unit) for text in texts])
        joined = "".join(texts)
        if unit == "codepoint" or is_plain(joined):
            lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
            return Ragged.from_lengths(self._points(joined), lengths)
        cuts = [list(text) if is_plain(text) else cut(text, unit) for text in texts]
        return self.tokens(cuts)

    def _points(self, joined: str) -> NDArray[np.int32]:
        points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        if self._point_code is None:
            self._point_code = np.full(_N_POINTS, -1, dtype=np.int32)
        out = self._point_code[points]
        new = np.unique(points[out < 0])
        for point in new.tolist():
            label = chr(point)
            self._point_code[point] = self._codes.setdefault(label, len(self._codes))
        return self._point_code[points] if len(new) else out
