import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from naive.online import path_flows, path_probabilities, paths_of

from structens.automata import expected_loss, sample
from structens.core import Automaton, AutomatonError, DataError, ParameterError
from structens.online import WeightedMajority, averaged_flows, cv_round, play_automaton, round_losses, thetas
from structens.online.bounds import hedge_regret

# COLT 2015, figure 1
DAG = Automaton.from_transitions(
    [(0, 1, 0), (0, 2, 1), (0, 3, 2), (1, 4, 3), (2, 3, 4), (2, 4, 5), (3, 4, 6)], final=[4]
)
FIGURE_1 = Automaton.from_transitions([(0, 1, 0), (0, 1, 1), (1, 2, 0), (1, 2, 1)], final=[2])


@st.composite
def dags(draw):
    n = draw(st.integers(2, 6))
    pairs = [(q, r) for q in range(n) for r in range(q + 1, n)]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=12))
    final = {n - 1, *draw(st.sets(st.integers(0, n - 1), max_size=2))}
    a = Automaton.from_transitions([(q, r, k) for k, (q, r) in enumerate(chosen)], final=final, n_states=n)
    assume(0 < len(paths_of(a)) <= 200)
    return a


@st.composite
def games(draw):
    a = draw(dags())
    n_rounds = draw(st.integers(1, 5))
    loss = st.floats(0, 3, allow_subnormal=False)
    row = st.lists(loss, min_size=a.n_transitions, max_size=a.n_transitions)
    losses = [draw(row) for _ in range(n_rounds)]
    prior = draw(st.none() | row)
    return a, np.array(losses), prior, draw(st.sampled_from([1.0, 0.9, 0.5, 0.01]))


@given(games())
def test_distribution_flows_and_losses_are_those_of_the_enumerated_paths(game):
    a, losses, prior, beta = game
    learner = WeightedMajority(a, beta, prior=prior)
    eta = -math.log(beta)
    expected = []
    for t, loss in enumerate(losses):
        p_t = path_probabilities(a, losses[:t].sum(axis=0), eta, prior)
        pushed = learner.pushed()
        for path, mass in p_t.items():
            end = a.target[path[-1]] if path else a.start
            cost = pushed.weight[list(path)].sum() + pushed.final_weight[end]
            assert math.exp(-cost) == pytest.approx(mass, rel=1e-9)
        assert learner.flows() == pytest.approx(path_flows(a, p_t), abs=1e-12)
        expected.append(sum(mass * loss[list(path)].sum() for path, mass in p_t.items()))
        assert learner.expected_loss(loss) == pytest.approx(expected[-1], abs=1e-12)
        assert learner.update(loss) == pytest.approx(expected[-1], abs=1e-12)
    assert learner.round_losses == pytest.approx(expected, abs=1e-12)
    assert round_losses(learner) == pytest.approx(expected, abs=1e-12)
    assert expected_loss(a, learner.weight(0), losses[0]) == pytest.approx(expected[0], abs=1e-12)


@given(games(), st.booleans())
def test_conversions_are_those_of_the_enumerated_paths(game, corrected):
    a, losses, prior, beta = game
    learner = WeightedMajority(a, beta, prior=prior)
    for loss in losses:
        learner.update(loss)
    eta, n = -math.log(beta), len(losses)
    p = [path_probabilities(a, losses[:t].sum(axis=0), eta, prior) for t in range(n)]
    found = averaged_flows(learner, largest=9.0)
    mean = np.mean([path_flows(a, p[t]) for t in range(found.start, n)], axis=0)
    assert found.transition == pytest.approx(mean, abs=1e-12)
    theta = []
    for t in range(n if corrected else n - 1):
        later = losses[t:] if corrected else losses[t + 1 :]
        theta.append(np.mean([sum(m * x[list(path)].sum() for path, m in p[t].items()) for x in later]))
    assert thetas(learner, corrected=corrected) == pytest.approx(theta, abs=1e-10)
    assert 0 <= cv_round(learner, corrected=corrected) < n


@given(games())
def test_regret_is_under_its_bound(game):
    a, losses, _, beta = game
    assume(beta < 1)
    learner = WeightedMajority(a, beta)
    total = sum(learner.update(loss) for loss in losses)
    paths = paths_of(a)
    largest = max(loss[list(path)].sum() for loss in losses for path in paths)
    best = min(losses.sum(axis=0)[list(path)].sum() for path in paths)
    bound = hedge_regret(math.log(len(paths)), len(losses), learner.eta, largest)
    assert total - best <= bound + 1e-9


