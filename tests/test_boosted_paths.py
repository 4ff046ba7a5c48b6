"""BoostedPaths: candidates, features out of fold, n-grams, the conditional logit, and the estimator."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import candidates as naive

from structens.align import align
from structens.core import ABSENT, GAP, ExpertPredictions, ParameterError, Ragged
from structens.ensembles import BestExpert, BoostedPaths, MajorityVote
from structens.ensembles.candidate_features import (
    CONTEXT,
    SUPPORT,
    context_features,
    neighbours,
    ngram_features,
    support_features,
    view_of,
)
from structens.ensembles.candidate_gaps import WEIGHTS, learn_gap_weight, weigh_gaps
from structens.ensembles.candidate_logit import fit_logit, slot_posteriors
from structens.ensembles.candidate_model import Truth, learn_language
from structens.ensembles.candidate_rates import SUPPORTERS, learn_like_cases, supporter_keys, surrounding_keys
from structens.ensembles.candidate_state import model_of, state_of
from structens.ensembles.candidate_workers import STRENGTH, learn_workers, worker_features
from structens.ensembles.candidates import candidates
from structens.ensembles.confusions import worker_numbers
from structens.ensembles.label_classes import frequent_labels
from structens.ensembles.label_ngram import learn_ngram, log_probability
from structens.ensembles.ngram_tree import grow_ngrams, step
from structens.ensembles.posterior_ngrams import trees_without
from structens.ensembles.reliability import count_said, reliabilities
from structens.ensembles.slot_posteriors import Posteriors
from structens.ensembles.word_candidates import count_words, without, word_features
from structens.io.ensemble_file import load, save
from structens.losses import edit_distance

LABELS = st.integers(-2, 3)
NETWORKS = st.integers(1, 4).flatmap(
    lambda p: st.lists(st.lists(LABELS, min_size=p, max_size=p), min_size=1, max_size=5)
)


def class_of(label):
    """Labels 0, 1 and 2 by name, 3 is any other, and nothing."""
    return 4 if label == GAP else label


def scene(labels):
    labels = np.array(labels, np.int32)
    found = candidates(labels)
    said = np.array([class_of(label) for label in found.label.tolist()], np.int64)
    return found, view_of(found, said, np.array([0, len(labels)]))


@given(NETWORKS)
def test_candidates_are_the_distinct_labels(labels):
    found, _ = scene(labels)
    expected = [(s, label, who) for s, slot in enumerate(naive.candidates(labels)) for label, who in slot]
    assert list(zip(found.slot.tolist(), found.label.tolist(), strict=True)) == [(s, a) for s, a, _ in expected]
    assert found.n_supporters.tolist() == [len(who) for _, _, who in expected]
    assert found.first.tolist() == [who[0] for _, _, who in expected]
    for c, (s, _, who) in enumerate(expected):
        assert np.flatnonzero(found.of[s] == c).tolist() == who


def test_others_are_candidates_without_supporters():
    found = candidates(np.array([[1, 1], [ABSENT, 2]], np.int32), np.array([[1, 3], [ABSENT, ABSENT]], np.int32))
    assert (found.label.tolist(), found.n_supporters.tolist(), found.first.tolist()) == (
        [1, 3, 2],
        [2, 0, 1],
        [0, 3, 1],
    )
    assert found.of.tolist() == [[0, 0], [-1, 2]]


@given(NETWORKS, st.integers(0, 99))
def test_support_features_are_as_defined(labels, seed):
    found, view = scene(labels)
    reliability = np.random.default_rng(seed).normal(size=(1, len(labels[0]), 5, 6)).astype(np.float32)
    made = support_features(view, np.arange(len(found)), reliability, np.zeros(1, np.int64))
    expected = naive.support(labels, reliability[0].tolist(), class_of)
    assert made.shape == (len(found), len(SUPPORT) + len(labels[0]))
    np.testing.assert_allclose(made, np.array(expected).reshape(made.shape), rtol=1e-4, atol=1e-5)


@given(NETWORKS.filter(lambda rows: all(ABSENT not in row for row in rows)), st.integers(0, 99))
def test_agreement_with_the_neighbours_is_as_defined(labels, seed):
    found, view = scene(labels)
    q = slot_posteriors(np.random.default_rng(seed).normal(size=len(found)), found.offsets)
    ngram = learn_ngram(np.zeros(0, np.int64), np.array([0, 0]), 4, 2)
    made = context_features(view, rows := np.flatnonzero(found.contested), q, [ngram], np.zeros(1, np.int64))
    by_slot = [{a: q[c] for c, a in enumerate(found.label.tolist()) if found.slot[c] == s} for s in range(len(labels))]
    slots = naive.candidates(labels)
    for i, c in enumerate(rows.tolist()):
        s = int(found.slot[c])
        who = dict(slots[s])[int(found.label[c])]
        for side, beside in (("left", s - 1), ("right", s + 1)):
            if 0 <= beside < len(labels):
                expected = naive.agreement(labels, by_slot, beside, who)
                columns = [CONTEXT.index(f"{side} agree"), CONTEXT.index(f"{side} others")]
                np.testing.assert_allclose(made[i, columns], expected, rtol=1e-5)


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(0, 2), max_size=5), min_size=1, max_size=4), st.integers(1, 4), st.data())
def test_ngrams_are_witten_and_bells_and_sum_to_one(sequences, order, data):
    offsets = np.concatenate([[0], np.cumsum([len(s) for s in sequences])])
    model = learn_ngram(np.array([x for s in sequences for x in s], np.int64), offsets, 3, order)
    history = data.draw(st.lists(st.integers(0, 2), min_size=order - 1, max_size=order - 1))
    rows = np.array([[*history, label] for label in range(4)])
    made = np.exp(log_probability(model, rows))
    np.testing.assert_allclose(made, [naive.witten_bell(sequences, 3, order, history, x) for x in range(4)], rtol=1e-9)
    assert made.sum() == pytest.approx(1.0)


@settings(max_examples=30)
@given(
    st.lists(st.lists(st.integers(0, 2), max_size=5), min_size=1, max_size=4),
    st.integers(1, 4),
    st.lists(st.integers(0, 2), max_size=4),
    st.booleans(),
)
def test_ngrams_are_kneser_and_neys_and_sum_to_one(sequences, order, history, begins):
    model, follower = grow_ngrams(Ragged.of(sequences), 3, order), np.zeros(1, np.int64)
    history = [4, *history] if begins else history
    state = 0
    for label in history:
        step(model, state, label, follower)
        state = int(follower[0])
    made = np.exp([step(model, state, label, follower) for label in range(4)])
    np.testing.assert_allclose(made, [naive.kneser_ney(sequences, 3, order, history, x) for x in range(4)], rtol=1e-9)
    assert made.sum() == pytest.approx(1.0)


@settings(max_examples=30)
@given(NETWORKS.filter(lambda rows: all(ABSENT not in row for row in rows)), st.integers(1, 4), st.integers(0, 99))
def test_ngrams_of_candidates_are_those_of_the_likely_labels_around(labels, order, seed):
    found, view = scene(labels)
    rng = np.random.default_rng(seed)
    around = neighbours(view, slot_posteriors(rng.normal(size=len(found)), found.offsets))
    model = learn_ngram(rng.integers(0, 4, 15), np.array([0, 5, 10, 15]), 4, order)
    made = ngram_features(view, found.slot, view.said, around, [model], np.zeros(1, np.int64))
    top = [int(view.said[around.top[s]]) for s in range(len(labels))]
    for i, (s, mine) in enumerate(zip(found.slot.tolist(), view.said.tolist(), strict=True)):
        left = [4] * order + [top[t] for t in range(s) if top[t] != 4]
        own = [] if mine == 4 else [mine]
        right = [*(top[t] for t in range(s + 1, len(labels)) if top[t] != 4), 4][: order - 1]
        text = [*left, *own, *right]
        grams = [text[k - order + 1 : k + 1] for k in range(len(left), len(text))]
        costs = [float(log_probability(model, np.array([gram]))[0]) for gram in grams]
        np.testing.assert_allclose(made[i], [costs[0] if own else 0.0, sum(costs)], atol=1e-12)


def test_copies_share_one_vote():
    rng = np.random.default_rng(0)
    right, other = rng.random(2000) < 0.8, rng.random(2000) < 0.8
    x = np.zeros((4000, 3))
    x[0::2] = np.where(np.column_stack([right, right, other]), 1.0, -1.0)  # of the right candidate
    x[1::2] = -x[0::2]
    w = fit_logit(x, np.arange(0, 4000, 2), np.arange(0, 4000, 2), np.zeros(3), 1e-3)
    assert w[0] == pytest.approx(w[1], abs=1e-3)
    assert w[0] + w[1] == pytest.approx(w[2], rel=0.1)


@pytest.mark.parametrize(("counts", "closed"), [([50] * 40, True), ([1] * 2000, False), ([2] * 3, True)])
def test_vocabularies_are_told_apart(counts, closed):
    assert frequent_labels(np.array(counts), "auto")[1] in ({closed} if sum(counts) > 10 else {True, False})
    assert not frequent_labels(np.array(counts), "open")[1]
    assert frequent_labels(np.array(counts), "closed")[1]


@settings(max_examples=30)
@given(st.integers(1, 3), st.integers(1, 3), st.data())
def test_workers_are_as_reliable_as_in_other_folds(p, n, data):
    slot = st.lists(LABELS, min_size=p, max_size=p)
    labels = data.draw(st.lists(st.lists(slot, min_size=1, max_size=3), min_size=2, max_size=4))
    gold = [[data.draw(st.sampled_from(row)) for row in record] for record in labels]
    workers = [data.draw(st.lists(st.integers(0, n), min_size=p, max_size=p)) for _ in labels]
    fold = np.arange(len(labels)) % 2
    found = candidates(np.array([row for record in labels for row in record], np.int32))
    lengths = [len(record) for record in labels]
    view = view_of(found, np.zeros(len(found), np.int64), np.concatenate([[0], np.cumsum(lengths)]))
    right = found.label == np.array([g for record in gold for g in record])[found.slot]
    made = learn_workers(view, np.array(workers), right, fold, (2, n))
    seen = [[r for r in range(len(labels)) if fold[r] != f] for f in (0, 1, 2)]
    expected = [naive.worker_log_odds(labels, gold, workers, n, rows, STRENGTH) for rows in seen]
    np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-6)
    features = worker_features(view, np.arange(len(found)), np.array(workers), made, fold)
    flat = [(r, row) for r, record in enumerate(labels) for row in record]
    for i, (s, label) in enumerate(zip(found.slot.tolist(), found.label.tolist(), strict=True)):
        r, row = flat[s]
        x = [expected[fold[r]][who] for who in workers[r]]
        np.testing.assert_allclose(features[i], naive.worker_row(row, label, x), rtol=1e-4, atol=1e-5)


def test_who_answered_counts_where_experts_are_places():
    rng = np.random.default_rng(0)
    gold = ["".join(rng.choice(list("abcd"), 6)) for _ in range(160)]
    said, names = ({f"a{j}": [] for j in range(3)} for _ in range(2))
    for right in gold:
        for place, who in zip(said, rng.permutation(6)[:3].tolist(), strict=True):
            wrong = 0.05 if who < 2 else 0.5
            said[place].append("".join(rng.choice(list("abcd")) if rng.random() < wrong else c for c in right))
            names[place].append(f"w{who}")
    X = ExpertPredictions.of(said, gold=gold, workers=names, ids=[f"r{i}" for i in range(160)])
    model, blind = (BoostedPaths(n_rounds=10, n_passes=1).fit(one[:100]) for one in (X, replace(X, workers=None)))
    assert model.workers_ == [f"w{k}" for k in range(6)]
    assert 1 - model.score(X[100:]) < 0.8 * (1 - blind.score(X[100:]))
    again = model_of(state_of(model_of(model.state_)))
    np.testing.assert_array_equal(again.statistics.workers, model.state_["workers"][None])
    nobody = replace(X[100:], workers=None)
    strangers = nobody.with_workers({name: ["new"] * 60 for name in said})
    assert model.predict(nobody) == model.predict(strangers)


def test_words_are_told_from_each_other_and_from_their_rivals():
    _, view = scene([[0, 1], [0, 3], [0, 1], [1, 0]])
    word = np.array([7, 8, 7, 9, 7, 8, 8, 7])  # of each candidate, two a slot
    rows, q = np.arange(8), np.full(8, 0.5)
    keys = surrounding_keys(view, rows, q, 5, word)
    np.testing.assert_array_equal(keys[:, :4], surrounding_keys(view, rows, q, 5))
    assert keys[:, 4].tolist() == word.tolist()
    pairs = list(zip(word.tolist(), word.reshape(4, 2)[:, ::-1].ravel().tolist(), strict=True))
    assert [[pairs.index(p) for p in pairs]] == [[keys[:, 5].tolist().index(k) for k in keys[:, 5].tolist()]]


@settings(max_examples=25)
@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4), min_size=1, max_size=8), st.data())
def test_the_weight_of_nothing_has_the_fewest_edits(shares, data):
    """Slots of label 0, label 1 and GAP."""
    weights = [[(share * 7 + k * 3) % 11 + 1 for k in range(3)] for record in shares for share in record]
    p = np.array(weights) / np.array(weights).sum(axis=1, keepdims=True)
    found = Posteriors(np.tile(np.array([0, 1, GAP], np.int32), (len(p), 1)), p)
    lengths = [len(record) for record in shares]
    gold = [data.draw(st.lists(st.sampled_from("ab"), max_size=5)) for _ in shares]
    X = ExpertPredictions.of({"e": [["a", "b"]] * len(shares)}, gold=gold)
    codes = [[X.alphabet.codes[c] for c in right] for right in gold]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    rows = [dict(zip((0, 1, GAP), row, strict=True)) for row in p.tolist()]
    edits = {w: naive.gap_errors(rows, lengths, codes, w, edit_distance) for w in WEIGHTS}
    made = learn_gap_weight(found, offsets, X)
    assert edits[made] == edits[1.0] if made == 1.0 else edits[made] == min(edits.values()) < edits[1.0]
    assert made == 1.0 or weigh_gaps(found, made).probability.sum(axis=1) == pytest.approx(1.0)


def test_nothing_counts_less_where_answers_are_too_short():
    slots = Posteriors(np.tile(np.array([0, GAP], np.int32), (80, 1)), np.tile([0.45, 0.55], (80, 1)))
    X = ExpertPredictions.of({"e": ["a"] * 40}, gold=["aa"] * 40)
    assert learn_gap_weight(slots, np.arange(0, 81, 2), X) == min(w for w in WEIGHTS if w < 0.45 / 0.55)
    assert learn_gap_weight(slots, np.arange(0, 81, 2), X.with_gold([""] * 40)) == 1.0
    assert learn_gap_weight(Posteriors(*(part[:6] for part in slots[:2])), np.arange(0, 7, 2), X[:3]) == 1.0


def confused(n=150, seed=0, unknown=()):
    """Three experts: two copies that take b for p and, after a, d for t; one with errors at random."""
    rng = np.random.default_rng(seed)
    gold = ["".join(rng.choice(list("abdpt"), rng.integers(3, 8))) for _ in range(n)]
    taken = [g.replace("b", "p").replace("ad", "at") for g in gold]
    noisy = ["".join(c if rng.random() > 0.25 else rng.choice(list("abdpt")) for c in g) for g in gold]
    experts = {"copy": taken, "other": noisy, "twin": taken}
    return ExpertPredictions.of(experts, gold=gold, ids=[f"r{i}" for i in range(n)])


def test_no_statistic_has_seen_the_gold_of_the_record_it_is_used_for():
    X = confused(24)
    X = X.with_workers({name: [str((i + j) % 3) for i in range(24)] for j, name in enumerate(X.names)})
    fold = np.arange(24) % 6
    changed = list(X.gold)
    changed[7] = "".join("abdpt"["abdpt".index(c) - 1] for c in changed[7])

    def statistics(one):
        slots = align(one, mode="never")
        found = candidates(slots.labels)
        code = np.array([*range(len(one.alphabet)), len(one.alphabet) + 1])
        view = view_of(found, code[found.label], slots.offsets)
        rows, k = np.flatnonzero(found.contested), len(one.alphabet) + 2
        right, of_row = found.label == slots.gold[found.slot], fold[view.record[found.slot]]
        counts = count_said(view, right, np.where(found.contested, of_row, -1), (6, k))
        tables = np.stack([reliabilities(*counts.without(f)) for f in range(6)])
        gold = one.references[one.reference_offsets[:-1]]
        truth = Truth(code[slots.gold], fold, 6, (gold.values.astype(np.int64), gold.offsets), Ragged.of([]))
        language, _ = learn_language(view, truth, k, 3, closed=True)
        q = found.n_supporters / 3.0
        like = learn_like_cases(supporter_keys(view, rows), SUPPORTERS, right[rows], of_row[rows])[1]
        words = word_features(view, rows, one.alphabet.labels, without(count_words(one, fold, 6)), fold)
        context = context_features(view, rows, q, language.ngrams, fold)
        who = worker_numbers(one.workers, (24, 3), ["0", "1", "2"])
        people = worker_features(view, rows, who, learn_workers(view, who, right, fold, (6, 3)), fold)
        pool = language.pool.table[fold[7]], language.pool.log_prior[fold[7]]
        parts = [support_features(view, rows, tables, fold), context, like - like.mean(), words, people]
        return view.record[found.slot[rows]], parts, pool, right[rows]

    record, before, pool, right = statistics(X)
    _, after, pool_after, right_after = statistics(X.with_gold(changed))
    inside = record == 7
    assert inside.any()
    assert (right[inside] != right_after[inside]).any()
    for k in (0, 1, 3, 4):
        np.testing.assert_array_equal(before[k][inside], after[k][inside])
        assert k == 3 or not np.array_equal(before[k], after[k], equal_nan=True)  # others have seen it
    for one, two in zip(pool, pool_after, strict=True):
        np.testing.assert_array_equal(one, two)


def test_rates_leave_the_own_fold_out():
    keys, fold = np.array([[5], [5], [5], [9]]), np.array([0, 1, 2, 0])
    learnt, out = learn_like_cases(keys, (-1,), np.array([True, True, False, True]), fold)
    assert out[0, 0] == pytest.approx(out[1, 0])  # each has seen one right, one wrong
    assert out[2, 0] > out[0, 0]  # two right
    assert out[3, 0] == pytest.approx(learnt.base)
    assert learnt.log_odds(np.array([[7]]), (-1,))[0, 0] == pytest.approx(learnt.base)


def test_context_and_confusions_beat_every_vote():
    X, Y = confused(150), confused(150, seed=1)
    model = BoostedPaths(n_rounds=20).fit(X)
    scores = [kind.fit(X).score(Y) for kind in (MajorityVote(), BestExpert())]
    assert model.n_steps_ >= 1
    assert 1 - model.score(Y) < 0.75 * (1 - max(scores))


def test_labels_that_nobody_proposed_can_win():
    gold = [a + b for a in "abc" for b in "abc"] * 12
    blind = [g.replace("b", "x") for g in gold]  # all take b for x
    noisy = [g[:-1] + "a" if i % 5 == 0 else g for i, g in enumerate(blind)]
    X = ExpertPredictions.of({"one": blind, "two": noisy}, gold=gold)
    done = BoostedPaths(n_rounds=5).fit(X).combine({"one": ["bc", "xa", "ax"], "two": ["bc", "xa", "ac"]})
    assert done.answers[1] == "ba"
    unit = done.prediction.offsets[1]
    assert not done.support[unit].any()
    assert done.source[unit] == -1
    assert done.experts[1][0] == []


@pytest.mark.parametrize("n", [1, 3, 6])
def test_with_little_gold_the_best_expert_or_the_vote_answers(n):
    X = confused(n)
    model = BoostedPaths(n_rounds=5).fit(X)
    assert len(model.predict(X)) == n
    if n < 4:
        assert model.n_steps_ == -1
        assert model.predict(X) == BestExpert().fit(X).predict(X)
        assert "too little gold" in model.combine(X).notes[0]


def test_where_all_agree_there_is_nothing_to_learn():
    X = ExpertPredictions.of({"a": ["on", "in", "", "to", "of"], "b": ["on", "in", "", "to", "of"]}, gold=["on"] * 5)
    assert BoostedPaths().fit(X).predict(X) == X["a"]


def test_model_files_answer_as_the_model(tmp_path):
    X, Y = confused(60), confused(30, seed=1)
    words = ExpertPredictions.of(
        {name: [list(a) for a in X[name]] for name in X.names}, gold=[[c * 2 for c in g] for g in X.gold]
    )
    for data, options in ((X, {}), (words, {"vocabulary": "open", "n_passes": 1})):
        model = BoostedPaths(n_rounds=5, **options).fit(data)
        save(model, tmp_path / "m.structens")
        again = load(tmp_path / "m.structens")
        asked = Y if data is X else data
        assert again.predict(asked) == model.predict(asked)
        assert again.confidence(asked) == model.confidence(asked)
        assert pickle.loads(pickle.dumps(model)).predict(asked) == model.predict(asked)


def test_models_from_before_words_and_workers_were_known_still_answer():
    X = confused(60)
    X = ExpertPredictions.of({name: [list(a) for a in X[name]] for name in X.names}, gold=[list(g) for g in X.gold])
    model = BoostedPaths(n_rounds=5, n_passes=1, vocabulary="open").fit(X)
    state = pickle.loads(pickle.dumps(model.state_))
    del state["workers"]
    for one in state["passes"]:
        rates = one["surroundings"]
        kept = int(rates["sizes"][:4].sum())
        rates.update({name: rates[name][:kept] for name in ("key", "n", "right")}, sizes=rates["sizes"][:4])
        one["forest"]["feature"] = np.minimum(one["forest"]["feature"], 5)
    model.state_, model._model = state, None
    assert len(model.predict(X)) == 60


def test_absent_experts_confidences_decoders_and_own_features():
    X, Y = confused(60), confused(20, seed=1)
    X = X.with_confidences({"other": [[0.9] * len(a) for a in X["other"]]})
    model = BoostedPaths(n_rounds=5, features=lambda X, slots: slots.position[:, None]).fit(X)
    some = ExpertPredictions.of({"copy": Y["copy"], "other": [*Y["other"][:10], *[None] * 10]})
    done = model.combine(some, n_best=2)
    assert len(done) == 20
    assert ((done.confidence >= 0) & (done.confidence <= 1)).all()
    assert all(1 <= len(row) <= 2 for row in done.n_best.rows(done.X))
    for decode in ("viterbi", "string", "mbr"):
        model.decode = decode
        assert len(model.predict(some)) == 20
    model.decode, free = "marginal", done.answers
    model.restriction = {"forbidden": [["a", "d"]]}
    held = model.predict(some)
    assert [a == b for a, b in zip(free, held, strict=True)] >= ["ad" not in a for a in free]
    assert sum("ad" in a for a in held) < sum("ad" in a for a in free)


@pytest.mark.parametrize(
    "wrong",
    [{"order": 7}, {"n_rounds": 0}, {"vocabulary": "tiny"}, {"learning_rate": 0.0}, {"n_folds": 1}, {"n_passes": -1}],
)
def test_options_out_of_range_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        BoostedPaths(**wrong).fit(confused(10))


def test_ngrams_for_the_records_of_a_fold_have_not_seen_them():
    right, text = Ragged.of([[0, 1], [2, 2, 2], [1]]), Ragged.of([[0]])
    *parts, whole = trees_without(right, text, np.array([0, 1, 0]), 2, 3, 2)
    for tree, kept in zip((*parts, whole), ([1], [0, 2], [0, 1, 2]), strict=True):
        expected = grow_ngrams(Ragged.of([*(right[i].tolist() for i in kept), [0]]), 3, 2)
        for made, wanted in zip(tree, expected, strict=True):
            np.testing.assert_array_equal(made, wanted)
