"""n-gram gains: the history automaton, learning and decoding on it; ALT 2019."""

import math
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from naive import nonadditive as naive
from naive.online import path_flows, paths_of
from strategies_automata import automata

from structens.align import align
from structens.automata import n_paths, push
from structens.automata.history import history_automaton, ngram_gains
from structens.core import Automaton, AutomatonError, DataError, ExpertPredictions, ParameterError
from structens.losses.bleu import LinearBleu, bleu
from structens.losses.ngram import NGramGain
from structens.online.ngram_decoding import ngram_mbr
from structens.online.ngram_learning import HistoryLearner, SlotHistoryLearner

# ALT 2019, figures 5 and 6: a, b | b, b | a, a, and the answer aba
LAYERS = Automaton.from_transitions(
    [(k, k + 1, a) for k, row in enumerate(([0, 1], [1, 1], [0, 0])) for a in row], final=[3]
)
ABA = [0, 1, 0]
BIGRAMS = NGramGain((0, 1))


def figure_1(labels):
    return Automaton.from_transitions([(k, k + 1, a) for k, row in enumerate(labels) for a in row], final=[len(labels)])


@st.composite
def gains(draw, decoding=False):
    weights = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=3))
    return NGramGain(
        weights,
        max_gap=draw(st.integers(0, 2)),
        discount=draw(st.sampled_from([0.0, 0.5, 1.0])),
        presence=not decoding and draw(st.booleans()),
        length_weight=draw(st.sampled_from([0.0, -0.5])),
    )


def naive_gain(gain, answer, gold):
    return naive.ngram_gain(answer, gold, gain.weights, gain.max_gap, gain.discount, gain.presence, gain.length_weight)


sequences = st.lists(st.integers(0, 2), max_size=7)


@given(gains(), sequences, sequences)
def test_the_gain_of_an_answer_is_the_product_of_pattern_counts(gain, answer, gold):
    assert gain(answer, gold) == pytest.approx(naive_gain(gain, answer, gold))


@pytest.mark.parametrize("discount", [0.5, 0.9])
def test_gappy_pattern_of_the_paper(discount):
    gain = NGramGain((0, 0, 1), max_gap=3, discount=discount)
    assert gain("aab", "babbaabaa") == pytest.approx(1 + 2 * discount**3)


@given(automata(least_label=-1), gains(), sequences, st.sampled_from(["transition", "label"]))
def test_gains_of_transitions_add_up_to_the_gain_of_each_path(automaton, gain, target, by):
    history = history_automaton(automaton, gain.reach, by=by)
    values = ngram_gains(history, automaton.label, gain, target)
    found = {}
    for path in paths_of(history.automaton):
        found.setdefault(tuple(history.transition[list(path)].tolist()), []).append(sum(values[e] for e in path))
    assert sorted(found) == paths_of(automaton)
    for path, sums in found.items():
        assert sums == [pytest.approx(naive_gain(gain, naive.said(automaton, path), target))]


@given(
    st.integers(2, 5).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), min_size=n, max_size=n)
    ),
    st.lists(st.integers(0, 2), min_size=1, max_size=6),
)
def test_identity_3_orders_with_weights_on_layers(labels, y):
    # verify_identities.py, 3: orders 1 to 3 with weights .5, 1, 2, by sliding windows
    theta = (0.5, 1.0, 2.0)
    history = history_automaton(figure_1(labels), 3)
    values = ngram_gains(history, figure_1(labels).label, NGramGain(theta), y)
    grams = [Counter(tuple(y[i : i + k]) for i in range(len(y) - k + 1)) for k in (1, 2, 3)]
    for path in paths_of(history.automaton):
        s = naive.said(history.automaton, path)
        mine = [Counter(tuple(s[i : i + k]) for i in range(len(s) - k + 1)) for k in (1, 2, 3)]
        u = sum(t * sum(c * g[w] for w, c in m.items()) for t, m, g in zip(theta, mine, grams, strict=True))
        assert sum(values[e] for e in path) == pytest.approx(u)


@pytest.mark.parametrize(("p", "n_slots", "n"), [(2, 3, 2), (3, 4, 3), (2, 6, 4), (4, 2, 3), (5, 3, 1)])
def test_sizes(p, n_slots, n):
    made = history_automaton(figure_1([[0] * p] * n_slots), n)
    assert made.automaton.n_states == sum(p ** min(k, n - 1) for k in range(n_slots + 1))
    assert made.automaton.n_transitions == sum(p ** min(k, n) for k in range(1, n_slots + 1))
    assert n_paths(made.automaton) == p**n_slots
    if n_slots >= n > 1:  # the paper counts whole n-grams only; its states are 2 + p^(n-1) (l - n), not 1 + p^n (l - n)
        whole = made.window[:, -1] >= 0
        assert whole.sum() == p**n * (n_slots - n + 1)
        between = np.setdiff1d(made.automaton.target[whole], np.flatnonzero(made.automaton.is_final))
        assert 2 + len(between) == 2 + p ** (n - 1) * (n_slots - n)


