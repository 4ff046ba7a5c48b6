import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from naive.online import Game, label_flows

from structens.automata import expert_automaton
from structens.core import ABSENT, GAP, Alphabet, ParameterError, Slots
from structens.losses import CostMatrix, slot_losses
from structens.online import (
    Rounds,
    Tying,
    WeightedMajority,
    average_weights,
    convert,
    cumulative_at,
    grid_size,
    play,
    recommended_rate,
    regret,
    regret_bound,
    rounds_of,
    slot_cv_round,
    slot_flows,
    slot_thetas,
    softmin,
    spread,
)
from structens.online.converted import drawn_weights, parameters_of, transition_weights
from structens.online.gamma import cv_penalty
from structens.online.rates import eta_of, path_rate, position_rate

ABC = Alphabet(("a", "b", "c"))
BETAS = st.sampled_from([1.0, 0.95, 0.5, 1e-3])
SCALES = st.sampled_from(["per_substructure", "normalized"])


def slots_of(rows, lengths, gold, alphabet=ABC):
    labels = np.array(rows, dtype=np.int32)
    names = tuple(f"e{j}" for j in range(labels.shape[1]))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    gold = np.array(gold, dtype=np.int32)
    return Slots(labels, offsets, np.zeros(labels.shape, int), names, alphabet, gold, np.zeros(len(lengths), int))


@st.composite
def aligned(draw, most_slots=3):
    """A few records with gold; an expert is absent from whole records."""
    p, lengths = draw(st.integers(1, 3)), draw(st.lists(st.integers(0, most_slots), min_size=1, max_size=5))
    code = st.sampled_from([GAP, 0, 1, 2])
    rows, gold = [], []
    for n in lengths:
        here = draw(st.lists(st.sampled_from([True, True, True, False]), min_size=p, max_size=p))
        for _ in range(n):
            rows.append([draw(code) if awake else ABSENT for awake in here])
            gold.append(draw(code))
    return slots_of(np.array(rows, dtype=np.int32).reshape(-1, p), lengths, gold)


def game_of(slots, tying, eta, scale, loss="hamming"):
    losses = slot_losses(slots, loss)
    context = tying.parameters(slots)[:, 0] // slots.n_experts
    records = []
    for a, b in zip(slots.offsets[:-1], slots.offsets[1:], strict=True):
        record = []
        for s in range(a, b):
            known = [None if x == ABSENT else y for x, y in zip(slots.labels[s], losses[s].tolist(), strict=True)]
            record.append((int(context[s]), known))
        records.append(record)
    scales = [1.0 / max(n, 1) if scale == "normalized" else 1.0 for n in slots.lengths.tolist()]
    return Game(records, tying.n_contexts, slots.n_experts, eta, scales)


TIED = st.sampled_from(["expert", "position", "position-from-end", lambda s: (s.record + s.position) % 2])


@given(aligned(), TIED, BETAS, SCALES)
def test_the_game_is_hedge_over_all_path_experts(slots, tie, beta, scale):
    tying, eta = Tying.learn(slots, tie), eta_of(beta)
    rounds = rounds_of(slots, tying, loss_scale=scale)
    game, n = game_of(slots, tying, eta, scale), len(slots)
    losses = play(rounds, eta)
    assert losses == pytest.approx([game.mean_loss(t, t) for t in range(n)], abs=1e-10)
    for start in range(n):
        expected = np.mean([game.weights(t) for t in range(start, n)], axis=0).reshape(-1, slots.n_experts)
        assert average_weights(rounds, eta, start) == pytest.approx(expected, abs=1e-10)
    for t, cumulative in enumerate(cumulative_at(rounds, np.arange(n + 1))):
        found = softmin(cumulative.reshape(-1, slots.n_experts), eta)
        assert found == pytest.approx(np.array(game.weights(t)).reshape(found.shape), abs=1e-10)
    charged = sum(x * len(r) * a for x, r, a in zip(losses, game.records, game.scales, strict=True))
    assert regret(rounds, losses) == pytest.approx(charged - game.best_charge(), abs=1e-9)
    assert regret(rounds, losses) <= regret_bound(rounds, eta) + 1e-9


