"""The best path by cost (tropical semiring): one sweep for the distances to the end, then a walk that attains them.

Source: Mohri, "Semiring frameworks and algorithms for shortest-distance problems" (2002), section 4.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from structens.automata.semiring import Semiring
from structens.automata.shortest_distance import distance_to_end
from structens.automata.weights import as_semiring, as_weights
from structens.core import Automaton, AutomatonError

NO_BEST_PATH = "a sum of paths is no path, so none is the best; use minus log of the weights as costs"


def shortest_path(
    automaton: Automaton,
    weight: ArrayLike,
    final_weight: ArrayLike | None = None,
    semiring: Semiring = Semiring.TROPICAL,
) -> NDArray[np.int64]:
    """Transitions of the accepting path of least cost.

    Parameters
    ----------
    automaton : Automaton
    weight : array_like, shape (n_transitions,)
        Costs; negative ones are allowed.
    final_weight : array_like, shape (n_states,), or None
        None is 0 at every final state.
    semiring : Semiring
        TROPICAL, the only one with the path property.

    Returns
    -------
    ndarray of int64
        Transition numbers. Of several best paths the one whose first differing transition has the lowest number; a path
        that stops comes before one that goes on.

    Raises
    ------
    AutomatonError
        If there is no accepting path of finite cost.
    DataError
        If the weights do not fit.
    ParameterError
        If the semiring has no path property.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 9)], final=[2])
    >>> shortest_path(a, [3.0, 2.0, 5.0]).tolist()
    [1, 2]
    """
    as_semiring(semiring, (Semiring.TROPICAL,), "shortest_path", NO_BEST_PATH)
    weight, final = as_weights(automaton, weight, final_weight, Semiring.TROPICAL)
    distance = distance_to_end(automaton.offsets, automaton.target, weight, final, Semiring.TROPICAL)
    if automaton.n_states == 0 or distance[automaton.start] == np.inf:
        raise AutomatonError(f"no path of finite cost leads from start state {automaton.start} to a final state")
    path = np.empty(automaton.n_states, dtype=np.int64)
    length = _follow(automaton.offsets, automaton.target, weight, final, distance, automaton.start, path)
    return path[:length].copy()


@njit(cache=True)
def _follow(offsets, target, weight, final, distance, start, path):  # type: ignore[no-untyped-def]
    q, length = start, 0
    while True:
        best, transition = final[q], -1
        for e in range(offsets[q], offsets[q + 1]):
            if weight[e] + distance[target[e]] < best:
                best, transition = weight[e] + distance[target[e]], e
        if transition < 0:
            return length
        path[length] = transition
        length += 1
        q = target[transition]
