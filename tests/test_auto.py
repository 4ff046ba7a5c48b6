"""AutoEnsemble, the log-linear pool, out-of-fold answers, and calibrated confidences."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import log_pool as naive
from run_cli import put, records, run

from structens.align import align
from structens.core import GAP, DataError, ExpertPredictions, ParameterError, Slots
from structens.core.alphabet import Alphabet
from structens.ensembles import (
    AutoEnsemble,
    BestExpert,
    Calibrated,
    LengthGated,
    MajorityVote,
    PathExpertEnsemble,
    folds,
)
from structens.ensembles.auto_candidates import Trial, candidates_of, choose
from structens.ensembles.calibration import STRENGTH, calibrated, learn_calibration, logistic
from structens.ensembles.confidence_features import slot_of_unit
from structens.ensembles.log_pool import LEAST, learn_powers, pooled
from structens.ensembles.methods import METHODS, default_method, make_ensemble
from structens.ensembles.opinions import opinion_in, plain_opinion, side_by_side
from structens.ensembles.out_of_fold import Learning, hide_gold, judged, part
from structens.ensembles.pool import LogPool
from structens.ensembles.slot_posteriors import Posteriors
from structens.ensembles.vote import shares
from structens.evaluate import record_reliability, reliability, unit_reliability
from structens.io.ensemble_file import load, save


def noisy(n=120, errors=(0.05, 0.2, 0.3), seed=0, length=8, drop=0.05, letters="abcde"):
    """Experts that substitute and drop units, each at its own rate."""
    rng = np.random.default_rng(seed)
    gold = ["".join(rng.choice(list(letters), rng.integers(2, length))) for _ in range(n)]

    def said(rate):
        out = []
        for text in gold:
            units = [c if rng.random() > rate else rng.choice(list(letters)) for c in text]
            out.append("".join(u for u in units if rng.random() > drop * (rate > 0.1)) or text)
        return out

    return ExpertPredictions.of({f"e{k}": said(r) for k, r in enumerate(errors)}, gold=gold, ids=range(1000, 1000 + n))


@st.composite
def networks(draw):
    """A few slots of few labels, gold, and two methods' weights."""
    n, p = draw(st.integers(1, 5)), draw(st.integers(2, 4))
    codes = st.lists(st.integers(-1, 2), min_size=p, max_size=p)
    labels = np.array(draw(st.lists(codes, min_size=n, max_size=n)), dtype=np.int32)
    number = st.floats(0.0, 1.0, width=16)
    methods = [
        np.array(draw(st.lists(st.lists(number, min_size=p, max_size=p), min_size=n, max_size=n))) + 0.01
        for _ in range(2)
    ]
    gold = np.array(draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)), dtype=np.int32)
    names = tuple("abcd"[:p])
    slots = Slots(
        labels, np.array([0, n]), np.zeros((n, p), int), names, Alphabet(("x", "y", "z")), gold, np.zeros(1, int)
    )
    return slots, [shares(labels, w) for w in methods]


def rows_of(slots, each):
    return [
        [
            {int(slots.labels[s, j]): float(share[s, j]) for j in range(slots.n_experts) if share[s, j] >= 0}
            for share in each
        ]
        for s in range(len(slots.labels))
    ]


@settings(max_examples=40)
@given(networks(), st.lists(st.floats(-2, 2, width=16), min_size=4, max_size=4))
def test_pool_is_the_product_of_powers(made, powers):
    slots, each = made
    got = pooled(slots.labels, each, np.array(powers))
    for s, rows in enumerate(rows_of(slots, each)):
        expected = naive.probabilities(rows, powers, GAP, LEAST)
        found = {int(slots.labels[s, j]): got[s, j] for j in range(slots.n_experts) if got[s, j] >= 0}
        assert found == pytest.approx(expected, abs=1e-9)


