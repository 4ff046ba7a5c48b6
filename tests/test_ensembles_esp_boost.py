"""ESPBoost and DeepESPBoost: estimators over records, ties, unequal lengths, restrictions, stages, margins, bounds."""

import math
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

import structens
from structens.align import align
from structens.core import GAP, DataError, ExpertPredictions, ModelError, ParameterError
from structens.datasets import ads
from structens.ensembles import DeepESPBoost, ESPBoost, PathExpertEnsemble, make_ensemble
from structens.ensembles.deep_esp_boost import BETA_GRID, LAMBDA_GRID
from structens.ensembles.esp_ensemble import label_scores
from structens.ensembles.vote import vote
from structens.evaluate import count_errors
from structens.io import read_records

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SPEC = {  # section 4.6; x is wrong
    "a": ["yxy", "yxy", "xyy", "yyx"],
    "b": ["xyy", "yyx", "yxy", "yyy"],
}
GOLD = ["yyy"] * 4


def spec(**options):
    return ESPBoost(n_rounds=4, tie="position", **options).fit(ExpertPredictions.of(SPEC, gold=GOLD))


def noisy(n=60, length=4, p=4, right=0.7, seed=0, unequal=False, absent=False):
    """Texts over "abc", and experts that are right in some of their units."""
    rng = np.random.default_rng(seed)
    gold = ["".join(rng.choice(list("abc"), size=length - (i % 2 if unequal else 0))) for i in range(n)]
    experts = {}
    for j in range(p):
        said = []
        for text in gold:
            units = [u if rng.random() < right + 0.05 * j else rng.choice(list("abc")) for u in text]
            if unequal and rng.random() < 0.2:
                units.pop(int(rng.integers(len(units))))
            said.append(None if absent and rng.random() < 0.15 else "".join(units))
        experts[f"e{j}"] = said
    return ExpertPredictions.of(experts, gold=gold)


def test_the_trace_of_the_specification():
    model = spec()
    expected = [[0.922913, 0.933974], [0.626381, 1.230506], [0.922913, 0.933974]]
    assert model.weights_[:3].round(6).tolist() == expected
    assert model.weights_[3] == pytest.approx(np.mean(expected, axis=0), abs=1e-6)
    assert model.epsilons_.round(6).tolist() == [0.25, 0.222222, 0.321429, 0.350877]
    assert model.z_.prod() == pytest.approx(0.641982, abs=5e-7)
    assert model.bounds_["bound on it: F"] == pytest.approx(0.641982, abs=5e-7)
    assert model.votes_by_path_ == pytest.approx(
        {(0, 1, 0): 0.922913, (1, 0, 1): 0.626381, (1, 1, 1): 0.307593}, abs=1e-6
    )
    assert (model.n_rounds_, model.stopped_) == (4, "rounds")


def test_app_i_both_are_right_where_no_expert_is():
    """ICML 2014, appendix I: two experts, each always right in one of two positions and always wrong in the other."""
    X = ExpertPredictions.of({"a": ["pX", "qX", "pX"], "b": ["Xr", "Xs", "Xs"]}, gold=["pr", "qs", "ps"])
    for model in (ESPBoost(tie="position"), DeepESPBoost(tie="position"), PathExpertEnsemble(tie="position", beta=0.5)):
        assert model.fit(X).predict(X) == ["pr", "qs", "ps"]


def test_a_perfect_path_of_several_experts_ends_the_game():  # BOOST-16
    X = ExpertPredictions.of({"a": ["aX", "cX"], "b": ["Xb", "Xd"]}, gold=["ab", "cd"])
    model = ESPBoost(tie="position").fit(X)
    assert (model.paths_[0].tolist(), model.epsilons_.tolist(), model.stopped_) == ([0, 1], [0.0], "perfect")
    assert model.predict(X) == ["ab", "cd"]
    X = ExpertPredictions.of({"a": ["abXX"], "b": ["abXX"], "c": ["XbcX"]}, gold=["abcd"])
    model = ESPBoost(tie="position").fit(X)
    assert model.paths_[0].tolist() == [0, 0, 2, 0]
    assert model.epsilons_.tolist() == [0.25]
    assert model.alphas_ == pytest.approx([0.5493061443])
    assert (model.n_rounds_, model.stopped_) == (1, "weak")


