"""Random acyclic automata for hypothesis: parallel transitions, dead and unreachable states, several finals."""

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from structens.automata import Semiring, WeightedAutomaton, n_paths
from structens.core import Automaton

MOST_PATHS = 200

COST = st.one_of(st.integers(0, 4).map(float), st.floats(-3, 12), st.sampled_from([np.inf, 700.0, 2000.0]))
INTEGER_COST = st.one_of(st.integers(0, 3).map(float), st.just(np.inf))
REAL = st.one_of(st.integers(0, 3).map(float), st.floats(1e-3, 5), st.sampled_from([1e-300, 1e30]))


@st.composite
def automata(draw, most_states=7, most_transitions=14, least_label=0, transducer=False):
    """An acyclic automaton with at most 200 accepting paths; it may accept nothing. Label -1 is EPSILON."""
    n_states = draw(st.integers(1, most_states))
    pair = st.tuples(st.integers(0, n_states - 1), st.integers(0, n_states - 1)).filter(lambda p: p[0] < p[1])
    pairs = draw(st.lists(pair, max_size=most_transitions)) if n_states > 1 else []
    label = st.integers(least_label, 2)
    labels = st.tuples(label, label) if transducer else st.tuples(label)
    transitions = [(*pair, *draw(labels)) for pair in sorted(pairs)]
    final = draw(st.sets(st.integers(0, n_states - 1), max_size=3))
    start = draw(st.one_of(st.just(0), st.integers(0, n_states - 1)))
    automaton = Automaton.from_transitions(transitions, final=final, start=start, n_states=n_states)
    assume(n_paths(automaton) <= MOST_PATHS)
    return automaton


@st.composite
def weights(draw, automaton, semiring, numbers=None):
    """Transition weights, and final weights or None."""
    if numbers is None:
        numbers = REAL if semiring is Semiring.REAL else COST
    weight = draw(st.lists(numbers, min_size=automaton.n_transitions, max_size=automaton.n_transitions))
    final = st.lists(numbers, min_size=automaton.n_states, max_size=automaton.n_states)
    final_weight = draw(st.one_of(st.none(), final.map(np.array)))
    return np.array(weight), final_weight


@st.composite
def weighted(draw, semiring, numbers=None, **shape):
    """(automaton, weight, final_weight)."""
    automaton = draw(automata(**shape))
    return WeightedAutomaton(automaton, *draw(weights(automaton, semiring, numbers)))
