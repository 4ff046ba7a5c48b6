"""Different strings: the n best of them, and how many there are."""

import numpy as np
import pytest
import strategies_automata as given_automata
from hypothesis import given
from hypothesis import strategies as st
from naive import automata as naive

from structens.automata import Semiring, n_best, n_strings, random_automaton
from structens.core import EPSILON, Automaton, AutomatonError


def strings_of(automaton, best):
    return [tuple(a for a in automaton.label[path].tolist() if a != EPSILON) for path in best.paths]


@given(st.integers(1, 12), st.sampled_from([given_automata.INTEGER_COST, None]), st.data())
def test_best_strings_are_those_of_the_definition(n, numbers, data):
    weighted = data.draw(given_automata.weighted(Semiring.TROPICAL, numbers, least_label=-1))
    wanted = naive.best_strings(*weighted)
    if not wanted:
        with pytest.raises(AutomatonError, match="no path of finite cost"):
            n_best(*weighted[:2], n, weighted.final_weight, distinct=True)
        return
    best = n_best(*weighted[:2], n, weighted.final_weight, distinct=True)
    found = strings_of(weighted.automaton, best)
    assert len(found) == len(set(found)) == min(n, len(wanted))
    assert np.allclose(best.weight, [cost for cost, _ in wanted[:n]], rtol=1e-9, atol=1e-9)
    costs = {read: cost for cost, read in wanted}
    for path, read, cost in zip(best.paths, found, best.weight, strict=True):
        assert costs[read] == pytest.approx(cost, rel=1e-9, abs=1e-9)
        own = naive.path_weight(weighted.automaton, path.tolist(), *weighted[1:], Semiring.TROPICAL)
        assert own == pytest.approx(cost, rel=1e-9, abs=1e-9)


@given(st.integers(1, 6), st.data())
def test_equal_costs_do_not_depend_on_the_order_of_transitions(n, data):
    automaton = data.draw(given_automata.automata(least_label=-1))
    cost = data.draw(st.lists(st.integers(0, 2), min_size=automaton.n_transitions, max_size=automaton.n_transitions))
    rows = list(zip(automaton.source.tolist(), automaton.target.tolist(), automaton.label.tolist(), cost, strict=True))
    if not naive.accepting_paths(automaton):
        return
    answers = []
    for listed in (rows, data.draw(st.permutations(rows))):
        some = sorted(listed, key=lambda row: row[0])  # as the automaton keeps them
        final = np.flatnonzero(automaton.is_final).tolist()
        made = Automaton.from_transitions(
            [row[:3] for row in some], final=final, start=automaton.start, n_states=automaton.n_states
        )
        best = n_best(made, [float(row[3]) for row in some], n, distinct=True)
        answers.append((strings_of(made, best), best.weight.tolist()))
        assert answers[-1][1] == sorted(answers[-1][1])
        ties = list(zip(answers[-1][1], answers[-1][0], strict=True))
        assert ties == sorted(ties)
    assert answers[0] == answers[1]


def test_one_string_with_very_many_paths():
    # 2**60 paths, one string; and 61 strings where one place may differ.
    twins = Automaton.from_transitions([(k, k + 1, 0) for k in range(60) for _ in range(2)], final=[60])
    assert len(n_best(twins, np.zeros(120), 10, distinct=True).paths) == 1
    assert n_strings(twins) == 1
    rows = [(k, k + 1, label) for k in range(60) for label in (0, 0, 1)]
    choice = Automaton.from_transitions(rows, final=[60])
    best = n_best(choice, np.tile([0.0, 0.0, 1.0], 60), 61, distinct=True)
    assert sorted(sum(s) for s in strings_of(choice, best)) == [0] + [1] * 60
    assert n_strings(choice) == 2**60


def test_strings_of_a_large_automaton_agree_with_its_paths():
    weighted = random_automaton(2001, 20_000, 4, seed=3, width=40, epsilon=0.05)
    best = n_best(*weighted[:2], 200, distinct=True)
    paths = n_best(*weighted[:2], 5000)
    seen = {}
    for path, cost in zip(paths.paths, paths.weight, strict=True):
        read = tuple(a for a in weighted.automaton.label[path].tolist() if a != EPSILON)
        seen.setdefault(read, cost)
    n = min(200, len(seen))
    assert np.allclose(best.weight[:n], list(seen.values())[:n], rtol=1e-12)


@given(given_automata.automata(least_label=-1))
def test_number_of_strings(automaton):
    read = {naive.strings(automaton, path)[0] for path in naive.accepting_paths(automaton)}
    assert n_strings(automaton) == len(read)


def test_labels_may_be_large_numbers():
    automaton = Automaton.from_transitions([(0, 1, 2_000_000_000), (0, 1, EPSILON), (1, 2, 5)], final=[2])
    best = n_best(automaton, [1.0, 0.5, 0.0], 3, distinct=True)
    assert strings_of(automaton, best) == [(5,), (2_000_000_000, 5)]