def test_a_path_that_is_silent_somewhere_is_not_the_end():
    y = ["y"]
    parts = {"A": [["n"]] * 10, "b": [y] * 6 + [None] * 4, "c": [None] * 6 + [y] * 4}
    nothing = {"A": [["n", "n"]] * 10, "b": [["y", "y"]] * 6 + [[]] * 4, "c": [[]] * 6 + [["y", "y"]] * 4}
    labels = {"a": [["x"]] * 30 + [["z"]] * 25, "b": [["w"]] * 30 + [["x"]] * 25}
    for said, gold, options in (
        (parts, [y] * 10, {}),
        (nothing, [["y", "y"]] * 10, {"unequal": "abstain"}),
        (labels, [["x"]] * 55, {"tie": "label"}),
    ):
        X = ExpertPredictions.of(said, gold=gold)
        model = ESPBoost(**options).fit(X)
        assert model.score(X) == 1.0
        assert len(model.votes_by_path_) > 1
        assert model.bounds_["bound on it: F"] < 1 / 55


def test_by_labels_the_best_expert_is_what_is_left():
    X = ExpertPredictions.of({"a": [["x"]] * 10, "b": [["y"]] * 10}, gold=[["y"]] * 4 + [["q"]] * 6)
    for model in (ESPBoost(tie="label"), DeepESPBoost(tie="label", hopeless="charge", beta=0.1)):
        done = model.fit(X).combine(X)
        assert (model.n_rounds_, model.score(X)) == (0, 0.4)
        assert model.paths_.tolist() == [[1, 1, 1]]
        assert "and the best expert answers alone" in done.notes[0]
        assert model.bounds_["training loss"] == pytest.approx(0.6)
    by_record = {"a": [["y"] * 6, ["x"]], "b": [["q"] * 6, ["q"]], "c": [["z"] * 6, ["q"]]}
    X = ExpertPredictions.of(by_record, gold=[["y"] * 2 + ["s"] * 4, ["q"]])
    model = ESPBoost(tie="label", weighting="record", n_rounds=1, align="always")
    assert model._best_expert(align(X)) == 1


def test_no_path_expert_better_than_chance():  # BOOST-15
    for gold, said, epsilon in (("aaaaa", "abbba", 0.6), ("ab", "aX", 0.5)):
        X = ExpertPredictions.of({"one": [said]}, gold=[gold])
        for model in (ESPBoost(tie="position"), ESPBoost(), DeepESPBoost(hopeless="charge", beta=0.1)):
            done = model.fit(X).combine(X)
            assert (model.n_rounds_, model.stopped_) == (0, "weak")
            assert model.bounds_["training loss"] == pytest.approx(epsilon)
            assert done.answers == [said]
            assert "nothing could be boosted, and the best path expert answers alone" in done.notes[0]
            assert list(model.staged_predict(X)) == [[said]]


def test_hopeless_slots_stop_the_plain_game_only():
    X = noisy(80, p=5, right=0.6)
    said = {name: [answer if i % 3 else "zzzz" for i, answer in enumerate(X[name])] for name in X.names}
    bad = ExpertPredictions.of(said, gold=X.gold)
    plain, skipping = ESPBoost().fit(bad), ESPBoost(hopeless="skip").fit(bad)
    deep = DeepESPBoost().fit(bad)
    assert plain.stopped_ == "weak"
    assert plain.n_rounds_ < min(skipping.n_rounds_ + 1, deep.n_rounds_)
    assert skipping.bounds_["bound on it: F"] < plain.bounds_["bound on it: F"]
    for model in (plain, skipping, deep):
        bounds = model.bounds_
        assert bounds["training loss"] <= bounds["bound on it: F"]
        assert bounds["margin loss at 0.1"] <= bounds["bound on it: F exp(rho |alpha|) (theorem 5)"]


