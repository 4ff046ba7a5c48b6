from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import restricted as naive

from structens import load, save
from structens.automata import LabelAcceptor
from structens.core import (
    ABSENT,
    EPSILON,
    GAP,
    Alphabet,
    Automaton,
    AutomatonError,
    DataError,
    ExpertPredictions,
    ParameterError,
    Slots,
)
from structens.ensembles import PathExpertEnsemble
from structens.ensembles.recipe import Recipe
from structens.ensembles.restricted_votes import Conditioned
from structens.ensembles.restriction import compile_restriction
from structens.online.admissible import AdmissiblePaths
from structens.online.gamma import cv_penalty
from structens.online.restricted import RestrictedMajority
from structens.online.rounds import rounds_of
from structens.online.tying import Tying

ALPHABET = Alphabet(("x", "y", "z"))
RESTRICTIONS = (
    {"forbidden": [["x", "x"], [None, "y"], ["z", None]]},
    {"allowed": [["x", "y"], ["y", "x"], ["x", "z"]]},
    {"transitions": [[0, 1, "x"], [1, 0, "y"], [1, 1, "z"]], "final": [0]},
)


def thirds(slots):
    """A user's way of tying: contexts of several runs, some of which come back in a record."""
    return slots.position // 2 % 2


@st.composite
def games(draw, *, length=None, absences=True):
    p = draw(st.integers(1, 3))
    lengths = draw(st.lists(st.integers(0, 4) if length is None else st.just(length), min_size=1, max_size=4))
    n = sum(lengths)
    cells = st.sampled_from([GAP, 0, 0, 1, 2])
    labels = np.array(draw(st.lists(cells, min_size=n * p, max_size=n * p)), np.int32).reshape(n, p)
    offsets = np.cumsum([0, *lengths])
    for a, b in pairwise(offsets.tolist()):
        missing = draw(st.integers(0, p)) if absences and p > 1 else p
        if missing < p:
            labels[a:b, missing] = ABSENT
    gold = np.array(draw(st.lists(st.sampled_from([0, 1, 2]), min_size=n, max_size=n)), np.int32)
    return Slots(labels, offsets, np.zeros((n, p), int), tuple("abc"[:p]), ALPHABET, gold, np.zeros(len(lengths), int))


def parts(slots, tie):
    """Contexts, labels and losses of each record, as lists."""
    contexts = Tying.learn(slots, tie).contexts(slots).tolist()
    losses = (slots.labels != slots.gold[:, None]).astype(float).tolist()
    rows = zip(slots.offsets[:-1].tolist(), slots.offsets[1:].tolist(), strict=True)
    return [(contexts[a:b], slots.labels[a:b].tolist(), losses[a:b]) for a, b in rows]


@given(games(), st.sampled_from(["expert", "position", thirds]), st.sampled_from(RESTRICTIONS), st.randoms())
def test_flows_and_survivors_are_those_of_all_admissible_paths(slots, tie, restriction, random):
    acceptor = compile_restriction(restriction, ALPHABET)
    tying = Tying.learn(slots, tie)
    paths = AdmissiblePaths.of(slots, acceptor, tying.contexts(slots))
    n_contexts, p = tying.n_contexts, slots.n_experts
    table = np.array([[0.1 + random.random() for _ in range(p)] for _ in range(n_contexts)]).reshape(n_contexts, p)
    place = tying.parameters(slots)[:, 0] // p
    found = paths.flows(table[place], paths.present)
    survived = paths.survivors(paths.present, place)
    weights = {c: table[k].tolist() for k, c in enumerate(np.asarray(tying.keys).tolist())}
    for i, (contexts, labels, _) in enumerate(parts(slots, tie)):
        span = slice(slots.offsets[i], slots.offsets[i + 1])
        there = {(c, j) for c in contexts for j in range(p)}
        expected = naive.flows(contexts, labels, weights, there, acceptor.accepts)
        assert found[span] == pytest.approx(np.array(expected).reshape(-1, p), abs=1e-9)
        live, possible = naive.survivors(contexts, labels, there, acceptor.accepts)
        assert set(zip(*np.nonzero(survived.live[span]), strict=True)) == live
        assert survived.possible[i] == (possible if contexts else acceptor.accepts([]))
    assert paths.whole == all(len(naive.runs_of(c)) <= 1 for c, _, _ in parts(slots, tie))


