"""What `combine` and `fit` share: learning from the records with gold, streaming, and the one line about it."""

from __future__ import annotations

import json as json_format
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from structens.cli.console import progress, say, tell
from structens.cli.options import chosen_experts
from structens.cli.unused import refuse_unused
from structens.core import DataError, ExpertPredictions
from structens.ensembles import (
    LEARNING,
    METHODS,
    AutoEnsemble,
    BoostedPaths,
    Combined,
    ConfusionPaths,
    DawidSkene,
    Ensemble,
    ESPBoost,
    ForwardSelection,
    LengthGated,
    PathExpertEnsemble,
    ReliabilitySelection,
    default_method,
    make_ensemble,
)
from structens.ensembles.esp_ensemble import EspEnsemble
from structens.io import DataWarning, RecordBatch, iter_records, read_records
from structens.io.ensemble_file import load_with_header

LOOKED_AT = 2000
"""Records of the first, quick look for suspicious experts."""
FEWEST_FOR_COPIES = 10
"""Records below which equal answers are no reason for suspicion."""
MOST_NOTES = 5
WITH_AND_WITHOUT = ("dawid-skene",)
"""Methods that learn from records without gold too, and from gold where there is some."""
STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
"""Names of standard output, where a summary would be mixed with data."""


@dataclass
class Tally:
    """What a run did, for its summary."""

    output: str = "-"
    method: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    fitted: bool = False
    n_records: int = 0
    n_experts: int = 0
    n_learnt: int = 0
    n_ties: int = 0
    n_empty: int = 0
    absent: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    bounds: dict[str, float] = field(default_factory=dict)
    caveat: str = ""
    explanation: str = ""

    def count(self, done: Combined) -> None:
        """Add a batch."""
        X = done.X
        self.n_records += len(X)
        self.n_experts = X.n_experts
        self.n_ties += int(done.n_ties.sum())
        self.n_empty += int((~X.present.any(axis=1)).sum())
        for name, missing in zip(X.names, (~X.present).sum(axis=0).tolist(), strict=True):
            if missing:
                self.absent[name] = self.absent.get(name, 0) + missing
        for note in done.notes:
            add_note(self.notes, note)

    def describe(self, ensemble: Ensemble) -> None:
        """Note the method and what it settled on."""
        self.method = self.method or method_of(ensemble)
        if isinstance(ensemble, AutoEnsemble):
            self.details = {"took": name_of(ensemble.chosen_)}
            self.explanation = ensemble.explanation_
            return
        if isinstance(ensemble, LengthGated):
            self.describe(ensemble.long_)
            self.details |= {"from length": ensemble.min_len_, "below": ensemble.short_.best_}
            return
        if isinstance(ensemble, PathExpertEnsemble):
            self.details = {"tie": str(ensemble.tie)}
            if ensemble.loss != "hamming":
                self.details["loss"] = str(ensemble.loss)
            for name, rate in (("beta", ensemble.beta_), ("epsilon", ensemble.epsilon_)):
                if rate is not None:
                    self.details[name] = float(f"{rate:.4g}")
            if ensemble.learner != "hedge":
                self.details["learner"] = ensemble.learner
            self.bounds = dict(ensemble.bounds_)
            self.caveat = caveat_of(ensemble)
        elif isinstance(ensemble, EspEnsemble):
            self.details = {"tie": str(ensemble.tie), "rounds": ensemble.n_rounds_, "stopped": ensemble.stopped_}
            self.bounds = dict(ensemble.bounds_)
        elif isinstance(ensemble, BoostedPaths):
            self.details = {"steps": ensemble.n_steps_}
        elif hasattr(ensemble, "best_"):
            self.details = {"expert": ensemble.best_}

    def sentence(self) -> str:
        """The run in one line."""
        details = ", ".join(f"{name} {value}" for name, value in self.details.items())
        how = METHODS[self.method][0] + (f" ({details})" if details else "")
        whom = "all records, " if self.method in WITH_AND_WITHOUT else ""
        learnt = f", learnt from {whom}{self.n_learnt:,} with gold" if self.n_learnt else ""
        ties = f"; {self.n_ties:,} ties" if self.n_ties else ""
        where = "" if self.output in STDOUT else f"; wrote {self.output}"
        done = f"combined {self.n_records:,} records of {self.n_experts} experts" if not self.fitted else "fitted"
        return f"{done} by {how}{learnt}{ties}{where}"

    def to_dict(self) -> dict[str, Any]:
        """The run for programs."""
        return {
            "records": self.n_records,
            "experts": self.n_experts,
            "method": self.method,
            **self.details,
            "learnt_from": self.n_learnt,
            **({"explanation": self.explanation} if self.explanation else {}),
            **({"regret": self.bounds.get("regret"), "bounds": self.bounds} if self.bounds else {}),
            "ties": self.n_ties,
            "records_without_answer": self.n_empty,
            "absent": self.absent,
            "notes": self.notes,
            "output": None if self.output in STDOUT else self.output,
        }


