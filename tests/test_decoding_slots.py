from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import decoding as naive

from structens.automata import LabelAcceptor, best_strings, expert_automaton
from structens.core import ABSENT, GAP, UNKNOWN, Alphabet, ParameterError, Slots
from structens.ensembles import MBR, MajorityVote, PathExpertEnsemble, slot_strings
from structens.ensembles.decoding import Weighted, decode_slots, viterbi
from structens.ensembles.mbr import least_risk, sampled_strings
from structens.ensembles.n_best import n_best_answers
from structens.ensembles.slot_strings import (
    SlotNetwork,
    admissible_mass,
    all_slot_strings,
    best_slot_strings,
    place,
    string_probability,
)
from structens.ensembles.vote import shares, vote
from structens.losses import edit_distance

label = st.sampled_from([GAP, GAP, 0, 1, 2])


@st.composite
def networks(draw, most=6):
    n, p = draw(st.integers(0, most)), draw(st.integers(1, 3))
    labels = draw(st.lists(st.lists(label, min_size=p, max_size=p), min_size=n, max_size=n))
    weights = draw(st.lists(st.lists(st.integers(1, 9), min_size=p, max_size=p), min_size=n, max_size=n))
    absent = draw(st.integers(0, p))  # that expert gives no answer; p stands for none
    rows = [[ABSENT if p > 1 and j == absent else a for j, a in enumerate(row)] for row in labels]
    return np.array(rows, np.int32).reshape(n, p), np.array(weights, float).reshape(n, p)


def of_one_record(labels, weights):
    n, p = labels.shape
    slots = Slots(
        labels, np.array([0, n]), np.arange(n * p).reshape(n, p), tuple("abc"[:p]), Alphabet(("x", "y", "z")),
        np.full(n, UNKNOWN, np.int32), np.zeros(1, int),
    )  # fmt: skip
    return Weighted(slots, weights, shares(labels, weights), vote(labels, weights), ["u1"])


def answer(votes):
    return tuple(votes.label[votes.label != GAP].tolist())


@given(networks(), st.integers(1, 8))
def test_most_probable_strings_of_slots(network, n):
    labels, weights = network
    mass = naive.slot_strings(labels.tolist(), weights.tolist())
    network = SlotNetwork(labels, shares(labels, weights))
    assert all_slot_strings(network) == pytest.approx(mass)
    found = best_slot_strings(network, n)
    assert found.complete
    assert found.probability.tolist() == pytest.approx(sorted(mass.values(), reverse=True)[:n])
    assert [mass[tuple(text)] for text in found.strings] == pytest.approx(found.probability.tolist())
    assert len(set(map(tuple, found.strings))) == len(found.strings) == min(n, len(mass))
    for text, p in mass.items():
        assert string_probability(network, np.array(text, np.int32)) == pytest.approx(p)


@given(networks(most=4))
def test_the_automaton_of_the_slots_has_the_same_strings(network):
    labels, weights = network
    weighted = of_one_record(labels, weights)
    made = expert_automaton(weighted.slots, 0)
    there = labels[made.slot, made.expert] != ABSENT
    assert there.all()
    known = weights * (labels != ABSENT)
    total = known.sum(axis=1)
    cost = -np.log(weights[made.slot, made.expert] / total[made.slot])
    general = best_strings(made.automaton, cost, 100)
    own = best_slot_strings(weighted.network(0), 100)
    assert dict(zip(map(tuple, general.strings), general.probability, strict=True)) == pytest.approx(
        dict(zip(map(tuple, own.strings), own.probability, strict=True))
    )


@given(networks())
def test_a_string_is_placed_on_its_most_probable_alignment(network):
    labels, weights = network
    network = SlotNetwork(labels, shares(labels, weights))
    best = {}
    for choice in naive.choices(labels.tolist()):
        p = np.prod([network.share[s][(labels[s] == a) & (network.share[s] >= 0)][0] for s, a in enumerate(choice)])
        text = naive.text_of(choice)
        best[text] = max(best.get(text, 0.0), float(p))
    for text, p in best.items():
        expert = place(network, np.array(text, np.int32))
        slots = np.arange(len(labels))
        assert naive.text_of(labels[slots, expert].tolist()) == text
        assert float(network.share[slots, expert].prod()) == pytest.approx(p)
    assert (place(network, np.array([7], np.int32)) == -1).all()


