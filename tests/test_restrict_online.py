import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import decoding as naive
from naive.online import paths_of
from test_online_weighted_majority import FIGURE_1, dags

from structens.automata import LabelAcceptor
from structens.core import EPSILON, AutomatonError, DataError, ParameterError
from structens.online.restricted import RestrictedMajority

GRAMS = [(0, 0), (None, 1), (2, None)]
ACCEPTOR = LabelAcceptor.forbidden(GRAMS, 3)


def expected_flows(paths, cost, n):
    """Flows of the distribution over these paths with probability proportional to exp(-cost)."""
    low = min(cost[path] for path in paths)
    mass = {path: math.exp(low - cost[path]) for path in paths}
    out = np.zeros(n)
    for path in paths:
        out[list(path)] += mass[path] / sum(mass.values())
    return out


def admissible(path, label):
    return not naive.has_forbidden(tuple(label[e] for e in path if label[e] != EPSILON), GRAMS)


@st.composite
def games(draw):
    a = draw(dags())
    n = a.n_transitions
    rounds = draw(st.integers(1, 4))
    labels = draw(
        st.lists(
            st.lists(st.sampled_from([EPSILON, 0, 1, 2]), min_size=n, max_size=n), min_size=rounds, max_size=rounds
        )
    )
    loss = st.floats(0, 1, allow_subnormal=False)
    losses = [draw(st.lists(loss, min_size=n, max_size=n)) for _ in range(rounds)]
    return a, labels, losses, draw(st.sampled_from([1.0, 0.7, 0.1]))


@given(games())
def test_per_round_equals_its_definition_on_paths(game):
    a, labels, losses, beta = game
    learner = RestrictedMajority(a, beta, largest=1.5)
    paths = [tuple(path) for path in paths_of(a)]
    cost = dict.fromkeys(paths, 0.0)
    for label, loss in zip(labels, losses, strict=True):
        good = [path for path in paths if admissible(path, label)]
        live = {e for path in good for e in path}
        flow = expected_flows(good or paths, cost, a.n_transitions)
        assert learner.flows(label, ACCEPTOR) == pytest.approx(flow, abs=1e-9)
        done = learner.play(label, loss, ACCEPTOR)
        assert done.loss == pytest.approx(float(flow @ np.array(loss)), abs=1e-9)
        assert done.admissible == bool(good)
        assert done.decomposable == all((set(path) <= live) == (path in good) for path in paths)
        for path in paths:
            charged = sum(1.5 if good and e not in live else loss[e] for e in path)
            cost[path] -= math.log(beta) * charged


@given(games())
def test_permanent_deletes_path_experts(game):
    a, labels, losses, beta = game
    learner = RestrictedMajority(a, beta, restrict="permanent")
    left = [tuple(path) for path in paths_of(a)]
    cost = dict.fromkeys(left, 0.0)
    for label, loss in zip(labels, losses, strict=True):
        good = [path for path in left if admissible(path, label)]
        if not good:
            with pytest.raises(AutomatonError, match="none would be left"):
                learner.play(label, loss, ACCEPTOR)
            return
        left = good
        flow = expected_flows(left, cost, a.n_transitions)
        assert learner.play(label, loss, ACCEPTOR).loss == pytest.approx(float(flow @ np.array(loss)), abs=1e-9)
        found = {tuple(learner.alive.label[list(path)].tolist()) for path in paths_of(learner.alive)}
        assert found == set(left)
        for path in left:
            cost[path] -= math.log(beta) * sum(loss[e] for e in path)


def test_a_deleted_path_stays_deleted_and_a_refused_one_comes_back():
    label, other = [0, 1, 0, 1], [2, 2, 2, 2]
    no_repeat = LabelAcceptor.forbidden([(0, 0), (1, 1)], 3)
    kept = {}
    for how in ("per_round", "permanent"):
        learner = RestrictedMajority(FIGURE_1, 1.0, restrict=how)
        learner.play(label, np.zeros(4), no_repeat)
        assert learner.flows(other, no_repeat).tolist() == pytest.approx([0.5] * 4)
        kept[how] = len(paths_of(learner.alive))
    assert kept == {"per_round": 4, "permanent": 2}


def test_a_round_is_decomposable_where_a_label_alone_is_refused():
    learner = RestrictedMajority(FIGURE_1, 0.5)
    never_1 = LabelAcceptor.forbidden([(1,)], 2)
    done = learner.play([0, 1, 0, 0], [1, 0, 1, 0], never_1)
    assert done == (1.5, True, True)
    assert learner.cumulative.tolist() == [1, 1, 1, 0]  # the refused transition pays 1, not its own 0


def test_what_does_not_fit_is_refused():
    with pytest.raises(ParameterError, match="restrict must be one of"):
        RestrictedMajority(FIGURE_1, 0.5, restrict="never")
    with pytest.raises(ParameterError, match="largest"):
        RestrictedMajority(FIGURE_1, 0.5, largest=math.inf)
    learner = RestrictedMajority(FIGURE_1, 0.5)
    with pytest.raises(DataError, match="one label"):
        learner.flows([0], ACCEPTOR)
    with pytest.raises(DataError, match="finite loss"):
        learner.play([0] * 4, [-1] * 4, ACCEPTOR)
