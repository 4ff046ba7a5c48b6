"""Dawid-Skene and selection by reliability: twins from the definition, clamped gold, crowds, order, the command."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import dawid_skene as naive
from run_cli import lines, run
from test_generative import noisy

from structens.core import ExpertPredictions, Ragged
from structens.ensembles import ConfusionPaths, DawidSkene, MajorityVote, ReliabilitySelection
from structens.ensembles.confusions import Answers, Shrinkage, coins, count_coins, count_said, tables
from structens.ensembles.dawid_skene import GROWN, NGRAM_EXPONENT
from structens.ensembles.halved_ngrams import Texts, grow_halves, half_of, halved_marginals, halved_paths
from structens.ensembles.model_selection import cross_predict
from structens.ensembles.ngram_tree import NGramTree, grow_ngrams, log_probability
from structens.ensembles.reliability_selection import likeness
from structens.ensembles.slot_lattice import Candidates, best_path, marginals
from structens.evaluate import count_errors, evaluate_methods
from structens.io.ensemble_file import load, save

N_LABELS = 3


@st.composite
def tiny(draw):
    """Records of two units by three experts, two labels in use, perhaps with gold."""
    answer = st.lists(st.sampled_from("ab"), min_size=2, max_size=2)
    rows = draw(st.lists(st.tuples(answer, answer, answer), min_size=1, max_size=6))
    gold = draw(st.lists(st.one_of(st.none(), answer), min_size=len(rows), max_size=len(rows)))
    X = ExpertPredictions.of(dict(zip("xyz", map(list, zip(*rows, strict=True)), strict=True)), gold=gold)
    return X, rows, gold


@settings(max_examples=30, deadline=None)
@given(tiny(), st.sampled_from(["closed", "open"]), st.sampled_from([1, 60]), st.sampled_from([0.05, 0.7, 4.0]))
def test_expectation_maximisation_against_the_definition(made, vocabulary, n_iterations, shrinkage):
    X, rows, gold = made
    model = DawidSkene(
        n_iterations=n_iterations, vocabulary=vocabulary, label_order=0, shrinkage=shrinkage, exponents=1.0
    ).fit(X)
    code = {label: i for i, label in enumerate(model.labels_)}
    gap = len(code)
    slots = [[(j, code[said[i]]) for j, said in enumerate(row)] for row in rows for i in range(2)]
    truth = [None if g is None else code[g[i]] for g in gold for i in range(2)]
    totals, posterior = naive.expectation_maximisation(
        *(slots, gap, 3, len(model.log_likelihoods_)),
        closed=vocabulary == "closed", shrinkage=shrinkage, gold=truth,
    )  # fmt: skip
    assert model.log_likelihoods_ == pytest.approx(totals, rel=1e-6, abs=1e-3)
    counts = naive.maximise(slots, posterior)
    for j in range(3):
        right = sum(c for (source, t, x), c in counts.items() if source == j and t == x)
        assert (model.counts_[j, 0] if vocabulary == "open" else np.trace(model.counts_[j])) == pytest.approx(
            right, abs=1e-3
        )
        known = [
            (t, x) for row, t in zip(slots, truth, strict=True) for source, x in row if source == j and t is not None
        ]
        assert right >= sum(t == x for t, x in known) - 1e-9  # gold is counted as it is


@settings(max_examples=15, deadline=None)
@given(tiny(), st.sampled_from([1, 2]))
def test_posteriors_with_ngrams_against_all_paths(made, order):
    X, rows, _ = made
    model = DawidSkene(n_iterations=6, label_order=order, exponents=1.0).fit(X)
    X = model._recoded(X)
    code = {label: i for i, label in enumerate(model.labels_)}
    found, half = model._posteriors(model._slots(X), X), half_of(X.ids)
    table = naive.confusion(counted(model), 3, len(code), model.shrinkage)
    prior = naive.normed({t: model.truths_[t] + 0.5 for t in range(len(code) + 1)})
    frequency = naive.normed({t: prior[t] for t in code.values()})
    for i, row in enumerate(rows):
        tree, joint = NGramTree(**model.ngrams_[half[i]]), {}
        for path in itertools.product(code.values(), repeat=2):
            joint[path] = np.exp(NGRAM_EXPONENT * log_probability(tree, np.array(path, np.int32)))
            for s, t in enumerate(path):
                joint[path] *= frequency[t] ** (1.0 - NGRAM_EXPONENT)
                for j, said in enumerate(row):
                    joint[path] *= table[j, t, code[said[s]]]
        joint = naive.normed(joint)
        for s, t in itertools.product(range(2), code.values()):
            right = sum(p for path, p in joint.items() if path[s] == t)
            at = found.label[2 * i + s] == t
            assert found.probability[2 * i + s][at].sum() == pytest.approx(
                right, abs=2e-3
            )  # unlikely ones are left out


def counted(model):
    """A closed model's counts, by (source, truth, said)."""
    return {key: c for key, c in np.ndenumerate(model.counts_) if c and key[0] < len(model.sources_)}


