"""Paths drawn at random, each with the probability that the weights give it.

The weights are pushed first; then a path is a walk from the start, a transition at a time. A walk by weights that are
not pushed would draw from another distribution. Many walks go in lock-step, so that one waits for memory while another
computes; at each state a guide table says where to look for the transition that a random number falls on.

Sources: Mohri, "Weighted automata algorithms" (2009); OpenFst's `randgen` on a pushed machine; Chen and Asau, "On
generating random variates from an empirical distribution" (1974), for the guide table.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from structens.automata.paths import longest_path
from structens.automata.push import push_to_probabilities
from structens.automata.semiring import Semiring
from structens.automata.weights import is_count
from structens.core import Automaton, ParameterError, Ragged


class PathSampler:
    """Draws paths from one distribution again and again: pushing and the tables are made once.

    Parameters
    ----------
    automaton : Automaton
    weight : array_like, shape (n_transitions,)
        Costs (LOG) or real weights >= 0 (REAL); pushed here, so they need not be.
    final_weight : array_like, shape (n_states,), or None
    semiring : Semiring
        LOG or REAL.

    Raises
    ------
    AutomatonError
        If there is no accepting path with positive weight.
    DataError
        If the weights do not fit.
    ParameterError
        If the semiring is TROPICAL.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 9)], final=[2])
    >>> PathSampler(a, [0.0, 1.0, 1.0], semiring=Semiring.REAL).draw(2, seed=0).to_list()
    [[1, 2], [1, 2]]
    """

    def __init__(
        self,
        automaton: Automaton,
        weight: ArrayLike,
        final_weight: ArrayLike | None = None,
        semiring: Semiring = Semiring.LOG,
    ) -> None:
        self.automaton = automaton
        probability, stop = push_to_probabilities(automaton, weight, final_weight, semiring, "sample")
        # A row for each transition: running sum; target and guide as int32. What a step needs lies side by side.
        self._sums = np.empty((automaton.n_transitions, 2))
        self._codes = self._sums.view(np.int32).reshape(-1, 4)
        _tabulate(automaton.offsets, automaton.target, probability, stop, self._sums, self._codes)
        self._longest = max(1, longest_path(automaton))

    def draw(self, n: int, seed: int | np.random.Generator) -> Ragged:
        """Draw n accepting paths.

        Parameters
        ----------
        n : int
        seed : int or numpy.random.Generator
            The same int gives the same paths, and the first of them whatever n is. A generator is advanced. To make a
            record's paths independent of the order of records, give ``np.random.default_rng([seed, record])``.

        Returns
        -------
        Ragged of int64, n sequences
            Transition numbers of each path.

        Raises
        ------
        ParameterError
            If n is no whole number or negative, or the seed is neither int nor generator.
        """
        if not is_count(n, 0):
            raise ParameterError(f"n must be a number of paths >= 0; got {n!r}")
        if not isinstance(seed, (int, np.integer, np.random.Generator)) or isinstance(seed, bool):
            raise ParameterError(f"seed must be an int or a numpy Generator; got {seed!r}")
        generator = np.random.default_rng(seed)
        offsets, start = self.automaton.offsets, self.automaton.start
        chunk = max(1, _CELLS // self._longest)
        drawn: list[NDArray[np.int64]] = []
        lengths = np.zeros(n, dtype=np.int64)
        for first in range(0, n, chunk):
            length = lengths[first : first + chunk]
            # Row i is for path i, so that a path depends neither on the chunk nor on the other paths.
            uniform = generator.random((len(length), self._longest))
            table = np.empty(uniform.shape, dtype=np.int64)
            _walk(offsets, self._sums, self._codes, start, uniform, table, length)
            packed = np.empty(int(length.sum()), dtype=np.int64)
            _pack(table, length, packed)
            drawn.append(packed)
        return Ragged.from_lengths(np.concatenate(drawn) if drawn else np.zeros(0, dtype=np.int64), lengths)


def sample(
    automaton: Automaton,
    weight: ArrayLike,
    n: int,
    seed: int | np.random.Generator,
    final_weight: ArrayLike | None = None,
    semiring: Semiring = Semiring.LOG,
) -> Ragged:
    """Draw n accepting paths; to draw from the same weights again, keep a `PathSampler`.

    Parameters, result and errors are those of `PathSampler` and its `draw`.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 9)], final=[2])
    >>> sample(a, [0.0, 1.0, 1.0], 2, seed=0, semiring=Semiring.REAL).to_list()
    [[1, 2], [1, 2]]
    """
    return PathSampler(automaton, weight, final_weight, semiring).draw(n, seed)


_CELLS = 2_000_000
"""Places for transition numbers filled at a time: 16 MB, whatever n."""
_ABREAST = 64
"""Walks in lock-step: enough to hide the time that memory takes, few enough for the first cache."""


@njit(cache=True)
def _tabulate(offsets, target, probability, stop, sums, codes):  # type: ignore[no-untyped-def]
    """Running sums at each state, ended by 1 where no path stops; guide[k]: how many surely lie below k / degree."""
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        mass = 0.0
        for e in range(begin, end):
            mass += probability[e]
            sums[e, 0], codes[e, 2] = mass, target[e]
        whole, degree = mass + stop[q], end - begin
        scale = 1.0 / whole if whole > 0.0 else 0.0
        for e in range(begin, end):
            # The last one with mass and those after it: no random number may fall beyond, none on one without mass.
            reaches = sums[e, 0] == mass and stop[q] == 0.0
            sums[e, 0] = 1.0 if reaches else min(sums[e, 0] * scale, 1.0)
        e = begin
        for k in range(degree):
            while e < end and sums[e, 0] * degree < k * _SURELY:
                e += 1
            codes[begin + k, 3] = e - begin


_SURELY = 1.0 - 1e-14


@njit(cache=True)
def _walk(offsets, sums, codes, start, uniform, table, length):  # type: ignore[no-untyped-def]
    state, walk = np.empty(_ABREAST, dtype=np.int64), np.empty(_ABREAST, dtype=np.int64)
    guess, end = np.empty(_ABREAST, dtype=np.int64), np.empty(_ABREAST, dtype=np.int64)
    for first in range(0, len(length), _ABREAST):
        n, k = min(_ABREAST, len(length) - first), 0
        for i in range(n):
            state[i], walk[i] = start, first + i
        while n > 0:
            # Three loops, of which two have no branch, so that the loads of many walks are under way together.
            # After the last transition of the longest path there is no number left, and none is needed.
            column = min(k, uniform.shape[1] - 1)
            for i in range(n):
                begin, end[i] = offsets[state[i]], offsets[state[i] + 1]
                guess[i] = begin + np.int64(uniform[walk[i], column] * (end[i] - begin))
            for i in range(n):
                if guess[i] < end[i]:
                    guess[i] = offsets[state[i]] + codes[guess[i], 3]
            going = 0
            for i in range(n):
                e, x = guess[i], uniform[walk[i], column]
                while e < end[i] and sums[e, 0] <= x:
                    e += 1
                if e == end[i]:
                    length[walk[i]] = k
                else:
                    table[walk[i], k] = e
                    state[going], walk[going] = codes[e, 2], walk[i]
                    going += 1
            n = going
            k += 1


@njit(cache=True)
def _pack(table, length, packed):  # type: ignore[no-untyped-def]
    at = 0
    for i in range(len(length)):
        for k in range(length[i]):
            packed[at] = table[i, k]
            at += 1
