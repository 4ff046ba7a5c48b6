"""PathExpertEnsemble: weights learnt by Weighted Majority over path experts, then a vote, or a draw.

Cortes, Kuznetsov and Mohri, "Ensemble methods for structured prediction" (ICML 2014), sections 3.1 to 3.3: WMWP, the
on-line-to-batch conversions by Gamma and by cross-validation, H_MVote, H_CV and H_Rand.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import ExpertPredictions, ParameterError, Slots
from structens.ensembles.base import Ensemble
from structens.ensembles.held_out import held_out_beta
from structens.losses import AdditiveLoss, slot_losses
from structens.online.converted import (
    RULES,
    Converted,
    convert,
    drawn_weights,
    parameters_of,
    transition_weights,
)
from structens.online.draws import record_keys, uniforms
from structens.online.rates import eta_of
from structens.online.regret import recommended_rate, regret, regret_bound
from structens.online.rounds import Rounds, rounds_of
from structens.online.tying import Tie, Tying

BETAS = ("held-out", "position", "path")


class PathExpertEnsemble(Ensemble):
    """A weight for each expert in each context, learnt in one pass over the records with gold, in their order.

    Parameters
    ----------
    rule : {"mvote", "cv", "rand"}
        "mvote": vote with the weights averaged over the best suffix of rounds. "cv": vote with the weights of the one
        round that does best on later rounds. "rand": draw a round of the suffix and a path expert; the draw depends on
        `seed` and the record's id only.
    tie : {"expert", "position", "position-from-end", "label"} or callable
        Which slots share their weights, see `structens.online.tying`.
    beta : "held-out", "position", "path", or float in (0, 1]
        Factor by which a unit of loss shrinks a weight. "held-out" tries a grid by 5-fold cross-validation;
        "position" and "path" are the rates that the regret bounds recommend. 1 learns nothing: plain vote.
    loss : "hamming" or AdditiveLoss
    loss_scale : {"per_substructure", "normalized"}
        What beta is an exponent of: losses of slots, or of slots divided by the record's length.
    delta : float
        Confidence parameter of Gamma and of H_CV's penalty.
    union_bound : bool
        Let Gamma hold for all suffixes at once.
    seed : int
        For "rand".
    align : {"auto", "always", "never"}
        How answers become slots.

    Attributes
    ----------
    beta_ : float
        Beta used.
    round_losses_ : ndarray of float64, shape (T,)
        Expected loss of the learner in each round before it learnt from it, averaged over slots.
    suffix_start_ : int
        First round of the suffix averaged over; for "cv" the round chosen.
    regret_ : float
        Charged loss beyond that of the best path expert in hindsight.
    regret_bound_ : float or None
        Hedge's bound on it; None where there is none: beta 1, and tie "label".
    weights_ : ndarray of float64, shape (n_contexts + 1, p)
        Weights of the experts in each context; the last row serves contexts that are new. Empty for tie "label".
    snapshots_ : ndarray of float64, shape (n_kept, (n_contexts + 1) p)
        Cumulative losses at the rounds kept, for "rand" and for tie "label": all rounds of the suffix where 32 MB hold
        them, else as many at even distances ("label": at most 16).
    contexts_ : ndarray, or list of str
        Ids of the contexts.

    Raises
    ------
    ParameterError
        In `fit`, if an option is out of range.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["cat", "dig", "sun", "pen"], "b": ["cut", "dog", "sin", "pin"],
    ...                           "c": ["cut", "dog", "sin", "pin"]}, gold=["cat", "dig", "sun", "pen"])
    >>> PathExpertEnsemble(beta=0.5).fit(X).predict({"a": ["tap"], "b": ["tip"], "c": ["tip"]})
    ['tap']
    """

    needs_gold = True

    beta_: float
    contexts_: NDArray[Any] | list[str]
    weights_: NDArray[np.float64]
    snapshots_: NDArray[np.float64]
    round_losses_: NDArray[np.float64]
    suffix_start_: int
    regret_: float
    regret_bound_: float | None

    def __init__(
        self,
        rule: str = "mvote",
        tie: Tie = "expert",
        beta: str | float = "held-out",
        loss: str | AdditiveLoss = "hamming",
        loss_scale: str = "per_substructure",
        delta: float = 0.05,
        union_bound: bool = False,
        seed: int = 0,
        align: str = "auto",
    ) -> None:
        self.rule = rule
        self.tie = tie
        self.beta = beta
        self.loss = loss
        self.loss_scale = loss_scale
        self.delta = delta
        self.union_bound = union_bound
        self.seed = seed
        self.align = align

    def _learn(self, slots: Slots, X: ExpertPredictions) -> None:
        if self.rule not in RULES:
            raise ParameterError(f"rule must be one of {', '.join(RULES)}; got {self.rule!r}")
        tying = Tying.learn(slots, self.tie)
        rounds = rounds_of(slots, tying, self.loss, self.loss_scale)
        self.beta_ = self._chosen_beta(slots, X, rounds)
        eta = eta_of(self.beta_)
        converted = convert(rounds, eta, self.rule, delta=self.delta, union_bound=self.union_bound)
        self.contexts_ = tying.keys
        self.weights_, self.snapshots_ = converted.weights, converted.snapshots
        self.round_losses_, self.suffix_start_ = converted.round_losses, converted.start
        self.regret_, bound = regret(rounds, converted.round_losses), regret_bound(rounds, eta)
        self.regret_bound_ = bound if math.isfinite(bound) else None

    def _chosen_beta(self, slots: Slots, X: ExpertPredictions, rounds: Rounds) -> float:
        if isinstance(self.beta, str):
            if self.beta not in BETAS:
                raise ParameterError(f"beta must be one of {', '.join(BETAS)}, or a number; got {self.beta!r}")
            if self.beta == "held-out" and rounds.n_rounds > 1:
                return held_out_beta(
                    slots,
                    X,
                    self.tie,
                    rule=self.rule,
                    loss=self.loss,
                    loss_scale=self.loss_scale,
                    delta=self.delta,
                    union_bound=self.union_bound,
                )
            return math.exp(-recommended_rate(rounds, "path" if self.beta == "path" else "position"))
        eta_of(self.beta)  # refuses what is no rate
        return float(self.beta)

    @property
    def _tying(self) -> Tying:
        return Tying(self.tie, self.contexts_, len(self.names_))

    @property
    def _converted(self) -> Converted:
        return Converted(self.weights_, self.snapshots_, np.zeros(0, np.int64), self.round_losses_, self.suffix_start_)

    def _weights(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64]:
        parameter, _ = parameters_of(slots, self._tying)
        if self.rule != "rand":
            return transition_weights(self._converted, parameter, eta_of(self.beta_))
        keys = record_keys(X.ids, self.seed)[slots.record]
        # with tie "label" no two experts share a context, so each slot has a draw of its own
        context = parameter.max(axis=1, initial=-1) // len(self.names_) if self._tying.by_slot else slots.position
        pick, choice = uniforms(keys, np.zeros(1, np.int64)), uniforms(keys, context.astype(np.int64) + 1)
        by_name = np.argsort(self.names_)  # a draw does not depend on the order in which experts were given
        drawn = drawn_weights(self.snapshots_, parameter[:, by_name], eta_of(self.beta_), pick, choice)
        return drawn[:, np.argsort(by_name)]

    def _notes(self, slots: Slots) -> tuple[str, ...]:
        n_new = int(parameters_of(slots, self._tying)[1].any(axis=1).sum())
        if n_new == 0:
            return ()
        what = (
            "hold a label that an expert never gave" if self.tie == "label" else "are in contexts that never occurred"
        )
        return (f"{n_new} slots {what} in learning (tie={self.tie!r}); they get the mean of the learnt weights",)

    def expected_loss(self, X: Any) -> float:
        """Expected loss of one draw by H_Rand (by H_CVRand for rule "cv") on records with gold, exactly.

        It is the mean over the rounds kept of the sum of flow times loss, averaged over each record's slots, then over
        records; nothing is drawn. H_MVote's Hamming loss is at most twice this (ICML 2014, proposition 2).

        Parameters
        ----------
        X : ExpertPredictions, or what `ExpertPredictions.of` takes
            Records without gold are left out.
        """
        self._check_fitted()
        X = ExpertPredictions.of(X).reindex(self.names_)
        slots = self._slots(X[X.has_gold])
        flow = transition_weights(self._converted, parameters_of(slots, self._tying)[0], eta_of(self.beta_))
        total = flow.sum(axis=1)
        loss = (flow * slot_losses(slots, self.loss)).sum(axis=1) / np.where(total > 0, total, 1.0)
        sums = np.bincount(slots.record, weights=loss, minlength=len(slots))
        return float((sums / np.maximum(slots.lengths, 1)).mean()) if len(slots) else 0.0
