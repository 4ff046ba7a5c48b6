"""Restriction: the paths of an automaton whose output is admissible, each transition keeping its identity.

Source: Cortes, Kuznetsov and Mohri, "Ensemble methods for structured prediction" (ICML 2014), appendix A and figure 2:
the path-expert automaton is intersected with an acceptor of the admissible strings.
"""

from __future__ import annotations

import numpy as np

from structens.automata.compose import Composed, compose
from structens.automata.label_acceptor import LabelAcceptor
from structens.automata.paths import longest_path
from structens.automata.semiring import Semiring
from structens.automata.weighted import WeightedAutomaton
from structens.core import EPSILON


def restrict(weighted: WeightedAutomaton, acceptor: LabelAcceptor, semiring: Semiring = Semiring.LOG) -> Composed:
    """Keep the paths with an admissible output.

    Parameters
    ----------
    weighted : WeightedAutomaton
        What a transition writes counts: its output if it has one, else its label. EPSILON is nothing.
    acceptor : LabelAcceptor
    semiring : Semiring
        Of the weights, which stay as they are: those of a path are not normalised anew.

    Returns
    -------
    Composed
        ``first`` is the number of the transition of `weighted` behind each transition. A transition comes once for
        each state of the acceptor in which it can be met; each admissible path comes exactly once. If there is none,
        the automaton is one state that is not final.

    Raises
    ------
    AutomatonError
        If the product is too large.

    Examples
    --------
    >>> from structens.core import Automaton
    >>> a = Automaton.from_transitions([(0, 1, 0), (0, 1, 1), (1, 2, 0), (1, 2, 1)], final=[2])
    >>> kept = restrict(WeightedAutomaton(a, [1.0, 2.0, 3.0, 4.0]), LabelAcceptor.forbidden([(0, 0), (1, 1)], 2))
    >>> kept.first.tolist(), kept.automaton.label.tolist(), kept.weight.tolist()
    ([0, 1, 3, 2], [0, 1, 1, 0], [1.0, 2.0, 4.0, 3.0])
    """
    automaton = weighted.automaton
    written = automaton.label if automaton.output is None else automaton.output
    within = acceptor.unrolled(longest_path(automaton), written[written != EPSILON])
    return compose(weighted, WeightedAutomaton(within, np.full(within.n_transitions, semiring.one)), semiring)
