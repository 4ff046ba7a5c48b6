"""What a record may hold, and the one sentence for each thing that it may not."""

import io
import json
import re
import warnings

import numpy as np
import pytest

from structens.core import DataError, ParameterError
from structens.io import DataWarning, RecordBatch, iter_records, read_records


def read(*lines, **options):
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return read_records(io.BytesIO(text.encode()), **options)


def refused(*lines, **options):
    with pytest.raises(DataError) as caught:
        read(*lines, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


def record(ident="u1", **keys):
    return {"id": ident, "experts": {"A": ["x"], "B": ["y"]}, **keys}


def test_a_full_record():
    X = read(
        {
            "id": "w1",
            "experts": {"g2p": None, "espeak": ["K", "AE", "T"], "flite": ["K", "AA"]},
            "gold": ["K", "AE", "T"],
            "gold_alternatives": [["K", "AE", "D"]],
            "confidences": {"espeak": [0.9, 0.4, 1], "flite": None},
            "weights": {"flite": 2},
            "input": "cat",
        },
        {"id": 7, "experts": {"espeak": []}, "input": {"a": [1, {"b": 2}]}},
        keep=["input"],
    )
    assert isinstance(X, RecordBatch)
    assert X.names == ("espeak", "flite", "g2p")
    assert X["espeak"] == [["K", "AE", "T"], []]
    assert X["flite"] == [["K", "AA"], None]
    assert X.present.tolist() == [[True, True, False], [True, False, False]]
    assert X.ids == ("w1", 7)
    assert X.gold == [["K", "AE", "T"], None]
    assert X.render(X.references) == [["K", "AE", "T"], ["K", "AE", "D"]]
    assert X.reference_offsets.tolist() == [0, 2, 2]
    np.testing.assert_array_equal(X.confidence, [0.9, 0.4, 1, np.nan, np.nan])
    assert X.weights.tolist() == [[1, 2, 1], [1, 1, 1]]
    assert X.fields == ({"input": "cat"}, {"input": {"a": [1, {"b": 2}]}})
    assert X.lines.tolist() == [1, 2]
    assert X.unit == "token"


def test_texts_are_cut_into_units():
    line = {"id": 1, "experts": {"A": "e\u0301a b", "B": ""}, "gold": "ea b"}
    X = read(line)
    assert (X.unit, X.hypotheses.lengths.tolist(), X["A"], X["B"]) == ("char", [4, 0], ["e\u0301a b"], [""])
    assert read(line, unit="word").hypotheses.lengths.tolist() == [2, 0]
    assert read(line, unit="codepoint").hypotheses.lengths.tolist() == [5, 0]
    with pytest.raises(ParameterError, match="unit must be one of char, codepoint, word, line; got 'token'"):
        read(line, unit="token")


def test_names_are_sorted_or_given_and_key_order_is_nothing():
    lines = ['{"id":1,"experts":{"b":["x"],"a":["y"]}}', '{"id":2,"experts":{"a":["y"],"c":["z"],"b":["x"]}}']
    X = read(*lines)
    assert (X.names, X["c"]) == (("a", "b", "c"), [None, ["z"]])
    Y = read(*lines, experts=["c", "a", "b"])
    assert Y.names == ("c", "a", "b")
    assert all(Y[name] == X[name] for name in "abc")
    message = refused(*lines, experts=["a", "b"])
    assert message == "<stream>:2: record 2: expert 'c': the expert is not among those of the run; they are a, b"
    assert read(*lines, experts=["a"], other_experts="ignore")["a"] == [["y"], ["y"]]
    with pytest.warns(DataWarning, match="no record has the expert 'd'"):
        assert read(*lines, experts=["a", "b", "c", "d"])["d"] == [None, None]
    for wrong in ([], ["a", "a"], [""]):
        with pytest.raises(ParameterError, match="distinct names"):
            read(*lines, experts=wrong)
    with pytest.raises(ParameterError, match="refuse or ignore"):
        read(*lines, other_experts="x")


def test_a_stream_keeps_the_experts_of_its_first_batch():
    rows = [{"id": i, "experts": {"A": ["x"], "B" if i % 2 else "C": ["y"]}} for i in range(9)]
    data = "\n".join(map(json.dumps, rows)).encode()
    parts = list(iter_records(io.BytesIO(data), batch_size=4))
    assert {part.names for part in parts} == {("A", "B", "C")}
    assert [part.lines.tolist() for part in parts] == [[1, 2, 3, 4], [5, 6, 7, 8], [9]]
    with pytest.raises(DataError) as caught:
        list(iter_records(io.BytesIO(data), batch_size=1))
    said = (
        "<stream>:2: record 1: expert 'B': the expert is not among those of the run; it first appears after 1 records"
    )
    assert str(caught.value).startswith(said)
    known = list(iter_records(io.BytesIO(data), batch_size=1, experts=["C", "B", "A"]))
    assert {part.names for part in known} == {("C", "B", "A")}
    with pytest.raises(ParameterError, match="at least 1 record"):
        iter_records(io.BytesIO(data), batch_size=0)


def test_codes_keep_their_meaning_over_batches():
    rows = [{"id": i, "experts": {"A": [f"t{i}", "t0"]}} for i in range(5)]
    data = "\n".join(map(json.dumps, rows)).encode()
    parts = list(iter_records(io.BytesIO(data), batch_size=2, labels=["z", "t3"]))
    assert [part.alphabet.labels for part in parts][-1] == ("z", "t3", "t0", "t1", "t2", "t4")
    assert [row.tolist() for part in parts for row in part.hypotheses] == [[2, 2], [3, 2], [4, 2], [1, 2], [5, 2]]
    whole = read(*rows, labels=["z", "t3"])
    assert whole.alphabet.labels == parts[-1].alphabet.labels


def test_experts_that_appear_late_in_a_large_file():
    rows = [{"id": i, "experts": {"B": "ab" * (i % 3)}} for i in range(500)]
    rows += [{"id": 500, "experts": {"A": "x", "C": None}, "weights": {"A": 3}, "confidences": {"A": [0.5]}}]
    X = read(*rows)
    assert X.names == ("A", "B", "C")
    assert X["B"][:500] == ["ab" * (i % 3) for i in range(500)]
    assert X["A"][499:] == [None, "x"]
    assert X.weights[500].tolist() == [3, 1, 1]
    assert X.weights[:500].min() == X.weights[:500].max() == 1
    assert X.confidence[-1] == 0.5
    assert np.isnan(X.confidence[:-1]).all()
    Y = X[[500, 2]]
    assert (Y.lines.tolist(), Y["B"], Y.confidence[0]) == ([501, 3], [None, "abab"], 0.5)


def test_limit():
    assert read(record("a"), "rubbish", limit=1).ids == ("a",)
    with pytest.raises(ParameterError, match="limit"):
        read(record(), limit=0)


def test_ids_that_occur_twice():  # COMB-13
    message = refused(record("u1"), record("u2"), record("u1"))
    assert message == "<stream>:3: record 'u1': the id stands in line 1 too; each id may occur once"
    assert "line 1" in refused(record(5), record("5"))
    many = [record(i) for i in range(700)]
    assert ":702: record 3: the id stands in line 4" in refused(*many, "", record(3))
    assert read(*many).ids == tuple(range(700))


def test_blank_lines_are_counted():  # PARSE-03
    message = refused('{"id":"u1","experts":{"A":["x"]}}', "", "   ", '{"id":"u2","experts":{"A":["y"]}')
    assert message.startswith("<stream>:4:33: the line ends before its object does: a closing quote, bracket or brace")
    assert read("", " \t", record(), "").lines.tolist() == [3]


def test_comma_after_the_object_and_one_array():  # PARSE-05
    comma = refused('{"id":"u1","experts":{"A":["x"]}},', record("u2"))
    assert comma == "<stream>:1:34: there is a comma after the object; remove it: one object a line"
    for text in ('[{"id":"u1","experts":{"A":["x"]}}]', "[", " [\n" + '{"id":"u1","experts":{"A":["x"]}}\n]'):
        array = refused(text)
        assert re.match(r"<stream>:1:[12]: this is one JSON array; write one object a line", array)
    assert refused('{"id":1} {"id":2}').endswith(":1:10: there is more after the object; one object a line")
    assert ":1:2: the line ends before its object does" in refused("{", ' "id": 1', "}")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
def test_numbers_that_are_not_finite(number):  # PARSE-06
    line = '{"id":"u1","experts":{"A":["x"],"B":["y"]},"weights":{"A":' + number + ',"B":1.0}}'
    message = refused(line)
    assert message.startswith("<stream>:1: record 'u1': weights.A is ")
    assert "a finite number is needed" in message
    assert "input[0].x is" in refused('{"id":"u1","experts":{"A":["x"]},"input":[{"x":' + number + "}]}")


@pytest.mark.parametrize("value", [-0.5, -1, True, "1", [1], 1e101, 10**400])
def test_wrong_weights(value):  # WFA-06
    message = refused('{"id":"u1","experts":{"A":["x"],"B":["y"]},"weights":{"A":' + json.dumps(value) + ',"B":1.5}}')
    if value != 10**400:
        assert message.startswith("<stream>:1: record 'u1': expert 'A': weights.A is ")
        assert message.endswith(
            "a finite number of at least 0 is needed; weights multiply votes; they are not logarithms"
        )
    if value == -0.5:
        assert "weights.A is -0.5" in message


def test_tokens_of_other_types():  # PARSE-08
    message = refused('{"id":"u1","experts":{"A":[1],"B":[true],"C":[1.0],"D":["1"]}}')
    assert message == "<stream>:1: record 'u1': expert 'A': token experts.A[0] is a number, a string is needed"
    assert "experts.B[0] is true" in refused('{"id":"u1","experts":{"A":["1"],"B":[true]}}')
    assert "experts.B[1] is null" in refused('{"id":"u1","experts":{"A":["1"],"B":["x",null]}}')
    first = record("u0")
    assert ":2: record 'u1': expert 'A': token experts.A[1]" in refused(first, '{"id":"u1","experts":{"A":["x",1.5]}}')
    assert "token gold[0] is a number" in refused(record(gold=[3]))


def test_nested_lists_and_objects():  # PARSE-09
    message = refused('{"id":"u1","experts":{"A":[["a","b"],"c"],"B":{"t":"a"}}}')
    assert message == "<stream>:1: record 'u1': expert 'A': token experts.A[0] is a list, a string is needed"
    message = refused('{"id":"u1","experts":{"B":{"t":"a"}}}')
    assert "expert 'B': experts.B is an object, a string, a list of strings or null is needed" in message
    assert "experts.B is a number" in refused('{"id":"u1","experts":{"B":7}}')
    assert "nested too deeply" in refused('{"id":"u1","experts":' + "[" * 100_000 + "}")


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('{"id":"u1","experts":{"A":["x"],"A":["y"]}}', "experts.A"),
        ('{"id":"u1","experts":{"A":["x"]},"id":"u2"}', "id"),
        ('{"id":"u1","experts":{"A":[":"]},"x":[{"a b":1,"a b":":"}]}', 'x[0]["a b"]'),
        ('{"id":"u1" , "experts" :{"A":["\\":\\":"], "A" : ["y"]}}', "experts.A"),
        ('{"id":"u1","experts":{"A":["x"]},"weights":{"A":1,"A":2}}', "weights.A"),
        ('{"id":"u1","experts":{},"experts":{"A":["x"]}}', "experts"),
        ('{"id":"u1","experts":{"A":["x"]},"experts":{}}', "experts"),
        ('{"id":"u1","experts":{"A":"\\":","\\u0041":"y"}}', "experts.A"),
    ],
)
def test_keys_that_stand_twice(line, key):  # PARSE-14
    assert ":1: record 'u" in refused(line)
    assert f"the key {key} stands twice; keep one of the two" in refused(line)


