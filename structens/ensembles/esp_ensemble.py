"""EspEnsemble: what ESPBoost and Deep ESPBoost share: slots to margins, votes of contexts, stages, margins, bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.esp_boost import Boosted, Ledger, log_exponential_loss
from structens.boosting.esp_bounds import margin_bound, margin_loss_bound
from structens.boosting.esp_slots import LabelPaths, PathExperts, SlotPaths
from structens.boosting.ranges import check_whole, within
from structens.core import ABSENT, GAP, UNKNOWN, ExpertPredictions, ParameterError, Ragged, Slots
from structens.ensembles.base import Ensemble
from structens.ensembles.idle_options import refuse_idle
from structens.ensembles.vote import vote
from structens.online.converted import parameters_of
from structens.online.tying import Tie, Tying

BASES = ("votes", "confidences")
SCORES = ("sum", "product")
UNEQUAL = ("epsilon", "abstain")
WEIGHTINGS = ("token", "record")
HOPELESS = ("charge", "skip")
FLOOR = 1e-12
"""Added to a score, as part of all votes, before its logarithm is taken."""


class EspEnsemble(Ensemble):
    """Base of the ensembles of boosted path experts; see `structens.ensembles.esp_boost.ESPBoost`."""

    needs_gold = True

    n_rounds: int
    tie: Tie
    base: str
    null_confidence: float
    scores: str
    unequal: str
    weighting: str
    hopeless: str
    rho: float
    delta: float

    contexts_: NDArray[Any] | list[str]
    weights_: NDArray[np.float64]
    paths_: NDArray[np.int32]
    alphas_: NDArray[np.float64]
    round_paths_: NDArray[np.int64]
    steps_: NDArray[np.float64]
    edges_: NDArray[np.float64]
    epsilons_: NDArray[np.float64]
    z_: NDArray[np.float64]
    counts_: NDArray[np.float64]
    stopped_: str
    bounds_: dict[str, float]

    _stage: NDArray[np.float64] | None = None  # votes of the first rounds, for staged predictions

    def _boosted(self, paths: PathExperts, slots: Slots, X: ExpertPredictions, tying: Tying) -> Boosted:
        """Boost the path experts of these slots."""
        raise NotImplementedError

    def _learn(self, slots: Slots, X: ExpertPredictions) -> None:
        self._check_options()
        tying = Tying.learn(slots, self.tie)
        self.contexts_ = tying.keys
        if not len(slots.labels):  # all answers are empty
            self._adopt(Ledger().closed("weak", np.zeros(0, np.int64)), slots, tying)
            self.bounds_ = {}
            return
        paths = self._path_experts(slots, X, tying)
        made = self._boosted(paths, slots, X, tying)
        self._adopt(made, slots, tying)
        self.bounds_ = self._bounds(slots, X, log_exponential_loss(paths, made))

    def _check_options(self) -> None:
        chosen = {"base": BASES, "scores": SCORES, "unequal": UNEQUAL, "weighting": WEIGHTINGS, "hopeless": HOPELESS}
        for name, allowed in chosen.items():
            if getattr(self, name) not in allowed:
                raise ParameterError(f"{name} must be one of {', '.join(allowed)}; got {getattr(self, name)!r}")
        check_whole("n_rounds", self.n_rounds, 1)
        for name in ("null_confidence", "rho", "delta"):
            value = getattr(self, name)
            if not within(value, 0.0, 1.0, open_low=name != "null_confidence"):
                between = "between 0 and 1" if name == "null_confidence" else "above 0 and at most 1"
                raise ParameterError(f"{name} must be {between}; got {value!r}")
        refuse_idle(self)

    def _path_experts(self, slots: Slots, X: ExpertPredictions, tying: Tying) -> PathExperts:
        """The path experts of records with gold."""
        rho, weight = self._margins_of_experts(slots, X), self._record_weights(slots)
        parameter = tying.parameters(slots)
        kept = self._winnable(rho)
        if not kept.all():
            rho, parameter, weight = rho[kept], parameter[kept], None if weight is None else weight[kept]
        if not tying.by_slot:
            return LabelPaths(rho, parameter, weight, n_contexts=tying.n_contexts)
        return SlotPaths(rho, parameter[:, 0] // tying.n_experts, weight, n_contexts=tying.n_contexts)

    def _margins_of_experts(self, slots: Slots, X: ExpertPredictions) -> NDArray[Any]:
        """rho of each answer, shape (n_slots, p): 1 right, -1 wrong, times its confidence if these are the scores."""
        rho = np.where(slots.labels == slots.gold[:, None], np.int8(1), np.int8(-1))
        rho[~self._speaks(slots)] = 0
        scale = self._confidence_of(slots, X)
        return rho if scale is None else rho * scale

    def _record_weights(self, slots: Slots) -> NDArray[np.float64] | None:
        """D_1 up to a factor: None is 1 a slot."""
        if self.weighting == "token":
            return None
        lengths = slots.lengths
        return np.repeat(1.0 / np.maximum(lengths, 1), lengths)

    def _speaks(self, slots: Slots) -> NDArray[np.bool_]:
        """Whose answer counts in a slot."""
        silent = (ABSENT, GAP) if self.unequal == "abstain" else (ABSENT,)
        out: NDArray[np.bool_] = ~np.isin(slots.labels, silent)
        return out

    def _confidence_of(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64] | None:
        if self.base == "votes":
            return None
        if X.confidence is None:
            return np.full(slots.labels.shape, self.null_confidence)
        known = np.append(X.confidence, np.nan)[slots.source]  # source is -1 where an expert says nothing
        return np.where(np.isnan(known), self.null_confidence, known)

    def _adopt(self, made: Boosted, slots: Slots, tying: Tying) -> None:
        p, n_contexts = tying.n_experts, tying.n_contexts
        self.paths_ = np.full((len(made.paths) + 1, n_contexts), -1, dtype=np.int32)
        for row, path in zip(self.paths_, [*made.paths, made.fallback], strict=True):
            row[path // p] = path % p
        if not tying.by_slot:  # a path by labels is silent where they do harm: alone it could not answer
            self.paths_[-1] = self._best_expert(slots)
        self.alphas_, self.stopped_ = made.alpha, made.stopped
        self.round_paths_, self.steps_ = made.round_path, made.step
        self.edges_, self.epsilons_, self.z_ = made.edge, made.epsilon, made.z
        used = tying.parameters(slots)
        self.counts_ = np.bincount(used[used >= 0], minlength=n_contexts * p).reshape(n_contexts, p).astype(np.float64)
        self.weights_ = self._votes_after(len(made.step))

    def _best_expert(self, slots: Slots) -> int:
        """The first of those right in the largest part of D_1."""
        right = (slots.labels == slots.gold[:, None]) & self._speaks(slots)
        weight = self._record_weights(slots)
        return int((right if weight is None else right * weight[:, None]).sum(axis=0).argmax())

    def _votes_after(self, n_rounds: int) -> NDArray[np.float64]:
        """V after so many rounds, shape (n_contexts + 1, p); the last row is the mean over slots, for new contexts."""
        alpha = np.bincount(self.round_paths_[:n_rounds], self.steps_[:n_rounds], minlength=len(self.paths_))
        if not (alpha > FLOOR).any():
            alpha[-1] = 1.0  # the fallback: the best path expert alone
        votes = np.zeros((self.paths_.shape[1], len(self.names_)))
        for experts, a in zip(self.paths_, alpha, strict=True):
            if a > FLOOR:
                used = np.flatnonzero(experts >= 0)
                votes[used, experts[used]] += a
        total = self.counts_.sum(axis=0)
        mean = (votes * self.counts_).sum(axis=0) / np.where(total > 0, total, 1.0)
        return np.vstack([votes, mean])

    @property
    def n_rounds_(self) -> int:
        """Rounds played."""
        return len(self.steps_)

    @property
    def votes_by_path_(self) -> dict[tuple[int, ...], float]:
        """The ensemble as path experts: the expert of each context (-1 for none) -> coefficient."""
        rows = self.paths_.tolist()
        return {tuple(row): a for row, a in zip(rows, self.alphas_.tolist(), strict=False) if a > 0}

    @property
    def _norm(self) -> float:
        """Sum of the coefficients; 1 for the fallback."""
        return float(self.alphas_.sum()) or 1.0

    @property
    def _tying(self) -> Tying:
        return Tying(self.tie, self.contexts_, len(self.names_))

    def _weights(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64]:
        votes = self.weights_ if self._stage is None else self._stage
        out = np.append(votes.ravel(), 0.0)[parameters_of(slots, self._tying)[0]]
        out[~self._speaks(slots)] = 0.0
        scale = self._confidence_of(slots, X)
        return out if scale is None else out * scale

    def _scores(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64] | None:
        score = label_scores(slots.labels, self._weights(slots, X))
        if self.scores == "product":
            with np.errstate(invalid="ignore"):
                return np.log(score / self._norm + FLOOR)
        return score

    def _notes(self, slots: Slots) -> tuple[str, ...]:
        notes = []
        if not (self.alphas_ > 0).any():
            what = "no path expert is right in more than half of the slots learnt from: nothing could be boosted"
            notes.append(f"{what}, and the best {'expert' if self.tie == 'label' else 'path expert'} answers alone")
        n_new = int(parameters_of(slots, self._tying)[1].any(axis=1).sum())
        if n_new:
            where = "hold a label that an expert never gave" if self.tie == "label" else "are in contexts"
            where += "" if self.tie == "label" else " that never occurred"
            notes.append(f"{n_new} slots {where} in learning (tie={self.tie!r}); they get the mean of the learnt votes")
        return tuple(notes)

    def staged_predict(self, X: Any) -> Iterator[list[Any]]:
        """Answers by the first round, the first two, and so on; as many lists as rounds, at least one.

        Parameters
        ----------
        X : ExpertPredictions, or what `ExpertPredictions.of` takes

        Yields
        ------
        list
            One answer a record.
        """
        self._check_fitted()
        X = ExpertPredictions.of(X).reindex(self.names_)
        slots = self._slots(X)
        for t in range(1, max(self.n_rounds_, 1) + 1):
            self._stage = self._votes_after(t)
            try:
                answers = self._decided(slots, X, 0).answers
            finally:
                self._stage = None
            yield answers

    def margins(self, X: Any) -> Ragged:
        """Margin of the right label in each slot: its score less that of the best other label, over the sum of alpha.

        Parameters
        ----------
        X : ExpertPredictions, or what `ExpertPredictions.of` takes

        Returns
        -------
        Ragged of float64, one row a record
            In [-1, 1]; not above 0 where the vote is wrong, or tied. A label that nobody says scores 0. NaN in records
            without gold.
        """
        self._check_fitted()
        X = ExpertPredictions.of(X).reindex(self.names_)
        slots = self._slots(X)
        return Ragged(self._slot_margins(slots, X), slots.offsets)

    def _slot_margins(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64]:
        score = label_scores(slots.labels, self._weights(slots, X))
        right = slots.labels == slots.gold[:, None]
        own = np.where(right, score, 0.0).max(axis=1, initial=0.0)
        other = np.where(right, 0.0, np.maximum(score, 0.0)).max(axis=1, initial=0.0)
        return np.where(slots.gold == UNKNOWN, np.nan, (own - other) / self._norm)

    def _bounds(self, slots: Slots, X: ExpertPredictions, log_f: float) -> dict[str, float]:
        weight = self._record_weights(slots)
        share = np.ones(len(slots.labels)) if weight is None else weight
        share = share / share.sum()
        margin = self._slot_margins(slots, X)
        wrong = vote(slots.labels, self._weights(slots, X)).label != slots.gold
        skipped = float(share @ ~self._winnable(self._margins_of_experts(slots, X)))
        f = math.exp(min(log_f, 700.0))
        loss = float(share @ (margin <= self.rho))
        out = {
            "rounds T": float(self.n_rounds_),
            "training loss": float(share @ wrong),
            "bound on it: F": skipped + (1.0 - skipped) * f,
            f"margin loss at {self.rho:g}": loss,
        }
        bound = margin_loss_bound(log_f, self.rho, float(self.alphas_.sum()))
        out["bound on it: F exp(rho |alpha|) (theorem 5)"] = skipped + (1.0 - skipped) * bound
        lengths = np.unique(slots.lengths)
        if len(lengths) == 1 and lengths[0] > 0:
            sizes = (len(slots.names), len(slots.alphabet), int(lengths[0]), len(slots))
            out["bound on the expected loss (theorem 4)"] = margin_bound(loss, self.rho, *sizes, self.delta)
        return out

    def _winnable(self, rho: NDArray[Any]) -> NDArray[np.bool_]:
        """Slots to learn from: with "skip" those in which an expert is right, if there are any."""
        kept = np.asarray((rho > 0).any(axis=1))
        return np.ones_like(kept) if self.hopeless == "charge" or not kept.any() else kept


def label_scores(labels: NDArray[np.int32], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Summed weight of each label, written at its first supporter; -inf at the others and where ABSENT.

    Examples
    --------
    >>> label_scores(np.array([[4, 4, 7, -2]], np.int32), np.array([[1.0, 2.0, 0.5, 5.0]])).tolist()
    [[3.0, -inf, 0.5, -inf]]
    """
    out = np.full(labels.shape, -np.inf)
    for j in range(labels.shape[1]):
        same = (labels == labels[:, j : j + 1]) & (labels != ABSENT)
        first = (labels[:, j] != ABSENT) & (same.argmax(axis=1) == j)
        out[first, j] = np.where(same[first], weights[first], 0.0).sum(axis=1)
    return out
