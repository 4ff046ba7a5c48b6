"""Memory of large arrays: taken over only once nobody holds it, never more than is allowed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structens.automata import compose_edit, memory, random_automaton

MIB = 1 << 20


@pytest.fixture(autouse=True)
def _nothing_kept():
    memory.forget()
    yield
    memory.forget()


def address(array):
    return array.__array_interface__["data"][0]


def test_a_view_keeps_the_memory():
    array = memory.room(8 * MIB, np.uint8)
    where, view, window = address(array), array[5:][::2], memoryview(array)
    del array
    assert address(memory.room(8 * MIB, np.uint8)) != where
    del view
    assert address(memory.room(8 * MIB, np.uint8)) != where
    del window
    assert where in {address(memory.room(8 * MIB, np.uint8)) for _ in range(3)}


def test_only_pieces_that_fit_are_taken_over():
    array = memory.room(24 * MIB, np.uint8)
    where = address(array)
    del array
    assert address(memory.room(8 * MIB, np.uint8)) != where  # three times as large as is wanted
    assert address(memory.room(25 * MIB, np.uint8)) != where
    other = memory.room(12 * MIB // 4, np.int32)
    assert address(other) == where
    assert (other.dtype, other.shape, other.flags.writeable) == (np.int32, (3 * MIB,), True)


def test_no_more_is_kept_than_is_allowed(monkeypatch):
    monkeypatch.setattr(memory, "KEPT", 20 * MIB)
    arrays = [memory.room(8 * MIB, np.uint8) for _ in range(4)]
    del arrays
    assert [len(piece) for piece in memory._free] == [8 * MIB, 8 * MIB]
    memory.forget()
    assert memory._free == []


def test_small_arrays_are_ordinary():
    assert memory.room(1000, np.float64).base is None
    assert memory._free == []


def test_no_memory():
    with pytest.raises(MemoryError, match="no memory for an array of"):
        memory.room(1 << 60, np.uint8)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(8, 40), st.booleans()), max_size=25))
def test_no_two_arrays_share_memory(steps):
    # Six places; a step puts a new array, of so many half MiB, into one, or holds only a view of it. Every array is
    # filled with its own number, which must be there at the end.
    places = {}
    for number, (place, size, view) in enumerate(steps):
        array = memory.room(size * MIB // 2, np.uint8)
        array[::4096] = number
        places[place] = number, array[4096:] if view else array
    for number, array in places.values():
        assert (array[::4096] == number).all()


@pytest.mark.compiled
def test_compositions_that_are_held_stay_as_they_are():
    weighted = random_automaton(20_001, 200_000, 30, seed=3, epsilon=0.1, width=50)
    first = compose_edit(*weighted[:2], [3, 1, 4])
    columns = first.automaton.target, first.weight, first.automaton.label, first.automaton.output, first.first
    before = [column.copy() for column in columns]
    assert first.weight.nbytes > memory.LARGE
    for y in ([1, 5], [9, 2, 6]):  # the second takes over the memory of the first of these two
        assert compose_edit(*weighted[:2], y).automaton.label.min() == -1
    for column, copy in zip(columns, before, strict=True):
        assert (column == copy).all()
