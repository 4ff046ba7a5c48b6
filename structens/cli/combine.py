"""`structens combine`: several systems' outputs to one better output for every record."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from structens.cli import add_options as a
from structens.cli import options as o
from structens.cli.files import refuse_same_file, refuse_unwritable

if TYPE_CHECKING:
    from structens.cli.job import Tally
    from structens.core import ExpertPredictions
    from structens.ensembles import Ensemble


def combine(
    ctx: typer.Context,
    file: o.File,
    output: Annotated[
        str, typer.Option("--output", "-o", help="File to write (.gz, .zst); - is standard output.")
    ] = "-",
    model: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--model", "-m", help="Model of `structens fit`; the file is then streamed."),
    ] = None,
    method: o.Method = None,
    unit: o.Unit = "char",
    experts: o.Experts = None,
    align: o.Align = "auto",
    normalize: o.Normalize = "none",
    casefold: o.Casefold = False,
    strip_punct: o.StripPunct = False,
    tie: o.Tie = "expert",
    loss: o.Loss = "hamming",
    ngram_order: o.NgramOrder = 2,
    beta: o.Beta = "held-out",
    learner: o.Learner = None,
    absent: o.Absent = "sleep",
    share: o.Share = 0.01,
    epsilon: o.Epsilon = "held-out",
    noise: o.Noise = "exp_add",
    delta: o.Delta = 0.05,
    union_bound: o.UnionBound = False,
    use_confidence: o.UseConfidence = None,
    alpha: o.Alpha = 0.5,
    null_confidence: o.NullConfidence = 0.5,
    ties: o.Ties = "order",
    min_len: o.MinLen = None,
    time_limit: o.TimeLimit = None,
    text: o.Text = None,
    decode: o.Decode = None,
    constraint: o.Constraint = None,
    restrict: o.Restrict = None,
    add: a.Add = None,
    features: a.SequenceFile = None,
    out_of_fold: a.OutOfFold = None,
    in_sample: a.InSample = "refuse",
    keep: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="Key of the input to pass through to the output; may be repeated."),
    ] = None,
    nbest: Annotated[
        int, typer.Option(min=0, help="Also list the N most probable answers with their probabilities, as `nbest`.")
    ] = 0,
    table: Annotated[
        bool,
        typer.Option(
            "--table", help="Also show all methods on the records with gold (out of fold), on standard error."
        ),
    ] = False,
    online: Annotated[
        bool,
        typer.Option(
            "--online", help="Answer each record by what was learnt from the gold before it, then learn from its own."
        ),
    ] = False,
    save_model: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="With --online: model file to write at the end, to go on from with --model."),
    ] = None,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Combine several systems' outputs into one better output for every record.

    Without a model, records that carry gold are learnt from and every record is combined; with no gold at all it is a
    vote. The output has the type of the input, a confidence for every unit, and the experts that proposed it; with
    method auto confidences are probabilities, and there is one for the whole record. What was done is said on standard
    error in one line. With --online, weights change as gold arrives: no answer rests on the
    gold of its own or of a later record. Many learning rates are tried side by side, and the one leads whose answers so
    far were best, unless --beta or --learner says otherwise.
    """
    from structens.cli.added import Added
    from structens.cli.job import Tally, learnt, reading_of, records_of, streamed, summarise, text_of, warned
    from structens.cli.unused import given_options, refuse_unused
    from structens.core import ParameterError
    from structens.evaluate import TABLE
    from structens.io import write_predictions
    from structens.io.ensemble_file import save

    if save_model == "-":
        raise ParameterError("a model is not written to standard output; name a file with --save-model")
    refuse_same_file(
        {"--output": output, "--save-model": save_model},
        {
            **{"input": file, "--model": model, "--constraint": o.constraint_file(constraint)},
            **{"--features": features, "--out-of-fold": out_of_fold, "--text": text, **a.files_of(add)},
        },
        in_place=[("--save-model", "--model")],
    )
    refuse_unwritable(output, save_model)
    added = Added(add or [], features, out_of_fold, in_sample)
    added.check(file, online=online)
    if model is not None:
        o.refuse_settled(ctx)
    reading, chosen = o.chosen_options(ctx)
    given, beside = given_options(ctx), TABLE if table else ()
    if method is not None and not online:
        refuse_unused(given, [method, *beside], chosen)
    tally = Tally(output=output)
    ensemble: Ensemble
    with warned(tally):
        if save_model is not None and not online:
            raise ParameterError("--save-model goes with --online; `structens fit` writes models")
        if online and table:
            raise ParameterError("--table does not go with --online: its answers are as old as the gold before them")
        if online:
            from structens.cli.prequential import opened

            ensemble, reading, batches = opened(file, model, method, experts, keep or [], reading, chosen, given, quiet)
            redecoded(ensemble, decode, chosen["restriction"])
        elif model is not None:
            ensemble, header = reading_of(model)
            redecoded(ensemble, decode, chosen["restriction"])
            reading = {**reading, **header["reading"]}
            if added.add:
                batches = added.for_model(ensemble.names_, file, keep or [], reading, tally.notes, quiet)
            else:
                batches = streamed(file, ensemble, reading, keep or [], quiet)
        else:
            X = added.to(records_of(file, experts, keep or [], reading), file, reading, tally.notes)
            chosen["text"] = text_of(text, X.unit, reading)
            ensemble = learnt(X, method, chosen, tally, quiet, given=given, beside=beside)
            if table:
                show_table(X, chosen, seed, quiet, ensemble)
            batches = pieces(X)
        with settled():
            write_predictions(output, rendered(batches, ensemble, tally, bool(keep), nbest, online=online))
        tally.describe(ensemble)
        if save_model is not None:
            save(ensemble, save_model, reading=reading)
    summarise(tally, json=json, quiet=quiet)


