"""Follow the Perturbed Leader on paths and on slots: against argmin, shortest path, chi-square and the bounds."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive.online import paths_of
from scipy.stats import chisquare
from strategies_automata import automata
from test_online_slots import aligned

from structens.align import align
from structens.automata import n_paths
from structens.core import Automaton, DataError, ParameterError
from structens.datasets import ads
from structens.ensembles.vote import vote
from structens.losses import slot_losses
from structens.online import (
    NOISES,
    Perturbation,
    PerturbedLeader,
    Rounds,
    Tying,
    averaged_flows,
    convert_leaders,
    cv_round,
    leader_losses,
    leaders,
    noise_of,
    printed_epsilon,
    record_keys,
    round_losses,
    rounds_of,
    suffix_start,
    tuned_epsilon,
    uniforms,
)
from structens.online.bounds import leader_mean_regret, leader_regret, uniform_leader_regret
from structens.online.converted import parameters_of, transition_weights
from structens.online.gamma import cv_penalty
from structens.online.slot_leaders import ARGMIN, epsilon_of_papers, perturbed


def test_argmin_of_the_specification():
    cost = np.array([3, 1, 2.0])
    a = Automaton.from_transitions([(0, 1, j) for j in range(3)], final=[1])
    learner = PerturbedLeader(a, 1.0)
    learner.update(cost)
    learner.perturbation = lambda t=None: np.array([0.5, 2.7, 0.1])
    assert learner.leader().tolist() == [2]  # expert 3


def test_scale_of_the_papers():
    assert 1 / printed_epsilon(5, 10) == pytest.approx(100)
    rounds = Rounds(np.zeros((10, 5)), np.zeros((10, 5), np.int32), np.array([0, 10]), np.ones(1), 50, 1.0, True)
    assert epsilon_of_papers(rounds) == pytest.approx(0.01)


@pytest.mark.parametrize("noise", NOISES)
def test_noise_has_its_distribution(noise):
    q = noise_of(noise, 0.01, uniforms(record_keys(range(200), 1)[:, None], np.arange(500))).ravel()
    mean, deviation = {
        "exp_add": (100, 100),
        "exp_sub": (-100, 100),
        "laplace": (0, 100 * math.sqrt(2)),
        "uniform": (50, 100 / math.sqrt(12)),
    }[noise]
    assert q.mean() == pytest.approx(mean, abs=1.5)
    assert q.std() == pytest.approx(deviation, rel=0.02)
    density = {  # share of the noise within 50 of 0
        "exp_add": 1 - math.exp(-0.5),
        "exp_sub": 1 - math.exp(-0.5),
        "laplace": 1 - math.exp(-0.5),
        "uniform": 0.5,
    }[noise]
    assert (np.abs(q) <= 50).mean() == pytest.approx(density, abs=0.01)
    assert np.isfinite(noise_of(noise, 0.01, np.array([0.0, 1 - 2.0**-53]))).all()
    assert noise_of(noise, math.inf, np.array([0.0, 0.3])) == pytest.approx(0)


def win_rate(noise, gap, epsilon):
    """Chance that a cost of 0 plus noise is below one of `gap` plus noise, by numbers drawn independently."""
    rng = np.random.default_rng(7)
    draw = {
        "exp_add": lambda: rng.exponential(1 / epsilon, 400_000),
        "exp_sub": lambda: -rng.exponential(1 / epsilon, 400_000),
        "laplace": lambda: rng.laplace(0, 1 / epsilon, 400_000),
        "uniform": lambda: rng.uniform(0, 1 / epsilon, 400_000),
    }[noise]
    return float((draw() < gap + draw()).mean())


@pytest.mark.parametrize("noise", NOISES)
def test_frequencies_of_the_leader(noise):
    """Chi-square of the argmin's frequencies over seeds, p = 2."""
    rounds = Rounds(np.array([[0, 1.0]] * 2), np.array([[0, 1]] * 2, np.int32), np.arange(3), np.ones(2), 2, 1.0, True)
    n, p = 3000, win_rate(noise, 1.0, 0.7)
    won = sum(int(leaders(rounds, np.array([1]), Perturbation(0.7, noise, seed))[0, 0] == 0) for seed in range(n))
    assert chisquare([won, n - won], [n * p, n * (1 - p)]).pvalue > 1e-3
    a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1])
    won = 0
    for seed in range(400):
        learner = PerturbedLeader(a, 0.7, noise, seed=seed)
        learner.update([0, 1])
        won += int(learner.leader()[0] == 0)
    assert chisquare([won, 400 - won], [400 * p, 400 * (1 - p)]).pvalue > 1e-3


