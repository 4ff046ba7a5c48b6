"""networkx both ways, automata with names, and merging of parallel transitions."""

import math

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import automata as naive
from strategies_automata import automata, weighted

from structens.automata import Semiring, from_networkx, merge_parallel, to_networkx
from structens.automata.labelled import Cycle, find_cycle, sorted_or_cycle
from structens.core import Alphabet, Automaton, AutomatonError, DataError

ALPHABET = Alphabet(("K", "æ", "<eps>"))
CHAIN = [("x", "y", {"label": "K"}), ("y", "z", {"label": "T"})]


def same(one, other):
    """Equal in every array."""
    arrays = ("offsets", "target", "label", "is_final")
    return (
        all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays)
        and one.start == other.start
        and (one.output is None) == (other.output is None)
        and (one.output is None or np.array_equal(one.output, other.output))
    )


def same_numbers(one, other):
    return (one is None and other is None) or np.array_equal(one, other)


@given(st.data(), st.booleans(), st.booleans(), st.booleans())
def test_round_trip_is_exact(data, transducer, has_weights, has_names):
    made = data.draw(weighted(Semiring.LOG, least_label=-1, transducer=transducer))
    weight = made.weight if has_weights else None
    names = {"alphabet": ALPHABET, "output_alphabet": ALPHABET} if has_names else {}
    graph = to_networkx(made.automaton, weight, made.final_weight, **names)
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (made.automaton.n_states, made.automaton.n_transitions)
    back = from_networkx(graph, **names)
    if not transducer or made.automaton.n_transitions:  # without an edge there is no place for the outputs
        assert same(back.automaton, made.automaton)
    if made.automaton.n_transitions:
        assert same_numbers(back.weight, weight)
    assert same_numbers(back.final_weight, made.final_weight)
    assert back.states == tuple(range(made.automaton.n_states))


@given(automata(least_label=-1), st.randoms(use_true_random=False))
def test_nodes_may_have_any_name_in_any_order(automaton, random):
    graph = to_networkx(automaton)
    names = {q: f"node {q}" for q in graph}
    shuffled = networkx.MultiDiGraph()
    order = random.sample(list(graph), len(graph))
    shuffled.add_nodes_from((names[q], graph.nodes[q]) for q in order)
    shuffled.add_edges_from((names[q], names[r], data) for q, r, data in graph.edges(data=True))
    back = from_networkx(shuffled)
    weight = np.zeros(automaton.n_transitions)
    strings = [naive.string_weights(a, weight, None, Semiring.LOG) for a in (automaton, back.automaton)]
    assert strings[0].keys() == strings[1].keys()
    assert all(math.isclose(value, strings[1][key], abs_tol=1e-9) for key, value in strings[0].items())
    assert sorted(back.states) == sorted(names.values())
    assert back.states[back.automaton.start] == names[automaton.start]


def test_empty_graph():
    back = from_networkx(networkx.MultiDiGraph())
    assert (back.automaton.n_states, back.automaton.n_transitions, back.states) == (0, 0, ())
    assert to_networkx(back.automaton).number_of_nodes() == 0


def test_a_cycle_is_named():
    graph = networkx.DiGraph([*CHAIN, ("z", "y", {"label": "K"})])
    with pytest.raises(AutomatonError, match="cycle y -> z -> y"):
        from_networkx(graph, start="x", final=["z"])


@pytest.mark.parametrize(
    ("graph", "options", "said"),
    [
        (networkx.Graph(CHAIN), {"final": ["z"]}, "directed"),
        (networkx.DiGraph(CHAIN), {}, "no node has the attribute 'final'"),
        (networkx.DiGraph(CHAIN), {"final": ["q"]}, "'q' is not a node"),
        (
            networkx.DiGraph([*CHAIN, ("w", "z", {"label": "K"})]),
            {"final": ["z"]},
            "2 nodes could be the start: 'x', 'w'",
        ),
        (networkx.DiGraph([("x", "y")]), {"final": ["y"]}, "attribute 'label' of edge 'x' -> 'y' is missing"),
        (networkx.DiGraph([("x", "y", {"label": 0.5})]), {"final": ["y"]}, "is 0.5"),
        (networkx.DiGraph([("x", "y", {"label": -7})]), {"final": ["y"]}, "codes run from -7"),
        (networkx.DiGraph([*CHAIN, ("z", "w", {"label": 3})]), {"final": ["w"]}, "is 3, those of others are names"),
        (networkx.DiGraph(CHAIN), {"final": ["z"], "alphabet": Alphabet(("K",))}, "label 'T' is not in the alphabet"),
        (
            networkx.DiGraph([("x", "y", {"label": "K", "weight": 1}), CHAIN[1]]),
            {"final": ["z"]},
            "at some places only",
        ),
        (networkx.DiGraph([("x", "y", {"label": "K", "weight": "a"})]), {"final": ["y"]}, "must hold numbers"),
    ],
)
def test_graphs_that_are_no_automata(graph, options, said):
    with pytest.raises(DataError, match=said):
        from_networkx(graph, **options)


def test_another_attribute_may_be_the_weight():
    graph = networkx.DiGraph([("x", "y", {"label": "K", "cost": 2})])
    assert from_networkx(graph, final=["y"], weight="cost").weight.tolist() == [2.0]


def test_to_networkx_refuses_what_does_not_fit():
    a = Automaton.from_transitions([(0, 1, 5)], final=[1])
    with pytest.raises(DataError, match=r"weight has shape \(2,\)"):
        to_networkx(a, [1.0, 2.0])
    with pytest.raises(DataError, match="label code 5 is not in the alphabet of 3"):
        to_networkx(a, alphabet=ALPHABET)


def test_long_cycles_are_shortened_and_trees_have_none():
    n = 40
    found = sorted_or_cycle(
        list(range(n)), [*range(1, n), 0], [0] * n, final=[0], start=0, states=[f"s{q}" for q in range(n)]
    )
    assert isinstance(found, Cycle)
    assert "..." in found.text
    assert len(found.transitions) == n
    assert find_cycle([0, 0, 1], [1, 2, 2]) == []


@given(st.data(), st.sampled_from(Semiring), st.booleans())
def test_merging_keeps_every_string(data, semiring, transducer):
    made = data.draw(weighted(semiring, transducer=transducer, most_states=4))
    merged = merge_parallel(made.automaton, made.weight, semiring)
    before, after = (
        naive.string_weights(a, w, made.final_weight, semiring)
        for a, w in ((made.automaton, made.weight), (merged.automaton, merged.weight))
    )
    assert before.keys() == after.keys()
    for key, value in before.items():
        assert math.isclose(float(value), float(after[key]), rel_tol=1e-9, abs_tol=1e-9) or value == after[key]
    new = merged.automaton
    rows = list(zip(new.source, new.target, new.label, new.label if new.output is None else new.output, strict=True))
    assert len(set(rows)) == len(rows)
    assert np.array_equal(new.label[merged.group], made.automaton.label)
