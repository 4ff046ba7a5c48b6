"""The contextual model of candidates: statistics, a conditional logit, then boosted Hamming trees in passes.

1. Statistics of the records learnt from: reliabilities, rates of like cases, label n-grams; for each record those
   without its own fold.
2. A conditional logit on the log-odds of each expert and a little context.
3. In each pass, AdaBoost.MH with Hamming trees: is this candidate right or wrong? It sees the posteriors that the step
   before gives to what stands around, again out of fold. Votes and the step before are blended to posteriors by a
   conditional logit on held-out votes, which calibrates them, too.

Kegl, "The return of AdaBoost.MH" (ICML 2014), for the trees; Wolpert, "Stacked generalization" (1992), and Cohen and
Carvalho, "Stacked sequential learning" (IJCAI 2005), for passes that see the neighbours' held-out answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.boosting.trees import Forest
from structens.core import Ragged
from structens.ensembles.candidate_features import (
    CONTEXT,
    NOMINAL,
    SUPPORT,
    View,
    confidence_features,
    context_features,
    support_features,
)
from structens.ensembles.candidate_logit import fit_logit, slot_posteriors
from structens.ensembles.candidate_rates import (
    SUPPORTERS,
    LikeCases,
    learn_like_cases,
    parents_of,
    supporter_keys,
    surrounding_keys,
)
from structens.ensembles.candidate_workers import WORKERS, learn_workers, worker_features
from structens.ensembles.label_ngram import LabelNGram, learn_ngram
from structens.ensembles.reliability import count_said, reliabilities
from structens.ensembles.unproposed import Pool, count_gold, fit_pool, likely_labels, pool_tables, propose

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

START = 0.3
"""Weight of an expert's log-odds before anything is learnt."""
PENALTY = 1.0
"""Of the conditional logits."""
SHARE_OF_FEATURES = 1.0
"""Drawn anew for each tree. With 0.3 and half as many trees more, twelve files had as many errors as with all."""
LEAST_ROWS = 60
"""Contested candidates below which no trees are grown."""
_LOGIT_CONTEXT = ("n-gram", "left agree", "right agree", "agree")


class Settings(NamedTuple):
    """What `BoostedPaths` asks for."""

    n_rounds: int
    n_inner_nodes: int
    learning_rate: float
    n_passes: int
    order: int
    n_folds: int
    seed: int


class Scene(NamedTuple):
    """Candidates of some records.

    Attributes
    ----------
    view : View
    rows : ndarray of int64
        The contested candidates.
    confidence : ndarray of float32, shape (n_slots, p), or None
        Of each expert in what it says; NaN where it gives none.
    own : ndarray of float32, shape (n_slots, m), or None
        The user's features of slots.
    words : ndarray of float32, shape (len(rows), m), or None
        Features of the words of an open vocabulary.
    n_classes : int
        Classes of labels, those of all other labels and of GAP included.
    word : ndarray of int64, shape (n_candidates,), or None
        Number of each candidate's word, of an open vocabulary.
    workers : ndarray of int64, shape (n_records, p), or None
        Number of who gave each answer.
    n_workers : int
        That number where it is nobody learnt from.
    """

    view: View
    rows: Ints
    confidence: NDArray[np.float32] | None
    own: NDArray[np.float32] | None
    words: NDArray[np.float32] | None
    n_classes: int
    word: Ints | None = None
    workers: Ints | None = None
    n_workers: int = 0

    @property
    def n_records(self) -> int:
        """Number of records."""
        return len(self.view.record_offsets) - 1

    @property
    def slot(self) -> NDArray[np.int32]:
        """Slot of each contested candidate."""
        return self.view.slot[self.rows]

    def posteriors(self, score: Floats) -> Floats:
        """Of all candidates, from scores of the contested ones."""
        out = np.zeros(len(self.view.slot))
        out[self.rows] = score
        return slot_posteriors(out, self.view.offsets)