def test_no_record_is_judged_by_ngrams_that_have_read_its_guess():
    rng = np.random.default_rng(0)
    guess, half = Ragged.of([rng.integers(0, 4, 6).tolist() for _ in range(20)]), half_of(range(20))
    other = Ragged(np.where(half[guess.rows] == 0, 3 - guess.values, guess.values).astype(np.int32), guess.offsets)
    before, after = (grow_halves(Texts(g, half, Ragged.of([[0, 1]])), 4, 3) for g in (guess, other))
    assert all(np.array_equal(a, b) for a, b in zip(before[0], after[0], strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(before[1], after[1], strict=True))
    offsets, score = np.arange(0, 61, 3), rng.normal(size=(60, 4))
    c = Candidates(offsets, np.tile(np.arange(4, dtype=np.int32), (60, 1)), score)
    found, path = halved_marginals(c, before, half, 0.8), halved_paths(c, before, half, 0.8)
    for i in range(20):
        one = slice(offsets[i], offsets[i + 1])
        own = Candidates(np.array([0, 3]), c.label[one], score[one])
        assert found.probability[one] == pytest.approx(marginals(own, before[half[i]], 0.8).probability)
        assert path[one].tolist() == best_path(own, before[half[i]], 0.8).tolist()


def test_ngrams_are_learnt_from_gold_text_and_guesses():
    X, right = noisy(150, (0.05, 0.45, 0.5, 0.55), gold=False)
    gold = X.with_gold(right)
    guessed = DawidSkene().fit(X)
    assert guessed.order_ >= 2  # each label tells the next
    assert guessed.score(gold) > 0.99 > DawidSkene(label_order=0).fit(X).score(gold)
    assert DawidSkene(decode="viterbi").fit(X).score(gold) > 0.99
    some = DawidSkene().fit(X.with_gold([g if i < 40 else None for i, g in enumerate(right)]))
    assert (some.n_gold_, some.score(gold[40:])) == (40, 1.0)
    known = DawidSkene(label_order=3, text=[["t0", "t9"]]).fit(gold[:30])
    place = {label: i for i, label in enumerate(known.labels_)}
    expected = grow_ngrams(Ragged.of([[place[t] for t in row] for row in [*right[:30], ["t0", "t9"]]]), len(place), 3)
    for tree in known.ngrams_:
        assert all(np.array_equal(tree[name], part) for name, part in expected._asdict().items())
    assert DawidSkene(vocabulary="open").fit(X).order_ == 0


def test_exponents_without_gold_fall_with_the_number_of_answers():
    for p, closed, open_ in ((1, 1.0, 1.0), (4, 0.5, 1.0), (10, 0.25, 0.5), (25, 0.25, 0.25)):
        X = ExpertPredictions.of({f"e{j:02}": ["ab", "ba"] for j in range(p)})
        for vocabulary, e in (("closed", closed), ("open", open_)):
            assert DawidSkene(vocabulary=vocabulary).fit(X).exponents_[0] == pytest.approx(e)


def test_records_in_which_nothing_stands():
    assert DawidSkene().fit({"a": ["", ""], "b": ["", ""]}).predict({"a": ["", "x"], "b": ["", "x"]})[0] == ""
    assert DawidSkene().fit({"a": ["x", None], "b": ["x", None]}).predict({"a": ["x"], "b": ["x"]}) == ["x"]


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([("closed", 0), ("open", 0), ("closed", 2)]))
def test_likelihood_never_falls(seed, kind):
    X, _ = noisy(40, (0.1, 0.3, 0.5, 0.6), gold=False, seed=seed)
    model = DawidSkene(vocabulary=kind[0], label_order=kind[1], shrinkage=1e-9, exponents=1.0, n_iterations=15).fit(X)
    steps = np.diff(model.log_likelihoods_[GROWN[-1] if kind[1] else 0 :])
    assert len(steps) > 1
    assert (steps >= (-0.05 if kind[1] else -2e-3)).all()  # candidates that become unlikely are left out


