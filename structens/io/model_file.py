"""The model file: a zip of ``.npy`` arrays and one JSON header. Opening one never runs code.

The archive is stored without compression, with sorted names and a fixed date, so that the same model has the same
bytes everywhere. Its last 64 bytes, the zip comment, are the SHA-256 digest of all bytes before them.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import ModelError
from structens.io.output import atomic_output
from structens.io.source import read_bytes

FORMAT_VERSION = 1

_HEADER = "header.json"
_DATE = (1980, 1, 1, 0, 0, 0)
_KINDS = "biufcSU"
_DIGEST = 64


@contextmanager
def fitting(name: str | Path) -> Iterator[None]:
    """Turn whatever goes wrong while a model is put together from a file's parts into one sentence about the file.

    Raises
    ------
    ModelError
        If the parts do not fit this version, or each other.

    Examples
    --------
    >>> with fitting("m.structens"):
    ...     {}["labels"]
    Traceback (most recent call last):
    structens.core.errors.ModelError: m.structens: the model does not fit this version of structens ('labels')
    """
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ModelError(f"{name}: the model does not fit this version of structens ({error})") from None


def write_model(path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a model.

    Parameters
    ----------
    path : path
    header : dict
        JSON values: kind, labels, expert names, parameters, seed, fingerprint of the data. The keys "format",
        "format_version", "package_version" and "arrays" are added.
    arrays : dict of name to ndarray
        Numbers, truth values or fixed-width strings.

    Raises
    ------
    ModelError
        If the header holds what is not JSON, or an array holds objects.
    DataError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "m.structens")
    ...     write_model(path, {"kind": "vote", "names": ["a", "b"]}, {"weights": np.array([0.25, 0.75])})
    ...     header, arrays = read_model(path)
    >>> header["kind"], header["format_version"], arrays["weights"].tolist()
    ('vote', 1, [0.25, 0.75])
    """
    data = _archive(header, arrays)
    with atomic_output(path) as out:
        out.write(data)


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a model: its header and its arrays.

    Raises
    ------
    ModelError
        If the file is not a model, is cut short or changed, or is of a newer format.
    DataError
        If it cannot be read.
    """
    name = os.fsdecode(path)
    data = read_bytes(path)
    _check_kind(data, name)
    if hashlib.sha256(data[:-_DIGEST]).hexdigest().encode() != data[-_DIGEST:]:
        _check_version(_peek_header(data), name)
        cut = data[-_DIGEST - 22 : -_DIGEST - 18] != b"PK\x05\x06"
        said = "is cut short, or is not a structens model" if cut else "was changed after it was written"
        raise ModelError(f"{name}: the file {said}; get or make it again")
    header = _peek_header(data)
    _check_version(header, name)
    try:
        return _unpack(data, header)
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError, NotImplementedError, RuntimeError, EOFError) as error:
        raise ModelError(f"{name}: the file is damaged ({error}); get or make it again") from None


def _archive(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> bytes:
    members: dict[str, bytes] = {}
    described: list[dict[str, Any]] = []
    for k, name in enumerate(sorted(arrays)):
        array = np.asarray(arrays[name])
        if array.dtype.kind not in _KINDS:
            raise ModelError(f"array {name!r} has dtype {array.dtype}; a model holds numbers and strings, no objects")
        array = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
        members[_member(k)] = buffer.getvalue()  # an array's name may hold what a file's cannot
        described.append({"name": name, "dtype": array.dtype.str, "shape": list(array.shape)})
    whole = {
        **header,
        "format": "structens",
        "format_version": FORMAT_VERSION,
        "package_version": version("structens"),
        "arrays": described,
    }
    try:
        text = json.dumps(whole, sort_keys=True, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    except (ValueError, TypeError) as error:
        raise ModelError(f"the header of a model holds JSON values only: {error}") from None
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, data in {_HEADER: text.encode(), **members}.items():
            info = zipfile.ZipInfo(name, _DATE)
            info.create_system, info.external_attr = 3, 0o644 << 16
            archive.writestr(info, data)
        archive.comment = b"0" * _DIGEST
    body = out.getvalue()[:-_DIGEST]
    return body + hashlib.sha256(body).hexdigest().encode()


def _member(k: int) -> str:
    return f"array{k:04d}.npy"


def _check_kind(data: bytes, name: str) -> None:
    if data[:4] == b"PK\x03\x04":
        return
    if not data:
        said = "it is empty"
    elif data[:1] == b"\x80" and data[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        said = "it is a Python pickle, which is never opened"
    elif data.lstrip()[:1] in (b"{", b"["):
        said = "it is JSON; are the arguments in the wrong order?"
    else:
        said = "such a file begins with the bytes PK"
    raise ModelError(f"{name}: not a structens model: {said}")


def _peek_header(data: bytes) -> dict[str, Any]:
    """The header, or an empty one where there is none that can be read."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            info = archive.getinfo(_HEADER)
            if info.compress_type != zipfile.ZIP_STORED or info.file_size > len(data):
                return {}
            header = json.loads(archive.read(info))
    except Exception:  # whatever a file made by a stranger makes zipfile and json raise
        return {}
    return header if isinstance(header, dict) else {}


def _check_version(header: dict[str, Any], name: str) -> None:
    found = header.get("format_version")
    if header.get("format") == "structens" and isinstance(found, int) and found > FORMAT_VERSION:
        raise ModelError(
            f"{name}: the model has format version {found}, this structens reads up to {FORMAT_VERSION}; "
            "install a newer structens"
        )


def _unpack(data: bytes, header: dict[str, Any]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    if header.get("format") != "structens" or header.get("format_version") != FORMAT_VERSION:
        raise ValueError("the header is not that of a model")
    described = header.pop("arrays")
    arrays: dict[str, NDArray[Any]] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
        if sorted(info.filename for info in infos) != sorted([_HEADER, *map(_member, range(len(described)))]):
            raise ValueError("the files in the archive are not those the header names")
        if any(info.compress_type != zipfile.ZIP_STORED for info in infos):
            raise ValueError("a file in the archive is compressed")
        if sum(info.file_size for info in infos) > len(data):
            raise ValueError("the archive says it holds more than it can")
        for k, what in enumerate(described):
            arrays[what["name"]] = _array(archive.read(_member(k)), what)
    return header, arrays


def _array(data: bytes, described: dict[str, Any]) -> NDArray[Any]:
    """The array of the bytes of an ``.npy`` file; no memory is taken before the sizes are checked."""
    stream = io.BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an array has an unknown version")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    body = data[stream.tell() :]
    if dtype.kind not in _KINDS or fortran or dtype.str != described["dtype"] or list(shape) != described["shape"]:
        raise ValueError("an array is not what the header says")
    if prod(shape) * dtype.itemsize != len(body):
        raise ValueError("an array's size does not fit its shape")
    if not body:
        return np.zeros(shape, dtype=dtype)
    return np.frombuffer(body, dtype=dtype).reshape(shape).copy()
