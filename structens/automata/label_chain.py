"""Label chains: the best labels of a sequence, and each label's probability, under scores of labels and of transitions.

A linear chain is the product of two automata: the sequence, a state between any two positions and a transition for each
label, weighted by position; and a small automaton of labels, which may have cycles, such as label bigrams or a scheme
of tags. That product is layered, so it is never built: Viterbi and forward-backward sweep over it in place. The results
are those of `shortest_path` and `flows` on `LabelChain.unrolled`.

Sources: Viterbi (1967); Rabiner, "A tutorial on hidden Markov models" (1989), section III; Mohri, "Semiring frameworks
and algorithms for shortest-distance problems" (2002).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from structens.automata.label_acceptor import LabelAcceptor
from structens.core import Automaton, AutomatonError, DataError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LabelChain:
    """An automaton of labels with log weights; each state knows the label that led to it.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_states + 1,)
        The transitions that leave state q are ``offsets[q]:offsets[q + 1]``.
    target, label : ndarray of int32, shape (n_transitions,)
    weight : ndarray of float64, shape (n_transitions,)
        Log weights, finite.
    final : ndarray of float64, shape (n_states,)
        Log weights of ending; minus infinity where a sequence must not end.
    before : ndarray of int32, shape (n_states,)
        Label of the transitions that lead to a state; `n_labels` for the start.
    n_labels : int
        The start is state 0.

    Examples
    --------
    >>> chain = LabelChain.bigrams(np.log([[0.9, 0.1], [0.1, 0.9], [0.5, 0.5]]))
    >>> score = np.log([[0.8, 0.2], [0.4, 0.6]])
    >>> chain.best(score, [0, 2]).tolist()
    [0, 0]
    >>> chain.marginals(score, [0, 2]).round(3).tolist()
    [[0.743, 0.257], [0.655, 0.345]]
    """

    offsets: NDArray[np.int64]
    target: NDArray[np.int32]
    label: NDArray[np.int32]
    weight: Floats
    final: Floats
    before: NDArray[np.int32]
    n_labels: int

    @classmethod
    def bigrams(cls, weight: ArrayLike, final: ArrayLike | None = None, acceptor: LabelAcceptor | None = None) -> Any:
        """The chain of label bigrams, if wanted only of the strings that an acceptor admits.

        Parameters
        ----------
        weight : array_like of float, shape (n_labels + 1, n_labels)
            Log weight of each label (column) after each (row); the last row is the start. Minus infinity forbids.
        final : array_like of float, shape (n_labels + 1,), optional
            Log weight of ending after each label, and of the empty sequence.
        acceptor : LabelAcceptor, optional

        Raises
        ------
        DataError
            If shapes do not fit, or a weight is NaN or plus infinity.

        Examples
        --------
        >>> never_twice = LabelAcceptor.forbidden([(0, 0)], n_labels=2)
        >>> chain = LabelChain.bigrams(np.zeros((3, 2)), acceptor=never_twice)
        >>> chain.best(np.log([[0.9, 0.1], [0.8, 0.2]]), [0, 2]).tolist()
        [0, 1]
        """
        table = np.asarray(weight, dtype=np.float64)
        n = table.shape[-1]
        end = np.zeros(n + 1) if final is None else np.asarray(final, dtype=np.float64)
        if table.shape != (n + 1, n) or end.shape != (n + 1,) or not ((table < np.inf).all() and (end < np.inf).all()):
            raise DataError(f"need weights of shape ({n + 1}, {n}), ends of shape ({n + 1},), none NaN or +inf")
        if acceptor is not None and acceptor.n_labels != n:
            raise DataError(f"the acceptor reads {acceptor.n_labels} labels, the table has {n}")
        known = {(n, 0 if acceptor is None else acceptor.start): 0}
        states = list(known)
        counts, target, label, weights, finals = [], [], [], [], []
        for a, q in states:  # grows while it is walked through
            degree = 0
            for b in np.flatnonzero(table[a] > -np.inf).tolist():
                r = q
                if acceptor is not None:
                    column = acceptor.column[b]
                    if not acceptor.allowed[q, column]:
                        continue
                    r = int(acceptor.follower[q, column])
                if (b, r) not in known:
                    known[b, r] = len(states)
                    states.append((b, r))
                degree += 1
                target.append(known[b, r])
                label.append(b)
                weights.append(table[a, b])
            counts.append(degree)
            finals.append(end[a] if acceptor is None or acceptor.is_final[q] else -np.inf)
        return cls(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.array(target, dtype=np.int32),
            np.array(label, dtype=np.int32),
            np.array(weights, dtype=np.float64),
            np.array(finals, dtype=np.float64),
            np.array([a for a, _ in states], dtype=np.int32),
            n,
        )

    def best(self, score: ArrayLike, offsets: ArrayLike) -> NDArray[np.int32]:
        """Labels of the path of greatest weight of each sequence, shape (positions,).

        Parameters
        ----------
        score : array_like of float, shape (positions, n_labels), or (positions, n_labels + 1, n_labels)
            Log weight of each label at each position; in the second shape, after each label before (the last row of a
            position is that after the start).
        offsets : array_like of int, shape (n_sequences + 1,)

        Returns
        -------
        ndarray of int32
            Of equal paths the one whose first differing transition comes first in its state.

        Raises
        ------
        AutomatonError
            If no path of finite weight fits a sequence; the message says which.
        DataError
            If shapes do not fit, or a score is NaN or plus infinity.
        """
        scores, ends = self._checked(score, offsets)
        out = np.empty(len(scores), dtype=np.int32)
        failed = _best(ends, scores, self.offsets, self.target, self.label, self.weight, (self.final, self.before), out)
        if failed >= 0:
            raise AutomatonError(f"no labels of finite weight fit sequence {failed}")
        return out

    def marginals(self, score: ArrayLike, offsets: ArrayLike) -> Floats:
        """Probability of each label at each position under the distribution over paths, shape (positions, n_labels).

        Parameters and errors are those of `best`.
        """
        scores, ends = self._checked(score, offsets)
        out = np.zeros((len(scores), self.n_labels))
        failed = _marginals(
            ends, scores, self.offsets, self.target, self.label, self.weight, (self.final, self.before), out
        )
        if failed >= 0:
            raise AutomatonError(f"no labels of finite weight fit sequence {failed}")
        return out

    def unrolled(self, score: ArrayLike) -> tuple[Automaton, Floats, Floats]:
        """The product with one sequence as an automaton, its costs, and its final costs (minus logs).

        Examples
        --------
        >>> from structens.automata.shortest_path import shortest_path
        >>> chain = LabelChain.bigrams(np.log([[0.9, 0.1], [0.1, 0.9], [0.5, 0.5]]))
        >>> automaton, cost, final = chain.unrolled(np.log([[0.8, 0.2], [0.4, 0.6]]))
        >>> automaton.label[shortest_path(automaton, cost, final)].tolist()
        [0, 0]
        """
        scores, _ = self._checked(score, [0, len(np.asarray(score))])
        length, n, source = len(scores), len(self.final), np.repeat(np.arange(len(self.final)), np.diff(self.offsets))
        layer = np.arange(length, dtype=np.int64)[:, None]
        rows = np.minimum(self.before[source], scores.shape[1] - 1)
        cost = -(scores[layer, rows, self.label] + self.weight)
        last = np.arange(length * n, (length + 1) * n)
        counts = np.concatenate([np.tile(np.diff(self.offsets), length), np.zeros(n, dtype=np.int64)])
        is_final = np.zeros((length + 1) * n, dtype=np.bool_)
        is_final[last] = self.final > -np.inf
        final = np.full((length + 1) * n, np.inf)
        final[last] = -self.final
        automaton = Automaton(
            offsets=np.concatenate([[0], np.cumsum(counts)]),
            target=(layer * n + n + self.target).ravel().astype(np.int32),
            label=np.tile(self.label, length),
            is_final=is_final,
        )
        return automaton, cost.ravel(), final

    def _checked(self, score: ArrayLike, offsets: ArrayLike) -> tuple[Floats, NDArray[np.int64]]:
        """Scores with a row for each label before, or one for all, and ends of sequences."""
        scores = np.ascontiguousarray(score, dtype=np.float64)
        ends = np.ascontiguousarray(offsets, dtype=np.int64)
        n = self.n_labels
        if scores.shape[1:] not in ((n,), (n + 1, n)) or len(ends) == 0 or ends[0] != 0 or ends[-1] != len(scores):
            raise DataError(
                f"need scores of shape (positions, {n}) or (positions, {n + 1}, {n}), and offsets from 0 to the number "
                f"of positions; got {scores.shape}"
            )
        if (np.diff(ends) < 0).any() or not (scores < np.inf).all():
            raise DataError("offsets must not decrease, and scores must be numbers below +inf")
        return scores.reshape(len(scores), 1 if scores.ndim == 2 else n + 1, n), ends


@njit(cache=True)
def _best(ends, score, offsets, target, label, weight, states, out):  # type: ignore[no-untyped-def]
    """Sweep from the end of each sequence, then follow the best transitions; the number of a sequence without any."""
    final, before = states
    n, many = len(final), score.shape[1] > 1
    longest = 0
    for i in range(len(ends) - 1):
        longest = max(longest, ends[i + 1] - ends[i])
    to_end = np.empty((longest + 1, n))
    for i in range(len(ends) - 1):
        first, length = ends[i], ends[i + 1] - ends[i]
        to_end[length] = final
        for k in range(length - 1, -1, -1):
            for q in range(n):
                row = before[q] if many else 0
                best = -np.inf
                for e in range(offsets[q], offsets[q + 1]):
                    best = max(best, score[first + k, row, label[e]] + weight[e] + to_end[k + 1, target[e]])
                to_end[k, q] = best
        if to_end[0, 0] == -np.inf:
            return i
        q = 0
        for k in range(length):
            row = before[q] if many else 0
            best, taken = -np.inf, -1
            for e in range(offsets[q], offsets[q + 1]):
                value = score[first + k, row, label[e]] + weight[e] + to_end[k + 1, target[e]]
                if value > best:
                    best, taken = value, e
            out[first + k] = label[taken]
            q = target[taken]
    return -1


@njit(cache=True)
def _marginals(ends, score, offsets, target, label, weight, states, out):  # type: ignore[no-untyped-def]
    """Log sums to the end, then probabilities pushed from the start; the number of a sequence without any path."""
    final, before = states
    n, many = len(final), score.shape[1] > 1
    longest = 0
    for i in range(len(ends) - 1):
        longest = max(longest, ends[i + 1] - ends[i])
    to_end = np.empty((longest + 1, n))
    here, there = np.empty(n), np.empty(n)
    for i in range(len(ends) - 1):
        first, length = ends[i], ends[i + 1] - ends[i]
        to_end[length] = final
        for k in range(length - 1, -1, -1):
            for q in range(n):
                row = before[q] if many else 0
                most = -np.inf
                for e in range(offsets[q], offsets[q + 1]):
                    most = max(most, score[first + k, row, label[e]] + weight[e] + to_end[k + 1, target[e]])
                total = 0.0
                if most > -np.inf:
                    for e in range(offsets[q], offsets[q + 1]):
                        total += np.exp(score[first + k, row, label[e]] + weight[e] + to_end[k + 1, target[e]] - most)
                    most += np.log(total)
                to_end[k, q] = most
        if to_end[0, 0] == -np.inf:
            return i
        here[:] = 0.0
        here[0] = 1.0
        for k in range(length):
            there[:] = 0.0
            for q in range(n):
                if here[q] == 0.0:
                    continue
                row = before[q] if many else 0
                for e in range(offsets[q], offsets[q + 1]):
                    value = score[first + k, row, label[e]] + weight[e] + to_end[k + 1, target[e]] - to_end[k, q]
                    flow = here[q] * np.exp(value)
                    there[target[e]] += flow
                    out[first + k, label[e]] += flow
            here[:] = there
    return -1