def test_figure_1_of_the_specification():
    errors = [[0, 1, 1, 1], [0, 1, 0, 0]]  # (position, expert): round 1 expert 1 errs at 2, expert 2 at 1 and 2; ...
    learner = WeightedMajority(FIGURE_1, 0.5)
    assert learner.update(errors[0]) == pytest.approx(1.5)
    assert learner.flows() == pytest.approx([2 / 3, 1 / 3, 0.5, 0.5])
    assert learner.update(errors[1]) == pytest.approx(1 / 3)
    assert learner.flows() == pytest.approx([0.8, 0.2, 0.5, 0.5])
    normalised = WeightedMajority(FIGURE_1, 0.5)
    for row in errors:
        normalised.update(np.array(row) / 2)
    assert normalised.flows() == pytest.approx([2 / 3, 1 / 3, 0.5, 0.5])


def test_general_automaton_of_the_specification():
    learner = WeightedMajority(DAG, 0.5)
    assert np.exp(-learner.pushed().weight) == pytest.approx([0.25, 0.5, 0.25, 1, 0.5, 0.5, 1])
    assert math.exp(-learner.pushed().total) == pytest.approx(4)
    assert learner.flows() == pytest.approx([0.25, 0.5, 0.25, 0.25, 0.25, 0.25, 0.5])
    loss = [1, 0, 1, 0, 0, 1, 0]
    assert learner.update(loss) == pytest.approx(0.75)
    pushed = learner.pushed()
    assert math.exp(-pushed.total) / 4 == pytest.approx(0.625)
    w = np.exp(-pushed.weight)
    assert w == pytest.approx([0.2, 0.6, 0.2, 1, 2 / 3, 1 / 3, 1])
    by_path = {path: np.prod(w[list(path)]) for path in paths_of(DAG)}
    assert by_path == pytest.approx({(0, 3): 0.2, (1, 5): 0.2, (1, 4, 6): 0.4, (2, 6): 0.2})
    assert sum(by_path.values()) == pytest.approx(1)


def test_normalising_each_state_by_itself_is_another_distribution():
    uniform = np.exp(-WeightedMajority(DAG, 0.5).pushed().weight)
    naive = uniform * 0.5 ** np.array([1, 0, 1, 0, 0, 1, 0])
    naive /= np.bincount(DAG.source, weights=naive)[DAG.source]
    wrong = [np.prod(naive[list(path)]) for path in [(0, 3), (1, 5), (1, 4, 6), (2, 6)]]
    assert wrong == pytest.approx([0.166667, 0.222222, 0.444444, 0.166667], abs=1e-6)


def two_experts(beta):
    return WeightedMajority(Automaton.from_transitions([(0, 1, 0), (0, 1, 1)], final=[1]), beta)


def test_huge_cumulative_losses_keep_their_ratio():  # WFA-03
    learner = two_experts(1 / math.e)
    learner.update([2000, 2003])
    assert learner.flows() == pytest.approx([0.9525741268224334, 0.04742587317756678], rel=1e-12)
    learner.update([1e12, 1e12])
    assert learner.flows() == pytest.approx([0.9525741268224334, 0.04742587317756678], rel=1e-3)


def test_a_bad_expert_can_come_back():  # WFA-04
    learner = two_experts(0.5)
    learner.update([0, 2000])
    assert learner.flows().tolist() == [1.0, 0.0]
    learner.update([2000, 0])
    assert learner.flows() == pytest.approx([0.5, 0.5], rel=1e-12)


def test_path_experts_beat_both_experts():  # WFA-15
    learner = WeightedMajority(FIGURE_1, 0.5)
    losses = [learner.update(np.array([0, 1, 1, 0]) / 2) for _ in range(4)]
    assert losses == pytest.approx([0.5, 0.4142135624, 0.3333333333, 0.2612038749], abs=1e-10)
    assert learner.flows() == pytest.approx([0.8, 0.2, 0.2, 0.8])
    w = np.exp(-learner.pushed().weight)
    assert [w[0] * w[2], w[0] * w[3], w[1] * w[2], w[1] * w[3]] == pytest.approx([0.16, 0.64, 0.04, 0.16])


def test_copies_of_a_bad_expert_are_outvoted():  # TAG-08
    a = Automaton.from_transitions([(0, 1, k) for k in range(6)], final=[1])
    learner = WeightedMajority(a, 0.5)
    weights = []
    for _ in range(3):
        learner.update([0, 1, 1, 1, 1, 1])
        weights.append(learner.flows()[0])
    assert weights == pytest.approx([0.2857142857, 0.4444444444, 0.6153846154])


def test_beta_one_never_learns_and_tiny_beta_follows_the_leader():
    learner = WeightedMajority(DAG, 1.0)
    uniform = learner.flows()
    learner.update([9, 0, 3, 0, 0, 1, 0])
    assert learner.flows() == pytest.approx(uniform)
    learner.beta = 1e-300
    assert learner.flows() == pytest.approx([0, 1, 0, 0, 1, 0, 1])  # path e02 e23 e34, loss 0