@pytest.mark.parametrize("tie", ["expert", "position", "position-from-end", "label", "vowels"])
@pytest.mark.parametrize("kind", [ESPBoost, DeepESPBoost])
def test_every_tie_learns_and_is_bounded(kind, tie):
    by = (lambda slots: slots.position % 2) if tie == "vowels" else tie
    X = noisy(unequal=True, absent=True)
    options = {"beta": 0.001, "surrogate": "logistic"} if kind is DeepESPBoost else {}
    model = kind(tie=by, **options).fit(X)
    slots = align(X)
    margins = model.margins(X)
    assert margins.lengths.tolist() == slots.lengths.tolist()
    assert (np.abs(margins.values) <= 1 + 1e-12).all()
    wrong = vote(slots.labels, model._weights(slots, X)).label != slots.gold
    assert (margins.values[wrong] <= 1e-12).all()
    bounds = model.bounds_
    assert bounds["training loss"] == pytest.approx(wrong.mean())
    assert bounds["training loss"] <= bounds["bound on it: F"] + 1e-12
    loss = (margins.values <= 0.1).mean()
    assert bounds["margin loss at 0.1"] == pytest.approx(loss)
    assert loss <= bounds["bound on it: F exp(rho |alpha|) (theorem 5)"] + 1e-12
    stages = list(model.staged_predict(X))
    assert len(stages) == max(model.n_rounds_, 1)
    assert stages[-1] == model.predict(X)
    p = len(X.names)
    assert model.weights_.shape == (len(model.counts_) + 1, p)
    rebuilt = np.zeros(model.weights_[:-1].shape)
    for path, a in model.votes_by_path_.items():
        for c, j in enumerate(path):
            if j >= 0:
                rebuilt[c, j] += a
    if model.votes_by_path_:
        assert model.weights_[:-1] == pytest.approx(rebuilt)


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_on_the_expected_loss(seed):
    """Theorem 4 of a fitted ensemble, by its margins; fresh records are from the same source."""
    X = noisy(400, length=3, p=4, seed=seed)
    learn, test = X[:200], X[200:]
    model = ESPBoost(tie="position", n_rounds=10, rho=0.4, delta=0.1).fit(learn)
    loss = (model.margins(learn).values <= 0.4).mean()
    complexity = 2 / 0.4 * 3**2 * math.sqrt(2 * math.log(4 * 3) / 200)
    bound = model.bounds_["bound on the expected loss (theorem 4)"]
    assert bound == pytest.approx(loss + complexity + math.sqrt(math.log(3 / 0.1) / 400))
    answers = zip(model.predict(test), test.gold, strict=True)
    assert np.mean([a != b for said, gold in answers for a, b in zip(said, gold, strict=True)]) <= bound


def test_margins_by_definition():
    model = spec()
    margins = model.margins(ExpertPredictions.of(SPEC, gold=GOLD))
    V, norm = model.weights_[:3], model.alphas_.sum()
    for i, row in enumerate(margins.to_list()):
        for k, margin in enumerate(row):
            right = sum(V[k, j] for j, name in enumerate("ab") if SPEC[name][i][k] == "y")
            assert margin == pytest.approx((2 * right - V[k].sum()) / norm)
    nothing = model.margins(ExpertPredictions.of(SPEC))
    assert np.isnan(nothing.values).all()


def test_records_or_tokens_weigh_alike():
    X = ExpertPredictions.of({"a": ["yyyyyy", "x"], "b": ["xxxxyy", "y"]}, gold=["yyyyyy", "y"])
    by_token, by_record = (ESPBoost(n_rounds=1, weighting=how, align="always").fit(X) for how in ("token", "record"))
    assert by_token.epsilons_ == pytest.approx([1 / 7])
    assert by_record.epsilons_ == pytest.approx([1 / 3])  # b: 4 of 6 wrong in one of two records
    assert by_record.paths_[0].tolist() == [1]


