"""Gold onto slots against the full matrix and, where small, against every choice."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import align as naive

from structens.align import align, oracle_errors
from structens.core import GAP, UNKNOWN, DataError, ExpertPredictions

answer = st.one_of(st.none(), st.text("abc", max_size=7))
record = st.lists(answer, min_size=3, max_size=3)
references = st.lists(st.text("abcx", max_size=7), min_size=1, max_size=3)


def predictions(records, all_references):
    return ExpertPredictions.of(
        {f"e{j}": [r[j] for r in records] for j in range(len(records[0]))},
        gold=[refs[0] for refs in all_references],
        alternatives=[refs[1:] for refs in all_references],
    )


def check(X, slots, i, cost_of):
    """The record's gold is one of its references, at the least cost of all."""
    columns, gold = naive.columns_of(slots, i), naive.gold_of(slots, i)
    rows = [X.references[r].tolist() for r in range(X.reference_offsets[i], X.reference_offsets[i + 1])]
    costs = [cost_of(row, columns) for row in rows]
    assert naive.price_of_gold(gold, slots.unplaced[i], columns) == min(costs)
    chosen = rows[costs.index(min(costs))]
    placed = [code for code in gold if code != GAP]
    assert len(placed) + slots.unplaced[i] == len(chosen)
    remaining = iter(chosen)
    assert all(code in remaining for code in placed)
    return min(costs)[0]


@given(st.lists(st.tuples(record, references), min_size=1, max_size=4))
def test_cost_is_that_of_the_full_matrix(data):
    X = predictions([r for r, _ in data], [refs for _, refs in data])
    slots = align(X, mode="always")
    errors = [check(X, slots, i, naive.gold_cost) for i in range(len(X))]
    assert oracle_errors(X, slots).tolist() == errors


@given(st.lists(st.one_of(st.none(), st.text("ab", max_size=3)), min_size=3, max_size=3), st.text("abx", max_size=4))
def test_cost_is_that_of_every_choice(answers, reference):
    X = predictions([answers], [[reference]])
    check(X, align(X, mode="always"), 0, naive.gold_cost_by_trying)


@given(st.lists(st.text("ab", max_size=3), min_size=3, max_size=3), st.text("abx", max_size=4))
def test_oracle_is_at_most_the_best_expert(answers, reference):
    X = predictions([answers], [[reference]])
    best = min(naive.edit_distance(text, reference) for text in answers)
    assert oracle_errors(X, align(X, mode="always"))[0] <= best


@pytest.mark.compiled
def test_long_gold_against_a_network_with_holes():
    rng = np.random.default_rng(1)
    base = "".join(rng.choice(list("abcdefgh"), 500))
    X = predictions([[base[:100] + base[160:], base[:-50], None]], [[base[30:] + "xyz"]])
    slots = align(X)
    assert check(X, slots, 0, naive.gold_cost) == oracle_errors(X, slots)[0]


def test_support_decides_between_equal_errors():
    X = predictions([["ab", "b", "b"]], [["b"]])
    slots = align(X)
    a, b = X.alphabet.index(["a", "b"])
    assert naive.columns_of(slots, 0) == [[a, GAP, GAP], [b, b, b]]
    assert slots.gold.tolist() == [GAP, b]


def test_the_first_of_equal_references():
    X = predictions([["a", "b"]], [["b", "a"]])
    slots = align(X, mode="always")
    assert slots.gold.tolist() == X.alphabet.encode("b").tolist()


def test_records_without_gold_or_answers():
    X = ExpertPredictions.of({"a": ["ab", None, None], "b": ["b", None, None]}, gold=[None, "xyz", None])
    slots = align(X)
    assert slots.gold.tolist() == [UNKNOWN, UNKNOWN]
    assert slots.unplaced.tolist() == [0, 3, 0]
    assert oracle_errors(X, slots).tolist() == [-1, 3, -1]


def test_slots_of_other_records_are_refused():
    X = ExpertPredictions.of({"a": ["ab", "b"]})
    with pytest.raises(DataError, match="1 records of slots for 2 records"):
        oracle_errors(X, align(X[:1]))
