"""Edit distance and n-grams by composition, held to the definition."""

import math

import numpy as np
import pytest
import strategies_automata as given_automata
from hypothesis import given
from hypothesis import strategies as st
from naive import automata as naive

from structens.automata import (
    EditCosts,
    Semiring,
    Transducer,
    WeightedAutomaton,
    best_strings,
    closest_path,
    compose,
    compose_edit,
    compose_ngram,
    connect,
    determinize,
    edit_transducer,
    n_best,
    ngram_automaton,
    project,
    random_automaton,
    remove_epsilon,
    sample,
    shortest_path,
    total_weight,
)
from structens.core import EPSILON, Automaton, AutomatonError, DataError, ParameterError

STRING = st.lists(st.integers(0, 2), max_size=4)
PRICE = st.sampled_from([0.5, 1.0, 1.25, 2.0, 3.0])


@st.composite
def prices(draw):
    """Costs of edits over three labels, as numbers or as tables; and as functions."""
    if draw(st.booleans()):
        s, i, d = (draw(PRICE) for _ in range(3))
        return EditCosts(s, i, d), (lambda a, b: 0.0 if a == b else s, lambda b: i, lambda a: d)
    s = np.array(draw(st.lists(st.lists(PRICE, min_size=3, max_size=3), min_size=3, max_size=3)))
    i, d = (np.array(draw(st.lists(PRICE, min_size=3, max_size=3))) for _ in range(2))
    return EditCosts(s, i, d), (lambda a, b: float(s[a, b]), lambda b: float(i[b]), lambda a: float(d[a]))


def strings(semiring=Semiring.TROPICAL):
    number = st.one_of(st.integers(0, 3).map(float), st.floats(-2, 4))
    return given_automata.weighted(semiring, number, least_label=-1, most_states=5, most_transitions=7)


@given(st.integers(0, 60), st.sampled_from([0.0, 0.3]), STRING, prices(), st.integers(0, 10**6))
def test_every_transition_of_the_composition(n_transitions, epsilon, y, priced, seed):
    # Up to 60 ways on from one state: more and fewer than the kernels copy at a time, and multiples of it.
    costs, (substitution, insertion, deletion) = priced
    rng = np.random.default_rng(seed)
    ends = sorted((int(q), int(q) + 1 + int(r)) for q, r in zip(*rng.integers(0, 2, (2, n_transitions)), strict=True))
    label = np.where(rng.random(n_transitions) < epsilon, EPSILON, rng.integers(0, 3, n_transitions)).tolist()
    automaton = Automaton.from_transitions([(*e, a) for e, a in zip(ends, label, strict=True)], final=[2])
    weight = rng.exponential(1.0, n_transitions)
    made = compose_edit(automaton, weight, y, None, costs)
    columns = made.automaton.source, made.automaton.target, made.automaton.label, made.automaton.output
    found = list(zip(*(c.tolist() for c in (*columns, made.weight, made.first)), strict=True))
    assert found == naive.edit_product(automaton, weight.tolist(), y, substitution, insertion, deletion)


@given(strings(), STRING, prices())
def test_direct_and_general_composition_are_the_same_alignments(weighted, y, priced):
    costs, _ = priced
    direct = compose_edit(*weighted[:2], y, weighted.final_weight, costs)
    general = compose(weighted, edit_transducer(3, y, costs), Semiring.LOG)
    a, b = direct.weighted.automaton, general.automaton
    # With EPSILON the direct one has two paths where one can change places with an insertion, the general one has one.
    proper = EPSILON not in weighted.automaton.label
    for semiring in (Semiring.LOG, Semiring.TROPICAL) if proper else (Semiring.TROPICAL,):
        totals = [total_weight(*made, semiring) for made in (direct.weighted, general[:3])]
        assert totals[0] == pytest.approx(totals[1], rel=1e-9, abs=1e-9)
    if not proper:
        return
    # The same paths: label read, label written, weight.
    kept = connect(a, direct.weight, direct.final_weight)
    assert kept.automaton.n_transitions == b.n_transitions or not b.is_final.any()

    def steps(automaton, weight, first):
        return sorted(zip(automaton.label.tolist(), automaton.output.tolist(), np.round(weight, 9), first, strict=True))

    if b.is_final.any():
        own = steps(kept.automaton, direct.weight[kept.transition], direct.first[kept.transition].tolist())
        assert own == steps(b, general.weight, general.first.tolist())


