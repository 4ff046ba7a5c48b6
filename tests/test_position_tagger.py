"""PositionTagger: what every estimator must do, decoding, honesty of what is held out, model files."""

import copy
import pickle
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone

import structens
from structens.boosting import AdaBoostMH, HammingTree
from structens.core import DataError, Estimator, ExpertPredictions, ModelError, NotFittedError, ParameterError
from structens.ensembles import PositionTagger, Tagged, VectorWindows, WordFeatures, add_experts, cross_predict
from structens.ensembles.cross_tagging import fold_of_sequences
from structens.ensembles.features import sequence_hashes
from structens.io import FoldStore

pytestmark = pytest.mark.compiled
SMALL = AdaBoostMH(HammingTree(4), 8, votes="real", random_state=0)


class Spy(Estimator):
    """Knows nothing but frequencies; keeps the rows it saw, each of which names its sequence."""

    seen: ClassVar[list[set[int]]] = []

    def __init__(self, tag=0):
        self.tag = tag

    def fit(self, X, y):
        Spy.seen.append(set(np.asarray(X)[:, 0].astype(int).tolist()))
        self.classes_, counts = np.unique(y, return_counts=True)
        self.p_ = counts / counts.sum()
        return self

    def predict_proba(self, X):
        return np.tile(self.p_, (X.shape[0], 1))


