import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structens.automata import expert_automaton
from structens.core import Alphabet, ParameterError, Slots
from structens.online import Tying, average_weights, bounds, marginal, rates, rounds_of

L, P, T = 10, 5, 200
LOG_N = L * math.log(P)


def test_numbers_of_the_specification():
    assert pytest.approx(16.0944, abs=5e-5) == LOG_N
    assert bounds.printed_regret(LOG_N, T) / T == pytest.approx(0.56735, abs=5e-6)
    assert bounds.tuned_regret(LOG_N, T) / T == pytest.approx(0.20059, abs=5e-6)
    assert bounds.tuned_regret(math.log(P), T) / T == pytest.approx(0.06343, abs=5e-6)
    assert bounds.excess_of_rand(LOG_N, T) == pytest.approx(0.8390, abs=5e-5)


def test_table_of_betas():
    assert math.exp(-rates.path_rate(LOG_N, T)) == pytest.approx(0.448, abs=5e-4)
    assert math.exp(-rates.path_rate(LOG_N, T, L)) == pytest.approx(0.9229, abs=5e-5)
    assert math.exp(-rates.position_rate(P, T)) == pytest.approx(0.7759, abs=5e-5)
    assert rates.beta_for_normalised_loss(0.95, L) == pytest.approx(0.5987, abs=5e-5)
    assert rates.beta_for_position_loss(0.95**L, L) == pytest.approx(0.95)
    assert rates.beta_for_normalised_loss(math.exp(-rates.path_rate(LOG_N, T, L)), L) == pytest.approx(
        math.exp(-rates.path_rate(LOG_N, T))
    )
    after_94_errors = 0.95 ** (94 / 10)  # exponent 1/l: next to nothing learnt in 200 rounds
    assert after_94_errors == pytest.approx(0.62, abs=0.005)


@given(st.floats(0.1, 50), st.integers(1, 10_000), st.floats(0.1, 20), st.floats(0.2, 5))
def test_the_recommended_rate_minimises_the_bound(log_n, n, largest, factor):
    eta = rates.path_rate(log_n, n, largest)
    best = bounds.hedge_regret(log_n, n, eta, largest)
    assert best == pytest.approx(bounds.tuned_regret(log_n, n, largest))
    assert best <= bounds.hedge_regret(log_n, n, eta * factor, largest) * (1 + 1e-12)
    assert best <= bounds.printed_regret(log_n, n, largest)


@given(st.floats(0.1, 50), st.floats(0.1, 1000))
def test_small_losses(log_n, best):
    beta = rates.small_loss_beta(log_n, best)
    assert bounds.weighted_majority_loss(log_n, beta, best) <= bounds.small_loss(log_n, best) * (1 + 1e-9)


def test_refined_bound_of_the_specification():
    wrong = [0.7, 0.2]
    vote_error = np.mean(np.array(wrong) > 0.5)
    assert vote_error == 0.5
    assert bounds.vote_loss(np.mean(wrong)) == pytest.approx(0.9)
    assert bounds.refined_vote_loss(wrong) == pytest.approx(0.7)
    printed = 2 * np.mean(wrong) - 2 * sum(max(0, w - 0.5) for w in wrong)
    assert printed == pytest.approx(0.5)


@st.composite
def voted(draw):
    """Records of one length with gold, and beta."""
    p, length, n = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    code, size = st.integers(0, 2), n * length
    labels = draw(st.lists(st.lists(code, min_size=p, max_size=p), min_size=size, max_size=size))
    gold = np.array(draw(st.lists(code, min_size=size, max_size=size)), dtype=np.int32)
    labels, offsets = np.array(labels, dtype=np.int32), np.arange(n + 1) * length
    names, alphabet = tuple(f"e{j}" for j in range(p)), Alphabet(("a", "b", "c"))
    slots = Slots(labels, offsets, np.zeros(labels.shape, int), names, alphabet, gold, np.zeros(n, int))
    return slots, draw(st.sampled_from([1.0, 0.95, 0.5, 0.05]))


@given(voted())
def test_identity_8_of_the_specification(game):
    # H_MVote on each record, from the weights averaged over the rounds: the corrected refined bound holds.
    slots, beta = game
    weights = average_weights(rounds_of(slots, Tying.learn(slots, "position")), rates.eta_of(beta), 0)
    for record in range(len(slots)):
        begin, end = slots.offsets[record : record + 2]
        gold = slots.gold[begin:end]
        vote = marginal(expert_automaton(slots, record).automaton, weights.ravel())
        error = np.mean(np.array(vote.labels) != gold)
        wrong = (weights * (slots.labels[begin:end] != gold[:, None])).sum(axis=1)
        assert error <= bounds.refined_vote_loss(wrong) + 1e-9
        assert bounds.refined_vote_loss(wrong) <= bounds.vote_loss(wrong.mean()) + 1e-9


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_the_refined_bound_lies_between_the_error_and_twice_the_loss(wrong):
    corrected = bounds.refined_vote_loss(wrong)
    assert np.mean(np.array(wrong) > 0.5) <= corrected + 1e-12
    assert corrected <= bounds.vote_loss(np.mean(wrong)) + 1e-12


def test_the_printed_refined_bound_fails():
    # The share of the specification, over random weights.
    wrong = np.random.default_rng(0).random((2000, 5))
    printed = 2 * wrong.mean(axis=1) - 2 * np.maximum(0, wrong - 0.5).sum(axis=1)
    assert ((wrong > 0.5).mean(axis=1) > printed).mean() == pytest.approx(0.87, abs=0.03)


def test_rand_loss_shrinks_with_the_rounds():
    assert bounds.rand_loss([0.5] * 400) == pytest.approx(0.5 + math.sqrt(math.log(20) / 400))
    assert bounds.rand_loss([1.0] * 4, largest=2.0) == pytest.approx(1 + 2 * math.sqrt(math.log(20) / 4))


@pytest.mark.parametrize("beta", [0, -0.5, 1.01, float("nan"), float("inf")])
def test_rates_that_are_none(beta):
    with pytest.raises(ParameterError, match="0 < beta <= 1"):
        rates.eta_of(beta)


def test_no_rounds_and_no_loss():
    for use in (lambda: rates.path_rate(1.0, 0), lambda: rates.position_rate(3, 5, 0.0)):
        with pytest.raises(ParameterError, match="at least one round"):
            use()
    with pytest.raises(ParameterError, match="a loss > 0"):
        rates.small_loss_beta(1.0, 0.0)
