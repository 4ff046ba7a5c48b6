"""NGramGain: how many n-grams an answer shares with the gold, of several orders at once, with gaps if wanted.

The gain of an answer is the inner product of two vectors of pattern counts, its own and the gold's (Cortes, Kuznetsov,
Mohri, Rahmanian and Warmuth, "Online non-additive path learning under full and partial information", ALT 2019,
sections 2 and 5). It is no sum over slots, but it is a sum over the transitions of the history automaton
(`structens.automata.history`). This class hands out data only: the shapes of patterns, and the value of each pattern.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.core import DataError, ParameterError

_LARGEST_CODE = 2**62


class Shapes(NamedTuple):
    """Where the units of a pattern stand, seen from its last unit.

    Attributes
    ----------
    offset : ndarray of int32, shape (n_shapes, n)
        Units back from the last one: 0, then rising; -1 fills rows of lower orders.
    order : ndarray of int32, shape (n_shapes,)
    factor : ndarray of float64, shape (n_shapes,)
        Discount to the power of the units left out.
    """

    offset: NDArray[np.int32]
    order: NDArray[np.int32]
    factor: NDArray[np.float64]


class PatternValues(NamedTuple):
    """Value of each pattern of the gold: the weight of its order times its count there.

    Attributes
    ----------
    labels : ndarray of int32, shape (m,)
        Labels that occur in patterns, ascending; digit d stands for ``labels[d - 1]``.
    base : int
        m + 1; the code of a pattern is the number whose digits are its labels, last unit first.
    codes : ndarray of int64, shape (n_patterns,)
        Ascending.
    values : ndarray of float64, shape (n_patterns,)
    """

    labels: NDArray[np.int32]
    base: int
    codes: NDArray[np.int64]
    values: NDArray[np.float64]

    def digits(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """Digit of each label, 0 for those that no pattern has."""
        if len(self.labels) == 0:
            return np.zeros(np.shape(labels), np.int64)
        place = np.minimum(np.searchsorted(self.labels, labels), len(self.labels) - 1)
        return np.where(self.labels[place] == labels, place + 1, 0).astype(np.int64)


class NGramGain:
    """Gain sum over orders r of ``weights[r - 1]`` times the inner product of the r-gram counts of answer and gold.

    Parameters
    ----------
    weights : sequence of float
        Weight of each order 1, 2, ..., n; finite. ``(0, 1)`` counts bigrams only.
    max_gap : int
        Most units that a pattern may leave out between its first and its last, in all.
    discount : float
        An occurrence that leaves out k units counts discount**k; in [0, 1].
    presence : bool
        A pattern of the gold counts once, however often it occurs there (linear BLEU).
    length_weight : float
        Added for every unit of the answer.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Examples
    --------
    >>> bigrams = NGramGain((0, 1))
    >>> bigrams("aba", "aba"), bigrams("bba", "aba")
    (2.0, 1.0)
    >>> NGramGain((0, 0, 1), max_gap=3, discount=0.5)("aab", "babbaabaa")  # 1 + 2 * 0.5**3
    1.25
    """

    def __init__(
        self,
        weights: Sequence[float],
        *,
        max_gap: int = 0,
        discount: float = 1.0,
        presence: bool = False,
        length_weight: float = 0.0,
    ) -> None:
        self.weights = tuple(float(w) for w in weights)
        self.max_gap = max_gap
        self.discount = discount
        self.presence = presence
        self.length_weight = length_weight
        if not self.weights or not all(map(math.isfinite, (*self.weights, length_weight))):
            raise ParameterError(f"weights must be one finite number an order; got {weights!r}, {length_weight!r}")
        if max_gap < 0 or not 0.0 <= discount <= 1.0:
            raise ParameterError(f"need max_gap >= 0 and a discount in [0, 1]; got {max_gap!r} and {discount!r}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.weights!r}, max_gap={self.max_gap!r}, discount={self.discount!r})"

    @property
    def order(self) -> int:
        """Highest order n."""
        return len(self.weights)

    @property
    def reach(self) -> int:
        """Units that a pattern can span; a history must hold one less."""
        return self.order + (self.max_gap if self.order > 1 else 0)

    def shapes(self) -> Shapes:
        """All ways in which a pattern can stand in a sequence, but for orders of weight 0.

        Examples
        --------
        >>> NGramGain((1, 1), max_gap=1, discount=0.5).shapes().offset.tolist()
        [[0, -1], [0, 1], [0, 2]]
        """
        rows: list[tuple[list[int], int, float]] = []
        for r, weight in enumerate(self.weights, 1):
            for back in combinations(range(1, r + self.max_gap), r - 1):
                gap = (back[-1] if back else 0) - (r - 1)
                if weight != 0.0 and gap <= self.max_gap:
                    rows.append(([0, *back, *[-1] * (self.order - r)], r, self.discount**gap))
        offset = np.array([row[0] for row in rows], dtype=np.int32).reshape(-1, self.order)
        return Shapes(offset, np.array([row[1] for row in rows], np.int32), np.array([row[2] for row in rows]))

    def patterns(self, target: ArrayLike) -> PatternValues:
        """Patterns of a gold sequence with their values.

        Parameters
        ----------
        target : array_like of int, shape (n_units,)
            Label codes.

        Raises
        ------
        DataError
            If a pattern of that many distinct labels does not fit an int64.

        Examples
        --------
        >>> made = NGramGain((0, 1)).patterns([7, 8, 7, 8])
        >>> made.labels.tolist(), made.base, made.codes.tolist(), made.values.tolist()
        ([7, 8], 3, [5, 7], [1.0, 2.0])
        """
        y = np.asarray(target, dtype=np.int32)
        labels = np.unique(y)
        base = len(labels) + 1
        if base**self.order >= _LARGEST_CODE:
            raise DataError(f"patterns of {self.order} out of {base - 1} distinct labels are too many to number")
        digit = np.searchsorted(labels, y).astype(np.int64) + 1
        codes, counts = [np.zeros(0, np.int64)], [np.zeros(0)]
        for offset, order, factor in zip(*self.shapes(), strict=True):
            last = np.arange(int(offset[order - 1]), len(y))
            code = np.zeros(len(last), np.int64)
            for back in offset[:order]:
                code = code * base + digit[last - back]
            codes.append(code)
            counts.append(np.full(len(last), factor))
        distinct, place = np.unique(np.concatenate(codes), return_inverse=True)
        count = np.bincount(place, weights=np.concatenate(counts), minlength=len(distinct))
        if self.presence:
            count = (count > 0).astype(np.float64)
        # codes of r digits, none of them 0, lie between those of r - 1 and r + 1 digits
        weight = np.array(self.weights)[_n_digits(distinct, base) - 1]
        return PatternValues(labels, base, distinct, weight * count)

    def __call__(self, answer: Sequence[Any], gold: Sequence[Any]) -> float:
        """Gain of an answer.

        Parameters
        ----------
        answer, gold : str, or sequence of str or of int
        """
        table: dict[Any, int] = {}
        coded = [np.array([table.setdefault(u, len(table)) for u in seq], np.int32) for seq in (answer, gold)]
        values = self.patterns(coded[1])
        digit = values.digits(coded[0])
        total = self.length_weight * len(coded[0])
        for offset, order, factor in zip(*self.shapes(), strict=True):
            last = np.arange(int(offset[order - 1]), len(digit))
            unit = digit[last[:, None] - offset[:order]]
            code = unit @ (values.base ** np.arange(order - 1, -1, -1, dtype=np.int64))
            place = np.searchsorted(values.codes, code).clip(max=max(len(values.codes) - 1, 0))
            if len(values.codes):
                shared = (unit > 0).all(axis=1) & (values.codes[place] == code)
                total += factor * float(values.values[place[shared]].sum())
        return float(total)


def _n_digits(codes: NDArray[np.int64], base: int) -> NDArray[np.int64]:
    out = np.ones(len(codes), np.int64)
    rest = codes // base
    while rest.any():
        out += rest > 0
        rest //= base
    return out
