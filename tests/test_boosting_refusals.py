"""What a newcomer may hand to the boosters: one clear sentence for each thing that cannot be, from our own errors."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from structens.boosting import AdaBoost, AdaBoostMH, AnyCut, HammingTree, select
from structens.core import ParameterError, StructensError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 3)).round(3)
Y = (X[:, 0] > 0).astype(int)
MANY = np.stack([Y, 1 - Y, Y], axis=1)


def with_value(value, at=(3, 1)):
    out = X.copy()
    out[at] = value
    return out


def holding(value):
    return sp.csr_matrix(with_value(value))


BOTH = {
    "infinity": (lambda m: m.fit(with_value(np.inf), Y), r"row 3, column 1 is infinity"),
    "no rows": (lambda m: m.fit(np.zeros((0, 3)), []), r"0 sample\(s\)"),
    "no columns": (lambda m: m.fit(np.zeros((20, 0)), Y), r"0 feature\(s\)"),
    "one dimension": (lambda m: m.fit(X[:, 0], Y), "Expected 2D array"),
    "nothing": (lambda m: m.fit(None, Y), "Expected 2D array"),
    "words": (lambda m: m.fit([["a", "b"]] * 20, Y), "X must hold numbers"),
    "a word among objects": (
        lambda m: m.fit(np.array([[1, "a"], [2, "b"]] * 10, dtype=object), Y),
        r"X must hold numbers \(could not convert string to float: 'a'\)",
    ),
    "rows of two lengths": (lambda m: m.fit([[1, 2], [3]] * 10, Y), "rows must have the same length"),
    "complex": (lambda m: m.fit(X + 1j, Y), "Complex data not supported"),
    "no labels": (lambda m: m.fit(X, None), "requires y"),
    "too few labels": (lambda m: m.fit(X, Y[:5]), "X has 20 rows, y has 5 labels"),
    "NaN as a label": (lambda m: m.fit(X, np.where(Y == 0, np.nan, 1.0)), r"y\[\d+\] is NaN"),
    "fractions as labels": (lambda m: m.fit(X, X[:, 0]), "fractions, as for regression"),
    "labels of two kinds": (lambda m: m.fit(X, np.array(["a", 1] * 10, dtype=object)), "mixes strings"),
    "labels without order": (lambda m: m.fit(X, [{}, {}] * 10), "must have an order"),
    "a list of labels a row": (lambda m: m.fit(X, [("x", "y"), ("x",)] * 10), "rows must have the same length"),
    "one word as labels": (lambda m: m.fit(X, "abc"), "1d array of labels"),
    "a negative weight": (lambda m: m.fit(X, Y, sample_weight=[-1.0] + [1.0] * 19), r"sample_weight\[0\] is -1"),
    "a weight that is NaN": (lambda m: m.fit(X, Y, sample_weight=[np.nan] * 20), r"sample_weight\[0\] is nan"),
    "a word as weight": (lambda m: m.fit(X, Y, sample_weight=["a"] * 20), "sample_weight must hold numbers"),
    "too few weights": (lambda m: m.fit(X, Y, sample_weight=np.ones(3)), r"\(3,\), expected \(20,\)"),
    "no weight": (lambda m: m.fit(X, Y, sample_weight=np.zeros(20)), "at least one non-zero"),
    "another width": (lambda m: m.fit(X, Y).predict(X[:, :2]), "2 features, but .* expecting 3"),
    "not fitted": (lambda m: m.predict(X), "call fit first"),
    "score of too few": (lambda m: m.fit(X, Y).score(X, Y[:3]), "X has 20 rows, y has 3"),
    "margins of strangers": (lambda m: m.fit(X, Y).margins(X, ["a"] * 20), "class 'a' was not learnt"),
    "rounds that are none": (lambda m: m.fit(X, Y).predict(X, n_rounds="all"), "n_rounds must be from 0 to"),
    "labels without rows to validate": (lambda m: m.fit(X, Y, y_val=Y), "X_val is missing"),
    "rows without labels to validate": (lambda m: m.fit(X, Y, X_val=X), "y_val is missing"),
    "other rows to validate": (lambda m: m.fit(X, Y, X_val=X[:, :2], y_val=Y), "X_val has 2 features, X has 3"),
    "too few to hold out": (lambda m: m.set_params(early_stopping="online").fit(X[:5], Y[:5]), "needs 10 rows"),
    "weight of no class": (lambda m: m.set_params(class_weight={7: 2.0}).fit(X, Y), "names 7, which is no class"),
    "weight as a word": (lambda m: m.set_params(class_weight={1: "a"}).fit(X, Y), "class_weight must hold numbers"),
    "a negative class": (lambda m: m.set_params(class_weight={1: -1}).fit(X, Y), "of 1 is -1"),
}
ONLY_MANY = {
    "sparse infinity": (lambda m: m.fit(holding(np.inf), Y), "row 3, column 1 is infinity"),
    "sparse without rows": (lambda m: m.fit(sp.csr_matrix((0, 3)), []), r"0 sample\(s\)"),
    "sparse without columns": (lambda m: m.fit(sp.csr_matrix((20, 0)), Y), r"0 feature\(s\)"),
    "sparse complex": (lambda m: m.fit(sp.csr_matrix(X + 1j), Y), "Complex data not supported"),
    "sparse, too few labels": (lambda m: m.fit(sp.csr_matrix(X), Y[:3]), "X has 20 rows, y has 3 labels"),
    "sparse to predict": (lambda m: m.fit(sp.csr_matrix(X), Y).predict(holding(-np.inf)), "row 3, column 1"),
    "labels 0, 1, 2 in a table": (lambda m: m.fit(X, np.tile([0, 1, 2], (20, 1))), "holds 1 and 0"),
    "words in a table": (lambda m: m.fit(X, [["a", "b"]] * 20), "y of many labels must hold numbers"),
    "nothing known": (lambda m: m.fit(X, np.full((20, 2), np.nan)), "weights of all labels are zero"),
    "classes weighed in a table": (lambda m: m.set_params(class_weight="balanced").fit(X, MANY), "one label a row"),
    "a table calibrated": (lambda m: m.set_params(calibrate="sigmoid").fit(X, MANY), "one label a row"),
    "a small table of weights": (lambda m: m.fit(X, Y, label_weight=np.ones((3, 2))), r"shape \(20, 2\); got \(3, 2\)"),
    "negative in that table": (lambda m: m.fit(X, Y, label_weight=-np.ones((20, 2))), "row 0, label 0 is -1"),
    "a word for that table": (lambda m: m.fit(X, Y, label_weight="a"), "label_weight must hold numbers"),
    "votes that are NaN": (lambda m: m.fit(X, Y, init_score=np.full((20, 2), np.nan)), "init_score must be finite"),
    "a word for votes": (lambda m: m.fit(X, Y, init_score="a"), "init_score must hold numbers"),
    "nominal and any cut": (
        lambda m: m.set_params(base=HammingTree(cut=AnyCut(Mean())), nominal_features=[0]).fit(X, Y),
        "nominal_features do not go with AnyCut",
    ),
    "a classifier that fails": (
        lambda m: m.set_params(base=AnyCut(Failing())).fit(X, Y), "Failing could not learn: no idea",
    ),
    "a classifier without weights": (lambda m: m.set_params(base=AnyCut(Mean2())).fit(X, Y), "no sample_weight"),
    "a class as a cut": (lambda m: m.set_params(base=HammingTree(cut=Mean)).fit(X, Y), "cut must be an AnyCut"),
    "a class as base": (lambda m: m.set_params(base=HammingTree).fit(X, Y), "base must be a base learner"),
}  # fmt: skip
RANGES = {
    "n_rounds": (0, 2.5, "a", True, None),
    "learning_rate": (0.0, "a", np.nan, None, np.inf),
    "validation_fraction": (0.0, 1.0, "a"),
    "min_weight_fraction_leaf": (-0.1, 0.6, "a"),
    "early_stopping": ("soon", ["online"]),
    "calibrate": ("a", 3),
    "n_folds": (1, "a"),
    "min_rounds": (-1, "a"),
    "random_state": (-1, "a", 0.5),
    "class_weight": ("a", [1, 2]),
    "time_limit": (-1.0, "a", np.nan),
    "callback": (3,),
    "progress": ("loud",),
    "keep_weights": ("never", 2),
}
RANGES_OF_MANY = {
    "smoothing": (0.0, "a"),
    "trim": (1.0, "a", np.nan),
    "max_bins": (1, 256, 20.5, "a"),
    "max_features": (0, 1.5, "sqrt", np.nan, True),
    "max_memory": ("1GB", -1.0),
    "n_jobs": (0, None, "a", 1.5),
    "edge_offset": (-0.1, 1.0, "a"),
    "votes": ("loud", None),
    "engine": ("steam", None),
    "label_weights": ("a",),
    "feature_choice": ("a", "ucb"),
}


def refused(model, call, said):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(StructensError, match=said) as caught:
            call(model)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("what", BOTH)
def test_both_refuse(what):
    call, said = BOTH[what]
    refused(AdaBoost(n_rounds=3), call, said)
    refused(AdaBoostMH(HammingTree(2), n_rounds=3), call, said)


@pytest.mark.parametrize("what", ONLY_MANY)
def test_adaboost_mh_refuses(what):
    call, said = ONLY_MANY[what]
    refused(AdaBoostMH(HammingTree(2), n_rounds=3), call, said)


def test_parameters_are_refused_by_name_and_value():
    for make, ranges in ((AdaBoost, RANGES), (AdaBoostMH, RANGES | RANGES_OF_MANY)):
        for name, values in ranges.items():
            for value in values:
                with pytest.raises(ParameterError, match=name) as caught:
                    make(**{name: value}).fit(X, Y)
                assert repr(value) in str(caught.value)


def test_what_is_odd_but_can_be_is_learnt():
    rows = np.array(X, dtype=object)
    rows[3, 1] = None
    quiet = AdaBoostMH(HammingTree(2), n_rounds=3)
    for data in (X.astype(object), rows, X.tolist(), sp.coo_matrix(X), sp.csr_matrix(X > 0), holding(np.nan)):
        assert quiet.fit(data, Y).score(data, Y) > 0.8
    for scale in (1e308, 1e-320):  # weights of any size
        for model in (AdaBoost(n_rounds=3), quiet):
            expected = model.fit(X, Y).predict(X)
            np.testing.assert_array_equal(model.fit(X, Y, sample_weight=np.full(20, scale)).predict(X), expected)
    for seed in (np.random.default_rng(1), np.random.RandomState(1), np.int64(3)):
        model = AdaBoostMH(HammingTree(2), n_rounds=3, max_features=2, calibrate="sigmoid", random_state=seed)
        assert model.fit(X, Y).score(X, Y) > 0.8
    # a class named in full that a fold happens to lack is no slip
    assert AdaBoost(class_weight={0: 1.0, 1: 2.0, 2: 3.0}).fit(X, Y).score(X, Y) > 0.8
    assert AdaBoostMH().fit(X, np.zeros(20)).predict(X[:2]).tolist() == [0.0, 0.0]
    with pytest.raises(StructensError, match="same number of rows"):
        select(AdaBoost(), X, Y[:3])


class Mean:
    """Above or below the mean of the first feature."""

    def fit(self, X, y, sample_weight):
        self.mean = np.average(X[:, 0], weights=sample_weight)
        return self

    def predict(self, X):
        return np.where(X[:, 0] > self.mean, 1, -1)


class Mean2(Mean):
    def fit(self, X, y):
        return self


class Failing(Mean):
    def fit(self, X, y, sample_weight):
        raise ValueError("no idea\nat all")
