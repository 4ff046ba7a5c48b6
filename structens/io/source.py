"""Bytes and lines of a file, of standard input or of an open stream; gzip and zstd are recognised by content.

Concatenated gzip members (RFC 1952, 2.2) and zstd frames (RFC 8878, 3.1) are one file; a cut one is refused.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, BinaryIO

from structens.core import DataError

Source = str | os.PathLike[str] | BinaryIO
"""A path, "-" for standard input, or a binary stream."""

_BLOCK = 1 << 20
_ZSTD_BLOCK = 1 << 12  # zstd gives out all that a block holds at once: a small one bounds the memory
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_BOM = b"\xef\xbb\xbf"


def display_name(source: Source) -> str:
    """Name of a source in messages.

    Examples
    --------
    >>> display_name("a.jsonl"), display_name("-")
    ('a.jsonl', '<stdin>')
    """
    if isinstance(source, (str, os.PathLike)):
        return "<stdin>" if source == "-" else os.fsdecode(source)
    return str(getattr(source, "name", "<stream>"))


def read_blocks(source: Source) -> Iterator[bytes]:
    """Blocks of the decompressed bytes.

    Raises
    ------
    DataError
        If the source cannot be read, or its compressed data is cut or damaged.
    """
    name = display_name(source)
    try:
        with _open(source) as stream:
            head = _read_fully(stream, 4)
            if head[:2] == _GZIP:
                yield from _inflate(stream, head, lambda: zlib.decompressobj(wbits=31), _BLOCK, name, "gzip")
            elif head == _ZSTD or (head[1:] == b"\x2a\x4d\x18" and head[0] >> 4 == 5):
                import zstandard

                def start() -> Any:
                    return zstandard.ZstdDecompressor().decompressobj()

                yield from _inflate(stream, head, start, _ZSTD_BLOCK, name, "zstd")
            else:
                yield head
                while block := _arrived(stream, _BLOCK):
                    yield block
    except (OSError, UnicodeEncodeError) as error:
        raise DataError(f"cannot be read: {reason(error)}", path=name) from None


def read_bytes(source: Source) -> bytes:
    """All bytes, as they are.

    Raises
    ------
    DataError
        If the source cannot be read.
    """
    try:
        with _open(source) as stream:
            data: bytes = stream.read()
    except (OSError, UnicodeEncodeError) as error:
        raise DataError(f"cannot be read: {reason(error)}", path=display_name(source)) from None
    return data


def read_lines(source: Source) -> Iterator[tuple[int, list[bytes]]]:
    r"""Physical lines without their line feed, in groups, each group with the number of its first line (from 1).

    Memory grows with the block and the longest line, not with the file. A byte order mark at the start is taken off.

    Examples
    --------
    >>> import io
    >>> list(read_lines(io.BytesIO(b"a\r\n\nb")))
    [(1, [b'a\r', b'']), (3, [b'b'])]
    """
    pieces: list[bytes] = []
    number = 1
    for block in read_blocks(source):
        cut = block.rfind(b"\n")
        if cut < 0:
            pieces.append(block)
            continue
        pieces.append(block[:cut])
        lines = b"".join(pieces).split(b"\n")
        pieces = [block[cut + 1 :]]
        yield number, _without_bom(lines) if number == 1 else lines
        number += len(lines)
    last = b"".join(pieces)
    if last:
        yield number, _without_bom([last]) if number == 1 else [last]


def text_lines(source: Source) -> Iterator[tuple[int, str]]:
    r"""Lines of a UTF-8 text and their numbers, from 1, without the line's end (``\n`` or ``\r\n``).

    Raises
    ------
    DataError
        If the source cannot be read or is not UTF-8.

    Examples
    --------
    >>> import io
    >>> list(text_lines(io.BytesIO(b"a b\r\n\n")))
    [(1, 'a b'), (2, '')]
    """
    for first, group in read_lines(source):
        for line, raw in enumerate(group, first):
            try:
                yield line, raw.removesuffix(b"\r").decode("utf-8")
            except UnicodeDecodeError as error:
                rule = f"byte 0x{raw[error.start]:02X} at byte offset {error.start} of the line is not UTF-8"
                raise DataError(rule, path=display_name(source), line=line, hint="save the file as UTF-8") from None


def reason(error: OSError | ValueError) -> str:
    """What the operating system says, as the end of a sentence."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file or directory"
    if isinstance(error, IsADirectoryError):
        return "it is a directory"
    if isinstance(error, PermissionError):
        return "permission is denied"
    text = getattr(error, "strerror", None) or str(error)
    return text[:1].lower() + text[1:]


def _open(source: Source) -> Any:
    if not isinstance(source, (str, os.PathLike)):
        return nullcontext(source)
    if source == "-":
        if sys.stdin is None:
            raise OSError("standard input is closed")
        return nullcontext(sys.stdin.buffer)
    if "\0" in os.fsdecode(source):
        raise OSError("its name holds a zero character")
    return open(source, "rb")


def _read_fully(stream: BinaryIO, size: int) -> bytes:
    head = b""
    while len(head) < size and (more := stream.read(size - len(head))):
        head += more
    return head


def _arrived(stream: BinaryIO, size: int) -> bytes:
    """The next bytes: of a pipe what is there, so that a line can be answered before the next one is written."""
    data: bytes = getattr(stream, "read1", stream.read)(size)
    return data


def _inflate(stream: BinaryIO, head: bytes, start: Any, size: int, name: str, kind: str) -> Iterator[bytes]:
    # zlib takes a limit, so that a block of 1 MiB never becomes 1 GiB; zstd is fed small blocks instead.
    limited = kind == "gzip"
    decoder, data, fresh = start(), head, False
    while data or (data := _arrived(stream, size)):
        if fresh:
            if limited and not data.strip(b"\0"):  # zero bytes after the last member are padding
                data = b""
                continue
            decoder, fresh = start(), False
        try:
            out = decoder.decompress(data, _BLOCK) if limited else decoder.decompress(data)
        except Exception as error:  # zlib.error, or ZstdError, which would have to be imported to be named
            raise DataError(f"the {kind} data is damaged: {error}", path=name, hint="get the file again") from None
        if out:
            yield out
        if decoder.eof:
            data, fresh = decoder.unused_data, True
        else:
            data = decoder.unconsumed_tail if limited else b""
    if not fresh:
        raise DataError(f"the {kind} data is cut short", path=name, hint="get the file again")


def _without_bom(lines: list[bytes]) -> list[bytes]:
    lines[0] = lines[0].removeprefix(_BOM)
    return lines
