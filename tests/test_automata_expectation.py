"""Expectations, entropy, divergence and pruning, held to the list of all paths; random automata."""

import math

import numpy as np
import pytest
import strategies_automata as given_automata
from hypothesis import assume, given
from hypothesis import strategies as st
from naive import automata as naive

from structens.automata import (
    Semiring,
    divergence,
    entropy,
    expectation,
    flows,
    n_paths,
    prune,
    push,
    pushed_mean,
    random_automaton,
    shortest_path,
)
from structens.automata.topological import connect
from structens.core import EPSILON, Automaton, AutomatonError, DataError, ParameterError

PROPER = st.sampled_from([Semiring.LOG, Semiring.REAL])
VALUE = st.floats(-3, 3)


def distribution(data, semiring):
    numbers = st.floats(0.1, 4) if semiring is Semiring.REAL else st.floats(-3, 6)
    weighted = data.draw(given_automata.weighted(semiring, numbers))
    assume(naive.accepting_paths(weighted.automaton))
    return weighted, naive.path_probabilities(*weighted, semiring)


def values(data, automaton):
    return np.array(data.draw(st.lists(VALUE, min_size=automaton.n_transitions, max_size=automaton.n_transitions)))


@given(PROPER, st.data())
def test_moments_are_those_of_the_paths(semiring, data):
    weighted, p = distribution(data, semiring)
    v, u = values(data, weighted.automaton), values(data, weighted.automaton)
    found = expectation(*weighted[:2], v, weighted.final_weight, semiring, second=u)
    mean_v, mean_u = (naive.mean(p, lambda path, x=x: sum(x[e] for e in path)) for x in (v, u))
    square = naive.mean(p, lambda path: sum(v[e] for e in path) ** 2)
    product = naive.mean(p, lambda path: sum(v[e] for e in path) * sum(u[e] for e in path))
    assert found.mean == pytest.approx(mean_v, abs=1e-9)
    assert found.variance == pytest.approx(square - mean_v**2, abs=1e-8)
    assert found.covariance == pytest.approx(product - mean_v * mean_u, abs=1e-8)
    assert found.total == pytest.approx(float(naive.total_weight(*weighted, semiring)), rel=1e-9, abs=1e-9)
    pushed = push(*weighted, semiring).weight
    shares = pushed if semiring is Semiring.REAL else np.exp(-pushed)
    assert pushed_mean(weighted.automaton, shares, v) == pytest.approx(mean_v, abs=1e-9)


@given(PROPER, st.data())
def test_gradient_is_the_limit_of_differences(semiring, data):
    weighted, p = distribution(data, semiring)
    v = values(data, weighted.automaton)
    found = expectation(*weighted[:2], v, weighted.final_weight, semiring)
    # d mean / d log weight = E[N V] - E[N] E[V], with N the number of times the transition is taken (0 or 1).
    mean = naive.mean(p, lambda path: sum(v[e] for e in path))
    for e in range(weighted.automaton.n_transitions):
        through = naive.mean(p, lambda path, e=e: (e in path) * (sum(v[f] for f in path) - mean))
        assert found.gradient[e] == pytest.approx(through, abs=1e-9)
    for q in range(weighted.automaton.n_states):
        ends = naive.mean(
            p,
            lambda path, q=q: (naive.last_state(weighted.automaton, path) == q) * (sum(v[f] for f in path) - mean),
        )
        assert found.final_gradient[q] == pytest.approx(ends, abs=1e-9)
    step = 1e-6
    if weighted.automaton.n_transitions:
        e = data.draw(st.integers(0, weighted.automaton.n_transitions - 1))
        both = []
        for sign in (1, -1):
            moved = np.array(weighted.weight, dtype=float)
            moved[e] = moved[e] * math.exp(sign * step) if semiring is Semiring.REAL else moved[e] - sign * step
            both.append(expectation(weighted.automaton, moved, v, weighted.final_weight, semiring).mean)
        assert (both[0] - both[1]) / (2 * step) == pytest.approx(found.gradient[e], abs=1e-5)


@given(PROPER, st.data())
def test_entropy_and_divergence_are_those_of_the_paths(semiring, data):
    weighted, p = distribution(data, semiring)
    assert entropy(*weighted, semiring) == pytest.approx(-sum(x * math.log(x) for x in p.values() if x), abs=1e-9)
    other = np.array(weighted.weight) + np.abs(values(data, weighted.automaton)) / 4
    q = naive.path_probabilities(weighted.automaton, other, weighted.final_weight, semiring)
    found = divergence(weighted.automaton, weighted.weight, other, *[weighted.final_weight] * 2, semiring)
    assert found == pytest.approx(sum(x * math.log(x / q[path]) for path, x in p.items() if x), abs=1e-9)
    assert divergence(weighted.automaton, other, other, None, None, semiring) == 0.0


def test_divergence_where_one_side_has_no_path():
    automaton = Automaton.from_transitions([(0, 1, 0), (0, 1, 1)], final=[1])
    assert divergence(automaton, [1.0, 1.0], [1.0, 0.0], semiring=Semiring.REAL) == math.inf
    assert divergence(automaton, [1.0, 0.0], [1.0, 1.0], semiring=Semiring.REAL) == pytest.approx(math.log(2))


