"""Readers of expert predictions in JSON Lines: a whole file, or a stream of batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from structens.core import DataError, ParameterError
from structens.io.batch import RecordBatch, stack, widen
from structens.io.encode import BatchEncoder
from structens.io.identity import IdRegister
from structens.io.jsonl import FAILURES, decode, has_repeated_key, is_blank, refusal
from structens.io.normalize import Folding
from structens.io.record import Record, refuse_frame, refuse_name
from structens.io.source import Source, display_name, read_lines
from structens.io.warning import Watch

_BATCH_BYTES = 1 << 22
# Lines decoded before they are encoded: more fall out of the processor's cache and take twice the time.
_GROUP, _GROUP_BYTES = 160, 1 << 18


def read_records(
    path: Source,
    *,
    unit: str = "char",
    experts: Sequence[str] | None = None,
    other_experts: str = "refuse",
    normalize: str = "none",
    casefold: bool = False,
    strip_punct: bool = False,
    keep: Sequence[str] = (),
    labels: Sequence[str] = (),
    limit: int | None = None,
) -> RecordBatch:
    """Read a whole JSON Lines file of expert predictions.

    Parameters
    ----------
    path : path, "-" for standard input, or binary stream
        Plain, gzip or zstd, recognised by content.
    unit : {"char", "codepoint", "word", "line"}
        How texts are cut; lists of tokens are taken as they are.
    experts : sequence of str, optional
        The experts in the run's order; default: all in the file, sorted.
    other_experts : {"refuse", "ignore"}
        What to do with experts that are not in `experts`.
    normalize, casefold, strip_punct
        How units are folded (see `Folding`); the forms as written are kept in ``surface``.
    keep : sequence of str
        Keys that pass through in ``fields``.
    labels : sequence of str
        Labels that take the first codes, such as a model's.
    limit : int, optional
        Read no more records than this.

    Returns
    -------
    RecordBatch
        `ExpertPredictions` with ``lines``, ``path`` and ``surface``.

    Raises
    ------
    DataError
        If anything in the file is not as the format says; the message names file, line, record and expert.
    ParameterError
        If an option has a value that is not allowed.

    Warns
    -----
    DataWarning
        Once each: the inputs mix Unicode normal forms; a token holds a space beyond ASCII; an expert of `experts`, or
        a key of `keep`, is nowhere in the file.

    Examples
    --------
    >>> import io
    >>> X = read_records(io.BytesIO(b'{"id": "w1", "experts": {"b": "cat", "a": "cut"}, "gold": "cat"}'))
    >>> X.names, X["a"], X.gold, X.lines.tolist()
    (('a', 'b'), ['cut'], ['cat'], [1])
    """
    stream = _Stream(path, unit, Folding(normalize, casefold, strip_punct), keep, labels, other_experts, experts, limit)
    return next(stream.batches(None, None))


def iter_records(
    path: Source,
    *,
    batch_size: int = 4096,
    batch_bytes: int = _BATCH_BYTES,
    unit: str = "char",
    experts: Sequence[str] | None = None,
    other_experts: str = "refuse",
    normalize: str = "none",
    casefold: bool = False,
    strip_punct: bool = False,
    keep: Sequence[str] = (),
    labels: Sequence[str] = (),
    limit: int | None = None,
    as_they_come: bool = False,
) -> Iterator[RecordBatch]:
    """Read a JSON Lines file in batches of at most `batch_size` records and about `batch_bytes` bytes.

    Memory grows with a batch and with the longest line, and by 16 bytes a record to find ids that occur twice. All
    batches have the same ``names``: `experts`, or else the experts of the first batch, sorted; a later one is refused.
    The alphabet only grows: codes keep their meaning from batch to batch. Other parameters, errors and warnings are
    those of `read_records`. With `as_they_come` a batch ends where nothing more has arrived yet, so that records of a
    pipe can be answered one by one; name the `experts` then.

    Raises
    ------
    DataError
        As soon as the batch with the fault is reached.

    Examples
    --------
    >>> import io
    >>> lines = b'{"id": 1, "experts": {"a": ["x"]}}' + bytes([10]) + b'{"id": 2, "experts": {"a": ["y"]}}'
    >>> [(X.ids, X.lines.tolist(), X["a"]) for X in iter_records(io.BytesIO(lines), batch_size=1)]
    [((1,), [1], [['x']]), ((2,), [2], [['y']])]
    """
    if batch_size < 1 or batch_bytes < 1:
        raise ParameterError(f"a batch holds at least 1 record and 1 byte; got {batch_size} and {batch_bytes}")
    stream = _Stream(path, unit, Folding(normalize, casefold, strip_punct), keep, labels, other_experts, experts, limit)
    stream.as_they_come = as_they_come
    return stream.batches(batch_size, batch_bytes)


class _Stream:
    """One pass over one file."""

    def __init__(
        self,
        path: Source,
        unit: str,
        folding: Folding,
        keep: Sequence[str],
        labels: Sequence[str],
        other_experts: str,
        experts: Sequence[str] | None,
        limit: int | None,
    ) -> None:
        if limit is not None and limit < 1:
            raise ParameterError(f"limit is the number of records to read, at least 1; got {limit}")
        if other_experts not in ("refuse", "ignore"):
            raise ParameterError(f"other_experts must be refuse or ignore; got {other_experts!r}")
        if experts is not None and (not experts or "" in experts or len(set(experts)) != len(experts)):
            raise ParameterError(f"experts must be distinct names, at least one; got {list(experts)!r}")
        self.source, self.name = path, display_name(path)
        self.encoder = BatchEncoder(self.name, unit, folding, labels, keep)
        self.ids = IdRegister(self.name)
        self.names = None if experts is None else tuple(experts)
        self.given, self.ignore, self.keep = experts is not None, other_experts == "ignore", tuple(keep)
        self.unmet_keys, self.unmet_experts = set(self.keep), set(experts or ())
        self.n_records, self.limit, self.as_they_come = 0, limit, False

    def batches(self, size: int | None, n_bytes: int | None) -> Iterator[RecordBatch]:
        """Batches bounded by records and bytes, or the whole file as one."""
        parts: list[RecordBatch] = []
        for lines, records, is_full, error in self._groups(size, n_bytes):
            if records:
                parts.append(self._encode(lines, records))
                self.n_records += len(records)
            if error is not None:
                if self.as_they_come and parts:
                    yield self._put_together(parts)
                raise error
            if is_full and parts:
                yield self._put_together(parts)
                parts = []
        if not self.n_records:
            hint = "each line is one object with id and experts"
            raise DataError("there are no records in the file", path=self.name, hint=hint)
        for what, unmet in (("expert", self.unmet_experts), ("key to keep", self.unmet_keys)):
            if unmet:
                Watch(self.name).say(f"no record has the {what} {', '.join(map(repr, sorted(unmet)))}")
        if parts:
            yield self._put_together(parts)

    def _put_together(self, parts: list[RecordBatch]) -> RecordBatch:
        if self.names is None:
            self.names = tuple(sorted({name for part in parts for name in part.names}))
        names = self.names
        return stack([widen(part, names) for part in parts], *self.encoder.alphabets(), self.encoder.unit)

    def _groups(
        self, size: int | None, n_bytes: int | None
    ) -> Iterator[tuple[list[int], list[Record], bool, DataError | None]]:
        """Decoded lines, few enough to stay in the processor's cache, and whether they fill up a batch.

        A line that cannot be decoded ends the last group, with what to say of it.
        """
        lines: list[int] = []
        records: list[Record] = []
        n_records = n_read = held = group_held = 0
        try:
            for first, group in read_lines(self.source):
                for line, raw in enumerate(group, first):
                    if n_read == self.limit:
                        break
                    record = self._record(raw, line)
                    if record is None:
                        continue
                    lines.append(line)
                    records.append(record)
                    n_records, n_read = n_records + 1, n_read + 1
                    held, group_held = held + len(raw), group_held + len(raw)
                    is_full = n_records == size or (n_bytes is not None and held >= n_bytes)
                    if is_full or len(records) == _GROUP or group_held >= _GROUP_BYTES:
                        yield lines, records, is_full, None
                        lines, records, group_held = [], [], 0
                        if is_full:
                            n_records = held = 0
                if n_read == self.limit:
                    break
                if self.as_they_come:
                    yield lines, records, True, None
                    lines, records, n_records, held, group_held = [], [], 0, 0, 0
        except DataError as error:
            yield lines, records, False, error
            return
        yield lines, records, False, None

    def _record(self, raw: bytes, line: int) -> Record | None:
        try:
            record: Record = decode(raw)
        except FAILURES as error:
            if is_blank(raw):
                return None
            raise refusal(raw, self.name, line, str(error)) from None
        if type(record) is not dict:
            raise refusal(raw, self.name, line)
        ident, experts = record.get("id"), record.get("experts")
        if type(experts) is not dict or not experts or (type(ident) is not str and type(ident) is not int):
            if has_repeated_key(raw, record):
                raise refusal(raw, self.name, line)
            refuse_frame(record, self.name, line)
        # One colon a key, unless there are further objects in the record or colons in its strings.
        if raw.count(b":") != len(record) + len(experts) and has_repeated_key(raw, record):
            raise refusal(raw, self.name, line)
        return record

    def _encode(self, lines: list[int], records: list[Record]) -> RecordBatch:
        self.ids.add([record["id"] for record in records], lines)
        met: set[str] = set().union(*[record["experts"] for record in records])
        names = tuple(sorted(met)) if self.names is None else self.names
        if "" in met or (not self.ignore and not met.issubset(names)):
            hint = f"they are {', '.join(names)}"
            if not self.given:
                hint = f"it first appears after {self.n_records} records; name all experts beforehand"
            refuse_name(lines, records, self.name, frozenset(() if self.ignore else names), hint)
        self.unmet_experts -= met
        if self.unmet_keys:
            self.unmet_keys = {key for key in self.unmet_keys if not any(key in record for record in records)}
        return self.encoder.encode(lines, records, names)
