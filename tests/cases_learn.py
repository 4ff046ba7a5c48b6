"""Checks of the acceptance cases of families 4 and 6: weighted automata, and ensembles of sequence labellers."""

import json
import math
import random
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from case_adapter import check, row_of
from run_cli import lines, run

from structens.automata import (
    Semiring,
    connect,
    expert_automaton,
    flows,
    log10_paths,
    n_paths,
    push,
    sample,
    total_weight,
)
from structens.core import UNKNOWN, Alphabet, Automaton, AutomatonError, ExpertPredictions, Slots
from structens.ensembles import PathExpertEnsemble, vote
from structens.evaluate import agreement
from structens.online import WeightedMajority, marginal, viterbi

REAL = Semiring.REAL


@check("WFA-01")
def no_weight_at_all(case):
    a = Automaton.from_transitions([(0, 1, 0), (0, 1, 1)], final=[1])
    for verb in (lambda: push(a, [0.0, 0.0], semiring=REAL), lambda: sample(a, [0.0, 0.0], 5, 0, semiring=REAL)):
        with pytest.raises(AutomatonError, match=r"no path .* state 0"):
            verb()
    assert total_weight(a, [0.0, 0.0], semiring=REAL) == case.values["total"]


def two_experts(beta):
    return WeightedMajority(Automaton.from_transitions([(0, 1, 0), (0, 1, 1)], final=[1]), beta)


@check("WFA-03")
def huge_losses_keep_their_ratio(case):
    learner = two_experts(1 / math.e)
    learner.update([2000, 2003])
    assert learner.flows() == pytest.approx(case.values["weights"], rel=1e-9)


@check("WFA-04")
def an_expert_can_come_back(case):
    learner = two_experts(0.5)
    for _ in range(2000):
        learner.update([0, 1])
    for _ in range(2000):
        learner.update([1, 0])
    assert learner.flows() == pytest.approx(case.values["weights"], rel=1e-9)


@check("WFA-06")
def negative_weights(case):
    message = case.combine().refused("experts.jsonl:1:", "weights.A is -0.5")
    assert "they are not logarithms" in message


@check("WFA-07")
def dead_ends_carry_no_weight(case):
    transitions = [(0, 1, 0), (0, 2, 1), (1, 3, 2), (4, 3, 3)]
    a = Automaton.from_transitions(transitions, final=[3])
    by_label = {0: 0.3, 1: 0.7, 2: 1.0, 3: 1.0}
    weight = [by_label[label] for label in a.label.tolist()]
    pushed = push(a, weight, semiring=REAL)
    assert pushed.total == pytest.approx(case.values["total"], rel=1e-9)
    drawn = sample(a, weight, 1000, seed=1, semiring=REAL)
    found = [[int(a.label[e]) for e in path] for path in drawn]
    assert found == [[0, 2]] * case.values["samples_a_c"]
    assert np.prod(pushed.weight[drawn[0]]) == pytest.approx(case.values["P(a c)"], rel=1e-9)
    assert connect(a).automaton.n_states == len(case.values["states_after_trim"])


@check("WFA-09")
def tokens_that_look_like_marks(case):
    result = case.combine("-o", "out.jsonl")
    assert result.code == 0
    record = json.loads(case.files["experts.jsonl"])
    Path("gold.jsonl").write_text(lines({"id": "u1", "gold": record["experts"]["A"]}))
    scored = run("evaluate", "out.jsonl", "--gold", "gold.jsonl", "--json")
    assert row_of(scored)["errors"] == case.values["errors"]
    assert json.loads(Path("out.jsonl").read_text())["prediction"] == case.values["u1"]
    uneven = {"id": "u2", "experts": {"A": case.values["u1"], "B": ["x", *case.values["u1"]], "C": case.values["u1"]}}
    assert run("combine", "-", stdin=lines(uneven).encode()).answers == {"u2": case.values["u1"]}


