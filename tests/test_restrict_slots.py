from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import decoding as naive
from test_decoding_slots import networks, of_one_record

from structens.automata import LabelAcceptor
from structens.core import ABSENT, GAP, Alphabet, DataError, ExpertPredictions, ParameterError
from structens.ensembles import BestExpert, MajorityVote, PathExpertEnsemble
from structens.ensembles.decoding import decode_slots
from structens.ensembles.restriction import (
    best_admissible,
    check_restriction,
    compile_restriction,
    count_violations,
    read_restriction,
    scheme_of,
    tag_acceptor,
)

TAGS = ("O", "B-X", "I-X", "B-Y", "I-Y")
GRAMMARS = [
    LabelAcceptor.forbidden([(0, 0), (None, 1), (2, None)], 3),
    LabelAcceptor.allowed_only([(0, 1), (1, 0), (1, 2)], 3),
    LabelAcceptor.from_transitions([(0, 1, 0), (1, 0, 1), (1, 1, 2)], final=[0], n_labels=3),
]


@given(networks(), st.sampled_from(GRAMMARS))
def test_best_admissible_sequence_among_all(network, acceptor):
    labels, weights = network
    weighted = of_one_record(labels, weights)
    score = np.where(weighted.share >= 0, weighted.share, -np.inf)
    first, violations = best_admissible(weighted.slots, score, acceptor, np.array([0]))
    taken = labels[np.arange(len(labels)), first].tolist()
    bad, votes = naive.best_admissible(labels.tolist(), weights.tolist(), acceptor.violations)
    assert violations.tolist() == [-bad]
    assert acceptor.violations(naive.text_of(taken)) == -bad
    assert naive.votes_for(taken, labels.tolist(), weights.tolist()) == pytest.approx(votes)
    assert ABSENT not in taken


@given(networks(), st.sampled_from(GRAMMARS), st.sampled_from(["marginal", "viterbi", "string", "mbr"]))
def test_every_decoder_gives_an_admissible_answer_where_there_is_one(network, acceptor, decode):
    labels, weights = network
    weighted = of_one_record(labels, weights)
    votes, notes = decode_slots(weighted, decode, acceptor)
    bad, _ = naive.best_admissible(labels.tolist(), weights.tolist(), acceptor.violations)
    said = votes.label[votes.label != GAP].tolist()
    assert (acceptor.violations(said) > 0) == (bad < 0) == bool(notes)
    if notes:
        assert notes[0].startswith("1 records have no admissible sequence")
    if decode == "viterbi" and bad == 0:
        best = 0.0
        for choice in naive.choices(labels.tolist()):
            if acceptor.accepts(naive.text_of(choice)):
                best = max(best, path_probability(choice, labels, weights))
        assert path_probability(votes.label.tolist(), labels, weights) == pytest.approx(best)


def path_probability(choice, labels, weights):
    p = 1.0
    for a, row, w in zip(choice, labels, weights, strict=True):
        p *= max(w[row == a]) / w[row != ABSENT].sum()
    return p


@given(networks(), st.sampled_from(GRAMMARS))
def test_an_admissible_vote_is_left_as_it_is(network, acceptor):
    weighted = of_one_record(*network)
    votes, _ = decode_slots(weighted, "marginal", acceptor)
    if acceptor.accepts(weighted.marginal.label[weighted.marginal.label != GAP]):
        assert votes.label.tolist() == weighted.marginal.label.tolist()
        assert votes.tie.tolist() == weighted.marginal.tie.tolist()


def test_tags_are_valid_by_their_definitions():
    bio = tag_acceptor(TAGS, "bio")
    bioes_labels = ("O", "B-X", "I-X", "E-X", "S-X", "B-Y", "E-Y")
    bioes = tag_acceptor(bioes_labels, "bioes")
    for n in range(5):
        for codes in product(range(len(TAGS)), repeat=n):
            assert bio.violations(codes) == naive.bio_violations([TAGS[c] for c in codes])
        for codes in product(range(len(bioes_labels)), repeat=n):
            assert bioes.accepts(codes) == naive.bioes_valid([bioes_labels[c] for c in codes])


def test_votes_of_tag_03():
    """Case TAG-03: every expert is valid, the vote is not; the best valid sequence has .95, the next .85."""
    X = ExpertPredictions.of({"A": [["B-PER", "I-PER"]], "B": [["B-ORG", "I-ORG"]], "C": [["B-ORG", "O"]]})
    X = X.__class__(**{**vars_of(X), "weights": np.array([[0.4, 0.35, 0.25]])})
    plain = MajorityVote().fit(X).combine(X)
    assert plain.answers == [["B-ORG", "I-PER"]]
    assert sum(plain.confidences[0]) == pytest.approx(1.0)
    assert plain.notes == ("1 answers are not valid BIO; --constraint bio (restriction='bio') makes them so",)
    done = MajorityVote(restriction="bio").fit(X).combine(X)
    assert done.answers == [["B-ORG", "I-ORG"]]
    assert sum(done.confidences[0]) == pytest.approx(0.95)
    assert done.notes == ()
    assert done.experts == [[["B", "C"], ["B"]]]
    shares = {("B-PER", 0.4), ("B-ORG", 0.6)}, {("I-PER", 0.4), ("I-ORG", 0.35), ("O", 0.25)}
    valid = sorted(
        (round(p + q, 9), a, b) for a, p in shares[0] for b, q in shares[1] if not naive.bio_violations([a, b])
    )
    assert valid[::-1][:2] == [(0.95, "B-ORG", "I-ORG"), (0.85, "B-ORG", "O")]


