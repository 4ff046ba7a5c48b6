"""The loop of AdaBoost.MH: rounds until one says stop. Schapire and Singer (1999); Kegl (2014), Figure 1."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from structens.boosting.prediction import votes_of
from structens.boosting.progress import Reporter
from structens.boosting.stopping import OnlineStopping, smoothed_minimum
from structens.boosting.trees import Forest, HammingTreeArrays
from structens.losses.label_weights import row_masses

Callback = Callable[[int, float, Mapping[str, float]], Any]


class Rounds(Protocol):
    """What makes one base classifier after the other, and changes the weights."""

    def play(self, features: NDArray[np.int64] | None = None) -> HammingTreeArrays | list[HammingTreeArrays]:
        """The next base classifier, in one tree or in some."""

    def weights(self) -> NDArray[Any]:
        """Signed weights, shape (n, K)."""

    def close(self) -> None:
        """Let go of threads."""


class Validation:
    """Rows held out: what the trees so far vote for them, and how often they err."""

    def __init__(self, X: NDArray[Any], y: NDArray[Any], weight: NDArray[np.float64], n_classes: int) -> None:
        self.X, self.y, self.weight = X, y, weight / weight.sum()
        self.f = np.zeros((X.shape[0], n_classes))
        self.errors: list[float] = []

    def add(self, trees: list[HammingTreeArrays]) -> float:
        """Error with one round more: share of rows named wrongly, or of labels where there are many a row."""
        self.f += votes_of(Forest(self.f.shape[1], trees, width=len(trees)), self.X, 1)
        self.errors.append(vote_error(self.f, self.y, self.weight))
        return self.errors[-1]


def vote_error(f: NDArray[np.float64], y: NDArray[Any], weight: NDArray[np.float64]) -> float:
    """Weighted error of votes, shape (n, K), for codes (n,), or for signs (n, K), those that are 0 left out."""
    if y.ndim == 1:
        return float(weight @ (np.argmax(f, axis=1) != y))
    known = (y != 0) * weight[:, None]
    return float((known * ((f > 0) != (y > 0))).sum() / known.sum())


@dataclass
class Limits:
    """When to stop.

    Attributes
    ----------
    n_rounds : int
        Most rounds, those of an earlier fit counted.
    callback : function, optional
        Called with the number of rounds, the edge, and errors by name; stops when it answers true.
    time_limit : float, optional
        Seconds by the clock.
    early_stopping : {None, "smoothed", "online"}
    min_rounds : int
        For early stopping.
    same_features : bool
        Whether every round sees the same features: then a perfect one would come again.
    least_edge : float
        An edge up to this ends learning.
    perfect_edge : float
        An edge from this on is that of no error.
    progress : Reporter
        Told the rounds done, and n_rounds, after each round.
    kept : list, optional
        Takes the weights of the rows before each round, and after the last.
    """

    n_rounds: int
    callback: Callback | None = None
    time_limit: float | None = None
    early_stopping: str | None = None
    min_rounds: int = 50
    same_features: bool = True
    validation: Validation | None = None
    least_edge: float = 1e-12
    perfect_edge: float = 1.0 - 1e-12
    progress: Reporter = field(default_factory=Reporter)
    kept: list[NDArray[np.float32]] | None = None


def boost(rounds: Rounds, forest: Forest, limits: Limits, features: Callable[[int], NDArray[np.int64] | None]) -> str:
    """Add trees to the forest; returns why it ended.

    Parameters
    ----------
    rounds : Rounds
    forest : Forest
        Takes the trees.
    limits : Limits
    features : function
        The features that round t, from 0, may cut; None: all.
    """
    rule = OnlineStopping(limits.min_rounds) if limits.early_stopping == "online" else None
    before, end = forest.n_trees, math.inf if limits.time_limit is None else time.monotonic() + limits.time_limit
    reason = ""
    _keep(limits.kept, rounds)
    while not reason:
        if forest.n_trees >= limits.n_rounds:
            reason = f"{limits.n_rounds} rounds, as many as asked for"
        elif forest.n_trees > before and time.monotonic() >= end:
            reason = f"time limit of {limits.time_limit:g} s"
        else:
            reason = _round(rounds, forest, limits, rule, features(forest.n_trees))
            limits.progress(forest.n_trees, limits.n_rounds)
    if limits.early_stopping and limits.validation is not None and limits.validation.errors:
        errors = limits.validation.errors
        best = rule.best_rounds if rule is not None else smoothed_minimum(errors, min_rounds=limits.min_rounds)
        if best:
            forest.truncate(forest.n_trees - len(errors) + best)
    return reason


def _round(
    rounds: Rounds, forest: Forest, limits: Limits, rule: OnlineStopping | None, features: NDArray[np.int64] | None
) -> str:
    """One round; why it is the last, or ""."""
    played = rounds.play(features)
    trees = played if isinstance(played, list) else [played]
    edge = trees[0].edge
    if edge <= limits.least_edge:
        wanted = "positive edge" if limits.least_edge < 1e-5 else f"an edge over {limits.least_edge:g}"
        return f"no base classifier with {wanted} in round {forest.n_trees + 1}"
    forest.append(trees)
    _keep(limits.kept, rounds)
    errors = {"bound": float(np.prod(forest.numbers("normalizer")))} if limits.callback else {}
    if limits.validation is not None:
        errors["validation"] = limits.validation.add(trees)
    if limits.callback is not None and limits.callback(forest.n_trees, edge, errors):
        return "the callback said so"
    if rule is not None and rule.update(errors["validation"]):
        return f"the smoothed validation error has not fallen since round {rule.best_rounds}"
    if edge >= limits.perfect_edge and limits.same_features:
        return f"the base classifier of round {forest.n_trees} makes no error"
    return ""


def _keep(kept: list[NDArray[np.float32]] | None, rounds: Rounds) -> None:
    if kept is not None:
        mass = row_masses(rounds.weights())
        kept.append((mass / mass.sum()).astype(np.float32))
