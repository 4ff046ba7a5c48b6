"""DawidSkene: how reliable each expert or worker is, learnt without gold, with some, or with gold alone.

Expectation-maximisation slot by slot: the posterior of the truth given all answers, then the rates, or confusions, of
all sources given the posteriors, and again. Gold, where there is some, is clamped. In closed vocabularies the truth has
label n-grams, learnt from gold, from text, and from the likeliest labels so far (`structens.ensembles.halved_ngrams`);
posteriors are then those of forward-backward. Experts share mistakes, so that likelihoods count by an exponent. Where
records name `workers`, rates are those of people, drawn to the pool's: thousands, each seen rarely.

Sources: Dawid and Skene (1979); Zhang et al. (2014), one-coin model; Raykar et al. (2010), priors; Rabiner (1989),
sequences. The likelihood never falls (Dempster, Laird and Rubin, 1977) where shrinkage is next to nothing and exponents
are 1, and n-grams stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from structens.core import Encoder, ExpertPredictions, ParameterError, Ragged, Slots
from structens.core.predictions import encode_answers
from structens.ensembles.confusion_paths import MOST_LABELS, VOCABULARIES, known_to, slot_labels, without_nothing
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
from structens.ensembles.evidence import Evidence, evidence_of
from structens.ensembles.halved_ngrams import (
    best_order,
    grow_halves,
    half_of,
    halved_marginals,
    halved_paths,
    slots_of_records,
)
from structens.ensembles.log_linear import Part, fit_exponents
from structens.ensembles.ngram_tree import NGramTree, checked
from structens.ensembles.restriction import Restriction
from structens.ensembles.slot_candidates import Channel, candidates_of, features_of
from structens.ensembles.slot_lattice import Candidates, Marginals, likely
from structens.ensembles.slot_posteriors import PosteriorEnsemble, Posteriors

FEWEST_FOR_EXPONENTS = 10
"""Records with gold from which on exponents are learnt, in closed vocabularies."""
WITNESSES = {"closed": 2.0, "open": 5.0}
"""Experts repeat each other's mistakes: all answers to a slot together count as those of at most so many."""
LEAST_EXPONENT = 0.25
"""Of likelihoods: below, frequent labels drive out others."""
NGRAM_EXPONENT = 0.5
"""Of n-grams, where it is not learnt."""
ORDERS = (1, 2, 3, 4, 5)
"""Of n-grams, from which "auto" chooses."""
PULL = 4.0
"""Weight of the prior that exponents are those taken without gold."""
GROWN = (1, 2, 4)
"""Rounds after which n-grams are learnt from the likeliest labels."""


