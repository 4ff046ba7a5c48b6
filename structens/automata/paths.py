"""Counting and measuring paths, without weights.

The number of accepting paths of the automaton of Figure 1 is p to the power of l, far beyond every fixed width of
number; so it is a Python integer, and for display there is its logarithm.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.automata.semiring import Semiring
from structens.automata.shortest_distance import total_weight
from structens.core import Automaton, Ragged


def n_paths(automaton: Automaton) -> int:
    """Exact number of accepting paths; do not turn it into text or a float, see `log10_paths`.

    Examples
    --------
    >>> a = Automaton.from_transitions([(k, k + 1, j) for k in range(100) for j in range(3)], final=[100])
    >>> n_paths(a) == 3**100
    True
    """
    if automaton.n_states == 0:
        return 0
    # Parallel transitions count once, with their number; a state's count is freed once it is handed on, so that only
    # the frontier is held.
    codes = automaton.source.astype(np.int64) * automaton.n_states + automaton.target
    steps, times = np.unique(codes, return_counts=True)
    arriving: dict[int, int] = {automaton.start: 1}
    finals = set(np.flatnonzero(automaton.is_final).tolist())
    total, state, count = 0, -1, 0
    for code, parallel in zip(steps.tolist(), times.tolist(), strict=True):
        source, target = divmod(code, automaton.n_states)
        if source != state:
            state, count = source, arriving.pop(source, 0)
            total += count if source in finals else 0
        if count:
            arriving[target] = arriving.get(target, 0) + parallel * count
    return total + sum(count for q, count in arriving.items() if q in finals)


def log10_paths(automaton: Automaton) -> float:
    """Logarithm to base ten of the number of accepting paths, for display; -inf if there is none.

    Examples
    --------
    >>> a = Automaton.from_transitions([(k, k + 1, j) for k in range(15) for j in range(251)], final=[15])
    >>> round(log10_paths(a), 3)
    35.995
    """
    return -total_weight(automaton, np.zeros(automaton.n_transitions), semiring=Semiring.LOG) / math.log(10)


def longest_path(automaton: Automaton) -> int:
    """Number of transitions on the longest path from the start to anywhere.

    Examples
    --------
    >>> longest_path(Automaton.from_transitions([(0, 1, 7), (0, 2, 8), (1, 2, 9)], final=[2]))
    2
    """
    if automaton.n_states == 0:
        return 0
    return int(_longest(automaton.offsets, automaton.target, automaton.start))


def path_labels(automaton: Automaton, paths: Ragged) -> Ragged:
    """Label of each transition of each path, EPSILON included.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 9)], final=[2])
    >>> path_labels(a, Ragged.of([[1, 2]])).to_list()
    [[8, 9]]
    """
    labels: NDArray[np.int32] = automaton.label[paths.values]
    return Ragged(labels, paths.offsets)


@njit(cache=True)
def _longest(offsets, target, start):  # type: ignore[no-untyped-def]
    length = np.full(len(offsets) - 1, -1, dtype=np.int64)
    length[start] = 0
    longest = 0
    for q in range(start, len(length)):
        if length[q] >= 0:
            longest = max(longest, length[q])
            for e in range(offsets[q], offsets[q + 1]):
                length[target[e]] = max(length[target[e]], length[q] + 1)
    return longest
