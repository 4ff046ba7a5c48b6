"""Learning record by record: partial_fit against fit, combine_online against one record at a time, bounds of a run."""

import itertools
import math

import numpy as np
import pytest
from test_path_experts import error_of, records

from structens.align import align
from structens.core import ABSENT, Automaton, ExpertPredictions, NotFittedError, ParameterError
from structens.ensembles import PathExpertEnsemble
from structens.ensembles.recipe import ALL_RULES
from structens.ensembles.vote import vote
from structens.io.ensemble_file import load, save
from structens.losses import CostMatrix, edit_distance
from structens.online import ComponentHedge
from structens.online.history_conversion import RATELESS
from structens.online.leading import RATES

FLAT = records(60, 4, [0.1, 0.4, 0.5])
GOLD = [["a", "b", "c", "d"], ["b", "a"], ["c"], ["d", "d", "a"], ["a", "c"]] * 8


def ragged():
    """Records of several lengths whose experts are sometimes absent; every fourth without gold."""
    rng = np.random.default_rng(4)
    said = {}
    for name, rate in (("x", 0.1), ("y", 0.4), ("z", 0.5)):
        rows = [[t if rng.random() > rate else "abcd"[rng.integers(4)] for t in row] for row in GOLD]
        said[name] = [row if rng.random() > 0.3 else None for row in rows]
    said["w"] = [list(row) if i % 2 else list(reversed(row)) for i, row in enumerate(GOLD)]
    gold = [None if i % 4 == 3 else row for i, row in enumerate(GOLD)]
    return ExpertPredictions.of(said, gold=gold, ids=range(len(GOLD)))


RAGGED = ragged()


def rate_of(learner, beta=0.8):
    """Beta, for learners that take it."""
    return {} if learner in RATELESS else {"beta": beta}


def same(one, other):
    for name, value in vars(one).items():
        if name.endswith("_") and not name.startswith("_"):
            there = getattr(other, name)
            if isinstance(value, dict):
                assert value.keys() == there.keys(), name
                for key in value:
                    assert np.asarray(value[key]) == pytest.approx(np.asarray(there[key]), abs=1e-9), (name, key)
            elif isinstance(value, (np.ndarray, float)):
                assert np.asarray(value) == pytest.approx(np.asarray(there), abs=1e-9), name
            else:
                assert list(value) == list(there) if isinstance(value, list) else value == there, name


@pytest.mark.parametrize("rule", [r for r in ALL_RULES if r != "last"])
@pytest.mark.parametrize("tie", ["expert", "position", "label"])
def test_partial_fit_gives_what_fit_gives(rule, tie):
    for X in (FLAT[:20], RAGGED[:20]):
        options = {"rule": rule, "tie": tie, **({"epsilon": 0.3} if rule.startswith("fpl") else {"beta": 0.8})}
        whole, piecewise = PathExpertEnsemble(**options).fit(X), PathExpertEnsemble(**options)
        for i in range(len(X)):
            piecewise.partial_fit(X[i : i + 1])
        same(whole, piecewise)
        assert whole.predict(X) == piecewise.predict(X)


@pytest.mark.parametrize("learner", ["hedge", "adahedge", "squint", "fixed-share", "component-hedge"])
@pytest.mark.parametrize(
    ("rule", "absent"), [("mvote", "sleep"), ("cv", "neutral"), ("last", "sleep"), ("last", "neutral")]
)
def test_partial_fit_with_every_learner(learner, rule, absent):
    for X, tie in itertools.product((FLAT[:15], RAGGED[:15]), ("expert", "position")):
        options = {"rule": rule, "tie": tie, "learner": learner, "absent": absent, **rate_of(learner)}
        whole, piecewise = PathExpertEnsemble(**options).fit(X), PathExpertEnsemble(**options)
        for i in range(len(X)):
            piecewise.partial_fit(X[i : i + 1])
        if rule == "last":
            piecewise.bounds_ = whole.bounds_  # fewer of them: the records are forgotten
        same(whole, piecewise)
        assert whole.predict(X) == piecewise.predict(X)


def test_partial_fit_goes_on_after_fit():
    options = {"beta": 0.8, "tie": "position"}
    same(PathExpertEnsemble(**options).fit(FLAT), PathExpertEnsemble(**options).fit(FLAT[:30]).partial_fit(FLAT[30:]))
    options["rule"] = "last"
    made = PathExpertEnsemble(**options).fit(FLAT[:30]).partial_fit(FLAT[30:])
    assert made.weights_ == pytest.approx(PathExpertEnsemble(**options).fit(FLAT).weights_)