@check("WFA-10")
def draws_depend_on_seed_and_id(case):
    a = Automaton.from_transitions([(0, 1, 0), (0, 1, 1), (1, 2, 0), (1, 2, 1)], final=[2])
    weight, n, tolerance = [0.6, 0.4, 0.5, 0.5], 10_000, case.values["tolerance_4_sd"]
    drawn = np.array(sample(a, weight, n, seed=7, semiring=REAL).to_list())
    assert (drawn == np.array(sample(a, weight, n, seed=7, semiring=REAL).to_list())).all()
    first, second = drawn[:, 0] == 0, drawn[:, 1] == 2
    assert abs(first.mean() - case.values["P(first=1st)"]) < tolerance
    assert abs(second[first].mean() - second[~first].mean()) < 2.1 * tolerance
    rng = np.random.default_rng(0)
    records = [
        {
            "id": f"u{i}",
            "gold": [f"g{i}"],
            "experts": {e: [f"{x}{i}"] for e, x in zip("AB", rng.choice(["g", "w"], 2), strict=True)},
        }
        for i in range(200)
    ]
    Path("learn.jsonl").write_text(lines(*records[:100]))
    assert run("fit", "learn.jsonl", "-o", "m", "--method", "rand", "--seed", "7", "--beta", "0.9").code == 0
    whole = run("combine", "-", "-m", "m", stdin=lines(*records).encode()).answers
    shuffled = run("combine", "-", "-m", "m", stdin=lines(*records[::-1]).encode()).answers
    assert whole == shuffled
    assert all(
        run("combine", "-", "-m", "m", stdin=lines(r).encode()).answers == {r["id"]: whole[r["id"]]}
        for r in records[::25]
    )
    assert run("fit", "learn.jsonl", "-o", "m", "--method", "rand", "--seed", "8", "--beta", "0.9").code == 0
    assert run("combine", "-", "-m", "m", stdin=lines(*records).encode()).answers != whole


def all_different(p, n):
    """A record of p experts and n positions where all tokens are different."""
    labels = np.arange(p * n, dtype=np.int32).reshape(n, p)
    alphabet = Alphabet(tuple(f"t{k}" for k in range(p * n)))
    names = tuple(f"e{j:03}" for j in range(p))
    return Slots(
        labels,
        np.array([0, n]),
        labels.astype(np.int64),
        names,
        alphabet,
        np.full(n, UNKNOWN, np.int32),
        np.zeros(1, np.int64),
    )


@check("WFA-12")
def more_paths_than_numbers(case):
    small = expert_automaton(all_different(251, 15), 0).automaton
    assert log10_paths(small) == pytest.approx(case.values["log10_paths_251x15"], abs=5e-4)
    assert n_paths(small) == 251**15 > 2**63
    slots = all_different(50, 3000)
    tracemalloc.start()
    a = expert_automaton(slots, 0).automaton
    learner, rng = WeightedMajority(a, 0.5), np.random.default_rng(0)
    for _ in range(10):
        learner.update(rng.random(a.n_transitions))
    best = marginal(a, learner.flows())
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(best.labels) == 3000
    assert memory < 500 * 2**20
    assert log10_paths(a) == pytest.approx(case.values["log10_paths_50x3000"], abs=5e-3)
    paths = n_paths(a)
    with pytest.raises(OverflowError):
        float(paths)
    with pytest.raises(ValueError, match="4300"):
        str(paths)


@check("WFA-13")
def equal_tokens_add_their_weights(case):
    record = json.loads(case.files["experts.jsonl"])
    weighted = {**record, "weights": {"A": 0.3, "B": 0.3, "C": 0.4}}
    result = run("combine", "-", stdin=lines(weighted).encode())
    assert result.answers["u1"] == case.values["mvote"]
    assert result.rows[0]["confidence"] == [case.values["scores"]["x"]]
    alphabet = ("x", "y")
    a = Automaton.from_transitions([(0, 1, alphabet.index(said[0])) for said in record["experts"].values()], final=[1])
    weight = [0.3, 0.3, 0.4]
    flow = flows(a, weight, semiring=REAL).transition
    assert [alphabet[k] for k in marginal(a, flow).labels] == case.values["mvote"]
    assert [alphabet[k] for k in viterbi(a, weight, [1.0, 1.0]).labels] == case.values["best_single_expert"]


