"""BoostedPaths: a contextual model scores the transitions of the path-expert automaton.

Which experts agree, how often each is right when it says just this, what stands to the left and right: boosted Hamming
trees learn from all that which of the answers proposed in a slot is right (`structens.ensembles.candidate_model`), and
the automaton is decoded by their probabilities. A vote by expert weights knows none of it. Where records name `workers`
it also learns how reliable each of them is, and of words how often each was right beside this rival. How much "nothing"
counts is learnt from whole held-out answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.ranges import check_whole, within
from structens.core import ABSENT, GAP, Encoder, ExpertPredictions, ParameterError, Ragged, Slots
from structens.core.predictions import encode_answers
from structens.ensembles.base import Combined
from structens.ensembles.calibration import calibrated, learn_calibration
from structens.ensembles.candidate_features import view_of
from structens.ensembles.candidate_gaps import learn_gap_weight, weigh_gaps
from structens.ensembles.candidate_model import CandidateModel, Scene, Settings, Truth, learn_candidates, learn_language
from structens.ensembles.candidate_state import model_of, state_of
from structens.ensembles.candidates import Candidates, candidates
from structens.ensembles.confusions import sources_of, worker_numbers
from structens.ensembles.decoding import Decode
from structens.ensembles.label_classes import class_table, frequent_labels, gold_classes
from structens.ensembles.label_ngram import MOST_ORDER
from structens.ensembles.model_selection import folds
from structens.ensembles.ngram_tree import NGramTree, checked
from structens.ensembles.out_of_fold import judged, without_gold
from structens.ensembles.posterior_ngrams import held_out_ngrams, learn_scale, trees_without, with_ngrams
from structens.ensembles.restriction import Restriction
from structens.ensembles.slot_posteriors import PosteriorEnsemble, Posteriors
from structens.ensembles.word_candidates import Lexicon, count_words, without, word_features
from structens.losses import edit_distance

Floats = NDArray[np.float64]
SlotFeatures = Callable[[ExpertPredictions, Slots], NDArray[Any]]

FEWEST_RECORDS = 4
"""Records with gold below which the best expert answers alone."""
MOST_LISTED = 8
"""Candidates of a slot that keep their probability."""
COUNT_FOLDS = 2
"""Folds of counts for each fold of the models."""


class BoostedPaths(PosteriorEnsemble):
    """Boosted Hamming trees on every answer proposed in every slot, in context.

    It learns from statistics that leave out the record in question, and is used as far as its out-of-fold answers are
    better than the best expert's: with too little gold the best expert answers.

    Parameters
    ----------
    vocabulary : {"auto", "closed", "open"}
        Closed: every label that is not rare is learnt by name (tags, phones, letters). Open (words): only what occurs
        often; the others by who supports them. "auto" looks at the labels of gold.
    n_rounds, n_inner_nodes : int
        Trees of a pass, and cuts of a tree.
    learning_rate : float
    n_passes : int
        Times that trees are learnt; each pass sees what the one before says of the neighbouring slots.
    order : int
        Labels in the longest n-gram, 1 to 6.
    n_folds : int
        Folds of whole records, for all that must be out of fold.
    features : callable, optional
        ``features(X, slots)`` gives numbers of your own for each slot, shape (n_slots, m). A model file cannot hold it.
    text : sequence of answers, optional
        Further right sequences, of the type of the answers, for the n-grams.
    align : {"auto", "always", "never"}
    ties : {"order", "random"}
    decode : {"marginal", "viterbi", "string", "mbr"} or MBR
    restriction : "bio", "bioes", mapping, or None
    seed : int
        Of folds and lots.

    Attributes
    ----------
    labels_ : list of str
        Labels learnt by name.
    closed_ : bool
    n_steps_ : int
        Steps in use: -1 the best expert alone, 0 equal votes, 1 the conditional logit, then passes of trees.
    right_ : ndarray of int64
        Contested slots learnt from that each of them decides rightly out of fold.
    error_ : ndarray of float64, shape (p,)
        Token error of each expert where it answered.
    calibration_ : dict of str to ndarray
    words_ : list of str
        Of an open vocabulary, with their counts in `lexicon_`.
    lexicon_ : dict of str to ndarray
    workers_ : list of str
        People whose answers were learnt from, where records name them.
    confident_ : bool
        Whether confidences were learnt from.
    scale_ : float
        Weight of the n-grams (`ngram_`) in decoding; 0 where they add nothing to what the trees know of them.
    gap_ : float
        Weight of "nothing" in a choice.
    state_ : dict
        The learnt model as arrays.

    Examples
    --------
    >>> gold = ["cat", "dig", "sun", "pen", "cot", "dog"] * 5
    >>> X = ExpertPredictions.of({"a": [g.replace("o", "a") for g in gold], "b": [g.replace("i", "u") for g in gold],
    ...                           "c": [g.replace("e", "i") for g in gold]}, gold=gold)
    >>> BoostedPaths(n_rounds=5).fit(X).predict({"a": ["cag"], "b": ["cog"], "c": ["cog"]})
    ['cog']
    """

    needs_gold = True

    labels_: list[str]
    closed_: bool
    n_steps_: int
    right_: NDArray[np.int64]
    error_: Floats
    calibration_: dict[str, Floats]
    words_: list[str]
    lexicon_: dict[str, Floats]
    workers_: list[str] = []  # noqa: RUF012 -- of model files that know of none
    confident_: bool
    scale_: float
    ngram_: dict[str, NDArray[Any]]
    gap_: float = 1.0
    state_: dict[str, Any]

    _model: CandidateModel | None = None
    _kept: tuple[Slots, Posteriors] | None = None
    out_of_fold: tuple[Slots, Posteriors] | None = None

    def __init__(
        self,
        vocabulary: str = "auto",
        n_rounds: int = 100,
        n_inner_nodes: int = 12,
        learning_rate: float = 0.2,
        n_passes: int = 2,
        order: int = 4,
        n_folds: int = 5,
        features: SlotFeatures | None = None,
        text: Sequence[Any] | None = None,
        align: str = "auto",
        ties: str = "order",
        decode: Decode = "marginal",
        restriction: Restriction | None = None,
        seed: int = 0,
    ) -> None:
        self.vocabulary = vocabulary
        self.n_rounds = n_rounds
        self.n_inner_nodes = n_inner_nodes
        self.learning_rate = learning_rate
        self.n_passes = n_passes
        self.order = order
        self.n_folds = n_folds
        self.features = features
        self.text = text
        self.align = align
        self.ties = ties
        self.decode = decode
        self.restriction = restriction
        self.seed = seed

    def _learn(self, slots: Slots, X: ExpertPredictions) -> None:
        self._check_options()
        self._model, self._kept, self.out_of_fold = None, None, None
        counts = np.bincount(X.references[X.reference_offsets[:-1]].values, minlength=len(X.alphabet))
        codes, self.closed_ = frequent_labels(counts, self.vocabulary)
        self.labels_ = X.alphabet.decode(codes)
        self.error_ = _token_errors(X)
        self.n_steps_, self.right_, self.calibration_, self.state_ = -1, np.zeros(0, np.int64), {}, {}
        self.scale_, self.ngram_, self.gap_ = 0.0, {}, 1.0
        self.words_, self.lexicon_, self.confident_ = [], {}, X.confidence is not None
        self.workers_ = [] if X.workers is None else sources_of(X)
        if len(X) < FEWEST_RECORDS:
            return
        proposed = candidates(slots.labels)
        if proposed.contested.any():
            self._learn_contested(slots, X, proposed)

    def _learn_contested(self, slots: Slots, X: ExpertPredictions, proposed: Candidates) -> None:
        k, table = len(self.labels_) + 2, class_table(X.alphabet, self.labels_)
        settings = self._settings(min(self.n_folds, len(X) // 2))
        fold = folds(X.ids, min(settings.n_folds * COUNT_FOLDS, len(X)), self.seed)
        slot_gold = np.where(table[slots.gold] == k - 2, -1, table[slots.gold])
        truth = Truth(slot_gold, fold, int(fold.max()) + 1, gold_classes(X, table), self._texts(X))
        view = view_of(proposed, table[proposed.label], slots.offsets)
        languages = learn_language(view, truth, k, self.order, closed=self.closed_)
        found = candidates(slots.labels, languages[0].others(view, fold, self._codes(X)))
        right = found.label == slots.gold[found.slot]
        lexicon = None if self.closed_ else self._learn_words(X, fold)
        scene = self._scene(found, slots, X, lexicon, fold)
        model, posteriors = learn_candidates(scene, right, truth, languages, settings)
        q = self._adopt(model, posteriors, found, right, int(self.error_.argmin()))
        if self.n_steps_ > 0:
            held_out = self._learn_decoding(_dense(found, q), slots, table, truth, settings.n_folds)
            self.gap_ = learn_gap_weight(held_out, slots.offsets, X)
            held_out = weigh_gaps(held_out, self.gap_)
            self._calibrate(slots, X, held_out)

    def _texts(self, X: ExpertPredictions) -> Ragged:
        """Plain text as classes."""
        if self.text is None:
            return Ragged.of([])
        encoder = Encoder(X.alphabet.labels)
        texts, _ = encode_answers(encoder, list(self.text), X.unit)
        return Ragged(class_table(encoder.alphabet, self.labels_)[texts.values], texts.offsets)

    def _learn_words(self, X: ExpertPredictions, fold: NDArray[np.int64]) -> Lexicon:
        """Keep the counts of words; the counts without each fold."""
        counts = count_words(X, fold, int(fold.max()) + 1)
        heard = np.flatnonzero(counts.said.sum(axis=0) > 0)
        self.words_ = X.alphabet.decode(heard)
        self.lexicon_ = {name: part.sum(axis=0)[heard] for name, part in counts._asdict().items()}
        return without(counts)

    def _learn_decoding(
        self, found: Posteriors, slots: Slots, table: NDArray[np.int64], truth: Truth, n_folds: int
    ) -> Posteriors:
        """Learn how much n-grams weigh; the held-out posteriors with them."""
        fold, gold = truth.fold % n_folds, Ragged(truth.gold[0], truth.gold[1])
        trees = trees_without(gold, truth.text, fold, n_folds, len(self.labels_) + 1, self.order)
        self.scale_ = learn_scale(found, slots.gold, table, slots.offsets, fold, trees)
        if self.scale_ > 0 or self.decode == "viterbi":
            self.ngram_ = dict(trees[-1]._asdict())
        return held_out_ngrams(found, table, slots.offsets, fold, trees, self.scale_)

    def _check_options(self) -> None:
        for name, least in (("n_rounds", 1), ("n_inner_nodes", 1), ("n_passes", 0), ("n_folds", 2), ("order", 1)):
            check_whole(name, getattr(self, name), least)
        if self.order > MOST_ORDER:
            raise ParameterError(f"order must be at most {MOST_ORDER}; got {self.order}")
        if not within(self.learning_rate, 0.0, 1.0, open_low=True):
            raise ParameterError(f"learning_rate must be above 0 and at most 1; got {self.learning_rate!r}")

    def _settings(self, n_folds: int) -> Settings:
        trees = self.n_rounds, self.n_inner_nodes, float(self.learning_rate)
        return Settings(*trees, self.n_passes, self.order, n_folds, self.seed)

    def _codes(self, X: ExpertPredictions) -> NDArray[np.int32]:
        """Code of each class; ABSENT for labels that these records do not know, and for all others together."""
        return np.array([*(X.alphabet.codes.get(label, ABSENT) for label in self.labels_), ABSENT, GAP], np.int32)

    def _lexicon(self, X: ExpertPredictions) -> Lexicon:
        """Counts of the words of these records in those learnt from."""
        at = self._places(X)
        return Lexicon(*(np.append(self.lexicon_[name], 0.0)[at][None] for name in Lexicon._fields))

    def _places(self, X: ExpertPredictions) -> NDArray[np.int64]:
        """Number of each code's word among those learnt from; that after the last for others."""
        place = {word: k for k, word in enumerate(self.words_)}
        return np.array([place.get(word, len(place)) for word in X.alphabet.labels], np.int64)

    def _scene(
        self, found: Candidates, slots: Slots, X: ExpertPredictions, lexicon: Lexicon | None, table: NDArray[np.int64]
    ) -> Scene:
        said = class_table(X.alphabet, self.labels_)[found.label]
        view = view_of(found, said, slots.offsets)
        confidence = None
        if self.confident_:
            known = np.full(len(X.hypotheses.values), np.nan) if X.confidence is None else X.confidence
            confidence = np.append(known, np.nan)[slots.source].astype(np.float32)
        own = None if self.features is None else np.asarray(self.features(X, slots), np.float32)
        rows = np.flatnonzero(found.contested)
        words = None if lexicon is None else word_features(view, rows, X.alphabet.labels, lexicon, table)
        word = None if lexicon is None else np.append(self._places(X), len(self.words_) + 1)[found.label]
        n, p = len(self.workers_), X.n_experts
        who = worker_numbers(X.workers, (len(X), p), self.workers_) if n else None
        return Scene(view, rows, confidence, own, words, len(self.labels_) + 2, word, who, n)

    def _adopt(
        self, model: CandidateModel, posteriors: list[Floats], found: Candidates, right: NDArray[np.bool_], best: int
    ) -> Floats:
        """Keep the steps up to that with the most slots right out of fold; none, if the best expert or the vote has."""
        slot = np.flatnonzero(np.diff(found.offsets) > 1)
        expert = found.of[slot, best]
        decided = [right[expert] & (expert >= 0)]
        decided += [right[_top(found, q)[slot]] for q in (_equal_votes(found), *posteriors)]
        self.right_ = np.array([one.sum() for one in decided], np.int64)
        self.n_steps_ = len(self.right_) - 2 - int(self.right_[::-1].argmax())
        if self.n_steps_ < 1:
            return _equal_votes(found)
        model.passes = model.passes[: self.n_steps_ - 1]
        self.state_ = state_of(model)
        return posteriors[self.n_steps_ - 1]

    def _calibrate(self, slots: Slots, X: ExpertPredictions, found: Posteriors) -> None:
        """Calibrate confidences on out-of-fold answers, which are kept for those who nest this estimator."""
        blind, unknown = without_gold(slots, X)
        self._kept = (blind, found)
        share = self._shares(blind, unknown)
        done = super()._decided(blind, unknown, 0)
        result = judged(done.prediction, X)
        self.calibration_ = learn_calibration(done, blind, share, result.hit, result.errors == 0)
        self._kept, self.out_of_fold = None, (slots, found)

    def _posteriors(self, slots: Slots, X: ExpertPredictions) -> Posteriors:
        if self._kept is not None and self._kept[0] is slots:
            return self._kept[1]
        if self.n_steps_ < 0:
            return _of_best(slots, self.error_)
        found = candidates(slots.labels)
        if self.n_steps_ == 0:
            return _dense(found, _equal_votes(found))
        if self._model is None:
            self._model = model_of(self.state_)
        view = view_of(found, class_table(X.alphabet, self.labels_)[found.label], slots.offsets)
        none = np.zeros(len(slots), np.int64)
        others = self._model.statistics.language.others(view, none, self._codes(X))
        lexicon = None if self.closed_ else self._lexicon(X)
        found = found if others is None else candidates(slots.labels, others)
        made = _dense(found, self._model.posteriors(self._scene(found, slots, X, lexicon, none)))
        if not self.ngram_ or (self.scale_ == 0.0 and self.decode != "viterbi"):
            return weigh_gaps(made, self.gap_)
        table, tree = class_table(X.alphabet, self.labels_), checked(NGramTree(**self.ngram_))
        made = with_ngrams(made, table, slots.offsets, tree, self.scale_, path=self.decode == "viterbi")
        return weigh_gaps(made, self.gap_)

    def _decided(self, slots: Slots, X: ExpertPredictions, n_best: int) -> Combined:
        self._kept = (slots, self._posteriors(slots, X))
        try:
            done = super()._decided(slots, X, n_best)
            if not self.calibration_:
                return done
            unit, record = calibrated(done, slots, self._shares(slots, X), self.calibration_)
        finally:
            self._kept = None
        return replace(done, confidence=unit, record_confidence=record)

    def _notes(self, slots: Slots) -> tuple[str, ...]:
        if self.n_steps_ > 0:
            return ()
        best = f"the best expert, {self.names_[int(self.error_.argmin())]}," if self.n_steps_ else "equal votes,"
        return (f"too little gold for a contextual model to be better than {best} which answers",)


