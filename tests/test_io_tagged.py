"""Readers of sequences to tag: what they read, and the one sentence for each thing that they refuse."""

import contextlib
import gzip
import io
import json
import zipfile

import numpy as np
import pytest

from structens.core import DataError, ParameterError
from structens.io import read_conllu, read_feature_arrays, read_features, read_tagged


def refused(read, *args, **options):
    with pytest.raises(DataError) as caught:
        read(*args, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("read", [read_features, read_conllu, read_feature_arrays])
def test_empty_cut_and_missing_files_are_named(tmp_path, read):
    path = tmp_path / "s.file"
    assert refused(read, path) == f"{path}: cannot be read: there is no such file or directory"
    for content in (b"", b"\n\n", gzip.compress(b"")):
        path.write_bytes(content)
        said = refused(read, path)
        assert said.startswith((f"{path}: there are no ", f"{path}: the file is no npz archive; write it with"))
    path.write_bytes(gzip.compress(b"\n" * 90)[:-3])
    assert refused(read, path) == f"{path}: the gzip data is cut short; get the file again"


# ---- CoNLL-U


def word(ident, form="a", upos="X"):
    return f"{ident}\t{form}\t_\t{upos}\t_\t_\t_\t_\t_\t_\n"


def conllu(text, **options):
    return read_conllu(io.BytesIO(text.encode()), **options)


def test_conllu_sentences_words_and_labels(tmp_path):
    text = "# sent_id = s/1\n# text = x\n1-2" + word("", "ab")
    text += word(1) + word(2, "b", "Y") + word("2.1", "c") + "\n\n" + word(1, upos="_").replace("\n", "\r\n") + "\r\n"
    path = tmp_path / "a.conllu.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + text.encode() + b"\n" + word(1).rstrip("\n").encode()))
    read = read_tagged(path)
    assert read.ids == ("s/1", "2", "3")
    assert read.sequences == [["a", "b"], ["a"], ["a"]]
    assert read.gold == [["X", "Y"], None, ["X"]]
    assert read.lines.tolist() == [1, 9, 12]
    assert read_conllu(path, column="form").gold[0] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 a\n", "<stream>:1: the line has 1 columns, CoNLL-U has 10; columns are parted by one tab"),
        ("# sent_id = s\n" + word(1) + "# note\n", "<stream>:3: record 's': the line has 1 columns"),
        (word(1) + word(3), "<stream>:2: the word has ID '3', 2 comes next; count words from 1"),
        (word("x-y"), "<stream>:1: the word has ID 'x-y', 1 comes next"),
        ("# sent_id = s\n" + word(1, ""), "<stream>:2: record 's': the word is empty"),
        ("# sent_id = s\n" + word(1, "a", ""), "<stream>:2: record 's': UPOS is empty; write _ where there is none"),
        (
            "# sent_id = s\n" + word(1) + "\n# sent_id = s\n" + word(1),
            "<stream>:4: record 's': the id stands in line 1 too; each id may occur once",
        ),
        ("# only a comment\n", "<stream>: there are no sentences in the file; each word is a line of ten columns"),
        ("1-2" + word("")[1:] + "\n", "<stream>:1: the line has 9 columns"),
    ],
)
def test_conllu_refuses(text, said):
    assert refused(conllu, text).startswith(said)


def test_conllu_that_is_no_text():
    said = refused(read_conllu, io.BytesIO(word(1).encode() + b"2\t\xff"))
    assert said == "<stream>:2: byte 0xFF at byte offset 2 of the line is not UTF-8; save the file as UTF-8"
    with pytest.raises(ParameterError, match=r"column must be one of ID, FORM, .*; got 'POS'"):
        conllu(word(1), column="POS")


# ---- JSON Lines


def features(*rows, **options):
    text = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
    return read_features(io.BytesIO(text.encode()), **options)


