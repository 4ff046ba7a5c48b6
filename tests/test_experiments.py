"""The scripts behind docs/experiments.md, and the published figures of ADS1 to ADS3 as far as they come out."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "examples"))

import experiments  # noqa: E402
from tables import ads  # noqa: E402
from tables.protocol import HINDSIGHT, Results, papers_methods, run  # noqa: E402

from structens.core import ExpertPredictions  # noqa: E402
from structens.ensembles import BestExpert, MajorityVote  # noqa: E402


def mean(results, name):
    return float(np.mean(results.folds[name]))


@pytest.fixture(scope="module")
def small():
    """ADS1 and ADS2 with 2,000 sequences and two folds."""
    names = ("H_CV", "H_ESPBoost", "Deep ESPBoost", "H_SLE", "H_SLE, ties by index", "best h_j, learnt")
    return {which: ads.measured(which, "matched", n=2000, n_folds=2, names=names) for which in (1, 2)}


def test_boosting_and_selection_on_ads1(small):
    results, rounds = small[1]
    assert mean(results, "H_ESPBoost") == pytest.approx(0.0201, abs=0.0015)  # 2,000 sequences vary by as much
    assert mean(results, "Deep ESPBoost") == pytest.approx(0.0201, abs=0.0015)
    assert results.folds["H_SLE"] == results.folds["best h_j, learnt"]
    assert [n for n, _ in rounds["H_SLE"]] == [1, 1]
    assert mean(results, "H_SLE") == pytest.approx(0.5635, abs=0.01)
    assert {why for _, why in rounds["H_ESPBoost"]} == {"weak"}


def test_selection_on_ads2(small):
    results, rounds = small[2]
    assert mean(results, "H_SLE") == pytest.approx(0.2385, abs=0.008)
    assert mean(results, "H_SLE, ties by index") == pytest.approx(0.4, abs=1e-9)
    assert [t for t, _ in rounds["H_CV"]] == [1, 1]  # it takes the uniform vote
    assert mean(results, "oracle path") == pytest.approx(0.4**5, abs=0.003)


def test_losses_are_those_of_records_and_compared_in_pairs():
    gold = [["x", "y"], ["x"], ["y", "y", "y"], ["x"]]
    X = ExpertPredictions.of(
        {"a": gold, "b": [["x", "x"], ["x"], ["x", "y", "y"], ["y"]], "c": [["y", "x"], ["x"], ["y", "y", "y"], ["x"]]},
        gold=gold,
    )
    folds = [(np.array([0, 1]), np.array([2, 3])), (np.array([2, 3]), np.array([0, 1]))]
    found, _ = run(X, folds, {"vote": MajorityVote, "best": BestExpert}, ("hamming", "edit", "wer"))
    assert found["hamming"].folds["best"] == found["hamming"].folds[HINDSIGHT] == [0.0, 0.0]
    assert found["hamming"].folds["vote"] == [0.0, 0.25]
    assert found["edit"].folds["vote"] == [0.0, 0.5]
    assert found["wer"].folds["vote"] == [0.0, pytest.approx(1 / 3)]
    middle, low, high, better = found["wer"].against("best", "vote")
    assert (middle, better) == (pytest.approx(-100 / 7), 1)
    assert low <= middle <= high
    assert found["wer"].mark(HINDSIGHT) == ""
    flat = Results(folds={"m": [0.25, 0.35]})
    assert flat.cell("m") == ".3000±.05000"


def test_every_table_has_its_place_in_the_page():
    page = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    assert re.findall(r"<!-- table (\w+) -->", page) == list(experiments.TABLES)
    once = experiments.replaced(page, "pos", "| new |")
    assert once.count("| new |") == 1
    assert experiments.replaced(once, "pos", "| newer |").count("| new |") == 0
    with pytest.raises(SystemExit, match="no place"):
        experiments.replaced(page, "none", "")


def test_missing_data_leave_a_table_as_it_is(tmp_path, capsys, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("<!-- table ocr -->\nold\n<!-- end -->\n")
    monkeypatch.setattr(sys, "argv", ["e", "--only", "ocr", "--data", str(tmp_path), "--write", str(page)])
    experiments.main()
    assert "left as it is" in capsys.readouterr().err
    assert "old" in page.read_text()
    assert set(papers_methods(0.5)) >= {"H_MVote", "H_ESPBoost", "Deep ESPBoost", "H_SLE"}


# the re-simulation of the specification (its section 7.6), and two published deviations; the simulated rows have three
# digits and are means over other chains, whence the room
SIMULATED = {
    (1, "matched"): {"best h_j": 0.562, "H_MVote": 0.0201, "H_CV": 0.0201, "H_ESPBoost": 0.0201, "H_SLE": 0.5635},
    (2, "matched"): {"best h_j": 0.4, "H_MVote": 0.238, "H_CV": 0.237, "H_ESPBoost": 0.248, "H_SLE": 0.253},
    (3, "matched"): {"best h_j": 0.308, "H_MVote": 0.182, "H_CV": 0.180, "H_ESPBoost": 0.181},
}
ROOM = {1: 0.002, 2: 0.002, 3: 0.006}


@pytest.mark.slow
@pytest.mark.parametrize(("which", "preset"), SIMULATED)
def test_rows_of_the_simulation(which, preset):
    results, _ = ads.measured(which, preset)
    for name, expected in SIMULATED[which, preset].items():
        deviation = float([*ads.PUBLISHED[which][name].split("±"), "0"][1])
        assert abs(mean(results, name) - expected) <= 2 * deviation + ROOM[which], name
    if which == 1:
        assert abs(mean(results, "H_ESPBoost") - 0.0201) <= 0.0005
    if which == 3:  # simulated .21 with a deviation of .05: a mixture of single experts and plain votes
        assert abs(mean(results, "H_SLE, ties by index") - 0.21) <= 0.1