@given(aligned(), TIED, BETAS, SCALES, st.booleans())
def test_cross_validation_judges_by_later_rounds(slots, tie, beta, scale, corrected):
    tying, eta = Tying.learn(slots, tie), eta_of(beta)
    rounds = rounds_of(slots, tying, loss_scale=scale)
    game, n = game_of(slots, tying, eta, scale), len(slots)
    skip = 0 if corrected else 1
    expected = [np.mean([game.mean_loss(t, s) for s in range(t + skip, n)]) for t in range(n - skip)]
    found = slot_thetas(rounds, eta, np.arange(n - skip), corrected=corrected)
    assert found == pytest.approx(expected, abs=1e-10)
    t = slot_cv_round(rounds, eta, corrected=corrected)
    if expected:
        value = np.array(expected) + cv_penalty(n, corrected=corrected)
        assert value[t] == pytest.approx(value.min(), abs=1e-9)
    else:
        assert t == 0


@given(aligned(), BETAS, SCALES)
def test_tying_by_label_agrees_with_its_definition(slots, beta, scale):
    tying, eta, n = Tying.learn(slots, "label"), eta_of(beta), len(slots)
    rounds = rounds_of(slots, tying, loss_scale=scale)
    costs = slot_losses(slots)
    labels = [[[None if x == ABSENT else int(x) for x in row] for row in rec.labels] for rec in records_of(slots)]
    losses = [costs[a:b].tolist() for a, b in zip(slots.offsets[:-1], slots.offsets[1:], strict=True)]
    scales = [1.0 / max(k, 1) if scale == "normalized" else 1.0 for k in slots.lengths.tolist()]

    def mean_loss(t, s):
        flows = label_flows(labels, losses, eta, scales, t)
        total = sum(
            f * x for row, c in zip(labels[s], losses[s], strict=True) for f, x in zip(flows(row), c, strict=True)
        )
        return total / max(len(labels[s]), 1)

    assert play(rounds, eta) == pytest.approx([mean_loss(t, t) for t in range(n)], abs=1e-10)
    expected = [np.mean([mean_loss(t, s) for s in range(t + 1, n)]) for t in range(n - 1)]
    assert slot_thetas(rounds, eta, np.arange(n - 1)) == pytest.approx(expected, abs=1e-10)
    made = convert(rounds, eta)
    parameter, is_new = parameters_of(slots, tying)
    assert not is_new.any()
    rows = [row for record in labels for row in record]
    kept = range(made.start, n)
    mean = [np.mean([label_flows(labels, losses, eta, scales, t)(row) for t in kept], axis=0) for row in rows]
    weights = transition_weights(made, parameter, eta)
    assert weights == pytest.approx(np.array(mean).reshape(weights.shape), abs=1e-10)


def records_of(slots):
    return [slots[[i]] for i in range(len(slots))]


@given(aligned(), TIED, BETAS)
def test_centred_losses_give_the_weights_of_plain_ones(slots, tie, beta):
    assume(slots.awake.all())
    rounds, eta = rounds_of(slots, Tying.learn(slots, tie)), eta_of(beta)
    p = slots.n_experts
    plain = np.bincount(rounds.parameter.ravel(), slot_losses(slots).ravel(), rounds.n_parameters).reshape(-1, p)
    centred = cumulative_at(rounds, np.array([len(slots)]))[0].reshape(-1, p)
    assert softmin(centred, eta) == pytest.approx(softmin(plain, eta), abs=1e-10)
    assert centred.sum(axis=1) == pytest.approx(0, abs=1e-10)


@given(aligned(), BETAS)
def test_position_tying_is_weighted_majority_on_the_expert_automaton(slots, beta):
    keep = np.flatnonzero(slots.lengths == slots.lengths.max())
    slots = slots[keep]
    assume(slots.awake.all() and slots.lengths.max() > 0)
    rounds = rounds_of(slots, Tying.learn(slots, "position"))
    made = [expert_automaton(slots, i) for i in range(len(slots))]
    learner = WeightedMajority(made[0].automaton, beta)
    losses = slot_losses(slots)
    found = []
    for i, a in enumerate(made):
        found.append(learner.update(losses[slots.offsets[i] + a.slot, a.expert]))
    assert np.array(found) / slots.lengths[0] == pytest.approx(play(rounds, eta_of(beta)), abs=1e-10)
    cumulative = cumulative_at(rounds, np.array([len(slots)]))[0]
    first = slot_flows(cumulative, rounds.parameter[: slots.lengths[0]], eta_of(beta))
    assert learner.flows() == pytest.approx(first.ravel(), abs=1e-10)


def test_cost_matrices_change_the_largest_loss_and_the_game():
    slots = slots_of([[0, 1], [0, 2]], [1, 1], [0, 0])
    cheap = rounds_of(slots, Tying.learn(slots, "expert"), CostMatrix({("a", "b"): 0.25, ("a", "c"): 4.0}))
    assert cheap.largest == 4.0
    assert play(cheap, math.log(2)).tolist() == pytest.approx([0.125, 4 * 0.5**0.25 / (1 + 0.5**0.25)])