def test_features_are_vectors_of_one_length():
    read = features({"id": "a", "features": []}, "", {"id": 2, "features": [[1, 0.5]], "gold": ["A"]})
    assert read.ids == ("a", 2)
    assert read.lines.tolist() == [1, 3]
    assert (len(read.sequences[0]), read.sequences[1].tolist()) == (0, [[1.0, 0.5]])
    assert read.gold == [None, ["A"]]
    assert read.has_gold.tolist() == [False, True]
    both = {"id": 1, "tokens": ["x"], "features": [[3]]}
    assert features(both).sequences == [["x"]]
    assert features(both, key="features").sequences[0].tolist() == [[3.0]]
    with pytest.raises(ParameterError, match="key must be tokens or features; got 'x'"):
        features(both, key="x")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"id": "b", "features": [[1]]}, "2: record 'b': features[0] has 1 numbers, those before have 2"),
        ({"id": "b", "features": [[1, 2], [3]]}, "2: record 'b': features[1] has 1 numbers, those before have 2"),
        ({"id": "b", "features": [[1, None]]}, "2: record 'b': features[0][1] is null, a number is needed"),
        ({"id": "b", "features": [[True, 1]]}, "2: record 'b': features[0][0] is true, a number is needed"),
        ({"id": "b", "features": [[]]}, "2: record 'b': features[0] is an empty list, a list of numbers is needed"),
        ({"id": "b", "features": [1]}, "2: record 'b': features[0] is a number, a list of numbers is needed"),
        ({"id": "b", "features": {}}, "2: record 'b': features is an object, a list is needed"),
        (
            {"id": "b", "tokens": ["x"]},
            '2: record \'b\': there is no key features; write {"id": ..., "features": [...]}',
        ),
        ('{"id":"b","features":[[NaN,1]]}', "2: record 'b': features[0][0] is NaN, a finite number is needed; "),
        ('{"id":"b","features":[[1e999,1]]}', "2: record 'b': features[0][0] is too large for a number"),
        ({"id": "b", "features": [[10**400, 1]]}, "2: record 'b': features holds a whole number too large for a float"),
        (
            {"id": "b", "features": [[1, 2]], "gold": ["A", "B"]},
            "2: record 'b': gold has 2 labels for 1 positions; give ",
        ),
        ({"id": "b", "features": [[1, 2]], "gold": "A"}, "2: record 'b': gold is a string, a list of labels is needed"),
        ({"id": "b", "features": [[1, 2]], "gold": [""]}, "2: record 'b': token gold[0] is empty"),
        ({"id": "a", "features": [[1, 2]]}, "2: record 'a': the id stands in line 1 too; each id may occur once"),
        ({"id": 1.5, "features": [[1, 2]]}, "2: id is a number with a fraction"),
        ({"features": [[1, 2]]}, '2: there is no id; give each record its own "id"'),
    ],
)
def test_features_refuse(line, said):
    assert refused(features, {"id": "a", "features": [[1, 2]]}, line).startswith(f"<stream>:{said}")


def test_tokens_and_folds_refuse():
    said = refused(features, {"id": "a", "tokens": ["x"]}, {"id": "b", "features": [[1]]})
    assert said.startswith("<stream>:2: record 'b': there is no key tokens")
    assert refused(features, {"id": "a", "tokens": "x y"}).endswith("a list is needed; cut it into words first")
    assert "there are no records in the file; each line is one object with id and tokens" in refused(features, "", " ")
    for value, rule in ((None, "there is no fold in 'part'"), ([1], "part is neither a text nor a whole number")):
        data = json.dumps({"id": "a", "tokens": ["x"], "part": value}).encode()
        said = refused(read_tagged, io.BytesIO(data), fold_field="part")
        assert said == f"<stream>:1: record 'a': {rule}; give each record one"
    with pytest.raises(ParameterError, match="CoNLL-U has no field of folds; give a number"):
        read_tagged(io.BytesIO(b""), format="conllu", fold_field="part")
    with pytest.raises(ParameterError, match="format must be one of auto, jsonl, conllu, npz; got 'csv'"):
        read_tagged(io.BytesIO(b""), format="csv")


# ---- npz


@pytest.fixture
def npz(tmp_path):
    """Reads an archive of two sequences of two positions, some of whose arrays are other ones, or None for left out."""

    def read(options=None, **changes):
        arrays = {
            "pixels": np.eye(4, dtype=np.uint8),
            "letters": np.arange(4),
            "offsets": np.array([0, 2, 4]),
        } | changes
        np.savez(tmp_path / "a.npz", **{key: value for key, value in arrays.items() if value is not None})
        return read_feature_arrays(tmp_path / "a.npz", **(options or {}))

    return read


def test_npz_arrays(npz, tmp_path):
    read = npz(ids=np.array(["u", "v"]), folds=np.array([1, 0]), offsets=np.array([0, 0, 4], np.uint16))
    assert (read.ids, [len(row) for row in read.sequences], read.folds.tolist()) == (("u", "v"), [0, 4], [1, 0])
    assert read.gold == [[], ["a", "b", "c", "d"]]
    assert npz(letters=None).gold == [None, None]
    assert npz(letters=np.array([0, 1, 2, 30])).gold == [["0", "1"], ["2", "30"]]
    assert npz({"labels": "wxyz"}).gold == [["w", "x"], ["y", "z"]]
    (tmp_path / "b.npz.gz").write_bytes(gzip.compress((tmp_path / "a.npz").read_bytes()))
    assert read_tagged(tmp_path / "b.npz.gz", id_format="w{:02d}").ids == ("w00", "w01")