@settings(max_examples=25)
@given(networks(), st.lists(st.floats(-1, 1, width=16), min_size=4, max_size=4))
def test_powers_are_the_most_likely(made, step):
    slots, each = made
    prior = np.array([0.5, 0.5, 0.0, 0.0])
    best = learn_powers(slots.labels, slots.gold, each, prior, 1.0)
    rows, gold = rows_of(slots, each), slots.gold.tolist()
    least = naive.risk(rows, gold, best.tolist(), prior.tolist(), 1.0, GAP, LEAST)
    for scale in (1.0, 0.01):
        other = (best + scale * np.array(step)).tolist()
        assert least <= naive.risk(rows, gold, other, prior.tolist(), 1.0, GAP, LEAST) + 1e-7


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.floats(-6, 6, width=16), st.floats(-6, 6, width=16), st.booleans()), min_size=1, max_size=12),
    st.lists(st.floats(-1, 1, width=16), min_size=3, max_size=3),
)
def test_logistic_weights_are_the_most_likely(rows, step):
    features, target = np.array([row[:2] for row in rows]), np.array([row[2] for row in rows])
    prior = np.array([0.0, 1.0, 0.0])
    best = logistic(features, target, prior)
    least = naive.logistic_risk(features.tolist(), target.tolist(), best.tolist(), prior.tolist(), STRENGTH)
    other = (best + np.array(step)).tolist()
    assert least <= naive.logistic_risk(features.tolist(), target.tolist(), other, prior.tolist(), STRENGTH) + 1e-7


def one_by_one(make, X, fold):
    """Out-of-fold answers from the definition."""
    out = [None] * len(X)
    for k in set(fold.tolist()):
        ensemble = make().set_params(align="always").fit(X[fold != k])
        inside = np.flatnonzero(fold == k)
        for i, answer in zip(inside.tolist(), ensemble.predict(X[inside]), strict=True):
            out[i] = answer
    return out


def test_out_of_fold_answers_are_those_of_separate_fits():
    X = noisy(60)
    fold = folds(X.ids, 4, seed=3)
    slots = align(X, mode="always")
    for method in ("best", "mvote", "sle", "vote"):
        said = Learning(slots, X, True, fold).out_of_fold(make_ensemble(method))
        assert said.done.answers == one_by_one(lambda: make_ensemble(method), X, fold)  # noqa: B023
        first = [X.hypotheses.values[k] for k in said.done.source]
        assert first == said.done.prediction.values.tolist()


def crowd(n=40, seed=0):
    """Answers of people, of whom every other guesses; who answers under which name changes from record to record."""
    rng = np.random.default_rng(seed)
    gold = [rng.integers(0, 4, 3).astype(str).tolist() for _ in range(n)]
    who = np.stack([rng.permutation(8)[:5] for _ in range(n)])
    said = {
        f"a{j}": [g if who[i, j] % 2 else rng.integers(0, 4, 3).astype(str).tolist() for i, g in enumerate(gold)]
        for j in range(5)
    }
    workers = {f"a{j}": [f"w{w}" for w in who[:, j]] for j in range(5)}
    return ExpertPredictions.of(said, gold=gold, workers=workers)


def few_of(X, n):
    """Gold for the first n records only."""
    return hide_gold(X, np.arange(len(X)) >= n)


def test_crowds_are_answered_by_dawid_skene():
    X = crowd()
    blind = X.with_gold([None] * len(X))
    model = AutoEnsemble().fit(blind)
    assert model.explanation_ == "Dawid-Skene: no record has gold, and workers are named"
    assert judged(model.combine(X).prediction, X).errors.sum() == 0
    assert judged(MajorityVote().fit(X).combine(X).prediction, X).errors.sum() > 5
    assert AutoEnsemble().fit(few_of(X, 1)).chosen_ == "dawid-skene"
    few = AutoEnsemble(("dawid-skene", "vote")).fit(few_of(X, 6))
    assert few.chosen_ == "dawid-skene"
    assert few.held_out_["dawid-skene"] == 0.0 < few.held_out_["vote"]
    assert "dawid-skene" not in candidates_of(50, None, list(METHODS))
    unnamed = replace(few_of(X, 6), workers=None)  # little gold: tried too
    assert "dawid-skene" in AutoEnsemble().fit(unnamed).held_out_
    assert "dawid-skene" not in AutoEnsemble().fit(unnamed[:6]).held_out_


