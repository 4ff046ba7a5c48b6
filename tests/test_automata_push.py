"""Weight pushing and marginals: theorems, the trap of local normalisation, and the cases from public reports."""

import math

import numpy as np
import pytest
import strategies_automata as given_automata
from hypothesis import assume, given
from hypothesis import strategies as st
from naive import automata as naive

from structens.automata import Semiring, expected_loss, flows, push, sample, total_weight
from structens.core import Automaton, AutomatonError, DataError, ParameterError

SEMIRINGS = list(Semiring)
PROBABILISTIC = [Semiring.LOG, Semiring.REAL]
FIGURE_1 = Automaton.from_transitions(
    [(0, 1, 0), (0, 2, 0), (0, 3, 0), (1, 4, 0), (2, 3, 0), (2, 4, 0), (3, 4, 0)], final=[4]
)
E01, E02, E03, E14, E23, E24, E34 = range(7)
FIGURE_1_PATHS = [(E01, E14), (E02, E24), (E02, E23, E34), (E03, E34)]


def close(a, b, tolerance=1e-9):
    return np.allclose(np.array(a, dtype=float), np.array(b, dtype=float), rtol=tolerance, atol=tolerance)


def figure(p, n_slots):
    """Figure 1 of the 2014 paper: p experts, n_slots slots."""
    return Automaton.from_transitions(
        [(k, k + 1, j) for k in range(n_slots) for j in range(p)], final=[n_slots], n_states=n_slots + 1
    )


def in_semiring(costs, semiring):
    return np.exp(-np.asarray(costs, dtype=float)) if semiring is Semiring.REAL else np.asarray(costs, dtype=float)


@given(st.sampled_from(SEMIRINGS), st.data())
def test_pushing_keeps_path_weights_up_to_the_total(semiring, data):
    automaton, weight, final = data.draw(given_automata.weighted(semiring))
    total = naive.total_weight(automaton, weight, final, semiring)
    if total == semiring.zero:
        with pytest.raises(AutomatonError, match=f"start state {automaton.start} "):
            push(automaton, weight, final, semiring)
        return
    pushed = push(automaton, weight, final, semiring)
    assert close(pushed.total, total)
    assert not np.isnan(pushed.weight).any()
    assert not np.isnan(pushed.final_weight).any()
    for path in naive.accepting_paths(automaton):
        old = naive.path_weight(automaton, path, weight, final, semiring)
        new = naive.path_weight(automaton, path, pushed.weight, pushed.final_weight, semiring)
        assert close(old / total if semiring is Semiring.REAL else old - total, new, 1e-8)


@given(st.sampled_from(SEMIRINGS), st.data())
def test_pushed_states_are_stochastic(semiring, data):
    automaton, weight, final = data.draw(given_automata.weighted(semiring))
    to_end = naive.distances(automaton, weight, final, semiring, reverse=True)
    assume(to_end[automaton.start] != semiring.zero)
    pushed = push(automaton, weight, final, semiring)
    for q in range(automaton.n_states):
        begin, end = automaton.offsets[q : q + 2]
        own = [*pushed.weight[begin:end].tolist(), float(pushed.final_weight[q])]
        alive = to_end[q] != semiring.zero
        assert close(naive.plus(semiring, own), semiring.one if alive else semiring.zero)


@given(st.sampled_from(PROBABILISTIC), st.data())
def test_flows_and_expected_loss_are_those_of_the_paths(semiring, data):
    automaton, weight, final = data.draw(given_automata.weighted(semiring))
    assume(naive.total_weight(automaton, weight, final, semiring) != semiring.zero)
    loss = np.array(data.draw(st.lists(st.floats(0, 3), min_size=len(weight), max_size=len(weight))))
    probabilities = naive.path_probabilities(automaton, weight, final, semiring)
    found = flows(automaton, weight, final, semiring)
    for ours, twin in zip(found, naive.flows(automaton, probabilities), strict=True):
        assert close(ours, twin)
    assert close(found.final.sum(), 1, 1e-12)
    mean = sum(p * sum(loss[e] for e in path) for path, p in probabilities.items())
    assert close(expected_loss(automaton, weight, loss, final, semiring), mean)


