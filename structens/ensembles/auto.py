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
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from structens.boosting.ranges import check_whole, within
from structens.core import ExpertPredictions, ParameterError, Slots
from structens.ensembles.auto_candidates import (
    FEWEST_FOR_POOL,
    POOL,
    Trial,
    by_preference,
    candidates_of,
    choose,
)
from structens.ensembles.base import Combined, Ensemble
from structens.ensembles.calibration import calibrated, learn_calibration
from structens.ensembles.decoding import Decode
from structens.ensembles.log_pool import learn_powers, pooled
from structens.ensembles.model_selection import folds
from structens.ensembles.out_of_fold import Learning, Said, judged, learn_on, say, without_gold
from structens.ensembles.restriction import Restriction
from structens.ensembles.vote import Votes, vote

N_FOLDS = 5
N_FOLDS_OF_MANY = 3
MANY = 2000
"""Records with gold from which on there are `N_FOLDS_OF_MANY` folds."""
STRENGTH = 1.0
"""Of the pull of the pool's powers to equal ones that sum to 1."""
LEAST_POWER = 0.02
"""Members of the pool with a smaller power are left out."""


class OutOfTimeError(Exception):
    """A candidate would take longer than there is time."""


class AutoEnsemble(Ensemble):
    """The best of several methods, or their pool, by out-of-fold errors on the records with gold.

    Without gold it votes: ROVER. With one record of gold it is H_MVote, with more the candidates are compared; see
    `structens.ensembles.auto_candidates` for which, and for how it chooses.

    Parameters
    ----------
    candidates : sequence of str, optional
        Names of methods, as in `structens.ensembles.make_ensemble`; None takes those that the amount of gold bears.
    n_folds : int, optional
        Folds of whole records; None is 5, and 3 from 2,000 records with gold on. At most the number of those.
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
    members_ : list of Ensemble
        The method taken, or the members of the pool, learnt from all gold.
    member_names_ : list of str
    powers_ : ndarray of float64, shape (n_members + 1,)
        Of the members and of GAP; empty where a single method was taken.
    calibration_ : dict of str to ndarray
        Empty where there is too little gold.

    Raises
    ------
    ParameterError
        In `fit`, if an option is out of range.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["cat", "dig", "sun", "pen"] * 5, "b": ["cut", "dog", "sin", "pin"] * 5,
    ...                           "c": ["cut", "dog", "sin", "pin"] * 5}, gold=["cat", "dig", "sun", "pen"] * 5)
    >>> model = AutoEnsemble().fit(X)
    >>> model.chosen_, model.predict({"a": ["tap"], "b": ["tip"], "c": ["tip"]})
    ('sle', ['tap'])
    >>> model.explanation_
    'H_SLE, least error: 0.00 % of units wrong out of fold (H_MVote 0.00, ...; 5 folds of 20 records)'
    """

    chosen_: str
    held_out_: dict[str, float]
    standard_error_: dict[str, float]
    explanation_: str
    skipped_: list[str]
    members_: list[Ensemble]
    member_names_: list[str]
    powers_: NDArray[np.float64]
    calibration_: dict[str, NDArray[np.float64]]

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
    ) -> None:
        self.candidates = candidates
        self.n_folds = n_folds
        self.time_limit = time_limit
        self.seed = seed
        self.align = align
        self.ties = ties
        self.decode = decode
        self.restriction = restriction

    def fit(self, X: Any, y: Sequence[Any] | None = None) -> Self:
        """Try the candidates on the records with gold, and learn the one taken; without gold nothing is learnt.

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
        super().fit(X)
        self.skipped_, self.held_out_, self.standard_error_ = [], {}, {}
        self.powers_, self.calibration_ = np.zeros(0), {}
        known = X.has_gold
        n_gold = int(known.sum())
        X = X if known.all() else X[known if n_gold else slice(0, 1)]
        slots = self._slots(X)
        names = candidates_of(n_gold, self.candidates, tuple(_methods()))
        if n_gold < 2 or not names:
            self._take_untried(slots, X, "mvote" if n_gold else "rover", n_gold)
            return self
        n_folds = self.n_folds or (N_FOLDS if n_gold < MANY else N_FOLDS_OF_MANY)
        fold = folds(X.ids, min(n_folds, n_gold), self.seed)
        self._choose(Learning(slots, X, self.aligned_, fold), names)
        return self

    def _take_untried(self, slots: Slots, X: ExpertPredictions, name: str, n_gold: int) -> None:
        self.chosen_ = name
        self.member_names_, self.members_ = [name], [learn_on(self._made(name), slots, X, self.aligned_)]
        why = "one record has gold" if n_gold else "no record has gold"
        self.explanation_ = f"{_title(name)}: {why}"

    def _choose(self, learning: Learning, names: list[str]) -> None:
        said = self._tried(learning, names)
        errors = {name: judged(one.done.prediction, learning.X).errors for name, one in said.items()}
        if len(said) > 1 and len(learning.X) >= FEWEST_FOR_POOL:
            said[POOL] = self._pool_out_of_fold(learning, [one.share for one in said.values()])
            errors[POOL] = judged(said[POOL].done.prediction, learning.X).errors
        order = by_preference(list(errors))
        self.chosen_, least = choose([Trial(name, errors[name]) for name in order])
        units = max(int(learning.X.references.lengths[learning.X.reference_offsets[:-1]].sum()), 1)
        self.held_out_ = {name: float(errors[name].sum() / units) for name in order}
        self.standard_error_ = {
            name: float(np.sqrt(len(e)) * e.std(ddof=1) / units) for name, e in ((n, errors[n]) for n in order)
        }
        self._learn_chosen(learning, said)
        self._calibrate(learning, said[self.chosen_])
        self.explanation_ = self._explained(least, learning)

    def _tried(self, learning: Learning, names: list[str]) -> dict[str, Said]:
        """What each candidate says out of fold."""
        start = time.monotonic()
        out: dict[str, Said] = {}
        for name in names:
            begun = time.monotonic()
            try:
                out[name] = learning.out_of_fold(
                    self._made(name), after=self._watch(start, begun, learning.n_folds) if out else None
                )
            except OutOfTimeError:
                self.skipped_.append(name)
        return out

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

    def _pool_out_of_fold(self, learning: Learning, shares: list[NDArray[np.float64]]) -> Said:
        """What the pool says of each fold by powers that are learnt from the others."""
        slots, out = learning.slots, np.empty(learning.slots.labels.shape)
        fold = learning.fold[slots.record]
        for k in range(learning.n_folds):
            inside = fold == k
            power = _powers(slots[np.flatnonzero(learning.fold != k)], [share[~inside] for share in shares])
            out[inside] = pooled(slots.labels[inside], [share[inside] for share in shares], power)
        blind, unknown = without_gold(slots, learning.X)
        shared = _Shared(out, self.ties, self.seed, self.decode, self.restriction)
        return say(shared, blind, unknown)

    def _learn_chosen(self, learning: Learning, said: dict[str, Said]) -> None:
        if self.chosen_ != POOL:
            self.member_names_, self.members_ = [self.chosen_], [learning.learnt(self._made(self.chosen_))]
            return
        names = [name for name in said if name != POOL]
        power = _powers(learning.slots, [said[name].share for name in names])
        kept = [k for k in range(len(names)) if abs(power[k]) >= LEAST_POWER]
        self.member_names_ = [names[k] for k in kept]
        self.powers_ = _powers(learning.slots, [said[name].share for name in self.member_names_])
        self.members_ = [learning.learnt(self._made(name)) for name in self.member_names_]

    def _calibrate(self, learning: Learning, said: Said) -> None:
        found = judged(said.done.prediction, learning.X)
        blind, _ = without_gold(learning.slots, learning.X)
        self.calibration_ = learn_calibration(said.done, blind, said.share, found.hit, found.errors == 0)

    def _made(self, name: str) -> Ensemble:
        from structens.ensembles.methods import make_ensemble

        options: dict[str, Any] = {"ties": self.ties, "decode": self.decode, "restriction": self.restriction}
        return make_ensemble(name, seed=self.seed, align="always" if self.aligned_ else "never", **options)

    def _explained(self, least: str, learning: Learning) -> str:
        why = "least error"
        if least != self.chosen_:
            why = f"preferred: within one standard error of the least, that of {_title(least)}"
        rest = sorted((name for name in self.held_out_ if name != self.chosen_), key=self.held_out_.__getitem__)
        others = ", ".join(f"{_title(name)} {100 * self.held_out_[name]:.2f}" for name in rest)
        left = f"; no time for {', '.join(_title(name) for name in self.skipped_)}" if self.skipped_ else ""
        what = _title(self.chosen_)
        if self.chosen_ == POOL:
            parts = zip(self.member_names_, self.powers_.tolist(), strict=False)
            what += " of " + ", ".join(f"{_title(name)}^{power:.2f}" for name, power in parts)
        figure = f"{100 * self.held_out_[self.chosen_]:.2f} % of units wrong out of fold"
        return f"{what}, {why}: {figure} ({others}; {learning.n_folds} folds of {len(learning.X):,} records{left})"

    @property
    def _is_pool(self) -> bool:
        return len(self.powers_) > 0

    def _decided(self, slots: Slots, X: ExpertPredictions, n_best: int) -> Combined:
        decider: Ensemble = self.members_[0]
        share = self._shares(slots, X)
        if self._is_pool:
            decider = _Shared(share, self.ties, self.seed, self.decode, self.restriction)
        done = decider._decided(slots, X, n_best)
        if not self.calibration_:
            return done
        unit, record = calibrated(done, slots, share, self.calibration_)
        return replace(done, confidence=unit, record_confidence=record)

    def _shares(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64]:
        if not self._is_pool:
            return self.members_[0]._shares(slots, X)
        return pooled(slots.labels, [member._shares(slots, X) for member in self.members_], self.powers_)

    def _weights(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64]:
        if not self._is_pool:
            return self.members_[0]._weights(slots, X)
        return np.maximum(self._shares(slots, X), 0.0)


class _Shared(Ensemble):
    """Probabilities that are there already, as an ensemble that decodes them."""

    def __init__(
        self, share: NDArray[np.float64], ties: str, seed: int, decode: Decode, restriction: Restriction | None
    ) -> None:
        self.share = share
        self.ties = ties
        self.seed = seed
        self.decode = decode
        self.restriction = restriction

    def _weights(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64]:
        return np.maximum(self.share, 0.0)

    def _shares(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64]:
        return self.share

    def _vote(self, slots: Slots, X: ExpertPredictions, draw: NDArray[np.float64] | None) -> Votes:
        return vote(slots.labels, self._weights(slots, X), draw=draw)


def _powers(slots: Slots, shares: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    prior = np.append(np.full(len(shares), 1.0 / len(shares)), 0.0)
    return learn_powers(slots, shares, prior, STRENGTH)


def _methods() -> dict[str, Any]:
    from structens.ensembles.methods import METHODS

    return {name: made for name, made in METHODS.items() if name != "auto"}


def _title(name: str) -> str:
    return "pool" if name == POOL else str(_methods()[name][0])
