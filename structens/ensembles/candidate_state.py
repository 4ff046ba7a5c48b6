"""A learnt `CandidateModel` as plain arrays, and back: what a model file can hold."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.trees import Forest, HammingTreeArrays
from structens.ensembles.candidate_model import CandidateModel, Language, Pass, Statistics
from structens.ensembles.candidate_rates import LikeCases
from structens.ensembles.label_ngram import LabelNGram, hashed
from structens.ensembles.reliability import Rates
from structens.ensembles.unproposed import Pool

_COLUMNS: dict[str, Any] = {
    "feature": np.int32,
    "threshold": np.float64,
    "test": np.int8,
    "left": np.int32,
    "right": np.int32,
}


def state_of(model: CandidateModel) -> dict[str, Any]:
    """Arrays by name, in dicts and lists.

    Examples
    --------
    >>> from structens.ensembles.label_ngram import learn_ngram
    >>> ngram = learn_ngram(np.array([0, 1]), np.array([0, 2]), 2, 1)
    >>> known = Statistics(np.zeros((1, 2, 2, 3), np.float32), Language([ngram], None), LikeCases([], 0.5))
    >>> model = CandidateModel(known, np.ones(3), [])
    >>> again = model_of(state_of(model))
    >>> again.logit.tolist(), again.statistics.supporters.base
    ([1.0, 1.0, 1.0], 0.5)
    """
    known = model.statistics
    pool = known.language.pool
    return {
        "reliability": known.reliability[0],
        "ngram": _ngram_state(known.language.ngrams[0]),
        "pool": {} if pool is None else {"table": pool.table[0], "prior": pool.log_prior[0], "weights": pool.weights},
        "supporters": _rates_state(known.supporters),
        "workers": [] if known.workers is None else known.workers[0],
        "logit": model.logit,
        "passes": [
            {"surroundings": _rates_state(step.surroundings), "blend": step.blend, "forest": forest_state(step.forest)}
            for step in model.passes
        ],
    }


def model_of(state: dict[str, Any]) -> CandidateModel:
    """The model again.

    Raises
    ------
    ValueError
        If the arrays do not fit each other.
    """
    known = Statistics(
        np.ascontiguousarray(state["reliability"], np.float32)[None],
        Language([_ngram_of(state["ngram"])], _pool_of(state["pool"])),
        _rates_of(state["supporters"]),
        _workers_of(state.get("workers")),
    )
    passes = [
        Pass(_rates_of(one["surroundings"]), forest_of(one["forest"]), np.asarray(one["blend"], np.float64))
        for one in state["passes"]
    ]
    return CandidateModel(known, np.asarray(state["logit"], np.float64), passes)


def _ngram_state(model: LabelNGram) -> dict[str, NDArray[Any]]:
    used = np.flatnonzero(model.key >= 0)
    return {"key": model.key[used], "log_p": model.log_p[used], "back_off": model.back_off[used], "shape": model.shape}


def _ngram_of(state: dict[str, Any]) -> LabelNGram:
    if not len(state["key"]) == len(state["log_p"]) == len(state["back_off"]):
        raise ValueError("the n-grams do not fit their probabilities")
    return hashed(state["key"], state["log_p"], state["back_off"], state["shape"])


def _pool_of(state: dict[str, Any]) -> Pool | None:
    if not state:
        return None
    table, prior = np.ascontiguousarray(state["table"], np.float32), np.asarray(state["prior"], np.float64)
    if table.shape[1:] != (len(prior), len(prior)):
        raise ValueError("the pool does not fit the classes")
    return Pool(table[None], prior[None], np.asarray(state["weights"], np.float64))


def _workers_of(log_odds: Any) -> NDArray[np.float32] | None:
    if log_odds is None or not len(log_odds):
        return None
    return np.ascontiguousarray(log_odds, np.float32)[None]


def _rates_state(learnt: LikeCases) -> dict[str, Any]:
    parts = [np.concatenate([np.zeros(0), *(getattr(one, name) for one in learnt.rates)]) for name in ("n", "right")]
    keys = np.concatenate([np.zeros(0, np.int64), *(one.key for one in learnt.rates)]).astype(np.int64)
    sizes = np.array([len(one.key) for one in learnt.rates], np.int64)
    return {"key": keys, "n": parts[0], "right": parts[1], "sizes": sizes, "base": learnt.base}


def _rates_of(state: dict[str, Any]) -> LikeCases:
    cuts = np.concatenate([[0], np.cumsum(state["sizes"])]).tolist()
    if cuts[-1] != len(state["key"]):
        raise ValueError("the rates do not fit their keys")
    parts = [(state["key"][a:b], state["n"][a:b], state["right"][a:b]) for a, b in pairwise(cuts)]
    return LikeCases([Rates(*part) for part in parts], float(state["base"]))


def forest_state(forest: Forest) -> dict[str, Any]:
    """The trees of a forest as a handful of arrays, with what prediction needs."""
    trees = forest.trees
    out: dict[str, Any] = {
        name: np.concatenate([np.zeros(0, kind), *(getattr(tree, name) for tree in trees)]).astype(kind)
        for name, kind in _COLUMNS.items()
    }
    votes = [np.zeros((0, forest.n_classes), np.float32), *(tree.vote for tree in trees)]
    out["vote"] = np.concatenate(votes).astype(np.float32)
    out["n_cuts"] = np.array([len(tree.feature) for tree in trees], np.int64)
    out["coefficient"] = np.array([tree.coefficient for tree in trees], np.float64)
    return {**out, "n_classes": forest.n_classes}


def forest_of(state: dict[str, Any]) -> Forest:
    """The forest again.

    Raises
    ------
    ValueError
        If a branch leads nowhere, or the arrays do not fit each other.
    """
    n_cuts = state["n_cuts"]
    forest = Forest(int(state["n_classes"]))
    total = int(n_cuts.sum())
    if state["vote"].shape != (total + len(n_cuts), forest.n_classes) or len(state["feature"]) != total:
        raise ValueError("the trees do not fit their votes")
    begin = 0
    for t, m in enumerate(n_cuts.tolist()):
        cuts: dict[str, Any] = {
            name: np.asarray(state[name][begin : begin + m], kind) for name, kind in _COLUMNS.items()
        }
        for side in (cuts["left"], cuts["right"]):
            inner = (side > np.arange(m)) & (side < m)
            if not (inner | ((side < 0) & (side >= -1 - m))).all():
                raise ValueError("a branch leads nowhere")
        vote = state["vote"][begin + t : begin + t + m + 1]
        more: dict[str, Any] = {"gain": np.zeros(m), "edge": 0.0, "normalizer": 1.0}
        more["coefficient"] = float(state["coefficient"][t])
        forest.append(HammingTreeArrays(vote=vote, **cuts, **more))
        begin += m
    return forest