def test_figure_5_has_four_states():
    made = history_automaton(LAYERS, 2)
    between = np.setdiff1d(made.automaton.target[made.window[:, 1] >= 0], np.flatnonzero(made.automaton.is_final))
    assert 2 + len(between) == 4


def test_figure_6_gains_and_hedge():
    gains_of = {path: BIGRAMS(naive.said(LAYERS, path), ABA) for path in paths_of(LAYERS)}
    assert gains_of == {path: 2.0 if path[0] == 0 else 1.0 for path in paths_of(LAYERS)}
    learner = HistoryLearner(LAYERS, BIGRAMS, eta=0.5)
    assert learner.update(LAYERS.label, ABA) == pytest.approx(1.5)
    pushed = learner.pushed()
    for path in paths_of(learner.history.automaton):
        probability = math.exp(-pushed.weight[list(path)].sum())
        assert probability == pytest.approx(0.155615 if path[0] == 0 else 0.094385, abs=1e-6)


@given(automata(), gains(), st.data())
def test_learner_is_hedge_over_written_out_paths(automaton, gain, data):
    assume(n_paths(automaton) > 0)
    n, eta = automaton.n_transitions, data.draw(st.sampled_from([0.0, 0.3, 2.0]))
    learner = HistoryLearner(automaton, gain, eta)
    total = dict.fromkeys(paths_of(automaton), 0.0)
    for _ in range(data.draw(st.integers(1, 3))):
        labels = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
        target = data.draw(sequences)
        now = {path: naive_gain(gain, [labels[e] for e in path], target) for path in total}
        before = naive.softmax(total, eta)
        mean = sum(before[path] * g for path, g in now.items())
        assert learner.expected_gain(labels, target) == pytest.approx(mean)
        assert learner.update(labels, target) == pytest.approx(mean)
        total = {path: g + now[path] for path, g in total.items()}
    after = naive.softmax(total, eta)
    assert learner.flows() == pytest.approx(path_flows(automaton, after), abs=1e-9)


@given(st.integers(1, 4), st.data())
def test_slot_learner_is_a_chain_of_experts(n_slots, data):
    p, eta = 2, 0.7
    gain = NGramGain((0.5, 1))
    labels = data.draw(
        st.lists(st.lists(st.integers(-1, 1), min_size=p, max_size=p), min_size=n_slots, max_size=n_slots)
    )
    target = data.draw(sequences)
    X = ExpertPredictions.of({"a": [["x"]], "b": [["y"]]})
    slots = align(X)
    made = type(slots)(
        np.array(labels, np.int32),
        np.array([0, n_slots]),
        np.zeros((n_slots, p), int),
        ("a", "b"),
        X.alphabet,
        np.zeros(n_slots, np.int32),
        np.zeros(1, int),
    )
    learner = SlotHistoryLearner(gain, p, eta)
    learner.update(made, 0, target)
    weight, cumulative = {}, learner.cumulative
    for choice in product(range(p), repeat=n_slots):
        last, total = 0, 0.0  # the expert of the last unit said, from 1
        for k, j in enumerate(choice):
            total += cumulative[last, j]
            last = j + 1 if labels[k][j] >= 0 else last
        weight[choice] = total
    probability = naive.softmax(weight, eta)
    flow = np.zeros((n_slots, p))
    for choice, mass in probability.items():
        for k, j in enumerate(choice):
            flow[k, j] += mass
    assert learner.flows(made, 0) == pytest.approx(flow)


def test_slot_learner_charges_centred_gains_to_pairs_of_experts():
    X = ExpertPredictions.of({"a": ["ab"], "b": ["cb"]}, gold=["ab"])
    learner = SlotHistoryLearner(BIGRAMS, 2, eta=1.0)
    assert learner.update(align(X), 0, X.references[0]) == pytest.approx(0.5)
    # slot 0 has no bigram; in slot 1 "ab" gains 1 after expert a, "cb" nothing after expert b
    assert learner.cumulative.tolist() == [[0, 0], [0.5, 0.5], [-0.5, -0.5]]


def test_slot_learner_prefers_the_expert_that_goes_on_well_and_takes_any_length():
    X = ExpertPredictions.of({"a": ["abc", "abcde", "x"], "b": ["azc", "azcze", None]}, gold=["abc", "abcde", "x"])
    slots = align(X)
    learner = SlotHistoryLearner(NGramGain((1, 1)), 2, eta=1.0)
    for i in range(3):
        learner.update(slots, i, X.references[X.reference_offsets[i]])
    flow = learner.flows(slots, 1)
    assert flow.sum(axis=1) == pytest.approx(np.ones(5))
    assert (flow[1:, 0] > 0.5).all()
    assert learner.flows(slots, 2).tolist() == [[1.0, 0.0]]


