"""The game of n-gram gains on aligned records, all of them at once: what conversions and held-out choices ask for.

`structens.online.ngram_learning.SlotHistoryLearner` plays record by record; here the history automata of all records
stand in flat arrays, and one kernel plays them, keeps the cumulative gains before some rounds, or deals out the flows
under such gains. Slots of one context share their weights, as in `structens.online.tying`; with one context this is
SlotHistoryLearner.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from structens.automata import expert_automaton
from structens.automata.history import ngram_gains
from structens.core import ParameterError, Slots
from structens.losses.ngram import NGramGain
from structens.online.ngram_learning import SlotHistory, silence, slot_history

MOST_PARAMETERS = 4_000_000
MOST_TRANSITIONS = 100_000_000


class Game(NamedTuple):
    """What is left of a game.

    Attributes
    ----------
    loss : ndarray of float64, shape (n_rounds,)
        The part of the record's best gain that is missed in expectation: 0 to 1 where no weight is negative.
    snapshots : ndarray of float64, shape (n_times, n_parameters)
        Cumulative gains before the rounds asked for.
    """

    loss: NDArray[np.float64]
    snapshots: NDArray[np.float64]


class HistoryGame:
    """The history automata of aligned records.

    Parameters
    ----------
    slots : Slots
    context : ndarray of int, shape (n_slots,)
        Context of each slot; -1 for one that is new, which gets the mean gains of the others.
    n_contexts : int
    gain : NGramGain
    targets : sequence of arrays of int, optional
        Labels of the right answer of each record; without them there is nothing to play for.
    scale : ndarray of float64, shape (n_records,), optional
        Factors of the gains; default 1.

    Raises
    ------
    ParameterError
        If there would be too many parameters or transitions.
    DataError
        If no expert answers in one of the slots.

    Examples
    --------
    >>> from structens.align import align
    >>> from structens.core import ExpertPredictions
    >>> X = ExpertPredictions.of({"a": ["abc", "abcd"], "b": ["abx", "xxxx"]}, gold=["abc", "abcd"])
    >>> slots = align(X)
    >>> game = HistoryGame(slots, np.zeros(7, int), 1, NGramGain((0, 1)), [X.references[0], X.references[1]])
    >>> made = game.play(1.0, [2])
    >>> made.loss.round(3).tolist()  # 1.5 of 2 bigrams; then most of 3
    [0.25, 0.522]
    >>> game.flows(made.snapshots[0], 1.0)[3].round(3).tolist()
    [0.952, 0.048]
    """

    def __init__(
        self,
        slots: Slots,
        context: NDArray[np.int64],
        n_contexts: int,
        gain: NGramGain,
        targets: Sequence[ArrayLike] | None = None,
        scale: NDArray[np.float64] | None = None,
    ) -> None:
        self.slots, self.n_contexts = slots, n_contexts
        self.n_codes = (slots.n_experts + 1) ** (gain.reach - 1) * slots.n_experts
        self.n_parameters = n_contexts * self.n_codes
        if self.n_parameters > MOST_PARAMETERS:
            size = f"{self.n_parameters:,}" if self.n_parameters < 10**15 else "over 10**15"
            rule = f"{size} weights for experts after experts are more than {MOST_PARAMETERS:,}"
            coarser = "" if n_contexts == 1 else ", or tie 'expert'"
            raise ParameterError(f"{rule}; take a lower order (ngram_order) or fewer experts{coarser}")
        self._context = np.where(context >= 0, context, n_contexts).astype(np.int64)
        self._made: list[SlotHistory] = []
        self._pattern = np.full(len(slots), -1, np.int64)
        gains: list[NDArray[np.float64]] = []
        known: dict[bytes, int] = {}
        total = 0
        for i in np.flatnonzero(slots.lengths).tolist():
            number = known.setdefault(silence(slots, i), len(known))
            if number == len(self._made):
                self._made.append(slot_history(slots, i, gain.reach))
            self._pattern[i], made = number, self._made[number]
            total += len(made.code)
            if total > MOST_TRANSITIONS:
                rule = f"the records' history automata have more than {MOST_TRANSITIONS:,} transitions"
                raise ParameterError(f"{rule}; take a lower order, fewer experts or fewer records")
            if targets is not None:
                said = expert_automaton(slots, i).automaton.label
                own = ngram_gains(made.history, said, gain, targets[i])
                gains.append(own if scale is None else own * scale[i])
        sizes = np.array([len(made.code) for made in self._made], np.int64)
        lengths = np.where(self._pattern >= 0, sizes[self._pattern] if len(sizes) else 0, 0)
        self._gain = np.concatenate(gains) if gains else np.zeros(0)
        self._gain_offsets = np.concatenate([[0], np.cumsum(lengths)])
        self._topology = _flat(self._made)

    def play(self, eta: float, times: ArrayLike = (), records: ArrayLike | None = None) -> Game:
        """Play records in their order, from nothing learnt.

        Parameters
        ----------
        eta : float
        times : array_like of int
            Increasing rounds, in 0 to the number of rounds, before which cumulative gains are kept.
        records : array_like of int, optional
            Numbers of the records; default all.
        """
        rows = self._rows(records)
        snapshots = np.zeros((len(np.atleast_1d(times)), self.n_parameters))
        loss = np.zeros(len(rows))
        ids = (self._context, np.array([self.n_codes, self.slots.n_experts], np.int64))
        games = (rows, self._pattern, self.slots.offsets, self._gain_offsets)
        _play(self._topology, ids, games, self._gain, float(eta), np.array(times, np.int64).ravel(), snapshots, loss)
        return Game(loss, snapshots)

    def losses(
        self, cumulative: NDArray[np.float64], eta: float, records: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Loss of each record under these gains, shape (n_records,)."""
        return self._deal(cumulative, eta, records, with_gains=True)[1]

    def flows(
        self, cumulative: NDArray[np.float64], eta: float, records: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Probability of each expert in each slot of these records, shape (n_slots, p)."""
        return self._deal(cumulative, eta, records, with_gains=False)[0]

    def n_records_within(self, n_transitions: int) -> int:
        """Number of first records whose history automata have no more transitions than that together."""
        return int(np.searchsorted(self._gain_offsets, n_transitions, side="right")) - 1

    def n_transitions(self, n_records: int) -> int:
        """Transitions of the first records' history automata."""
        return int(self._gain_offsets[n_records])

    def _deal(
        self, cumulative: NDArray[np.float64], eta: float, records: ArrayLike | None, *, with_gains: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        rows = self._rows(records)
        known = cumulative.reshape(self.n_contexts, self.n_codes)
        new = known.mean(axis=0) if self.n_contexts else np.zeros(self.n_codes)
        table = np.append(known.ravel(), new)
        out = np.zeros((int(self.slots.lengths[rows].sum()), self.slots.n_experts))
        loss = np.zeros(len(rows))
        ids = (self._context, np.array([self.n_codes, self.slots.n_experts], np.int64))
        games = (rows, self._pattern, self.slots.offsets, self._gain_offsets)
        gain = self._gain if with_gains else np.zeros(0)
        _deal(self._topology, ids, games, gain, float(eta), table, out, loss)
        return out, loss

    def _rows(self, records: ArrayLike | None) -> NDArray[np.int64]:
        return np.arange(len(self.slots)) if records is None else np.array(records, np.int64)


_Topology = tuple[NDArray[np.int64], ...]


def _flat(made: list[SlotHistory]) -> _Topology:
    """First state and first transition of each pattern; then, end to end, offsets, targets, ends, codes, places."""
    automata = [one.history.automaton for one in made]
    states = np.cumsum([0, *(a.n_states + 1 for a in automata)])
    steps = np.cumsum([0, *(a.n_transitions for a in automata)])

    def joined(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, np.int64)

    return (
        states.astype(np.int64),
        steps.astype(np.int64),
        joined([a.offsets for a in automata]),
        joined([a.target.astype(np.int64) for a in automata]),
        joined([np.append(a.is_final, False).astype(np.int64) for a in automata]),
        joined([one.code for one in made]),
        joined([one.place for one in made]),
    )


@njit(cache=True)
def _ids(topology, ids, pattern, first_slot):  # type: ignore[no-untyped-def]
    """Parameter of each transition of a pattern whose record begins at that slot."""
    _, steps, _, _, _, code, place = topology
    context, sizes = ids
    a, b = steps[pattern], steps[pattern + 1]
    out = np.empty(b - a, np.int64)
    for e in range(a, b):
        out[e - a] = context[first_slot + place[e] // sizes[1]] * sizes[0] + code[e]
    return out


@njit(cache=True)
def _flow(topology, pattern, weight):  # type: ignore[no-untyped-def]
    """Flow of each transition, a path weighing exp of its summed weights; states are in topological order."""
    states, steps, offsets, target, final, _, _ = topology
    s, t = states[pattern], steps[pattern]
    n = states[pattern + 1] - s - 1
    beyond = np.full(n, -np.inf)
    for q in range(n - 1, -1, -1):
        high = 0.0 if final[s + q] else -np.inf
        for e in range(offsets[s + q], offsets[s + q + 1]):
            high = max(high, weight[e] + beyond[target[t + e]])
        if high == -np.inf:
            continue
        total = np.exp(-high) if final[s + q] else 0.0
        for e in range(offsets[s + q], offsets[s + q + 1]):
            total += np.exp(weight[e] + beyond[target[t + e]] - high)
        beyond[q] = high + np.log(total)
    mass, out = np.zeros(n), np.zeros(len(weight))
    mass[0] = 1.0
    for q in range(n):
        if mass[q] > 0.0:
            for e in range(offsets[s + q], offsets[s + q + 1]):
                out[e] = mass[q] * np.exp(weight[e] + beyond[target[t + e]] - beyond[q])
                mass[target[t + e]] += out[e]
    return out


@njit(cache=True)
def _missed(topology, pattern, gain, flow):  # type: ignore[no-untyped-def]
    """Part of the best path's gain that is missed."""
    states, steps, offsets, target, final, _, _ = topology
    s, t = states[pattern], steps[pattern]
    n = states[pattern + 1] - s - 1
    best = np.full(n, -np.inf)
    for q in range(n - 1, -1, -1):
        if final[s + q]:
            best[q] = 0.0
        for e in range(offsets[s + q], offsets[s + q + 1]):
            best[q] = max(best[q], gain[e] + best[target[t + e]])
    expected = 0.0
    for e in range(len(gain)):
        expected += flow[e] * gain[e]
    return (best[0] - expected) / best[0] if best[0] > 0.0 else 0.0


@njit(cache=True)
def _play(topology, ids, games, gains, eta, times, snapshots, loss):  # type: ignore[no-untyped-def]
    rows, patterns, slot_offsets, gain_offsets = games
    place, p = topology[6], ids[1][1]
    cumulative = np.zeros(snapshots.shape[1])
    k = 0
    for r in range(len(rows) + 1):
        while k < len(times) and times[k] == r:
            snapshots[k] = cumulative
            k += 1
        if r == len(rows) or patterns[rows[r]] < 0:
            continue
        pattern, first_slot = patterns[rows[r]], slot_offsets[rows[r]]
        parameter = _ids(topology, ids, pattern, first_slot)
        gain = gains[gain_offsets[rows[r]] : gain_offsets[rows[r] + 1]]
        loss[r] = _missed(topology, pattern, gain, _flow(topology, pattern, eta * cumulative[parameter]))
        n_slots, first = slot_offsets[rows[r] + 1] - first_slot, topology[1][pattern]
        mean, count = np.zeros(n_slots), np.zeros(n_slots)
        for e in range(len(gain)):
            mean[place[first + e] // p] += gain[e]
            count[place[first + e] // p] += 1.0
        for e in range(len(gain)):
            slot = place[first + e] // p
            cumulative[parameter[e]] += gain[e] - mean[slot] / count[slot]


@njit(cache=True)
def _deal(topology, ids, games, gains, eta, cumulative, out, loss):  # type: ignore[no-untyped-def]
    rows, patterns, slot_offsets, gain_offsets = games
    place, p = topology[6], ids[1][1]
    at = 0
    for r in range(len(rows)):
        first_slot = slot_offsets[rows[r]]
        pattern = patterns[rows[r]]
        if pattern >= 0:
            parameter = _ids(topology, ids, pattern, first_slot)
            flow = _flow(topology, pattern, eta * cumulative[parameter])
            first = topology[1][pattern]
            for e in range(len(flow)):
                out[at + place[first + e] // p, place[first + e] % p] += flow[e]
            if len(gains) > 0:
                loss[r] = _missed(topology, pattern, gains[gain_offsets[rows[r]] : gain_offsets[rows[r] + 1]], flow)
        at += slot_offsets[rows[r] + 1] - first_slot
