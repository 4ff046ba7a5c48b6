"""What the makers of features have in common: how sequences are read, hashed and told apart.

A maker has ``fit(sequences)``, which learns columns, and ``transform(sequences)``, which answers one row for each
position of all sequences, one after the other. `PositionTagger` takes any object with these two methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import chain
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from structens.core import DataError, Ragged


class Features(Protocol):
    """What a `PositionTagger` asks of its maker of features."""

    def fit(self, sequences: Sequence[Any]) -> Self:
        """Learn which columns there are."""
        ...

    def transform(self, sequences: Sequence[Any]) -> Any:
        """Features, an array or CSR matrix of shape (positions of all sequences, columns)."""
        ...


def is_tokens(sequences: Sequence[Any]) -> bool:
    """Whether these are sequences of tokens, not of vectors; told by the first that is not empty.

    Examples
    --------
    >>> is_tokens([[], ["a"]]), is_tokens([np.ones((2, 3))])
    (True, False)
    """
    first = next((sequence for sequence in sequences if len(sequence)), ())
    return all(isinstance(token, str) for token in first)


def lengths_of(sequences: Sequence[Any]) -> NDArray[np.int64]:
    """Number of positions of each sequence.

    Examples
    --------
    >>> lengths_of([["a", "b"], []]).tolist()
    [2, 0]
    """
    return np.fromiter(map(len, sequences), dtype=np.int64, count=len(sequences))


def flat_tokens(sequences: Sequence[Sequence[str]]) -> list[str]:
    """All tokens, one sequence after the other.

    Raises
    ------
    DataError
        If a sequence is a text, or a token is none.

    Examples
    --------
    >>> flat_tokens([["a", "b"], ["c"]])
    ['a', 'b', 'c']
    """
    for i, sequence in enumerate(sequences):
        if isinstance(sequence, str):
            raise DataError(f"sequence {i} is a text, not a list of tokens", hint="cut it, such as by str.split")
    flat = list(chain.from_iterable(sequences))
    if not all(map(str.__instancecheck__, flat)):
        place = next(k for k, token in enumerate(flat) if not isinstance(token, str))
        i = int(np.searchsorted(np.cumsum(lengths_of(sequences)), place, side="right"))
        raise DataError(f"sequence {i} holds a {type(flat[place]).__name__}, not tokens only")
    return flat


def flat_vectors(sequences: Sequence[Any]) -> Ragged:
    """All vectors of numbers, shape (positions, d), one sequence after the other.

    Raises
    ------
    DataError
        If a sequence is no array of numbers of shape (positions, d), or d differs.

    Examples
    --------
    >>> flat_vectors([[[1, 2]], [], [[3, 4], [5, 6]]]).values.tolist()
    [[1, 2], [3, 4], [5, 6]]
    """
    rows, width = [], None
    for i, sequence in enumerate(sequences):
        try:
            row = np.asarray(sequence)
        except ValueError:
            row = np.array([None])
        if len(row) == 0:
            row = np.zeros((0, width or 0), dtype=np.uint8)
        elif row.ndim != 2 or row.dtype.kind not in "biuf":
            raise DataError(f"sequence {i} must be numbers of shape (positions, d); got {_shown(row)}")
        elif width is not None and row.shape[1] != width:
            raise DataError(f"sequence {i} has vectors of {row.shape[1]} numbers, those before have {width}")
        else:
            width = row.shape[1]
        rows.append(row.astype(np.uint8) if row.dtype.kind == "b" else row)
    used = [row for row in rows if len(row)]
    values = np.concatenate(used) if used else np.zeros((0, width or 0))
    return Ragged.from_lengths(values, lengths_of(rows))


def labels_of_sequences(X: Sequence[Any], y: Sequence[Sequence[str]]) -> tuple[Ragged, NDArray[Any]]:
    """Codes of the labels of sequences, and the labels, sorted.

    Raises
    ------
    DataError
        If X and y have different lengths, a label is no text, or there is none.

    Examples
    --------
    >>> codes, classes = labels_of_sequences([["the", "dog"]], [["D", "N"]])
    >>> codes.to_list(), classes.tolist()
    ([[0, 1]], ['D', 'N'])
    """
    if len(X) != len(y):
        raise DataError(f"X has {len(X)} sequences, y has {len(y)}")
    lengths, said = lengths_of(X), lengths_of(y)
    if (lengths != said).any():
        i = int(np.argmax(lengths != said))
        raise DataError(f"sequence {i} has {lengths[i]} positions and {said[i]} labels; there must be one a position")
    flat = [label for row in y for label in row]
    if not flat:
        raise DataError("there is no position to learn from")
    wrong = next((label for label in flat if not isinstance(label, str)), None)
    if wrong is not None:
        raise DataError(f"labels must be str; got {wrong!r}", hint="use str(label)")
    classes = sorted(set(flat))
    number = {label: k for k, label in enumerate(classes)}
    codes = np.fromiter(map(number.__getitem__, flat), dtype=np.int32, count=len(flat))
    return Ragged.from_lengths(codes, lengths), np.array(classes, dtype=object)


def text_hashes(texts: Sequence[str]) -> NDArray[np.uint64]:
    """64-bit hashes of texts, the same on every machine and in every run.

    Examples
    --------
    >>> text_hashes(["a"]).tolist()
    [3405396810240292928]
    """
    digests = b"".join(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64 (Steele, Lea and Flood 2014): every input bit reaches every output bit.

    Examples
    --------
    >>> mixed(np.array([1], np.uint64)).tolist()
    [10451216379200822465]
    """
    x = (x + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def sequence_hashes(sequences: Sequence[Any]) -> NDArray[np.uint64]:
    """A hash of the content of each sequence: equal ones have equal hashes, whatever the type of their numbers.

    It tells whether a model has learnt from a sequence. Two different ones among n agree with probability n^2 / 2^65.

    Examples
    --------
    >>> a, b, c = sequence_hashes([["x", "y"], ["xy"], ("x", "y")]).tolist()
    >>> a == c, a == b
    (True, False)
    >>> sequence_hashes([np.ones((1, 2), np.uint8)]) == sequence_hashes([[[1.0, 1.0]]])
    array([ True])
    """
    out = np.empty(len(sequences), dtype=np.uint64)
    for i, sequence in enumerate(sequences):
        if len(sequence) == 0 or isinstance(sequence[0], str):
            parts = [token.encode("utf-8", "surrogatepass") for token in sequence]
            data = b"t" + b"".join(b"%d:%b" % (len(part), part) for part in parts)
        else:
            rows = np.ascontiguousarray(sequence, dtype="<f8") + 0.0  # -0.0 is 0.0
            data = b"v" + str(rows.shape).encode() + rows.tobytes()
        out[i] = int.from_bytes(blake2b(data, digest_size=8).digest(), "little")
    return out


def _shown(row: NDArray[Any]) -> str:
    return f"shape {row.shape} of {row.dtype}"
