"""The model file: the same bytes for the same model, no code on opening, one sentence for each kind of wrong file."""

import gzip
import hashlib
import io
import json
import pickle
import random
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from structens.core import DataError, ModelError
from structens.io import FORMAT_VERSION, read_model, write_model

HEADER = {
    "kind": "vote",
    "labels": ["K", "\u00e9"],
    "names": ["a", "b"],
    "parameters": {"beta": 0.1, "x": None},
    "seed": 0,
}
ARRAYS = {
    "weights": np.array([1 / 3, np.inf, -0.0, np.nan, 5e-324]),
    "table/of \u00e9": np.arange(6, dtype=np.int32).reshape(2, 3),
    "empty": np.zeros((0, 4)),
    "flag": np.array(True),
    "words": np.array(["ab", "\u00e9"]),
    "columns": np.asfortranarray(np.arange(4.0).reshape(2, 2)),
    "big": np.arange(3, dtype=">i8"),
}


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.structens"
    write_model(path, HEADER, ARRAYS)
    return path


def test_round_trip(model):
    header, arrays = read_model(model)
    assert {key: header[key] for key in HEADER} == HEADER
    assert (header["format"], header["format_version"]) == ("structens", FORMAT_VERSION)
    assert header["package_version"]
    assert set(arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype.newbyteorder("<")
        assert arrays[name].astype(array.dtype).tobytes() == np.ascontiguousarray(array).reshape(array.shape).tobytes()
        assert arrays[name].shape == array.shape
        assert arrays[name].flags.writeable


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=("Cs",)), max_size=5),
        hnp.arrays(
            st.sampled_from(["<f8", "<i4", "?", "<u8", "<U3"]), hnp.array_shapes(min_dims=0, min_side=0, max_side=3)
        ),
        max_size=4,
    )
)
def test_any_arrays_come_back(tmp_path_factory, arrays):
    path = tmp_path_factory.mktemp("m") / "m"
    write_model(path, {}, arrays)
    back = read_model(path)[1]
    assert {k: (v.shape, v.dtype, v.tobytes()) for k, v in back.items()} == {
        k: (v.shape, v.dtype, v.tobytes()) for k, v in arrays.items()
    }


def test_the_same_model_has_the_same_bytes(model, tmp_path):  # CLI-14
    other = tmp_path / "elsewhere" / "n.structens"
    other.parent.mkdir()
    write_model(other, dict(reversed(HEADER.items())), dict(reversed(ARRAYS.items())))
    data = model.read_bytes()
    assert other.read_bytes() == data
    assert str(tmp_path).encode() not in data
    with zipfile.ZipFile(model) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.testzip() is None


def test_what_a_model_cannot_hold(tmp_path):
    path = tmp_path / "m"
    with pytest.raises(ModelError, match="array 'x' has dtype object; a model holds numbers and strings, no objects"):
        write_model(path, {}, {"x": np.array([{}], dtype=object)})
    for value in (float("nan"), object(), {1: {2}}):
        with pytest.raises(ModelError, match="the header of a model holds JSON values only"):
            write_model(path, {"parameters": value}, {})
    assert not path.exists()
    with pytest.raises(DataError, match="cannot be written"):
        write_model(tmp_path / "none" / "m", {}, {})


