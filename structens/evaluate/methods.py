"""The table of methods: every expert, the baselines, what learns from gold, and the oracles, on the same records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from structens.align import align
from structens.core import DataError, ExpertPredictions
from structens.ensembles import LEARNING, METHODS, cross_predict, make_ensemble
from structens.evaluate.evaluation import Evaluation
from structens.evaluate.experts import evaluate_experts

BASELINES = ("best", "vote", "rover")
TABLE = ("best", "vote", "rover", "mvote", "cv")


def evaluate_methods(
    X: ExpertPredictions,
    methods: Sequence[str] = TABLE,
    *,
    n_folds: int = 5,
    seed: int = 0,
    loss: str = "auto",
    by: str | None = None,
    present_only: bool = False,
    ignore_tokens: Sequence[str] = (),
    n_resamples: int = 1000,
    options: dict[str, Any] | None = None,
    systems: Mapping[str, Sequence[Any]] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Evaluation:
    """Evaluate methods beside the experts on the records with gold.

    Methods that learn from gold answer each record by what they learnt from the other folds, so that no row of the
    table is flattered by having seen the answers.

    Parameters
    ----------
    X : ExpertPredictions
    methods : sequence of str
        Names as in `structens.ensembles.METHODS`.
    n_folds, seed : int
        Folds of whole records, by a hash of their ids.
    loss, by, present_only, ignore_tokens, n_resamples
        As in `evaluate_experts`.
    options : dict, optional
        Parameters of the methods, such as ``{"tie": "expert"}``.
    systems : mapping of name to answers, optional
        Further rows: one answer for each record with gold.
    progress : callable, optional
        Called with the name of each method before it runs.

    Returns
    -------
    Evaluation

    Raises
    ------
    DataError
        If no record has gold, or fewer than two have and a method learns.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["cat", "dig"], "b": ["cut", "dog"], "c": ["cat", "dog"]}, gold=["cat", "dog"])
    >>> [row.name for row in evaluate_methods(X, ["vote"]).rows]
    ['a', 'b', 'c', 'majority', 'best expert per record', 'best path of the slots']
    """
    options = {"seed": seed, **(options or {})}
    known = X.has_gold
    scored = X if known.all() else X[np.flatnonzero(known)]
    if not len(scored):
        raise DataError(f"none of the {len(X)} records has gold", hint="give each record a right answer as 'gold'")
    # the best expert for short records is no part of a baseline
    gated = {method: options.get("min_len") is not None and method not in BASELINES for method in methods}
    makers = {method: {**options, **({} if gated[method] else {"min_len": None})} for method in methods}
    learning = [method for method in methods if method in LEARNING]
    if learning and len(scored) < 2:
        raise DataError(
            f"{len(scored)} records have gold, but {METHODS[learning[0]][0]} needs two to learn and to be tested",
            hint="give more gold, or leave out what learns",
        )
    shown: dict[str, Any] = dict(systems or {})
    for method in methods:
        if progress is not None:
            progress(METHODS[method][0])
        ensemble = make_ensemble(method, **makers[method])
        if method in LEARNING:
            answers = cross_predict(ensemble, scored, folds=min(n_folds, len(scored)), random_state=seed)
        else:
            answers = ensemble.fit(scored).predict(scored)
        shown[METHODS[method][0] + ", by length" * gated[method]] = answers
    evaluation = evaluate_experts(
        scored,
        shown,
        kinds={METHODS[method][0]: "baseline" for method in methods if method in BASELINES},
        slots=align(scored),
        loss=loss,
        by=by,
        present_only=present_only,
        ignore_tokens=ignore_tokens,
        n_resamples=n_resamples,
        seed=seed,
    )
    n_unscored = len(X) - len(scored)
    if not n_unscored:
        return evaluation
    note = f"records without gold, not scored: {n_unscored} of {len(X)}"
    return replace(evaluation, n_unscored=n_unscored, notes=(note, *evaluation.notes))
