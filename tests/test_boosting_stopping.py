"""How many rounds: equation 15 against its definition, MultiBoost's rule against its words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import adaboost as naive

from structens.boosting import (
    AdaBoostMH,
    HammingTree,
    OnlineStopping,
    rounds_without_error,
    smoothed_curve,
    smoothed_minimum,
)
from structens.core import DataError, ParameterError

SPEC = [0.9] * 5 + [0.5] * 5 + [0.2, 0.3, 0.2, 0.1, 0.2, 0.2, 0.3, 0.2, 0.2, 0.4]
ERRORS = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5]), min_size=1, max_size=40)


def test_the_example_of_the_specification():
    assert smoothed_minimum(SPEC, min_rounds=5, kegl_exact=True) == 16
    assert smoothed_minimum(SPEC, min_rounds=5) == 14
    assert smoothed_curve(SPEC)[13] == pytest.approx(0.2)


@settings(max_examples=80, deadline=None)
@given(ERRORS, st.integers(0, 12), st.booleans())
def test_the_minimum_is_that_of_the_definition(errors, min_rounds, exact):
    found = smoothed_minimum(errors, min_rounds=min_rounds, kegl_exact=exact)
    assert found == naive.smoothed_minimum(errors, min_rounds, exact)
    assert min(min_rounds + 1, len(errors)) <= found <= len(errors)


def test_one_lucky_round_does_not_win():
    errors = np.full(100, 0.2)
    errors[59] = 0.0  # by itself the least
    errors[80:] = 0.15
    assert smoothed_minimum(errors) == 100


def test_wrong_curves_are_refused():
    for bad in ([], [[0.1]], [np.nan]):
        with pytest.raises(DataError, match="errors must be"):
            smoothed_minimum(bad)
    with pytest.raises(ParameterError, match="min_rounds"):
        smoothed_minimum([0.1], min_rounds=-1)


def by_words(errors, min_rounds, smoothing, lookahead):
    """Rounds until the stop and rounds with the least average, from the program's words; t counts from 0."""
    best, least = 0, float("inf")
    for t in range(len(errors)):
        size = 1
        while size + 1 <= smoothing * t + 1 and size + 1 <= t + 1:
            size += 1
        window = errors[t + 1 - size : t + 1]
        if t > min_rounds:
            mean = sum(window) / len(window)
            if mean < least:
                best, least = t, mean
            if t > lookahead * best:
                return t + 1, best + 1
    return len(errors), best + 1 if least < float("inf") else 0


@settings(max_examples=80, deadline=None)
@given(ERRORS, st.integers(0, 5), st.sampled_from([0.0, 0.2, 0.5, 1.0]), st.sampled_from([1.0, 1.5, 3.0]))
def test_the_online_rule_is_multiboosts(errors, min_rounds, smoothing, lookahead):
    rule = OnlineStopping(min_rounds, smoothing, lookahead)
    ended = next((t + 1 for t, error in enumerate(errors) if rule.update(error)), len(errors))
    assert (ended, rule.best_rounds) == by_words(errors, min_rounds, smoothing, lookahead)


@pytest.mark.parametrize("wrong", [{"min_rounds": -1}, {"smoothing": 1.5}, {"lookahead": 0.5}])
def test_parameters_of_the_online_rule(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        OnlineStopping(**wrong)


def test_no_error_is_left_after_so_many_rounds():
    assert rounds_without_error(100, 10, 0.1) == 1501
    reached = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(30, 4)), rng.integers(0, 3, 30)
        model = AdaBoostMH(HammingTree(6), n_rounds=120, engine="exact").fit(X, y)
        enough = rounds_without_error(30, 3, min(model.edges_))
        if enough <= model.n_rounds_:
            assert (model.predict(X, n_rounds=enough) == y).all()
            reached += 1
    assert reached > 1  # otherwise nothing was tested
    for wrong in ((0, 3, 0.1), (9, 1, 0.1), (9, 3, 0.0), (9, 3, 1.5)):
        with pytest.raises(ParameterError, match="edge"):
            rounds_without_error(*wrong)
