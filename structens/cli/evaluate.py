"""`structens evaluate`: error rates with intervals, for experts or for predictions against gold."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from structens.cli import options as o


def evaluate(
    files: Annotated[
        list[str],
        typer.Argument(help="One file of records with experts and gold, or files of predictions; - is standard input."),
    ],
    gold: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="File with the gold of predictions that carry none; joined by id."),
    ] = None,
    by: Annotated[Optional[str], typer.Option(help="Field of the records; adds rows for each value.")] = None,  # noqa: UP045
    methods: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Methods to show beside experts, by comma; those that learn answer out of fold."),
    ] = None,
    format: Annotated[str, typer.Option(help="table, json or md.")] = "table",
    compare: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Two rows, by comma, to compare record by record (paired bootstrap)."),
    ] = None,
    per_record: Annotated[
        bool, typer.Option("--per-record", help="One JSON line a record and system instead.")
    ] = False,
    alignment: Annotated[
        bool, typer.Option("--alignment", help="With --per-record: show what stands against what.")
    ] = False,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="How often each two experts say the same, instead.")
    ] = False,
    present_only: Annotated[
        bool,
        typer.Option("--present-only", help="Score records that a system answered; else missing ones are deletions."),
    ] = False,
    ignore_token: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="Unit to take out on both sides before comparing; may be repeated."),
    ] = None,
    loss: Annotated[
        str,
        typer.Option(
            callback=o.one_of("auto", "edit", "hamming"),
            help="edit: aligned units; hamming: position by position; auto: hamming if all lengths agree, else edit.",
        ),
    ] = "auto",
    unit: o.Unit = "char",
    experts: o.Experts = None,
    normalize: o.Normalize = "none",
    casefold: o.Casefold = False,
    strip_punct: o.StripPunct = False,
    reliability: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="SVG file to write, with the reliability curve of the predictions' confidences."),
    ] = None,
    n_resamples: Annotated[int, typer.Option(help="Resamples of the bootstrap.")] = 1000,
    definitions: Annotated[bool, typer.Option("--definitions", help="Define every number below the table.")] = False,
    seed: o.Seed = 0,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    quiet: o.Quiet = False,
) -> None:
    """Show error rates with 95 % intervals.

    For a file with experts: every expert, majority, ROVER and the oracles (and other --methods). For files of
    predictions: one row a file, named after it. Rates are in percent of the gold units; error % (the micro rate) is
    summed errors over summed length, mean % (the macro rate) the mean of the records' rates. Where predictions carry
    confidences, it is shown below the table how far these can be trusted.
    """
    import sys

    from structens.cli.confidences import confidences_of, shown, write_curve
    from structens.cli.console import say, tell
    from structens.cli.job import Tally, located, warned
    from structens.cli.scoring import compared, evaluation_of, listed, read_scored
    from structens.core import ParameterError
    from structens.evaluate import agreement as agreement_of
    from structens.report import render, render_agreement, wants_color

    if format not in ("table", "json", "md"):
        raise ParameterError(f"format must be table, json or md; got {format!r}")
    if (alignment and not per_record) or sum((per_record, agreement, compare is not None)) > 1:
        raise ParameterError("--alignment goes with --per-record; of --per-record, --agreement and --compare give one")
    reading: dict[str, Any] = {"normalize": normalize, "casefold": casefold, "strip_punct": strip_punct}
    tally = Tally()
    with warned(tally):
        X, is_experts = read_scored(files, gold, o.names_of(experts), unit, by, reading)
        scored: dict[str, Any] = {
            "loss": loss,
            "by": by,
            "present_only": present_only,
            "ignore_tokens": ignore_token or [],
            "n_resamples": n_resamples,
            "seed": seed,
        }
        if agreement:
            tell(render_agreement(agreement_of(X), "json" if json else format))
            return
        with located(X):
            evaluation = evaluation_of(X, o.names_of(methods), scored, is_experts, quiet)
    if not quiet:
        for note in tally.notes:
            say(f"note: {note}")
    if per_record:
        tell(listed(X, evaluation, alignment))
        return
    form = "json" if json else format
    if compare is not None:
        tell(compared(X, evaluation, compare, form, n_resamples, seed))
        return
    found = {} if is_experts else confidences_of(X, files)
    if reliability is not None:
        write_curve(reliability, found)
    tell(shown(render(evaluation, form, color=wants_color(sys.stdout), definitions=definitions), found, form))
