"""Partial information: estimators unbiased by enumeration of all paths, distributions as drawn, regret below bounds."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive.online import path_probabilities, paths_of
from scipy.stats import chisquare
from strategies_automata import automata

from structens.automata import n_paths
from structens.core import Automaton, AutomatonError, DataError, ParameterError
from structens.online import Bandit, PathBandit, SemiBandit
from structens.online.bandit import bandit_parameters, bandit_regret, pair_flows
from structens.online.covering import covering_paths
from structens.online.path_bandit import path_bandit_regret
from structens.online.semi_bandit import semi_bandit_parameters, semi_bandit_regret


def figure(p, length):
    return Automaton.from_transitions([(k, k + 1, j) for k in range(length) for j in range(p)], final=[length])


def vector(automaton, path):
    out = np.zeros(automaton.n_transitions)
    out[list(path)] = 1.0
    return out


def gains(automaton, seed, n):
    """0/1 gains of transitions, each with a chance of its own."""
    rng = np.random.default_rng(seed)
    chance = rng.random(automaton.n_transitions)
    return (rng.random((n, automaton.n_transitions)) < chance).astype(float)


@settings(max_examples=40)
@given(automata())
def test_covering_paths_cover(a):
    assume(n_paths(a) >= 1)
    paths = covering_paths(a)
    everything = paths_of(a)
    assert {tuple(path.tolist()) for path in paths} <= set(everything)
    assert set(paths.values.tolist()) == {e for path in everything for e in path}
    assert len(paths) <= max(1, a.n_transitions)


def test_layers_are_covered_by_as_many_paths_as_experts():
    assert len(covering_paths(figure(4, 5))) == 4


@settings(max_examples=30)
@given(automata(), st.integers(0, 10**6), st.sampled_from([0.0, 0.3]), st.sampled_from([0.0, 0.05]))
def test_semi_bandit_estimates_are_unbiased(a, seed, gamma, bias):
    assume(n_paths(a) >= 1)
    rng = np.random.default_rng(seed)
    learner = SemiBandit(a, 0.7, gamma, bias)
    learner.estimates = rng.random(a.n_transitions) * 3
    gain = rng.random(a.n_transitions)
    chance = path_probabilities(a, -learner.estimates, 0.7)
    explored = [tuple(path.tolist()) for path in learner.covering]
    mean, flow = np.zeros(a.n_transitions), np.zeros(a.n_transitions)
    for path, learnt in chance.items():
        mass = (1 - gamma) * learnt + gamma * explored.count(path) / len(explored)
        chosen = np.array(path, dtype=np.int64)
        mean += mass * learner.estimate(chosen, gain[chosen])
        flow += mass * vector(a, path)
    assert learner.flows() == pytest.approx(flow, abs=1e-9)
    used = flow > 0
    assert mean[used] == pytest.approx((gain + bias / np.where(used, flow, 1.0))[used], rel=1e-6)


@settings(max_examples=30)
@given(automata(), st.integers(0, 10**6))
def test_bandit_estimates_give_every_path_its_gain(a, seed):
    assume(n_paths(a) >= 1)
    rng = np.random.default_rng(seed)
    learner, gamma = Bandit(a, 0.5, 0.3), 0.3
    learner.estimates = rng.random(a.n_transitions) * 3
    gain = rng.random(a.n_transitions)
    chance = path_probabilities(a, -learner.estimates, 0.5)
    mean = np.zeros(a.n_transitions)
    for path, learnt in chance.items():
        mass = (1 - gamma) * learnt + gamma / len(chance)
        mean += mass * learner.estimate(np.array(path, dtype=np.int64), float(gain[list(path)].sum()))
    for path in chance:
        assert mean[list(path)].sum() == pytest.approx(gain[list(path)].sum(), abs=1e-6)


@settings(max_examples=40)
@given(automata(), st.integers(0, 10**6))
def test_pairs_of_transitions_by_enumeration(a, seed):
    assume(n_paths(a) >= 1)
    cost = np.random.default_rng(seed).normal(size=a.n_transitions)
    expected = sum(m * np.outer(vector(a, h), vector(a, h)) for h, m in path_probabilities(a, cost, 1.0).items())
    assert pair_flows(a, cost) == pytest.approx(expected, abs=1e-9)


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(3))
def test_semi_bandit_regret_keeps_below_its_bound(seed):
    a, n = figure(3, 4), 1500
    table = gains(a, seed, n)
    learner = SemiBandit(a, **semi_bandit_parameters(a, n), seed=seed)
    earned = 0.0
    for gain in table:
        path = learner.path()
        earned += gain[path].sum()
        learner.update(gain[path])
    best = table.sum(axis=0).reshape(4, 3).max(axis=1).sum()
    assert best - earned <= semi_bandit_regret(a, n)
    assert earned > table.mean() * 4 * n  # more than a uniform draw


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(3))
def test_bandit_regret_keeps_below_its_bound(seed):
    a, n = figure(2, 3), 2000
    table = gains(a, seed, n)
    learner = Bandit(a, **bandit_parameters(a, n, 3.0), seed=seed)
    earned = 0.0
    for gain in table:
        here = gain[learner.path()].sum()
        earned += here
        learner.update(here)
    best = table.sum(axis=0).reshape(3, 2).max(axis=1).sum()
    assert best - earned <= bandit_regret(a, n, 3.0)
    assert earned > table.mean() * 3 * n


@pytest.mark.parametrize("by", ["loss", "gain"])
def test_path_bandit_regret_keeps_below_its_bound(by):
    """A gain that is no sum: 1 only where all transitions are right."""
    a, n = figure(2, 2), 1500
    rng = np.random.default_rng(1)
    right = rng.random((n, 4)) < [0.9, 0.3, 0.2, 0.8]
    paths = paths_of(a)
    earned, eta = 0.0, math.sqrt(2 * math.log(4) / (n * 4))
    learner = PathBandit(a, eta, by=by, seed=3)
    for row in right:
        gain = float(row[learner.path()].all())
        earned += gain
        learner.update(gain)
    best = max(right[:, list(path)].all(axis=1).sum() for path in paths)
    assert best - earned <= path_bandit_regret(a, n)
    assert earned > 1.3 * np.mean([right[:, list(path)].all(axis=1).sum() for path in paths])


@pytest.mark.parametrize("by", ["loss", "gain"])
def test_bonuses_are_the_weights_of_exp3(by):
    """The dictionary against a table of all paths, and draws against it."""
    a = figure(2, 3)
    paths, weight, learner = paths_of(a), dict.fromkeys(paths_of(a), 1.0), PathBandit(a, 0.4, by=by)
    for t in range(30):
        total = sum(weight.values())
        assert learner.probability(paths[t % 8]) == pytest.approx(weight[paths[t % 8]] / total)
        path = tuple(learner.path().tolist())
        gain = (sum(path) % 5) / 4
        estimate = (gain if by == "gain" else gain - 1.0) / (weight[path] / total)
        weight[path] *= math.exp(0.4 * estimate)
        learner.update(gain)
    total = sum(weight.values())
    for path in paths:
        assert learner.probability(path) == pytest.approx(weight[path] / total)
    drawn = dict.fromkeys(paths, 0)
    for t in range(3000):
        learner.n_rounds = 1000 + t
        drawn[tuple(learner.path().tolist())] += 1
    expected = np.array([3000 * weight[path] / total for path in paths])
    large = expected >= 5
    seen = np.append(np.array(list(drawn.values()))[large], sum(np.array(list(drawn.values()))[~large]))
    hoped = np.append(expected[large], expected[~large].sum())
    keep = hoped > 0
    assert chisquare(seen[keep], hoped[keep]).pvalue > 1e-3


def test_paths_are_drawn_as_flows_say():
    a = figure(3, 2)
    for learner in (SemiBandit(a, 0.5, 0.2), Bandit(a, 0.5, 0.2)):
        learner.estimates = np.array([0, 1, 2, 0.5, 0, 3.0])
        flow, count = learner.flows(), np.zeros(6)
        for t in range(3000):
            learner.n_rounds = t
            count[learner.path()] += 1
        for layer in (slice(0, 3), slice(3, 6)):
            assert chisquare(count[layer], 3000 * flow[layer]).pvalue > 1e-3


def test_bad_gains_and_parameters_are_refused():
    a = figure(2, 2)
    for make, words in [
        (lambda: SemiBandit(a, -1.0, 0.1), "need eta"),
        (lambda: Bandit(a, 0.1, 0.0), "gamma in"),
        (lambda: PathBandit(a, 0.1, by="both"), "by 'loss' or 'gain'"),
    ]:
        with pytest.raises(ParameterError, match=words):
            make()
    with pytest.raises(DataError, match="one gain between 0 and 1"):
        SemiBandit(a, 0.1, 0.1).update([2.0, 0.0])
    with pytest.raises(DataError, match="finite number"):
        Bandit(a, 0.1, 0.1).update(math.nan)
    with pytest.raises(DataError, match="between 0 and 1"):
        PathBandit(a, 0.1).update(3.0)
    with pytest.raises(AutomatonError, match="too many"):
        Bandit(figure(50, 50), 0.1, 0.1)
