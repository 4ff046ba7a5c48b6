"""Path experts of records that have automata of their own, tied: transitions of different records share a parameter.

The parameters are the transitions of an automaton, that of the path experts; those of a record's automaton say which
of them they are. So a path expert is a path in the one, and what it says of a record is what the record's transitions
of its parameters say: the slots may be counted from the start, from the end, or otherwise. ESPBoost, Cortes, Kuznetsov
and Mohri (ACL 2014), section 4.2, whose records all share one automaton.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.boosting.esp_automaton import AutomatonPaths, depths
from structens.core import ABSENT, GAP, Automaton, DataError, ParameterError

Record = tuple[Automaton, ArrayLike, ArrayLike]
"""Automaton, whose labels are what its transitions say; parameter of each transition; label codes of gold, (l,)."""


def paths_of_records(
    automaton: Automaton, records: Sequence[Record], *, unequal: str = "epsilon", slot: ArrayLike | None = None
) -> AutomatonPaths:
    """Path experts of an automaton on records with automata of their own.

    Parameters
    ----------
    automaton : Automaton
        Its transitions are the parameters.
    records : sequence of (Automaton, array_like of int, array_like of int)
        A record's automaton, the parameter of each of its transitions, and gold, one label code a slot (GAP where
        nothing is right). The slot of a transition is the depth of its source, and goes with the slot of its
        parameter; a parameter that no transition has gives no answer.
    unequal : {"epsilon", "abstain"}
        What a path says where it skips a slot of the record, see `AutomatonPaths`.
    slot : array_like of int, shape (n_states,), optional
        Slots of the states of `automaton`, as of `AutomatonPaths`.

    Returns
    -------
    AutomatonPaths
        Its cells are the slots of the records, in the order of `automaton`.

    Raises
    ------
    DataError
        If parameters, slots and gold do not fit together, or two transitions of one record have the same parameter.
    ParameterError
        If there is no such way with paths of unequal length.

    Examples
    --------
    Two experts, tied by position from the end: the record of one slot has the parameters 2 and 3 only.

    >>> shared = Automaton.from_transitions([(0, 1, 0), (0, 1, 1), (1, 2, 0), (1, 2, 1)], final=[2])
    >>> long = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 5), (1, 2, 6)], final=[2])
    >>> short = Automaton.from_transitions([(0, 1, 5), (0, 1, 6)], final=[1])
    >>> paths = paths_of_records(shared, [(long, [0, 1, 2, 3], [7, 6]), (short, [2, 3], [6])])
    >>> plus, minus = paths.masses(paths.weight)
    >>> path = paths.best(plus - minus, plus + minus)
    >>> path.tolist(), paths.margin(path).tolist()
    ([0, 3, 6], [1.0, 1.0, 1.0])
    """
    if unequal not in ("epsilon", "abstain"):
        raise ParameterError(f"unequal must be epsilon or abstain; got {unequal!r}")
    where = np.maximum(depths(automaton), 0) if slot is None else np.asarray(slot, dtype=np.int64)
    if where.shape != (automaton.n_states,) or not len(records):
        raise DataError(
            f"need a slot for each of {automaton.n_states} states, and a record; got {len(records)} records"
        )
    n_slots = int(where.max(initial=0))
    rho = np.zeros((len(records), automaton.n_transitions))
    silence, weight = (np.zeros((len(records), n_slots)) for _ in range(2))
    for i, (own, parameter, right) in enumerate(records):
        ids, gold = np.asarray(parameter, dtype=np.int64), np.asarray(right, dtype=np.int64)
        own_slot = depths(own)[own.source]
        place = _slots_of(i, ids, gold, where[automaton.source], own_slot)
        correct = own.label == gold[own_slot]
        rho[i, ids] = np.where(correct, 1.0, -1.0)
        rho[i, ids[own.label == ABSENT]] = 0.0
        weight[i, place] = 1.0
        if unequal == "epsilon":
            silence[i, place] = np.where(gold == GAP, 1.0, -1.0)
        else:
            rho[i, ids[own.label == GAP]] = 0.0
    return AutomatonPaths(automaton, rho, n_slots, slot=where, silence=silence, weight=weight)


def _slots_of(
    i: int,
    ids: NDArray[np.int64],
    gold: NDArray[np.int64],
    slot: NDArray[np.int64],
    own_slot: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The shared slot of each slot of a record."""
    if ids.shape != own_slot.shape or ((ids < 0) | (ids >= len(slot))).any():
        raise DataError(f"record {i}: need a parameter from 0 to {len(slot) - 1} for each of {len(own_slot)}")
    if len(np.unique(ids)) < len(ids):
        raise DataError(f"record {i}: two transitions have the same parameter; within a record tie slots, by SlotPaths")
    if gold.ndim != 1 or own_slot.min(initial=0) < 0 or own_slot.max(initial=-1) + 1 != len(gold):
        raise DataError(f"record {i}: need gold for each slot up to the last transition's; got shape {gold.shape}")
    place = np.full(len(gold), -1, dtype=np.int64)
    place[own_slot] = slot[ids]
    if (place[own_slot] != slot[ids]).any() or (place < 0).any() or len(np.unique(place)) < len(place):
        raise DataError(f"record {i}: transitions of one slot must have parameters of one slot, and no other's")
    return place
