"""ESPBoost on slots and on automata: the numbers of the specification, twins from the definition, theorems."""

import math

import naive.esp_boost as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structens.boosting import AutomatonPaths, LabelPaths, SlotPaths, boost_paths, paths_of_records
from structens.boosting.esp_boost import log_exponential_loss, masses_of, step_of
from structens.boosting.esp_boost_kernels import newton_step
from structens.boosting.esp_bounds import margin_bound, margin_loss_bound, round_factors
from structens.core import ABSENT, GAP, Automaton, AutomatonError, DataError, ParameterError
from structens.online import marginal

ERRORS = [  # record, expert, slot: section 4.6
    [[0, 1, 0], [1, 0, 0]],
    [[0, 1, 0], [0, 0, 1]],
    [[1, 0, 0], [0, 1, 0]],
    [[0, 0, 1], [0, 0, 0]],
]
RHO = (1 - 2 * np.array(ERRORS)).transpose(0, 2, 1).reshape(-1, 2)


@st.composite
def tied(draw, values=(-1, 0, 1), most=12):
    """rho rows, contexts and weights of a few slots; weights of no simple ratio, so that little is tied."""
    p, n_contexts = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    n = draw(st.integers(1, most))
    row = st.lists(st.sampled_from(values), min_size=p, max_size=p)
    rows = draw(st.lists(row, min_size=n, max_size=n))
    contexts = draw(st.lists(st.integers(0, n_contexts - 1), min_size=n, max_size=n))
    weight = [1.0 + math.sqrt(k + 2) % 1 for k in range(n)] if draw(st.booleans()) else [1.0] * n
    return rows, contexts, n_contexts, p, weight


def test_four_rounds_of_the_specification():
    paths = SlotPaths(RHO, np.tile([0, 1, 2], 4))
    made = boost_paths(paths, 4)
    experts = [(made.paths[j] % 2 + 1).tolist() for j in made.round_path]
    assert experts == [[1, 2, 1], [2, 1, 2], [1, 2, 1], [2, 2, 2]]
    assert made.epsilon.round(6).tolist() == [0.25, 0.222222, 0.321429, 0.350877]
    assert made.step.round(6).tolist() == [0.549306, 0.626381, 0.373607, 0.307593]
    assert made.z.round(6).tolist() == [0.866025, 0.831479, 0.93405, 0.954489]
    assert made.z.prod() == pytest.approx(0.641982, abs=5e-7)
    assert math.exp(log_exponential_loss(paths, made)) == pytest.approx(0.641982, abs=5e-7)
    votes = made.votes(6).reshape(3, 2).T
    assert votes.round(6).tolist() == [[0.922913, 0.626381, 0.922913], [0.933974, 1.230506, 0.933974]]
    assert list(made.by_path) == [(0, 3, 4), (1, 2, 5), (1, 3, 5)]
    assert made.by_path[0, 3, 4] == pytest.approx(0.549306 + 0.373607, abs=1e-6)
    assert made.stopped == "rounds"


def test_the_same_game_on_the_automaton_of_figure_1():
    figure_1 = Automaton.from_transitions([(k, k + 1, j) for k in range(3) for j in range(2)], final=[3])
    gold = np.zeros((4, 3), int)
    said = np.array(ERRORS).transpose(0, 2, 1).reshape(4, 6)  # label 1 is wrong
    made = boost_paths(AutomatonPaths.of_outputs(figure_1, said, gold), 4)
    slots = boost_paths(SlotPaths(RHO, np.tile([0, 1, 2], 4)), 4)
    assert [path[:-1].tolist() for path in made.paths] == [path.tolist() for path in slots.paths]
    assert made.step == pytest.approx(slots.step, rel=1e-12)
    assert made.z == pytest.approx(slots.z, rel=1e-12)
    votes = made.votes(figure_1.n_transitions + figure_1.n_states)[:6]
    assert votes == pytest.approx(slots.votes(6))
    record = Automaton(figure_1.offsets, figure_1.target, said[1].astype(np.int32), figure_1.is_final)
    assert marginal(record, votes).labels == [0, 0, 1]


