"""Which units of an answer are right: those that stand against an equal unit of the gold in a best alignment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Judgement(NamedTuple):
    """An answer judged by the nearest of its references.

    Attributes
    ----------
    errors : int
        Edit distance.
    hit : ndarray of bool, shape (n_units,)
        The units of the answer that are right.
    n_reference : int
        Units of the first reference, by which rates are counted.
    """

    errors: int
    hit: NDArray[np.bool_]
    n_reference: int


def judge(references: Sequence[Sequence[Any]], answer: Sequence[Any]) -> Judgement:
    """Edit distance of an answer to the nearest reference, and the units that are right.

    Parameters
    ----------
    references : sequence of sequences of int >= 0, or of str
        Acceptable answers, at least one.
    answer : sequence of the same

    Examples
    --------
    >>> errors, hit, n_reference = judge([[1, 2, 3], [5, 2, 4, 3]], [1, 2, 4, 3])
    >>> errors, hit.tolist(), n_reference
    (1, [True, True, False, True], 3)
    """
    hit = np.ones(len(answer), dtype=np.bool_)
    if any(list(answer) == list(reference) for reference in references):
        return Judgement(0, hit, len(references[0]))
    from rapidfuzz.distance import Levenshtein

    answer = list(answer)
    edits = min((Levenshtein.editops(list(reference), answer) for reference in references), key=len)
    for edit in edits:
        if edit.tag != "delete":
            hit[edit.dest_pos] = False
    return Judgement(len(edits), hit, len(references[0]))
