"""ESPBoost and DeepESPBoost: ensembles of boosted path experts.

Cortes, Kuznetsov and Mohri, "Learning ensembles of structured prediction rules" (ACL 2014), section 4; Deep Boosting by
Cortes, Mohri and Syed (ICML 2014), which the former names as its natural extension.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from structens.boosting.deep_esp_boost import SURROGATES, deep_boost_paths
from structens.boosting.esp_boost import Boosted, boost_paths
from structens.boosting.esp_complexity import (
    AdditiveComplexity,
    Complexity,
    SwitchComplexity,
    expert_complexities,
    switch_complexities,
)
from structens.boosting.esp_slots import PathExperts
from structens.core import ExpertPredictions, ParameterError, Slots
from structens.ensembles.boosted_paths import BoostedPaths
from structens.ensembles.decoding import Decode
from structens.ensembles.esp_held_out import Choice, Fold, edits_of_votes, esp_folds, least
from structens.ensembles.restriction import Restriction
from structens.online.tying import Tie, Tying

LAMBDA_GRID = (0.0,)
BETA_GRID = tuple(4.0**-k for k in range(1, 10))
"""Prices tried by "held-out"."""


class ESPBoost(BoostedPaths):
    """A vote of path experts, each the best under the weights that those before it left to the slots.

    Parameters
    ----------
    n_rounds : int
        Most path experts, T.
    tie : {"expert", "position", "position-from-end", "label"} or callable
        Which slots share their votes, see `structens.online.tying`; a path expert is a choice of one expert for each
        context. "position" is the paper's, for sequences that have one length.
    base : {"votes", "confidences"}
        Scores of a path expert: 1 for its label, or the confidence that came with it.
    step : {"newton", "closed"}
        Coefficients for "confidences", see `structens.boosting.esp_boost.boost_paths`.
    null_confidence : float
        Confidence of "nothing stands here", and of units without one, in [0, 1].
    scores : {"sum", "product"}
        What a restricted answer maximises: the summed votes of its slots, or their product.
    unequal : {"epsilon", "abstain"}
        An expert that says nothing in a slot where others say something: "epsilon" takes it for an answer, right where
        gold says nothing either; "abstain" for none, so that it neither gains, nor loses, nor votes.
    weighting : {"token", "record"}
        D_1: all slots alike, or all records.
    ties : {"order", "random"}
        As in `structens.ensembles.MajorityVote`.
    rho, delta : float
        Margin and confidence parameter of `bounds_`, in (0, 1].
    seed : int
        For lots, and the samples of "mbr".
    align, decode, restriction
        As in `structens.ensembles.PathExpertEnsemble`.

    Attributes
    ----------
    weights_ : ndarray of float64, shape (n_contexts + 1, p)
        Votes V of the experts in each context; the last row, their mean over slots, serves contexts that are new.
    paths_ : ndarray of int32, shape (n_paths + 1, n_contexts)
        The different path experts chosen: their expert in each context, -1 for none. The last is the best under D_1,
        which answers alone where nothing could be boosted.
    alphas_ : ndarray of float64, shape (n_paths,)
        Coefficients of the path experts.
    round_paths_, steps_, edges_, epsilons_, z_ : ndarray, shape (T,)
        Of each round: its path, coefficient, edge, weighted error, and normaliser Z.
    stopped_ : {"rounds", "weak", "perfect"}
        Why it ended, see `structens.boosting.esp_boost.Boosted`.
    bounds_ : dict of str to float
        Training loss, F(alpha) above it, margin loss at rho, the bound of theorem 5 above it, and that of theorem 4 on
        the expected loss where all records have one number of slots; losses are of slots, weighted by D_1.
    contexts_ : ndarray, or list of str
        Ids of the contexts.
    counts_ : ndarray of float64, shape (n_contexts, p)
        Slots of learning in each context.

    Raises
    ------
    ParameterError
        In `fit`, if an option is out of range.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["cat", "dog"], "b": ["tap", "rip"]}, gold=["cap", "dip"])
    >>> model = ESPBoost(tie="position").fit(X)
    >>> model.predict({"a": ["tin"], "b": ["ton"]}), model.stopped_, model.votes_by_path_
    (['ton'], 'perfect', {(0, 1, 1): 1.1989476363991853})
    """

    def __init__(
        self,
        n_rounds: int = 100,
        tie: Tie = "expert",
        base: str = "votes",
        step: str = "newton",
        null_confidence: float = 0.5,
        scores: str = "sum",
        unequal: str = "epsilon",
        weighting: str = "token",
        ties: str = "order",
        rho: float = 0.1,
        delta: float = 0.05,
        seed: int = 0,
        align: str = "auto",
        decode: Decode = "marginal",
        restriction: Restriction | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.tie = tie
        self.base = base
        self.step = step
        self.null_confidence = null_confidence
        self.scores = scores
        self.unequal = unequal
        self.weighting = weighting
        self.ties = ties
        self.rho = rho
        self.delta = delta
        self.seed = seed
        self.align = align
        self.decode = decode
        self.restriction = restriction

    def _boosted(self, paths: PathExperts, slots: Slots, X: ExpertPredictions, tying: Tying) -> Boosted:
        return boost_paths(paths, self.n_rounds, step=self.step)


class DeepESPBoost(BoostedPaths):
    """ESPBoost with a price on the complexity of path experts, and on every unit of their coefficients.

    Parameters
    ----------
    n_rounds : int
        Most steps.
    lambda_ : "held-out" or float >= 0
        Price of a path expert's complexity, see `structens.boosting.esp_complexity`.
    beta : "held-out" or float >= 0
        Price of a path expert, whatever its complexity.
    complexity : "experts", "switches", or sequence of p floats >= 0
        "experts": the sum of the complexities of its experts, which are alike, or as given, in the order of `names_`.
        "switches": how often it changes the expert, from context to context in their order; not with tie "label".
    surrogate : {"held-out", "exp", "logistic"}
        Loss of a margin. With "exp" slots that nobody gets right soon outweigh all others.
    tie, base, null_confidence, scores, unequal, weighting, ties, rho, delta, seed, align, decode, restriction
        As in `ESPBoost`.

    Attributes
    ----------
    lambda_used_, beta_used_, surrogate_used_ : float, float, str
        What was chosen.
    stopped_ : {"rounds", "converged", "weak"}
        "converged": no step is worth its price.
    weights_, paths_, alphas_, round_paths_, steps_, edges_, epsilons_, z_, bounds_, contexts_, counts_
        As in `ESPBoost`; steps may be negative, coefficients 0.

    Raises
    ------
    ParameterError
        In `fit`, if an option is out of range.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["cat", "dig", "sun", "pen"], "b": ["cut", "dog", "sin", "pin"],
    ...                           "c": ["cut", "dog", "sin", "pin"]}, gold=["cat", "dig", "sun", "pen"])
    >>> DeepESPBoost(beta=0.01, lambda_=0.0, surrogate="exp").fit(X).predict({"a": ["tap"], "b": ["tip"], "c": ["tip"]})
    ['tap']
    """

    lambda_used_: float
    beta_used_: float
    surrogate_used_: str

    def __init__(
        self,
        n_rounds: int = 200,
        lambda_: str | float = "held-out",
        beta: str | float = "held-out",
        complexity: str | Sequence[float] = "experts",
        surrogate: str = "held-out",
        tie: Tie = "expert",
        base: str = "votes",
        null_confidence: float = 0.5,
        scores: str = "sum",
        unequal: str = "epsilon",
        weighting: str = "token",
        ties: str = "order",
        rho: float = 0.1,
        delta: float = 0.05,
        seed: int = 0,
        align: str = "auto",
        decode: Decode = "marginal",
        restriction: Restriction | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.lambda_ = lambda_
        self.beta = beta
        self.complexity = complexity
        self.surrogate = surrogate
        self.tie = tie
        self.base = base
        self.null_confidence = null_confidence
        self.scores = scores
        self.unequal = unequal
        self.weighting = weighting
        self.ties = ties
        self.rho = rho
        self.delta = delta
        self.seed = seed
        self.align = align
        self.decode = decode
        self.restriction = restriction

    def _boosted(self, paths: PathExperts, slots: Slots, X: ExpertPredictions, tying: Tying) -> Boosted:
        chosen = self._chosen(slots, X)
        self.lambda_used_, self.beta_used_, self.surrogate_used_ = chosen
        return self._priced(paths, slots, tying, chosen)

    def _priced(self, paths: PathExperts, slots: Slots, tying: Tying, chosen: Choice) -> Boosted:
        lambda_, beta, surrogate = chosen
        p, m = tying.n_experts, len(slots)
        price: Complexity
        if isinstance(self.complexity, str) and self.complexity == "switches":
            price = SwitchComplexity(switch_complexities(tying.n_contexts, p, m), p, lambda_, beta)
        else:
            given = None if isinstance(self.complexity, str) else self.complexity
            r = expert_complexities(given, tying.n_contexts, p, len(slots.alphabet), m)
            price = AdditiveComplexity(r, lambda_, beta)
        return deep_boost_paths(paths, price, self.n_rounds, surrogate=surrogate)

    def _check_options(self) -> None:
        super()._check_options()
        for name in ("lambda_", "beta"):
            value = getattr(self, name)
            good = value == "held-out" if isinstance(value, str) else 0.0 <= value < np.inf
            if not good:
                raise ParameterError(f"{name} must be 'held-out', or a finite number >= 0; got {value!r}")
        if self.surrogate not in ("held-out", *SURROGATES):
            raise ParameterError(f"surrogate must be held-out, {' or '.join(SURROGATES)}; got {self.surrogate!r}")
        if isinstance(self.complexity, str):
            if self.complexity not in ("experts", "switches"):
                raise ParameterError(f"complexity must be experts, switches, or numbers; got {self.complexity!r}")
            if self.complexity == "switches" and self.tie == "label":
                raise ParameterError(
                    "complexity 'switches' counts changes between slots; it does not go with tie 'label'"
                )

    def _chosen(self, slots: Slots, X: ExpertPredictions) -> Choice:
        """Lambda, beta and the loss: as given, or the best on held-out records."""
        lambdas = LAMBDA_GRID if isinstance(self.lambda_, str) else (float(self.lambda_),)
        betas = BETA_GRID if isinstance(self.beta, str) else (float(self.beta),)
        losses = SURROGATES if self.surrogate == "held-out" else (self.surrogate,)
        grid = [(a, b, loss) for loss in losses for a in lambdas for b in betas]
        folds = esp_folds(slots, X) if len(grid) > 1 else []
        if not folds:
            return grid[0]
        return least(grid, [self._errors_on(fold) for fold in folds])

    def _errors_on(self, fold: Fold) -> Callable[[Choice], float]:
        """The error of a choice on the test part of a fold."""
        tying = Tying.learn(fold.learn, self.tie)
        paths = self._path_experts(fold.learn, fold.learn_records, tying)
        worker = type(self)(**self.get_params(deep=False))
        worker.names_, worker.contexts_ = fold.learn.names, tying.keys

        def error(chosen: Choice) -> float:
            worker._adopt(worker._priced(paths, fold.learn, tying, chosen), fold.learn, tying)
            return edits_of_votes(fold.test, fold.test_records, worker._weights(fold.test, fold.test_records))

        return error
