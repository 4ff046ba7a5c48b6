"""AutoEnsemble: tries methods on gold that they have not seen, takes the best or pools them, and says why.

Each candidate answers every record with gold by what it learnt from the other folds; the pool of all
(`structens.ensembles.log_pool`) is one more candidate, its powers learnt without the fold it is judged on. What is
taken learns once more from all gold. The same out-of-fold answers calibrate its confidences
(`structens.ensembles.calibration`). Stacking: Wolpert, "Stacked generalization" (Neural Networks 1992); van der Laan,
Polley and Hubbard, "Super learner" (2007), whose oracle inequality says that the choice by cross-validation is as good
as that of one who knows the candidates' true errors, up to a term that falls with the number of records.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from structens.boosting.ranges import check_whole, within
from structens.core import Alphabet, Encoder, ExpertPredictions, ParameterError, Slots
from structens.core.predictions import encode_answers
from structens.ensembles.auto_candidates import (
    LITTLE,
    MOST_OTHERS,
    POOL,
    Trial,
    by_preference,
    candidates_of,
    choose,
    pools,
)
from structens.ensembles.base import Combined, Ensemble
from structens.ensembles.calibration import calibrated, learn_calibration
from structens.ensembles.decoding import Decode
from structens.ensembles.model_selection import folds
from structens.ensembles.opinions import opinion_behind, opinion_of
from structens.ensembles.out_of_fold import Learning, Said, judged, learn_on, without_gold
from structens.ensembles.pool import LogPool, said_by
from structens.ensembles.restriction import Restriction

N_FOLDS = 5
N_FOLDS_OF_MANY = 3
MANY = 100_000
"""Answers to slots, slots times experts, from which on there are `N_FOLDS_OF_MANY` folds."""


class OutOfTimeError(Exception):
    """A candidate would take longer than there is time."""


class AutoEnsemble(Ensemble):
    """The best of several methods, or their pool, by out-of-fold errors on the records with gold.

    Without gold it votes: ROVER, or where records name `workers` it is `DawidSkene`. With one record of gold it is
    H_MVote, with more the candidates are compared; see `structens.ensembles.auto_candidates` for which, and for how it
    chooses.

    Parameters
    ----------
    candidates : sequence of str, optional
        Names of methods, as in `structens.ensembles.make_ensemble`; None takes those that the amount of gold bears.
    n_folds : int, optional
        Folds of whole records, at most as many as there are; None is 5, and 3 where gold is plenty (100,000 answers of
        experts to slots).
    time_limit : float, optional
        Seconds after which no further candidate is begun or gone on with; the first is always tried. What is left out
        is said. Only where it strikes can two runs differ.
    seed : int
        Of folds, lots and methods.
    align : {"auto", "always", "never"}
    ties : {"order", "random"}
        As in `structens.ensembles.MajorityVote`.
    decode : {"marginal", "viterbi", "string", "mbr"} or MBR
    restriction : "bio", "bioes", mapping, or None
    text : sequence of answers, optional
        Further right sequences, of the type of the answers, for the methods with label n-grams. They must not hold the
        gold of these records: n-grams of the answers themselves would pass for knowledge.

    Attributes
    ----------
    chosen_ : str
        Name of the method taken, or "pool".
    held_out_ : dict of str to float
        Out-of-fold token error of each candidate; empty without gold.
    standard_error_ : dict of str to float
        Of these.
    explanation_ : str
        What was chosen and why, in one line.
    skipped_ : list of str
        Candidates left out for want of time.
    taken_ : Ensemble
        The method taken, or a `LogPool`, learnt from all gold.
    labels_ : list of str
        Labels of the records learnt from.
    calibration_ : dict of str to ndarray
        Empty where there is too little gold, or the method taken is calibrated by itself.
    held_out_answers : list or None
        Answers to the records with gold by what had not learnt from them; None where none were needed, and in a model
        from a file. The choice of the method has seen their errors.

    Raises
    ------
    ParameterError
        In `fit`, if an option is out of range.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["cat", "dig", "sun", "pen"], "b": ["cut", "dog", "sin", "pin"],
    ...                           "c": ["cut", "dog", "sin", "pin"]}, gold=["cat", "dig", "sun", "pen"])
    >>> model = AutoEnsemble().fit(X)
    >>> model.chosen_, model.predict({"a": ["tap"], "b": ["tip"], "c": ["tip"]})
    ('mvote', ['tap'])
    >>> model.explanation_
    'H_MVote, least error: 0.00 % of units wrong out of fold (H_SLE 0.00, ...; 4 folds of 4 records)'
    """

    chosen_: str
    held_out_: dict[str, float]
    standard_error_: dict[str, float]
    explanation_: str
    skipped_: list[str]
    taken_: Ensemble
    labels_: list[str]
    calibration_: dict[str, NDArray[np.float64]]
    held_out_answers: list[Any] | None = None

    def __init__(
        self,
        candidates: Sequence[str] | None = None,
        n_folds: int | None = None,
        time_limit: float | None = None,
        seed: int = 0,
        align: str = "auto",
        ties: str = "order",
        decode: Decode = "marginal",
        restriction: Restriction | None = None,
        text: Sequence[Any] | None = None,
    ) -> None:
        self.text = text
        self.candidates = candidates
        self.n_folds = n_folds
        self.time_limit = time_limit
        self.seed = seed
        self.align = align
        self.ties = ties
        self.decode = decode
        self.restriction = restriction

    def fit(self, X: Any, y: Sequence[Any] | None = None) -> Self:
        """Try the candidates on the records with gold, and learn the one taken.

        Of records without gold only `DawidSkene` learns, where they name workers or gold is little.

        Parameters
        ----------
        X : ExpertPredictions, or what `ExpertPredictions.of` takes
        y : sequence of answers, optional
            Gold, in place of the records' own.
        """
        if self.n_folds is not None:
            check_whole("n_folds", self.n_folds, 2, "None, or a number of folds")
        if self.time_limit is not None and not within(self.time_limit, 0.0, np.inf, open_low=True):
            raise ParameterError(f"time_limit must be None or seconds > 0; got {self.time_limit!r}")
        X = ExpertPredictions.of(X)
        X = X if y is None else X.with_gold(y)
        X = X if self.text is None else self._with_labels_of_text(X)
        super().fit(X)
        self.skipped_, self.held_out_, self.standard_error_, self.held_out_answers = [], {}, {}, None
        self.calibration_, self.labels_ = {}, list(X.alphabet.labels)
        known = X.has_gold
        n_gold = int(known.sum())
        crowd = X.workers is not None
        n_others = len(X) if crowd else MOST_OTHERS
        others = None if known.all() else X[np.flatnonzero(~known)[:n_others]]
        useful = crowd or (others is not None and n_gold <= LITTLE)
        names = candidates_of(n_gold, self.candidates, tuple(_methods()), others=useful)
        if n_gold < 2 or not names:
            X = X if crowd else X[known if n_gold else slice(0, 1)]
            self._take_untried(X, "dawid-skene" if crowd else "mvote" if n_gold else "rover", n_gold)
            return self
        X = X if known.all() else X[known]
        slots = self._slots(X)
        n_folds = self.n_folds or (N_FOLDS if slots.labels.size < MANY else N_FOLDS_OF_MANY)
        fold = folds(X.ids, min(n_folds, n_gold), self.seed)
        self._choose(Learning(slots, X, self.aligned_, fold, others), names)
        return self

    def _with_labels_of_text(self, X: ExpertPredictions) -> ExpertPredictions:
        """The records in codes for the labels of the text as well, which all methods then share."""
        encoder = Encoder(X.alphabet.labels)
        encode_answers(encoder, list(self.text or ()), X.unit)
        return X.recode(encoder.alphabet)

    def _take_untried(self, X: ExpertPredictions, name: str, n_gold: int) -> None:
        self.chosen_ = name
        self.taken_ = learn_on(self._made(name), self._slots(X), X, self.aligned_)
        why = "one record has gold" if n_gold else "no record has gold"
        why += ", and workers are named" if name == "dawid-skene" else ""
        self.explanation_ = f"{_title(name)}: {why}"

    def _choose(self, learning: Learning, names: list[str]) -> None:
        said, ready = self._tried(learning, names)
        errors = {name: judged(one.done.prediction, learning.X).errors for name, one in said.items()}
        members, pool = dict(said), LogPool(seed=self.seed, decode=self.decode, restriction=self.restriction)
        if len(said) > 1 and pools(len(learning.X)):
            said[POOL] = pool.out_of_fold(learning, members)
            errors[POOL] = judged(said[POOL].done.prediction, learning.X).errors
        order = by_preference(list(errors))
        self.chosen_, least = choose([Trial(name, errors[name]) for name in order])
        units = max(int(learning.X.references.lengths[learning.X.reference_offsets[:-1]].sum()), 1)
        self.held_out_ = {name: float(errors[name].sum() / units) for name in order}
        self.standard_error_ = {
            name: float(np.sqrt(len(e)) * e.std(ddof=1) / units) for name, e in ((n, errors[n]) for n in order)
        }
        learnt = _Learnt(learning, self._made, ready)
        self.taken_ = pool.join(learning, members, learnt) if self.chosen_ == POOL else learnt[self.chosen_]
        self._calibrate(learning, said[self.chosen_])
        self.held_out_answers = said[self.chosen_].done.answers
        self.explanation_ = self._explained(least, learning)

    def _tried(self, learning: Learning, names: list[str]) -> tuple[dict[str, Said], dict[str, Ensemble]]:
        """What each candidate says out of fold, and those that have learnt from all records for that."""
        start = time.monotonic()
        said: dict[str, Said] = {}
        ready: dict[str, Ensemble] = {}
        for name in names:
            begun = time.monotonic()
            made = self._made(name)
            try:
                watch = self._watch(start, begun, learning.n_folds) if said else None
                if not hasattr(made, "out_of_fold"):
                    said[name] = learning.out_of_fold(made, after=watch)
                    continue
                ready[name] = learning.learnt(made)  # it is nested itself, and keeps what it said out of fold
                if made.out_of_fold is None:
                    said[name] = learning.out_of_fold(made, after=watch)
                else:
                    options = {"decode": self.decode, "restriction": self.restriction}
                    said[name] = said_by(made.out_of_fold[1], learning, options)
            except OutOfTimeError:
                self.skipped_.append(name)
        return said, ready

    def _watch(self, start: float, begun: float, n_folds: int) -> Callable[[int], None] | None:
        """Ends a candidate that would not be ready, learnt from all records too, within the limit."""
        if self.time_limit is None:
            return None
        end = start + self.time_limit
        if begun > end:
            raise OutOfTimeError

        def after(done: int) -> None:
            now = time.monotonic()
            if now + (now - begun) / done * (n_folds + 1 - done) > end:
                raise OutOfTimeError

        return after

    def _calibrate(self, learning: Learning, said: Said) -> None:
        if getattr(self.taken_, "calibration_", None):  # it is calibrated by itself
            return
        found = judged(said.done.prediction, learning.X)
        blind, _ = without_gold(learning.slots, learning.X)
        self.calibration_ = learn_calibration(said.done, blind, said.opinion.share, found.hit, found.errors == 0)

    def _made(self, name: str) -> Ensemble:
        from structens.ensembles.methods import make_ensemble

        options: dict[str, Any] = {"ties": self.ties, "decode": self.decode, "restriction": self.restriction}
        options["text"] = self.text
        return make_ensemble(name, seed=self.seed, align="always" if self.aligned_ else "never", **options)

    def _explained(self, least: str, learning: Learning) -> str:
        why = "least error"
        if least != self.chosen_:
            why = f"preferred: within one standard error of the least, that of {_title(least)}"
        rest = sorted((name for name in self.held_out_ if name != self.chosen_), key=self.held_out_.__getitem__)
        others = ", ".join(f"{_title(name)} {100 * self.held_out_[name]:.2f}" for name in rest)
        left = f"; no time for {', '.join(_title(name) for name in self.skipped_)}" if self.skipped_ else ""
        what = _title(self.chosen_)
        if isinstance(self.taken_, LogPool):
            parts = zip(self.taken_.member_names_, self.taken_.powers_.tolist(), strict=False)
            what += " of " + ", ".join(f"{_title(name)}^{power:.2f}" for name, power in parts)
        figure = f"{100 * self.held_out_[self.chosen_]:.2f} % of units wrong out of fold"
        return f"{what}, {why}: {figure} ({others}; {learning.n_folds} folds of {len(learning.X):,} records{left})"

    def _recoded(self, X: ExpertPredictions) -> ExpertPredictions:
        return X.recode(Alphabet.of((*self.labels_, *X.alphabet.labels)))

    def _decided(self, slots: Slots, X: ExpertPredictions, n_best: int) -> Combined:
        done = self.taken_._decided(slots, X, n_best)
        if not self.calibration_:
            return done
        unit, record = calibrated(done, slots, opinion_behind(done, self.taken_, slots).share, self.calibration_)
        return replace(done, confidence=unit, record_confidence=record)

    def _shares(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64]:
        return opinion_of(self.taken_, slots, X).share

    def _weights(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64]:
        return self.taken_._weights(slots, X)


class _Learnt(Mapping[str, Ensemble]):
    """Methods learnt from all records, when they are asked for."""

    def __init__(self, learning: Learning, make: Callable[[str], Ensemble], ready: dict[str, Ensemble]) -> None:
        self._learning, self._make, self._ready = learning, make, ready

    def __getitem__(self, name: str) -> Ensemble:
        if name not in self._ready:
            self._ready[name] = self._learning.learnt(self._make(name))
        return self._ready[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ready)

    def __len__(self) -> int:
        return len(self._ready)


def _methods() -> dict[str, Any]:
    from structens.ensembles.methods import METHODS

    return {name: made for name, made in METHODS.items() if name != "auto"}


def _title(name: str) -> str:
    return "pool" if name == POOL else str(_methods()[name][0])
