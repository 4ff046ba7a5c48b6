import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structens.core import (
    Alphabet,
    Automaton,
    AutomatonError,
    DataError,
    Encoder,
    Estimator,
    ExpertPredictions,
    ParameterError,
    Ragged,
    Slots,
)
from structens.core.automaton import order_of_transitions, topological_rank
from structens.core.units import cut, join

rows = st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=8)
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


@given(rows, st.data())
def test_ragged_selects_like_a_list(lists, data):
    ragged = Ragged.of(lists)
    assert ragged.to_list() == lists
    assert [row.tolist() for row in ragged] == lists
    if lists:
        chosen = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=6))
        assert ragged[chosen].to_list() == [lists[i] for i in chosen]
        a, b = sorted(data.draw(st.tuples(st.integers(-9, 9), st.integers(-9, 9))))
        assert ragged[a:b].to_list() == lists[a:b]
        assert ragged[::-2].to_list() == lists[::-2]
        mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(lists), max_size=len(lists))))
        assert ragged[mask].to_list() == [row for row, keep in zip(lists, mask, strict=True) if keep]
    assert ragged.rows.tolist() == [i for i, row in enumerate(lists) for _ in row]
    assert ragged.places.tolist() == [k for row in lists for k in range(len(row))]


@pytest.mark.parametrize("offsets", [[1, 3], [0, 2], [0, 3, 2, 3], []])
def test_ragged_refuses_offsets_that_do_not_fit(offsets):
    with pytest.raises(DataError):
        Ragged(np.zeros(3), np.array(offsets, dtype=np.int64))


def test_alphabet_refuses_repeats_and_strangers():
    with pytest.raises(DataError):
        Alphabet(("a", "a"))
    with pytest.raises(DataError, match="'z'"):
        Alphabet(("a",)).index("z")
    assert Alphabet(("a", "b")).codes_in(Alphabet(("b",))).tolist() == [-1, 0]


texts = st.text(st.sampled_from("ab \u00e9e\u0301\r\n\U0001f468\u200d\U0001f467\u0646x"), max_size=12)


@given(st.lists(texts, max_size=5), st.sampled_from(["char", "codepoint", "word", "line"]))
def test_encoder_cuts_like_cut(strings, unit):
    encoder = Encoder(["q"])
    coded = encoder.texts(strings, unit)
    assert [encoder.alphabet.decode(row) for row in coded] == [cut(s, unit) for s in strings]
    if unit in ("char", "codepoint"):
        assert [join(encoder.alphabet.decode(row), unit) for row in coded] == strings


def test_units_are_what_readers_see():
    assert cut(FAMILY) == [FAMILY]
    assert len(cut(FAMILY, "codepoint")) == 5
    assert cut("zu\u0366") == ["z", "u\u0366"]
    assert cut(" a  b ", "word") == ["a", "b"]
    assert cut("5\u00a0km", "word") == ["5\u00a0km"]
    with pytest.raises(ParameterError):
        cut("a", "syllable")


def predictions():
    return ExpertPredictions.of(
        {"b": [["x"], None, []], "a": [["x", "y"], ["z"], ["x"]]},
        gold=[["x"], None, ["y", "y"]],
        alternatives=[[["q"], ["r", "s"]], [], []],
        ids=["r1", "r2", "r3"],
        confidences={"a": [[0.1, 0.2], [0.3], [0.4]]},
    )


def test_predictions_select_records_experts_and_keep_everything():
    X = predictions()
    Y = X[[2, 0]]
    assert Y.ids == ("r3", "r1")
    assert Y.gold == [["y", "y"], ["x"]]
    assert Y["a"] == [["x"], ["x", "y"]]
    assert Y["b"] == [[], ["x"]]
    assert Y.reference_offsets.tolist() == [0, 1, 4]
    np.testing.assert_array_equal(Y.confidence, [0.4, np.nan, 0.1, 0.2])
    Z = X.select(["a"])
    assert Z.names == ("a",)
    assert Z["a"] == X["a"]
    np.testing.assert_array_equal(Z.confidence, [0.1, 0.2, 0.3, 0.4])
    assert X[1]["b"] == [None]


def test_predictions_grow_and_come_together():
    X = predictions()
    Y = X.add("c", [["new"], None, ["x"]])
    assert Y["c"] == [["new"], None, ["x"]]
    assert Y["a"] == X["a"]
    Z = ExpertPredictions.of([X[0], X[1], X[2]])
    assert [Z[name] for name in Z.names] == [X[name] for name in X.names]
    assert Z.gold == X.gold
    W = ExpertPredictions.concatenate([X, ExpertPredictions.of({"b": [["k"]], "a": [["x"]]})])
    assert W["b"] == [*X["b"], ["k"]]
    assert X.reindex(["a", "z", "b"])["z"] == [None, None, None]
    with pytest.raises(DataError, match="'a'"):
        X.reindex(["b"])