@check("WFA-15")
def path_experts(case):
    a = Automaton.from_transitions([(0, 1, 0), (0, 1, 1), (1, 2, 2), (1, 2, 3)], final=[2])
    learner = WeightedMajority(a, 0.5)
    losses = [learner.update(np.array([0, 1, 1, 0]) / 2) for _ in range(4)]
    assert losses == pytest.approx(case.values["expected_loss_per_round"], rel=1e-9)
    w = np.exp(-learner.pushed().weight)
    assert w.tolist() == pytest.approx([*case.values["w_pos1"], *case.values["w_pos2"]], rel=1e-9)
    paths = {f"{i + 1}{j + 1}": w[i] * w[2 + j] for i in range(2) for j in range(2)}
    assert paths == pytest.approx(case.values["paths"], rel=1e-9)
    X = ExpertPredictions.of({"e1": ["aX"] * 4, "e2": ["Yb"] * 4}, gold=["ab"] * 4)
    made = PathExpertEnsemble(tie="position", beta=0.5, loss_scale="normalized").fit(X)
    assert made.predict({"e1": ["aX"], "e2": ["Yb"]}) == [case.values["mvote"]]
    assert made.round_losses_ == pytest.approx(losses, rel=1e-9)


@check("TAG-02")
def tag_sets_that_differ(case):
    result = case.combine("--json")
    summary = json.loads(result.err.splitlines()[-1])
    assert summary["ties"] == case.values["ties"]
    notes = case.combine().notes
    assert notes == ["'A' and 'B' share no label (0 agreements): map the labels first"]
    records = [json.loads(line)["experts"] for line in case.files["experts.jsonl"].splitlines()]
    found = agreement(ExpertPredictions.of({name: [r[name] for r in records] for name in "AB"}))
    assert f"{found.agreed[0, 1]}/{found.compared[0, 1]}" == case.values["agreement"]
    assert found.shared_labels[0, 1] == case.values["label_overlap"]


@check("TAG-03")
def chunks(case):
    plain, valid = case.combine(), case.combine("--constraint", "bio", "--nbest", "2")
    assert plain.answers["s1"] == case.values["plain"]
    assert sum(plain.rows[0]["confidence"]) == pytest.approx(case.values["plain_score"], rel=1e-9)
    assert [n for n in plain.notes if n.startswith(f"{case.values['invalid_transitions']} ")] == plain.notes[-1:]
    assert valid.answers["s1"] == case.values["constrained"]
    assert sum(valid.rows[0]["confidence"]) == pytest.approx(case.values["constrained_score"], rel=1e-9)


@check("TAG-05")
def labels_never_seen(case):
    learn = [{"id": k, "gold": g, "experts": dict.fromkeys("abc", g)} for k, g in enumerate([["A", "B"], ["B"]] * 6)]
    new = {"id": "new", "gold": ["A", "Q", "B"], "experts": {e: ["A", "Z", "B"] for e in "abc"}}
    Path("learn.jsonl").write_text(lines(*learn))
    Path("new.jsonl").write_text(lines(new))
    for tie in ("expert", "position", "label"):
        assert run("fit", "learn.jsonl", "-o", "m.structens", "--tie", tie).code == 0
        result = run("combine", "new.jsonl", "-m", "m.structens", "-o", "out.jsonl")
        assert json.loads(Path("out.jsonl").read_text())["prediction"] == case.values["prediction"]
        assert len([note for note in result.notes if "hold a label that an expert never gave" in note]) == (
            tie == "label"
        )
        row = row_of(run("evaluate", "out.jsonl", "--gold", "new.jsonl", "--json"))
        assert row["errors"] == 1
        assert row["hamming"] == pytest.approx(case.values["hamming"], rel=1e-9)


@check("TAG-06")
def unanimity_is_obeyed(case):
    chance = random.Random(6)
    tags = lambda: [chance.choice("XYZ") for _ in range(5)]  # noqa: E731
    X = ExpertPredictions.of({e: [tags() for _ in range(50)] for e in "abc"}, gold=[tags() for _ in range(50)])
    said = [{e: tags() for e in "abc"} for _ in range(1000)]
    agreed = [chance.randrange(5) for _ in said]
    for row, place in zip(said, agreed, strict=True):
        row["b"][place] = row["c"][place] = row["a"][place]
    new = {e: [row[e] for row in said] for e in "abc"}
    for rule in ("mvote", "cv", "rand"):
        for tie in ("expert", "position", "label"):
            answers = PathExpertEnsemble(rule, tie, beta=0.6).fit(X).predict(new)
            assert all(answer[k] == row["a"][k] for answer, row, k in zip(answers, said, agreed, strict=True))
    example = case.values["example"]
    record = {"id": "s", "gold": example["truth"], "experts": dict(zip("abc", example["experts"], strict=True))}
    Path("one.jsonl").write_text(lines(record))
    assert run("combine", "one.jsonl", "--method", "vote").answers["s"] == example["prediction"]
    table = run("evaluate", "one.jsonl", "--json", "--methods", "vote")
    assert row_of(table, "majority")["hamming"] == example["hamming"]
    oracles = [row for row in table.json["rows"] if row["kind"] == "oracle"]
    assert [row["rate"] for row in oracles] == [example["oracle_hamming"]] * 2