def test_who_learns_without_gold_learns_from_the_fold_too_but_not_its_gold():
    X = crowd(30)
    known, others = X[:20], X[20:].with_gold([None] * 10).recode(X.alphabet)
    fold = folds(known.ids, 4)
    learning = Learning(align(known), known, False, fold, others)
    said = learning.out_of_fold(make_ensemble("dawid-skene"))
    for k in range(4):
        hidden = [None if f == k else g for f, g in zip(fold.tolist(), known.gold, strict=True)]
        whole = ExpertPredictions.concatenate([known.with_gold(hidden), others])
        expected = make_ensemble("dawid-skene", align="never").fit(whole).predict(known[fold == k])
        assert [said.done.answers[i] for i in np.flatnonzero(fold == k)] == expected


class Peeping(MajorityVote):
    """Answers the gold, if the slots still show it when answers are asked for."""

    needs_gold = True

    def _weights(self, slots, X):
        assert not X.has_gold.any()
        return (slots.labels == slots.gold[:, None]) + 1e-9


def test_no_candidate_sees_the_gold_of_what_it_answers():
    X = noisy(40, errors=(0.5, 0.5, 0.5))
    said = Learning(align(X, mode="always"), X, True, folds(X.ids, 4)).out_of_fold(Peeping())
    plain = MajorityVote().fit(X).combine(X)
    assert said.done.answers == plain.answers


def test_parts_keep_the_places_of_units():
    X = noisy(20).with_confidences({"e1": [[0.5] * len(a) for a in noisy(20)["e1"]]})
    slots = align(X, mode="always")
    rows = np.array([3, 7, 11])
    some, those, places = part(slots, X, rows)
    again = align(those, mode="always")
    assert np.array_equal(some.source, again.source)
    assert np.array_equal(X.hypotheses.values[places], those.hypotheses.values)
    assert np.array_equal(X.confidence[places], those.confidence, equal_nan=True)


def test_choice_by_errors():
    even = Trial("best", np.array([1.0, 0, 0, 1, 0, 0]))
    better = Trial("mvote", np.array([0.0, 0, 0, 1, 0, 0]))
    assert choose([even, better])[0] == "best"  # one record decides nothing
    many = [Trial(t.name, np.tile(t.errors, 20)) for t in (even, better)]
    assert choose(many) == ("mvote", "mvote")
    for n_times, taken in ((8, "pool"), (9, "mvote")):  # 48 and 54 records
        errors = np.tile(better.errors, n_times)
        nearly = errors.copy()
        nearly[0] += 1  # worse by one
        assert choose([Trial("pool", nearly), Trial("mvote", errors)]) == (taken, "mvote")
    nearly = np.tile(better.errors, 8)
    nearly[:20] += 1  # worse by many
    assert choose([Trial("pool", nearly), Trial("mvote", np.tile(better.errors, 8))])[0] == "mvote"
    clear = Trial("sle", np.zeros(6))
    worse = Trial("best", np.ones(6))
    assert choose([worse, clear])[0] == "sle"  # a difference without spread is certain
    assert candidates_of(1, None, list(METHODS)) == []
    assert set(candidates_of(3, None, list(METHODS))) == {"best", "vote", "mvote", "sle"}
    with pytest.raises(ParameterError, match="candidates must be of auto, best"):
        candidates_of(9, ["nope"], list(METHODS))


def test_it_is_not_worse_than_the_best_single_method_out_of_fold():
    X = noisy(150, errors=(0.1, 0.15, 0.2, 0.25))
    model = AutoEnsemble().fit(X)
    assert model.held_out_[model.chosen_] == min(model.held_out_.values())
    answers = one_by_one(BestExpert, X, folds(X.ids, 5))
    errors = judged(X.with_gold(answers).references, X).errors.sum()
    units = X.references.lengths.sum()
    assert model.held_out_["best"] == pytest.approx(errors / units)
    assert f"{100 * model.held_out_[model.chosen_]:.2f} % of units wrong" in model.explanation_
    assert "5 folds of 150 records" in model.explanation_