class Truth(NamedTuple):
    """Gold, and folds of records.

    Attributes
    ----------
    slot : ndarray of int64, shape (n_slots,)
        Class of the right label of each slot; -1 where it has none of its own.
    fold : ndarray of int64, shape (n_records,)
    n_folds : int
    gold : tuple of (labels, offsets)
        Right answers as classes.
    text : Ragged of int64
        Further right sequences, for n-grams.
    """

    slot: Ints
    fold: Ints
    n_folds: int
    gold: tuple[Ints, Ints]
    text: Ragged


class Language(NamedTuple):
    """Label n-grams, and the pool that proposes what nobody did; None with an open vocabulary.

    One of each for every fold of records learnt from, which has not seen it, or one for all new records.
    """

    ngrams: list[LabelNGram]
    pool: Pool | None

    def others(self, view: View, table: Ints, codes: NDArray[np.int32]) -> NDArray[np.int32] | None:
        """Further candidates of each slot; see `structens.ensembles.unproposed.propose`."""
        if self.pool is None:
            return None
        return propose(view, likely_labels(view, self.pool, self.ngrams, table), self.pool.weights, codes)


def learn_language(view: View, truth: Truth, n_classes: int, order: int, *, closed: bool) -> tuple[Language, Language]:
    """Without each fold, and of all.

    Parameters
    ----------
    view : View
        Of the candidates proposed.
    truth : Truth
    n_classes, order : int
    closed : bool
        Learn the pool, too.
    """
    labels, offsets = truth.gold
    lengths, ngrams = np.diff(offsets), []
    for f in range(truth.n_folds + 1):  # the last is of all
        kept = truth.fold != f
        cuts = np.concatenate([[0], np.cumsum([*lengths[kept], *truth.text.lengths])]).astype(np.int64)
        right = np.concatenate([labels[np.repeat(kept, lengths)], truth.text.values])
        ngrams.append(learn_ngram(right, cuts, n_classes - 1, order))
    whole = [ngrams.pop()]
    if not closed:
        return Language(ngrams, None), Language(whole, None)
    n = count_gold(view, truth.slot, truth.fold[view.record], (truth.n_folds, n_classes))
    total = n.sum(axis=0)
    parts = [pool_tables(total - one) for one in n]
    tables = np.stack([table for table, _ in parts]), np.stack([prior for _, prior in parts])
    weights = fit_pool(view, truth.slot, tables, ngrams, truth.fold)
    table, prior = pool_tables(total)
    return Language(ngrams, Pool(*tables, weights)), Language(whole, Pool(table[None], prior[None], weights))


@dataclass
class Statistics:
    """Tables of counts: one for each fold of records learnt from, or one for all new records."""

    reliability: NDArray[np.float32]
    language: Language
    supporters: LikeCases
    workers: NDArray[np.float32] | None = None


@dataclass
class Pass:
    """What one pass has learnt."""

    surroundings: LikeCases
    forest: Forest
    blend: Floats


@dataclass
class CandidateModel:
    """What was learnt from records with gold: gives each candidate of new records its probability."""

    statistics: Statistics
    logit: Floats
    passes: list[Pass]

    def posteriors(self, scene: Scene) -> Floats:
        """Probability of every candidate, shape (n_candidates,)."""
        table = np.zeros(scene.n_records, np.int64)
        known = Known(
            scene,
            self.statistics,
            table,
            self.statistics.supporters.log_odds(supporter_keys(scene.view, scene.rows), SUPPORTERS),
        )
        if not len(scene.rows):
            return np.ones(len(scene.view.slot))
        q = scene.posteriors(known.logit_features() @ self.logit)
        for step in self.passes:
            parents = parents_of(len(step.surroundings.rates))
            keys = surrounding_keys(scene.view, scene.rows, q, scene.n_classes, scene.word)[:, : len(parents)]
            x = known.features(q, step.surroundings.log_odds(keys, parents))
            q = scene.posteriors(_blended(_votes(step.forest, x), q[scene.rows]) @ step.blend)
        return q


