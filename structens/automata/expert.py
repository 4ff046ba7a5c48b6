"""The path-expert automaton of one record: Figure 1 of the 2014 paper.

States stand between the slots; from the state before a slot to the one after it there is one transition for each expert
that answered. A path picks one expert in each slot.

Source: Cortes, Kuznetsov and Mohri, "Ensemble methods for structured prediction" (2014), figure 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.core import ABSENT, EPSILON, GAP, Automaton, DataError, Slots


class ExpertAutomaton(NamedTuple):
    """The automaton of a record, and where its transitions come from.

    Attributes
    ----------
    automaton : Automaton
        State k lies before slot k; the last state is final. An expert's GAP is an EPSILON transition.
    expert : ndarray of int32, shape (n_transitions,)
        Number of the expert, rising within a slot.
    slot : ndarray of int64, shape (n_transitions,)
        Place of the slot in its record, from 0.
    """

    automaton: Automaton
    expert: NDArray[np.int32]
    slot: NDArray[np.int64]


def expert_automaton(slots: Slots, record: int) -> ExpertAutomaton:
    """Build the automaton of one record; experts that are ABSENT have no transitions.

    Parameters
    ----------
    slots : Slots
    record : int
        Number of the record.

    Returns
    -------
    ExpertAutomaton
        A record without slots has one state, start and final, and the empty path.

    Raises
    ------
    DataError
        If the record is not there, or no expert answers in one of its slots.

    References
    ----------
    Cortes, Kuznetsov and Mohri (2014), figure 1.

    Examples
    --------
    >>> from structens.core import Alphabet, UNKNOWN
    >>> labels = np.array([[0, 1], [GAP, 1]], dtype=np.int32)
    >>> s = Slots(labels, np.array([0, 2]), np.zeros((2, 2), int), ("a", "b"), Alphabet(("x", "y")),
    ...           np.full(2, UNKNOWN, np.int32), np.zeros(1, int))
    >>> made = expert_automaton(s, 0)
    >>> made.automaton.label.tolist(), made.expert.tolist(), made.slot.tolist()
    ([0, 1, -1, 1], [0, 1, 0, 1], [0, 0, 1, 1])
    """
    if not 0 <= record < len(slots):
        raise DataError(f"there is no record number {record}; there are {len(slots)}")
    labels = slots.labels[slots.offsets[record] : slots.offsets[record + 1]]
    slot, expert = np.nonzero(labels != ABSENT)
    counts = np.bincount(slot, minlength=len(labels))
    if len(labels) and counts.min() == 0:
        raise DataError(
            f"slot {int(counts.argmin())} has no answer of any expert", record=record, hint="leave such a slot out"
        )
    label = labels[slot, expert]
    is_final = np.zeros(len(labels) + 1, dtype=np.bool_)
    is_final[-1] = True
    automaton = Automaton(
        offsets=np.concatenate([[0], np.cumsum(counts), [len(slot)]]),
        target=(slot + 1).astype(np.int32),
        label=np.where(label == GAP, EPSILON, label),
        is_final=is_final,
    )
    return ExpertAutomaton(automaton, expert.astype(np.int32), slot.astype(np.int64))
