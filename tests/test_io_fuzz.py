"""Good files come back as they were; a mutated one is read as its slow twin reads it, or refused as it refuses."""

import gzip
import io
import json
import random
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.io import Refused, naive_read

from structens.core import DataError
from structens.io import iter_records, read_records

CHARS = st.characters(exclude_categories=("Cs",))
TOKEN = st.text(CHARS, min_size=1, max_size=4)
TEXT = st.text(CHARS, max_size=6)
NAME = st.text(CHARS, min_size=1, max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAME, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def files(draw):
    answer = draw(st.sampled_from([TEXT, st.lists(TOKEN, max_size=4)]))
    ids = draw(st.lists(st.one_of(TEXT, st.integers()), min_size=1, max_size=5, unique_by=str))
    out = []
    for ident in ids:
        record = {"id": ident, "experts": draw(st.dictionaries(NAME, st.none() | answer, min_size=1, max_size=4))}
        if draw(st.booleans()):
            record["gold"] = draw(answer)
            record["gold_alternatives"] = draw(st.lists(answer, max_size=2))
        if draw(st.booleans()):
            record["x"] = draw(JSON)
        if draw(st.booleans()):
            record["weights"] = {name: draw(st.floats(0, 10)) for name in record["experts"]}
        out.append(record)
    return out


def same(X, records):
    names = sorted({name for record in records for name in record["experts"]})
    assert X.ids == tuple(record["id"] for record in records)
    assert X.names == tuple(names)
    for name in names:
        assert X[name] == [record["experts"].get(name) for record in records]
    assert X.gold == [record.get("gold") for record in records]
    rows = X.render(X.references)
    for record, a, b in zip(records, X.reference_offsets[:-1], X.reference_offsets[1:], strict=True):
        gold = record.get("gold")
        assert rows[a:b] == ([] if gold is None else [gold, *(record.get("gold_alternatives") or [])])
    for i, record in enumerate(records):
        for j, name in enumerate(names):
            weight = (record.get("weights") or {}).get(name)
            assert X.weights is None or X.weights[i, j] == (1 if weight is None else weight)


@given(files(), st.booleans(), st.integers(1, 3))
def test_round_trip(records, ascii_only, batch_size):
    data = "".join(json.dumps(record, ensure_ascii=ascii_only) + "\n" for record in records).encode()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = read_records(io.BytesIO(data), keep=["x"])
        same(X, records)
        assert X.fields == tuple({"x": r["x"]} if "x" in r else {} for r in records)
        assert naive_read(data) == records
        parts = list(iter_records(io.BytesIO(data), experts=X.names, batch_size=batch_size))
    assert [answer for part in parts for answer in part[X.names[0]]] == X[X.names[0]]
    assert [line for part in parts for line in part.lines.tolist()] == X.lines.tolist()


TEXTS = """\
{"id":"u1","experts":{"A":"abc","B":"abd","C":null},"gold":"abc","weights":{"A":1,"B":2.5}}
{"id":2,"experts":{"B":"caf\u00e9","A":""},"gold":"e\u0301a","gold_alternatives":["\\ud83c\\udf78"]}

{"id":"u3","experts":{"A":"x:y"},"confidences":{"A":[0.5,1,0]},"k":[{"a":1e3},-0.5,true]}
"""
LISTS = """\
{"id":"u1","experts":{"A":["K","AE","T"],"B":["K"],"C":null},"gold":["K","AE"],"weights":{"A":1}}
{"id":"u2","experts":{"C":[],"A":["\\"\\u00e9","T"]},"confidences":{"A":[0.25,null]},"note":{"x":[[]]}}
{"id":3,"experts":{"A":["T"]},"gold":["T"],"gold_alternatives":[["K","T"]]}
"""
STRUCTURE = [
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b'"',
    b"\\",
    b"\n",
    b"null",
    b"NaN",
    b"1e999",
    b"\\ud83d",
    b"\xff",
    b"0",
]


def mutate(data, chance):
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        a = chance.randrange(len(out) + 1) if out else 0
        b = min(len(out), a + chance.choice((1, 1, 2, 5, 20, 90)))
        how = chance.randrange(7)
        if how == 0 and a < len(out):
            out[a] ^= 1 << chance.randrange(8)
        elif how == 1:
            del out[a:b]
        elif how == 2:
            out[a:a] = out[a:b]
        elif how == 3:
            del out[a:]
        elif how == 4:
            out[a:a] = chance.choice(STRUCTURE)
        elif how == 5 and a < len(out):
            out[a] = chance.choice(b'{}[],:"\\0aA -')
        else:
            c = chance.randrange(len(out) + 1)
            out[c:c] = out[a:b]
    return bytes(out)


def outcome(data):
    """The records and no message, or none and the message of the refusal; no other exception is caught."""
    try:
        return read_records(io.BytesIO(data)), ""
    except DataError as error:
        return None, str(error)


@pytest.mark.parametrize(("text", "seed"), [(TEXTS, 1), (LISTS, 2)])
def test_mutated_files_are_read_or_refused(text, seed):
    chance, data = random.Random(seed), text.encode()
    outcomes = {True: 0, False: 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(5000):
            mutant = mutate(data, chance)
            try:
                records = naive_read(mutant)
            except Refused:
                records = None
            X, message = outcome(mutant)
            if X is None:
                assert records is None, f"{mutant!r} is good, but was refused: {message}"
                assert "\n" not in message
                assert message.startswith("<stream>:")
            else:
                assert records is not None, f"{mutant!r} is not good, but was read"
                same(X, records)
            outcomes[records is None] += 1
    assert min(outcomes.values()) > 500, outcomes


def test_mutated_gzip_is_read_or_refused():
    chance, data = random.Random(3), gzip.compress(LISTS.encode()) + gzip.compress(LISTS.replace('"u', '"v').encode())
    refused = 0
    for _ in range(1500):
        mutant = mutate(data, chance)
        refused += outcome(mutant)[0] is None
    assert refused > 1000
