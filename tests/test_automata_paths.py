"""Best paths, counting, sampling, and the automaton of a record."""

import math
import sys

import numpy as np
import pytest
import strategies_automata as given_automata
from hypothesis import assume, given
from hypothesis import strategies as st
from naive import automata as naive

from structens.automata import (
    PathSampler,
    Semiring,
    expert_automaton,
    log10_paths,
    longest_path,
    n_best,
    n_paths,
    path_labels,
    push,
    sample,
    shortest_path,
)
from structens.core import (
    ABSENT,
    EPSILON,
    GAP,
    UNKNOWN,
    Alphabet,
    Automaton,
    AutomatonError,
    DataError,
    ParameterError,
    Slots,
)


def figure(p, n_slots):
    states = np.arange(n_slots)
    return Automaton(
        offsets=np.concatenate([np.arange(n_slots + 1) * p, [n_slots * p]]),
        target=np.repeat(states + 1, p),
        label=np.tile(np.arange(p), n_slots),
        is_final=np.arange(n_slots + 1) == n_slots,
    )


@given(st.data())
def test_shortest_path_is_the_first_best_one(data):
    # Whole numbers, so that ties are frequent and exact.
    automaton, weight, final = data.draw(given_automata.weighted(Semiring.TROPICAL, given_automata.INTEGER_COST))
    ranked = naive.best_paths(automaton, weight, final)
    if not ranked:
        with pytest.raises(AutomatonError, match="no path of finite cost"):
            shortest_path(automaton, weight, final)
        return
    assert tuple(shortest_path(automaton, weight, final)) == ranked[0][1]


@given(st.integers(1, 30), st.data())
def test_n_best_is_the_sorted_list_of_paths(n, data):
    automaton, weight, final = data.draw(given_automata.weighted(Semiring.TROPICAL, given_automata.INTEGER_COST))
    ranked = naive.best_paths(automaton, weight, final)
    assume(ranked)
    found = n_best(automaton, weight, n, final)
    assert [tuple(path) for path in found.paths.to_list()] == [path for _, path in ranked[:n]]
    assert found.weight.tolist() == [cost for cost, _ in ranked[:n]]


@given(st.data())
def test_n_best_with_real_numbers_gives_all_paths_in_order(data):
    automaton, weight, final = data.draw(given_automata.weighted(Semiring.TROPICAL))
    ranked = naive.best_paths(automaton, weight, final)
    assume(ranked)
    found = n_best(automaton, weight, 10**9, final)
    assert {tuple(path) for path in found.paths.to_list()} == {path for _, path in ranked}
    assert np.allclose(found.weight, [cost for cost, _ in ranked], rtol=1e-12)
    assert (np.diff(found.weight) >= 0).all()


def test_ties_go_to_the_lowest_transition():
    automaton = figure(3, 3)
    assert shortest_path(automaton, np.zeros(9)).tolist() == [0, 3, 6]
    found = n_best(automaton, np.zeros(9), 27).paths.to_list()
    assert found == sorted(found)
    assert len(found) == 27
    # A path that stops comes before one that goes on.
    stops = Automaton.from_transitions([(0, 1, 0), (1, 2, 0)], final=[0, 1, 2])
    assert n_best(stops, [0, 0], 3).paths.to_list() == [[], [0], [0, 1]]


def test_n_best_on_a_long_automaton():
    # One better choice in each slot; the n best paths are those with the n cheapest sets of worse choices.
    n_slots = 2000
    automaton = figure(2, n_slots)
    extra = 1.0 + np.arange(n_slots)
    weight = np.stack([np.zeros(n_slots), extra], axis=1).ravel()
    found = n_best(automaton, weight, 8)
    assert found.weight.tolist() == [0, 1, 2, 3, 3, 4, 4, 5]
    assert found.paths.lengths.tolist() == [n_slots] * 8


@pytest.mark.parametrize("semiring", [Semiring.LOG, Semiring.REAL])
def test_only_the_tropical_semiring_has_best_paths(semiring):
    for verb in (shortest_path, lambda *a, **k: n_best(*a, 2, **k)):
        with pytest.raises(ParameterError, match=f"needs Semiring.TROPICAL, not {semiring.name}"):
            verb(figure(2, 1), [0.5, 0.5], semiring=semiring)


def test_n_best_needs_a_number_of_paths():
    with pytest.raises(ParameterError, match="n must be a number of paths >= 1; got 0"):
        n_best(figure(2, 1), [0, 0], 0)


def test_no_accepting_path():
    dead = Automaton.from_transitions([(0, 1, 0)], final=[])
    for verb in (shortest_path, lambda *a: n_best(*a, 2)):
        with pytest.raises(AutomatonError, match="from start state 0"):
            verb(dead, [0.0])


