"""Semirings, topological order, connection, shortest distance."""

import math
from itertools import pairwise

import numpy as np
import pytest
import strategies_automata as given_automata
from hypothesis import example, given
from hypothesis import strategies as st
from naive import automata as naive

from structens.automata import Semiring, as_weights, connect, shortest_distance, top_sort, total_weight
from structens.automata.semiring import divide, one, plus, times, zero
from structens.core import Automaton, AutomatonError, DataError

SEMIRINGS = list(Semiring)
EMPTY = Automaton(np.zeros(1), np.zeros(0), np.zeros(0), np.zeros(0))


def close(a, b, tolerance=1e-9):
    return np.allclose(np.array(a, dtype=float), np.array(b, dtype=float), rtol=tolerance, atol=tolerance)


@given(st.sampled_from(SEMIRINGS), st.data())
def test_semiring_axioms(semiring, data):
    k = int(semiring)
    number = st.floats(0.01, 50) if semiring is Semiring.REAL else st.one_of(st.floats(-30, 30), st.just(math.inf))
    a, b, c = (data.draw(number) for _ in range(3))
    assert plus(k, a, b) == plus(k, b, a)
    assert close(plus(k, plus(k, a, b), c), plus(k, a, plus(k, b, c)))
    assert close(times(k, a, plus(k, b, c)), plus(k, times(k, a, b), times(k, a, c)))
    assert plus(k, a, zero(k)) == a
    assert times(k, a, one(k)) == a
    assert times(k, a, zero(k)) == zero(k)
    assert (zero(k), one(k)) == (semiring.zero, semiring.one)
    assert close(plus(k, a, b), naive.plus(semiring, [a, b]))
    if b != zero(k):
        assert close(times(k, divide(k, a, b), b), a)
    if semiring.has_path_property:
        assert plus(k, a, b) in (a, b)


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_division_by_zero_is_refused(semiring):
    with pytest.raises(ZeroDivisionError):
        divide(int(semiring), 1.0, semiring.zero)


@given(st.sampled_from(SEMIRINGS), st.booleans(), st.data())
def test_distance_is_the_sum_over_all_paths(semiring, reverse, data):
    automaton, weight, final = data.draw(given_automata.weighted(semiring))
    before = weight.copy(), None if final is None else final.copy()
    distance = shortest_distance(automaton, weight, final, semiring, reverse)
    assert close(distance, naive.distances(automaton, weight, final, semiring, reverse))
    total = total_weight(automaton, weight, final, semiring)
    assert close(total, naive.total_weight(automaton, weight, final, semiring))
    assert (weight == before[0]).all()
    assert final is None or (final == before[1]).all()


@given(st.data())
def test_real_distances_may_be_negative(data):
    automaton, weight, final = data.draw(given_automata.weighted(Semiring.REAL, st.integers(-3, 3).map(float)))
    distance = shortest_distance(automaton, weight, final, Semiring.REAL, reverse=True)
    assert distance.tolist() == naive.distances(automaton, weight, final, Semiring.REAL, True)


def test_distance_of_colt15_figure_1():
    # transitions 01, 02, 03, 14, 23, 24, 34
    automaton = Automaton.from_transitions(
        [(0, 1, 0), (0, 2, 0), (0, 3, 0), (1, 4, 0), (2, 3, 0), (2, 4, 0), (3, 4, 0)], final=[4]
    )
    backward = shortest_distance(automaton, np.ones(7), semiring=Semiring.REAL, reverse=True)
    assert backward.tolist() == [4, 1, 2, 1, 1]
    assert close(np.exp(-shortest_distance(automaton, np.zeros(7), reverse=True)), [4, 1, 2, 1, 1])


