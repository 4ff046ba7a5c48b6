"""PathExpertEnsemble: weights learnt on line over path experts, then a vote, or a draw.

Cortes, Kuznetsov and Mohri, "Ensemble methods for structured prediction" (ICML 2014), sections 3.1 to 3.3: WMWP and
FPL, the on-line-to-batch conversions by Gamma and by cross-validation, H_MVote, H_CV and H_Rand, and their twins for
FPL. Learners that find their own rate, or track drifting experts, take the place of WMWP on request.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import ExpertPredictions, ParameterError, Slots
from structens.ensembles.decoding import Decode
from structens.ensembles.held_out import held_out_beta
from structens.ensembles.idle_options import refuse_idle
from structens.ensembles.ngram_experts import (
    check_ngrams,
    gain_of,
    game_of,
    mean_flows,
    ngram_beta,
    play_ngrams,
)
from structens.ensembles.online import OnlineEnsemble
from structens.ensembles.recipe import Recipe, noise_ids
from structens.ensembles.restricted_votes import Conditioned
from structens.ensembles.restriction import Restriction
from structens.ensembles.run_bounds import run_bounds
from structens.losses import AdditiveLoss, NGramGain
from structens.online.converted import (
    Converted,
    drawn_weights,
    parameters_of,
    transition_weights,
)
from structens.online.draws import record_keys, uniforms
from structens.online.edit_learning import rounds_by
from structens.online.history_game import HistoryGame
from structens.online.noise import noise_of
from structens.online.rates import eta_of
from structens.online.regret import recommended_rate
from structens.online.restricted_slots import RestrictedGame
from structens.online.rounds import Rounds
from structens.online.slot_leaders import epsilon_of_papers
from structens.online.tying import Tie, Tying

BETAS = ("held-out", "position", "path")
EPSILONS = ("held-out", "papers")


class PathExpertEnsemble(OnlineEnsemble):
    """A weight for each expert in each context, learnt in one pass over the records with gold, in their order.

    Parameters
    ----------
    rule : {"mvote", "cv", "rand", "last", "fpl", "fplcv", "fplrand"}
        "mvote": vote with the weights averaged over the best suffix of rounds. "cv": vote with the weights of the one
        round that does best on later rounds. "rand": draw a round of the suffix and a path expert; the draw depends on
        `seed` and the record's id only. "last": vote with the weights after the last round, which go on changing with
        `partial_fit` at no more cost than a round. "fpl", "fplcv", "fplrand": the same three by the path experts that
        Follow the Perturbed Leader followed (H_FPL, H_FPL-CV, H_FPLRand).
    tie : {"expert", "position", "position-from-end", "label"} or callable
        Which slots share their weights, see `structens.online.tying`.
    beta : "held-out", "position", "path", or float in (0, 1]
        Factor by which a unit of loss shrinks a weight. "held-out" tries a grid by 5-fold cross-validation;
        "position" and "path" are the rates that the regret bounds recommend. 1 learns nothing: plain vote. Learners
        "adahedge", "squint" and "prequential", and the rules of FPL, make no use of it.
    learner : {"hedge", "adahedge", "squint", "fixed-share", "component-hedge", "prequential"}
        "hedge" is the papers' Weighted Majority. "adahedge" and "squint" find their rate themselves, context by
        context. "fixed-share" forgets, for experts that get better or worse over time. "component-hedge" is
        "hedge" on slots, where one distribution a context is all unit flows (`structens.online.ComponentHedge` is for
        other automata). "prequential", for rule "last", plays "fixed-share" at many rates, and votes by the one whose
        answers so far were best (`structens.online.leading`).
    absent : {"sleep", "neutral"}
        Experts without an answer to a record. "sleep": they keep their weight, and the others deal out theirs among
        themselves. "neutral": they are charged the mean loss of the others. Without effect on FPL and tie "label".
    share : float
        Part of the weight that "fixed-share" and "prequential" deal out equally after each record.
    epsilon : "held-out", "papers", or float > 0
        Inverse scale of FPL's noise, in losses as they are charged. "papers" is 0.5 / (p l), l the longest record.
    noise : {"exp_add", "laplace", "exp_sub", "uniform"}
        Shape of FPL's noise, see `structens.online.noise`.
    ties : {"order", "random"}
        As in `structens.ensembles.MajorityVote`.
    ngram_order : int
        For loss "ngram": n-grams of orders 1 to this count alike.
    loss : "hamming", "edit", "ngram", AdditiveLoss or NGramGain
        "edit": what an expert's unit does to the edit distance of whole answers (`structens.online.edit_learning`).
        "ngram", or an NGramGain: the n-grams shared with the gold, by a weight for each expert after each expert
        (`structens.ensembles.ngram_experts`); for rules "mvote", "cv" and "last". docs/losses.md says where they pay.
    loss_scale : {"per_substructure", "normalized"}
        What beta is an exponent of: losses of slots, or of slots divided by the record's length.
    delta : float
        Confidence parameter of Gamma and of H_CV's penalty.
    union_bound : bool
        Let Gamma hold for all suffixes at once.
    seed : int
        For draws, noise and lots.
    align : {"auto", "always", "never"}
        How answers become slots.
    decode : {"marginal", "viterbi", "string", "mbr"} or MBR
        How weighted slots become an answer, see `structens.ensembles.decoding`. Learning does not depend on it.
    restriction : "bio", "bioes", mapping, or None
        Admissible answers, see `structens.ensembles.restriction`; answers are decoded among them.
    restrict : None, "per_round" or "permanent"
        How to learn under `restriction`. None: as usual, only decoding is restricted. "per_round": in each round, and
        for each answer, path experts whose own answer to the record is inadmissible are left out, and charged the
        largest loss. "permanent": they leave for good. What that means for each tie, and what is exact, is said in
        `structens.online.restricted_slots`. Not for the rules of FPL, tie "label" and n-gram gains. Decoder "marginal"
        votes with the weights given admissibility; the other decoders, and n-best lists, restrict strings only: an
        expert whose own answer is inadmissible still lends them labels.

    Attributes
    ----------
    beta_ : float or None
        Beta used, for "prequential" that of the learner that leads; None where there is none.
    epsilon_ : float or None
        Epsilon used by FPL, else None.
    round_losses_ : ndarray of float64, shape (T,)
        Expected loss of the learner in each round before it learnt from it, averaged over slots; for n-gram gains the
        part of the record's best gain that is missed.
    suffix_start_ : int
        First round of the suffix averaged over; for "cv" the round chosen.
    regret_ : float or None
        Charged loss beyond that of the best path expert in hindsight; None for n-gram gains.
    regret_bound_ : float or None
        The learner's bound on it; None where there is none: beta 1, tie "label", n-gram gains, and FPL.
    bounds_ : dict of str to float
        What the theory says of this run, see `structens.ensembles.run_bounds`.
    state_ : dict of str to ndarray
        The learner's state, for rule "last".
    weights_ : ndarray of float64, shape (n_contexts + 1, p)
        Weights of the experts in each context; the last row serves contexts that are new. Empty for tie "label" and
        for n-gram gains.
    snapshots_ : ndarray of float64, shape (n_kept, (n_contexts + 1) p)
        Cumulative losses at the rounds kept, for "rand" and for tie "label": all rounds of the suffix where 32 MB hold
        them, else as many at even distances ("label": at most 16). For n-gram gains their sums, at most 16.
    contexts_ : ndarray, or list of str
        Ids of the contexts.
    alive_ : ndarray of bool, shape (n_contexts, p)
        Experts left in each context, with `restrict="permanent"`; else no rows.

    Raises
    ------
    ParameterError
        In `fit`, if an option is out of range, or `restrict` is given and no `restriction`.
    DataError
        In `fit`, if no path expert is left ("permanent").

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["cat", "dig", "sun", "pen"], "b": ["cut", "dog", "sin", "pin"],
    ...                           "c": ["cut", "dog", "sin", "pin"]}, gold=["cat", "dig", "sun", "pen"])
    >>> PathExpertEnsemble(beta=0.5).fit(X).predict({"a": ["tap"], "b": ["tip"], "c": ["tip"]})
    ['tap']
    """

    needs_gold = True

    def __init__(
        self,
        rule: str = "mvote",
        tie: Tie = "expert",
        beta: str | float = "held-out",
        loss: str | AdditiveLoss | NGramGain = "hamming",
        loss_scale: str = "per_substructure",
        delta: float = 0.05,
        union_bound: bool = False,
        seed: int = 0,
        align: str = "auto",
        decode: Decode = "marginal",
        restriction: Restriction | None = None,
        learner: str = "hedge",
        absent: str = "sleep",
        share: float = 0.01,
        epsilon: str | float = "held-out",
        noise: str = "exp_add",
        ties: str = "order",
        ngram_order: int = 2,
        restrict: str | None = None,
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
        self.decode = decode
        self.restriction = restriction
        self.learner = learner
        self.absent = absent
        self.share = share
        self.epsilon = epsilon
        self.noise = noise
        self.ties = ties
        self.ngram_order = ngram_order
        self.restrict = restrict

    @property
    def _recipe(self) -> Recipe:
        return Recipe(
            rule=self.rule,
            learner=self.learner,
            absent=self.absent,
            share=self.share,
            noise=self.noise,
            delta=self.delta,
            union_bound=self.union_bound,
            seed=self.seed,
            restrict=self.restrict,
            restriction=self.restriction,
        )

    def _learn(self, slots: Slots, X: ExpertPredictions) -> None:
        recipe = self._recipe
        recipe.check(self.tie)
        refuse_idle(self)
        tying = Tying.learn(slots, self.tie)
        self.beta_ = self.epsilon_ = None
        gain = self._gain
        if gain is not None:
            check_ngrams(recipe, self.tie)
            game = game_of(slots, X, tying, gain, self.loss_scale)
            self.beta_ = ngram_beta(self.beta, game, X, recipe)
            self._adopt_ngrams(game, tying)
            self._remember(slots, X)
            return
        if recipe.learner == "prequential":
            self._begin()
            self._advance(slots, X)
            self._remember(slots, X)
            return
        rounds = rounds_by(self._slot_loss, slots, X, tying, self.loss_scale)
        restricted = recipe.game(slots, rounds, tying, ids=X.ids)
        if recipe.follows_leaders:
            self.epsilon_ = self._chosen_epsilon(slots, X, rounds, recipe)
        elif recipe.takes_rate:
            self.beta_ = self._chosen_beta(slots, X, rounds, recipe)
        self._adopt_rounds(slots, tying, rounds, restricted)
        self._remember(slots, X)

    @property
    def _gain(self) -> NGramGain | None:
        return gain_of(self.loss, self.ngram_order)

    def _adopt(self, slots: Slots, X: ExpertPredictions, tying: Tying) -> None:
        """Play these records and keep what prediction needs."""
        gain = self._gain
        if gain is None:
            rounds = rounds_by(self._slot_loss, slots, X, tying, self.loss_scale)
            self._adopt_rounds(slots, tying, rounds, self._recipe.game(slots, rounds, tying, ids=X.ids))
        else:
            self._adopt_ngrams(game_of(slots, X, tying, gain, self.loss_scale), tying)

    def _adopt_ngrams(self, game: HistoryGame, tying: Tying) -> None:
        eta = eta_of(self._rate)
        played = play_ngrams(game, self._recipe, eta)
        self.contexts_, self.state_, self.reading_rate_ = tying.keys, {}, eta
        self.weights_, self.snapshots_ = np.zeros((0, len(self.names_))), played.snapshots
        self.round_losses_, self.suffix_start_ = played.round_losses, played.start
        self.regret_ = self.regret_bound_ = None
        self.bounds_ = {
            "rounds T": float(len(game.slots)),
            "mean loss of the learner": float(played.round_losses.mean()),
        }

    def _adopt_rounds(self, slots: Slots, tying: Tying, rounds: Rounds, game: RestrictedGame | None) -> None:
        recipe = self._recipe
        played = recipe.play(rounds, slots.awake, self._rate, ids=noise_ids(tying, self.names_), game=game)
        converted = played.converted
        self.contexts_, self.state_, self.reading_rate_ = tying.keys, played.state, played.reading_rate
        self.weights_, self.snapshots_ = converted.weights, converted.snapshots
        self.round_losses_, self.suffix_start_ = converted.round_losses, converted.start
        self.regret_, self.regret_bound_ = played.regret, played.bound if math.isfinite(played.bound) else None
        self.alive_ = np.zeros((0, slots.n_experts), np.bool_) if game is None else game.alive
        self.excess_, self.bounded_ = played.excess, game is None or game.keeps_bound
        weights = transition_weights(converted, parameters_of(slots, tying)[0], played.reading_rate)
        self.bounds_ = run_bounds(recipe, rounds if game is None else game.rounds, played, slots, weights)

    @property
    def _rate(self) -> float:
        rate = self.epsilon_ if self._recipe.follows_leaders else self.beta_
        return 1.0 if rate is None else rate

    def _chosen_epsilon(self, slots: Slots, X: ExpertPredictions, rounds: Rounds, recipe: Recipe) -> float:
        if isinstance(self.epsilon, str):
            if self.epsilon not in EPSILONS:
                raise ParameterError(f"epsilon must be one of {', '.join(EPSILONS)}, or a number; got {self.epsilon!r}")
            if self.epsilon == "held-out" and rounds.n_rounds > 1:
                return held_out_beta(slots, X, self.tie, recipe, loss=self._slot_loss, loss_scale=self.loss_scale)
            return epsilon_of_papers(rounds)
        noise_of(self.noise, self.epsilon, np.zeros(1))  # refuses what is no epsilon
        return float(self.epsilon)

    def _chosen_beta(self, slots: Slots, X: ExpertPredictions, rounds: Rounds, recipe: Recipe) -> float:
        if isinstance(self.beta, str):
            if self.beta not in BETAS:
                raise ParameterError(f"beta must be one of {', '.join(BETAS)}, or a number; got {self.beta!r}")
            if self.beta == "held-out" and rounds.n_rounds > 1:
                return held_out_beta(slots, X, self.tie, recipe, loss=self._slot_loss, loss_scale=self.loss_scale)
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
        if self._at_the_time is not None:
            return self._at_the_time[0]
        if self._gain is not None:
            game = game_of(slots, X, self._tying, self._gain)
            return mean_flows(game, self.snapshots_, self.reading_rate_)
        parameter, _ = parameters_of(slots, self._tying)
        if self.rule not in ("rand", "fplrand"):
            return transition_weights(self._converted, parameter, self.reading_rate_)
        keys = record_keys(X.ids, self.seed)[slots.record]
        # with tie "label" no two experts share a context, so each slot has a draw of its own
        context = parameter.max(axis=1, initial=-1) // len(self.names_) if self._tying.by_slot else slots.position
        pick, choice = uniforms(keys, np.zeros(1, np.int64)), uniforms(keys, context.astype(np.int64) + 1)
        by_name = np.argsort(self.names_)  # a draw does not depend on the order in which experts were given
        drawn = drawn_weights(self.snapshots_, parameter[:, by_name], self.reading_rate_, pick, choice)
        return drawn[:, np.argsort(by_name)]

    def _admissible_flows(
        self, slots: Slots, weights: NDArray[np.float64], X: ExpertPredictions
    ) -> NDArray[np.float64] | None:
        if self.restrict is None or self.restriction is None or self.decode != "marginal":
            return None
        judged = Conditioned.of(slots, self._tying, self.restriction, self.alive_)
        if self._at_the_time is not None:
            judged = judged._replace(there=self._at_the_time[1])
        if self.rule == "rand":
            by_name = np.argsort(self.names_)
            return judged.drawn(self.snapshots_, self.reading_rate_, record_keys(X.ids, self.seed), by_name)
        return judged.paths.flows(weights, judged.there)

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
        records; nothing is drawn. H_MVote's Hamming loss is at most twice this (ICML 2014, proposition 2). With
        `restrict` it is that of a draw among admissible path experts by the averaged weights (for rule "rand", by at
        most 64 of the rounds kept).

        Parameters
        ----------
        X : ExpertPredictions, or what `ExpertPredictions.of` takes
            Records without gold are left out.
        """
        self._check_fitted()
        X = ExpertPredictions.of(X).reindex(self.names_)
        X = X[X.has_gold]
        slots = self._slots(X)
        if self._gain is not None and len(slots):
            game = game_of(slots, X, self._tying, self._gain, self.loss_scale)
            return float(np.mean([game.losses(one, self.reading_rate_).mean() for one in self.snapshots_]))
        charged = rounds_by(self._slot_loss, slots, X, Tying.learn(slots, "expert")).loss
        if self.restrict is not None and self.restriction is not None:
            judged = Conditioned.of(slots, self._tying, self.restriction, self.alive_)
            flow = judged.chances(self._converted, self.reading_rate_)
        else:
            flow = transition_weights(self._converted, parameters_of(slots, self._tying)[0], self.reading_rate_)
        total = flow.sum(axis=1)
        loss = (flow * charged).sum(axis=1) / np.where(total > 0, total, 1.0)
        sums = np.bincount(slots.record, weights=loss, minlength=len(slots))
        return float((sums / np.maximum(slots.lengths, 1)).mean()) if len(slots) else 0.0
