"""RRWM, FPRL, TRWM and FPTL against games over written-out paths; COLT 2015 and the corrections of its slips.

Two slips of the paper that the code does not follow: pushing divides final weights by the state's own distance
(printed: multiplied by the start's), and U = 0 makes a loss infinite for ever, so that an offset is asked for.
"""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive import nonadditive as naive
from naive.online import path_flows, paths_of
from strategies_automata import automata

from structens.automata import is_deterministic, n_paths, push
from structens.core import Automaton, AutomatonError, DataError, ParameterError
from structens.losses.ngram import NGramGain
from structens.online.composed import ComposedLearner, laplace_noise
from structens.online.rational import RationalLearner, rational_loss
from structens.online.tropical import TropicalLearner, tropical_loss

LAYERS = Automaton.from_transitions(
    [(k, k + 1, a) for k, row in enumerate(([0, 1], [1, 1], [0, 0])) for a in row], final=[3]
)
ABA = [0, 1, 0]
BIGRAMS = NGramGain((0, 1))


def losses_of(loss):
    """Loss of each path, by names of transitions."""
    out = {}
    for path in paths_of(loss.automaton):
        last = loss.automaton.target[path[-1]] if path else loss.automaton.start
        name = tuple(loss.automaton.label[list(path)].tolist())
        assert name not in out
        out[name] = sum(loss.loss[e] for e in path) + loss.final_loss[last]
    return out


def test_rrwm_on_the_paths_of_figure_5():
    learner = RationalLearner(LAYERS, BIGRAMS, eta=1.0)
    learner.update(LAYERS.label, ABA)
    weighted = learner.weight()
    pushed = push(*weighted)
    for path in paths_of(weighted.automaton):
        probability = math.exp(-pushed.weight[list(path)].sum())
        assert probability == pytest.approx(1 / 6 if weighted.automaton.label[path[0]] == 0 else 1 / 12)


@st.composite
def gains(draw):
    weights = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=3))
    return NGramGain(weights, max_gap=draw(st.integers(0, 2)), discount=draw(st.sampled_from([0.5, 1.0])))


sequences = st.lists(st.integers(0, 2), max_size=5)


@given(automata(least_label=-1, most_states=6, most_transitions=10), gains(), sequences)
def test_rational_losses_of_all_paths(automaton, gain, target):
    assume(n_paths(automaton) > 0)
    made = rational_loss(automaton, automaton.label, target, gain, offset=0.25)
    assert is_deterministic(made.automaton)
    expected = {
        path: -math.log(
            0.25 + naive.ngram_gain(naive.said(automaton, path), target, gain.weights, gain.max_gap, gain.discount)
        )
        for path in paths_of(automaton)
    }
    assert losses_of(made) == {path: pytest.approx(loss, abs=1e-8) for path, loss in expected.items()}


@given(automata(least_label=-1), sequences)
def test_tropical_losses_of_all_paths(automaton, target):
    made = tropical_loss(automaton, automaton.label, target)
    assert losses_of(made) == {p: naive.edit(naive.said(automaton, p), target) for p in paths_of(automaton)}


@given(automata(most_states=5, most_transitions=8), st.sampled_from(["rational", "tropical"]), st.data())
@settings(max_examples=40)
def test_games_are_those_over_written_out_paths(automaton, kind, data):
    assume(n_paths(automaton) > 0)
    eta, gain = data.draw(st.sampled_from([0.0, 0.5, 2.0])), NGramGain((1, 1))
    learner = (
        RationalLearner(automaton, gain, eta, offset=1.0) if kind == "rational" else TropicalLearner(automaton, eta)
    )
    n = automaton.n_transitions
    total = dict.fromkeys(paths_of(automaton), 0.0)
    for _ in range(data.draw(st.integers(1, 3))):
        labels, target = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), data.draw(sequences)
        said = {path: naive.said(automaton, path, labels) for path in total}
        if kind == "rational":
            now = {path: -math.log(1 + naive.ngram_gain(s, target, (1, 1))) for path, s in said.items()}
        else:
            now = {path: naive.edit(s, target) for path, s in said.items()}
        before = naive.softmax({path: -loss for path, loss in total.items()}, eta)
        assert learner.update(labels, target) == pytest.approx(sum(before[p] * now[p] for p in total), abs=1e-7)
        total = {path: loss + now[path] for path, loss in total.items()}
    after = naive.softmax({path: -loss for path, loss in total.items()}, eta)
    assert learner.flows() == pytest.approx(path_flows(automaton, after), abs=1e-6)
    assert is_deterministic(learner.cumulative.automaton)
    # the leader, with noise
    noise = np.array(data.draw(st.lists(st.floats(-3, 3), min_size=n, max_size=n)))
    perturbed = {path: loss + sum(noise[e] for e in path) for path, loss in total.items()}
    assert perturbed[tuple(learner.follow(noise).tolist())] == pytest.approx(min(perturbed.values()), abs=1e-6)


def test_draws_have_the_probabilities_of_rrwm():
    learner = RationalLearner(LAYERS, BIGRAMS, eta=1.0)
    learner.update(LAYERS.label, ABA)
    drawn = learner.draw(3000, seed=4)
    first = (np.array([path[0] for path in drawn]) == 0).mean()
    assert first == pytest.approx(2 / 3, abs=5 * math.sqrt(2 / 9 / 3000))


def test_fprl_with_laplace_noise_prefers_paths_in_proportion():
    # loss -log 2 for paths that start with e1, 0 for the others; the best of each half is decided by noise alone
    learner = RationalLearner(LAYERS, BIGRAMS, eta=1.0)
    learner.update(LAYERS.label, ABA)
    rng = np.random.default_rng(0)
    first = np.mean([learner.follow(laplace_noise(6, 2.0, rng))[0] == 0 for _ in range(400)])
    # P(x_1 - x_4 < log 2) for x of scale 1/2: 1 - (2 + u) exp(-u) / 4, u = 2 log 2
    u = 2 * math.log(2)
    assert first == pytest.approx(1 - (2 + u) * math.exp(-u) / 4, abs=0.1)


def test_a_gain_of_zero_is_refused_without_an_offset():
    learner = RationalLearner(LAYERS, NGramGain((0, 0, 1)), eta=1.0)
    with pytest.raises(AutomatonError, match="offset > 0"):
        learner.update(LAYERS.label, ABA)
    assert learner.n_rounds == 0
    RationalLearner(LAYERS, NGramGain((0, 0, 1)), eta=1.0, offset=1.0).update(LAYERS.label, ABA)


def test_what_is_refused():
    with pytest.raises(ParameterError, match="eta"):
        ComposedLearner(LAYERS, eta=float("nan"))
    with pytest.raises(ParameterError, match="epsilon"):
        laplace_noise(3, 0.0, 0)
    with pytest.raises(ParameterError, match="weights >= 0"):
        RationalLearner(LAYERS, NGramGain((1, -1)), eta=1.0)
    with pytest.raises(DataError, match="one label"):
        TropicalLearner(LAYERS, eta=1.0).update([0], ABA)
    with pytest.raises(DataError, match="one label"):
        RationalLearner(LAYERS, BIGRAMS, eta=1.0).update([0], ABA)
    learner = TropicalLearner(LAYERS, eta=1.0)
    learner.update([0, 1, 0, 1, 0, 1], ABA)
    learner.max_states = learner.cumulative.automaton.n_states
    second = tropical_loss(LAYERS, [0, 1, 0, 1, 0, 1], [1, 0, 1])
    with pytest.raises(AutomatonError, match="do not grow"):
        learner.learn(second)
    assert learner.n_rounds == 1