def test_colons_in_strings_are_no_keys():
    texts = ["a:b", '":"', '\\":', 'x" : y', "::::"]
    X = read(
        *[{"id": f"i:{k}", "experts": {"A:": [text]}, "x": {"y:": [[{"z": text}]]}} for k, text in enumerate(texts)]
    )
    assert X["A:"] == [[text] for text in texts]


def test_lone_surrogates_and_bytes_that_are_not_utf8():  # PARSE-15
    good = read('{"id":"u2","experts":{"A":["\\ud83c\\udf78"]}}')["A"][0][0]
    assert (len(good), hex(ord(good))) == (1, "0x1f378")
    message = refused('{"id":"u1","experts":{"A":["ok \\ud83d"]}}', '{"id":"u2","experts":{"A":["x"]}}')
    assert message.startswith("<stream>:1: record 'u1': experts.A[0] holds a lone surrogate")
    assert "holds a lone surrogate" in refused('{"id":"u1","experts":{"\\udf78\\ud83d":["x"]}}')
    line = b'{"id":"u2","experts":{"A":["\xff"]}}'
    with pytest.raises(DataError) as caught:
        read_records(io.BytesIO(b'{"id":"u1","experts":{"A":["x"]}}\n' + line))
    said = f"<stream>:2: byte 0xFF at byte offset {line.index(255)} of the line is not UTF-8; save the file as UTF-8"
    assert str(caught.value) == said
    with pytest.raises(DataError, match="looks like UTF-16"):
        read_records(io.BytesIO('{"id":"u1"}'.encode("utf-16")))


