"""ConfusionPaths: a noisy channel for each expert, label n-grams, and exponents that tell copies from witnesses.

The truth of a record is a sequence with known n-grams; each expert saw it through its own channel, whose confusions are
counted on the records with gold; where records name `workers`, each of these has a channel, drawn to everybody's. The
posterior over the labels of each slot follows from Bayes' rule, with exponents: the likelihoods of experts that repeat
each other count for less than those of independent ones. In closed vocabularies labels that nobody proposed can win,
where all experts are known to take them for something else.

Sources: Dawid and Skene (1979); Shannon's noisy channel as in Brill and Moore (2000), for several observers at once;
Raina et al. (2003) for the exponents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import ABSENT, GAP, Encoder, ExpertPredictions, ParameterError, Ragged, Slots
from structens.core.predictions import encode_answers
from structens.ensembles.confusions import (
    Answers,
    Shrinkage,
    answers_by_worker,
    answers_of,
    coins,
    count_coins,
    count_said,
    sources_of,
    tables,
)
from structens.ensembles.decoding import Decode
from structens.ensembles.halved_ngrams import joined, slots_of_records
from structens.ensembles.log_linear import Part, fit_exponents
from structens.ensembles.model_selection import folds
from structens.ensembles.ngram_tree import NGramTree, checked, grow_ngrams
from structens.ensembles.restriction import Restriction
from structens.ensembles.slot_candidates import Channel, candidates_of, features_of
from structens.ensembles.slot_lattice import Candidates, best_path, likely, marginals
from structens.ensembles.slot_posteriors import PosteriorEnsemble, Posteriors

VOCABULARIES = ("auto", "closed", "open")
MOST_LABELS = 256
"""Labels of a vocabulary that "auto" takes for closed."""
N_FOLDS = 5
FIT_CANDIDATES = 5
"""Candidates of a slot when exponents are chosen."""
MOST_FEATURES = 2_000_000
"""Numbers that the choice of exponents looks at: the first records that have so many."""


class ConfusionPaths(PosteriorEnsemble):
    """Each expert's confusions, label n-grams, and exponents learnt out of fold; decoded on the slots.

    Parameters
    ----------
    label_order : int or "auto"
        Order of the label n-grams learnt from gold, 0 for none; "auto" is 5 in closed vocabularies, 3 in open ones.
    vocabulary : {"auto", "closed", "open"}
        "closed": a table of confusions for each expert, and any label may be right. "open": each expert is right,
        leaves out and puts in at its own rates, and one of the labels proposed is right. "auto" takes at most
        256 labels for a closed vocabulary.
    text : sequence of answers, optional
        Further right sequences, of the type of the answers, for the n-grams.
    shrinkage : float
        Weight of the priors, in answers: of an expert's own rate on its rate for one label, of the pool's confusions
        on an expert's, and of label frequencies on the pool's.
    align : {"auto", "always", "never"}
    decode : {"marginal", "viterbi", "string", "mbr"} or MBR
        "marginal": the likeliest label of each slot; "viterbi": the most probable path under the n-grams.
    restriction : "bio", "bioes", mapping, or None
    seed : int
        Of the folds, and of the samples of "mbr".

    Attributes
    ----------
    labels_ : list of str
        Labels learnt.
    sources_ : list of str
        Experts, or workers where records name them: these share one exponent, and a closed vocabulary is asked for.
    counts_ : ndarray of float64, shape (p, A + 1, A + 1) or (p, 5)
        Counts of (truth, said), GAP last, of each source; with an open vocabulary those of `count_coins`. With workers
        there is a row of zeros for those not known.
    exponents_ : dict of str to ndarray
        "experts": of each expert's likelihood, shape (p,); "prior", "gap", "ngram": of the label's prior, added to
        GAP, of the n-grams.

    Raises
    ------
    ParameterError
        In `fit`, if an option is out of range.

    Examples
    --------
    Both experts take o for 0; nobody says o.

    >>> X = ExpertPredictions.of({"a": ["f0g", "d0g", "bag"], "b": ["f0g", "d0q", "bag"]}, gold=["fog", "dog", "bag"])
    >>> ConfusionPaths(label_order=0).fit(X).predict({"a": ["b0g"], "b": ["b0g"]})
    ['bog']
    """

    needs_gold = True

    labels_: list[str]
    sources_: list[str]
    counts_: NDArray[np.float64]
    truths_: NDArray[np.float64]
    spread_: NDArray[np.float64]
    exponents_: dict[str, Any]
    ngram_: dict[str, NDArray[Any]]

    def __init__(
        self,
        label_order: int | str = "auto",
        vocabulary: str = "auto",
        text: Sequence[Any] | None = None,
        shrinkage: float = 4.0,
        align: str = "auto",
        decode: Decode = "marginal",
        restriction: Restriction | None = None,
        seed: int = 0,
    ) -> None:
        self.label_order = label_order
        self.vocabulary = vocabulary
        self.text = text
        self.shrinkage = shrinkage
        self.align = align
        self.decode = decode
        self.restriction = restriction
        self.seed = seed

    def _learn(self, slots: Slots, X: ExpertPredictions) -> None:
        self._check_options()
        texts = Ragged.of([])
        if self.text is not None:
            encoder = Encoder(X.alphabet.labels)
            texts, _ = encode_answers(encoder, list(self.text), X.unit)
            X = X.recode(encoder.alphabet)
        self.labels_ = list(X.alphabet.labels)
        n_labels = len(self.labels_)
        self.by_worker_, self.sources_ = X.workers is not None, sources_of(X)
        small = n_labels <= MOST_LABELS and not self.by_worker_
        self.closed_ = self.vocabulary == "closed" or (self.vocabulary == "auto" and small)
        order = (5 if self.closed_ else 3) if self.label_order == "auto" else int(self.label_order)
        answers = self._answers(slots, X, n_labels)
        gold = np.where(slots.gold == GAP, n_labels, slots.gold).astype(np.int32)
        right = X.references[X.reference_offsets[:-1]]
        n_folds = min(N_FOLDS, len(X))
        fold = folds(X.ids, n_folds, self.seed) if n_folds > 1 else np.zeros(len(X), np.int64)
        counts = [self._counted(answers, gold, fold[slots.record] == k) for k in range(n_folds)]
        whole = tuple(np.sum(part, axis=0) for part in zip(*counts, strict=True))
        parts = []
        for k in range(n_folds) if n_folds > 1 else ():
            inside = np.flatnonzero(fold == k)[: self._n_looked_at(slots, n_folds)]
            model = _ngrams(right[np.flatnonzero(fold != k)], texts, n_labels, order)
            learnt = tuple(all_ - part for all_, part in zip(whole, counts[k], strict=True))
            parts.append(self._part(slots, answers, gold, inside, self._channel(*learnt), model))
        p = len(X.names)
        g = int(self._groups(p).max(initial=0)) + 1
        weights = fit_exponents(parts, g) if parts else np.array([0.7] * g + [0.1, 0.0, 0.4 * (order > 0)])
        self.counts_, self.truths_, self.spread_ = whole
        self.exponents_ = {
            "experts": weights[self._groups(p)],
            "prior": float(weights[g]),
            "gap": float(weights[g + 1]),
            "ngram": float(weights[g + 2]),
        }
        model = _ngrams(right, texts, n_labels, order)
        self.ngram_ = {} if model is None else dict(model._asdict())

    def _check_options(self) -> None:
        if self.vocabulary not in VOCABULARIES:
            raise ParameterError(f"vocabulary must be one of {', '.join(VOCABULARIES)}; got {self.vocabulary!r}")
        if self.label_order != "auto" and (isinstance(self.label_order, str) or self.label_order < 0):
            raise ParameterError(f"label_order must be 'auto' or a number >= 0; got {self.label_order!r}")
        if not self.shrinkage > 0:
            raise ParameterError(f"shrinkage must be above 0; got {self.shrinkage!r}")

    def _groups(self, p: int) -> NDArray[np.int64]:
        """Columns that share an exponent: all, where it is not always the same who answers in one."""
        return np.zeros(p, np.int64) if self.by_worker_ else np.arange(p)

    def _answers(self, slots: Slots, X: ExpertPredictions, n_labels: int) -> Answers:
        if self.by_worker_:
            return answers_by_worker(slots, X, self.sources_, n_labels)
        p = slots.n_experts
        return answers_of(slots.labels, np.broadcast_to(np.arange(p), slots.labels.shape), n_labels, p)

    def _counted(
        self, answers: Answers, gold: NDArray[np.int32], inside: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Counts of some slots: of confusions or coins, of truths, of what is said where it is wrong."""
        part = answers._replace(said=answers.said[inside], who=answers.who[inside])
        truth = gold[inside]
        count = count_said if self.closed_ else count_coins
        wrong = part.said[(part.said != truth[:, None]) & (part.said >= 0)]
        n = answers.n_labels + 1
        return (
            count(part, truth[:, None], np.ones((len(truth), 1))),
            np.bincount(truth, minlength=n).astype(np.float64),
            np.bincount(wrong, minlength=n).astype(np.float64),
        )

    def _channel(
        self, counts: NDArray[np.float64], truths: NDArray[np.float64], spread: NDArray[np.float64]
    ) -> Channel:
        few = 0.5 if self.closed_ else 0.1
        log_prior = np.log((truths + few) / (truths.sum() + few * len(truths)))
        log_spread = np.log((spread + 0.5) / (spread.sum() + 0.5 * len(spread)))
        none3, none2 = np.zeros((0, 0, 0)), np.zeros((0, 5))
        if self.closed_:
            return Channel(tables(counts, Shrinkage(*[float(self.shrinkage)] * 3)), none2, log_spread, log_prior)
        return Channel(none3, coins(counts, float(self.shrinkage)), log_spread, log_prior)

    def _n_looked_at(self, slots: Slots, n_folds: int) -> int:
        """Records of a fold that exponents are learnt from."""
        per_slot = FIT_CANDIDATES * (slots.n_experts + 2)
        mean = len(slots.labels) / max(len(slots), 1)
        return max(int(MOST_FEATURES / (per_slot * max(mean, 1.0) * n_folds)), 2)

    def _part(
        self,
        slots: Slots,
        answers: Answers,
        gold: NDArray[np.int32],
        inside: NDArray[np.int64],
        channel: Channel,
        model: NGramTree | None,
    ) -> Part:
        chosen = slots[inside]
        rows, _ = slots_of_records(slots.offsets, inside)
        part = answers._replace(said=answers.said[rows], who=answers.who[rows])
        truth = gold[rows]
        p = slots.n_experts
        label = candidates_of(part, channel, np.ones(p), truth, FIT_CANDIDATES)
        if not channel.is_closed:  # what nobody proposed cannot be chosen: such slots say nothing of exponents
            lost = ~(part.said == truth[:, None]).any(axis=1)
            label[lost], label[lost, 0] = -1, truth[lost]
        features = features_of(part, channel, label, self._groups(p))
        column = (label == truth[:, None]).argmax(axis=1)
        return Part(chosen.offsets, slot_labels(label, answers.n_labels), features, column, model)

    def _posteriors(self, slots: Slots, X: ExpertPredictions) -> Posteriors:
        n_labels = len(X.alphabet)
        channel = self._channel(*self._extended(n_labels))
        answers = self._answers(slots, X, n_labels)
        e = self.exponents_
        label = candidates_of(answers, channel, np.asarray(e["experts"], np.float64))
        if not self.aligned_:  # in learning "nothing" stays a rival: exponents are better by it
            label = without_nothing(label, n_labels)
        p = slots.n_experts
        groups = self._groups(p)
        own = np.asarray(e["experts"])[np.unique(groups, return_index=True)[1]]
        features = features_of(answers, channel, label, groups)
        score = np.where(label < 0, -np.inf, features @ np.concatenate([own, [e["prior"], e["gap"]]]))
        score = np.where(likely(score, features[:, :, -2] * e["ngram"]), score, -np.inf)
        labels = slot_labels(label, n_labels)
        candidates = Candidates(slots.offsets, known_to(labels, len(self.labels_)), score)
        model = checked(NGramTree(**self.ngram_)) if self.ngram_ else None
        found = marginals(candidates, model, e["ngram"])
        path = best_path(candidates, model, e["ngram"]) if self.decode == "viterbi" else None
        return Posteriors(labels, found.probability, path)

    def _extended(self, n_labels: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Counts with zeros for labels that are new."""
        new = n_labels - len(self.labels_)
        if new == 0:
            return self.counts_, self.truths_, self.spread_
        place = len(self.labels_)
        counts = self.counts_
        if self.closed_:
            counts = np.insert(np.insert(counts, [place] * new, 0.0, axis=1), [place] * new, 0.0, axis=2)
        truths, spread = (np.insert(part, [place] * new, 0.0) for part in (self.truths_, self.spread_))
        return counts, truths, spread


OUTSIDE = -9
"""Code of a label that the n-grams have not met."""


def without_nothing(label: NDArray[np.int32], n_labels: int) -> NDArray[np.int32]:
    """Candidates of slots that are not aligned: something stands in every one of them.

    Examples
    --------
    >>> without_nothing(np.array([[3, 4, -1]], np.int32), 4).tolist()
    [[3, -1, -1]]
    """
    return np.where(label == n_labels, -1, label).astype(np.int32)


def slot_labels(label: NDArray[np.int32], n_labels: int) -> NDArray[np.int32]:
    """Candidates in the codes of slots: GAP and ABSENT in place of n_labels and -1.

    Examples
    --------
    >>> slot_labels(np.array([[3, 4, -1]], np.int32), 4).tolist()
    [[3, -1, -2]]
    """
    return np.where(label == n_labels, GAP, np.where(label < 0, ABSENT, label)).astype(np.int32)


def known_to(labels: NDArray[np.int32], n_labels: int) -> NDArray[np.int32]:
    """Labels as the n-grams know them."""
    return np.where(labels >= n_labels, OUTSIDE, labels).astype(np.int32)


def _ngrams(right: Ragged, texts: Ragged, n_labels: int, order: int) -> NGramTree | None:
    if order < 1 or not len(right):
        return None
    return grow_ngrams(joined(right, texts), n_labels, order)