@given(
    games(), st.sampled_from(["expert", "position", thirds]), st.sampled_from(["per_round", "permanent"]),
    st.sampled_from(RESTRICTIONS), st.sampled_from([1.0, 0.7, 0.1]),
)  # fmt: skip
def test_the_game_equals_its_definition_on_paths(slots, tie, how, restriction, beta):
    accepts = compile_restriction(restriction, ALPHABET).accepts
    learner = naive.Learner(slots.n_experts, beta, how, accepts)
    paid = [learner.play(*record) for record in parts(slots, tie)]
    tying = Tying.learn(slots, tie)
    recipe = Recipe(rule="last", restrict=how, restriction=restriction)
    rounds = rounds_of(slots, tying)
    if None in paid:
        with pytest.raises(DataError, match="no path expert is left"):
            recipe.game(slots, rounds, tying)
        return
    game = recipe.game(slots, rounds, tying)
    played = recipe.play(rounds, slots.awake, beta, game=game)
    assert played.converted.round_losses == pytest.approx(paid, abs=1e-9)
    for k, c in enumerate(np.asarray(tying.keys).tolist()):
        left = [0.0 if (c, j) in learner.deleted else w for j, w in enumerate(learner.weights[c])]
        assert played.converted.weights[k] == pytest.approx([w / sum(left) for w in left], abs=1e-9)
        if how == "permanent":
            assert game.alive[k].tolist() == [(c, j) not in learner.deleted for j in range(slots.n_experts)]
    assert played.regret <= played.bound + 1e-9


@given(games(absences=False), st.sampled_from(["expert", "position"]), st.sampled_from(RESTRICTIONS))
def test_the_round_of_cv_does_best_on_later_rounds(slots, tie, restriction):
    acceptor, records = compile_restriction(restriction, ALPHABET), parts(slots, tie)
    learner = naive.Learner(slots.n_experts, 0.3, "per_round", acceptor.accepts)
    value = []
    for t, record in enumerate(records[:-1]):
        for c in {c for contexts, _, _ in records for c in contexts}:
            learner.weights.setdefault(c, [1.0 / slots.n_experts] * slots.n_experts)
        later = []
        for contexts, labels, losses in records[t + 1 :]:
            flow = naive.flows(contexts, labels, learner.weights, learner.there(contexts), acceptor.accepts)
            later.append((np.array(flow) * np.array(losses)).sum() / max(len(contexts), 1))
        value.append(np.mean(later) + cv_penalty(len(records))[t])
        learner.play(*record)
    tying, recipe = Tying.learn(slots, tie), Recipe(rule="cv", restrict="per_round", restriction=restriction)
    rounds = rounds_of(slots, tying)
    chosen = recipe.play(rounds, slots.awake, 0.3, game=recipe.game(slots, rounds, tying)).converted.start
    assert chosen == 0 if not value else value[chosen] <= min(value) + 1e-9


def chains(length, p):
    """Path experts that are experts: one chain of states for each."""
    rows = [(0 if k == 0 else 1 + j * length + k, 1 + j * length + k + 1, 0) for j in range(p) for k in range(length)]
    return Automaton.from_transitions(rows, final=[1 + j * length + length for j in range(p)])


def figure_1(length, p):
    return Automaton.from_transitions([(k, k + 1, 0) for k in range(length) for _ in range(p)], final=[length])