@given(networks(), st.sampled_from(["marginal", "viterbi", "string", "mbr"]))
def test_decoders_equal_their_definitions(network, decode):
    labels, weights = network
    weighted = of_one_record(labels, weights)
    votes, notes = decode_slots(weighted, decode, None)
    mass = naive.slot_strings(labels.tolist(), weights.tolist())
    said = answer(votes)
    assert notes == []
    if decode == "marginal":
        assert said == answer(weighted.marginal)
    if decode == "string":
        assert mass[said] == pytest.approx(max(mass.values()))
    if decode == "viterbi":
        for s, row in enumerate(labels.tolist()):
            heaviest = max(w for a, w in zip(row, weights[s], strict=True) if a != ABSENT)
            first = next(a for a, w in zip(row, weights[s], strict=True) if a != ABSENT and w == heaviest)
            assert votes.label[s] == first
    if decode == "mbr" and weighted.network(0).n_sequences <= 128:
        risk = sum(p * edit_distance(truth, said) for truth, p in mass.items())
        assert risk == pytest.approx(naive.least_risk(mass, mass, edit_distance))
    share = weighted.share[np.arange(len(labels)), votes.first]
    assert votes.share.tolist() == pytest.approx(share.tolist())


@given(networks(), st.integers(1, 5), st.booleans())
def test_admissible_strings_and_their_probabilities(network, n, by_string):
    labels, weights = network
    weighted = of_one_record(labels, weights)
    grams = [(0, 0), (None, 1), (2, None)]
    acceptor = LabelAcceptor.forbidden(grams, 3)
    mass = naive.slot_strings(labels.tolist(), weights.tolist())
    good = {text: p for text, p in mass.items() if not naive.has_forbidden(text, grams)}
    total = sum(good.values())
    assert admissible_mass(weighted.network(0), acceptor) == pytest.approx(total)
    votes, notes = decode_slots(weighted, "string" if by_string else "mbr", acceptor)
    if not good:
        assert len(notes) == 1
        return
    assert notes == []
    assert answer(votes) in good
    if by_string:
        assert good[answer(votes)] == pytest.approx(max(good.values()))
    elif weighted.network(0).n_sequences <= 128:
        risk = sum(p * edit_distance(truth, answer(votes)) for truth, p in good.items())
        assert risk == pytest.approx(naive.least_risk(good, good, edit_distance))
    listed = n_best_answers(weighted, n, votes, acceptor)
    assert listed.probability.tolist() == pytest.approx([p / total for p in sorted(good.values(), reverse=True)[:n]])


def test_string_and_marginal_differ_where_alignments_share_a_string():
    # a speaks of two units, b and c of one each, but in different slots
    labels = np.array([[0, 0, GAP], [0, GAP, 0]], np.int32)
    weighted = of_one_record(labels, np.array([[0.2, 0.4, 0.4]] * 2))
    assert answer(decode_slots(weighted, "marginal", None)[0]) == (0, 0)
    assert weighted.marginal.share.tolist() == pytest.approx([0.6, 0.6])
    assert answer(decode_slots(weighted, "string", None)[0]) == (0,)
    assert answer(decode_slots(weighted, "mbr", None)[0]) == (0,)


def test_viterbi_follows_the_heaviest_expert_and_the_vote_the_sum():
    weighted = of_one_record(np.array([[0, 1, 1]], np.int32), np.array([[0.4, 0.3, 0.3]]))
    assert answer(viterbi(weighted, None)) == (0,)
    assert answer(decode_slots(weighted, "marginal", None)[0]) == (1,)
    assert viterbi(of_one_record(np.array([[GAP, 1]], np.int32), np.ones((1, 2))), None).tie.all()
    assert answer(viterbi(of_one_record(np.array([[GAP, 1]], np.int32), np.ones((1, 2))), None)) == ()


def test_search_that_reaches_its_cap_falls_back_to_viterbi(monkeypatch):
    labels = np.array([[0, 0, GAP], [0, GAP, 0]], np.int32)
    weighted = of_one_record(labels, np.array([[0.2, 0.5, 0.3]] * 2))
    whole = slot_strings.best_slot_strings
    monkeypatch.setattr(
        "structens.ensembles.decoding.best_slot_strings", lambda net, n, acc: whole(net, n, acc, max_expansions=1)
    )
    votes, notes = decode_slots(weighted, "string", None)
    assert votes.label.tolist() == [0, GAP]
    assert notes == ["1 records have too many strings to find the most probable; viterbi decided them"]