def test_rates_that_need_all_records_are_refused():
    with pytest.raises(ParameterError, match=r"beta='held-out' needs all records at once"):
        PathExpertEnsemble().partial_fit(FLAT)
    with pytest.raises(ParameterError, match=r"epsilon='papers' needs all records"):
        PathExpertEnsemble("fpl", epsilon="papers").partial_fit(FLAT)
    PathExpertEnsemble(learner="adahedge").partial_fit(FLAT)
    with pytest.raises(ParameterError, match="rule 'last' and any tie but 'label'"):
        PathExpertEnsemble(beta=0.5).combine_online(FLAT)
    with pytest.raises(ParameterError, match="only learner 'hedge' is defined"):
        PathExpertEnsemble(tie="label", learner="squint").fit(FLAT)
    with pytest.raises(ParameterError, match="does not go with 'squint'"):
        PathExpertEnsemble("fpl", learner="squint").fit(FLAT)
    for name, value in (("learner", "prod"), ("absent", "no"), ("noise", "normal"), ("epsilon", 0.0), ("epsilon", "x")):
        with pytest.raises(ParameterError, match=f"{name} must be"):
            PathExpertEnsemble("fpl" if name in ("noise", "epsilon") else "mvote", **{name: value}).fit(FLAT)


@pytest.mark.parametrize("learner", ["hedge", "adahedge", "squint", "fixed-share", "component-hedge", "prequential"])
@pytest.mark.parametrize("absent", ["sleep", "neutral"])
def test_online_answers_rest_on_the_records_before(learner, absent):
    for X in (FLAT, RAGGED):
        options = {"rule": "last", "learner": learner, "absent": absent, **rate_of(learner)}
        at_once, single = PathExpertEnsemble(**options), PathExpertEnsemble(**options)
        found = at_once.combine_online(X)
        expected = []
        for i in range(len(X)):
            one = X[i : i + 1]
            expected += (
                single.predict(one)
                if i
                else PathExpertEnsemble(**{**options, **rate_of(learner, 1.0)}).combine_online(one).answers
            )
            single.partial_fit(one)
            single.aligned_ = at_once.aligned_
        assert found.answers == expected
        assert at_once.weights_ == pytest.approx(single.weights_)
        assert at_once.regret_ == pytest.approx(single.regret_)
        assert at_once.round_losses_ == pytest.approx(single.round_losses_)
        pieces = PathExpertEnsemble(**{**options, "align": "always" if at_once.aligned_ else "never"})
        assert [a for k in range(0, len(X), 7) for a in pieces.combine_online(X[k : k + 7]).answers] == expected


@pytest.mark.parametrize("learner", ["adahedge", "prequential"])
def test_gold_of_a_record_does_not_change_its_own_answer(learner):
    other = RAGGED.with_gold([g if i < 20 else ["d"] for i, g in enumerate(GOLD)])
    options = {"rule": "last", "learner": learner, "align": "always"}
    here, there = (PathExpertEnsemble(**options).combine_online(X).answers for X in (RAGGED[:20], other[:21]))
    now = PathExpertEnsemble(**options).combine_online(RAGGED[:21]).answers
    assert there[20] == PathExpertEnsemble(**options).combine_online(other[:21]).answers[20]
    assert now[:20] == here


def test_online_learning_pays_off_and_keeps_below_its_bound():
    X = records(400, 5, [0.05, 0.4, 0.4], wrong="same")
    assert error_of(PathExpertEnsemble("last", learner="prequential").combine_online(X).answers, X) < 0.08
    for options in ({"learner": "adahedge"}, {"beta": 0.8}):
        made = PathExpertEnsemble("last", **options)
        assert error_of(made.combine_online(X).answers, X) < 0.08
        assert 0 <= made.regret_ <= made.regret_bound_
        assert made.bounds_["rounds T"] == 400
        assert made.bounds_["regret"] == made.regret_
        assert made.bounds_["mean loss of the learner"] == pytest.approx(made.round_losses_.mean())


