"""FPRL and RRWM: learning by -log of an n-gram gain, as in the paper, for small automata.

The loss of a path expert is -log U(x, y), U its n-gram gain, a rational kernel. An automaton that guesses where a
pattern stands gives a path one run for each occurrence; determinised in the ordinary probability semiring it gives each
path the sum, U, and the weights of a deterministic automaton can be raised to any power, so that the paper's semiring
of powers is not needed. (Cortes, Kuznetsov, Mohri and Warmuth, "On-line learning algorithms for path experts with
non-additive losses", COLT 2015, sections 4 and 5.)

The regret of -log U is bounded by that of U where U is bounded below, so learning U itself on the history automaton
(`structens.online.ngram_learning`), whose size does not grow, is the better choice in practice.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from structens.automata import Semiring, WeightedAutomaton, as_weights, determinize, n_paths, top_sort
from structens.core import EPSILON, Automaton, AutomatonError, DataError, ParameterError
from structens.losses.ngram import NGramGain
from structens.online.composed import ComposedLearner, PathLoss

Phase = tuple[int, ...]
"""Labels of the pattern read so far, then the number of units left out since its first."""

_BEFORE: Phase = (-1,)
_AFTER: Phase = (-2,)
_CONSTANT: Phase = (-3,)


class RationalLearner(ComposedLearner):
    """RRWM by `update` and `draw`, FPRL by `update` and `follow`.

    Parameters
    ----------
    automaton : Automaton
    gain : NGramGain
        Weights >= 0, no length weight.
    eta : float
        Power of the gain.
    offset : float
        Added to every gain; > 0 where a path may have gain 0, whose loss would be infinite for ever.
    max_states : int

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Examples
    --------
    >>> a = Automaton.from_transitions([(k, k + 1, 0) for k in range(3) for _ in range(2)], final=[3])
    >>> learner = RationalLearner(a, NGramGain((0, 1)), eta=1.0)
    >>> round(learner.update(labels=[0, 1, 1, 1, 0, 0], target=[0, 1, 0]), 4)  # half of the paths have U = 2
    -0.3466
    >>> (learner.flows()[:2] / 4).round(4).tolist()  # 1/6 for each path that starts with a, 1/12 for the others
    [0.1667, 0.0833]
    """

    def __init__(
        self, automaton: Automaton, gain: NGramGain, eta: float, *, offset: float = 0.0, max_states: int = 200_000
    ) -> None:
        super().__init__(automaton, eta, max_states=max_states)
        if min(gain.weights) < 0 or gain.length_weight != 0 or not (math.isfinite(offset) and offset >= 0):
            raise ParameterError(f"need a gain with weights >= 0 only, and an offset >= 0; got {gain!r}, {offset!r}")
        self.gain, self.offset = gain, offset

    def update(self, labels: ArrayLike, target: ArrayLike) -> float:
        """Play one round: the expected loss before it.

        Parameters
        ----------
        labels : array_like of int, shape (n_transitions,)
            What each transition says in this round.
        target : array_like of int, shape (n_units,)

        Raises
        ------
        AutomatonError
            If a path has gain 0 and there is no offset, or automata get too large.
        """
        return self.learn(rational_loss(self.automaton, labels, target, self.gain, self.offset))


def rational_loss(
    automaton: Automaton, labels: ArrayLike, target: ArrayLike, gain: NGramGain, offset: float = 0.0
) -> PathLoss:
    """Loss -log(U + offset) of every path.

    Parameters
    ----------
    automaton : Automaton
    labels : array_like of int, shape (n_transitions,)
    target : array_like of int, shape (n_units,)
    gain : NGramGain
        Weights >= 0, no length weight.
    offset : float

    Raises
    ------
    AutomatonError
        If U + offset is 0 for some path.
    DataError
        If labels do not fit.

    References
    ----------
    Cortes et al. (COLT 2015), figure 3: their determinisation of Y o U o T, with a power as in RRWM left to the user.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1])
    >>> rational_loss(a, [7, 8], [7], NGramGain((1,)), offset=1.0).loss.round(4).tolist()
    [-0.6931, -0.0]
    """
    said = np.asarray(labels, dtype=np.int32)
    if said.shape != (automaton.n_transitions,):
        raise DataError(f"need one label for each of {automaton.n_transitions} transitions; got shape {said.shape}")
    guess = occurrences(automaton, said, target, gain, offset)
    made = determinize(guess, Semiring.REAL) if n_paths(guess.automaton) else guess
    weight, final = as_weights(*made, Semiring.REAL)
    if n_paths(made.automaton) < n_paths(automaton):
        raise AutomatonError(
            "a path has gain 0, and its loss -log 0 would be infinite for ever; give an offset > 0, such as 1"
        )
    cost = np.where(final > 0, -np.log(np.where(final > 0, final, 1.0)), 0.0)
    return PathLoss(made.automaton, -np.log(weight), cost)


def occurrences(
    automaton: Automaton, labels: ArrayLike, target: ArrayLike, gain: NGramGain, offset: float = 0.0
) -> WeightedAutomaton:
    """Automaton over names of transitions with one run for each occurrence of a pattern of the target in a path.

    Parameters
    ----------
    automaton, labels, target, gain, offset
        See `rational_loss`.

    Returns
    -------
    WeightedAutomaton
        REAL weights; all runs of a path together weigh U + offset.

    Examples
    --------
    >>> from structens.automata import total_weight
    >>> a = Automaton.from_transitions([(0, 1, 7), (1, 2, 7)], final=[2])
    >>> total_weight(*occurrences(a, [7, 7], [7], NGramGain((1,))), Semiring.REAL)
    2.0
    """
    said = np.asarray(labels, dtype=np.int32).tolist()
    worth = _patterns(gain, target)
    inner = {pattern[:k] for pattern in worth for k in range(1, len(pattern))}
    start: tuple[int, Phase] = (automaton.start, _BEFORE)
    numbers, states = {start: 0}, [start]
    rows: list[tuple[int, int, int, float]] = []
    for here in states:  # grows while it is walked through
        q, phase = here
        for e in range(int(automaton.offsets[q]), int(automaton.offsets[q + 1])):
            steps = _steps(phase, said[e], worth, inner, gain)
            if here == start and offset > 0:
                steps.append((_CONSTANT, offset))
            for after, weight in steps:
                there = (int(automaton.target[e]), after)
                if there not in numbers:
                    numbers[there] = len(states)
                    states.append(there)
                rows.append((numbers[here], numbers[there], e, weight))
    ends = (_AFTER, _CONSTANT)
    final = [numbers[s] for s in states if automaton.is_final[s[0]] and (s[1] in ends or (s == start and offset > 0))]
    columns = np.array([row[:3] for row in rows], dtype=np.int64).reshape(-1, 3).T
    made = top_sort(columns[0], columns[1], columns[2], final=final, n_states=len(states))
    weights = np.array([row[3] for row in rows])[made.transition]
    ending = np.where(made.automaton.is_final, 1.0, 0.0)
    if automaton.is_final[automaton.start]:
        ending[made.automaton.start] = offset
    return WeightedAutomaton(made.automaton, weights, ending)


def _patterns(gain: NGramGain, target: ArrayLike) -> dict[tuple[int, ...], float]:
    """Value of each pattern of the target, as a tuple of labels, first unit first."""
    made = gain.patterns(target)
    out: dict[tuple[int, ...], float] = {}
    for code, value in zip(made.codes.tolist(), made.values.tolist(), strict=True):
        pattern, rest = [], code
        while rest:  # the last digit is the first unit
            pattern.append(int(made.labels[rest % made.base - 1]))
            rest //= made.base
        if value > 0:
            out[tuple(pattern)] = value
    return out


def _steps(
    phase: Phase, label: int, worth: dict[tuple[int, ...], float], inner: set[tuple[int, ...]], gain: NGramGain
) -> list[tuple[Phase, float]]:
    """Ways on over a transition that says `label`."""
    if label == EPSILON or phase in (_AFTER, _CONSTANT):
        return [(phase, 1.0)]
    begun, gap = ((), 0) if phase == _BEFORE else (phase[:-1], phase[-1])
    steps: list[tuple[Phase, float]] = []
    if phase == _BEFORE:
        steps.append((_BEFORE, 1.0))
    elif gap < gain.max_gap and gain.discount > 0:
        steps.append(((*begun, gap + 1), gain.discount))
    read = (*begun, label)
    if read in worth:
        steps.append((_AFTER, worth[read]))
    if read in inner:
        steps.append(((*read, gap), 1.0))
    return steps
