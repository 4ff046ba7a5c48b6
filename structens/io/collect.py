"""One file a system put together into records: what `structens collect` does."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from structens.core import DataError, ParameterError
from structens.io.answers import Answer, Answers
from structens.io.conllu import read_conllu
from structens.io.line_answers import read_dictionary, read_kaldi_text, read_plain_lines, read_tsv, words_of
from structens.io.sclite import Segment, read_ctm, read_stm, read_trn
from structens.io.sequences import read_sequences
from structens.io.source import Source, display_name

_BY_SUFFIX = {
    "conllu": "conllu",
    "ctm": "ctm",
    "dic": "dict",
    "dict": "dict",
    "json": "jsonl",
    "jsonl": "jsonl",
    "stm": "stm",
    "trn": "trn",
    "tsv": "tsv",
    "txt": "text",
}
FORMATS = ("auto", *dict.fromkeys(_BY_SUFFIX.values()), "kaldi")
"""Formats of files of answers; "auto" goes by the name's ending, "text" (Kaldi's name for its files) is kaldi."""


@dataclass(frozen=True)
class Collected:
    """Records of several systems, and what was noticed.

    Parameters
    ----------
    records : list of dict
        As `structens.read_records` reads them from a file, one a line.
    notes : list of str
    """

    records: list[dict[str, Any]]
    notes: list[str]


def collect(
    experts: Mapping[str, Source],
    gold: Source | None = None,
    *,
    format: str = "auto",
    column: str = "UPOS",
    split: bool = False,
) -> Collected:
    """Join one file a system into records, by id.

    Parameters
    ----------
    experts : mapping of str to path or binary stream
        Name of each system -> its file.
    gold : path or binary stream, optional
        File of right answers. Timed words (ctm) are cut at its segments, if it has some (stm).
    format : {"auto", "conllu", "ctm", "dict", "jsonl", "stm", "trn", "tsv", "text", "kaldi"}
        Of all files; "auto" goes by each name's ending.
    column : str
        Of CoNLL-U: the column that is the answer.
    split : bool
        Whether texts are cut at blanks into tokens.

    Returns
    -------
    Collected
        Records with gold first, in its order, then what only systems answer. All answers are in memory.

    Raises
    ------
    DataError
        If a file is not as its format says; some hold texts and others tokens; one shares no id with the others; or
        plain lines, which are joined by number, are not equally many.
    ParameterError
        If no system is named, or the format is not known.

    Examples
    --------
    >>> import io
    >>> files = {"a": io.BytesIO(b"u1 good day\\nu2 so\\n"), "b": io.BytesIO(b"u1 good may\\n")}
    >>> made = collect(files, format="kaldi")
    >>> made.records[0]
    {'id': 'u1', 'experts': {'a': ['good', 'day'], 'b': ['good', 'may']}}
    >>> made.notes
    ["b: no answer to 1 of 2 records (first 'u2')"]
    """
    if not experts:
        raise ParameterError("name at least one system and its file")
    if format not in FORMATS:
        raise ParameterError(f"format must be one of {', '.join(FORMATS)}; got {format!r}")
    segments: list[Segment] | None = None
    files: dict[str | None, Answers] = {}
    sources: list[tuple[str | None, Source]] = [*([] if gold is None else [(None, gold)]), *experts.items()]
    for name, path in sources:
        kind = format_of(path) if format == "auto" else format
        if kind == "stm":
            files[name], found = read_stm(path)
            segments = found if name is None else segments
        elif kind == "ctm":
            files[name] = read_ctm(path, segments)
        else:
            files[name] = _READERS[kind](path) if kind != "conllu" else _labels(path, column)
        if split:
            _split(files[name])
    _check_alike(list(files.values()))
    return _joined(files.pop(None, None), {str(name): said for name, said in files.items()})


def format_of(path: Source) -> str:
    """Format of a file, by its name.

    Raises
    ------
    ParameterError
        If the name says nothing.

    Examples
    --------
    >>> format_of("a/ref.stm"), format_of("b.txt.gz"), format_of("data/text")
    ('stm', 'text', 'kaldi')
    """
    name = re.sub(r"\.(gz|zst)$", "", display_name(path).lower())
    base = re.split(r"[/\\]", name)[-1]
    suffix = base.rpartition(".")[2]
    if suffix in _BY_SUFFIX and suffix != base:
        return _BY_SUFFIX[suffix]
    if base == "text":
        return "kaldi"
    raise ParameterError(
        f"the format of {display_name(path)} is not known by its name; give one of {', '.join(FORMATS[1:])}"
    )


def _labels(path: Source, column: str) -> Answers:
    read = read_conllu(path, column)
    said = Answers(read.path)
    for ident, tokens, labels, line in zip(read.ids, read.sequences, read.gold, read.lines.tolist(), strict=True):
        said.add(str(ident), labels, line)
        said.tokens[str(ident)] = tokens
    return said.checked()


def _sequences(path: Source) -> Answers:
    read = read_sequences(path)
    said = Answers(read.path)
    for ident, value, line in zip(read.ids, read.values, read.lines.tolist(), strict=True):
        said.add(str(ident), value, line)
    return said.checked()


_READERS: dict[str, Callable[[Source], Answers]] = {
    "text": read_plain_lines,
    "kaldi": read_kaldi_text,
    "tsv": read_tsv,
    "dict": read_dictionary,
    "trn": read_trn,
    "jsonl": _sequences,
}


def _split(said: Answers) -> None:
    def cut(value: Answer | None) -> Answer | None:
        return words_of(value) if isinstance(value, str) else value

    said.values = [cut(value) for value in said.values]


def _check_alike(files: list[Answers]) -> None:
    """Refuse files that hold different kinds of answers, or lines that cannot be joined by number."""
    first = files[0]
    for other in files[1:]:
        if None not in (first.of_tokens, other.of_tokens) and first.of_tokens != other.of_tokens:
            tokens, texts = (first, other) if first.of_tokens else (other, first)
            rule = f"it holds texts, but {tokens.path} lists of tokens"
            raise DataError(rule, path=texts.path, hint="cut texts at blanks with split")
        if first.by_number and other.by_number and len(first.ids) != len(other.ids):
            rule = f"it has {len(other.ids)} lines, but {first.path} has {len(first.ids)}"
            raise DataError(rule, path=other.path, hint="plain lines are joined by number")


def _joined(gold: Answers | None, systems: dict[str, Answers]) -> Collected:
    files = [*([] if gold is None else [gold]), *systems.values()]
    known = set(files[0].ids)
    for other in files[1:]:
        if known.isdisjoint(other.ids):
            n_all = max(len(files[0].ids), len(other.ids))
            rule = (
                f"0 of {n_all:,} ids are shared with {files[0].path}: {other.ids[0]!r} here, {files[0].ids[0]!r} there"
            )
            raise DataError(rule, path=other.path, hint="records are joined by id")
    ids = list(dict.fromkeys(ident for said in files for ident in said.ids))
    answers = {name: dict(zip(said.ids, said.values, strict=True)) for name, said in systems.items()}
    right = {} if gold is None else dict(zip(gold.ids, gold.values, strict=True))
    records = [_record(ident, gold, right, systems, answers) for ident in ids]
    notes = []
    for name, said in answers.items():
        missing = [ident for ident in ids if said.get(ident) is None]
        if systems[name].n_outside:
            notes.append(
                f"{name}: {systems[name].n_outside:,} words lie in no segment that is scored, and are left out"
            )
        if missing:
            notes.append(f"{name}: no answer to {len(missing):,} of {len(ids):,} records (first {missing[0]!r})")
    without = [ident for ident in ids if right.get(ident) is None] if gold is not None else []
    if without:
        notes.append(f"no gold for {len(without):,} of {len(ids):,} records (first {without[0]!r})")
    return Collected(records, notes)


def _record(
    ident: str,
    gold: Answers | None,
    right: dict[str, Answer | None],
    systems: dict[str, Answers],
    answers: dict[str, dict[str, Answer | None]],
) -> dict[str, Any]:
    record: dict[str, Any] = {"id": ident, "experts": {name: said.get(ident) for name, said in answers.items()}}
    sure = {name: said.confidences[ident] for name, said in systems.items() if ident in said.confidences}
    if sure:
        record["confidences"] = sure
    if gold is not None and right.get(ident) is not None:
        record["gold"] = right[ident]
        if ident in gold.alternatives:
            record["gold_alternatives"] = gold.alternatives[ident]
    tokens = [said.tokens[ident] for said in (gold, *systems.values()) if said is not None and ident in said.tokens]
    if tokens:
        record["tokens"] = tokens[0]
        if any(other != tokens[0] for other in tokens):
            raise DataError("systems tag different words", record=ident, hint="tokenise their input alike")
    return record
