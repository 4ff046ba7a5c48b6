"""Entity F1 of chunk tags: an entity counts if its type and both its ends are right.

Chunks are read as conlleval does (Tjong Kim Sang and Buchholz, CoNLL 2000): B-X starts one, and so does an I-X or E-X
that does not continue one of its type; E-X and S-X end one. So invalid tags are read too, in the most lenient way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from structens.core import DataError

Entity = tuple[str, int, int]
"""Type, first token, token after the last."""

_TAG = re.compile(r"([BIES])(?:-(.*))?", re.DOTALL)


class EntityCounts(NamedTuple):
    """Entities in gold, in the answers, and in both.

    Examples
    --------
    >>> EntityCounts(4, 2, 1).precision, EntityCounts(4, 2, 1).recall, round(EntityCounts(4, 2, 1).f1, 3)
    (0.5, 0.25, 0.333)
    """

    gold: int
    predicted: int
    right: int

    @property
    def precision(self) -> float:
        """Share of the answers' entities that are right; 0 where there is none."""
        return self.right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of gold's entities that were found; 0 where there is none."""
        return self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 where there is no entity at all."""
        both = self.gold + self.predicted
        return 2 * self.right / both if both else 0.0


def entities(tags: Sequence[str]) -> list[Entity]:
    """Entities of a sequence of tags.

    Examples
    --------
    >>> entities(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"])
    [('PER', 0, 2), ('LOC', 3, 4), ('LOC', 4, 5)]
    """
    out: list[Entity] = []
    inside: str | None = None
    start = 0
    for i, label in enumerate(tags):
        tag = _TAG.fullmatch(label)
        kind, name = (tag[1], tag[2] or "") if tag else ("O", "")
        if inside is not None and (kind in "OBS" or name != inside):
            out.append((inside, start, i))
            inside = None
        if kind != "O" and inside is None:
            inside, start = name, i
        if inside is not None and kind in "ES":
            out.append((inside, start, i + 1))
            inside = None
    if inside is not None:
        out.append((inside, start, len(tags)))
    return out


def entity_counts(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> EntityCounts:
    """Count entities over records.

    Raises
    ------
    DataError
        If there are not as many answers as gold, or an answer has another length.

    Examples
    --------
    >>> entity_counts([["B-PER", "I-PER", "O"]], [["B-PER", "O", "B-LOC"]])
    EntityCounts(gold=1, predicted=2, right=0)
    """
    if len(gold) != len(predicted):
        raise DataError(f"{len(predicted)} answers for {len(gold)} records with gold")
    n_gold = n_predicted = n_right = 0
    for i, (right, said) in enumerate(zip(gold, predicted, strict=True)):
        if len(right) != len(said):
            raise DataError(f"{len(said)} tags for {len(right)} tokens", record=i)
        a, b = set(entities(right)), set(entities(said))
        n_gold, n_predicted, n_right = n_gold + len(a), n_predicted + len(b), n_right + len(a & b)
    return EntityCounts(n_gold, n_predicted, n_right)
