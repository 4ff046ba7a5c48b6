"""`structens train`: a tagger from sequences with labels, and what it says of them out of fold."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from structens.cli import options as o
from structens.cli import tagger_options as t
from structens.cli.files import refuse_same_file, refuse_unwritable


def train(
    ctx: typer.Context,
    file: Annotated[
        str, typer.Argument(help="Sequences with labels: JSON Lines (tokens or features, gold), CoNLL-U or npz.")
    ],
    output: Annotated[str, typer.Option("--output", "-o", help="Model file to write (.structens).")],
    features: Annotated[
        str,
        typer.Option(
            callback=o.one_of("auto", "words", "vectors", "matrix"),
            help="words, vectors (with neighbours), matrix (numbers as they are), or auto: words for tokens, else "
            "vectors.",
        ),
    ] = "auto",
    radius: t.Radius = None,
    affixes: t.Affixes = None,
    min_count: t.MinCount = None,
    n_features: t.NFeatures = None,
    n_rounds: t.NRounds = None,
    n_inner_nodes: t.NInnerNodes = None,
    previous_labels: t.PreviousLabels = 0,
    decode: t.Decode = "viterbi",
    bigram_weight: t.BigramWeight = None,
    restrict: t.Restrict = None,
    calibrate: t.Calibrate = "sigmoid",
    subsample: t.Subsample = 1.0,
    taggers: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="TOML or JSON file of several taggers: options of each by name; those given here hold for the others."
        ),
    ] = None,
    format: t.Format = "auto",
    key: t.Key = None,
    column: t.Column = "UPOS",
    array: t.Array = "pixels",
    gold_array: t.GoldArray = "letters",
    unpack_bits: t.UnpackBits = False,
    id_format: t.IdFormat = "{:d}",
    folds: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=2, help="Folds for out-of-fold answers, which the model keeps; whole sequences, by hash."),
    ] = None,
    fold_field: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Key of the records that holds their fold, instead of --folds; `folds` in npz."),
    ] = None,
    out_of_fold: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="File to write: records with the out-of-fold answers as an expert, for `combine`."),
    ] = None,
    checkpoint: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Directory that keeps finished folds until the model is written (default: OUTPUT.folds)."),
    ] = None,
    time_limit: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(help="Seconds for everything, in equal parts for the folds and the model; fewer rounds then."),
    ] = None,
    n_jobs: Annotated[int, typer.Option(help="Threads; -1 for one a core.")] = 1,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Learn a tagger: boosted Hamming trees at each position, and label bigrams over the sequence.

    Records without gold are left out. With --folds the model also keeps what it says of each sequence when it has not
    learnt from it, which `structens combine --add` needs for these sequences. After an interruption the same command
    goes on with the folds that are not finished. With --taggers several are learnt and written to one model file, which
    `tag -m` and `combine --add` take as several experts.
    """
    from structens.cli.tagger_plans import plans_of
    from structens.cli.training import Training
    from structens.core import ParameterError
    from structens.io.tagged_files import OPTIONS, format_of

    if output == "-":
        raise ParameterError("a model is not written to standard output; name a file with -o")
    if folds is not None and fold_field is not None:
        raise ParameterError("--folds and --fold-field exclude each other")
    if out_of_fold is not None and folds is None and fold_field is None:
        raise ParameterError("--out-of-fold needs folds: give --folds 5 or --fold-field KEY")
    if time_limit is not None and not 0 < time_limit < float("inf"):
        raise ParameterError(f"time_limit must be a finite number > 0; got {time_limit!r}")
    refuse_same_file({"--output": output, "--out-of-fold": out_of_fold}, {"input": file, "--taggers": taggers})
    refuse_unwritable(output, out_of_fold)
    t.refuse_foreign(ctx, format_of(file, format))
    reading = {name: ctx.params[name] for name in OPTIONS[format_of(file, format)]}
    plans = None if taggers is None else plans_of(ctx, taggers)
    Training(ctx.params, reading, plans).run(quiet, json)