def test_the_oracle_on_a_general_automaton():
    rows = [(0, 1, 0), (0, 2, 0), (0, 3, 0), (1, 4, 0), (2, 3, 0), (2, 4, 0), (3, 4, 0)]
    a = Automaton.from_transitions(rows, final=[4])
    cost = np.array([0.10, 0.05, 0.2, 0.08, 0.04, 0.02, 0.03])
    paths = AutomatonPaths(a, np.ones((1, 7)), 4)
    path = paths.best(np.append(-cost, np.zeros(5)), np.ones(12))
    assert path.tolist() == [1, 5, 7 + 4]  # e02, e24, and the final state
    assert cost[path[:-1]].sum() == pytest.approx(0.07)


@given(tied(), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_slots_against_all_path_experts(game, n_rounds):
    rows, contexts, n_contexts, p, weight = game
    paths = SlotPaths(rows, contexts, weight, n_contexts=n_contexts)
    made = boost_paths(paths, n_rounds)
    written = naive.slot_paths(rows, contexts, n_contexts, p)
    share = [w / sum(weight) for w in weight]
    rounds, stopped = naive.boost(written, share, n_rounds, len(rows))
    assert made.stopped == stopped
    assert [tuple((made.paths[j] % p).tolist()) for j in made.round_path] == [h for h, *_ in rounds]
    assert made.epsilon == pytest.approx([e for _, e, _, _ in rounds], abs=1e-9)
    assert made.step == pytest.approx([a for _, _, a, _ in rounds], abs=1e-9)
    assert made.z == pytest.approx([z for *_, z in rounds], abs=1e-9)
    alpha = {tuple((np.array(path) % p).tolist()): a for path, a in made.by_path.items()}
    assert made.z.prod() == pytest.approx(naive.exponential_loss(written, alpha, share), rel=1e-9)


@given(tied(values=(-1, 1)), st.integers(1, 8), st.sampled_from([0.05, 0.2, 0.5]))
@settings(max_examples=60, deadline=None)
def test_theorems_on_random_runs(game, n_rounds, rho):
    rows, contexts, n_contexts, p, weight = game
    made = boost_paths(SlotPaths(rows, contexts, weight, n_contexts=n_contexts), n_rounds)
    if not made.n_rounds:
        return
    votes = made.votes(n_contexts * p).reshape(n_contexts, p)[contexts]
    share = np.array(weight) / sum(weight)
    margin = (votes * rows).sum(axis=1)  # all wrong answers of a slot are one label: the worst case
    norm = made.alpha.sum()
    log_f = np.log(made.z).sum()
    assert share @ (margin <= 0) <= made.z.prod() + 1e-12
    assert share @ (margin <= rho * norm) <= margin_loss_bound(log_f, rho, norm) + 1e-12
    if made.stopped != "perfect":  # its coefficient is not that of its error
        assert margin_loss_bound(log_f, rho, norm) == pytest.approx(round_factors(made.epsilon, rho).prod(), rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rho", [0.5, 0.9])
def test_theorem_4_on_random_runs(seed, rho):
    """Two labels, so that wrong answers agree; the loss of the vote on new records stays under the bound."""
    rng = np.random.default_rng(seed)
    m, length, p, delta = 20_000, 3, 3, 0.05
    right = rng.uniform(0.6, 0.95, size=(length, p))
    learnt, new = (np.where(rng.random((n, length, p)) < right, 1, -1) for n in (m, 5 * m))
    made = boost_paths(SlotPaths(learnt.reshape(-1, p), np.tile(np.arange(length), m)), 20)
    votes = made.votes(length * p).reshape(length, p)
    norm = float(made.alpha.sum()) or 1.0
    margin, fresh = ((rows * votes).sum(axis=2) / norm for rows in (learnt, new))
    loss, held_out = float((margin <= rho).mean()), float((fresh <= 0).mean())
    bound = margin_bound(loss, rho, p, 2, length, m, delta)
    complexity = sum(2**2 * math.sqrt(2 * math.log(p * 2) / m) for _ in range(length))  # Massart, slot by slot
    chance = math.sqrt(math.log(length / delta) / (2 * m))
    assert bound == pytest.approx(loss + 2 / (rho * length) * complexity + chance)
    assert held_out <= bound
    assert bound - loss < 0.25  # so that the complexity does not make it hold by itself


def test_the_plateau_of_theorem_5():
    assert round_factors([0.3] * 10, 0.1).prod() == pytest.approx(0.638829, abs=5e-7)
    without_the_four = (0.3**0.9 * 0.7**1.1) ** 5
    assert without_the_four == pytest.approx(0.638829 / 2**10, rel=1e-5)
    for epsilon, rho in ((0.3, 0.1), (0.1, 0.35), (0.45, 0.04)):
        gamma = 0.5 - epsilon
        factor = float(round_factors([epsilon], rho)[0]) ** 2
        assert factor <= (1 - 2 * gamma) ** (1 - rho) * (1 + 2 * gamma) ** (1 + rho) + 1e-12
        assert factor < 1
    assert round_factors([0.3], 0.3)[0] > 1  # beyond gamma = .2 no round helps
    assert margin_bound(0.1, 0.5, 5, 2, 10, 10**8) == pytest.approx(0.1, abs=5e-3)


@given(tied(values=(-1, 1), most=8), st.data())
@settings(max_examples=40, deadline=None)
def test_labels_against_the_definition(game, data):
    rows, _, n_contexts, p, weight = game
    label = st.lists(st.sampled_from([*range(n_contexts), None]), min_size=p, max_size=p)
    labels = [data.draw(label) for _ in rows]
    rows = [[0 if a is None else r for r, a in zip(*pair, strict=True)] for pair in zip(rows, labels, strict=True)]
    parameter = [[-1 if a is None else a * p + j for j, a in enumerate(row)] for row in labels]
    paths = LabelPaths(rows, parameter, weight, n_contexts=n_contexts)
    share = np.array(weight) / sum(weight)
    plus, minus = paths.masses(paths.weight)
    path = paths.best(plus - minus, plus + minus)
    chosen = [None] * n_contexts
    for a in range(n_contexts):
        gain = [sum(w * r[j] for w, r, x in zip(share, rows, labels, strict=True) if x[j] == a) for j in range(p)]
        if max(gain) > 1e-12:
            chosen[a] = next(j for j in range(p) if gain[j] >= max(gain) - 1e-12)
    assert path.tolist() == [a * p + j for a, j in enumerate(chosen) if j is not None]
    margins = [naive.label_margin(r, x, chosen) for r, x in zip(rows, labels, strict=True)]
    right, wrong = masses_of(paths.margin(path), paths.weight)
    assert right == pytest.approx(sum(w * max(m, 0) for w, m in zip(share, margins, strict=True)), abs=1e-12)
    assert wrong == pytest.approx(sum(w * max(-m, 0) for w, m in zip(share, margins, strict=True)), abs=1e-12)
    made = boost_paths(paths, 5)
    assert made.z.prod() == pytest.approx(math.exp(log_exponential_loss(paths, made)), rel=1e-9)
    assert (made.z <= 1 + 1e-12).all()


@given(st.integers(0, 10**6), st.sampled_from(["epsilon", "abstain"]), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_automata_against_all_paths(seed, unequal, n_rounds):
    rng = np.random.default_rng(seed)
    a = _skipping(rng)
    m, n_slots = int(rng.integers(1, 4)), a.n_states
    said = rng.choice([GAP, 0, 1, ABSENT], size=(m, a.n_transitions))
    gold = rng.choice([GAP, 0, 0, 1], size=(m, n_slots))
    slot = np.arange(a.n_states)
    weight = rng.uniform(0.5, 1.5, size=(m, n_slots))
    paths = AutomatonPaths.of_outputs(a, said, gold, slot=slot, unequal=unequal, weight=weight)
    silence = np.where(gold == GAP, 1.0, -1.0) if unequal == "epsilon" else np.zeros(gold.shape)
    rho = np.where(said == gold[:, slot[a.source]], 1.0, -1.0)
    rho[said == ABSENT] = 0.0
    if unequal == "abstain":
        rho[said == GAP] = 0.0
    written = naive.automaton_paths(a, rho.tolist(), slot, silence.tolist())
    share = (weight / weight.sum()).ravel().tolist()
    rounds, stopped = naive.boost(written, share, n_rounds, len(share))
    made = boost_paths(paths, n_rounds)
    assert made.stopped == stopped
    assert made.epsilon == pytest.approx([e for _, e, _, _ in rounds], abs=1e-9)
    assert made.z == pytest.approx([z for *_, z in rounds], abs=1e-9)
    alpha = {path[:-1]: x for path, x in made.by_path.items()}
    assert made.z.prod() == pytest.approx(naive.exponential_loss(written, alpha, share), rel=1e-9)


def _skipping(rng):
    """Transitions between random states, some of which skip slots; every state may be the last."""
    n = int(rng.integers(2, 6))
    rows = [(q, q + 1, 0) for q in range(n - 1)]
    rows += [(int(q), int(rng.integers(q + 1, n)), 0) for q in rng.integers(0, n - 1, size=4)]
    return Automaton.from_transitions(rows, final=[*np.flatnonzero(rng.random(n) < 0.5).tolist(), n - 1])


@given(st.integers(0, 10**6), st.sampled_from(["epsilon", "abstain"]))
@settings(max_examples=30, deadline=None)
def test_records_with_automata_of_their_own_share_parameters(seed, unequal):
    """Records are ends of a shared automaton, tied from its end."""
    rng = np.random.default_rng(seed)
    a = _skipping(rng)
    n_slots = a.n_states - 1
    slot, records = np.arange(a.n_states), []
    rho, silence, kept = [], [], []
    for _ in range(int(rng.integers(1, 5))):
        first = int(rng.integers(0, n_slots))
        ids = np.flatnonzero(a.source >= first)
        said, gold = (rng.choice([GAP, 0, 0, 1], size=n) for n in (len(ids), n_slots - first))
        said[rng.random(len(ids)) < 0.1] = ABSENT
        rows = list(zip((a.source[ids] - first).tolist(), (a.target[ids] - first).tolist(), said.tolist(), strict=True))
        ends = np.flatnonzero(a.is_final[first:]).tolist()
        own = Automaton.from_transitions([(q, r, n) for n, (q, r, _) in enumerate(rows)], final=ends)
        number = own.label
        own = Automaton(own.offsets, own.target, said[number].astype(np.int32), own.is_final)
        records.append((own, ids[number], gold))
        row = np.zeros(a.n_transitions)
        row[ids] = np.where(said == gold[a.source[ids] - first], 1.0, -1.0)
        row[ids[(said == ABSENT) | ((said == GAP) & (unequal == "abstain"))]] = 0.0
        rho.append(row.tolist())
        silent = np.where(gold == GAP, 1.0, -1.0) if unequal == "epsilon" else np.zeros(len(gold))
        silence.append([0.0] * first + silent.tolist())
        kept += [False] * first + [True] * len(gold)
    paths = paths_of_records(a, records, unequal=unequal)
    cells = np.flatnonzero(kept)
    every = naive.automaton_paths(a, rho, slot, silence)
    written = {h: np.array(margins)[cells].tolist() for h, margins in every.items()}
    share = [1 / len(cells)] * len(cells)
    rounds, stopped = naive.boost(written, share, 3, len(cells))
    made = boost_paths(paths, 3)
    assert made.stopped == stopped
    assert made.epsilon == pytest.approx([e for _, e, _, _ in rounds], abs=1e-9)
    assert made.z == pytest.approx([z for *_, z in rounds], abs=1e-9)
    alpha = {path[:-1]: x for path, x in made.by_path.items()}
    assert made.z.prod() == pytest.approx(naive.exponential_loss(written, alpha, share), rel=1e-9)


def test_position_from_the_end_by_automata_and_by_slots():
    rng = np.random.default_rng(4)
    shared = Automaton.from_transitions([(k, k + 1, j) for k in range(3) for j in range(2)], final=[3])
    records, rho, contexts = [], [], []
    for i in range(30):
        length = 1 + i % 3
        said = np.where(rng.random(2 * length) < 0.7, 0, 1)
        rows = [(k, k + 1, j) for k in range(length) for j in range(2)]
        own = Automaton.from_transitions(rows, final=[length])
        own = Automaton(own.offsets, own.target, said.astype(np.int32), own.is_final)
        records.append((own, np.arange(6 - 2 * length, 6), np.zeros(length, int)))
        rho += (1 - 2 * said).reshape(length, 2).tolist()
        contexts += range(3 - length, 3)
    paths, slots = paths_of_records(shared, records), SlotPaths(rho, contexts)
    made, same = boost_paths(paths, 8), boost_paths(slots, 8)
    assert made.n_rounds > 2
    assert made.step == pytest.approx(same.step, rel=1e-9)
    assert [path[:-1].tolist() for path in made.paths] == [path.tolist() for path in same.paths]
    total = sum(
        a * np.array([rho[g][path[c] % 2] for g, c in enumerate(contexts)])
        for path, a in zip(made.paths, made.alpha, strict=True)
    )
    assert made.margins(paths) == pytest.approx(total / made.alpha.sum())
    assert made.margins(paths, n_rounds=1) == pytest.approx(paths.margin(made.paths[0]))
    loss = float(paths.weight @ (made.margins(paths) <= 0.1))
    assert loss <= margin_loss_bound(float(np.log(made.z).sum()), 0.1, float(made.alpha.sum())) + 1e-12
    nothing = boost_paths(SlotPaths([[1, -1], [-1, 1]], [0, 0]))
    assert nothing.margins(SlotPaths([[1, -1], [-1, 1]], [0, 0])).tolist() == [-1.0, 1.0]


def test_records_that_do_not_fit_a_shared_automaton():
    shared = Automaton.from_transitions([(0, 1, 0), (0, 1, 1), (1, 2, 0), (1, 2, 1)], final=[2])
    one = Automaton.from_transitions([(0, 1, 5), (0, 1, 6)], final=[1])
    two = Automaton.from_transitions([(0, 1, 5), (1, 2, 6)], final=[2])
    for record, words in (
        ((one, [2, 2], [5]), "two transitions have the same parameter"),
        ((one, [2], [5]), "record 0: need a parameter from 0 to 3"),
        ((one, [2, 4], [5]), "record 0: need a parameter from 0 to 3"),
        ((one, [2, 3], [5, 5]), "need gold for each slot"),
        ((one, [1, 3], [5]), "parameters of one slot"),
        ((two, [0, 1], [5, 6]), "and no other's"),
    ):
        with pytest.raises(DataError, match=words):
            paths_of_records(shared, [record])
    with pytest.raises(DataError, match="and a record"):
        paths_of_records(shared, [])
    with pytest.raises(ParameterError, match="unequal"):
        paths_of_records(shared, [(one, [2, 3], [5])], unequal="pad")


@pytest.mark.parametrize("gold", [[[]], np.zeros((3, 0), int)])
def test_an_automaton_without_slots_is_refused(gold):
    a = Automaton.from_transitions([(0, 1, 7)], final=[1])
    with pytest.raises(DataError, match="at least one slot"):
        AutomatonPaths.of_outputs(a, [[7]] * len(gold), gold)
    with pytest.raises(DataError, match="at least one slot"):
        AutomatonPaths(a, [[1.0]], 0)


def test_paths_of_unequal_length_in_two_ways():
    a = Automaton.from_transitions([(0, 1, 0), (0, 2, 0), (1, 2, 0)], final=[2])  # the second skips slot 1
    gold = [[5, GAP], [5, GAP], [5, 6]]
    said = [[5, 5, 7], [5, 5, 7], [5, 5, 6]]
    epsilon = AutomatonPaths.of_outputs(a, said, gold)
    long_way = [e for e in range(3) if a.target[e] - a.source[e] == 1]
    skip = [e for e in range(3) if a.target[e] - a.source[e] == 2]
    assert epsilon.margin(epsilon.path(skip)).tolist() == [1, 1, 1, 1, 1, -1]
    assert epsilon.margin(epsilon.path(long_way)).tolist() == [1, -1, 1, -1, 1, 1]
    abstain = AutomatonPaths.of_outputs(a, said, gold, unequal="abstain")
    assert abstain.margin(abstain.path(skip)).tolist() == [1, 0, 1, 0, 1, 0]
    plus, minus = abstain.masses(abstain.weight)
    right, wrong = masses_of(abstain.margin(abstain.path(skip)), abstain.weight)
    assert (right, wrong) == (0.5, 0.0)
    assert plus[abstain.path(skip)].sum() == pytest.approx(right)
    assert minus[abstain.path(skip)].sum() == 0


@given(tied(values=(-0.9, -0.25, 0.0, 0.5, 1.0)))
@settings(max_examples=40, deadline=None)
def test_steps_of_real_margins(game):
    rows, contexts, n_contexts, _, weight = game
    paths = SlotPaths(rows, contexts, weight, n_contexts=n_contexts)
    plus, minus = paths.masses(paths.weight)
    rho = paths.margin(paths.best(plus - minus, plus + minus))
    right, wrong = masses_of(rho, paths.weight)
    if right - wrong <= 1e-9:
        return
    newton, closed = (step_of(paths, rho, paths.weight, step) for step in ("newton", "closed"))
    z = [float(paths.weight @ np.exp(-a * rho)) for a in (newton, closed)]
    near = [float(paths.weight @ np.exp(-a * rho)) for a in (max(newton - 1e-4, 0.0), newton + 1e-4)]
    highest = 0.5 * math.log(1.0 / min(0.5 / paths.n, 0.25 * right) - 1.0)
    assert z[0] <= near[0] + 1e-12
    assert newton <= highest + 1e-9
    assert z[0] <= near[1] + 1e-12 or newton == pytest.approx(highest)
    assert z[0] <= z[1] + 1e-12
    made = [boost_paths(paths, 4, step=step) for step in ("newton", "closed")]
    for one in made:
        assert one.z.prod() == pytest.approx(math.exp(log_exponential_loss(paths, one)), rel=1e-9)
        assert (one.z <= 1 + 1e-12).all()


def test_newton_stops_at_the_end_of_its_range():
    assert newton_step(np.array([1.0, 0.5]), np.array([0.5, 0.5]), 3.0) == 3.0
    assert newton_step(np.array([1.0, -1.0]), np.array([0.5, 0.5]), 3.0) == pytest.approx(0.0, abs=1e-12)


def test_equal_slots_are_one_cell():
    rng = np.random.default_rng(0)
    rows, contexts = rng.choice([-1, 0, 1], size=(200, 3)), rng.integers(2, size=200)
    merged = SlotPaths(rows, contexts)
    apart = SlotPaths(rows * np.float64(1 - 1e-15), contexts)  # not whole, so not merged
    assert len(merged.weight) <= 54 < len(apart.weight) == 200
    a, b = (paths.masses(paths.weight) for paths in (merged, apart))
    assert a[0] == pytest.approx(b[0], abs=1e-12)
    assert a[1] == pytest.approx(b[1], abs=1e-12)
    shuffled = rng.permutation(200)
    again = boost_paths(SlotPaths(rows[shuffled], contexts[shuffled]), 5)
    assert again.step.tolist() == boost_paths(merged, 5).step.tolist()
    wide = rng.choice([-1, 1], size=(50, 70))  # more experts than one key holds
    wide = np.concatenate([wide, wide[::-1]])
    assert len(SlotPaths(wide, np.zeros(100, int)).weight) == len(np.unique(wide, axis=0))


def test_weak_and_perfect_path_experts_end_the_game():
    weak = boost_paths(SlotPaths([[1, -1], [-1, 1]], [0, 0]))
    assert (weak.n_rounds, weak.stopped, weak.votes(2).tolist()) == (0, "weak", [1.0, 0.0])
    perfect = boost_paths(SlotPaths([[1, -1]] * 5, [0] * 5))
    assert (perfect.n_rounds, perfect.stopped) == (1, "perfect")
    assert perfect.step[0] == pytest.approx(0.5 * math.log(9.0))  # as with half an error in five slots
    assert boost_paths(SlotPaths([[1]], [0])).alpha[0] > 0


def test_what_cannot_be_boosted_is_refused():
    for rows, contexts, weight in (
        ([[2.0]], [0], None),
        (np.zeros((0, 2)), [], None),
        ([[1.0]], [0, 1], None),
        ([[1.0]], [-1], None),
        ([[1.0]], [0], [0.0]),
    ):
        with pytest.raises(DataError):
            SlotPaths(rows, contexts, weight)
    with pytest.raises(DataError, match="one parameter an answer"):
        LabelPaths([[1.0]], [[0, 1]], n_contexts=1)
    paths = SlotPaths([[1, -1]], [0])
    with pytest.raises(ParameterError, match="step must be one of"):
        boost_paths(paths, step="euler")
    with pytest.raises(ParameterError, match="n_rounds"):
        boost_paths(paths, 0)
    a = Automaton.from_transitions([(0, 1, 7), (1, 2, 7)], final=[2])
    for options in ({"slot": [0, 0, 1]}, {"slot": [0, 1]}, {"silence": [[2.0, 0]]}, {"weight": [[1.0]]}):
        with pytest.raises(DataError):
            AutomatonPaths(a, [[1.0, -1.0]], 2, **options)
    with pytest.raises(DataError):
        AutomatonPaths(a, [[1.0]], 2)
    with pytest.raises(AutomatonError):
        AutomatonPaths(Automaton.from_transitions([(0, 1, 7)], final=[]), [[1.0]], 1)
    with pytest.raises(ParameterError, match="unequal"):
        AutomatonPaths.of_outputs(a, [[0, 0]], [[0, 0]], unequal="pad")
    with pytest.raises(DataError, match="need outputs"):
        AutomatonPaths.of_outputs(a, [[0]], [[0, 0]])