@given(
    games(length=3, absences=False), st.sampled_from(["expert", "position"]),
    st.sampled_from(["per_round", "permanent"]), st.sampled_from(RESTRICTIONS), st.sampled_from([1.0, 0.4]),
)  # fmt: skip
def test_on_one_length_it_is_the_learner_on_the_automaton(slots, tie, how, restriction, beta):
    p, acceptor = slots.n_experts, compile_restriction(restriction, ALPHABET)
    automaton = chains(3, p) if tie == "expert" else figure_1(3, p)
    # number of the slot and the expert of each transition
    order = [(k, j) for k in range(3) for j in range(p)]
    if tie == "expert":
        walks = {e: [] for e in range(p)}
        for j in range(p):
            e = j
            for _ in range(3):
                walks[j].append(e)
                e = int(automaton.offsets[automaton.target[e]])
        where = {walks[j][k]: (k, j) for j in range(p) for k in range(3)}
        order = [where[e] for e in range(3 * p)]
    learner = RestrictedMajority(automaton, beta, restrict=how)
    tying = Tying.learn(slots, tie)
    recipe = Recipe(rule="last", restrict=how, restriction=restriction)
    rounds = rounds_of(slots, tying)
    losses, decomposable = [], True
    try:
        for _, labels, loss in parts(slots, tie):
            said = [EPSILON if labels[k][j] == GAP else labels[k][j] for k, j in order]
            done = learner.play(said, [loss[k][j] for k, j in order], acceptor)
            losses.append(done.loss / 3)
            decomposable = decomposable and done.decomposable
    except AutomatonError:
        if tie == "expert":
            with pytest.raises(DataError, match="restrict 'per_round'"):
                recipe.game(slots, rounds, tying)
        return
    game = recipe.game(slots, rounds, tying)
    if how == "per_round" or tie == "expert" or decomposable:
        found = recipe.play(rounds, slots.awake, beta, game=game).converted.round_losses
        assert found == pytest.approx(losses, abs=1e-9)
    if how == "permanent":  # whoever is left as printed is left
        kept = {order[e][::-1] for e in learner.alive.label.tolist()}
        assert all(game.alive[0 if tie == "expert" else k, j] for j, k in kept)


@given(games(absences=False), st.sampled_from(["expert", "position"]), st.sampled_from(RESTRICTIONS))
def test_draws_are_admissible_and_as_often_as_their_flow_says(slots, tie, restriction):
    tying = Tying.learn(slots, tie)
    judged = Conditioned.of(slots, tying, restriction, np.zeros((0, slots.n_experts), np.bool_))
    weights = np.repeat(np.arange(1.0, slots.n_experts + 1)[None], len(slots.labels), axis=0)
    found = judged.paths.survivors(judged.there, np.zeros(len(slots.labels), int))
    lots = (np.arange(40) + 0.5) / 40
    total = np.zeros(weights.shape)
    for u in lots:
        drawn = judged.paths.drawn(weights, judged.there, np.full(len(weights), u))
        assert (drawn.sum(axis=1) == 1).all()
        total += drawn
        for i in np.flatnonzero(found.possible):
            span = slice(slots.offsets[i], slots.offsets[i + 1])
            said = slots.labels[span][drawn[span] > 0]
            assert judged.paths.acceptor.accepts(said[said != GAP])
    if tie == "expert":
        flow = judged.paths.flows(weights, judged.there)
        assert total / 40 == pytest.approx(flow, abs=0.05)


def test_weights_that_underflow_still_make_a_path():
    labels = np.array([[0, 1]] * 5, np.int32)
    slots = Slots(labels, np.array([0, 5]), np.zeros((5, 2), int), ("a", "b"), ALPHABET, labels[:, 0], np.zeros(1, int))
    paths = AdmissiblePaths.of(slots, LabelAcceptor.forbidden([(0,)], 3))
    tiny = np.array([[1.0, 0.0]] * 5)
    assert paths.flows(tiny, paths.present).tolist() == [[0.0, 1.0]] * 5


GOLD = [["B", "I", "O"], ["O", "B", "I"], ["B", "O", "O"]] * 6
MOST = [["O", "I", "O"], ["O", "B", "O"], ["B", "O", "O"]] * 6  # breaks the scheme in every third record
POOR = [["O", "O", "O"]] * 18
X = ExpertPredictions.of({"a": GOLD, "b": MOST, "c": MOST, "d": POOR}, gold=GOLD)


