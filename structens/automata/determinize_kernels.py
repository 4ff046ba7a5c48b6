"""Kernels of determinisation: subsets of states with residual weights, kept in one pool and found by a hash table."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.automata.semiring import Semiring


class Machine(NamedTuple):
    """The argument, pushed; transitions of a state sorted by label, then by target."""

    offsets: NDArray[np.int64]
    target: NDArray[np.int32]
    label: NDArray[np.int32]
    weight: NDArray[np.float64]
    final: NDArray[np.float64]
    semiring: int
    scale: float


class Work(NamedTuple):
    """What has been made so far."""

    ends: NDArray[np.int64]  # where the members of each subset end
    state: NDArray[np.int32]  # of the members of all subsets, ascending in each
    residual: NDArray[np.float64]
    code: NDArray[np.int64]  # residual, rounded
    hash: NDArray[np.int64]  # of each subset
    table: NDArray[np.int32]  # subsets by hash, -1 where empty
    step_ends: NDArray[np.int64]  # where the transitions of each new state end
    target: NDArray[np.int32]
    label: NDArray[np.int32]
    weight: NDArray[np.float64]
    final: NDArray[np.float64]
    key: NDArray[np.int64]  # label and target of the moves from one subset, twice for sorting
    paid: NDArray[np.float64]
    progress: NDArray[np.int64]  # subsets, subsets whose transitions are made, transitions


_SUBSETS, _MEMBERS, _STEPS, _MOVES = 1, 2, 3, 4
FULL = {
    _SUBSETS: ("ends", "hash", "step_ends", "final"),
    _MEMBERS: ("state", "residual", "code"),
    _STEPS: ("target", "label", "weight"),
    _MOVES: ("key", "paid"),
}
"""What there is no room for, by the number that `expand` returns."""
_TROPICAL, _REAL = int(Semiring.TROPICAL), int(Semiring.REAL)


@njit(cache=True)
def expand(machine, work):  # type: ignore[no-untyped-def]
    """Make the transitions of one subset after the other until none is left (0) or there is no room."""
    offsets, progress, ends, state = machine.offsets, work.progress, work.ends, work.state
    residual, final, semiring = work.residual, machine.final, machine.semiring
    while progress[1] < progress[0]:
        subset = progress[1]
        n_moves = np.int64(0)  # a literal 0 would compile what takes it once more
        for i in range(ends[subset], ends[subset + 1]):
            n_moves += offsets[state[i] + 1] - offsets[state[i]]
        if progress[0] + n_moves > len(work.hash):
            return _SUBSETS
        if ends[progress[0]] + n_moves > len(state):
            return _MEMBERS
        if progress[2] + n_moves > len(work.target):
            return _STEPS
        if n_moves > work.key.shape[1]:
            return _MOVES
        ending = 0.0 if semiring == _REAL else np.inf
        for i in range(ends[subset], ends[subset + 1]):
            ending = _plus(semiring, ending, _times(semiring, residual[i], final[state[i]]))
        work.final[subset] = ending
        side = _moves(machine, work, subset, n_moves)
        _follow(machine, work, work.key[side], work.paid[side], n_moves)
        progress[1] += 1
        work.step_ends[progress[1]] = progress[2]
    return 0


@njit(cache=True)
def _moves(machine, work, subset, n_moves):  # type: ignore[no-untyped-def]
    """All transitions of the members, sorted by label and target; returns which of the two arrays holds them."""
    offsets, target, label, weight = machine.offsets, machine.target, machine.label, machine.weight
    key, paid, semiring, at = work.key[0], work.paid[0], machine.semiring, 0
    for i in range(work.ends[subset], work.ends[subset + 1]):
        q, owed = work.state[i], work.residual[i]
        for e in range(offsets[q], offsets[q + 1]):
            key[at] = (np.int64(label[e]) << 32) | target[e]
            paid[at] = _times(semiring, owed, weight[e])
            at += 1
    if work.ends[subset + 1] - work.ends[subset] == 1:
        return 0
    return _sort(work.key, work.paid, n_moves)


@njit(cache=True)
def _sort(keys, paids, n):  # type: ignore[no-untyped-def]
    """Stable merge sort from array 0; returns the number of the array that holds the result."""
    key, paid = keys[0], paids[0]
    for begin in range(0, n, 16):
        for i in range(begin + 1, min(begin + 16, n)):
            k, p, j = key[i], paid[i], i
            while j > begin and key[j - 1] > k:
                key[j], paid[j] = key[j - 1], paid[j - 1]
                j -= 1
            key[j], paid[j] = k, p
    side, width = 0, 16
    while width < n:
        source, source_paid, out, out_paid = keys[side], paids[side], keys[1 - side], paids[1 - side]
        for begin in range(0, n, 2 * width):
            i, middle, end = begin, min(begin + width, n), min(begin + 2 * width, n)
            j = middle
            for k in range(begin, end):
                if j >= end or (i < middle and source[i] <= source[j]):
                    out[k], out_paid[k] = source[i], source_paid[i]
                    i += 1
                else:
                    out[k], out_paid[k] = source[j], source_paid[j]
                    j += 1
        side, width = 1 - side, 2 * width
    return side


@njit(cache=True)
def _follow(machine, work, key, paid, n_moves):  # type: ignore[no-untyped-def]
    """A transition for each label: sum the moves to one target, then divide by the sum over all targets."""
    semiring, progress, ends = machine.semiring, work.progress, work.ends
    state, residual, code = work.state, work.residual, work.code
    i = 0
    while i < n_moves:
        label, new = key[i] >> 32, progress[0]
        begin = ends[new]
        size = begin
        cost = 0.0 if semiring == _REAL else np.inf
        while i < n_moves and key[i] >> 32 == label:
            move, mass = key[i], paid[i]
            i += 1
            while i < n_moves and key[i] == move:
                mass = _plus(semiring, mass, paid[i])
                i += 1
            if mass != (0.0 if semiring == _REAL else np.inf):  # a product of REAL weights can underflow
                state[size], residual[size] = move & 0xFFFFFFFF, mass
                size += 1
                cost = _plus(semiring, cost, mass)
        if size == begin:
            continue
        mixed = np.int64(0)
        for k in range(begin, size):
            if semiring == _REAL:
                residual[k] /= cost
                code[k] = np.int64(math.floor(0.5 - math.log(residual[k]) * machine.scale)) if residual[k] > 0 else -1
            else:
                residual[k] -= cost
                code[k] = np.int64(math.floor(0.5 + residual[k] * machine.scale))
            mixed = _mix(_mix(_mix(mixed, state[k]), code[k] & 0x7FFFFFFF), code[k] >> 31)
        subset = _find(work.table, work.hash, mixed, ends, state, code, begin, size)
        if subset < 0:
            subset = new
            work.hash[new], ends[new + 1] = mixed, size
            _insert(work.table, mixed, new)
            progress[0] += 1
        work.target[progress[2]], work.label[progress[2]], work.weight[progress[2]] = subset, label, cost
        progress[2] += 1


@njit(cache=True)
def _mix(mixed, value):  # type: ignore[no-untyped-def]
    """A hash below 2**31, so that no product reaches 2**63."""
    return (((mixed ^ (np.int64(value) & 0x7FFFFFFF)) * 0x9E3779B1) >> 16) & 0x7FFFFFFF


@njit(cache=True)
def _find(table, hashes, mixed, ends, state, code, begin, size):  # type: ignore[no-untyped-def]
    """Number of the subset with the same members, or -1."""
    mask = len(table) - 1
    slot = mixed & mask
    while table[slot] >= 0:
        other = table[slot]
        if hashes[other] == mixed and ends[other + 1] - ends[other] == size - begin:
            same, first = True, ends[other]
            for k in range(size - begin):
                if state[first + k] != state[begin + k] or code[first + k] != code[begin + k]:
                    same = False
                    break
            if same:
                return np.int64(other)
        slot = (slot + 1) & mask
    return np.int64(-1)


@njit(cache=True)
def _insert(table, mixed, subset):  # type: ignore[no-untyped-def]
    slot = mixed & (len(table) - 1)
    while table[slot] >= 0:
        slot = (slot + 1) & (len(table) - 1)
    table[slot] = subset


@njit(cache=True)
def rehash(hashes, n_subsets, table):  # type: ignore[no-untyped-def]
    """Fill a larger table; the first subset, which nothing leads to, is not in it."""
    for subset in range(1, n_subsets):
        _insert(table, hashes[subset], subset)


@njit(cache=True)
def _times(semiring, a, b):  # type: ignore[no-untyped-def]
    return a * b if semiring == _REAL else a + b


@njit(cache=True)
def _plus(semiring, a, b):  # type: ignore[no-untyped-def]
    if semiring == _REAL:
        return a + b
    low, high = min(a, b), max(a, b)
    if semiring == _TROPICAL or high == np.inf:
        return low
    return low - math.log1p(math.exp(low - high))
