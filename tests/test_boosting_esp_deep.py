"""Deep ESPBoost: the numbers of the specification, twins from the definition, the objective."""

import math

import naive.esp_boost as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structens.boosting import (
    AdditiveComplexity,
    AutomatonPaths,
    AutomatonSwitches,
    LabelPaths,
    SlotPaths,
    SwitchComplexity,
    best_by_switches,
    boost_paths,
    deep_boost_paths,
    deep_step,
    objective,
    switch_complexities,
)
from structens.boosting.esp_complexity import expert_complexities, massart
from structens.core import Automaton, AutomatonError, DataError, ParameterError

QUARTER = [[1, -1], [1, -1], [1, -1], [-1, 1]]


@st.composite
def games(draw):
    """Random margins with weights of no simple ratio, so that no two paths are tied."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, p, n_contexts = (int(rng.integers(low, high)) for low, high in ((2, 12), (1, 4), (1, 4)))
    rows = rng.choice([-1, -1, 1, 1, 1, 0], size=(n, p))
    return rows, rng.integers(n_contexts, size=n), n_contexts, p, rng.uniform(0.5, 1.5, n)


def test_steps_of_the_specification():
    assert [round(deep_step(0.75, 0.25, 0.0, c), 6) for c in (0.0, 0.1, 0.4, 0.6)] == [0.549306, 0.434091, 0.102447, 0]
    assert deep_step(0.55, 0.45, 0.05, 0.2) == -0.05
    paths = SlotPaths(QUARTER, [0] * 4)
    for lambda_n_over_s, step in ((0.0, 0.549306), (0.1, 0.434091), (0.4, 0.102447)):
        price = AdditiveComplexity(np.zeros(2), 0.0, lambda_n_over_s * math.e)  # S = n e at the start
        assert deep_boost_paths(paths, price, 1).step.round(6).tolist() == [step]
    nothing = deep_boost_paths(paths, AdditiveComplexity(np.zeros(2), 0.0, 0.6 * math.e), 1)
    assert (nothing.n_rounds, nothing.stopped, nothing.votes(2).tolist()) == (0, "weak", [1.0, 0.0])


@given(st.floats(0.01, 1.0), st.floats(0.01, 1.0), st.floats(0.0, 2.0), st.floats(0.0, 1.5))
def test_identity_5_the_step_is_where_the_objective_is_least(right, wrong, alpha, penalty):
    def cost(step):
        """The exponential objective along one path over its S / n, with the coefficient's price; 4.5."""
        return right * np.exp(-step) + wrong * np.exp(step) + penalty * (alpha + step)

    step = deep_step(right, wrong, alpha, penalty)
    assert step >= -alpha
    others = np.linspace(-alpha, max(step, 0.0) + 2.0, 501)
    assert cost(step) <= cost(others).min() + 1e-12
    assert step == pytest.approx(others[cost(others).argmin()], abs=0.02)


@pytest.mark.parametrize("surrogate", ["exp", "logistic"])
def test_without_a_price_the_first_step_is_that_of_adaboost(surrogate):
    free = AdditiveComplexity(np.zeros(2), 0.0, 0.0)
    paths = SlotPaths(QUARTER, [0] * 4)
    assert deep_boost_paths(paths, free, 1, surrogate=surrogate).step == pytest.approx(boost_paths(paths, 1).step)


@given(
    games(),
    st.sampled_from([0.0, 0.01, 0.3]),
    st.sampled_from([0.0, 0.02, 0.4]),
    st.sampled_from(["exp", "logistic"]),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_slots_against_all_path_experts(game, lambda_, beta, surrogate, by_switches):
    rows, contexts, n_contexts, p, weight = game
    paths = SlotPaths(rows, contexts, weight, n_contexts=n_contexts)
    written = naive.slot_paths(rows.tolist(), contexts.tolist(), n_contexts, p)
    if by_switches:
        r = switch_complexities(n_contexts, p, 3)
        price = SwitchComplexity(r, p, lambda_, beta)
        prices = {h: lambda_ * r[naive.switches(h)] + beta for h in written}
    else:
        r = np.random.default_rng(len(rows)).random(n_contexts * p)
        price = AdditiveComplexity(r, lambda_, beta)
        prices = {h: lambda_ * sum(r[c * p + j] for c, j in enumerate(h)) + beta for h in written}
    steps, alpha = naive.deep(written, (weight / weight.sum()).tolist(), prices, 5, len(rows), surrogate)
    if not steps:
        return
    made = deep_boost_paths(paths, price, len(steps), surrogate=surrogate)
    assert [tuple((made.paths[j] % p).tolist()) for j in made.round_path] == [h for h, _ in steps]
    assert made.step == pytest.approx([step for _, step in steps], abs=1e-7)
    for path, a in zip(made.paths, made.alpha, strict=True):
        assert a == pytest.approx(alpha[tuple((path % p).tolist())], abs=1e-7)
    assert made.alpha.min(initial=0.0) >= 0


@given(games(), st.sampled_from([0.0, 0.02, 0.2]), st.sampled_from(["exp", "logistic"]))
@settings(max_examples=30, deadline=None)
def test_the_objective_never_rises(game, beta, surrogate):
    rows, contexts, n_contexts, p, weight = game
    price = AdditiveComplexity(np.zeros(n_contexts * p), 0.0, beta)
    several = [SlotPaths(rows, contexts, weight, n_contexts=n_contexts)]
    several.append(SlotPaths(rows * 0.7, contexts, weight, n_contexts=n_contexts))
    several.append(LabelPaths(rows, contexts[:, None] * p + np.arange(p), weight, n_contexts=n_contexts))
    for paths in several:
        values = [
            objective(paths, price, deep_boost_paths(paths, price, t, surrogate=surrogate), surrogate)
            for t in range(1, 6)
        ]
        start = math.e if surrogate == "exp" else math.log2(1 + math.e)
        clamped = 1e-9 if (paths.masses(paths.weight)[1] > 0).all() else 0.5  # errorless paths move beyond the optimum
        assert all(b <= a + clamped for a, b in zip([start, *values], values, strict=False))


def test_a_coefficient_is_cancelled():
    rng = np.random.default_rng(1)
    rows = np.where(rng.random((60, 4)) < [0.72, 0.7, 0.68, 0.66], 1, -1)
    paths = SlotPaths(rows, [0] * 60)
    cancelled = [
        made
        for beta in (0.05, 0.1, 0.2)
        for made in [deep_boost_paths(paths, AdditiveComplexity(np.zeros(4), 0.0, beta), 60)]
        if (made.step < 0).any()
    ]
    assert cancelled
    for made in cancelled:
        assert made.stopped == "converged"
        sums = np.bincount(made.round_path, weights=made.step, minlength=len(made.paths))
        assert made.alpha == pytest.approx(np.maximum(sums, 0.0), abs=1e-12)


def test_the_logistic_loss_goes_on_where_the_exponential_one_stops():
    """Where nobody is right in a quarter of the slots, plain boosting is soon no better than chance."""
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((400, 5)) < 0.75, 1, -1)
    rows[:130] = -1
    paths = SlotPaths(rows, [0] * 400)
    plain = boost_paths(paths, 100)
    deep = deep_boost_paths(paths, AdditiveComplexity(np.zeros(5), 0.0, 1e-6), 100, surrogate="logistic")
    assert plain.stopped == "weak"
    assert plain.n_rounds < 10 < deep.n_rounds
    assert (plain.alpha > 0).sum() <= (deep.alpha > 0).sum()


