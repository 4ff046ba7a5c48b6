"""Decoded records to codes, a batch at a time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from structens.core import Alphabet, DataError, Encoder, ParameterError, Ragged
from structens.io.batch import RecordBatch, unit_places
from structens.io.jsonl import kind_of, place
from structens.io.normalize import Folder, Folding, Surface
from structens.io.record import Record, references_of, refuse_answers, table_of
from structens.io.warning import Watch

_NO_LABELS = Alphabet(())
_UNITS = ("char", "codepoint", "word", "line")


class BatchEncoder:
    """Encodes the batches of one file with one growing alphabet.

    Parameters
    ----------
    path : str
        For messages.
    unit : {"char", "codepoint", "word", "line"}
        How texts are cut; lists of tokens are not.
    folding : Folding
    labels : sequence of str
        Labels that take the first codes.
    keep : sequence of str
        Keys of the records that pass through in ``fields``.
    """

    def __init__(
        self, path: str, unit: str, folding: Folding, labels: Sequence[str] = (), keep: Sequence[str] = ()
    ) -> None:
        if unit not in _UNITS:
            raise ParameterError(f"unit must be one of {', '.join(_UNITS)}; got {unit!r}")
        self.path, self._text_unit, self._folding = path, unit, folding
        self._labels, self._keep = tuple(labels), tuple(keep)
        self._kind: type | None = None
        self._encoder = Encoder(self._labels if folding.is_identity else ())
        self._labelled, self._written = Alphabet(self._labels), Alphabet(())
        self._n_looked_at = 0
        self._watch: Watch | None = None
        self._folder: Folder | None = None
        self._n_keys = 0

    @property
    def unit(self) -> str:
        """Unit of the answers met so far."""
        return self._text_unit if self._kind is str else "token"

    def alphabets(self) -> tuple[Alphabet, Alphabet | None]:
        """Labels met so far; where answers are folded, the keys met so far and their surface forms."""
        if self._folding.is_identity:
            self._labelled = _grown(self._labelled, self._encoder)
            return self._labelled, None
        self._written = _grown(self._written, self._encoder)
        if self._folder is not None:
            self._labelled = _grown(self._labelled, self._folder.encoder)
        return self._labelled, self._written

    def encode(self, lines: Sequence[int], records: Sequence[Record], names: tuple[str, ...]) -> RecordBatch:
        """Codes of the records; the alphabets are those that `alphabets` gives afterwards.

        Raises
        ------
        DataError
            If a value cannot be used.
        """
        answers: list[Any] = []
        for record in records:
            answers += map(record["experts"].get, names)
        rows = [references_of(record, self.path, line) for record, line in zip(records, lines, strict=True)]
        n_answers, n, p = len(answers), len(records), len(names)
        present = np.array([answer is not None for answer in answers], dtype=bool).reshape(n, p)
        answers.extend(chain.from_iterable(rows))
        codes = self._codes(answers, lines, records)
        confidence = self._confidences(codes.lengths[:n_answers], lines, records, names)
        surface: Surface | None = None
        if not self._folding.is_identity:
            codes, surface, confidence = self._fold(codes, n_answers, confidence)
        return RecordBatch(
            names=names,
            alphabet=_NO_LABELS,
            hypotheses=codes[:n_answers],
            present=present,
            ids=tuple([record["id"] for record in records]),
            references=codes[n_answers:],
            reference_offsets=np.cumsum([0, *map(len, rows)], dtype=np.int64),
            confidence=confidence,
            weights=self._weights(lines, records, names),
            workers=self._workers(lines, records, names),
            unit=self.unit,
            fields=tuple({k: r[k] for k in self._keep if k in r} for r in records) if self._keep else None,
            lines=np.array(lines, dtype=np.int64),
            path=self.path,
            surface=surface,
        )

    def _codes(self, answers: list[Any], lines: Sequence[int], records: Sequence[Record]) -> Ragged:
        kinds = set(map(type, answers)) - {type(None)}
        if self._kind is not None:
            kinds.add(self._kind)
        if len(kinds) > 1 or not kinds <= {str, list}:
            refuse_answers(lines, records, self.path, self._kind)
        kind = kinds.pop() if kinds else None
        if kind is str:
            codes = self._encoder.texts([answer or "" for answer in answers], self._text_unit)
        else:
            try:
                codes = self._encoder.tokens([answer or () for answer in answers])
            except TypeError:  # a list or an object where a token is needed has no hash
                refuse_answers(lines, records, self.path, self._kind)
        self._kind = self._kind or kind
        if kind is not None:
            self._look_at_new(lines, records)
        return codes

    def _look_at_new(self, lines: Sequence[int], records: Sequence[Record]) -> None:
        new = self._encoder.labels_from(self._n_looked_at)
        self._n_looked_at += len(new)
        # Only a label that is new can be of a wrong type: no number or truth value equals a string.
        if new and (set(map(type, new)) != {str} or "" in new):
            refuse_answers(lines, records, self.path, self._kind)
        if self._watch is None:
            forms = self._folding.normalize == "none"
            self._watch = Watch(self.path, normal_forms=forms, spaces=self.unit in ("token", "word"))
        self._watch.look(new)
        if self._folding.is_identity:
            return
        if self._folder is None:
            self._folder = Folder(self._folding, self.unit, self._labels)
        self._folder.look_up(new)
        # Keys stand in the alphabet of surface forms too, so that a key without a source can be printed.
        keys = self._folder.encoder.labels_from(self._n_keys)
        self._n_keys += len(keys)
        self._encoder.tokens([keys])
        forms_of_keys = self._encoder.labels_from(self._n_looked_at)
        self._n_looked_at += len(forms_of_keys)
        self._folder.look_up(forms_of_keys)

    def _fold(
        self, codes: Ragged, n_answers: int, confidence: NDArray[np.float64] | None
    ) -> tuple[Ragged, Surface, NDArray[np.float64] | None]:
        if self._folder is None:  # null answers only, so far
            return codes, Surface(_NO_LABELS, Ragged(codes.values, np.zeros(1, dtype=np.int64))), confidence
        keys, owner, behind = self._folder.fold(codes)
        end = int(keys.offsets[n_answers])
        if confidence is not None:
            confidence = confidence[owner[:end]]
        return keys, Surface(_NO_LABELS, behind[:end]), confidence

    def _confidences(
        self, lengths: NDArray[np.int64], lines: Sequence[int], records: Sequence[Record], names: tuple[str, ...]
    ) -> NDArray[np.float64] | None:
        if not any("confidences" in record for record in records):
            return None
        column = {name: j for j, name in enumerate(names)}
        offsets = np.concatenate([[0], np.cumsum(lengths)]).tolist()
        rows: list[tuple[int, int, Record, str, Any]] = []
        for i, (line, record) in enumerate(zip(lines, records, strict=True)):
            for name, row in table_of(record, "confidences", self.path, line).items():
                if row is None or name not in column:
                    continue
                k = i * len(names) + column[name]
                if type(row) is not list or len(row) != offsets[k + 1] - offsets[k]:
                    self._refuse_confidences(row, offsets[k + 1] - offsets[k], line, record, name)
                rows.append((k, line, record, name, row))
        values = _numbers(list(chain.from_iterable(row for *_, row in rows)))
        if values is None:
            for k, line, record, name, row in rows:
                if _numbers(row) is None:
                    self._refuse_confidences(row, offsets[k + 1] - offsets[k], line, record, name)
        out = np.full(offsets[-1], np.nan)
        chosen = np.array([k for k, *_ in rows], dtype=np.int64)
        out[unit_places(Ragged(out, np.array(offsets)))[chosen].values] = values
        return out

    def _refuse_confidences(self, row: Any, n_units: int, line: int, record: Record, name: str) -> NoReturn:
        where: Any = {"path": self.path, "line": line, "record": record["id"], "expert": name}
        steps = place("confidences", name)
        if type(row) is not list:
            raise DataError(f"{steps} is {kind_of(row)}, a list of numbers or null is needed", **where)
        for i, value in enumerate(row):
            if _numbers([value]) is None:
                said = repr(value) if type(value) in (int, float) else kind_of(value)
                rule = f"{steps}[{i}] is {said}, a number from 0 to 1 is needed"
                raise DataError(rule, **where)
        unit = "token" if self._kind is not str else self._text_unit
        raise DataError(
            f"{steps} holds {len(row)} numbers, but the answer has {n_units} units",
            hint=f"give one number for each {unit}, or null",
            **where,
        )

    def _weights(
        self, lines: Sequence[int], records: Sequence[Record], names: tuple[str, ...]
    ) -> NDArray[np.float64] | None:
        if not any("weights" in record for record in records):
            return None
        column = {name: j for j, name in enumerate(names)}
        out = np.ones((len(records), len(names)))
        for i, (line, record) in enumerate(zip(lines, records, strict=True)):
            for name, value in table_of(record, "weights", self.path, line).items():
                if value is None:
                    continue
                if type(value) not in (int, float) or not 0 <= value <= _LARGEST:
                    said = repr(value) if type(value) in (int, float) else kind_of(value)
                    rule = f"{place('weights', name)} is {said}, a finite number of at least 0 is needed"
                    hint = "weights multiply votes; they are not logarithms"
                    raise DataError(rule, path=self.path, line=line, record=record["id"], expert=name, hint=hint)
                if name in column:
                    out[i, column[name]] = value
        return out

    def _workers(
        self, lines: Sequence[int], records: Sequence[Record], names: tuple[str, ...]
    ) -> NDArray[np.object_] | None:
        if not any("workers" in record for record in records):
            return None
        column = {name: j for j, name in enumerate(names)}
        out = np.full((len(records), len(names)), None, dtype=object)
        for i, (line, record) in enumerate(zip(lines, records, strict=True)):
            for name, value in table_of(record, "workers", self.path, line).items():
                if value is not None and (type(value) not in (str, int) or value == ""):
                    said = "an empty string" if value == "" else kind_of(value)
                    rule = f"{place('workers', name)} is {said}, the name of who answered is needed"
                    raise DataError(rule, path=self.path, line=line, record=record["id"], expert=name)
                if value is not None and name in column:
                    out[i, column[name]] = str(value)
        return out


def _grown(alphabet: Alphabet, encoder: Encoder) -> Alphabet:
    """The encoder's alphabet; the one before, if it has not grown."""
    return alphabet if len(alphabet) == len(encoder) else encoder.alphabet


_LARGEST = 1e100  # so that no sum of weights overflows


def _numbers(row: list[Any]) -> NDArray[np.float64] | None:
    """The row as float64 with NaN for null; None where a value is not a number from 0 to 1."""
    if not set(map(type, row)) <= {float, int, type(None)}:
        return None
    try:
        values = np.array(row, dtype=np.float64)
    except OverflowError:
        return None
    good = ((values >= 0) & (values <= 1)) | np.isnan(values)
    return values if bool(good.all()) else None