def test_an_adversarial_majority_is_not_believed():
    X = noisy(40, errors=(0.05, 0.9))
    copies = {f"z{k}": X["e1"] for k in range(5)} | {"good": X["e0"]}
    X = ExpertPredictions.of(copies, gold=X.gold)
    model = AutoEnsemble().fit(X)
    assert model.chosen_ != "vote"
    assert model.held_out_[model.chosen_] <= 1.1 * model.held_out_["best"] < model.held_out_["vote"]


@pytest.mark.parametrize("n_gold", [0, 1, 2, 7, 25])
def test_little_gold(n_gold):
    X = noisy(30)
    X = X.with_gold([g if i < n_gold else None for i, g in enumerate(X.gold)])
    model = AutoEnsemble().fit(X)
    if n_gold == 0:
        assert model.explanation_ == "ROVER: no record has gold"
        assert model.predict(X) == make_ensemble("rover").fit(X).predict(X)
        assert model.combine(X).record_confidence is None
    elif n_gold == 1:
        assert model.explanation_ == "H_MVote: one record has gold"
    else:
        assert model.chosen_ in (*candidates_of(n_gold, None, list(METHODS), others=True), "pool")
        assert f"folds of {n_gold} records" in model.explanation_
        confident = model.combine(X).record_confidence
        assert ((confident >= 0) & (confident <= 1)).all()
    assert len(model.predict(X)) == 30


def test_the_order_of_records_and_of_calls_changes_nothing():
    X = noisy(60)
    turned = X[np.arange(60)[::-1]]
    choice = ("best", "vote", "sle")  # which do not learn on line
    a, b = (AutoEnsemble(choice, seed=4).fit(one) for one in (X, turned))
    assert a.explanation_ == b.explanation_
    assert np.allclose(a.combine(X).confidence, b.combine(X).confidence)


def test_time_limit_leaves_out_and_says_so(monkeypatch):
    X = noisy(40)
    seconds = iter(range(0, 10_000, 5))
    monkeypatch.setattr("structens.ensembles.auto.time.monotonic", lambda: float(next(seconds)))
    model = AutoEnsemble(("mvote", "best", "vote", "sle", "cv"), time_limit=20.0).fit(X)
    assert list(model.held_out_) == ["pool", "mvote", "vote"]  # a vote takes no time
    assert model.skipped_ == ["best", "sle", "cv"]
    assert model.explanation_.endswith("5 folds of 40 records; no time for best expert, H_SLE, H_CV)")
    for wrong in (0.0, -1, "soon", float("nan")):
        with pytest.raises(ParameterError, match="time_limit must be None or seconds > 0"):
            AutoEnsemble(time_limit=wrong).fit(X)
    with pytest.raises(ParameterError, match="n_folds must be None, or a number of folds >= 2"):
        AutoEnsemble(n_folds=1).fit(X)


def test_pool_and_single_in_a_file(tmp_path):
    X = noisy(60)
    for model in (
        AutoEnsemble(("mvote", "sle")).fit(X),
        AutoEnsemble(("mvote",)).fit(X),
        AutoEnsemble(align="always").fit(X[:1]),
    ):
        save(model, tmp_path / "m.structens")
        again = load(tmp_path / "m.structens")
        a, b = model.combine(X, n_best=2), again.combine(X, n_best=2)
        assert a.answers == b.answers
        assert np.array_equal(a.confidence, b.confidence)
        assert again.explanation_ == model.explanation_
        assert a.n_best.rows(a.X) == b.n_best.rows(b.X)


def forced_pool(X, **options):
    """A pool, whatever was chosen."""
    names = ("mvote", "confusion")
    model = AutoEnsemble(names, **options).fit(X)
    learning = Learning(model._slots(X), X, model.aligned_, folds(X.ids, 5))
    said = {name: learning.out_of_fold(model._made(name)) for name in names}
    members = {name: learning.learnt(model._made(name)) for name in names}
    model.chosen_, model.taken_ = "pool", LogPool(**options).join(learning, said, members)
    return model


