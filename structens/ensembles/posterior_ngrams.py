"""Posteriors of slots decoded together with label n-grams on the path automaton, whose weight is learnt.

The model of candidates knows of n-grams only what the labels around probably are. Here whole paths are scored: the sum
of the log posteriors of their candidates and, times a scale, of the n-gram model's log probabilities. Posteriors become
the marginals of that distribution over paths, "viterbi" its best path. The scale is that of the greatest likelihood of
gold on held-out posteriors, with n-grams of the other folds; it is 0 where they add nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from structens.core import ABSENT, GAP, Ragged
from structens.ensembles.ngram_tree import NGramTree, grow_ngrams
from structens.ensembles.slot_lattice import Candidates, best_path, marginals
from structens.ensembles.slot_posteriors import Posteriors

Ints = NDArray[np.int64]

SCALES = (0.0, 0.05, 0.1, 0.2, 0.4)
LEAST_GAIN = 2.0
"""Nats that a scale must gain over none."""
LEAST_POSTERIOR = 1e-9


def trees_without(right: Ragged, text: Ragged, fold: Ints, n_folds: int, n_labels: int, order: int) -> list[NGramTree]:
    """N-gram models of all records but those of each fold, and one of all, last.

    Parameters
    ----------
    right : Ragged of int
        Classes of gold.
    text : Ragged of int
        Further right sequences, in every model.
    fold : ndarray of int64, shape (n_records,)
    n_folds, n_labels, order : int
    """
    out = []
    for k in range(n_folds + 1):
        part = right[np.flatnonzero(fold != k)]
        values = np.concatenate([part.values, text.values]).astype(np.int32)
        out.append(
            grow_ngrams(Ragged.from_lengths(values, np.concatenate([part.lengths, text.lengths])), n_labels, order)
        )
    return out


def with_ngrams(
    found: Posteriors, table: Ints, offsets: Ints, tree: NGramTree, scale: float, *, path: bool = False
) -> Posteriors:
    """Marginals of the candidates over paths, and the best path, if it is asked for.

    Parameters
    ----------
    found : Posteriors
    table : ndarray of int64
        Class of each code; the last entry is for GAP.
    offsets : ndarray of int64, shape (n_records + 1,)
    tree : NGramTree
        Of classes.
    scale : float
    path : bool
    """
    label = np.where(found.label >= 0, table[np.maximum(found.label, 0)], found.label).astype(np.int32)
    label[(label == ABSENT).all(axis=1), 0] = GAP  # nobody is there
    score = np.where(label == ABSENT, -np.inf, np.log(np.maximum(found.probability, LEAST_POSTERIOR)))
    lattice = Candidates(offsets, label, score)
    column = best_path(lattice, tree, scale) if path else None
    if scale == 0.0:
        return found._replace(path=column)
    return Posteriors(found.label, marginals(lattice, tree, scale).probability, column)


def learn_scale(
    found: Posteriors, gold: NDArray[np.int32], table: Ints, offsets: Ints, fold: Ints, trees: Sequence[NGramTree]
) -> float:
    """The scale of greatest likelihood.

    Parameters
    ----------
    found : Posteriors
        Held out.
    gold : ndarray of int32, shape (n_slots,)
    table, offsets
        As for `with_ngrams`.
    fold : ndarray of int64, shape (n_records,)
    trees : sequence of NGramTree
        The k-th has not seen fold k.
    """
    total = np.zeros(len(SCALES))
    lengths = np.diff(offsets)
    fold_of_slot = np.repeat(fold, lengths)
    for k in range(int(fold.max()) + 1):
        rows = np.flatnonzero(fold_of_slot == k)
        part = Posteriors(found.label[rows], found.probability[rows])
        cuts = np.concatenate([[0], np.cumsum(lengths[fold == k])]).astype(np.int64)
        right = part.label == gold[rows, None]
        known = right.any(axis=1)
        for i, scale in enumerate(SCALES):
            p = with_ngrams(part, table, cuts, trees[k], scale).probability
            total[i] += np.log(np.maximum((p * right).sum(axis=1)[known], LEAST_POSTERIOR)).sum()
    best = int(total.argmax())
    return SCALES[best] if total[best] > total[0] + LEAST_GAIN else 0.0


def held_out_ngrams(
    found: Posteriors, table: Ints, offsets: Ints, fold: Ints, trees: Sequence[NGramTree], scale: float
) -> Posteriors:
    """Held-out posteriors with the n-grams that have not seen their records."""
    if scale == 0.0:
        return found
    out = found.probability.copy()
    lengths = np.diff(offsets)
    fold_of_slot = np.repeat(fold, lengths)
    for k in range(int(fold.max()) + 1):
        rows = np.flatnonzero(fold_of_slot == k)
        cuts = np.concatenate([[0], np.cumsum(lengths[fold == k])]).astype(np.int64)
        part = Posteriors(found.label[rows], found.probability[rows])
        out[rows] = with_ngrams(part, table, cuts, trees[k], scale).probability
    return found._replace(probability=out)