answer = st.integers(-1, N_LABELS)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, N_LABELS), answer, answer), min_size=1, max_size=12))
def test_tables_and_coins_against_counting(rows):
    said = np.array([row[1:] for row in rows], np.int32)
    truth = np.array([row[:1] for row in rows], np.int32)
    answers = Answers(said, np.tile([0, 1], (len(rows), 1)), N_LABELS, 2)
    slots = [[(j, x) for j, x in enumerate(row[1:]) if x >= 0] for row in rows]
    counts = naive.maximise(slots, [{row[0]: 1.0} for row in rows])
    ones = np.ones(truth.shape)
    found = np.exp(tables(count_said(answers, truth, ones), Shrinkage()))
    for (source, t, x), value in naive.confusion(counts, 2, N_LABELS, 4.0).items():
        assert found[source, x, t] == pytest.approx(value, abs=2e-6)
    assert np.exp(coins(count_coins(answers, truth, ones))) == pytest.approx(
        np.array(naive.coin(counts, 2, N_LABELS, 4.0))
    )


@pytest.mark.parametrize("vocabulary", ["closed", "open"])
def test_order_does_not_matter(vocabulary):
    X, _ = noisy(30, (0.2, 0.3, 0.4, 0.5), gold=False)
    names, rows = ("e2", "e0", "e3", "e1"), np.random.default_rng(0).permutation(30)
    model, other = (DawidSkene(vocabulary=vocabulary).fit(Y) for Y in (X, X.reindex(names)[rows]))
    assert other.log_likelihoods_[-1] == pytest.approx(model.log_likelihoods_[-1], abs=1e-2)
    place = [model.sources_.index(name) for name in names]
    right = [
        m.counts_[:4, 0] if vocabulary == "open" else np.trace(m.counts_[:4], axis1=1, axis2=2) for m in (model, other)
    ]
    assert right[1] == pytest.approx(right[0][place], abs=1e-2)
    weights = [ReliabilitySelection().fit(Y).reliability_ for Y in (X, X.reindex(names)[rows])]
    assert weights[1] == pytest.approx(weights[0])


def crowd(n=300, n_workers=240, seed=0):
    """Three answers a record, by workers seen a few times each; every third makes up most of what they say."""
    rng = np.random.default_rng(seed)
    truth = [[f"w{x}" for x in rng.integers(0, 400, 4)] for _ in range(n)]
    said, workers = {}, {}
    for j in "abc":
        who = rng.integers(0, n_workers, n)
        rate = np.where(who % 3 == 0, 0.8, 0.1)
        said[j] = [
            [f"w{rng.integers(0, 400)}" if rng.random() < r else t for t in row]
            for row, r in zip(truth, rate, strict=True)
        ]
        workers[j] = [f"u{w}" for w in who]
    return ExpertPredictions.of(said, workers=workers), truth


