"""Features from words: the word, its neighbours, affixes, shapes and character n-grams, as a sparse matrix.

A column says that one value stands at one place: "the word before is 'of'", "the suffix of three letters is 'ing'".
Values are worked out once for each different word and looked up by integer codes for each position, so that the cost in
Python grows with the vocabulary, and that in arrays with the text. The templates are those of maximum-entropy taggers:
Ratnaparkhi, "A maximum entropy model for part-of-speech tagging" (EMNLP 1996); shapes as in Collins (ACL 2002).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from structens.core import DataError, Estimator, NotFittedError, ParameterError, Ragged
from structens.ensembles.features import flat_tokens, lengths_of, mixed, text_hashes

_RUNS = re.compile(r"(.)\1+", re.DOTALL)
_BEYOND = 0
"""Code of what stands beyond the ends of a sequence; words have codes from 1."""
_MOST_CHARACTERS = 40
"""Of longer words n-grams are taken from the first characters only."""


class WordFeatures(Estimator):
    """Binary columns for words in a window, and for the form of the word itself.

    Parameters
    ----------
    radius : int
        Words on each side, >= 0; beyond the ends stands a value of its own.
    affixes : int
        Longest prefix and suffix, of the word and (`near_affixes`) of its neighbours; 0 for none.
    shapes : bool
        The shape of the word and of its two neighbours: capitals X, other letters x, digits d, runs once: "Mr." is
        "Xx.", "1990s" is "dx".
    char_ngrams : tuple of two int, or None
        Shortest and longest character n-grams of the word, its borders marked; of the first 40 characters.
    near_affixes : int
        Longest suffix of the words beside it; 0 for none.
    min_count : int
        Columns for values met less often are left out. Not asked where they are hashed.
    n_features : int or None
        None: a column for each value that is frequent enough, the vocabulary is kept. A number: values are hashed into
        so many columns, and nothing is kept. Weinberger et al., "Feature hashing for large scale multitask learning"
        (ICML 2009), without signs.
    lowercase : bool
        Whether words, affixes and n-grams are lower-cased; shapes see the word as written.

    Attributes
    ----------
    n_columns_ : int
    vocabulary_ : dict of str to dict
        For each kind of value ("word", "prefix1", ...) the number of each known value; empty if hashed.
    columns_ : dict of str to ndarray of int32
        For each template, such as "word-1", the column of each value of its kind, -1 for none; empty if hashed.

    Examples
    --------
    >>> maker = WordFeatures(radius=1, affixes=0, near_affixes=0, shapes=False, min_count=1)
    >>> maker = maker.fit([["Time", "flies"]])
    >>> maker.names()
    ['word-1=', 'word-1=time', 'word=flies', 'word=time', 'word+1=', 'word+1=flies']
    >>> maker.transform([["time", "stops"], ["flies"]]).toarray().astype(int).tolist()
    [[1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [1, 0, 1, 0, 1, 0]]
    """

    def __init__(
        self,
        radius: int = 2,
        affixes: int = 4,
        shapes: bool = True,
        char_ngrams: tuple[int, int] | None = None,
        *,
        near_affixes: int = 3,
        min_count: int = 2,
        n_features: int | None = None,
        lowercase: bool = True,
    ) -> None:
        self.radius = radius
        self.affixes = affixes
        self.shapes = shapes
        self.char_ngrams = char_ngrams
        self.near_affixes = near_affixes
        self.min_count = min_count
        self.n_features = n_features
        self.lowercase = lowercase

    def fit(self, sequences: Sequence[Sequence[str]]) -> Self:
        """Learn the vocabulary, if one is kept.

        Raises
        ------
        DataError
            If there is no token, or sequences are no lists of tokens.
        ParameterError
            If a parameter is out of its range.
        """
        self._check()
        words, rows = _coded(sequences)
        if not len(rows.values):
            raise DataError("there is no token to learn from")
        self.vocabulary_: dict[str, dict[str, int]] = {}
        self.columns_: dict[str, NDArray[np.int32]] = {}
        self.n_columns_ = 0
        if self.n_features is not None:
            self.n_columns_ = int(self.n_features)
            return self
        for kind, shifts in self._templates().items():
            self._learn(kind, shifts, _Values.of(words, self._maker(kind)), rows)
        if self.n_columns_ == 0:
            raise DataError(f"no value occurs min_count={self.min_count} times", hint="lower min_count")
        return self

    def transform(self, sequences: Sequence[Sequence[str]]) -> Any:
        """Features, a CSR matrix of float32, shape (positions, n_columns_); columns ascend in each row.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If sequences are no lists of tokens.
        """
        from scipy.sparse import csr_matrix

        if not hasattr(self, "n_columns_"):
            raise NotFittedError("this WordFeatures has learnt nothing yet; call fit first")
        words, rows = _coded(sequences)
        n = len(rows.values)
        counts, parts = np.zeros(n, dtype=np.int64), []
        for kind, shifts in self._templates().items():
            if self.n_features is None:
                values = _Values.of(words, self._maker(kind), self.vocabulary_[kind])
            else:
                values = _Values.of(words, self._maker(kind))
                hashes = text_hashes(values.texts)
            for shift in shifts:
                name = template_name(kind, shift)
                if self.n_features is None:
                    column = self.columns_[name]
                else:
                    seed = text_hashes([name])
                    column = (mixed(hashes ^ seed) % np.uint64(self.n_features)).astype(np.int32)
                owner, found = values.at(_shifted(rows, shift), column)
                counts += np.bincount(owner, minlength=n)
                parts.append((owner, found))
        indptr = np.concatenate([[0], np.cumsum(counts)])
        indices = np.empty(indptr[-1], dtype=np.int32)
        place = indptr[:-1].copy()
        for owner, found in parts:  # within a template the owners ascend, so that those of one row are neighbours
            within = np.arange(len(owner)) - np.searchsorted(owner, owner)
            indices[place[owner] + within] = found
            place += np.bincount(owner, minlength=n)
        X = csr_matrix((np.ones(len(indices), dtype=np.float32), indices, indptr), (n, self.n_columns_))
        X.sum_duplicates()
        X.data[:] = 1.0  # hashes of one row may meet
        return X

    def names(self) -> list[str]:
        """What each column means, such as "suffix3=ing"; of hashed columns there is nothing to say but numbers."""
        if not hasattr(self, "n_columns_"):
            raise NotFittedError("this WordFeatures has learnt nothing yet; call fit first")
        out = [str(k) for k in range(self.n_columns_)]
        for kind, shifts in self._templates().items() if self.n_features is None else ():
            for shift in shifts:
                name = template_name(kind, shift)
                for value, number in self.vocabulary_[kind].items():
                    if self.columns_[name][number] >= 0:
                        out[self.columns_[name][number]] = f"{name}={value}"
        return out

    def state(self) -> dict[str, NDArray[Any]]:
        """What was learnt, as arrays of numbers: texts as UTF-8 and their lengths."""
        out: dict[str, NDArray[Any]] = {"n_columns": np.array([self.n_columns_])}
        for kind, vocabulary in self.vocabulary_.items():
            texts = [text.encode("utf-8", "surrogatepass") for text in vocabulary]
            out[f"{kind}.text"] = np.frombuffer(b"".join(texts), np.uint8)
            out[f"{kind}.length"] = np.array([len(text) for text in texts], np.int64)
        return out | {f"{name}.column": column for name, column in self.columns_.items()}

    def restore(self, state: dict[str, NDArray[Any]]) -> Self:
        """Take what `state` gave.

        Raises
        ------
        DataError
            If it is not what `state` gives under these parameters.
        """
        self._check()
        self.n_columns_ = int(state["n_columns"][0])
        self.vocabulary_, self.columns_ = {}, {}
        for kind, shifts in self._templates().items() if self.n_features is None else ():
            text, length = state[f"{kind}.text"].tobytes(), state[f"{kind}.length"]
            if (length < 0).any() or length.sum() != len(text):
                raise DataError(f"the texts of {kind} are not as long as is said")
            ends = np.cumsum(length).tolist()
            texts = [text[a:b].decode("utf-8", "surrogatepass") for a, b in zip([0, *ends], ends, strict=False)]
            self.vocabulary_[kind] = {value: k for k, value in enumerate(texts)}
            for shift in shifts:
                column = state[f"{template_name(kind, shift)}.column"]
                good = column.dtype == np.int32 and column.shape == (len(self.vocabulary_[kind]),)
                if not good or not ((column >= -1) & (column < self.n_columns_)).all():
                    raise DataError(f"the columns of {template_name(kind, shift)} do not fit its values")
                self.columns_[template_name(kind, shift)] = column
        if self.n_columns_ < 1 or (self.n_features is not None and self.n_columns_ != self.n_features):
            raise DataError(f"there cannot be {self.n_columns_} columns")
        return self

    # ---- templates

    def _templates(self) -> dict[str, list[int]]:
        """Places of each kind of value, relative to the position."""
        out = {"word": list(range(-self.radius, self.radius + 1))}
        near = [-1, 1] if self.radius else []
        for k in range(1, self.affixes + 1):
            out[f"prefix{k}"] = [0]
        for k in range(1, max(self.affixes, self.near_affixes if near else 0) + 1):
            out[f"suffix{k}"] = ([0] if k <= self.affixes else []) + (near if k <= self.near_affixes else [])
        if self.shapes:
            out["shape"] = [0, *near]
        if self.char_ngrams is not None:
            out["ngram"] = [0]
        return out

    def _maker(self, kind: str) -> Callable[[str], list[str]]:
        fold = str.lower if self.lowercase else str
        if kind == "word":
            return lambda word: [fold(word)]
        if kind == "shape":
            return lambda word: [shape(word)] if word else []
        if kind == "ngram":
            low, high = self.char_ngrams or (1, 1)
            return lambda word: _ngrams(fold(word), low, high) if word else []
        k = int(kind[6:])
        if kind.startswith("prefix"):
            return lambda word: [fold(word)[:k]] if len(word) >= k else []
        return lambda word: [fold(word)[-k:]] if len(word) >= k else []

    def _learn(self, kind: str, shifts: list[int], values: _Values, rows: Ragged) -> None:
        counts = []
        for shift in shifts:
            _, found = values.at(_shifted(rows, shift), np.arange(len(values.texts), dtype=np.int32))
            counts.append(np.bincount(found, minlength=len(values.texts)))
        often = [count >= self.min_count for count in counts]
        known = np.flatnonzero(np.logical_or.reduce(often)).tolist()
        known.sort(key=lambda number: values.texts[number])
        self.vocabulary_[kind] = {values.texts[number]: k for k, number in enumerate(known)}
        for shift, kept in zip(shifts, often, strict=True):
            column = np.full(len(known), -1, dtype=np.int32)
            used = kept[known]
            column[used] = self.n_columns_ + np.arange(int(used.sum()))
            self.columns_[template_name(kind, shift)] = column
            self.n_columns_ += int(used.sum())

    def _check(self) -> None:
        for name, least in (("radius", 0), ("affixes", 0), ("near_affixes", 0), ("min_count", 1)):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or value < least:
                raise ParameterError(f"{name} must be a whole number >= {least}; got {value!r}")
        if self.n_features is not None and not 1 <= self.n_features < 2**31:
            raise ParameterError(f"n_features must be from 1 to 2^31 - 1, or None; got {self.n_features!r}")
        span = self.char_ngrams
        if span is not None and not (len(span) == 2 and 1 <= span[0] <= span[1]):
            raise ParameterError(f"char_ngrams must be a shortest and a longest length, or None; got {span!r}")


def template_name(kind: str, shift: int) -> str:
    """Name of a template.

    Examples
    --------
    >>> template_name("word", 0), template_name("word", -1), template_name("shape", 1)
    ('word', 'word-1', 'shape+1')
    """
    return kind + (f"{shift:+d}" if shift else "")


def shape(word: str) -> str:
    """Capitals as X, other letters as x, digits as d, all else as it is; runs once.

    Examples
    --------
    >>> shape("Mr."), shape("1990s"), shape("e-mail"), shape("NATO")
    ('Xx.', 'dx', 'x-x', 'X')
    """
    kinds = "".join(
        "X" if c.isupper() or c.istitle() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in word
    )
    return _RUNS.sub(r"\1", kinds)


class _Values:
    """The values that each different word has, as codes."""

    def __init__(self, texts: list[str], codes: NDArray[np.int32], offsets: NDArray[np.int64]) -> None:
        self.texts, self.codes, self.offsets = texts, codes, offsets

    @classmethod
    def of(cls, words: list[str], make: Callable[[str], list[str]], known: dict[str, int] | None = None) -> _Values:
        """Values of words, which begin with what stands beyond the ends."""
        made = [make(word) for word in words]
        if known is None:
            number = {value: k for k, value in enumerate(dict.fromkeys(value for row in made for value in row))}
            rows = [[number[value] for value in row] for row in made]
            texts = list(number)
        else:
            rows = [[known[value] for value in row if value in known] for row in made]
            texts = list(known)
        codes = np.array([code for row in rows for code in row], dtype=np.int32)
        return cls(texts, codes, np.array([0, *accumulate(map(len, rows))], dtype=np.int64))

    def at(self, word: NDArray[np.int32], column: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Positions and columns of the values of the word at each position; positions ascend."""
        begin, length = self.offsets[word], np.diff(self.offsets)[word]
        owner = np.repeat(np.arange(len(word)), length)
        first = np.concatenate([[0], np.cumsum(length)])[:-1]
        places = np.arange(len(owner)) + np.repeat(begin - first, length)
        found = column[self.codes[places]] if len(places) else np.zeros(0, dtype=np.int32)
        kept = found >= 0
        return (owner, found) if kept.all() else (owner[kept], found[kept])


def _coded(sequences: Sequence[Sequence[str]]) -> tuple[list[str], Ragged]:
    """Different words, after an empty one, and the code of the word at each position."""
    flat = flat_tokens(sequences)
    number = {word: k for k, word in enumerate(dict.fromkeys(flat), 1)}
    codes = np.fromiter(map(number.__getitem__, flat), dtype=np.int32, count=len(flat))
    return ["", *number], Ragged.from_lengths(codes, lengths_of(sequences))


def _shifted(rows: Ragged, shift: int) -> NDArray[np.int32]:
    """The word so many places further on, `_BEYOND` beyond the ends."""
    if shift == 0:
        return rows.values
    places = rows.places
    gone = places < -shift if shift < 0 else np.repeat(rows.lengths, rows.lengths) - 1 - places < shift
    out: NDArray[np.int32] = np.where(gone, np.int32(_BEYOND), np.roll(rows.values, -shift))
    return out


def _ngrams(word: str, low: int, high: int) -> list[str]:
    marked = f"^{word[:_MOST_CHARACTERS]}$"
    grams = (marked[i : i + k] for k in range(low, high + 1) for i in range(len(marked) - k + 1))
    return list(dict.fromkeys(grams))
