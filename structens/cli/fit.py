"""`structens fit`: learn from records with gold, and keep the model."""

from __future__ import annotations

from typing import Annotated

import typer

from structens.cli import add_options as a
from structens.cli import options as o
from structens.cli.files import refuse_same_file, refuse_unwritable


def fit(
    ctx: typer.Context,
    file: o.File,
    output: Annotated[str, typer.Option("--output", "-o", help="Model file to write (.structens).")],
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
    seed: o.Seed = 0,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also print the run's losses, regret and bounds, a line each.")
    ] = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Learn from the records with gold and write a model for `structens combine -m`.

    The model remembers how the records were read, so that others are read in the same way. Opening it runs no code.
    """
    from structens.cli.added import Added
    from structens.cli.job import Tally, learnt, records_of, say_bounds, summarise, text_of, warned
    from structens.cli.unused import given_options, refuse_unused
    from structens.core import ParameterError
    from structens.core.fingerprint import fingerprint
    from structens.io.ensemble_file import save

    if output == "-":
        raise ParameterError("a model is not written to standard output; name a file with -o")
    read = {"--constraint": o.constraint_file(constraint), "--features": features, "--text": text}
    read["--out-of-fold"] = out_of_fold
    refuse_same_file({"--output": output}, {"input": file, **read, **a.files_of(add)})
    refuse_unwritable(output)
    added = Added(add or [], features, out_of_fold, in_sample)
    added.check(file)
    reading, chosen = o.chosen_options(ctx)
    given = given_options(ctx)
    if method is not None:
        refuse_unused(given, [method], chosen)
    tally = Tally(output=output, fitted=True)
    with warned(tally):
        X = added.to(records_of(file, experts, [], reading), file, reading, tally.notes)
        tally.n_records, tally.n_experts = len(X), X.n_experts
        chosen["text"] = text_of(text, X.unit, reading)
        ensemble = learnt(X, method, chosen, tally, quiet, given=given)
        save(ensemble, output, reading=reading, data=fingerprint(X))
        tally.describe(ensemble)
        if method is None and not tally.n_learnt:
            tally.notes.append("no record has gold: the model has learnt nothing, and votes")
    summarise(tally, json=json, quiet=quiet)
    if verbose:
        say_bounds(tally)
