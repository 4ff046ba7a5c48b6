"""Model files of classifiers: the same predictions bit for bit, no code run, nothing followed out of its arrays."""

import json
import pickle
import zipfile

import numpy as np
import pytest

import structens
from structens.boosting import AdaBoost, AdaBoostMH, HammingTree, Stump
from structens.core import ModelError, NotFittedError
from structens.io.classifier_file import load_classifier
from structens.io.model_file import read_model, write_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) * [1e-6, 1.0, 1e6]
Y = np.where(X[:, 0] * 1e6 + X[:, 1] > 0, "up", "down")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.structens"


@pytest.mark.parametrize("calibrate", [None, "temperature", "sigmoid", "isotonic"])
def test_what_comes_back_is_the_same(path, calibrate):
    model = AdaBoost(n_rounds=20, calibrate=calibrate, class_weight={"up": 2.0}, n_folds=3, random_state=1).fit(X, Y)
    structens.save(model, path)
    again = structens.load(path)
    assert type(again) is AdaBoost
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert again.trace_table() == model.trace_table()
    np.testing.assert_array_equal(again.trace_.weights, model.trace_.weights)
    first = path.read_bytes()
    structens.save(again, path)
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    ("labels", "weights"),
    [
        ([3, 7], {3: 1.0, 7: 2.0}),
        ([True, False], None),
        ([1.0, 2.0], "balanced"),
        (np.array(["x", "y"], dtype=object), {"x": 2.0}),
        ([(1, 2), (3, 4)], None),
    ],
)
def test_labels_of_any_kind(path, labels, weights):
    if isinstance(labels[0], tuple):
        y = np.empty(4, dtype=object)
        y[:] = [labels[0], labels[0], labels[1], labels[1]]
    else:
        y = np.array([labels[0], labels[0], labels[1], labels[1]], dtype=getattr(labels, "dtype", None))
    model = AdaBoost(class_weight=weights).fit([[0.0], [1.0], [2.0], [3.0]], y)
    structens.save(model, path)
    again = structens.load(path)
    assert again.class_weight == weights
    assert again.classes_.dtype.kind == model.classes_.dtype.kind
    assert again.predict([[0.0], [3.0]]).tolist() == model.predict([[0.0], [3.0]]).tolist()


def test_names_of_features_and_empty_models(path):
    import pandas as pd

    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0], "size": [3.0, 1.0, 2.0]})
    structens.save(AdaBoost().fit(frame, ["a", "b", "b"]), path)
    again = structens.load(path)
    assert again.feature_names_in_.tolist() == ["age", "size"]
    assert again.predict(frame).tolist() == ["a", "b", "b"]
    structens.save(AdaBoost().fit([[1.0]], ["only"]), path)
    assert structens.load(path).predict([[9.0]]).tolist() == ["only"]


def test_what_cannot_be_stored_is_refused(path):
    with pytest.raises(NotFittedError):
        structens.save(AdaBoost(), path)
    with pytest.raises(ModelError, match="random_state is a Generator"):
        structens.save(AdaBoost(random_state=np.random.default_rng(0)).fit(X, Y), path)
    assert not path.exists()


def test_files_that_are_none(path):
    structens.save(AdaBoost(n_rounds=5).fit(X, Y), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError, match="cut short"):
        structens.load(path)
    path.write_bytes(whole.replace(b"AdaBoost", b"AdaBOOST"))
    with pytest.raises(ModelError, match="changed"):
        structens.load(path)
    path.write_bytes(pickle.dumps(1))
    with pytest.raises(ModelError, match="pickle, which is never opened"):
        load_classifier(path)


def test_a_command_says_that_a_classifier_is_no_ensemble(path):
    from structens.io.ensemble_file import load_with_header

    structens.save(AdaBoost(n_rounds=5).fit(X, Y), path)
    with pytest.raises(ModelError, match="classifier of features, AdaBoost"):
        load_with_header(path)
    write_model(path, {"kind": "MajorityVote", "parameters": {}, "fitted": {}}, {})
    with pytest.raises(ModelError, match="no classifier"):
        load_classifier(path)


def changed(path, edit):
    """A file with a right digest whose contents no `save` would have written."""
    structens.save(AdaBoost(n_rounds=5, calibrate="sigmoid").fit(X, Y), path)
    header, arrays = read_model(path)
    edit(header, arrays)
    for key in ("format", "format_version", "package_version"):
        header.pop(key)
    write_model(path, header, arrays)


@pytest.mark.parametrize(
    "edit",
    [
        lambda h, a: a["fitted.feature_"].__setitem__(0, 3),
        lambda h, a: a["fitted.feature_"].__setitem__(0, -2),
        lambda h, a: a.__setitem__("fitted.feature_", a["fitted.feature_"][:-1]),
        lambda h, a: a.__setitem__("fitted.threshold_", a["fitted.threshold_"].astype(np.float32)),
        lambda h, a: a["fitted.alpha_"].__setitem__(0, np.nan),
        lambda h, a: h["fitted"].__setitem__("n_features_in_", 0),
        lambda h, a: h["fitted"].__setitem__("n_rounds_", 10**9),
        lambda h, a: h["fitted"].pop("classes_"),
        lambda h, a: h["fitted"].__setitem__("__class__", "x"),
        lambda h, a: h["fitted"].__setitem__("predict", "x"),
        lambda h, a: h["fitted"].__setitem__("feature_importances_", 1.0),
        lambda h, a: h["fitted"].__setitem__("calibrator_", {"part": "AdaBoost", "state": {}}),
        lambda h, a: h["fitted"].__setitem__("calibrator_", {"part": "os.system", "state": {}}),
        lambda h, a: h["fitted"].__setitem__("calibrator_", {"base": "select", "parameters": {}}),
        lambda h, a: h["parameters"].__setitem__("unknown", 1),
    ],
)
def test_contents_that_fit_nothing_are_refused(path, edit):
    changed(path, edit)
    with pytest.raises(ModelError, match="does not fit this version"):
        structens.load(path)


