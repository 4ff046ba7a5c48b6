"""The same answers as OpenFst, on 500 random machines a verb and semiring, made after its own generator (`rand-fst.h`).

A failure prints the machines as OpenFst's text.
"""

import functools

import numpy as np
import pytest
from naive import automata as naive

from structens.automata import (
    Semiring,
    WeightedAutomaton,
    compose,
    connect,
    determinize,
    minimize,
    n_best,
    n_paths,
    push,
    remove_epsilon,
    reverse,
    shortest_distance,
    shortest_path,
    top_sort,
    union,
)
from structens.core import EPSILON, Automaton

fst = pytest.importorskip(
    "pywrapfst", reason="OpenFst's Python module comes with pynini, which is not installed", exc_type=ImportError
)

ARC_TYPE = {Semiring.LOG: "log64", Semiring.TROPICAL: "standard"}
DELTA = {Semiring.LOG: 1e-6, Semiring.TROPICAL: 1e-5}  # OpenFst's tropical weights are float32
SEEDS = range(500)
QUANTUM = {Semiring.LOG: 1e-10, Semiring.TROPICAL: 1e-6}  # of OpenFst's determinisation and minimisation
BOTH = pytest.mark.parametrize("semiring", list(ARC_TYPE), ids=["log", "tropical"])
TROPICAL = Semiring.TROPICAL


@functools.cache
def machine(seed, least_label=-1, transducer=False):
    """A random machine with three to 300 paths: duplicate transitions, several finals, half of the weights whole."""
    rng = np.random.default_rng([seed, least_label + 1, transducer])
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
        if 3 <= n_paths(automaton) <= 300:
            return made


def theirs(weighted, semiring):
    """The machine as OpenFst's; label 0 is epsilon there."""
    automaton, weight, final = weighted[:3]
    output = automaton.label if automaton.output is None else automaton.output
    built = fst.VectorFst(arc_type=ARC_TYPE[semiring])
    built.add_states(automaton.n_states)
    built.set_start(automaton.start)
    kind = built.weight_type()
    rows = zip(
        *(a.tolist() for a in (automaton.source, automaton.label + 1, output + 1, automaton.target)), strict=True
    )
    for (source, read, written, target), w in zip(rows, np.asarray(weight, dtype=float).tolist(), strict=True):
        built.add_arc(source, fst.Arc(read, written, fst.Weight(kind, repr(w)), target))
    for q in np.flatnonzero(automaton.is_final).tolist():
        built.set_final(q, fst.Weight(kind, repr(0.0 if final is None else float(final[q]))))
    return built


def read(built):
    """A machine of OpenFst as ours."""
    if built.num_states() == 0:
        return WeightedAutomaton(Automaton.from_transitions([], final=[]), np.zeros(0), np.zeros(1))
    rows, weight = [], []
    for q in built.states():
        for arc in built.arcs(q):
            rows.append((q, arc.nextstate, arc.ilabel - 1, arc.olabel - 1))
            weight.append(float(arc.weight))
    final = np.array([float(built.final(q)) for q in built.states()])
    source, target, label, output = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    ends, size = np.flatnonzero(final < np.inf), len(final)
    made = top_sort(source, target, label, final=ends, start=max(0, built.start()), n_states=size, output=output)
    return WeightedAutomaton(made.automaton, np.array(weight)[made.transition], final[made.state])


def string_weights(weighted, semiring):
    """Weight of every pair of strings, by a sweep over prefixes: `naive.string_weights` without the list of paths."""
    automaton, weight, final = weighted[:3]
    output = automaton.label if automaton.output is None else automaton.output
    rows = list(zip(*(a.tolist() for a in (automaton.target, automaton.label, output)), weight.tolist(), strict=True))
    ways, found = [{} for _ in range(automaton.n_states)], {}
    add = np.minimum if semiring is TROPICAL else lambda a, b: -np.logaddexp(-a, -b)
    if automaton.n_states:
        ways[automaton.start] = {((), ()): 0.0}
    for q in range(automaton.n_states):
        if automaton.is_final[q]:
            for key, cost in ways[q].items():
                total = cost + (0.0 if final is None else float(final[q]))
                found[key] = float(add(found[key], total)) if key in found else total
        for e in range(automaton.offsets[q], automaton.offsets[q + 1]):
            target, a, b, w = rows[e]
            for (one, two), cost in ways[q].items():
                key = (one if a == EPSILON else (*one, a), two if b == EPSILON else (*two, b))
                into = ways[target]
                into[key] = float(add(into[key], cost + w)) if key in into else cost + w
    return {key: cost for key, cost in found.items() if cost < np.inf}


def agree(ours, other, semiring, *arguments):
    """Equal weights of all strings, or a failure that prints the arguments."""
    found, wanted = string_weights(ours, semiring), string_weights(read(other), semiring)
    wrong = set(found) ^ set(wanted)
    wrong |= {key for key in set(found) & set(wanted) if not abs(found[key] - wanted[key]) < DELTA[semiring]}
    if wrong:
        some = {key: (found.get(key), wanted.get(key)) for key in sorted(wrong)[:3]}
        pytest.fail(f"strings differ, ours and OpenFst's: {some}\n" + text(semiring, *arguments))


def text(semiring, *arguments):
    return "\n--\n".join(theirs(a, semiring).print().rstrip() for a in arguments)


def close(found, wanted, semiring, *arguments, tolerance=None):
    if not np.allclose(found, wanted, rtol=1e-6, atol=tolerance or DELTA[semiring]):
        pytest.fail(f"{found}\nours, OpenFst's:\n{wanted}\n" + text(semiring, *arguments))