def test_a_model_file_holds_the_state(tmp_path):
    ties = ("expert", "position", "position-from-end", "expert", "position")
    for tie, learner in zip(ties, ("adahedge", "squint", "hedge", "prequential", "prequential"), strict=True):
        options = {"rule": "last", "tie": tie, "learner": learner, **rate_of(learner)}
        whole, first = PathExpertEnsemble(**options), PathExpertEnsemble(**options)
        expected = whole.combine_online(FLAT).answers
        found = first.combine_online(FLAT[:25]).answers
        save(first, tmp_path / "m.structens")
        again = load(tmp_path / "m.structens")
        assert found + again.combine_online(FLAT[25:]).answers == expected
        assert again.regret_ == pytest.approx(whole.regret_)
        assert again.weights_ == pytest.approx(whole.weights_)
    save(PathExpertEnsemble(beta=0.5).fit(FLAT), tmp_path / "m.structens")
    with pytest.raises(NotFittedError, match="holds no rounds"):
        load(tmp_path / "m.structens").partial_fit(FLAT)


def test_contexts_that_come_later_begin_with_equal_weights():
    made = PathExpertEnsemble("last", tie="position", beta=0.5)
    made.combine_online(records(10, 2, [0.0, 1.0, 1.0], wrong="same"))
    found = made.combine_online(ExpertPredictions.of({"e0": [["L0"] * 3], "e1": [["L1"] * 3], "e2": [["L1"] * 3]}))
    assert found.answers == [["L0", "L0", "L1"]]


def test_bounds_of_a_run():
    X = records(200, 5, [0.1, 0.3, 0.5])
    made = PathExpertEnsemble(tie="position", beta=0.8).fit(X)
    b = made.bounds_
    assert b["regret"] <= b["bound on regret"] == made.regret_bound_
    assert b["mean loss of the learner"] == pytest.approx(made.round_losses_.mean())
    best = b["mean loss of the best path expert"]
    assert b["regret a round R_T/T"] == pytest.approx(b["mean loss of the learner"] - best)
    tail = 2 * math.sqrt(math.log(2 / 0.05) / 200)
    assert b["H_Rand: bound on excess over the best path expert (theorem 1, this run)"] == pytest.approx(
        b["regret a round R_T/T"] + tail
    )
    assert b["H_Rand: bound on excess before any data (theorem 1)"] == pytest.approx(
        2 * math.sqrt(5 * math.log(3) / 200) + tail
    )
    assert b["H_Rand: bound on expected loss (proposition 1)"] == pytest.approx(
        b["mean loss of the learner"] + math.sqrt(math.log(1 / 0.05) / 200)
    )
    assert (
        b["H_MVote: bound on expected loss (proposition 2)"] == 2 * b["H_Rand: bound on expected loss (proposition 1)"]
    )
    vote, twice, refined = (b[k] for k in list(b)[-3:])
    assert vote == pytest.approx(error_of(made.predict(X), X))
    assert twice == pytest.approx(2 * made.expected_loss(X))
    assert vote <= refined <= twice
    for rule in ("cv", "fpl", "fplcv"):
        rate = {"epsilon": 0.5} if rule.startswith("fpl") else {"beta": 0.8}
        found = PathExpertEnsemble(rule, tie="position", **rate).fit(X).bounds_
        vote, twice, refined = (found[k] for k in list(found)[-3:])
        assert vote <= refined + 1e-12 <= twice + 2e-12
    assert (
        "vote on these records" not in PathExpertEnsemble(loss=CostMatrix({("L1", "L2"): 2.0}), beta=0.9).fit(X).bounds_
    )
    by_label = PathExpertEnsemble(tie="label", beta=0.9).fit(X).bounds_
    assert "bound on regret" not in by_label
    assert by_label["vote on these records"] <= by_label["vote on these records: refined bound (proposition 4)"] + 1e-12


def test_bounds_hold_where_chance_has_its_say():
    """Proposition 1 and its consequences on new records, over 20 draws of the records (delta = .05)."""
    failed = 0
    for seed in range(20):
        X = records(500, 3, [0.1, 0.3, 0.5], seed=seed)
        made = PathExpertEnsemble("rand", tie="position", beta=0.9).fit(X[:100])
        failed += made.expected_loss(X[100:]) > made.bounds_["H_Rand: bound on expected loss (proposition 1)"]
    assert failed <= 3