def test_weights_of_the_cases():
    up = Rounds(np.array([[0, 1.0]] * 2000 + [[1.0, 0]] * 2000), np.tile(np.array([[0, 1]], np.int32), (4000, 1)),
                np.arange(4001), np.ones(4000), 2, 1.0, True)  # fmt: skip
    at = cumulative_at(up, np.array([2000, 4000]))
    assert softmin(at, math.log(2)).tolist() == [[1.0, 0.0], [0.5, 0.5]]  # WFA-04
    path = slots_of([[0, 1], [2, 1]] * 4, [2] * 4, [0, 1] * 4)  # WFA-15
    rounds = rounds_of(path, Tying.learn(path, "position"), loss_scale="normalized")
    assert play(rounds, math.log(2)) == pytest.approx([0.5, 0.4142135624, 0.3333333333, 0.2612038749], abs=1e-10)
    end = cumulative_at(rounds, np.array([4]))[0].reshape(2, 2)
    assert softmin(end, math.log(2)) == pytest.approx(np.array([[0.8, 0.2], [0.2, 0.8]]))
    copies = slots_of([[0, 1, 1, 1, 1, 1]] * 3, [1] * 3, [0] * 3)  # TAG-08
    end = cumulative_at(rounds_of(copies, Tying.learn(copies, "expert")), np.array([1, 2, 3]))
    assert softmin(end, math.log(2))[:, 0] == pytest.approx([0.2857142857, 0.4444444444, 0.6153846154])


def test_recommended_rates_on_figure_1():
    rows, p, n = [[0, 1, 1, 1, 1]] * 2000, 5, 200
    slots = slots_of(rows, [10] * n, [0] * 2000)
    for scale, factor in (("per_substructure", 1), ("normalized", 10)):
        rounds = rounds_of(slots, Tying.learn(slots, "position"), loss_scale=scale)
        assert recommended_rate(rounds, "position") == pytest.approx(factor * position_rate(p, n))
        assert recommended_rate(rounds, "path") == pytest.approx(factor * path_rate(10 * math.log(p), n, 10))
    one = rounds_of(slots, Tying.learn(slots, "expert"))  # all ten slots charge the one context
    assert recommended_rate(one, "position") == pytest.approx(position_rate(p, n, 10))


def test_regret_stays_under_its_bound_in_a_long_game_against_the_leader():
    rng = np.random.default_rng(0)
    loss = (rng.random((3000, 4)) < [0.4, 0.41, 0.5, 0.6]).astype(float)
    loss[::3] = 1 - loss[::3]  # what was good turns bad
    ids = (np.arange(3000) % 3)[:, None] * 4 + np.arange(4)
    rounds = Rounds(loss, ids.astype(np.int32), np.arange(0, 3001, 3), np.ones(1000), 12, 1.0, True)
    for eta in (recommended_rate(rounds, "position"), 0.01, 1.0):
        found = regret(rounds, play(rounds, eta))
        assert 0 < found <= regret_bound(rounds, eta)


def test_grids_of_rounds():
    assert spread(3, 3, 5).tolist() == []
    assert spread(0, 10, 1).tolist() == [5]
    for n in (1, 7, 64, 65, 1000):
        grid = spread(10, 10 + n, 64)
        assert len(grid) == min(n, 64)
        assert (np.diff(grid) > 0).all()
        assert grid.min(initial=10) >= 10
        assert grid.max(initial=10) < 10 + n
    assert grid_size(10**9) == 1


def test_drawn_experts_follow_the_weights_of_the_drawn_rounds():
    rng = np.random.default_rng(1)
    snapshots = np.array([[0.0, 1.0, 5.0], [3.0, 0.0, 5.0]])
    n = 20_000
    parameter = np.tile(np.array([[0, 1, -1]], np.int32), (n, 1))
    drawn = drawn_weights(snapshots, parameter, 1.0, rng.random(n), rng.random(n))
    expected = softmin(snapshots[:, :2], 1.0).mean(axis=0)
    assert (drawn.sum(axis=1) == 1).all()
    assert drawn.mean(axis=0) == pytest.approx([*expected, 0], abs=0.02)
    nobody = drawn_weights(snapshots, np.full((2, 3), -1, np.int32), 1.0, np.zeros(2), np.zeros(2))
    assert nobody.sum() == 0


def test_unknown_scales_are_refused():
    slots = slots_of([[0]], [1], [0])
    with pytest.raises(ParameterError, match="loss_scale must be one of"):
        rounds_of(slots, Tying.learn(slots, "expert"), loss_scale="1/l")
