"""CoBoost and DL-CoTrain in a model file, and files that no `save` writes."""

import numpy as np
import pytest

import structens
from structens.boosting import CoBoost, DLCoTrain
from structens.boosting.two_views import TwoViewClassifier
from structens.core import ModelError, NotFittedError
from structens.io.ensemble_file import load_with_header
from structens.io.model_file import read_model, write_model

pytestmark = pytest.mark.filterwarnings("ignore::structens.boosting.CollapseWarning")

NAMES = [["Mr.", "Hill"], ["Mr.", "Wood"], ["Acme", "Inc."], ["Hill"], ["Acme"], ["Ünn\x00\ud800"]]
CONTEXTS = [["said"], ["said"], ["shares-of"], ["said"], ["shares-of"], ["said"]]
VIEWS = (NAMES, CONTEXTS)
SEEDS = {"Mr.": "person", "Inc.": "company"}
LABELS = ["person", None, "company", None, None, None]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.structens"


def learnt():
    return CoBoost(6, prior={"person": 2, "company": 1}, unlabelled_mass=1).fit(VIEWS, seeds=SEEDS)


@pytest.mark.parametrize("model", [CoBoost(6, epsilon=0.1, prior="labelled"), CoBoost(0), DLCoTrain(n_last=10)])
@pytest.mark.parametrize("form", ["names", "matrices"])
def test_predictions_come_back_bit_for_bit(path, model, form):
    if form == "matrices":
        X = tuple(np.random.default_rng(j).integers(0, 2, (8, 3)) for j in (0, 1))
        model.fit(X, [7, 8, 9, None, None, None, None, None])
    else:
        X = VIEWS
        model.fit(X, LABELS, seeds=SEEDS)
    structens.save(model, path)
    again = structens.load(path)
    assert repr(again) == repr(model)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    for ours, theirs in zip(again.staged_predict(X), model.staged_predict(X), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert again.rules_ == model.rules_
    assert again.predict(X).tolist() == model.predict(X).tolist()
    structens.save(again, first := path.with_name("again"))
    assert first.read_bytes() == path.read_bytes()


def test_what_a_run_said_of_itself_comes_back(path):
    model = learnt()
    structens.save(model, path, data="print")
    again = structens.load(path)
    for name in ("agreement_", "largest_share_", "coverage_", "class_prior_", "seed_labels_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert again.collapsed_ == model.collapsed_
    assert again.strongest(1, "person") == model.strongest(1, "person")
    assert read_model(path)[0]["data"] == "print"
    with pytest.raises(ModelError, match="classifier of features, CoBoost"):
        load_with_header(path)


def test_what_cannot_be_stored_is_refused(path):
    class Mine(CoBoost):
        pass

    with pytest.raises(NotFittedError):
        structens.save(CoBoost(), path)
    with pytest.raises(ModelError, match="a Mine cannot be stored"):
        structens.save(Mine(1).fit(VIEWS, seeds=SEEDS), path)
    with pytest.raises(ModelError, match="TwoViewClassifier cannot be stored"):
        structens.save(TwoViewClassifier(), path)
    assert not path.exists()


def refused(path, model, edit):
    structens.save(model, path)
    header, arrays = read_model(path)
    edit(header, arrays)
    write_model(path, {k: v for k, v in header.items() if not k.startswith(("format", "package"))}, arrays)
    with pytest.raises(ModelError, match="does not fit this version"):
        structens.load(path)


@pytest.mark.parametrize(
    "edit",
    [
        lambda h, a: a["state.feature"].__setitem__(0, 99),
        lambda h, a: a["state.feature"].__setitem__(0, -1),
        lambda h, a: a["state.view"].__setitem__(0, 2),
        lambda h, a: a["state.label"].__setitem__(0, 2),
        lambda h, a: a["state.round"].__setitem__(0, 5),
        lambda h, a: a["state.alpha"].__setitem__(0, np.nan),
        lambda h, a: a.__setitem__("state.alpha", a["state.alpha"][:-1]),
        lambda h, a: a.__setitem__("state.class_prior", np.array([1.0])),
        lambda h, a: a["state.class_prior"].__setitem__(0, -1),
        lambda h, a: a.pop("state.agreement"),
        lambda h, a: a["view0.length"].__setitem__(0, 99),
        lambda h, a: h["views"][0].__setitem__("n_features", -1),
        lambda h, a: h["views"].pop(),
        lambda h, a: h["parameters"].__setitem__("unknown", 1),
        lambda h, a: h["parameters"].__setitem__("n_rounds", -1),
        lambda h, a: h.__setitem__("classes", "ab"),
    ],
)
def test_contents_that_fit_nothing_are_refused(path, edit):
    refused(path, learnt(), edit)


@pytest.mark.parametrize(
    "edit",
    [
        lambda h, a: a["state.label.0"].__setitem__(0, 2),
        lambda h, a: a.__setitem__("state.label.1", a["state.label.1"].astype(np.int64)),
        lambda h, a: a["state.strength.1"].__setitem__(0, np.inf),
        lambda h, a: a.__setitem__("state.strength.0", a["state.strength.0"][:-1]),
    ],
)
def test_decision_lists_that_fit_nothing_are_refused(path, edit):
    refused(path, DLCoTrain().fit(VIEWS, seeds=SEEDS), edit)
