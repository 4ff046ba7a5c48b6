"""Output: rendered batches, files that appear whole or not at all, links, signals, compression."""

import errno
import gzip
import io
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from structens.core import Alphabet, DataError, ParameterError, Ragged
from structens.io import atomic_output, check_kept, iter_records, render_batch, write_predictions


def strict(data):
    def constant(text):
        raise AssertionError(f"{text} in the output")

    return [json.loads(line, parse_constant=constant) for line in data.decode("utf-8").splitlines()]


LABELS = ("a", "b", "\u00e9", "e\u0301", "\U0001f378", '"', "\\", "\n", "\u2028", "x\u0302\u0301")


@given(st.data())
def test_rendered_lines_say_what_was_given(data):
    rows = data.draw(st.lists(st.lists(st.integers(0, len(LABELS) - 1), max_size=5), min_size=1, max_size=4))
    unit = data.draw(st.sampled_from(["token", "char", "word", "line"]))
    p = data.draw(st.sampled_from([1, 3, 16, 17, 64, 65, 130]))
    names = [f"n\u00e9 {j}" for j in range(p)]
    prediction = Ragged.of(rows)
    n_units = len(prediction.values)
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    confidence, support = rng.random(n_units), rng.random((n_units, p)) < 0.5
    fields = data.draw(st.sampled_from([None, [{"x": [1, {"y": None}], "z": "\u00e9"}] * len(rows)]))
    present = rng.random(len(rows)) < 0.7
    ids = [i if i % 2 else f"id {i}" for i in range(len(rows))]
    alphabet = Alphabet(LABELS if data.draw(st.booleans()) or unit != "char" else tuple("0123456789"))
    out = render_batch(prediction, alphabet, unit, ids, confidence, support, names, fields, present)
    got = strict(out.replace("\u2028".encode(), b"LS"))
    assert [list(line)[:4] for line in got] == [["id", "prediction", "confidence", "experts"]] * len(rows)
    separator = {"char": "", "word": " ", "line": "\n"}.get(unit)
    for i, line in enumerate(got):
        a, b = prediction.offsets[i : i + 2]
        labels = [alphabet.labels[code].replace("\u2028", "LS") for code in rows[i]]
        answer = labels if separator is None else separator.join(labels)
        assert line["id"] == ids[i]
        assert line["prediction"] == (answer if present[i] else None)
        assert line["confidence"] == [round(float(c), 6) for c in confidence[a:b]]
        assert line["experts"] == [[name for name, s in zip(names, row, strict=True) if s] for row in support[a:b]]
        assert {k: line[k] for k in line if k in ("x", "z")} == (fields[i] if fields else {})
    if p <= 64:
        weights = np.left_shift(np.uint64(1), np.arange(p, dtype=np.uint64))
        bits = (support * weights).sum(axis=1, dtype=np.uint64)
        assert out == render_batch(prediction, alphabet, unit, ids, confidence, bits, names, fields, present)


def render_one(**changes):
    given_ = {
        "prediction": Ragged.of([[0]]),
        "alphabet": Alphabet(("a",)),
        "unit": "char",
        "ids": ["u"],
        "confidence": np.array([0.5]),
        "support": np.array([[True]]),
        "names": ["A"],
    }
    return render_batch(**{**given_, **changes})


def test_no_nan_and_strict_utf8():
    assert strict(render_one(confidence=np.array([np.nan])))[0]["confidence"] == [None]
    assert strict(render_one(confidence=np.array([2 / 3])))[0]["confidence"] == [0.666667]
    with pytest.raises(DataError, match="cannot be written as JSON"):
        render_one(alphabet=Alphabet(("\ud83d",)))
    with pytest.raises(DataError, match="an expert's name cannot be written"):
        render_one(names=["\ud83d"])
    with pytest.raises(
        DataError, match="2 ids, 1 confidences and 1 rows of support do not fit 1 predictions of 1 units"
    ):
        render_one(ids=["a", "b"])
    with pytest.raises(DataError, match="does not fit 2 experts"):
        render_one(names=["A", "B"])
    with pytest.raises(ParameterError, match="the key 'confidence' cannot be kept"):
        render_one(fields=[{"confidence": 1}])
    check_kept(["gold", "input"])
    with pytest.raises(ParameterError, match="the key 'experts' cannot be kept"):
        check_kept(["experts"])


def test_rows_may_be_mappings(tmp_path):
    row = {
        "id": 1,
        "prediction": "\u00e9",
        "confidence": np.array([1 / 3, np.inf]),
        "n": np.int64(3),
        "t": (True, None),
    }
    path = tmp_path / "o.jsonl"
    n = write_predictions(path, [row, b'{"id":2}\n'])
    assert (
        path.read_bytes()
        == '{"id":1,"prediction":"\u00e9","confidence":[0.333333,null],"n":3,"t":[true,null]}\n{"id":2}\n'.encode()
    )
    assert n == path.stat().st_size
    with pytest.raises(DataError, match="cannot be written as JSON"):
        write_predictions(path, [{"id": object()}])
    assert n == path.stat().st_size


def test_standard_output(monkeypatch, capsysbinary):
    write_predictions("-", [{"id": "\u00e9"}])
    assert capsysbinary.readouterr().out == '{"id":"\u00e9"}\n'.encode()
    text = io.StringIO()
    monkeypatch.setattr(sys, "stdout", text)
    with atomic_output("-") as out:
        for byte in '{"id":"\u00e9"}'.encode():
            out.write(bytes([byte]))
    assert text.getvalue() == '{"id":"\u00e9"}'

    class Closed:
        def write(self, data):
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

        def flush(self):
            pass

    monkeypatch.setattr(sys, "stdout", types.SimpleNamespace(buffer=Closed(), flush=lambda: None))
    with pytest.raises(BrokenPipeError):
        write_predictions("-", [b"x"])


