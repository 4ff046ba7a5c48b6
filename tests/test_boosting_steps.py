"""Coefficients, votes that abstain, and what is told while learning: callbacks, progress, time, weights of rows."""

import io
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import boosting as naive

from structens.boosting import AdaBoost, AdaBoostMH, HammingProduct, HammingTree, OneAgainstAll, Stump, select
from structens.boosting.mh_start import histogram_memory
from structens.boosting.mh_step import abstaining, coefficient_of, step_of
from structens.boosting.progress import Reporter, TerminalLine, progress_of
from structens.boosting.settings import RoundSettings
from structens.core import ParameterError
from structens.losses.label_weights import row_masses, signed_weights

RNG = np.random.default_rng(5)
Y = RNG.integers(0, 4, 240)
X = RNG.normal(size=(4, 3))[Y] + RNG.normal(size=(240, 3)).round(2)


# ---- the coefficient


def test_printed_coefficients():
    assert round(coefficient_of(0.6, 0.3, 0.1), 6) == 0.346574
    assert round(coefficient_of(0.6, 0.3, 0.1, edge_offset=0.1), 6) == 0.234394


@given(st.floats(0.02, 1.0), st.floats(0.02, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 0.6))
def test_the_coefficient_has_the_least_energy(right, wrong, silent, theta):
    total = right + wrong + silent
    shares = right / total, wrong / total, silent / total
    alpha = coefficient_of(*shares, theta)
    least = naive.energy(alpha, theta, *shares)
    for other in (alpha - 1e-3, alpha + 1e-3):
        assert naive.energy(other, theta, *shares) >= least - 1e-12
    assert (alpha > 1e-9) == (shares[0] - shares[1] > theta + 1e-9) or abs(shares[0] - shares[1] - theta) < 1e-6


def test_nearly_no_error_keeps_its_digits():
    for theta in (0.0, 0.1):  # as MultiBoost has it where nothing is wrong
        alpha = coefficient_of(0.9, 1e-300, 0.1, theta)
        expected = np.log(0.9 * 0.9 / (0.1 * 0.1)) if theta else 0.5 * (np.log(0.9) + 300 * np.log(10))
        np.testing.assert_allclose(alpha, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("base", "engine"),
    [(HammingTree(3), "exact"), (HammingTree(3), "histogram"), (HammingProduct(2), "exact"), (OneAgainstAll(), "auto")],
)
def test_an_edge_offset_is_a_smaller_coefficient(base, engine):
    plain = AdaBoostMH(base, n_rounds=1, engine=engine).fit(X, Y)
    offset = AdaBoostMH(base, n_rounds=1, engine=engine, edge_offset=0.2).fit(X, Y)
    np.testing.assert_allclose(offset.edges_, plain.edges_)
    np.testing.assert_allclose(offset.coefficients_, plain.coefficients_ - np.arctanh(0.2), rtol=1e-6)
    many = AdaBoostMH(base, n_rounds=300, engine=engine, edge_offset=0.35).fit(X, Y)
    assert many.n_rounds_ < 300
    assert "an edge over 0.35" in many.stopped_
    assert (many.coefficients_ > 0).all()
    for model in (offset, many):
        assert 1 - model.score(X, Y) <= 3 * np.prod(model.normalizers_) + 1e-6


def test_a_perfect_edge_still_ends_learning_with_an_offset():
    for engine in ("exact", "histogram"):
        model = AdaBoostMH(Stump(), n_rounds=5, engine=engine, edge_offset=0.3).fit([[0.0], [1.0]], ["a", "b"])
        assert model.n_rounds_ == 1
        assert np.isfinite(model.coefficients_).all()


# ---- votes that abstain


pairs = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=6).filter(
    lambda a: sum(r + w for r, w in a)
)


