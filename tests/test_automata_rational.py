"""Verbs that make new automata: string weights must be those of the definition."""

import math

import numpy as np
import pytest
import strategies_automata as given_automata
from hypothesis import assume, given
from hypothesis import strategies as st
from naive import automata as naive

from structens.automata import (
    Semiring,
    Transducer,
    WeightedAutomaton,
    compose,
    determinize,
    is_deterministic,
    minimize,
    project,
    remove_epsilon,
    reverse,
    total_weight,
    union,
)
from structens.core import EPSILON, Automaton, AutomatonError, ParameterError

SEMIRINGS = st.sampled_from(list(Semiring))
EMPTY = WeightedAutomaton(Automaton(np.zeros(1), [], [], []), [])


def number(semiring):
    if semiring is Semiring.REAL:
        return st.one_of(st.integers(0, 3).map(float), st.floats(0.01, 5))
    return st.one_of(st.integers(0, 3).map(float), st.floats(-2, 8), st.just(np.inf))


def some(semiring, **shape):
    return given_automata.weighted(semiring, number(semiring), **{"most_transitions": 9, "least_label": -1, **shape})


def same(found, wanted):
    """Equal dictionaries of string weights, up to rounding."""
    assert set(found) == set(wanted)
    for key, value in wanted.items():
        assert math.isclose(found[key], value, rel_tol=1e-8, abs_tol=1e-8)


def accepts(weighted, semiring):
    return naive.total_weight(*weighted, semiring) != semiring.zero


def is_trim(weighted, semiring):
    states, transitions = naive.useful(*weighted, semiring)
    automaton = weighted[0]
    return states == list(range(automaton.n_states)) and len(transitions) == automaton.n_transitions


@given(SEMIRINGS, st.booleans(), st.data())
def test_composition_pairs_every_two_paths_once(semiring, transducer, data):
    first = data.draw(some(semiring, transducer=transducer))
    second = data.draw(some(semiring, transducer=transducer))
    made = compose(first, second, semiring)
    same(naive.string_weights(*made[:3], semiring), naive.composed_weights(first, second, semiring))
    # Each transition knows what it came from.
    a, b = first.automaton, second.automaton
    for e, (i, j) in enumerate(zip(made.first.tolist(), made.second.tolist(), strict=True)):
        assert made.automaton.label[e] == (EPSILON if i < 0 else a.label[i])
        if transducer:
            assert made.automaton.output[e] == (EPSILON if j < 0 else b.output[j])
        parts = [part[k] for part, k in ((first.weight, i), (second.weight, j)) if k >= 0]
        assert math.isclose(made.weight[e], naive.times(semiring, parts), rel_tol=1e-12)
    if accepts(made[:3], semiring):
        assert is_trim(made[:3], semiring)
    else:
        assert made.automaton.n_states <= 1


@given(SEMIRINGS, st.data())
def test_composition_is_associative(semiring, data):
    a, b, c = (data.draw(some(semiring, transducer=True, most_states=4, most_transitions=5)) for _ in range(3))
    left = compose(WeightedAutomaton(*compose(a, b, semiring)[:3]), c, semiring)
    right = compose(a, WeightedAutomaton(*compose(b, c, semiring)[:3]), semiring)
    same(naive.string_weights(*left[:3], semiring), naive.string_weights(*right[:3], semiring))


def test_composition_counts_epsilon_on_both_sides_once():
    # Without a filter the two epsilons could be taken in three ways.
    writes_nothing = Automaton.from_transitions([(0, 1, 1, EPSILON), (1, 2, 2, 5)], final=[2])
    reads_nothing = Automaton.from_transitions([(0, 1, EPSILON, 7), (1, 2, 5, 8)], final=[2])
    made = compose(
        WeightedAutomaton(writes_nothing, [0.5, 1]), WeightedAutomaton(reads_nothing, [0.5, 1]), Semiring.REAL
    )
    assert total_weight(*made[:3], Semiring.REAL) == 0.25
    assert naive.string_weights(*made[:3], Semiring.REAL) == {((1, 2), (7, 8)): 0.25}