def chained(n=60, seed=0, noise=0.35):
    """Labels that follow each other, and numbers that show them only in part."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        length = int(rng.integers(1, 7))
        labels = [int(rng.integers(3))]
        for _ in range(length - 1):
            labels.append((labels[-1] + 1) % 3 if rng.random() < 0.95 else int(rng.integers(3)))
        shown = [label if rng.random() > noise else int(rng.integers(3)) for label in labels]
        X.append(np.eye(3)[shown] + 0.01 * rng.normal(size=(length, 3)))
        y.append(["ABC"[label] for label in labels])
    return X, y


def words(n=40, seed=1):
    rng = np.random.default_rng(seed)
    lexicon = {"the": "D", "a": "D", "dog": "N", "cats": "N", "runs": "V", "sleep": "V"}
    X = [rng.choice(list(lexicon), int(rng.integers(1, 6))).tolist() for _ in range(n)]
    return X, [[lexicon[word] for word in row] for row in X]


def small(**parameters):
    return PositionTagger(VectorWindows(0), **{"classifier": SMALL, "n_folds": 3, **parameters})


# ---- the contract of every estimator


@pytest.mark.parametrize("method", ["predict", "tag", "predict_proba", "confidences", "learnt_from"])
def test_nothing_is_said_before_learning(method):
    with pytest.raises(NotFittedError, match="call fit first"):
        getattr(PositionTagger(), method)([["a"]])


def test_parameters_copies_and_purity():
    X, y = chained()
    tagger = PositionTagger(VectorWindows(0), clone(SMALL), n_folds=3, previous_labels=1)
    assert clone(tagger).get_params()["classifier__n_rounds"] == 8
    assert tagger.set_params(classifier__n_rounds=6).classifier.n_rounds == 6
    before, rows = copy.deepcopy(tagger.get_params(deep=False)), copy.deepcopy((X, y))
    tagger.fit(X, y)
    assert repr(tagger.get_params(deep=False)) == repr(before)
    assert not hasattr(tagger.classifier, "forest_")
    assert not hasattr(tagger.features, "n_columns_")
    assert all((a == b).all() for a, b in zip(X, rows[0], strict=True))
    assert y == rows[1]
    again = small(classifier=clone(SMALL).set_params(n_rounds=6), previous_labels=1).fit(X, y)
    first, second, third = tagger.tag(X), again.tag(X), pickle.loads(pickle.dumps(tagger)).tag(X)
    assert first.labels == second.labels == third.labels
    np.testing.assert_array_equal(np.concatenate(first.confidences), np.concatenate(second.confidences))


@pytest.mark.parametrize(
    "parameters",
    [
        {"features": "letters"},
        {"decode": "beam"},
        {"previous_labels": 2},
        {"bigram_weight": -1.0},
        {"calibrate": "platt"},
        {"subsample": 0},
        {"subsample": float("nan")},
        {"n_folds": 1},
        {"time_limit": 0},
        {"restrict": "iob"},
        {"restrict": "bio", "decode": "position"},
    ],
)
def test_parameters_out_of_range(parameters):
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        PositionTagger(**parameters).fit([["a"]], [["A"]])


def test_data_that_does_not_fit():
    for X, y in (([], []), ([[]], [[]]), ([["a"]], [["A", "B"]]), ([["a"]], [[1]])):
        with pytest.raises(DataError):
            PositionTagger().fit(X, y)
    with pytest.raises(DataError, match=r"subsample=1e-09 leaves no position of 2 sequences .*; give a larger share"):
        PositionTagger(subsample=1e-9).fit([["a"], ["b"]], [["A"], ["B"]])
    X, y = chained(20)
    with pytest.raises(DataError, match="2 numbers"):
        small().fit(X, y).predict([np.ones((1, 2))])


def test_one_label_one_sequence_and_empty_ones():
    tagger = PositionTagger(WordFeatures(min_count=1)).fit([["a", "b"], []], [["A", "A"], []])
    assert tagger.predict([["b"], [], ["c", "d"]]) == [["A"], [], ["A", "A"]]
    assert tagger.predict([]) == []
    assert tagger.predict_proba([[]])[0].shape == (0, 1)
    assert tagger.confidences([["a"]])[0].tolist() == [1.0]
    assert tagger.learnt_from([["a", "b"], [], ["b"]]).tolist() == [True, False, False]


# ---- decoding


def test_labels_of_sequences_help():
    X, y = chained(150)
    test = chained(100, seed=9)
    alone = small(decode="position", calibrate=None).fit(X, y).score(*test)
    chain = small().fit(X, y)
    assert chain.bigram_weight_ > 0
    assert chain.score(*test) > alone + 0.03
    before = small(previous_labels=1, bigram_weight=0.0).fit(X, y)
    assert before.score(*test) > alone + 0.01


@pytest.mark.parametrize("parameters", [{}, {"decode": "position"}, {"previous_labels": 1}])
def test_numbers_fit_each_other(parameters):
    X, y = chained(270)  # under 1000 positions: no histograms to compile
    tagger = small(**parameters).fit(X, y)
    test, truth = chained(400, seed=3)
    tagged = tagger.tag(test)
    assert tagged.labels == tagger.predict(test)
    right = np.concatenate(tagged.labels) == np.concatenate(truth)
    sure = np.concatenate(tagged.confidences)
    assert ((sure >= 0) & (sure <= 1)).all()
    assert abs(sure.mean() - right.mean()) < 0.04
    if "decode" not in parameters:  # a single position shows nothing of how sure it is
        assert sure[right].mean() > sure[~right].mean() + 0.03
    for p, labels in zip(tagger.predict_proba(test), tagged.labels, strict=True):
        assert p.shape == (len(labels), 3)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        if "decode" in parameters:
            assert tagger.classes_[p.argmax(axis=1)].tolist() == labels
    assert tagger.score(test, truth) == right.mean()


def test_weight_zero_is_position_by_position():
    X, y = chained()
    tagger = small(bigram_weight=0.0).fit(X, y)
    viterbi, p = tagger.predict(X), tagger.predict_proba(X)
    tagger.set_params(decode="position")
    assert tagger.predict(X) == viterbi
    np.testing.assert_allclose(np.concatenate(tagger.predict_proba(X)), np.concatenate(p), atol=1e-12)


def test_answers_do_not_depend_on_how_sequences_are_grouped(monkeypatch):
    X, y = chained()
    tagger = small(previous_labels=1).fit(X, y)
    whole = tagger.predict(X)
    monkeypatch.setattr("structens.ensembles.position_tagger._CHUNK", 8)
    assert tagger.predict(X) == whole == [tagger.predict([row])[0] for row in X]


def test_a_restriction_is_obeyed():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(5, 2)) for _ in range(40)]
    y = [["B-X", "I-X", "O", "B-X", "O"] for _ in X]
    free = PositionTagger("matrix", SMALL, bigram_weight=0.0, calibrate=None).fit(X, y)
    bound = PositionTagger("matrix", SMALL, bigram_weight=0.0, calibrate=None, restrict="bio").fit(X, y)
    test = [rng.normal(size=(6, 2)) for _ in range(200)]

    def breaks(rows):
        return sum(b[0] == "I" and a == "O" for row in rows for a, b in zip(["O", *row], row, strict=False))

    assert breaks(free.predict(test)) > 0
    assert breaks(bound.predict(test)) == 0
    start = np.stack([p[0] for p in bound.predict_proba(test)])
    assert (start[:, bound.classes_.tolist().index("I-X")] == 0).all()


# ---- honesty


def named(lengths):
    """Sequences whose rows are their number."""
    return [np.full((n, 1), float(i)) for i, n in enumerate(lengths)], [["A", "B", "A"][:n] for n in lengths]


@pytest.mark.parametrize("folds", [3, [0, 1, 2, 0, 1, 2, 0, 1, 2]])
def test_no_sequence_is_predicted_by_what_learnt_from_it(folds, monkeypatch):
    X, y = named([1, 2, 3] * 3)
    predicted = []

    def tag(self, some):
        learnt = Spy.seen[-1]
        predicted.extend(int(row[0, 0]) for row in some)
        assert not learnt & {int(row[0, 0]) for row in some}
        assert not self.learnt_from(some).any()
        return real(self, some)

    real = PositionTagger.tag
    monkeypatch.setattr(PositionTagger, "tag", tag)
    Spy.seen = []
    said = cross_predict({"spy": PositionTagger("matrix", Spy())}, X, y, folds=folds)["spy"]
    assert sorted(predicted) == list(range(9))
    assert [len(row) for row in said.labels] == [len(row) for row in said.confidences] == [1, 2, 3] * 3


def test_folds_that_part_equal_sequences_do_not_learn_from_the_like():
    X, y = named([1, 2, 3, 2])
    Spy.seen = []
    cross_predict(
        PositionTagger("matrix", Spy(), decode="position", calibrate=None),
        [*X, X[0]],
        [*y, y[0]],
        folds=[0, 0, 1, 1, 1],
    )
    assert Spy.seen == [{2, 3}, {1}]
    with pytest.raises(DataError, match="nothing is left to learn from; give folds that differ"):
        cross_predict(PositionTagger("matrix", Spy()), [X[0]] * 2, [y[0]] * 2, folds=[0, 1])


def test_what_chooses_weights_and_curves_is_held_out_too(monkeypatch):
    X, y = named([2, 3] * 6)
    from structens.ensembles.position_classifier import PositionClassifier

    real, asked = PositionClassifier.votes, []

    def votes(self, some):
        asked.append(({int(row[0, 0]) for row in some}, Spy.seen[-1]))
        return real(self, some)

    monkeypatch.setattr(PositionClassifier, "votes", votes)
    Spy.seen = []
    tagger = PositionTagger("matrix", Spy(), n_folds=4).fit(X, y)
    assert len(asked) == 4
    assert set().union(*(rows for rows, _ in asked)) == set(range(12))
    assert all(not rows & learnt and rows | learnt == set(range(12)) for rows, learnt in asked)
    assert Spy.seen[-1] == set(range(12))
    assert tagger.learnt_from(X).all()


def test_equal_sequences_share_a_fold_in_any_order():
    X = [["a"], ["b"], ["a"], ["c"], ["b"], ["d"]]
    hashes = sequence_hashes(X)
    fold = fold_of_sequences(hashes, 3, 1)
    assert fold[0] == fold[2]
    assert fold[1] == fold[4]
    assert set(fold.tolist()) == {0, 1, 2}
    assert fold_of_sequences(hashes[::-1], 3, 1).tolist() == fold[::-1].tolist()
    for folds, said in ((5, "4 different sequences into 5"), ([0, 1], "2 fold numbers"), ([1] * 6, "one fold")):
        with pytest.raises(DataError, match=said):
            fold_of_sequences(hashes, folds)


def test_cross_predict_goes_on_where_it_was_interrupted(tmp_path):
    X, y = words()
    taggers = {"a": PositionTagger(classifier=SMALL, calibrate=None), "b": PositionTagger(Spyless(), SMALL)}
    calls = []
    whole = cross_predict(taggers, X, y, folds=3, progress=lambda k, n: calls.append((k, n)))
    assert calls == [(k, 6) for k in range(1, 7)]

    def stop(k, n):
        if k == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cross_predict(taggers, X, y, folds=3, checkpoint=FoldStore(tmp_path), progress=stop)
    store = FoldStore(tmp_path)
    assert len(store) == 4
    next(iter(sorted(tmp_path.iterdir()))).write_text("{")  # a damaged file counts as none
    assert len(store) == 3
    again = cross_predict(taggers, X, y, folds=3, checkpoint=store)
    assert len(store) == 6
    for name in taggers:
        assert again[name].labels == whole[name].labels
        np.testing.assert_array_equal(np.concatenate(again[name].confidences), np.concatenate(whole[name].confidences))
    cross_predict(taggers["a"], X, y, folds=3, random_state=1, checkpoint=store)
    assert len(store) == 9  # other folds are other answers


def test_functions_that_only_watch_do_not_hinder_going_on():
    X, y = words()
    store = {}
    for _ in range(2):
        boost = AdaBoostMH(HammingTree(4), 10, random_state=0, progress=lambda done, n: None)
        tagger = PositionTagger(classifier=boost, calibrate=None, progress=lambda done, n: None)
        cross_predict(tagger, X, y, folds=3, checkpoint=store)
        assert len(store) == 3
    cross_predict(PositionTagger(classifier=SMALL, calibrate=None), X, y, folds=3, checkpoint=store)
    assert len(store) == 6  # other rounds are other answers


class Spyless(WordFeatures):
    """Features of a user's class."""


