"""Forward and backward sums over the paths of a lattice of candidates and n-gram contexts.

Sums are kept as numbers, not as logarithms: the states of a slot are divided by the best of them, and the logarithms of
the divisors add up to the total. Transitions are written down on the way forward, so that the way back asks the n-gram
model nothing; what it says of a state and a label is remembered, for records ask the same again and again.

Source: Rabiner (1989), "A tutorial on hidden Markov models", section V.A, for the divisors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.boosting.compiled import lean_inner
from structens.core import ABSENT, GAP
from structens.ensembles.ngram_tree import child_of

FARTHEST = 460.0
"""Nats below the best of its slot at which a state is dropped in any case: numbers reach little farther."""
MERGED = 4
"""States that are merged contexts, times the candidates of a slot."""
MOST_REMEMBERED = 1 << 15
FEW_TRANSITIONS = 1024


class Lattice(NamedTuple):
    """A record's states after t slots, best first divided out, and the transitions of each slot."""

    n_states: NDArray[np.int64]
    alpha: NDArray[np.float64]
    divisor: NDArray[np.float64]
    first: NDArray[np.int64]


class Front(NamedTuple):
    """The states that the way forward has reached, and those that it is about to reach with their new numbers."""

    state: NDArray[np.int64]
    fresh: NDArray[np.int64]
    mass: NDArray[np.float64]
    number: NDArray[np.int32]
    place: NDArray[np.int32]


class Transitions(NamedTuple):
    """Candidate by candidate and state by state: state after the slot, -1 if it was dropped, weight, and cost in nats.

    Costs are those of the n-grams, and are left out where nobody asks for them.
    """

    to: NDArray[np.int32]
    weight: NDArray[np.float64]
    cost: NDArray[np.float64]


class Known(NamedTuple):
    """Steps of the n-gram model: state and label, state that follows, scaled probability, log probability."""

    key: NDArray[np.int64]
    follower: NDArray[np.int64]
    weight: NDArray[np.float64]
    cost: NDArray[np.float64]


@njit(cache=True)
def sum_paths(offsets, label, score, model, setting, probability, log_total, log_ngram):  # type: ignore[no-untyped-def]
    """Fill in the probability of each candidate, and the log total and the expected n-gram log probability of records.

    `setting`: scale of the n-grams, states of a slot that are kept whole, width in nats. `log_ngram` may be empty.
    """
    longest, most = 0, int(setting[1]) + MERGED * label.shape[1]
    for r in range(len(offsets) - 1):
        longest = max(longest, offsets[r + 1] - offsets[r])
    n = longest + 1
    lattice = Lattice(np.empty(n, np.int64), np.empty((n, most)), np.empty(n), np.zeros(n, np.int64))
    n_fresh = most * label.shape[1]
    front = Front(
        np.empty(most, np.int64),
        np.empty(n_fresh, np.int64),
        np.empty(n_fresh),
        np.empty(n_fresh, np.int32),
        np.full(len(model[5]), -1, np.int32),
    )
    n_costs = FEW_TRANSITIONS if len(log_ngram) else 0
    arcs = Transitions(np.empty(FEW_TRANSITIONS, np.int32), np.empty(FEW_TRANSITIONS), np.empty(n_costs))
    known = _remembered(len(label))
    later, earlier = np.empty(most), np.empty(most)
    for r in range(len(offsets) - 1):
        span = offsets[r : r + 2]
        arcs, log_total[r] = _forward(span, label, score, model, setting, (lattice, front, known), arcs)
        n = span[1] - span[0]
        total, cost = 0.0, 0.0
        for i in range(lattice.n_states[n]):
            h = _ask(model, setting[0], front.state[i], model[6][0], known)
            later[i] = known.weight[h]
            total += lattice.alpha[n, i] * later[i]
            cost += lattice.alpha[n, i] * later[i] * known.cost[h]
        log_total[r] += np.log(total)
        mean = _backward(span, label, score, lattice, arcs, (later, earlier), probability)
        if len(log_ngram):
            log_ngram[r] = cost / total + mean