def test_ties_without_noise_are_drawn_by_lot():
    rounds = Rounds(np.zeros((1, 3)), np.array([[0, 1, 2]], np.int32), np.array([0, 1]), np.ones(1), 3, 1.0, True)
    chosen = [int(leaders(rounds, np.array([1]), Perturbation(math.inf, seed=s))[0, 0]) for s in range(900)]
    assert chisquare(np.bincount(chosen, minlength=3)).pvalue > 1e-3
    a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (0, 1, 9), (0, 1, 9)], final=[1])
    chosen = []
    for seed in range(600):
        learner = PerturbedLeader(a, math.inf, seed=seed)
        learner.update([1, 0, 0, 0])
        chosen.append(int(learner.leader()[0]))
    assert chosen.count(0) == 0
    assert chisquare(np.bincount(chosen, minlength=4)[1:]).pvalue > 1e-3


@settings(max_examples=40)
@given(automata(), st.integers(0, 10**6), st.sampled_from(NOISES))
def test_leader_is_the_best_path_for_the_perturbed_losses(automaton, seed, noise):
    assume(n_paths(automaton) >= 1)
    learner = PerturbedLeader(automaton, 0.5, noise, seed=seed)
    losses = np.random.default_rng(seed).integers(0, 3, (4, automaton.n_transitions)).astype(float)
    for t, loss in enumerate(losses):
        cost = losses[:t].sum(axis=0) + learner.perturbation()
        best = min(paths_of(automaton), key=lambda path: cost[list(path)].sum())
        assert cost[learner.leader()].sum() == pytest.approx(cost[list(best)].sum(), abs=1e-9)
        paid = loss[learner.leader()].sum()
        assert learner.update(loss) == paid
    assert round_losses(learner) == pytest.approx(learner.round_losses)
    assert averaged_flows(learner, largest=1.0).transition.max(initial=0.0) <= 1
    assert 0 <= cv_round(learner) < 3


def test_the_leader_refuses_bad_losses_and_bad_noise():
    a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1])
    with pytest.raises(DataError, match="one finite loss"):
        PerturbedLeader(a, 0.5).update([1.0])
    with pytest.raises(ParameterError, match="noise must be one of"):
        PerturbedLeader(a, 0.5, "normal")
    with pytest.raises(ParameterError, match="epsilon must be"):
        PerturbedLeader(a, 0.0)


TIED = st.sampled_from(["expert", "position"])


