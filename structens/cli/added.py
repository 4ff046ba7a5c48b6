"""`--add`: taggers as further experts of the records, with honest answers only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from structens.core import DataError, ParameterError
from structens.ensembles.tagged import Tagged, add_experts
from structens.io import RecordBatch, iter_records, read_records
from structens.io.normalize import Folding
from structens.io.tagged_files import format_of

if TYPE_CHECKING:
    from structens.cli.tagging import NamedTagger
    from structens.io.tagged_sequences import TaggedSequences


@dataclass
class Added:
    """Taggers to add, as the options say.

    Parameters
    ----------
    add : list of str
        Model files, or ``file=name``.
    features : str or None
        File of the sequences to tag, joined by id; None: the records themselves hold them.
    out_of_fold : str or None
        File of records with the taggers' out-of-fold answers as experts.
    in_sample : str
        See `structens.ensembles.honest_tags`.
    """

    add: Sequence[str]
    features: str | None = None
    out_of_fold: str | None = None
    in_sample: str = "refuse"
    _kept: dict[str, RecordBatch] = field(default_factory=dict, init=False, repr=False)

    def check(self, file: str, *, online: bool = False) -> None:
        """Refuse options that do not go together.

        Raises
        ------
        ParameterError
        """
        given = {"--features": self.features, "--out-of-fold": self.out_of_fold}
        if self.in_sample != "refuse":
            given["--in-sample"] = self.in_sample
        for option, value in given.items():
            if value is not None and not self.add:
                raise ParameterError(f"{option} goes with --add: it says what an added tagger tags")
        if self.add and online:
            raise ParameterError("--add does not go with --online; tag the records first (structens tag)")
        if self.add and file == "-" and self.features is None:
            raise ParameterError("standard input can be read once; name the file of sequences with --features")

    @cached_property
    def taggers(self) -> list[NamedTagger]:
        """Those of the files."""
        from structens.cli.tagging import taggers_of

        return taggers_of(self.add)

    def to(self, X: RecordBatch, file: str, reading: dict[str, Any], notes: list[str]) -> RecordBatch:
        """The records with one column more for each tagger.

        Raises
        ------
        DataError
            If a tagger learnt from a record and nothing honest is known of it, or a record has no sequence.
        """
        return self._joined(X, {}, file, reading, notes) if self.add else X

    def for_model(
        self,
        names: Sequence[str],
        file: str,
        keep: list[str],
        reading: dict[str, Any],
        notes: list[str],
        quiet: bool = False,
    ) -> Iterator[RecordBatch]:
        """Batches of the records with a fitted ensemble's experts, those added among them.

        Where the records hold what is tagged, memory is that of a batch; a file of `features` is read as a whole.

        Raises
        ------
        DataError
            As `to`.
        ParameterError
            If the ensemble does not know an added tagger.
        """
        ours = [one.name for one in self.taggers]
        for name in ours:
            if name not in names:
                raise ParameterError(f"the model was fitted without an expert {name!r}; it knows {', '.join(names)}")
        others = [name for name in names if name not in ours]
        if not others:
            raise ParameterError("the model knows added taggers only; tag the records (structens tag) and combine them")
        return self._batches(names, others, file, keep, reading, notes, quiet)

    def _batches(
        self,
        names: Sequence[str],
        others: list[str],
        file: str,
        keep: list[str],
        reading: dict[str, Any],
        notes: list[str],
        quiet: bool,
    ) -> Iterator[RecordBatch]:
        from structens.cli.console import progress
        from structens.cli.tagging import InStep

        sources: dict[str, Any] = {}
        if self.features is None and format_of(file) == "jsonl":
            for one in self.taggers:
                sources.setdefault(str(one.reading), InStep(one, file))
        with progress("records", quiet=quiet) as step:
            for X in iter_records(file, experts=others, keep=keep, **reading):
                yield self._joined(X, sources, file, reading, notes).select(names)
                step(len(X))

    def _joined(
        self, X: RecordBatch, sources: dict[str, Any], file: str, reading: dict[str, Any], notes: list[str]
    ) -> RecordBatch:
        """Records and what the taggers say of them; files that are read as a whole are left in `sources`."""
        from structens.cli.job import add_note
        from structens.cli.tagging import Whole, notes_on, tagged_by

        folding = Folding(**{name: value for name, value in reading.items() if name != "unit"})
        read: dict[str, TaggedSequences] = {}
        for one in self.taggers:
            way = str(one.reading)
            if way not in read:
                if way not in sources:
                    sources[way] = Whole(one, self.features or file)
                read[way] = sources[way].of(X)
            said = tagged_by(one, read[way], self.in_sample, out_of_fold=self._given(one.name, X))
            for note in notes_on(one, read[way], said) if self.out_of_fold is None else ():
                add_note(notes, note)
            labels: Any = [None if row is None else folding.answer(row, X.unit) for row in said.labels]
            if one.name in X.names:
                rule = f"the records have an expert {one.name!r} already"
                raise DataError(rule, path=X.path, hint=f"name the tagger otherwise: --add {one.path}=NAME")
            sure: Any = [  # folding may take a label out
                None if row is None or confidence is None or len(row) != len(confidence) else confidence
                for row, confidence in zip(labels, said.confidences, strict=True)
            ]
            X = add_experts(X, {one.name: Tagged(labels, sure)})  # type: ignore[assignment]
        return X

    def _given(self, name: str, X: RecordBatch) -> Tagged | None:
        """Out-of-fold answers of a file, in the order of the records."""
        if self.out_of_fold is None:
            return None
        kept = self._kept.get(name) or read_records(self.out_of_fold, experts=[name], other_experts="ignore")
        if not kept.present.any():
            raise DataError(f"no record has answers of {name!r}", path=kept.path, hint="name the tagger as there")
        self._kept[name] = kept
        place = {str(ident): i for i, ident in enumerate(kept.ids)}
        answers, sure = kept[name], kept.confidence
        labels: list[Any] = []
        confidences: list[Any] = []
        for ident in X.ids:
            i = place.get(str(ident))
            there = i is not None and answers[i] is not None
            a, b = kept.hypotheses.offsets[i : i + 2] if there and i is not None else (0, 0)
            labels.append(list(answers[i]) if there and i is not None else None)
            own = None if not there or sure is None else sure[a:b]
            confidences.append(None if own is None or np.isnan(own).any() else own)
        return Tagged(labels, confidences)
