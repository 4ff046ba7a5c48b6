"""The history automaton: the same paths, with states that remember the last transitions.

On it the n-gram gain of a path is the sum of gains of its transitions, so that everything additive (pushing, flows,
Weighted Majority, best paths) applies to n-gram counts of several orders at once. It is the context-dependent automaton
of Cortes, Kuznetsov, Mohri, Rahmanian and Warmuth, "Online non-additive path learning under full and partial
information" (ALT 2019), section 3, built directly instead of by rewrite rules: short paths keep their place, and each
path of the argument has exactly one path here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from structens.core import EPSILON, Automaton, AutomatonError, DataError, ParameterError
from structens.losses.ngram import NGramGain, PatternValues

_LARGEST_CODE = 2**62


class HistoryAutomaton(NamedTuple):
    """A history automaton, and where its parts come from.

    Attributes
    ----------
    automaton : Automaton
        Labels are those of the argument.
    transition : ndarray of int64, shape (n_transitions,)
        Number of the argument's transition that is taken.
    state : ndarray of int32, shape (n_states,)
        State of the argument.
    window : ndarray of int32, shape (n_transitions, reach)
        The last transitions of the argument that emit a label, the one taken first; -1 before the beginning of the
        path. A row of an EPSILON transition begins with -1 as well.
    """

    automaton: Automaton
    transition: NDArray[np.int64]
    state: NDArray[np.int32]
    window: NDArray[np.int32]


def history_automaton(
    automaton: Automaton, reach: int, *, by: str = "transition", max_transitions: int = 50_000_000
) -> HistoryAutomaton:
    """States (q, last reach - 1 transitions): each transition knows the `reach` units that it completes.

    EPSILON transitions emit nothing and leave the history as it is. With p parallel transitions in each of l slots and
    no EPSILON, there are p**min(k, n - 1) states after slot k and p**min(k, n) transitions in it, for reach n.

    Parameters
    ----------
    automaton : Automaton
    reach : int
        Units that a pattern spans, n for n-grams without gaps.
    by : {"transition", "label"}
        "label" remembers labels instead: smaller where several transitions say the same, for use with one record.
        `window` then has the first of all transitions with the label.
    max_transitions : int

    Raises
    ------
    ParameterError
        If `reach` is below 1, or `by` is unknown.
    AutomatonError
        If there would be too many transitions, or histories too long to be numbered.

    References
    ----------
    Cortes et al. (ALT 2019), section 3 and figure 5; their count of states is off by one, see the tests.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 7), (1, 2, 8)], final=[2])
    >>> h = history_automaton(a, 2)
    >>> h.automaton.n_states, h.transition.tolist(), h.window.tolist()
    (5, [0, 1, 2, 3, 2, 3], [[0, -1], [1, -1], [2, 0], [3, 0], [2, 1], [3, 1]])
    """
    if reach < 1 or by not in ("transition", "label"):
        raise ParameterError(f"need reach >= 1 and by 'transition' or 'label'; got {reach!r} and {by!r}")
    digit = np.arange(automaton.n_transitions, dtype=np.int64) + 1
    if by == "label":
        _, first, place = np.unique(automaton.label, return_index=True, return_inverse=True)
        digit = first[place].astype(np.int64) + 1
    base, emits = automaton.n_transitions + 1, automaton.label != EPSILON
    if base**reach >= _LARGEST_CODE:
        raise AutomatonError(f"histories of {reach} out of {base - 1} transitions are too many to number")
    codes, following = _histories(automaton, digit, emits, base ** (reach - 1), max_transitions)
    sizes = np.array([len(code) for code in codes], dtype=np.int64)
    before = np.concatenate([[0], np.cumsum(sizes)])
    state = np.repeat(np.arange(automaton.n_states, dtype=np.int32), sizes)
    history = np.concatenate(codes) if codes else np.zeros(0, np.int64)
    degree = np.diff(automaton.offsets)[state]
    source = np.repeat(np.arange(len(state)), degree)
    offsets = np.concatenate([[0], np.cumsum(degree)]).astype(np.int64)
    taken = np.arange(offsets[-1]) - offsets[source] + automaton.offsets[state[source]]
    after = [np.zeros(0, np.int64)]
    for q, code in enumerate(following):
        a, b = automaton.offsets[q : q + 2]
        columns = [
            before[r] + np.searchsorted(codes[r], code[:, k]) for k, r in enumerate(automaton.target[a:b].tolist())
        ]
        if columns:
            after.append(np.stack(columns, axis=1).ravel())
    made = Automaton(
        offsets=offsets,
        target=np.concatenate(after).astype(np.int32),
        label=automaton.label[taken],
        is_final=automaton.is_final[state],
        start=int(before[automaton.start]) if automaton.n_states else 0,
    )
    window = np.empty((len(taken), reach), np.int32)
    window[:, 0] = np.where(emits[taken], digit[taken] - 1, -1)
    rest = history[source]
    for i in range(1, reach):
        window[:, i] = rest % base - 1
        rest //= base
    return HistoryAutomaton(made, taken, state, window)


def ngram_gains(history: HistoryAutomaton, labels: ArrayLike, gain: NGramGain, target: ArrayLike) -> NDArray[Any]:
    """Gain of each transition, so that the sum over a path is the n-gram gain of what it says.

    Parameters
    ----------
    history : HistoryAutomaton
        Of reach `gain.reach` at least.
    labels : array_like of int, shape (n_transitions of the argument,)
        What the argument's transitions say in this round; EPSILON where, and only where, they said it when the
        histories were made.
    gain : NGramGain
    target : array_like of int, shape (n_units,)
        The right answer's labels.

    Returns
    -------
    ndarray of float64, shape (n_transitions,)

    Raises
    ------
    DataError
        If labels do not fit, or a transition that was EPSILON is none now, or the other way round.
    ParameterError
        If the histories are too short for the gain.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 7), (1, 2, 8)], final=[2])
    >>> ngram_gains(history_automaton(a, 2), a.label, NGramGain((0.5, 1)), [7, 8]).tolist()
    [0.5, 0.5, 0.5, 1.5, 0.5, 0.5]
    """
    said = np.asarray(labels, dtype=np.int32)
    if not len(history.transition) or said.ndim != 1 or history.transition.max() >= len(said):
        if len(history.transition):
            raise DataError(f"labels of shape {said.shape} do not fit the transitions of the history automaton")
        return np.zeros(0)
    if ((said[history.transition] == EPSILON) != (history.window[:, 0] < 0)).any():
        rule = "a transition says nothing now and said something when the histories were made, or the other way round"
        raise DataError(rule, hint="make a history automaton of this round's labels")
    return pattern_gains(history, said, gain, gain.patterns(target)) + gain.length_weight * (history.window[:, 0] >= 0)


def pattern_gains(
    history: HistoryAutomaton, labels: NDArray[np.int32], gain: NGramGain, values: PatternValues
) -> NDArray[np.float64]:
    """Summed value of the patterns that each transition completes; see `ngram_gains`.

    Raises
    ------
    ParameterError
        If the histories are too short for the gain.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (1, 2, 7)], final=[2])
    >>> gain = NGramGain((0, 1))
    >>> pattern_gains(history_automaton(a, 2), a.label, gain, gain.patterns([7, 7])).tolist()
    [0.0, 1.0]
    """
    if history.window.shape[1] < gain.reach:
        raise ParameterError(f"patterns reach over {gain.reach} units, but histories over {history.window.shape[1]}")
    out = np.zeros(len(history.window))
    offset, order, factor = gain.shapes()
    codes, table = values.codes, values.values
    n_codes = values.base**gain.order
    if n_codes <= _DENSE:
        table = np.zeros(n_codes)
        table[codes] = values.values
        codes = np.zeros(0, np.int64)
    _gains(history.window, values.digits(labels), offset, order, factor, values.base, codes, table, out)
    return out


_DENSE = 1 << 18
"""Patterns numbered up to this are looked up directly, others by bisection."""


def _histories(
    automaton: Automaton, digit: NDArray[np.int64], emits: NDArray[np.bool_], modulus: int, most: int
) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]:
    """Codes of the histories at each state, ascending; and for each of them those after each transition from there."""
    arriving: list[list[NDArray[np.int64]]] = [[] for _ in range(automaton.n_states)]
    if automaton.n_states:
        arriving[automaton.start].append(np.zeros(1, np.int64))
    base, total = len(digit) + 1, 0
    codes, following = [], []
    for q in range(automaton.n_states):
        code = np.unique(np.concatenate(arriving[q])) if arriving[q] else np.zeros(0, np.int64)
        arriving[q] = []
        a, b = automaton.offsets[q : q + 2]
        total += len(code) * int(b - a)
        if total > most:
            rule = f"the history automaton needs more than {most} transitions"
            raise AutomatonError(f"{rule}; take a lower order, fewer experts or a smaller gap")
        after = np.where(emits[a:b], (code[:, None] * base + digit[a:b]) % modulus, code[:, None])
        targets = automaton.target[a:b]
        for r in np.unique(targets).tolist() if len(code) else ():
            arriving[r].append(after[:, targets == r].ravel())
        codes.append(code)
        following.append(after)
    return codes, following


@njit(cache=True)
def _gains(window, digit, offset, order, factor, base, codes, table, out):  # type: ignore[no-untyped-def]
    for t in range(len(window)):
        for s in range(len(order)):
            code = 0
            for i in range(order[s]):
                e = window[t, offset[s, i]]
                d = digit[e] if e >= 0 else 0
                if d == 0:
                    code = -1
                    break
                code = code * base + d
            if code >= 0:
                if len(codes) == 0 and len(table) > 0:
                    out[t] += factor[s] * table[code]
                else:
                    place = np.searchsorted(codes, code)
                    if place < len(codes) and codes[place] == code:
                        out[t] += factor[s] * table[place]
