"""DawidSkene: how reliable each expert or worker is, learnt without gold, with some, or with gold alone.

Expectation-maximisation slot by slot: the posterior of the truth given all answers, then the rates, or confusions, of
all sources given the posteriors, and again. Gold, where there is some, is clamped. Where records name `workers`, rates
are those of people, drawn to the pool's: thousands, each seen rarely. In open vocabularies a word is also the likelier
the more often it stands in other records, and the closer the words of those who disagree are spelled.

Sources: Dawid and Skene (1979); Zhang et al. (2014), one-coin model; Raykar et al. (2010), priors. The likelihood
never falls (Dempster, Laird and Rubin, 1977) where shrinkage is next to nothing and exponents are 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from structens.core import GAP, ExpertPredictions, ParameterError, Slots
from structens.ensembles.confusion_paths import MOST_LABELS, VOCABULARIES, slot_labels
from structens.ensembles.confusions import Answers, Shrinkage, answers_of, coins, count_coins, count_said, tables
from structens.ensembles.decoding import Decode
from structens.ensembles.log_linear import Part, fit_exponents
from structens.ensembles.restriction import Restriction
from structens.ensembles.slot_candidates import Channel, candidates_of, features_of
from structens.ensembles.slot_lattice import Candidates, marginals
from structens.ensembles.slot_posteriors import PosteriorEnsemble, Posteriors
from structens.ensembles.word_evidence import elsewhere, spelled_alike

FEWEST_FOR_EXPONENTS = 20
"""Records with gold from which on exponents are learnt."""
OPEN_EXPONENTS = (1.0, 1.0, 0.3, 0.0)
"""Without gold, in open vocabularies: of likelihoods, of words spelled alike, of words elsewhere, added to GAP."""


class DawidSkene(PosteriorEnsemble):
    """Rates or confusion tables of experts or workers by expectation-maximisation; see the module.

    Parameters
    ----------
    n_iterations : int
        At most so many rounds of expectation-maximisation.
    vocabulary : {"auto", "closed", "open"}
        "closed": a confusion table for each source. "open": its rates of being right, leaving out and putting in.
        "auto" takes at most 256 labels for closed, unless records name workers.
    shrinkage : float
        Weight of the pool on a source's rates, in answers.
    exponents : "auto", or float > 0
        Exponent of all likelihoods. "auto": learnt from gold where 20 records have some, with those of the evidence
        about words; else 1, which takes experts for independent; 0.5 is better where they repeat each other's mistakes.
    align : {"auto", "always", "never"}
    decode : {"marginal", "string", "mbr"} or MBR
    restriction : "bio", "bioes", mapping, or None
    seed : int
        Of the samples of "mbr".

    Attributes
    ----------
    labels_ : list of str
    sources_ : list of str
        Experts, or workers.
    counts_ : ndarray of float64
        Expected counts of each source, and a row of zeros for one that is not known.
    log_likelihoods_ : list of float
        After each round.
    exponents_ : ndarray of float64

    Raises
    ------
    ParameterError
        In `fit`, if an option is out of range.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["cat", "dig", "sun", "pan"], "b": ["cat", "dog", "sun", "pen"],
    ...                           "c": ["cut", "dog", "sin", "pen"]})
    >>> DawidSkene().fit(X).predict(X)
    ['cat', 'dog', 'sun', 'pen']
    """

    labels_: list[str]
    sources_: list[str]
    counts_: NDArray[np.float64]
    truths_: NDArray[np.float64]
    spread_: NDArray[np.float64]
    exponents_: NDArray[np.float64]
    log_likelihoods_: list[float]

    def __init__(
        self,
        n_iterations: int = 20,
        vocabulary: str = "auto",
        shrinkage: float = 4.0,
        exponents: str | float = "auto",
        align: str = "auto",
        decode: Decode = "marginal",
        restriction: Restriction | None = None,
        seed: int = 0,
    ) -> None:
        self.n_iterations = n_iterations
        self.vocabulary = vocabulary
        self.shrinkage = shrinkage
        self.exponents = exponents
        self.align = align
        self.decode = decode
        self.restriction = restriction
        self.seed = seed

    def fit(self, X: Any, y: Sequence[Any] | None = None) -> Self:
        """Learn from all records, with or without gold; see `Ensemble.fit`."""
        self._check_options()
        X = ExpertPredictions.of(X)
        X = X if y is None else X.with_gold(y)
        super().fit(X)
        self.labels_ = list(X.alphabet.labels)
        n_labels = len(self.labels_)
        small = n_labels <= MOST_LABELS and X.workers is None
        self.closed_ = self.vocabulary == "closed" or (self.vocabulary == "auto" and small)
        self.by_worker_ = X.workers is not None
        named = sorted({str(w) for w in X.workers.ravel() if w is not None}) if X.workers is not None else X.names
        self.sources_ = list(named)
        slots = self._slots(X)
        answers = self._answers(slots, X)
        said = answers.said[answers.said >= 0]
        self.spread_ = np.bincount(said, minlength=n_labels + 1).astype(np.float64)
        self.exponents_ = self._default_exponents(slots.n_experts)
        gold = np.where(slots.gold == GAP, n_labels, np.where(slots.gold < GAP, -1, slots.gold)).astype(np.int32)
        known = X.has_gold
        if self.exponents == "auto" and known.sum() >= FEWEST_FOR_EXPONENTS:
            self._maximise(slots, answers, np.full(len(gold), -1, np.int32))
            self.exponents_ = self._learnt_exponents(slots, answers, gold, known)
        self._maximise(slots, answers, gold)
        return self

    def _check_options(self) -> None:
        if self.vocabulary not in VOCABULARIES:
            raise ParameterError(f"vocabulary must be one of {', '.join(VOCABULARIES)}; got {self.vocabulary!r}")
        if not self.shrinkage > 0 or self.n_iterations < 1:
            rule = "shrinkage must be above 0 and n_iterations at least 1"
            raise ParameterError(f"{rule}; got {self.shrinkage!r} and {self.n_iterations!r}")
        if self.exponents != "auto" and (isinstance(self.exponents, str) or not self.exponents > 0):
            raise ParameterError(f"exponents must be 'auto' or a number above 0; got {self.exponents!r}")

    def _default_exponents(self, p: int) -> NDArray[np.float64]:
        if self.closed_:
            each = 1.0 if isinstance(self.exponents, str) else self.exponents
            return np.array([each] * (1 if self.by_worker_ else p) + [1.0, 0.0])
        if isinstance(self.exponents, str):
            return np.array(OPEN_EXPONENTS)
        return np.array([self.exponents, 0.0, 1.0, 0.0])

    def _answers(self, slots: Slots, X: ExpertPredictions) -> Answers:
        n, p = slots.labels.shape
        if X.workers is None or not self.by_worker_:
            who = np.broadcast_to(np.arange(p) if not self.by_worker_ else np.full(p, len(self.sources_)), (n, p))
        else:
            place = {name: i for i, name in enumerate(self.sources_)}
            rows = [[place.get(str(w), len(place)) for w in row] for row in X.workers.tolist()]
            who = np.array(rows, np.int64).reshape(-1, p)[slots.record]
        return answers_of(slots.labels, who, len(slots.alphabet), len(self.sources_) + 1)

    def _channel(self, n_labels: int) -> Channel:
        """Of what was learnt, with zero counts for new labels."""
        new, place = n_labels - len(self.labels_), len(self.labels_)
        truths, spread = (np.insert(part, [place] * new, 0.0) for part in (self.truths_, self.spread_))
        few = 0.5 * min(float(self.shrinkage), 1.0)
        log_prior = np.log((truths + few) / (truths.sum() + few * len(truths)))
        log_spread = np.log((spread + 0.5) / (spread.sum() + 0.5 * len(spread)))
        if not self.closed_:
            return Channel(np.zeros((0, 0, 0)), coins(self.counts_, float(self.shrinkage)), log_spread, log_prior)
        counts = np.insert(np.insert(self.counts_, [place] * new, 0.0, axis=1), [place] * new, 0.0, axis=2)
        table = tables(counts, Shrinkage(*[float(self.shrinkage)] * 3))
        return Channel(table, np.zeros((0, 5)), log_spread, log_prior)

    def _groups(self, p: int) -> NDArray[np.int64]:
        return np.arange(p) if self.closed_ and not self.by_worker_ else np.zeros(p, np.int64)

    def _features(
        self, slots: Slots, answers: Answers, label: NDArray[np.int32], evidence: list[NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Likelihoods by group, in open vocabularies words spelled alike, the prior, and 1 for GAP."""
        made = features_of(answers, self._channel(answers.n_labels), label, self._groups(slots.n_experts))
        if not self.closed_ and evidence:
            alike, log_elsewhere = evidence
            made[:, :, -2] = np.where(label == answers.n_labels, made[:, :, -2], log_elsewhere)
            made = np.concatenate([made[:, :, :-2], alike[:, :, None], made[:, :, -2:]], axis=2)
        return made

    def _evidence(self, slots: Slots, answers: Answers, label: NDArray[np.int32]) -> list[NDArray[np.float64]]:
        """What other records and other spellings say of words; it does not change with the rates."""
        if self.closed_:
            return []
        if not isinstance(self.exponents, str):
            truths = np.broadcast_to(self._channel(answers.n_labels).log_prior, (1, answers.n_labels + 1))[0]
            return [np.zeros(label.shape), truths[label]]
        alike = spelled_alike(answers.said, label, slots.alphabet.labels)
        return [alike, elsewhere(answers.said, label, slots.record, self.spread_, len(self.labels_))]

    def _candidates(self, slots: Slots, answers: Answers, gold: NDArray[np.int32] | None) -> NDArray[np.int32]:
        p = slots.n_experts
        each = self.exponents_[:p] if len(self._groups(p)) and self._groups(p).any() else np.full(p, self.exponents_[0])
        most = answers.n_labels + 1 if self.closed_ else p + 1
        return candidates_of(answers, self._channel(answers.n_labels), each, gold, min(most, max(p + 1, 8)))

    def _maximise(self, slots: Slots, answers: Answers, gold: NDArray[np.int32]) -> None:
        """Expectation-maximisation from the vote on, gold clamped."""
        n_labels, p = answers.n_labels, slots.n_experts
        shape = (answers.n_sources, n_labels + 1, n_labels + 1) if self.closed_ else (answers.n_sources, 5)
        self.counts_, self.truths_ = np.zeros(shape), self.spread_.copy()
        label = self._candidates(slots, answers, gold)
        evidence = self._evidence(slots, answers, label)
        votes = np.zeros(label.shape)
        for j in range(p):
            votes += label == answers.said[:, j : j + 1]
        clamped = gold >= 0
        right = label[clamped] == gold[clamped, None]
        score = np.where(label < 0, -np.inf, 2.0 * votes)
        log_likelihoods: list[float] = []
        for _ in range(self.n_iterations + 1):
            score[clamped] = np.where(right, score[clamped], -np.inf)
            found = marginals(Candidates(slots.offsets, slot_labels(label, n_labels), score))
            log_likelihoods.append(float(found.log_total.sum()))
            count = count_said if self.closed_ else count_coins
            self.counts_ = count(answers, label, found.probability)
            chosen = label >= 0
            self.truths_ = np.asarray(
                np.bincount(label[chosen], found.probability[chosen], minlength=n_labels + 1), np.float64
            )
            if len(log_likelihoods) > 2 and abs(log_likelihoods[-1] - log_likelihoods[-2]) < 1e-5 * len(score):
                break
            if not self.closed_ and not isinstance(self.exponents, str):
                evidence = self._evidence(slots, answers, label)
            score = np.where(label < 0, -np.inf, self._features(slots, answers, label, evidence) @ self.exponents_)
        self.log_likelihoods_ = log_likelihoods[1:]

    def _learnt_exponents(
        self, slots: Slots, answers: Answers, gold: NDArray[np.int32], known: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """From gold, under rates that have not seen it."""
        inside = np.flatnonzero(known)
        chosen = slots[inside]
        rows = np.repeat(slots.offsets[inside] - chosen.offsets[:-1], chosen.lengths) + np.arange(len(chosen.labels))
        part = answers._replace(said=answers.said[rows], who=answers.who[rows])
        truth = gold[rows]
        label = self._candidates(chosen, part, truth)
        lost = ~(part.said == truth[:, None]).any(axis=1)
        label[lost], label[lost, 0] = -1, truth[lost]
        features = self._features(chosen, part, label, self._evidence(chosen, part, label))
        column = (label == truth[:, None]).argmax(axis=1)
        codes = slot_labels(label, answers.n_labels)
        n_groups = int(self._groups(slots.n_experts).max(initial=0)) + 1
        return fit_exponents([Part(chosen.offsets, codes, features, column, None)], n_groups)[:-1]

    def _posteriors(self, slots: Slots, X: ExpertPredictions) -> Posteriors:
        answers = self._answers(slots, X)
        label = self._candidates(slots, answers, None)
        features = self._features(slots, answers, label, self._evidence(slots, answers, label))
        score = np.where(label < 0, -np.inf, features @ self.exponents_)
        codes = slot_labels(label, answers.n_labels)
        return Posteriors(codes, marginals(Candidates(slots.offsets, codes, score)).probability)
