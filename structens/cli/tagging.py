"""What `train`, `tag` and `combine --add` share: taggers in files, what they tag, and how far the work is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from structens.cli.console import is_terminal
from structens.cli.files import path_and_name
from structens.core import DataError, ParameterError
from structens.ensembles.in_sample import honest_tags
from structens.ensembles.tagged import Tagged
from structens.io.batch import RecordBatch
from structens.io.features import iter_features
from structens.io.model_file import read_model
from structens.io.tagged_files import DEFAULTS, OPTIONS, format_of, read_tagged
from structens.io.tagged_sequences import Gathered, TaggedSequences
from structens.io.tagger_file import SEVERAL, TAGGERS, tagger_of
from structens.io.tagger_file import taggers_of as several_of


class NamedTagger(NamedTuple):
    """A tagger, the name of its column, and how its sequences were read."""

    name: str
    tagger: Any
    reading: dict[str, Any]
    path: str


def taggers_of(models: Sequence[str]) -> list[NamedTagger]:
    """Taggers of files; ``file=name`` names the column, else the file's name without its suffix does.

    Several taggers of one file have their own names, after ``name.`` where one is given.

    Raises
    ------
    DataError
        If there is no such file.
    ModelError
        If a file holds no tagger.
    ParameterError
        If two have the same name.
    """
    out: list[NamedTagger] = []
    for text in models:
        path, name = path_and_name(text)
        if not Path(path).exists():
            raise DataError("there is no such model file", path=path, hint="make one with `structens train`")
        header, arrays = read_model(path)
        if str(header.get("kind")) not in (*TAGGERS, SEVERAL):
            rule = f"the model is of kind {header.get('kind')}, not a tagger; `structens train` makes taggers"
            raise DataError(rule, path=path)
        reading = header.get("reading")
        if not isinstance(reading, dict) or not set(reading) <= set(DEFAULTS):
            raise DataError("the model says nothing clear of how its sequences were read", path=path)
        if header["kind"] == SEVERAL:
            before = f"{name}." if path != text else ""
            found = {before + own: tagger for own, tagger in several_of(header, arrays, path).items()}
        else:
            found = {name: tagger_of(header, arrays, path)}
        for each, tagger in found.items():
            if each in [other.name for other in out]:
                raise ParameterError(f"two taggers are named {each!r}; name one with {path}=NAME")
            out.append(NamedTagger(each, tagger, reading, path))
    return out


def sequences_for(one: NamedTagger, file: str, format: str = "auto") -> TaggedSequences:
    """The sequences of a file, read as those of the model were.

    Raises
    ------
    DataError
        If they are tokens where the tagger learnt from numbers, or the other way round.
    """
    known = OPTIONS[format_of(file, format)]
    read = read_tagged(file, format=format, **{k: v for k, v in one.reading.items() if k in known})
    _check_kind(one, read)
    return read


def _check_kind(one: NamedTagger, read: TaggedSequences) -> None:
    of_tokens = hasattr(one.tagger.features_, "vocabulary_")
    if any(map(len, read.sequences)) and read.is_tokens != of_tokens:
        ours, theirs = ("tokens", "vectors of numbers") if read.is_tokens else ("vectors of numbers", "tokens")
        raise DataError(f"there are {ours}, but the tagger of {one.path} learnt from {theirs}", path=read.path)


class Whole:
    """Sequences of a file that is read at once, joined to records by id."""

    def __init__(self, one: NamedTagger, file: str) -> None:
        self.read = sequences_for(one, file)
        self.place = {str(ident): i for i, ident in enumerate(self.read.ids)}

    def of(self, X: RecordBatch) -> TaggedSequences:
        """The sequences of these records.

        Raises
        ------
        DataError
            If a record has none.
        """
        missing = next((i for i, ident in enumerate(X.ids) if str(ident) not in self.place), None)
        if missing is not None:
            rule = f"there is no sequence to tag of this id in {self.read.path}"
            hint = "ids of npz are made by train --id-format" if self.read.path.endswith(".npz") else None
            raise DataError(rule, path=X.path, line=int(X.lines[missing]), record=X.ids[missing], hint=hint)
        return self.read.select([self.place[str(ident)] for ident in X.ids])


class InStep:
    """Sequences of the records' own file, read as far as the records are."""

    def __init__(self, one: NamedTagger, file: str) -> None:
        self.one, self.file = one, file
        self.rows = iter_features(file, key=one.reading.get("key"))

    def of(self, X: RecordBatch) -> TaggedSequences:
        """The sequences of the next records.

        Raises
        ------
        DataError
            If they are of another kind than those that the tagger learnt from.
        """
        out = Gathered(X.path)
        for ident, sequence, gold, line in islice(self.rows, len(X)):
            out.add(ident, sequence, gold, line)
        if list(map(str, out.ids)) != list(map(str, X.ids)):
            raise DataError("the file has changed while it was read", path=X.path)
        read = out.sequences_or_refuse("there are no records in the file", "")
        _check_kind(self.one, read)
        return read


