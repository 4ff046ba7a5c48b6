"""Counts, alternatives, alignments: against enumeration of all optimal alignments, and the public cases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.evaluate import best_reference, edits, optimal_splits
from rapidfuzz.distance import Levenshtein

from structens.core import DataError, ExpertPredictions, ParameterError, Ragged
from structens.evaluate import (
    alignment,
    count_errors,
    count_systems,
    edit_errors,
    expected_counts,
    match_by_id,
    record_rows,
)
from structens.losses import edit_counts

words = st.lists(st.sampled_from("abc"), max_size=7)


def records(pairs, **kwargs):
    """A collection with one expert "s" from (reference, hypothesis) pairs."""
    return ExpertPredictions.of({"s": [hyp for _, hyp in pairs]}, gold=[ref for ref, _ in pairs], **kwargs)


def split(c, i=0):
    return int(c.substitutions[i]), int(c.deletions[i]), int(c.insertions[i])


@given(st.lists(st.tuples(words, words), min_size=1, max_size=6))
def test_counts_are_the_optimal_split_with_fewest_substitutions(pairs):
    c = count_errors("s", records(pairs))
    for i, (ref, hyp) in enumerate(pairs):
        assert split(c, i) == edits(ref, hyp)
        assert split(c, i) in optimal_splits(tuple(ref), tuple(hyp))
        assert c.hits[i] + c.substitutions[i] + c.deletions[i] == len(ref) == c.reference_length[i]
        assert c.hits[i] + c.substitutions[i] + c.insertions[i] == len(hyp) == c.hypothesis_length[i]
        assert c.deletions[i] - c.insertions[i] == len(ref) - len(hyp)


@given(words, words)
def test_the_printed_alignment_adds_up_to_the_counts(ref, hyp):
    columns = alignment(ref, hyp)
    ops = [column.op for column in columns]
    assert (ops.count("sub"), ops.count("del"), ops.count("ins")) == edits(ref, hyp)
    assert [column.reference for column in columns if column.op != "ins"] == ref
    assert [column.hypothesis for column in columns if column.op != "del"] == hyp
    assert all((column.op == "hit") == (column.reference == column.hypothesis) for column in columns)


@given(words, words)
def test_turning_the_sides_or_the_direction_keeps_the_counts(ref, hyp):
    s, d, i = split(count_errors("s", records([(ref, hyp)])))
    assert split(count_errors("s", records([(hyp, ref)]))) == (s, i, d)
    assert split(count_errors("s", records([(ref[::-1], hyp[::-1])]))) == (s, d, i)


@given(st.integers(0, 2**32 - 1), st.integers(0, 400), st.sampled_from([0.02, 0.2, 0.9]), st.integers(1, 30))
def test_long_sequences_agree_with_rapidfuzz(seed, n, noise, n_labels):
    rng = np.random.default_rng(seed)
    ref = rng.integers(0, n_labels, n)
    hyp = [x for x in ref if rng.random() > noise / 3]
    hyp = [int(rng.integers(0, n_labels)) if rng.random() < noise / 3 else int(x) for x in hyp]
    for _ in range(int(noise * n / 3)):
        hyp.insert(int(rng.integers(0, len(hyp) + 1)), int(rng.integers(0, n_labels)))
    zero = np.zeros(1, dtype=np.int64)
    errors, substitutions = edit_errors(Ragged.of([ref]), Ragged.of([hyp]), zero, zero)
    assert errors[0] == Levenshtein.distance(ref.tolist(), hyp)
    other = edit_counts(ref.tolist(), hyp)  # the tie rule of the losses is the same
    assert (errors[0], substitutions[0]) == (other.total, other.substitutions)
    ops = [column.op for column in alignment([str(x) for x in ref], [str(x) for x in hyp])]
    assert (ops.count("sub"), ops.count("del"), ops.count("ins")) == tuple(other)


@given(
    st.lists(st.tuples(st.lists(words, min_size=1, max_size=3), st.one_of(st.none(), words)), min_size=1, max_size=5)
)
def test_the_first_best_reference_is_used(rows):
    X = ExpertPredictions.of(
        {"s": [hyp for _, hyp in rows]},
        gold=[refs[0] for refs, _ in rows],
        alternatives=[refs[1:] for refs, _ in rows],
    )
    c = count_errors("s", X)
    for i, (refs, hyp) in enumerate(rows):
        assert (int(c.reference[i]), split(c, i)) == best_reference(refs, hyp)
        assert c.missing[i] == (hyp is None)
        assert c.wrong[i] == (hyp is None or hyp != refs[int(c.reference[i])])


@given(st.lists(st.tuples(words, st.integers(0, 2**16)), min_size=1, max_size=6))
def test_hamming_is_position_by_position(rows):
    pairs = [(ref, ["abc"[(seed >> k) % 3] for k in range(len(ref))]) for ref, seed in rows]
    c = count_errors("s", records(pairs), loss="hamming")
    assert c.errors.tolist() == [sum(a != b for a, b in zip(*pair, strict=True)) for pair in pairs]
    assert c.substitutions.tolist() == c.errors.tolist()
    for i, (ref, hyp) in enumerate(pairs):
        ops = [column.op for column in alignment(ref, hyp, loss="hamming")]
        assert ops.count("sub") == c.errors[i]
        assert set(ops) <= {"sub", "hit"}


def test_hamming_takes_the_best_reference_of_the_right_length():
    X = ExpertPredictions.of(
        {"s": [list("ab"), None]}, gold=[list("xyz"), list("ab")], alternatives=[[list("xb"), list("ab")], []]
    )
    c = count_errors("s", X, loss="hamming")
    assert c.errors.tolist() == [0, 2]
    assert c.reference.tolist() == [2, 0]
    assert split(c, 1) == (0, 2, 0)


def test_hamming_of_unequal_lengths_is_refused_and_auto_takes_edit():
    X = ExpertPredictions.of({"s": [list("ab"), list("bcdef")]}, gold=[list("ab"), list("abcd")], ids=["r1", "r2"])
    with pytest.raises(DataError, match=r"record 'r2': the answer has 5 units, its gold 4"):
        count_errors("s", X, loss="hamming")
    assert count_systems({"s": "s"}, X)["s"].loss == "edit"
    assert count_systems({"s": "s"}, X[:1])["s"].loss == "hamming"
    with pytest.raises(DataError, match="position by position"):
        alignment("ab", "abc", loss="hamming")


def test_spec_6_1():
    assert count_errors(["sitting"], ExpertPredictions.of({"e": ["kitten"]}, gold=["kitten"])).errors.tolist() == [3]
    X = ExpertPredictions.of({"e": [list("bcdef")]}, gold=[list("abcde")])
    assert count_errors("e", X).errors.tolist() == [2]
    assert count_errors("e", X, loss="hamming").errors.tolist() == [5]


def test_metr_06_one_tie_rule():
    c = count_errors("s", records([(list("ab"), list("bc")), (list("abcd"), list("bxc"))]))
    assert c.errors.tolist() == [2, 3]
    assert split(c, 0) == (0, 1, 1)
    assert split(c, 1) == (0, 2, 1)


def test_metr_11_alternatives():
    gold, others = ["well", "um", "thanks"], [["well", "uh", "thanks"], ["well", "thanks"]]
    hyps = [["well", "thanks"], ["well", "uh", "thanks"], ["well", "ah", "thanks"]]
    X = ExpertPredictions.of({"s": hyps}, gold=[gold] * 3, alternatives=[others] * 3)
    c = count_errors("s", X)
    assert c.errors.tolist() == [0, 0, 1]
    assert c.reference_length.tolist()[:2] == [2, 3]
    naive = ["well", "{", "um", "/", "uh", "/", "@", "}", "thanks"]
    plain = count_errors("s", ExpertPredictions.of({"s": hyps}, gold=[naive] * 3))
    assert plain.errors.tolist()[:2] == [7, 6]
    assert plain.reference_length.tolist()[:2] == [9, 9]


def test_metr_12_ignored_tokens():
    X = records([(["a", "b"], ["a", "b", "<eos>"]), (["a", "b"], ["a", "x", "b", "y"])], ids=["u1", "u2"])
    ignored, plain = (record_rows(count_errors("s", X, ignore_tokens=t), X) for t in (["<eos>", "<pad>"], []))
    assert [row["rate"] for row in ignored] == [0.0, 1.0]
    assert [row["rate"] for row in plain] == [0.5, 1.0]
    both = records([(["a", "<eos>"], ["a", "x", "<eos>", "<eos>"])])
    assert split(count_errors("s", both, ignore_tokens=["<eos>"])) == (0, 0, 1)
    with pytest.raises(ParameterError, match="list of units"):
        count_errors("s", X, ignore_tokens="<eos>")


def test_metr_14_another_number_of_answers_is_refused():
    X = ExpertPredictions.of({"e": [["a", "b"], ["c", "d"]]}, gold=[["a", "b"], ["c", "d"]])
    with pytest.raises(DataError, match="1 answers for 2 records"):
        count_errors([["a", "b"]], X)


def test_comb_14_missing_is_deletions_unless_present_only():
    gold = [["a", "b"], ["c", "d", "e"]]
    X = ExpertPredictions.of({"A": gold, "C": [["a", "b"], None]}, gold=gold, ids=["u1", "u2"])
    c = count_errors("C", X)
    assert (c.errors.sum(), c.reference_length.sum(), c.missing.sum()) == (3, 5, 1)
    present = count_errors("C", X, present_only=True)
    assert (present.errors.sum(), present.reference_length.sum(), len(present)) == (0, 2, 1)


def test_comb_16_ids_that_do_not_match():
    X = ExpertPredictions.of({"A": [["a"]]}, ids=["u1"])
    with pytest.raises(DataError, match="0 of 1 ids are shared: here 'u1', there 'u1 -77'"):
        match_by_id(X, ["u1 -77"], [["a"]])
    with pytest.raises(DataError, match="record 'u1': two answers"):
        match_by_id(X, ["u1", "u1"], [["a"], ["b"]])
    with pytest.raises(DataError, match="2 ids for 1 answers"):
        match_by_id(X, ["u1", "u2"], [["a"]])
    assert match_by_id(X, [], []) == ([None], 0)


def test_tag_05_labels_never_seen():
    X = ExpertPredictions.of({"e": [["A", "Z", "B"]]}, gold=[["A", "Q", "B"]])
    (row,) = record_rows(count_errors([["A", "Z", "B"]], X, loss="hamming"), X)
    assert row["rate"] == pytest.approx(0.3333333333)
    assert count_errors([["new", "newer", "B"]], X).errors.tolist() == [2]


@given(st.data())
def test_tag_12_the_vote_is_at_most_twice_as_bad_as_the_draw(data):
    p, n = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 4))
    weights = data.draw(st.lists(st.floats(0.01, 1), min_size=p, max_size=p))
    label = st.sampled_from("abc")
    answers = data.draw(st.lists(st.lists(label, min_size=n, max_size=n), min_size=p, max_size=p))
    X = ExpertPredictions.of({str(j): [[a] for a in row] for j, row in enumerate(answers)}, gold=[["a"]] * n)
    each = [count_errors(name, X, loss="hamming") for name in X.names]
    vote = [
        [max("abc", key=lambda y: sum(w for w, row in zip(weights, answers, strict=True) if row[i] == y))]
        for i in range(n)
    ]
    expected = expected_counts(each, weights)
    assert (count_errors(vote, X).errors <= 2 * expected.errors + 1e-12).all()
    share = np.array(weights) / sum(weights)
    assert expected.errors == pytest.approx(
        [sum(w * (row[i] != "a") for w, row in zip(share, answers, strict=True)) for i in range(n)]
    )


def test_tag_12_example():
    X = ExpertPredictions.of({"A": [["a"]], "B": [["b"]], "C": [["b"]]}, gold=[["a"]])
    expected = expected_counts([count_errors(name, X) for name in X.names], [0.4, 0.3, 0.3])
    assert count_errors([["b"]], X).errors.tolist() == [1]
    assert expected.errors.tolist() == pytest.approx([0.6])
    for bad in ([0.4, 0.3], [0, 0, 0], [1, -1, 1], [1, np.nan, 1], [1, np.inf, 1]):
        with pytest.raises(ParameterError):
            expected_counts([count_errors(name, X) for name in X.names], bad)


def test_texts_and_lists_are_not_mixed_up():
    X = ExpertPredictions.of({"e": ["ab"]}, gold=["ab"])
    with pytest.raises(DataError, match="answers must be texts like the records', got lists of tokens"):
        count_errors([["a", "b"]], X)
    T = ExpertPredictions.of({"e": [["ab"]]}, gold=[["ab"]])
    with pytest.raises(DataError, match="answers must be lists of tokens like the records', got texts"):
        count_errors(["ab"], T)
    assert count_errors([None], T).deletions.tolist() == [1]


def test_codes_of_the_alphabet_are_taken_as_they_are():
    X = ExpertPredictions.of({"e": [["a", "b"], ["b"]]}, gold=[["a", "b"], ["a"]])
    rows = X.hypotheses
    assert count_errors(rows, X).errors.tolist() == [0, 1]
    for code in (2, -1):
        with pytest.raises(DataError, match="alphabet of 2 labels"):
            count_errors(Ragged.of([[code], [0]]), X)


def test_no_records_and_no_gold_are_refused():
    X = ExpertPredictions.of({"e": ["a"]})
    with pytest.raises(DataError, match="none of the 1 records has gold"):
        count_errors("e", X)
    with pytest.raises(DataError, match="no records to evaluate"):
        count_errors("e", X[:0])
    with pytest.raises(ParameterError, match="auto, edit or hamming, got 'wer'"):
        count_systems({"e": "e"}, X, loss="wer")
    with pytest.raises(ParameterError, match="edit or hamming"):
        alignment("a", "b", loss="wer")


def test_records_without_gold_are_left_out():
    X = ExpertPredictions.of({"e": ["a", "b", "c"]}, gold=["a", None, "x"])
    c = count_errors("e", X)
    assert c.record.tolist() == [0, 2]
    assert c.errors.tolist() == [0, 1]
