"""Choice of beta by cross-validation on the records of learning, with the decoder that will be used.

The papers never say how they picked beta. Regret bounds recommend rates for the worst case; on real data the best rate
can be far from them, and a grid costs a dozen passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from structens.core import GAP, ExpertPredictions, Ragged, Slots
from structens.ensembles.decoding import Weighted, decode_slots
from structens.ensembles.recipe import Recipe, noise_ids
from structens.ensembles.restricted_votes import Conditioned
from structens.ensembles.vote import Votes, shares, vote
from structens.losses import AdditiveLoss, Hamming, edit_distance, get
from structens.online.converted import parameters_of, transition_weights
from structens.online.edit_learning import rounds_by
from structens.online.tying import Tie, Tying

BETA_GRID = (*(1.0 - 0.9 * (0.0001 / 0.9) ** (np.arange(13) / 12.0)).round(6).tolist(), 1.0)
"""From .1 to .9999, geometric in 1 - beta, and 1."""
EPSILON_GRID = tuple((10.0 ** np.linspace(1.0, -3.0, 13)).round(6).tolist())
"""From 10 down to .001: from hardly any noise to one of a thousand errors."""
DRAWING = {"rand": "mvote", "fplrand": "fpl"}
"""Rules that draw, and those that average over what they draw from."""
N_BETWEEN = 3
"""Rates tried between the best of the grid and each of its neighbours, geometric in 1 - beta."""
N_FOLDS = 5
MOST_SLOTS = 200_000
"""Slots of the first records that the choice looks at; more change it little."""


def held_out_beta(
    slots: Slots,
    X: ExpertPredictions,
    tie: Tie,
    recipe: Recipe | None = None,
    *,
    loss: str | AdditiveLoss = "hamming",
    loss_scale: str = "per_substructure",
) -> float:
    """Rate with the least held-out error on a grid: beta, or epsilon for rules that follow perturbed leaders.

    Beta's grid is refined around its best; of equal rates that is taken which is closest to the plain vote. Every fifth
    record makes a fold. Other records are learnt from in their order; the error on the fold is the summed edit distance
    of the voted answers to the nearest reference. With a loss of the user's it is the loss of the labels voted for,
    summed over slots, and for rules "rand" and "fplrand" the expected loss. Deterministic.

    Parameters
    ----------
    slots : Slots
        Records with gold, at least two.
    X : ExpertPredictions
        The same records.
    tie : str or callable
    recipe : Recipe, optional
    loss, loss_scale
        As in `structens.ensembles.path_experts.PathExpertEnsemble`.

    Examples
    --------
    >>> from structens.align import align
    >>> X = ExpertPredictions.of({"a": ["x"] * 40, "b": ["y"] * 40, "c": ["y"] * 40}, gold=["x"] * 40)
    >>> held_out_beta(align(X), X, "expert") < 1
    True
    """
    recipe = recipe or Recipe()
    slots, X = first_records(slots, X)
    n_folds = min(N_FOLDS, len(slots))
    draws = recipe.rule in DRAWING
    edits = not draws and (loss == "edit" or isinstance(get(loss), Hamming))
    averaging = replace(recipe, rule=DRAWING.get(recipe.rule, recipe.rule))
    folds = [_Fold(slots, X, k, n_folds, tie, loss, loss_scale, edits, recipe) for k in range(n_folds)]

    def best(rates: Sequence[float]) -> int:
        error = [sum(fold.error(rate, averaging, draws) for fold in folds) for rate in rates]
        return len(rates) - 1 - int(np.argmin(error[::-1]))

    if recipe.follows_leaders:
        # where all are equal: much noise brings a vote close to the plain one, but a single path close to any path
        grid = EPSILON_GRID[::-1] if recipe.rule == "fplcv" else EPSILON_GRID
        return float(grid[best(grid)])
    coarse = best(BETA_GRID)
    fine = between(BETA_GRID, coarse)
    return fine[best(fine)]


def first_records(slots: Slots, X: ExpertPredictions) -> tuple[Slots, ExpertPredictions]:
    """The first records, of at most `MOST_SLOTS` slots, but at least two."""
    n = max(int(np.searchsorted(slots.offsets, MOST_SLOTS, side="right")) - 1, 2)
    return (slots[:n], X[:n]) if n < len(slots) else (slots, X)


def between(grid: Sequence[float], i: int) -> list[float]:
    """The neighbourhood of a grid point, ascending; beta = 1 stands alone.

    Examples
    --------
    >>> between((0.1, 0.9, 0.99, 1.0), 3), between((0.1, 0.9, 0.99, 1.0), 0)
    ([0.99, 1.0], [0.1, 0.480385, 0.7, 0.826795])
    """
    steps = 1.0 - np.array(grid[:-1])
    if i >= len(steps):
        return [*grid[-2:]]
    places = np.arange(-N_BETWEEN, N_BETWEEN + 1) / (N_BETWEEN + 1.0) + i
    places = places[(places >= 0) & (places <= len(steps) - 1)]
    rates = 1.0 - np.exp(np.interp(places, np.arange(len(steps)), np.log(steps)))
    return [float(rate) for rate in rates.round(6)]


class Judged:
    """Records whose answers are judged by summed edit distance to the nearest reference.

    Parameters
    ----------
    slots : Slots
    X : ExpertPredictions
        The same records.
    """

    def __init__(self, slots: Slots, X: ExpertPredictions) -> None:
        self.slots = slots
        rows, cuts = X.references.to_list(), X.reference_offsets.tolist()
        self._references = [rows[a:b] for a, b in pairwise(cuts)]

    def edits(self, label: NDArray[np.int32]) -> float:
        """Summed distance, if the slots say these labels."""
        return float(self.each(label).sum())

    def each(self, label: NDArray[np.int32]) -> NDArray[np.float64]:
        """Distance of each record, 0 for those without a reference; shape (n_records,)."""
        said = label != GAP
        lengths = np.bincount(self.slots.record[said], minlength=len(self.slots))
        answers = Ragged.from_lengths(label[said], lengths).to_list()
        pairs = zip(answers, self._references, strict=True)
        return np.array([min((edit_distance(g, answer) for g in golds), default=0.0) for answer, golds in pairs], float)


class _Fold:
    """What a fold's error needs, whatever the rate."""

    def __init__(
        self,
        slots: Slots,
        X: ExpertPredictions,
        k: int,
        n_folds: int,
        tie: Tie,
        loss: str | AdditiveLoss,
        loss_scale: str,
        edits: bool,
        recipe: Recipe,
    ) -> None:
        fold = np.arange(len(slots)) % n_folds
        learn, self.test = slots[fold != k], slots[fold == k]
        tying = Tying.learn(learn, tie)
        self.rounds = rounds_by(loss, learn, X[np.flatnonzero(fold != k)], tying, loss_scale)
        self.awake = learn.awake
        self.ids = noise_ids(tying, slots.names)
        self.parameter, _ = parameters_of(self.test, tying)
        self.game = recipe.game(learn, self.rounds, tying)
        self.judged: Conditioned | None = None
        if self.game is not None and recipe.restriction is not None:
            self.judged = Conditioned.of(self.test, tying, recipe.restriction, self.game.alive)
        inside = X[np.flatnonzero(fold == k)]
        self.loss = None if edits else rounds_by(loss, self.test, inside, Tying.learn(self.test, "expert")).loss
        self.judge = Judged(self.test, inside)

    def error(self, rate: float, recipe: Recipe, draws: bool) -> float:
        # 8 rounds are enough to compare rates where tying by label averages over a grid
        played = recipe.play(self.rounds, self.awake, rate, ids=self.ids, n_most=8, game=self.game)
        weights = transition_weights(played.converted, self.parameter, played.reading_rate)
        if self.judged is not None:
            weights = self.judged.paths.flows(weights, self.judged.there)
        if self.loss is None:
            return self.judge.edits(self._votes(weights).label)
        if draws:
            total = weights.sum(axis=1, keepdims=True)
            return float((weights / np.where(total > 0, total, 1.0) * self.loss).sum())
        first = self._votes(weights).first
        return float(self.loss[np.arange(len(self.loss)), first].sum())

    def _votes(self, weights: NDArray[np.float64]) -> Votes:
        votes = vote(self.test.labels, weights)
        if self.judged is None:
            return votes
        share = shares(self.test.labels, weights)
        weighted = Weighted(self.test, weights, share, votes, range(len(self.test)))
        return decode_slots(weighted, "marginal", self.judged.paths.acceptor)[0]
