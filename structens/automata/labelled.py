"""An automaton as it comes from outside: with its weights, the names of its labels and states, and a key.

What readers of files and `from_networkx` return. Inside, labels and states are numbers.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata.topological import Renumbered, top_sort
from structens.automata.weighted import WeightedAutomaton
from structens.core import Alphabet, Automaton, AutomatonError


@dataclass(frozen=True, eq=False)
class LabelledAutomaton:
    """An automaton with what it had before it became arrays.

    Parameters
    ----------
    automaton : Automaton
    weight : ndarray of float64, shape (n_transitions,), or None
        None where the source has no weights.
    final_weight : ndarray of float64, shape (n_states,), or None
    alphabet : Alphabet or None
        Names of the labels; None where labels are plain numbers.
    output_alphabet : Alphabet or None
        Names of the output labels of a transducer.
    key : str
        What the source calls it, such as the id of an utterance.
    states : tuple, n_states
        What the source calls each state.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 0)], final=[1])
    >>> LabelledAutomaton(a, alphabet=Alphabet(("K",))).weighted.weight.tolist()
    [0.0]
    """

    automaton: Automaton
    weight: NDArray[np.float64] | None = None
    final_weight: NDArray[np.float64] | None = None
    alphabet: Alphabet | None = None
    output_alphabet: Alphabet | None = None
    key: str = ""
    states: tuple[Hashable, ...] = ()

    @property
    def weighted(self) -> WeightedAutomaton:
        """For the verbs: ``push(*labelled.weighted)``; where there are no weights, costs of 0."""
        weight = np.zeros(self.automaton.n_transitions) if self.weight is None else self.weight
        return WeightedAutomaton(self.automaton, weight, self.final_weight)


class Cycle(NamedTuple):
    """A way round: the transitions, by place in the list given, and the text of it by names."""

    transitions: list[int]
    text: str


def sorted_or_cycle(
    source: Sequence[int],
    target: Sequence[int],
    label: ArrayLike,
    *,
    final: ArrayLike,
    start: int,
    states: Sequence[Hashable],
    output: ArrayLike | None = None,
) -> Renumbered | Cycle:
    """As `top_sort`; if there is a cycle, the cycle under the states' names.

    Examples
    --------
    >>> sorted_or_cycle([0, 1], [1, 0], [0, 0], final=[1], start=0, states=["x", "y"])
    Cycle(transitions=[0, 1], text='x -> y -> x')
    """
    if not states:
        nothing = np.zeros(0, dtype=np.int64)
        none = nothing.astype(np.int32)
        empty = Automaton(np.zeros(1, np.int64), none, none, np.zeros(0, np.bool_), 0, None if output is None else none)
        return Renumbered(empty, nothing, nothing)
    try:
        return top_sort(source, target, label, final=final, start=start, n_states=len(states), output=output)
    except AutomatonError:
        ring = find_cycle(source, target)
        if not ring:
            raise
    names = [str(states[source[e]]) for e in ring]
    shown = names if len(names) <= 12 else [*names[:6], "...", *names[-5:]]
    return Cycle(ring, " -> ".join([*shown, names[0]]))


def find_cycle(source: Sequence[int], target: Sequence[int]) -> list[int]:
    """Transitions along one cycle, in order; empty if there is none.

    Examples
    --------
    >>> find_cycle([0, 1, 2], [1, 2, 1]), find_cycle([0], [1])
    ([1, 2], [])
    """
    import networkx

    graph = networkx.MultiDiGraph()
    graph.add_edges_from((q, r, e, {}) for e, (q, r) in enumerate(zip(source, target, strict=True)))
    try:
        return [e for _, _, e in networkx.find_cycle(graph)]
    except networkx.NetworkXNoCycle:
        return []