@given(strings(), STRING, prices())
def test_best_alignment_of_every_string_is_its_edit_distance(weighted, y, priced):
    costs, functions = priced
    made = compose_edit(*weighted[:2], y, weighted.final_weight, costs)
    read = WeightedAutomaton(project(made.automaton, "input"), made.weight, made.final_weight)
    found = naive.string_weights(*read, Semiring.TROPICAL)
    own = naive.string_weights(*weighted, Semiring.TROPICAL)
    assert set(found) == set(own)
    for key, cost in own.items():
        assert found[key] == pytest.approx(cost + naive.edit_cost(key[0], tuple(y), *functions), abs=1e-9)
    if own:
        closest = closest_path(*weighted[:2], y, weighted.final_weight, costs)
        assert closest.cost == pytest.approx(min(found.values()), abs=1e-9)
        path = closest.path.tolist()
        alone = naive.path_weight(weighted.automaton, path, *weighted[1:], Semiring.TROPICAL)
        labels = naive.strings(weighted.automaton, path)[0]
        assert closest.cost == pytest.approx(alone + naive.edit_cost(labels, tuple(y), *functions), abs=1e-9)
        assert [a for a in closest.alignment[:, 0].tolist() if a != EPSILON] == list(labels)
        assert [b for b in closest.alignment[:, 1].tolist() if b != EPSILON] == list(y)


@given(strings(), STRING)
def test_tropical_determinisation_gives_the_edit_distance_of_strings(weighted, y):
    # Identity 4 of the specification: a minimum over alignments becomes a sum over transitions.
    if naive.total_weight(*weighted, Semiring.TROPICAL) == math.inf:
        return
    made = compose_edit(weighted.automaton, np.zeros(weighted.automaton.n_transitions), y)
    read = WeightedAutomaton(project(made.automaton, "input"), made.weight, made.final_weight)
    additive = determinize(remove_epsilon(read, Semiring.TROPICAL), Semiring.TROPICAL)
    one = lambda a, b: float(a != b)  # noqa: E731
    for (labels, _), cost in naive.string_weights(*additive, Semiring.TROPICAL).items():
        assert cost == pytest.approx(naive.edit_cost(labels, tuple(y), one, lambda b: 1, lambda a: 1), abs=1e-9)


def test_distances_of_the_specification():
    # Section 6.4: the paths of COLT15 figure 1 against "ba".
    a, b = 0, 1
    rows = [(0, 1, a), (0, 2, b), (0, 3, a), (1, 4, b), (2, 3, b), (2, 4, a), (3, 4, a)]
    automaton = Automaton.from_transitions(rows, final=[4])
    made = compose_edit(automaton, np.zeros(7), [b, a])
    read = WeightedAutomaton(project(made.automaton, "input"), made.weight, made.final_weight)
    distances = {s: w for (s, _), w in naive.string_weights(*read, Semiring.TROPICAL).items()}
    assert distances == {(a, b): 2, (b, a): 0, (b, b, a): 1, (a, a): 1}
    assert closest_path(automaton, np.zeros(7), [b, a]).path.tolist() == [1, 5]
    assert closest_path(automaton, np.zeros(7), [b, a]).cost == 0


@pytest.mark.compiled
def test_a_large_composition_agrees_with_the_general_one():
    weighted = random_automaton(2001, 20_000, 30, seed=2, width=50)
    y = np.arange(6)
    direct, general = compose_edit(*weighted[:2], y), compose(weighted, edit_transducer(30, y), Semiring.TROPICAL)
    assert total_weight(*direct.weighted) == pytest.approx(total_weight(*general[:3]), rel=1e-12)
    best = shortest_path(*general[:3])
    assert closest_path(*weighted[:2], y).cost == pytest.approx(general.weight[best].sum(), rel=1e-12)
    without = connect(direct.automaton, direct.weight, direct.final_weight).automaton
    assert (without.n_states, without.n_transitions) == (general.automaton.n_states, general.automaton.n_transitions)


