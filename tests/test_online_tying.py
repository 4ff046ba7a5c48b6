import numpy as np
import pytest
from test_online_slots import ABC, slots_of

from structens.core import ABSENT, GAP, Alphabet, DataError, ParameterError
from structens.online import Tying, record_keys, uniforms
from structens.online.converted import parameters_of

TWO = slots_of([[0, 0], [0, 1], [2, GAP], [0, ABSENT]], [3, 1], [0, 0, 0, 0])


def contexts(tie, learnt=TWO, slots=TWO):
    return Tying.learn(learnt, tie).parameters(slots)


def test_contexts_of_each_way_of_tying():
    assert contexts("expert").tolist() == [[0, 1]] * 4
    assert contexts("position").tolist() == [[0, 1], [2, 3], [4, 5], [0, 1]]
    assert contexts("position-from-end").tolist() == [[4, 5], [2, 3], [0, 1], [0, 1]]
    assert contexts(lambda s: s.labels[:, 0] == 0).tolist() == [[2, 3], [2, 3], [0, 1], [2, 3]]
    assert contexts(lambda s: np.array(["x", "y", "x", "z"])).tolist() == [[0, 1], [2, 3], [0, 1], [4, 5]]


def test_labels_are_contexts_by_name():
    tying = Tying.learn(TWO, "label")
    assert tying.keys == ["a", "b", "c"]
    assert tying.n_parameters == 8  # with GAP
    assert tying.parameters(TWO).tolist() == [[0, 1], [0, 3], [4, 7], [0, -1]]
    other = slots_of([[0, 1]], [1], [0], Alphabet(("z", "a")))  # other codes, and a label never met
    assert tying.parameters(other).tolist() == [[-1, 1]]


def test_new_contexts_are_told_apart_from_absent_experts():
    long = slots_of([[0, 0]] * 3 + [[0, ABSENT]], [4], [0] * 4)
    parameter, is_new = parameters_of(long, Tying.learn(TWO, "position"))
    assert parameter.tolist() == [[0, 1], [2, 3], [4, 5], [6, -1]]
    assert is_new.tolist() == [[False, False]] * 3 + [[True, False]]


def test_nothing_learnt_makes_everything_new():
    empty = slots_of(np.zeros((0, 2)), [0], [])
    assert contexts("position", learnt=empty).tolist() == [[-1, -1]] * 4


@pytest.mark.parametrize("tie", [lambda s: [0, 1], lambda s: s.labels, lambda s: np.zeros(len(s.labels))])
def test_bad_functions_are_refused(tie):
    with pytest.raises(DataError, match="one integer or string for each of 4 slots"):
        Tying.learn(TWO, tie)


def test_unknown_ties_are_refused():
    with pytest.raises(ParameterError, match="tie must be one of expert, position"):
        Tying.learn(TWO, "slot")


def test_a_vocabulary_is_no_burden():
    words = Alphabet(tuple(f"w{k}" for k in range(100_000)))
    slots = slots_of([[5, 99_999]], [1], [5], words)
    tying = Tying.learn(slots, "label")
    assert tying.n_parameters == 6
    assert tying.parameters(slots).tolist() == [[0, 3]]
    assert len(ABC) == 3


def test_draws_depend_on_seed_and_id_only():
    keys = record_keys(["u1", "u2", 1, "1"], 0)
    assert keys[0] == 221698882888119123  # the same in every version, or models change what they draw
    assert len(set(keys.tolist())) == 4
    assert record_keys(["u2"], 0)[0] == keys[1]
    assert record_keys(["u2"], 1)[0] != keys[1]
    assert len(record_keys([], 0)) == 0
    u = uniforms(keys[:, None], np.arange(5000))
    assert u.shape == (4, 5000)
    assert ((u >= 0) & (u < 1)).all()
    assert u.mean(axis=1) == pytest.approx([0.5] * 4, abs=0.02)
    assert abs(np.corrcoef(u)[np.triu_indices(4, 1)]).max() < 0.06
