"""The same answers as OpenFst, on random machines made after its own test generator (`rand-fst.h`)."""

import naive_automata as naive
import numpy as np
import pytest

from structens.automata import (
    Semiring,
    WeightedAutomaton,
    compose,
    determinize,
    minimize,
    n_best,
    n_paths,
    push,
    remove_epsilon,
    reverse,
    shortest_distance,
    top_sort,
    union,
)
from structens.core import EPSILON, Automaton

fst = pytest.importorskip(
    "pywrapfst", reason="OpenFst's Python module comes with pynini, which is not installed", exc_type=ImportError
)

ARC_TYPE = {Semiring.LOG: "log64", Semiring.TROPICAL: "standard"}
DELTA = {Semiring.LOG: 1e-6, Semiring.TROPICAL: 1e-5}  # OpenFst's tropical weights are float32
SEEDS = range(25)
BOTH = pytest.mark.parametrize("semiring", list(ARC_TYPE))


def machine(rng, least_label=-1, transducer=False):
    """A random machine with three paths or more: duplicate transitions, several finals, half of the weights whole."""
    while True:
        n_states = int(rng.integers(2, 8))
        pairs = np.sort(rng.integers(0, n_states, (int(rng.integers(1, 16)), 2)), axis=1)
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        labels = rng.integers(least_label, 3, (len(pairs), 2 if transducer else 1))
        rows = sorted(map(tuple, np.concatenate([pairs, labels], axis=1).tolist()))
        final = rng.integers(0, n_states, 2).tolist()
        if not rows:
            continue
        automaton = Automaton.from_transitions(rows, final=final, n_states=n_states)
        size = automaton.n_transitions
        weight = np.where(rng.random(size) < 0.5, rng.integers(0, 5, size), rng.exponential(1.0, size))
        made = WeightedAutomaton(automaton, weight, np.round(rng.exponential(1.0, n_states), 2))
        if n_paths(automaton) >= 3:
            return made


def theirs(weighted, semiring):
    """The machine as OpenFst's; label 0 is epsilon there."""
    automaton, weight, final = weighted[:3]
    output = automaton.label if automaton.output is None else automaton.output
    built = fst.VectorFst(arc_type=ARC_TYPE[semiring])
    for _ in range(automaton.n_states):
        built.add_state()
    built.set_start(automaton.start)

    def number(value):
        return fst.Weight(built.weight_type(), repr(float(value)))

    for e in range(automaton.n_transitions):
        labels = int(automaton.label[e]) + 1, int(output[e]) + 1
        built.add_arc(int(automaton.source[e]), fst.Arc(*labels, number(weight[e]), int(automaton.target[e])))
    for q in np.flatnonzero(automaton.is_final).tolist():
        built.set_final(q, number(0.0 if final is None else final[q]))
    return built


def read(built):
    """A machine of OpenFst as ours."""
    rows, weight = [], []
    for q in built.states():
        for arc in built.arcs(q):
            rows.append((q, arc.nextstate, arc.ilabel - 1, arc.olabel - 1))
            weight.append(float(arc.weight))
    final = np.array([float(built.final(q)) for q in built.states()])
    source, target, label, output = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    ends, size = np.flatnonzero(final < np.inf), len(final)
    made = top_sort(source, target, label, final=ends, start=built.start(), n_states=size, output=output)
    return WeightedAutomaton(made.automaton, np.array(weight)[made.transition], final[made.state])


def agree(ours, other, semiring):
    """Equal weights of all strings."""
    found, wanted = (naive.string_weights(*machine[:3], semiring) for machine in (ours, read(other)))
    return set(found) == set(wanted) and all(abs(found[key] - wanted[key]) < DELTA[semiring] for key in wanted)


@BOTH
@pytest.mark.parametrize("seed", SEEDS)
def test_distances_and_pushed_weights(semiring, seed):
    weighted = machine(np.random.default_rng(seed))
    built = theirs(weighted, semiring)
    for backward in (False, True):
        ours = shortest_distance(*weighted, semiring, reverse=backward)
        other = [float(w) for w in fst.shortestdistance(built, delta=1e-12, reverse=backward)]
        other += [np.inf] * (len(ours) - len(other))
        assert np.allclose(ours, other, rtol=1e-6, atol=1e-6)
    pushed = push(*weighted, semiring)
    alive = np.isfinite(shortest_distance(*weighted, semiring, reverse=True))
    built.push(delta=1e-12, remove_total_weight=True)
    other = np.array([float(arc.weight) for q in built.states() for arc in built.arcs(q)])
    # Where both ends lead to a final state; elsewhere OpenFst leaves weights as they are.
    live = alive[weighted.automaton.source] & alive[weighted.automaton.target]
    reached = np.isfinite(shortest_distance(*weighted, semiring))[weighted.automaton.source]
    assert np.allclose(pushed.weight[live & reached], other[live & reached], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_costs_of_the_n_best(seed):
    weighted = machine(np.random.default_rng(seed))
    found = n_best(*weighted[:2], 10, weighted[2]).weight
    listed = fst.shortestpath(theirs(weighted, Semiring.TROPICAL), nshortest=10)
    others = read(listed)
    assert np.allclose(found, n_best(*others[:2], 10, others[2]).weight, atol=1e-5)


@BOTH
@pytest.mark.parametrize("seed", SEEDS)
def test_composition(semiring, seed):
    rng = np.random.default_rng(seed)
    while True:
        first, second = machine(rng, transducer=True), machine(rng, transducer=True)
        made = compose(first, second, semiring)
        if made.automaton.is_final.any():
            break
    left = theirs(first, semiring).arcsort("olabel")
    assert agree(made, fst.compose(left, theirs(second, semiring)), semiring)


@BOTH
@pytest.mark.parametrize("seed", SEEDS)
def test_reversal_union_and_epsilon_removal(semiring, seed):
    rng = np.random.default_rng(seed)
    first, second = machine(rng), machine(rng)
    assert agree(reverse(first, semiring), fst.reverse(theirs(first, semiring)), semiring)
    assert agree(union(first, second, semiring), theirs(first, semiring).union(theirs(second, semiring)), semiring)
    free = remove_epsilon(first, semiring)
    assert EPSILON not in free.automaton.label
    assert agree(free, theirs(first, semiring).rmepsilon(), semiring)


@BOTH
@pytest.mark.parametrize("seed", SEEDS)
def test_determinisation_and_minimisation(semiring, seed):
    weighted = machine(np.random.default_rng(seed), least_label=0)
    deterministic = determinize(weighted, semiring)
    other = fst.determinize(theirs(weighted, semiring), delta=1e-6)
    assert agree(deterministic, other, semiring)
    assert deterministic.automaton.n_states <= other.num_states()
    small = minimize(deterministic, semiring)
    assert agree(small, other, semiring)
    assert small.automaton.n_states <= other.minimize(delta=1e-6).num_states()
