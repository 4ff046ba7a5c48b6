"""Checks of the acceptance cases of family 5: boosting of cuts, Hamming trees and path experts."""

import json
import math
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from case_adapter import check

import structens
from structens.boosting import AdaBoost, AdaBoostMH, HammingTree, Stump
from structens.core import DataError, ExpertPredictions, ModelError
from structens.ensembles import ESPBoost

ENGINES = ("exact", "histogram")


def numbers(model):
    """Every number that a model of trees has learnt."""
    trees = model.forest_.trees
    return np.concatenate(
        [np.ravel(getattr(t, name)) for t in trees for name in ("vote", "coefficient", "edge", "gain")]
    )


@check("BOOST-01")
def perfect_learner(case):
    X, y = [[0], [1]], ["a", "b"]
    model = AdaBoost(n_rounds=10).fit(X, y)
    assert model.n_rounds_ == case.values["rounds"]
    assert model.threshold_.tolist() == [case.values["threshold"]]
    assert np.isfinite(model.alpha_).all()
    assert model.predict(X).tolist() == case.values["predict"]
    for base in (Stump(), HammingTree(4)):
        for engine in ENGINES:
            many = AdaBoostMH(base, n_rounds=10, engine=engine).fit(X, y)
            assert many.n_rounds_ == case.values["rounds"]
            assert many.edges_.tolist() == [case.values["edge"]]
            assert many.forest_.trees[0].threshold.tolist() == [case.values["threshold"]]
            assert np.isfinite(numbers(many)).all()
            assert many.predict(X).tolist() == case.values["predict"]


@check("BOOST-03")
def nothing_to_learn(case):
    xor = [[0, 0], [0, 1], [1, 0], [1, 1]]
    for X, y in (([[7]] * 4, [0, 0, 1, 1]), ([[7]] * 3, [0, 1, 2]), (xor, [0, 1, 1, 0])):
        models = [AdaBoostMH(Stump(), n_rounds=10, engine=engine) for engine in ENGINES]
        for model in models + [AdaBoost(n_rounds=10)] * (len(set(y)) == 2):
            with pytest.warns(UserWarning, match="no weak learner with positive edge"):
                model.fit(X, y)
            assert model.n_rounds_ == case.values["rounds"]
            assert model.predict(X).tolist() == [0] * len(y)


@check("BOOST-04")
def constant_once(case):
    X, y, first = [[7]] * 4, [0, 0, 0, 1], case.values["round1"]
    for engine in ENGINES:
        model = AdaBoostMH(Stump(), n_rounds=1000, engine=engine).fit(X, y)
        assert model.n_rounds_ == 1
        np.testing.assert_allclose(model.edges_, [first["edge"]], rtol=1e-6)
        np.testing.assert_allclose(model.coefficients_, [first["alpha"]], rtol=1e-6)
        assert model.forest_.trees[0].vote.tolist() == [first["vote"]]
        assert model.predict(X).tolist() == case.values["predict"]
        structens.save(model, "m.structens")
        with zipfile.ZipFile("m.structens") as archive:
            assert not re.search(r"Infinity|NaN", archive.read("header.json").decode())
    binary = AdaBoost(n_rounds=1000).fit(X, y)
    np.testing.assert_allclose(binary.alpha_, [first["alpha"]])
    assert binary.predict(X).tolist() == case.values["predict"]


@check("BOOST-06")
def doubles(case):
    close = np.array([[0.0], [3e-8]]) + 1.0
    x = json.loads("0.1999999999")
    for model in (AdaBoost(), AdaBoostMH(Stump(), engine="exact"), AdaBoostMH(Stump(), engine="histogram")):
        assert model.fit(close, [0, 1]).predict(close).tolist() == [0, 1]
        model.fit([[0.1], [0.3]], [0, 1])
        threshold = model.threshold_ if isinstance(model, AdaBoost) else model.forest_.trees[0].threshold
        assert threshold.tolist() == [case.values["threshold"]]
        assert model.predict(np.array([[x]])).tolist() == model.predict([[x]]).tolist() == [0]


@check("BOOST-07")
def missing_values(case):
    row, column = case.values["row"], case.values["column"]
    for bad in (math.nan, math.inf):
        with pytest.raises(DataError, match=f"row {row}, column {column}"):
            AdaBoost().fit([[0.0], [bad], [2.0]], [0, 1, 1])
        with pytest.raises(DataError, match="row 0, column 0"):
            AdaBoost().fit([[0.0], [2.0]], [0, 1]).predict([[bad]])
    # AdaBoostMH takes missing values, in both, and says so; infinities never
    assert "NaN" in AdaBoostMH.__doc__
    many = AdaBoostMH(Stump(), n_rounds=3)
    assert many.fit([[0.0], [math.nan], [2.0]], [0, 1, 1]).predict([[math.nan]]).tolist() == [1]
    with pytest.raises(DataError, match="row 0, column 0"):
        many.predict([[math.inf]])
    with pytest.raises(DataError, match=f"row {row}, column {column}"):
        many.fit([[0.0], [math.inf], [2.0]], [0, 1, 1])