@check("TAG-08")
def copies_of_a_wrong_expert(case):
    learner = WeightedMajority(Automaton.from_transitions([(0, 1, k) for k in range(6)], final=[1]), 0.5)
    for t in (1, 2, 3):
        learner.update([0, 1, 1, 1, 1, 1])
        weight = learner.flows()
        assert weight[0] == pytest.approx(case.values["A_weight"][str(t)], rel=1e-9)
        assert weight[1:].sum() == pytest.approx(case.values["B_total"][str(t)], rel=1e-9)
        assert vote(np.array([[0, 1, 1, 1, 1, 1]], np.int32), weight[None]).label.tolist() == [0 if t >= 3 else 1]
    records = [
        {"id": k, "experts": {"A": ["right"], **{f"B{j}": [f"wrong{k}"] for j in range(1, 6)}}} for k in range(20)
    ]
    Path("copies.jsonl").write_text(lines(*records))
    said = "possible copies, equal in every record they share: B1, B2, B3, B4, B5"
    assert said in run("combine", "copies.jsonl").notes
    Path("gold.jsonl").write_text(lines(*({"id": k, "gold": ["right"]} for k in range(20))))
    table = run("evaluate", "copies.jsonl", "--gold", "gold.jsonl", "--json")
    assert said in table.json["notes"]
    assert table.json["copies"] == [[f"B{j}" for j in range(1, 6)]]


@check("TAG-09")
def longer_than_in_learning(case):
    learn = [
        {"id": k, "gold": ["x", "y"][: 1 + k % 2], "experts": {e: ["x", e][: 1 + k % 2] for e in "ABC"}}
        for k in range(9)
    ]
    Path("learn.jsonl").write_text(lines(*learn))
    assert run("fit", "learn.jsonl", "-o", "m.structens", "--tie", "position").code == 0
    new = lines({"id": "new", "experts": {"A": list("pqrs"), "B": list("pqrs"), "C": list("pqrt")}})
    result = run("combine", "-", "-m", "m.structens", stdin=new.encode())
    assert len(result.answers["new"]) == case.values["output_length"]
    beyond = case.values["positions_beyond_training"]
    assert [note for note in result.notes if note.startswith(f"{beyond} slots are in contexts that never occurred")]


@check("TAG-11")
def even_numbers_of_experts(case):
    result = case.combine("--json")
    assert result.answers["s1"] == case.values["default"]
    assert json.loads(result.err.splitlines()[-1])["ties"] == case.values["ties"]
    drawn = [case.combine("--ties", "random", "--seed", str(seed)) for seed in (1, 1)]
    assert drawn[0].out == drawn[1].out
    many = {run("combine", "experts.jsonl", "--ties", "random", "--seed", str(s)).answers["s1"][0] for s in range(12)}
    assert many == {"a", "b"}


@check("TAG-12")
def vote_against_draw(case):
    values = case.values
    labels, weights = np.array([[0, 1, 1]], np.int32), np.array([[0.4, 0.3, 0.3]])
    won = vote(labels, weights)
    assert "ab"[int(won.label[0])] == values["mvote"]
    assert float(won.label[0] != 0) == values["mvote_loss"]
    expected = float((weights * (labels != 0)).sum())
    assert expected == pytest.approx(values["rand_expected_loss"], rel=1e-9)
    assert 2 * expected == pytest.approx(values["bound"], rel=1e-9)
    rng = np.random.default_rng(12)
    for n_labels in (2, 3, 5):
        labels = rng.integers(0, n_labels, (1000, 4)).astype(np.int32)
        weights = rng.dirichlet(np.ones(4), 1000)
        wrong = (weights * (labels != 0)).sum(axis=1)
        lost = (vote(labels, weights).label != 0).astype(float)
        assert (wrong[lost > 0] >= 0.5 - 1e-12).all()
        assert lost.mean() <= 2 * wrong.mean()