@pytest.mark.parametrize("rule", ["fpl", "fplcv", "fplrand"])
def test_perturbed_leaders_learn(rule):
    X = records(300, 4, [0.05, 0.5, 0.5], wrong="same")
    made = PathExpertEnsemble(rule).fit(X[:200])
    assert made.beta_ is None
    assert made.epsilon_ > 0
    assert error_of(made.predict(X[200:]), X[200:]) < 0.12
    turned = X.select(["e2", "e0", "e1"])
    other = PathExpertEnsemble(rule).fit(turned[:200])
    assert other.epsilon_ == made.epsilon_
    assert other.predict(turned[200:]) == made.predict(X[200:])
    assert PathExpertEnsemble(rule, epsilon="papers").fit(X).epsilon_ == pytest.approx(0.5 / 12)
    assert PathExpertEnsemble(rule, epsilon=0.01, seed=1).fit(X).round_losses_.tolist() != (
        PathExpertEnsemble(rule, epsilon=0.01, seed=2).fit(X).round_losses_.tolist()
    )


def test_an_expert_that_sleeps_on_easy_records_is_not_blamed():
    """Expert a is there on hard records only, and the best on them; the others meet easy ones as well."""
    rng = np.random.default_rng(0)
    n, hard = 400, np.arange(400) % 2 == 0
    gold = rng.integers(4, size=(n, 3))

    def said(rate):
        return np.where(rng.random((n, 3)) < rate[:, None], (gold + 1) % 4, gold)

    def text(rows, there):
        return [[f"L{x}" for x in row] if t else None for row, t in zip(rows, there, strict=True)]

    everywhere = np.ones(n, dtype=bool)
    X = ExpertPredictions.of(
        {
            "a": text(said(np.full(n, 0.3)), hard),
            "b": text(said(np.where(hard, 0.55, 0.05)), everywhere),
            "c": text(said(np.where(hard, 0.55, 0.05)), everywhere),
        },
        gold=text(gold, everywhere),
    )
    made = PathExpertEnsemble(beta=0.97).fit(X)
    assert made.weights_[0].argmax() == 0
    assert made.regret_ <= made.regret_bound_


@pytest.mark.parametrize("rule", ["mvote", "cv", "last"])
@pytest.mark.parametrize("absent", ["sleep", "neutral"])
def test_component_hedge_is_hedge_on_slots(rule, absent):
    for X, tie in itertools.product((FLAT[:25], RAGGED[:25]), ("expert", "position")):
        options = {"rule": rule, "tie": tie, "beta": 0.3, "absent": absent}
        one, other = (PathExpertEnsemble(learner=name, **options).fit(X) for name in ("component-hedge", "hedge"))
        assert one.weights_ == pytest.approx(other.weights_, rel=1e-9, abs=1e-15)
        assert one.round_losses_ == pytest.approx(other.round_losses_)
        assert one.suffix_start_ == other.suffix_start_
        assert one.regret_ == pytest.approx(other.regret_)
        assert one.regret_bound_ == pytest.approx(other.regret_bound_)
        assert one.predict(X) == other.predict(X)
    assert PathExpertEnsemble(learner="component-hedge").fit(FLAT).beta_ == PathExpertEnsemble().fit(FLAT).beta_


def test_component_hedge_is_the_learner_of_the_automaton():
    """Of the path-expert automaton of Figure 1, where that projects by iteration."""
    a = Automaton.from_transitions([(k, k + 1, j) for k in range(4) for j in range(3)], final=[4])
    by_automaton, weights = ComponentHedge(a, -math.log(0.3)), []
    slots = align(FLAT[:25], mode="never")
    loss = (slots.labels != slots.gold[:, None]).astype(float)
    for i in range(25):
        weights.append(by_automaton.flows().reshape(4, 3))
        by_automaton.update(loss[slots.offsets[i] : slots.offsets[i + 1]].ravel())
    made = PathExpertEnsemble("last", "position", 0.3, learner="component-hedge").fit(FLAT[:25])
    assert made.weights_[:-1] == pytest.approx(by_automaton.flows().reshape(4, 3), abs=1e-9)
    assert made.round_losses_ * 4 == pytest.approx(
        [(w.ravel() * loss[4 * i : 4 * i + 4].ravel()).sum() for i, w in enumerate(weights)], abs=1e-9
    )


