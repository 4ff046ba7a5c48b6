"""OnlineEnsemble: learning record by record, from gold as it arrives.

`partial_fit` gives what `fit` would have given on all records so far. With rule "last" it costs no more than the new
records; the other rules choose among all rounds anew, which takes time linear in them. `combine_online` is the protocol
of on-line learning: each record is answered by what was learnt from the records before it, then learnt from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from structens.align import needs_alignment
from structens.core import Alphabet, DataError, ExpertPredictions, NotFittedError, ParameterError, Slots
from structens.ensembles.base import Combined, Ensemble
from structens.ensembles.held_out import Judged
from structens.ensembles.idle_options import refuse_idle
from structens.ensembles.ngram_experts import check_ngrams
from structens.ensembles.recipe import Recipe
from structens.ensembles.vote import vote
from structens.losses import AdditiveLoss, Hamming, NGramGain, get
from structens.online.context_learner import ContextLearner
from structens.online.edit_learning import rounds_by
from structens.online.history import History, mean_losses
from structens.online.history_conversion import context_learner, with_mean_row
from structens.online.leading import RATES, Judge, LeadingLearner
from structens.online.rates import eta_of
from structens.online.restricted_slots import left_weights, visit_of
from structens.online.rounds import Rounds
from structens.online.tying import Tie, Tying
from structens.online.visits import Visits, visits_of


class OnlineEnsemble(Ensemble):
    """Base of the ensembles that learn round by round; see `structens.ensembles.path_experts.PathExpertEnsemble`."""

    tie: Tie
    loss: str | AdditiveLoss | NGramGain
    loss_scale: str
    beta: str | float
    epsilon: str | float

    beta_: float | None
    epsilon_: float | None
    reading_rate_: float
    contexts_: NDArray[Any] | list[str]
    weights_: NDArray[np.float64]
    snapshots_: NDArray[np.float64]
    round_losses_: NDArray[np.float64]
    suffix_start_: int
    regret_: float | None
    regret_bound_: float | None
    bounds_: dict[str, float]
    alive_: NDArray[np.bool_] = np.zeros((0, 0), np.bool_)
    excess_: float = 0.0  # what restricted play was charged beyond play on all paths
    bounded_: bool = True  # restricted play was never charged more
    state_: dict[str, NDArray[np.float64]]

    _seen: tuple[Slots, ExpertPredictions] | None = None  # all records so far, with gold
    _at_the_time: tuple[NDArray[np.float64], NDArray[np.bool_]] | None = None
    """Weights of slots, and the experts that may be on a path, as they were when the record came."""

    @property
    def _recipe(self) -> Recipe:
        raise NotImplementedError

    @property
    def _slot_loss(self) -> str | AdditiveLoss:
        if isinstance(self.loss, NGramGain):
            raise ParameterError(f"loss {self.loss!r} is no sum over slots")
        return self.loss

    @property
    def _gain(self) -> NGramGain | None:
        raise NotImplementedError

    def _adopt(self, slots: Slots, X: ExpertPredictions, tying: Tying) -> None:
        raise NotImplementedError

    def _remember(self, slots: Slots, X: ExpertPredictions) -> None:
        self._seen = None if self.state_ else (slots, X)

    def partial_fit(self, X: Any, y: Sequence[Any] | None = None) -> Self:
        """Learn from more records, in their order.

        Needs a rate that is given, or a learner without one; with rule "last" also "held-out" will do, which then tries
        many rates at once and takes the one whose answers so far were best. Records without gold are left out. Whether
        answers are aligned (`align="auto"`) is decided by the first records, and again if later ones cannot do without.

        Parameters
        ----------
        X : ExpertPredictions, or what `ExpertPredictions.of` takes
        y : sequence of answers, optional
            Gold, in place of the records' own.

        Raises
        ------
        ParameterError
            If the rate is to be chosen on held-out data or by the number of rounds.
        NotFittedError
            If the model comes from a file and its rule is not "last": files hold no rounds.
        """
        X = ExpertPredictions.of(X)
        X = X if y is None else X.with_gold(y)
        X = self._open(X)
        X = X if X.has_gold.all() else X[X.has_gold]
        if len(X) == 0:
            return self
        if self._keeps_state:
            self._advance(self._slots(X), X)
            return self
        slots = self._slots(X)
        if self._seen is not None:
            slots = _after(self._seen[0], slots)
            X = ExpertPredictions.concatenate([self._seen[1], X]).recode(slots.alphabet)
        elif len(self.round_losses_):
            raise NotFittedError("this model holds no rounds to add to; make one that can go on with rule 'last'")
        self._seen = slots, X
        tying = Tying.learn(slots, self.tie)
        self._adopt(slots, X, tying)
        return self

    def combine_online(self, X: Any, *, n_best: int = 0) -> Combined:
        """Answer every record by what was learnt from the gold of those before it, then learn from its own gold.

        A context that occurs for the first time begins with equal weights. What comes out does not depend on how the
        records are cut into batches.

        Parameters
        ----------
        X : ExpertPredictions, or what `ExpertPredictions.of` takes
        n_best : int
            As in `combine`.

        Raises
        ------
        ParameterError
            If the rule is not "last", the tie is "label", or the rate is one that needs all records.

        Examples
        --------
        >>> from structens.ensembles import PathExpertEnsemble
        >>> X = ExpertPredictions.of({"a": ["x"] * 4, "b": ["y"] * 4, "c": ["y"] * 4}, gold=["x"] * 4)
        >>> PathExpertEnsemble(rule="last").combine_online(X).answers
        ['y', 'y', 'x', 'x']
        """
        if self._gain is not None:
            raise ParameterError("n-gram gains are learnt by fit and partial_fit only; take loss 'hamming' or 'edit'")
        if self._recipe.rule != "last" or self.tie == "label":
            rule = "records are answered as they come with rule 'last' and any tie but 'label'"
            raise ParameterError(f"{rule}; got rule {self._recipe.rule!r} and tie {self.tie!r}")
        X = self._open(ExpertPredictions.of(X))
        slots = self._slots(X)
        self._at_the_time = self._advance(slots, X)
        try:
            return self._decided(slots, X, n_best)
        finally:
            self._at_the_time = None

    @property
    def _keeps_state(self) -> bool:
        return self._recipe.rule == "last" and self.tie != "label" and self._gain is None

    def _open(self, X: ExpertPredictions) -> ExpertPredictions:
        """Check the options, and begin with nothing learnt where nothing is."""
        recipe = self._recipe
        recipe.check(self.tie)
        if self._gain is not None:
            check_ngrams(recipe, self.tie)
        refuse_idle(self)
        if not hasattr(self, "names_"):
            if len(X) == 0:
                raise DataError("there are no records to learn from")
            rate = self.epsilon if recipe.follows_leaders else self.beta
            leads = self._keeps_state and rate == "held-out"  # by their own answers so far
            if recipe.takes_rate and isinstance(rate, str) and not leads:
                name = "epsilon" if recipe.follows_leaders else "beta"
                way_out = f"give {name} a number, or take a learner that needs none"
                raise ParameterError(f"{name}={rate!r} needs all records at once; {way_out}")
            self.names_ = X.names
            self.aligned_ = self.align == "always"
            self._begin()
            self.beta_ = float(rate) if recipe.takes_rate and not recipe.follows_leaders and not leads else None
            self.epsilon_ = float(rate) if recipe.follows_leaders else None
        X = X.reindex(self.names_)
        if self.align == "auto" and not self.aligned_:
            self.aligned_ = needs_alignment(X)
        return X

    def _begin(self) -> None:
        """Nothing is learnt."""
        self.beta_ = self.epsilon_ = None
        self.contexts_, self.state_ = [], {}
        self.alive_, self.excess_, self.bounded_ = np.zeros((0, len(self.names_)), np.bool_), 0.0, True
        self.round_losses_ = np.zeros(0)
        self.bounds_ = {}

    def _advance(self, slots: Slots, X: ExpertPredictions) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Play these records from the present state on; returns what each was answered by, see `_at_the_time`."""
        recipe, p = self._recipe, slots.n_experts
        learner = self._learner(p)
        if self.state_:
            learner.restore(self.state_)
        elif len(self.round_losses_):
            raise NotFittedError("this model holds no state to go on from; make one with rule 'last'")
        tying = self._widened(slots, learner)
        rounds = rounds_by(self._slot_loss, slots, X, tying, self.loss_scale)
        known = slots.has_gold[slots.record][:, None]
        awake = np.broadcast_to(known, slots.labels.shape) if recipe.absent == "neutral" else slots.awake & known
        game = recipe.game(slots, rounds, tying, alive=self._alive_in(tying), ids=X.ids)
        if game is not None:
            rounds, awake, self.alive_ = game.rounds, game.awake, game.alive
        visits = visits_of(rounds, np.ascontiguousarray(awake))
        if isinstance(learner, LeadingLearner):
            learner.judge = self._judge(slots, X, rounds, visits)
        history = learner.play(visits)
        if isinstance(learner, LeadingLearner):
            self.beta_ = learner.beta
        self.contexts_, self.state_, self.reading_rate_ = tying.keys, learner.state, 1.0
        self.weights_ = with_mean_row(left_weights(learner.weights(), self.alive_), learner.state["n_visits"])
        self.snapshots_ = np.zeros((0, rounds.n_parameters + p))
        losses = mean_losses(history) if game is None else game.round_losses(history)
        self.round_losses_ = np.append(self.round_losses_, losses[slots.has_gold])
        self.suffix_start_ = len(self.round_losses_)
        self.excess_ += 0.0 if game is None else game.excess(history, losses)
        self.bounded_ = self.bounded_ and (game is None or game.keeps_bound)
        self.regret_, bound = learner.regret() + self.excess_, learner.regret_bound()
        self.regret_bound_ = bound if math.isfinite(bound) and self.bounded_ else None
        self.bounds_ = _summary(self)
        return history.before[visit_of(history, rounds)], slots.awake if game is None else game.there

    def _learner(self, p: int) -> ContextLearner:
        """That of the options; where its rate is to be held out, one at each rate, and the best so far leads."""
        recipe = self._recipe
        if recipe.learner != "prequential" and ("errors" in self.state_ or (recipe.takes_rate and self.beta_ is None)):
            each = [context_learner(recipe.learner, p, eta_of(beta), recipe.share) for beta in RATES]
            return LeadingLearner(p, each)
        return context_learner(recipe.learner, p, eta_of(self.beta_ or 1.0), recipe.share)

    def _judge(self, slots: Slots, X: ExpertPredictions, rounds: Rounds, visits: Visits) -> Judge:
        """Errors of votes by weights before each visit: edit distances, or a loss of the user's."""
        judged = Judged(slots, X)
        by_edits = self.loss == "edit" or isinstance(get(self._slot_loss), Hamming)

        def errors(before: NDArray[np.float64]) -> NDArray[np.float64]:
            votes = vote(slots.labels, before[visit_of(History(visits, before, before[:0]), rounds)])
            if by_edits:
                return judged.each(votes.label)
            missed = rounds.loss[np.arange(len(votes.first)), votes.first]
            return np.bincount(slots.record, weights=missed, minlength=len(slots)).astype(np.float64)

        return errors

    def _alive_in(self, tying: Tying) -> NDArray[np.bool_] | None:
        """Transitions left, in the rows of these contexts; all are in new ones. None before any record."""
        if not len(self.alive_):
            return None
        alive = np.ones((tying.n_contexts, tying.n_experts), np.bool_)
        alive[np.searchsorted(np.asarray(tying.keys), np.asarray(self.contexts_))] = self.alive_
        return alive

    def _widened(self, slots: Slots, learner: ContextLearner) -> Tying:
        """Contexts so far and those of these slots; the learner's rows are moved along."""
        here = Tying.learn(slots, self.tie)
        old = np.asarray(self.contexts_)
        keys = np.union1d(old, here.keys) if len(old) else np.asarray(here.keys)
        learner.grow(np.searchsorted(keys, old) if len(old) else np.zeros(0, np.int64), len(keys))
        return Tying(self.tie, keys, slots.n_experts)


def _summary(ensemble: OnlineEnsemble) -> dict[str, float]:
    losses = ensemble.round_losses_
    out = {"rounds T": float(len(losses)), "mean loss of the learner": float(losses.mean()) if len(losses) else 0.0}
    if ensemble.regret_ is not None:
        out["regret"] = ensemble.regret_
    if ensemble.regret_bound_ is not None:
        out["bound on regret"] = ensemble.regret_bound_
    return out


def _after(first: Slots, then: Slots) -> Slots:
    """Slots of both, in the codes of the first's alphabet, widened."""
    alphabet = Alphabet(tuple(dict.fromkeys((*first.alphabet.labels, *then.alphabet.labels))))
    table = then.alphabet.codes_in(alphabet)

    def recoded(codes: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.where(codes >= 0, table[np.maximum(codes, 0)], codes) if len(table) else codes

    return replace(
        first,
        labels=np.concatenate([first.labels, recoded(then.labels)]),
        offsets=np.concatenate([first.offsets, then.offsets[1:] + first.offsets[-1]]),
        source=np.concatenate([first.source, then.source]),
        alphabet=alphabet,
        gold=np.concatenate([first.gold, recoded(then.gold)]),
        unplaced=np.concatenate([first.unplaced, then.unplaced]),
    )