@given(automata(least_label=-1), gains(decoding=True), st.data())
def test_decoding_finds_the_answer_of_greatest_expected_gain(automaton, gain, data):
    assume(n_paths(automaton) > 0)
    n = automaton.n_transitions
    cost = np.array(data.draw(st.lists(st.floats(0, 3), min_size=n, max_size=n)))
    probability = naive.softmax({path: -sum(cost[e] for e in path) for path in paths_of(automaton)}, 1.0)
    answers = {path: naive.said(automaton, path) for path in probability}

    def expected(answer):  # the length weight is the answer's own
        return sum(mass * naive_gain(gain, answer, answers[path]) for path, mass in probability.items())

    best = ngram_mbr(automaton, cost, gain)
    assert best.labels.tolist() == naive.said(automaton, best.transitions.tolist())
    assert best.expected_gain == pytest.approx(expected(best.labels.tolist()), abs=1e-9)
    assert best.expected_gain == pytest.approx(max(expected(answer) for answer in answers.values()), abs=1e-9)


def test_linear_bleu_is_the_published_formula():
    gain = LinearBleu(precision=0.8, ratio=0.5, order=4, length=10)
    assert gain.length_weight == pytest.approx(-0.1)
    assert gain.weights == pytest.approx([1 / (4 * 10 * 0.8 * 0.5**n) for n in range(4)])
    assert gain.presence
    # "aa" occurs twice in the answer, and whether the gold has it once or twice does not matter
    assert gain("aaa", "aa") == pytest.approx(gain("aaa", "aabaa"))
    assert gain("aaa", "aa") == pytest.approx(-0.3 + 3 / 32 + 2 / 16)


def test_bleu_by_hand():
    # clipped: "the" at most twice; closest reference length 7 against 7
    references = [[["the", "cat", "is", "on", "the", "mat", "now"], ["there", "is", "a", "cat"]]]
    answer = ["the", "the", "the", "the", "the", "the", "the"]
    assert bleu(references, [answer], order=1) == pytest.approx(2 / 7)
    assert bleu([["abcd"]], ["abcd"]) == pytest.approx(1)
    assert bleu([["abcd"]], ["abcx"]) == 0.0  # no common 4-gram
    assert bleu([["ab"], ["abcd"]], ["ab", "abc"], order=2) == pytest.approx(math.exp(1 - 6 / 5))
    grams = Counter(pairwise("abcab"))
    assert bleu([["abcab"]], ["abab"], order=2) == pytest.approx(
        math.exp(1 - 5 / 4) * math.sqrt(4 / 4 * sum((Counter(pairwise("abab")) & grams).values()) / 3)
    )


def test_pushed_gains_survive_long_runs():
    # gains are kept as sums and never exponentiated: ten thousand rounds of gain 2
    learner = HistoryLearner(LAYERS, BIGRAMS, eta=0.5)
    learner.update(LAYERS.label, ABA)
    learner.cumulative *= 10_000
    assert learner.flows().tolist() == pytest.approx([1, 0, 0.5, 0.5, 0.5, 0.5])
    assert np.isfinite(push(learner.history.automaton, learner.weight()).total)


def test_what_is_refused():
    with pytest.raises(ParameterError, match="discount"):
        NGramGain((1,), discount=1.5)
    with pytest.raises(ParameterError, match="finite"):
        NGramGain(())
    with pytest.raises(ParameterError, match="reach"):
        history_automaton(LAYERS, 0)
    with pytest.raises(AutomatonError, match="more than 5 transitions"):
        history_automaton(LAYERS, 3, max_transitions=5)
    with pytest.raises(AutomatonError, match="too many to number"):
        history_automaton(figure_1([[0] * 50] * 20), 8)
    with pytest.raises(ParameterError, match="reach over 3"):
        ngram_gains(history_automaton(LAYERS, 2), LAYERS.label, NGramGain((1, 1, 1)), ABA)
    with pytest.raises(DataError, match="says nothing now"):
        ngram_gains(history_automaton(LAYERS, 2), [-1, 0, 0, 0, 0, 0], BIGRAMS, ABA)
    with pytest.raises(DataError, match="do not fit"):
        HistoryLearner(LAYERS, BIGRAMS, 0.5).update([0, 1], ABA)
    with pytest.raises(ParameterError, match="eta"):
        HistoryLearner(LAYERS, BIGRAMS, -1.0)
    with pytest.raises(DataError, match="one id"):
        HistoryLearner(LAYERS, BIGRAMS, 1.0, parameter=[0, 1])
    with pytest.raises(ParameterError, match="parameters"):
        SlotHistoryLearner(NGramGain((1,) * 6), 20, 1.0)
    with pytest.raises(ParameterError, match="precision"):
        LinearBleu(precision=0)
    with pytest.raises(DataError, match="reference"):
        bleu([[]], ["a"])
