"""An automaton from arrays that a kernel has just made, without the passes that check them.

For the verbs of this package alone: at ten million transitions the checks take longer than the verb.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from structens.core import Automaton


def trusted(
    offsets: NDArray[np.int64],
    target: NDArray[np.int32],
    label: NDArray[np.int32],
    is_final: NDArray[np.bool_],
    start: int = 0,
    output: NDArray[np.int32] | None = None,
) -> Automaton:
    """The automaton of arrays with the right types, sizes and order.

    Examples
    --------
    >>> trusted(np.array([0, 1, 1]), np.array([1], np.int32), np.array([7], np.int32), np.array([False, True])).n_states
    2
    """
    made = object.__new__(Automaton)
    fields = (
        ("offsets", offsets),
        ("target", target),
        ("label", label),
        ("is_final", is_final),
        ("start", start),
        ("output", output),
    )
    for name, value in fields:
        object.__setattr__(made, name, value)
    return made


Labels = tuple[NDArray[np.int32], "NDArray[np.int32] | None"]


class LateLabels(Automaton):
    """An automaton whose labels are made when somebody asks for them; distances, flows and best paths do not.

    Examples
    --------
    >>> lines = np.array([0, 1, 1]), np.array([1], np.int32), np.array([False, True])
    >>> LateLabels.of(*lines, 0, lambda: (np.array([7], np.int32), None)).label.tolist()
    [7]
    """

    @classmethod
    def of(
        cls,
        offsets: NDArray[np.int64],
        target: NDArray[np.int32],
        is_final: NDArray[np.bool_],
        start: int,
        make: Callable[[], Labels],
    ) -> LateLabels:
        """The automaton of arrays that fit; `make` gives label and output."""
        made = object.__new__(cls)
        fields = (("offsets", offsets), ("target", target), ("is_final", is_final), ("start", start), ("_make", make))
        for name, value in fields:
            object.__setattr__(made, name, value)
        return made

    @cached_property
    def _labels(self) -> Labels:
        made: Labels = self._make()  # type: ignore[attr-defined]
        return made

    @cached_property
    def label(self) -> NDArray[np.int32]:
        """Input label of each transition."""
        return self._labels[0]

    @cached_property
    def output(self) -> NDArray[np.int32] | None:
        """Output label of each transition."""
        return self._labels[1]
