"""Features from vectors of numbers, one a position: each with its neighbours' (such as pixels of letters)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from structens.core import DataError, Estimator, NotFittedError, ParameterError, Ragged
from structens.ensembles.features import flat_vectors


class _Vectors(Estimator):
    """What makers of features from vectors share."""

    n_columns_: int

    def state(self) -> dict[str, NDArray[Any]]:
        """What was learnt, as arrays of numbers."""
        return {"n_columns": np.array([self.n_columns_])}

    def restore(self, state: dict[str, NDArray[Any]]) -> Self:
        """Take what `state` gave. Raises DataError if it is not that."""
        self.n_columns_ = int(state["n_columns"][0])
        if self.n_columns_ < 1:
            raise DataError(f"a vector cannot have {self.n_columns_} numbers")
        return self

    def _learn(self, sequences: Sequence[Any]) -> Self:
        values = flat_vectors(sequences).values
        if values.size == 0:
            raise DataError("there is no vector to learn from")
        self.n_columns_ = int(values.shape[1])
        return self

    def _rows(self, sequences: Sequence[Any]) -> Ragged:
        if not hasattr(self, "n_columns_"):
            raise NotFittedError(f"this {type(self).__name__} has learnt nothing yet; call fit first")
        rows = flat_vectors(sequences)
        if len(rows.values) and rows.values.shape[1] != self.n_columns_:
            raise DataError(f"vectors have {rows.values.shape[1]} numbers, those learnt from {self.n_columns_}")
        return rows if len(rows.values) else Ragged(np.zeros((0, self.n_columns_)), rows.offsets)


class VectorWindows(_Vectors):
    """Each position's vector, and those of its neighbours on both sides.

    The type of the numbers stays, so that pixels take one byte. Beyond the ends of a sequence stands `outside`. Two
    more columns for each neighbour could say so, but boosting finds the ends by constant pixels, or by `ends`.

    Parameters
    ----------
    radius : int
        Neighbours on each side, >= 0.
    outside : float
        What stands for a neighbour beyond the ends.
    ends : bool
        Whether each neighbour has a column that is 1 where it is beyond the ends.

    Attributes
    ----------
    n_columns_ : int
        Numbers in a vector.

    Examples
    --------
    >>> VectorWindows().fit([[[1], [2]], [[3]]]).transform([[[1], [2]], [[3]]]).tolist()
    [[0, 1, 2, 1, 0], [1, 2, 0, 0, 1], [0, 3, 0, 1, 1]]
    """

    def __init__(self, radius: int = 1, *, outside: float = 0.0, ends: bool = True) -> None:
        self.radius = radius
        self.outside = outside
        self.ends = ends

    def fit(self, sequences: Sequence[Any]) -> Self:
        """Note how many numbers a vector has.

        Raises
        ------
        DataError
            If there is no vector, or sequences are no arrays of shape (positions, d).
        ParameterError
            If the radius is negative.
        """
        if not isinstance(self.radius, (int, np.integer)) or self.radius < 0:
            raise ParameterError(f"radius must be a whole number >= 0; got {self.radius!r}")
        return self._learn(sequences)

    def transform(self, sequences: Sequence[Any]) -> NDArray[Any]:
        """Windows, shape (positions, (2 radius + 1) d), and 2 radius columns more if `ends`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If a vector has not as many numbers as those learnt from.
        """
        rows = self._rows(sequences)
        values, places = rows.values, rows.places
        after = np.repeat(rows.lengths, rows.lengths) - 1 - places
        parts, ends = [], []
        for shift in range(-self.radius, self.radius + 1):
            gone = (places < -shift) if shift < 0 else (after < shift)
            part = np.roll(values, -shift, axis=0)
            if shift:
                part[gone] = self.outside
                ends.append(gone)
            parts.append(part)
        if self.ends and ends:
            parts.append(np.stack(ends, axis=1).astype(values.dtype))
        return np.concatenate(parts, axis=1)


class MatrixFeatures(_Vectors):
    """The user's own features: each position's vector as it is.

    Attributes
    ----------
    n_columns_ : int

    Examples
    --------
    >>> MatrixFeatures().fit([[[1.0, 2.0]]]).transform([[[1.0, 2.0]], [], [[3.0, 4.0]]]).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """

    def fit(self, sequences: Sequence[Any]) -> Self:
        """Note how many numbers a vector has. Raises DataError if there is none."""
        return self._learn(sequences)

    def transform(self, sequences: Sequence[Any]) -> NDArray[Any]:
        """The vectors, shape (positions, d). Raises NotFittedError before `fit`, DataError if d is another."""
        return self._rows(sequences).values
