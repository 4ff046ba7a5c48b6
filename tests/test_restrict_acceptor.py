from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import decoding as naive
from naive.automata import accepting_paths
from test_online_weighted_majority import dags

from structens.automata import LabelAcceptor, Semiring, WeightedAutomaton, flows, restrict
from structens.core import EPSILON, Automaton, AutomatonError, DataError

TEXTS = [text for n in range(5) for text in product(range(3), repeat=n)]
symbol = st.sampled_from([0, 1, 2])
grams = st.lists(
    st.tuples(st.sampled_from([None, 0, 1]), st.lists(symbol, max_size=2), st.sampled_from([None, 0, 2])).map(
        lambda g: (g[0], *g[1], g[2])
    ),
    max_size=5,
)
same_length = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.tuples(*[st.sampled_from([0, 1])] * n), min_size=1, max_size=6)
)
bordered = st.integers(1, 3).flatmap(
    lambda n: st.lists(
        st.tuples(*[st.sampled_from([0, 1])] * n).flatmap(
            lambda g: st.sampled_from([g, (None, *g[1:]), (*g[:-1], None)])
        ),
        min_size=1,
        max_size=8,
    )
)
rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([EPSILON, 0, 1])), max_size=8)


@given(grams)
def test_forbidden_ngrams(listed):
    acceptor = LabelAcceptor.forbidden(listed, 3)
    assert [acceptor.accepts(t) for t in TEXTS] == [not naive.has_forbidden(t, listed) for t in TEXTS]


@given(st.one_of(same_length, bordered))
def test_allowed_ngrams(listed):
    acceptor = LabelAcceptor.allowed_only(listed, 3)
    assert [acceptor.accepts(t) for t in TEXTS] == [naive.all_allowed(t, listed) for t in TEXTS]


@given(rows, st.lists(st.integers(0, 3), max_size=2))
def test_grammar_with_cycles_and_epsilon(transitions, final):
    acceptor = LabelAcceptor.from_transitions(transitions, final=final, n_labels=3)
    assert [acceptor.accepts(t) for t in TEXTS] == [naive.accepted(t, transitions, final) for t in TEXTS]


@given(st.lists(st.booleans(), min_size=16, max_size=16))
def test_bigram_table(bits):
    table = np.array(bits).reshape(4, 4)
    acceptor = LabelAcceptor.bigrams(table)
    for text in TEXTS:
        steps = zip((3, *text), (*text, 3), strict=True)
        assert acceptor.accepts(text) == all(table[a, b] for a, b in steps)


@given(grams, st.integers(0, 3))
def test_unrolled_accepts_the_same_strings_of_that_length(listed, length):
    acceptor = LabelAcceptor.forbidden(listed, 3)
    a = acceptor.unrolled(length)
    found = {tuple(a.label[list(path)].tolist()) for path in accepting_paths(a)}
    assert found == {t for t in TEXTS if len(t) <= length and acceptor.accepts(t)}


@given(dags(), grams, st.data())
def test_restriction_keeps_exactly_the_admissible_paths(a, listed, data):
    letters = data.draw(st.lists(st.sampled_from([EPSILON, 0, 1]), min_size=len(a.label), max_size=len(a.label)))
    a = Automaton(a.offsets, a.target, np.array(letters, np.int32), a.is_final, a.start)
    weight = np.arange(a.n_transitions, dtype=float)
    kept = restrict(WeightedAutomaton(a, weight), LabelAcceptor.forbidden(listed, 3))
    found = sorted(tuple(kept.first[list(path)].tolist()) for path in accepting_paths(kept.automaton))
    wanted = []
    for path in accepting_paths(a):
        text = tuple(int(a.label[e]) for e in path if a.label[e] != EPSILON)
        if not naive.has_forbidden(text, listed):
            wanted.append(tuple(path))
    assert found == sorted(wanted)
    assert kept.weight.tolist() == weight[kept.first].tolist()


def test_what_no_string_satisfies():
    a = Automaton.from_transitions([(0, 1, 0)], final=[1])
    kept = restrict(WeightedAutomaton(a, [0.5]), LabelAcceptor.forbidden([(0,)], 1), Semiring.REAL)
    assert not kept.automaton.is_final.any()
    with pytest.raises(AutomatonError, match="no path with positive weight"):
        flows(kept.automaton, kept.weight, kept.final_weight, Semiring.REAL)


def test_restriction_reads_what_a_transducer_writes():
    a = Automaton.from_transitions([(0, 1, 5, 0), (0, 1, 6, 1)], final=[1])
    kept = restrict(WeightedAutomaton(a, [1.0, 2.0]), LabelAcceptor.forbidden([(0,)], 2))
    assert kept.first.tolist() == [1]


def test_violations_are_counted_and_the_string_goes_on():
    no_repeat = LabelAcceptor.forbidden([(0, 0), (1, None)], 2)
    assert [no_repeat.violations(t) for t in ([0, 1, 0], [0, 0, 0], [0, 0, 1])] == [0, 2, 2]


def test_lists_that_make_no_sense_are_refused():
    with pytest.raises(DataError, match="one length"):
        LabelAcceptor.allowed_only([(0,), (0, 1)], 2)
    with pytest.raises(DataError, match="at least one label"):
        LabelAcceptor.forbidden([()], 2)
    with pytest.raises(DataError, match="none of 2"):
        LabelAcceptor.forbidden([(0, 2)], 2)
    with pytest.raises(DataError, match="none of 2"):
        LabelAcceptor.from_transitions([(0, 1, 2)], final=[1], n_labels=2)
    with pytest.raises(DataError, match="as many rows as columns"):
        LabelAcceptor.bigrams([[True, True]])
    with pytest.raises(AutomatonError, match="do not fit"):
        LabelAcceptor(np.zeros(1), np.zeros((2, 1)), np.ones((1, 1)), np.ones(1))
    with pytest.raises(AutomatonError, match="not one of"):
        LabelAcceptor(np.zeros(1), np.ones((1, 1)), np.ones((1, 1)), np.ones(1))
