from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.online import path_flows, path_probabilities, paths_of
from test_online_weighted_majority import dags

from structens.automata import Semiring, flows, push
from structens.core import EPSILON, Automaton, AutomatonError, DataError
from structens.online import marginal, position_scores, string, string_probabilities, viterbi
from structens.online.bounds import vote_loss

A, B, C, D = range(4)
# four paths ab .28, ab .27, cb .30, cd .15, side by side
FOUR = Automaton.from_transitions(
    [(0, 1, A), (0, 2, A), (0, 3, C), (0, 4, C), (1, 5, B), (2, 5, B), (3, 5, B), (4, 5, D)], final=[5]
)
WEIGHT = np.array([0.28, 0.27, 0.30, 0.15, 1, 1, 1, 1])


def test_three_rules_of_the_specification():
    f = flows(FOUR, WEIGHT, semiring=Semiring.REAL)
    best = viterbi(FOUR, f.transition, f.state)
    assert best.labels == [C, B]
    assert best.score == pytest.approx(0.30)
    most = string(FOUR, WEIGHT)
    assert most.labels == [A, B]
    assert most.score == pytest.approx(0.55)
    scores = position_scores(FOUR, f.transition)
    assert scores[0] == pytest.approx({A: 0.55, C: 0.45})
    assert scores[1] == pytest.approx({B: 0.85, D: 0.15})
    assert marginal(FOUR, f.transition).labels == [A, B]


def test_average_of_products_is_not_the_product_of_averages():
    two = Automaton.from_transitions([(0, 1, 0), (0, 1, 1), (1, 2, 0), (1, 2, 1)], final=[2])
    mixture = [[0.9, 0.1, 0.9, 0.1], [0.1, 0.9, 0.1, 0.9]]
    found = string_probabilities(two, mixture)
    assert found == pytest.approx({(0, 0): 0.41, (0, 1): 0.09, (1, 0): 0.09, (1, 1): 0.41})
    averages = position_scores(two, np.mean(mixture, axis=0))
    assert [averages[0][x] * averages[1][y] for x, y in found] == pytest.approx([0.25] * 4)


def test_equal_tokens_add_their_weights():  # WFA-13
    a = Automaton.from_transitions([(0, 1, 0), (0, 1, 0), (0, 1, 1)], final=[1])
    w = [0.3, 0.3, 0.4]
    assert position_scores(a, w) == [pytest.approx({0: 0.6, 1: 0.4})]
    assert marginal(a, w).labels == [0]
    assert string(a, w).labels == [0]
    assert viterbi(a, w, [1, 1]).labels == [1]


@given(dags(), st.data())
def test_decoders_agree_with_the_enumerated_paths(a, data):
    cost = st.lists(st.floats(0, 3), min_size=a.n_transitions, max_size=a.n_transitions)
    costs = [data.draw(cost), data.draw(cost)]
    letters = data.draw(st.lists(st.sampled_from([EPSILON, 0, 1]), min_size=len(a.label), max_size=len(a.label)))
    a = Automaton(a.offsets, a.target, np.array(letters, np.int32), a.is_final, a.start)
    p = [path_probabilities(a, c, 1.0) for c in costs]
    mass = Counter()
    for path in paths_of(a):
        text = tuple(int(a.label[e]) for e in path if a.label[e] != EPSILON)
        mass[text] += (p[0][path] + p[1][path]) / 2
    pushed = [np.exp(-push(a, c).weight) for c in costs]
    assert string_probabilities(a, pushed) == pytest.approx(dict(mass), abs=1e-9)
    assert string(a, pushed).score == pytest.approx(max(mass.values()), abs=1e-9)
    f = flows(a, costs[0])
    best = viterbi(a, f.transition, f.state)
    assert best.score == pytest.approx(max(p[0].values()), rel=1e-6)
    likely = [path for path in paths_of(a) if p[0][path] > max(p[0].values()) - 1e-9]
    assert best.labels in [[int(a.label[e]) for e in path if a.label[e] != EPSILON] for path in likely]


@given(st.integers(1, 3), st.integers(1, 3), st.data())
def test_marginal_loses_at_most_twice_what_a_drawn_path_does(n, p, data):
    size = n * p
    cost = data.draw(st.lists(st.floats(0, 4), min_size=size, max_size=size))
    labels = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    gold = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    rows = [(k, k + 1, labels[k * p + j]) for k in range(n) for j in range(p)]
    a = Automaton.from_transitions(rows, final=[n])
    flow = np.array(path_flows(a, path_probabilities(a, cost, 1.0)))
    wrong = a.label != np.repeat(gold, p)
    said = marginal(a, flow).labels
    assert np.mean([x != y for x, y in zip(said, gold, strict=True)]) <= vote_loss((flow * wrong).sum() / n) + 1e-9


def test_the_vote_can_be_worse_than_the_draw():  # TAG-12
    a = Automaton.from_transitions([(0, 1, 0), (0, 1, 1), (0, 1, 1)], final=[1])
    w = np.array([0.4, 0.3, 0.3])
    assert marginal(a, w).labels == [1]
    assert vote_loss(w[a.label != 0].sum()) == pytest.approx(1.2)


def test_ties_go_to_the_earlier_transition():
    a = Automaton.from_transitions([(0, 1, 5), (0, 1, 3)], final=[1])
    for decoded in (marginal(a, [0.5, 0.5]), string(a, [0.5, 0.5]), viterbi(a, [0.5, 0.5], [1, 1])):
        assert decoded.labels == [5]


def test_what_cannot_be_decoded_is_refused():
    skewed = Automaton.from_transitions([(0, 1, 0), (0, 2, 1), (1, 2, 2)], final=[2])
    with pytest.raises(AutomatonError, match="state 2 is reached after 1 and after 2"):
        marginal(skewed, [0.5, 0.5, 0.5])
    many = Automaton.from_transitions([(k, k + 1, j) for k in range(12) for j in range(2)], final=[12])
    with pytest.raises(AutomatonError, match="more than 1000 strings"):
        string_probabilities(many, np.full(24, 0.5), max_strings=1000)
    with pytest.raises(DataError, match="3 transitions"):
        marginal(skewed, [1.0])
    with pytest.raises(DataError, match="3 transitions"):
        string(skewed, [1.0])


def test_automaton_of_the_empty_string():
    a = Automaton.from_transitions([], final=[0])
    assert marginal(a, []).labels == string(a, np.zeros((1, 0))).labels == viterbi(a, [], [1.0]).labels == []
