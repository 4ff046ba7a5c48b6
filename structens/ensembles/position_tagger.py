"""PositionTagger: a classifier of single positions, made a tagger of sequences by decoding over label bigrams.

The position classifier is AdaBoost.MH on Hamming trees (Kegl, ICML 2014), whose authors propose the step to sequences:
features of windows, labels before among them, and Viterbi on top. What it learns is one expert among others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from structens.automata.label_acceptor import LabelAcceptor
from structens.automata.label_chain import LabelChain
from structens.boosting.calibration import Temperature, calibrator
from structens.core import Alphabet, DataError, Estimator, NotFittedError, ParameterError
from structens.ensembles.features import labels_of_sequences, lengths_of, sequence_hashes
from structens.ensembles.label_bigrams import LabelBigrams
from structens.ensembles.label_decoding import after, greedy, half_log_odds, of_codes
from structens.ensembles.position_classifier import PositionClassifier
from structens.ensembles.restriction import Restriction, check_restriction, compile_restriction
from structens.ensembles.tagged import Tagged
from structens.ensembles.tagger_learning import MAKERS, HeldOut, Learning, subsampled

Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]

BIGRAM_WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5)
"""Weights that are tried; 1 is the hybrid hidden Markov model's."""
_CHUNK = 20_000
"""Positions that are tagged at once."""