def listing(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError, DataError, GeneratorExit])
def test_an_error_leaves_the_old_file(tmp_path, error):  # CLI-02
    path = tmp_path / "out.jsonl"
    path.write_text("old")

    def rows():
        yield b"new\n" * 100_000
        raise error("stop")

    with pytest.raises(error):
        write_predictions(path, rows())
    assert (path.read_text(), listing(tmp_path)) == ("old", ["out.jsonl"])
    with pytest.raises(error):
        write_predictions(tmp_path / "none.gz", rows())
    assert listing(tmp_path) == ["out.jsonl"]


PROGRAM = """
import signal, sys, time
from structens.io import write_predictions
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts background jobs with it ignored
def rows():
    while True:
        yield b"new" * 1000
        print("ready", flush=True)
        time.sleep(0.05)
write_predictions(sys.argv[1], rows())
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_leave_the_old_file(tmp_path, number):  # CLI-02
    path = tmp_path / "out.jsonl"
    path.write_text("old")
    child = subprocess.Popen([sys.executable, "-c", PROGRAM, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert child.stdout.readline() == b"ready\n"
        assert len(listing(tmp_path)) == 2
        time.sleep(0.01)
        child.send_signal(number)
        assert child.wait(timeout=60) != 0
    finally:
        child.kill()
        child.stdout.close()
        child.wait()
    assert (path.read_text(), listing(tmp_path)) == ("old", ["out.jsonl"])


def test_output_may_be_the_input(tmp_path):  # CLI-03
    def lines(n):
        return b"".join(b'{"id":%d,"experts":{"A":["x"]}}\n' % i for i in range(n))

    for kind in ("same", "symbolic", "hard"):
        folder = tmp_path / kind
        folder.mkdir()
        source, output = folder / "e.jsonl", folder / "link.jsonl"
        source.write_bytes(lines(500))
        if kind == "symbolic":
            output.symlink_to("e.jsonl")
        elif kind == "hard":
            os.link(source, output)
        else:
            output = source
        write_predictions(
            output, ({"id": ident} for batch in iter_records(source, batch_size=10) for ident in batch.ids)
        )
        assert len(output.read_bytes().splitlines()) == 500
        assert source.read_bytes() == (lines(500) if kind == "hard" else output.read_bytes())
        assert output.is_symlink() == (kind == "symbolic")
        assert len(listing(folder)) == (1 if kind == "same" else 2)


def test_compression_by_name_with_the_same_bytes(tmp_path):
    rows = [b'{"id":1}\n', b'{"id":2}\n']
    for name, unpack in (
        ("o.jsonl.gz", gzip.decompress),
        ("o.zst", lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data)),
    ):
        write_predictions(tmp_path / name, rows)
        write_predictions(tmp_path / f"other.{name}", rows)
        data = (tmp_path / name).read_bytes()
        assert unpack(data) == b"".join(rows)
        assert data == (tmp_path / f"other.{name}").read_bytes()
        assert name.encode() not in data
    assert (tmp_path / "o.jsonl.gz").read_bytes()[4:8] == bytes(4)


def test_what_cannot_be_written_is_named(tmp_path):
    for path in (tmp_path, tmp_path / "none" / "o.jsonl", tmp_path / ("x" * 300), "a\0b"):
        with pytest.raises(DataError, match=r"cannot be written: "):
            write_predictions(path, [b"x"])
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    with pytest.raises(DataError, match=r"loop/x: cannot be written"), atomic_output(loop / "x"):
        pass
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(DataError, match=r"cannot be written"):
        write_predictions(file / "o", [b"x"])
    assert listing(tmp_path) == ["file", "loop"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the device that is always full")
def test_a_full_disk_and_devices(tmp_path):
    with pytest.raises(DataError, match="/dev/full: cannot be written: no space left"):
        write_predictions("/dev/full", [b"x" * 100_000])
    with pytest.raises(DataError, match="/dev/full: cannot be written: no space left"):
        write_predictions("/dev/full", [b"x"])
    assert write_predictions(os.devnull, [b"x"]) == 1
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_permissions(tmp_path):
    path = tmp_path / "o"
    write_predictions(path, [b"x"])
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o600)
    write_predictions(path, [b"y"])
    assert (stat.S_IMODE(path.stat().st_mode), path.read_text()) == (0o600, "y")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_written_to_and_stays(tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        got = []
        reader = threading.Thread(target=lambda got=got: got.append(pipe.read_bytes()))
        reader.start()
        write_predictions(path, [b"one", b"two"])
        reader.join(10)
        assert got == [b"onetwo"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert listing(tmp_path) == ["link", "pipe"]


@pytest.mark.skipif(not os.path.exists("/dev/fd/1"), reason="needs /dev/fd")
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_by_name(tmp_path, name):
    """Into a pipe, and behind what a file holds already."""
    if not os.path.exists(name):
        pytest.skip(f"there is no {name}")
    code = f"from structens.io import write_predictions as w; print('a'); w({name!r}, [b'b']); print('c')"
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert piped.stdout == b"a\nbc\n"
    path = tmp_path / "o"
    path.write_text("old\n")
    with path.open("a") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True, timeout=60)
    assert path.read_text() == "old\na\nbc\n"
    assert listing(tmp_path) == ["o"]