@pytest.mark.parametrize("decode", ["marginal", "viterbi", "string", "mbr"])
def test_pool_takes_every_decoder(decode):
    X = noisy(40)
    model = forced_pool(X, decode=decode)
    assert model.taken_.member_names_
    done = model.combine(X, n_best=2)
    assert (
        judged(done.prediction, done.X).errors.sum()
        < judged(BestExpert().fit(X).combine(X).prediction, X).errors.sum() + 10
    )
    slots, weights = model.weighted_slots(X)
    assert weights.shape == slots.labels.shape


def test_pool_keeps_to_a_restriction():
    rng = np.random.default_rng(1)
    gold = [["B-x", "I-x", "O"] if k % 2 else ["O", "B-y", "I-y"] for k in range(40)]
    said = {
        f"e{j}": [[t if rng.random() > 0.3 else rng.choice(["O", "I-x", "B-y", "I-y"]) for t in y] for y in gold]
        for j in range(3)
    }
    X = ExpertPredictions.of({**said, "sure": gold}, gold=gold)
    model = forced_pool(X, restriction="bio")
    for answer in model.predict(X):
        for before, tag in zip(["O", *answer], answer, strict=False):
            assert tag[0] != "I" or before[1:] == tag[1:]


def test_slots_of_units():
    X = noisy(30)
    model = MajorityVote().fit(X)
    slots = model._slots(X)
    done = model._decided(slots, X, 0)
    at = slot_of_unit(done, slots)
    assert (np.diff(at) > 0).all()
    assert ((slots.labels[at] == done.prediction.values[:, None]) == done.support).all()