@settings(max_examples=40)
@given(aligned(), TIED, st.sampled_from(NOISES), st.sampled_from([0.05, 1.0, math.inf]), st.integers(0, 99))
def test_slots_follow_the_definition(slots, tie, noise, epsilon, seed):
    """h_t by argmin in each context; H_FPL's weights are shares of its votes, H_FPL-CV one of the h_t."""
    tying, p = Tying.learn(slots, tie), slots.n_experts
    rounds, how, n = rounds_of(slots, tying), Perturbation(epsilon, noise, seed), len(slots)
    charged, place = rounds.charged, rounds.parameter
    h, losses = [], []
    for t in range(n):
        cumulative = np.zeros(tying.n_parameters)
        np.add.at(cumulative, place[: slots.offsets[t]], charged[: slots.offsets[t]])
        noisy = (cumulative + how.of_rounds([t], np.arange(tying.n_parameters))[0]).reshape(-1, p)
        lot = how.lots([t], np.arange(tying.n_parameters))[0].reshape(-1, p)
        h.append(
            [
                min(
                    range(p),
                    key=lambda j, row=row, lots=lots: (
                        row[j] > row.min() + 1e-9,
                        lots[j] if row[j] <= row.min() + 1e-9 else row[j],
                    ),
                )
                if epsilon == math.inf
                else int(row.argmin())
                for row, lots in zip(noisy, lot, strict=True)
            ]
        )
        mine = range(slots.offsets[t], slots.offsets[t + 1])
        losses.append(np.mean([rounds.loss[s, h[t][place[s, 0] // p]] for s in mine] or [0.0]))
    assert leaders(rounds, np.arange(n), how).tolist() == h
    assert leader_losses(rounds, how) == pytest.approx(losses)
    start = suffix_start(losses, largest=rounds.largest)
    shares = [[np.mean([h[t][c] == j for t in range(start, n)]) for j in range(p)] for c in range(tying.n_contexts)]
    made = convert_leaders(rounds, how)
    assert made.start == start
    assert made.weights[:-1] == pytest.approx(np.array(shares).reshape(-1, p))
    single = convert_leaders(rounds, how, "fplcv")
    if n > 1:
        theta = [
            np.mean(
                [
                    np.mean([rounds.loss[s, h[t][place[s, 0] // p]] for s in range(*slots.offsets[r : r + 2])] or [0.0])
                    for r in range(t + 1, n)
                ]
            )
            for t in range(n - 1)
        ]
        value = np.array(theta) + cv_penalty(n, largest=rounds.largest)
        assert value[single.start] == pytest.approx(value.min())
    assert single.weights[:-1].argmax(axis=1).tolist() == h[single.start]
    assert np.isin(single.weights[:-1], (0.0, 1.0)).all()


@settings(max_examples=30)
@given(aligned(), st.sampled_from(["expert", "position", "label"]), st.integers(0, 9))
def test_rand_draws_from_what_fpl_averages(slots, tie, seed):
    tying = Tying.learn(slots, tie)
    rounds, how = rounds_of(slots, tying), Perturbation(0.5, seed=seed)
    parameter = parameters_of(slots, tying)[0]
    voting, drawing = (
        transition_weights(convert_leaders(rounds, how, r), parameter, ARGMIN) for r in ("fpl", "fplrand")
    )
    made = convert_leaders(rounds, how, "fplrand")
    by_snapshot = transition_weights(made._replace(weights=np.zeros((0, slots.n_experts))), parameter, ARGMIN)
    awake = slots.awake
    if tie == "label" or awake.all():
        assert by_snapshot == pytest.approx(drawing, abs=1e-9)
    if tie != "label":
        assert voting == pytest.approx(drawing)
    total = by_snapshot.sum(axis=1)
    assert total[awake.any(axis=1)] == pytest.approx(1)
    single = convert_leaders(rounds, how, "fplcv")
    if tie == "label":
        flow = transition_weights(single, parameter, ARGMIN)
        assert np.isin(flow.round(9), (0.0, 1.0)).all()
        assert perturbed(rounds, np.array([single.start]), how).shape == (1, rounds.n_parameters)


def test_order_and_numbering_do_not_matter_where_parameters_have_names():
    loss = np.random.default_rng(0).integers(0, 2, (40, 3)).astype(float)
    ids = np.tile(np.arange(3, dtype=np.int32), (40, 1))
    rounds = Rounds(loss, ids, np.arange(41), np.ones(40), 3, 1.0, True)
    turned = rounds._replace(loss=loss[:, ::-1])
    here = convert_leaders(rounds, Perturbation(0.2, ids=np.arange(3)))
    there = convert_leaders(turned, Perturbation(0.2, ids=np.arange(3)[::-1]))
    assert there.weights == pytest.approx(here.weights[:, ::-1])


def test_expected_regret_keeps_below_the_bound_of_uniform_noise():
    """Figure 1 with 5 experts and 10 positions; epsilon tuned: R = 10, A = 50, D = 20."""
    rng = np.random.default_rng(2)
    n, p, length = 200, 5, 10
    loss = (rng.random((n * length, p)) < np.tile(rng.random((length, p)), (n, 1))).astype(float)
    ids = np.tile(np.arange(length * p, dtype=np.int32).reshape(length, p), (n, 1))
    rounds = Rounds(loss, ids, np.arange(n + 1) * length, np.ones(n), length * p, 1.0, True)
    best = loss.reshape(n, length, p).sum(axis=0).min(axis=1).sum()
    epsilon = tuned_epsilon(n, length, p * length, 2 * length)
    paid = [leader_losses(rounds, Perturbation(epsilon, "uniform", seed)).sum() * length for seed in range(20)]
    assert 0 < np.mean(paid) - best <= uniform_leader_regret(epsilon, n, length, p * length, 2 * length)
    tuned = 2 * math.sqrt(2 * length * length * p * length * n)
    assert uniform_leader_regret(epsilon, n, length, p * length, 2 * length) == pytest.approx(tuned)


def test_bounds_of_the_papers_as_corrected():
    """A factor T is missing in print, and Weighted Majority's bound, not FPL's, is the better for p l >= 4."""
    for p, length in ((2, 2), (5, 10)):
        for n in (200, 20_000):
            for largest in (1.0, length):
                whole = leader_regret(p * length, length, largest * n)
                assert leader_mean_regret(p, length, n, largest) * n == pytest.approx(whole)
            assert leader_mean_regret(p, length, n) > 2 * math.sqrt(length * math.log(p) / n)
    assert leader_regret(50, 1, 20.0) == pytest.approx(math.sqrt(20 * 50 * math.log(50)))  # normalised Hamming


def ads_errors(which, preset, noise, scale=100.0, n_folds=6):
    """Mean errors of H_FPL and H_FPL-CV on ADS, m = 200."""
    slots = align(ads(which, preset, n=2400, seed=1))
    loss, rows = slot_losses(slots), []
    for fold in range(n_folds):
        train = np.zeros(len(slots), dtype=bool)
        train[fold * 200 : fold * 200 + 200] = True
        rounds = rounds_of(slots[np.flatnonzero(train)], Tying.learn(slots, "position"))
        rest, costs = slots[np.flatnonzero(~train)], loss[~train[slots.record]]
        made = [convert_leaders(rounds, Perturbation(1 / scale, noise, fold), rule) for rule in ("fpl", "fplcv")]
        firsts = [vote(rest.labels, m.weights[rest.position]).first for m in made]
        rows.append([costs[np.arange(len(costs)), first].mean() for first in firsts])
    return np.mean(rows, axis=0)


@pytest.mark.compiled
# the specification's re-simulation, with room for few sequences and folds
@pytest.mark.parametrize(
    ("which", "preset", "noise", "scale", "expected", "room"),
    [
        (1, "matched", "exp_add", 100, (0.0201, 0.0540), (0.002, 0.04)),
        (1, "matched", "laplace", 100, (0.2550, 0.1830), (0.06, 0.04)),
        (1, "matched", "laplace", 50, (0.0205, 0.1055), (0.02, 0.05)),
        (1, "matched", "laplace", 20, (0.0205, 0.0205), (0.002, 0.01)),
        (1, "matched", "uniform", 100, (0.0205, 0.0205), (0.002, 0.002)),
        (1, "matched", "exp_sub", 100, (0.1710, 0.1900), (0.06, 0.05)),
        (1, "printed", "exp_add", 100, (0.0300, 0.1150), (0.004, 0.04)),
        (2, "printed", "laplace", 100, (0.2380, 0.3990), (0.006, 0.004)),
        (3, "matched", "exp_add", 100, (0.1830, 0.3200), (0.008, 0.008)),
        (3, "printed", "exp_add", 100, (0.0600, 0.2400), (0.006, 0.008)),
    ],
)
def test_ads_as_far_as_it_can_be_reproduced(which, preset, noise, scale, expected, room):
    found = ads_errors(which, preset, noise, scale)
    assert (np.abs(found - expected) <= room).all(), found
