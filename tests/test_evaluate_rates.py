"""Rates by hand, bootstrap and randomisation against plain loops with the same draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.evaluate import randomization_p_value as slow_randomization
from naive.evaluate import resampled_rates as slow_rates

from structens.core import DataError, ExpertPredictions, ParameterError
from structens.evaluate import (
    bootstrap_p_value,
    compare,
    compare_counts,
    count_errors,
    interval,
    randomization_p_value,
    rates,
    record_rates,
    record_rows,
    resampled_rates,
)

counts = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8)
words = st.lists(st.sampled_from("ab"), max_size=4)


def scored(pairs):
    return count_errors("s", ExpertPredictions.of({"s": [h for _, h in pairs]}, gold=[r for r, _ in pairs]))


def test_metr_02_empty_reference():
    X = ExpertPredictions.of({"s": [["uh", "huh"], list("abcd")]}, gold=[[], list("abcd")], ids=["u1", "u2"])
    c = count_errors("s", X)
    first = record_rows(c, X)[0]
    assert (first["ins"], first["rate"]) == (2, None)
    r = rates(c)
    assert r.rate == 0.5
    assert r.undefined_records == 1
    assert r.mean_record_rate == 0.0


def test_metr_03_all_references_empty():
    r = rates(scored([([], ["x"])]))
    assert (r.errors, r.reference_length, r.rate, r.mean_record_rate) == (1, 0, None, None)
    both = rates(scored([([], [])]))
    assert (both.errors, both.rate, both.mean_record_rate, both.sequence_error) == (0, 0.0, 0.0, 0.0)


def test_metr_05_two_averages():
    r = rates(scored([(["a"], ["x"]), (list("bcdefghij"), list("bcdefghij"))]))
    assert r.rate == pytest.approx(0.1, rel=1e-9)
    assert r.mean_record_rate == 0.5


def test_metr_08_measures_from_the_real_alignment():
    r = rates(scored([(list("abcd"), list("bcdx"))]))
    assert (r.hits, r.substitutions, r.deletions, r.insertions) == (3, 0, 1, 1)
    assert r.match_error_rate == pytest.approx(0.4, rel=1e-9)
    assert r.information_preserved == 0.5625
    assert r.information_lost == 0.4375


def test_metr_12_rates_are_not_clipped():
    assert rates(scored([(["a"], list("xyz"))])).rate == 3.0


def test_tag_05_normalised_hamming():
    X = ExpertPredictions.of({"s": [["A", "Z", "B"]]}, gold=[["A", "Q", "B"]])
    assert rates(count_errors("s", X, loss="hamming")).hamming == pytest.approx(0.3333333333)
    assert rates(count_errors("s", X)).hamming is None


def test_nothing_scored_has_no_rate():
    X = ExpertPredictions.of({"s": [None]}, gold=[["a"]])
    r = rates(count_errors("s", X, present_only=True))
    assert r.n_records == 0
    assert {r.rate, r.mean_record_rate, r.sequence_error, r.mean_errors, r.match_error_rate} == {None}
    assert rates(count_errors("s", X)).sequence_error == 1.0


def test_a_missing_answer_is_wrong_even_where_nothing_is_right():
    r = rates(count_errors([None], ExpertPredictions.of({"s": [[]]}, gold=[[]])))
    assert (r.errors, r.sequence_error, r.missing) == (0, 1.0, 1)


@given(st.lists(st.tuples(words, words), min_size=1, max_size=8), st.integers(1, 7))
def test_totals_do_not_depend_on_how_the_work_is_split(pairs, at):
    whole, parts = scored(pairs), [scored(part) for part in (pairs[:at], pairs[at:]) if part]
    r, rs = rates(whole), [rates(part) for part in parts]
    for name in ("errors", "substitutions", "deletions", "insertions", "hits", "reference_length", "missing"):
        assert getattr(r, name) == sum(getattr(part, name) for part in rs)
    own = np.concatenate([record_rates(part) for part in parts])
    np.testing.assert_array_equal(record_rates(whole), own)
    assert r.mean_record_rate == (pytest.approx(np.nanmean(own)) if not np.isnan(own).all() else None)
    assert r.sequence_error == pytest.approx(np.mean([ref != hyp for ref, hyp in pairs]))
    assert r.match_error_rate == pytest.approx(r.errors / (r.errors + r.hits) if r.errors + r.hits else 0)
    if r.reference_length and r.hypothesis_length:
        lost = 1 - r.hits**2 / (r.reference_length * r.hypothesis_length)
        assert r.information_lost == pytest.approx(lost)


@given(counts, st.integers(1, 20), st.integers(0, 5))
def test_bootstrap_is_the_plain_loop(rows, n_resamples, seed):
    first, second, lengths = np.array(rows).T
    fast = resampled_rates([first, second], [lengths, lengths], n_resamples=n_resamples, seed=seed)
    slow = slow_rates([first, second], [lengths, lengths], n_resamples, seed)
    np.testing.assert_allclose(fast, slow, rtol=1e-12)


def test_bootstrap_in_blocks_is_the_plain_loop(monkeypatch):
    import structens.evaluate.bootstrap as module

    rng = np.random.default_rng(1)
    errors, lengths = rng.integers(0, 5, (2, 30)), rng.integers(1, 9, (2, 30))
    whole = resampled_rates(errors, lengths, n_resamples=50)
    monkeypatch.setattr(module, "_CHUNK", 100)
    np.testing.assert_array_equal(whole, resampled_rates(errors, lengths, n_resamples=50))
    np.testing.assert_allclose(whole, slow_rates(errors, lengths, 50, 0), rtol=1e-12)


@given(counts, st.integers(1, 20), st.integers(0, 5))
def test_randomisation_is_the_plain_loop(rows, n_resamples, seed):
    first, second, lengths = np.array(rows).T + 1
    fast = randomization_p_value([first, second], [lengths, lengths], n_resamples=n_resamples, seed=seed)
    assert fast == pytest.approx(slow_randomization([first, second], [lengths, lengths], n_resamples, seed))


def test_the_interval_covers_as_often_as_it_says():
    rng, covered = np.random.default_rng(0), 0
    for k in range(200):
        lengths = rng.integers(5, 15, 100)
        errors = rng.binomial(lengths, 0.1)
        low, high = interval(resampled_rates([errors], [lengths], n_resamples=300, seed=k)[0])
        covered += low <= 0.1 <= high
    assert 180 <= covered <= 198  # 95 % of 200 is 190; the percentile interval is a little short


def test_p_values_are_small_for_a_difference_and_spread_without_one():
    rng = np.random.default_rng(3)
    lengths = np.full(400, 10)
    base = rng.binomial(lengths, 0.1)
    worse = base + rng.binomial(1, 0.2, 400)
    both, n = np.stack([base, worse]), np.stack([lengths, lengths])
    draws = resampled_rates(both, n)
    assert bootstrap_p_value(draws[0] - draws[1]) < 0.01
    assert randomization_p_value(both, n) < 0.01
    p = [
        randomization_p_value(rng.binomial(10, 0.1, (2, 50)), np.full((2, 50), 10), n_resamples=99, seed=k)
        for k in range(100)
    ]
    assert 0.3 < np.mean(p) < 0.7


def test_bad_parameters_are_named():
    one = [[1]], [[1]]
    with pytest.raises(ParameterError, match="n_resamples must be at least 1, got 0"):
        resampled_rates(*one, n_resamples=0)
    with pytest.raises(ParameterError, match="level must be between 0 and 1, got 95"):
        interval(np.zeros(3), level=95)
    with pytest.raises(ParameterError, match="compares 2 systems, got 1"):
        randomization_p_value(*one)
    with pytest.raises(DataError, match="alike"):
        resampled_rates([[1, 2]], [[1]])


def test_undefined_resamples_are_left_out():
    assert interval(np.array([np.nan, np.nan])) is None
    assert bootstrap_p_value(np.array([np.nan])) is None
    assert randomization_p_value([[1], [2]], [[0], [0]]) is None
    assert interval(np.array([np.nan, 0.5, 0.5])) == (0.5, 0.5)


@pytest.fixture
def X():
    gold = ["abcdef", "ghijkl", "mnopqr", "stuvwx"]
    return ExpertPredictions.of(
        {"a": ["abcdef", "ghijkl", "mnopq", None], "b": ["abcdex", "ghijkl", "mxxpqr", "stuvwx"]},
        gold=gold,
        ids=["r3", "r1", "r2", "r0"],
    )


def test_comparison_counts_records_and_rates(X):
    c = compare(X, "a", "b")
    assert (c.better, c.worse, c.equal, c.n_records, c.loss) == (2, 1, 1, 4, "edit")
    assert c.rate_a == pytest.approx(7 / 24)
    assert c.rate_b == pytest.approx(3 / 24)
    assert c.difference == pytest.approx(4 / 24)
    assert c.interval.low <= c.difference <= c.interval.high
    present = compare(X, "a", "b", present_only=True)
    assert (present.n_records, present.better, present.worse) == (3, 2, 0)
    assert present.difference == pytest.approx(-2 / 18)


def test_comparison_turned_round_is_the_negative(X):
    ab, ba = (compare(X, *pair, test=test) for test in ("bootstrap",) for pair in (("a", "b"), ("b", "a")))
    assert ba.difference == -ab.difference
    assert (ba.better, ba.worse) == (ab.worse, ab.better)
    assert ba.interval == pytest.approx((-ab.interval.high, -ab.interval.low))
    assert ba.p_value == ab.p_value


def test_comparison_is_the_same_for_any_order_of_records_and_the_same_seed(X):
    c = compare(X, "a", "b")
    assert compare(X, "a", "b") == c
    assert compare(X[[2, 0, 3, 1]], "a", "b") == c
    assert compare(X, "a", "b", seed=1).interval is not None


def test_a_system_against_itself(X):
    c = compare(X, "b", X["b"])
    assert (c.difference, c.p_value, c.equal, tuple(c.interval)) == (0.0, 1.0, 4, (0.0, 0.0))
    assert compare(X, "b", X["b"], test="randomization").p_value == 1.0
    assert (c.a, c.b) == ("b", "b")


def test_comparisons_that_make_no_sense_are_refused(X):
    a, b = count_errors("a", X), count_errors("b", X)
    with pytest.raises(DataError, match="same records"):
        compare_counts(a, b[:2])
    with pytest.raises(DataError, match="same records"):
        compare(X, a, b[:2])
    with pytest.raises(ParameterError, match="bootstrap or randomization, got 'mapsswe'"):
        compare_counts(a, b, test="mapsswe")
    with pytest.raises(DataError, match="answered by both"):
        compare(X[3:], "a", "b", present_only=True)
