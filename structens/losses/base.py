"""AdditiveLoss: a loss that is a sum over slots, given as a matrix of costs in plain numpy.

The normalised Hamming loss of Cortes, Kuznetsov and Mohri (ICML 2014, section 2) is the first of its kind. A user's own
loss is a subclass with one method, `cost_matrix`; learners see only the array that `slot_losses` makes of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import ABSENT, GAP, UNKNOWN, Alphabet, ParameterError, Slots


class AdditiveLoss:
    """Base of the additive losses; subclass it and write `cost_matrix`.

    Attributes
    ----------
    gap_cost : float
        Cost of a missing or a superfluous unit: the gold or the answer of the slot is GAP, but not both.

    Examples
    --------
    >>> class NearlyRight(AdditiveLoss):
    ...     def cost_matrix(self, alphabet):
    ...         cost = 1.0 - np.eye(len(alphabet))
    ...         i, j = alphabet.index(["NOUN", "PROPN"])
    ...         cost[i, j] = cost[j, i] = 0.5
    ...         return cost
    >>> NearlyRight().costs(np.array([0, 0]), np.array([1, -1]), Alphabet(("NOUN", "PROPN"))).tolist()
    [0.5, 1.0]
    """

    gap_cost: float = 1.0

    def cost_matrix(self, alphabet: Alphabet) -> NDArray[np.float64]:
        """Costs, shape (A, A): row the gold label, column the predicted one; finite and >= 0."""
        raise NotImplementedError(f"{type(self).__name__} must define cost_matrix(alphabet)")

    def costs(self, gold: NDArray[Any], predicted: NDArray[Any], alphabet: Alphabet) -> NDArray[np.float64]:
        """Cost of each predicted code against its gold code; both may be GAP, shapes broadcast."""
        matrix = self._checked_matrix(alphabet)
        gold, predicted = np.broadcast_arrays(gold, predicted)
        if len(alphabet) == 0:
            return np.where((gold == GAP) != (predicted == GAP), self._checked_gap_cost(), 0.0)
        # codes below 0 borrow row 0 and are overwritten
        out: NDArray[np.float64] = matrix[np.maximum(gold, 0), np.maximum(predicted, 0)]
        out[(gold == GAP) & (predicted == GAP)] = 0.0
        out[(gold == GAP) != (predicted == GAP)] = self._checked_gap_cost()
        return out

    def largest(self, alphabet: Alphabet) -> float:
        """Largest cost of one slot (M of the regret bounds for a loss averaged over slots)."""
        return max(float(self._checked_matrix(alphabet).max(initial=0.0)), self._checked_gap_cost())

    def _checked_matrix(self, alphabet: Alphabet) -> NDArray[np.float64]:
        name, size = type(self).__name__, len(alphabet)
        matrix = np.asarray(self.cost_matrix(alphabet), dtype=np.float64)
        if matrix.shape != (size, size):
            raise ParameterError(
                f"{name}.cost_matrix must have shape ({size}, {size}) for {size} labels; got {matrix.shape}"
            )
        bad = ~(np.isfinite(matrix) & (matrix >= 0))
        if bad.any():
            i, j = np.argwhere(bad)[0].tolist()
            pair = f"gold {alphabet.labels[i]!r}, predicted {alphabet.labels[j]!r}"
            raise ParameterError(f"{name}: a cost must be finite and >= 0; got {matrix[i, j]} for {pair}")
        return matrix

    def _checked_gap_cost(self) -> float:
        if not (np.isfinite(self.gap_cost) and self.gap_cost >= 0):
            raise ParameterError(f"{type(self).__name__}: gap_cost must be finite and >= 0; got {self.gap_cost!r}")
        return float(self.gap_cost)


def get(loss: str | AdditiveLoss) -> AdditiveLoss:
    """Loss of a name, or the object itself.

    Raises
    ------
    ParameterError
        If it is neither.

    Examples
    --------
    >>> get("hamming")
    Hamming(gap_cost=1.0)
    """
    from structens.losses.hamming import Hamming

    if isinstance(loss, AdditiveLoss):
        return loss
    if isinstance(loss, str) and loss == "hamming":
        return Hamming()
    if isinstance(loss, str) and loss == "edit":
        raise ParameterError("loss 'edit' is no sum over slots; ensembles learn by it from whole records")
    names = "'hamming', 'edit', 'ngram', an NGramGain or an AdditiveLoss such as CostMatrix"
    raise ParameterError(f"loss must be {names}; got {loss!r}")


def slot_losses(slots: Slots, loss: str | AdditiveLoss = "hamming") -> NDArray[np.float64]:
    """Loss of every transition of every record against the gold of its slot.

    Parameters
    ----------
    slots : Slots
    loss : "hamming" or AdditiveLoss

    Returns
    -------
    ndarray of float64, shape (n_slots, p)
        In units of one slot, not divided by the record's length. 0 for ABSENT experts and in slots of records without
        gold: there is nothing to learn from them.

    Raises
    ------
    ParameterError
        If the loss's costs are of a wrong shape, negative or not finite.

    Examples
    --------
    >>> s = Slots(np.array([[0, 1], [0, -1], [1, -2]], np.int32), np.array([0, 3]), np.zeros((3, 2), int), ("a", "b"),
    ...           Alphabet(("x", "y")), np.array([0, -1, 0], np.int32), np.zeros(1, int))
    >>> slot_losses(s).tolist()
    [[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]
    """
    out = get(loss).costs(slots.gold[:, None], slots.labels, slots.alphabet)
    out[slots.labels == ABSENT] = 0.0
    out[slots.gold == UNKNOWN] = 0.0
    return out


def largest_loss(slots: Slots, loss: str | AdditiveLoss = "hamming") -> float:
    """Largest loss that one slot can have: M of the bounds; 1 where every cost is 0, so that it can divide.

    Examples
    --------
    >>> s = Slots(np.zeros((0, 1), np.int32), np.array([0]), np.zeros((0, 1), int), ("a",), Alphabet(),
    ...           np.zeros(0, np.int32), np.zeros(0, int))
    >>> largest_loss(s)
    1.0
    """
    return get(loss).largest(slots.alphabet) or 1.0
