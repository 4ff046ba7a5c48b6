"""Tying: which transitions of different records share one learnt weight.

A context is a set of slots that share their weights; a path expert is a choice of one expert for each context, so the
loss stays additive and Hedge's bound holds with ln N = (number of contexts) x ln p. The papers know only "position"
(slot k, expert j) and pad sequences to one length; the other ways let sequences of any length learn from each other.

    "position"           slot number from the beginning
    "position-from-end"  slot number from the end, 0 the last
    "expert"             one context: one weight an expert
    "label"              one weight for each expert and label it proposes (GAP is a label here)
    a function           of the `Slots`, to one context id a slot (integers or strings), shape (n_slots,)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import ABSENT, GAP, Alphabet, DataError, ParameterError, Slots

Tie = str | Callable[[Slots], Any]

TIES = ("expert", "position", "position-from-end", "label")


@dataclass(frozen=True, eq=False)
class Tying:
    """The contexts met in learning, numbered; parameter ids are ``context * p + expert``.

    Parameters
    ----------
    tie : str or callable
    keys : ndarray, shape (n_contexts,), or list of str
        Sorted ids of the contexts; for "label" the labels that occurred, to which GAP comes as one more.
    n_experts : int

    Examples
    --------
    >>> s = Slots(np.zeros((3, 2), np.int32), np.array([0, 2, 3]), np.zeros((3, 2), int), ("a", "b"), Alphabet(("x",)),
    ...           np.zeros(3, np.int32), np.zeros(2, int))
    >>> t = Tying.learn(s, "position-from-end")
    >>> t.parameters(s).tolist(), t.n_contexts
    ([[2, 3], [0, 1], [0, 1]], 2)
    """

    tie: Tie
    keys: NDArray[Any] | list[str]
    n_experts: int

    @classmethod
    def learn(cls, slots: Slots, tie: Tie) -> Tying:
        """Number the contexts of these records.

        Raises
        ------
        ParameterError
            If there is no such way of tying.
        DataError
            If a user's function does not give one id a slot.
        """
        if tie == "label":
            used = np.unique(slots.labels)
            return cls(tie, slots.alphabet.decode(used[used >= 0]), slots.n_experts)
        return cls(tie, np.unique(_contexts(slots, tie)), slots.n_experts)

    @property
    def by_slot(self) -> bool:
        """True where all experts of a slot share its context; False for "label"."""
        return self.tie != "label"

    @property
    def n_contexts(self) -> int:
        """Number of contexts."""
        return len(self.keys) if self.by_slot else len(self.keys) + 1

    @property
    def n_parameters(self) -> int:
        """Number of learnt weights."""
        return self.n_contexts * self.n_experts

    def contexts(self, slots: Slots) -> NDArray[Any]:
        """Id of each slot's context, met in learning or not, shape (n_slots,); for "label" each slot has its own.

        Examples
        --------
        >>> s = Slots(np.zeros((2, 1), np.int32), np.array([0, 2]), np.zeros((2, 1), int), ("a",), Alphabet(("x",)),
        ...           np.zeros(2, np.int32), np.zeros(1, int))
        >>> Tying("expert", [0], 1).contexts(s).tolist(), Tying("label", ["x"], 1).contexts(s).tolist()
        ([0, 0], [0, 1])
        """
        return _contexts(slots, self.tie) if self.by_slot else np.arange(len(slots.labels))

    def parameters(self, slots: Slots) -> NDArray[np.int32]:
        """Parameter id of each transition, shape (n_slots, p); -1 in contexts that were not there in learning.

        Experts that are ABSENT keep the id of their context, except with "label", where they propose none: -1.
        """
        context = self._places(slots)
        out = context * self.n_experts + np.arange(self.n_experts, dtype=np.int32)
        return np.where(context < 0, np.int32(-1), out).astype(np.int32, copy=False)

    def _places(self, slots: Slots) -> NDArray[np.int32]:
        """Number of the context, shape (n_slots, 1), or (n_slots, p) for "label"; -1 where it is new."""
        if not self.by_slot:
            known = Alphabet(tuple(self.keys))
            size = len(slots.alphabet)
            table = np.append(slots.alphabet.codes_in(known), [len(known), -1]).astype(np.int32)
            code = np.where(slots.labels == GAP, size, slots.labels)
            return table[np.where(code == ABSENT, size + 1, code)]
        ids = _contexts(slots, self.tie)
        if len(self.keys) == 0:
            return np.full((len(ids), 1), -1, dtype=np.int32)
        keys = np.asarray(self.keys)
        place = np.minimum(np.searchsorted(keys, ids), len(keys) - 1)
        return np.where(keys[place] == ids, place, -1).astype(np.int32)[:, None]


def _contexts(slots: Slots, tie: Tie) -> NDArray[Any]:
    if callable(tie):
        ids = np.asarray(tie(slots))
        if ids.shape != (len(slots.labels),) or ids.dtype.kind not in "iubU":
            rule = f"a tie function must give one integer or string for each of {len(slots.labels)} slots"
            raise DataError(f"{rule}; got an array of shape {ids.shape} and type {ids.dtype}")
        return ids
    if tie == "expert":
        return np.zeros(len(slots.labels), dtype=np.int64)
    if tie == "position":
        return slots.position
    if tie == "position-from-end":
        return np.repeat(slots.lengths, slots.lengths) - 1 - slots.position
    raise ParameterError(f"tie must be one of {', '.join(TIES)} or a function of slots; got {tie!r}")
