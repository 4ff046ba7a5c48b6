"""Files of one sequence a record, and joining by id."""

import io
import json

import pytest

from structens.core import DataError, ParameterError
from structens.io import join_by_id, read_sequences


def read(*lines, **options):
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return read_sequences(io.BytesIO(text.encode()), **options)


def refused(*lines, **options):
    with pytest.raises(DataError) as caught:
        read(*lines, **options)
    return str(caught.value)


def test_the_key_is_the_first_that_the_first_record_has():
    gold = read({"id": "a", "tokens": ["x"], "gold": ["y"]}, "", {"id": 2, "tokens": ["x"], "gold": None})
    assert (gold.key, gold.values, gold.ids, gold.lines.tolist()) == ("gold", (["y"], None), ("a", 2), [1, 3])
    assert read({"id": "a", "prediction": "xy", "confidence": [1, 1]}).values == ("xy",)
    assert read({"id": "a", "ref": [], "text": "t"}, key="ref").values == ([],)
    assert read({"id": "a", "text": ""}).values == ("",)
    assert refused({"id": "a", "gold": ["x"]}, {"id": "b", "tokens": ["x"]}).startswith(
        "<stream>:2: record 'b': there is no key gold; write null"
    )
    assert "there is no key gold or prediction or tokens or text" in refused({"id": "a", "experts": {"A": ["x"]}})
    with pytest.raises(ParameterError, match="at least one key"):
        read({"id": "a"}, key=())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id":"b","gold":["x"]', "the line ends before its object does"),
        ('{"id":"a","gold":["x"]}', "record 'a': the id stands in line 1 too"),
        ('{"id":"b","gold":["x"],"gold":[]}', "the key gold stands twice"),
        ('{"id":"b","gold":[1]}', "token gold[0] is a number, a string is needed"),
        ('{"id":"b","gold":["x",""]}', "token gold[1] is empty"),
        ('{"id":"b","gold":"x"}', "texts and lists of tokens are mixed: gold is a string"),
        ('{"id":"b","gold":3}', "gold is a number"),
        ('{"id":null,"gold":["x"]}', "id is null"),
        ('{"gold":["x"]}', "there is no id"),
        ("[]", "this is one JSON array"),
        ("3", "the line is a number, an object is needed"),
    ],
)
def test_as_strict_as_the_reader_of_records(line, said):
    message = refused('{"id":"a","gold":["x"]}', line)
    assert message.startswith("<stream>:2")
    assert said in message


def test_nothing_to_read():  # METR-03
    assert "there are no records in the file" in refused("", " ")


def test_folding():
    assert read({"id": 1, "gold": "Yes,"}, casefold=True, strip_punct=True).values == ("yes",)
    assert read({"id": 1, "gold": ["Cafe\u0301", ","]}, normalize="NFC", strip_punct=True).values == (["Caf\u00e9"],)
    assert read({"id": 1, "gold": "A, b"}, unit="word", strip_punct=True).values == ("A b",)


def test_joining_does_not_depend_on_order():  # COMB-14, METR-14
    pairs = join_by_id(["u1", 2, "u4"], ["u3", "2", "u1"])
    assert (pairs.left.tolist(), pairs.right.tolist()) == ([0, 1], [2, 1])
    assert (pairs.only_left.tolist(), pairs.only_right.tolist()) == ([2], [0])


def test_no_id_is_shared():  # COMB-16
    with pytest.raises(DataError) as caught:
        join_by_id(["u1"], ["u1 -77"], left_name="A.jsonl", right_name="B.jsonl")
    assert str(caught.value) == (
        "0 of 1 ids are shared by A.jsonl and B.jsonl: A.jsonl has 'u1' and B.jsonl has 'u1 -77'"
    )
    with pytest.raises(DataError, match="0 of 2 ids are shared"):
        join_by_id(["a", "b"], [])
    with pytest.raises(DataError, match="B: record 'x': the id occurs twice"):
        join_by_id(["x"], ["x", "x"], right_name="B")
