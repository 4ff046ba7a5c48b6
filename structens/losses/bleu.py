"""BLEU of a corpus, and LinearBleu, the n-gram gain whose expectation it can be replaced by in decoding.

Papineni, Roukos, Ward and Zhu, "BLEU: a method for automatic evaluation of machine translation" (ACL 2002); Tromble,
Kumar, Och and Macherey, "Lattice minimum Bayes-risk decoding for statistical machine translation" (EMNLP 2008).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from structens.core import DataError, ParameterError
from structens.losses.ngram import NGramGain


class LinearBleu(NGramGain):
    """First-order approximation of the logarithm of BLEU: an n-gram gain with a weight a unit.

    With T units expected, unigram precision p and a ratio r between the precisions of one order and the next, a unit
    of the answer adds -1/T, and an n-gram that the gold has adds 1 / (order T p r**(n - 1)).

    Parameters
    ----------
    precision : float
        p, in (0, 1].
    ratio : float
        r, in (0, 1].
    order : int
        Highest order of n-grams.
    length : float
        T, > 0; a common factor of all gains.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    References
    ----------
    Tromble et al. (2008), section 4.2, equation 5 and below.

    Examples
    --------
    >>> gain = LinearBleu(order=2)
    >>> gain.length_weight, [round(w, 4) for w in gain.weights], round(gain("abc", "abd"), 4)
    (-1.0, [0.5882, 0.817], -1.0065)
    """

    def __init__(self, precision: float = 0.85, ratio: float = 0.72, order: int = 4, length: float = 1.0) -> None:
        if not (0 < precision <= 1 and 0 < ratio <= 1 and order >= 1 and length > 0):
            got = f"{precision!r}, {ratio!r}, {order!r}, {length!r}"
            raise ParameterError(f"need precision and ratio in (0, 1], order >= 1 and length > 0; got {got}")
        self.precision, self.ratio, self.length = precision, ratio, length
        weights = [1.0 / (order * length * precision * ratio**n) for n in range(order)]
        super().__init__(weights, presence=True, length_weight=-1.0 / length)

    def __repr__(self) -> str:
        return f"LinearBleu({self.precision!r}, {self.ratio!r}, order={self.order!r}, length={self.length!r})"


def bleu(references: Sequence[Sequence[Sequence[Any]]], answers: Sequence[Sequence[Any]], order: int = 4) -> float:
    """BLEU of all answers together: geometric mean of clipped n-gram precisions times the brevity penalty.

    Parameters
    ----------
    references : sequence of sequences of sequences
        The right answers of each record; the closest in length counts for the penalty, of two the shorter.
    answers : sequence of sequences
    order : int
        Highest order of n-grams; orders for which no answer is long enough are left out.

    Returns
    -------
    float
        In [0, 1]; 0 if an order has no match, without smoothing.

    Raises
    ------
    DataError
        If numbers of records differ, or a record has no reference.

    Examples
    --------
    >>> bleu([["the cat is on the mat".split()]], ["the the the the the the the".split()], order=1)
    0.2857142857142857
    >>> round(bleu([["the cat sat on the mat".split()]], ["the cat sat on mat".split()], order=2), 4)
    0.709
    """
    if len(references) != len(answers) or not all(references):
        raise DataError(f"need at least one reference for each of {len(answers)} answers")
    matched, total = [0] * order, [0] * order
    length = reference_length = 0
    for rights, answer in zip(references, answers, strict=True):
        length += len(answer)
        reference_length += min((abs(len(right) - len(answer)), len(right)) for right in rights)[1]
        for n in range(1, order + 1):
            most: Counter[tuple[Any, ...]] = Counter()
            for right in rights:
                most |= _grams(right, n)
            found = _grams(answer, n)
            matched[n - 1] += (found & most).total()
            total[n - 1] += found.total()
    parts = [(m, t) for m, t in zip(matched, total, strict=True) if t > 0]
    if not parts or not all(m for m, _ in parts):
        return 0.0
    brevity = min(0.0, 1.0 - reference_length / length)
    return math.exp(brevity + sum(math.log(m / t) for m, t in parts) / len(parts))


def _grams(sequence: Sequence[Any], n: int) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(sequence[i : i + n]) for i in range(len(sequence) - n + 1))
