"""Label n-grams: how likely a label is after those before it, by interpolated Witten-Bell smoothing.

    P(c | h) = (n(h c) + T(h) P(c | h')) / (n(h) + T(h))

with T(h) the number of different labels seen after h, and h' the history without its oldest label; below unigrams all
labels are equally likely. Labels are small numbers, a border of `order - 1` begins and one ends each sequence. What is
kept are probabilities of n-grams and back-off weights of histories, the columns of the ARPA format, in a hash table.

Decoders walk `structens.ensembles.ngram_tree`, whose states are few. As features of candidates these are better: with
the tree's Kneser-Ney instead, `BoostedPaths` made 1.2 % more errors on twelve files and combined up to twice as slowly.

Witten and Bell, "The zero-frequency problem" (IEEE Trans. IT 37, 1991); Chen and Goodman, "An empirical study of
smoothing techniques for language modeling" (1999), section 2.4.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.boosting.compiled import lean_entry, lean_inner

BITS = 9
"""Of a label in the number of an n-gram."""
MOST_ORDER = 6


class LabelNGram(NamedTuple):
    """A smoothed n-gram model of labels 0..n_labels - 1; `n_labels` is the border.

    Attributes
    ----------
    key, log_p : ndarrays of int64 and float64
        Open hash table: number of an n-gram plus its length, -1 where free, and its log probability.
    back_off : ndarray of float64
        log of T(h) / (n(h) + T(h)), where the entry is a history; 0 elsewhere.
    shape : ndarray of int64, (order, n_labels)
    """

    key: NDArray[np.int64]
    log_p: NDArray[np.float64]
    back_off: NDArray[np.float64]
    shape: NDArray[np.int64]

    @property
    def order(self) -> int:
        """Length of the longest n-gram."""
        return int(self.shape[0])


def learn_ngram(labels: NDArray[np.int64], offsets: NDArray[np.int64], n_labels: int, order: int) -> LabelNGram:
    """Learn from sequences.

    Parameters
    ----------
    labels : ndarray of int, shape (n,)
        0..n_labels - 1, all sequences in one array.
    offsets : ndarray of int64, shape (n_sequences + 1,)
    n_labels : int
    order : int
        1 to 6.

    Examples
    --------
    >>> model = learn_ngram(np.array([0, 1, 0, 1]), np.array([0, 2, 4]), 2, 2)
    >>> np.exp(log_probability(model, np.array([[0, 1], [1, 2], [1, 1]]))).round(3).tolist()
    [0.778, 0.778, 0.111]
    """
    values = _bordered(np.asarray(labels, np.int64), np.asarray(offsets, np.int64), n_labels, order)
    n = len(values)
    low = np.full(n_labels + 1, 1.0 / (n_labels + 1))  # below unigrams
    parts: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
    backs: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
    before_key, before_p = np.zeros(0, np.int64), low
    inside = np.zeros(n, bool)  # where a label, or the end of a sequence, is predicted
    inside[order - 1 :] = True
    starts = np.asarray(offsets[:-1]) + np.arange(len(offsets) - 1) * order
    for k in range(order - 1):
        inside[starts + k] = False
    at = np.flatnonzero(inside)
    gram = np.zeros(len(at), np.int64)
    for k in range(order):
        gram |= values[at - k] << np.int64(BITS * k)
        key, count = np.unique(gram, return_counts=True)
        history = key >> np.int64(BITS)
        context, place = np.unique(history, return_inverse=True)
        total = np.bincount(place, count)
        types = np.bincount(place).astype(np.float64)
        if k == 0:
            lower = low[key]
        else:
            lower = before_p[np.searchsorted(before_key, key & np.int64((1 << (BITS * k)) - 1))]
        p = (count + types[place] * lower) / (total + types)[place]
        parts.append((_tagged(key, k + 1), np.log(p)))
        backs.append((_tagged(context, k), np.log(types / (total + types))))
        before_key, before_p = key, p
    return _table(parts, backs, np.array([order, n_labels], np.int64))


def log_probability(model: LabelNGram, grams: NDArray[np.int64]) -> NDArray[np.float64]:
    """Natural log of the probability of the last label of each row after the others.

    Parameters
    ----------
    model : LabelNGram
    grams : ndarray of int, shape (n, k)
        Rows of at most `order` labels; n_labels is the border.
    """
    out = np.empty(len(grams))
    _score(model, np.ascontiguousarray(grams, np.int64), out)
    return out


def _tagged(key: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    return (key << np.int64(3)) | np.int64(length)


def _bordered(labels: NDArray[np.int64], offsets: NDArray[np.int64], n_labels: int, order: int) -> NDArray[np.int64]:
    """Sequences with order - 1 borders before and one after each."""
    n_sequences = len(offsets) - 1
    out = np.full(len(labels) + n_sequences * order, n_labels, np.int64)
    shift = np.repeat(np.arange(n_sequences) * order + order - 1, np.diff(offsets))
    out[np.arange(len(labels)) + shift] = labels
    return out


def _table(parts: list[Any], backs: list[Any], shape: NDArray[np.int64]) -> LabelNGram:
    keys = np.concatenate([key for key, _ in parts + backs])
    key, place = np.unique(keys, return_inverse=True)
    n_grams = sum(len(k) for k, _ in parts)
    log_p, back_off = np.full(len(key), -np.inf), np.zeros(len(key))
    log_p[place[:n_grams]] = np.concatenate([p for _, p in parts])
    back_off[place[n_grams:]] = np.concatenate([b for _, b in backs])
    return hashed(key, log_p, back_off, shape)


def hashed(
    key: NDArray[np.int64], log_p: NDArray[np.float64], back_off: NDArray[np.float64], shape: NDArray[np.int64]
) -> LabelNGram:
    """The model whose table holds these entries.

    Examples
    --------
    >>> model = learn_ngram(np.array([0, 1]), np.array([0, 2]), 2, 1)
    >>> used = np.flatnonzero(model.key >= 0)
    >>> again = hashed(model.key[used], model.log_p[used], model.back_off[used], model.shape)
    >>> log_probability(again, np.array([[1]])).round(3).tolist()
    [-1.099]
    """
    size = 1 << max(4, int(2 * len(key)).bit_length())
    table = LabelNGram(np.full(size, -1, np.int64), np.full(size, -np.inf), np.zeros(size), np.asarray(shape, np.int64))
    _insert(np.asarray(key, np.int64), np.asarray(log_p, np.float64), np.asarray(back_off, np.float64), table)
    return table


@lean_inner
def _slot_of(table, key):  # type: ignore[no-untyped-def]
    """Where a key is, or where it would be."""
    mask = np.int64(len(table) - 1)
    h = (key ^ (key >> np.int64(31))) & np.int64(0x7FFFFFFF)
    h = h * np.int64(2654435761)  # below 2^63: without the compiler an overflow is a warning
    h = (h ^ (h >> np.int64(29))) & mask
    while table[h] != key and table[h] != -1:
        h = (h + 1) & mask
    return h


@lean_entry
def _insert(key, log_p, back_off, table):  # type: ignore[no-untyped-def]
    for i in range(len(key)):
        h = _slot_of(table.key, key[i])
        table.key[h], table.log_p[h], table.back_off[h] = key[i], log_p[i], back_off[i]


@lean_inner
def _log_p(model, gram, length):  # type: ignore[no-untyped-def]
    """Of the last label of an n-gram of that length, written as a number."""
    key, log_p, back_off, shape = model
    total = 0.0
    while length > 0:
        h = _slot_of(key, (gram << np.int64(3)) | np.int64(length))
        if key[h] != -1 and log_p[h] > -np.inf:
            return total + log_p[h]
        history = ((gram >> np.int64(BITS)) << np.int64(3)) | np.int64(length - 1)
        h = _slot_of(key, history)
        if key[h] != -1:
            total += back_off[h]
        length -= 1
        gram &= (np.int64(1) << np.int64(BITS * length)) - 1
    return total - np.log(shape[1] + 1.0)


@lean_entry
def _score(model, grams, out):  # type: ignore[no-untyped-def]
    for i in range(len(grams)):
        gram = np.int64(0)
        for k in range(grams.shape[1]):
            gram = (gram << np.int64(BITS)) | grams[i, k]
        out[i] = _log_p(model, gram, grams.shape[1])