def say_bounds(tally: Tally) -> None:
    """What the theory says of the run, a line each, on standard error."""
    if not tally.bounds:
        say(f"no bounds: {METHODS[tally.method][0]} learns nothing on line")
    for name, value in tally.bounds.items():
        say(f"{name}: {value:.6g}")
    if tally.caveat:
        say(f"note: {tally.caveat}")


def caveat_of(ensemble: PathExpertEnsemble) -> str:
    """Units of a run's numbers, and what its bounds suppose, in one line."""
    if ensemble.regret_ is None:
        return "losses are parts of a record's best n-gram gain that are missed; no bounds are known"
    each = "slot losses" if ensemble.loss_scale == "per_substructure" else "records' mean slot losses"
    units = f"regret and its bound are in {each}, summed over all records; losses are means over a record's slots"
    if ensemble.beta == "held-out" and ensemble.beta_ is not None:
        return f"{units}. Bounds suppose a beta fixed in advance; this one was chosen on the same records (held-out)"
    return units


def add_note(notes: list[str], note: str) -> None:
    """Add a batch's note; a number at its beginning is added to that of the same note of an earlier batch.

    Examples
    --------
    >>> notes = ["3 answers are short"]
    >>> add_note(notes, "4 answers are short"), add_note(notes, "odd"), add_note(notes, "odd"), notes
    (None, None, None, ['7 answers are short', 'odd'])
    """
    count, _, what = note.partition(" ")
    for i, old in enumerate(notes):
        before, _, same = old.partition(" ")
        if count.isdecimal() and before.isdecimal() and same == what:
            notes[i] = f"{int(before) + int(count)} {what}"
            return
    if note not in notes:
        notes.append(note)


def method_of(ensemble: Ensemble) -> str:
    """Name on the command line of an ensemble's method."""
    if isinstance(ensemble, PathExpertEnsemble):
        return {"fplcv": "fpl-cv", "fplrand": "fpl-rand"}.get(ensemble.rule, ensemble.rule)
    if isinstance(ensemble, AutoEnsemble):
        return "auto"
    if isinstance(ensemble, LengthGated):
        return method_of(ensemble.long_)
    if hasattr(ensemble, "best_"):
        return "best"
    if isinstance(ensemble, (DawidSkene, ReliabilitySelection)):
        return "dawid-skene" if isinstance(ensemble, DawidSkene) else "hrrasa"
    if isinstance(ensemble, (BoostedPaths, ConfusionPaths)):
        return "boosted-paths" if isinstance(ensemble, BoostedPaths) else "confusion"
    if isinstance(ensemble, ForwardSelection):
        return "sle"
    if isinstance(ensemble, EspEnsemble):
        return "esp-boost" if isinstance(ensemble, ESPBoost) else "deep-esp-boost"
    return "vote" if getattr(ensemble, "use_confidence", "none") == "none" else "rover"


def name_of(method: str) -> str:
    """Name in sentences of a method, or of auto's pool of several.

    Examples
    --------
    >>> name_of("mvote"), name_of("pool")
    ('H_MVote', 'pool')
    """
    return METHODS[method][0] if method in METHODS else method


def learnt(
    X: ExpertPredictions,
    method: str | None,
    chosen: dict[str, Any],
    tally: Tally,
    quiet: bool = False,
    *,
    given: Collection[str] = (),
    beside: Sequence[str] = (),
) -> Ensemble:
    """The ensemble of that method, learnt from the records with gold.

    Parameters
    ----------
    X : ExpertPredictions
    method : str or None
        None takes the default.
    chosen : dict
        The parameters of the methods.
    tally : Tally
    quiet : bool
    given : collection of str
        Options given on the command line.
    beside : sequence of str
        Methods that are shown as well, and may use them.

    Raises
    ------
    DataError
        If the method learns and no record has gold.
    ParameterError
        If an option given changes nothing.
    """
    n_gold = int(X.has_gold.sum())
    tally.method = method or default_method(n_gold > 0, given, workers=X.workers is not None)
    if method is None:
        why = f", the default where {'there is' if n_gold else 'no record has'} gold"
        refuse_unused(given, [tally.method, *beside], chosen, why)
    ensemble = make_ensemble(tally.method, **chosen)
    tally.n_learnt = n_gold if ensemble.needs_gold or tally.method in LEARNING else 0
    with progress(f"learning {METHODS[tally.method][0]}", quiet=quiet, total=1) as step, located(X):
        ensemble.fit(X)
        step(1)
    if n_gold and method in ("vote", "rover") and not ensemble.needs_gold:
        tally.notes.append(f"{n_gold:,} records have gold, which {method} does not use")
    tally.notes += suspicions(X)
    return ensemble


