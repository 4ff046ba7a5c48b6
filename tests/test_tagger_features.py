"""Features of sequences: words as written out one by one, windows of vectors, hashes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structens.core import DataError, NotFittedError, ParameterError
from structens.ensembles import MatrixFeatures, VectorWindows, WordFeatures
from structens.ensembles.features import labels_of_sequences, sequence_hashes
from tests.naive import word_features as naive

WORDS = st.text(alphabet="aAbé1-'", min_size=1, max_size=5)
SENTENCES = st.lists(st.lists(WORDS, max_size=4), min_size=1, max_size=4)


@st.composite
def makers(draw):
    return WordFeatures(
        radius=draw(st.integers(0, 2)),
        affixes=draw(st.integers(0, 3)),
        shapes=draw(st.booleans()),
        char_ngrams=draw(st.sampled_from([None, (1, 2), (3, 3)])),
        near_affixes=draw(st.integers(0, 2)),
        min_count=draw(st.integers(1, 3)),
        lowercase=draw(st.booleans()),
    )


@given(makers(), SENTENCES, SENTENCES)
def test_rows_as_written_out(maker, learnt, others):
    if not any(learnt):
        return
    expected = naive.rows(maker, learnt, others)
    try:
        X = maker.fit(learnt).transform(others)
    except DataError:
        assert not any(naive.rows(maker, learnt, learnt))
        return
    names = np.array(maker.names())
    assert len(set(names)) == maker.n_columns_
    assert X.shape == (sum(map(len, others)), maker.n_columns_)
    assert X.has_sorted_indices
    assert (X.data == 1).all()
    for k, wanted in enumerate(expected):
        found = names[X.indices[X.indptr[k] : X.indptr[k + 1]]].tolist()
        assert sorted(found) == sorted(wanted)


@given(makers(), SENTENCES, SENTENCES)
@settings(max_examples=25)
def test_state_goes_to_arrays_and_back(maker, learnt, others):
    if not any(learnt):
        return
    maker.set_params(min_count=1).fit(learnt)
    again = WordFeatures(**maker.get_params()).restore(maker.state())
    assert (maker.transform(others) != again.transform(others)).nnz == 0
    assert maker.names() == again.names()


def test_order_of_sentences_does_not_matter():
    rows = [["b", "a"], ["c", "b"], ["a"]]
    assert WordFeatures(min_count=1).fit(rows).names() == WordFeatures(min_count=1).fit(rows[::-1]).names()


def test_hashed_columns_keep_nothing_and_mean_the_same_everywhere():
    rows = [["the", "dog"], ["a", "cat"]]
    maker = WordFeatures(n_features=1 << 16).fit(rows)
    X = maker.transform(rows)
    assert maker.vocabulary_ == {}
    assert X.shape == (4, 1 << 16)
    exact = WordFeatures(min_count=1).fit(rows).transform(rows)
    assert (exact @ exact.T != X @ X.T).nnz == 0  # no two meet among so few
    assert X.indices[:3].tolist() == [7728, 8306, 8632]  # the same in every run and on every machine
    assert WordFeatures(n_features=3).fit(rows).transform(rows).data.max() == 1


@given(st.integers(0, 2), st.lists(st.integers(0, 4), min_size=1, max_size=4), st.booleans())
def test_windows_as_written_out(radius, lengths, ends):
    rng = np.random.default_rng(sum(lengths))
    rows = [rng.integers(0, 9, (n, 2)) for n in lengths]
    if not sum(lengths):
        return
    X = VectorWindows(radius, outside=7, ends=ends).fit(rows).transform(rows)
    expected = []
    for row in rows:
        for k in range(len(row)):
            places = range(k - radius, k + radius + 1)
            inside = [0 <= i < len(row) for i in places]
            line = [x for i, here in zip(places, inside, strict=True) for x in (row[i] if here else [7, 7])]
            line += [int(not here) for i, here in zip(places, inside, strict=True) if i != k] if ends else []
            expected.append(line)
    np.testing.assert_array_equal(X, expected)


def test_numbers_keep_their_type_and_sizes_are_checked():
    rows = [np.ones((2, 3), np.uint8)]
    assert VectorWindows().fit(rows).transform(rows).dtype == np.uint8
    assert MatrixFeatures().fit(rows).transform([]).shape == (0, 3)
    with pytest.raises(DataError, match="2 numbers"):
        MatrixFeatures().fit(rows).transform([np.ones((1, 2))])
    with pytest.raises(DataError, match="sequence 1 has vectors of 2"):
        MatrixFeatures().fit([np.ones((1, 3)), np.ones((1, 2))])
    with pytest.raises(DataError, match="shape"):
        VectorWindows().fit([np.ones(3)])
    with pytest.raises(DataError, match="no vector"):
        VectorWindows().fit([[]])


@pytest.mark.parametrize("maker", [WordFeatures(), VectorWindows(), MatrixFeatures()])
def test_nothing_without_fit(maker):
    with pytest.raises(NotFittedError):
        maker.transform([["a"]])


@pytest.mark.parametrize(
    "parameters",
    [{"radius": -1}, {"affixes": 1.5}, {"min_count": 0}, {"n_features": 0}, {"char_ngrams": (3, 2)}],
)
def test_parameters_out_of_range(parameters):
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        WordFeatures(**parameters).fit([["a"]])


def test_what_is_no_list_of_tokens_is_refused():
    for rows, said in (
        (["ab"], "sequence 0 is a text"),
        ([["a"], ["b", 1]], "sequence 1 holds a int"),
        ([], "no token"),
    ):
        with pytest.raises(DataError, match=said):
            WordFeatures().fit(rows)
    with pytest.raises(DataError, match="lower min_count"):
        WordFeatures(min_count=9).fit([["a"]])


def test_labels_and_sequences_must_fit():
    for X, y, said in (
        ([["a"]], [], "1 sequences"),
        ([["a"], ["b"]], [["A"], []], "sequence 1 has 1 positions and 0"),
        ([["a"]], [[1]], "must be str"),
        ([[]], [[]], "no position"),
    ):
        with pytest.raises(DataError, match=said):
            labels_of_sequences(X, y)


def test_hashes_tell_contents_apart_and_nothing_else():
    same = sequence_hashes([np.array([[1, 0]]), np.array([[1.0, -0.0]], np.float32), [[True, False]]])
    assert len(set(same.tolist())) == 1
    different = sequence_hashes([[], ["a"], ["a", ""], ["", "a"], ["a" * 2], np.ones((1, 2)), np.ones((2, 1))])
    assert len(set(different.tolist())) == 7