@st.composite
def chained(draw):
    """A chain of up to 7 states with ways past it and parallel transitions, as `verify_identities` draws them."""
    n = draw(st.integers(4, 7))
    ahead = [(q, r) for q in range(n) for r in range(q + 2, n)]
    past = draw(st.lists(st.sampled_from(ahead), max_size=9, unique=True))
    edges = [(q, q + 1) for q in range(n - 1)] + past
    edges += draw(st.lists(st.sampled_from(edges), min_size=3, max_size=3))
    return Automaton.from_transitions([(q, r, 0) for q, r in sorted(edges)], final=[n - 1])


@given(chained(), st.sampled_from(PROBABILISTIC), st.data())
def test_identity_1_of_the_specification(automaton, semiring, data):
    # Pushing gives the probabilities of the paths, flows times losses their mean loss.
    size = automaton.n_transitions
    cost, loss = (np.array(data.draw(st.lists(st.floats(0, m), min_size=size, max_size=size))) for m in (5, 1))
    paths = naive.accepting_paths(automaton)
    q = np.exp([-sum(cost[e] for e in path) for path in paths])
    q /= q.sum()
    weight = in_semiring(cost, semiring)
    pushed = push(automaton, weight, semiring=semiring).weight
    steps = pushed if semiring is Semiring.REAL else np.exp(-pushed)
    assert close(q, [steps[list(path)].prod() for path in paths], 1e-12)
    mean = sum(share * loss[list(path)].sum() for share, path in zip(q, paths, strict=True))
    assert close(flows(automaton, weight, semiring=semiring).transition @ loss, mean, 1e-12)
    assert close(expected_loss(automaton, weight, loss, semiring=semiring), mean, 1e-12)


@pytest.mark.parametrize("semiring", PROBABILISTIC)
def test_colt15_figure_1_uniform_then_learnt(semiring):
    uniform = in_semiring(np.zeros(7), semiring)
    weight = push(FIGURE_1, uniform, semiring=semiring).weight
    real = weight if semiring is Semiring.REAL else np.exp(-weight)
    assert close(real, [0.25, 0.5, 0.25, 1, 0.5, 0.5, 1], 1e-14)
    found = flows(FIGURE_1, uniform, semiring=semiring)
    assert close(found.transition, [0.25, 0.5, 0.25, 0.25, 0.25, 0.25, 0.5], 1e-14)
    loss = np.zeros(7)
    loss[[E01, E03, E24]] = 1
    assert close(expected_loss(FIGURE_1, uniform, loss, semiring=semiring), 0.75, 1e-14)

    # beta = .5: multiply the pushed weights by beta to the loss, then push again.
    updated = weight * 0.5**loss if semiring is Semiring.REAL else weight + loss * math.log(2)
    second = push(FIGURE_1, updated, semiring=semiring)
    real = second.weight if semiring is Semiring.REAL else np.exp(-second.weight)
    z = second.total if semiring is Semiring.REAL else math.exp(-second.total)
    assert close(z, 0.625, 1e-14)
    assert close(real[[E01, E02, E03, E23, E24]], [0.2, 0.6, 0.2, 2 / 3, 1 / 3], 1e-14)
    probabilities = [math.prod(real[list(path)]) for path in FIGURE_1_PATHS]
    assert close(probabilities, [0.2, 0.2, 0.4, 0.2], 1e-14)


def test_local_normalisation_is_a_trap():
    # Equation 3 of the 2014 paper on a general automaton gives another distribution than pushing does.
    weight = flows(FIGURE_1, np.zeros(7)).transition * 0 + np.exp(-push(FIGURE_1, np.zeros(7)).weight)
    weight[[E01, E03, E24]] *= 0.5
    for q in range(5):
        begin, end = FIGURE_1.offsets[q : q + 2]
        if end > begin:
            weight[begin:end] /= weight[begin:end].sum()
    local = [math.prod(weight[list(path)]) for path in FIGURE_1_PATHS]
    assert np.round(local, 4).tolist() == [0.1667, 0.2222, 0.4444, 0.1667]
    assert not close(local, [0.2, 0.2, 0.4, 0.2], 1e-2)


