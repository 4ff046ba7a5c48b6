"""Learning by n-gram gains: Expanded Hedge on the history automaton, where they are sums over transitions.

The weight of a path is exp(eta times its summed gain of all rounds so far), by cumulative gains and weight pushing:
Cortes, Kuznetsov, Mohri, Rahmanian and Warmuth, "Online non-additive path learning under full and partial information"
(ALT 2019), section 4; there as losses B - gain, which is the same where all paths are equally long. Two forms: one
automaton for all rounds, as in the paper, and records of any length that share weights by the experts of a history.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata import Pushed, Semiring, expert_automaton, flows, push
from structens.automata.history import HistoryAutomaton, history_automaton, ngram_gains
from structens.core import Automaton, DataError, ParameterError, Slots
from structens.losses.ngram import NGramGain


class HistoryLearner:
    """Distribution over the paths of one automaton that learns from n-gram gains.

    Parameters
    ----------
    automaton : Automaton
        The same in all rounds; what its transitions say may change, but not which of them are EPSILON.
    gain : NGramGain
    eta : float
        Learning rate, >= 0; may be changed at any time, since gains are kept.
    parameter : array_like of int, optional
        Transitions of the history automaton with the same id share their cumulative gain; default all different.

    Attributes
    ----------
    history : HistoryAutomaton
    cumulative : ndarray of float64, shape (n_parameters,)
        Summed gains of all rounds.

    Raises
    ------
    ParameterError
        If eta is negative or not finite.
    AutomatonError
        If the history automaton is too large, or no path leads from the start to a final state.
    DataError
        If the ids do not fit.

    Examples
    --------
    Three slots, two experts, bigrams of the answer "aba" (figures 5 and 6 of the paper).

    >>> a = Automaton.from_transitions([(k, k + 1, 0) for k in range(3) for _ in range(2)], final=[3])
    >>> learner = HistoryLearner(a, NGramGain((0, 1)), eta=0.5)
    >>> learner.update(labels=[0, 1, 1, 1, 0, 0], target=[0, 1, 0])
    1.5
    >>> learner.flows()[:2].round(6).tolist()  # four paths of probability .155615, four of .094385
    [0.622459, 0.377541]
    """

    def __init__(self, automaton: Automaton, gain: NGramGain, eta: float, parameter: ArrayLike | None = None) -> None:
        _check_rate(eta)
        self.automaton, self.gain, self.eta = automaton, gain, eta
        self.history = history_automaton(automaton, gain.reach)
        n = self.history.automaton.n_transitions
        self.parameter = np.arange(n) if parameter is None else np.asarray(parameter, dtype=np.int64)
        if self.parameter.shape != (n,) or self.parameter.min(initial=0) < 0:
            raise DataError(f"parameter must give one id >= 0 for each of {n} transitions of the history automaton")
        self.cumulative = np.zeros(int(self.parameter.max(initial=-1)) + 1)
        self.pushed()

    def weight(self) -> NDArray[np.float64]:
        """Costs of the history automaton's transitions, not pushed: -eta times cumulative gain."""
        return -self.eta * self.cumulative[self.parameter]

    def pushed(self) -> Pushed:
        """Pushed costs: a path of the history automaton can be drawn by a walk with probabilities exp(-weight)."""
        return push(self.history.automaton, self.weight(), None, Semiring.LOG)

    def flows(self) -> NDArray[np.float64]:
        """Probability that a path takes each transition of the automaton given, shape (n_transitions,)."""
        flow = flows(self.history.automaton, self.weight(), None, Semiring.LOG).transition
        out: NDArray[Any] = np.bincount(self.history.transition, flow, minlength=self.automaton.n_transitions)
        return out

    def expected_gain(self, labels: ArrayLike, target: ArrayLike) -> float:
        """Mean gain of a path drawn now, if transitions say `labels` and `target` is right."""
        return self._expected(ngram_gains(self.history, labels, self.gain, target))

    def update(self, labels: ArrayLike, target: ArrayLike) -> float:
        """Play one round.

        Parameters
        ----------
        labels : array_like of int, shape (n_transitions,)
            What each transition of the automaton says.
        target : array_like of int, shape (n_units,)
            The right answer.

        Returns
        -------
        float
            Expected gain in this round, of the distribution before it.

        Raises
        ------
        DataError
            If the labels do not fit.
        """
        gains = ngram_gains(self.history, labels, self.gain, target)
        expected = self._expected(gains)
        self.cumulative += np.bincount(self.parameter, weights=gains, minlength=len(self.cumulative))
        return expected

    def _expected(self, gains: NDArray[np.float64]) -> float:
        return float(flows(self.history.automaton, self.weight(), None, Semiring.LOG).transition @ gains)


