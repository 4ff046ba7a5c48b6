"""Slots: they hold the answers, whatever the order of the experts, at a cost that no single answer can lower."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import align as naive

from structens.align import align, needs_alignment
from structens.core import ABSENT, GAP, UNKNOWN, DataError, ExpertPredictions, ParameterError

answer = st.one_of(st.none(), st.text("abc", max_size=8))
record = st.lists(answer, min_size=4, max_size=4)
near = st.text("abcd", min_size=6, max_size=12).flatmap(
    lambda base: st.lists(
        st.lists(st.tuples(st.integers(0, 11), st.sampled_from(["", "a", "b", "da"])), max_size=3).map(
            lambda edits: mutate(base, edits)
        ),
        min_size=2,
        max_size=6,
    )
)


def mutate(text, edits):
    units = list(text)
    for place, put in edits:
        if place < len(units):
            units[place] = put
    return "".join(units)


def predictions(*records, gold=None, names=None):
    names = names or [f"e{j}" for j in range(len(records[0]))]
    return ExpertPredictions.of({name: [r[j] for r in records] for j, name in enumerate(names)}, gold=gold)


def check_holds_the_answers(X, slots):
    for i in range(len(X)):
        rows = slice(slots.offsets[i], slots.offsets[i + 1])
        labels, source = slots.labels[rows], slots.source[rows]
        for j in range(X.n_experts):
            said = labels[:, j] >= 0
            k = i * X.n_experts + j
            assert labels[said, j].tolist() == X.hypotheses[k].tolist()
            assert source[said, j].tolist() == list(range(X.hypotheses.offsets[k], X.hypotheses.offsets[k + 1]))
            assert (source[~said, j] == -1).all()
            assert set(labels[~said, j].tolist()) <= ({GAP} if X.present[i, j] else {ABSENT})
        assert (labels >= 0).any(axis=1).all()


@given(st.lists(record, min_size=1, max_size=5))
def test_every_answer_is_read_back_from_its_column(records):
    X = predictions(*records)
    for mode in ("auto", "always"):
        check_holds_the_answers(X, align(X, mode=mode))


@given(near, st.randoms(use_true_random=False))
def test_order_of_experts_decides_nothing(answers, random):
    names = [f"e{j}" for j in range(len(answers))]
    order = list(range(len(answers)))
    random.shuffle(order)
    slots = align(predictions(answers, names=names), mode="always")
    other = predictions([answers[j] for j in order], names=[names[j] for j in order])
    assert slots.labels[:, order].tolist() == recoded(align(other, mode="always"), slots.alphabet)


def recoded(slots, alphabet):
    table = slots.alphabet.codes_in(alphabet)
    return np.where(slots.labels >= 0, table[np.maximum(slots.labels, 0)] if len(table) else 0, slots.labels).tolist()


def test_all_orders_of_four():
    answers = {"a": "kitten", "b": "sitting", "c": "mitten", "d": "kittens"}
    seen = set()
    for order in itertools.permutations(answers):
        X = ExpertPredictions.of({name: [answers[name]] for name in order})
        labels = align(X).labels
        text = {
            name: "".join("-" if c < 0 else X.alphabet.labels[c] for c in labels[:, X.column(name)]) for name in order
        }
        seen.add(" ".join(text[name] for name in sorted(answers)))
    assert seen == {"kitten- sitting mitten- kittens"}


@given(near)
def test_no_answer_can_be_aligned_better(answers):
    X = predictions(answers)
    slots = align(X, mode="always")
    columns = naive.columns_of(slots, 0)
    cost = naive.sum_of_pairs(columns)
    bound = sum(naive.edit_distance(a, b) for a, b in itertools.combinations(answers, 2))
    assert cost >= bound
    if len(set(answers)) <= 2:
        assert cost == bound
    rest = [column[1:] for column in columns if any(code != GAP for code in column[1:])]
    if answers.count(answers[0]) == 1 and cost > bound and rest:
        alone = naive.profile_cost(X.hypotheses[0].tolist(), rest)
        assert cost - naive.sum_of_pairs(rest) == alone


@given(near, st.integers(2, 4))
def test_equal_answers_stand_together(answers, times):
    slots = align(predictions([*answers, *[answers[0]] * times]), mode="always")
    assert (slots.labels[:, [0, *range(len(answers), len(answers) + times)]] == slots.labels[:, [0]]).all()


def test_all_experts_absent_or_silent():
    X = predictions([None, None], ["", None], ["", "ab"], gold=["x", None, "ab"])
    slots = align(X)
    a, b = X.alphabet.index(["a", "b"])
    assert slots.lengths.tolist() == [0, 0, 2]
    assert slots.labels.tolist() == [[GAP, a], [GAP, b]]
    assert slots.gold.tolist() == [a, b]
    assert slots.unplaced.tolist() == [1, 0, 0]


def test_a_repeated_word_against_two_short_answers():
    answers = {"wild": [["no"] * 40], "x": [["ok"]], "y": [["ok"]]}
    slots = align(ExpertPredictions.of(answers))
    no, ok = slots.alphabet.index(["no", "ok"])
    full = slots.labels[(slots.labels[:, 1:] != GAP).any(axis=1)]
    assert full.tolist() == [[no, ok, ok]]
    assert len(slots.labels) == 40
    assert (slots.labels[:, 0] == no).all()


@pytest.mark.compiled
def test_a_record_larger_than_the_first_table():
    text = "abcde" * 1500
    X = predictions(["ab", "b", "b"], [text[1:], text[:3000] + text[3001:], text], ["a", "a", "ab"])
    slots = align(X)
    check_holds_the_answers(X, slots)
    assert naive.sum_of_pairs(naive.columns_of(slots, 1)) == 1 + 1 + 2


@pytest.mark.compiled
def test_a_million_units_twice():
    X = predictions(["ab" * 500_000] * 2)
    slots = align(X, mode="always")
    assert len(slots.labels) == 1_000_000
    assert (slots.labels[:, 0] == slots.labels[:, 1]).all()


def test_auto_aligns_only_if_some_lengths_differ():
    same = predictions(["abc", "bcd"], ["a", None], gold=["abd", None])
    assert not needs_alignment(same)
    assert align(same).labels.tolist() == align(same, mode="never").labels.tolist()
    assert len(align(same).labels) == 4
    assert len(align(same, mode="always").labels) == 4 + 1  # "abc" and "bcd" shifted
    assert needs_alignment(predictions(["abc", "bcd"], ["a", "ab"]))
    assert needs_alignment(predictions(["abc", "bcd"], gold=["ab"]))
    assert not needs_alignment(predictions([None, None], gold=["ab"]))


def test_gold_by_position():
    slots = align(predictions(["abc", "bcd"], ["a", None], [None, None], gold=["abd", None, "ab"]))
    labels = slots.alphabet.labels
    assert [labels[c] if c >= 0 else c for c in slots.gold] == ["a", "b", "d", UNKNOWN]
    assert slots.unplaced.tolist() == [0, 0, 2]


def test_gold_by_position_takes_the_alternative_of_least_error_then_most_support():
    X = ExpertPredictions.of(
        {"a": ["ab", "ab"], "b": ["ac", "ac"], "c": ["ac", "ac"]},
        gold=["xb", "ab"],
        alternatives=[["ax", "ab"], ["ac"]],
    )
    slots = align(X, mode="never")
    assert "".join(slots.alphabet.labels[c] for c in slots.gold) == "abac"


def test_never_refuses_unequal_lengths():
    X = ExpertPredictions.of({"a": ["ab", "ab"], "b": ["ac", "abc"]}, ids=["u1", "u2"])
    with pytest.raises(DataError, match=r"record 'u2': 'a' says 2 units, but 'b' says 3; .*align"):
        align(X, mode="never")
    X = ExpertPredictions.of({"a": ["ab"], "b": [None]}, gold=["abc"], ids=["u3"])
    with pytest.raises(DataError, match="record 'u3': 'a' says 2 units, but gold has 3"):
        align(X, mode="never")


def test_unknown_mode():
    with pytest.raises(ParameterError, match="auto, always, never; got 'yes'"):
        align(predictions(["a", "b"]), mode="yes")
