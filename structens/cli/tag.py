"""`structens tag`: what taggers say of sequences, as experts for `structens combine`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from structens.cli import options as o
from structens.cli import tagger_options as t
from structens.cli.files import path_and_name, refuse_same_file

if TYPE_CHECKING:
    from structens.ensembles.tagged import Tagged


def tag(
    file: Annotated[str, typer.Argument(help="Sequences: JSON Lines (tokens or features), CoNLL-U or npz.")],
    model: Annotated[
        list[str],
        typer.Option("--model", "-m", help="Model of `structens train`, or model=name; repeat it for more experts."),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="File to write (.gz, .zst); - is standard output.")
    ] = "-",
    in_sample: Annotated[
        str,
        typer.Option(
            callback=o.one_of("allow", "absent", "refuse"),
            help="Sequences that a tagger learnt from, and of which it keeps nothing out of fold: allow (tag them all "
            "the same), absent (no answer) or refuse.",
        ),
    ] = "allow",
    format: t.Format = "auto",
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Tag sequences: one JSON record each, with labels and confidences of every tagger as experts.

    The records can be read by `structens combine`, `fit` and `evaluate`; tokens and gold are passed on. Where a tagger
    learnt from a sequence and keeps its answer out of fold (train --folds), that answer is given.
    """
    import json as json_format

    from structens.cli.console import progress, say, tell
    from structens.cli.job import STDOUT
    from structens.cli.tagging import expert_lines, notes_on, sequences_for, tagged_by, taggers_of
    from structens.core import ParameterError
    from structens.io import atomic_output

    refuse_same_file({"--output": output}, {"input": file, **{f"--model {m}": path_and_name(m)[0] for m in model}})
    taggers = taggers_of(model)
    if file == "-" and len({str(one.reading) for one in taggers}) > 1:
        raise ParameterError("standard input can be read once, and these taggers read differently; name a file")
    columns: dict[str, Tagged] = {}
    notes: list[str] = []
    read = sequences_for(taggers[0], file, format)
    with progress("taggers", quiet=quiet, total=len(taggers)) as step:
        for k, one in enumerate(taggers):
            if k and one.reading != taggers[k - 1].reading:
                read = sequences_for(one, file, format)
            columns[one.name] = tagged_by(one, read, in_sample)
            notes += notes_on(one, read, columns[one.name])
            step(1)
    with atomic_output(output) as out:
        for line in expert_lines(read, columns):
            out.write(line)
    if json:
        summary = {"records": len(read), "experts": list(columns), "notes": notes, "output": output}
        text = json_format.dumps(summary, ensure_ascii=False)
        say(text) if output in STDOUT else tell(text + "\n")
    elif not quiet:
        for note in notes:
            say(f"note: {note}")
        where = "" if output in STDOUT else f"; wrote {output}"
        say(f"tagged {len(read):,} sequences by {', '.join(columns)}{where}")
