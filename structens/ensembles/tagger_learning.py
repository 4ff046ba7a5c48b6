"""How a `PositionTagger` learns: from all sequences, and before from parts of them, to choose by what was held out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.boosting.folds import fold_of_rows, unfitted
from structens.core import ParameterError, Ragged
from structens.ensembles.features import is_tokens, mixed, sequence_hashes
from structens.ensembles.label_decoding import after
from structens.ensembles.position_classifier import PositionClassifier, default_classifier
from structens.ensembles.vector_features import MatrixFeatures, VectorWindows
from structens.ensembles.word_features import WordFeatures

Floats = NDArray[np.float64]

MAKERS: dict[str, Any] = {"words": WordFeatures, "vectors": VectorWindows, "matrix": MatrixFeatures}
"""Makers of features by the names they may be asked for."""
_ENOUGH = 2500
"""Held-out positions after which no further fold is learnt from: two numbers and a curve are chosen on them."""


class HeldOut(NamedTuple):
    """Votes for positions that were not learnt from."""

    votes: Floats
    true_votes: Floats
    labels: Ragged


class Learning:
    """What learning needs: parts to hold out, time, and rounds done."""

    def __init__(self, tagger: Any, X: Sequence[Any], labels: Ragged, n_classes: int) -> None:
        self.tagger, self.X, self.labels, self.n_classes = tagger, X, labels, n_classes
        self.hashes = sequence_hashes(X)
        self.begin = time.monotonic()
        self.parts = self._parts()
        self.n_fits, self.n_done = len(self.parts) + 1, 0

    def _parts(self) -> list[NDArray[np.int64]]:
        """Numbers of the sequences to hold out, one array a fit; none if nothing is to be chosen."""
        tagger = self.tagger
        chooses = tagger.bigram_weight is None and tagger.decode == "viterbi"
        n_different = len(np.unique(self.hashes))
        if not (chooses or tagger.calibrate is not None) or n_different < 2:
            return []
        n_folds = min(int(tagger.n_folds), n_different)
        fold = fold_of_rows(self.hashes, n_folds, tagger.random_state, groups=self.hashes)
        parts, n_held = [], 0
        for k in range(n_folds):
            part = np.flatnonzero(fold == k)
            if n_held < _ENOUGH and self.labels.lengths[part].any():
                parts.append(part)
                n_held += int(self.labels.lengths[part].sum())
        return parts

    def held_out(self) -> HeldOut | None:
        """Votes for the parts, each by what was learnt from all others; None if nothing is held out."""
        found = []
        for part in self.parts:
            others = np.setdiff1d(np.arange(len(self.X)), part)
            if self.labels.lengths[others].any():
                model = self.learn(others)
                truth = self.labels[part]
                votes = model.votes([self.X[i] for i in part.tolist()])
                found.append(
                    HeldOut(votes, votes if votes.ndim == 2 else after(votes, truth.values, truth.offsets), truth)
                )
        if not found:
            return None
        together = Ragged.from_lengths(
            np.concatenate([held.labels.values for held in found]),
            np.concatenate([held.labels.lengths for held in found]),
        )
        return HeldOut(
            np.concatenate([held.votes for held in found]),
            np.concatenate([held.true_votes for held in found]),
            together,
        )

    def learn(self, chosen: NDArray[np.int64]) -> PositionClassifier:
        """Features and classifier of some of the sequences."""
        tagger = self.tagger
        X, labels = [self.X[i] for i in chosen.tolist()], self.labels[chosen]
        maker = _maker(tagger.features, self.X).fit(X)
        model = PositionClassifier(maker, None, tagger.previous_labels, self.n_classes)
        rows = model.rows(X, labels)
        classifier = tagger.classifier
        if classifier is None:
            classifier = default_classifier(rows, tagger.random_state, tagger.n_jobs)
        classifier = unfitted(classifier, **self._limits(classifier))
        model.classifier = classifier.fit(rows, labels.values)
        self.n_done += 1
        if tagger.progress is not None and not hasattr(classifier, "callback"):
            tagger.progress(self.n_done, self.n_fits)
        model.classifier = _quiet(model.classifier)
        return model

    def _limits(self, classifier: Any) -> dict[str, Any]:
        """Parameters that keep a classifier within the time, and let it tell how far it is."""
        tagger = self.tagger
        out: dict[str, Any] = {}
        known = classifier.get_params(deep=False)
        if tagger.time_limit is not None:
            if "time_limit" not in known:
                raise ParameterError(f"time_limit is set, but {type(classifier).__name__} knows none")
            left = tagger.time_limit - (time.monotonic() - self.begin)
            out["time_limit"] = max(left, 0.0) / (self.n_fits - self.n_done) + 1e-9
        if tagger.progress is not None and known.get("callback", 0) is None:
            report, n_rounds = tagger.progress, int(known["n_rounds"])
            done, total = self.n_done * n_rounds, self.n_fits * n_rounds

            def callback(t: int, *_: Any) -> bool:
                report(done + t, total)
                return False

            out["callback"] = callback
        return out


def subsampled(X: Sequence[Any], share: float, random_state: int) -> list[int]:
    """Numbers of the sequences drawn, by a hash of their content: the same ones whatever else is among them.

    Examples
    --------
    >>> subsampled([["a"], ["b"], ["c"], ["a"]], 0.5, 2), subsampled([["c"], ["b"]], 0.5, 2)
    ([0, 1, 3], [1])
    """
    seed = mixed(np.array([random_state % 2**64], dtype=np.uint64))
    chance = mixed(sequence_hashes(X) ^ seed) / 2.0**64
    return np.flatnonzero(chance < share).tolist()


def _maker(features: Any, X: Sequence[Any]) -> Any:
    """A new maker of features."""
    if isinstance(features, str):
        name = ("words" if is_tokens(X) else "vectors") if features == "auto" else features
        return MAKERS[name]()
    return unfitted(features)


def _quiet(classifier: Any) -> Any:
    """Without a callback: what is learnt can be stored, and says nothing more."""
    if hasattr(classifier, "callback"):
        classifier.callback = None
    return classifier
