"""The bounds of a run, in the open: what the theory promises of what was learnt, in numbers.

Cortes, Kuznetsov and Mohri (ICML 2014): propositions 1 and 2, theorem 1, and the refined proposition 4, with the
corrections of `structens.online.bounds`. All losses here are means over a record's slots. Bounds on expected losses
hold with probability 1 - delta over records drawn independently; those "on these records" hold as they stand. The
regret and its bound are sums of what was charged over all records. All bounds suppose that the rate was fixed before
the records were seen: for one chosen on held-out parts of them they hold for the game as it was played, whose regret is
below its bound for any rate, but not with the stated probability for records to come.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from structens.core import Slots
from structens.ensembles.recipe import Played, Recipe
from structens.ensembles.vote import vote
from structens.online.bounds import (
    cv_loss,
    excess_of_rand,
    leader_cv_excess,
    leader_rand_excess,
    rand_loss,
    vote_loss,
)
from structens.online.rounds import Rounds


def run_bounds(
    recipe: Recipe, rounds: Rounds, played: Played, slots: Slots, weights: NDArray[np.float64]
) -> dict[str, float]:
    """Name -> number, in the order in which they are to be read.

    Parameters
    ----------
    recipe : Recipe
    rounds : Rounds
    played : Played
        By this recipe on these rounds.
    slots : Slots
        The records of the rounds.
    weights : ndarray of float64, shape (n_slots, p)
        Weights of the predictor on them.

    Where learning is restricted (`recipe.restrict`) only what holds of that game is given: restricted play is like any
    other for proposition 1, but its answers are no plain vote, and not all path experts can be compared with.
    """
    losses, delta, largest = played.converted.round_losses, recipe.delta, rounds.largest
    out = {"rounds T": float(len(losses)), "mean loss of the learner": float(losses.mean())}
    out["regret"] = played.regret
    if math.isfinite(played.bound):
        out["bound on regret"] = played.bound
    proposition = rand_loss(losses, delta, largest)
    if recipe.restrict is not None:
        return {**out, "H_Rand: bound on expected loss (proposition 1)": proposition}
    if rounds.by_slot:
        out.update(_against_best_path(recipe, rounds, losses))
    if not recipe.follows_leaders:
        out["H_Rand: bound on expected loss (proposition 1)"] = proposition
        if recipe.rule == "cv":
            out["H_CVRand: bound on expected loss"] = cv_loss(losses, delta, largest)
        out["H_MVote: bound on expected loss (proposition 2)"] = vote_loss(proposition)
    out.update(_on_these_records(rounds, slots, weights))
    return out


def _against_best_path(recipe: Recipe, rounds: Rounds, losses: NDArray[np.float64]) -> dict[str, float]:
    """Losses beside the best choice of one expert for each context, in hindsight."""
    lengths = np.diff(rounds.offsets)
    share = rounds.loss / np.repeat(np.maximum(lengths, 1), lengths)[:, None]
    table = np.bincount(rounds.parameter.ravel(), weights=share.ravel(), minlength=rounds.n_parameters)
    n_rounds, delta, largest = rounds.n_rounds, recipe.delta, rounds.largest
    best = float(table.reshape(-1, rounds.n_experts).min(axis=1).sum()) / n_rounds
    mean_regret = float(losses.mean()) - best
    out = {"mean loss of the best path expert": best, "regret a round R_T/T": mean_regret}
    if recipe.follows_leaders:
        out["H_FPLRand: bound on excess over the best path expert"] = leader_rand_excess(
            mean_regret, n_rounds, delta, largest
        )
        out["H_FPL-CV: bound on excess over the best path expert"] = leader_cv_excess(
            mean_regret, n_rounds, delta, largest
        )
        return out
    tail = 2.0 * largest * math.sqrt(math.log(2.0 / delta) / n_rounds)
    out["H_Rand: bound on excess over the best path expert (theorem 1, this run)"] = mean_regret + tail
    log_n = rounds.n_parameters // rounds.n_experts * math.log(rounds.n_experts)
    out["H_Rand: bound on excess before any data (theorem 1)"] = excess_of_rand(log_n, n_rounds, delta, largest)
    return out


def _on_these_records(rounds: Rounds, slots: Slots, weights: NDArray[np.float64]) -> dict[str, float]:
    """The vote against the draw where nothing is left to chance: only for losses of 0 and 1."""
    if not np.isin(rounds.loss[slots.awake], (0.0, 1.0)).all():
        return {}
    given = np.where(slots.awake, weights, 0.0)
    total = given.sum(axis=1, keepdims=True)
    given = np.where(total > 0, given, slots.awake)
    wrong = (given * rounds.loss).sum(axis=1) / np.maximum(given.sum(axis=1), 1e-300)
    first = vote(slots.labels, weights).first
    missed = rounds.loss[np.arange(len(first)), first]
    record, lengths = slots.record, np.maximum(slots.lengths, 1)

    def mean(values: NDArray[np.float64]) -> float:
        return float((np.bincount(record, weights=values, minlength=len(slots)) / lengths).mean())

    return {
        "vote on these records": mean(missed),
        "vote on these records: bound 2 L(draw) (proposition 2)": vote_loss(mean(wrong)),
        "vote on these records: refined bound (proposition 4)": mean(2.0 * wrong - 2.0 * np.maximum(0.0, wrong - 0.5)),
    }