@given(given_automata.automata())
def test_number_of_paths(automaton):
    paths = naive.accepting_paths(automaton)
    assert n_paths(automaton) == len(paths)
    assert 10 ** log10_paths(automaton) == pytest.approx(len(paths), rel=1e-12)


@given(given_automata.automata())
def test_longest_path(automaton):
    everywhere = [naive.paths_between(automaton, automaton.start, q) for q in range(automaton.n_states)]
    assert longest_path(automaton) == max(len(path) for paths in everywhere for path in paths)


@pytest.mark.compiled
def test_wfa_12_more_paths_than_any_number_holds():
    wide = figure(50, 3000)
    count = n_paths(wide)
    assert count == 50**3000
    assert count > 2**63
    with pytest.raises(OverflowError):
        float(count)
    with pytest.raises(ValueError, match="4300"):
        str(count)
    assert round(log10_paths(wide), 2) == 5096.91
    assert round(log10_paths(figure(251, 15)), 3) == 35.995
    pushed = push(wide, np.zeros(wide.n_transitions))
    assert np.allclose(np.exp(-pushed.weight), 1 / 50, rtol=1e-9)


@pytest.mark.parametrize("semiring", [Semiring.LOG, Semiring.REAL])
def test_sampled_paths_have_their_probabilities(semiring):
    from scipy.stats import chisquare

    rng = np.random.default_rng(11)
    transitions = [(0, 1, 0), (0, 1, 1), (0, 2, 0), (1, 2, 0), (1, 3, 0), (2, 3, 0), (2, 3, 1), (2, 4, 0), (3, 5, 0)]
    transitions += [(0, 3, j) for j in range(20)]
    automaton = Automaton.from_transitions(sorted(transitions), final=[2, 3, 5])
    real = rng.exponential(1.0, automaton.n_transitions)
    final = np.array([9.0, 9.0, 0.5, 0.7, 9.0, 1.5])
    weight, final_weight = (real, final) if semiring is Semiring.REAL else (-np.log(real), -np.log(final))
    twin = naive.path_probabilities(automaton, weight, final_weight, semiring)
    drawn = [tuple(path) for path in sample(automaton, weight, 60_000, 17, final_weight, semiring).to_list()]
    assert set(drawn) <= set(twin)
    counts = dict.fromkeys(twin, 0)
    for path in drawn:
        counts[path] += 1
    expected = np.array([60_000 * p for p in twin.values()])
    assert expected.min() > 5
    assert chisquare(list(counts.values()), expected).pvalue > 0.01


@given(st.integers(0, 1000), st.data())
def test_sampled_paths_are_accepting_paths(seed, data):
    automaton, weight, final = data.draw(given_automata.weighted(Semiring.LOG))
    assume(naive.total_weight(automaton, weight, final, Semiring.LOG) < math.inf)
    possible = {
        path
        for path in naive.accepting_paths(automaton)
        if naive.path_weight(automaton, path, weight, final, Semiring.LOG) < math.inf
    }
    assert {tuple(path) for path in sample(automaton, weight, 5, seed, final).to_list()} <= possible


def test_wfa_10_the_same_seed_draws_the_same_paths():
    automaton, weight = figure(2, 2), -np.log([0.6, 0.4, 0.5, 0.5])
    first = sample(automaton, weight, 10_000, seed=7)
    assert (first.values == sample(automaton, weight, 10_000, seed=7).values).all()
    assert (first.values == sample(automaton, weight, 10_000, np.random.default_rng(7)).values).all()
    assert (first.values != sample(automaton, weight, 10_000, seed=8).values).any()
    choice = first.values.reshape(-1, 2)
    slot_1, slot_2 = choice[:, 0] == 0, choice[:, 1] == 2
    assert abs(slot_1.mean() - 0.6) < 0.0196
    assert abs(slot_2.mean() - 0.5) < 0.02
    assert abs((slot_1 & slot_2).mean() - slot_1.mean() * slot_2.mean()) < 4 * 0.5 * 0.5 / 100
    # One record at a time, in any order: a generator of seed and record.
    draws = {
        order: {i: sample(automaton, weight, 3, np.random.default_rng([7, i])).to_list() for i in order}
        for order in ((0, 1, 2), (2, 0, 1))
    }
    assert draws[0, 1, 2] == draws[2, 0, 1]


def test_a_sample_does_not_depend_on_the_size_of_the_chunks(monkeypatch):
    automaton, weight = figure(3, 5), np.arange(15) / 7
    whole = sample(automaton, weight, 100, seed=2)
    monkeypatch.setattr(sys.modules["structens.automata.sample"], "_CELLS", 35)
    assert (whole.values == sample(automaton, weight, 100, seed=2).values).all()


def test_sampling_leaves_the_global_generator_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    sample(figure(2, 2), np.zeros(4), 10, seed=1)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


