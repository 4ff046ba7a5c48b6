from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import decoding as naive
from naive.online import path_probabilities
from test_online_decoding import FOUR, WEIGHT, A, B, C, D
from test_online_weighted_majority import dags

from structens.automata import LabelAcceptor, Semiring, best_strings
from structens.core import EPSILON, Automaton, AutomatonError, DataError, ParameterError
from structens.online import string, viterbi


def test_four_paths_of_the_specification():
    found = best_strings(FOUR, WEIGHT, 5, semiring=Semiring.REAL)
    assert found.strings == [[A, B], [C, B], [C, D]]
    assert found.probability.tolist() == pytest.approx([0.55, 0.30, 0.15])
    assert found.complete


def test_mixture_of_the_specification():
    two = Automaton.from_transitions([(0, 1, 0), (0, 1, 1), (1, 2, 0), (1, 2, 1)], final=[2])
    mixture = [[0.9, 0.1, 0.9, 0.1], [0.1, 0.9, 0.1, 0.9]]
    found = best_strings(two, mixture, 4, semiring=Semiring.REAL)
    assert dict(zip(map(tuple, found.strings), found.probability, strict=True)) == pytest.approx(
        {(0, 0): 0.41, (1, 1): 0.41, (0, 1): 0.09, (1, 0): 0.09}
    )
    assert best_strings(two, np.mean(mixture, axis=0), 4, semiring=Semiring.REAL).probability == pytest.approx(0.25)


@given(dags(), st.integers(1, 12), st.booleans(), st.data())
def test_strings_come_in_order_with_their_probabilities(a, n, restricted, data):
    cost = st.lists(st.floats(0, 3), min_size=a.n_transitions, max_size=a.n_transitions)
    costs = data.draw(st.lists(cost, min_size=1, max_size=3))
    letters = data.draw(st.lists(st.sampled_from([EPSILON, 0, 1, 2]), min_size=len(a.label), max_size=len(a.label)))
    a = Automaton(a.offsets, a.target, np.array(letters, np.int32), a.is_final, a.start)
    acceptor = LabelAcceptor.forbidden([(0, 0), (None, 1)], 3) if restricted else None
    mass = Counter()
    for row in costs:
        for path, p in path_probabilities(a, row, 1.0).items():
            text = tuple(int(a.label[e]) for e in path if a.label[e] != EPSILON)
            if acceptor is None or not naive.has_forbidden(text, [(0, 0), (None, 1)]):
                mass[text] += p / len(costs)
    found = best_strings(a, costs, n, acceptor=acceptor)
    assert found.complete
    assert found.probability.tolist() == pytest.approx(sorted(mass.values(), reverse=True)[:n], abs=1e-9)
    assert [mass[tuple(text)] for text in found.strings] == pytest.approx(found.probability.tolist(), abs=1e-9)
    assert len({tuple(text) for text in found.strings}) == len(found.strings)


def test_equal_strings_do_not_multiply_the_search():
    # 2^40 strings, all alike, and 2^40 paths for each of them
    a = Automaton.from_transitions([(k, k + 1, j % 2) for k in range(40) for j in range(4)], final=[40])
    found = best_strings(a, np.zeros(160), 3, max_expansions=200)
    assert found.complete
    assert found.probability.tolist() == pytest.approx([2.0**-40] * 3)
    assert found.strings[0] == [0] * 40


def test_probabilities_below_the_smallest_number_do_not_disturb_the_order():
    rows = [(k, k + 1, j) for k in range(2000) for j in range(3)]
    a = Automaton.from_transitions(rows, final=[2000])
    weight = np.tile([0.36, 0.34, 0.30], 2000)
    found = best_strings(a, weight, 1, semiring=Semiring.REAL)
    assert found.strings == [[0] * 2000]
    assert found.probability.tolist() == [0.0]


def test_the_search_ends_at_its_cap():
    rng = np.random.default_rng(0)
    rows = [(k, k + 1, label) for k in range(30) for label in (EPSILON, 0, 1, 2)]
    a = Automaton.from_transitions(rows, final=[30])
    found = best_strings(a, rng.random(120), 50, max_expansions=20)
    assert not found.complete
    assert len(found.strings) < 50


def test_what_cannot_be_searched_is_refused():
    a = Automaton.from_transitions([(0, 1, 0)], final=[1])
    with pytest.raises(ParameterError, match="at least 1"):
        best_strings(a, [0.0], 0)
    with pytest.raises(ParameterError, match="LOG"):
        best_strings(a, [0.0], 1, semiring=Semiring.TROPICAL)
    with pytest.raises(AutomatonError, match="no path"):
        best_strings(a, [np.inf])
    nothing = best_strings(a, [0.0], acceptor=LabelAcceptor.forbidden([(0,)], 1))
    assert nothing.strings == []


def test_the_empty_string():
    a = Automaton.from_transitions([(0, 1, EPSILON), (0, 1, 4)], final=[1])
    assert best_strings(a, [0.7, 0.3], 2, semiring=Semiring.REAL).strings == [[], [4]]


def test_string_falls_back_to_viterbi_at_the_cap():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(4), 20)
    a = Automaton.from_transitions([(k, k + 1, label) for k in range(20) for label in (EPSILON, 0, 0, 1)], final=[20])
    mixture = np.stack([p.ravel(), rng.dirichlet(np.ones(4), 20).ravel()])
    best, capped = string(a, mixture), string(a, mixture, max_expansions=2)
    mean = mixture.mean(axis=0)
    assert capped == viterbi(a, mean, np.ones(21))
    assert best.score >= capped.score
    assert best_strings(a, mixture, semiring=Semiring.REAL).complete


def test_a_mixture_has_final_weights_of_its_own():
    a = Automaton.from_transitions([(0, 1, 5)], final=[0, 1])
    found = best_strings(a, [[0.5], [0.25]], 2, [[0.5, 1.0], [0.75, 1.0]], Semiring.REAL)
    assert dict(zip(map(tuple, found.strings), found.probability, strict=True)) == pytest.approx(
        {(): 0.625, (5,): 0.375}
    )
    with pytest.raises(DataError, match="one row of final weights"):
        best_strings(a, [[0.5], [0.25]], 2, [[0.5, 1.0]], Semiring.REAL)


def test_prefixes_that_go_on_alike_are_extended_once():
    # 12 regions of 4 slots that say x or nothing, each closed by a label of its own: what lies behind does not matter
    rng = np.random.default_rng(2)
    rows, p, best = [], [], 1.0
    for region in range(12):
        mass = [1.0]
        for slot in range(4):
            q = 5 * region + slot
            gap = rng.uniform(0.45, 0.55)
            rows += [(q, q + 1, EPSILON), (q, q + 1, 0)]
            p += [gap, 1 - gap]
            mass = [a * gap + b * (1 - gap) for a, b in zip([*mass, 0.0], [0.0, *mass], strict=True)]
        rows.append((5 * region + 4, 5 * region + 5, 1 + region))
        p.append(1.0)
        best *= max(mass)
    a = Automaton.from_transitions(rows, final=[60])
    found = best_strings(a, p, semiring=Semiring.REAL, max_expansions=1000)
    assert found.complete
    assert found.probability.tolist() == pytest.approx([best])
