"""PosteriorEnsemble: base of the ensembles that give each slot a distribution over labels, proposed or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.boosting.compiled import lean_entry
from structens.core import ABSENT, GAP, Alphabet, ExpertPredictions, Slots
from structens.ensembles.base import Combined, Ensemble, _collect
from structens.ensembles.decoding import Weighted, decode_slots, invalid_tags
from structens.ensembles.n_best import n_best_answers
from structens.ensembles.restriction import compile_restriction
from structens.ensembles.vote import TIE_TOLERANCE, Votes


class Posteriors(NamedTuple):
    """Distributions over the labels of slots.

    Attributes
    ----------
    label : ndarray of int32, shape (n_slots, K)
        Codes or GAP, distinct in a slot; ABSENT where there are fewer than K.
    probability : ndarray of float64, shape (n_slots, K)
    path : ndarray of int64, shape (n_slots,), or None
        Column taken by the most probable path, where it is asked for.
    """

    label: NDArray[np.int32]
    probability: NDArray[np.float64]
    path: NDArray[np.int64] | None = None


class PosteriorEnsemble(Ensemble):
    """Base of the generative ensembles.

    A subclass gives the distributions (`_posteriors`). An answer may hold labels that no expert proposed; such a unit
    has no supporters. Decoder "marginal" takes the likeliest label of each slot, "viterbi" the most probable path under
    the label n-grams. Other decoders, restrictions and n-best lists choose among the labels proposed, by their
    probabilities slot by slot.
    """

    labels_: Sequence[str]

    def combine(self, X: Any, *, n_best: int = 0) -> Combined:
        """Combine records; see `Ensemble.combine`."""
        self._check_fitted()
        X = self._recoded(ExpertPredictions.of(X).reindex(self.names_))
        return self._decided(self._slots(X), X, n_best)

    def weighted_slots(self, X: Any) -> tuple[Slots, NDArray[np.float64]]:
        """The slots of records and the probability of each label proposed; see `Ensemble.weighted_slots`."""
        self._check_fitted()
        X = self._recoded(ExpertPredictions.of(X).reindex(self.names_))
        slots = self._slots(X)
        return slots, self._weights(slots, X)

    def _recoded(self, X: ExpertPredictions) -> ExpertPredictions:
        """The records in the codes of the labels learnt, and further ones for new labels."""
        return X.recode(Alphabet.of((*self.labels_, *X.alphabet.labels)))

    def _posteriors(self, slots: Slots, X: ExpertPredictions) -> Posteriors:
        raise NotImplementedError

    def _weights(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64]:
        return np.maximum(shares_of(slots.labels, self._posteriors(slots, X)), 0.0)

    def _decided(self, slots: Slots, X: ExpertPredictions, n_best: int) -> Combined:
        known = set(self.labels_) if getattr(X, "surface", None) is not None else None
        found = self._posteriors(slots, X)
        votes = votes_of(slots.labels, found, by_path=self.decode == "viterbi")
        notes, listed = list(self._notes(slots)), None
        if self.decode not in ("marginal", "viterbi") or self.restriction is not None or n_best or known is not None:
            share = shares_of(slots.labels, found)
            weighted = Weighted(slots, np.maximum(share, 0.0), share, votes, X.ids, self.seed)
            acceptor = None if self.restriction is None else compile_restriction(self.restriction, X.alphabet)
            if self.decode not in ("marginal", "viterbi") or acceptor is not None:
                decode = "marginal" if self.decode == "viterbi" else self.decode
                votes, more = decode_slots(weighted, decode, acceptor)
                notes += more
            listed = n_best_answers(weighted, n_best, votes, acceptor) if n_best else None
        if self.restriction is None:
            notes += invalid_tags(slots, votes)
        done = _collect(X, slots, votes, tuple(notes), listed)
        return replace(done, source=np.where(done.support.any(axis=1), done.source, -1), posteriors=found)


def votes_of(labels: NDArray[np.int32], found: Posteriors, *, by_path: bool = False) -> Votes:
    """The likeliest label of each slot; ties go to the label whose first supporter comes first, to GAP last.

    Parameters
    ----------
    labels : ndarray of int32, shape (n_slots, p)
    found : Posteriors
    by_path : bool
        Take ``found.path``.

    Returns
    -------
    Votes
        `first` is 0 where nobody proposed the label.

    Examples
    --------
    >>> found = Posteriors(np.array([[3, 5]], np.int32), np.array([[0.5, 0.5]]))
    >>> votes_of(np.array([[5, 3, 3]], np.int32), found).label.tolist()
    [5]
    """
    n = len(labels)
    if n == 0:
        return Votes(np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.bool_), np.zeros(0, np.int32))
    rows = np.arange(n)
    best = found.probability.argmax(axis=1) if not by_path or found.path is None else found.path.copy()
    top = found.probability.max(axis=1)
    near = (found.probability >= (top - TIE_TOLERANCE)[:, None]) & (found.label != ABSENT)
    tie = near.sum(axis=1) > 1
    for s in np.flatnonzero(tie & near[rows, best]).tolist():
        awake = int((labels[s] != ABSENT).sum())
        best[s] = min(np.flatnonzero(near[s]).tolist(), key=lambda k: _order(labels[s], found.label[s, k], awake))
    label = found.label[rows, best]
    first = (labels == label[:, None]).argmax(axis=1).astype(np.int32)
    return Votes(label, found.probability[rows, best], tie, first)


def _order(labels: NDArray[np.int32], label: int, awake: int) -> tuple[bool, int]:
    said = np.flatnonzero(labels == label)
    return (label == GAP and awake > 2, int(said[0]) if len(said) else len(labels))


def shares_of(labels: NDArray[np.int32], found: Posteriors) -> NDArray[np.float64]:
    """Probability of each label proposed, given that one of them is right, at its first supporter; -1 elsewhere.

    Examples
    --------
    >>> found = Posteriors(np.array([[3, 5, 7]], np.int32), np.array([[0.2, 0.2, 0.6]]))
    >>> shares_of(np.array([[5, 3, 3]], np.int32), found).tolist()
    [[0.5, 0.5, -1.0]]
    """
    mass = proposed_mass(labels, found)[0]
    out = np.where(mass >= 0, np.maximum(mass, 1e-12), -1.0)
    total = np.where(out > 0, out, 0.0).sum(axis=1, keepdims=True)
    return np.where(out > 0, out / np.where(total > 0, total, 1.0), out)


def proposed_mass(labels: NDArray[np.int32], found: Posteriors) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Probability of each label proposed, at its first supporter, -1 elsewhere; and of each that nobody proposed.

    Shapes (n_slots, p) and (n_slots, K); 0 in the latter for labels proposed and where there is none.
    """
    share, left = np.full(labels.shape, -1.0), np.zeros(found.probability.shape)
    arrays = labels, found.label, found.probability
    _proposed_mass(*(np.ascontiguousarray(part) for part in arrays), share, left)
    return share, left


@lean_entry
def _proposed_mass(labels, label, probability, share, left):  # type: ignore[no-untyped-def]
    for s in range(len(labels)):
        for k in range(label.shape[1]):
            left[s, k] = 0.0 if label[s, k] == ABSENT else probability[s, k]
        for j in range(labels.shape[1]):
            x, first = labels[s, j], 0
            while labels[s, first] != x:
                first += 1
            if x == ABSENT or first < j:
                continue
            share[s, j] = 0.0
            for k in range(label.shape[1]):
                if label[s, k] == x:
                    share[s, j] += probability[s, k]
                    left[s, k] = 0.0
