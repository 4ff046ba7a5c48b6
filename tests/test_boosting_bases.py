"""Cuts by any classifier, indicators of nominal values, and bandits that choose features, against their definitions."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from naive import boosting as naive
from naive.boosting_bases import alternating_edges, best_indicator, exp3p_probabilities, ucb_arm
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import structens
from structens.boosting import AdaBoostMH, AnyCut, HammingTree, Indicator, Stump
from structens.boosting.any_cut import find_cut
from structens.boosting.any_cut_rounds import AnyCutRounds
from structens.boosting.bandit import BANDITS, FeatureBandit, reward_of
from structens.boosting.classifier_cuts import ClassifierCut, LinearCut, cut_of
from structens.boosting.nominal import best_signs
from structens.boosting.settings import RoundSettings
from structens.core import DataError, ModelError, ParameterError
from structens.losses import signed_weights


class LeastSquares:
    """A linear classifier, far quicker to fit than those of scikit-learn."""

    def fit(self, X, y, sample_weight):
        X = np.asarray(X.toarray() if sp.issparse(X) else X)
        root = np.sqrt(sample_weight)[:, None]
        A = np.column_stack([X, np.ones(len(X))])
        self.w = np.linalg.lstsq(A * root, y * root[:, 0], rcond=None)[0]
        return self

    def predict(self, X):
        X = np.asarray(X.toarray() if sp.issparse(X) else X)
        return np.where(np.column_stack([X, np.ones(len(X))]) @ self.w > 0, 1, -1)


def corners(n=120, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, (X.sum(axis=1) > 0) + 2 * (X[:, 0] > X[:, 1])


@pytest.mark.parametrize("votes", ["discrete", "real"])
def test_any_cut(votes):
    X, y = corners()
    model = AdaBoostMH(AnyCut(LeastSquares()), n_rounds=6, votes=votes).fit(X, y)
    assert model.score(X, y) > 0.95  # two lines part four classes
    assert AdaBoostMH(Stump(), n_rounds=6, votes=votes).fit(X, y).score(X, y) < 0.9
    scores = model.decision_function(X)
    by_hand = sum(t.coefficient * t.vote.astype(float)[model.apply(X)[:, i]] for i, t in enumerate(model.forest_.trees))
    np.testing.assert_allclose(scores, by_hand)
    sparse = AdaBoostMH(AnyCut(LeastSquares()), n_rounds=6, votes=votes).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.decision_function(sp.csc_matrix(X)), scores)
    np.testing.assert_allclose(list(model.staged_decision_function(X))[-1], scores)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), scores)
    assert model.feature_importances_.tolist() == [0.0, 0.0]
    if votes == "discrete":
        np.testing.assert_allclose(model.normalizers_, np.sqrt(1 - model.edges_**2), rtol=1e-6)
    apart = AdaBoostMH(AnyCut(LeastSquares()), n_rounds=2, votes=votes, warm_start=True).fit(X, y)
    np.testing.assert_allclose(apart.set_params(n_rounds=6).fit(X, y).decision_function(X), scores)


def test_the_alternating_scheme_is_that_of_the_definition():
    steps = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 2)), rng.integers(0, 4, 40)
        weight = signed_weights(y, 4)
        found = find_cut(AnyCut(LeastSquares(), n_starts=1), X, weight)
        start = np.where(np.arange(4) == np.argmax(np.abs(weight).sum(axis=0)), 1.0, -1.0)

        def answer(labels, sizes, X=X):
            return LeastSquares().fit(X, np.array(labels), np.array(sizes)).predict(X).tolist()

        edges = alternating_edges(weight.tolist(), start.tolist(), answer)
        np.testing.assert_allclose(found.edge, edges[-1])
        steps += len(edges) - 1
    assert steps > 0  # otherwise nothing alternated


def test_any_cut_says_what_it_cannot(tmp_path):
    X, y = corners(30)
    with pytest.raises(ParameterError, match="fit and predict"):
        AdaBoostMH(AnyCut("svm")).fit(X, y)
    with pytest.raises(ParameterError, match="n_starts"):
        AdaBoostMH(AnyCut(LeastSquares(), n_starts=0)).fit(X, y)
    with pytest.raises(ParameterError, match="max_features"):
        AdaBoostMH(AnyCut(LeastSquares()), max_features=1).fit(X, y)
    model = AdaBoostMH(AnyCut(LeastSquares()), n_rounds=2).fit(X, y)
    with pytest.raises(ModelError, match="LeastSquares"):
        structens.save(model, tmp_path / "m.structens")


@given(st.lists(st.lists(st.integers(-9, 9), min_size=2, max_size=2), min_size=2, max_size=5))
def test_indicator_is_at_best_brute_force_and_no_worse_than_a_selector(rows):
    sums = np.array(rows, float)
    edge, u = best_signs(sums, 8, np.random.default_rng(0))
    assert edge <= best_indicator(rows) + 1e-9
    assert edge == pytest.approx(np.abs(u @ sums).sum())
    assert abs(u.sum()) < len(u)
    single = np.abs(2 * sums - sums.sum(axis=0)).sum(axis=1).max()
    assert edge >= single - 1e-9
    assert best_signs(sums, 100, np.random.default_rng(0))[0] == pytest.approx(best_indicator(rows))


def test_indicator_parts_sets_of_values(tmp_path):
    rng = np.random.default_rng(0)
    value = rng.integers(0, 12, 300)
    X, y = np.column_stack([rng.normal(size=300), value]), np.array([0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0])[value]
    model = AdaBoostMH(Indicator(), n_rounds=1, nominal_features=[1]).fit(X, y)
    tree = model.forest_.trees[0]
    assert model.edges_[0] == pytest.approx(1.0)
    assert model.score(X, y) == 1.0
    assert set(tree.feature) == {1}
    assert len(tree.feature) <= 6
    assert AdaBoostMH(Stump(), n_rounds=1, nominal_features=[1]).fit(X, y).edges_[0] < 0.4
    odd = np.array([[0.0, np.nan], [0.0, 99.0]])  # what was not learnt goes with the larger set
    assert len(set(model.apply(odd)[:, 0])) == 1
    assert model.apply(odd)[0, 0] == 0
    np.testing.assert_array_equal(model.predict(sp.csr_matrix(X)), y)
    structens.save(model, tmp_path / "m.structens")
    np.testing.assert_array_equal(structens.load(tmp_path / "m.structens").predict(X), y)
    numeric = AdaBoostMH(Indicator(), n_rounds=1).fit(X, X[:, 0] > 0.3).forest_.trees[0]
    assert numeric.feature.tolist() == [0]
    assert numeric.edge == pytest.approx(1.0)
    with pytest.raises(ParameterError, match="n_starts"):
        AdaBoostMH(Indicator(n_starts=0)).fit(X, y)


def test_indicator_with_missing_values_and_with_nothing_to_cut():
    X, y = np.array([[1.0], [2.0], [np.nan], [1.0], [2.0], [np.nan]]), [0, 1, 1, 0, 1, 1]
    model = AdaBoostMH(Indicator(), n_rounds=1, nominal_features=[0]).fit(X, y)
    assert model.edges_[0] == pytest.approx(1.0)
    np.testing.assert_array_equal(model.predict(X), y)
    with pytest.warns(UserWarning, match="no weak learner"):
        assert (
            AdaBoostMH(Indicator(), n_rounds=1, nominal_features=[0]).fit(np.ones((4, 1)), [0, 1, 0, 1]).n_rounds_ == 0
        )


@given(st.integers(1, 5), st.lists(st.floats(0, 1), min_size=1, max_size=25))
def test_ucb_is_that_of_the_definition(n_arms, edges):
    bandit = FeatureBandit(n_arms, 1, "ucb")
    rewards = [[] for _ in range(n_arms)]
    for edge in edges:
        expected = ucb_arm(rewards)
        assert bandit.pull().tolist() == bandit.arms[expected].tolist()
        bandit.reward(edge)
        rewards[expected].append(reward_of(edge))


def test_exp3p_is_that_of_the_definition():
    bandit = FeatureBandit(4, 1, "exp3p", 3)
    seen = []
    for t in range(40):
        bandit.pull()
        edge = 0.9 if bandit.arm == 2 else 0.1 + 0.01 * t
        bandit.reward(edge)
        if t >= 4:  # every arm was pulled once before
            seen.append((bandit.arm, reward_of(edge)))
    expected = exp3p_probabilities(4, seen, bandit.gamma, bandit.eta, bandit.horizon)
    np.testing.assert_allclose(bandit.probabilities(), expected)


@pytest.mark.parametrize("policy", BANDITS)
def test_bandits_find_the_arm_that_pays(policy):
    bandit = FeatureBandit(10, 2, policy, random_state=3)
    assert sorted(np.concatenate(bandit.arms)) == list(range(10))
    bandit.gamma = 0.2
    pulled = []
    for _ in range(2000):
        bandit.pull()
        pulled.append(bandit.arm)
        bandit.reward(0.9 if bandit.arm == 3 else 0.1)
    assert bandit.probabilities().sum() == pytest.approx(1.0)
    assert sorted(pulled[:5]) == list(range(5))
    assert np.mean(np.array(pulled[1000:]) == 3) > 0.5


@pytest.mark.parametrize("policy", BANDITS)
def test_boosting_with_a_bandit(policy):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 20))
    X[:, 4] = 1.0  # an arm of one feature with nothing to cut does not end learning
    y = (X[:, 7] > 0) ^ (X[:, 9] > 0.3)
    params = {"max_features": 1, "feature_choice": policy, "random_state": 2}
    model = AdaBoostMH(HammingTree(2), n_rounds=60, **params).fit(X, y)
    assert model.n_rounds_ == 60
    used = [set(tree.feature) for tree in model.forest_.trees]
    assert all(len(features) <= 1 for features in used)
    apart = AdaBoostMH(HammingTree(2), n_rounds=25, warm_start=True, **params).fit(X, y)
    again = apart.set_params(n_rounds=60).fit(X, y)
    np.testing.assert_allclose(again.edges_, model.edges_)


def test_feature_choice_needs_a_number_of_features():
    X, y = corners(20)
    with pytest.raises(ParameterError, match="max_features"):
        AdaBoostMH(feature_choice="ucb").fit(X, y)
    with pytest.raises(ParameterError, match="feature_choice"):
        AdaBoostMH(feature_choice="thompson", max_features=1).fit(X, y)


# ---- cuts by any classifier inside trees


def twin_base(classifier, weight, rows_of):
    """A base learner for `naive.boosting.tree` that cuts by the alternating scheme, seen on some rows."""

    def base(X, signed, rows, rule, nominal):
        ones = [1] * len(rows)
        mine = [signed[i] for i in rows]
        vote = naive.best_vote(mine, ones)
        constant = naive.edge(mine, ones, vote)
        found = find_cut(classifier, rows_of[rows], weight[rows]) if len(rows) > 1 else None
        if found is None or found.positive.all() or not found.positive.any():
            return constant, vote, None
        phi = np.where(found.positive, 1, -1).tolist()
        vote_of_cut = naive.best_vote(mine, phi)
        reached = naive.edge(mine, phi, vote_of_cut)
        wins = reached > constant + (-1e-12 if rule == "hybrid" else 1e-12)
        return (reached, vote_of_cut, (0, 0.0, True, phi)) if wins else (constant, vote, None)

    return base


@pytest.mark.parametrize("rule", ["hybrid", "paper"])
def test_a_tree_of_classifiers_is_the_best_first_tree_of_the_definition(rule):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(30, 2)), rng.integers(0, 3, 30)
        weight = signed_weights(y, 3)
        classifier = AnyCut(LeastSquares(), n_starts=2, random_state=seed)
        rounds = AnyCutRounds(classifier, X, weight.copy(), RoundSettings(5, rule))
        keys, _, out = naive.tree(X, weight.tolist(), 5, rule, base=twin_base(classifier, weight, X))
        tree = rounds.play()
        np.testing.assert_allclose(tree.edge, sum(keys))
        np.testing.assert_allclose(tree.gain.sum() + tree.constant_gain, sum(keys))
        np.testing.assert_array_equal(tree.vote[tree.leaf(X)], out)
        np.testing.assert_allclose(
            rounds.weight, weight * np.exp(-tree.coefficient * np.array(out) * np.sign(weight)) / tree.normalizer
        )


def test_trees_of_classifiers_boost():
    X, y = corners(200)
    y = (y + (np.abs(X[:, 0]) > 1)) % 4  # two lines do not part these
    deep, flat = (
        AdaBoostMH(base, n_rounds=8).fit(X, y)
        for base in (HammingTree(6, cut=AnyCut(LeastSquares())), AnyCut(LeastSquares()))
    )
    assert deep.edges_[0] > flat.edges_[0] + 0.1
    assert deep.score(X, y) > 0.85
    assert 1 - deep.score(X, y) <= 3 * np.prod(deep.normalizers_)
    assert deep.apply(X).max() > 2
    again = pickle.loads(pickle.dumps(deep))
    np.testing.assert_array_equal(again.decision_function(X), deep.decision_function(X))
    np.testing.assert_allclose(
        sum(t.coefficient * t.vote[t.leaf(X)].astype(float) for t in deep.forest_.trees), deep.decision_function(X)
    )
    assert AdaBoostMH(AnyCut(LeastSquares()), n_rounds=2).fit(X, np.zeros(200)).n_rounds_ == 0


LINEAR = {
    "logistic": LogisticRegression,
    "ridge": RidgeClassifier,
    "perceptron": Perceptron,
    "scaled": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "ranged": lambda: make_pipeline(MinMaxScaler(), MaxAbsScaler(), LogisticRegression()),
    "only divided": lambda: make_pipeline(StandardScaler(with_mean=False), LogisticRegression()),
    "only moved": lambda: make_pipeline(StandardScaler(with_std=False), LogisticRegression()),
}


@pytest.mark.parametrize("name", LINEAR)
def test_linear_classifiers_are_kept_as_numbers(name, tmp_path):
    X, y = corners(80, seed=2)
    X = X * [1.0, 30.0] + [0.0, 7.0]
    fitted = LINEAR[name]().fit(X, np.where(y > 1, 1, -1))
    cut = cut_of(fitted, 2)
    assert isinstance(cut, LinearCut)
    np.testing.assert_array_equal(cut.positive(X), fitted.predict(X) > 0)
    model = AdaBoostMH(HammingTree(2, cut=AnyCut(LINEAR[name]())), n_rounds=2, callback=print_nothing).fit(X, y)
    structens.save(model, tmp_path / "m.structens")
    loaded = structens.load(tmp_path / "m.structens")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.predict(X[:1]), model.predict(X)[:1])  # no row depends on the others
    assert loaded.callback is None
    with pytest.raises(ParameterError, match="estimator must be"):  # it was left out
        loaded.fit(X, y)
    with pytest.raises(DataError, match="row 1 has one"):
        loaded.predict([[0.0, 1.0], [np.nan, 1.0]])


def print_nothing(*_):
    return False


def test_other_classifiers_stay_as_they_are(tmp_path):
    X, y = corners(80)
    for estimator in (DecisionTreeClassifier(max_depth=2), make_pipeline(StandardScaler(), SVC())):
        model = AdaBoostMH(AnyCut(estimator), n_rounds=1).fit(X, y)
        assert isinstance(model.forest_.trees[0].cuts[0], ClassifierCut)
        with pytest.raises(ModelError, match="linear classifiers of scikit-learn can; pickle"):
            structens.save(model, tmp_path / "m.structens")


def test_a_file_of_linear_cuts_that_do_not_fit_is_refused(tmp_path, monkeypatch):
    from structens.io import classifier_file

    X, y = corners(60)
    model = AdaBoostMH(HammingTree(2, cut=AnyCut(LogisticRegression())), n_rounds=2).fit(X, y)
    written = classifier_file.write_model
    for wrong in (
        lambda arrays, key: arrays.update({key: arrays[key][:-1]}),
        lambda arrays, key: arrays.update({key: arrays[key][:, :1]}),
        lambda arrays, key: arrays.update({key: arrays[key] * np.nan}),
        lambda arrays, key: arrays.pop(key),
    ):

        def tampered(path, header, arrays, wrong=wrong):
            wrong(arrays, next(key for key in arrays if key.endswith(".linear")))
            written(path, header, arrays)

        monkeypatch.setattr(classifier_file, "write_model", tampered)
        structens.save(model, tmp_path / "m.structens")
        with pytest.raises(ModelError, match="does not fit"):
            structens.load(tmp_path / "m.structens")