def test_rules_with_tie_expert():
    """a is always right; b and c break the scheme: left out, charged the most, or deleted."""
    options = {"beta": 0.9, "restriction": "bio", "rule": "last"}
    free = PathExpertEnsemble(**options).fit(X)
    bound = PathExpertEnsemble(**options, restrict="per_round").fit(X)
    gone = PathExpertEnsemble(**options, restrict="permanent").fit(X)
    errors = np.array([0, 6 * 1 + 6 * 1, 6 * 1 + 6 * 1, 6 * 2 + 6 * 2 + 6 * 1])
    charged = errors + np.array([0, 6 * 2, 6 * 2, 0])  # all three slots of O I O instead of one
    for ensemble, costs in ((free, errors), (bound, charged)):
        assert ensemble.weights_[0] == pytest.approx(0.9**costs / (0.9**costs).sum())
    assert gone.alive_.tolist() == [[True, False, False, True]]
    assert gone.weights_[0] == pytest.approx([1 / (1 + 0.9**30), 0, 0, 0.9**30 / (1 + 0.9**30)])
    assert bound.round_losses_[0] == pytest.approx(0.5 * 2 / 3)  # a and d alone are played
    assert bound.regret_ <= bound.regret_bound_
    assert free.predict(X) == bound.predict(X) == gone.predict(X) == GOLD
    # at rate 1 nothing is learnt: what counts is who may vote
    even = {**options, "beta": 1.0}
    assert PathExpertEnsemble(**even).fit(X).predict(X)[1] == ["O", "B", "O"]
    assert PathExpertEnsemble(**even, restrict="permanent").fit(X).predict(X)[1] == GOLD[1]
    done = PathExpertEnsemble(**even, restrict="per_round").fit(X).combine(X[:1])
    assert done.confidences == [[0.5, 0.5, 1.0]]
    assert done.experts[0][2] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("rule", ["mvote", "cv", "rand", "last"])
@pytest.mark.parametrize("how", ["per_round", "permanent"])
@pytest.mark.parametrize("tie", ["expert", "position"])
def test_every_rule_learns_answers_and_is_stored(rule, how, tie, tmp_path):
    for learner in ("hedge", "adahedge", "squint", "component-hedge"):
        ensemble = PathExpertEnsemble(rule=rule, tie=tie, restriction="bio", restrict=how, learner=learner).fit(X)
        acceptor = compile_restriction("bio", X.alphabet)
        assert all(acceptor.accepts(X.alphabet.encode(answer)) for answer in ensemble.predict(X))
        assert 0 <= ensemble.expected_loss(X) < 0.3
        assert ensemble.regret_bound_ is None or ensemble.regret_ <= ensemble.regret_bound_
        assert "H_Rand: bound on expected loss (proposition 1)" in ensemble.bounds_
    save(ensemble, tmp_path / "m")
    again = load(tmp_path / "m")
    assert (again.restrict, again.restriction) == (how, "bio")
    assert again.alive_.tolist() == ensemble.alive_.tolist()
    assert again.predict(X) == ensemble.predict(X)
    assert again.confidence(X) == ensemble.confidence(X)


def test_draws_of_rand_do_not_depend_on_the_order_of_experts():
    ensemble = PathExpertEnsemble(rule="rand", beta=0.95, restriction="bio", restrict="per_round").fit(X)
    other = PathExpertEnsemble(rule="rand", beta=0.95, restriction="bio", restrict="per_round")
    assert ensemble.predict(X) == other.fit(X.reindex(("d", "b", "a", "c"))).predict(X)
    rows = zip(ensemble.predict(X), GOLD, POOR, MOST, strict=True)
    assert all(answer in said and answer != ["O", "I", "O"] for answer, *said in rows)  # an admissible expert's answer


