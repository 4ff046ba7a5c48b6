"""LabelAcceptor: which strings of labels are admissible; deterministic, with or without cycles.

The restricting automaton A_adm of Cortes, Kuznetsov and Mohri (ICML 2014, appendix A). It is small and may have cycles,
so it is a table of its own rather than an `Automaton`. For a label that is refused the table tells where to go on, so
that a string without an admissible rival can be judged by the number of its violations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata.topological import connect
from structens.core import EPSILON, Automaton, AutomatonError, DataError

Gram = Sequence["int | None"]
"""Labels next to each other; None is the border, before the first label and after the last."""


@dataclass(frozen=True, eq=False)
class LabelAcceptor:
    """A deterministic acceptor of label strings.

    Parameters
    ----------
    column : ndarray of int32, shape (n_labels,)
        Column of each label; labels that behave alike share one.
    follower : ndarray of int32, shape (n_states, n_columns)
        State after a label, also after one that is refused.
    allowed : ndarray of bool, shape (n_states, n_columns)
        False where the label is refused.
    is_final : ndarray of bool, shape (n_states,)
    start : int

    Raises
    ------
    AutomatonError
        If the arrays do not fit.

    Examples
    --------
    >>> never_twice = LabelAcceptor.forbidden([(0, 0), (1, 1)], n_labels=3)
    >>> [never_twice.accepts(s) for s in ([0, 1, 0], [0, 0], [2, 2], [])]
    [True, False, True, True]
    """

    column: NDArray[np.int32]
    follower: NDArray[np.int32]
    allowed: NDArray[np.bool_]
    is_final: NDArray[np.bool_]
    start: int = 0

    def __post_init__(self) -> None:
        for name, dtype in (
            ("column", np.int32),
            ("follower", np.int32),
            ("allowed", np.bool_),
            ("is_final", np.bool_),
        ):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=dtype))
        n = len(self.is_final)
        if self.follower.shape != self.allowed.shape or self.follower.shape[:1] != (n,) or not 0 <= self.start < n:
            raise AutomatonError(f"tables of shape {self.follower.shape} and start {self.start} do not fit {n} states")
        bad = (self.follower < 0) | (self.follower >= n)
        if bad.any() or self.column.min(initial=0) < 0 or self.column.max(initial=-1) >= self.follower.shape[1]:
            raise AutomatonError(f"a state or a column of the acceptor is not one of {self.follower.shape}")

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.is_final)

    @property
    def n_labels(self) -> int:
        """Number of labels it can read."""
        return len(self.column)

    def violations(self, labels: Iterable[int]) -> int:
        """Labels that are refused, and one more if the string must not end where it does."""
        q, count = self.start, 0
        for label in labels:
            c = self.column[label]
            count += not self.allowed[q, c]
            q = int(self.follower[q, c])
        return count + (not self.is_final[q])

    def accepts(self, labels: Iterable[int]) -> bool:
        """True if the string is admissible."""
        return self.violations(labels) == 0

    def unrolled(self, length: int, labels: ArrayLike | None = None) -> Automaton:
        """The acyclic automaton of the admissible strings of at most that length, of these labels (default: all).

        Examples
        --------
        >>> LabelAcceptor.forbidden([(0, 0)], n_labels=2).unrolled(2).n_transitions
        5
        """
        used = np.arange(self.n_labels) if labels is None else np.unique(np.asarray(labels, dtype=np.int64))
        used = used[used >= 0]
        n = self.n_states
        q, k = np.nonzero(self.allowed[:, self.column[used]])  # by state, then by label
        target = self.follower[q, self.column[used][k]]
        steps = np.arange(length, dtype=np.int64)[:, None] * n
        layers = np.bincount(q, minlength=n)
        counts = np.concatenate([np.tile(layers, length), np.zeros(n, dtype=np.int64)])
        whole = Automaton(
            offsets=np.concatenate([[0], np.cumsum(counts)]),
            target=(steps + n + target).ravel().astype(np.int32),
            label=np.tile(used[k], length).astype(np.int32),
            is_final=np.tile(self.is_final, length + 1),
            start=self.start,
        )
        return connect(whole).automaton

    @classmethod
    def bigrams(cls, allowed: ArrayLike) -> LabelAcceptor:
        """Acceptor of a table of bigrams.

        Parameters
        ----------
        allowed : array_like of bool, shape (n_labels + 1, n_labels + 1)
            Row the label before, column the label after; the last row is the start, the last column the end.

        Examples
        --------
        >>> LabelAcceptor.bigrams([[0, 1, 1], [1, 0, 0], [1, 0, 1]]).accepts([0, 1, 0])
        True
        """
        table = np.asarray(allowed, dtype=np.bool_)
        n = len(table) - 1
        if table.shape != (n + 1, n + 1):
            raise DataError(f"a table of bigrams needs as many rows as columns; got shape {table.shape}")
        labels = np.arange(n, dtype=np.int32)
        return cls(labels, np.tile(labels, (n + 1, 1)), table[:, :n], table[:, n], n)

    @classmethod
    def forbidden(cls, grams: Iterable[Gram], n_labels: int) -> LabelAcceptor:
        """Acceptor of the strings in which none of the n-grams (of any lengths) occurs; Aho and Corasick (1975).

        Examples
        --------
        >>> not_first = LabelAcceptor.forbidden([(None, 1)], n_labels=2)
        >>> not_first.accepts([0, 1]), not_first.accepts([1, 0])
        (True, False)
        """
        listed, symbol, column = _symbols(grams, n_labels)
        trie: list[dict[int, int]] = [{}]
        matched = [False]
        for gram in listed:
            node = 0
            for s in (symbol[label] for label in gram):
                if s not in trie[node]:
                    trie[node][s] = len(trie)
                    trie.append({})
                    matched.append(False)
                node = trie[node][s]
            matched[node] = True
        size = max(symbol.values()) + 1
        go = np.zeros((len(trie), size), dtype=np.int32)
        queue: list[tuple[int, int]] = [(0, 0)]  # with the state of the longest proper suffix
        for node, suffix in queue:  # grows while it is walked through
            matched[node] = matched[node] or matched[suffix]
            for s in range(size):
                onward = 0 if node == 0 else int(go[suffix, s])
                go[node, s] = trie[node].get(s, onward)
                if s in trie[node]:
                    queue.append((trie[node][s], onward))
        refused = np.array(matched)[go]
        border = symbol[None]
        return cls(column, go, ~refused, ~refused[:, border], int(go[0, border]))

    @classmethod
    def allowed_only(cls, grams: Iterable[Gram], n_labels: int) -> LabelAcceptor:
        """Acceptor of the strings whose every n-gram is listed; all n-grams have one length.

        A shorter string must be a part of a listed one. The borders count as symbols if any n-gram holds None.

        Raises
        ------
        DataError
            If the n-grams differ in length, or none is given.

        Examples
        --------
        >>> alternating = LabelAcceptor.allowed_only([(0, 1), (1, 0)], n_labels=3)
        >>> [alternating.accepts(s) for s in ([0, 1, 0], [0, 0], [2], [1])]
        [True, False, False, True]
        """
        listed, symbol, column = _symbols(grams, n_labels)
        lengths = {len(gram) for gram in listed}
        if len(lengths) != 1:
            raise DataError(f"allowed n-grams must have one length; got lengths {sorted(lengths)}")
        n = lengths.pop()
        coded = [tuple(symbol[label] for label in gram) for gram in listed]
        parts = {gram[i:j] for gram in coded for i in range(n + 1) for j in range(i, n + 1)}
        border = symbol[None]
        bordered = any(border in gram for gram in coded)
        states: list[tuple[int, ...]] = [(border,) if bordered and n > 1 else ()]
        number = {states[0]: 0}
        follower: list[list[int]] = []
        allowed: list[list[bool]] = []
        size = max(symbol.values()) + 1
        for history in states:  # grows while it is walked through
            follower.append([])
            allowed.append([])
            for s in range(size):
                longer = (*history, s)
                allowed[-1].append(longer in parts)
                target = longer[max(0, len(longer) - n + 1) :]
                while target not in parts:
                    target = target[1:]
                if target not in number:
                    number[target] = len(states)
                    states.append(target)
                follower[-1].append(number[target])
        fits = np.array(allowed)
        is_final = fits[:, border] if bordered else np.ones(len(states), dtype=np.bool_)
        return cls(column, np.array(follower), fits, is_final)

    @classmethod
    def from_transitions(
        cls, transitions: Iterable[Sequence[int]], *, final: Iterable[int], n_labels: int, start: int = 0
    ) -> LabelAcceptor:
        """Acceptor of any finite automaton: (source, target, label), cycles and EPSILON allowed; made deterministic.

        Examples
        --------
        >>> grammar = LabelAcceptor.from_transitions([(0, 1, 0), (1, 0, 1)], final=[0], n_labels=2)
        >>> grammar.accepts([0, 1, 0, 1]), grammar.accepts([0, 1, 0])
        (True, False)
        """
        step: dict[tuple[int, int], set[int]] = {}
        into: dict[int, set[int]] = {}
        for source, target, label in ((int(row[0]), int(row[1]), int(row[2])) for row in transitions):
            if not (label == EPSILON or 0 <= label < n_labels):
                raise DataError(f"label {label} of a transition is none of {n_labels}")
            step.setdefault((source, label), set()).add(target)
            into.setdefault(label, set()).add(target)
        used = sorted(label for label in into if label != EPSILON)
        column = np.full(n_labels, len(used), dtype=np.int32)
        column[used] = np.arange(len(used))
        finals = set(final)
        states = [_closed({start}, step)]
        number = {states[0]: 0}
        follower: list[list[int]] = []
        allowed: list[list[bool]] = []
        for subset in states:  # grows while it is walked through
            follower.append([])
            allowed.append([])
            for label in used:
                reached = set().union(*(step.get((q, label), set()) for q in subset))
                allowed[-1].append(bool(reached))
                onward = _closed(reached or into[label], step)
                if onward not in number:
                    number[onward] = len(states)
                    states.append(onward)
                follower[-1].append(number[onward])
            follower[-1].append(number[subset])  # a label of no transition
            allowed[-1].append(False)
        return cls(column, np.array(follower), np.array(allowed), np.array([bool(s & finals) for s in states]))

    @classmethod
    def from_automaton(cls, automaton: Automaton, n_labels: int) -> LabelAcceptor:
        """Acceptor of an automaton's input labels.

        Examples
        --------
        >>> a = Automaton.from_transitions([(0, 1, 0), (0, 1, 1)], final=[1])
        >>> LabelAcceptor.from_automaton(a, 2).accepts([1])
        True
        """
        rows = np.stack([automaton.source, automaton.target, automaton.label], axis=1).tolist()
        final = np.flatnonzero(automaton.is_final).tolist()
        return cls.from_transitions(rows, final=final, n_labels=n_labels, start=automaton.start)


def _symbols(grams: Iterable[Gram], n_labels: int) -> tuple[list[Gram], dict[Any, int], NDArray[np.int32]]:
    """The n-grams, a symbol for each label in them, and the column of every label; border and others come last."""
    listed = [tuple(gram) for gram in grams]
    used = sorted({label for gram in listed for label in gram if label is not None})
    if used and not (used[0] >= 0 and used[-1] < n_labels):
        raise DataError(f"a label of an n-gram is none of {n_labels}: {used[0]} to {used[-1]}")
    if not all(listed):
        raise DataError("an n-gram holds at least one label")
    symbol: dict[Any, int] = {label: s for s, label in enumerate(used)}
    symbol[None] = len(used) + 1
    column = np.full(n_labels, len(used), dtype=np.int32)
    column[used] = np.arange(len(used))
    return list(listed), symbol, column


def _closed(states: set[int], step: dict[tuple[int, int], set[int]]) -> frozenset[int]:
    out, queue = set(states), list(states)
    while queue:
        for target in step.get((queue.pop(), EPSILON), set()) - out:
            out.add(target)
            queue.append(target)
    return frozenset(out)
