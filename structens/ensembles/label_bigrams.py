"""Label bigrams of tagged sequences, smoothed, and the chain that decodes with them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structens.automata.label_acceptor import LabelAcceptor
from structens.automata.label_chain import LabelChain
from structens.core import Estimator, Ragged

Floats = NDArray[np.float64]


class LabelBigrams(Estimator):
    """How much likelier a label becomes after another: log P(b | a) - log P(b), a the label before.

    P(b | a) is interpolated with P(b) by the number of different labels seen after a: Witten and Bell, "The zero
    frequency problem" (IEEE Transactions on Information Theory 37, 1991). The end counts as a label to come, the start
    as one before. Added to log posteriors log P(b | x) these ratios give the log likelihood of the hybrid hidden Markov
    model, up to a constant of the sequence: Bourlard and Morgan (1994).

    Attributes
    ----------
    ratio_ : ndarray of float64, shape (n_labels + 1, n_labels + 1)
        Row: the label before, last the start. Column: the label after, last the end.

    Examples
    --------
    >>> LabelBigrams().fit(Ragged.of([[0, 1], [0, 1, 1]]), 2).ratio_.round(2).tolist()
    [[-1.1, 0.69, -1.1], [-0.92, -0.11, 0.55], [0.94, -1.1, -1.1]]
    """

    ratio_: Floats

    def fit(self, labels: Ragged, n_labels: int) -> LabelBigrams:
        """Count; `labels` are codes from 0 to n_labels - 1."""
        n = n_labels + 1
        owner, codes = labels.rows, labels.values.astype(np.int64)
        first = np.concatenate([[True], owner[1:] != owner[:-1]]) if len(owner) else np.zeros(0, dtype=np.bool_)
        before = np.where(first, n_labels, np.roll(codes, 1))
        counts = np.zeros((n, n))
        np.add.at(counts, (before, codes), 1.0)
        last = codes[np.roll(first, -1)]
        np.add.at(counts, (last, np.full(len(last), n_labels)), 1.0)
        unigram = counts.sum(axis=0) + 1.0  # no label is impossible
        unigram /= unigram.sum()
        seen, kinds = counts.sum(axis=1, keepdims=True), np.maximum((counts > 0).sum(axis=1, keepdims=True), 1)
        self.ratio_ = np.log((counts + kinds * unigram) / (seen + kinds)) - np.log(unigram)
        return self

    def chain(self, weight: float, acceptor: LabelAcceptor | None = None) -> LabelChain:
        """The chain whose transitions have these ratios times a weight; weight 0 only keeps the acceptor."""
        n = len(self.ratio_) - 1
        chain: LabelChain = LabelChain.bigrams(weight * self.ratio_[:, :n], weight * self.ratio_[:, n], acceptor)
        return chain
