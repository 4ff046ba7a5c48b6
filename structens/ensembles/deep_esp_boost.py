"""DeepESPBoost: ESPBoost with a price on what it takes up.

Deep Boosting by Cortes, Mohri and Syed (ICML 2014), which Cortes, Kuznetsov and Mohri (ACL 2014) name as the natural
extension of ESPBoost.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from structens.boosting.deep_esp_boost import SURROGATES, deep_boost_paths
from structens.boosting.esp_boost import Boosted
from structens.boosting.esp_complexity import (
    AdditiveComplexity,
    Complexity,
    SwitchComplexity,
    expert_complexities,
    switch_complexities,
)
from structens.boosting.esp_slots import PathExperts
from structens.boosting.ranges import within
from structens.core import ExpertPredictions, ParameterError, Slots
from structens.ensembles.decoding import Decode
from structens.ensembles.esp_ensemble import EspEnsemble
from structens.ensembles.esp_held_out import Choice, Fold, esp_folds, least
from structens.ensembles.restriction import Restriction
from structens.ensembles.vote import vote
from structens.online.tying import Tie, Tying

LAMBDA_GRID = (0.0, 0.0001, 0.005, 0.01, 0.05, 0.1, 0.5)
BETA_GRID = tuple(4.0**-k for k in range(1, 10))
"""Prices tried by "held-out"."""


class DeepESPBoost(EspEnsemble):
    """ESPBoost with a price on the complexity of path experts, and on every unit of their coefficients.

    Parameters
    ----------
    n_rounds : int
        Most steps.
    lam : "held-out" or float >= 0
        Lambda, the price of a path expert's complexity, see `structens.boosting.esp_complexity`. Held-out it is 0 where
        the complexities of all path experts are alike, since beta does the same.
    beta : "held-out" or float >= 0
        Price of a path expert, whatever its complexity.
    complexity : "experts", "switches", or sequence of p floats >= 0
        "experts": the sum of the complexities of its experts, which are alike, or as given, in the order of `names_`.
        "switches": how often it changes the expert, from context to context in their order; not with tie "label".
    surrogate : {"held-out", "exp", "logistic"}
        Loss of a margin. With "exp" slots that nobody gets right soon outweigh all others.
    hopeless : {"skip", "charge"}
        As in `ESPBoost`.
    tie, base, null_confidence, scores, unequal, weighting, ties, rho, delta, seed, align, decode, restriction
        As in `ESPBoost`.

    Attributes
    ----------
    lam_, beta_, surrogate_ : float, float, str
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
    >>> DeepESPBoost(beta=0.01, lam=0.0, surrogate="exp").fit(X).predict({"a": ["tap"], "b": ["tip"], "c": ["tip"]})
    ['tap']
    """

    lam_: float
    beta_: float
    surrogate_: str

    def __init__(
        self,
        n_rounds: int = 200,
        lam: str | float = "held-out",
        beta: str | float = "held-out",
        complexity: str | Sequence[float] = "experts",
        surrogate: str = "held-out",
        tie: Tie = "expert",
        base: str = "votes",
        null_confidence: float = 0.5,
        scores: str = "sum",
        unequal: str = "epsilon",
        weighting: str = "token",
        hopeless: str = "skip",
        ties: str = "order",
        rho: float = 0.1,
        delta: float = 0.05,
        seed: int = 0,
        align: str = "auto",
        decode: Decode = "marginal",
        restriction: Restriction | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.lam = lam
        self.beta = beta
        self.complexity = complexity
        self.surrogate = surrogate
        self.tie = tie
        self.base = base
        self.null_confidence = null_confidence
        self.scores = scores
        self.unequal = unequal
        self.weighting = weighting
        self.hopeless = hopeless
        self.ties = ties
        self.rho = rho
        self.delta = delta
        self.seed = seed
        self.align = align
        self.decode = decode
        self.restriction = restriction

    def _boosted(self, paths: PathExperts, slots: Slots, X: ExpertPredictions, tying: Tying) -> Boosted:
        chosen = self._chosen(slots, X)
        self.lam_, self.beta_, self.surrogate_ = chosen
        return self._priced(paths, slots, tying, chosen)

    def _priced(self, paths: PathExperts, slots: Slots, tying: Tying, chosen: Choice) -> Boosted:
        lam, beta, surrogate = chosen
        p, m = tying.n_experts, len(slots)
        price: Complexity
        if isinstance(self.complexity, str) and self.complexity == "switches":
            price = SwitchComplexity(switch_complexities(tying.n_contexts, p, m), p, lam, beta)
        else:
            given = None if isinstance(self.complexity, str) else self.complexity
            r = expert_complexities(given, tying.n_contexts, p, len(slots.alphabet), m)
            price = AdditiveComplexity(r, lam, beta)
        return deep_boost_paths(paths, price, self.n_rounds, surrogate=surrogate)

    def _check_options(self) -> None:
        super()._check_options()
        for name in ("lam", "beta"):
            value = getattr(self, name)
            if value != "held-out" and not within(value, 0.0, sys.float_info.max):
                raise ParameterError(f"{name} must be 'held-out', or a finite number >= 0; got {value!r}")
        if self.surrogate not in ("held-out", *SURROGATES):
            raise ParameterError(f"surrogate must be held-out, {' or '.join(SURROGATES)}; got {self.surrogate!r}")
        if self.complexity is None or isinstance(self.complexity, str):
            if self.complexity not in ("experts", "switches"):
                raise ParameterError(f"complexity must be experts, switches, or numbers; got {self.complexity!r}")
            if self.complexity == "switches" and self.tie == "label":
                raise ParameterError(
                    "complexity 'switches' counts changes between slots; it does not go with tie 'label'"
                )

    def _chosen(self, slots: Slots, X: ExpertPredictions) -> Choice:
        """Lambda, beta and the loss: as given, or the best on held-out records; lambda after the others."""
        lam = 0.0 if isinstance(self.lam, str) else float(self.lam)
        betas = BETA_GRID if isinstance(self.beta, str) else (float(self.beta),)
        losses = SURROGATES[::-1] if self.surrogate == "held-out" else (self.surrogate,)
        grid = [(lam, beta, loss) for loss in losses for beta in betas]
        alike = isinstance(self.complexity, str) and self.complexity == "experts"
        graded = isinstance(self.lam, str) and not alike  # else beta does what lambda would
        folds = esp_folds(slots, X) if len(grid) > 1 or graded else []
        if not folds:
            return grid[0]
        errors = [self._errors_on(fold) for fold in folds]
        best = least(grid, errors)
        return least([(value, *best[1:]) for value in LAMBDA_GRID], errors) if graded else best

    def _errors_on(self, fold: Fold) -> Callable[[Choice], float]:
        """The error of a choice on the test part of a fold."""
        tying = Tying.learn(fold.learn, self.tie)
        paths = self._path_experts(fold.learn, fold.learn_records, tying)
        worker = type(self)(**self.get_params(deep=False))
        worker.names_, worker.contexts_, test = fold.learn.names, tying.keys, fold.test.slots

        def error(chosen: Choice) -> float:
            worker._adopt(worker._priced(paths, fold.learn, tying, chosen), fold.learn, tying)
            return fold.test.edits(vote(test.labels, worker._weights(test, fold.test_records)).label)

        return error
