"""The file of `structens train --taggers`: several taggers by name, each with options of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import typer

from structens.cli.tagger_options import OF_A_TAGGER


def plans_of(ctx: typer.Context, path: str) -> dict[str, dict[str, Any]]:
    """Options of each tagger: those of the file, and those of the command line where it says nothing.

    Parameters
    ----------
    ctx : typer.Context
        Of `train`; what the file says is checked as if it stood on the command line.
    path : str
        TOML, a table a tagger, or JSON, an object of objects; told by ``.json``. Numbers or texts under the names of
        the options, with ``_`` for ``-``.

    Raises
    ------
    DataError
        If the file is not like this.
    ParameterError
        If a name is no option of a tagger, or a value out of its range.
    """
    from structens.core import DataError

    held = _parsed(path)
    if not isinstance(held, dict) or not held or not all(isinstance(of, dict) for of in held.values()):
        hint = 'write [NAME] and its options below it, or {"NAME": {...}} in JSON'
        raise DataError("a file of taggers holds a table of options for each, by name", path=path, hint=hint)
    if "" in held:
        raise DataError("a tagger has no name", path=path)
    return {name: {**ctx.params, **_checked(ctx, path, name, of)} for name, of in held.items()}


def _parsed(path: str) -> Any:
    import tomllib

    from structens.core import DataError
    from structens.io.source import read_bytes

    try:
        text = read_bytes(path).decode("utf-8")
        return json.loads(text) if path.lower().endswith(".json") else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        if isinstance(error, DataError):
            raise
        kind = "JSON" if path.lower().endswith(".json") else "TOML"
        raise DataError(f"this is no {kind} ({error})", path=path) from None


def _checked(ctx: typer.Context, path: str, name: str, own: Mapping[str, Any]) -> dict[str, Any]:
    from structens.core.errors import ParameterError

    options = {str(option.name): option for option in ctx.command.params}
    out = {}
    for key, value in own.items():
        if key not in OF_A_TAGGER:
            raise ParameterError(f"{path}: tagger {name!r}: {key!r} is none of {', '.join(OF_A_TAGGER)}")
        if type(value) not in (int, float, str):
            raise ParameterError(f"{path}: tagger {name!r}: {key} must be a number or a text; got {value!r}")
        try:
            out[key] = options[key].process_value(ctx, str(value))
        except typer.BadParameter as error:
            raise ParameterError(f"{path}: tagger {name!r}: {key}: {error.message}") from None
        except ParameterError as error:
            raise ParameterError(f"{path}: tagger {name!r}: {error}") from None
    return out
