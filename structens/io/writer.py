"""Writer of combined predictions: JSON Lines, rendered a batch at a time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from structens.core import Alphabet, DataError, ParameterError, Ragged
from structens.core.units import SEPARATOR
from structens.io.output import atomic_output, is_special

RESERVED = frozenset({"id", "prediction", "confidence", "confidence_record", "experts", "nbest"})
"""Keys of the output that a kept field cannot have."""

_DECIMALS = 6
_encoder = msgspec.json.Encoder()


class _Line(msgspec.Struct):
    id: str | int
    prediction: Any
    confidence: Any
    experts: Any


class _CalibratedLine(msgspec.Struct):
    id: str | int
    prediction: Any
    confidence: Any
    confidence_record: Any
    experts: Any


def write_predictions(path: str | os.PathLike[str], rows: Iterable[bytes | Mapping[str, Any]]) -> int:
    """Write JSON Lines: rendered batches, or one mapping a line.

    Parameters
    ----------
    path : path, or "-" for standard output
        See `atomic_output`: the file appears whole or not at all; ``.gz`` and ``.zst`` are compressed.
    rows : iterable of bytes or of mappings
        What `render_batch` gives, or mappings, whose floats are rounded to 6 decimals; NaN and infinity become null.

    Returns
    -------
    int
        Number of bytes before compression.

    Raises
    ------
    DataError
        If the file cannot be written, or a value has no place in JSON.

    Notes
    -----
    Standard output, a pipe and a terminal are flushed after each rendered batch.

    Examples
    --------
    >>> write_predictions("-", [{"id": "w1", "prediction": ["K"], "confidence": [2 / 3], "experts": [["a", "b"]]}])
    {"id":"w1","prediction":["K"],"confidence":[0.666667],"experts":[["a","b"]]}
    77
    """
    total, name = 0, os.fsdecode(path)
    shown = name == "-" or (is_special(name) and not name.endswith((".gz", ".zst")))  # someone may wait for it
    with atomic_output(path) as out:
        for row in rows:
            data = row if isinstance(row, bytes) else _encode_lines([_rounded(row)])
            out.write(data)
            if shown and isinstance(row, bytes):
                out.flush()
            total += len(data)
    return total


def render_batch(
    prediction: Ragged,
    alphabet: Alphabet,
    unit: str,
    ids: Sequence[str | int],
    confidence: NDArray[np.float64],
    support: NDArray[Any],
    names: Sequence[str],
    fields: Sequence[Mapping[str, Any]] | None = None,
    present: NDArray[np.bool_] | None = None,
    n_best: tuple[Ragged, NDArray[np.float64], NDArray[np.int64]] | None = None,
    record_confidence: NDArray[np.float64] | None = None,
) -> bytes:
    """JSON Lines of a batch of predictions.

    Parameters
    ----------
    prediction : Ragged of int32, n rows
        Codes of the units.
    alphabet : Alphabet
    unit : {"token", "char", "codepoint", "word", "line"}
        How units are put together; "token" gives lists.
    ids : sequence of str or int, n
    confidence : ndarray of float64, shape (n_units,)
        In [0, 1]; rounded to 6 decimals, NaN becomes null.
    support : ndarray of bool, shape (n_units, p), or of uint64, shape (n_units,)
        The experts that proposed each unit: a column, or a bit, an expert.
    names : sequence of str, p
    fields : sequence of mappings, optional
        Further keys of each line.
    present : ndarray of bool, shape (n,), optional
        False where there is no prediction: null is written.
    n_best : (texts, probabilities, offsets), optional
        Other answers, in codes; those of record i are ``offsets[i]:offsets[i + 1]``. Written as ``nbest``, a list of
        [answer, probability]; empty where there is no prediction.
    record_confidence : ndarray of float64, shape (n,), optional
        Probability that the whole answer is right, written as ``confidence_record``; null where there is no prediction.

    Raises
    ------
    DataError
        If the shapes do not fit, or a text cannot be written as UTF-8.
    ParameterError
        If a field has the name of one of the output's own keys.

    Examples
    --------
    >>> support = np.array([[True, True], [False, True]])
    >>> row = render_batch(Ragged.of([[0, 1]]), Alphabet(("a", "b")), "char", ["w1"], np.array([1, 0.5]), support, "AB")
    >>> row.decode().strip()
    '{"id":"w1","prediction":"ab","confidence":[1.0,0.5],"experts":[["A","B"],["B"]]}'
    """
    n, n_units = len(prediction), len(prediction.values)
    if len(ids) != n or len(confidence) != n_units or len(support) != n_units:
        raise DataError(
            f"{len(ids)} ids, {len(confidence)} confidences and {len(support)} rows of support "
            f"do not fit {n} predictions of {n_units} units"
        )
    answers: list[Any] = _answers(prediction, alphabet, unit)
    if present is not None:
        answers = [answer if here else None for answer, here in zip(answers, present.tolist(), strict=True)]
    numbers = np.round(np.asarray(confidence, dtype=np.float64), _DECIMALS).tolist()
    experts = _experts(support, names)
    cuts = list(pairwise(prediction.offsets.tolist()))
    rows = zip(ids, answers, cuts, strict=True)
    lines: Any
    if record_confidence is None:
        lines = [_Line(i, answer, numbers[a:b], experts[a:b]) for i, answer, (a, b) in rows]
    else:
        sure = np.round(record_confidence, _DECIMALS).tolist()
        lines = [
            _CalibratedLine(i, answer, numbers[a:b], None if answer is None else c, experts[a:b])
            for (i, answer, (a, b)), c in zip(rows, sure, strict=True)
        ]
    if n_best is not None:
        others = _listed(n_best, alphabet, unit, [True] * n if present is None else present.tolist())
        lines = [{**msgspec.structs.asdict(line), "nbest": row} for line, row in zip(lines, others, strict=True)]
    if fields is not None:
        lines = [_with_fields(line, kept) for line, kept in zip(lines, fields, strict=True)]
    return _encode_lines(lines)


def check_kept(names: Iterable[str]) -> None:
    """Refuse fields that would stand in the place of the output's own keys.

    Raises
    ------
    ParameterError
        If there is one.
    """
    taken = sorted(RESERVED.intersection(names))
    if taken:
        raise ParameterError(f"the key {taken[0]!r} cannot be kept: the output has a key of this name itself")


def _with_fields(line: Any, kept: Mapping[str, Any]) -> dict[str, Any]:
    if not RESERVED.isdisjoint(kept):
        check_kept(kept)
    head = line if isinstance(line, dict) else msgspec.structs.asdict(line)
    return {**head, **kept}


def _listed(
    n_best: tuple[Ragged, NDArray[np.float64], NDArray[np.int64]], alphabet: Alphabet, unit: str, present: list[bool]
) -> list[list[Any]]:
    texts, probability, offsets = n_best
    pairs = [[a, p] for a, p in zip(_answers(texts, alphabet, unit), _shown(probability), strict=True)]
    return [pairs[a:b] if here else [] for (a, b), here in zip(pairwise(offsets.tolist()), present, strict=True)]


def _shown(probability: NDArray[np.float64]) -> list[float]:
    """Six significant digits: the probability of a long answer is small."""
    return [float(f"{p:.6g}") for p in probability.tolist()]


def _encode_lines(lines: Sequence[Any]) -> bytes:
    try:
        return _encoder.encode_lines(lines)
    except (UnicodeEncodeError, TypeError, OverflowError) as error:
        raise DataError(f"a value cannot be written as JSON: {error}") from None


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DECIMALS)
    if isinstance(value, np.ndarray):
        return _rounded(value.tolist())
    if isinstance(value, np.generic):
        return _rounded(value.item())
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return value


def _answers(rows: Ragged, alphabet: Alphabet, unit: str) -> list[Any]:
    if unit in ("char", "codepoint"):
        return _texts(rows, alphabet)
    labels = alphabet.labels
    flat = [labels[code] for code in rows.values.tolist()]
    cuts = pairwise(rows.offsets.tolist())
    if unit == "token":
        return [flat[a:b] for a, b in cuts]
    separator = SEPARATOR[unit]
    return [separator.join(flat[a:b]) for a, b in cuts]


def _texts(rows: Ragged, alphabet: Alphabet) -> list[str]:
    # One look-up of code points and one decoding for the whole batch.
    joined = "".join(alphabet.labels)
    points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    offsets = rows.offsets
    if len(points) == len(alphabet):
        chosen = points[rows.values]
    else:
        clusters = Ragged.from_lengths(points, np.array([len(label) for label in alphabet.labels], dtype=np.int64))
        units = clusters[rows.values]
        chosen, offsets = units.values, units.offsets[offsets]
    text = chosen.tobytes().decode("utf-32-le", "surrogatepass")
    return [text[a:b] for a, b in pairwise(offsets.tolist())]


def _experts(support: NDArray[Any], names: Sequence[str]) -> list[msgspec.Raw]:
    """The JSON list of names of each unit; each distinct set is rendered once."""
    if support.ndim == 2 and support.shape[1] != len(names):
        raise DataError(f"support of shape {support.shape} does not fit {len(names)} experts")
    if support.ndim == 2 and len(names) > 64:
        packed = np.packbits(support.astype(bool), axis=1)
        keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        sets: list[list[bool]] = support[first].astype(bool).tolist()
    else:
        bits = support.astype(np.uint64) if support.ndim == 1 else _bits(support)
        if len(names) <= 16:
            used = np.zeros(1 << len(names), dtype=bool)
            used[bits] = True
            values = np.flatnonzero(used)
            places = np.cumsum(used) - 1
            inverse = places[bits]
        else:
            values, inverse = np.unique(bits, return_inverse=True)
        sets = [[bool(int(value) >> j & 1) for j in range(len(names))] for value in values.tolist()]
    rendered = np.empty(len(sets), dtype=object)
    for k, members in enumerate(sets):
        rendered[k] = msgspec.Raw(_encode_one([name for name, here in zip(names, members, strict=True) if here]))
    out: list[msgspec.Raw] = rendered[inverse].tolist()
    return out


def _bits(support: NDArray[Any]) -> NDArray[np.uint64]:
    bits = np.zeros(len(support), dtype=np.uint64)
    for j in range(support.shape[1]):
        bits |= support[:, j].astype(np.uint64) << np.uint64(j)
    return bits


def _encode_one(value: list[str]) -> bytes:
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError as error:
        raise DataError(f"an expert's name cannot be written as JSON: {error}") from None
