"""Bins against their definition, and for any number of threads; the threads of a round."""

from threading import Barrier

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import boosting as naive

from structens.boosting import binning
from structens.boosting.binning import bin_features
from structens.boosting.crew import Crew

NUMBERS = st.one_of(st.sampled_from([np.nan, 0.0, 1.0, -1.5, 3.0]), st.floats(-1e6, 1e6, width=32))


@settings(max_examples=60)
@given(
    st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=40),
    st.integers(2, 12),
    st.sampled_from([np.float32, np.float64]),
)
def test_bins_are_those_of_the_definition(rows, max_bins, dtype):
    X = np.array(rows, dtype)
    binned = bin_features(X, max_bins)
    for j in range(X.shape[1]):
        if np.isnan(X[:, j]).all():
            assert binned.column(j).tolist() == [0] * len(X)
            continue
        lower, upper, code = naive.bins(X[:, j].tolist(), max_bins)
        here = slice(binned.first[j], binned.first[j] + len(lower))
        assert binned.lower[here].tolist() == lower
        assert binned.upper[here].tolist() == upper
        assert binned.column(j).tolist() == code
        assert binned.n_bins[j] == len(lower) + np.isnan(X[:, j]).any()


def test_quantiles_of_some_rows_bin_them_all(monkeypatch):
    monkeypatch.setattr(binning, "_MOST_ROWS", 100)
    x = np.random.default_rng(0).normal(size=(1030, 1))
    x[3] = 50.0  # in no sample of every tenth row
    binned = bin_features(x, 8)
    code = binned.column(0)
    for b in range(8):
        assert (binned.lower[b], binned.upper[b]) == (x[code == b].min(), x[code == b].max())
    assert (np.diff(binned.lower) > 0).all()
    assert (binned.lower[1:] > binned.upper[:-1]).all()
    few = bin_features(x.round(0).clip(-3, 50), 8)
    assert few.lower.tolist() == [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 50.0]


@pytest.mark.compiled
def test_any_number_of_threads_gives_the_same_bins(monkeypatch):
    monkeypatch.setattr(binning, "_WORTH_THREADS", 0)
    X = np.random.default_rng(1).normal(size=(300, 30)).astype(np.float32)
    X[:, 4] = X[:, 4].round()
    X[::9, 11] = np.nan
    a, b = bin_features(X, 16), bin_features(X, 16, None, 3)
    for name in ("code", "n_bins", "kind", "first", "lower", "upper"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_an_interrupt_does_not_leave_the_other_threads_waiting():
    barrier, begun, calls = Barrier(3), [], []

    def work(number):
        calls.append(number)
        if number == 0 and calls.count(0) == 1:
            raise KeyboardInterrupt
        barrier.wait(timeout=20)
        if number == 0:
            begun.append(True)

    crew = Crew(3, work)
    with pytest.raises(KeyboardInterrupt):
        crew.play(lambda: bool(begun))
    assert sorted(calls) == [0, 0, 1, 2]
    crew.play(lambda: True)
    assert sorted(calls) == [0, 0, 0, 1, 1, 2, 2]
    crew.close()
