"""The `structens` command: parse, run, and turn what went wrong into one sentence and an exit status.

Exit status: 0 fine, 1 bad data or file, 2 wrong usage, 130 interrupted (143 terminated). Nothing heavy is imported
before a command runs, so that ``--help`` is quick.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import Annotated, Any, NoReturn

import typer

from structens.cli import automaton, collect, combine, evaluate, fit, tag, train

app = typer.Typer(
    name="structens",
    help="Combine the outputs of several sequence predictors into one better output, and prove it.",
    epilog="Example: structens combine experts.jsonl -o combined.jsonl",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)
app.command("combine", epilog="Example: structens combine experts.jsonl -o combined.jsonl --table")(combine.combine)
app.command("fit", epilog="Example: structens fit labelled.jsonl -o tagger.structens --method mvote")(fit.fit)
app.command("evaluate", epilog="Example: structens evaluate combined.jsonl --gold gold.jsonl")(evaluate.evaluate)
app.command("automaton", epilog="Example: structens automaton experts.jsonl --id w1 -o w1.svg")(automaton.automaton)
app.command("collect", epilog="Example: structens collect -e a=a.trn -e b=b.ctm --gold ref.stm -o experts.jsonl")(
    collect.collect
)
app.command("train", epilog="Example: structens train train.conllu -o words.structens --folds 5")(train.train)
app.command("tag", epilog="Example: structens tag new.conllu -m words.structens -o experts.jsonl")(tag.tag)


def _show_version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        print(f"structens {version('structens')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where in the program an error arose.")] = False,
) -> None:
    if debug:
        os.environ["STRUCTENS_DEBUG"] = "1"


def _terminated(signum: int, frame: Any) -> NoReturn:
    raise SystemExit(128 + signum)


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGTERM, _terminated)
    _prepare_output()
    try:
        _run()
    except MemoryError:
        _leave("out of memory; combine a long file with a model (-m), which streams it", 1)
    except BrokenPipeError:
        _drop_output()  # the reader has gone: end without a word
        sys.exit(1)
    except KeyboardInterrupt:
        _leave(_INTERRUPTED, 130)
    except SystemExit as leaving:
        if leaving.code in (130, 143):
            _leave(_INTERRUPTED, int(leaving.code))
        raise
    except OSError as error:  # files are looked after where they are opened: this is standard output
        if os.environ.get("STRUCTENS_DEBUG"):
            raise
        _leave(f"standard output cannot be written: {(error.strerror or str(error)).lower()}", 1)
    except ValueError as error:
        from structens.core.errors import ParameterError, StructensError  # numpy comes with it, which --help can spare

        if not isinstance(error, StructensError) or os.environ.get("STRUCTENS_DEBUG"):
            raise
        _leave(str(error), 2 if isinstance(error, ParameterError) else 1)


_INTERRUPTED = "interrupted; no output file was changed"


def _run() -> None:
    try:
        app(prog_name="structens")
    except SystemExit:
        sys.stdout.flush()  # here a full disk can still be reported
        raise


def _prepare_output() -> None:
    """Make standard output UTF-8 whatever the platform, and one that is closed fail when it is written to."""
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")  # noqa: SIM115
    elif isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def _drop_output() -> None:
    """Forget what could not be written, so that Python does not try again at its end."""
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _leave(message: str, status: int) -> NoReturn:
    print(f"structens: {message}", file=sys.stderr)
    try:
        sys.stdout.flush()
    except OSError:
        _drop_output()
    sys.exit(status)