@pytest.mark.parametrize("seed", range(10))
@BOTH
def test_the_quick_list_of_strings_is_the_slow_one(semiring, seed):
    weighted = machine(seed, transducer=bool(seed % 2))
    found, wanted = string_weights(weighted, semiring), naive.string_weights(*weighted, semiring)
    assert found == pytest.approx(wanted, abs=1e-12)


@BOTH
def test_distances_and_pushed_weights(semiring):
    for seed in SEEDS:
        weighted = machine(seed)
        built = theirs(weighted, semiring)
        sides = [shortest_distance(*weighted, semiring, reverse=backward) for backward in (False, True)]
        for backward, ours in enumerate(sides):
            other = [float(w) for w in fst.shortestdistance(built, delta=1e-12, reverse=bool(backward))]
            close(ours, other + [np.inf] * (len(ours) - len(other)), semiring, weighted)
        built.push(delta=1e-12, remove_total_weight=True)
        other = np.array([float(arc.weight) for q in built.states() for arc in built.arcs(q)])
        # Where both ends are reached and lead to a final state; elsewhere OpenFst leaves weights as they are.
        automaton = weighted.automaton
        live = np.isfinite(sides[0])[automaton.source] & np.isfinite(sides[1])[automaton.target]
        close(push(*weighted, semiring).weight[live], other[live], semiring, weighted)


def test_shortest_paths():
    # Of the two semirings only the tropical one has best paths; OpenFst refuses the other, as we do.
    for seed in SEEDS:
        weighted = machine(seed)
        path = shortest_path(*weighted)
        ours = naive.path_weight(weighted.automaton, path.tolist(), *weighted[1:], TROPICAL)
        other = string_weights(read(fst.shortestpath(theirs(weighted, TROPICAL))), TROPICAL)
        (key, cost), *rest = other.items()
        assert not rest
        close(ours, cost, TROPICAL, weighted)
        # Weights that are not whole leave one best string only.
        runner_up = sorted(string_weights(weighted, TROPICAL).values())[1:2]
        if not runner_up or runner_up[0] - cost > 1e-4:
            assert naive.strings(weighted.automaton, path.tolist()) == key, text(TROPICAL, weighted)


def test_costs_of_the_n_best():
    for seed in SEEDS:
        weighted = machine(seed)
        built = theirs(weighted, TROPICAL)
        ours, others = n_best(*weighted[:2], 10, weighted[2]).weight, read(fst.shortestpath(built, nshortest=10))
        close(ours, n_best(*others[:2], 10, others[2]).weight, TROPICAL, weighted)
        ours = n_best(*weighted[:2], 10, weighted[2], distinct=True).weight
        # OpenFst's own list of different strings wants an automaton without epsilon.
        others = read(fst.shortestpath(built.copy().rmepsilon(), nshortest=10, unique=True))
        close(ours, n_best(*others[:2], 11, others[2]).weight, TROPICAL, weighted)


@BOTH
def test_composition(semiring):
    n_compared = 0
    for seed in SEEDS:
        kind = {"transducer": seed % 4 > 0, "least_label": 0 if seed % 3 == 0 else -1}
        first, second = machine(seed, **kind), machine(seed + 10_000, **kind)
        made = compose(first, second, semiring)
        other = fst.compose(theirs(first, semiring).arcsort("olabel"), theirs(second, semiring))
        agree(made, other, semiring, first, second)
        n_compared += bool(made.automaton.is_final.any())
    assert n_compared > len(SEEDS) / 2


@BOTH
def test_connection_reversal_and_union(semiring):
    for seed in SEEDS:
        first, second = machine(seed), machine(seed + 20_000)
        built = theirs(first, semiring)
        kept = connect(*first, semiring)
        trimmed = built.copy().connect()
        ours = (kept.automaton, first.weight[kept.transition], first.final_weight[kept.state])
        assert kept.automaton.n_states == trimmed.num_states(), text(semiring, first)
        assert kept.automaton.n_transitions == sum(trimmed.num_arcs(q) for q in trimmed.states())
        agree(ours, trimmed, semiring, first)
        agree(reverse(first, semiring), fst.reverse(built), semiring, first)
        agree(union(first, second, semiring), built.union(theirs(second, semiring)), semiring, first, second)


@BOTH
def test_epsilon_removal(semiring):
    for seed in SEEDS:
        weighted = machine(seed, transducer=seed % 4 == 0)
        free = remove_epsilon(weighted, semiring)
        output = free.automaton.label if free.automaton.output is None else free.automaton.output
        assert not ((free.automaton.label == EPSILON) & (output == EPSILON)).any(), text(semiring, weighted)
        agree(free, theirs(weighted, semiring).rmepsilon(), semiring, weighted)


@BOTH
def test_determinisation_and_minimisation(semiring):
    for seed in SEEDS:
        weighted = machine(seed, least_label=0)
        deterministic = determinize(weighted, semiring)
        other = fst.determinize(theirs(weighted, semiring), delta=QUANTUM[semiring])
        agree(deterministic, other, semiring, weighted)
        assert deterministic.automaton.n_states <= other.num_states(), text(semiring, weighted)
        small = minimize(deterministic, semiring)
        agree(small, other, semiring, weighted)
        assert small.automaton.n_states <= other.minimize(delta=QUANTUM[semiring]).num_states(), text(
            semiring, weighted
        )
