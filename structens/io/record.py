"""One record: what its keys may hold. The checks of whole batches are fast; these find what to say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from structens.core import DataError
from structens.io.jsonl import kind_of, place

Record = dict[str, Any]


def refuse_frame(record: Any, path: str, line: int) -> NoReturn:
    """Say what is wrong with the id or the experts of a record that has something wrong there.

    Raises
    ------
    DataError
        Always.
    """
    ident = record.get("id")
    if type(ident) is not str and type(ident) is not int:
        refuse_id(record, path, line)
    if "experts" not in record:
        hint = 'write {"id": ..., "experts": {"name": answer}}'
        raise DataError("there is no key experts", path=path, line=line, record=ident, hint=hint)
    experts = record["experts"]
    if type(experts) is not dict:
        combined = type(experts) is list and "prediction" in record
        rule = f"experts is {kind_of(experts)}, an object of name and answer is needed"
        rule += "; this looks like what combine writes" if combined else ""
        raise DataError(rule, path=path, line=line, record=ident)
    hint = "name each expert; null is no answer"
    raise DataError("experts is an empty object", path=path, line=line, record=ident, hint=hint)


def refuse_id(record: Any, path: str, line: int) -> NoReturn:
    """Say what is wrong with the id of a record that has no good one.

    Raises
    ------
    DataError
        Always.
    """
    if "id" not in record:
        raise DataError("there is no id", path=path, line=line, hint='give each record its own "id"')
    ident = record["id"]
    said = "a number with a fraction or exponent" if isinstance(ident, float) else kind_of(ident)
    raise DataError(f"id is {said}, a string or an integer is needed", path=path, line=line)


def refuse_answers(lines: Sequence[int], records: Sequence[Record], path: str, kind: type | None) -> NoReturn:
    """Say which answer of a batch is the first that cannot be used.

    Parameters
    ----------
    kind : str, list or None
        What the answers of earlier batches were.

    Raises
    ------
    DataError
        Always.
    """
    for line, record in zip(lines, records, strict=True):
        for steps, answer in _answers(record, path, line):
            where: Any = {"path": path, "line": line, "record": record["id"]}
            if steps[0] == "experts":
                where["expert"] = steps[1]
            if type(answer) is not str and type(answer) is not list:
                rule = f"{place(*steps)} is {kind_of(answer)}, a string, a list of strings or null is needed"
                raise DataError(rule, **where)
            if kind is not None and type(answer) is not kind:
                rule = f"texts and lists of tokens are mixed: {place(*steps)} is {kind_of(answer)}"
                hint = f"the answers before it are {'texts' if kind is str else 'lists'}; use one of the two"
                raise DataError(rule, hint=hint, **where)
            kind = type(answer)
            if isinstance(answer, list):
                check_tokens(answer, steps, where)
    raise DataError("an answer is neither a text nor a list of tokens", path=path)


def refuse_name(
    lines: Sequence[int], records: Sequence[Record], path: str, known: frozenset[str], hint: str
) -> NoReturn:
    """Say which expert is the first that is not known, or has an empty name.

    Raises
    ------
    DataError
        Always.
    """
    for line, record in zip(lines, records, strict=True):
        for name in record["experts"]:
            if not name:
                raise DataError("an expert's name is empty", path=path, line=line, record=record["id"])
            if known and name not in known:
                rule = "the expert is not among those of the run"
                raise DataError(rule, path=path, line=line, record=record["id"], expert=name, hint=hint)
    raise DataError("an expert's name is not known", path=path)


def references_of(record: Record, path: str, line: int) -> list[Any]:
    """Gold and its alternatives, not checked inside; no rows where the record has no gold.

    Raises
    ------
    DataError
        If the alternatives are no list, hold null, or stand without gold.
    """
    gold, others = record.get("gold"), record.get("gold_alternatives")
    where: Any = {"path": path, "line": line, "record": record["id"]}
    if others is not None and type(others) is not list:
        raise DataError(f"gold_alternatives is {kind_of(others)}, a list of answers is needed", **where)
    if not others:
        return [] if gold is None else [gold]
    if gold is None:
        raise DataError("there are gold_alternatives without gold", hint='give one of them as "gold"', **where)
    if None in others:
        raise DataError(f"{place('gold_alternatives', others.index(None))} is null, an answer is needed", **where)
    return [gold, *others]


def table_of(record: Record, key: str, path: str, line: int) -> Record:
    """The object under "confidences", "weights" or "workers"; its names must be experts of the record.

    Raises
    ------
    DataError
        If it is no object, or names an expert that is not in the record.
    """
    table = record.get(key)
    if table is None:
        return {}
    if type(table) is not dict:
        rule = f"{key} is {kind_of(table)}, an object is needed"
        raise DataError(rule, path=path, line=line, record=record["id"])
    for name in table:
        if name not in record["experts"]:
            rule = f"{place(key, name)} has no answer: the record has no expert of this name"
            raise DataError(rule, path=path, line=line, record=record["id"], expert=name)
    return table


def check_tokens(answer: list[Any], steps: tuple[str | int, ...], where: Any) -> None:
    """Refuse a list that holds what is no token.

    Raises
    ------
    DataError
        If an item is not a string, or is empty.
    """
    for i, token in enumerate(answer):
        if type(token) is not str:
            raise DataError(f"token {place(*steps, i)} is {kind_of(token)}, a string is needed", **where)
        if not token:
            raise DataError(f"token {place(*steps, i)} is empty", hint="leave it out: no token is empty", **where)


def _answers(record: Record, path: str, line: int) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    for name, answer in record["experts"].items():
        if answer is not None:
            yield ("experts", name), answer
    for i, answer in enumerate(references_of(record, path, line)):
        yield (("gold",) if i == 0 else ("gold_alternatives", i - 1)), answer