class Known:
    """Features of the contested candidates of a scene by statistics that have not seen their gold."""

    def __init__(self, scene: Scene, statistics: Statistics, table: Ints, like: NDArray[np.float32]) -> None:
        self.scene, self.statistics, self.table, self.like = scene, statistics, table, like
        self.support = support_features(scene.view, scene.rows, statistics.reliability, table)
        self.extra = [like]
        if scene.confidence is not None:
            self.extra.append(confidence_features(scene.view, scene.rows, scene.confidence))
        if scene.own is not None:
            self.extra.append(scene.own[scene.slot])
        if scene.words is not None:
            self.extra.append(scene.words)
        self.workers = None
        if scene.workers is not None and statistics.workers is not None:
            self.workers = worker_features(scene.view, scene.rows, scene.workers, statistics.workers, table)
            self.extra.append(self.workers)

    def logit_features(self) -> Floats:
        """Log-odds of each expert, share of supporters, GAP, like cases, and a little context by the plain vote."""
        view, rows = self.scene.view, self.scene.rows
        total = np.bincount(view.slot, view.n_supporters, minlength=len(view.record))
        context = context_features(
            view, rows, view.n_supporters / total[view.slot], self.statistics.language.ngrams, self.table
        )
        near = context[:, [CONTEXT.index(name) for name in _LOGIT_CONTEXT]]
        own = self.support[:, [SUPPORT.index("share"), SUPPORT.index("gap")]]
        parts = [self.support[:, len(SUPPORT) :], own, self.like[:, 1:], near]
        if self.workers is not None:
            parts.append(self.workers[:, WORKERS.index("workers' votes"), None])
        return np.nan_to_num(np.column_stack(parts).astype(np.float64))

    def features(self, q: Floats, surroundings: NDArray[np.float32]) -> NDArray[np.float32]:
        """What the trees see."""
        scene = self.scene
        context = context_features(scene.view, scene.rows, q, self.statistics.language.ngrams, self.table)
        return np.column_stack([self.support, context, *self.extra, surroundings])


def learn_candidates(
    scene: Scene, everywhere: NDArray[np.bool_], truth: Truth, languages: tuple[Language, Language], settings: Settings
) -> tuple[CandidateModel, list[Floats]]:
    """Learn the model, and the posteriors of the candidates learnt from, out of fold, after each step.

    Parameters
    ----------
    scene : Scene
    everywhere : ndarray of bool, shape (n_candidates,)
        Which candidates are right.
    truth : Truth
    languages : pair of Language
        By fold, and of all.
    settings : Settings
    """
    view, rows = scene.view, scene.rows
    fold_of_row = truth.fold[view.record[scene.slot]]
    right = everywhere[rows]
    likes, like = learn_like_cases(supporter_keys(view, rows), SUPPORTERS, right, fold_of_row)
    fold = np.full(len(view.slot), -1)
    fold[rows] = fold_of_row
    counts = count_said(view, everywhere, fold, (truth.n_folds, scene.n_classes))
    tables = np.stack([reliabilities(*counts.without(f)) for f in range(truth.n_folds)])
    by_fold = Statistics(tables, languages[0], likes)
    whole = Statistics(reliabilities(*counts.without(-1))[None], languages[1], likes)
    if scene.workers is not None:
        people = learn_workers(view, scene.workers, everywhere, truth.fold, (truth.n_folds, scene.n_workers))
        by_fold.workers, whole.workers = people[:-1], people[-1:]
    known = Known(scene, by_fold, truth.fold, like)
    learner = _Learner(scene, right, fold_of_row % settings.n_folds, settings)
    logit, score = learner.logit(known.logit_features())
    model, found = CandidateModel(whole, logit, []), [scene.posteriors(score)]
    for _ in range(settings.n_passes if len(learner.fair) >= LEAST_ROWS else 0):
        q = found[-1]
        keys = surrounding_keys(view, rows, q, scene.n_classes, scene.word)
        surroundings, near = learn_like_cases(keys, parents_of(keys.shape[1]), right, fold_of_row)
        forest, votes = learner.forest(known.features(q, near))
        both = _blended(votes, q[rows])
        blend = learner.weights(both, np.ones(len(rows), bool), np.array([1.0, 0.0]))
        model.passes.append(Pass(surroundings, forest, blend))
        found.append(scene.posteriors(both @ blend))
    return model, found