def test_unequal_lengths_in_two_ways():
    X = noisy(80, unequal=True)
    epsilon, abstain = (ESPBoost(unequal=how).fit(X) for how in ("epsilon", "abstain"))
    slots = align(X)
    assert epsilon._margins_of_experts(slots, X).all()
    rho = abstain._margins_of_experts(slots, X)
    assert (rho[slots.labels == GAP] == 0).all()
    assert rho[slots.labels != GAP].all()
    assert (abstain._weights(slots, X)[slots.labels == GAP] == 0).all()
    assert all(len(a) >= len(b) for a, b in zip(abstain.predict(X), epsilon.predict(X), strict=True))


def restricted_by_hand(model, X, forbidden):
    """All label sequences that experts propose, without forbidden pairs, by summed score and by product."""
    slots = align(X)
    scores = label_scores(slots.labels, model._weights(slots, X))
    out = []
    for i in range(len(X)):
        span = slice(slots.offsets[i], slots.offsets[i + 1])
        rows = []
        for labels, score in zip(slots.labels[span], scores[span], strict=True):
            rows.append([(slots.alphabet.labels[a], s) for a, s in zip(labels, score, strict=True) if s > -np.inf])
        allowed = [c for c in product(*rows) if not any((a[0], b[0]) in forbidden for a, b in pairwise(c))]
        best = {
            "sum": max(allowed, key=lambda c: sum(s for _, s in c)),
            "product": max(allowed, key=lambda c: math.prod(s for _, s in c)),
        }
        out.append({how: "".join(a for a, _ in c) for how, c in best.items()})
    return out


def test_restricted_answers_by_sum_and_by_product():
    X = noisy(60, length=4, p=6, right=0.35)
    forbidden = [("a", "b"), ("b", "c"), ("c", "a")]
    rule = {"forbidden": [list(pair) for pair in forbidden]}
    answers = {}
    for how in ("sum", "product"):
        model = ESPBoost(tie="position", hopeless="skip", restriction=rule, scores=how).fit(X)
        assert (model.weights_[:-1] > 0).sum() > 6
        by_hand = [best[how] for best in restricted_by_hand(model, X, set(forbidden))]
        answers[how] = model.predict(X)
        assert answers[how] == by_hand
        free = ESPBoost(tie="position", hopeless="skip", scores=how).fit(X).predict(X)
        assert free != answers[how]
    assert answers["sum"] != answers["product"]


def test_confidences_are_scores():
    X = ExpertPredictions.of(
        {"a": ["xx", "xy", "yy", "yx"], "b": ["yx", "xx", "yx", "yy"]}, gold=["xx", "xy", "yx", "yx"]
    )
    sure = {
        "a": [[0.9, 0.9], [0.9, 0.8], [0.9, 0.2], [0.7, 0.9]],
        "b": [[0.2, 0.6], [0.9, 0.3], [0.5, 0.9], [0.8, 0.1]],
    }
    X = X.with_confidences(sure)
    model = ESPBoost(base="confidences").fit(X)
    slots = align(X)
    rho = model._margins_of_experts(slots, X)
    assert rho[0].tolist() == [0.9, -0.2]
    total = np.zeros(len(rho))
    for path, a in model.votes_by_path_.items():
        total += a * rho[:, path[0]]
    assert model.bounds_["bound on it: F"] == pytest.approx(np.exp(-total).mean())
    assert model.predict(X) == ["xx", "xy", "yx", "yx"]
    closed = ESPBoost(base="confidences", step="closed").fit(X)
    assert closed.z_[0] >= model.z_[0]
    assert ESPBoost(base="confidences", null_confidence=1.0).fit(noisy()).bounds_ == pytest.approx(
        ESPBoost().fit(noisy()).bounds_
    )