def test_tokens_that_look_like_marks_stay():  # WFA-09
    marks = ["<eps>", "@", "*", "***", "_", "<pad>", "-", "\u0000", " "]
    assert read({"id": "u1", "experts": {"A": marks, "B": marks}})["B"] == [marks]


def test_empty_file():  # METR-03
    for data in (b"", b"\n \n", b"\xef\xbb\xbf"):
        with pytest.raises(DataError, match="<stream>: there are no records in the file"):
            read_records(io.BytesIO(data))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("7", "the line is a number, an object is needed"),
        ("{}", "there is no id; give each record its own"),
        ('{"id":null,"experts":{"A":"x"}}', "id is null, a string or an integer is needed"),
        ('{"id":true,"experts":{"A":"x"}}', "id is true, a string or an integer is needed"),
        ('{"id":1.5,"experts":{"A":"x"}}', "id is a number with a fraction"),
        ('{"id":["u"],"experts":{"A":"x"}}', "id is a list"),
        ('{"id":"u"}', "record 'u': there is no key experts"),
        ('{"id":"u","experts":["A"]}', "record 'u': experts is a list, an object"),
        ('{"id":"u","experts":null}', "record 'u': experts is null"),
        ('{"id":"u","experts":{}}', "record 'u': experts is an empty object"),
        ('{"id":"u","experts":{"":"x"}}', "record 'u': an expert's name is empty"),
        ('{"id":"u","experts":{"A":["x",""]}}', "expert 'A': token experts.A[1] is empty; leave it out"),
        (
            '{"id":"u","experts":{"A":["x"],"B":"x"}}',
            "expert 'B': texts and lists of tokens are mixed: experts.B is a str",
        ),
        ('{"id":"u","experts":{"A":["x"]},"gold":"x"}', "texts and lists of tokens are mixed: gold is a string"),
        ('{"id":"u","experts":{"A":["x"]},"gold":7}', "record 'u': gold is a number"),
        ('{"id":"u","experts":{"A":["x"]},"gold":["x"],"gold_alternatives":"x"}', "gold_alternatives is a string"),
        ('{"id":"u","experts":{"A":["x"]},"gold":["x"],"gold_alternatives":[null]}', "gold_alternatives[0] is null"),
        ('{"id":"u","experts":{"A":["x"]},"gold":["x"],"gold_alternatives":["x"]}', "gold_alternatives[0] is a string"),
        ('{"id":"u","experts":{"A":["x"]},"gold_alternatives":[["x"]]}', "gold_alternatives without gold"),
        ('{"id":"u","experts":{"A":["x"]},"confidences":[1]}', "confidences is a list, an object is needed"),
        ('{"id":"u","experts":{"A":["x"]},"confidences":{"B":[1]}}', "expert 'B': confidences.B has no answer"),
        ('{"id":"u","experts":{"A":["x"]},"confidences":{"A":[1.5]}}', "confidences.A[0] is 1.5, a number from 0 to 1"),
        ('{"id":"u","experts":{"A":["x"]},"confidences":{"A":[true]}}', "confidences.A[0] is true"),
        ('{"id":"u","experts":{"A":["x"]},"confidences":{"A":0.5}}', "confidences.A is a number, a list of numbers"),
        ('{"id":"u","experts":{"A":"xyz"},"confidences":{"A":[1,1]}}', "A holds 2 numbers, but the answer has 3 units"),
        ('{"id":"u","experts":{"A":null},"confidences":{"A":[1]}}', "holds 1 numbers, but the answer has 0 units"),
        ('{"id":"u","experts":{"A":["x"]},"weights":{"Z":1}}', "expert 'Z': weights.Z has no answer"),
        ('{"id":"u","experts":{"A":["x"]},"weights":7}', "weights is a number"),
        ('{"id":"u","experts":{"A":["x"]},"workers":["ann"]}', "record 'u': workers is a list, an object is needed"),
        ('{"id":"u","experts":{"A":["x"]},"workers":{"B":"ann"}}', "expert 'B': workers.B has no answer"),
        ('{"id":"u","experts":{"A":["x"]},"workers":{"A":1.5}}', "expert 'A': workers.A is a number, the name of who"),
        ('{"id":"u","experts":{"A":["x"]},"workers":{"A":["ann"]}}', "workers.A is a list, the name of who answered"),
        (
            '{"id":"u","experts":{"A":["x"]},"workers":{"A":""}}',
            "workers.A is an empty string, the name of who answered",
        ),
        ("{'id':'u'}", "<stream>:1:2: not valid JSON: a key in double quotes is needed here"),
        ('{"id":"u","experts":{"A":["x"],}}', "not valid JSON: a"),
        ('{"id":"u","experts":{"A":["x",]}}', "not valid JSON: a"),
        (
            '{"id":"u" "experts":{"A":["x"]}}',
            "<stream>:1:11: not valid JSON: a string, a number or a bracket ends wrongly",
        ),
        ('{"id":"u\t","experts":{"A":["x"]}}', "<stream>:1:9: not valid JSON: invalid control character"),
        ('{"id":"u","experts":{"A":["\\x"]}}', "not valid JSON: invalid"),
        ('{"id":01,"experts":{"A":["x"]}}', "not valid JSON"),
        ('{"id":%s,"experts":{"A":["x"]}}' % ("1" * 5000), "a number has too many digits"),
    ],
)
def test_each_fault_has_its_sentence(line, said):
    message = refused(line)
    assert message.startswith("<stream>:1")
    assert said in message
    assert "comma" not in message or "add" not in message


