"""Agreement, copies, label overlap, oracles, groups and fingerprints."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.evaluate import agreement as slow_agreement
from naive.evaluate import edits, path_edits

from structens.core import ABSENT, GAP, Alphabet, DataError, ExpertPredictions, ParameterError, Slots
from structens.evaluate import (
    agreement,
    best_expert_per_record,
    best_path,
    count_errors,
    coverage,
    disjoint_labels,
    fingerprint,
    groups,
    identical_answers,
    possible_copies,
)

answer = st.one_of(st.none(), st.lists(st.sampled_from("abc"), max_size=4))
tables = st.integers(1, 4).flatmap(lambda p: st.lists(st.lists(answer, min_size=p, max_size=p), min_size=1, max_size=5))


def collection(table, **kwargs):
    p = len(table[0])
    return ExpertPredictions.of({f"e{j}": [row[j] for row in table] for j in range(p)}, **kwargs)


@given(tables)
def test_agreement_is_that_of_the_pairwise_alignments(table):
    X = collection(table)
    a = agreement(X)
    for j, k in itertools.product(range(X.n_experts), repeat=2):
        rows = [(row[j], row[k], row) for row in table if row[j] is not None and row[k] is not None]
        hits = columns = 0
        for left, right, row in rows:
            lengths = {len(other) for other in row if other is not None}
            if len(lengths) == 1:  # position by position
                hits += sum(x == y for x, y in zip(left, right, strict=True))
                columns += len(left)
            else:
                h, c = slow_agreement(left, right)
                hits, columns = hits + h, columns + c
        assert (a.agreed[j, k], a.compared[j, k]) == (hits, columns)
        assert a.identical[j, k] == sum(left == right for left, right, _ in rows)
        assert a.common[j, k] == len(rows)
        said = [{label for row in table for label in row[e] or ()} for e in (j, k)]
        assert a.shared_labels[j, k] == len(said[0] & said[1])
    assert coverage(X) == {name: sum(row[j] is not None for row in table) for j, name in enumerate(X.names)}


@given(tables)
def test_copies_agree_wherever_they_meet(table):
    X = collection(table)
    same, here = identical_answers(X), X.present.astype(int)
    copies = possible_copies(X)
    for group in copies:
        assert len(group) > 1
        for a, b in itertools.combinations(map(X.column, group), 2):
            assert same[a, b] == (here.T @ here)[a, b] > 0
    if X.present.all():
        grouped = {name for group in copies for name in group}
        answers = list(zip(*table, strict=True))
        assert grouped == {name for j, name in enumerate(X.names) if answers.count(answers[j]) > 1}


def test_tag_02_experts_with_different_tag_sets():
    X = ExpertPredictions.of({"A": [["DET", "NOUN", "VERB"], ["NOUN"]], "B": [["DT", "NN", "VBZ"], ["NN"]]})
    a = agreement(X)
    assert disjoint_labels(X) == [("A", "B")]
    assert (a.shared_labels[0, 1], a.agreed[0, 1], a.compared[0, 1]) == (0, 0, 4)
    assert a.to_dict()["rate"] == [[1.0, 0.0], [0.0, 1.0]]


def test_tag_08_copies_are_reported():
    wrong, right = [["b"], ["a"]], [["a"], ["a"]]
    X = ExpertPredictions.of({"A": right, **{f"B{k}": wrong for k in range(1, 6)}})
    assert possible_copies(X) == [["B1", "B2", "B3", "B4", "B5"]]


def test_an_expert_that_never_answers_is_no_copy_and_shares_nothing():
    X = ExpertPredictions.of({"A": ["x"], "N": [None], "M": [None]})
    assert possible_copies(X) == []
    assert disjoint_labels(X) == []
    assert np.isnan(agreement(X).rate[0, 1])
    assert agreement(X).to_dict()["rate"][0][1] is None


def test_agreement_on_some_records_only():
    X = ExpertPredictions.of({"a": ["ab"] * 50, "b": ["ab"] * 25 + ["x"] * 25})
    a = agreement(X, max_records=10)
    assert a.common[0, 1] == 50
    assert a.rate[0, 1] == pytest.approx(0.5)
    with pytest.raises(ParameterError, match="at least 1, got 0"):
        agreement(X, max_records=0)


@given(tables, st.data())
def test_best_expert_by_brute_force(table, data):
    gold = [data.draw(st.lists(st.sampled_from("abc"), max_size=4)) for _ in table]
    X = collection(table, gold=gold)
    best = best_expert_per_record([count_errors(name, X) for name in X.names])
    for i, (row, right) in enumerate(zip(table, gold, strict=True)):
        errors = [sum(edits(right, said)) for said in row if said is not None]
        assert best.errors[i] == (min(errors) if errors else len(right))
        assert best.missing[i] == (not errors)


proposal = st.sampled_from(["a", "b", "c", None])
slot_table = st.lists(st.lists(proposal, min_size=1, max_size=3), max_size=4)


def slots_of(columns, p, X):
    code = {None: GAP, **X.alphabet.codes}
    labels = np.full((len(columns), p), ABSENT, dtype=np.int32)
    for s, column in enumerate(columns):
        labels[s, : len(column)] = [code[label] for label in column]
    unknown = np.zeros(len(columns), dtype=np.int32)
    offsets = np.array([0, len(columns)], dtype=np.int64)
    return Slots(labels, offsets, labels.astype(np.int64), X.names, X.alphabet, unknown, np.zeros(1, dtype=np.int64))


@given(slot_table, st.lists(st.lists(st.sampled_from("abcd"), max_size=4), min_size=1, max_size=2))
def test_best_path_by_enumeration(columns, references):
    X = ExpertPredictions.of(
        {f"e{j}": [list("abc")] for j in range(3)}, gold=references[:1], alternatives=[references[1:]]
    )
    c = best_path(X, slots_of(columns, 3, X))
    (substitutions, insertions), (errors, which) = path_edits(references, columns)
    got = (c.errors[0], c.reference[0], c.substitutions[0], c.insertions[0])
    assert got == (errors, which, substitutions, insertions)


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=2, max_size=2), min_size=1, max_size=4), st.data())
def test_best_path_by_position(columns, data):
    ref = data.draw(st.lists(st.sampled_from("abcd"), min_size=len(columns), max_size=len(columns)))
    X = ExpertPredictions.of({"x": [list("abc")], "y": [list("abc")]}, gold=[ref])
    c = best_path(X, slots_of(columns, 2, X), loss="hamming")
    assert c.errors[0] == sum(label not in column for label, column in zip(ref, columns, strict=True))
    assert best_path(X, slots_of(columns, 2, X)).errors[0] <= c.errors[0]


def test_slots_that_do_not_fit():
    X = ExpertPredictions.of({"x": ["ab", "c"]}, gold=["ab", "c"], ids=["r1", "r2"])
    one = slots_of([["a"]], 1, X[:1])
    with pytest.raises(DataError, match="slots of 1 records do not fit 2"):
        best_path(X, one)
    with pytest.raises(DataError, match="record 'r1': 1 slots, but gold of another length"):
        best_path(X[:1], one, loss="hamming")


def test_slots_in_another_alphabet_and_no_expert_present():
    X = ExpertPredictions.of({"x": [None]}, gold=[["q", "r"]])
    none = Slots(
        np.zeros((0, 1), np.int32),
        np.zeros(2, np.int64),
        np.zeros((0, 1), np.int64),
        X.names,
        Alphabet(("z",)),
        np.zeros(0, np.int32),
        np.zeros(1, np.int64),
    )
    for loss in ("edit", "hamming"):
        c = best_path(X, none, loss=loss)
        assert (c.deletions.tolist(), c.missing.tolist()) == ([2], [True])


def test_groups_are_sorted_and_name_what_is_missing():
    values = ["b", 10, 9, None, "a", True, [1], 9.0, {"k": 1}]
    X = ExpertPredictions.of({"e": ["x"] * 10})
    X = replace(X, fields=(*({"f": value} for value in values), {}))
    found = [(value, rows.tolist()) for value, rows in groups(X, "f")]
    expected = [
        (9, [2, 7]),
        (10, [1]),
        ("a", [4]),
        ("b", [0]),
        ([1], [6]),
        (True, [5]),
        ({"k": 1}, [8]),
        (None, [3, 9]),
    ]
    assert found == expected


def test_a_field_that_no_record_has():
    X = ExpertPredictions.of({"e": ["x"]})
    with pytest.raises(DataError, match="no record has a field 'speaker'; the records have no further fields"):
        groups(X, "speaker")
    with pytest.raises(DataError, match="there are fold, text"):
        groups(replace(X, fields=({"text": 1, "fold": 2},)), "speaker")


def test_fingerprint_changes_with_the_data_and_only_with_it():
    def make(a=("ab", "c"), b=("ab", None), gold=("ab", "c"), ids=("u", "v"), alternatives=((), ())):
        return ExpertPredictions.of({"a": a, "b": b}, gold=gold, ids=ids, alternatives=alternatives)

    base = fingerprint(make())
    assert base == fingerprint(make()[[1, 0]]) == fingerprint(make().select(["b", "a"]))
    assert base == fingerprint(make().recode(Alphabet(tuple("zcba"))))
    others = [
        make(a=("ba", "c")),
        make(a=("abc", "")),
        make(b=("ab", "")),
        make(gold=("ab", "d")),
        make(gold=("ab", None)),
        make(alternatives=(("x",), ())),
        make(ids=("u", "w")),
        make(ids=(1, 2)),
        make(ids=("1", "2")),
        make(a=("c", "ab")),
        make()[:1],
        make().select(["a"]),
    ]
    prints = [fingerprint(X) for X in others]
    assert len({base, *prints}) == 1 + len(prints)
    assert len(base) == 12
