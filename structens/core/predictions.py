"""ExpertPredictions: what each named expert said about the same records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core.alphabet import Alphabet
from structens.core.encoder import Encoder
from structens.core.errors import DataError
from structens.core.ragged import Index, Ragged
from structens.core.units import join

Sequenced = Sequence[str] | str
RecordId = str | int


@dataclass(frozen=True, eq=False)
class ExpertPredictions:
    """The answers of p experts to n records, with gold where it is known.

    Build it with `ExpertPredictions.of`, or read a file with `structens.read_records`. Slices, masks and lists of
    numbers select records; ``X["name"]`` gives the answers of one expert.

    Parameters
    ----------
    names : tuple of str
        Experts, in the run's expert order, which decides ties.
    alphabet : Alphabet
    hypotheses : Ragged of int32, n * p rows
        Codes; row ``i * p + j`` is what expert j said of record i (empty where it is absent).
    present : ndarray of bool, shape (n, p)
        False where the expert gave no answer. An empty answer is present.
    ids : tuple of str or int, n
    references : Ragged of int32
        Codes of all acceptable answers; record i has rows ``reference_offsets[i]:reference_offsets[i + 1]``,
        the first of which is its gold. No rows: no gold.
    reference_offsets : ndarray of int64, shape (n + 1,)
    confidence : ndarray of float64, shape (len(hypotheses.values),), or None
        Confidence of each unit in [0, 1]; NaN where the expert gives none.
    weights : ndarray of float64, shape (n, p), or None
        Weight of each expert's vote, given with the record.
    workers : ndarray of object, shape (n, p), or None
        Who gave each answer, where an expert is a place that different people fill; None where it is not said.
    unit : {"token", "char", "codepoint", "word", "line"}
        What the units are; all but "token" mean that answers are texts.
    fields : tuple of dict, or None
        Other keys of each record, kept as they came.
    """

    names: tuple[str, ...]
    alphabet: Alphabet
    hypotheses: Ragged
    present: NDArray[np.bool_]
    ids: tuple[RecordId, ...]
    references: Ragged
    reference_offsets: NDArray[np.int64]
    confidence: NDArray[np.float64] | None = None
    weights: NDArray[np.float64] | None = None
    unit: str = "token"
    fields: tuple[dict[str, Any], ...] | None = None
    workers: NDArray[np.object_] | None = None

    @classmethod
    def of(
        cls,
        experts: Mapping[str, Sequence[Sequenced | None]] | ExpertPredictions | Sequence[ExpertPredictions],
        *,
        gold: Sequence[Sequenced | None] | None = None,
        alternatives: Sequence[Sequence[Sequenced]] | None = None,
        ids: Sequence[RecordId] | None = None,
        confidences: Mapping[str, Sequence[Sequence[float] | None]] | None = None,
        workers: Mapping[str, Sequence[str | None]] | None = None,
        unit: str = "char",
    ) -> ExpertPredictions:
        """Build from Python sequences.

        Parameters
        ----------
        experts : mapping of name to answers
            An answer is a list of tokens, a text (cut by `unit`), or None for no answer. An `ExpertPredictions` comes
            back unchanged; a list of them is put together.
        gold : sequence, optional
            Right answers; None where unknown.
        alternatives : sequence of sequences, optional
            Other right answers of each record.
        ids : sequence, optional
            Ids of the records; default 0, 1, ...
        confidences : mapping of name to lists of numbers, optional
        workers : mapping of name to names of people, optional
            Who gave each answer.
        unit : {"char", "codepoint", "word", "line"}
            How texts are cut.

        Raises
        ------
        DataError
            If the experts disagree about the number of records, or texts and token lists are mixed.

        Examples
        --------
        >>> X = ExpertPredictions.of({"a": ["cat", "dog"], "b": ["cut", None]}, gold=["cat", "dog"])
        >>> len(X), X.names, X.present.tolist(), X["b"], X.gold
        (2, ('a', 'b'), [[True, True], [True, False]], ['cut', None], ['cat', 'dog'])
        """
        if isinstance(experts, ExpertPredictions):
            return experts
        if not isinstance(experts, Mapping):
            return cls.concatenate(list(experts))
        if not experts:
            raise DataError("no experts", hint="give a mapping of expert name to answers")
        names = tuple(experts)
        n = len(next(iter(experts.values())))
        for name, answers in experts.items():
            if len(answers) != n:
                raise DataError(f"{len(answers)} answers, but {names[0]!r} has {n}", expert=name)
        answers = [experts[name][i] for i in range(n) for name in names]
        references, reference_offsets = _reference_rows(n, gold, alternatives)
        encoder, n_answers = Encoder(), len(answers)
        everything, used_unit = encode_answers(encoder, [*answers, *references], unit)
        X = cls(
            names=names,
            alphabet=encoder.alphabet,
            hypotheses=everything[:n_answers],
            present=np.array([a is not None for a in answers], dtype=bool).reshape(n, len(names)),
            ids=tuple(range(n)) if ids is None else tuple(ids),
            references=everything[n_answers:],
            reference_offsets=reference_offsets,
            unit=used_unit,
        )
        X = X if workers is None else X.with_workers(workers)
        return X if confidences is None else X.with_confidences(confidences)

    @classmethod
    def concatenate(cls, parts: Sequence[ExpertPredictions]) -> ExpertPredictions:
        """Records of several collections with the same experts, one after the other."""
        if not parts:
            raise DataError("nothing to put together")
        first = parts[0]
        if any(part.names != first.names or part.unit != first.unit for part in parts):
            raise DataError("only records with the same experts and the same unit can be put together")
        if all(part.alphabet is first.alphabet for part in parts):
            recoded, alphabet = list(parts), first.alphabet
        else:
            alphabet = Alphabet.of(label for part in parts for label in part.alphabet.labels)
            recoded = [part.recode(alphabet) for part in parts]
        return cls(
            names=first.names,
            alphabet=alphabet,
            hypotheses=_stack([part.hypotheses for part in recoded]),
            present=np.concatenate([part.present for part in recoded]),
            ids=tuple(i for part in recoded for i in part.ids),
            references=_stack([part.references for part in recoded]),
            reference_offsets=_stack_offsets([part.reference_offsets for part in recoded]),
            confidence=_stack_optional([(part.confidence, len(part.hypotheses.values)) for part in recoded]),
            weights=None if first.weights is None else np.concatenate([part.weights for part in recoded]),
            unit=first.unit,
            fields=None if first.fields is None else tuple(f for part in recoded for f in part.fields or ()),
            workers=_stack_workers(recoded),
        )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def n_experts(self) -> int:
        """Number of experts p."""
        return len(self.names)

    @property
    def is_text(self) -> bool:
        """True where answers are texts, not lists of tokens."""
        return self.unit != "token"

    @property
    def has_gold(self) -> NDArray[np.bool_]:
        """True where a record has gold, shape (n,)."""
        return np.diff(self.reference_offsets) > 0

    @property
    def gold(self) -> list[Any]:
        """The gold answer of each record, None where it is unknown."""
        starts = self.reference_offsets[:-1]
        known = self.has_gold
        rows = iter(self.render(self.references[starts[known]]))
        return [next(rows) if has else None for has in known.tolist()]

    def __getitem__(self, index: int | str | Index) -> Any:
        if isinstance(index, str):
            return self._answers_of(index)
        if isinstance(index, (int, np.integer)):
            index = slice(range(len(self))[int(index)], range(len(self))[int(index)] + 1)
        chosen = np.arange(len(self))[index]
        p = self.n_experts
        rows = (chosen[:, None] * p + np.arange(p)).ravel()
        spans = [range(self.reference_offsets[i], self.reference_offsets[i + 1]) for i in chosen]
        keep = self.confidence is not None
        return replace(
            self,
            hypotheses=self.hypotheses[rows],
            present=self.present[chosen],
            ids=tuple(self.ids[i] for i in chosen),
            references=self.references[[row for span in spans for row in span] if spans else []],
            reference_offsets=np.concatenate([[0], np.cumsum([len(span) for span in spans])]).astype(np.int64),
            confidence=Ragged(self.confidence, self.hypotheses.offsets)[rows].values if keep else None,  # type: ignore[arg-type]
            weights=None if self.weights is None else self.weights[chosen],
            fields=None if self.fields is None else tuple(self.fields[i] for i in chosen),
            workers=None if self.workers is None else self.workers[chosen],
        )

    def __iter__(self) -> Iterator[ExpertPredictions]:
        for i in range(len(self)):
            yield self[i]

    def _answers_of(self, name: str) -> list[Any]:
        column = self.column(name)
        rows = self.render(self.hypotheses[np.arange(len(self)) * self.n_experts + column])
        return [row if here else None for row, here in zip(rows, self.present[:, column].tolist(), strict=True)]

    def column(self, name: str) -> int:
        """Number of an expert.

        Raises
        ------
        DataError
            If there is no such expert.
        """
        if name not in self.names:
            raise DataError(f"there is no expert {name!r}", hint=f"there are {', '.join(self.names)}")
        return self.names.index(name)

    def render(self, rows: Ragged) -> list[Any]:
        """Codes to answers of the input's type: lists of tokens, or texts."""
        decoded = [self.alphabet.decode(row) for row in rows.to_list()]
        return [join(units, self.unit) for units in decoded] if self.is_text else decoded

    def select(self, names: Sequence[str]) -> ExpertPredictions:
        """The same records with these experts only, in this order."""
        columns = np.array([self.column(name) for name in names], dtype=np.int64)
        rows = (np.arange(len(self))[:, None] * self.n_experts + columns).ravel()
        keep = self.confidence is not None
        return replace(
            self,
            names=tuple(names),
            hypotheses=self.hypotheses[rows],
            present=self.present[:, columns],
            confidence=Ragged(self.confidence, self.hypotheses.offsets)[rows].values if keep else None,  # type: ignore[arg-type]
            weights=None if self.weights is None else self.weights[:, columns],
            workers=None if self.workers is None else self.workers[:, columns],
        )

    def reindex(self, names: Sequence[str]) -> ExpertPredictions:
        """The same records with exactly these experts; those that are missing gave no answer.

        Raises
        ------
        DataError
            If there is an expert that is not among `names`.
        """
        if tuple(names) == self.names:
            return self
        extra = [name for name in self.names if name not in names]
        if extra:
            known = ", ".join(names)
            raise DataError(f"expert {extra[0]!r} is not one of those learnt from", hint=f"those are {known}")
        out = self
        for name in names:
            if name not in out.names:
                out = out.add(name, [None] * len(self))
        return out.select(names)

    def add(self, name: str, answers: Sequence[Sequenced | None]) -> ExpertPredictions:
        """The same records with one more expert, last in the order.

        Raises
        ------
        DataError
            If the name is taken or the number of answers is wrong.
        """
        if name in self.names or len(answers) != len(self):
            raise DataError(f"need {len(self)} answers under a new name, got {len(answers)}", expert=name)
        encoder = Encoder(self.alphabet.labels)
        rows, unit = encode_answers(encoder, list(answers), self.unit)
        if unit != self.unit and any(answer is not None for answer in answers):
            raise DataError("answers must be of the type of the other experts'", expert=name)
        n, p = len(self), self.n_experts
        both = _stack([self.hypotheses, rows])
        order = np.concatenate([np.arange(n * p).reshape(n, p), n * p + np.arange(n)[:, None]], axis=1).ravel()
        confidence = _stack_optional([(self.confidence, len(self.hypotheses.values)), (None, len(rows.values))])
        return replace(
            self,
            names=(*self.names, name),
            alphabet=encoder.alphabet,
            hypotheses=both[order],
            present=np.column_stack([self.present, [a is not None for a in answers]]),
            confidence=None if confidence is None else Ragged(confidence, both.offsets)[order].values,
            weights=None if self.weights is None else np.column_stack([self.weights, np.ones(n)]),
            workers=None if self.workers is None else np.column_stack([self.workers, np.full(n, None)]),
        )

    def with_gold(self, gold: Sequence[Sequenced | None]) -> ExpertPredictions:
        """The same records with this gold instead of their own."""
        if len(gold) != len(self):
            raise DataError(f"{len(gold)} gold answers for {len(self)} records")
        references, offsets = _reference_rows(len(self), gold, None)
        encoder = Encoder(self.alphabet.labels)
        rows, _ = encode_answers(encoder, references, self.unit)
        return replace(self, alphabet=encoder.alphabet, references=rows, reference_offsets=offsets)

    def with_confidences(self, confidences: Mapping[str, Sequence[Sequence[float] | None]]) -> ExpertPredictions:
        """The same records with these confidences; each list is as long as the expert's answer."""
        out = np.full(len(self.hypotheses.values), np.nan)
        for name, rows in confidences.items():
            column = self.column(name)
            for i, row in enumerate(rows):
                k = i * self.n_experts + column
                a, b = self.hypotheses.offsets[k : k + 2]
                if row is None:
                    continue
                values = np.asarray(row, dtype=np.float64)
                bad = len(values) != b - a or not ((values >= 0) & (values <= 1)).all()
                if bad:
                    rule = f"need {b - a} confidences between 0 and 1, got {list(row)!r}"
                    raise DataError(rule, record=self.ids[i], expert=name)
                out[a:b] = values
        return replace(self, confidence=out)

    def with_workers(self, workers: Mapping[str, Sequence[str | None]]) -> ExpertPredictions:
        """The same records with these names of who gave each answer, None where it is not known."""
        out = np.full((len(self), self.n_experts), None, dtype=object)
        for name, row in workers.items():
            if len(row) != len(self):
                raise DataError(f"{len(row)} workers for {len(self)} records", expert=name)
            out[:, self.column(name)] = list(row)
        return replace(self, workers=out)

    def recode(self, alphabet: Alphabet) -> ExpertPredictions:
        """The same records in the codes of another alphabet, which must hold all labels in use."""
        table = self.alphabet.codes_in(alphabet)
        return replace(
            self,
            alphabet=alphabet,
            hypotheses=Ragged(table[self.hypotheses.values], self.hypotheses.offsets),
            references=Ragged(table[self.references.values], self.references.offsets),
        )