@pytest.mark.parametrize("how", ["per_round", "permanent"])
@pytest.mark.parametrize("tie", ["expert", "position"])
@pytest.mark.parametrize("absent", ["sleep", "neutral"])
def test_on_line_it_is_the_same_whatever_the_batches(how, tie, absent):
    one = replace_absent(X)
    options = {"rule": "last", "beta": 0.8, "restriction": "bio", "restrict": how, "tie": tie, "absent": absent}
    fitted = PathExpertEnsemble(**options).fit(one)
    whole, cut, taught = (PathExpertEnsemble(**options) for _ in range(3))
    answers = whole.combine_online(one).answers
    assert answers == [a for k in range(0, len(one), 5) for a in cut.combine_online(one[k : k + 5]).answers]
    for k in range(0, len(one), 7):
        taught.partial_fit(one[k : k + 7])
    for ensemble in (whole, cut, taught):
        assert ensemble.weights_ == pytest.approx(fitted.weights_)
        assert ensemble.round_losses_ == pytest.approx(fitted.round_losses_)
        assert ensemble.regret_ == pytest.approx(fitted.regret_)
        assert (ensemble.regret_bound_ is None) == (fitted.regret_bound_ is None)
        assert ensemble.alive_.tolist() == fitted.alive_.tolist()
    # a record is answered by those left before it: the first one still has everybody who is admissible in it
    assert answers[0] == PathExpertEnsemble(**{**options, "beta": 1.0}).combine_online(one[:1]).answers[0]


def replace_absent(X):
    """d gives no answer to every fourth record."""
    answers = {name: list(X[name]) for name in X.names}
    answers["d"] = [None if k % 4 == 3 else a for k, a in enumerate(answers["d"])]
    return ExpertPredictions.of(answers, gold=X.gold)


def test_without_gold_nobody_is_deleted():
    silent = ExpertPredictions.of({name: list(X[name]) for name in X.names}, gold=[*GOLD[:1], *[None] * 17])
    ensemble = PathExpertEnsemble(rule="last", beta=0.8, restriction="bio", restrict="permanent")
    ensemble.combine_online(silent[1:])
    assert ensemble.alive_.all()
    ensemble.combine_online(silent[:1])
    assert ensemble.alive_.tolist() == [[True, False, False, True]]


def test_held_out_rate_is_judged_under_the_restriction():
    ensemble = PathExpertEnsemble(restriction="bio", restrict="per_round").fit(X)
    assert 0 < ensemble.beta_ < 1
    assert ensemble.predict(X) == GOLD


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"restrict": "per_round"}, "none is given; give restriction"),
        ({"restrict": "never", "restriction": "bio"}, "restrict must be None or one of per_round, permanent"),
        ({"restrict": "per_round", "restriction": "bio", "tie": "label"}, "not defined for tie 'label'"),
        ({"restrict": "permanent", "restriction": "bio", "rule": "fpl"}, "not defined for rule 'fpl'"),
        ({"restrict": "permanent", "restriction": "bio", "loss": "ngram"}, "n-gram gains are learnt without"),
    ],
)
def test_what_cannot_be_restricted_is_refused(options, said):
    with pytest.raises(ParameterError, match=said):
        PathExpertEnsemble(**options).fit(X)
    with pytest.raises(ParameterError, match=said):
        PathExpertEnsemble(**{"beta": 0.5, **options}).partial_fit(X)


def test_nobody_left_is_an_error_that_names_the_record():
    bad = ExpertPredictions.of(
        {"a": [["B"], ["I"], ["B"]], "b": [["I"], ["B"], ["B"]]}, gold=[["B"]] * 3, ids=[7, 8, 9]
    )
    with pytest.raises(DataError, match=r"record 8: no path expert is left.*restrict 'per_round'"):
        PathExpertEnsemble(beta=0.5, restriction="bio", restrict="permanent").fit(bad)
    assert PathExpertEnsemble(beta=0.5, restriction="bio", restrict="per_round").fit(bad).predict(bad) == [["B"]] * 3


def test_a_record_without_an_admissible_path_is_played_on_all():
    hopeless = ExpertPredictions.of({"a": [["I"], ["B"]], "b": [["I"], ["O"]]}, gold=[["B"], ["B"]])
    ensemble = PathExpertEnsemble(rule="last", beta=0.5, restriction="bio", restrict="per_round").fit(hopeless)
    assert ensemble.round_losses_.tolist() == [1.0, 0.5]
    assert ensemble.weights_[0] == pytest.approx([2 / 3, 1 / 3])
    (note,) = ensemble.combine(hopeless).notes
    assert note.startswith("1 records have no admissible sequence")