def test_samples_have_the_frequencies_of_the_strings():
    labels = np.array([[0, GAP], [1, 2]], np.int32)
    network = SlotNetwork(labels, np.array([[0.3, 0.7], [0.9, 0.1]]))
    drawn = sampled_strings(network, 20_000, np.uint64(3))
    for text, p in all_slot_strings(network).items():
        assert drawn[text] == pytest.approx(p, abs=4 * (p * (1 - p) / 20_000) ** 0.5)
    assert sampled_strings(network, 50, np.uint64(3)) == sampled_strings(network, 50, np.uint64(3))
    assert sampled_strings(network, 50, np.uint64(3)) != sampled_strings(network, 50, np.uint64(4))


def test_sampled_risk_is_near_the_exact_one():
    rng = np.random.default_rng(0)
    labels = rng.integers(-1, 3, (7, 3)).astype(np.int32)
    network = SlotNetwork(labels, shares(labels, rng.random((7, 3))))
    mass = all_slot_strings(network)
    alphabet = Alphabet(("x", "y", "z"))
    best = naive.least_risk(mass, mass, edit_distance)
    for seed in range(5):
        said = least_risk(network, [], MBR(n_samples=400, most_exact=1), np.uint64(seed), alphabet)
        assert sum(p * edit_distance(t, said) for t, p in mass.items()) <= best + 0.1


def test_any_loss_can_be_minimised():
    X = {"a": [["the", "cat"]], "b": [["a", "hat"]], "c": [["a", "cat"]]}

    def wrong_unless_whole(reference, hypothesis):
        return float(reference != hypothesis)

    assert MajorityVote(decode=MBR(loss=wrong_unless_whole)).fit(X).predict(X) == [["a", "cat"]]
    shortest = MBR(loss=lambda reference, hypothesis: float(len("".join(hypothesis))))
    assert MajorityVote(decode=shortest).fit(X).predict(X) == [["a", "cat"]]
    with pytest.raises(ParameterError, match="finite"):
        MajorityVote(decode=MBR(loss=lambda r, h: float("nan"))).fit(X).predict(X)


def test_ensembles_take_the_decoder_by_name():
    gold = ["cat", "dog", "sun", "pen"] * 3
    X = {"a": gold, "b": ["ct", "dg", "sn", "pn"] * 3, "c": ["cut", "dig", "sin", "pan"] * 3}
    for decode in ("marginal", "viterbi", "string", "mbr"):
        model = PathExpertEnsemble(beta=0.5, decode=decode).fit(X, gold)
        assert model.predict(X) == gold
        assert all(0 <= c <= 1 for row in model.confidence(X) for c in row)
    with pytest.raises(ParameterError, match="decode must be one of"):
        MajorityVote(decode="best").fit(X)
    with pytest.raises(ParameterError, match="'edit' or a function"):
        MBR(loss="hamming")
    with pytest.raises(ParameterError, match="at least 1"):
        MBR(n_samples=0)


def test_n_best_of_an_ensemble():
    X = {"a": ["cat", None], "b": ["cut", None], "c": ["cat", None]}
    listed = MajorityVote().fit(X).n_best(X, 3)
    assert [answer for answer, _ in listed[0]] == ["cat", "cut"]
    assert [p for _, p in listed[0]] == pytest.approx([2 / 3, 1 / 3])
    assert listed[1] == [("", 1.0)]
    with pytest.raises(ParameterError, match="n must be"):
        MajorityVote().fit(X).n_best(X, 0)


@given(networks(), st.integers(1, 6))
def test_units_of_listed_answers_know_where_they_come_from(network, n):
    labels, weights = network
    weighted = of_one_record(labels, weights)
    listed = n_best_answers(weighted, n, weighted.marginal, None)
    flat = labels.ravel()[listed.source]
    assert flat.tolist() == listed.texts.values.tolist()
    assert Counter(map(tuple, listed.texts.to_list())).most_common(1)[0][1] == 1