def test_experts_are_added_with_their_confidences():
    X = ExpertPredictions.of({"a": ["ab", "c"]}, gold=["ab", None], confidences={"a": [[0.1, 0.2], None]})
    tagged = Tagged([["a", "b"], ["d"]], [np.array([0.5, 0.6]), np.array([0.7])])
    both = add_experts(X, {"t": tagged, "u": ["ab", None]})
    assert both.names == ("a", "t", "u")
    assert both["t"] == ["ab", "d"]
    assert both.gold == X.gold
    np.testing.assert_array_equal(both.confidence, [0.1, 0.2, 0.5, 0.6, np.nan, np.nan, np.nan, 0.7])
    with pytest.raises(DataError, match="'a'"):
        add_experts(X, {"a": tagged})
    with pytest.raises(ParameterError, match="give y"):
        cross_predict(PositionTagger(), [["a"]])


# ---- time, progress, files


def test_progress_and_time():
    X, y = chained(30)
    calls = []
    tagger = small(progress=lambda k, n: calls.append((k, n)), calibrate=None).fit(X, y)
    assert calls == [(k, 32) for k in range(1, 33)]
    assert tagger.classifier_.callback is None
    quick = small(time_limit=1e-6, bigram_weight=0.0, calibrate=None).fit(X, y)
    assert quick.classifier_.n_rounds_ < 8 == tagger.classifier_.n_rounds_
    with pytest.raises(ParameterError, match="Spy knows none"):
        PositionTagger("matrix", Spy(), time_limit=1.0).fit(X, y)


