"""The answer of greatest expected n-gram gain: exact minimum Bayes risk for gains that are inner products of counts.

The expected gain of an answer is its inner product with the expected counts, which are sums of flows of a history
automaton; on the same automaton the answer is a best path. With linear BLEU this is the lattice decoding of Tromble,
Kumar, Och and Macherey (EMNLP 2008).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from structens.automata import Semiring, as_weights, flows, shortest_path
from structens.automata.history import HistoryAutomaton, history_automaton, pattern_gains
from structens.core import EPSILON, Automaton, AutomatonError
from structens.losses.ngram import NGramGain, PatternValues


class NGramDecoded(NamedTuple):
    """An answer.

    Attributes
    ----------
    labels : ndarray of int32, shape (n_units,)
    expected_gain : float
        Mean gain against a path drawn from the weights.
    transitions : ndarray of int64
        A path of the automaton that says it.
    """

    labels: NDArray[np.int32]
    expected_gain: float
    transitions: NDArray[np.int64]


def ngram_mbr(
    automaton: Automaton,
    weight: ArrayLike,
    gain: NGramGain,
    final_weight: ArrayLike | None = None,
    semiring: Semiring = Semiring.LOG,
) -> NGramDecoded:
    """The answer of the automaton that has the greatest expected gain against a path drawn from it.

    Parameters
    ----------
    automaton : Automaton
    weight : array_like, shape (n_transitions,)
        Costs (LOG) or real weights >= 0 (REAL); need not be pushed.
    gain : NGramGain
        With `presence` the probability that a pattern occurs is taken to be its expected count, at most 1: exact where
        no pattern can occur twice in an answer.
    final_weight : array_like, shape (n_states,), or None
    semiring : Semiring
        LOG or REAL.

    Raises
    ------
    AutomatonError
        If there is no accepting path with positive weight, or histories are too many.
    DataError, ParameterError
        If weights do not fit, or the semiring is TROPICAL.

    References
    ----------
    Tromble et al. (2008), sections 4 and 5.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 0), (0, 1, 1), (1, 2, 0), (1, 2, 1)], final=[2])
    >>> ngram_mbr(a, [0.6, 0.4, 0.7, 0.3], NGramGain((1, 1)), semiring=Semiring.REAL).labels.tolist()
    [0, 0]
    """
    weight, final = as_weights(automaton, weight, final_weight, semiring, non_negative=True)
    history = history_automaton(automaton, gain.reach, by="label")
    inner_final = final[history.state]
    flow = flows(history.automaton, weight[history.transition], inner_final, semiring).transition
    values = expected_patterns(history, automaton.label, flow, gain)
    gains = pattern_gains(history, automaton.label, gain, values) + gain.length_weight * (history.window[:, 0] >= 0)
    possible = weight[history.transition] != semiring.zero
    last = np.where(inner_final != semiring.zero, 0.0, np.inf)
    best = shortest_path(history.automaton, np.where(possible, -gains, np.inf), last)
    path = history.transition[best]
    labels = automaton.label[path]
    return NGramDecoded(labels[labels != EPSILON], float(gains[best].sum()), path)


def expected_patterns(
    history: HistoryAutomaton, labels: NDArray[np.int32], flow: NDArray[np.float64], gain: NGramGain
) -> PatternValues:
    """Expected count of each pattern of the automaton's answers, times the weight of its order.

    Parameters
    ----------
    history : HistoryAutomaton
    labels : ndarray of int32
        Labels of the automaton that the histories are of.
    flow : ndarray of float64, shape (n_transitions of the history automaton,)
    gain : NGramGain

    Raises
    ------
    AutomatonError
        If patterns are too many to be numbered.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (1, 2, 7)], final=[2])
    >>> made = expected_patterns(history_automaton(a, 2), a.label, np.ones(2), NGramGain((1, 0.5)))
    >>> made.codes.tolist(), made.values.tolist()
    ([1, 3], [2.0, 0.5])
    """
    known = np.unique(labels[labels >= 0]).astype(np.int32)
    base = len(known) + 1
    if base**gain.order >= 2**62:
        raise AutomatonError(f"patterns of {gain.order} out of {base - 1} labels are too many to number")
    empty = PatternValues(known, base, np.zeros(0, np.int64), np.zeros(0))
    offset, order, factor = gain.shapes()
    codes = np.empty((len(history.window), len(order)), np.int64)
    _codes(history.window, empty.digits(labels), offset, order, base, codes)
    mass = np.where(codes >= 0, flow[:, None] * factor, 0.0)
    distinct, place = np.unique(codes, return_inverse=True)
    count = np.bincount(place.ravel(), weights=mass.ravel(), minlength=len(distinct))
    if gain.presence:
        count = np.minimum(count, 1.0)
    weight = np.zeros(len(distinct))
    weight[place.ravel()] = np.broadcast_to(np.array(gain.weights)[order - 1], codes.shape).ravel()
    real = distinct >= 0
    return PatternValues(known, base, distinct[real], (weight * count)[real])


@njit(cache=True)
def _codes(window, digit, offset, order, base, out):  # type: ignore[no-untyped-def]
    for t in range(len(window)):
        for s in range(len(order)):
            code = 0
            for i in range(order[s]):
                e = window[t, offset[s, i]]
                if e < 0:
                    code = -1
                    break
                code = code * base + digit[e]
            out[t, s] = code
