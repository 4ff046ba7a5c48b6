"""Learning by n-gram gains on the path experts of slots: what PathExpertEnsemble does with `loss="ngram"`.

The rules of the on-line-to-batch conversions on the game of `structens.online.history_game`. Weights belong to
sequences of experts, so a round is kept as its cumulative gains, and averages are taken over at most 16 rounds, as with
tie "label". A round's loss is the part of the best possible gain that is missed; no bound on regret is known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.boosting.ranges import check_whole
from structens.core import ExpertPredictions, ParameterError, Slots
from structens.ensembles.held_out import BETA_GRID, N_FOLDS, Judged, between
from structens.ensembles.recipe import Recipe
from structens.ensembles.vote import vote
from structens.losses import NGramGain
from structens.online.gamma import cv_penalty, suffix_start
from structens.online.history_game import HistoryGame
from structens.online.rates import eta_of
from structens.online.rounds import SCALES
from structens.online.slot_conversion import MOST_AVERAGED, grid_size, spread
from structens.online.tying import TIES, Tie, Tying

NGRAM_RULES = ("mvote", "cv", "last")
MOST_TRANSITIONS = 4_000_000
"""Transitions of the first records' history automata that the choice of beta looks at."""
FOLDED_TRANSITIONS = 2_000_000
"""Transitions in all folds together: where there are more, fewer than five folds are tested."""


class PlayedNGrams(NamedTuple):
    """A predictor by n-gram gains.

    Parameters
    ----------
    snapshots : ndarray of float64, shape (n_kept, n_parameters)
        Cumulative gains before the rounds kept.
    round_losses : ndarray of float64, shape (T,)
    start : int
        As in `structens.online.converted.Converted`.
    """

    snapshots: NDArray[np.float64]
    round_losses: NDArray[np.float64]
    start: int


def gain_of(loss: object, order: int) -> NGramGain | None:
    """The gain to learn by; None for losses.

    Raises
    ------
    ParameterError
        If the order is no whole number, or below 1.

    Examples
    --------
    >>> gain_of("ngram", 2), gain_of("hamming", 2)
    (NGramGain((1.0, 1.0), max_gap=0, discount=1.0), None)
    """
    if isinstance(loss, NGramGain):
        return loss
    if not (isinstance(loss, str) and loss == "ngram"):
        return None
    check_whole("ngram_order", order, 1)
    return NGramGain((1.0,) * int(order))


def check_ngrams(recipe: Recipe, tie: Tie) -> None:
    """Refuse rules, learners and ties that know no n-grams.

    Raises
    ------
    ParameterError
    """
    if recipe.rule not in NGRAM_RULES or recipe.learner != "hedge":
        rule = f"n-gram gains are learnt by learner 'hedge' and one of the rules {', '.join(NGRAM_RULES)}"
        raise ParameterError(f"{rule}; got {recipe.learner!r} and {recipe.rule!r}")
    if tie == "label":
        ties = ", ".join(name for name in TIES if name != "label")
        rule = "n-gram gains belong to sequences of experts, so the experts of a slot must share its context"
        raise ParameterError(f"{rule}: tie {ties} or a function can do that; got 'label'")
    if recipe.restrict is not None:
        rule = "n-gram gains are learnt without a restriction; leave restrict out to decode restricted only"
        raise ParameterError(f"{rule}; got {recipe.restrict!r}")


def game_of(
    slots: Slots, X: ExpertPredictions, tying: Tying, gain: NGramGain, loss_scale: str = "per_substructure"
) -> HistoryGame:
    """The game on these records; where all have gold it can be played. Of several right answers the first counts.

    Raises
    ------
    ParameterError
        If the scale is unknown, or there would be too many weights or transitions.
    """
    if loss_scale not in SCALES:
        raise ParameterError(f"loss_scale must be one of {', '.join(SCALES)}; got {loss_scale!r}")
    p = max(slots.n_experts, 1)
    targets = None
    if X.has_gold.all():
        targets = [X.references[row] for row in X.reference_offsets[:-1].tolist()]
    scale = 1.0 / np.maximum(slots.lengths, 1) if loss_scale == "normalized" else None
    return HistoryGame(
        slots, tying.parameters(slots)[:, 0].astype(np.int64) // p, tying.n_contexts, gain, targets, scale
    )


