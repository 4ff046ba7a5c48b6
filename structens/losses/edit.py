"""Edit distance as a metric, through rapidfuzz; with costs of one's own through a small dynamic programme.

Of several alignments with the same cost those with the fewest substitutions count, so that the numbers of the three
edits do not depend on the algorithm or the direction of reading: "ab" against "bc" is a deletion and an insertion.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from rapidfuzz.distance import Levenshtein

from structens.core import ParameterError

Sequenced = Sequence[Any]
Costs = tuple[float, float, float]


class EditCounts(NamedTuple):
    """Numbers of edits that turn a reference into a hypothesis."""

    substitutions: int
    deletions: int
    insertions: int

    @property
    def total(self) -> int:
        """All edits; with unit costs the edit distance."""
        return self.substitutions + self.deletions + self.insertions


def edit_distance(reference: Sequenced, hypothesis: Sequenced, costs: Costs | None = None) -> float:
    """Least cost of the edits that turn the reference into the hypothesis.

    Parameters
    ----------
    reference, hypothesis : str, or sequence of str or of int
        A text counts by code points, a list by its items. Codes must be >= 0.
    costs : (insertion, deletion, substitution), optional
        Finite and >= 0; default 1 each. A substitution dearer than a deletion and an insertion is never used.

    Returns
    -------
    int with unit costs, else float

    Raises
    ------
    ParameterError
        If a cost is negative or not finite.

    Examples
    --------
    >>> edit_distance("kitten", "sitting"), edit_distance(["ab", "c"], ["ab"]), edit_distance("pin", "pan", (1, 1, 10))
    (3, 1, 2.0)
    """
    if costs is None:
        return int(Levenshtein.distance(_items(reference), _items(hypothesis)))
    from structens.losses.weighted_edit import weighted_edit

    return weighted_edit(*_codes(reference, hypothesis), _checked(costs))[0]


def edit_counts(reference: Sequenced, hypothesis: Sequenced, costs: Costs | None = None) -> EditCounts:
    """Substitutions, deletions and insertions of an alignment of least cost with the fewest substitutions.

    Parameters
    ----------
    reference, hypothesis : str, or sequence of str or of int
    costs : (insertion, deletion, substitution), optional

    Raises
    ------
    ParameterError
        If a cost is negative or not finite.

    Examples
    --------
    >>> edit_counts("ab", "bc")
    EditCounts(substitutions=0, deletions=1, insertions=1)
    >>> edit_counts("pin", "pan", (1, 1, 10))
    EditCounts(substitutions=0, deletions=1, insertions=1)
    """
    if costs is not None:
        from structens.losses.weighted_edit import weighted_edit

        return EditCounts(*weighted_edit(*_codes(reference, hypothesis), _checked(costs))[1:])
    source, target = _items(reference), _items(hypothesis)
    # one integer cost holds both aims: an edit costs more than all substitutions can add
    base = len(source) + len(target) + 1
    total, n_sub = divmod(int(Levenshtein.distance(source, target, weights=(base, base, base + 1))), base)
    n_del = (total - n_sub + len(source) - len(target)) // 2
    return EditCounts(n_sub, n_del, total - n_sub - n_del)


def _items(sequence: Sequenced) -> Any:
    """What rapidfuzz takes: a text, or a list of Python objects."""
    if isinstance(sequence, (str, list, tuple)):
        return sequence
    return sequence.tolist() if hasattr(sequence, "tolist") else list(sequence)


def _codes(reference: Sequenced, hypothesis: Sequenced) -> tuple[list[int], list[int]]:
    table: dict[Any, int] = {}
    coded = [[table.setdefault(item, len(table)) for item in _items(seq)] for seq in (reference, hypothesis)]
    return coded[0], coded[1]


def _checked(costs: Costs) -> Costs:
    if len(costs) != 3 or not all(math.isfinite(cost) and cost >= 0 for cost in costs):
        raise ParameterError(
            f"costs must be three finite numbers >= 0 (insertion, deletion, substitution); got {costs}"
        )
    return float(costs[0]), float(costs[1]), float(costs[2])