@contextmanager
def located(X: ExpertPredictions) -> Iterator[None]:
    """Name the file, and the line of the record, in errors that arise after reading."""
    try:
        yield
    except DataError as error:
        if error.path is not None or not isinstance(X, RecordBatch):
            raise
        line = int(X.lines[X.ids.index(error.record)]) if error.record in X.ids else None
        raise DataError(
            error.rule, path=X.path, line=line, record=error.record, expert=error.expert, hint=as_option(error.hint)
        ) from None


def as_option(hint: str | None) -> str | None:
    """A hint to take another value of a parameter, as it is given on the command line.

    Examples
    --------
    >>> as_option("take restrict 'per_round'")
    'take --restrict per_round'
    """
    return hint and re.sub(r"^take (\w+) '(\w+)'$", r"take --\1 \2", hint)


def suspicions(X: ExpertPredictions) -> list[str]:
    """Experts that may be copies, which win every plain vote, and experts whose labels can never agree.

    A part of the records rules out nearly every pair; what is left is looked for in all.
    """
    from structens.evaluate.agreement import disjoint_labels, possible_copies
    from structens.evaluate.notes import notes_on_experts

    part = X[:LOOKED_AT]
    copies = possible_copies(X) if len(X) >= FEWEST_FOR_COPIES and possible_copies(part) else []
    disjoint = disjoint_labels(X) if disjoint_labels(part) else []
    notes = notes_on_experts(copies, disjoint)
    return notes[:MOST_NOTES] + ([f"and {len(notes) - MOST_NOTES} more of this kind"] if notes[MOST_NOTES:] else [])


def records_of(file: str, experts: str | None, keep: list[str], reading: dict[str, Any]) -> RecordBatch:
    """All records of a file, with the experts asked for.

    Raises
    ------
    DataError
        If none of the experts asked for answers any record: an empty result would be taken for one.
    """
    X = read_records(file, keep=keep, **chosen_experts(experts), **reading)
    if experts is not None:
        refuse_without_answers(X, file)
    return X


def text_of(file: str | None, unit: str, reading: dict[str, Any]) -> list[Any] | None:
    """Further right sequences of a file, read as the records were.

    Raises
    ------
    DataError
    """
    from structens.io import read_text

    return None if file is None else read_text(file, **{**reading, "unit": unit})


def refuse_without_answers(X: ExpertPredictions, file: str) -> None:
    """Refuse records to which none of the experts asked for gives an answer.

    Raises
    ------
    DataError
    """
    if not X.present.any():
        asked = ", ".join(map(repr, X.names))
        raise DataError(f"no record has an answer of {asked}", path=file, hint="check the names given to --experts")


def reading_of(model: str) -> tuple[Ensemble, dict[str, Any]]:
    """A model and its header."""
    if not Path(model).exists():
        raise DataError("there is no such model file", path=model, hint="make one with `structens fit`")
    return load_with_header(model)


def streamed(
    file: str,
    ensemble: Ensemble,
    reading: dict[str, Any],
    keep: list[str],
    quiet: bool,
    *,
    as_they_come: bool = False,
) -> Iterator[ExpertPredictions]:
    """Batches of a file, read as the model's records were read."""
    with progress("records", quiet=quiet) as step:
        for X in iter_records(file, experts=ensemble.names_, keep=keep, as_they_come=as_they_come, **reading):
            yield X
            step(len(X))


@contextmanager
def warned(tally: Tally) -> Iterator[None]:
    """Collect the readers' warnings as notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        yield
    tally.notes[:0] = [str(w.message) for w in caught if issubclass(w.category, DataWarning)]


def summarise(tally: Tally, *, json: bool, quiet: bool) -> None:
    """Say what was done: a line on standard error, or JSON (on standard output where that is free)."""
    if json:
        text = json_format.dumps(tally.to_dict(), ensure_ascii=False, allow_nan=False)
        if tally.output in STDOUT:
            say(text)
        else:
            tell(text + "\n")
        return
    if quiet:
        return
    for note in tally.notes:
        say(f"note: {note}")
    if tally.absent:
        listed = ", ".join(f"{name} {count:,}" for name, count in sorted(tally.absent.items())[:5])
        more = f" and {len(tally.absent) - 5} more" if len(tally.absent) > 5 else ""
        say(f"note: answers missing, which do not vote: {listed}{more}")
    if tally.explanation:
        say(f"{tally.method} took {tally.explanation}")
    say(tally.sentence())