@njit(cache=True)
def _forward(span, label, score, model, setting, work, arcs):  # type: ignore[no-untyped-def]
    """States after each slot and the transitions between them; the latter, and the logarithm of all divisors."""
    lattice, front, known = work
    n_states, alpha, first = lattice.n_states, lattice.alpha, lattice.first  # named once: each naming is counted
    state, fresh, mass, number, place = front
    base, mask, log_divisor = model[6][0] + 2, len(known.key) - 1, 0.0
    state[0], alpha[0, 0], n_states[0] = model[6][2], 1.0, 1
    for t in range(span[1] - span[0]):
        s, n, m = span[0] + t, n_states[t], first[t]
        arcs = _with_room(arcs, m + n * label.shape[1])
        target, weight, cost = arcs
        key, follower, p, log_p = known
        top, n_fresh = _best(label, score, s), 0
        for k in range(label.shape[1]):
            x = label[s, k]
            if x == ABSENT or score[s, k] == -np.inf:
                continue
            own = np.exp(score[s, k] - top)
            for i in range(n):
                to, chance, nats = state[i], own, 0.0
                if x != GAP:
                    h = (to * base + x) & mask
                    if key[h] != _key(to, x):
                        _find_out(model, setting[0], to, x, known)
                    to, chance, nats = follower[h], own * p[h], log_p[h]
                at = place[to]
                if at < 0:
                    at, n_fresh = np.int32(n_fresh), n_fresh + 1
                    place[to], fresh[at], mass[at] = at, to, 0.0
                mass[at] += alpha[t, i] * chance
                target[m], weight[m] = at, chance
                if len(cost):
                    cost[m] = nats
                m += 1
        first[t + 1] = m
        log_divisor += _keep(t, n_fresh, model, setting, lattice, front) + (top if n_fresh else 0.0)
        for a in range(first[t], m):
            target[a] = number[target[a]]
    return arcs, log_divisor


@njit(cache=True, inline="always")
def _best(label, score, s):  # type: ignore[no-untyped-def]
    top = -np.inf
    for k in range(label.shape[1]):
        if label[s, k] != ABSENT:
            top = max(top, score[s, k])
    return top


@lean_inner
def _keep(t, n_fresh, model, setting, lattice, front):  # type: ignore[no-untyped-def]
    """Number the states that stay, merge the least of too many, and divide by the best, whose logarithm is returned."""
    if n_fresh == 0:  # no candidate: the states stay as they are
        lattice.n_states[t + 1], lattice.divisor[t] = lattice.n_states[t], 1.0
        for i in range(lattice.n_states[t]):
            lattice.alpha[t + 1, i] = lattice.alpha[t, i]
        return 0.0
    state, fresh, mass, number, place = front
    alpha, shorter, contexts, one_label = lattice.alpha[t + 1], model[4], model[5], model[6][0] + 2
    most, n = int(setting[1]), 0
    own = _largest(mass, n_fresh, most, alpha)
    least = alpha[0] * np.exp(-min(setting[2], FARTHEST))
    own = max(own, least)
    for i in range(n_fresh):
        place[fresh[i]] = number[i] = -1
        if mass[i] >= own and n < most:
            number[i], state[n], alpha[n] = n, fresh[i], mass[i]
            n += 1
    for i in range(n):
        place[state[i]] = i
    for i in range(n_fresh):
        if number[i] < 0 and mass[i] >= least:
            to = fresh[i] if n < len(alpha) - 1 else 0
            while to > one_label:
                to = shorter[to]
            to = contexts[to]
            at = place[to]
            if at < 0:
                at, n = np.int32(n), n + 1
                place[to], state[at], alpha[at] = at, to, 0.0
            number[i] = at
            alpha[at] += mass[i]
    top = alpha[0]
    for i in range(1, n):
        top = max(top, alpha[i])
    for i in range(n):
        place[state[i]] = -1
        alpha[i] /= top
    lattice.n_states[t + 1], lattice.divisor[t] = n, top
    return np.log(top)


