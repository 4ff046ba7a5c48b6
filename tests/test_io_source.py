"""Sources: plain, gzip and zstd by content, concatenated, cut; standard input; lines and memory."""

import gzip
import io
import sys
import tracemalloc
import types

import pytest
import zstandard

from structens.core import DataError
from structens.io import iter_records, read_lines, read_records

U1 = b'{"id":"u1","experts":{"A":["x"]}}\n'
U2 = b'{"id":"u2","experts":{"A":["y"]}}\n'


def zstd(data):
    return zstandard.ZstdCompressor().compress(data)


def ids(data):
    return read_records(io.BytesIO(data)).ids


@pytest.mark.parametrize("name", ["experts.jsonl.gz", "experts.jsonl", "experts.zst"])
@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(U1) + gzip.compress(U2),
        gzip.compress(U1 + U2) + b"\0" * 7,
        gzip.compress(U1) + gzip.compress(b"") + gzip.compress(U2),
        zstd(U1) + zstd(U2),
        b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + zstd(U1) + b"\x5f\x2a\x4d\x18\x00\x00\x00\x00" + zstd(U2),
        U1 + U2,
    ],
    ids=["members", "padded", "empty-member", "frames", "skippable", "plain"],  # gzip writes the time into the bytes
)
def test_compression_is_recognised_by_content(tmp_path, monkeypatch, name, data):  # PARSE-12
    path = tmp_path / name
    path.write_bytes(data)
    assert read_records(path).ids == ("u1", "u2")
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(data)))
    assert read_records("-").ids == ("u1", "u2")


@pytest.mark.parametrize("compress", [gzip.compress, zstd])
def test_cut_or_damaged_compression_is_refused(compress):
    whole = compress(U1 * 1) + compress(U2 * 1)
    n_first = len(compress(U1))
    read = 0
    for size in range(5, len(whole)):
        if size == n_first:
            continue
        with pytest.raises(DataError, match=r"<stream>: the (gzip|zstd) data is (cut short|damaged)"):
            ids(whole[:size])
        read += 1
    assert read > 50
    with pytest.raises(DataError, match="damaged"):
        ids(whole + b"xx123456")
    broken = bytearray(gzip.compress(U1 + U2))
    broken[-6] ^= 1
    with pytest.raises(DataError, match="damaged"):
        ids(bytes(broken))


def test_cut_gzip_names_the_file(tmp_path):
    path = tmp_path / "e.jsonl.gz"
    path.write_bytes(gzip.compress(U1 + U2)[:-9])
    with pytest.raises(DataError, match=r"e\.jsonl\.gz: the gzip data is cut short; get the file again"):
        read_records(path)


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none.jsonl: cannot be read: there is no such file or directory"):
        read_records(tmp_path / "none.jsonl")
    with pytest.raises(DataError, match="cannot be read: it is a directory"):
        read_records(tmp_path)
    with pytest.raises(DataError, match="cannot be read"):
        read_records("a\0b")
    with pytest.raises(DataError, match="cannot be read"):
        read_records("a" * 5000)

    class Broken(io.RawIOBase):
        def readable(self):
            return True

        def read(self, size=-1):
            raise OSError(5, "Input/output error")

    with pytest.raises(DataError, match="<stream>: cannot be read: input/output error"):
        read_records(Broken())


def test_closed_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataError, match="<stdin>: cannot be read: standard input is closed"):
        read_records("-")


def test_lines_keep_their_numbers_over_blocks(monkeypatch):
    import structens.io.source as source

    text = b"".join(b"%d\n" % k if k % 3 else b"\n" for k in range(1, 200)) + b"last"
    for size in (1, 2, 7, 64, 4096):
        monkeypatch.setattr(source, "_BLOCK", size)
        got = [(n + k, line) for n, group in read_lines(io.BytesIO(text)) for k, line in enumerate(group)]
        assert got == list(enumerate(text.split(b"\n"), 1))


def test_crlf_bom_and_no_last_line_feed():  # PARSE-02
    plain = read_records(io.BytesIO(U1 + U2))
    for data in (
        (U1 + U2).replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + U1 + U2.strip(),
        gzip.compress(b"\xef\xbb\xbf" + U1 + U2),
        b"\xef\xbb\xbf" + U1[:-1] + b"\r\n\r\n" + U2,
    ):
        other = read_records(io.BytesIO(data))
        assert (other.ids, other["A"]) == (plain.ids, plain["A"]) == (("u1", "u2"), [["x"], ["y"]])


class Endless(io.RawIOBase):
    """A stream of n records that exists nowhere as a whole."""

    def __init__(self, n):
        self.lines = (b'{"id":%d,"experts":{"A":["x","y"],"B":["x","z"]}}\n' % i for i in range(n))
        self.rest = b""

    def readable(self):
        return True

    def read(self, size=-1):
        while len(self.rest) < size and (line := next(self.lines, b"")):
            self.rest += line
        out, self.rest = self.rest[:size], self.rest[size:]
        return out


def peak(n, **options):
    tracemalloc.start()
    try:
        assert sum(len(batch) for batch in iter_records(Endless(n), **options)) == n
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_grows_with_the_batch_not_with_the_file(monkeypatch):
    import structens.io.source as source

    monkeypatch.setattr(source, "_BLOCK", 1 << 14)
    peak(300, batch_size=100)
    small, large = peak(1000, batch_size=100), peak(8000, batch_size=100)
    assert large - small < 7000 * 64, "at most the register of ids, 16 bytes a record and its merging"


def test_batches_are_bounded_by_bytes_and_records():
    sizes = [len(batch) for batch in iter_records(Endless(1000), batch_size=300)]
    assert sizes == [300, 300, 300, 100]
    few = [len(batch) for batch in iter_records(Endless(100), batch_bytes=500)]
    assert max(few) <= 12
    assert sum(few) == 100
    assert [len(batch) for batch in iter_records(Endless(10), batch_bytes=1)] == [1] * 10


def test_long_lines_and_tokens():  # PARSE-11
    tokens = [f"t{k % 50}" for k in range(1_000_000)]
    row = ('"' + '","'.join(tokens) + '"').encode()
    line = b'{"id":1,"experts":{"A":[' + row + b'],"B":[' + row + b"]}}\n"
    X = read_records(io.BytesIO(line + b'{"id":2,"experts":{"A":["' + b"x" * 1_000_000 + b'"]}}'))
    assert X.hypotheses.lengths.tolist() == [1_000_000, 1_000_000, 1, 0]
    assert max(map(len, X.alphabet.labels)) == 1_000_000
