"""Kernels of composition. A pair of states is (q, r) with a flag: 1 once the second has moved alone since a match.

No kernel makes an array larger: `explore` stops when one is full and goes on where it was when called again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.core import EPSILON


class First(NamedTuple):
    """The first argument; `label` is what it writes."""

    offsets: NDArray[np.int64]
    target: NDArray[np.int32]
    label: NDArray[np.int32]
    present: NDArray[np.bool_]
    kind: NDArray[np.int8]  # of a state: 0 never writes nothing, 1 may, 2 cannot do otherwise


class Second(NamedTuple):
    """The second argument by rank of state, transitions sorted by what they read."""

    offsets: NDArray[np.int64]
    target: NDArray[np.int32]
    label: NDArray[np.int32]
    order: NDArray[np.int32]  # number of the transition
    silent: NDArray[np.int64]  # how many of a state read nothing
    places: NDArray[np.int32]  # see `compose._second_side`
    n_labels: int


class Work(NamedTuple):
    """What has been found so far."""

    key: NDArray[np.int64]  # hash table, -1 where empty
    number: NDArray[np.int32]
    pair: NDArray[np.int32]  # q, 2 r + flag, next pair of the same q
    place: NDArray[np.int32]  # of each pair in the result
    order: NDArray[np.int32]  # pair at each place
    ends: NDArray[np.int64]  # where the transitions of each place end
    heap: NDArray[np.int64]  # pairs of q that wait, least r first
    step: NDArray[np.int32]  # pair that is reached, transition of the first, of the second
    head: NDArray[np.int32]  # first pair of each q


FULL_PAIRS, FULL_STEPS = 1, 2
"""Why `explore` stopped; 0 is that it is done."""


@njit(cache=True)
def explore(one, two, work, progress, start, start_2):  # type: ignore[no-untyped-def]
    """`progress`: q, pairs, places, transitions, size of the heap."""
    # Arrays as names of their own: taken out of a tuple in an inner loop, each is counted anew every time.
    pair, order, ends, heap, head = work.pair, work.order, work.ends, work.heap, work.head
    placed = work.place
    if progress[1] == 0:
        progress[0], progress[1] = start, 1
        head[start] = 0
        pair[0, 0], pair[0, 1], pair[0, 2] = start, 2 * start_2, -1
        key = np.int64(start) * (2 * len(two.silent)) + 2 * start_2
        slot = _find(work.key, key)
        work.key[slot], work.number[slot] = key, 0
    while progress[0] < len(head):
        q = progress[0]
        waiting = head[q]
        while waiting >= 0:
            progress[4] = _push(heap, progress[4], (np.int64(pair[waiting, 1]) << 32) | waiting)
            waiting = pair[waiting, 2]
        head[q] = -1
        while progress[4] > 0:
            status = _expand(one, two, work, progress, q, heap[0] >> 32)
            if status:
                return status
            # Those that were reached by a wait of the second are higher, so the pair is still on top.
            top, place = heap[0] & 0xFFFFFFFF, progress[2]
            placed[top], order[place], ends[place + 1] = place, top, progress[3]
            progress[2] += 1
            progress[4] = _pop(heap, progress[4])
        progress[0] += 1
    return 0


@njit(cache=True)
def _expand(one, two, work, progress, q, code):  # type: ignore[no-untyped-def]
    """Write the transitions of one pair; `progress` stays as it was where there is no room for them."""
    offsets, target_1, label_1, present = one.offsets, one.target, one.label, one.present
    target_2, order_2, label_2, places = two.target, two.order, two.label, two.places
    keys, number, pair, heap, step, head = work.key, work.number, work.pair, work.heap, work.step, work.head
    r, flag, width, kind, status = code >> 1, code & 1, 2 * len(two.silent), one.kind[q], 0
    begin_2, end_2, n_pairs, at = two.offsets[r], two.offsets[r + 1], progress[1], progress[3]
    # The last turn is that of the second alone.
    for e in range(offsets[q], offsets[q + 1] + 1):
        last = e == offsets[q + 1]
        if status or (last and kind == 2):
            break
        if last:
            low, high, q_next, wait = begin_2, begin_2 + two.silent[r], q, np.int64(kind)
        elif not present[e]:
            continue
        else:
            q_next, wait, label = np.int64(target_1[e]), np.int64(0), np.int64(label_1[e])
            if label == EPSILON:
                low, high = begin_2, begin_2 + 1 - flag
            elif len(places):
                column = r * (two.n_labels + 2) + min(label, two.n_labels)
                low, high = np.int64(places[column]), np.int64(places[column + 1])
            else:
                low, high = _range(label_2, begin_2, end_2, label)
        alone = not last and label_1[e] == EPSILON
        for i in range(low, high):
            if at == len(step) or n_pairs == len(pair):
                status = FULL_STEPS if at == len(step) else FULL_PAIRS
                break
            code = 2 * (r if alone else np.int64(target_2[i])) + wait
            slot = _find(keys, q_next * width + code)
            if keys[slot] < 0:
                keys[slot], number[slot] = q_next * width + code, n_pairs
                _wait(pair, head, heap, progress, n_pairs, q_next, code, last)
                n_pairs += 1
            step[at, 0], step[at, 1], step[at, 2] = number[slot], -1 if last else e, -1 if alone else order_2[i]
            at += 1
    progress[1] = n_pairs  # pairs found stay found
    progress[3] = progress[3] if status else at
    return status


@njit(cache=True)
def _wait(pair, head, heap, progress, new, q, code, now):  # type: ignore[no-untyped-def]
    """Put a new pair among those of its state that wait: in the heap if the state is being worked off."""
    pair[new, 0], pair[new, 1], pair[new, 2] = q, code, head[q]
    if now:
        progress[4] = _push(heap, progress[4], (code << 32) | new)
    else:
        head[q] = new


@njit(cache=True)
def _range(label_2, low, stop, label):  # type: ignore[no-untyped-def]
    """Places of the transitions that read the label, among those of one state."""
    high = stop
    while low < high:
        middle = (low + high) // 2
        if label_2[middle] < label:
            low = middle + 1
        else:
            high = middle
    high = low
    while high < stop and label_2[high] == label:
        high += 1
    return low, high


@njit(cache=True)
def _find(keys, key):  # type: ignore[no-untyped-def]
    """Slot of a key, or the empty one where it belongs; eight keys in a row stay neighbours."""
    high, mask = key >> 3, len(keys) - 1
    mixed = ((high & 0x7FFFFFFF) * 0x9E3779B1) ^ ((high >> 31) * 0x85EBCA6B)  # neither product reaches 2**63
    slot = (((mixed >> 20) << 3) | (key & 7)) & mask
    while keys[slot] >= 0 and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@njit(cache=True)
def _push(heap, size, value):  # type: ignore[no-untyped-def]
    at = size
    while at > 0 and heap[(at - 1) >> 1] > value:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = value
    return size + 1


@njit(cache=True)
def _pop(heap, size):  # type: ignore[no-untyped-def]
    size -= 1
    value, at = heap[size], 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value
    return size


@njit(cache=True)
def rehash(old_key, old_number, key, number):  # type: ignore[no-untyped-def]
    """Move all entries to a larger table."""
    for i in range(len(old_key)):
        if old_key[i] >= 0:
            slot = _find(key, old_key[i])
            key[slot] = old_key[i]
            number[slot] = old_number[i]


@njit(cache=True)
def keep_useful(place, step, ends, final, useful, offsets):  # type: ignore[no-untyped-def]
    """Put places for pairs into `step`, mark those that lead to a final one, count their transitions that do.

    The first place always stays.
    """
    for q in range(len(final) - 1, -1, -1):
        count = 0
        for i in range(ends[q], ends[q + 1]):
            onward = place[step[i, 0]]
            step[i, 0] = onward
            count += useful[onward]
        useful[q] = final[q] or count > 0 or q == 0
        offsets[q + 1] = count


@njit(cache=True)
def gather(step, ends, useful, number, labels, weights, made):  # type: ignore[no-untyped-def]
    """Transitions that stay: target, first, second, label, output, weight."""
    target, first, second, label, output, weight = made
    label_1, label_2 = labels
    weight_1, weight_2, one, multiply = weights
    at = 0
    for q in range(len(useful)):
        if not useful[q]:
            continue
        for i in range(ends[q], ends[q + 1]):
            if not useful[step[i, 0]]:
                continue
            e, f = step[i, 1], step[i, 2]
            target[at], first[at], second[at] = number[step[i, 0]], e, f
            label[at] = label_1[e] if e >= 0 else EPSILON
            if len(output):
                output[at] = label_2[f] if f >= 0 else EPSILON
            a = weight_1[e] if e >= 0 else one
            b = weight_2[f] if f >= 0 else one
            weight[at] = a * b if multiply else a + b
            at += 1
