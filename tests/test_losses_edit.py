import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.losses import edits

from structens.core import ParameterError
from structens.losses import edit_counts, edit_distance

words = st.text("abc", max_size=7)
# multiples of 1/8: sums are exact, so that ties are ties
costs = st.tuples(*[st.integers(0, 16).map(lambda k: k / 8)] * 3)


def test_distances_of_the_specification():
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance("abcde", "bcdef") == 2
    assert edit_counts("kitten", "sitting") == (2, 0, 1)


def test_custom_costs_give_the_true_minimum():
    assert edit_distance("pin", "pan", (1, 1, 10)) == 2
    assert edit_counts("pin", "pan", (1, 1, 10)) == (0, 1, 1)
    assert edit_distance("tab", "ab", (0.1, 0.1, 0.1)) == pytest.approx(0.1, rel=1e-12)
    assert edit_distance("tab", "ab", (0.1, 0.1, 1)) == pytest.approx(0.1, rel=1e-12)


@pytest.mark.parametrize("bad", [(-1, 1, 1), (1, float("nan"), 1), (1, 1, float("inf")), (1, 1)])
def test_bad_costs_are_refused(bad):
    with pytest.raises(ParameterError, match="finite numbers >= 0"):
        edit_distance("a", "b", bad)
    with pytest.raises(ParameterError, match="finite numbers >= 0"):
        edit_counts("a", "b", bad)


def test_ties_have_the_fewest_substitutions():
    assert edit_counts(["a", "b"], ["b", "c"]) == (0, 1, 1)
    assert edit_counts(["a", "b", "c", "d"], ["b", "x", "c"]) == (0, 2, 1)


@given(words, words)
def test_unit_costs_agree_with_the_recursion(a, b):
    cost, s, d, i = edits(a, b)
    assert edit_distance(a, b) == cost == edit_counts(a, b).total
    assert edit_counts(a, b) == (s, d, i)
    assert edit_counts(a, b, (1, 1, 1)) == (s, d, i)
    assert edit_distance(b, a) == cost


@given(words, words, costs)
def test_weighted_agrees_with_the_recursion(a, b, c):
    cost, s, d, i = edits(a, b, c)
    assert edit_distance(a, b, c) == cost
    assert edit_counts(a, b, c) == (s, d, i)
    assert i * c[0] + d * c[1] + s * c[2] == cost
    assert edit_distance(a, b, tuple(3 * x for x in c)) == pytest.approx(3 * cost)


@given(words, words)
def test_texts_lists_and_codes_are_the_same_thing(a, b):
    codes = [np.array(["abc".index(x) for x in s], dtype=np.int32) for s in (a, b)]
    assert edit_distance(a, b) == edit_distance(list(a), list(b)) == edit_distance(*codes)
    assert edit_counts(a, b) == edit_counts(tuple(a), list(b)) == edit_counts(*codes)


def test_items_are_whole_and_exact():
    assert edit_distance(["ab", "c"], ["a", "bc"]) == 2
    assert edit_distance("e\u0301", "\u00e9") == 2  # code points; normalise first if they should be equal
    assert edit_distance([], ["x"]) == 1
    assert edit_distance([], []) == 0
