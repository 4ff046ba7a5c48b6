"""Hamming: every wrong slot costs the same. Its normalised form (1/l a slot) is eq. (1) of the ICML 2014 paper."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import GAP, Alphabet
from structens.losses.base import AdditiveLoss


class Hamming(AdditiveLoss):
    """1 for a wrong label, `gap_cost` for a missing or superfluous unit, 0 for the right one.

    Codes are compared; the matrix of costs is never built, so alphabets may be as large as a vocabulary.

    Parameters
    ----------
    gap_cost : float, default 1.0

    Examples
    --------
    >>> Hamming().costs(np.array([0, 1, -1]), np.array([0, 0, 1]), Alphabet(("x", "y"))).tolist()
    [0.0, 1.0, 1.0]
    """

    def __init__(self, gap_cost: float = 1.0) -> None:
        self.gap_cost = gap_cost

    def __repr__(self) -> str:
        return f"Hamming(gap_cost={self.gap_cost!r})"

    def cost_matrix(self, alphabet: Alphabet) -> NDArray[np.float64]:
        """Ones with a diagonal of zeros, shape (A, A); for those who want to see it."""
        return 1.0 - np.eye(len(alphabet))

    def costs(self, gold: NDArray[Any], predicted: NDArray[Any], alphabet: Alphabet) -> NDArray[np.float64]:
        """Cost of each predicted code against its gold code; both may be GAP, shapes broadcast."""
        out: NDArray[np.float64] = np.not_equal(gold, predicted).astype(np.float64)
        gap_cost = self._checked_gap_cost()
        if gap_cost != 1.0:
            out[np.equal(gold, GAP) != np.equal(predicted, GAP)] = gap_cost
        return out

    def largest(self, alphabet: Alphabet) -> float:
        """Largest cost of one slot."""
        return max(1.0, self._checked_gap_cost())
