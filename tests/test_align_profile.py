"""The banded alignment against the full matrix, with and without room for the whole matrix."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import align as naive

from structens.align.network import _enter
from structens.align.profile import _FAR, _align
from structens.align.scratch import (
    BONUS,
    ENOUGH,
    EXTRA,
    FREE,
    HEAD,
    MADE,
    NEW,
    PATH,
    SKIP,
    SLACK,
    SLOT,
    SLOTS,
    STATE,
    TAIL,
    WORTH,
    scratch,
)
from structens.core import GAP

N_LABELS = 4
column = st.lists(st.integers(GAP, N_LABELS - 1), min_size=3, max_size=3)
networks = st.lists(column, max_size=30)
answers = st.lists(st.integers(0, N_LABELS - 1), max_size=30)


def run(units, columns, *, extra=0, enough=-1, n_cells=1 << 21):
    """Cost and path of units aligned to columns of three members."""
    work, cells = scratch(3)
    work[HEAD, :N_LABELS], work[TAIL, :N_LABELS] = -1, -1
    work[STATE, MADE], work[STATE, FREE], work[STATE, SLOTS] = 0, -1, len(columns)
    work[STATE, NEW], work[STATE, EXTRA], work[STATE, SLACK] = 3, extra, 0
    work[STATE, ENOUGH], work[STATE, WORTH] = enough, _FAR
    for j, said in enumerate(columns):
        work[SKIP, j] = sum(code != GAP for code in said)
        for code, count in sorted(Counter(said).items()):
            if code != GAP:
                e = _enter(code, work[TAIL, code], work)
                work[SLOT, e], work[BONUS, e] = j, count
    cost = _align(np.array(units, np.int64), work, cells[:n_cells])
    return cost, work[PATH, : len(units)].tolist()


def price(units, columns, path):
    """Cost of a path, which must rise."""
    opened, left_out, cost, before = 0, set(range(len(columns))), 0, -1
    for t, j in zip(units, path, strict=True):
        if j >= 0:
            assert j > before
            left_out.remove(j)
            cost += sum(code != t for code in columns[j])
            before = j
        else:
            assert before < -j <= len(columns) + 1
            before = max(before, -2 - j)
            opened += 1
    return cost + 3 * opened + sum(code != GAP for j in left_out for code in columns[j])


@given(answers, networks, st.integers(0, 5))
def test_cost_is_that_of_the_full_matrix_and_of_the_path(units, columns, extra):
    cost, path = run(units, columns, extra=extra)
    least = naive.profile_cost(units, columns) if columns else 3 * len(units)
    assert cost == least
    assert price(units, columns, path) == cost


@given(answers, networks)
def test_little_room_gives_the_same_path(units, columns):
    assert run(units, columns, n_cells=1) == run(units, columns)


@given(answers, networks, st.integers(0, 60))
def test_stops_at_a_cost_that_is_enough(units, columns, enough):
    cost, path = run(units, columns, enough=enough)
    least = naive.profile_cost(units, columns) if columns else 3 * len(units)
    assert least <= cost <= max(least, enough)
    assert price(units, columns, path) == cost


@pytest.mark.compiled
@pytest.mark.parametrize("enough", [-1, 10**6])
def test_long_sequences_in_blocks_of_rows(enough):
    rng = np.random.default_rng(0)
    base = rng.integers(0, N_LABELS, 600)
    columns = np.where(rng.random((600, 3)) < 0.1, rng.integers(GAP, N_LABELS, (600, 3)), base[:, None]).tolist()
    units = np.delete(base, rng.integers(0, 600, 40))
    cost, path = run(units, columns, enough=enough)
    assert run(units, columns, enough=enough, n_cells=1) == (cost, path)
    assert price(units, columns, path) == cost
    if enough < 0:
        assert cost == naive.profile_cost(units, columns)


def test_ties_stand_first_then_leave_out_then_open():
    a, b = 0, 1
    assert run([a], [[a] * 3, [a] * 3])[1] == [1]  # the later of two equal slots
    assert run([b], [[a] * 3])[1] == [0]  # in the slot of another label rather than in one of its own
    assert run([a], [[a, a, a], [GAP, GAP, b]])[1] == [0]