def test_figure_1_two_experts_two_rounds():
    automaton, beta = figure(2, 2), math.log(2)
    rounds = [[0, 1, 1, 1], [0, 1, 0, 0]]  # (slot 0: expert 1, 2), (slot 1: expert 1, 2)
    cost, losses = np.zeros(4), []
    expected = [[2 / 3, 1 / 3, 0.5, 0.5], [0.8, 0.2, 0.5, 0.5]]
    for loss, after in zip(rounds, expected, strict=True):
        losses.append(expected_loss(automaton, cost, loss))
        cost = cost + beta * np.array(loss)
        assert close(np.exp(-push(automaton, cost).weight), after, 1e-14)
    assert close(losses, [1.5, 1 / 3], 1e-14)
    # The exponent of the normalised loss: half of it a slot.
    assert close(np.exp(-push(automaton, cost / 2).weight), [2 / 3, 1 / 3, 0.5, 0.5], 1e-14)


def test_constants_of_the_regret_bounds():
    log_paths = 10 * math.log(5)
    assert close(log_paths, 16.0944, 1e-4)
    assert -total_weight(figure(5, 10), np.zeros(50)) == pytest.approx(log_paths, rel=1e-14)
    constants = [2 * math.sqrt(log_paths / 200), math.sqrt(log_paths / 400), math.sqrt(math.log(5) / 400)]
    assert np.round(constants, 5).tolist() == [0.56735, 0.20059, 0.06343]


@pytest.mark.parametrize("semiring", PROBABILISTIC)
def test_wfa_01_total_zero_is_refused(semiring):
    automaton = Automaton.from_transitions([(0, 1, 0), (0, 1, 1)], final=[1])
    weight = [semiring.zero] * 2
    assert total_weight(automaton, weight, semiring=semiring) == semiring.zero
    for verb in (push, flows):
        with pytest.raises(AutomatonError, match="no path with positive weight leads from start state 0"):
            verb(automaton, weight, semiring=semiring)
    with pytest.raises(AutomatonError, match="no path with positive weight"):
        sample(automaton, weight, 1, 0, semiring=semiring)


@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_no_states_at_all(semiring):
    with pytest.raises(AutomatonError, match="no path with positive weight"):
        push(Automaton(np.zeros(1), [], [], []), [], semiring=semiring)


def test_weights_sum_to_one_however_far_from_zero_the_costs_are():
    automaton = figure(3, 200)
    cost = 1e6 + np.random.default_rng(0).exponential(3.0, 600)
    assert np.abs(np.exp(-push(automaton, cost).weight).reshape(-1, 3).sum(axis=1) - 1).max() < 1e-14


def test_wfa_03_far_costs_keep_their_ratio():
    automaton = figure(2, 1)
    assert close(np.exp(-push(automaton, [2000.0, 2003.0]).weight), [0.9525741268224334, 0.04742587317756678], 1e-12)
    assert close(flows(automaton, [2000.0, 2003.0]).transition, [0.9525741268224334, 0.04742587317756678], 1e-12)


def test_wfa_04_a_bad_expert_comes_back():
    automaton, weight = figure(2, 1), np.log([2.0, 2.0])
    for loss in [(0, 1)] * 2000 + [(1, 0)] * 2000:
        weight = push(automaton, weight + math.log(2) * np.array(loss)).weight
    assert close(np.exp(-weight), [0.5, 0.5], 1e-9)
    assert close(np.exp(-push(automaton, [2000 * math.log(2)] * 2).weight), [0.5, 0.5], 1e-14)


@pytest.mark.parametrize("semiring", PROBABILISTIC)
def test_wfa_07_dead_ends_carry_nothing(semiring):
    # 0 -a/.3-> 1 -c/1-> 4 (final), 0 -b/.7-> 2 (dead), 3 -d/1-> 4 (unreachable)
    automaton = Automaton.from_transitions([(0, 1, 0), (0, 2, 1), (1, 4, 2), (3, 4, 3)], final=[4])
    weight = np.array([0.3, 0.7, 1.0, 1.0]) if semiring is Semiring.REAL else -np.log([0.3, 0.7, 1.0, 1.0])
    pushed = push(automaton, weight, semiring=semiring)
    total = pushed.total if semiring is Semiring.REAL else math.exp(-pushed.total)
    assert close(total, 0.3, 1e-15)
    assert flows(automaton, weight, semiring=semiring).transition.tolist() == pytest.approx([1, 0, 1, 0], abs=1e-15)
    assert sample(automaton, weight, 1000, seed=1, semiring=semiring).to_list() == [[0, 2]] * 1000