def test_samples_of_no_paths_and_of_the_empty_path():
    assert sample(figure(2, 2), np.zeros(4), 0, seed=1).to_list() == []
    assert sample(Automaton.from_transitions([], final=[0]), [], 2, seed=1).to_list() == [[], []]


@pytest.mark.parametrize(("n", "seed", "message"), [(-1, 0, "n must"), (1, None, "seed must"), (1, True, "seed must")])
def test_bad_arguments_of_sample(n, seed, message):
    with pytest.raises(ParameterError, match=message):
        sample(figure(2, 1), [0, 0], n, seed)


def slots_of(*records):
    labels = np.array([slot for record in records for slot in record], dtype=np.int32).reshape(-1, 3)
    offsets = np.cumsum([0, *map(len, records)])
    alphabet = Alphabet(("x", "y", "z"))
    gold = np.full(len(labels), UNKNOWN, dtype=np.int32)
    return Slots(labels, offsets, np.zeros(labels.shape, int), ("a", "b", "c"), alphabet, gold, np.zeros(len(records)))


def test_expert_automaton_is_figure_1():
    slots = slots_of([[0, 1, 2]], [[0, 1, 0], [1, GAP, 2]])
    automaton, expert, slot = expert_automaton(slots, 1)
    assert automaton.offsets.tolist() == [0, 3, 6, 6]
    assert automaton.target.tolist() == [1, 1, 1, 2, 2, 2]
    assert automaton.label.tolist() == [0, 1, 0, 1, EPSILON, 2]
    assert automaton.is_final.tolist() == [False, False, True]
    assert expert.tolist() == [0, 1, 2, 0, 1, 2]
    assert slot.tolist() == [0, 0, 0, 1, 1, 1]
    assert n_paths(automaton) == 3**2
    best = shortest_path(automaton, [1, 0, 1, 1, 0, 1])
    assert path_labels(automaton, n_best(automaton, [1, 0, 1, 1, 0, 1], 1).paths).to_list() == [[1, EPSILON]]
    assert expert[best].tolist() == [1, 1]


def test_absent_experts_have_no_transitions():
    automaton, expert, slot = expert_automaton(slots_of([[0, ABSENT, 2], [1, ABSENT, GAP]]), 0)
    assert expert.tolist() == [0, 2, 0, 2]
    assert slot.tolist() == [0, 0, 1, 1]
    assert automaton.label.tolist() == [0, 2, 1, EPSILON]


def test_a_record_without_slots_has_the_empty_path():
    automaton, expert, _ = expert_automaton(slots_of([[0, 1, 2]], []), 1)
    assert (automaton.n_states, n_paths(automaton), len(expert)) == (1, 1, 0)


def test_records_that_make_no_automaton():
    with pytest.raises(DataError, match="no record number 1; there are 1"):
        expert_automaton(slots_of([[0, 1, 2]]), 1)
    with pytest.raises(DataError, match="record 0: slot 1 has no answer of any expert"):
        expert_automaton(slots_of([[0, 1, 2], [ABSENT] * 3]), 0)


def test_more_paths_do_not_change_the_first_ones():
    sampler = PathSampler(figure(3, 40), np.arange(120) / 50)
    many = sampler.draw(300, seed=5).to_list()
    for n in (1, 63, 64, 65, 299):
        assert sampler.draw(n, seed=5).to_list() == many[:n]


@given(st.sampled_from([Semiring.LOG, Semiring.REAL]), st.data())
def test_tables_of_the_sampler_give_each_number_its_transition(semiring, data):
    """Where a uniform number falls decides; checked at and around every border between two transitions."""
    numbers = st.sampled_from([0.0, 1e-300, 1.0, 2.0, 3.0]) if semiring is Semiring.REAL else None
    automaton, weight, final = data.draw(given_automata.weighted(semiring, numbers))
    if naive.total_weight(automaton, weight, final, semiring) == semiring.zero:
        return
    pushed = push(automaton, weight, final, semiring)
    shares = pushed.weight if semiring is Semiring.REAL else np.exp(-pushed.weight)
    start = automaton.start
    begin, end = automaton.offsets[start : start + 2]
    borders = np.concatenate([[0.0], np.cumsum(shares[begin:end])])
    points = [x for b in borders for x in (b - 1e-9, b + 1e-9) if 0 <= x < 1]
    points += [0.0, np.nextafter(1.0, 0.0)]

    class Fixed(np.random.Generator):
        def random(self, size):
            return np.full(size, point)

    for point in points:
        path = PathSampler(automaton, weight, final, semiring).draw(1, Fixed(np.random.PCG64(0)))[0].tolist()
        place = int(np.searchsorted(borders, point, side="right")) - 1
        near = min(abs(borders - point)) < 1e-12 * len(borders)
        assert all(shares[e] > 0 for e in path)
        if not near:
            assert path[:1] == ([begin + place] if place < end - begin else [])