def test_newer_formats_and_kinds_are_named(path):
    changed(path, lambda h, a: h.__setitem__("kind", "AdaBoostXL"))
    with pytest.raises(ModelError, match="'AdaBoostXL' is unknown"):
        structens.load(path)
    structens.save(AdaBoost(n_rounds=5).fit(X, Y), path)
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("header.json"))
    assert header["kind"] == "AdaBoost"
    assert "Infinity" not in json.dumps(header)  # thresholds of constants are in an array


def test_an_ensemble_is_still_an_ensemble(path):
    from structens.core import ExpertPredictions
    from structens.ensembles import BestExpert

    data = ExpertPredictions.of({"a": ["cat"], "b": ["cut"]}, gold=["cat"])
    structens.save(BestExpert().fit(data), path)
    assert structens.load(path).best_ == "a"


# ---- AdaBoostMH


def hamming(**options):
    rng = np.random.default_rng(1)
    features = rng.normal(size=(90, 4))
    features[rng.random(features.shape) < 0.1] = np.nan
    known = np.nan_to_num(features)
    labels = np.array(["a", "b", "c"])[(known[:, 0] > 0).astype(int) + (known[:, 1] > 0.3)]
    return AdaBoostMH(n_rounds=8, **options).fit(features, labels), features


@pytest.mark.parametrize(
    "options",
    [
        {"base": HammingTree(4)},
        {"base": Stump(constant="paper"), "engine": "exact", "class_weight": {"a": 2.0, "b": 1.0}},
        {"votes": "real", "learning_rate": 0.3, "calibrate": "isotonic", "n_folds": 2, "random_state": 0},
        {"nominal_features": np.array([3]), "early_stopping": "smoothed", "min_rounds": 1},
    ],
)
def test_hamming_trees_come_back_the_same(path, options):
    model, features = hamming(**options)
    structens.save(model, path)
    again = structens.load(path)
    np.testing.assert_array_equal(again.predict_proba(features), model.predict_proba(features))
    np.testing.assert_array_equal(again.apply(features), model.apply(features))
    np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)
    assert repr(again) == repr(model)
    assert repr(again.base) == repr(model.base)
    assert again.stopped_ == model.stopped_
    first = path.read_bytes()
    structens.save(again, path)
    assert path.read_bytes() == first
    pickled = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(pickled.decision_function(features), model.decision_function(features))


def test_many_labels_and_no_trees_come_back(path):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(40, 2))
    model = AdaBoostMH(HammingTree(2), n_rounds=3).fit(features, (features[:, [0, 1, 0]] > [0, 0, 1]).astype(int))
    structens.save(model, path)
    np.testing.assert_array_equal(structens.load(path).predict(features), model.predict(features))
    structens.save(AdaBoostMH().fit([[1.0]], ["only"]), path)
    assert structens.load(path).predict([[9.0]]).tolist() == ["only"]


@pytest.mark.parametrize(
    "edit",
    [
        lambda h, a: a["fitted.forest_.left"].__setitem__(0, 0),
        lambda h, a: a["fitted.forest_.right"].__setitem__(1, 99),
        lambda h, a: a["fitted.forest_.right"].__setitem__(1, -99),
        lambda h, a: a["fitted.forest_.feature"].__setitem__(0, 4),
        lambda h, a: a["fitted.forest_.feature"].__setitem__(0, -1),
        lambda h, a: a["fitted.forest_.vote"].__setitem__((0, 0), np.inf),
        lambda h, a: a["fitted.forest_.n_cuts"].__setitem__(0, -1),
        lambda h, a: a["fitted.forest_.n_cuts"].__setitem__(0, 10**6),
        lambda h, a: a["fitted.forest_.coefficient"].__setitem__(0, np.nan),
        lambda h, a: a.__setitem__("fitted.forest_.test", a["fitted.forest_.test"].astype(np.int64)),
        lambda h, a: a.__setitem__("fitted.forest_.edge", a["fitted.forest_.edge"][:-1]),
        lambda h, a: h["fitted"]["forest_"].__setitem__("n_classes", 2),
        lambda h, a: h["fitted"].__setitem__("n_rounds_", 9),
        lambda h, a: h["parameters"]["base"].__setitem__("base", "AdaBoost"),
        lambda h, a: h["parameters"]["base"].__setitem__("base", "classifier"),
    ],
)
def test_trees_that_lead_out_of_their_arrays_are_refused(path, edit):
    model, _ = hamming(base=HammingTree(4))
    structens.save(model, path)
    header, arrays = read_model(path)
    edit(header, arrays)
    write_model(path, {k: v for k, v in header.items() if k in ("kind", "parameters", "fitted", "data")}, arrays)
    with pytest.raises(ModelError, match="does not fit this version"):
        structens.load(path)
