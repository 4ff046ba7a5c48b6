"""Paths drawn at random, each with the probability that the weights give it.

The weights are pushed first; then a path is a walk from the start, a transition at a time. A walk by weights that are
not pushed would draw from another distribution.

Source: Mohri, "Weighted automata algorithms" (2009); OpenFst's `randgen` on a pushed machine.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from structens.automata.paths import longest_path
from structens.automata.push import push_to_probabilities
from structens.automata.semiring import Semiring
from structens.core import Automaton, ParameterError, Ragged


def sample(
    automaton: Automaton,
    weight: ArrayLike,
    n: int,
    seed: int | np.random.Generator,
    final_weight: ArrayLike | None = None,
    semiring: Semiring = Semiring.LOG,
) -> Ragged:
    """Draw n accepting paths.

    Parameters
    ----------
    automaton : Automaton
    weight : array_like, shape (n_transitions,)
        Costs (LOG) or real weights >= 0 (REAL); pushed here, so they need not be.
    n : int
    seed : int or numpy.random.Generator
        The same int gives the same paths. A generator is advanced. To make a record's paths independent of the order
        of records, give ``np.random.default_rng([seed, record])``.
    final_weight : array_like, shape (n_states,), or None
    semiring : Semiring
        LOG or REAL.

    Returns
    -------
    Ragged of int64, n sequences
        Transition numbers of each path.

    Raises
    ------
    AutomatonError
        If there is no accepting path with positive weight.
    DataError
        If the weights do not fit.
    ParameterError
        If n is negative, the seed is neither int nor generator, or the semiring is TROPICAL.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 9)], final=[2])
    >>> sample(a, [0.0, 1.0, 1.0], 2, seed=0, semiring=Semiring.REAL).to_list()
    [[1, 2], [1, 2]]
    """
    if n < 0:
        raise ParameterError(f"n must be a number of paths >= 0; got {n}")
    if not isinstance(seed, (int, np.integer, np.random.Generator)) or isinstance(seed, bool):
        raise ParameterError(f"seed must be an int or a numpy Generator; got {seed!r}")
    generator = np.random.default_rng(seed)
    probability, stop = push_to_probabilities(automaton, weight, final_weight, semiring, "sample")
    cumulative = np.empty(automaton.n_transitions)
    _cumulate(automaton.offsets, probability, cumulative)
    longest = max(1, longest_path(automaton))
    chunk = max(1, _CELLS // longest)
    drawn: list[NDArray[np.int64]] = []
    lengths = np.zeros(n, dtype=np.int64)
    for first in range(0, n, chunk):
        length = lengths[first : first + chunk]
        table = np.empty((len(length), longest), dtype=np.int64)
        _walk(automaton.offsets, automaton.target, cumulative, stop, automaton.start, generator, table, length)
        drawn.append(table[np.arange(longest) < length[:, None]])
    return Ragged.from_lengths(np.concatenate(drawn) if drawn else np.zeros(0, dtype=np.int64), lengths)


_CELLS = 2_000_000
"""Places for transition numbers filled at a time: 16 MB, whatever n."""


@njit(cache=True)
def _cumulate(offsets, probability, cumulative):  # type: ignore[no-untyped-def]
    for q in range(len(offsets) - 1):
        mass = 0.0
        for e in range(offsets[q], offsets[q + 1]):
            mass += probability[e]
            cumulative[e] = mass


@njit(cache=True)
def _walk(offsets, target, cumulative, stop, start, generator, table, length):  # type: ignore[no-untyped-def]
    for i in range(len(length)):
        q, k = start, 0
        while offsets[q] < offsets[q + 1]:
            low, high = offsets[q], offsets[q + 1] - 1
            mass = cumulative[high]
            x = generator.random() * (mass + stop[q])
            if x >= mass and stop[q] > 0.0:
                break
            # First transition with cumulative > x, so that one of probability 0 is never taken; where rounding has
            # made x equal to the whole mass, the first that reaches it.
            x = min(x, np.nextafter(mass, 0.0))
            while low < high:
                middle = (low + high) // 2
                if cumulative[middle] > x:
                    high = middle
                else:
                    low = middle + 1
            table[i, k] = low
            k += 1
            q = target[low]
        length[i] = k