def sentence(path, data):
    path.write_bytes(data)
    with pytest.raises(ModelError) as caught:
        read_model(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


def test_wrong_files(tmp_path):  # BOOST-13
    path = tmp_path / "m"
    for protocol in range(2, 6):
        said = sentence(path, pickle.dumps([1, "os"], protocol=protocol))
        assert said == "not a structens model: it is a Python pickle, which is never opened"
    assert sentence(path, b'{"id": 1}\n') == "not a structens model: it is JSON; are the arguments in the wrong order?"
    assert sentence(path, b"") == "not a structens model: it is empty"
    for data in (b"text", gzip.compress(b"x"), b"\x93NUMPY", b"PK", b"\x80"):
        assert sentence(path, data) == "not a structens model: such a file begins with the bytes PK"
    buffer = io.BytesIO()
    np.savez(buffer, a=np.zeros(3))
    assert sentence(path, buffer.getvalue()).startswith("the file is cut short, or is not a structens model")
    with pytest.raises(DataError, match="cannot be read: there is no such file"):
        read_model(tmp_path / "none")


def test_cut_and_changed_files(model, tmp_path):
    data, path = model.read_bytes(), tmp_path / "changed"
    for size in [1, 3, 4, 10, *range(30, len(data), 97), len(data) - 1]:
        said = sentence(path, data[:size])
        assert said.startswith("the file is cut short" if size >= 4 else "not a structens model")
    chance = random.Random(0)
    for _ in range(300):
        changed = bytearray(data)
        changed[chance.randrange(4, len(data))] ^= 1 << chance.randrange(8)
        assert sentence(path, bytes(changed)).endswith("; get or make it again")
    assert "changed after it was written" in sentence(path, data.replace(b'"seed":0', b'"seed":1'))
    assert sentence(path, data + b"x").startswith("the file is cut short")


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("code of the file was run",))


def forged(members, header=None, compress=zipfile.ZIP_STORED):
    """A model with a right digest, as a stranger could make it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compress) as archive:
        if header is not None:
            archive.writestr("header.json", json.dumps(header) if isinstance(header, dict) else header)
        for name, data in members.items():
            archive.writestr(name, data)
        archive.comment = b"0" * 64
    body = buffer.getvalue()[:-64]
    return body + hashlib.sha256(body).hexdigest().encode()


def npy(array, **options):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, **options)
    return buffer.getvalue()


def test_files_of_strangers(tmp_path):
    path = tmp_path / "m"
    what = {"name": "x", "dtype": "<f8", "shape": [2]}
    head = {"format": "structens", "format_version": 1, "arrays": [what]}
    good = npy(np.zeros(2))
    path.write_bytes(forged({"array0000.npy": good}, head))
    assert read_model(path)[1]["x"].tolist() == [0, 0]
    huge = npy(np.zeros(2)).replace(b"(2,), }          ", b"(99999999999,), }")
    assert len(huge) == len(good)
    trap = npy(np.array([Trap()] * 2, dtype=object), allow_pickle=True)
    for data in (
        forged({"array0000.npy": trap}, {**head, "arrays": [{**what, "dtype": "|O"}]}),
        forged({"array0000.npy": huge}, {**head, "arrays": [{**what, "shape": [99999999999]}]}),
        forged({"array0000.npy": good}, {**head, "arrays": [{**what, "shape": [3]}]}),
        forged({"array0000.npy": good[:-1]}, head),
        forged({"array0000.npy": good, "more.npy": good}, head),
        forged({}, head),
        forged({"array0000.npy": npy(np.zeros(2, dtype="<f4"))}, head),
        forged({"array0000.npy": pickle.dumps(1)}, head),
        forged({"array0000.npy": bytes(1 << 20)}, head, zipfile.ZIP_DEFLATED),
        forged({"array0000.npy": good}, {**head, "arrays": 7}),
        forged({"array0000.npy": good}, {**head, "arrays": [[]]}),
        forged({"array0000.npy": good}, {**head, "format": "other"}),
        forged({"array0000.npy": good}, {**head, "format_version": "1"}),
        forged({"array0000.npy": good}, "[]"),
        forged({"array0000.npy": good}, "[" * 100_000),
        forged({"array0000.npy": good}),
    ):
        assert sentence(path, data).startswith("the file is damaged")


def test_newer_formats(model, tmp_path):
    newer = forged({}, {"format": "structens", "format_version": 2, "other": "things"})
    said = "the model has format version 2, this structens reads up to 1; install a newer structens"
    assert sentence(tmp_path / "n", newer) == said
    assert sentence(tmp_path / "n", newer[:-64] + b"9" * 64) == said