@check("BOOST-09")
def zero_weights(case):
    X, y, v = [[0], [1], [4]], [0, 0, 1], case.values

    def threshold(model):
        return float((model.threshold_ if isinstance(model, AdaBoost) else model.forest_.trees[0].threshold)[0])

    for model in (AdaBoost(), *(AdaBoostMH(Stump(), engine=engine) for engine in ENGINES)):
        assert threshold(model.fit(X, y)) == v["threshold_all_rows"]
        assert threshold(model.fit(X, y, sample_weight=[1, 0, 1])) == v["threshold_weight0"]
        assert threshold(model.fit([[0], [4]], [0, 1])) == v["threshold_removed"]
        for bad in ([0, 0, 0], [1, -1, 1]):
            with pytest.raises(DataError, match="weight"):
                model.fit(X, y, sample_weight=bad)


@check("BOOST-10")
def ties(case):
    X, y = [[0], [1], [2]], [0, 1, 2]
    for weight in (1, 0.1, 0.01):
        for engine in ENGINES:
            model = AdaBoostMH(Stump(), n_rounds=2, engine=engine).fit(X, y, sample_weight=[weight] * 3)
            for t, tree in enumerate(model.forest_.trees):
                wanted = case.values[f"round{t + 1}"]
                assert tree.threshold.tolist() == [wanted["threshold"]]
                np.testing.assert_allclose(tree.edge, wanted["edge"], rtol=1e-6)
                np.testing.assert_allclose(tree.coefficient, wanted["alpha"], rtol=1e-6)
                assert tree.vote[1].tolist() == wanted["vote"]


@check("BOOST-12")
def sparse(case):
    from scipy.sparse import csr_matrix

    dense, y = np.array([[0.0, 3.0], [0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]), [0, 1, 1, 0]
    matrix = csr_matrix(([3.0, 2.0, 1.0, 0.0], ([0, 2, 3, 1], [1, 0, 1, 0])), shape=(4, 2))  # one zero is stored
    assert matrix.nnz == 4
    for model in (AdaBoost(n_rounds=3), AdaBoostMH(Stump(), n_rounds=3)):
        expected = model.fit(dense, y).decision_function(dense)
        if not model.allows_sparse:
            with pytest.raises(TypeError, match="sparse input is not supported"):
                model.fit(matrix, y)
        else:
            np.testing.assert_array_equal(model.fit(matrix, y).decision_function(matrix), expected)


@check("BOOST-13")
def model_files(case):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    for model in (AdaBoost(n_rounds=5), AdaBoostMH(HammingTree(3), n_rounds=5)):
        structens.save(model.fit(X, X[:, 0] > 0), "m.structens")
        np.testing.assert_array_equal(structens.load("m.structens").predict_proba(X), model.predict_proba(X))
        whole = Path("m.structens").read_bytes()
        for data, said in (
            (whole[:-100], "cut short"),
            (whole[:400] + b"!" + whole[401:], "changed|cut short"),
            (b"\x80\x05" + whole, "pickle"),
        ):
            Path("m.structens").write_bytes(data)
            with pytest.raises(ModelError, match=said):
                structens.load("m.structens")
        with pytest.MonkeyPatch.context() as later:
            later.setattr("structens.io.model_file.FORMAT_VERSION", 2)
            structens.save(model, "m.structens")
        with pytest.raises(ModelError, match="install a newer structens"):
            structens.load("m.structens")


@check("BOOST-15")
def bad_path_experts(case):
    values = case.values
    for truth, expert, wanted, eps in zip(
        ("aaaaa", "ab"), ("abbba", "aX"), values["fallback_prediction"], values["eps"], strict=True
    ):
        data = ExpertPredictions.of({"e": [expert]}, gold=[truth])
        model = ESPBoost(tie="position").fit(data)
        assert model.n_rounds_ == 0
        assert model.bounds_["training loss"] == pytest.approx(eps)
        done = model.combine(data)
        assert done.answers == [wanted]
        assert "nothing could be boosted" in done.notes[0]


@check("BOOST-16")
def perfect_path_experts(case):
    first, second = case.values["first"], case.values["second"]
    data = ExpertPredictions.of({"1": ["aX", "cX"], "2": ["Xb", "Xd"]}, gold=["ab", "cd"])
    model = ESPBoost(tie="position").fit(data)
    assert [k + 1 for k in model.paths_[0].tolist()] == first["path"]
    assert model.epsilons_.tolist() == [first["eps"]]
    assert np.isfinite(model.alphas_).all()
    assert model.predict(data) == first["prediction"]
    data = ExpertPredictions.of({"1": ["abXX"], "2": ["abXX"], "3": ["XbcX"]}, gold=["abcd"])
    model = ESPBoost(tie="position").fit(data)
    assert [k + 1 for k in model.paths_[0].tolist()] == second["path"]
    assert model.epsilons_.tolist() == [second["eps"]]
    np.testing.assert_allclose(model.alphas_, [second["alpha"]], rtol=1e-9)
    assert model.n_rounds_ == 1