@contextmanager
def settled() -> Iterator[None]:
    """Garbage is looked for among new objects only, not in all modules: a tenth of the time of short records."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def redecoded(ensemble: Ensemble, decode: str | None, restriction: Any) -> None:
    """Give a model another decoder or restriction: learning depends on neither, unless --restrict was given.

    Raises
    ------
    ParameterError
        If the model has no decoder, or was learnt under another restriction.
    """
    from structens.core import ParameterError
    from structens.io.ensemble_file import parts

    for part in (ensemble, *parts(ensemble)):
        known = part.get_params(deep=False)
        if known.get("restrict") is not None and restriction not in (None, known["restriction"]):
            raise ParameterError(
                "--constraint does not go with this model, which was learnt under its own (--restrict)"
            )
    for name, value in (("decode", decode), ("restriction", restriction)):
        having = [part for part in (ensemble, *parts(ensemble)) if name in part.get_params(deep=False)]
        if value is not None and not having:
            raise ParameterError(f"--{name} changes nothing with a model of {type(ensemble).__name__}")
        for part in having if value is not None else ():
            part.set_params(**{name: value})


def pieces(X: ExpertPredictions, size: int = 4096) -> Iterator[ExpertPredictions]:
    """Batches of a collection, so that slots are made for some records at a time."""
    for start in range(0, len(X), size):
        yield X[start : start + size]


def rendered(
    batches: Iterator[ExpertPredictions],
    ensemble: Ensemble,
    tally: Tally,
    with_fields: bool,
    nbest: int = 0,
    *,
    online: bool = False,
) -> Iterator[bytes]:
    """JSON Lines of each batch, combined."""
    import numpy as np

    from structens.cli.job import located
    from structens.ensembles.online import OnlineEnsemble
    from structens.io import printed_units, render_batch

    for X in batches:
        with located(X):
            if online and isinstance(ensemble, OnlineEnsemble):
                done = ensemble.combine_online(X, n_best=nbest)
                tally.n_learnt += int(X.has_gold.sum())
            else:
                done = ensemble.combine(X, n_best=nbest)
        prediction, alphabet = done.prediction, done.X.alphabet
        confidence, support = done.confidence, done.support
        surface, listed = getattr(done.X, "surface", None), done.n_best
        texts = listed.texts if listed is not None else None
        if surface is not None:
            if listed is not None:
                texts, _ = printed_units(surface, alphabet, listed.texts, listed.source)
            prediction, owner = printed_units(surface, alphabet, prediction, done.source)
            alphabet, confidence, support = surface.alphabet, confidence[owner], support[owner]
        tally.count(done)
        yield render_batch(
            prediction,
            alphabet,
            done.X.unit,
            done.X.ids,
            confidence,
            support,
            done.X.names,
            fields=done.X.fields if with_fields else None,
            present=np.logical_or.reduce(done.X.present, axis=1),
            n_best=None if listed is None or texts is None else (texts, listed.probability, listed.offsets),
            record_confidence=done.record_confidence,
        )


def show_table(X: ExpertPredictions, chosen: dict[str, Any], seed: int, quiet: bool, ensemble: Ensemble) -> None:
    """The table of methods on the records with gold, on standard error; auto by the answers that it chose by."""
    import sys

    from structens.cli.console import progress, say
    from structens.ensembles import METHODS
    from structens.evaluate import TABLE, evaluate_methods
    from structens.report import render, wants_color

    if X.has_gold.sum() < 2:
        say("no table: at least two records with gold are needed to learn and to compare with")
        return
    with progress("table", quiet=quiet, total=len(TABLE)) as step:
        answers = getattr(ensemble, "held_out_answers", None)
        more = {} if answers is None else {METHODS["auto"][0]: answers}
        evaluation = evaluate_methods(X, seed=seed, options=chosen, systems=more, progress=lambda name: step(1))
    say(render(evaluation, color=wants_color(sys.stderr)).rstrip("\n"))
