import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.losses import slot_loss

from structens.core import ABSENT, GAP, UNKNOWN, Alphabet, ParameterError, Slots
from structens.losses import AdditiveLoss, CostMatrix, Hamming, get, largest_loss, slot_losses

ABC = Alphabet(("a", "b", "c"))


def slots_of(labels, gold, alphabet=ABC):
    labels = np.array(labels, dtype=np.int32)
    n, p = labels.shape
    names = tuple(f"e{j}" for j in range(p))
    return Slots(
        labels, np.array([0, n]), np.zeros((n, p), int), names, alphabet, np.array(gold, np.int32), np.zeros(1)
    )


@st.composite
def aligned(draw):
    n, p = draw(st.integers(0, 6)), draw(st.integers(1, 4))
    code = st.sampled_from([ABSENT, GAP, 0, 1, 2])
    labels = np.array(draw(st.lists(code, min_size=n * p, max_size=n * p)), dtype=np.int32).reshape(n, p)
    gold = draw(st.lists(st.sampled_from([UNKNOWN, GAP, 0, 1, 2]), min_size=n, max_size=n))
    return slots_of(labels, gold)


@given(aligned(), st.lists(st.integers(0, 8), min_size=9, max_size=9), st.sampled_from([0.0, 0.5, 1.0, 2.0]))
def test_slot_losses_agree_with_the_definition(slots, numbers, gap_cost):
    table = np.array(numbers, dtype=float).reshape(3, 3) / 4
    matrix = CostMatrix(table, ABC.labels, gap_cost=gap_cost)
    hamming = Hamming(gap_cost)
    for loss, cost in ((matrix, lambda g, h: table[g, h]), (hamming, lambda g, h: float(g != h))):
        expected = [
            [slot_loss(g, h, cost, gap_cost) for h in row] for g, row in zip(slots.gold, slots.labels, strict=True)
        ]
        got = slot_losses(slots, loss)
        assert got.dtype == np.float64
        assert got.shape == slots.labels.shape
        assert got.tolist() == expected
        assert got.max(initial=0) <= largest_loss(slots, loss)


def test_positional_hamming_of_shifted_strings_is_one():
    letters = Alphabet(tuple("abcdef"))
    gold, said = letters.encode("abcde"), letters.encode("bcdef")
    assert slot_losses(slots_of(said[:, None], gold, letters)).mean() == 1.0  # 5/5, though the edit distance is 2


def test_right_padded_hamming_of_kitten_and_sitting():
    pairs = list(itertools.zip_longest("kitten", "sitting"))
    letters = Alphabet.of("kitensg")
    code = [[GAP if x is None else letters.index(x) for x in pair] for pair in pairs]
    slots = slots_of([[h] for _, h in code], [g for g, _ in code], letters)
    assert slot_losses(slots).mean() == pytest.approx(3 / 7)


def test_a_vocabulary_needs_no_matrix():
    words = Alphabet(tuple(f"w{k}" for k in range(100_000)))  # a matrix of it would take 80 GB
    assert slot_losses(slots_of([[7, 99_999]], [7], words)).tolist() == [[0.0, 1.0]]
    assert largest_loss(slots_of([[7]], [7], words)) == 1.0


def test_costs_follow_labels_not_codes():
    loss = CostMatrix({("NOUN", "PROPN"): 0.5, ("X", "Y"): 9.0}, default=2.0)
    matrix = loss.cost_matrix(Alphabet(("PROPN", "VERB", "NOUN")))
    assert matrix.tolist() == [[0, 2, 2], [2, 0, 2], [0.5, 2, 0]]
    array = CostMatrix(np.array([[0, 3], [4, 0]]), ["b", "a"])
    assert array.cost_matrix(Alphabet(("a", "b"))).tolist() == [[0, 4], [3, 0]]


class Broken(AdditiveLoss):
    def __init__(self, matrix, gap_cost=1.0):
        self.matrix, self.gap_cost = matrix, gap_cost

    def cost_matrix(self, alphabet):
        return self.matrix


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.ones((2, 2)), r"shape \(3, 3\)"),
        (np.array([[0, 1, 1], [1, 0, -1], [1, 1, 0.0]]), "got -1.0 for gold 'b', predicted 'c'"),
        (np.array([[0, 1, 1], [1, 0, np.nan], [1, 1, 0.0]]), "finite"),
        (np.array([[0, np.inf, 1], [1, 0, 1], [1, 1, 0.0]]), "finite"),
    ],
)
def test_bad_matrices_are_refused(matrix, words):
    slots = slots_of([[0, 1]], [1])
    for use in (slot_losses, largest_loss):
        with pytest.raises(ParameterError, match=words):
            use(slots, Broken(matrix))


def test_bad_gap_cost_and_bad_tables_are_refused():
    slots = slots_of([[0, GAP]], [1])
    for loss in (Hamming(-1.0), Hamming(float("nan")), Broken(np.zeros((3, 3)), float("inf"))):
        with pytest.raises(ParameterError, match="gap_cost must be finite"):
            slot_losses(slots, loss)
    with pytest.raises(ParameterError, match="labels="):
        CostMatrix(np.zeros((2, 2)))
    with pytest.raises(ParameterError, match="2 distinct labels"):
        CostMatrix(np.zeros((3, 3)), ["a", "b"])
    with pytest.raises(ParameterError, match="distinct"):
        CostMatrix(np.zeros((2, 2)), ["a", "a"])
    with pytest.raises(ParameterError, match="pairs"):
        CostMatrix({"ab": 1.0})


def test_names_of_losses():
    own = Hamming(0.5)
    assert get(own) is own
    assert isinstance(get("hamming"), Hamming)
    with pytest.raises(ParameterError, match="must be 'hamming', 'edit', 'ngram', an NGramGain or an AdditiveLoss"):
        get("bleu")
    with pytest.raises(ParameterError, match="no sum over slots"):
        get("edit")
    with pytest.raises(NotImplementedError, match="cost_matrix"):
        slot_losses(slots_of([[0]], [1]), AdditiveLoss())


def test_costs_of_an_empty_alphabet_and_of_nothing():
    nothing = slots_of(np.full((1, 2), GAP), [GAP], Alphabet())
    assert slot_losses(nothing, CostMatrix({})).tolist() == [[0.0, 0.0]]
    assert slot_losses(nothing).tolist() == [[0.0, 0.0]]
    assert largest_loss(nothing, CostMatrix({}, gap_cost=0.0)) == 1.0