def test_confidences_are_probabilities():
    X, new = noisy(400, errors=(0.15, 0.2, 0.3, 0.3)), noisy(400, errors=(0.15, 0.2, 0.3, 0.3), seed=1)
    model = AutoEnsemble(("mvote", "best", "vote")).fit(X)
    done = model.combine(new)
    found = judged(done.prediction, new)
    order = np.argsort(done.confidence)
    gaps = [abs(done.confidence[q].mean() - found.hit[q].mean()) * len(q) for q in np.array_split(order, 10)]
    assert sum(gaps) / len(order) < 0.03
    least = order[: len(order) // 10]
    assert (~found.hit[least]).mean() > 2 * (~found.hit).mean()
    right = found.errors == 0
    assert abs(done.record_confidence.mean() - right.mean()) < 0.05
    assert done.record_confidence[right].mean() > done.record_confidence[~right].mean() + 0.1


def test_calibration_of_what_is_always_right_or_empty():
    X = ExpertPredictions.of({"a": ["ab"] * 3 + [""], "b": ["ab"] * 3 + [""]}, gold=["ab"] * 3 + [""])
    model = MajorityVote().fit(X)
    slots = model._slots(X)
    done, share = model._decided(slots, X, 0), model._shares(slots, X)
    found = judged(done.prediction, X)
    learnt = learn_calibration(done, slots, share, found.hit, found.errors == 0)
    unit, record = calibrated(done, slots, share, learnt)
    assert (unit > 0.9).all()
    assert len(record) == 4
    assert np.isfinite(record).all()


def test_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(made=records(60))
    done = run("combine", "e.jsonl")
    assert done.err.splitlines()[-1].startswith("combined 60 records of 4 experts by auto (took ")
    assert done.err.splitlines()[-1].endswith("learnt from 60 with gold") or "ties" in done.err.splitlines()[-1]
    said = done.err.splitlines()[-2]
    assert said.startswith("auto took ")
    assert "% of units wrong out of fold" in said
    assert done.notes == []
    assert set(done.rows[0]) == {"id", "prediction", "confidence", "confidence_record", "experts"}
    assert all(0 <= row["confidence_record"] <= 1 for row in done.rows)
    assert run("fit", "e.jsonl", "-o", "m.structens", "--time-limit", "100").code == 0
    assert run("combine", "e.jsonl", "-m", "m.structens").out == done.out
    assert "by H_MVote" in run("combine", "e.jsonl", "--tie", "position").err
    run("combine", "e.jsonl", "--method", "mvote", "--time-limit", "9").refused("--time-limit changes nothing", code=2)
    assert json.loads(run("combine", "e.jsonl", "-o", "o.jsonl", "--json").out)["method"] == "auto"
    assert os.path.exists("o.jsonl")
    listed = run("combine", "e.jsonl", "--nbest", "2", "--keep", "part").rows[0]
    assert {"nbest", "part", "confidence_record"} <= set(listed)
    put(made=[{**row, "confidence_record": 1} for row in records(3)])
    run("combine", "e.jsonl", "--keep", "confidence_record").refused("cannot be kept", code=2)


def test_the_default_method():
    assert default_method(True, ["decode", "time_limit"]) == "auto"
    assert default_method(True, ["beta"]) == "mvote"
    assert default_method(False, ["beta"], workers=True) == "rover"
    assert default_method(False, workers=True) == "auto"
    X = noisy(6)
    assert isinstance(make_ensemble("auto", tie="expert", seed=3).fit(X), AutoEnsemble)
    assert PathExpertEnsemble().fit(X).combine(X).record_confidence is None


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=40), st.integers(1, 7))
def test_reliability_from_its_definition(rows, n_bins):
    c, right = [k / 20 for k, _ in rows], [r for _, r in rows]
    found = reliability(c, right, n_bins=n_bins)
    bins = {}
    for one, hit in zip(c, right, strict=True):
        bins.setdefault(min(int(one * n_bins), n_bins - 1), []).append((one, hit))
    expected = sum(abs(sum(x for x, _ in b) - sum(h for _, h in b)) for b in bins.values()) / len(rows)
    assert found.calibration_error == pytest.approx(expected)
    assert sum(b.n for b in found.bins) == found.n == len(rows)
    assert found.brier == pytest.approx(np.mean([(a - b) ** 2 for a, b in zip(c, right, strict=True)]))
    if all(right):
        assert found.errors_in_least_sure is None
    else:  # the mean over all orders of equal confidences, from the definition of the tenth
        tenth, taken, errors = len(rows) / 10, 0.0, 0.0
        for level in sorted(set(c)):
            here = [not hit for one, hit in zip(c, right, strict=True) if one == level]
            part_of = min(max(tenth - taken, 0.0), len(here))
            errors += sum(here) * part_of / len(here)
            taken += part_of
        assert found.errors_in_least_sure == pytest.approx(errors / right.count(False))


def test_reliability_refuses():
    for c, right in (([], []), ([0.5], [True, False]), ([1.5], [True]), ([float("nan")], [True])):
        with pytest.raises(DataError, match="need as many confidences"):
            reliability(c, right)
    with pytest.raises(ParameterError, match="n_bins must be a whole number >= 1"):
        reliability([0.5], [True], n_bins=0)
    X = ExpertPredictions.of({"a": ["b"]}, gold=["b"])
    assert unit_reliability(X, "a") is None
    with pytest.raises(DataError, match="2 confidences for 1 records"):
        record_reliability(X, "a", [0.1, 0.2])


