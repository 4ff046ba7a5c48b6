"""Admissible paths of records on slots: which transitions lie on one, and the distribution over nothing but these.

Cortes, Kuznetsov and Mohri (ICML 2014), appendix A and figure 2: the automaton of a record says what its experts say,
and is intersected with the acceptor, every transition keeping its expert. Slots of one context that follow each other
are one *run*: a path expert keeps its expert there, so that a run is one step of p transitions, each of which writes
its expert's labels in all of the run's slots. With tie "expert" a record is one run, and a path is an expert's own
answer; with "position" every slot is a run. Where a context comes back in the same record after another one, the
automaton lets a path choose anew: this is the one place where it has more paths than there are path experts.

The acceptor is deterministic, so every admissible path comes once. Time is linear in slots x experts x states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata import LabelAcceptor
from structens.core import ABSENT, Slots
from structens.online.admissible_kernels import paths_kernel, survivors_kernel


class Survivors(NamedTuple):
    """What the acceptor leaves of records.

    Attributes
    ----------
    there : ndarray of bool, shape (n_slots, p)
        Transitions judged that were in the game when the record came.
    live : ndarray of bool, shape (n_slots, p)
        Those of them that lie on an admissible path.
    after : ndarray of bool, shape (n_slots, p)
        Transitions in the game after the record, judged in it or not.
    possible : ndarray of bool, shape (n_records,)
        The record has an admissible path.
    failed : int
        Record after which a context has nobody left, where judging ended; -1 if there is none.
    """

    there: NDArray[np.bool_]
    live: NDArray[np.bool_]
    after: NDArray[np.bool_]
    possible: NDArray[np.bool_]
    failed: int


@dataclass(frozen=True, eq=False)
class AdmissiblePaths:
    """The runs of records and the acceptor that judges what is said in them.

    Parameters
    ----------
    labels : ndarray of int32, shape (n_slots, p)
    run_offsets : ndarray of int64, shape (n_records + 1,)
        Record i has runs ``run_offsets[i]:run_offsets[i + 1]``.
    runs : ndarray of int64, shape (n_runs + 1,)
        First slot of each run, and the number of slots.
    acceptor : LabelAcceptor

    Examples
    --------
    Experts say x x and y y; no label may come twice.

    >>> from structens.core import Alphabet
    >>> s = Slots(np.array([[0, 1], [0, 1]], np.int32), np.array([0, 2]), np.zeros((2, 2), int), ("a", "b"),
    ...           Alphabet(("x", "y")), np.zeros(2, np.int32), np.zeros(1, int))
    >>> paths = AdmissiblePaths.of(s, LabelAcceptor.forbidden([(0, 0), (1, 1)], 2))
    >>> weights = np.array([[0.5, 0.5], [0.8, 0.2]])
    >>> paths.flows(weights, paths.present).round(6).tolist()
    [[0.2, 0.8], [0.8, 0.2]]
    """

    labels: NDArray[np.int32]
    run_offsets: NDArray[np.int64]
    runs: NDArray[np.int64]
    acceptor: LabelAcceptor

    @classmethod
    def of(cls, slots: Slots, acceptor: LabelAcceptor, context: ArrayLike | None = None) -> AdmissiblePaths:
        """Cut records into runs.

        Parameters
        ----------
        slots : Slots
        acceptor : LabelAcceptor
            Of the codes of ``slots.alphabet``.
        context : array_like, shape (n_slots,), optional
            Id of the context of each slot; default: each slot has its own.
        """
        n = len(slots.labels)
        begins = np.ones(n, dtype=np.bool_)
        if context is not None:
            ids = np.asarray(context)
            begins[1:] = ids[1:] != ids[:-1]
        begins[slots.offsets[:-1][slots.lengths > 0]] = True
        runs = np.append(np.flatnonzero(begins), n).astype(np.int64)
        return cls(np.ascontiguousarray(slots.labels), np.searchsorted(runs, slots.offsets), runs, acceptor)

    def __len__(self) -> int:
        return len(self.run_offsets) - 1

    @property
    def offsets(self) -> NDArray[np.int64]:
        """First slot of each record, and the number of slots."""
        return self.runs[self.run_offsets]

    @property
    def present(self) -> NDArray[np.bool_]:
        """Experts with an answer, shape (n_slots, p)."""
        out: NDArray[np.bool_] = self.labels != ABSENT
        return out

    @property
    def whole(self) -> bool:
        """True where no record has more than one run: a path is an expert's own answer."""
        return int(np.diff(self.run_offsets).max(initial=0)) <= 1

    def tail(self, record: int) -> AdmissiblePaths:
        """The records from that one on."""
        first = int(self.run_offsets[record])
        slot = int(self.runs[first])
        return AdmissiblePaths(
            self.labels[slot:], self.run_offsets[record:] - first, self.runs[first:] - slot, self.acceptor
        )

    def survivors(
        self, present: NDArray[np.bool_], context: NDArray[Any], alive: NDArray[np.bool_] | None = None
    ) -> Survivors:
        """Which transitions lie on an admissible path of their record.

        Parameters
        ----------
        present : ndarray of bool, shape (n_slots, p)
            Transitions that are judged; none of an absent expert.
        context : ndarray of int, shape (n_slots,)
            Number of the context of each slot.
        alive : ndarray of bool, shape (n_contexts, p), optional
            Changed in place: a transition that lies on no admissible path of a record leaves the game for good, and
            the records that follow are judged without it.
        """
        there, live, after = np.zeros((3, *self.labels.shape), np.bool_)
        possible = np.zeros(len(self), np.bool_)
        gone = np.zeros((0, self.labels.shape[1]), np.bool_) if alive is None else alive
        reach, onward = self._scratch()
        numbers = np.ascontiguousarray(context, dtype=np.int64)
        cuts, scratch = (self.run_offsets, self.runs), (reach, np.zeros_like(reach), onward)
        out = (there, live, after, possible)
        failed = survivors_kernel(self.labels, present, numbers, cuts, self._tables, scratch, gone, out)
        return Survivors(there, live, after, possible, int(failed))

    def flows(self, weights: NDArray[np.float64], there: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Probability of each transition, a path's being proportional to the product of its transitions' weights.

        A record without an admissible path keeps its weights; where nobody is there, all who answer get equal ones.

        Parameters
        ----------
        weights : ndarray of float64, shape (n_slots, p)
            Finite, >= 0, up to a factor a slot; of a run its first slot's count.
        there : ndarray of bool, shape (n_slots, p)
            Transitions that paths may take; none of an absent expert.

        Returns
        -------
        ndarray of float64, shape (n_slots, p)
            Rows sum to 1, or to 0 where nobody answers.
        """
        return self._run(weights, there, np.zeros(0))

    def drawn(
        self, weights: NDArray[np.float64], there: NDArray[np.bool_], choice: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """1 on the transitions of one path, drawn from the distribution of `flows`; `choice`, in [0, 1), is the lot."""
        return self._run(weights, there, np.ascontiguousarray(choice))

    def _run(
        self, weights: NDArray[np.float64], there: NDArray[np.bool_], choice: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        out = np.zeros(self.labels.shape)
        reach, onward = self._scratch()
        part = np.zeros((len(reach), self.labels.shape[1]))
        scratch = (reach, onward, np.zeros(reach.shape), np.zeros(reach.shape), part)
        labels, cuts = np.ascontiguousarray(self.labels), (self.run_offsets, self.runs)
        paths_kernel(
            labels, np.ascontiguousarray(weights), np.ascontiguousarray(there), cuts, self._tables, scratch, choice, out
        )
        return out

    @property
    def _tables(self) -> tuple[Any, ...]:
        a = self.acceptor
        return (a.column, a.follower, a.allowed, a.is_final, np.int64(a.start))

    def _scratch(self) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
        longest = int(np.diff(self.run_offsets).max(initial=0)) + 1
        n_states = self.acceptor.n_states
        shape = (longest, n_states, self.labels.shape[1])
        return np.zeros((longest, n_states), np.bool_), np.zeros(shape, np.int32)