@given(pairs)
def test_no_choice_of_silence_has_a_smaller_z(table):
    right, wrong = (np.array([pair[k] for pair in table], float) for k in (0, 1))
    vote = np.where(right >= wrong, 1.0, -1.0)
    signed, sizes = (right - wrong)[None], (right + wrong)[None]
    z, _ = naive.least_z(np.abs(signed[0]).tolist(), sizes[0].tolist())
    found = abstaining(vote[None], signed, sizes)
    step = step_of(RoundSettings(votes="abstain", clamp=1e-12), vote[None], signed, sizes)
    np.testing.assert_array_equal(step.vote, found.astype(np.float32))
    assert set(np.unique(np.abs(found))) <= {0.0, 1.0}
    np.testing.assert_allclose(step.normalizer, z / sizes.sum(), atol=2e-5)


@pytest.mark.parametrize("base", [HammingTree(4), HammingProduct(2), OneAgainstAll()], ids=str)
def test_abstaining_lowers_z_and_bounds_the_error(base):
    plain = AdaBoostMH(base, n_rounds=1).fit(X, Y)
    for engine in ("exact", "histogram"):
        model = AdaBoostMH(base, n_rounds=1, votes="abstain", engine=engine).fit(X, Y)
        assert model.normalizers_[0] <= plain.normalizers_[0] + 1e-6
        votes = np.unique(np.concatenate([tree.vote.reshape(-1) for tree in model.forest_.trees]))
        assert set(votes.tolist()) <= {-1.0, 0.0, 1.0}
    model = AdaBoostMH(base, n_rounds=30, votes="abstain").fit(X, Y)
    assert any((tree.vote == 0).any() for tree in model.forest_.trees)
    assert 1 - model.score(X, Y) <= 3 * np.prod(model.normalizers_) + 1e-6
    # Z is what the weights shrink by
    scores = model.decision_function(X)
    start = signed_weights(Y, 4)
    risk = (np.abs(start) * np.exp(-scores * np.sign(start))).sum()
    np.testing.assert_allclose(risk, np.prod(model.normalizers_), rtol=1e-4)


# ---- weights of rows


@pytest.mark.parametrize("engine", ["exact", "histogram"])
def test_weights_of_rows_are_those_that_each_round_saw(engine):
    model = AdaBoostMH(HammingTree(2), n_rounds=5, engine=engine).fit(X, Y)
    start = signed_weights(Y, 4)
    assert model.row_weights_.shape == (6, len(X))
    for t in range(6):
        scores = model.decision_function(X, n_rounds=t) if t else np.zeros((len(X), 4))
        mass = (np.abs(start) * np.exp(-scores * np.sign(start))).sum(axis=1)
        np.testing.assert_allclose(model.row_weights_[t], mass / mass.sum(), rtol=1e-4)
    parts = AdaBoostMH(HammingTree(2), n_rounds=2, engine=engine, warm_start=True).fit(X, Y)
    np.testing.assert_array_equal(parts.set_params(n_rounds=5).fit(X, Y).row_weights_, model.row_weights_)
    assert AdaBoostMH(n_rounds=1000).fit(X, Y).row_weights_ is None  # too many numbers
    early = AdaBoostMH(n_rounds=30, early_stopping="smoothed", min_rounds=3).fit(X, Y)
    assert len(early.row_weights_) == early.n_rounds_ + 1


