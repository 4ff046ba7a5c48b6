"""Options of `combine` and `fit` that add taggers as experts."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from structens.cli.options import one_of

Add = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(help="Tagger of `structens train` to add as an expert: model or model=name; may be repeated."),
]
SequenceFile = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="With --add: file of the sequences to tag, joined by id (default: the records hold them)."),
]
OutOfFold = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="With --add: records with the taggers' out-of-fold answers, as `train --out-of-fold` writes."),
]
InSample = Annotated[
    str,
    typer.Option(
        callback=one_of("refuse", "absent"),
        help="With --add: records that a tagger learnt from, with no out-of-fold answer in the model or a file: refuse "
        "or absent (it does not vote there).",
    ),
]


def files_of(models: list[str] | None) -> dict[str, str]:
    """Model files of --add, for `refuse_same_file`.

    Examples
    --------
    >>> files_of(["a.structens=x"]), files_of(None)
    ({'--add a.structens=x': 'a.structens'}, {})
    """
    from structens.cli.files import path_and_name

    return {f"--add {text}": path_and_name(text)[0] for text in models or []}
