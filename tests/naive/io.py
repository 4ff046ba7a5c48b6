"""Slow twins of the readers and of folding, written from the description of the format."""

import json
import unicodedata

import regex

TOP = {"id", "experts", "gold", "gold_alternatives", "confidences", "weights"}


class Refused(Exception):
    pass


def need(condition, what=""):
    if not condition:
        raise Refused(what)


def pairs(items):
    need(len({key for key, _ in items}) == len(items), "a key twice")
    return dict(items)


def constant(text):
    raise Refused(text)


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)


def numbers(value):
    if isinstance(value, float):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from numbers(item)


def units(answer):
    if isinstance(answer, list):
        return len(answer)
    return len(regex.findall(r"\X", answer))


def check_answer(value, kinds):
    need(isinstance(value, (str, list)), "an answer")
    kinds.add(type(value))
    if isinstance(value, list):
        need(all(isinstance(token, str) and token for token in value), "a token")


def check_record(record, kinds):
    need(type(record.get("id")) in (str, int), "id")
    experts = record.get("experts")
    need(isinstance(experts, dict) and experts, "experts")
    for name, answer in experts.items():
        need(name, "name")
        if answer is not None:
            check_answer(answer, kinds)
    gold, others = record.get("gold"), record.get("gold_alternatives")
    if gold is not None:
        check_answer(gold, kinds)
    need(others is None or isinstance(others, list), "alternatives")
    for other in others or []:
        need(gold is not None, "alternatives without gold")
        check_answer(other, kinds)
    for key in ("confidences", "weights"):
        table = record.get(key)
        need(table is None or isinstance(table, dict), key)
        for name, value in (table or {}).items():
            need(name in experts, "name")
            if value is None:
                continue
            if key == "weights":
                need(type(value) in (int, float) and 0 <= value <= 1e100, "weight")
            else:
                need(isinstance(value, list), "confidences")
                need(all(v is None or (type(v) in (int, float) and 0 <= v <= 1) for v in value), "confidence")
                need(len(value) == units(experts[name] or ""), "length")


def naive_read(data):
    """Records of the bytes of a plain file, in which characters are the units."""
    records, kinds, ids = [], set(), set()
    for raw in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if not raw.strip():
            continue
        try:
            record = json.loads(raw.decode("utf-8"), object_pairs_hook=pairs, parse_constant=constant)
        except ValueError as error:
            raise Refused(str(error)) from None
        need(isinstance(record, dict), "object")
        need(not any("\ud800" <= c <= "\udfff" for text in strings(record) for c in text), "surrogate")
        need(all(abs(number) < float("inf") for number in numbers(record)), "overflow")
        check_record(record, kinds)
        need(len(kinds) < 2, "mixed")
        need(str(record["id"]) not in ids, "id twice")
        ids.add(str(record["id"]))
        records.append(record)
    need(records, "empty")
    return records


def naive_surfaces(answer, key, cut):
    """[key, surfaces] of the units of an answer: a unit without a key goes to the last one with, else to the next."""
    out, holder, waiting = [], None, []
    for unit in answer:
        keys = cut(key(unit))
        if not keys:
            (waiting if holder is None else holder).append(unit)
            continue
        holder = [*waiting, unit]
        waiting = []
        out.append([keys[0], holder])
        out.extend([later, []] for later in keys[1:])
    return out


def naive_key(unit, normalize, casefold, strip_punct):
    def normal(text):
        return text if normalize == "none" else unicodedata.normalize(normalize, text)

    key = normal(unit)
    if casefold:
        key = normal(key.casefold())
    while strip_punct and key and unicodedata.category(key[0])[0] == "P":
        key = key[1:]
    while strip_punct and key and unicodedata.category(key[-1])[0] == "P":
        key = key[:-1]
    return key