def test_thousands_of_classes_cost_no_more_than_was_said():
    import tracemalloc

    n = 2500
    Z, y = np.arange(2.0 * n).reshape(-1, 2), np.arange(n)
    AdaBoostMH(Stump(), n_rounds=1, engine="histogram", keep_weights=True).fit(Z[:50], y[:50])
    tracemalloc.start()
    AdaBoostMH(Stump(), n_rounds=1, keep_weights=True).fit(Z, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 4 * n * n <= peak <= histogram_memory(n, 2, n, 255, 1)  # one float32 a pair, and little else
    np.testing.assert_allclose(row_masses(np.full((9000, 300), -1.0, np.float32)), 300.0)


# ---- what is told while learning


def test_adaboost_calls_back_and_stops_in_time():
    y, seen = Y > 1, []
    model = AdaBoost(n_rounds=50, callback=lambda t, edge, errors: seen.append((t, edge, errors)) or t == 4)
    model.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    assert model.n_rounds_ == 4 == len(seen)
    assert "callback" in model.trace_.stopped
    np.testing.assert_allclose([e for _, e, _ in seen], model.trace_.edge)
    np.testing.assert_allclose([e["bound"] for _, _, e in seen], np.cumprod(model.trace_.z))
    np.testing.assert_allclose([e["training"] for _, _, e in seen], model.trace_.training_error)
    np.testing.assert_allclose([e["validation"] for _, _, e in seen], model.trace_.validation_error)
    quick = AdaBoost(n_rounds=10**6, time_limit=0.0).fit(X, y)
    assert quick.n_rounds_ == 1
    assert "Time limit" in quick.trace_.stopped
    assert AdaBoostMH(n_rounds=10**6, time_limit=0.0).fit(X, Y).n_rounds_ == 1


@pytest.mark.parametrize("model", [AdaBoost(n_rounds=7), AdaBoostMH(Stump(), n_rounds=7)], ids=["two", "many"])
def test_progress_counts_rounds(model):
    seen = []
    model.set_params(progress=lambda done, total: seen.append((done, total)), calibrate="temperature")
    model.fit(X, Y > 1)
    assert seen == [(t, 7) for t in range(1, model.n_rounds_ + 1)]  # the fits of calibration are not counted
    assert model.n_rounds_ > 1


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_a_line_on_a_terminal_that_goes_away(monkeypatch):
    monkeypatch.setattr("structens.boosting.progress._PAUSE", 0.0)
    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        AdaBoostMH(Stump(), n_rounds=3, progress=True).fit(X, Y)
        AdaBoost(n_rounds=3, progress=True).fit(X, Y > 1)
        select(AdaBoost(n_rounds=3), X, Y > 1, n_folds=2, min_rounds=1, progress=True)
        text = stream.getvalue()
        assert ("AdaBoostMH: 2 of 3 rounds, 66 %, 0 s left" in text) == shown
        assert ("AdaBoost: 3 of 3 rounds, 100 %" in text) == shown
        assert ("select: 1 of 2 fits" in text) == shown
        assert (not text) or text.endswith("\r\x1b[K")
    assert type(progress_of(False, "x", "y")) is Reporter


def test_the_time_that_is_left_is_said_in_fitting_units():
    line = TerminalLine("AdaBoostMH", "rounds")
    assert line.text(1, 101, 1.0).endswith("100 s left")
    assert line.text(1, 601, 1.0).endswith("10 min left")
    assert line.text(1, 9001, 1.0).endswith("2.5 h left")


def test_the_line_goes_away_when_learning_is_interrupted(monkeypatch):
    monkeypatch.setattr("structens.boosting.progress._PAUSE", 0.0)

    def interrupt(*_):
        raise KeyboardInterrupt

    for model in (AdaBoost(), AdaBoostMH(Stump())):
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        with pytest.raises(KeyboardInterrupt):
            model.set_params(progress=True, callback=interrupt).fit(X, Y > 1)
        assert stream.getvalue().endswith("\r\x1b[K")


def test_what_does_not_go_together_is_said():
    for params, word in (
        ({"edge_offset": 0.1, "votes": "real"}, "edge_offset"),
        ({"edge_offset": 1.0}, "edge_offset"),
        ({"progress": "yes"}, "progress"),
        ({"callback": 3}, "callback"),
        ({"keep_weights": "never"}, "keep_weights"),
        ({"time_limit": -1.0}, "time_limit"),
    ):
        with pytest.raises(ParameterError, match=word):
            AdaBoostMH(**params).fit(X, Y)
