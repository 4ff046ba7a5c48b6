"""What the command line says on standard error: one-line messages, warnings, and progress on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def say(message: str) -> None:
    """One line on standard error."""
    print(message, file=sys.stderr, flush=True)


def tell(text: str) -> None:
    """Data on standard output, as UTF-8."""
    from structens.io import atomic_output

    with atomic_output("-") as out:
        out.write(text.encode("utf-8", "backslashreplace"))


def is_terminal(quiet: bool = False) -> bool:
    """True where progress may be drawn."""
    return not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


@contextmanager
def progress(what: str, *, quiet: bool = False, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error if that is a terminal; yields a function that adds to what is done."""
    if not is_terminal(quiet):
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)