def test_a_cycle_that_reads_nothing_is_refused():
    one = WeightedAutomaton(Automaton.from_transitions([(0, 1, 0)], final=[1]), [0.0])
    with pytest.raises(AutomatonError, match="a cycle of the transducer reads nothing"):
        compose(one, edit_transducer(2))
    backwards = Transducer.from_transitions([(1, 0, EPSILON, 5, 1.0), (0, 2, 0, 6, 1.0)], final={2: 0.0}, start=1)
    made = compose(one, backwards)
    assert made.automaton.output.tolist() == [5, 6]
    assert made.weight.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("y", "costs", "message"),
    [
        ([[0]], EditCosts(), "one row of labels"),
        ([-1], EditCosts(), "one row of labels"),
        ([0], EditCosts(np.nan), "costs of edits do not fit"),
        ([0], EditCosts(np.zeros((1, 1))), "costs of edits do not fit"),
        ([3], EditCosts(1.0, [1.0, 1.0]), "costs of edits do not fit"),
        ([0], EditCosts(1.0, 1.0, [1.0]), "costs of edits do not fit"),
    ],
)
def test_bad_strings_and_costs(y, costs, message):
    automaton = Automaton.from_transitions([(0, 1, 0), (0, 1, 1)], final=[1])
    with pytest.raises(DataError, match=message):
        compose_edit(automaton, [0.0, 0.0], y, None, costs)


def test_bad_edit_transducers():
    with pytest.raises(ParameterError, match="needs labels"):
        edit_transducer(0)
    with pytest.raises(DataError, match="label 2 of the string"):
        edit_transducer(2, [2])
    with pytest.raises(AutomatonError, match="offsets must not decrease"):
        Transducer(np.array([0, 2, 1, 2]), [0, 0], [0, 0], [0.0, 0.0], [0.0, 0.0, 0.0])
    with pytest.raises(AutomatonError, match="a state is not one of 1"):
        Transducer(np.array([0, 1]), [1], [0], [0.0], [0.0])
    with pytest.raises(AutomatonError, match="offsets must run"):
        Transducer(np.array([0, 2]), [0], [0], [0.0], [0.0])


@given(strings(), st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=3), max_size=5), st.data())
def test_every_occurrence_of_an_ngram_is_charged(weighted, ngrams, data):
    costs = data.draw(st.lists(st.sampled_from([0.5, 1.0, -2.0, np.inf]), min_size=len(ngrams), max_size=len(ngrams)))
    made = compose_ngram(weighted, ngrams, costs, Semiring.TROPICAL)
    wanted = {}
    for (read, written), cost in naive.string_weights(*weighted, Semiring.TROPICAL).items():
        total = cost + naive.ngram_cost(read, ngrams, costs)
        if total < math.inf:
            wanted[read, written] = total
    found = naive.string_weights(*made[:3], Semiring.TROPICAL)
    assert set(found) == set(wanted)
    for key, cost in wanted.items():
        assert found[key] == pytest.approx(cost, abs=1e-9)
    if math.inf not in costs:  # each path comes once
        assert (
            len(naive.accepting_paths(made.automaton)) == len(naive.accepting_paths(weighted.automaton)) or not wanted
        )


def test_bad_ngrams():
    for ngrams, cost in (([[]], [1.0]), ([[2]], [1.0]), ([[-1]], [1.0])):
        with pytest.raises(DataError, match="an n-gram holds one label"):
            ngram_automaton(ngrams, cost, 2)
    with pytest.raises(DataError, match="one cost for each of 1"):
        ngram_automaton([[0]], [], 2)
    assert ngram_automaton([], [], 2).n_states == 1


@pytest.mark.parametrize(
    "y", [[1.5], [2**31], [2**70], "ab", [True], [float("nan")], None, [[1], [1, 2]], [[1]], [-1]], ids=str
)
def test_what_is_no_string_of_labels(y):
    a = Automaton.from_transitions([(0, 1, 0)], final=[1])
    with pytest.raises(DataError, match="one row of labels"):
        compose_edit(a, [0.0], y)


def test_weights_and_costs_that_are_no_numbers():
    a = Automaton.from_transitions([(0, 1, 0), (0, 1, 1)], final=[1])
    for weight in (["x", 0], [1j, 0], [[1], [1, 2]]):
        with pytest.raises(DataError, match="weight must be one number a transition"):
            compose_edit(a, weight, [1])
    with pytest.raises(DataError, match="final weight must be one number a state"):
        compose_edit(a, [0.0, 0.0], [1], ["x", 0])
    with pytest.raises(DataError, match="costs of edits are numbers"):
        compose_edit(a, [0.0, 0.0], [1], None, EditCosts("x"))


@pytest.mark.parametrize("n", [1.5, True, "a", -1, 2**31])
def test_numbers_of_paths(n):
    a = Automaton.from_transitions([(0, 1, 0)], final=[1])
    for call in (n_best, best_strings, lambda a, w, n: sample(a, w, n, 0)):
        with pytest.raises(ParameterError, match=r"n (must be|and max_expansions)"):
            call(a, [0.0], n)