def tagged_by(one: NamedTagger, read: TaggedSequences, in_sample: str, *, out_of_fold: Tagged | None = None) -> Tagged:
    """What a tagger says, honestly; errors name the file and line.

    Raises
    ------
    DataError
        See `structens.ensembles.honest_tags`.
    """
    try:
        return honest_tags(
            one.tagger, read.sequences, out_of_fold=out_of_fold, in_sample=in_sample, ids=read.ids, name=one.name
        )
    except DataError as error:
        if error.path is not None or error.record not in read.ids:
            raise
        line = int(read.lines[read.ids.index(error.record)]) or None
        hint = error.hint and error.hint.replace("(out_of_fold)", "(--out-of-fold)").replace(
            "(in_sample 'absent')", "(--in-sample absent)"
        )
        raise DataError(
            error.rule, path=read.path, line=line, record=error.record, expert=error.expert, hint=hint
        ) from None


def notes_on(one: NamedTagger, read: TaggedSequences, said: Tagged) -> list[str]:
    """What is to be known of the answers to sequences that the tagger learnt from."""
    learnt = one.tagger.learnt_from(read.sequences)
    kept = getattr(one.tagger, "out_of_fold_", None)
    known = () if kept is None else kept.find(read.sequences, one.tagger.classes_.tolist()).labels
    honest = np.array([row is not None for row in known], dtype=np.bool_) if known else np.zeros(len(read), np.bool_)
    n_honest, n_other = int((learnt & honest).sum()), int((learnt & ~honest).sum())
    notes = [f"{n_honest} of the sequences {one.name} has learnt from: its answers there are out of fold"]
    silent = sum(row is None for row in said.labels)
    other = "it gives no answer there" if silent else "its answers there are not honest: learn nothing from them"
    return notes * (n_honest > 0) + [f"{n_other} of the sequences {one.name} has learnt from: {other}"] * (n_other > 0)


class Meter:
    """How far several learnings are, for a bar; the same in every run, so that finished folds are found again."""

    def __init__(self, total: int, show: Callable[[float], None]) -> None:
        self.total, self.show, self.n_done = total, show, 0

    def __call__(self, done: int, total: int) -> None:
        """Within one learning."""
        self.show(min((self.n_done + done / max(total, 1)) / self.total, 1.0))

    def finished(self, done: int, total: int) -> None:
        """After each learning."""
        self.n_done = done
        self.show(min(done / self.total, 1.0))

    def __repr__(self) -> str:
        return "progress"

    def __deepcopy__(self, memo: dict[int, Any]) -> Meter:
        return self


@contextmanager
def meter(what: str, total: int, *, quiet: bool) -> Iterator[Meter]:
    """A bar on a terminal."""
    if not is_terminal(quiet):
        yield Meter(total, lambda part: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=1.0)
        yield Meter(total, lambda part: bar.update(task, completed=part))


def expert_lines(read: TaggedSequences, columns: dict[str, Tagged]) -> Iterator[bytes]:
    """Records as `combine` reads them: id, tokens, gold, and a column with confidences for each tagger."""
    import json

    for i, ident in enumerate(read.ids):
        record: dict[str, Any] = {"id": ident}
        if isinstance(read.sequences[i], list):
            record["tokens"] = read.sequences[i]
        if read.gold[i] is not None:
            record["gold"] = read.gold[i]
        record["experts"] = {name: said.labels[i] for name, said in columns.items()}
        sure = {name: said.confidences[i] for name, said in columns.items() if said.confidences[i] is not None}
        record["confidences"] = {name: np.round(row, 6).tolist() for name, row in sure.items()}
        yield (json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "surrogatepass")