def test_bad_values():
    automaton = Automaton.from_transitions([(0, 1, 0)], final=[1])
    for value in ([], [np.nan], [np.inf]):
        with pytest.raises(DataError, match="one finite value"):
            expectation(automaton, [0.0], value)
    with pytest.raises(DataError, match="one probability and one value"):
        pushed_mean(automaton, [0.0], [])
    for verb in (lambda: expectation(automaton, [0.0], [0.0], None, Semiring.TROPICAL),
                 lambda: entropy(automaton, [0.0], None, Semiring.TROPICAL)):  # fmt: skip
        with pytest.raises(ParameterError):
            verb()
    dead = Automaton.from_transitions([(0, 1, 0)], final=[])
    with pytest.raises(AutomatonError, match="no path with positive weight"):
        entropy(dead, [0.0])


@given(PROPER, st.floats(0, 1), st.data())
def test_posterior_pruning_keeps_what_is_taken_often(semiring, threshold, data):
    weighted, _ = distribution(data, semiring)
    kept = prune(*weighted[:2], posterior=threshold, final_weight=weighted.final_weight, semiring=semiring)
    flow = flows(*weighted, semiring).transition
    costs = weighted.weight if semiring is Semiring.LOG else -np.log(weighted.weight)
    final = weighted.final_weight
    if final is not None and semiring is Semiring.REAL:
        final = -np.log(final)
    best = shortest_path(weighted.automaton, costs, final)
    often = flow >= threshold
    often[best] = True
    assert set(best.tolist()) <= set(kept.transition.tolist()) <= set(np.flatnonzero(often).tolist())
    # Nothing but what no longer lies on an accepting path is missing.
    zero = np.where(often, weighted.weight, semiring.zero)
    assert (kept.transition == connect(weighted.automaton, zero, weighted.final_weight, semiring).transition).all()


@given(st.sampled_from(list(Semiring)), st.floats(0, 5), st.data())
def test_beam_pruning_keeps_the_transitions_of_good_paths(semiring, beam, data):
    numbers = st.sampled_from([0.25, 0.5, 1.0, 2.0]) if semiring is Semiring.REAL else st.integers(0, 5).map(float)
    weighted = data.draw(given_automata.weighted(semiring, numbers))
    paths = naive.accepting_paths(weighted.automaton)
    assume(paths)
    cost = {}
    for path in paths:
        w = naive.path_weight(weighted.automaton, path, *weighted[1:], semiring)
        cost[path] = -math.log(w) if semiring is Semiring.REAL else w
    limit = min(cost.values()) + beam + 1e-9
    assume(not any(abs(c - limit) < 1e-6 for c in cost.values()))
    wanted = {e for path, c in cost.items() if c <= limit for e in path}
    kept = prune(*weighted[:2], beam=beam, final_weight=weighted.final_weight, semiring=semiring)
    assert set(kept.transition.tolist()) == wanted


def test_bad_thresholds():
    automaton = Automaton.from_transitions([(0, 1, 0)], final=[1])
    for given_, message in (
        ({}, "either"),
        ({"beam": 1.0, "posterior": 0.5}, "either"),
        ({"beam": -1.0}, "beam must be >= 0"),
        ({"beam": math.nan}, "beam must be >= 0"),
        ({"posterior": 1.5}, "posterior is a probability"),
    ):
        with pytest.raises(ParameterError, match=message):
            prune(automaton, [0.0], **given_)


@given(
    st.integers(2, 40),
    st.integers(0, 60),
    st.one_of(st.none(), st.integers(1, 7)),
    st.sampled_from([0, 0.3]),
    st.data(),
)
def test_random_automata_are_trim_and_repeatable(n_states, more, width, epsilon, data):
    assume(width is None or width < n_states)
    seed = data.draw(st.integers(0, 10**6))
    transducer = data.draw(st.booleans())
    made, again = (
        random_automaton(n_states, 2 * n_states + more, 3, seed, width=width, epsilon=epsilon, transducer=transducer)
        for _ in range(2)
    )
    automaton = made.automaton
    assert (automaton.target == again.automaton.target).all()
    assert (made.weight == again.weight).all()
    assert automaton.n_transitions == 2 * n_states + more
    assert len(connect(automaton).transition) == automaton.n_transitions
    assert connect(automaton).automaton.n_states == automaton.n_states
    assert n_paths(automaton) >= 1
    assert epsilon or EPSILON not in automaton.label
    assert (automaton.output is not None) == transducer


def test_bad_random_automata():
    for arguments, message in (
        ((1, 9, 1, 0), "need 2 states"),
        ((5, 9, 1, 0), "5 states need 10 transitions"),
        ((5, 20, 0, 0), "need 2 states"),
    ):
        with pytest.raises(ParameterError, match=message):
            random_automaton(*arguments)
    with pytest.raises(ParameterError, match="a width below"):
        random_automaton(5, 20, 1, 0, width=5)
