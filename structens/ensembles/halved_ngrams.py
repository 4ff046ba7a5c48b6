"""Label n-grams learnt from guesses at the truth: two models, each from half of the records, for the other half.

A model that has read the guess at a record finds that guess likely, errors and all. So records are cut in two by a hash
of their ids, and each half is judged by the n-grams of the other; gold and plain text are in both. The hash is that of
the id alone: a record that comes again later meets the model that has not read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.core import Ragged
from structens.ensembles.ngram_tree import NGramTree, grow_ngrams
from structens.ensembles.slot_lattice import Candidates, Marginals, best_path, marginals, path_ngrams

MOST_UNITS = 200_000
"""Units that the choice of an order looks at: the first records that have so many."""


class Texts(NamedTuple):
    """What n-grams are learnt from.

    Attributes
    ----------
    guess : Ragged of int32, n rows
        A sequence of labels for each record.
    half : ndarray of int64, shape (n,)
        0 or 1.
    both : Ragged of int32
        Sequences that are right, for both halves.
    """

    guess: Ragged
    half: NDArray[np.int64]
    both: Ragged


def half_of(ids: Sequence[str | int], seed: int = 0) -> NDArray[np.int64]:
    """Half of each record, 0 or 1, by a hash of its id.

    Examples
    --------
    >>> half_of(["a", "b", "c", "d"]).tolist(), half_of(["d", "b"]).tolist()
    ([1, 0, 0, 0], [0, 0])
    """
    digests = (blake2b(f"{seed}:{i}".encode(), digest_size=1).digest() for i in ids)
    return np.array([digest[0] & 1 for digest in digests], np.int64)


def grow_halves(texts: Texts, n_labels: int, order: int) -> list[NGramTree]:
    """The n-grams for either half, learnt from the guesses at the other; none where the order is 0.

    Examples
    --------
    >>> texts = Texts(Ragged.of([[0], [1]]), np.array([0, 1]), Ragged.of([]))
    >>> [np.exp(path_ngrams(np.array([0, 1]), np.array([0], np.int32), t)).round(2).item()
    ...  for t in grow_halves(texts, 2, 1)]
    [0.1, 0.12]
    """
    if order < 1:
        return []
    return [
        grow_ngrams(joined(texts.guess[np.flatnonzero(texts.half != k)], texts.both), n_labels, order) for k in (0, 1)
    ]


def best_order(texts: Texts, n_labels: int, orders: Sequence[int]) -> int:
    """The order under which the one half finds the guesses at the other likeliest; 0 where that is no context at all.

    Examples
    --------
    >>> texts = Texts(Ragged.of([[0, 1, 2, 0, 1, 2]] * 8), np.arange(8) % 2, Ragged.of([]))
    >>> best_order(texts, 3, (1, 2)), best_order(texts._replace(half=np.zeros(8, int)), 3, (1, 2))
    (2, 0)
    """
    inside = np.flatnonzero(texts.guess.offsets[1:] <= MOST_UNITS)
    texts = texts._replace(guess=texts.guess[inside], half=texts.half[inside])
    found = []
    for order in orders:
        trees = grow_halves(texts, n_labels, order)
        total = 0.0
        for k in (0, 1):
            part = texts.guess[np.flatnonzero(texts.half == k)]
            total += float(path_ngrams(part.offsets, part.values, trees[k]).sum())
        found.append(total)
    one_sided = texts.half.min(initial=1) == texts.half.max(initial=0)
    best = int(orders[int(np.argmax(found))])
    return 0 if one_sided or best < 2 else best


def halved_marginals(
    candidates: Candidates, trees: Sequence[NGramTree], half: NDArray[np.int64], scale: float
) -> Marginals:
    """As `structens.ensembles.slot_lattice.marginals`, each record under the n-grams of its half.

    Examples
    --------
    >>> c = Candidates(np.array([0, 1]), np.array([[0, -1]], np.int32), np.log([[0.6, 0.2]]))
    >>> halved_marginals(c, [], np.array([1]), 1.0).probability.round(2).tolist()
    [[0.75, 0.25]]
    """
    if not trees:
        return marginals(candidates)
    n = len(candidates.offsets) - 1
    out = Marginals(np.zeros(candidates.score.shape), np.zeros(n), np.zeros(n))
    for k, tree in enumerate(trees):
        inside, rows, part = _part(candidates, half == k)
        found = marginals(part, tree, scale)
        out.probability[rows], out.log_total[inside], out.log_ngram[inside] = found
    return out


def halved_paths(
    candidates: Candidates, trees: Sequence[NGramTree], half: NDArray[np.int64], scale: float
) -> NDArray[np.int64]:
    """As `structens.ensembles.slot_lattice.best_path`, each record under the n-grams of its half.

    Examples
    --------
    >>> c = Candidates(np.array([0, 1]), np.array([[0, -1]], np.int32), np.log([[0.6, 0.2]]))
    >>> halved_paths(c, [], np.array([1]), 1.0).tolist()
    [0]
    """
    if not trees:
        return best_path(candidates)
    out = np.zeros(len(candidates.label), np.int64)
    for k, tree in enumerate(trees):
        _, rows, part = _part(candidates, half == k)
        out[rows] = best_path(part, tree, scale)
    return out


def joined(first: Ragged, second: Ragged) -> Ragged:
    """The rows of both.

    Examples
    --------
    >>> joined(Ragged.of([[1]]), Ragged.of([[], [2]])).to_list()
    [[1], [], [2]]
    """
    values = np.concatenate([first.values, second.values]).astype(np.int32)
    return Ragged.from_lengths(values, np.concatenate([first.lengths, second.lengths]))


def slots_of_records(
    offsets: NDArray[np.int64], inside: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of the slots of some records, and the offsets of these records among them.

    Examples
    --------
    >>> slots_of_records(np.array([0, 2, 3, 5]), np.array([0, 2]))
    (array([0, 1, 3, 4]), array([0, 2, 4]))
    """
    lengths = np.diff(offsets)[inside]
    cuts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return np.repeat(offsets[inside] - cuts[:-1], lengths) + np.arange(cuts[-1]), cuts


def _part(candidates: Candidates, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64], Candidates]:
    inside = np.flatnonzero(chosen)
    rows, offsets = slots_of_records(candidates.offsets, inside)
    return inside, rows, Candidates(offsets, candidates.label[rows], candidates.score[rows])