def test_wfa_15_transition_weights_stand_for_the_product():
    automaton, cost, losses = figure(2, 2), np.zeros(4), []
    loss = np.array([0, 1, 1, 0]) / 2  # expert 1 right in slot 0, expert 2 right in slot 1
    for _ in range(4):
        losses.append(expected_loss(automaton, cost, loss))
        cost = cost + math.log(2) * loss
    assert close(losses, [0.5, 0.4142135624, 0.3333333333, 0.2612038749], 1e-10)
    weight = np.exp(-push(automaton, cost).weight)
    assert close(weight, [0.8, 0.2, 0.2, 0.8], 1e-14)
    twin = naive.path_probabilities(automaton, cost, None, Semiring.LOG)
    assert close([twin[0, 2], twin[0, 3], twin[1, 2], twin[1, 3]], [0.16, 0.64, 0.04, 0.16], 1e-14)
    assert close([math.prod(weight[list(path)]) for path in twin], list(twin.values()), 1e-14)


@pytest.mark.compiled
def test_real_and_log_agree_on_a_hundred_thousand_slots():
    n_slots, p = 100_000, 3
    automaton = Automaton(
        offsets=np.concatenate([np.arange(0, n_slots * p + 1, p), [n_slots * p]]),
        target=np.repeat(np.arange(1, n_slots + 1), p),
        label=np.zeros(n_slots * p),
        is_final=np.arange(n_slots + 1) == n_slots,
    )
    cost = np.random.default_rng(5).exponential(1.0, n_slots * p) + 0.05
    log = push(automaton, cost)
    real = push(automaton, np.exp(-cost), semiring=Semiring.REAL)
    local = np.exp(-cost).reshape(n_slots, p)
    exact = (local / local.sum(axis=1, keepdims=True)).ravel()
    assert np.abs(real.weight - exact).max() < 1e-14
    assert np.abs(np.exp(-log.weight) - real.weight).max() < 1e-11
    assert close(log.total, -np.log(local.sum(axis=1)).sum(), 1e-13)


def test_costs_far_below_the_smallest_float():
    # e^-5000 is 0 as a float; the ratio of the two paths is e^-1 all the same, in the flows too.
    automaton = Automaton.from_transitions([(0, 1, 0), (0, 2, 0), (1, 3, 0), (2, 3, 0)], final=[3])
    assert close(flows(automaton, [5000, 1, 0, 5000]).transition[:2], np.array([math.e, 1]) / (1 + math.e), 1e-12)


def test_final_weights_are_pushed_by_their_own_state():
    # COLT15 prints the total in place of the state's own distance; then the final state would not be stochastic.
    automaton = Automaton.from_transitions([(0, 1, 0), (1, 2, 0)], final=[1, 2])
    pushed = push(automaton, [0.5, 0.25], [9.0, 0.5, 2.0], Semiring.REAL)
    assert pushed.total == 0.5 * (0.5 + 0.25 * 2)
    assert pushed.final_weight.tolist() == [0.0, 0.5, 1.0]
    assert pushed.weight.tolist() == [1.0, 0.5]


def test_a_total_out_of_range_leaves_right_weights():
    automaton = figure(2, 3)
    pushed = push(automaton, [1e-200, 3e-200] * 3, semiring=Semiring.REAL)
    assert pushed.total == 0.0
    assert close(pushed.weight, [0.25, 0.75] * 3, 1e-14)


def test_no_distribution_in_the_tropical_semiring():
    for verb in (flows, lambda *a, **k: expected_loss(*a, [0.0, 0.0], **k)):
        with pytest.raises(ParameterError, match=r"needs Semiring\.LOG or Semiring\.REAL, not TROPICAL"):
            verb(figure(2, 1), [0.0, 0.0], semiring=Semiring.TROPICAL)


def test_negative_probabilities_and_bad_losses_are_refused():
    with pytest.raises(DataError, match=r"weight -0\.5 of transition 0"):
        push(figure(2, 1), [-0.5, 1.5], semiring=Semiring.REAL)
    for loss in ([0.0], [0.0, np.nan]):
        with pytest.raises(DataError, match="one finite loss a transition, 2 in all"):
            expected_loss(figure(2, 1), [0.0, 0.0], loss)


def test_tropical_pushing_gives_viterbi_potentials():
    pushed = push(FIGURE_1, [3, 1, 4, 1, 5, 9, 2], semiring=Semiring.TROPICAL)
    assert pushed.total == 4
    assert pushed.weight.tolist() == [0, 4, 2, 0, 0, 2, 0]
