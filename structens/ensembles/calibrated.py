"""Calibrated: any method, its confidences turned into probabilities by its own out-of-fold answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from structens.boosting.ranges import check_whole
from structens.core import ExpertPredictions, ParameterError, Slots
from structens.ensembles.base import Combined, Ensemble
from structens.ensembles.calibration import calibrated, learn_calibration
from structens.ensembles.model_selection import folds
from structens.ensembles.opinions import opinion_behind
from structens.ensembles.out_of_fold import Learning, judged, learn_on, without_gold
from structens.ensembles.path_experts import PathExpertEnsemble


class Calibrated(Ensemble):
    """A method whose confidences are the probabilities that units are right, and whole records.

    Answers are those of the method. `structens.ensembles.AutoEnsemble` and `BoostedPaths` are calibrated by themselves.

    Parameters
    ----------
    ensemble : Ensemble, optional
        Default ``PathExpertEnsemble()``. It is not changed: a copy learns.
    n_folds : int
        Folds of whole records of the out-of-fold answers, at most as many as there are records.
    seed : int
        Of the folds.
    align : {"auto", "always", "never"}

    Attributes
    ----------
    taken_ : Ensemble
        The method, learnt from all gold.
    calibration_ : dict of str to ndarray
        See `structens.ensembles.calibration`; empty with one record of gold.

    Examples
    --------
    >>> from structens.ensembles import MajorityVote
    >>> X = ExpertPredictions.of({"a": ["cat", "dig"] * 20, "b": ["cat", "dog"] * 20}, gold=["cat", "dog"] * 20)
    >>> done = Calibrated(MajorityVote()).fit(X).combine({"a": ["cot"], "b": ["cat"]})
    >>> done.answers, done.confidence.round(2).tolist(), done.record_confidence.round(2).tolist()
    (['cot'], [1.0, 0.01, 1.0], [0.0])
    """

    needs_gold = True

    taken_: Ensemble
    calibration_: dict[str, NDArray[np.float64]]

    def __init__(self, ensemble: Ensemble | None = None, n_folds: int = 5, seed: int = 0, align: str = "auto") -> None:
        self.ensemble = ensemble
        self.n_folds = n_folds
        self.seed = seed
        self.align = align

    def _learn(self, slots: Slots, X: ExpertPredictions) -> None:
        check_whole("n_folds", self.n_folds, 2)
        if self.ensemble is not None and not isinstance(self.ensemble, Ensemble):
            raise ParameterError(f"ensemble must be an ensemble, such as MajorityVote(); got {self.ensemble!r}")
        self.calibration_ = {}
        if len(X) > 1:
            learning = Learning(slots, X, self.aligned_, folds(X.ids, min(self.n_folds, len(X)), self.seed))
            said = learning.out_of_fold(self._copy())
            found = judged(said.done.prediction, X)
            blind, _ = without_gold(slots, X)
            self.calibration_ = learn_calibration(said.done, blind, said.opinion.share, found.hit, found.errors == 0)
        self.taken_ = learn_on(self._copy(), slots, X, self.aligned_)

    def _copy(self) -> Ensemble:
        made = PathExpertEnsemble() if self.ensemble is None else self.ensemble
        return type(made)(**{**made.get_params(deep=False), "align": "always" if self.aligned_ else "never"})

    def _recoded(self, X: ExpertPredictions) -> ExpertPredictions:
        return self.taken_._recoded(X)

    def _decided(self, slots: Slots, X: ExpertPredictions, n_best: int) -> Combined:
        done = self.taken_._decided(slots, X, n_best)
        if not self.calibration_:
            return done
        unit, record = calibrated(done, slots, opinion_behind(done, self.taken_, slots).share, self.calibration_)
        return replace(done, confidence=unit, record_confidence=record)

    def _weights(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64]:
        return self.taken_._weights(slots, X)