def test_workers_seen_rarely(tmp_path):
    X, truth = crowd()
    gold = X.with_gold(truth)
    model = DawidSkene(exponents=1.0).fit(X)
    assert len(model.sources_) > 200
    assert model.counts_.shape == (len(model.sources_) + 1, 5)
    by_name = model.score(gold)
    assert by_name > MajorityVote().fit(X).score(gold) + 0.02
    assert (
        by_name
        > DawidSkene(exponents=1.0).fit(ExpertPredictions.of({n: X._answers_of(n) for n in X.names})).score(gold) + 0.02
    )
    rate, pool = (np.exp(coins(model.counts_, w))[:, 0] for w in (4.0, 1e9))
    seen = model.counts_[:, :3].sum(axis=1)
    own = model.counts_[:-1, 0] / np.maximum(seen[:-1], 1e-9)
    away = np.abs(own - pool[:-1])
    drawn = np.abs(rate[:-1] - pool[:-1])
    far = away > 0.02
    assert drawn[far] == pytest.approx((away * seen[:-1] / (seen[:-1] + 4.0))[far], abs=1e-3)  # the rarer, the nearer
    assert rate[-1] == pytest.approx(pool[-1], abs=1e-6)  # a worker who is not known is the pool
    spam = np.array([int(name[1:]) % 3 == 0 for name in model.sources_])
    assert rate[:-1][~spam].mean() > rate[:-1][spam].mean() + 0.2
    assert len(model.predict(X.with_workers({j: ["nobody"] * len(X) for j in "abc"}))) == len(X)
    half, nameless = np.arange(len(X)) < 150, ExpertPredictions.of({n: X._answers_of(n) for n in X.names})
    by_gold = ConfusionPaths().fit(gold[half])
    assert by_gold.score(gold[~half]) > ConfusionPaths().fit(nameless.with_gold(truth)[half]).score(gold[~half]) + 0.02
    for one in (model, ReliabilitySelection().fit(X), by_gold):
        save(one, tmp_path / "m.structens")
        assert load(tmp_path / "m.structens").predict(X) == one.predict(X)


words = st.text("ab", min_size=1, max_size=4)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(words, words, words), min_size=1, max_size=5), st.permutations("uvw"))
def test_selection_against_the_definition(rows, who):
    said = dict(zip("abc", map(list, zip(*rows, strict=True)), strict=True))
    workers = {j: [who[(k + i) % 3] for i in range(len(rows))] for k, j in enumerate("abc")}
    X = ExpertPredictions.of(said, workers=workers, unit="char")
    like = [[[1.0 - naive.edit_distance(a, b) / max(len(a), len(b)) for b in row] for a in row] for row in rows]
    assert likeness(X) == pytest.approx(np.array(like))
    columns = [[workers[j][i] for j in "abc"] for i in range(len(rows))]
    chosen, weight = naive.hrrasa(like, columns, 5, 4.0)
    model = ReliabilitySelection().fit(X)
    for name, value in weight.items():
        assert model.reliability_[name] == pytest.approx(value)
    scores = naive.selection_scores(like, columns, weight)
    for text, row, k, own in zip(model.predict(X), rows, chosen, scores, strict=True):
        assert text == row[k] or own[row.index(text)] == pytest.approx(max(own))  # but for rounding


@pytest.mark.parametrize("method", ["dawid-skene", "hrrasa"])
def test_the_command_without_gold_follows_the_reliable(method, tmp_path):
    said = [{"a": ["y", "z"], "b": ["x", t], "c": ["x", t]} for t in "pqrs"]
    said.append({"a": ["n", "o"], "c": ["m", "o"]})  # of two the vote follows the first
    made = [{"id": i, "experts": e, "workers": {j: f"u{j}" for j in e}} for i, e in enumerate(said)]
    path = tmp_path / "in.jsonl"
    path.write_text(lines(*made))
    done = run("combine", path, "--method", method)
    assert done.code == 0, done.err
    assert done.answers == {**{i: ["x", t] for i, t in enumerate("pqrs")}, 4: ["m", "o"]}
    assert "with gold" not in done.err
    path.write_text(lines({**made[0], "gold": ["x", "p"]}, *made[1:]))
    some = "learnt from all records, 1 with gold" in run("combine", path, "--method", method).err
    assert some is (method == "dawid-skene")


def test_evaluation_does_not_show_it_the_gold_it_is_judged_by():
    X, _ = noisy(20, (0.3, 0.4, 0.4))
    shown = evaluate_methods(X, ["dawid-skene"], n_folds=4, n_resamples=2)
    (found,) = [row.to_dict()["errors"] for row in shown.rows if row.name == "Dawid-Skene"]
    answers = cross_predict(DawidSkene(), X, folds=4, random_state=0)
    assert found == count_errors(answers, X).errors.sum()