@given(st.integers(1, 4), st.integers(1, 3), st.integers(0, 10**6), st.integers(0, 4))
@settings(max_examples=40, deadline=None)
def test_best_by_switches_against_all_choices(length, p, seed, most):
    gain = np.random.default_rng(seed).normal(size=(length, p))
    total, experts = best_by_switches(gain, most)
    choices = naive.slot_paths([[0] * p] * length, range(length), length, p)
    for s in range(most + 1):
        value = {h: sum(gain[k, j] for k, j in enumerate(h)) for h in choices if naive.switches(h) <= s}
        assert total[s] == pytest.approx(max(value.values()))
        assert value[tuple(experts[s].tolist())] == pytest.approx(total[s])


def test_sizes_of_the_families_by_switches():
    for length, p in ((1, 3), (4, 2), (3, 3), (4, 1)):
        choices = naive.slot_paths([[0] * p] * length, range(length), length, p)
        r = switch_complexities(length, p, 7)
        assert len(r) == length
        for s in range(length):
            size = sum(naive.switches(h) <= s for h in choices)
            assert r[s] == pytest.approx(math.sqrt(2 * math.log(size) / 7))
    assert np.isfinite(switch_complexities(400, 25, 10)).all()  # sizes beyond every float
    assert massart(26 * 5, 200) == pytest.approx(0.2206, abs=1e-4)


def test_switches_of_paths_in_an_automaton():
    rng = np.random.default_rng(3)
    rows = [(k, k + 1, j) for k in range(3) for j in range(2)]
    a = Automaton.from_transitions(rows, final=[3])
    rho = rng.choice([-1, 1, 1], size=(7, 6))
    r = switch_complexities(3, 2, 5)
    of_automaton = deep_boost_paths(AutomatonPaths(a, rho, 3), AutomatonSwitches(a, a.label, r, 0.1, 0.01), 6)
    slots = SlotPaths(rho.reshape(7, 3, 2).reshape(-1, 2), np.tile([0, 1, 2], 7))
    of_slots = deep_boost_paths(slots, SwitchComplexity(r, 2, 0.1, 0.01), 6)
    assert [path[:-1].tolist() for path in of_automaton.paths] == [path.tolist() for path in of_slots.paths]
    assert of_automaton.step == pytest.approx(of_slots.step, rel=1e-9)
    shorter = AutomatonSwitches(a, a.label, r[:1], 0.1, 0.01)
    gain = np.append(rng.normal(size=6), np.zeros(4))
    best = shorter.best(AutomatonPaths(a, rho, 3), gain, np.abs(gain), 1.0)
    assert len(set(a.label[best[:-1]].tolist())) == 1
    with pytest.raises(DataError, match="one expert"):
        AutomatonSwitches(a, [0], r, 0.1, 0.1)
    chain = Automaton.from_transitions([(0, 1, 0), (1, 2, 1)], final=[2])
    one, both = AutomatonSwitches(chain, [0, 1], [0.1], 1.0, 0.0), AutomatonPaths(chain, [[1.0, 1.0]], 2)
    with pytest.raises(AutomatonError, match="at most 0 switches"):
        one.best(both, np.zeros(5), np.zeros(5), 1.0)


def test_what_is_refused():
    paths, price = SlotPaths(QUARTER, [0] * 4), AdditiveComplexity(np.zeros(2), 0.0, 0.0)
    with pytest.raises(ParameterError, match="surrogate"):
        deep_boost_paths(paths, price, surrogate="hinge")
    with pytest.raises(ParameterError, match="n_rounds"):
        deep_boost_paths(paths, price, 0)
    with pytest.raises(ParameterError, match="switches"):
        best_by_switches(np.zeros((2, 2)), -1)
    with pytest.raises(ParameterError, match="complexity must give"):
        expert_complexities([0.1, -0.1], 1, 2, 3, 4)
    assert expert_complexities([0.1, 0.2], 2, 2, 3, 4).tolist() == [0.1, 0.2, 0.1, 0.2]