def test_composition_with_nothing_and_of_too_much():
    one = WeightedAutomaton(Automaton.from_transitions([(0, 1, 0)], final=[1]), [1.0])
    assert compose(EMPTY, one).automaton.n_states == 0
    assert compose(one, EMPTY).automaton.n_states == 0
    chain = Automaton.from_transitions([(k, k + 1, 0) for k in range(50)], final=[50])
    wide = Transducer.from_transitions([(0, r, 0, 0, 0.0) for r in range(50)] + [(1, 1, 0, 0, 0.0)], final={1: 0.0})
    with pytest.raises(AutomatonError, match="more than 40 pairs of states are reached"):
        compose(WeightedAutomaton(chain, np.zeros(50)), wide, max_states=40)
    # Two long machines that hardly meet: the product of 40,000 by 40,000 states is never looked at.
    long = WeightedAutomaton(Automaton.from_transitions([(0, 1, 0)], final=[1], n_states=40_000), [1.0])
    assert compose(long, long).weight.tolist() == [2.0]


@given(SEMIRINGS, st.sampled_from(["input", "output"]), st.data())
def test_projection_keeps_one_side(semiring, side, data):
    weighted = data.draw(some(semiring, transducer=data.draw(st.booleans())))
    ways = {}
    for pair, cost in naive.string_weights(*weighted, semiring).items():
        ways.setdefault((pair[side == "output"],) * 2, []).append(cost)
    made = project(weighted.automaton, side)
    assert made.output is None
    wanted = {key: naive.plus(semiring, costs) for key, costs in ways.items()}
    same(naive.string_weights(made, weighted.weight, weighted.final_weight, semiring), wanted)


def test_projection_has_two_sides():
    with pytest.raises(ParameterError, match="side must be"):
        project(EMPTY.automaton, "both")


@given(SEMIRINGS, st.data())
def test_reversal_turns_every_string_round(semiring, data):
    weighted = data.draw(some(semiring, transducer=data.draw(st.booleans())))
    wanted = {
        (read[::-1], written[::-1]): cost for (read, written), cost in naive.string_weights(*weighted, semiring).items()
    }
    turned = reverse(weighted, semiring)
    same(naive.string_weights(*turned, semiring), wanted)
    same(naive.string_weights(*reverse(turned, semiring), semiring), naive.string_weights(*weighted, semiring))


@given(SEMIRINGS, st.data())
def test_union_adds_the_weights(semiring, data):
    first = data.draw(some(semiring, transducer=data.draw(st.booleans())))
    second = data.draw(some(semiring, transducer=data.draw(st.booleans())))
    parts = [naive.string_weights(*side, semiring) for side in (first, second)]
    keys = {*parts[0], *parts[1]}
    wanted = {key: naive.plus(semiring, [part[key] for part in parts if key in part]) for key in keys}
    same(naive.string_weights(*union(first, second, semiring), semiring), wanted)


def test_union_with_nothing():
    one = WeightedAutomaton(Automaton.from_transitions([(0, 1, 0)], final=[1]), [1.0])
    for made in (union(EMPTY, one), union(one, EMPTY)):
        assert naive.string_weights(*made, Semiring.LOG) == {((0,), (0,)): 1.0}
    assert naive.accepting_paths(union(EMPTY, EMPTY).automaton) == []
    assert naive.accepting_paths(reverse(EMPTY).automaton) == []


@given(SEMIRINGS, st.data())
def test_epsilon_removal_keeps_string_weights(semiring, data):
    weighted = data.draw(some(semiring, transducer=data.draw(st.booleans())))
    free = remove_epsilon(weighted, semiring)
    same(naive.string_weights(*free, semiring), naive.string_weights(*weighted, semiring))
    labels = [free.automaton.label] + ([] if free.automaton.output is None else [free.automaton.output])
    assert not (np.stack(labels) == EPSILON).all(axis=0).any()


@given(SEMIRINGS, st.data())
def test_determinisation_keeps_string_weights(semiring, data):
    weighted = data.draw(some(semiring, least_label=0))
    assume(accepts(weighted, semiring))
    made = determinize(weighted, semiring)
    assert is_deterministic(made.automaton)
    assert is_trim(made, semiring)
    same(naive.string_weights(*made, semiring), naive.string_weights(*weighted, semiring))


