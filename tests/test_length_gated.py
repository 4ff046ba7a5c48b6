from dataclasses import replace

import numpy as np
import pytest
from run_cli import put, records, run

from structens.core import ExpertPredictions, ParameterError
from structens.ensembles import BestExpert, ForwardSelection, MajorityVote, PathExpertEnsemble, make_ensemble
from structens.ensembles.base import Ensemble
from structens.ensembles.length_gated import LengthGated, record_lengths
from structens.evaluate import evaluate_methods
from structens.io.ensemble_file import load, save
from structens.losses import edit_distance


def graded(n=400, border=4, seed=0):
    """Expert "a" errs little in records shorter than the border and much in longer ones; the others evenly."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 8, n)
    gold = [["g"] * length for length in lengths]

    def noisy(error):
        return [[("g" if rng.random() > error(len(y)) else f"w{rng.integers(9)}") for _ in y] for y in gold]

    said = {"a": noisy(lambda n: 0.02 if n < border else 0.3)}
    said |= {name: noisy(lambda n: 0.7 if n < border else 0.25) for name in "bcdef"}
    return ExpertPredictions.of(said, gold=gold)


class Memory(Ensemble):
    """Knows by heart the gold of records it learnt from, and is wrong on all others."""

    needs_gold = True

    def __init__(self, align="auto"):
        self.align = align

    def _learn(self, slots, X):
        self.seen_ = set(X.ids)

    def _weights(self, slots, X):
        known = np.array([i in self.seen_ for i in X.ids])[slots.record]
        knows, errs = X.names.index("knows"), X.names.index("errs")
        out = np.zeros(slots.labels.shape)
        out[np.arange(len(out)), np.where(known, knows, errs)] = 1
        return out


def test_the_length_is_learnt_from_answers_to_records_that_were_not_seen():
    # on the records it learnt from this ensemble is perfect, so that only held-out answers can show that it is useless
    n = 60
    gold = [["x"] * (1 + i % 5) for i in range(n)]
    said = {
        "errs": [["y"] * len(g) for g in gold],
        "fair": [g if i % 3 else ["y"] * len(g) for i, g in enumerate(gold)],
        "knows": [g if i % 4 else ["z"] * len(g) for i, g in enumerate(gold)],
    }
    X = ExpertPredictions.of(said, gold=gold, ids=[f"r{i}" for i in range(n)])
    assert Memory().fit(X).score(X) > 0.7
    model = LengthGated(Memory()).fit(X)
    assert model.min_len_ == 6  # above all lengths: the best expert answers everything
    assert model.predict(X) == X["knows"]
    assert model.held_out_[0] == 1.0
    assert model.held_out_[-1] == pytest.approx(1 - BestExpert().fit(X).score(X))


def test_border_is_found_and_pays():
    X, new = graded(), graded(seed=1)
    model = LengthGated(MajorityVote()).fit(X)
    assert model.min_len_ == 4
    assert model.short_.best_ == "a"
    assert model.score(new) > max(MajorityVote().fit(X).score(new), BestExpert().fit(X).score(new))
    assert model.lengths_.tolist() == [0, 2, 3, 4, 5, 6, 7, 8]
    assert model.held_out_.argmin() == 3
    answers = list(zip(model.predict(new), new["a"], MajorityVote().fit(X).predict(new), new.gold, strict=True))
    assert all(said == (best if len(gold) < 4 else vote) for said, best, vote, gold in answers)


def test_given_length_and_ends():
    X = graded(80)
    vote, best = MajorityVote().fit(X).predict(X), BestExpert().fit(X).predict(X)
    assert LengthGated(MajorityVote(), 0).fit(X).predict(X) == vote
    assert LengthGated(MajorityVote(), 99).fit(X).predict(X) == best
    assert LengthGated(MajorityVote(), 4).fit(X).lengths_.tolist() == []
    one = X[:1]
    assert LengthGated().fit(one).min_len_ == 0
    for wrong in ({"min_len": -1}, {"min_len": True}, {"n_folds": 1}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            LengthGated(**wrong).fit(X)


def test_everything_about_an_answer_comes_from_who_gave_it():
    X = graded(60, seed=3).add("none", [None] * 60)
    model = LengthGated(MajorityVote(), 4).fit(X)
    done, best = model.combine(X, n_best=3), model.short_.combine(X, n_best=3)
    long = MajorityVote().fit(X).combine(X, n_best=3)
    below = record_lengths(X) < 4
    for i in range(60):
        who = best if below[i] else long
        assert done.answers[i] == who.answers[i]
        assert done.confidences[i] == who.confidences[i]
        assert done.experts[i] == who.experts[i]
        assert done.n_ties[i] == who.n_ties[i]
        assert done.n_best.rows(X)[i] == who.n_best.rows(X)[i]
    units = [X.alphabet.labels[c] for c in done.X.hypotheses.values[done.source]]
    assert units == [label for answer in done.answers for label in answer]
    slots, weights = model.weighted_slots(X)
    assert (weights[below[slots.record]].sum(axis=1) == 1).all()


def test_a_restriction_is_for_both_and_notes_count_what_each_answers():
    gold = [["B-PER", "I-PER"], ["B-PER", "I-PER", "O"], ["O", "O", "O"]]
    said = {
        "A": [["B-PER", "I-ORG"], *gold[1:]],
        "B": [["B-PER", "I-PER"], ["O", "I-ORG", "O"], ["O", "O", "B-ORG"]],
        "C": [["B-ORG", "I-PER"], ["O", "I-PER", "O"], ["O", "O", "O"]],
    }
    X = ExpertPredictions.of(said, gold=gold)
    model = LengthGated(MajorityVote(restriction="bio"), 3).fit(X)
    done = model.combine(X, n_best=2)
    assert model.short_.best_ == "A"
    assert done.answers[0] in (["B-PER", "I-PER"], ["B-ORG", "I-ORG"])
    assert done.notes == ()
    assert done.answers[1:] == MajorityVote(restriction="bio").fit(X).predict(X)[1:]
    # unrestricted, the best expert's answer to the first is invalid, and so is the vote for the second
    (note,) = LengthGated(MajorityVote(), 3).fit(X).combine(X).notes
    assert note.startswith("2 answers are not valid BIO")
    said["A"][0], said["B"][0] = ["B-PER", "I-PER"], ["B-ORG", "I-PER"]
    said["B"][1] = gold[1]
    said["C"][0] = ["B-ORG", "I-PER"]  # the vote is invalid there; the best expert answers
    X = ExpertPredictions.of(said, gold=gold)
    assert LengthGated(MajorityVote(), 3).fit(X).combine(X).notes == ()
    assert MajorityVote().fit(X).combine(X).notes != ()


def test_confidences_are_read_where_they_stand():
    rng = np.random.default_rng(4)
    said = {j: [[str(rng.integers(3)) for _ in range(1 + i % 5)] for i in range(20)] for j in "abc"}
    X = ExpertPredictions.of(said, gold=said["a"])
    X = replace(X, confidence=rng.random(len(X.hypotheses.values)))
    vote = MajorityVote(use_confidence="average", alpha=0.3)
    done, whole = LengthGated(vote, 3).fit(X).combine(X), vote.fit(X).combine(X)
    assert all(done.confidences[i] == whole.confidences[i] for i in range(20) if 1 + i % 5 >= 3)
    assert [X.alphabet.labels[c] for c in X.hypotheses.values[done.source]] == [u for y in done.answers for u in y]


def test_answers_of_unequal_length():
    rng = np.random.default_rng(5)
    gold = ["".join(rng.choice(list("ab"), rng.integers(1, 7))) for _ in range(50)]
    said = {j: ["".join(c for c in y if rng.random() > 0.2) for y in gold] for j in "pqr"}
    X = ExpertPredictions.of(said, gold=gold)
    model = LengthGated(ForwardSelection("edit", n_rounds=5)).fit(X)
    edits = [edit_distance(a, g) for a, g in zip(model.predict(X), gold, strict=True)]
    assert 1 - model.score(X) == pytest.approx(sum(edits) / sum(map(len, gold)))
    assert (record_lengths(X) == np.median([[len(said[j][i]) for j in "pqr"] for i in range(50)], axis=1)).all()


def test_model_file_and_parameters(tmp_path):
    X = graded(120)
    model = LengthGated(PathExpertEnsemble(beta=0.5)).fit(X)
    save(model, tmp_path / "m.structens")
    again = load(tmp_path / "m.structens")
    assert again.min_len_ == model.min_len_
    assert again.predict(X) == model.predict(X)
    assert again.ensemble.beta == 0.5
    assert model.set_params(ensemble__beta=0.25).ensemble.beta == 0.25
    assert repr(make_ensemble("vote", min_len="auto")) == "LengthGated(ensemble=MajorityVote())"
    with pytest.raises(ParameterError, match="min_len"):
        make_ensemble("vote", min_len="long")


def test_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(made=records(kind="texts"))
    for given in ("auto", "3"):
        direct = run("combine", "e.jsonl", "--min-len", given, "--json", "-o", "o.jsonl")
        assert {"from length", "below"} <= direct.json.keys()
        run("fit", "e.jsonl", "--min-len", given, "-o", "m.structens")
        assert (
            run("combine", "e.jsonl", "-m", "m.structens").answers
            == run("combine", "e.jsonl", "--min-len", given).answers
        )
    assert (
        run("combine", "e.jsonl", "--method", "vote", "--min-len", "3", "--json", "-o", "o").json["learnt_from"] == 40
    )
    assert "--min-len does not go" in run("combine", "e.jsonl", "--online", "--min-len", "3").refused(code=2)
    assert "min_len must be" in run("combine", "e.jsonl", "--min-len", "x").refused(code=2)
    refused = run("combine", "e.jsonl", "-m", "m.structens", "--min-len", "3").refused(code=2)
    assert "min-len does not go with --model" in refused


def test_table_shows_methods_by_length_beside_plain_baselines():
    X = graded(100)
    rows = {row.name: row for row in evaluate_methods(X, ["best", "vote"], options={"min_len": 4}).rows}
    assert "majority" in rows
    rows = [row.name for row in evaluate_methods(X, ["mvote"], options={"min_len": 4}).rows]
    assert "H_MVote, by length" in rows


@pytest.mark.parametrize(
    ("name", "value"),
    [("min_len", "3"), ("min_len", float("nan")), ("min_len", 2.5), ("ensemble", "vote"), ("n_folds", 2.5)],
)
def test_options_of_the_wrong_kind(name, value):
    with pytest.raises(ParameterError, match=f"{name} must be"):
        LengthGated(**{name: value}).fit(graded(20))