def play_ngrams(
    game: HistoryGame,
    recipe: Recipe,
    eta: float,
    records: NDArray[np.int64] | None = None,
    n_most: int = MOST_AVERAGED,
) -> PlayedNGrams:
    """Play records and convert by the recipe's rule.

    Parameters
    ----------
    game : HistoryGame
    recipe : Recipe
    eta : float
    records : ndarray of int64, optional
        Default all.
    n_most : int
        Most rounds to average over, or to choose among.
    """
    rows = np.arange(len(game.slots)) if records is None else records
    n, most = len(rows), grid_size(game.n_parameters, n_most)
    losses = game.play(eta, (), rows).loss
    if recipe.rule == "cv" and n > 1:
        penalty = cv_penalty(n, recipe.delta)
        kept = np.union1d([0], spread(0, n - 1, most))
        tried = game.play(eta, kept, rows).snapshots
        later = [game.losses(tried[k], eta, rows[t + 1 :]).mean() + penalty[t] for k, t in enumerate(kept.tolist())]
        best = int(np.argmin(later))
        return PlayedNGrams(tried[best : best + 1], losses, int(kept[best]))
    start = n if recipe.rule == "last" else 0
    if recipe.rule == "mvote":
        start = suffix_start(losses, recipe.delta, union_bound=recipe.union_bound)
    kept = np.array([n]) if recipe.rule == "last" else spread(start, n, most)
    return PlayedNGrams(game.play(eta, kept, rows).snapshots, losses, start)


def mean_flows(
    game: HistoryGame, snapshots: NDArray[np.float64], eta: float, records: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Weights of the experts in each slot of these records, averaged over the rounds kept; shape (n_slots, p)."""
    total = sum(game.flows(one, eta, records) for one in snapshots)
    return np.asarray(total / len(snapshots), dtype=np.float64)


def ngram_beta(beta: str | float, game: HistoryGame, X: ExpertPredictions, recipe: Recipe) -> float:
    """The rate asked for.

    Raises
    ------
    ParameterError
        If it is neither "held-out" nor a number in (0, 1].
    """
    if not isinstance(beta, str):
        eta_of(beta)  # refuses what is no rate
        return float(beta)
    if beta != "held-out":
        raise ParameterError(f"beta for n-gram gains must be held-out, or a number; got {beta!r}")
    return held_out_ngram_beta(game, X, recipe) if len(X) > 1 else 1.0


def held_out_ngram_beta(game: HistoryGame, X: ExpertPredictions, recipe: Recipe) -> float:
    """Beta with the least held-out error of the vote, as `structens.ensembles.held_out.held_out_beta` finds it.

    It looks at the first records only, tests fewer folds where records are many, and averages over 4 rounds.

    Parameters
    ----------
    game : HistoryGame
        Of records that all have gold, at least two.
    X : ExpertPredictions
        The same records.
    recipe : Recipe
    """
    n = max(game.n_records_within(MOST_TRANSITIONS), 2)
    n_folds = min(N_FOLDS, n)
    n_tested = max(min(FOLDED_TRANSITIONS // max(game.n_transitions(n), 1), n_folds), 1)
    fold = np.arange(n) % n_folds
    parts = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_tested)]
    judges = [Judged(game.slots[test], X[test]) for _, test in parts]

    def error(beta: float) -> float:
        total, eta = 0.0, eta_of(beta)
        for (learn, test), judge in zip(parts, judges, strict=True):
            made = play_ngrams(game, recipe, eta, learn, n_most=4)
            total += judge.edits(vote(judge.slots.labels, mean_flows(game, made.snapshots, eta, test)).label)
        return total

    def best(betas: list[float]) -> int:
        found = [error(beta) for beta in betas]
        return len(betas) - 1 - int(np.argmin(found[::-1]))

    fine = between(BETA_GRID, best(list(BETA_GRID)))
    return fine[best(fine)]