FIT = "offsets must start at 0, never decrease and end at 4; sequence i is positions offsets[i] to offsets[i + 1]"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pixels": None}, "there is no array 'pixels'; there are letters, offsets"),
        ({"offsets": None}, "there is no array 'offsets'; there are letters, pixels"),
        ({"offsets": np.array([0, 3, 2, 4])}, FIT),
        ({"offsets": np.array([1, 2, 4])}, FIT),
        ({"offsets": np.array([0, 2, 5])}, FIT),
        ({"offsets": np.array([0])}, FIT),
        ({"offsets": np.array(4)}, "offsets is int64 of shape (), whole numbers of shape (sequences + 1,) are needed"),
        ({"offsets": np.array([0, np.nan, 4])}, "offsets is float64 of shape (3,), whole numbers"),
        ({"offsets": np.array(["a", "b"])}, "offsets is <U1 of shape (2,), whole numbers"),
        ({"pixels": np.ones(4)}, "pixels must be numbers of shape (positions, d); it has (4,)"),
        ({"pixels": np.array([["a"]] * 4)}, "pixels must be numbers of shape"),
        ({"pixels": np.array([[0, 1], [0, 1], [0, np.nan], [np.inf, 0]])}, "record '1': pixels[2, 1] is nan, a finite"),
        (
            {"pixels": np.array([[0.0], [np.inf], [0], [0]])},
            "record '0': pixels[1, 0] is inf, a finite number is needed",
        ),
        ({"letters": np.arange(3)}, "letters has shape (3,), one label for each of 4 positions is needed"),
        ({"letters": np.ones(4)}, "letters holds float64, labels are texts or codes"),
        ({"letters": np.array(["a", "", "b", "c"])}, "letters[1] is empty, no label is"),
        (
            {"ids": np.array(["u"])},
            "ids is <U1 of shape (1,), a text or whole number for each of 2 sequences is needed",
        ),
        ({"ids": np.array([1.0, 2.0])}, "ids is float64 of shape (2,), a text or whole number"),
        (
            {"ids": np.array(["u", "v", "v"]), "offsets": np.array([0, 1, 2, 4])},
            "record 'v': the id occurs twice; each id",
        ),
        ({"folds": np.arange(3)}, "folds has shape (3,), one for each of 2 sequences is needed"),
        (
            {"more": np.array([{}], object)},
            "the file holds an array of Python objects, which could run code; leave it out",
        ),
    ],
)
def test_npz_refuses(npz, tmp_path, changes, said):
    assert refused(npz, **changes).startswith(f"{tmp_path / 'a.npz'}: {said}")


def test_npz_options_that_do_not_fit(npz, tmp_path):
    assert "letters holds code 3, there are 3 labels" in refused(npz, {"labels": "abc"})
    assert "letters holds code -1" in refused(npz, {"labels": "abc"}, letters=np.array([-1, 0, 1, 2]))
    assert "float64, bits are unpacked from uint8 only" in refused(npz, {"unpack_bits": True}, pixels=np.ones((4, 2)))
    path = tmp_path / "a.npz"
    assert "there is no array 'folds'; give a number of folds" in refused(read_tagged, path, fold_field="folds")
    assert refused(read_tagged, "-", format="npz") == "an npz archive cannot be read from a pipe; name a file"
    for options in ({"fold_field": "part"}, {"id_format": "x"}, {"id_format": "{a}"}):
        with pytest.raises(ParameterError, match=next(iter(options))):
            read_tagged(path, **options)


def test_files_that_are_no_npz(tmp_path):
    path = tmp_path / "a.npz"
    np.save(tmp_path / "b.npy", np.ones(3))
    path.write_bytes((tmp_path / "b.npy").read_bytes())
    assert "the file is one array, no archive of several; write it with numpy.savez" in refused(
        read_feature_arrays, path
    )
    np.savez(path, pixels=np.eye(4), offsets=np.array([0, 4]))
    path.write_bytes(path.read_bytes().replace(b"}", b" "))  # a header without end, which is read before its checksum
    assert "the npz archive is cut or damaged" in refused(read_feature_arrays, path)
    np.savez_compressed(path, offsets=np.array([0, 4]))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("pixels", "a file of another kind")
    assert "there is no array 'pixels'; there are offsets" in refused(read_feature_arrays, path)
    np.savez_compressed(path, pixels=np.eye(4), offsets=np.array([0, 4]))
    whole = path.read_bytes()
    for k in range(0, len(whole), 5):
        path.write_bytes(whole[:k])
        said = refused(read_feature_arrays, path)
        assert "no npz archive" in said or "is cut or damaged" in said
        path.write_bytes(whole[:k] + bytes([whole[k] ^ 255]) + whole[k + 1 :])
        with contextlib.suppress(DataError):  # no damage is more than a refusal, or other numbers
            read_feature_arrays(path)