def test_blocks_of_many_states_agree_with_one_state_at_a_time():
    # Wide layers fill whole blocks of the LOG kernel; costs that differ by hundreds make it sum single states again.
    rng = np.random.default_rng(3)
    width, depth, degree = 70, 6, 40
    source = np.repeat(np.arange(width * (depth - 1)), degree)
    target = (source // width + 1) * width + rng.integers(0, width, len(source))
    automaton = top_sort(source, target, np.zeros(len(source)), final=[*range(width * (depth - 1), width * depth), 3])
    for spread in (1.0, 300.0):
        weight = rng.exponential(spread, len(source))
        weight[rng.random(len(source)) < 0.1] = np.inf
        expected = [0.0] * automaton.automaton.n_states
        is_final = automaton.automaton.is_final
        for q in range(len(expected) - 1, -1, -1):
            steps = range(automaton.automaton.offsets[q], automaton.automaton.offsets[q + 1])
            ways = [weight[e] + expected[automaton.automaton.target[e]] for e in steps]
            expected[q] = naive.plus(Semiring.LOG, ways + [0.0] * int(is_final[q]))
        assert close(shortest_distance(automaton.automaton, weight, reverse=True), expected, 1e-13)


def test_weights_that_span_the_range_of_floats():
    automaton = Automaton.from_transitions([(0, 1, 0), (0, 1, 0), (1, 2, 0), (2, 3, 0)], final=[3])
    weight = [1e300, 1e-300, 1e-300, 1e-300]
    real = shortest_distance(automaton, weight, semiring=Semiring.REAL, reverse=True)
    assert close(real / 1e-300, [1, 0, 1, 1e300])
    log = shortest_distance(automaton, -np.log(weight), reverse=True)
    assert close(log, [300 * math.log(10), 600 * math.log(10), 300 * math.log(10), 0], 1e-14)


def test_empty_and_dead_automata_have_total_zero():
    for semiring in SEMIRINGS:
        assert total_weight(EMPTY, [], semiring=semiring) == semiring.zero
        assert shortest_distance(EMPTY, [], semiring=semiring).tolist() == []
        dead = Automaton.from_transitions([(0, 1, 0)], final=[])
        assert total_weight(dead, [0.5], semiring=semiring) == semiring.zero
        alone = Automaton.from_transitions([], final=[0])
        assert total_weight(alone, [], semiring=semiring) == semiring.one
        assert total_weight(alone, [], [0.25], semiring) == 0.25


@pytest.mark.parametrize(
    ("weight", "final", "semiring", "message"),
    [
        ([1.0], None, Semiring.LOG, r"weight has shape \(1,\), the automaton needs one number a transition: \(2,\)"),
        ([1.0, 2.0], [0.0], Semiring.LOG, "final weight has shape"),
        ([1.0, np.nan], None, Semiring.LOG, "weight nan of transition 1"),
        ([1.0, -np.inf], None, Semiring.TROPICAL, "weight -inf of transition 1"),
        ([1.0, np.inf], None, Semiring.REAL, "weight inf of transition 1"),
        ([np.nan, 1.0], None, Semiring.REAL, "weight nan of transition 0"),
        ([1.0, 1.0], [0.0, 0.0, np.nan], Semiring.LOG, "final weight nan of state 2"),
    ],
)
def test_bad_weights_are_refused(weight, final, semiring, message):
    automaton = Automaton.from_transitions([(0, 1, 0), (1, 2, 0)], final=[2])
    with pytest.raises(DataError, match=message):
        shortest_distance(automaton, weight, final, semiring)


def test_final_weights_of_states_that_are_not_final_do_not_count():
    automaton = Automaton.from_transitions([(0, 1, 0)], final=[1])
    _, final = as_weights(automaton, [0.0], [np.nan, 3.0])
    assert final.tolist() == [np.inf, 3.0]


@given(st.sampled_from(SEMIRINGS), st.data())
def test_connect_keeps_what_lies_on_accepting_paths(semiring, data):
    automaton, weight, final = data.draw(given_automata.weighted(semiring))
    states, transitions = naive.useful(automaton, weight, final, semiring)
    kept = connect(automaton, weight, final, semiring)
    assert kept.transition.tolist() == transitions
    assert kept.state.tolist() == (states or [automaton.start])
    assert kept.state[kept.automaton.start] == automaton.start
    assert kept.state[kept.automaton.target].tolist() == automaton.target[kept.transition].tolist()
    new_final = None if final is None else final[kept.state]
    total = total_weight(kept.automaton, weight[kept.transition], new_final, semiring)
    assert close(total, naive.total_weight(automaton, weight, final, semiring))


def test_connect_without_weights_sees_the_topology_only():
    automaton = Automaton.from_transitions([(0, 1, 5), (0, 2, 6), (1, 4, 7), (3, 4, 8)], final=[4])
    assert connect(automaton).state.tolist() == [0, 1, 4]
    assert connect(automaton).automaton.label.tolist() == [5, 7]
    assert connect(automaton, [np.inf, 0, 0, 0]).state.tolist() == [0]
    assert connect(EMPTY).automaton.n_states == 0


def test_connect_keeps_outputs():
    automaton = Automaton.from_transitions([(0, 1, 5, 15), (0, 2, 6, 16), (2, 3, 7, 17)], final=[3])
    assert connect(automaton).automaton.output.tolist() == [16, 17]


@given(given_automata.automata(), st.randoms(use_true_random=False))
def test_top_sort_undoes_any_renumbering(automaton, random):
    names = list(range(automaton.n_states))
    random.shuffle(names)
    order = list(range(automaton.n_transitions))
    random.shuffle(order)
    source = [names[automaton.source[e]] for e in order]
    target = [names[automaton.target[e]] for e in order]
    label = [int(automaton.label[e]) for e in order]
    final = [names[q] for q in np.flatnonzero(automaton.is_final)]
    made = top_sort(source, target, label, final=final, start=names[automaton.start], n_states=automaton.n_states)

    def shape(machine, name):
        return sorted(
            (name[q], name[r], a)
            for q, r, a in zip(machine.source.tolist(), machine.target.tolist(), machine.label.tolist(), strict=True)
        )

    assert shape(made.automaton, made.state.tolist()) == shape(automaton, names)
    assert sorted(made.state[made.automaton.is_final]) == sorted(final)
    assert made.state[made.automaton.start] == names[automaton.start]
    assert [label[e] for e in made.transition] == made.automaton.label.tolist()


@pytest.mark.parametrize(
    ("source", "target", "cycle"),
    [
        ([0, 1, 2, 2], [1, 2, 1, 3], "1 -> 2 -> 1"),
        ([0, 0], [0, 1], "0 -> 0"),
        ([0, 1, 2, 3, 4, 0], [1, 2, 3, 1, 5, 4], "1 -> 2 -> 3 -> 1"),
        (range(20), [*range(1, 20), 0], r"0 -> 1 -> 2 -> 3 -> 4 -> 5 -> \.\.\. -> 15 -> .* -> 19 -> 0"),
    ],
)
def test_a_cycle_is_spelt_out(source, target, cycle):
    with pytest.raises(AutomatonError, match=f"has the cycle {cycle}$"):
        top_sort(source, target, [0] * len(source), final=[1])


@example([(0, 1), (1, 2), (2, 0)])
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_top_sort_and_the_core_agree_on_what_is_acyclic(pairs):
    def outcome(build):
        try:
            build()
        except AutomatonError as error:
            return str(error)
        return ""

    source, target = zip(*pairs, strict=True)
    ours = outcome(lambda: top_sort(source, target, [0] * len(pairs), final=[]))
    theirs = outcome(lambda: Automaton.from_transitions([(q, r, 0) for q, r in pairs], final=[]))
    assert bool(ours) == bool(theirs)
    if ours:
        ring = [int(q) for q in ours.split("cycle ")[1].split(" -> ")]
        assert ring[0] == ring[-1]
        assert set(pairwise(ring)) <= set(pairs)


def test_negative_states_are_refused():
    with pytest.raises(AutomatonError, match="start at 0"):
        top_sort([-1], [0], [0], final=[0])