@lean_inner
def _largest(values, n, most, out):  # type: ignore[no-untyped-def]
    """The largest values in `out`, falling, at most so many; the last of them is returned."""
    found = 0
    for i in range(n):
        at = found
        if found == most:
            if values[i] <= out[most - 1]:
                continue
            at = most - 1
        else:
            found += 1
        while at > 0 and out[at - 1] < values[i]:
            out[at] = out[at - 1]
            at -= 1
        out[at] = values[i]
    return out[found - 1]


@lean_inner
def _backward(span, label, score, lattice, arcs, work, probability):  # type: ignore[no-untyped-def]
    """Probabilities of candidates; expected log probability of their labels under the n-grams, if it is asked for."""
    later, earlier = work
    n_states, alpha, divisor, first = lattice
    target, weight, costs = arcs
    mean = 0.0
    for t in range(span[1] - span[0] - 1, -1, -1):
        s, n, a = span[0] + t, n_states[t], first[t]
        if first[t + 1] == a:
            continue
        for i in range(n):
            earlier[i] = 0.0
        total, cost = 0.0, 0.0
        for k in range(label.shape[1]):
            if label[s, k] == ABSENT or score[s, k] == -np.inf:
                continue
            own = 0.0
            for i in range(n):
                if target[a] >= 0:
                    value = weight[a] * later[target[a]]
                    earlier[i] += value
                    own += alpha[t, i] * value
                    if len(costs):
                        cost += alpha[t, i] * value * costs[a]
                a += 1
            probability[s, k] = own
            total += own
        mean += cost / total
        for k in range(label.shape[1]):
            probability[s, k] /= total
        for i in range(n):
            later[i] = earlier[i] / divisor[t]
    return mean


@njit(cache=True)
def _ask(model, scale, state, label, known):  # type: ignore[no-untyped-def]
    """Where the answer stands to how likely a label is after a state."""
    h = (state * (model[6][0] + 2) + label) & (len(known.key) - 1)
    if known.key[h] != _key(state, label):
        _find_out(model, scale, state, label, known)
    return h


@njit(cache=True, inline="always")
def _find_out(model, scale, state, label, known):  # type: ignore[no-untyped-def]
    """Write down the answer, and those to the same question after the shorter contexts that it rests on."""
    key, follower, p, log_p = known
    first_child, labels, log_probability, log_backoff, shorter, contexts, sizes = model
    base, mask = sizes[0] + 2, len(key) - 1
    cost, here, after = 0.0, state, np.int64(0)
    while True:
        h = (here * base + label) & mask
        if key[h] == _key(here, label):
            cost, after = cost + log_p[h], follower[h]
            break
        child = child_of(first_child, labels, here, label)
        if child > 0:
            cost, after = cost + log_probability[child], contexts[child]
            break
        cost += log_backoff[here]
        if here == 0:
            cost += log_probability[0]  # a label that learning did not know
            break
        here = shorter[here]
    last, here = here, state
    while True:
        h = (here * base + label) & mask
        key[h], follower[h], log_p[h], p[h] = _key(here, label), after, cost, np.exp(scale * cost)
        if here == last:
            return
        cost -= log_backoff[here]
        here = shorter[here]


@njit(cache=True, inline="always")
def _key(state, label):  # type: ignore[no-untyped-def]
    return (np.int64(state) << np.int64(32)) | (np.int64(label) & np.int64(0xFFFFFFFF))


@njit(cache=True)
def _remembered(n_slots):  # type: ignore[no-untyped-def]
    size = 256
    while size < MOST_REMEMBERED and size < 8 * n_slots:
        size *= 2
    return Known(np.full(size, -1, np.int64), np.empty(size, np.int64), np.empty(size), np.empty(size))


@njit(cache=True)
def _with_room(arcs, n):  # type: ignore[no-untyped-def]
    if len(arcs.to) >= n:
        return arcs
    to, weight = np.empty(2 * n, np.int32), np.empty(2 * n)
    cost = np.empty(2 * n if len(arcs.cost) else 0)
    for a in range(len(arcs.to)):
        to[a], weight[a] = arcs.to[a], arcs.weight[a]
    for a in range(len(arcs.cost)):
        cost[a] = arcs.cost[a]
    return Transitions(to, weight, cost)
