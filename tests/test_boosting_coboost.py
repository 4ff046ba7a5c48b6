"""CoBoost and DL-CoTrain: the published trace, twins, the guard, forms of input, ends."""

import gzip
import json
import math
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import coboost as naive
from scipy.sparse import csc_array, csr_array
from sklearn.base import clone

from structens.boosting import CoBoost, CollapseWarning, DLCoTrain
from structens.boosting.coboost_kernels import STEEPEST, reweigh
from structens.boosting.coboost_rounds import learn
from structens.boosting.two_views import View
from structens.core import DataError, NotFittedError, ParameterError
from structens.datasets import two_views

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
SPEC = ([["A"], ["B"], ["A"], ["B"], ["C"], ["D"]], [["x"], ["y"], ["z"], ["w"], ["z"], ["w"]])
SPEC_Y = ["+", "-", None, None, None, None]


def quiet(model, *args, **kwargs):
    """Fit where a collapse is of no interest."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        return model.fit(*args, **kwargs)


@st.composite
def tasks(draw, most_classes=4):
    """Few rows and features: many ties. (views as lists of sets, known labels, K)."""
    n, K = draw(st.integers(2, 10)), draw(st.integers(2, most_classes))
    features = st.sets(st.integers(0, 4), max_size=3)
    views = [[draw(features) for _ in range(n)] for _ in (0, 1)]
    known = [draw(st.integers(-1, K - 1)) for _ in range(n)]
    known[0], known[1] = 0, 1
    return views, known, K


def read(views):
    """For the package: names sort as the numbers do."""
    return tuple(View.of([[f"f{f}" for f in row] for row in view]) for view in views)


# ---- section 10 of the specification


@pytest.mark.parametrize("epsilon", [1 / 6, None])
def test_the_trace_of_the_specification(epsilon):
    # "-" sorts after "+": name the classes so that the second is "+"
    y = [None if label is None else {"+": "plus", "-": "minus"}[label] for label in SPEC_Y]
    model = CoBoost(n_rounds=3, epsilon=epsilon).fit(SPEC, y)
    assert [(r.round, r.view, r.feature, r.label) for r in model.rules_] == [
        (1, 1, "A", "plus"),
        (1, 2, "x", "plus"),
        (2, 1, "B", "minus"),
        (2, 2, "w", "minus"),
        (3, 1, "D", "minus"),
        (3, 2, "w", "minus"),
    ]
    alpha = [0.693147, 0.549306, 0.804719, 0.492389, 0.627212, 0.537528]
    np.testing.assert_allclose([r.alpha for r in model.rules_], alpha, atol=5e-7)
    first, second = model.view_scores(SPEC)
    np.testing.assert_allclose(first[:, 1], [0.693147, -0.804719, 0.693147, -0.804719, 0, -0.627212], atol=5e-7)
    assert np.sign(first[:, 1] + second[:, 1]).tolist() == [1, -1, 1, -1, 0, -1]
    assert model.abstains(SPEC).tolist() == [False] * 4 + [True, False]
    # after the last round both views speak of rows 3 (only view 1), 4 (both), 6 (both)
    assert model.agreement_[-1] == 1.0
    assert model.coverage_[-1] == pytest.approx(5 / 8)
    assert model.largest_share_[-1] == pytest.approx(4 / 5)


@given(tasks(), st.sampled_from([1e-3, 0.1, 1.0]), st.sampled_from([1.0, 0.3, 0.0]), st.booleans())
@settings(max_examples=120, deadline=None)
def test_rounds_are_those_of_the_definition(task, epsilon, light, matched):
    views, known, K = task
    shares = np.arange(1.0, K + 1) / np.arange(1.0, K + 1).sum() if matched else None
    expected, g = naive.coboost(views, known, K, 6, epsilon, light, None if shares is None else shares.tolist())
    views = read(views)
    found = learn(views, np.array(known, dtype=np.int32), 6, epsilon, light, shares, n_classes=K)
    names = [(t, j, views[j].name(f), label) for t, j, f, label in zip(*columns(found)[:4], strict=True)]
    assert names == [(t, j, f"f{f}", label) for t, j, f, label, *_ in expected]
    numbers = np.array(columns(found)[4:]).T.reshape(-1, 3)
    np.testing.assert_allclose(numbers, [rule[4:] for rule in expected] or np.zeros((0, 3)), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.criterion, 1 - (np.sqrt(found.right) - np.sqrt(found.wrong)) ** 2, atol=1e-12)
    check_diagnosis(found, g, known)


def columns(rounds):
    r = rounds
    return r.round, r.view, r.feature, r.label, r.alpha, r.right, r.wrong


def check_diagnosis(found, g, known):
    """What is counted row by row is what can be counted at the end."""
    if not found.agreement:
        return
    free = [i for i, label in enumerate(known) if label < 0]
    said = [[naive.says(g[j][i]) for i in free] for j in (0, 1)]
    both = [(a, b) for a, b in zip(*said, strict=True) if a >= 0 and b >= 0]
    spoken = [label for one in said for label in one if label >= 0]
    if both:
        assert found.agreement[-1] == pytest.approx(sum(a == b for a, b in both) / len(both))
    else:
        assert math.isnan(found.agreement[-1])
    if spoken:
        assert found.largest_share[-1] == pytest.approx(max(map(spoken.count, spoken)) / len(spoken))
    assert found.coverage[-1] == pytest.approx(len(spoken) / (2 * len(free)) if free else 0.0)


@given(tasks(most_classes=2))
@settings(max_examples=40, deadline=None)
def test_a_step_multiplies_the_loss_by_the_criterion(task):
    """With the unsmoothed coefficient: sum D exp(-y alpha h) = W0 + 2 sqrt(W+ W-) (Schapire and Singer 1999)."""
    views, known, _ = task
    rules, _ = naive.coboost(views, known, 2, 1, 1e-300)
    for _, _, _, _, alpha, right, wrong in rules:
        if wrong > 0:
            after = 1 - right - wrong + right * math.exp(-alpha) + wrong * math.exp(alpha)
            assert after == pytest.approx(1 - (math.sqrt(right) - math.sqrt(wrong)) ** 2)


def test_weights_without_bound_are_counted_from_another_origin():
    # each rule has a coefficient of over 200; row 2 is then told the contrary of what it was told thrice
    views = ([["a"], ["b"], ["a", "c"], ["c"]], [["x"], ["y"], ["y"], ["y"]])
    model = quiet(CoBoost(n_rounds=40, epsilon=1e-200), views, [1, 0, None, None])
    for scores in (*model.view_scores(views), model.predict_proba(views)):
        assert np.isfinite(scores).all()
    assert model.predict(views).tolist()[:2] == [1, 0]
    rows, score, out = np.zeros(1, dtype=np.int32), np.array([[-900.0, 900.0]]), np.zeros((1, 4))
    args = (np.zeros(1, dtype=np.int32), np.ones(1))
    origin, mass = np.zeros(1), np.zeros(1)
    assert reweigh(rows, score, *args, origin, out, mass) == 900.0 > STEEPEST
    origin[0] = 900.0
    assert reweigh(rows, score, *args, origin, out, mass) == 0.0
    assert out.tolist() == [[2.0, 0.0, 0.0, 2.0]]


# ---- the guard


@pytest.mark.compiled
@pytest.mark.parametrize("seed", [0, 1])
def test_unlabelled_rows_halve_the_error_of_seeds_alone(seed):
    data = two_views(n=5000, seed=seed)
    X = (data.view1, data.view2)
    alone = CoBoost(100, unlabelled_mass=0).fit(X, seeds=data.seeds).score(X, data.labels)
    for guard in ({}, {"prior": {"no": 1, "yes": 1}, "unlabelled_mass": 1}):
        assert 1 - CoBoost(100, **guard).fit(X, seeds=data.seeds).score(X, data.labels) < (1 - alone) / 2


@pytest.mark.compiled
@pytest.mark.parametrize("seed", [1, 3])
def test_the_guard_keeps_a_rare_class(seed):
    data = two_views(n=5000, prior=0.2, seed=seed)
    X = (data.view1, data.view2)
    alone = CoBoost(100, unlabelled_mass=0).fit(X, seeds=data.seeds)
    with pytest.warns(CollapseWarning, match="give prior, set unlabelled_mass=1"):
        plain = CoBoost(100).fit(X, seeds=data.seeds)
    assert plain.collapsed_
    assert plain.score(X, data.labels) < alone.score(X, data.labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CollapseWarning)
        guarded = CoBoost(100, prior=[0.8, 0.2], unlabelled_mass=1).fit(X, seeds=data.seeds)
    assert not guarded.collapsed_
    assert guarded.score(X, data.labels) > alone.score(X, data.labels)


def test_views_that_disagree_are_told():
    # of the unlabelled rows view 2 says the contrary of view 1, and of half of them each
    first, second = [["a"]] * 20 + [["b"]] * 20, [["y"]] * 20 + [["x"]] * 20
    labelled = [["a"]] * 40 + [["b"]] * 40, [["x"]] * 40 + [["y"]] * 40
    views = (labelled[0] + first, labelled[1] + second)
    with pytest.warns(CollapseWarning, match=r"agree on only 0.0%"):
        CoBoost(4, unlabelled_mass=0.01).fit(views, [0] * 40 + [1] * 40 + [None] * 40)


def test_one_vanished_class_of_three_is_told():
    n = 40
    names = [["a"], ["b"], ["c"]] + [["a"]] * n + [["b"]] * n + [["a", "c"]] * n
    with pytest.warns(CollapseWarning, match=r"0.0% of what .* 'c', where 33.3% were expected"):
        model = CoBoost(3).fit((names[:-n] + [["a"]] * n, names[:-n] + [["b"]] * n), ["a", "b", "c"] + [None] * 3 * n)
    assert model.collapsed_


@pytest.mark.compiled
@pytest.mark.skipif(not (SHARED / "classification").is_dir(), reason="needs ../shared/data/classification (WebKB)")
@pytest.mark.parametrize(
    ("file", "n_rare", "n_other", "n_rounds", "n_draws"),
    [
        ("webkb_course", 3, 9, 30, 12),
        ("webkb_course", 12, 36, 30, 12),
        ("webkb_course", 23, 82, 30, 12),
        ("lingspam", 12, 36, 100, 6),
    ],
)
def test_pages_and_mails_are_no_worse_than_their_labelled_rows_plus_one_point(file, n_rare, n_other, n_rounds, n_draws):
    with np.load(SHARED / "classification" / f"{file}_2views.npz") as f:
        views = [
            csr_array((f[f"v{j}_data"], f[f"v{j}_indices"].astype(np.int32), f[f"v{j}_indptr"]), f[f"v{j}_shape"])
            for j in (1, 2)
        ]
        y = f["y"]
    errors = []
    for seed in range(n_draws):
        order = np.random.default_rng(seed).permutation(len(y))
        test, train = order[: len(y) // 4], order[len(y) // 4 :]
        known = np.full(len(train), -1)
        for label, count in ((0, n_rare), (1, n_other)):
            known[np.flatnonzero(y[train] == label)[:count]] = label
        X, Z = ([view[rows] for view in views] for rows in (train, test))
        guarded = quiet(CoBoost(n_rounds, prior="labelled", unlabelled_mass=1), X, known)
        alone = CoBoost(n_rounds, unlabelled_mass=0).fit(X, known)
        errors.append([1 - model.score(Z, y[test]) for model in (guarded, alone)])
    with_both, labelled_only = np.mean(errors, axis=0)
    assert with_both <= labelled_only + 0.01


# ---- named entities


def named_entities(kept=lambda feature: not feature.startswith("X3_")):
    """Views of the training and test rows, gold (None: temporal, left out), and seed rules."""
    folder = SHARED / "two_views"
    with gzip.open(folder / "ne_collins_singer.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    seeds = {s["feature"]: s["label"] for s in json.loads((folder / "ne_collins_singer.seeds.json").read_text())}
    parts = [[row for row in rows if row["split"] == split] for split in ("train", "test")]
    train, test = (
        tuple([[f for f in row[view] if kept(f)] for row in part] for view in ("view1", "view2")) for part in parts
    )
    return train, test, [None if temporal(row) else row["label"] for row in parts[1]], seeds


def temporal(row):
    months = "January February March April May June July August September October November December Aug"
    days = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
    return any(f.startswith("X0_") and f[3:] in f"{months} {days}".split() for f in row["view1"])


def accuracies(predicted, gold):
    """Clean (without noise rows) and noise accuracy, in per cent."""
    pairs = [(p, g) for p, g in zip(predicted, gold, strict=True) if g is not None]
    right, noise = sum(p == g for p, g in pairs), sum(g == "noise" for _, g in pairs)
    return 100 * right / (len(pairs) - noise), 100 * right / len(pairs)


@pytest.mark.slow
@pytest.mark.skipif(not (SHARED / "two_views").is_dir(), reason="needs ../shared/data/two_views")
def test_named_entities_from_seven_seed_rules():
    train, test, gold, seeds = named_entities()
    assert len(train[0]) == 88860
    model = CoBoost(3000).fit(train, seeds=seeds)
    for n_rounds in (1000, 2000, 3000):
        clean, noise = accuracies(model.predict(test, n_rounds), gold)
        assert clean >= 90
        assert noise >= 82
    assert model.classes_[np.argmax(model.class_prior_)] == "organization"
    assert model.agreement_[10:].min() > 0.93
    clean, noise = accuracies(DLCoTrain().fit(train, seeds=seeds).predict(test), gold)
    assert clean >= 90.9
    assert noise >= 82.6


@pytest.mark.slow
@pytest.mark.skipif(not (SHARED / "two_views").is_dir(), reason="needs ../shared/data/two_views")
def test_a_feature_that_all_rows_have_makes_named_entities_collapse_and_prior_helps():
    train, test, gold, seeds = named_entities(kept=lambda feature: True)
    with pytest.warns(CollapseWarning, match="location"):
        plain = CoBoost(500).fit(train, seeds=seeds)
    guarded = CoBoost(500, prior="labelled").fit(train, seeds=seeds)
    assert accuracies(plain.predict(test), gold)[0] < 80
    assert accuracies(guarded.predict(test), gold)[0] > 87


# ---- the estimator


@given(tasks(), st.integers(0, 3))
@settings(max_examples=30, deadline=None)
def test_outputs_fit_together(task, n_rounds):
    views, known, _ = task
    X = read(views)
    model = quiet(CoBoost(4), X, known)
    scores = model.decision_function(X)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (model.predict(X) == model.classes_[np.argmax(p, axis=1)]).all()
    np.testing.assert_array_equal(p[model.abstains(X)], np.tile(model.class_prior_, (model.abstains(X).sum(), 1)))
    staged = list(model.staged_decision_function(X))
    assert len(staged) == model.n_rounds_
    if staged:
        np.testing.assert_allclose(staged[-1], scores, atol=1e-12)
    if 0 < n_rounds <= len(staged):
        np.testing.assert_allclose(staged[n_rounds - 1], model.decision_function(X, n_rounds), atol=1e-12)
    first, second = model.view_scores(X)
    whole = first + second
    np.testing.assert_allclose(whole[:, 1] if scores.ndim == 1 else whole, scores, atol=1e-12)


@pytest.mark.compiled
def test_all_forms_of_input_say_the_same():
    data = two_views(n=300)
    names = (data.view1, data.view2)
    views = [View.of(view) for view in names]
    dense = []
    for view in views:
        matrix = np.zeros((300, view.n_features))
        matrix[np.repeat(np.arange(300), np.diff(view.offsets)), view.features] = 2.5
        dense.append(matrix)
    with_zeros = []
    for matrix in dense:
        i, j = np.indices(matrix.shape).reshape(2, -1)
        with_zeros.append(csr_array((matrix.ravel(), (i, j))))
    y = [label if i < 60 else None for i, label in enumerate(data.labels.tolist())]
    model = quiet(CoBoost(20), names, y)
    for other in (dense, [matrix.tolist() for matrix in dense], [csc_array(m) for m in dense], with_zeros, views):
        again = quiet(CoBoost(20), other, y)
        assert again.rounds_.feature == model.rounds_.feature
        assert again.rounds_.alpha == model.rounds_.alpha
        np.testing.assert_array_equal(again.decision_function(other), model.decision_function(names))
    assert quiet(CoBoost(1), dense, y).rules_[0].feature == model.rounds_.feature[0]
    numbers = [float("nan") if label is None else float(label == "yes") for label in y]
    codes = [-1 if label is None else int(label == "yes") for label in y]
    for labels in (numbers, codes, np.array(codes), np.array(numbers)):
        assert quiet(CoBoost(20), names, labels).rounds_.alpha == model.rounds_.alpha


def test_seeds_by_name_and_by_place_and_labels_that_know_better():
    views = ([["a"], ["b"], ["a", "b"], ["a"]], [["x"], ["y"], ["x"], ["y"]])
    model = quiet(CoBoost(1), views, [None, None, None, "no"], seeds={"a": "yes", "b": "no"})
    assert model.seed_labels_.tolist() == [1, 0, -1, 0]  # rules disagree on row 2, row 3 is known
    places = quiet(CoBoost(1), views, [None, None, None, "no"], seeds=[((1, 0), "yes"), ((1, 1), "no")])
    assert places.rules_ == model.rules_
    assert str(model.rules_[0]).startswith("1.1 ")
    assert quiet(CoBoost(2), views, seeds={"x": 0, "y": 1}).predict(views).tolist() == [0, 1, 0, 1]


@pytest.mark.compiled
def test_strongest_features_and_unknown_ones():
    data = two_views(n=1000)
    X = (data.view1, data.view2)
    model = CoBoost(50, prior=[1, 1]).fit(X, seeds=data.seeds)
    best = model.strongest(1, "yes", 3)
    assert [votes for _, votes in best] == sorted((votes for _, votes in best), reverse=True)
    assert any(feature in data.seeds for feature, _ in best)
    unknown = ([["never seen"], []], [[], ["new"]])
    assert model.abstains(unknown).all()
    assert set(model.predict(unknown)) == {model.classes_[np.argmax(model.class_prior_)]}
    with pytest.raises(ParameterError, match="view must be 1 or 2"):
        model.strongest(0, "yes")


def test_it_ends_where_no_rule_is_left_or_there_is_no_feature():
    empty = ([[], [], []], [[], [], []])
    model = CoBoost(10).fit(empty, ["a", "b", "b"])
    assert model.n_rounds_ == 0
    assert model.rules_ == []
    assert model.predict(empty).tolist() == ["b"] * 3
    assert CoBoost(0).fit(SPEC, ["a", "b"] + [None] * 4).predict(SPEC).tolist()[0] in "ab"
    same = ([["a"], ["a"]], [["x"], ["x"]])
    assert CoBoost(10).fit(same, [0, 1]).n_rounds_ == 0


def test_scikit_learn_conventions():
    model = CoBoost(5, epsilon=0.1, unlabelled_mass=2.0)
    assert clone(model).get_params() == model.get_params()
    assert repr(model) == "CoBoost(n_rounds=5, epsilon=0.1, unlabelled_mass=2.0)"
    with pytest.raises(NotFittedError):
        model.predict(SPEC)
    model.fit(SPEC, SPEC_Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(SPEC), model.decision_function(SPEC))
    assert 0 <= model.score(SPEC, ["+", "-", "+", "-", "+", "-"]) <= 1


@pytest.mark.parametrize("owner", [CoBoost, DLCoTrain])
@pytest.mark.parametrize(
    ("X", "y", "seeds", "said"),
    [
        (SPEC[0], SPEC_Y, None, "must be a pair of views"),
        ((SPEC[0], SPEC[1][:5]), SPEC_Y, None, "view 1 has 6 rows, view 2 has 5"),
        (([], []), [], None, "no rows"),
        (SPEC, SPEC_Y[:5], None, "X has 6 rows, y has 5 labels"),
        (SPEC, None, None, "no row has a label and there are no seed rules"),
        (SPEC, [1, -1, 1, -1, -1, -1], None, "all known labels are 1"),
        (SPEC, SPEC_Y, {"E": "+"}, "no view has this feature"),
        (SPEC, SPEC_Y, [((3, 0), "+")], "no view has this feature"),
        ((["A"] * 6, SPEC[1]), SPEC_Y, None, "row 0 of a view is the string 'A'"),
        (([["A"], [1]] * 3, SPEC[1]), SPEC_Y, None, "row 1 of a view has features that are no names"),
        ((5, SPEC[1]), SPEC_Y, None, "a view is a matrix, or for each row"),
        ((np.full((6, 1), np.nan), SPEC[1]), SPEC_Y, None, "must be finite"),
    ],
)
def test_what_cannot_be_learnt_from(owner, X, y, seeds, said):
    with pytest.raises(DataError, match=said):
        owner().fit(X, y, seeds=seeds)


def test_seed_rules_that_contradict_each_other():
    X, seeds = ([["A", "B"]] * 6, SPEC[1]), {"A": 1, "B": 2}
    with pytest.raises(DataError, match="the seed rules leave no row labelled"):
        CoBoost().fit(X, seeds=seeds)
    assert DLCoTrain().fit(X, seeds=seeds).predict(X).tolist() == [1] * 6  # of equally strong rules the first decides


def test_other_views_than_those_learnt_from():
    dense = (np.eye(3), np.eye(3))
    model = quiet(CoBoost(2), dense, ["a", "b", None])
    with pytest.raises(DataError, match="has 2 features, but 3 were learnt from"):
        model.predict((np.eye(3)[:, :2], np.eye(3)))
    with pytest.raises(DataError, match="a matrix of 3 columns was learnt"):
        model.predict(([["a"]], [["b"]]))


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (CoBoost(-1), "n_rounds"),
        (CoBoost(epsilon=0), "epsilon"),
        (CoBoost(unlabelled_mass=-1), "unlabelled_mass"),
        (CoBoost(prior="flat"), "prior"),
        (CoBoost(prior=[1, 2, 3]), "prior"),
        (CoBoost(prior={"+": 1}), "prior"),
        (DLCoTrain(n_first=0), "n_first"),
        (DLCoTrain(n_first=9, n_last=8), "n_last"),
        (DLCoTrain(min_precision=1), "min_precision"),
        (DLCoTrain(smoothing=0), "smoothing"),
    ],
)
def test_parameters_out_of_range(model, said):
    with pytest.raises(ParameterError, match=said):
        model.fit(SPEC, SPEC_Y)


# ---- DL-CoTrain


@given(tasks(), st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1)), max_size=2, unique_by=lambda s: s[0]))
@settings(max_examples=80, deadline=None)
def test_decision_lists_are_those_of_the_definition(task, seeds):
    views, known, K = task
    known = [label if i % 3 < 2 else -1 for i, label in enumerate(known)]
    present = set().union(*views[0])
    seeds = [(f, k) for f, k in seeds if f in present]
    used = sorted({label for label in known if label >= 0})
    known = [used.index(label) if label >= 0 else -1 for label in known]
    K = len(used)
    expected = naive.dl_cotrain(views, known, [seeds, []], K, 1, 1, 8, 0.6)
    names = tuple([[f"{'ab'[j]}{f}" for f in row] for row in view] for j, view in enumerate(views))
    model = DLCoTrain(n_first=1, n_more=1, n_last=8, min_precision=0.6)
    model.fit(names, known, seeds={f"a{f}": k for f, k in seeds})
    wanted = {(j + 1, f"{'ab'[j]}{f}"): rule for j in (0, 1) for f, rule in expected[j].items()}
    found = {(r.view, r.feature): (r.label, r.strength) for r in model.rules_}
    assert found.keys() == wanted.keys()
    for key, (label, strength) in wanted.items():
        assert found[key] == (label, pytest.approx(strength))
    strengths = [r.strength for r in model.rules_]
    assert strengths == sorted(strengths, reverse=True)


def test_probability_is_the_strength_of_the_rule_that_decides():
    views = ([["a"], ["b"], ["c"], ["a"]], [["x"], ["y"], ["z"], ["x"]])
    for classes in (["A", "B", "A", None], ["A", "B", "C", None]):
        model = DLCoTrain().fit(views, classes)
        K = len(model.classes_)
        best = model.predict_proba(views).max(axis=1)
        np.testing.assert_allclose(best[3], 2.1 / (2 + 0.1 * K))  # both rows with "a"
        np.testing.assert_allclose(best[1], 1.1 / (1 + 0.1 * K))
        assert model.predict(views).tolist()[3] == "A"
        np.testing.assert_allclose(model.predict_proba(([[]], [["unseen"]]))[0], model.class_prior_)
        assert next(model.staged_predict(views)).tolist() == model.predict(views).tolist()
