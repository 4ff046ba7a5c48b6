"""Files that a command writes are none of those that it reads, and differ from each other."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

STDOUT = "-"


def refuse_same_file(
    written: Mapping[str, str | None], read: Mapping[str, str | None], in_place: Collection[tuple[str, str]] = ()
) -> None:
    """Refuse a file to write that would replace one that is read or another that is written, also by way of a link.

    What is no regular file (a terminal, a pipe, ``/dev/null``) may be named twice.

    Parameters
    ----------
    written, read : mapping of str to str or None
        Path of each option; None and, where it is read, "-" stand for no file.
    in_place : collection of pairs (written, read)
        Options that may name the same file.

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> refuse_same_file({"--output": "a", "--symbols": "b"}, {"input": "-", "--model": None})
    >>> refuse_same_file({"--output": "a", "--symbols": "./a"}, {})
    Traceback (most recent call last):
    structens.core.errors.ParameterError: --symbols and --output must be different files; both are a
    """
    from structens.core.errors import ParameterError  # numpy comes with it, which --help can spare

    outputs = [(option, path) for option, path in written.items() if path is not None]
    inputs = [(what, path) for what, path in read.items() if path not in (None, STDOUT)]
    for i, (option, path) in enumerate(outputs):
        for what, other in inputs:
            if path != STDOUT and (option, what) not in in_place and _same(path, str(other)):
                named = f"{what} {other}" if what == "input" else f"file {other} of {what}"
                raise ParameterError(f"{option} would replace the {named}; name another file")
        for earlier, other in outputs[:i]:
            if (STDOUT in (path, other) and path == other) or (STDOUT not in (path, other) and _same(path, other)):
                raise ParameterError(f"{option} and {earlier} must be different files; both are {other}")


def refuse_unwritable(*paths: str | None) -> None:
    """Refuse files that could not be written, before anything is learnt for them.

    Raises
    ------
    DataError
    """
    from structens.io.output import check_output

    for path in paths:
        if path is not None:
            check_output(path)


def path_and_name(text: str) -> tuple[str, str]:
    """Path and name of a model given as ``path`` or ``path=name``; the name is else the file's, without its suffix.

    Examples
    --------
    >>> path_and_name("m/words.structens"), path_and_name("words.structens=crf")
    (('m/words.structens', 'words'), ('words.structens', 'crf'))
    """
    path, equals, name = text.rpartition("=")
    if equals and path and name and os.sep not in name and not os.path.exists(text):
        return path, name
    return text, os.path.basename(text).removesuffix(".structens")


def _same(one: str, other: str) -> bool:
    try:
        if os.path.exists(one) and os.path.exists(other):
            return os.path.samefile(one, other) and os.path.isfile(one)
        return os.path.realpath(one) == os.path.realpath(other) and not os.path.exists(one)
    except (OSError, ValueError):  # no name of a file; it is refused where it is opened
        return False
