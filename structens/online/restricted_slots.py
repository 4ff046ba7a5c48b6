"""Learning under a restriction on slots: which path experts a round is played on, and what it charges.

Cortes, Kuznetsov and Mohri (ICML 2014), appendix A and figure 2, for any learner by context. In every round the path
experts of the record are restricted to those with an admissible answer (`structens.online.admissible`): the loss of the
round is that of the learner's distribution given admissibility.

* "per_round": then every transition is charged its loss, and one that lies on no admissible path of the record the
  largest loss M, in each of its slots. With tie "expert" an inadmissible path expert is thus charged M in every slot,
  the most there is. With other ties a path is charged M wherever it takes such a transition; one that is inadmissible
  though each of its transitions lies on an admissible path elsewhere pays what its transitions cost. The learner's
  losses stay on the transitions, and the product with the acceptor is built anew for each record.
* "permanent": a transition that lies on no admissible path leaves the game for good, before the round is played. With
  tie "expert" these are just the path experts that once gave an inadmissible answer, as printed. With other ties more
  stay than printed: paths that were inadmissible, but all of whose transitions survived; they are kept out of the
  records in which they are inadmissible. `structens.online.RestrictedMajority` deletes paths, on small automata.

A record without any admissible path is played on all paths and charged as usual; with "permanent" it deletes all its
path experts, and it is an error if nobody is left. Absent experts are on no path; they sleep, or are charged the mean
of what those present are charged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.automata import LabelAcceptor
from structens.core import DataError, Slots
from structens.online.admissible import AdmissiblePaths
from structens.online.gamma import cv_penalty
from structens.online.history import History, charges, weights_at
from structens.online.rounds import Rounds
from structens.online.slot_conversion import grid_size, spread
from structens.online.tying import Tying


class RestrictedGame(NamedTuple):
    """The rounds as they are played under a restriction.

    Parameters
    ----------
    rounds : Rounds
        With the losses that are charged.
    paths : AdmissiblePaths
    there : ndarray of bool, shape (n_slots, p)
        Transitions that are in the game when their record comes.
    awake : ndarray of bool, shape (n_slots, p)
        Those whose losses count.
    alive : ndarray of bool, shape (n_contexts, p)
        Transitions left at the end; no rows for "per_round".
    counted : ndarray of bool, shape (T,)
        Rounds that count in the regret.
    """

    rounds: Rounds
    paths: AdmissiblePaths
    there: NDArray[np.bool_]
    awake: NDArray[np.bool_]
    alive: NDArray[np.bool_]
    counted: NDArray[np.bool_]

    @property
    def keeps_bound(self) -> bool:
        """The restricted play is never charged more than the learner, so that its bound on the regret holds.

        So it is where a path is an expert's own answer, since those left out are charged the most; a path of several
        runs may be left out and cost less than those that are left, and so may an absent expert that does not sleep.
        """
        return self.paths.whole and not (self.awake & ~self.paths.present).any()

    def paid(self, weights: NDArray[np.float64], first: int = 0) -> NDArray[np.float64]:
        """Expected loss of each round from `first` on, averaged over its slots, under these weights of its slots.

        Parameters
        ----------
        weights : ndarray of float64, shape (n_slots, p), of the slots from that round on
        """
        paths, slot = self.paths.tail(first), int(self.rounds.offsets[first])
        offsets = self.rounds.offsets[first:] - slot
        flow = paths.flows(weights, self.there[slot:])
        record = np.repeat(np.arange(len(paths)), np.diff(offsets))
        sums = np.bincount(record, (flow * self.rounds.loss[slot:]).sum(axis=1), minlength=len(paths))
        out: NDArray[np.float64] = sums / np.maximum(np.diff(offsets), 1)
        return out

    def round_losses(self, history: History) -> NDArray[np.float64]:
        """Expected loss L_t in each round, averaged over the record's slots, shape (T,)."""
        return self.paid(history.before[visit_of(history, self.rounds)])

    def chosen_round(self, history: History, delta: float, n_most: int | None = None) -> int:
        """Round of H_CV, among at most 64 at even distances: what a p_t pays depends on the record, not on sums."""
        rounds = self.rounds
        penalty = cv_penalty(rounds.n_rounds, delta, largest=rounds.largest)
        if len(penalty) == 0:
            return 0
        n_most = grid_size(rounds.n_parameters) if n_most is None else n_most
        candidates = np.union1d([0], spread(0, len(penalty), n_most))
        context = rounds.parameter[:, 0] // rounds.n_experts
        values = [
            self.paid(weights_at(history, np.array([t]))[0][context[rounds.offsets[t + 1] :]], t + 1).mean()
            for t in candidates.tolist()
        ]
        return int(candidates[(np.array(values) + penalty[candidates]).argmin()])

    def left(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weights of each context among the transitions left ("permanent"); rows sum to 1.

        Parameters
        ----------
        weights : ndarray of float64, shape (n_contexts, p)
        """
        return left_weights(weights, self.alive)

    def excess(self, history: History, round_losses: NDArray[np.float64]) -> float:
        """Charged loss of the restricted play beyond that of the learner on all paths."""
        lengths = np.diff(self.rounds.offsets)
        paid = round_losses * lengths * self.rounds.scale * self.counted
        return float(paid.sum() - charges(history).sum())


def restricted_game(
    slots: Slots,
    rounds: Rounds,
    tying: Tying,
    acceptor: LabelAcceptor,
    restrict: str,
    *,
    sleep: bool = True,
    alive: NDArray[np.bool_] | None = None,
    ids: Sequence[str | int] | None = None,
) -> RestrictedGame:
    """Judge the answers of these records.

    Parameters
    ----------
    slots : Slots
    rounds : Rounds
        Of the same records, with contexts shared by all experts of a slot.
    tying : Tying
    acceptor : LabelAcceptor
        Of the codes of ``slots.alphabet``.
    restrict : {"per_round", "permanent"}
    sleep : bool
        Absent experts sleep; else they are charged the mean.
    alive : ndarray of bool, shape (n_contexts, p), optional
        Of earlier records ("permanent"); default: all.
    ids : sequence, optional
        Names of the records, for errors.

    Raises
    ------
    DataError
        If no path expert would be left ("permanent").

    Examples
    --------
    >>> from structens.core import Alphabet
    >>> from structens.online.rounds import rounds_of
    >>> s = Slots(np.array([[0, 1], [0, 0]], np.int32), np.array([0, 2]), np.zeros((2, 2), int), ("a", "b"),
    ...           Alphabet(("x", "y")), np.array([0, 0], np.int32), np.zeros(1, int))
    >>> tying = Tying.learn(s, "expert")
    >>> never_twice = LabelAcceptor.forbidden([(0, 0)], 2)
    >>> game = restricted_game(s, rounds_of(s, tying), tying, never_twice, "per_round")
    >>> game.rounds.loss.tolist(), game.paid(np.full((2, 2), 0.5)).tolist()
    ([[1.0, 1.0], [1.0, 0.0]], [0.5])
    """
    paths = AdmissiblePaths.of(slots, acceptor, tying.contexts(slots))
    context = rounds.parameter[:, 0] // rounds.n_experts
    permanent, judged = restrict == "permanent", slots.has_gold[slots.record][:, None]
    left = np.zeros((0, rounds.n_experts), np.bool_)
    if permanent:
        left = np.ones((tying.n_contexts, rounds.n_experts), np.bool_) if alive is None else alive.copy()
    present = slots.awake
    found = paths.survivors(present & judged, context, left if permanent else None)
    if found.failed >= 0:
        raise DataError(
            "no path expert is left: each has given an inadmissible answer to this record or to one before it",
            record=found.failed if ids is None else ids[found.failed],
            hint="take restrict 'per_round'",
        )
    possible = found.possible[slots.record][:, None]
    awake = found.after & judged & (present if sleep else True)
    loss = rounds.loss
    if permanent:
        awake &= possible
    else:
        loss = np.where(found.there & ~found.live & possible, rounds.largest, loss)
    mean = (loss * present).sum(axis=1) / np.maximum(present.sum(axis=1), 1)
    loss = np.where(present, loss, mean[:, None])
    there = np.where(judged, found.there, present & found.after)
    counted = slots.has_gold & (found.possible | (not permanent))
    return RestrictedGame(rounds._replace(loss=loss), paths, there, awake, left, counted)


def left_weights(weights: NDArray[np.float64], alive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Weights among those alive, rows summing to 1; equal ones where all of these are 0. No rows alive: as they are.

    Examples
    --------
    >>> left_weights(np.array([[0.5, 0.3, 0.2]]), np.array([[True, False, True]])).round(4).tolist()
    [[0.7143, 0.0, 0.2857]]
    """
    if not len(alive):
        return weights
    kept = np.where(alive, weights, 0.0)
    kept = np.where(kept.sum(axis=1, keepdims=True) > 0, kept, alive)
    out: NDArray[np.float64] = kept / kept.sum(axis=1, keepdims=True)
    return out


def visit_of(history: History, rounds: Rounds) -> NDArray[np.int64]:
    """Number of the visit of each slot.

    Examples
    --------
    >>> from structens.online.visits import visits_of
    >>> r = Rounds(np.zeros((3, 1)), np.array([[1], [0], [1]], np.int32), np.array([0, 3]), np.ones(1), 2, 1.0, True)
    >>> visit_of(History(visits_of(r), np.ones((2, 1)), np.ones((2, 1))), r).tolist()
    [1, 0, 1]
    """
    n = max(history.visits.n_contexts, 1)
    record = np.repeat(np.arange(rounds.n_rounds, dtype=np.int64), np.diff(rounds.offsets))
    key = record * n + rounds.parameter[:, 0] // rounds.n_experts
    return np.searchsorted(history.visits.record * n + history.visits.context, key)