def test_predictions_refuse_what_does_not_fit():
    with pytest.raises(DataError, match="mixed"):
        ExpertPredictions.of({"a": ["text"], "b": [["list"]]})
    with pytest.raises(DataError, match="'b'"):
        ExpertPredictions.of({"a": ["x", "y"], "b": ["x"]})
    with pytest.raises(DataError, match="0 and 1"):
        predictions().with_confidences({"a": [[2.0, 0.1], None, None]})
    with pytest.raises(DataError):
        predictions()["nobody"]


def test_slots_refuse_shapes_that_do_not_fit():
    labels = np.zeros((2, 1), np.int32)
    with pytest.raises(DataError):
        Slots(labels, np.array([0, 2]), labels, ("a", "b"), Alphabet(("x",)), np.zeros(2, np.int32), np.zeros(1))


transitions = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 3)), min_size=1, max_size=12)


@given(transitions, st.permutations(range(7)))
def test_from_transitions_orders_any_acyclic_automaton(rows, names):
    rows = [(names[min(q, r)], names[max(q, r)], a) for q, r, a in rows if q != r]
    if not rows:
        return
    automaton = Automaton.from_transitions(rows, final=[names[6]], start=names[0], n_states=7)
    rank = topological_rank(np.array([t[0] for t in rows]), np.array([t[1] for t in rows]), 7)
    got = sorted(zip(automaton.source.tolist(), automaton.target.tolist(), automaton.label.tolist(), strict=True))
    assert got == sorted((rank[q], rank[r], a) for q, r, a in rows)
    assert sorted(rank.tolist()) == list(range(7))
    order = order_of_transitions(rows, n_states=7)
    assert automaton.label.tolist() == [rows[i][2] for i in order]


def test_cycles_and_bad_arrays_are_refused():
    with pytest.raises(AutomatonError, match="cycle"):
        Automaton.from_transitions([(0, 1, 0), (1, 0, 0)], final=[1])
    with pytest.raises(AutomatonError, match="order"):
        Automaton(np.array([0, 0, 1]), np.array([0]), np.array([0]), np.array([True, True]))
    with pytest.raises(AutomatonError, match="state 5"):
        Automaton(np.array([0, 1, 1]), np.array([5]), np.array([0]), np.array([True, True]))


@pytest.mark.parametrize(
    ("rows", "options", "got"),
    [
        ([(0, 1, 0), (0, -1, 0)], {}, r"\(0, -1, 0\)"),
        ([(0, 1)], {}, r"\(0, 1\)"),
        ([(0, 1, "a")], {}, r"\(0, 1, 'a'\)"),
        ([(0, 1, 1.5)], {}, "1.5"),
        ([(0, 1, float("nan"))], {}, "nan"),
        ([(0, 1, 2**31)], {}, "2147483648"),
        ([(0, 2**70, 1)], {}, "1180591620717411303424"),
        ([(0, 1, 2, 3, 4)], {}, "3, 4"),
        ([(0, 1, 2), (0, 1, 2, 3)], {}, "unequal length"),
        ([3, 4], {}, "got 3"),
        ([(0, 1, 0)], {"final": [-1]}, "final states"),
        ([(0, 1, 0)], {"final": ["x"]}, "final states"),
        ([(0, 1, 0)], {"start": -1}, "start state"),
    ],
)
def test_from_transitions_refuses_what_are_no_transitions(rows, options, got):
    with pytest.raises(AutomatonError, match=got):
        Automaton.from_transitions(rows, **{"final": [0], **options})


def test_from_transitions_has_every_state_that_is_named():
    assert Automaton.from_transitions([(0, 1, 0)], final=[5]).n_states == 6
    assert Automaton.from_transitions([], final=[0]).n_states == 1


class Nested(Estimator):
    def __init__(self, inner=None, k=1):
        self.inner = inner
        self.k = k


def test_estimators_follow_the_convention():
    from sklearn.base import clone

    outer = Nested(inner=Nested(k=3))
    assert outer.get_params()["inner__k"] == 3
    copy = clone(outer).set_params(inner__k=5)
    assert (copy.inner.k, outer.inner.k) == (5, 3)
    assert repr(copy) == "Nested(inner=Nested(k=5))"
    with pytest.raises(ParameterError, match="it has inner, k"):
        outer.set_params(nothing=1)