def test_contexts_that_are_new():
    model = spec()
    done = model.combine({"a": ["yxyxx"], "b": ["xyyyy"]})
    assert done.answers == ["xyyyy"]
    assert done.notes == (
        "2 slots are in contexts that never occurred in learning (tie='position'); "
        "they get the mean of the learnt votes",
    )
    labels = ESPBoost(tie="label").fit(noisy())
    assert "a label that an expert never gave" in labels.combine({f"e{j}": ["abq"] for j in range(4)}).notes[0]


def test_absent_experts():
    X = noisy(80, absent=True)
    model = ESPBoost(tie="position").fit(X)
    part = ExpertPredictions.of({"e3": ["abca"], "e1": ["abcb"]})
    assert model.predict(part)[0][:3] == "abc"
    one = model.predict(ExpertPredictions.of({"e0": ["abca"]}))
    assert one == ["abca"]


def test_models_keep(tmp_path):
    X = noisy(unequal=True)
    for model in (ESPBoost(), ESPBoost(tie="label"), DeepESPBoost(tie="position", beta=0.01, lam=0.0, surrogate="exp")):
        structens.save(model.fit(X), tmp_path / "m.structens")
        again = structens.load(tmp_path / "m.structens")
        assert type(again) is type(model)
        assert again.predict(X) == model.predict(X)
        assert again.bounds_ == model.bounds_
        assert again.votes_by_path_ == model.votes_by_path_
        assert list(again.staged_predict(X)) == list(model.staged_predict(X))
    with pytest.raises(ModelError, match="tie is a function"):
        structens.save(ESPBoost(tie=lambda slots: slots.position).fit(X), tmp_path / "m.structens")


def test_methods_and_parameters():
    assert repr(make_ensemble("esp-boost", tie="position", beta=0.3)) == "ESPBoost(tie='position')"
    assert repr(make_ensemble("deep-esp-boost", beta=0.3, lam=0.1)) == "DeepESPBoost(lam=0.1)"  # beta is no rate there
    from sklearn.base import clone

    assert repr(clone(DeepESPBoost(lam=0.1))) == "DeepESPBoost(lam=0.1)"
    X = noisy(10)
    wrong = {"base": "odds", "scores": "mean", "unequal": "pad", "weighting": "none", "hopeless": "keep", "rho": 0.0}
    for name, value in {**wrong, "delta": 2.0, "null_confidence": -1.0, "tie": "word", "n_rounds": 0}.items():
        with pytest.raises(ParameterError, match=name):
            ESPBoost(**{name: value}).fit(X)
    for name, value in {"lam": -1.0, "beta": "path", "surrogate": "hinge", "complexity": "length"}.items():
        with pytest.raises(ParameterError, match=name):
            DeepESPBoost(**{name: value}).fit(X)
    for name, value in (("n_rounds", 2.5), ("n_rounds", "x"), ("rho", "a"), ("delta", None), ("null_confidence", "b")):
        for kind in (ESPBoost, DeepESPBoost):
            with pytest.raises(ParameterError, match=f"{name} must be"):
                kind(**{name: value}).fit(X)
    for name, value in (("lam", None), ("beta", math.inf), ("lam", math.nan), ("complexity", None)):
        with pytest.raises(ParameterError, match=f"{name} must be"):
            DeepESPBoost(**{name: value}).fit(X)
    for value in (["a"] * 4, 1.0, [None] * 4, [0.1, [0.2]]):
        with pytest.raises(ParameterError, match="complexity must give"):
            DeepESPBoost(complexity=value, lam=0.1, beta=0.1, surrogate="exp").fit(X)
    for kind in (ESPBoost, DeepESPBoost):
        with pytest.raises(ParameterError, match=r"null_confidence=.* changes nothing: it is for base confidences"):
            kind(null_confidence=0.3).fit(X)
    graded = DeepESPBoost(complexity=np.full(4, 0.1), beta=0.01, surrogate="exp", n_rounds=2).fit(X)
    assert graded.lam_ in LAMBDA_GRID
    with pytest.raises(ParameterError, match="does not go with tie 'label'"):
        DeepESPBoost(complexity="switches", tie="label").fit(X)
    with pytest.raises(ParameterError, match="complexity must give"):
        DeepESPBoost(complexity=[0.1], beta=0.1).fit(X)
    with pytest.raises(ParameterError, match="step must be one of"):
        ESPBoost(step="half").fit(X)
    with pytest.raises(DataError, match="no record has gold"):
        ESPBoost().fit({"a": ["x"]})


