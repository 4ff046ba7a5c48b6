import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.online import gamma as naive_gamma

from structens.core import ParameterError
from structens.online import Rounds, cv_penalty, gamma, slot_thetas, suffix_start

LOSSES = (0.8, 0.7, 0.5, 0.3, 0.2, 0.1, 0.1, 0, 0.1, 0)


def test_gamma_of_the_specification():
    expected = [0.8273, 0.7992, 0.7744, 0.7685, 0.7899, 0.834, 0.9154, 1.0326, 1.2739, 1.7308]
    assert gamma(LOSSES) == pytest.approx(expected, abs=5e-5)
    assert suffix_start(LOSSES) == 3  # t = 4, counted from 1
    assert suffix_start(LOSSES, union_bound=True) == 2
    assert gamma(LOSSES, union_bound=True).min() == pytest.approx(0.9763, abs=5e-5)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.sampled_from([0.01, 0.05, 0.5]), st.booleans())
def test_gamma_agrees_with_its_definition(losses, delta, union_bound):
    found = gamma(losses, delta, union_bound=union_bound)
    expected = naive_gamma(losses, delta, union_bound)
    assert found == pytest.approx(expected, abs=1e-12)
    start = suffix_start(losses, delta, union_bound=union_bound)
    assert expected[start] == pytest.approx(min(expected), abs=1e-12)
    scaled = gamma([3 * x for x in losses], delta, union_bound=union_bound, largest=3.0)
    assert scaled == pytest.approx(3 * found)


def test_constant_losses_keep_all_rounds():
    assert suffix_start([0.4] * 50) == 0
    assert suffix_start([1.0]) == 0


def test_cross_validation_of_the_specification():
    loss = np.array([[0, 1], [0, 1], [1, 0], [0, 1], [0, 1], [0, 1.0]])
    rounds = Rounds(loss, np.tile(np.array([[0, 1]], np.int32), (6, 1)), np.arange(7), np.ones(6), 2, 1.0, True)
    theta = slot_thetas(rounds, math.log(2), np.arange(5))
    assert theta == pytest.approx([0.5, 0.416667, 0.2, 0.333333, 0.2], abs=1e-6)
    penalty = cv_penalty(6)
    assert penalty == pytest.approx([0.820573, 0.917429, 1.059355, 1.29744, 1.834857], abs=1e-6)
    assert int((theta + penalty).argmin()) == 2  # t = 3, counted from 1
    assert len(cv_penalty(6, corrected=True)) == 6
    assert cv_penalty(6, corrected=True)[1:] == pytest.approx(penalty)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, float("nan")])
def test_bad_delta_is_refused(delta):
    for use in (lambda: gamma(LOSSES, delta), lambda: cv_penalty(6, delta)):
        with pytest.raises(ParameterError, match="between 0 and 1"):
            use()


def test_no_rounds_are_refused():
    assert len(gamma([])) == 0
    with pytest.raises(ParameterError, match="no round"):
        suffix_start([])
