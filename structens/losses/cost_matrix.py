"""CostMatrix: an additive loss given as a table of confusions and their costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import Alphabet, ParameterError
from structens.losses.base import AdditiveLoss


class CostMatrix(AdditiveLoss):
    """Costs of confusions; all other confusions cost `default`, right labels nothing.

    Parameters
    ----------
    costs : mapping of (gold, predicted) to float, or array, shape (n_labels, n_labels)
        Rows are gold labels. Labels that do not occur in the data do not matter.
    labels : sequence of str, optional
        Labels of the rows and columns of an array; needed with an array, since the order of the data's alphabet is
        that of first appearance.
    gap_cost : float, default 1.0
        Cost of a missing or superfluous unit.
    default : float, default 1.0
        Cost of every confusion that is not in the table.

    Raises
    ------
    ParameterError
        If the table's shape does not fit, or (when used) a cost is negative or not finite.

    Examples
    --------
    >>> loss = CostMatrix({("x", "y"): 0.25})
    >>> loss.cost_matrix(Alphabet(("y", "x"))).tolist()
    [[0.0, 1.0], [0.25, 0.0]]
    """

    def __init__(
        self,
        costs: Mapping[tuple[str, str], float] | NDArray[Any] | Sequence[Sequence[float]],
        labels: Sequence[str] | None = None,
        *,
        gap_cost: float = 1.0,
        default: float = 1.0,
    ) -> None:
        self.gap_cost = gap_cost
        self.default = default
        self.labels: tuple[str, ...]
        if isinstance(costs, Mapping):
            self.labels = tuple(dict.fromkeys(label for pair in costs for label in _pair(pair)))
            place = {label: i for i, label in enumerate(self.labels)}
            self.table = _right_is_free(len(self.labels), default)
            for (gold, predicted), cost in costs.items():
                self.table[place[gold], place[predicted]] = cost
            return
        self.table = np.array(costs, dtype=np.float64)
        if labels is None:
            raise ParameterError("CostMatrix: give the labels of the array's rows and columns, as labels=[...]")
        self.labels = tuple(labels)
        if len(set(self.labels)) != len(self.labels) or self.table.shape != (len(self.labels),) * 2:
            rule = f"need one row and one column for each of {len(self.labels)} distinct labels"
            raise ParameterError(f"CostMatrix: {rule}; got shape {self.table.shape}")

    def __repr__(self) -> str:
        return f"CostMatrix({len(self.labels)} labels, gap_cost={self.gap_cost!r}, default={self.default!r})"

    def cost_matrix(self, alphabet: Alphabet) -> NDArray[np.float64]:
        """Costs, shape (A, A): row the gold label, column the predicted one."""
        out = _right_is_free(len(alphabet), self.default)
        code = Alphabet(self.labels).codes_in(alphabet)
        here = np.flatnonzero(code >= 0)
        out[np.ix_(code[here], code[here])] = self.table[np.ix_(here, here)]
        return out


def _right_is_free(size: int, default: float) -> NDArray[np.float64]:
    out = np.full((size, size), default, dtype=np.float64)
    np.fill_diagonal(out, 0.0)
    return out


def _pair(pair: Any) -> tuple[str, str]:
    if isinstance(pair, tuple) and len(pair) == 2:
        return pair
    raise ParameterError(f"CostMatrix: keys are pairs (gold, predicted); got {pair!r}")