def encode_answers(encoder: Encoder, answers: Sequence[Sequenced | None], unit: str) -> tuple[Ragged, str]:
    """Codes of answers that are all texts or all token lists (None counts as empty), and the unit they have."""
    texts = [isinstance(answer, str) for answer in answers if answer is not None]
    if all(texts) and texts and unit != "token":
        return encoder.texts([answer or "" for answer in answers], unit), unit  # type: ignore[misc]
    if any(texts):
        raise DataError("texts and lists of tokens are mixed", hint="make every answer a text, or every answer a list")
    return encoder.tokens([answer if answer is not None else () for answer in answers]), "token"


def _reference_rows(
    n: int, gold: Sequence[Sequenced | None] | None, alternatives: Sequence[Sequence[Sequenced]] | None
) -> tuple[list[Sequenced], NDArray[np.int64]]:
    rows: list[Sequenced] = []
    offsets = np.zeros(n + 1, dtype=np.int64)
    if gold is not None and len(gold) != n:
        raise DataError(f"{len(gold)} gold answers for {n} records")
    for i in range(n):
        if gold is not None and (right := gold[i]) is not None:
            rows.append(right)
            rows.extend(alternatives[i] if alternatives is not None else ())
        offsets[i + 1] = len(rows)
    return rows, offsets


def _stack(parts: Sequence[Ragged]) -> Ragged:
    return Ragged(np.concatenate([part.values for part in parts]), _stack_offsets([part.offsets for part in parts]))


def _stack_offsets(parts: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    out, total = [np.zeros(1, dtype=np.int64)], 0
    for offsets in parts:
        out.append(offsets[1:] + total)
        total += int(offsets[-1])
    return np.concatenate(out)


def _stack_workers(parts: Sequence[ExpertPredictions]) -> NDArray[np.object_] | None:
    if all(part.workers is None for part in parts):
        return None
    return np.concatenate([np.full(p.present.shape, None, object) if p.workers is None else p.workers for p in parts])


def _stack_optional(parts: Sequence[tuple[NDArray[np.float64] | None, int]]) -> NDArray[np.float64] | None:
    if all(values is None for values, _ in parts):
        return None
    return np.concatenate([np.full(n, np.nan) if values is None else values for values, n in parts])
