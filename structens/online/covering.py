"""Few paths that together take every transition: what partial-information learners explore."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structens.automata import connect, shortest_path
from structens.core import Automaton, Ragged


def covering_paths(automaton: Automaton) -> Ragged:
    """Paths that cover all transitions that lie on any path: each the one with the most that are still uncovered.

    On an automaton of l layers with p parallel transitions there are p of them.

    Parameters
    ----------
    automaton : Automaton

    Returns
    -------
    Ragged of int64
        Transitions of each path.

    Raises
    ------
    AutomatonError
        If there is no path.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 7), (1, 2, 8)], final=[2])
    >>> covering_paths(a).to_list()
    [[0, 2], [1, 3]]
    """
    useful = connect(automaton).transition
    uncovered: NDArray[np.bool_] = np.zeros(automaton.n_transitions, dtype=np.bool_)
    uncovered[useful] = True
    paths: list[NDArray[np.int64]] = []
    while uncovered.any() or not paths:
        path = shortest_path(automaton, -uncovered.astype(np.float64))
        paths.append(path)
        uncovered[path] = False
    return Ragged.of(paths, dtype=np.int64)