def test_texts_after_lists_in_a_later_line():
    many = [record(i) for i in range(300)]
    message = refused(*many, {"id": "t", "experts": {"B": "y"}})
    assert message.startswith("<stream>:301: record 't': expert 'B': texts and lists of tokens are mixed")
    assert message.endswith("the answers before it are lists; use one of the two")


def test_the_first_fault_of_the_file_is_named():
    assert refused(record(1), record(2, gold=[1]), "{").startswith("<stream>:2: record 2")


def test_records_of_null_only_are_fine():
    X = read({"id": 1, "experts": {"A": None}}, {"id": 2, "experts": {"A": "x", "B": None}})
    assert (X.names, X["A"], X["B"], X.unit) == (("A", "B"), [None, "x"], [None, None], "char")
    assert read({"id": 1, "experts": {"A": None}}).present.tolist() == [[False]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read({"id": 1, "experts": {"A": ""}, "confidences": {"A": []}}).present.tolist() == [[True]]


def test_kept_keys():
    assert read(record(x=1), record("u2"), keep=["x"]).fields == ({"x": 1}, {})
    with pytest.warns(DataWarning, match="no record has the key to keep 'y'"):
        read(record(x=1), keep=["x", "y"])
    assert read(record(x=1)).fields is None


def test_workers_of_every_batch_stay_with_their_answers():
    rows = [{"id": i, "experts": {"B": ["x"]}, "workers": {"B": i % 3}} for i in range(300)]
    rows += [record("late", workers={"A": "ann", "B": None}), record("none"), record("null", workers=None)]
    X = read(*rows)
    assert X.workers.shape == (303, 2)
    assert X.workers[:300].tolist() == [[None, str(i % 3)] for i in range(300)]  # numbers are names too
    assert X.workers[300:].tolist() == [["ann", None], [None, None], [None, None]]
    assert X.select(["B"])[[2, 300]].workers.tolist() == [["2"], [None]]
    assert read(*rows, experts=["A", "B"], casefold=True).workers.tolist() == X.workers.tolist()
    parts = iter_records(io.BytesIO("\n".join(map(json.dumps, rows)).encode()), batch_size=150, experts=["B", "A"])
    assert [part.workers is None for part in parts] == [False, False, False]
    assert read(record()).workers is None
    assert read(*rows[-3:], keep=["workers"]).fields[0] == {"workers": {"A": "ann", "B": None}}  # what combine writes


def test_one_null_in_confidences_is_unknown():
    X = read({"id": 1, "experts": {"A": "abc"}, "confidences": {"A": [1, None, 0]}})
    np.testing.assert_array_equal(X.confidence, [1, np.nan, 0])


def test_select_and_slices_of_a_batch():
    X = read(record("a"), record("b"), record("c"))
    assert isinstance(X.select(["B"]), RecordBatch)
    assert X[1:].lines.tolist() == [2, 3]
    assert X[np.array([True, False, True])].lines.tolist() == [1, 3]
    assert X[-1].lines.tolist() == [3]
    assert X.add("Z", [["z"]] * 3)["Z"] == [["z"]] * 3