class DawidSkene(PosteriorEnsemble):
    """Rates or confusion tables of experts or workers by expectation-maximisation; see the module.

    Parameters
    ----------
    n_iterations : int
        At most so many rounds of expectation-maximisation.
    vocabulary : {"auto", "closed", "open"}
        "closed": a confusion table for each source. "open": its rates of being right, leaving out and putting in.
        "auto" takes at most 256 labels for closed, unless records name workers.
    label_order : int or "auto"
        Order of the label n-grams, 0 for none; "auto" is 0 in open vocabularies, and else that of 1 to 5 under which
        one half of the records finds the likeliest labels of the other half likeliest (1 is none).
    text : sequence of answers, optional
        Right sequences, of the type of the answers, for the n-grams.
    shrinkage : float
        Weight of the pool on a source's rates, in answers.
    exponents : "auto", or float > 0
        Exponent of all likelihoods; 1 takes experts for independent. "auto": in closed vocabularies learnt from gold
        where ten records have some, with that of the n-grams. Else 2 by the number of answers to a slot, in open
        vocabularies 5 by that number, but between 0.25 and 1.
    align : {"auto", "always", "never"}
    decode : {"marginal", "viterbi", "string", "mbr"} or MBR
    restriction : "bio", "bioes", mapping, or None
    seed : int
        Of the halves, and of the samples of "mbr".

    Attributes
    ----------
    labels_ : list of str
    sources_ : list of str
        Experts, or workers.
    counts_ : ndarray of float64
        Expected counts of each source, and a row of zeros for one that is not known.
    log_likelihoods_ : list of float
        After each round.
    order_ : int
        Of the n-grams.
    exponents_ : ndarray of float64
        Of the likelihoods, of the prior, added to GAP, of the n-grams.
    n_gold_ : int
        Records whose gold was used.

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
    ngrams_: list[dict[str, NDArray[Any]]]

    def __init__(
        self,
        n_iterations: int = 20,
        vocabulary: str = "auto",
        label_order: int | str = "auto",
        text: Sequence[Any] | None = None,
        shrinkage: float = 4.0,
        exponents: str | float = "auto",
        align: str = "auto",
        decode: Decode = "marginal",
        restriction: Restriction | None = None,
        seed: int = 0,
    ) -> None:
        self.n_iterations = n_iterations
        self.vocabulary = vocabulary
        self.label_order = label_order
        self.text = text
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
        text = Ragged.of([])
        if self.text is not None:
            encoder = Encoder(X.alphabet.labels)
            text, _ = encode_answers(encoder, list(self.text), X.unit)
            X = X.recode(encoder.alphabet)
        self.labels_, self.n_gold_ = list(X.alphabet.labels), int(X.has_gold.sum())
        n_labels = len(self.labels_)
        small = n_labels <= MOST_LABELS and X.workers is None
        self.closed_ = self.vocabulary == "closed" or (self.vocabulary == "auto" and small)
        self.by_worker_ = X.workers is not None
        self.sources_ = sources_of(X)
        slots = self._slots(X)
        evidence = evidence_of(slots, self._answers(slots, X), X, half_of(X.ids, self.seed), text)
        said = evidence.answers.said[evidence.answers.said >= 0]
        self.spread_ = np.bincount(said, minlength=n_labels + 1).astype(np.float64)
        default, learnt = self._default_exponents(evidence.answers), None
        self.learnt_, self.exponents_ = False, default
        if self.closed_ and self.exponents == "auto" and self.n_gold_ >= FEWEST_FOR_EXPONENTS:
            self._maximise(evidence, clamp=False)
            learnt = self._learnt_exponents(evidence)
            self.learnt_ = False
        self._maximise(evidence, clamp=True)  # under the exponents under which others are learnt
        if learnt is not None:
            self.learnt_, self.exponents_ = True, learnt
        return self

    def _check_options(self) -> None:
        if self.vocabulary not in VOCABULARIES:
            raise ParameterError(f"vocabulary must be one of {', '.join(VOCABULARIES)}; got {self.vocabulary!r}")
        if self.label_order != "auto" and (isinstance(self.label_order, str) or self.label_order < 0):
            raise ParameterError(f"label_order must be 'auto' or a number >= 0; got {self.label_order!r}")
        if not self.shrinkage > 0 or self.n_iterations < 1:
            rule = "shrinkage must be above 0 and n_iterations at least 1"
            raise ParameterError(f"{rule}; got {self.shrinkage!r} and {self.n_iterations!r}")
        if self.exponents != "auto" and (isinstance(self.exponents, str) or not self.exponents > 0):
            raise ParameterError(f"exponents must be 'auto' or a number above 0; got {self.exponents!r}")

    def _default_exponents(self, answers: Answers) -> NDArray[np.float64]:
        p = answers.said.shape[1]
        together = WITNESSES["closed" if self.closed_ else "open"]
        a_slot = (answers.said >= 0).sum() / max(len(answers.said), 1)
        each = float(np.clip(together / max(a_slot, 1.0), LEAST_EXPONENT, 1.0))
        each = each if isinstance(self.exponents, str) else float(self.exponents)
        n_groups = int(self._groups(p).max(initial=0)) + 1
        return np.array([each] * n_groups + [1.0, 0.0, NGRAM_EXPONENT])

    def _answers(self, slots: Slots, X: ExpertPredictions) -> Answers:
        if self.by_worker_:
            return answers_by_worker(slots, X, self.sources_, len(slots.alphabet))
        who = np.broadcast_to(np.arange(slots.n_experts), slots.labels.shape)
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

    def _features(self, slots: Slots, answers: Answers, label: NDArray[np.int32]) -> NDArray[np.float64]:
        """Likelihoods by group, the prior, and 1 for GAP.

        Where exponents are not learnt, n-grams to the power e take the place of so much of the labels' frequencies:
        these stay to 1 - e.
        """
        channel, gap = self._channel(answers.n_labels), answers.n_labels
        made = features_of(answers, channel, label, self._groups(slots.n_experts))
        if not self.learnt_ and self.ngrams_:
            stands = np.log1p(-np.exp(channel.log_prior[gap]))  # a label, not GAP
            prior = (1.0 - float(self.exponents_[-1])) * (made[:, :, -2] - stands) + stands
            made[:, :, -2] = np.where((label < 0) | (label == gap), made[:, :, -2], prior)
        return made

    def _candidates(self, slots: Slots, answers: Answers, gold: NDArray[np.int32] | None) -> NDArray[np.int32]:
        p = slots.n_experts
        each = self.exponents_[:p] if self._groups(p).any() else np.full(p, self.exponents_[0])
        most = answers.n_labels + 1 if self.closed_ else p + 1
        found = candidates_of(answers, self._channel(answers.n_labels), each, gold, min(most, max(p + 1, 8)))
        return found if self.aligned_ else without_nothing(found, answers.n_labels)

    def _scored(self, slots: Slots, answers: Answers, label: NDArray[np.int32]) -> Candidates:
        """Candidates with their scores, in the codes that the n-grams know."""
        features = self._features(slots, answers, label)
        score = np.where(label < 0, -np.inf, features @ self.exponents_[:-1])
        if self.ngrams_:
            ahead = np.where(label == answers.n_labels, 0.0, self._channel(answers.n_labels).log_prior[label])
            score = np.where(likely(score, self.exponents_[-1] * ahead), score, -np.inf)
        return Candidates(slots.offsets, known_to(slot_labels(label, answers.n_labels), len(self.labels_)), score)

    def _marginals(self, candidates: Candidates, half: NDArray[np.int64]) -> Marginals:
        return halved_marginals(candidates, self._trees(), half, float(self.exponents_[-1]))

    def _trees(self) -> list[NGramTree]:
        return [checked(NGramTree(**tree)) for tree in self.ngrams_]

    def _maximise(self, evidence: Evidence, clamp: bool) -> None:
        """Expectation-maximisation from the vote on; gold clamped, or of no use but to n-grams of the other half."""
        slots, answers = evidence.slots, evidence.answers
        n_labels = answers.n_labels
        gold = evidence.gold if clamp else np.full_like(evidence.gold, -1)
        shape = (n_labels + 1, n_labels + 1) if self.closed_ else (5,)
        self.counts_, self.truths_ = np.zeros((answers.n_sources, *shape)), self.spread_.copy()
        self.ngrams_, self.order_ = [], 0
        label = self._candidates(slots, answers, gold)
        votes = np.zeros(label.shape)
        for j in range(slots.n_experts):
            votes += label == answers.said[:, j : j + 1]
        impossible = (gold >= 0)[:, None] & (label != gold[:, None])
        score = np.where(label < 0, -np.inf, 2.0 * votes)
        now = Candidates(slots.offsets, slot_labels(label, n_labels), score)
        grown = GROWN if self._may_grow() else ()
        log_likelihoods: list[float] = []
        for turn in range(self.n_iterations + 1):
            now.score[impossible] = -np.inf
            found = self._marginals(now, evidence.half)
            log_likelihoods.append(float(found.log_total.sum()))
            self.counts_ = (count_said if self.closed_ else count_coins)(answers, label, found.probability)
            chosen = label >= 0
            self.truths_ = np.bincount(label[chosen], found.probability[chosen], n_labels + 1).astype(np.float64)
            if turn in grown:
                self._grow(evidence, label, found.probability, clamp)
            steady = abs(log_likelihoods[-1] - log_likelihoods[max(turn - 1, 0)]) < 1e-5 * len(score)
            if turn > max((1, *grown)) and steady:
                break
            now = self._scored(slots, answers, label)
        self.log_likelihoods_ = log_likelihoods[1:]

    def _may_grow(self) -> bool:
        return self.closed_ if self.label_order == "auto" else int(self.label_order) > 0

    def _grow(
        self, evidence: Evidence, label: NDArray[np.int32], probability: NDArray[np.float64], clamp: bool
    ) -> None:
        """Learn n-grams from the likeliest labels, from gold, and from text."""
        n_labels, record = evidence.answers.n_labels, evidence.slots.record
        likeliest = label[np.arange(len(label)), probability.argmax(axis=1)]
        units = (likeliest >= 0) & (likeliest < n_labels)
        lengths = np.bincount(record[units], minlength=len(evidence.half))
        texts = evidence.texts(Ragged.from_lengths(likeliest[units], lengths), clamp)
        if not self.order_:
            auto = self.label_order == "auto"
            self.order_ = best_order(texts, n_labels, ORDERS) if auto else int(self.label_order)
        self.ngrams_ = [dict(tree._asdict()) for tree in grow_halves(texts, n_labels, self.order_)]

    def _learnt_exponents(self, evidence: Evidence) -> NDArray[np.float64]:
        """From gold, under rates that have not seen it, and n-grams that have seen that of the other half."""
        parts: list[Part] = []
        trees: Sequence[NGramTree | None] = self._trees() or [None, None]
        slots, answers = evidence.slots, evidence.answers
        self.learnt_ = True
        for k, tree in enumerate(trees):
            inside = np.flatnonzero(evidence.known & (evidence.half == k))
            rows, _ = slots_of_records(slots.offsets, inside)
            if not len(rows):
                continue
            chosen, part = slots[inside], answers._replace(said=answers.said[rows], who=answers.who[rows])
            truth = evidence.gold[rows]
            label = self._candidates(chosen, part, truth)
            features, column = self._features(chosen, part, label), (label == truth[:, None]).argmax(axis=1)
            parts.append(Part(chosen.offsets, slot_labels(label, answers.n_labels), features, column, tree))
        if not parts:
            return self.exponents_.copy()
        n_groups = int(self._groups(slots.n_experts).max(initial=0)) + 1
        gap = self._channel(answers.n_labels).log_prior[-1]
        share = float(self.exponents_[-1]) * bool(self.ngrams_)
        begin = self.exponents_.copy()
        begin[-3:] = 1.0 - share, share * (gap - np.log1p(-np.exp(gap))), share
        return fit_exponents(parts, n_groups, begin=begin, pull=PULL)

    def _posteriors(self, slots: Slots, X: ExpertPredictions) -> Posteriors:
        answers, half = self._answers(slots, X), half_of(X.ids, self.seed)
        label = self._candidates(slots, answers, None)
        now = self._scored(slots, answers, label)
        found = self._marginals(now, half)
        path = None
        if self.decode == "viterbi":
            path = halved_paths(now, self._trees(), half, float(self.exponents_[-1]))
        return Posteriors(slot_labels(label, answers.n_labels), found.probability, path)
