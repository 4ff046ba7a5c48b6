"""BoostedPaths: a contextual model scores the transitions of the path-expert automaton.

Which experts agree, how often each is right when it says just this, what stands to the left and right: boosted Hamming
trees learn from all that which of the answers proposed in a slot is right (`structens.ensembles.candidate_model`), and
the automaton is decoded by their probabilities. A vote by expert weights knows none of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.ranges import check_whole, within
from structens.core import ExpertPredictions, ParameterError, Slots
from structens.ensembles.base import Combined, Ensemble
from structens.ensembles.calibration import calibrated, learn_calibration
from structens.ensembles.candidate_features import view_of
from structens.ensembles.candidate_model import CandidateModel, Scene, Settings, Truth, learn_candidates
from structens.ensembles.candidate_state import model_of, state_of
from structens.ensembles.candidates import Candidates, candidates, spread
from structens.ensembles.decoding import Decode
from structens.ensembles.label_classes import class_table, frequent_labels, gold_classes
from structens.ensembles.label_ngram import MOST_ORDER
from structens.ensembles.model_selection import folds
from structens.ensembles.out_of_fold import judged, without_gold
from structens.ensembles.restriction import Restriction
from structens.losses import edit_distance

Floats = NDArray[np.float64]
SlotFeatures = Callable[[ExpertPredictions, Slots], NDArray[Any]]

FEWEST_RECORDS = 4
"""Records with gold below which the best expert answers alone."""
COUNT_FOLDS = 2
"""Folds of counts for each fold of the models."""


class BoostedPaths(Ensemble):
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
    align : {"auto", "always", "never"}
    ties : {"order", "random"}
    decode : {"marginal", "viterbi", "string", "mbr"} or MBR
    restriction : "bio", "bioes", mapping, or None
    seed : int
        Of folds and lots.

    Attributes
    ----------
    classes_ : list of str
        Labels learnt by name.
    closed_ : bool
    n_steps_ : int
        Steps in use: 0 the best expert alone, 1 the conditional logit, then passes of trees.
    right_ : ndarray of int64
        Contested slots learnt from that each of them decides rightly out of fold; first the best expert.
    error_ : ndarray of float64, shape (p,)
        Token error of each expert where it answered.
    calibration_ : dict of str to ndarray
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

    classes_: list[str]
    closed_: bool
    n_steps_: int
    right_: NDArray[np.int64]
    error_: Floats
    calibration_: dict[str, Floats]
    state_: dict[str, Any]

    _model: CandidateModel | None = None
    _kept: tuple[Slots, Floats] | None = None
    out_of_fold: tuple[Slots, Floats] | None = None

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
        self.align = align
        self.ties = ties
        self.decode = decode
        self.restriction = restriction
        self.seed = seed

    def _learn(self, slots: Slots, X: ExpertPredictions) -> None:
        self._check_options()
        self._model, self._kept = None, None
        counts = np.bincount(X.references[X.reference_offsets[:-1]].values, minlength=len(X.alphabet))
        codes, self.closed_ = frequent_labels(counts, self.vocabulary)
        self.classes_ = X.alphabet.decode(codes)
        self.error_ = _token_errors(X)
        self.n_steps_, self.right_, self.calibration_, self.state_ = 0, np.zeros(0, np.int64), {}, {}
        if len(X) < FEWEST_RECORDS:
            return
        found = candidates(slots.labels)
        scene = self._scene(found, slots, X)
        if not len(scene.rows):
            return
        n_folds = min(self.n_folds, len(X) // 2)
        fold = folds(X.ids, min(n_folds * COUNT_FOLDS, len(X)), self.seed)
        right = found.label == slots.gold[found.slot]
        table = class_table(X.alphabet, self.classes_)
        truth = Truth(right, fold, int(fold.max()) + 1, gold_classes(X, table))
        model, posteriors = learn_candidates(scene, truth, self._settings(n_folds))
        self._adopt(model, posteriors, found, right, int(self.error_.argmin()))
        self._calibrate(slots, X, spread(found, posteriors[max(self.n_steps_ - 1, 0)]))

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

    def _scene(self, found: Candidates, slots: Slots, X: ExpertPredictions) -> Scene:
        table = class_table(X.alphabet, self.classes_)
        view = view_of(found, table[found.label], slots.offsets)
        confidence = None
        if X.confidence is not None:
            confidence = np.append(X.confidence, np.nan)[slots.source].astype(np.float32)
        own = None if self.features is None else np.asarray(self.features(X, slots), np.float32)
        return Scene(view, np.flatnonzero(found.contested), confidence, own, len(self.classes_) + 2)

    def _adopt(
        self, model: CandidateModel, posteriors: list[Floats], found: Candidates, right: NDArray[np.bool_], best: int
    ) -> None:
        """Keep the steps up to that with the most slots right out of fold; none, if the best expert has more."""
        slot = np.flatnonzero(np.diff(found.offsets) > 1)
        expert = found.of[slot, best]
        decided = [right[expert] & (expert >= 0), *(right[_top(found, q)[slot]] for q in posteriors)]
        self.right_ = np.array([one.sum() for one in decided], np.int64)
        self.n_steps_ = len(self.right_) - 1 - int(self.right_[::-1].argmax())
        model.passes = model.passes[: max(self.n_steps_ - 1, 0)]
        if self.n_steps_:
            self.state_ = state_of(model)

    def _calibrate(self, slots: Slots, X: ExpertPredictions, weights: Floats) -> None:
        """Calibrate confidences on out-of-fold answers, which are kept for those who nest this estimator."""
        self.out_of_fold = None
        if not self.n_steps_:
            return
        blind, unknown = without_gold(slots, X)
        self._kept = (blind, weights)
        share = self._shares(blind, unknown)
        done = super()._decided(blind, unknown, 0)
        result = judged(done.prediction, X)
        self.calibration_ = learn_calibration(done, blind, share, result.hit, result.errors == 0)
        self._kept, self.out_of_fold = None, (slots, weights)

    def _weights(self, slots: Slots, X: ExpertPredictions) -> Floats:
        if self._kept is not None and self._kept[0] is slots:
            return self._kept[1]
        if not self.n_steps_:
            return _votes_of_best(slots, self.error_)
        if self._model is None:
            self._model = model_of(self.state_)
        found = candidates(slots.labels)
        return spread(found, self._model.posteriors(self._scene(found, slots, X)))

    def _decided(self, slots: Slots, X: ExpertPredictions, n_best: int) -> Combined:
        self._kept = (slots, self._weights(slots, X))
        try:
            done = super()._decided(slots, X, n_best)
            if not self.calibration_:
                return done
            unit, record = calibrated(done, slots, self._shares(slots, X), self.calibration_)
        finally:
            self._kept = None
        return replace(done, confidence=unit, record_confidence=record)

    def _notes(self, slots: Slots) -> tuple[str, ...]:
        if self.n_steps_:
            return ()
        best = self.names_[int(self.error_.argmin())]
        return (f"too little gold for a contextual model to be better than the best expert, {best}, who answers",)


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


def _votes_of_best(slots: Slots, error: Floats) -> Floats:
    """One vote for the best expert that is there."""
    out = np.zeros(slots.labels.shape)
    out[np.arange(len(out)), np.where(slots.awake, error, np.inf).argmin(axis=1)] = 1.0
    return out


def _top(found: Candidates, q: Floats) -> NDArray[np.int64]:
    """The most probable candidate of each slot; of equals the first. -1 where there is none."""
    out = np.full(len(found.of), -1, np.int64)
    order = np.lexsort((found.first, -q, found.slot))
    begins = np.flatnonzero(np.diff(found.slot[order], prepend=-1) != 0)
    out[found.slot[order[begins]]] = order[begins]
    return out