@pytest.mark.parametrize(
    "parameters",
    [
        {"features": WordFeatures(char_ngrams=(2, 3)), "classifier": SMALL},
        {"features": WordFeatures(n_features=64), "classifier": SMALL, "previous_labels": 1, "calibrate": "isotonic"},
        {"classifier": SMALL, "calibrate": None, "restrict": {"forbidden": [["D", "D"]]}, "decode": "viterbi"},
    ],
)
def test_a_file_says_the_same(tmp_path, parameters):
    X, y = words()
    tagger = PositionTagger(**parameters).fit(X, y)
    structens.save(tagger, tmp_path / "t.structens")
    again = structens.load(tmp_path / "t.structens")
    test = [*words(20, seed=5)[0], ["unknown", "Dog"], []]
    assert again.tag(test).labels == tagger.tag(test).labels
    np.testing.assert_array_equal(np.concatenate(again.confidences(test)), np.concatenate(tagger.confidences(test)))
    assert again.learnt_from(X).all()
    assert repr(again) == repr(tagger)
    structens.save(again, tmp_path / "u.structens")
    assert (tmp_path / "u.structens").read_bytes() == (tmp_path / "t.structens").read_bytes()
    again.fit(X, y)


def test_a_file_of_vectors_and_files_that_cannot_be(tmp_path):
    X, y = chained(20)
    tagger = PositionTagger(VectorWindows(1), SMALL, n_folds=2).fit(X, y)
    structens.save(tagger, tmp_path / "t.structens")
    assert structens.load(tmp_path / "t.structens").predict(X) == tagger.predict(X)
    with pytest.raises(NotFittedError):
        structens.save(PositionTagger(), tmp_path / "u.structens")
    with pytest.raises(ModelError, match="Spy"):
        structens.save(PositionTagger("matrix", Spy()).fit(X, y), tmp_path / "u.structens")
    with pytest.raises(ModelError, match="Spyless"):
        structens.save(PositionTagger(Spyless(), SMALL).fit(*words()), tmp_path / "u.structens")
    structens.save({"a": tagger, "b": tagger}, tmp_path / "s.structens")
    assert {name: one.predict(X) for name, one in structens.load(tmp_path / "s.structens").items()} == {
        "a": tagger.predict(X),
        "b": tagger.predict(X),
    }
    with pytest.raises(ModelError, match="there is no tagger to write"):
        structens.save({}, tmp_path / "u.structens")
    header, arrays = structens.io.read_model(tmp_path / "s.structens")
    header["taggers"][1]["name"] = "a"
    structens.io.write_model(tmp_path / "v.structens", header, arrays)
    with pytest.raises(ModelError, match="taggers have no names of their own"):
        structens.load(tmp_path / "v.structens")
    header, arrays = structens.io.read_model(tmp_path / "t.structens")
    for change in ({"bigrams": np.zeros((2, 2))}, {"features.n_columns": np.array([7])}, {"fingerprints": np.zeros(3)}):
        structens.io.write_model(tmp_path / "v.structens", header, arrays | change)
        with pytest.raises(ModelError, match="does not fit"):
            structens.load(tmp_path / "v.structens")
    for change in ({"classes": ["A"]}, {"features": "none"}, {"numbers": {}}):
        structens.io.write_model(tmp_path / "v.structens", header | change, arrays)
        with pytest.raises(ModelError, match="does not fit"):
            structens.load(tmp_path / "v.structens")