class _Learner:
    """Learns each step once for each fold, without it, and once from all."""

    def __init__(self, scene: Scene, right: NDArray[np.bool_], fold: Ints, settings: Settings) -> None:
        self.scene, self.right, self.fold, self.settings = scene, right, fold, settings
        winnable = np.bincount(scene.slot, right, minlength=len(scene.view.record)) > 0
        self.winnable = winnable[scene.slot]
        self.fair = np.flatnonzero(self.winnable)
        self.folds = np.unique(fold)

    def logit(self, x: Floats) -> tuple[Floats, Floats]:
        """Weights, and the held-out scores."""
        p = self.scene.view.of.shape[1]
        score = np.zeros(len(x))
        for f in self.folds:
            score[self.fold == f] = x[self.fold == f] @ self._drawn_to_votes(x, self.fold != f, p)
        return self._drawn_to_votes(x, np.ones(len(x), bool), p), score

    def _drawn_to_votes(self, x: Floats, used: NDArray[np.bool_], p: int) -> Floats:
        start = np.zeros(x.shape[1])
        start[:p] = self.weights(x[:, :p].sum(axis=1, keepdims=True), used, np.array([START]))
        return self.weights(x, used, start)

    def weights(self, x: Floats, used: NDArray[np.bool_], start: Floats) -> Floats:
        """Of a conditional logit on the slots that can be won."""
        rows = np.flatnonzero(used & self.winnable)
        slot = self.scene.slot[rows]
        begins = np.flatnonzero(np.diff(slot, prepend=-1) != 0)
        return fit_logit(x[rows], begins, np.flatnonzero(self.right[rows]), start, PENALTY)

    def forest(self, x: NDArray[np.float32]) -> tuple[Forest, Floats]:
        """The trees, and held-out votes."""
        votes = np.zeros(len(x))
        for f in self.folds:
            inside = self.fold == f
            votes[inside] = _votes(self._grown(x, np.flatnonzero(~inside & self.winnable)), x[inside])
        return self._grown(x, self.fair), votes

    def _grown(self, x: NDArray[np.float32], rows: Ints) -> Forest:
        if len(np.unique(self.right[rows])) < 2:
            return Forest(2)
        from structens.boosting.adaboost_mh import AdaBoostMH
        from structens.boosting.hamming_tree import HammingTree

        s = self.settings
        nominal = nominal_columns(self.scene.view.of.shape[1])
        model = AdaBoostMH(
            HammingTree(s.n_inner_nodes),
            s.n_rounds,
            votes="real",
            learning_rate=s.learning_rate,
            engine="histogram",
            max_bins=64,
            max_features=SHARE_OF_FEATURES,
            nominal_features=nominal,
            random_state=s.seed,
        )
        return model.fit(x[rows], self.right[rows]).forest_


def nominal_columns(p: int) -> list[int]:
    """Features whose values have no order, with p experts."""
    return [SUPPORT.index("label"), *(len(SUPPORT) + p + CONTEXT.index(name) for name in NOMINAL[1:])]


def _votes(forest: Forest, x: NDArray[np.float32]) -> Floats:
    """For right less for wrong."""
    if not forest.trees:
        return np.zeros(len(x))
    from structens.boosting.prediction import votes_of  # here, for combining by votes needs no boosting

    f = votes_of(forest, x, forest.n_trees)
    return f[:, 1] - f[:, 0]


def _blended(votes: Floats, q: Floats) -> Floats:
    return np.column_stack([votes, np.log(np.maximum(q, 1e-6))])
