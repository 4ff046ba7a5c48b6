"""`structens collect`: one file a system put together into records for the other commands."""

from __future__ import annotations

import os
from typing import Annotated, Optional

import typer

from structens.cli import options as o
from structens.cli.files import refuse_same_file


def collect(
    expert: Annotated[
        list[str],
        typer.Option(
            "--expert", "-e", help="NAME=PATH: a system and its file; or PATH, and the file's name. Repeat it."
        ),
    ],
    gold: Annotated[Optional[str], typer.Option(help="File of right answers.")] = None,  # noqa: UP045
    output: Annotated[
        str, typer.Option("--output", "-o", help="File to write (.gz, .zst); - is standard output.")
    ] = "-",
    format: Annotated[
        str,
        typer.Option(
            help="Of all files: auto (by their names' endings), conllu, ctm, dict (as CMUdict), jsonl, stm, trn, tsv "
            "(id, tab, text), text (one answer a line, joined by number) or kaldi (id, tokens).",
        ),
    ] = "auto",
    column: Annotated[str, typer.Option(help="conllu: the column that is the answer.")] = "UPOS",
    split: Annotated[bool, typer.Option("--split", help="Cut texts at blanks into tokens.")] = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Put one file a system together into records, by id: the input of the other commands.

    Timed words (ctm) are cut at the segments of the gold, if that is stm. A system that lacks a record does not vote
    there; how many it lacks is said on standard error.
    """
    import json as json_format

    from structens.cli.console import say, tell
    from structens.cli.job import STDOUT
    from structens.core import ParameterError
    from structens.io import atomic_output
    from structens.io import collect as collected

    named: dict[str, str] = {}
    for text in expert:
        name, path = name_and_path(text)
        if name in named:
            raise ParameterError(f"two systems are named {name!r}; write NAME=PATH")
        named[name] = path
    paths = [*named.values(), *([] if gold is None else [gold])]
    if paths.count("-") > 1:
        raise ParameterError("standard input can be read once, and - is given twice")
    refuse_same_file(
        {"--output": output}, {f"--expert {name}": path for name, path in named.items()} | {"--gold": gold}
    )
    made = collected(named, gold, format=format, column=column, split=split)
    with atomic_output(output) as out:
        for record in made.records:
            out.write(json_format.dumps(record, ensure_ascii=False).encode() + b"\n")
    n_gold = sum("gold" in record for record in made.records)
    if json:
        summary = {"records": len(made.records), "experts": list(named), "with_gold": n_gold, "notes": made.notes}
        line = json_format.dumps(summary, ensure_ascii=False)
        if output in STDOUT:
            say(line)
        else:
            tell(line + "\n")
    elif not quiet:
        for note in made.notes:
            say(f"note: {note}")
        where = "" if output in STDOUT else f"; wrote {output}"
        say(f"collected {len(made.records):,} records of {len(named)} experts, {n_gold:,} with gold{where}")


def name_and_path(text: str) -> tuple[str, str]:
    """Name and path of a system, cut at the first equals sign; without one the name is the file's.

    Examples
    --------
    >>> name_and_path("A=C:/data/b=1.trn"), name_and_path("out/crf.trn")
    (('A', 'C:/data/b=1.trn'), ('crf', 'out/crf.trn'))
    """
    name, equals, path = text.partition("=")
    if equals and name and path:
        return name, path
    return os.path.basename(text).partition(".")[0] or text, text
