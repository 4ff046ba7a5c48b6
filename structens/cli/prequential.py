"""`structens combine --online`: each record answered by what was learnt from those before it, then learnt from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from structens.cli.console import progress
from structens.cli.job import reading_of, records_of, streamed
from structens.cli.options import chosen_experts
from structens.cli.unused import refuse_unused
from structens.core import ExpertPredictions, ParameterError
from structens.ensembles import Ensemble, PathExpertEnsemble, make_ensemble
from structens.io import iter_records

BATCH = 4096


def opened(
    file: str,
    model: str | None,
    method: str | None,
    experts: str | None,
    keep: list[str],
    reading: dict[str, Any],
    chosen: dict[str, Any],
    given: list[str],
    quiet: bool,
) -> tuple[PathExpertEnsemble, dict[str, Any], Iterator[ExpertPredictions]]:
    """The ensemble to go on with or to begin with, how records are read, and batches of them.

    With a model or a list of experts the file is streamed, and the records of a pipe are answered as they come; else it
    is read whole, to know all experts.

    Raises
    ------
    ParameterError
        If the method or the model cannot learn as gold arrives, or an option given changes nothing.
    """
    if method not in (None, "last"):
        raise ParameterError(f"--online learns as gold arrives, by method last; it does not go with --method {method}")
    if model is not None:
        ensemble, header = reading_of(model)
        reading = {**reading, **header["reading"]}
        return _learning(ensemble, model), reading, streamed(file, ensemble, reading, keep, quiet, as_they_come=True)
    if chosen["beta"] == "held-out":  # the default
        chosen = {**chosen, "learner": chosen["learner"] or "prequential"}
    if chosen["min_len"] is not None:
        raise ParameterError("--min-len does not go with --online: which expert is best is learnt from all records")
    refuse_unused(given, ["last"], chosen, " (--online)")
    fresh = make_ensemble("last", **chosen)
    return _learning(fresh, ""), reading, _batches(file, experts, keep, reading, quiet)


def _learning(ensemble: Ensemble, model: str) -> PathExpertEnsemble:
    if isinstance(ensemble, PathExpertEnsemble) and ensemble.rule == "last":
        return ensemble
    raise ParameterError(f"{model}: this model cannot go on learning; make one with `structens fit --method last`")


def _batches(
    file: str, experts: str | None, keep: list[str], reading: dict[str, Any], quiet: bool
) -> Iterator[ExpertPredictions]:
    if experts is None:
        X = records_of(file, None, keep, reading)
        for start in range(0, len(X), BATCH):
            yield X[start : start + BATCH]
        return
    with progress("records", quiet=quiet) as step:
        for batch in iter_records(file, keep=keep, as_they_come=True, **chosen_experts(experts), **reading):
            yield batch
            step(len(batch))
