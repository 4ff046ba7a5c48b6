"""Output files that appear whole or not at all: written aside, then renamed."""

from __future__ import annotations

import codecs
import io
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, Protocol

from structens.core import DataError
from structens.io.source import reason


class ByteSink(Protocol):
    """What `atomic_output` gives: something to write bytes to."""

    def write(self, data: bytes, /) -> Any:
        """Write the bytes."""

    def flush(self) -> None:
        """Pass on what is buffered."""


@contextmanager
def atomic_output(path: str | os.PathLike[str]) -> Iterator[ByteSink]:
    """Open an output that takes its name only when the block ends well.

    The bytes go to a temporary file in the same directory, which replaces the output at the end and is removed on any
    error, `KeyboardInterrupt` and `SystemExit` included. So the output may be one of the inputs, also through a link:
    what a symbolic link points to is replaced, not the link. Names that end in ``.gz`` and ``.zst`` are compressed,
    with the same bytes for the same data. What is no regular file (a device, a named pipe, ``/dev/stdout``) is written
    to directly.

    Parameters
    ----------
    path : path, or "-" for standard output

    Raises
    ------
    DataError
        If the output cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder, "out.jsonl")
    ...     with atomic_output(target) as out:
    ...         _ = out.write(b"{}")
    ...         before = target.exists()
    ...     print(before, target.read_bytes(), len(list(pathlib.Path(folder).iterdir())))
    False b'{}' 1
    """
    if path == "-":
        sys.stdout.flush()
        checked = _Checked(getattr(sys.stdout, "buffer", None) or _TextSink(sys.stdout), "<stdout>")
        yield checked
        checked.flush()
        return
    name = os.fsdecode(path)
    try:
        target = os.path.realpath(name)
        if os.path.isdir(name):
            raise IsADirectoryError
        special = is_special(name)
        temporary = None if special else _temporary_name(target)
        handle = _open_special(name) if temporary is None else _open_aside(temporary, target)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot be written: {reason(error)}", path=name) from None
    try:
        stream, close = _compressor(handle, name)
        yield _Checked(stream, name)
        try:
            close()
            handle.flush()
            if temporary is not None:
                os.fsync(handle.fileno())
            handle.close()
            if temporary is not None:
                os.replace(temporary, target)
        except OSError as error:
            raise DataError(f"cannot be written: {reason(error)}", path=name) from None
    except BaseException:
        with suppress(OSError):  # it may try to write what could not be written before
            handle.close()
        if temporary is not None:
            with suppress(OSError):
                os.unlink(temporary)
        raise


def check_output(path: str | os.PathLike[str]) -> None:
    """Refuse a file that could not be written, before long work is done for it; what is no regular file passes.

    Raises
    ------
    DataError
        As `atomic_output`.

    Examples
    --------
    >>> check_output("no/such/folder/out.jsonl")
    Traceback (most recent call last):
    structens.core.errors.DataError: no/such/folder/out.jsonl: cannot be written: there is no such file or directory
    """
    name = os.fsdecode(path)
    try:
        if os.path.isdir(name):
            raise IsADirectoryError
        if name == "-" or is_special(name):
            return
        target = os.path.realpath(name)
        temporary = _temporary_name(target)
        _open_aside(temporary, target).close()
        os.unlink(temporary)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot be written: {reason(error)}", path=name) from None


def is_special(path: str) -> bool:
    """True for what is there and no regular file, and for the names of open files, which belong to who opened them.

    The names that such a link leads to, as ``/proc/1/fd/pipe:[7]``, are no paths: only the link can be asked.

    Examples
    --------
    >>> is_special(os.devnull), is_special("no/such/file")
    (True, False)
    """
    if _open_number(path) is not None:
        return True
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


class _Checked:
    """Says which file a failed write was to; a closed pipe passes, for it means that nobody reads on."""

    def __init__(self, stream: Any, name: str) -> None:
        self._stream, self._name = stream, name

    def write(self, data: bytes, /) -> int:
        with self._named():
            written: int = self._stream.write(data)
            while written < len(data) and isinstance(self._stream, io.RawIOBase):  # it may take a part only
                written += self._stream.write(data[written:]) or 0
        return written

    def flush(self) -> None:
        with self._named():
            self._stream.flush()

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise DataError(f"cannot be written: {reason(error)}", path=self._name) from None


class _TextSink:
    """Standard output that takes text only, as in a notebook."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream, self._decoder = stream, codecs.getincrementaldecoder("utf-8")()

    def write(self, data: bytes, /) -> int:
        self._stream.write(self._decoder.decode(data))
        return len(data)

    def flush(self) -> None:
        self._stream.flush()


def _temporary_name(target: str) -> str:
    folder, base = os.path.split(target)
    return os.path.join(folder, f".{base[:100]}.{secrets.token_hex(6)}.tmp")


def _open_aside(temporary: str, target: str) -> IO[bytes]:
    # os.open applies the umask; an output that exists keeps its permissions.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.fdopen(os.open(temporary, flags, 0o666), "wb")
    with suppress(OSError):
        os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
    return handle


def _open_special(path: str) -> IO[bytes]:
    number = _open_number(path)
    if number is None:
        return open(path, "wb")
    if number == 1:
        sys.stdout.flush()
    return os.fdopen(os.dup(number), "wb")  # opened anew it would begin at 0, and a socket could not be


def _open_number(path: str) -> int | None:
    """Number of the open file that a path like ``/dev/stdout`` names."""
    named = _OPEN_FILE.fullmatch(path) if os.name == "posix" else None
    if named is None:
        return None
    return int(named[2]) if named[2] else {"stdin": 0, "stdout": 1, "stderr": 2}[named[1]]


_OPEN_FILE = re.compile(r"/dev/(stdin|stdout|stderr)|/(?:dev|proc/self)/fd/([0-9]{1,9})")


def _compressor(handle: IO[bytes], name: str) -> tuple[Any, Any]:
    if name.endswith(".gz"):
        import gzip

        packed = gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=handle, mtime=0)
        return packed, packed.close
    if name.endswith(".zst"):
        import zstandard

        stream = zstandard.ZstdCompressor(level=3).stream_writer(handle, closefd=False)
        return stream, stream.close
    return handle, lambda: None
