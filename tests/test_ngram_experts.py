"""PathExpertEnsemble by n-gram gains: the game of all records against the learner record by record, rules, ties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structens.align import align
from structens.core import ABSENT, ExpertPredictions, ModelError, ParameterError
from structens.ensembles import PathExpertEnsemble
from structens.io.ensemble_file import load, save
from structens.losses import NGramGain
from structens.online import HistoryGame, SlotHistoryLearner, Tying

GAINS = st.sampled_from([NGramGain((1,)), NGramGain((0, 1)), NGramGain((1, 1), max_gap=1, discount=0.5)])


def records(n=30, seed=0, missing=0.2, rates=(0.1, 0.2, 0.6)):
    """Three experts of these error rates; some answers missing."""
    rng = np.random.default_rng(seed)
    gold = ["".join(rng.choice(list("abc"), rng.integers(1, 6))) for _ in range(n)]
    said = {}
    for name, rate in zip("xyz", rates, strict=True):
        rows = [
            "".join(c if rng.random() > rate else rng.choice(list("abc-")) for c in g).replace("-", "") for g in gold
        ]
        said[name] = [row if rng.random() > missing else None for row in rows]
    said["x"] = [said["x"][i] or gold[i] for i in range(n)]
    return ExpertPredictions.of(said, gold=gold)


def targets_of(X):
    return [X.references[row] for row in X.reference_offsets[:-1].tolist()]


@settings(max_examples=15)
@given(st.integers(0, 10**6), GAINS, st.sampled_from([0.0, 0.3, 4.0]))
def test_all_records_at_once_are_record_by_record(seed, gain, eta):
    X = records(8, seed)
    slots, targets = align(X), targets_of(X)
    game = HistoryGame(slots, np.zeros(len(slots.labels), int), 1, gain, targets)
    learner, expected, snapshots = SlotHistoryLearner(gain, 3, eta), [], []
    taught = [i for i in range(8) if slots.lengths[i]]
    for i in taught:
        snapshots.append(learner.cumulative.ravel().copy())
        expected.append(learner.update(slots, i, targets[i]))
    made = game.play(eta, range(len(taught) + 1), taught)
    assert made.snapshots[:-1] == pytest.approx(np.array(snapshots), abs=1e-9)
    assert made.snapshots[-1] == pytest.approx(learner.cumulative.ravel(), abs=1e-9)
    assert ((made.loss >= -1e-12) & (made.loss <= 1)).all()
    flow = game.flows(made.snapshots[-1], eta, taught)
    assert flow == pytest.approx(np.concatenate([learner.flows(slots, i) for i in taught]), abs=1e-9)
    assert (flow[slots.labels[np.isin(slots.record, taught)] == ABSENT] == 0).all()
    late = game.losses(made.snapshots[2], eta, taught[2:3])
    assert late == pytest.approx(made.loss[2:3])
    # the loss of a record is the part of its best gain that is missed
    best = {i: max_gain(gain, slots, i, targets[i]) for i in taught}
    right = [1 - e / best[i] if best[i] > 0 else 0 for i, e in zip(taught, expected, strict=True)]
    assert made.loss == pytest.approx(right, abs=1e-9)


def max_gain(gain, slots, i, target):
    """By all path experts."""
    rows = [
        sorted({int(a) for a in row if a != ABSENT}) for row in slots.labels[slots.offsets[i] : slots.offsets[i + 1]]
    ]
    answers = [[]]
    for row in rows:
        answers = [[*done, a] for done in answers for a in row]
    return max(gain([a for a in answer if a >= 0], target) for answer in answers)


def test_contexts_are_learnt_apart_and_new_ones_get_their_mean():
    X = ExpertPredictions.of({"a": ["xy", "xy"], "b": ["zy", "xw"]}, gold=["xy", "xy"])
    slots, gain = align(X), NGramGain((1,))
    tying = Tying.learn(slots, "position")
    game = HistoryGame(slots, tying.parameters(slots)[:, 0] // 2, 2, gain, targets_of(X))
    cumulative = game.play(1.0, [2]).snapshots[0]
    assert cumulative.tolist() == [0.5, -0.5, 0.5, -0.5]
    longer = align(ExpertPredictions.of({"a": ["xyz"], "b": ["zww"]}))
    wide = HistoryGame(longer, np.array([0, 1, -1]), 2, gain)
    flow = wide.flows(np.array([2.0, 0.0, 0.0, 0.0]), 1.0)
    assert flow[:, 0] == pytest.approx(1 / (1 + np.exp([-2.0, 0.0, -1.0])))


@pytest.mark.parametrize("rule", ["mvote", "cv", "last"])
@pytest.mark.parametrize("tie", ["expert", "position"])
def test_ensembles_learn_by_ngrams(rule, tie, tmp_path):
    X = records(40)
    X = X.with_gold([g if i % 4 else None for i, g in enumerate(X.gold)])
    options = {"rule": rule, "tie": tie, "loss": "ngram", "beta": 0.8, "align": "always"}
    whole, piecewise = PathExpertEnsemble(**options).fit(X), PathExpertEnsemble(**options)
    for i in range(0, len(X), 7):
        piecewise.partial_fit(X[i : i + 7])
    assert piecewise.snapshots_ == pytest.approx(whole.snapshots_)
    assert piecewise.predict(X) == whole.predict(X)
    by_hand = PathExpertEnsemble(**{**options, "loss": NGramGain((1, 1))}).fit(X)
    assert by_hand.snapshots_ == pytest.approx(whole.snapshots_)
    save(whole, tmp_path / "m")
    assert load(tmp_path / "m").predict(X) == whole.predict(X)
    with pytest.raises(ModelError, match="NGramGain"):
        save(by_hand, tmp_path / "n")
    assert whole.regret_ is None
    assert whole.regret_bound_ is None
    assert set(whole.bounds_) == {"rounds T", "mean loss of the learner"}
    # better than the plain vote, and z, the bad expert, has least of the weights
    slots, weights = whole.weighted_slots(X)
    share = weights[slots.awake.all(axis=1)].mean(axis=0)
    if rule == "cv":  # its penalty grows with the round: of few records it takes the first, which has learnt nothing
        assert whole.suffix_start_ == 0
        return
    assert share.argmin() == 2
    assert whole.score(X) >= PathExpertEnsemble(**{**options, "beta": 1.0}).fit(X).score(X)
    assert whole.expected_loss(X) < PathExpertEnsemble(**{**options, "beta": 1.0}).fit(X).expected_loss(X)


def test_the_rate_is_chosen_on_held_out_records():
    made = PathExpertEnsemble(loss="ngram").fit(records(60, missing=0, rates=(0.05, 0.5, 0.5)))
    assert 0 < made.beta_ < 1
    alike = ExpertPredictions.of({"a": ["x"] * 9, "b": ["x"] * 9}, gold=["x"] * 9)
    assert PathExpertEnsemble(loss="ngram").fit(alike).beta_ == 1
    assert PathExpertEnsemble(loss="ngram").fit(alike[:1]).beta_ == 1
    scaled = PathExpertEnsemble(loss="ngram", loss_scale="normalized", beta=0.5, rule="last").fit(records(9, missing=0))
    plain = PathExpertEnsemble(loss="ngram", beta=0.5, rule="last").fit(records(9, missing=0))
    assert abs(scaled.snapshots_).sum() < abs(plain.snapshots_).sum()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tie": "label"}, "tie expert, position, position-from-end or a function"),
        ({"rule": "rand"}, "one of the rules mvote, cv, last"),
        ({"rule": "fpl"}, "one of the rules mvote, cv, last"),
        ({"learner": "squint"}, "learner 'hedge'"),
        ({"beta": "path"}, "must be held-out, or a number"),
        ({"ngram_order": 0}, "ngram_order must be a whole number >= 1; got 0"),
        ({"ngram_order": 2.5}, "ngram_order must be a whole number >= 1; got 2.5"),
        ({"ngram_order": True}, "ngram_order must be a whole number >= 1; got True"),
        ({"ngram_order": 40}, r"take a lower order \(ngram_order\) or fewer experts$"),
        ({"ngram_order": 5000}, r"over 10\*\*15 weights"),
        ({"ngram_order": 40, "tie": "position"}, "fewer experts, or tie 'expert'$"),
        ({"loss_scale": "no"}, "loss_scale must be"),
    ],
)
def test_what_ngrams_refuse(options, words):
    with pytest.raises(ParameterError, match=words):
        PathExpertEnsemble(**{"loss": "ngram", **options}).fit(records(4))


def test_ngrams_do_not_go_record_by_record():
    with pytest.raises(ParameterError, match="take loss 'hamming' or 'edit'"):
        PathExpertEnsemble("last", loss="ngram", beta=0.5).combine_online(records(4))
    with pytest.raises(ParameterError, match="tie expert, position"):
        PathExpertEnsemble(loss="ngram", beta=0.5, tie="label").partial_fit(records(4))
