"""RecordBatch: expert predictions that know the lines they were read from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import Alphabet, ExpertPredictions, Ragged
from structens.core.ragged import Index
from structens.io.normalize import Surface


@dataclass(frozen=True, eq=False)
class RecordBatch(ExpertPredictions):
    """Records read from a file.

    Parameters
    ----------
    lines : ndarray of int64, shape (n,)
        Physical line of each record, from 1.
    path : str
        Name of the file, for messages.
    surface : Surface or None
        Forms before folding, one row a unit of ``hypotheses.values``; None where nothing was folded.
    """

    lines: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    path: str = ""
    surface: Surface | None = None

    def __getitem__(self, index: int | str | Index) -> Any:
        part = super().__getitem__(index)
        if isinstance(index, str):
            return part
        chosen = np.atleast_1d(np.arange(len(self))[index])
        rows = (chosen[:, None] * self.n_experts + np.arange(self.n_experts)).ravel()
        return replace(part, lines=self.lines[chosen], surface=self._surface_of(rows))

    def select(self, names: Sequence[str]) -> RecordBatch:
        """The same records with these experts only, in this order."""
        columns = np.array([self.column(name) for name in names], dtype=np.int64)
        rows = (np.arange(len(self))[:, None] * self.n_experts + columns).ravel()
        part: RecordBatch = super().select(names)  # type: ignore[assignment]
        return replace(part, surface=self._surface_of(rows))

    def add(self, name: str, answers: Sequence[Sequence[str] | str | None]) -> RecordBatch:
        """The same records with one more expert; keys are printed, since its surface forms are not known."""
        part: RecordBatch = super().add(name, answers)  # type: ignore[assignment]
        return replace(part, surface=None)

    def _surface_of(self, rows: NDArray[np.int64]) -> Surface | None:
        return None if self.surface is None else self.surface[unit_places(self.hypotheses)[rows].values]


def unit_places(rows: Ragged) -> Ragged:
    """Place in ``rows.values`` of every unit, row by row."""
    return Ragged(np.arange(len(rows.values), dtype=np.int64), rows.offsets)


def widen(part: RecordBatch, names: tuple[str, ...]) -> RecordBatch:
    """The same records with these experts, in this order; those the part lacks are absent."""
    if part.names == names:
        return part
    n, p = len(part), part.n_experts
    column = {name: j for j, name in enumerate(part.names)}
    columns = np.array([column.get(name, -1) for name in names], dtype=np.int64)
    known = columns >= 0
    rows = np.where(known, np.arange(n)[:, None] * p + columns, n * p).ravel()  # the last row is empty
    offsets = np.append(part.hypotheses.offsets, part.hypotheses.offsets[-1])
    places = unit_places(Ragged(part.hypotheses.values, offsets))[rows]
    return replace(
        part,
        names=names,
        hypotheses=Ragged(part.hypotheses.values[places.values], places.offsets),
        present=np.where(known, part.present[:, columns], False),
        confidence=None if part.confidence is None else part.confidence[places.values],
        weights=None if part.weights is None else np.where(known, part.weights[:, columns], 1.0),
        workers=None if part.workers is None else np.where(known, part.workers[:, columns], np.array(None)),
        surface=None if part.surface is None else part.surface[places.values],
    )


def stack(parts: Sequence[RecordBatch], alphabet: Alphabet, surfaces: Alphabet | None, unit: str) -> RecordBatch:
    """Put the batches of one file together: the same experts, and codes of the alphabets given."""
    weighted = any(part.weights is not None for part in parts)
    plain = [
        replace(
            part,
            alphabet=alphabet,
            unit=unit,
            surface=None if surfaces is None or part.surface is None else Surface(surfaces, part.surface.rows),
            weights=np.ones(part.present.shape) if weighted and part.weights is None else part.weights,
        )
        for part in parts
    ]
    if len(plain) == 1:
        return plain[0]
    whole = ExpertPredictions.concatenate(plain)
    surface = None
    if surfaces is not None:
        rows = [part.surface.rows for part in plain if part.surface is not None]
        values = np.concatenate([row.values for row in rows])
        surface = Surface(surfaces, Ragged.from_lengths(values, np.concatenate([row.lengths for row in rows])))
    return RecordBatch(
        **{name: getattr(whole, name) for name in ExpertPredictions.__dataclass_fields__},
        lines=np.concatenate([part.lines for part in plain]),
        path=plain[0].path,
        surface=surface,
    )