def test_rate_may_change_later():
    losses = np.array([[1, 0, 1, 0, 0, 1, 0], [0, 1, 1, 0, 1, 0, 0.5]])
    early, late = WeightedMajority(DAG, 0.3), WeightedMajority(DAG, 0.9)
    for loss in losses:
        early.update(loss)
        late.update(loss)
    late.beta = 0.3
    assert late.flows() == pytest.approx(early.flows())
    assert round_losses(late) == pytest.approx(early.round_losses)
    assert late.flows(1) == pytest.approx(early.flows(1))
    assert late.n_rounds == 2


def test_tied_transitions_share_their_loss():
    learner = WeightedMajority(FIGURE_1, 0.5, parameter=[0, 1, 0, 1])
    learner.update([1, 0, 1, 0])
    assert learner.cumulative().tolist() == [2, 0]
    assert learner.flows() == pytest.approx([0.2, 0.8, 0.2, 0.8])


def test_sampled_paths_follow_the_flows():
    learner = WeightedMajority(DAG, 0.5)
    learner.update([1, 0, 1, 0, 0, 1, 0])
    paths = sample(DAG, learner.weight(), 4000, seed=0)
    share = np.bincount(paths.values, minlength=7) / len(paths)
    assert share == pytest.approx(learner.flows(), abs=0.04)


def test_bad_input_is_refused():
    for beta in (0.0, -1.0, 1.5, float("nan")):
        with pytest.raises(ParameterError, match="0 < beta <= 1"):
            WeightedMajority(DAG, beta)
    learner = WeightedMajority(DAG, 0.5)
    for loss in ([0.0] * 6, [-1.0] + [0.0] * 6, [float("nan")] + [0.0] * 6):
        with pytest.raises(DataError, match="finite loss >= 0"):
            learner.update(loss)
    with pytest.raises(DataError, match="7 transitions"):
        WeightedMajority(DAG, 0.5, prior=[0.0])
    with pytest.raises(AutomatonError, match="no path"):
        WeightedMajority(Automaton.from_transitions([(0, 1, 0)], final=[2]), 0.5)
    with pytest.raises(ParameterError, match="no round"):
        averaged_flows(learner)
    with pytest.raises(ParameterError, match="no round"):
        cv_round(learner)
    with pytest.raises(ParameterError, match="between 0 and 0"):
        learner.flows(3)


def test_losses_are_copied():
    learner = two_experts(0.5)
    loss = np.array([0.0, 1.0])
    learner.update(loss)
    loss[:] = 7
    assert learner.losses.tolist() == [[0.0, 1.0]]


@given(games())
def test_all_rounds_in_one_call_are_the_rounds_one_by_one(game):
    a, losses, prior, beta = game
    learner = WeightedMajority(a, beta, prior=prior)
    one_by_one = [learner.update(loss) for loss in losses]
    played = play_automaton(a, losses, beta, prior=prior)
    assert played.expected == pytest.approx(one_by_one, rel=1e-9, abs=1e-9)
    assert played.cumulative == pytest.approx(losses.sum(axis=0), abs=1e-12)


@given(st.integers(2, 5), st.integers(1, 6), st.integers(1, 120), st.integers(0, 10**6))
def test_positionwise_regret_bound(p, n_slots, n_rounds, seed):
    # Identity 2 of the specification: on Figure 1 normalised regret is at most sqrt(T ln p / 2), whatever the length.
    rng = np.random.default_rng(seed)
    states = np.arange(n_slots)
    rows = [(int(k), int(k) + 1, j) for k in states for j in range(p)]
    a = Automaton.from_transitions(rows, final=[n_slots])
    if seed % 2:
        losses = (np.sin(np.arange(n_rounds)[:, None] * rng.random(n_slots * p)) > 0).astype(float)
    else:
        losses = (rng.random((n_rounds, n_slots * p)) < rng.random(n_slots * p)).astype(float)
    eta = math.sqrt(8 * math.log(p) / n_rounds)
    learner = play_automaton(a, losses, math.exp(-eta)).expected.sum()
    best = losses.sum(axis=0).reshape(n_slots, p).min(axis=1).sum()
    assert (learner - best) / n_slots <= math.sqrt(n_rounds * math.log(p) / 2) + 1e-9


@pytest.mark.parametrize("losses", [[[1.0]], [1.0] * 4, [[-1.0] * 4], [[math.nan] * 4]])
def test_bad_losses_of_many_rounds(losses):
    with pytest.raises(DataError, match="need finite losses"):
        play_automaton(FIGURE_1, losses, 0.5)
    with pytest.raises(ParameterError):
        play_automaton(FIGURE_1, [[0.0] * 4], 0.0)
