"""The whole evaluation: rows, intervals, notes, groups, verdict, strict JSON."""

import json
from dataclasses import replace

import numpy as np
import pytest

from structens.core import ABSENT, DataError, ExpertPredictions, ParameterError, Slots
from structens.evaluate import (
    compare,
    count_errors,
    evaluate_experts,
    expected_counts,
    interval,
    rates,
    resampled_rates,
)


def tags(experts, gold, **kwargs):
    return ExpertPredictions.of(experts, gold=gold, **kwargs)


def equal_slots(X):
    """Slots of answers that are all of the same length within a record."""
    n, p = len(X), X.n_experts
    lengths = X.hypotheses.lengths.reshape(n, p).max(axis=1)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    labels = np.full((int(offsets[-1]), p), ABSENT, dtype=np.int32)
    rows, places = X.hypotheses.rows, X.hypotheses.places
    labels[offsets[rows // p] + places, rows % p] = X.hypotheses.values
    unknown = np.zeros(len(labels), np.int32)
    return Slots(labels, offsets, labels.astype(np.int64), X.names, X.alphabet, unknown, np.zeros(n, np.int64))


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    gold = [rng.choice(list("abcd"), size=rng.integers(1, 9)).tolist() for _ in range(60)]

    def noisy(rate):
        return [[y if rng.random() > rate else str(rng.choice(list("abcd"))) for y in row] for row in gold]

    X = tags({"good": noisy(0.1), "bad": noisy(0.5)}, gold, ids=[f"r{i:02d}" for i in rng.permutation(60)])
    return replace(X, fields=tuple({"speaker": f"s{i % 3}"} if i % 4 else {} for i in range(60)))


def test_rows_are_experts_systems_oracles_with_their_own_intervals(X):
    e = evaluate_experts(X, {"copy": X["good"]}, kinds={"copy": "baseline"}, slots=equal_slots(X), seed=3)
    names = ["good", "bad", "copy", "best expert per record", "best path of the slots"]
    assert [row.name for row in e.rows] == names
    assert [row.kind for row in e.rows] == ["expert", "expert", "baseline", "oracle", "oracle"]
    order = sorted(range(60), key=lambda i: X.ids[i])
    for name in ("good", "bad"):
        c = count_errors(name, X, loss="hamming")
        assert e[name].rates == rates(c)
        errors, lengths = c.errors[order], c.reference_length[order]
        assert e[name].interval == interval(resampled_rates([errors], [lengths], seed=3)[0])
    assert e["copy"].interval == e["good"].interval
    rate = {row.name: row.rates.rate for row in e.rows}
    assert rate[names[4]] <= rate[names[3]] <= min(rate["good"], rate["bad"])


def test_the_verdict_compares_with_the_best_expert(X):
    gold = evaluate_experts(X, {"right": X.gold, "worse": X["bad"]})
    assert (gold.verdict.a, gold.verdict.b) == ("right", "good")
    assert gold.verdict == compare(X, X.gold, "good", names=("right", "good"))
    assert gold.changed == sum(a != b for a, b in zip(X.gold, X["good"], strict=True))
    assert evaluate_experts(X).verdict is None
    assert evaluate_experts(X, {"counted": count_errors(X.gold, X, loss="hamming")}).changed is None
    assert evaluate_experts(X, {"coded": X.hypotheses[np.arange(60) * 2]}).changed == 0


def test_a_combination_that_changes_nothing_is_noted(X):
    e = evaluate_experts(X, {"vote": [tuple(row) for row in X["good"]]})
    assert e.notes == ("'vote' answers every record exactly as 'good': combining changed nothing",)


def test_the_order_of_records_does_not_matter(X):
    shuffled = X[np.random.default_rng(1).permutation(60)]
    one, two = (evaluate_experts(data, {"vote": data["bad"]}, by="speaker").to_dict() for data in (X, shuffled))
    assert one == two


def test_groups_add_up_to_the_whole(X):
    e = evaluate_experts(X, by="speaker")
    assert [group.value for group in e.groups] == ["s0", "s1", "s2", None]
    assert sum(group.n_records for group in e.groups) == 60
    for k, row in enumerate(e.rows):
        assert sum(group.rows[k].rates.errors for group in e.groups) == row.rates.errors
    with pytest.raises(DataError, match="no record has a field 'accent'; there are speaker"):
        evaluate_experts(X, by="accent")


def test_a_group_without_gold_is_left_out():
    X = tags({"a": [["x"], ["y"]]}, [["x"], None])
    X = replace(X, fields=({"g": 1}, {"g": 2}))
    assert [group.value for group in evaluate_experts(X, by="g").groups] == [1]


def test_comb_14_missing_answers():
    gold = [["a", "b"], ["c", "d", "e"]]
    X = tags({"A": gold, "C": [["a", "b"], None]}, gold, ids=["u1", "u2"])
    e = evaluate_experts(X)
    assert e["C"].rates.rate == 0.6
    assert (e["C"].rates.errors, e["C"].rates.reference_length, e["C"].rates.missing) == (3, 5, 1)
    assert e.missing == {"C": ["u2"]}
    assert e.coverage == {"A": 2, "C": 1}
    assert e.loss == "hamming"
    assert "records that 'C' did not answer, counted as deletions: 1 of 2 (first 'u2')" in e.notes
    p = evaluate_experts(X, present_only=True)
    assert (p["C"].rates.rate, p["C"].rates.errors, p["C"].rates.reference_length) == (0.0, 0, 2)
    assert p["C"].interval is None
    assert "records that 'C' did not answer, left out: 1 of 2 (first 'u2')" in p.notes
    nothing = tags({"A": gold, "C": [None, None]}, gold)
    assert evaluate_experts(nothing, present_only=True)["C"].rates.rate is None


def test_tag_06_all_wrong_shows_in_the_oracle():
    X = tags({"A": [["Y"]], "B": [["Y"]], "C": [["Y"]]}, [["X"]])
    e = evaluate_experts(X, {"vote": [["Y"]]}, slots=equal_slots(X))
    assert e["vote"].rates.hamming == 1.0
    assert e["best expert per record"].rates.hamming == 1.0
    assert e["best path of the slots"].rates.hamming == 1.0


def test_tag_02_and_tag_08_are_noted():
    X = tags({"A": [["DET", "NOUN"]], "B": [["DT", "NN"]], "C": [["DT", "NN"]]}, [["DET", "NOUN"]])
    e = evaluate_experts(X)
    assert e.copies == [["B", "C"]]
    assert e.disjoint == [("A", "B"), ("A", "C")]
    assert "possible copies, equal in every record they share: B, C" in e.notes
    assert "'A' and 'B' share no label (0 agreements): map the labels first" in e.notes


def test_metr_03_strict_json_with_undefined_rates():
    X = tags({"e": [["x"], ["y"]]}, [[], []], ids=["u1", "u2"])
    e = evaluate_experts(X, {"s": [[], ["z"]]})
    text = json.dumps(e.to_dict(), allow_nan=False)
    row = json.loads(text)["rows"][0]
    assert (row["errors"], row["reference_length"], row["rate"], row["interval"]) == (2, 0, None, None)
    assert "every reference is empty: there is no error rate, only errors" in e.notes
    assert "records with an empty reference and errors, which count in the totals: 2 (first 'u1')" in e.notes
    with pytest.raises(DataError, match="no records"):
        evaluate_experts(X[:0])


def test_one_record_has_no_interval():
    assert evaluate_experts(tags({"e": [["x"]]}, [["y"]]))["e"].interval is None


def test_records_without_gold_are_noted():
    e = evaluate_experts(tags({"e": [["x"], ["y"], ["z"]]}, [["y"], None, ["z"]]))
    assert (e.n_records, e.n_unscored) == (2, 1)
    assert "records without gold, not scored: 1 of 3" in e.notes


def test_one_system_of_another_length_makes_all_count_by_edit_distance():
    X = tags({"e": [["x", "y"]]}, [["y", "x"]])
    assert evaluate_experts(X)["e"].rates.substitutions == 2
    e = evaluate_experts(X, {"s": [["x"]]})
    assert (e.loss, e["e"].rates.substitutions, e["e"].rates.errors) == ("edit", 0, 2)
    assert evaluate_experts(X, loss="edit").loss == "edit"


def test_ignored_tokens_leave_out_the_path_oracle_with_a_note():
    X = tags({"e": [["x", "<eos>"]]}, [["x", "<eos>"]])
    e = evaluate_experts(X, slots=equal_slots(X), ignore_tokens=["<eos>"])
    assert e["e"].rates.reference_length == 1
    assert [row.name for row in e.rows] == ["e", "best expert per record"]
    assert any("best path" in note for note in e.notes)


def test_names_and_kinds_are_checked(X):
    for taken in ("good", "best expert per record"):
        with pytest.raises(DataError, match=f"the name '{taken}' is taken"):
            evaluate_experts(X, {taken: X["good"]})
    with pytest.raises(DataError, match="'good' cannot be given the kind 'baseline'"):
        evaluate_experts(X, kinds={"good": "baseline"})
    with pytest.raises(DataError, match="there is no row 'nobody'"):
        evaluate_experts(X)["nobody"]
    with pytest.raises(DataError, match="expert 'vote': 1 answers for 60 records"):
        evaluate_experts(X, {"vote": [["a"]]})
    with pytest.raises(DataError, match="different records"):
        evaluate_experts(X, {"vote": count_errors("good", X, loss="hamming")[:5]})
    with pytest.raises(ParameterError, match="list of units"):
        evaluate_experts(X, ignore_tokens="abc")


def test_signature(X):
    e = evaluate_experts(X, seed=7)
    assert e.signature.startswith("structens ")
    assert e.signature.endswith(f" | loss hamming | seed 7 | data {e.fingerprint} | 60 records")


def test_a_randomised_rule_stands_in_the_table_by_its_expected_errors():
    X = tags({"A": [["a"]], "B": [["b"]], "C": [["b"]]}, [["a"]])
    each = [count_errors(name, X, loss="hamming") for name in X.names]
    e = evaluate_experts(X, {"mvote": [["b"]], "rand": expected_counts(each, [0.4, 0.3, 0.3])})
    assert e["mvote"].rates.rate == 1.0
    assert e["rand"].rates.rate == pytest.approx(0.6)