class LogOddsByHand(PathExpertEnsemble):
    """Votes by ln((1 - e) / e), e counted expert by expert."""

    def combine_online(self, X):
        answers, slots = [], align(X, mode="always")
        wrong, seen = np.full(X.n_experts, 0.5), np.ones(X.n_experts)
        for i in range(len(X)):
            labels = slots.labels[slots.offsets[i] : slots.offsets[i + 1]]
            gold = slots.gold[slots.offsets[i] : slots.offsets[i + 1]]
            rate = wrong / seen
            weight = np.maximum(np.log((1 - rate) / rate), 1e-3)
            chosen = vote(labels, np.broadcast_to(weight, labels.shape)).label
            answers.append(X.alphabet.decode(chosen[chosen >= 0]))
            there = labels != ABSENT
            if slots.has_gold[i]:
                wrong += ((labels != gold[:, None]) & there).sum(axis=0)
                seen += there.sum(axis=0)
        return answers


@pytest.mark.parametrize("X", [RAGGED, records(120, 4, [0.1, 0.4, 0.45, 0.5])], ids=["ragged", "flat"])
def test_prequential_answers_are_those_of_the_learner_that_led(X):
    """Each candidate plays on its own; its edit distances so far decide, equal ones in favour of the flattest."""
    options = {"learner": "fixed-share", "align": "always"}
    candidates = [PathExpertEnsemble("last", beta=beta, **options).combine_online(X).answers for beta in RATES]
    candidates.append(LogOddsByHand().combine_online(X))
    errors, expected, led = np.zeros(len(candidates)), [], []
    for i, gold in enumerate(X.gold):
        led.append(int(errors.argmin()))
        expected.append(candidates[led[-1]][i])
        if gold is not None:
            errors += [edit_distance(gold, answers[i]) for answers in candidates]
    made = PathExpertEnsemble("last", learner="prequential", align="always")
    assert made.combine_online(X).answers == expected
    assert made.state_["errors"].tolist() == errors.tolist()
    assert len(set(led)) > 1
    best = int(errors.argmin())
    assert made.beta_ == (RATES[best] if best < len(RATES) else None)
    assert made.regret_bound_ is None
    fitted = PathExpertEnsemble("last", learner="prequential", align="always").fit(X)
    assert fitted.weights_ == pytest.approx(made.weights_)
    assert fitted.beta_ == made.beta_


@pytest.mark.parametrize("learner", ["hedge", "fixed-share", "component-hedge"])
def test_a_rate_held_out_on_line_is_that_of_the_best_answers_so_far(learner, tmp_path):
    options = {"learner": learner, "align": "always"}
    each = [PathExpertEnsemble("last", beta=beta, **options).combine_online(RAGGED).answers for beta in RATES]
    errors, expected = np.zeros(len(RATES)), []
    for i, gold in enumerate(RAGGED.gold):
        expected.append(each[int(errors.argmin())][i])
        if gold is not None:
            errors += [edit_distance(gold, answers[i]) for answers in each]
    made = PathExpertEnsemble("last", **options)
    assert made.combine_online(RAGGED[:13]).answers == expected[:13]
    save(made, tmp_path / "m.structens")
    again = load(tmp_path / "m.structens")
    assert again.combine_online(RAGGED[13:]).answers == expected[13:]
    assert again.state_["errors"].tolist() == errors.tolist()
    assert again.beta_ == RATES[int(errors.argmin())]


def test_prequential_choice_by_a_loss_of_ones_own_and_by_edit_distance():
    cost = CostMatrix({("L0", "L1"): 0.2})
    X = records(80, 4, [0.1, 0.4, 0.45])
    made = PathExpertEnsemble("last", learner="prequential", loss=cost).fit(X)
    total = np.zeros(len(RATES))
    for k, beta in enumerate(RATES):
        answers = PathExpertEnsemble("last", beta=beta, loss=cost, learner="fixed-share").combine_online(X).answers
        for said, gold in zip(answers, X.gold, strict=True):
            total[k] += sum(
                0.0 if a == b else 0.2 if (b, a) == ("L0", "L1") else 1.0 for a, b in zip(said, gold, strict=True)
            )
    assert made.state_["errors"][:-1] == pytest.approx(total)
    assert PathExpertEnsemble("last", learner="prequential", loss="edit").fit(RAGGED).state_["errors"].min() > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rule": "mvote"}, "its rule is 'last'"),
        ({"tie": "label"}, "only learner 'hedge'"),
        ({"beta": 0.5}, "changes nothing"),
    ],
)
def test_what_the_prequential_learner_refuses(options, words):
    with pytest.raises(ParameterError, match=words):
        PathExpertEnsemble(**{"rule": "last", "learner": "prequential", **options}).fit(FLAT)