def vars_of(X):
    return {name: getattr(X, name) for name in X.__dataclass_fields__}


def test_a_gap_does_not_break_a_chunk():
    alphabet = Alphabet(TAGS)
    bio = tag_acceptor(TAGS, "bio")
    chunk = np.array([1, GAP, 2], np.int32)
    assert count_violations(chunk, np.array([0, 3]), bio).tolist() == [0]
    X = {"a": [["B-X", "O", "I-X"]], "b": [["B-X", "I-X"]], "c": [["B-X", "I-X"]]}
    assert MajorityVote(restriction="bio").fit(X).predict(X) == [["B-X", "I-X"]]
    assert alphabet.index("I-X") == 2


def test_where_nothing_is_admissible_the_least_violations_win_and_are_counted():
    X = {"a": [["I-X", "I-X", "O"]], "b": [["I-X", "I-Y", "O"]], "c": [["O", "I-Y", "O"]], "d": [["I-X", "I-Y", "O"]]}
    done = MajorityVote(restriction="bio").fit(X).combine(X)
    assert done.answers == [["I-X", "I-X", "O"]]  # one violation, 3/4 + 1/4 + 1; O I-Y O has one and 1/4 + 3/4 + 1
    (note,) = done.notes
    assert note.startswith("1 records have no admissible sequence among their experts' labels")


def test_restrictions_as_mappings():
    X = {"a": ["aab"], "b": ["aab"], "c": ["bab"]}
    for restriction in (
        {"forbidden": [["a", "a"]]},
        {"forbidden": [[None, "a"], ["q", "r"]]},
        {"allowed": [["a", "b"], ["b", "a"], ["q", "q"]]},
        {"transitions": [[0, 1, "b"], [1, 0, "a"], [0, 0, "q"]], "final": [1]},
    ):
        assert MajorityVote(restriction=restriction).fit(X).predict(X) == ["bab"]
    assert compile_restriction({"allowed": [["q", "q"]]}, Alphabet(("a",))).accepts([])


@pytest.mark.parametrize(
    "restriction",
    [
        "bilou",
        3,
        {},
        {"forbidden": [], "allowed": []},
        {"forbidden": ["ab"]},
        {"forbidden": [[]]},
        {"forbidden": [[1]]},
        {"forbidden": [["a"]], "final": [0]},
        {"allowed": []},
        {"allowed": [["a"], ["a", "b"]]},
        {"transitions": [[0, 1, "a"]]},
        {"transitions": [[0, 1, None]], "final": [1]},
        {"transitions": [[0, "a"]], "final": [1]},
        {"transitions": [[0, -1, "a"]], "final": [1]},
        {"transitions": [[0, 1, "a"]], "final": ["1"]},
    ],
)
def test_what_is_no_restriction_is_refused(restriction):
    with pytest.raises(ParameterError):
        check_restriction(restriction)
    with pytest.raises(ParameterError):
        MajorityVote(restriction=restriction).fit({"a": ["x"]})


def test_a_file_that_is_no_restriction_is_refused():
    for text in ("{", '"bio"', '{"forbidden": [["a"], 3]}', '{"forbiden": []}', "[1]"):
        with pytest.raises(DataError, match=r"r\.json: is no restriction"):
            read_restriction(text, "r.json")
    assert read_restriction('{"forbidden": [[null, "a"]]}', "r.json") == {"forbidden": [[None, "a"]]}


def test_schemes_are_recognised_by_their_labels():
    assert scheme_of(TAGS) == "bio"
    assert scheme_of(["B-X", "I-X", "E-X", "O"]) == "bioes"
    for other in (["NOUN", "B-X", "I-X"], ["O", "B-X"], ["I-X", "O"], ["a", "b"], []):
        assert scheme_of(other) is None


def test_learning_is_as_usual_and_decoding_restricted():
    gold = [["B-X", "I-X", "O"], ["O", "B-X", "O"]] * 6
    bad = [["O", "I-X", "O"], ["O", "I-X", "O"]] * 6
    X = {"a": gold, "b": bad, "c": bad}
    free, bound = (
        PathExpertEnsemble(beta=0.9).fit(X, gold),
        PathExpertEnsemble(beta=0.9, restriction="bio").fit(X, gold),
    )
    assert free.weights_.tolist() == bound.weights_.tolist()
    acceptor = compile_restriction("bio", Alphabet(TAGS))
    said = PathExpertEnsemble(beta=1.0, restriction="bio").fit(X, gold).predict(X)
    assert all(acceptor.accepts(Alphabet(TAGS).encode(answer)) for answer in said)
    wrong = BestExpert(restriction="bio").fit({"a": bad, "b": gold[::-1]}, bad)
    assert all(acceptor.accepts(Alphabet(TAGS).encode(answer)) for answer in wrong.predict({"a": bad, "b": gold[::-1]}))