def test_evaluation_shows_whether_confidences_can_be_trusted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(made=records(60, kind="texts"))
    run("combine", "e.jsonl", "-o", "p.jsonl")
    run("combine", "e.jsonl", "-o", "v.jsonl", "--method", "vote")
    text = run("evaluate", "p.jsonl", "v.jsonl", "--gold", "e.jsonl").out
    for words in ("Confidences of p, units: ", "Confidences of p, records: 60", "Confidences of v, units: "):
        assert words in text
    assert "Confidences of v, records" not in text
    table = run("evaluate", "p.jsonl", "--gold", "e.jsonl", "--json", "--reliability", "c.svg").json
    rows, gold = (
        [json.loads(line) for line in Path("p.jsonl").read_text().splitlines()],
        {r["id"]: r["gold"] for r in records(60, kind="texts")},
    )
    sure = [row["confidence_record"] for row in rows]
    direct = reliability(sure, [row["prediction"] == gold[row["id"]] for row in rows])
    assert table["reliability"]["p"]["records"]["calibration_error"] == pytest.approx(direct.calibration_error)
    assert Path("c.svg").read_text().startswith("<svg")
    assert "| confidence | n |" in run("evaluate", "p.jsonl", "--gold", "e.jsonl", "--format", "md").out
    for wrong, said in (([0.5], "1 confidences for 2 units"), ([0.5, 2], "must be a number between 0 and 1; got 2")):
        put("q.jsonl", [{"id": 1, "gold": "ab", "prediction": "ab", "confidence": wrong}])
        run("evaluate", "q.jsonl").refused("q.jsonl:1: record 1: ", said)
    put("q.jsonl", [{"id": 1, "gold": "ab", "prediction": "ab"}])
    run("evaluate", "q.jsonl", "--reliability", "d.svg").refused("no prediction carries confidences")
    assert not os.path.exists("d.svg")


def test_pool_chooses_what_nobody_proposed():
    rng = np.random.default_rng(0)
    gold = ["".join(rng.choice(list("fogdbat"), 5)) for _ in range(60)]
    said = {name: [g.replace("o", "0") if rng.random() < 0.9 else g[::-1] for g in gold] for name in "abc"}
    X = ExpertPredictions.of(said, gold=gold)
    model = forced_pool(X)
    done = model.combine({"a": ["b0g"], "b": ["b0g"], "c": ["b0g"]})
    assert done.answers == ["bog"]
    assert done.experts == [[["a", "b", "c"], [], ["a", "b", "c"]]]
    assert done.source.tolist()[1] == -1
    assert (done.confidence > 0.5).all()


@settings(max_examples=30)
@given(networks(), st.integers(0, 3))
def test_opinions_side_by_side(made, extra):
    slots, (first, _) = made
    n = len(slots.labels)
    outside = np.full((n, 1), 3 + extra % 2, np.int32)
    found = Posteriors(
        np.concatenate([np.tile(np.array([[-1, 0, 1, 2]], np.int32), (n, 1)), outside], axis=1), np.full((n, 5), 0.2)
    )
    one = opinion_in(slots.labels, found)
    wide, (plain, other, again) = side_by_side(slots.labels, [plain_opinion(first), one, one])
    for s in range(n):
        proposed = set(slots.labels[s].tolist())
        columns = [j for j in range(wide.shape[1]) if other[s, j] >= 0]
        labels = [int(wide[s, j]) for j in columns]
        assert len(set(labels)) == len(labels)
        assert proposed <= set(labels)
        beyond = set(labels) - proposed
        assert len(beyond) == min(2, 5 - len(proposed))
        assert all(other[s, j] == pytest.approx(0.2) for j in columns)
        assert np.array_equal(other[s], again[s])
        assert [plain[s, j] for j in columns if labels[columns.index(j)] in beyond] == [0.0] * len(beyond)


@pytest.mark.parametrize("made", [PathExpertEnsemble(beta=0.9), MajorityVote(), BestExpert(), LengthGated(min_len=3)])
def test_any_method_can_be_calibrated(made, tmp_path):
    errors = (0.15, 0.2, 0.3, 0.3)
    X, new = noisy(300, errors), noisy(300, errors, seed=1)
    model = Calibrated(made).fit(X)
    done, plain = model.combine(new), made.set_params(align="always").fit(X).combine(new)
    assert done.answers == plain.answers
    hit = judged(done.prediction, new).hit
    assert reliability(done.confidence, hit).brier < reliability(plain.confidence, hit).brier
    assert reliability(done.confidence, hit).calibration_error < 0.04
    save(model, tmp_path / "m.structens")
    assert np.array_equal(load(tmp_path / "m.structens").combine(new).confidence, done.confidence)
    alone = Calibrated(made).fit(X[:1])
    assert alone.combine(new).record_confidence is None
    with pytest.raises(ParameterError, match="ensemble must be an ensemble"):
        Calibrated("mvote").fit(X)