@given(SEMIRINGS, st.data())
def test_minimisation_gives_the_smallest_automaton(semiring, data):
    weighted = data.draw(some(semiring, least_label=0))
    assume(accepts(weighted, semiring))
    deterministic = determinize(weighted, semiring)
    made = minimize(deterministic, semiring)
    same(naive.string_weights(*made, semiring), naive.string_weights(*weighted, semiring))
    assert is_deterministic(made.automaton)
    assert made.automaton.n_states == naive.n_distinct_futures(*deterministic, semiring)


@given(st.data())
def test_brzozowski_finds_the_same_number_of_states(data):
    # Reverse, determinise, reverse, determinise is minimal too, where weights do not tell strings apart.
    weighted = data.draw(some(Semiring.TROPICAL, least_label=0))
    flat = WeightedAutomaton(weighted.automaton, np.zeros(weighted.automaton.n_transitions))
    assume(accepts(flat, Semiring.TROPICAL))

    def turned(machine):
        return determinize(remove_epsilon(reverse(machine, Semiring.TROPICAL), Semiring.TROPICAL), Semiring.TROPICAL)

    revuz = minimize(determinize(flat, Semiring.TROPICAL), Semiring.TROPICAL)
    assert turned(turned(flat)).automaton.n_states == revuz.automaton.n_states


def test_the_best_string_differs_from_the_best_path():
    # Section 3.4 of the specification: ab .28, ab .27, cb .30, cd .15.
    a, b, c, d = range(4)
    automaton = Automaton.from_transitions(
        [(0, 1, a), (0, 2, a), (0, 3, c), (0, 4, c), (1, 5, b), (2, 5, b), (3, 5, b), (4, 5, d)], final=[5]
    )
    shares = determinize(WeightedAutomaton(automaton, [0.28, 0.27, 0.30, 0.15, 1, 1, 1, 1]), Semiring.REAL)
    found = {read: float(p) for (read, _), p in naive.string_weights(*shares, Semiring.REAL).items()}
    assert found == pytest.approx({(a, b): 0.55, (c, b): 0.30, (c, d): 0.15}, rel=1e-12)


@pytest.mark.parametrize(
    ("verb", "transitions", "message"),
    [
        (determinize, [(0, 1, 0, 0)], "project the transducer first"),
        (determinize, [(0, 1, EPSILON)], "call remove_epsilon first"),
        (minimize, [(0, 1, 0), (0, 1, 0)], "call determinize first"),
        (minimize, [(0, 1, EPSILON)], "call determinize first"),
        (minimize, [(0, 1, 0, 0)], "call determinize first"),
    ],
)
def test_preconditions(verb, transitions, message):
    weighted = WeightedAutomaton(Automaton.from_transitions(transitions, final=[1]), np.zeros(len(transitions)))
    with pytest.raises(AutomatonError, match=message):
        verb(weighted)


@pytest.mark.parametrize("semiring", list(Semiring))
def test_subsets_with_other_residuals_are_other_states(semiring):
    # After a and after b the same two states are possible, with the two weights exchanged.
    automaton = Automaton.from_transitions(
        [(0, 1, 0), (0, 1, 1), (0, 2, 0), (0, 2, 1), (1, 3, 0), (2, 3, 1)], final=[3]
    )
    weighted = WeightedAutomaton(automaton, [1.0, 2.0, 2.0, 1.0, 1.0, 1.0])
    made = determinize(weighted, semiring)
    assert made.automaton.n_states == 4
    same(naive.string_weights(*made, semiring), naive.string_weights(*weighted, semiring))


def test_determinisation_can_be_stopped():
    # "Label 1, then exactly ten more": each of the last eleven labels has to be remembered.
    transitions = [(k, k + 1, label) for k in range(10) for label in (0, 1)]
    transitions += [(k, k + 1, label) for k in range(11, 21) for label in (0, 1)]
    transitions += [(k, 11, 1) for k in range(11)]
    weighted = WeightedAutomaton(Automaton.from_transitions(transitions, final=[21]), np.zeros(len(transitions)))
    with pytest.raises(AutomatonError, match="more than 100 states"):
        determinize(weighted, Semiring.TROPICAL, max_states=100)


def test_nothing_accepted_is_refused_where_weights_are_pushed():
    dead = WeightedAutomaton(Automaton.from_transitions([(0, 1, 0)], final=[]), [0.0])
    for verb in (determinize, minimize):
        with pytest.raises(AutomatonError, match="no path with positive weight"):
            verb(dead)
    assert remove_epsilon(dead).automaton.n_transitions == 0
