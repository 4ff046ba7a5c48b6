"""The most probable strings of an automaton, all paths of a string together: A* with determinisation on the fly.

A node of the search is a prefix; it carries the weighted subset of the states that the prefix leads to, as
determinisation would. Its bound is the sum over the subset of mass times V(q), where V(q) = max(final weight, max over
labels a of the sum over transitions e with label a of w(e) V(target of e)) is at least the probability of the best
string from q, and at most the backward probability of q. So the first string taken from the queue is the best one, the
second the second best. Prefixes whose subsets are equal up to a factor are one state of the determinised automaton:
what comes after them comes in the same order, so that of such prefixes only the first n to come out are extended. In
the worst case the number of states is exponential (the problem is NP-hard), hence the cap.

Sources: Mohri and Riley, "An efficient algorithm for the n-best-strings problem" (2002), for determinisation on the
fly; Gorman and Allauzen, "A* shortest string decoding for non-idempotent semirings" (2022), for A*. The bound is ours.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata.best_strings_kernels import Arcs, Queue, bounds_kernel, reweight_kernel, search_kernel
from structens.automata.epsilon import remove_epsilon
from structens.automata.label_acceptor import LabelAcceptor
from structens.automata.push import push_to_probabilities
from structens.automata.semiring import Semiring
from structens.automata.weighted import WeightedAutomaton
from structens.automata.weights import is_count
from structens.core import EPSILON, Automaton, DataError, ParameterError

MOST_EXPANSIONS = 10_000
"""Prefixes that a search may extend; some 20 ms."""


class BestStrings(NamedTuple):
    """Strings from the most probable on.

    Attributes
    ----------
    strings : list of list of int
        Without EPSILON; all different.
    probability : ndarray of float64, shape (len(strings),)
        Of the string, not of a path; never increasing.
    complete : bool
        False if the cap was reached: what was found is right, but there are more.
    """

    strings: list[list[int]]
    probability: NDArray[np.float64]
    complete: bool


def best_strings(
    automaton: Automaton,
    weight: ArrayLike,
    n: int = 1,
    final_weight: ArrayLike | None = None,
    semiring: Semiring = Semiring.LOG,
    *,
    acceptor: LabelAcceptor | None = None,
    max_expansions: int = MOST_EXPANSIONS,
) -> BestStrings:
    """The n most probable strings of the distribution over paths, or of a mixture of such distributions.

    Parameters
    ----------
    automaton : Automaton
        Input labels count.
    weight : array_like, shape (n_transitions,) or (n_distributions, n_transitions)
        Costs (LOG) or real weights (REAL), pushed here. Several rows are a mixture, each with the same share.
    n : int
    final_weight : array_like, shape (n_states,) or (n_distributions, n_states), or None
    semiring : Semiring
        LOG or REAL.
    acceptor : LabelAcceptor, optional
        Only strings that it accepts; their probabilities stay those of the unrestricted distribution.
    max_expansions : int

    Returns
    -------
    BestStrings
        Fewer than n strings if there are no more, or if the cap was reached.

    Raises
    ------
    AutomatonError
        If there is no accepting path with positive weight.
    DataError
        If the weights do not fit.
    ParameterError
        If n or max_expansions is less than 1, or the semiring is TROPICAL.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 7), (0, 1, 8)], final=[1])
    >>> best_strings(a, [0.3, 0.3, 0.4], n=2, semiring=Semiring.REAL)
    BestStrings(strings=[[7], [8]], probability=array([0.6, 0.4]), complete=True)
    """
    if not (is_count(n, 1) and is_count(max_expansions, 1)):
        raise ParameterError(f"n and max_expansions must be at least 1; got {n!r} and {max_expansions!r}")
    rows = np.atleast_2d(np.asarray(weight, dtype=np.float64))
    if final_weight is None or np.ndim(final_weight) == 1:
        finals: list[ArrayLike | None] = [final_weight] * len(rows)
    else:
        finals = list(np.asarray(final_weight, dtype=np.float64))
    if len(finals) != len(rows):
        raise DataError(f"need one row of final weights for each of {len(rows)} distributions; got {len(finals)}")
    parts = [_without_epsilon(automaton, row, final, semiring) for row, final in zip(rows, finals, strict=True)]
    names, network = _side_by_side(parts, automaton.label[automaton.label != EPSILON])
    found = search(network, n, reduced(acceptor, names), max_expansions)
    return BestStrings([names[text].tolist() for text in found.strings], found.probability, found.complete)


class Network(NamedTuple):
    """An automaton without EPSILON, for the search: labels are numbered from 0 as they first occur.

    Attributes
    ----------
    offsets, target, label
        As in `Automaton`; the transitions of a state are sorted by label.
    weight : ndarray of float64, shape (n_transitions,)
        Logarithms of probabilities.
    final : ndarray of float64, shape (n_states,)
        Logarithms.
    start : ndarray of int32, shape (n_starts,)
        Start states, each with the same share.
    """

    offsets: NDArray[np.int64]
    target: NDArray[np.int32]
    label: NDArray[np.int32]
    weight: NDArray[np.float64]
    final: NDArray[np.float64]
    start: NDArray[np.int32]


class Admissible(NamedTuple):
    """An acceptor in the labels of a network: state after a label, -1 where it is refused; final states; start."""

    follower: NDArray[np.int32]
    is_final: NDArray[np.bool_]
    start: int


def reduced(acceptor: LabelAcceptor | None, names: NDArray[Any]) -> Admissible:
    """The acceptor for these labels, of which label k is ``names[k]``; None accepts every string.

    Examples
    --------
    >>> reduced(LabelAcceptor.forbidden([(1, 1)], 3), np.array([2, 1])).follower.tolist()
    [[0, 1], [0, -1], [0, -1]]
    """
    if acceptor is None:
        return Admissible(np.zeros((1, len(names)), np.int32), np.ones(1, np.bool_), 0)
    column = acceptor.column[names]
    follower = np.where(acceptor.allowed[:, column], acceptor.follower[:, column], np.int32(-1))
    return Admissible(np.ascontiguousarray(follower, np.int32), acceptor.is_final, acceptor.start)


def search(network: Network, n: int, admissible: Admissible, max_expansions: int) -> BestStrings:
    """The n most probable strings of a network, in the network's labels; see `best_strings`.

    Examples
    --------
    >>> one = Network(np.array([0, 1, 1]), np.array([1], np.int32), np.array([0], np.int32), np.array([-0.5]),
    ...               np.array([-np.inf, 0.0]), np.array([0], np.int32))
    >>> search(one, 1, reduced(None, np.array([7])), 10).strings
    [[0]]
    """
    value = np.empty(len(network.final))
    bounds_kernel(network.offsets, network.target, network.label, network.weight, network.final, value)
    top = float(value[network.start].max(initial=-np.inf))
    if top == -np.inf:
        return BestStrings([], np.zeros(0), True)
    first, mass = network.start, np.exp(value[network.start] - top) / len(network.start)
    weight, final = np.empty(len(network.weight)), np.empty(len(network.final))
    reweight_kernel(network.offsets, network.target, network.weight, network.final, value, weight, final)
    most = 8 * max_expansions + n + 64
    n_labels = admissible.follower.shape[1]
    queue = Queue(
        np.empty((most, 7), np.int64), np.empty(most), np.empty(most, np.int64), np.empty(2 * most, np.int32),
        np.empty(2 * most), np.zeros((2, n_labels), np.int64), np.full(_table_size(max_expansions), -1, np.int64),
        np.zeros(3, np.int64),
    )  # fmt: skip
    ended, probability = np.empty(n, np.int64), np.empty(n)
    arcs = Arcs(network.offsets, network.target, network.label, weight, final)
    count, complete = search_kernel(arcs, first, mass, admissible, queue, max_expansions, ended, probability)
    strings = [_spelled(queue.node, int(node)) for node in ended[:count]]
    return BestStrings(strings, probability[:count] * math.exp(top), bool(complete))


def _table_size(max_expansions: int) -> int:
    """A power of two at least twice the number of states to be kept, and small where few are needed."""
    return 1 << (2 * max_expansions).bit_length()


def _spelled(node: NDArray[np.int64], last: int) -> list[int]:
    out = []
    while last > 0:
        out.append(int(node[last, 1]))
        last = int(node[last, 0])
    return out[::-1]


def _without_epsilon(
    automaton: Automaton, weight: NDArray[np.float64], final_weight: ArrayLike | None, semiring: Semiring
) -> WeightedAutomaton:
    probability, stop = push_to_probabilities(automaton, weight, final_weight, semiring, "best_strings")
    bare = Automaton(automaton.offsets, automaton.target, automaton.label, automaton.is_final, automaton.start)
    return remove_epsilon(WeightedAutomaton(bare, _costs(probability), _costs(stop)))


def _costs(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return -np.log(probability)


def _side_by_side(parts: list[WeightedAutomaton], original: NDArray[np.int32]) -> tuple[NDArray[np.int32], Network]:
    """The labels as they first occur in the original, and the parts as one network with several starts."""
    label = np.concatenate([part.automaton.label for part in parts])
    known, first = np.unique(original, return_index=True)
    by_place = np.argsort(first)
    rank, code = np.argsort(by_place), np.searchsorted(known, label)
    sizes = np.cumsum([0] + [part.automaton.n_states for part in parts])
    source = np.concatenate([p.automaton.source + shift for p, shift in zip(parts, sizes, strict=False)])
    target = np.concatenate([p.automaton.target + shift for p, shift in zip(parts, sizes, strict=False)])
    start = np.array([p.automaton.start + shift for p, shift in zip(parts, sizes, strict=False)], dtype=np.int32)
    place = rank[code]
    order = np.lexsort((place, source))
    counts = np.bincount(source, minlength=int(sizes[-1]))
    network = Network(
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        target=target[order].astype(np.int32),
        label=place[order].astype(np.int32),
        weight=-np.concatenate([np.asarray(part.weight) for part in parts])[order],
        final=-np.concatenate([np.asarray(part.final_weight) for part in parts]),
        start=start,
    )
    return known[by_place], network
