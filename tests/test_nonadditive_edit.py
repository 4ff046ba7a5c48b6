"""Edit distance as a loss to learn by: exact automata of a round, and the sampled surrogate; COLT 2015, appendix D."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive import nonadditive as naive
from naive.online import paths_of
from strategies_automata import automata

from structens.align import align
from structens.automata import Semiring, n_paths
from structens.automata.edit_loss import edit_loss, expected_edit_distance
from structens.core import ABSENT, Automaton, AutomatonError, DataError, ExpertPredictions, ParameterError
from structens.ensembles import PathExpertEnsemble
from structens.losses import edit_distance
from structens.online import convert, play
from structens.online.edit_learning import edit_gradient, edit_rounds
from structens.online.tying import Tying

# COLT 2015, figure 1, labels a and b as in the spec's test
A, B = 0, 1
DAG = Automaton.from_transitions(
    [(0, 1, A), (0, 2, B), (0, 3, A), (1, 4, B), (2, 3, B), (2, 4, A), (3, 4, A)], final=[4]
)
COSTS = st.sampled_from([(1.0, 1.0, 1.0), (0.5, 2.0, 0.75), (1.0, 1.0, 5.0), (0.0, 1.0, 1.0), (1.0, 0.3, 0.1)])


def sum_along(made, path):
    last = made.automaton.target[path[-1]] if path else made.automaton.start
    return sum(made.loss[e] for e in path) + made.final_loss[last]


@given(st.lists(st.integers(0, 2), max_size=6), st.lists(st.integers(0, 2), max_size=5))
def test_identity_4_rises_of_the_minimum_add_up(answer, y):
    # verify_identities.py, 4, on one path and without clipping: the columns are those of the plain recurrence
    chain = Automaton.from_transitions([(k, k + 1, a) for k, a in enumerate(answer)], final=[len(answer)], n_states=1)
    made = edit_loss(chain, y, clip=False)
    column, rises = list(range(len(y) + 1)), []
    for a in answer:
        new = [column[0] + 1]
        for j in range(1, len(y) + 1):
            new.append(min(new[j - 1] + 1, column[j] + 1, column[j - 1] + (y[j - 1] != a)))
        rises.append(min(new))
        column = [x - min(new) for x in new]
    assert made.loss.tolist() == rises
    assert made.final_loss[-1] == column[-1]
    assert sum(rises) + column[-1] == edit_distance(y, answer)


def test_determinisation_of_figure_1():
    made = edit_loss(DAG, [B, A], clip=False)
    assert (made.automaton.n_states, made.automaton.n_transitions) == (8, 8)
    distances = {tuple(naive.said(made.automaton, path)): sum_along(made, path) for path in paths_of(made.automaton)}
    assert distances == {(A, B): 2, (B, A): 0, (B, B, A): 1, (A, A): 1}
    # (0, [0,1,2]) - e02/0 -> (2, [1,0,1]) - e24/0 -> (4, [2,1,0])
    first = int(np.flatnonzero(made.transition == 1)[0])
    after = made.automaton.target[first]
    second = int(np.flatnonzero((made.automaton.source == after) & (made.transition == 5))[0])
    assert (made.state[made.automaton.source[first]], made.state[after], made.loss[first], made.loss[second]) == (
        0,
        2,
        0,
        0,
    )
    assert made.final_loss[made.automaton.target[second]] == 0
    clipped = edit_loss(DAG, [B, A])
    assert clipped.automaton.n_states < 8
    assert {
        tuple(naive.said(clipped.automaton, p)): sum_along(clipped, p) for p in paths_of(clipped.automaton)
    } == distances


@given(
    automata(least_label=-1, most_states=8, most_transitions=18),
    st.lists(st.integers(0, 2), max_size=6),
    COSTS,
    st.booleans(),
)
@settings(max_examples=150)
def test_sums_along_paths_are_edit_distances(automaton, y, costs, clip):
    made = edit_loss(automaton, y, costs=costs, clip=clip)
    found = {}
    for path in paths_of(made.automaton):
        found.setdefault(tuple(made.transition[list(path)].tolist()), []).append(sum_along(made, path))
    assert sorted(found) == paths_of(automaton)  # each path once, none more
    for path, sums in found.items():
        assert sums == [pytest.approx(naive.edit(naive.said(automaton, path), y, costs))]


def hypotheses(rng, p, n_slots, n_labels):
    """Experts right three times in four over 40 labels, with gaps, and gold with missing units; or noise."""
    gold = rng.integers(0, n_labels, n_slots)
    labels = np.where(rng.random((n_slots, p)) < 0.75, gold[:, None], rng.integers(0, n_labels, (n_slots, p)))
    labels = np.where(rng.random((n_slots, p)) < 0.08, -1, labels)
    return labels, gold[rng.random(n_slots) >= 0.08]


def figure_1(labels):
    return Automaton.from_transitions([(k, k + 1, a) for k, row in enumerate(labels) for a in row], final=[len(labels)])


@pytest.mark.compiled
@pytest.mark.parametrize(("p", "n_slots", "n_labels"), [(5, 20, 40), (20, 10, 40), (20, 20, 40), (10, 12, 3)])
def test_no_mismatch_on_random_paths_of_larger_automata(p, n_slots, n_labels):
    rng = np.random.default_rng(3)
    labels, y = hypotheses(rng, p, n_slots, n_labels)
    made = edit_loss(figure_1(labels.tolist()), y)
    assert made.automaton.n_states < 40_000  # 20 experts, 20 slots: some thousands, found in a tenth of a second
    probability = np.full(made.automaton.n_transitions, 1.0 / p)
    distances = []
    for _ in range(300):
        path, q = [], made.automaton.start
        for _ in range(n_slots):
            path.append(int(made.automaton.offsets[q] + rng.integers(p)))
            q = int(made.automaton.target[path[-1]])
        distances.append(edit_distance(y.tolist(), naive.said(made.automaton, path)))
        assert sum_along(made, path) == distances[-1]
    mean = expected_edit_distance(figure_1(labels.tolist()), probability[: n_slots * p], y, semiring=Semiring.REAL)
    assert mean == pytest.approx(np.mean(distances), abs=5 * np.std(distances) / math.sqrt(300) + 1e-9)


def test_clipping_shrinks_what_plain_determinisation_blows_up():
    labels, y = hypotheses(np.random.default_rng(5), 5, 9, 40)
    automaton = figure_1(labels.tolist())
    assert edit_loss(automaton, y).automaton.n_states * 5 < edit_loss(automaton, y, clip=False).automaton.n_states


@given(automata(least_label=-1), st.lists(st.integers(0, 2), max_size=4), st.data())
def test_expected_edit_distance_is_that_of_written_out_paths(automaton, y, data):
    assume(n_paths(automaton) > 0)
    n = automaton.n_transitions
    cost = np.array(data.draw(st.lists(st.floats(-2, 3), min_size=n, max_size=n)))
    probability = naive.softmax({path: -sum(cost[e] for e in path) for path in paths_of(automaton)}, 1.0)
    mean = sum(mass * naive.edit(naive.said(automaton, path), y) for path, mass in probability.items())
    assert expected_edit_distance(automaton, cost, y) == pytest.approx(mean)


def test_what_the_automaton_refuses():
    labels, y = hypotheses(np.random.default_rng(5), 5, 9, 40)
    with pytest.raises(AutomatonError, match="more than 10 states"):
        edit_loss(figure_1(labels.tolist()), y, max_states=10)
    with pytest.raises(AutomatonError, match="bounds"):
        edit_loss(Automaton.from_transitions([(k, k + 1, 0) for k in range(200)], final=[200]), [0] * 800)
    with pytest.raises(ParameterError, match="costs"):
        edit_loss(DAG, [A], costs=(1, 1, -1))
    with pytest.raises(DataError, match="target"):
        edit_loss(DAG, [-1])
    nothing = Automaton.from_transitions([], final=[], n_states=0)
    assert edit_loss(replace(nothing, start=0), [A]).automaton.n_transitions == nothing.n_transitions


# the sampled surrogate

tables = st.integers(1, 4).flatmap(
    lambda p: st.lists(
        st.lists(st.integers(-2, 2), min_size=p, max_size=p).filter(lambda row: max(row) > -2), min_size=1, max_size=4
    )
)
golds = st.lists(st.lists(st.integers(0, 2), max_size=4), min_size=1, max_size=2)


def distribution(data, labels):
    raw = np.array([[data.draw(st.floats(0.05, 1)) * (a != ABSENT) for a in row] for row in labels])
    return raw / raw.sum(axis=1, keepdims=True)


@given(tables, golds, st.data())
def test_replacements_of_one_certain_path(labels, gold, data):
    choice = [data.draw(st.sampled_from([j for j, a in enumerate(row) if a != ABSENT])) for row in labels]
    flow = np.zeros((len(labels), len(labels[0])))
    flow[np.arange(len(labels)), choice] = 1.0
    made = edit_gradient(labels, flow, [np.array(g, np.int32) for g in gold], n_samples=1)
    naively = naive.replacements(labels, [row[j] for row, j in zip(labels, choice, strict=True)], gold)
    assert made.gradient.tolist() == [[0.0 if d is None else d for d in row] for row in naively]
    assert made.expected == naively[0][choice[0]]


@given(tables, golds, st.data())
@settings(max_examples=25)
def test_the_gradient_is_unbiased(labels, gold, data):
    flow = distribution(data, labels)
    made = edit_gradient(labels, flow, [np.array(g, np.int32) for g in gold], n_samples=1500, seed=1)
    bound = 5 * 2.0 / math.sqrt(1500)  # distances differ by at most 4, so their deviation is at most 2
    assert made.expected == pytest.approx(naive.expected_edit(labels, flow, gold), abs=bound)
    for k, row in enumerate(labels):
        for j in range(len(row)):
            if row[j] != ABSENT:  # the derivative of a multilinear function: its value at a corner of the slot
                corner = flow.copy()
                corner[k] = 0.0
                corner[k, j] = 1.0
                assert made.gradient[k, j] == pytest.approx(naive.expected_edit(labels, corner, gold), abs=bound)


def test_the_gradient_agrees_with_the_exact_automaton():
    labels, y = hypotheses(np.random.default_rng(8), 5, 9, 40)
    flow = np.random.default_rng(9).dirichlet(np.ones(5), size=9)
    exact = expected_edit_distance(figure_1(labels.tolist()), flow.ravel(), y, semiring=Semiring.REAL)
    assert edit_gradient(labels, flow, [y], n_samples=4000).expected == pytest.approx(exact, abs=0.1)


WORDS = ExpertPredictions.of(
    {
        "a": ["kitten", "abcde", "dog", "x", "mitten"],
        "b": ["sitting", "bcdef", None, "xy", "smitten"],
        "c": ["kiting", "abdef", "dig", "y", "mittens"],
    },
    gold=["sitting", "bcdef", "dog", "xy", "mitten"],
)


def test_rounds_repeat_the_game_they_were_played_in():
    slots, eta = align(WORDS), 0.4
    tying = Tying.learn(slots, "expert")
    rounds = edit_rounds(slots, WORDS, tying, eta, n_samples=3)
    flow = np.full(3, 1 / 3)
    cumulative = np.zeros(3)
    for t in range(len(slots)):
        a, b = slots.offsets[t : t + 2]
        flow = np.exp(-eta * cumulative) / np.exp(-eta * cumulative).sum()
        awake = slots.labels[a:b] != ABSENT
        loss = rounds.loss[a:b]
        assert (np.where(awake, loss, np.inf).min(axis=1) == 0).all()  # the best choice of a slot costs nothing
        mean = np.where(awake, loss, 0).sum(axis=1) / awake.sum(axis=1)
        assert loss[~awake] == pytest.approx(np.broadcast_to(mean[:, None], loss.shape)[~awake])
        cumulative += (loss - mean[:, None]).sum(axis=0)
    after = np.exp(-eta * cumulative) / np.exp(-eta * cumulative).sum()
    assert play(rounds, eta).shape == (5,)
    assert after[1] > flow.min()
    assert convert(rounds, eta).weights[0].argmax() == 1  # the expert that is right three times in five


def test_with_one_certain_expert_losses_are_exact_differences():
    X = ExpertPredictions.of({"a": ["abc"], "b": ["axc"]}, gold=["abc"])
    slots = align(X)
    rounds = edit_rounds(slots, X, Tying.learn(slots, "expert"), 0.0)
    assert rounds.loss.tolist() == [[0, 0], [0, 1], [0, 0]]


def test_rounds_do_not_depend_on_the_order_of_experts():
    turned = WORDS.reindex(("c", "a", "b"))
    made = [edit_rounds(align(X), X, Tying.learn(align(X), "expert"), 0.3) for X in (WORDS, turned)]
    assert made[0].loss[:, [2, 0, 1]].tolist() == made[1].loss.tolist()


def test_ensembles_learn_by_edit_distance():
    X = ExpertPredictions.of(
        {"a": ["kitten", "dog", "pan"] * 20, "b": ["sittin", "dg", "pin"] * 20, "c": ["sittin", "dg", "pin"] * 20},
        gold=["kitten", "dog", "pan"] * 20,
    )
    ensemble = PathExpertEnsemble(loss="edit").fit(X)
    assert ensemble.predict(X[:3]) == ["kitten", "dog", "pan"]
    assert ensemble.weights_[0].argmax() == 0
    # what is charged in a slot is the distance beyond the best: 1 where b and c are wrong, in 4 of 12 slots
    weight = ensemble.weights_[0, 1:].sum()
    assert ensemble.expected_loss(X[:3]) == pytest.approx(weight * (2 / 6 + 1 / 3 + 1 / 3) / 3)


@pytest.mark.parametrize("rule", ["mvote", "last"])
def test_edit_distance_is_learnt_record_by_record(rule):
    rng = np.random.default_rng(3)
    words = ["kitten", "dog", "pan", "sitting"] * 4
    said = {n: ["".join(c for c in w if rng.random() > 0.15 * (k + 1)) for w in words] for k, n in enumerate("abc")}
    gold = [None if i % 4 == 3 else w for i, w in enumerate(words)]
    X = ExpertPredictions.of(said, gold=gold)
    X = replace(X, present=X.present & (rng.random(X.present.shape) > 0.2))
    options = {"rule": rule, "beta": 0.8, "loss": "edit", "align": "always"}
    whole, piecewise = PathExpertEnsemble(**options).fit(X), PathExpertEnsemble(**options)
    for i in range(len(X)):
        piecewise.partial_fit(X[i : i + 1])
    assert whole.weights_ == pytest.approx(piecewise.weights_)
    assert whole.regret_ == pytest.approx(piecewise.regret_)
    assert (whole.weights_[0] != 1 / 3).all()
    if rule == "last":
        online = PathExpertEnsemble(**options)
        answers = online.combine_online(X).answers
        assert online.weights_ == pytest.approx(whole.weights_)
        half = PathExpertEnsemble(**options).fit(X[:8])
        assert half.predict(X[8:9]) == [answers[8]]


def test_a_unit_in_the_wrong_slot_is_no_error():
    # gold by slots would charge an answer that is right but shifted; edit distance does not
    labels = [[0, -1], [-1, 0]]
    made = edit_gradient(labels, [[1, 0], [1, 0]], [[0]], n_samples=1)
    assert made.gradient.tolist() == [[0, 1], [0, 1]]
    other = edit_gradient(labels, [[0, 1], [0, 1]], [[0]], n_samples=1)
    assert other.gradient.tolist() == [[1, 0], [1, 0]]


def test_what_the_surrogate_refuses():
    with pytest.raises(DataError, match="sum to 1"):
        edit_gradient([[0, 1]], [[0.5, 0.4]], [[0]])
    with pytest.raises(DataError, match="one probability"):
        edit_gradient([[0, 1]], [[0.5]], [[0]])
    with pytest.raises(ParameterError, match="n_samples"):
        edit_gradient([[0]], [[1.0]], [[0]], n_samples=0)
    slots = align(WORDS)
    with pytest.raises(ParameterError, match="loss_scale"):
        edit_rounds(slots, WORDS, Tying.learn(slots, "expert"), 1.0, loss_scale="none")
    assert edit_gradient(np.zeros((0, 2)), np.zeros((0, 2)), [[0, 1]]).expected == 2.0
