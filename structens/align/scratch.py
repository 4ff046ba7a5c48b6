"""The working memory of the alignment kernels: one table of int64 for all records of a batch, used again for each.

A row of the table is an array that the kernels share, named here. Pages that no record touches cost no memory. One
table instead of twenty arrays keeps compiling and calling the kernels cheap; so do numbers kept in it instead of
passed, since numba compiles a kernel once more for every constant it is called with.

An *entry* tells that a label is worth `BONUS` in slot `SLOT`. The entries of a label are a list by rising slot, from
`HEAD` to `TAIL` through `NEXT` and `BEFORE`; -1 ends it. A *row* is a distinct answer of the record: units
``START[c]`` to ``START[c + 1] - 1`` of `CODE`, given by `COUNT` experts, of which `GIVER` is the first.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

# by label
HEAD, TAIL, CURSOR = 0, 1, 2
# by entry
NEXT, BEFORE, SLOT, BONUS = 3, 4, 5, 6
# by slot: what leaving it out costs; the cost of a slot of one's own less that, shifted by one; new number
SKIP, GAIN, MOVED = 7, 8, 9
# by unit of the sequence being aligned: its slot, or -1 - j for a slot of its own before slot j; the last entry of its
# label that is not after that place
PATH, NEAR = 10, 11
# by unit of all rows: label, slot, entry (and entry before a change)
CODE, PLACE, ENTRY, FORMER = 12, 13, 14, 15
# for edit distances
MASK, EDGE = 16, 17
# by row of the record (START also one more), and by expert: the row with its answer
START, COUNT, JOINED, GIVER, ROW = 18, 19, 20, 21, 22
# single numbers: entries made, first entry to use again, slots; what to align to and when to stop; the band
STATE = 23
MADE, FREE, SLOTS = 0, 1, 2
NEW, EXTRA, SLACK, ENOUGH, WORTH = 3, 4, 5, 6, 7
LOWEST, WIDTH, RISE, RUN, BLOCK = 8, 9, 10, 11, 12

_CELLS = 1 << 21


def scratch(n_experts: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The table, for short records, and room for 2 million cells of matrices.

    Examples
    --------
    >>> [a.shape for a in scratch(3)]
    [(24, 4096), (2097152,)]
    """
    return np.zeros((STATE + 1, max(4096, n_experts + 2)), np.int64), np.empty(_CELLS, np.int64)


@njit(cache=True)
def _grown(work, n_units, n_experts):  # type: ignore[no-untyped-def]
    """The table if it has room for so many units, slots and labels, else a larger one that knows the same rows."""
    size = 2 * n_units + 6
    if size <= work.shape[1]:
        return work
    larger = np.empty((STATE + 1, 2 * size), np.int64)  # not zeros, which would touch every page
    for t in range(2 * size):
        larger[MASK, t] = 0
    for name in range(START, STATE):
        for c in range(n_experts + 1):
            larger[name, c] = work[name, c]
    return larger
