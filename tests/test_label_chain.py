"""Label chains: against all sequences written out, and against the automata layer on the product written out."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structens.automata import LabelAcceptor, Semiring, flows, shortest_path
from structens.automata.label_chain import LabelChain
from structens.core import AutomatonError, DataError, Ragged
from structens.ensembles.label_bigrams import LabelBigrams
from structens.ensembles.label_decoding import after, greedy
from tests.naive import label_chain as naive


@st.composite
def chains(draw):
    n, seed = draw(st.integers(1, 3)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    table, final = rng.normal(size=(n + 1, n)), rng.normal(size=n + 1)
    table[rng.random(table.shape) < draw(st.sampled_from([0.0, 0.3]))] = -np.inf
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    shape = (sum(lengths), n + 1, n) if draw(st.booleans()) else (sum(lengths), n)
    score = rng.normal(size=shape)
    acceptor = None
    if draw(st.booleans()):
        gram = draw(st.lists(st.sampled_from([*range(n), None]), min_size=1, max_size=3))
        if any(label is not None for label in gram):
            acceptor = LabelAcceptor.forbidden([gram], n)
    return table, final, score, np.concatenate([[0], np.cumsum(lengths)]), acceptor


@given(chains())
def test_best_and_marginals_as_written_out(case):
    table, final, score, ends, acceptor = case
    chain = LabelChain.bigrams(table, final, acceptor)
    for a, b in itertools.pairwise(ends):
        here, offsets = score[a:b], [0, b - a]
        expected = naive.marginals(here, table, final, acceptor)
        if expected is None:
            with pytest.raises(AutomatonError, match="sequence 0"):
                chain.best(here, offsets)
            with pytest.raises(AutomatonError, match="sequence 0"):
                chain.marginals(here, offsets)
            continue
        found = naive.weights(here, table, final, acceptor)
        best = tuple(chain.best(here, offsets).tolist())
        assert found[best] == pytest.approx(max(found.values()), abs=1e-9)
        np.testing.assert_allclose(chain.marginals(here, offsets), expected, atol=1e-9)


@given(chains())
def test_the_same_as_shortest_path_and_flows_of_the_product(case):
    table, final, score, ends, acceptor = case
    chain = LabelChain.bigrams(table, final, acceptor)
    together, alone = [], []
    for a, b in itertools.pairwise(ends):
        automaton, cost, end = chain.unrolled(score[a:b])
        try:
            path = shortest_path(automaton, cost, end)
        except AutomatonError:
            return
        together.append(automaton.label[path])
        flow = flows(automaton, cost, end, Semiring.LOG).transition
        expected = np.zeros((b - a, chain.n_labels))
        layer = automaton.source // len(chain.final)
        np.add.at(expected, (layer, automaton.label), flow)
        alone.append(expected)
    np.testing.assert_array_equal(chain.best(score, ends), np.concatenate(together))
    np.testing.assert_allclose(chain.marginals(score, ends), np.concatenate(alone), atol=1e-9)


def test_ties_go_to_the_first_transition():
    chain = LabelChain.bigrams(np.zeros((3, 2)))
    assert chain.best(np.zeros((3, 2)), [0, 3]).tolist() == [0, 0, 0]


def test_what_does_not_fit_is_refused():
    chain = LabelChain.bigrams(np.zeros((3, 2)))
    for score, offsets in (([[0.0]], [0, 1]), ([[0.0, 0.0]], [0, 2]), ([[0.0, np.nan]], [0, 1])):
        with pytest.raises(DataError):
            chain.best(score, offsets)
    with pytest.raises(DataError, match="weights of shape"):
        LabelChain.bigrams(np.zeros((2, 2)))
    with pytest.raises(DataError, match="acceptor reads 3"):
        LabelChain.bigrams(np.zeros((3, 2)), acceptor=LabelAcceptor.forbidden([(0,)], 3))


@given(st.lists(st.lists(st.integers(0, 2), max_size=4), max_size=5))
def test_bigrams_as_counted_one_by_one(rows):
    np.testing.assert_allclose(LabelBigrams().fit(Ragged.of(rows), 3).ratio_, naive.bigram_ratios(rows, 3), atol=1e-12)


def test_ratios_are_those_of_a_distribution():
    ratio = LabelBigrams().fit(Ragged.of([[0, 1, 1], [1]]), 2).ratio_
    unigram = np.array([2, 4, 3]) / 9.0
    np.testing.assert_allclose((np.exp(ratio) * unigram).sum(axis=1), 1.0)


def test_left_to_right_follows_its_own_labels():
    rng = np.random.default_rng(0)
    score, ends = rng.normal(size=(9, 4, 3)), np.array([0, 4, 4, 9])
    codes = greedy(score, ends)
    for a, b in itertools.pairwise(ends):
        before = 3
        for k in range(a, b):
            assert codes[k] == np.argmax(score[k, before])
            before = codes[k]
    np.testing.assert_array_equal(np.argmax(after(score, codes, ends), axis=1), codes)