def test_records_without_units():
    X = ExpertPredictions.of({"a": [[], []], "b": [[], []]}, gold=[[], []])
    for model in (ESPBoost(), DeepESPBoost()):
        assert model.fit(X).predict(X) == [[], []]


def test_deep_choices_by_held_out_records():
    X = noisy(40, length=3)
    model = DeepESPBoost(tie="position", n_rounds=30).fit(X)
    assert (model.lam_, model.beta_ in BETA_GRID, model.surrogate_ in ("exp", "logistic")) == (0.0, True, True)
    assert DeepESPBoost(tie="position", n_rounds=30).fit(X).weights_.tolist() == model.weights_.tolist()
    for complexity in ("switches", [0.1, 0.2, 0.3, 0.4]):
        options = {"complexity": complexity, "beta": 0.001, "surrogate": "logistic", "n_rounds": 30}
        graded = DeepESPBoost(tie="position", **options).fit(X)
        assert graded.lam_ in LAMBDA_GRID
    dear = DeepESPBoost(tie="position", complexity=[0.0, 1.0, 1.0, 1.0], lam=0.3, beta=0.0, surrogate="logistic").fit(X)
    cheap = DeepESPBoost(tie="position", complexity=[0.0] * 4, lam=0.3, beta=0.0, surrogate="logistic").fit(X)
    assert dear.weights_[:, 0].sum() / dear.weights_.sum() > cheap.weights_[:, 0].sum() / cheap.weights_.sum()
    steady = DeepESPBoost(tie="position", complexity="switches", lam=1.0, beta=0.0, surrogate="logistic").fit(X)
    loose = DeepESPBoost(tie="position", complexity="switches", lam=0.0, beta=0.001, surrogate="logistic").fit(X)

    def switches(model):
        rows = [(a, sum(x != y for x, y in pairwise(h))) for h, a in model.votes_by_path_.items()]
        return sum(a * s for a, s in rows) / sum(a for a, _ in rows)

    assert switches(steady) < switches(loose)
    assert DeepESPBoost().fit(X[:1]).beta_ == BETA_GRID[0]  # nothing to hold out


def test_ads1_is_learnt_as_published():
    X = ads(1, "matched", n=4200)
    model = ESPBoost(tie="position").fit(X[:200])
    error = count_errors(model.predict(X[200:]), X[200:], loss="edit").errors.sum() / 40_000
    assert error == pytest.approx(0.0201, abs=0.002)


@pytest.mark.skipif(not (DATA / "pron.jsonl.gz").exists(), reason="../shared/data is not there")
def test_pronunciations_stop_the_plain_game_and_not_the_deep_one():
    X = read_records(DATA / "pron.jsonl.gz")[:900]
    learn, test = X[:450], X[450:]
    best, plain, deep = (make_ensemble(method).fit(learn) for method in ("best", "esp-boost", "deep-esp-boost"))
    assert (plain.stopped_, plain.n_rounds_ < 10) == ("weak", True)
    assert deep.n_rounds_ > 50
    errors = [count_errors(model.predict(test), test, loss="edit").errors.sum() for model in (best, plain, deep)]
    assert errors[1] <= 1.02 * errors[0]
    assert errors[2] < 0.95 * errors[0]
