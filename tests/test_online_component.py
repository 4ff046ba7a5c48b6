"""Component Hedge: the projection against its optimality conditions, Figure 1 against independent Hedges, bounds."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive.online import paths_of
from scipy.optimize import minimize
from strategies_automata import automata

from structens.automata import n_paths
from structens.core import Automaton, AutomatonError, DataError, ParameterError
from structens.online import ComponentHedge, WeightedMajority, averaged_flows
from structens.online.component_hedge import component_loss, component_regret

DAG = Automaton.from_transitions(
    [(0, 1, 0), (0, 2, 1), (0, 3, 2), (1, 4, 3), (2, 3, 4), (2, 4, 5), (3, 4, 6)], final=[4]
)


def figure(p, length):
    return Automaton.from_transitions([(k, k + 1, j) for k in range(length) for j in range(p)], final=[length])


def test_figure_1_is_a_hedge_for_each_position():
    a, rng = figure(3, 4), np.random.default_rng(0)
    one, other = ComponentHedge(a, 0.4), WeightedMajority(a, math.exp(-0.4))
    for _ in range(20):
        assert one.flows() == pytest.approx(other.flows(), abs=1e-9)
        loss = rng.random(12)
        assert one.update(loss) == pytest.approx(other.update(loss), abs=1e-9)
    assert averaged_flows(one).transition == pytest.approx(averaged_flows(other).transition, abs=1e-9)


@settings(max_examples=40)
@given(automata(), st.integers(0, 10**6), st.sampled_from([0.3, 3.0]))
def test_usages_are_the_nearest_unit_flow(a, seed, eta):
    """Flow is conserved, and ln(new / old) is a difference of potentials, as the optimum must be."""
    assume(n_paths(a) >= 1)
    learner, rng = ComponentHedge(a, eta), np.random.default_rng(seed)
    for _ in range(3):
        old, old_stop = learner._log_usage.copy(), learner._log_stop.copy()
        loss = rng.random(a.n_transitions) * 3
        learner.update(loss)
        flow, stop = learner.flows(), np.exp(learner._log_stop)
        inflow = np.bincount(a.target, weights=flow, minlength=a.n_states)
        inflow[a.start] += 1.0
        outflow = np.bincount(a.source, weights=flow, minlength=a.n_states) + stop
        used = outflow > 0
        assert inflow[used] == pytest.approx(outflow[used], abs=1e-7)
        assert stop.sum() == pytest.approx(1, abs=1e-7)
        live, ends = np.isfinite(learner._log_usage), np.isfinite(learner._log_stop)
        rows, right = [], []
        for e in np.flatnonzero(live):
            row = np.zeros(a.n_states)
            row[a.source[e]] += 1
            row[a.target[e]] -= 1
            rows.append(row)
            right.append(learner._log_usage[e] - (old[e] - eta * loss[e]))
        for q in np.flatnonzero(ends):
            row = np.zeros(a.n_states)
            row[q] += 1
            rows.append(row)
            right.append(learner._log_stop[q] - old_stop[q])
        potential = np.linalg.lstsq(np.array(rows), np.array(right), rcond=None)[0]
        assert np.array(rows) @ potential == pytest.approx(np.array(right), abs=1e-6)


def test_projection_against_a_general_optimiser():
    learner = ComponentHedge(DAG, 1.0)
    old = learner.flows()
    loss = np.array([1.0, 0, 1, 0, 0, 1, 0])
    learner.update(loss)
    target = old * np.exp(-loss)
    rows = np.zeros((4, 7))
    for e in range(7):
        rows[DAG.source[e], e] += 1
        if DAG.target[e] < 4:
            rows[DAG.target[e], e] -= 1
    found = minimize(
        lambda w: float((w * np.log(w / target) - w + target).sum()),
        old,
        bounds=[(1e-9, 1)] * 7,
        constraints={"type": "eq", "fun": lambda w: rows @ w - np.array([1.0, 0, 0, 0])},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert learner.flows() == pytest.approx(found.x, abs=1e-5)


@settings(max_examples=30)
@given(automata(), st.integers(0, 10**6))
def test_decomposition_gives_the_usages_back(a, seed):
    assume(n_paths(a) >= 1)
    learner, rng = ComponentHedge(a, 1.0), np.random.default_rng(seed)
    learner.update(rng.random(a.n_transitions) * 2)
    paths, weight = learner.decompose()
    assert len(paths) <= a.n_transitions + a.n_states
    assert {tuple(path.tolist()) for path in paths} <= set(paths_of(a))
    assert weight.sum() == pytest.approx(1)
    total = np.zeros(a.n_transitions)
    for w, path in zip(weight, paths, strict=True):
        total[path] += w
    assert total == pytest.approx(learner.flows(), abs=1e-7)


def test_paths_are_drawn_with_their_usages():
    learner = ComponentHedge(DAG, 1.0)
    learner.update([1.0, 0, 1, 0, 0, 1, 0])
    drawn = learner.sample(20_000, seed=1)
    share = np.bincount(drawn.values, minlength=7) / 20_000
    assert share == pytest.approx(learner.flows(), abs=0.012)
    assert drawn.values.tolist() == learner.sample(20_000, seed=1).values.tolist()


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(3))
def test_loss_keeps_below_the_bounds(seed):
    """A layered graph of 4 states a layer, so that paths share transitions: K = 5, M = 64."""
    edges = [(0, 1 + j, j) for j in range(4)]
    edges += [(1 + 4 * k + i, 5 + 4 * k + j, 4 * i + j) for k in range(3) for i in range(4) for j in range(4)]
    edges += [(13 + i, 17, i) for i in range(4)]
    a, rng, n = Automaton.from_transitions(edges, final=[17]), np.random.default_rng(seed), 150
    m, k = a.n_transitions, 5
    easy = rng.random(m)
    losses = (rng.random((n, m)) < easy).astype(float)
    eta = math.sqrt(2 * math.log(k * m) / n)
    learner = ComponentHedge(a, eta, tolerance=1e-8)
    paid = sum(learner.update(loss) for loss in losses)
    best = min(losses.sum(axis=0)[list(path)].sum() for path in paths_of(a))
    assert paid <= component_loss(eta, best, k, m)
    assert paid - best <= component_regret(n, k, m)
    assert paid < 0.75 * losses.mean() * k * n  # and it learnt


def test_parameters_are_checked():
    with pytest.raises(ParameterError, match="a rate >= 0"):
        ComponentHedge(DAG, -1.0)
    with pytest.raises(DataError, match="one finite loss"):
        ComponentHedge(DAG, 1.0).update([math.inf] * 7)
    with pytest.raises(AutomatonError):
        ComponentHedge(Automaton.from_transitions([(0, 1, 0)], final=[2], n_states=3), 1.0)
