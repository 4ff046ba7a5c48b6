"""Strings of a weighted slot network: their probabilities, the most probable ones, and their place in the slots.

The slots are independent: in each, a label has the share of the vote behind it, and GAP is the empty string. Where no
slot has a GAP, strings and sequences of labels are the same; with GAPs several sequences give one string, and its
probability is their sum (`structens.automata.best_strings`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.automata import LabelAcceptor
from structens.automata.best_strings import MOST_EXPANSIONS, BestStrings, Network, reduced, search
from structens.core import GAP, ParameterError

Text = tuple[int, ...]


class SlotNetwork(NamedTuple):
    """The slots of one record.

    Attributes
    ----------
    labels : ndarray of int32, shape (n_slots, p)
    share : ndarray of float64, shape (n_slots, p)
        From `structens.ensembles.vote.shares`: -1 where the label stands at another expert already, or is ABSENT.
    """

    labels: NDArray[np.int32]
    share: NDArray[np.float64]

    @property
    def n_sequences(self) -> float:
        """Number of sequences of labels and GAPs of positive probability."""
        return float((self.share > 0).sum(axis=1).astype(float).prod())


def best_slot_strings(
    network: SlotNetwork, n: int = 1, acceptor: LabelAcceptor | None = None, max_expansions: int = MOST_EXPANSIONS
) -> BestStrings:
    """The n most probable strings, in codes; parameters as in `structens.automata.best_strings`.

    Examples
    --------
    The string "5" has two alignments, of .42 and .12; no other string has more than one.

    >>> labels = np.array([[5, -1], [5, -1]], dtype=np.int32)
    >>> found = best_slot_strings(SlotNetwork(labels, np.array([[0.6, 0.4], [0.3, 0.7]])), 3)
    >>> found.strings, found.probability.round(2).tolist()
    ([[5], [], [5, 5]], [0.54, 0.28, 0.18])
    """
    if n < 1:
        raise ParameterError(f"n must be a number of strings >= 1; got {n}")
    said = network.labels[network.share > 0]
    names, first, code = np.unique(said[said != GAP], return_index=True, return_inverse=True)
    by_place = np.argsort(first)
    names = names[by_place]
    local = np.full(network.labels.shape, -1, dtype=np.int32)
    local[(network.share > 0) & (network.labels != GAP)] = np.argsort(by_place)[code]
    n_slots = len(local)
    offsets, final = np.zeros(n_slots + 2, dtype=np.int64), np.empty(n_slots + 1)
    _fill(local, network.labels, network.share, offsets, final, None)
    total = int(offsets[n_slots + 1])
    target, label, weight = np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total)
    _fill(local, network.labels, network.share, offsets, final, (target, label, weight))
    order = np.lexsort((target, label, np.repeat(np.arange(n_slots + 1), np.diff(offsets))))
    prepared = Network(offsets, target[order], label[order], weight[order], final, np.zeros(1, np.int32))
    found = search(prepared, n, reduced(acceptor, names), max_expansions)
    return found._replace(strings=[names[text].tolist() for text in found.strings])


def all_slot_strings(network: SlotNetwork) -> dict[Text, float]:
    """Probability of every string, by adding slot after slot; for networks with few of them.

    Examples
    --------
    >>> all_slot_strings(SlotNetwork(np.array([[5, -1]], np.int32), np.array([[0.75, 0.25]])))
    {(5,): 0.75, (): 0.25}
    """
    out: dict[Text, float] = {(): 1.0}
    for row, share in zip(network.labels.tolist(), network.share.tolist(), strict=True):
        longer: dict[Text, float] = {}
        for text, mass in out.items():
            for label, part in zip(row, share, strict=True):
                if part > 0:
                    key = text if label == GAP else (*text, label)
                    longer[key] = longer.get(key, 0.0) + mass * part
        out = longer
    return out


def string_probability(network: SlotNetwork, text: NDArray[np.int32]) -> float:
    """Probability of one string, in time slots times length.

    Examples
    --------
    >>> labels = np.array([[5, -1], [5, -1]], dtype=np.int32)
    >>> round(string_probability(SlotNetwork(labels, np.array([[0.6, 0.4], [0.4, 0.6]])), np.array([5], np.int32)), 2)
    0.52
    """
    return float(_probability(network.labels, network.share, np.asarray(text, dtype=np.int32)))


def admissible_mass(network: SlotNetwork, acceptor: LabelAcceptor) -> float:
    """Probability that a string drawn from the network is accepted.

    Examples
    --------
    >>> network = SlotNetwork(np.array([[0, 1]], np.int32), np.array([[0.75, 0.25]]))
    >>> admissible_mass(network, LabelAcceptor.forbidden([(1,)], 2))
    0.75
    """
    here = np.zeros(acceptor.n_states)
    here[acceptor.start] = 1.0
    tables = (acceptor.column, acceptor.follower, acceptor.allowed)
    _spread(network.labels, network.share, tables, here)
    return float(here[acceptor.is_final].sum())


def place(network: SlotNetwork, text: NDArray[np.int32]) -> NDArray[np.int32]:
    """For each slot an expert whose label there is the text's next one, or GAP: the most probable such sequence.

    Returns
    -------
    ndarray of int32, shape (n_slots,)
        All -1 if no sequence gives the text. Labels with a share of 0 count as nearly impossible.

    Examples
    --------
    >>> labels = np.array([[5, -1], [5, -1]], dtype=np.int32)
    >>> place(SlotNetwork(labels, np.array([[0.6, 0.4], [0.4, 0.6]])), np.array([5], np.int32)).tolist()
    [0, 1]
    """
    out = np.full(len(network.labels), -1, dtype=np.int32)
    value = np.empty((len(network.labels) + 1, len(text) + 1))
    _place(network.labels, network.share, np.asarray(text, dtype=np.int32), value, out)
    return out


_NEARLY_IMPOSSIBLE = 1e-30
_NEGLIGIBLE = 1e-18
"""Runs of GAPs less probable than this are left out of the search."""


@njit(cache=True)
def _fill(local, labels, share, offsets, final, arcs):  # type: ignore[no-untyped-def]
    """State k lies before slot k; from it every label that can come next, after a run of GAPs."""
    n = len(labels)
    count = 0
    for k in range(n + 1):
        offsets[k] = count
        run, s = 0.0, k
        while s < n and run > np.log(_NEGLIGIBLE):
            gap = -np.inf
            for j in range(labels.shape[1]):
                if share[s, j] > 0.0:
                    if labels[s, j] == GAP:
                        gap = np.log(share[s, j])
                    else:
                        if arcs is not None:
                            arcs[0][count], arcs[1][count] = s + 1, local[s, j]
                            arcs[2][count] = run + np.log(share[s, j])
                        count += 1
            run += gap
            s += 1
        final[k] = run if s == n else -np.inf
    offsets[n + 1] = count


@njit(cache=True)
def _probability(labels, share, text):  # type: ignore[no-untyped-def]
    m = len(text)
    mass = np.zeros(m + 1)
    mass[0] = 1.0
    for s in range(len(labels)):
        gap = 0.0
        for j in range(labels.shape[1]):
            if share[s, j] > 0.0 and labels[s, j] == GAP:
                gap = share[s, j]
        for i in range(m, -1, -1):
            step = 0.0
            if i > 0:
                for j in range(labels.shape[1]):
                    if share[s, j] > 0.0 and labels[s, j] == text[i - 1]:
                        step = share[s, j]
            mass[i] = mass[i] * gap + (mass[i - 1] * step if i > 0 else 0.0)
    return mass[m]


@njit(cache=True)
def _spread(labels, share, tables, here):  # type: ignore[no-untyped-def]
    column, follower, allowed = tables
    onward = np.zeros(len(here))
    for s in range(len(labels)):
        onward[:] = 0.0
        for j in range(labels.shape[1]):
            if share[s, j] <= 0.0:
                continue
            if labels[s, j] == GAP:
                for q in range(len(here)):
                    onward[q] += here[q] * share[s, j]
            else:
                c = column[labels[s, j]]
                for q in range(len(here)):
                    if allowed[q, c]:
                        onward[follower[q, c]] += here[q] * share[s, j]
        here[:] = onward


@njit(cache=True)
def _place(labels, share, text, value, out):  # type: ignore[no-untyped-def]
    n, m = len(labels), len(text)
    value[n, :] = -np.inf
    value[n, m] = 0.0
    for s in range(n - 1, -1, -1):
        value[s, :] = -np.inf
        for j in range(labels.shape[1]):
            if share[s, j] >= 0.0:
                own = np.log(max(share[s, j], _NEARLY_IMPOSSIBLE))
                for i in range(m + 1):
                    if labels[s, j] == GAP:
                        value[s, i] = max(value[s, i], own + value[s + 1, i])
                    elif i < m and labels[s, j] == text[i]:
                        value[s, i] = max(value[s, i], own + value[s + 1, i + 1])
    if value[0, 0] == -np.inf:
        return
    i = 0
    for s in range(n):
        for j in range(labels.shape[1]):
            if share[s, j] >= 0.0:
                own = np.log(max(share[s, j], _NEARLY_IMPOSSIBLE))
                step = 0 if labels[s, j] == GAP else 1
                fits = step == 0 or (i < m and labels[s, j] == text[i])
                if fits and own + value[s + 1, i + step] == value[s, i]:
                    out[s] = j
                    i += step
                    break
