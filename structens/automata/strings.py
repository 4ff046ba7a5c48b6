"""How many different strings an automaton accepts: its paths, after determinisation, counted exactly.

Source: Mohri, "Finite-state transducers in language and speech processing" (1997), for determinisation.
"""

from __future__ import annotations

import numpy as np

from structens.automata.determinize import determinize
from structens.automata.epsilon import remove_epsilon
from structens.automata.paths import n_paths
from structens.automata.project import project
from structens.automata.semiring import Semiring
from structens.automata.weighted import WeightedAutomaton
from structens.core import Automaton


def n_strings(automaton: Automaton, *, max_states: int = 1_000_000) -> int:
    """Exact number of different strings read, EPSILON left out.

    Parameters
    ----------
    automaton : Automaton
    max_states : int
        Give up when the deterministic automaton has more states.

    Raises
    ------
    AutomatonError
        If it has.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 7), (0, 1, 8), (1, 2, -1), (1, 2, 7)], final=[2])
    >>> n_strings(a)
    4
    """
    unweighted = WeightedAutomaton(project(automaton, "input"), np.zeros(automaton.n_transitions))
    free = remove_epsilon(unweighted, Semiring.TROPICAL)
    if not free.automaton.is_final.any():
        return 0
    return n_paths(determinize(free, Semiring.TROPICAL, max_states=max_states).automaton)