class SlotHistoryLearner:
    """Weights for sequences of experts: how well expert j goes on after experts i, ..., whatever the record's length.

    One parameter a history of experts (those of the last units said) and next expert. Gains are centred by slot: the
    mean over the slot's transitions is subtracted, so that parameters that occur more often gain nothing by it. The
    weights of a record are those of a Markov chain of experts; a bound on regret holds for `HistoryLearner` only.

    Parameters
    ----------
    gain : NGramGain
    n_experts : int
    eta : float
    most_parameters : int

    Attributes
    ----------
    cumulative : ndarray of float64, shape ((n_experts + 1)**(reach - 1), n_experts)
        Summed centred gains; digit 0 of a history stands for "before the beginning".

    Raises
    ------
    ParameterError
        If there would be too many parameters, or eta is negative or not finite.

    Examples
    --------
    >>> from structens.align import align
    >>> from structens.core import ExpertPredictions
    >>> X = ExpertPredictions.of({"a": ["abc", "abcd"], "b": ["abx", "xxxx"]}, gold=["abc", "abcd"])
    >>> slots, learner = align(X), SlotHistoryLearner(NGramGain((0, 1)), 2, eta=1.0)
    >>> learner.update(slots, 0, X.references[0])
    1.5
    >>> (learner.flows(slots, 1)[3] > 0.5).tolist()
    [True, False]
    """

    def __init__(self, gain: NGramGain, n_experts: int, eta: float, *, most_parameters: int = 20_000_000) -> None:
        _check_rate(eta)
        self.gain, self.n_experts, self.eta = gain, n_experts, eta
        n_histories = (n_experts + 1) ** (gain.reach - 1)
        if n_histories * n_experts > most_parameters:
            raise ParameterError(
                f"{n_histories} histories of {n_experts} experts are more than {most_parameters} parameters; "
                "take a lower order, a smaller gap or fewer experts"
            )
        self.cumulative = np.zeros((n_histories, n_experts))
        self._made: dict[bytes, SlotHistory] = {}

    def flows(self, slots: Slots, record: int) -> NDArray[np.float64]:
        """Probability of each expert in each slot of a record, 0 where ABSENT; shape (n_slots, p)."""
        history, parameter, place = self._of(slots, record)
        flow = flows(history.automaton, -self.eta * self.cumulative.ravel()[parameter], None, Semiring.LOG).transition
        n_slots = int(slots.lengths[record])
        out: NDArray[Any] = np.bincount(place, flow, minlength=n_slots * self.n_experts)
        return out.reshape(n_slots, self.n_experts)

    def update(self, slots: Slots, record: int, target: ArrayLike) -> float:
        """Learn from a record.

        Parameters
        ----------
        slots : Slots
        record : int
        target : array_like of int, shape (n_units,)
            Labels of the right answer.

        Returns
        -------
        float
            Expected gain before learning.

        Raises
        ------
        DataError
            If no expert answers in one of the slots.
        """
        history, parameter, place = self._of(slots, record)
        labels = expert_automaton(slots, record).automaton.label
        gains = ngram_gains(history, labels, self.gain, target)
        weight = -self.eta * self.cumulative.ravel()[parameter]
        expected = float(flows(history.automaton, weight, None, Semiring.LOG).transition @ gains)
        slot = place // self.n_experts
        mean = np.bincount(slot, weights=gains) / np.maximum(np.bincount(slot), 1) if len(slot) else np.zeros(0)
        total = np.bincount(parameter, weights=gains - mean[slot], minlength=self.cumulative.size)
        self.cumulative += total.reshape(self.cumulative.shape)
        return expected

    def _of(self, slots: Slots, record: int) -> SlotHistory:
        """History automaton of a record; most records share few patterns of who says nothing where."""
        if slots.n_experts != self.n_experts:
            raise DataError(f"the records have {slots.n_experts} experts, the learner {self.n_experts}")
        key = silence(slots, record)
        if key not in self._made:
            if len(self._made) >= _MOST_KEPT:
                self._made.clear()
            self._made[key] = slot_history(slots, record, self.gain.reach)
        return self._made[key]


class SlotHistory(NamedTuple):
    """The history automaton of a record, and what each transition shares with those of other records.

    Attributes
    ----------
    history : HistoryAutomaton
    code : ndarray of int64, shape (n_transitions,)
        Experts of the last units and the next one: a number below (p + 1)**(reach - 1) p.
    place : ndarray of int64, shape (n_transitions,)
        Slot of the record times p, plus the expert.
    """

    history: HistoryAutomaton
    code: NDArray[np.int64]
    place: NDArray[np.int64]


def slot_history(slots: Slots, record: int, reach: int) -> SlotHistory:
    """Make it; it depends on `silence` and the reach only.

    Raises
    ------
    DataError
        If no expert answers in one of the slots.

    Examples
    --------
    >>> from structens.align import align
    >>> from structens.core import ExpertPredictions
    >>> made = slot_history(align(ExpertPredictions.of({"a": ["ab"], "b": ["cd"]})), 0, 2)
    >>> made.code.tolist(), made.place.tolist()
    ([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 2, 3])
    """
    p = slots.n_experts
    made = expert_automaton(slots, record)
    history = history_automaton(made.automaton, reach)
    window = history.window.astype(np.int64)
    expert = np.append(made.expert, -1).astype(np.int64)[window] + 1  # place -1 is "before the beginning"
    # an EPSILON transition says nothing: its window begins with -1, and the history follows all the same
    code = np.zeros(len(window), np.int64)
    for k in range(1, reach):
        code = code * (p + 1) + expert[:, k]
    own = made.expert[history.transition].astype(np.int64)
    return SlotHistory(history, code * p + own, made.slot[history.transition] * p + own)


def silence(slots: Slots, record: int) -> bytes:
    """Who says nothing, or is absent, where in a record.

    Examples
    --------
    >>> from structens.align import align
    >>> from structens.core import ExpertPredictions
    >>> s = align(ExpertPredictions.of({"a": ["ab", "cd"], "b": ["ab", "dd"]}))
    >>> silence(s, 0) == silence(s, 1)
    True
    """
    labels = slots.labels[slots.offsets[record] : slots.offsets[record + 1]]
    return np.minimum(labels, 0).astype(np.int8).tobytes()


_MOST_KEPT = 256


def _check_rate(eta: Any) -> None:
    if not (np.isfinite(eta) and eta >= 0):
        raise ParameterError(f"eta must be a finite number >= 0; got {eta!r}")
