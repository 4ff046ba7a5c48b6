"""`--add`: taggers as further experts of the records, with honest answers only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from structens.core import DataError, ParameterError
from structens.ensembles.tagged import Tagged, add_experts
from structens.io import RecordBatch, read_records
from structens.io.normalize import Folding


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

    def to(self, X: RecordBatch, file: str, reading: dict[str, Any], notes: list[str]) -> RecordBatch:
        """The records with one column more for each tagger.

        Raises
        ------
        DataError
            If a tagger learnt from a record and nothing honest is known of it, or a record has no sequence.
        """
        if not self.add:
            return X
        from structens.cli.tagging import notes_on, sequences_for, tagged_by, taggers_of

        folding = Folding(**{name: value for name, value in reading.items() if name != "unit"})
        read, before = None, None
        for one in taggers_of(self.add):
            if read is None or one.reading != before:
                read, before = sequences_for(one, self.features or file), one.reading
            place = {str(ident): i for i, ident in enumerate(read.ids)}
            missing = next((i for i, ident in enumerate(X.ids) if str(ident) not in place), None)
            if missing is not None:
                rule = f"there is no sequence to tag of this id in {read.path}"
                hint = "ids of npz are made by train --id-format" if read.path.endswith(".npz") else None
                raise DataError(rule, path=X.path, line=int(X.lines[missing]), record=X.ids[missing], hint=hint)
            chosen = read.select([place[str(ident)] for ident in X.ids])
            said = tagged_by(one, chosen, self.in_sample, out_of_fold=self._given(one.name, X))
            notes += notes_on(one, chosen, said) if self.out_of_fold is None else []
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

    def for_model(
        self, names: Sequence[str], file: str, keep: list[str], reading: dict[str, Any], notes: list[str]
    ) -> RecordBatch:
        """All records with a fitted ensemble's experts, those added among them.

        Raises
        ------
        DataError
            As `to`.
        ParameterError
            If the ensemble does not know an added tagger.
        """
        from structens.cli.files import path_and_name

        ours = [path_and_name(text)[1] for text in self.add]
        for name in ours:
            if name not in names:
                raise ParameterError(f"the model was fitted without an expert {name!r}; it knows {', '.join(names)}")
        others = [name for name in names if name not in ours]
        if not others:
            raise ParameterError("the model knows added taggers only; tag the records (structens tag) and combine them")
        X = self.to(read_records(file, experts=others, keep=keep, **reading), file, reading, notes)
        return X.select(names)

    def _given(self, name: str, X: RecordBatch) -> Tagged | None:
        """Out-of-fold answers of a file, in the order of the records."""
        if self.out_of_fold is None:
            return None
        kept = read_records(self.out_of_fold, experts=[name], other_experts="ignore")
        if not kept.present.any():
            raise DataError(f"no record has answers of {name!r}", path=kept.path, hint="name the tagger as there")
        place = {str(ident): i for i, ident in enumerate(kept.ids)}
        answers, sure = kept[name], kept.confidence
        labels: list[Any] = []
        confidences: list[Any] = []
        for ident in X.ids:
            i = place.get(str(ident))
            there = i is not None and answers[i] is not None
            a, b = kept.hypotheses.offsets[i : i + 2] if there and i is not None else (0, 0)
            labels.append(list(answers[i]) if there and i is not None else None)
            confidences.append(None if not there or sure is None else sure[a:b])
        return Tagged(labels, confidences)