def _token_errors(X: ExpertPredictions) -> Floats:
    """Token error of each expert, on records that it answered."""
    hypotheses, references = X.hypotheses.to_list(), X.references.to_list()
    spans, p = X.reference_offsets.tolist(), X.n_experts
    wrong, length = np.zeros(p), np.zeros(p)
    for i in range(len(X)):
        golds = references[spans[i] : spans[i + 1]]
        for j in np.flatnonzero(X.present[i]).tolist():
            said = hypotheses[i * p + j]
            wrong[j] += min(edit_distance(gold, said) for gold in golds)
            length[j] += len(golds[0])
    return np.where(length > 0, wrong / np.maximum(length, 1), np.finfo(np.float64).max)


def _of_best(slots: Slots, error: Floats) -> Posteriors:
    """What the best expert that is there says."""
    expert = np.where(slots.awake, error, np.inf).argmin(axis=1)
    return Posteriors(slots.labels[np.arange(len(expert)), expert][:, None], np.ones((len(expert), 1)))


def _equal_votes(found: Candidates) -> Floats:
    """Part of each candidate of the votes of its slot."""
    total = np.bincount(found.slot, found.n_supporters, minlength=len(found.of))
    out: Floats = found.n_supporters / np.maximum(total, 1)[found.slot]
    return out


def _dense(found: Candidates, q: Floats) -> Posteriors:
    """The most probable candidates of each slot, side by side."""
    order = np.lexsort((found.first, -q, found.slot))
    rank = np.arange(len(q)) - found.offsets[found.slot]
    kept = order[rank < MOST_LISTED]
    k = int(min(np.diff(found.offsets).max(initial=1), MOST_LISTED))
    label = np.full((len(found.of), max(k, 1)), ABSENT, np.int32)
    probability = np.zeros(label.shape)
    at = found.slot[kept], rank[rank < MOST_LISTED]
    label[at], probability[at] = found.label[kept], q[kept]
    return Posteriors(label, probability)


def _top(found: Candidates, q: Floats) -> NDArray[np.int64]:
    """The most probable candidate of each slot; of equals the first. -1 where there is none."""
    out = np.full(len(found.of), -1, np.int64)
    order = np.lexsort((found.first, -q, found.slot))
    begins = np.flatnonzero(np.diff(found.slot[order], prepend=-1) != 0)
    out[found.slot[order[begins]]] = order[begins]
    return out
