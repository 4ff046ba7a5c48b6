"""The loop of AdaBoost.MH: rounds until one says stop. Schapire and Singer (1999); Kegl (2014), Figure 1."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from structens.boosting.prediction import votes_of
from structens.boosting.stopping import OnlineStopping, smoothed_minimum
from structens.boosting.trees import Forest, HammingTreeArrays

Callback = Callable[[int, float, Mapping[str, float]], Any]


class Rounds(Protocol):
    """What makes one base classifier after the other, and changes the weights."""

    def play(self, features: NDArray[np.int64] | None = None) -> HammingTreeArrays | list[HammingTreeArrays]:
        """The next base classifier, in one tree or in some."""

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
    """

    n_rounds: int
    callback: Callback | None = None
    time_limit: float | None = None
    early_stopping: str | None = None
    min_rounds: int = 50
    same_features: bool = True
    validation: Validation | None = None
    least_edge: float = 1e-12
    reason: str = field(default="", init=False)


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
    begin = time.monotonic()
    rule = OnlineStopping(limits.min_rounds) if limits.early_stopping == "online" else None
    reason = f"{limits.n_rounds} rounds, as many as asked for"
    while forest.n_trees < limits.n_rounds:
        played = rounds.play(features(forest.n_trees))
        trees = played if isinstance(played, list) else [played]
        tree = trees[0]
        if tree.edge <= limits.least_edge:
            reason = f"no base classifier with positive edge in round {forest.n_trees + 1}"
            break
        forest.append(trees)
        errors = {"bound": float(np.prod(forest.numbers("normalizer")))} if limits.callback else {}
        if limits.validation is not None:
            errors["validation"] = limits.validation.add(trees)
        if limits.callback is not None and limits.callback(forest.n_trees, tree.edge, errors):
            reason = "the callback said so"
            break
        if rule is not None and rule.update(errors["validation"]):
            reason = f"the smoothed validation error has not fallen since round {rule.best_rounds}"
            break
        if tree.edge >= 1.0 - limits.least_edge and limits.same_features:
            reason = f"the base classifier of round {forest.n_trees} makes no error"
            break
        if limits.time_limit is not None and time.monotonic() - begin >= limits.time_limit:
            reason = f"time limit of {limits.time_limit:g} s"
            break
    if limits.early_stopping and limits.validation is not None and limits.validation.errors:
        errors_so_far = limits.validation.errors
        best = rule.best_rounds if rule is not None else smoothed_minimum(errors_so_far, min_rounds=limits.min_rounds)
        if best:
            forest.truncate(forest.n_trees - len(errors_so_far) + best)
    return reason