class PositionTagger(Estimator):
    """Tags sequences: classifies every position by features of a window, then decodes the whole sequence.

    Parameters
    ----------
    features : {"auto", "words", "vectors", "matrix"} or object
        How positions become rows: `WordFeatures`, `VectorWindows`, the user's own numbers as they are, or any object
        with ``fit(sequences)`` and ``transform(sequences)``. "auto": words for tokens, vectors for arrays.
    classifier : object, optional
        A classifier with ``fit(X, y)`` and ``decision_function`` or ``predict_proba``. Default: `AdaBoostMH` with real
        votes and trees of a size that fits the data.
    previous_labels : {0, 1}
        Whether the label before is a feature. It is the true one in learning; Viterbi tries all.
    decode : {"viterbi", "position"}
        The best sequence under posteriors and bigrams of labels; or the best label of each position by itself (with
        the label before as a feature: from left to right).
    bigram_weight : float, optional
        What log ratios of bigrams count for, >= 0. Default: the one of `BIGRAM_WEIGHTS` with the least error on
        sequences held out, the least of equal ones.
    restrict : str or mapping, optional
        Only sequences of labels that this admits: "bio", "bioes", n-grams forbidden or allowed, or an automaton, as in
        `structens.ensembles.restriction`. Needs decode="viterbi".
    calibrate : {None, "temperature", "sigmoid", "isotonic"}
        Curve fitted to confidences of positions held out. None: posteriors as they come.
    subsample : float
        Share of the different sequences that are learnt from, in (0, 1]; drawn by hash and `random_state`, so that
        taggers of several seeds learn from several parts of the same data.
    n_folds : int
        Parts of the sequences, one of which is held out at a time to choose weight, temperature and curve; no more of
        them than are needed for 2,500 positions. Equal sequences are in one part.
    random_state : int
        Seed of the subsample, of the parts and of the default classifier.
    n_jobs : int
        Threads of the default classifier; -1 for one a core.
    time_limit : float, optional
        Seconds by the clock for all learning; boosting has fewer rounds then.
    progress : callable, optional
        Called with the rounds of boosting done and the number of all (fits, for other classifiers).

    Attributes
    ----------
    classes_ : ndarray of str, shape (K,)
        Labels, sorted.
    features_, classifier_ : object
        What was learnt from all sequences.
    bigrams_ : LabelBigrams
    bigram_weight_ : float
    temperature_ : float
        Of the posteriors (`structens.boosting.softmax_posteriors`).
    calibrator_ : Calibrator or None
    held_out_error_ : float
        Share of wrong labels on the positions held out, by the model that is chosen; NaN if there were none.
    fingerprints_ : ndarray of uint64
        Sorted hashes of the sequences learnt from.

    Examples
    --------
    >>> from structens.ensembles import WordFeatures
    >>> X = [["the", "dog"], ["a", "dog"], ["the", "cat"], ["a", "cat"], ["cat"], ["dog"]] * 2
    >>> y = [["D", "N"]] * 4 + [["N"]] * 2
    >>> tagger = PositionTagger(WordFeatures(radius=1), n_folds=3).fit(X, y * 2)
    >>> tagger.predict([["the", "dog"], ["cat"], []])
    [['D', 'N'], ['N'], []]
    >>> tagger.learnt_from([["the", "dog"], ["dog", "the"]]).tolist()
    [True, False]
    """

    def __init__(
        self,
        features: Any = "auto",
        classifier: Any = None,
        *,
        previous_labels: int = 0,
        decode: str = "viterbi",
        bigram_weight: float | None = None,
        restrict: Restriction | None = None,
        calibrate: str | None = "sigmoid",
        subsample: float = 1.0,
        n_folds: int = 5,
        random_state: int = 0,
        n_jobs: int = 1,
        time_limit: float | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.features = features
        self.classifier = classifier
        self.previous_labels = previous_labels
        self.decode = decode
        self.bigram_weight = bigram_weight
        self.restrict = restrict
        self.calibrate = calibrate
        self.subsample = subsample
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.progress = progress

    # ---- learning

    def fit(self, X: Sequence[Any], y: Sequence[Sequence[str]]) -> Self:
        """Learn.

        Parameters
        ----------
        X : sequence of sequences
            Tokens, or arrays of shape (positions, d).
        y : sequence of sequences of str
            A label for each position.

        Raises
        ------
        DataError
            If X and y do not fit each other, or there is nothing to learn from.
        ParameterError
            If a parameter is out of its range.
        """
        self._check()
        labels, classes = labels_of_sequences(X, y)
        if self.subsample < 1:
            kept = subsampled(X, self.subsample, self.random_state)
            if not any(len(X[i]) for i in kept):
                rule = f"subsample={self.subsample!r} leaves no position of {len(X)} sequences to learn from"
                raise DataError(rule, hint="give a larger share or more sequences")
            X, y = [X[i] for i in kept], [y[i] for i in kept]
            labels, classes = labels_of_sequences(X, y)
        plan = Learning(self, X, labels, len(classes))
        held = plan.held_out()
        model = plan.learn(np.arange(len(X)))
        self.classes_ = classes
        self.features_, self.classifier_ = model.features, model.classifier
        self.bigrams_ = LabelBigrams().fit(labels, len(classes))
        self.fingerprints_ = np.unique(plan.hashes)
        self._choose(held)
        return self

    def _choose(self, held: HeldOut | None) -> None:
        """Temperature, weight of bigrams and curve of confidences, by what was held out."""
        self.temperature_, self.calibrator_, self.held_out_error_ = 1.0, None, float("nan")
        self.bigram_weight_ = 1.0 if self.bigram_weight is None else float(self.bigram_weight)
        if held is None:
            return
        if len(self.classes_) > 1:
            self.temperature_ = Temperature().fit(held.true_votes, held.labels.values).temperature_
        score = self._scores(held.votes)
        offsets, truth = held.labels.offsets, held.labels.values
        weights = BIGRAM_WEIGHTS if self.bigram_weight is None and self.decode == "viterbi" else (self.bigram_weight_,)
        errors = []
        for weight in weights:
            self.bigram_weight_ = weight
            errors.append(float((self._decoded(score, offsets) != truth).mean()))
        self.bigram_weight_ = float(weights[int(np.argmin(errors))])
        self.held_out_error_ = min(errors)
        if self.calibrate is not None:
            codes = self._decoded(score, offsets)
            sure = of_codes(self._posteriors(score, offsets), codes)
            right = (codes == truth).astype(np.int64)
            if 0 < right.sum() < len(right):
                self.calibrator_ = calibrator(self.calibrate).fit(half_log_odds(sure), right)

    # ---- answers

    def tag(self, X: Sequence[Any]) -> Tagged:
        """Labels and confidences of sequences, at the price of one of them.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the sequences are not like those learnt from.
        """
        self._check_fitted()
        labels: list[list[str]] = []
        confidences: list[Floats] = []
        for score, offsets in self._scored(X):
            codes = self._decoded(score, offsets)
            sure = of_codes(self._posteriors(score, offsets), codes)
            if self.calibrator_ is not None and len(sure):
                sure = self.calibrator_.probabilities(half_log_odds(sure))[:, 1]
            names = self.classes_[codes].tolist()
            for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
                labels.append(names[a:b])
                confidences.append(sure[a:b])
        return Tagged(labels, confidences)

    def predict(self, X: Sequence[Any]) -> list[list[str]]:
        """Labels of each sequence. Raises as `tag`."""
        return self.tag(X).labels

    def confidences(self, X: Sequence[Any]) -> list[Floats]:
        """Probability that each label of `predict` is right, calibrated, an array a sequence. Raises as `tag`."""
        return self.tag(X).confidences

    def predict_proba(self, X: Sequence[Any]) -> list[Floats]:
        """Probability of every label, arrays of shape (positions, K), columns in the order of ``classes_``.

        Marginals of the chain if decoded by Viterbi; not touched by `calibrate`. Raises as `tag`.
        """
        self._check_fitted()
        out: list[Floats] = []
        for score, offsets in self._scored(X):
            posteriors = self._posteriors(score, offsets)
            out.extend(posteriors[a:b] for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True))
        return out

    def score(self, X: Sequence[Any], y: Sequence[Sequence[str]]) -> float:
        """Share of positions with the right label.

        Raises
        ------
        DataError
            If there is no position, or y does not fit X.
        """
        labels_of_sequences(X, y)
        predicted = np.array([label for row in self.predict(X) for label in row])
        truth = np.array([label for row in y for label in row])
        return float((predicted == truth).mean())

    def learnt_from(self, X: Sequence[Any]) -> NDArray[np.bool_]:
        """For each sequence whether it, or one of the same content, was learnt from; of an empty one nothing is.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        self._check_fitted()
        learnt: NDArray[np.bool_] = np.isin(sequence_hashes(X), self.fingerprints_) & (lengths_of(X) > 0)
        return learnt

    # ---- from votes to labels

    def _scored(self, X: Sequence[Any]) -> Any:
        """Sequences in chunks, with log posteriors and offsets."""
        model = PositionClassifier(self.features_, self.classifier_, self.previous_labels, len(self.classes_))
        lengths = lengths_of(X)
        chunk = np.cumsum(lengths) // max(1, _CHUNK // (len(self.classes_) + 1 if self.previous_labels else 1))
        for part in np.split(np.arange(len(X)), np.flatnonzero(np.diff(chunk)) + 1) if len(X) else ():
            some = [X[i] for i in part.tolist()]
            offsets = np.concatenate([[0], np.cumsum(lengths[part])]).astype(np.int64)
            yield self._scores(model.votes(some)), offsets

    def _scores(self, votes: Floats) -> Floats:
        """Log posteriors from votes."""
        scaled = 2.0 * votes / self.temperature_
        scaled -= scaled.max(axis=-1, keepdims=True)
        with np.errstate(under="ignore"):
            out: Floats = scaled - np.log(np.exp(scaled).sum(axis=-1, keepdims=True))
        return out

    def _acceptor(self) -> LabelAcceptor | None:
        return None if self.restrict is None else compile_restriction(self.restrict, Alphabet(tuple(self.classes_)))

    def _chain(self) -> LabelChain:
        return self.bigrams_.chain(self.bigram_weight_, self._acceptor())

    def _decoded(self, score: Floats, offsets: NDArray[np.int64]) -> NDArray[np.int32]:
        if self.decode == "position":
            return greedy(score, offsets)
        return self._chain().best(score, offsets)

    def _posteriors(self, score: Floats, offsets: NDArray[np.int64]) -> Floats:
        if self.decode == "position":
            with np.errstate(under="ignore"):
                return np.exp(score if score.ndim == 2 else after(score, greedy(score, offsets), offsets))
        return self._chain().marginals(score, offsets)

    # ---- checks

    def _check_fitted(self) -> None:
        if not hasattr(self, "classifier_"):
            raise NotFittedError("this PositionTagger has learnt nothing yet; call fit first")

    def _check(self) -> None:
        if isinstance(self.features, str) and self.features not in ("auto", *MAKERS):
            raise ParameterError(f"features must be auto, {', '.join(MAKERS)} or an object; got {self.features!r}")
        if self.decode not in ("viterbi", "position"):
            raise ParameterError(f"decode must be viterbi or position; got {self.decode!r}")
        if self.previous_labels not in (0, 1):
            raise ParameterError(f"previous_labels must be 0 or 1; got {self.previous_labels!r}")
        if self.bigram_weight is not None and not 0 <= self.bigram_weight < np.inf:
            raise ParameterError(f"bigram_weight must be finite and >= 0; got {self.bigram_weight!r}")
        if self.restrict is not None:
            check_restriction(self.restrict)
            if self.decode != "viterbi":
                raise ParameterError("restrict needs decode='viterbi': single positions cannot obey it")
        if self.calibrate is not None:
            calibrator(self.calibrate)
        if not 0 < self.subsample <= 1:
            raise ParameterError(f"subsample must be above 0 and at most 1; got {self.subsample!r}")
        if not isinstance(self.n_folds, (int, np.integer)) or self.n_folds < 2:
            raise ParameterError(f"n_folds must be a whole number >= 2; got {self.n_folds!r}")
        if self.time_limit is not None and not self.time_limit > 0:
            raise ParameterError(f"time_limit must be positive; got {self.time_limit!r}")
