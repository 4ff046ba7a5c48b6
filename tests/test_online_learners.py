"""Learners by context: AdaHedge, Squint, fixed share, sleeping Hedge; each against its definition and its bound."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive.online import adahedge, log_integral, path_probabilities, sharing_sequences, sleeping_weights, squint
from strategies_automata import automata

from structens.automata import n_paths
from structens.core import Automaton, DataError, ParameterError
from structens.online import (
    AdaHedge,
    FixedShare,
    SleepingHedge,
    SlotAdaHedge,
    Squint,
    Visits,
    averaged_flows,
    context_learner,
    cv_round,
    log_squint_weight,
    squint_potential,
    tracking_regret,
)
from structens.online.bounds import adahedge_regret
from structens.online.history import average, charges, later_losses, mean_losses, weights_at


def visits(rows, context=None, n_contexts=1, width=1.0):
    """One visit a record; None is an expert asleep."""
    awake = np.array([[x is not None for x in row] for row in rows]).reshape(len(rows), -1)
    means = [np.mean([x for x in row if x is not None] or [0.0]) for row in rows]
    loss = np.array([[m if x is None else x for x in row] for row, m in zip(rows, means, strict=True)])
    n, context = len(rows), np.zeros(len(rows), np.int32) if context is None else np.array(context, np.int32)
    loss = loss.reshape(awake.shape)
    return Visits(loss, awake, context, np.arange(n), np.ones(n), np.full(n, width), n, n_contexts)


@st.composite
def games(draw, sleeping=True):
    """Losses in [0, 1] of up to 4 experts in up to 12 rounds of up to 2 contexts."""
    p, n = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    one = st.sampled_from([0.0, 0.25, 1.0, 1.0, None]) if sleeping else st.sampled_from([0.0, 0.5, 1.0])
    rows = draw(st.lists(st.lists(one, min_size=p, max_size=p), min_size=n, max_size=n))
    return rows, draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))


def of_context(rows, context, c):
    return [row for row, d in zip(rows, context, strict=True) if c == d]


def test_adahedge_on_the_specified_game():
    rows = [[0, 1], [1, 0], [0, 1], [0, 1]]
    learner = SlotAdaHedge(2)
    gaps, etas = [], []
    for row in rows:
        learner.grow(np.arange(learner.n_contexts), 1)
        etas.append(learner.eta[0])
        learner.play(visits([row]))
        gaps.append(learner.state["gap"][0])
    assert etas == pytest.approx([math.inf, 1.386294, 1.084676, 0.902004], abs=5e-7)
    assert gaps == pytest.approx([0.5, 0.639036, 0.768453, 0.848484], abs=5e-7)
    assert SlotAdaHedge(2).play(visits(rows)).before[:, 0] == pytest.approx([0.5, 0.8, 0.5, 0.7114], abs=5e-5)
    assert learner.regret() == pytest.approx(1.088639, abs=5e-7)
    assert learner.regret() <= learner.regret_bound() == pytest.approx(2 * 0.848484, abs=1e-6)


def test_adahedge_on_paths_of_the_specified_game():
    learner = AdaHedge(Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1]))
    flows, gaps = [], []
    for loss in ([0, 1], [1, 0], [0, 1], [0, 1]):
        flows.append(learner.flows()[0])
        learner.update(loss)
        gaps.append(learner.gap)
    assert flows == pytest.approx([0.5, 0.8, 0.5, 0.7114], abs=5e-5)
    assert gaps == pytest.approx([0.5, 0.639036, 0.768453, 0.848484], abs=5e-7)
    assert learner.regret == pytest.approx(1.088639, abs=5e-7)
    assert [learner.flows(t)[0] for t in range(4)] == pytest.approx(flows)
    assert averaged_flows(learner).transition.sum() == pytest.approx(1)
    assert 0 <= cv_round(learner) < 3


@given(games())
def test_adahedge_of_a_context_is_adahedge(game):
    rows, context = game
    p = len(rows[0])
    learner = SlotAdaHedge(p)
    before = learner.play(visits(rows, context, 2)).before
    for c in (0, 1):
        expected, _, gap = adahedge(of_context(rows, context, c), p)
        assert before[np.array(context) == c] == pytest.approx(np.array(expected).reshape(-1, p), abs=1e-9)
        assert learner.state["gap"][c] == pytest.approx(gap, abs=1e-9)
    assert learner.regret() <= learner.regret_bound() + 1e-9


@settings(max_examples=30)
@given(automata(), st.integers(0, 10**6))
def test_adahedge_over_paths_is_adahedge_over_their_list(automaton, seed):
    assume(1 <= n_paths(automaton) <= 60)
    losses = np.random.default_rng(seed).integers(0, 3, (5, automaton.n_transitions)).astype(float)
    paths = sorted(path_probabilities(automaton, np.zeros(automaton.n_transitions), 0.0))
    rows = [[float(sum(loss[list(path)])) for path in paths] for loss in losses]
    expected, _, gap = adahedge(rows, len(paths))
    learner = AdaHedge(automaton)
    for t, loss in enumerate(losses):
        flow = learner.flows()
        by_path = np.zeros(automaton.n_transitions)
        for mass, path in zip(expected[t], paths, strict=True):
            by_path[list(path)] += mass
        assert flow == pytest.approx(by_path, abs=1e-7)
        assert learner.flows(t) == pytest.approx(flow, abs=1e-9)
        assert learner.update(loss) == pytest.approx(np.dot(expected[t], rows[t]), abs=1e-7)
    assert learner.gap == pytest.approx(gap, abs=1e-7)
    best = min(map(sum, zip(*rows, strict=True)))
    assert learner.regret == pytest.approx(sum(learner.round_losses) - best, abs=1e-9)
    assert learner.regret <= learner.regret_bound + 1e-9
    assert learner.log_n == pytest.approx(math.log(n_paths(automaton)))


@pytest.mark.parametrize("seed", range(4))
def test_adahedge_keeps_its_worst_case_bound(seed):
    rng = np.random.default_rng(seed)
    loss = (rng.random((300, 5)) < rng.random(5)).astype(float)
    alternating = np.tile(np.eye(2)[:, [0, 1, 0, 1, 0]], (150, 1))
    for rows in (loss, alternating):
        learner = SlotAdaHedge(5)
        learner.play(visits(rows.tolist()))
        assert 0 <= learner.regret() <= learner.regret_bound() <= 2 * adahedge_regret(5, 300)
        assert learner.regret() <= adahedge_regret(5, 300)


def test_adahedge_pays_nothing_where_one_expert_is_always_right():
    learner = SlotAdaHedge(4)
    learner.play(visits([[0, 1, 1, 1]] * 1000))
    assert learner.regret() < 1.6


def test_adahedge_does_not_depend_on_the_unit_of_losses():
    rng = np.random.default_rng(3)
    loss = rng.random((50, 3))
    small, large = (SlotAdaHedge(3).play(visits((loss * k).tolist(), width=k)).before for k in (1.0, 1e6))
    assert small == pytest.approx(large, abs=1e-9)


def test_squint_weights_of_the_specification():
    values = np.exp(log_squint_weight([2, -1, 0], [3, 3, 0]))
    assert values == pytest.approx([0.644598, 0.322900, 0.5], abs=5e-7)
    assert np.exp(log_squint_weight(1.7, 0.0)) == pytest.approx((math.exp(0.85) - 1) / 1.7)
    assert np.exp(log_squint_weight(30.0, 1e-200)) == pytest.approx((math.exp(15) - 1) / 30)
    assert np.exp(log_squint_weight(-30.0, 1e-200)) == pytest.approx((1 - math.exp(-15)) / 30)


@given(
    st.floats(-300, 300), st.one_of(st.floats(0, 3), st.floats(0, 3000), st.sampled_from([0.0, 1.0, 1 + 1e-9, 20.0]))
)
def test_squint_weight_is_its_integral(regret, variance):
    assert log_squint_weight(regret, variance) == pytest.approx(log_integral(regret, variance), abs=2e-4, rel=1e-5)


def test_squint_weight_is_finite_where_erf_is_not():
    r, v = np.meshgrid([-1e6, -1e3, -20.1, 20.1, 1e3, 1e6], [1e-9, 1.0, 1e2, 1e6, 1e12])
    found = log_squint_weight(r, v)
    assert np.isfinite(found).all()
    assert (np.diff(found, axis=1) > 0).all()  # more regret, more weight
    assert (np.diff(found, axis=0) <= 1e-12).all()  # more variance, less
    large = np.exp(log_squint_weight(-1e6, 1e-9)) * 1e6
    assert large == pytest.approx(1.0, rel=1e-6)  # 1 / |R|


@settings(max_examples=30)
@given(games())
def test_squint_of_a_context_is_squint(game):
    rows, context = game
    p = len(rows[0])
    learner = Squint(p)
    before = learner.play(visits(rows, context, 2)).before
    for c in (0, 1):
        expected = squint(of_context(rows, context, c), p)
        assert before[np.array(context) == c] == pytest.approx(np.array(expected).reshape(-1, p), abs=1e-6)
        terms = zip(learner.state["regret"][c].tolist(), learner.state["variance"][c].tolist(), strict=True)
        assert sum(squint_potential(r, v) for r, v in terms) <= 1e-9
    assert learner.regret() <= learner.regret_bound() + 1e-9


def test_squint_potential_is_its_integral():
    eta = (np.arange(400_000) + 0.5) * 0.5 / 400_000
    for r, v in ((3.0, 2.0), (-4.0, 9.0), (40.0, 30.0)):
        direct = float((np.expm1(eta * r - eta**2 * v) / eta).sum() * 0.5 / 400_000)
        assert squint_potential(r, v) == pytest.approx(direct, rel=1e-6)


def test_squint_keeps_below_its_bound_and_learns_fast_from_easy_losses():
    rng = np.random.default_rng(0)
    easy = (rng.random((2000, 4)) < [0.05, 0.5, 0.5, 0.5]).astype(float)
    learner = Squint(4)
    learner.play(visits(easy.tolist()))
    assert learner.regret() < 25
    assert learner.regret() <= learner.regret_bound() < 120


@settings(max_examples=30)
@given(games(sleeping=False), st.sampled_from([0.1, 1.0]), st.sampled_from([0.05, 0.5]))
def test_fixed_share_is_hedge_over_sequences(game, eta, share):
    rows, p = game[0][:5], len(game[0][0])
    learner = FixedShare(p, eta, share)
    before = learner.play(visits(rows)).before
    for t in range(len(rows)):
        assert before[t] == pytest.approx(sharing_sequences(rows[:t], p, eta, share), abs=1e-9)
    assert learner.weights()[0] == pytest.approx(sharing_sequences(rows, p, eta, share), abs=1e-9)


def test_fixed_share_tracks_and_hedge_does_not():
    rng = np.random.default_rng(1)
    rate = np.where(np.arange(600)[:, None] < 300, [0.1, 0.6, 0.5], [0.6, 0.1, 0.5])
    rows = (rng.random((600, 3)) < rate).astype(float)
    paid, tracked = {}, rows[:300, 0].sum() + rows[300:, 1].sum()
    for name in ("hedge", "fixed-share"):
        history = context_learner(name, 3, 0.5, 0.01).play(visits(rows.tolist()))
        paid[name] = charges(history).sum()
    assert paid["fixed-share"] - tracked <= tracking_regret(3, 600, 1, 0.5, 0.01)
    assert paid["hedge"] > paid["fixed-share"] + 50
    with pytest.raises(ParameterError, match="share must be"):
        FixedShare(2, 0.5, 0.0)


@given(games(), st.sampled_from([0.0, 0.3, 2.0, 40.0]))
def test_sleeping_experts_keep_their_weight(game, eta):
    rows, context = game
    p = len(rows[0])
    learner = SleepingHedge(p, eta)
    history = learner.play(visits(rows, context, 2))
    before, final = sleeping_weights(list(zip(context, rows, strict=True)), 2, p, eta)
    assert history.before == pytest.approx(np.array(before), abs=1e-9)
    assert history.final == pytest.approx(np.array(final), abs=1e-9)
    for j in range(p):
        for c in (0, 1):
            mine = [k for k, d in enumerate(context) if d == c and rows[k][j] is not None]
            paid = charges(history)[mine].sum() - sum(rows[k][j] for k in mine)
            assert learner.state["advantage"][c, j] == pytest.approx(paid, abs=1e-9)
            if eta > 0:
                assert paid <= math.log(p) / eta + eta * len(mine) / 8 + 1e-9
    assert learner.regret() <= learner.regret_bound() + 1e-9


@given(games(), st.sampled_from(["hedge", "adahedge", "squint", "fixed-share"]), st.integers(0, 12))
def test_a_stored_state_goes_on_where_it_was(game, name, cut):
    rows, context = game
    p = len(rows[0])
    whole = context_learner(name, p, 0.5)
    at_once = whole.play(visits(rows, context, 2))
    first, then = context_learner(name, p, 0.5), context_learner(name, p, 0.5)
    begun = first.play(visits(rows[:cut], context[:cut], 2)) if cut else None
    first.grow(np.arange(first.n_contexts), 2)
    then.restore(first.state)
    rest = then.play(visits(rows[cut:], context[cut:], 2)) if cut < len(rows) else None
    pieces = [h.before for h in (begun, rest) if h is not None]
    assert np.concatenate(pieces) == pytest.approx(at_once.before, abs=1e-12)
    assert then.weights() == pytest.approx(at_once.final, abs=1e-12)
    assert then.regret() == pytest.approx(whole.regret(), abs=1e-12)
    assert then.regret_bound() == pytest.approx(whole.regret_bound(), abs=1e-9)


def test_states_are_checked_and_rows_move():
    learner = SlotAdaHedge(2)
    learner.play(visits([[0, 1], [1, 0]], [0, 1], 2))
    weights = learner.weights()
    learner.grow(np.array([0, 2]), 3)
    assert learner.weights() == pytest.approx(np.array([weights[0], [0.5, 0.5], weights[1]]))
    with pytest.raises(DataError, match="a state of Squint has"):
        Squint(2).restore(learner.state)
    with pytest.raises(ParameterError, match="learner must be one of"):
        context_learner("prod", 2)


@given(games(), st.sampled_from(["hedge", "squint"]), st.booleans())
def test_conversions_of_a_history_follow_the_rounds(game, name, corrected):
    """Distributions of all rounds, written out, against the sums that look at visits only."""
    rows, context = game
    p, n = len(rows[0]), len(rows)
    v = visits(rows, context, 2)
    history = context_learner(name, p, 0.7).play(v)
    learner, table = context_learner(name, p, 0.7), [np.full((2, p), 1 / p)]
    for t in range(n):
        learner.play(visits(rows[t : t + 1], context[t : t + 1], 2))
        table.append(learner.weights())
    assert weights_at(history, np.arange(n + 1)) == pytest.approx(np.array(table), abs=1e-9)
    for start in range(n):
        assert average(history, start) == pytest.approx(np.mean(table[start:n], axis=0), abs=1e-9)
    full = [[(table[t][context[s]] * v.loss[s]).sum() for s in range(n)] for t in range(n)]
    skip = 0 if corrected else 1
    expected = [np.mean(full[t][t + skip :]) for t in range(n - skip)]
    assert later_losses(history, corrected=corrected) == pytest.approx(expected, abs=1e-9)
    awake_losses = [
        sum(w * x for w, x in zip(table[t][context[t]], rows[t], strict=True) if x is not None)
        / (sum(w for w, x in zip(table[t][context[t]], rows[t], strict=True) if x is not None) or 1.0)
        for t in range(n)
    ]
    assert mean_losses(history) == pytest.approx(awake_losses, abs=1e-9)
