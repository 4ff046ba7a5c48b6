"""The command line: exit statuses, what is said where, and the same answers whatever does not matter."""

import gzip
import json
import os
import random
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import zstandard
from case_adapter import CHECKS, FILE, Case
from cases_process import on_a_terminal
from run_cli import COMMAND, GREEK, environment, lines, put, records, run, run_process, strict

import structens
from structens.cli import console, main
from structens.core.units import cut
from structens.ensembles import METHODS
from structens.ensembles.methods import unused


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Every test runs in an empty folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "args",
    [
        "combine e.jsonl --method nope",
        "combine e.jsonl --unit nope",
        "combine e.jsonl --align nope",
        "combine e.jsonl --normalize nope",
        "combine e.jsonl --tie nope --method vote",
        "combine e.jsonl --ties nope",
        "combine e.jsonl --use-confidence nope --method best",
        "combine e.jsonl --beta 0",
        "combine e.jsonl --beta nan",
        "combine e.jsonl --beta nope",
        "combine e.jsonl --delta 0",
        "combine e.jsonl --alpha 2 --method rover",
        "combine e.jsonl --null-confidence nan --method rover",
        "combine e.jsonl --experts alpha,alpha",
        "combine e.jsonl --experts ,",
        "combine e.jsonl --keep id",
        "combine e.jsonl -m m.structens --method vote",
        "combine e.jsonl -m m.structens --table",
        "fit e.jsonl -o m.structens --method nope",
        "fit e.jsonl -o -",
        "evaluate e.jsonl --format nope",
        "evaluate e.jsonl --methods nope",
        "evaluate e.jsonl --compare alpha",
        "evaluate e.jsonl --loss nope",
        "evaluate e.jsonl --n-resamples 0",
        "evaluate - --gold -",
    ],
)
def test_wrong_values_of_options_are_wrong_usage(args):
    put(n=4)
    said = run(*args.split()).refused(code=2)
    assert "Traceback" not in said
    assert os.listdir() == ["e.jsonl"]


@pytest.mark.parametrize("args", ["combine e.jsonl --seed -1", "evaluate e.jsonl --seed -1", "fit e.jsonl", "combine"])
def test_usage_errors_show_the_usage(args):
    put(n=4)
    result = run(*args.split())
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("Usage: structens")


def test_data_on_standard_output_and_words_on_standard_error():
    put()
    result = run("combine", "e.jsonl", "--table")
    assert [row["id"] for row in result.rows] == [f"r{k}" for k in range(40)]
    assert result.rows[0].keys() == {"id", "prediction", "confidence", "confidence_record", "experts"}
    assert "H_MVote" in result.err
    assert " auto  " in result.err
    assert result.err.splitlines()[-2].startswith("auto took ")
    assert result.err.splitlines()[-1].startswith("combined 40 records of 4 experts by auto (took ")
    assert run("fit", "e.jsonl", "-o", "m.structens").out == ""
    assert run("combine", "e.jsonl", "-m", "m.structens", "-o", "out.jsonl").out == ""
    assert run("evaluate", "e.jsonl").err == ""


def test_quiet_runs_say_nothing():
    put()
    quick = ["--method", "mvote"]
    for args in (["combine", "e.jsonl"], ["fit", "e.jsonl", "-o", "m", *quick], ["evaluate", "e.jsonl"]):
        assert run(*args, "-q").err == ""


def test_summary_as_json():
    put()
    to_file, to_output = run("combine", "e.jsonl", "-o", "o.jsonl", "--json"), run("combine", "e.jsonl", "--json")
    summary = to_file.json
    assert to_file.err == ""
    assert strict(to_output.err) == {**summary, "output": None}
    assert to_output.out == Path("o.jsonl").read_text()
    assert (summary["records"], summary["experts"], summary["learnt_from"]) == (40, 4, 40)
    assert (summary["method"], summary["output"], summary["absent"]) == ("auto", "o.jsonl", {})
    assert summary["explanation"].startswith(summary["took"])
    assert run("combine", "e.jsonl", "-o", "o.jsonl", "--json", "--method", "mvote").json["tie"] == "expert"
    assert run("fit", "e.jsonl", "-o", "m", "--json", "--method", "best").json["expert"] == "alpha"


def test_an_error_late_in_the_file_leaves_the_old_output():
    put(n=5000)
    assert run("fit", "e.jsonl", "-o", "m.structens", "-q", "--beta", "0.9").code == 0
    Path("e.jsonl").write_text(Path("e.jsonl").read_text() + '{"id": "bad"}\n')
    for name in ("out.jsonl", "out.jsonl.gz"):
        for old in (None, b"old"):
            if old:
                Path(name).write_bytes(old)
            for options in (["-m", "m.structens"], ["--method", "vote"]):
                run("combine", "e.jsonl", "-o", name, *options).refused(
                    "e.jsonl:5001: record 'bad': there is no key experts"
                )
            assert (Path(name).read_bytes() if old else None) == old
    assert sorted(os.listdir()) == ["e.jsonl", "m.structens", "out.jsonl", "out.jsonl.gz"]


def test_errors_of_the_program_are_not_hidden(monkeypatch):
    put(n=4)

    def broken(*args, **options):
        raise error

    monkeypatch.setattr("structens.cli.job.learnt", broken)
    error = ValueError("a mistake of the programmers")
    with pytest.raises(ValueError, match="of the programmers"):
        run("combine", "e.jsonl")
    error = MemoryError()
    run("combine", "e.jsonl").refused("out of memory; combine a long file with a model (-m)")
    error = KeyboardInterrupt()
    run("combine", "e.jsonl").refused("interrupted", code=130)
    error = BrokenPipeError()
    assert run("combine", "e.jsonl").err == ""


def test_the_installed_command_is_main():
    (found,) = entry_points(group="console_scripts", name="structens")
    assert found.load() is main.main
    assert run("--version").out == f"structens {structens.__version__}\n"


@pytest.mark.cli
@pytest.mark.skipif(os.name != "posix", reason="pipes, devices and the shell of a POSIX system")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_standard_output_that_fails(unbuffered):
    put(n=3000, uneven=False)
    env = environment(PYTHONUNBUFFERED=unbuffered)
    vote = ["combine", "e.jsonl", "--method", "vote", "-q"]
    first = subprocess.Popen([*COMMAND, *vote], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    assert first.stdout.readline().startswith(b'{"id":"r0"')
    first.stdout.close()  # as `| head -1` does
    assert first.stderr.read() == b""
    first.stderr.close()
    assert first.wait(60) == 1
    table = ["evaluate", "e.jsonl", "--methods", "", "-q"]
    closed = "cannot be written: bad file descriptor"
    full = "<stdout>: cannot be written: no space left on device"
    redirected = [(vote, ">&-", closed)]
    if Path("/dev/full").exists():
        redirected = [(vote, ">/dev/full", full)] if unbuffered else [*redirected, (table, ">/dev/full", full)]
    for args, where, said in redirected:
        result = run_process(*args, command=["sh", "-c", f'"$0" -m structens "$@" {where}', sys.executable], env=env)
        result.refused(said)


@pytest.mark.cli
def test_output_is_utf8_whatever_the_platform():
    put("pair.jsonl", [{"id": "\u00fc", "gold": "\u0436", "prediction": "\u00e9"}])
    env = environment(PYTHONIOENCODING="latin-1", LC_ALL="C")
    result = run_process("evaluate", "pair.jsonl", "--per-record", "--alignment", env=env)
    assert result.rows[0]["alignment"] == [["sub", "\u0436", "\u00e9"]]


@pytest.mark.cli
@pytest.mark.skipif(os.name != "posix", reason="a terminal is made with pty")
def test_progress_is_drawn_on_a_terminal_only(monkeypatch):
    put(n=4)
    assert b"methods" in on_a_terminal(["evaluate", "e.jsonl", "--methods", "vote"])
    assert "\x1b" not in run("evaluate", "e.jsonl").err
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    assert console.is_terminal()
    assert not console.is_terminal(quiet=True)
    monkeypatch.setenv("TERM", "dumb")
    assert not console.is_terminal()


SLOW = ("boosted-paths", "deep-esp-boost")  # texts of the first are among those of auto


@pytest.mark.parametrize(
    ("method", "kind"), [*((m, "tokens") for m in METHODS), *((m, "texts") for m in METHODS if m not in SLOW)]
)
def test_a_model_answers_as_a_run_without_one(method, kind):
    put(kind=kind)
    options = ["--method", method, "--casefold", "--seed", "5"]
    for name, value in (("tie", "position"), ("ties", "random")):
        options += [] if unused(method, name, {}) else [f"--{name}", value]
    without = run("combine", "e.jsonl", *options)
    assert run("fit", "e.jsonl", "-o", "m.structens", *options).code == 0
    with_model = run("combine", "e.jsonl", "-m", "m.structens")
    assert (with_model.code, with_model.out) == (0, without.out)
    assert with_model.err.splitlines()[-1].startswith(f"combined 40 records of 4 experts by {METHODS[method][0]}")


def test_a_model_remembers_how_records_were_read():
    made = records(30, kind="texts")
    put(made=made)
    assert run("fit", "e.jsonl", "-o", "m.structens", "--unit", "word", "--strip-punct", "--method", "mvote").code == 0
    result = run("combine", "e.jsonl", "-m", "m.structens")
    for row in result.rows:
        assert len(row["confidence"]) == len(row["experts"]) == len(cut(row["prediction"], "word"))


@pytest.mark.parametrize("method", METHODS)
def test_order_of_experts_and_keys_decides_nothing(method):
    made, chance = records(), random.Random(1)
    put(made=made)
    expected = run("combine", "e.jsonl", "--method", method).out
    for _ in range(2):
        shuffled = []
        for record in made:
            names = chance.sample(GREEK, 4)
            keys = chance.sample([*record], len(record))
            mixed = {**record, "experts": {name: record["experts"][name] for name in names}}
            shuffled.append({key: mixed[key] for key in keys})
        put("s.jsonl", shuffled)
        assert run("combine", "s.jsonl", "--method", method).out == expected


@pytest.mark.parametrize("method", ["vote", "rover", "best"])
def test_order_of_records_decides_nothing(method):
    made = records()
    put(made=made)
    put("s.jsonl", made[::-1])
    rows = run("combine", "e.jsonl", "--method", method).rows
    assert run("combine", "s.jsonl", "--method", method).rows == rows[::-1]


def test_standard_input_and_compressed_files():
    text = lines(*records()).encode()
    put()
    expected = run("combine", "e.jsonl", "--method", "vote").out
    for data in (
        text,
        gzip.compress(text),
        zstandard.compress(text),
        text.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + text,
    ):
        assert run("combine", "-", "--method", "vote", stdin=data).out == expected
    run("fit", "e.jsonl", "-o", "m.structens", "--method", "vote")
    assert run("combine", "-", "-m", "m.structens", stdin=text).out == expected
    for name, opened in (("o.jsonl.gz", gzip.decompress), ("o.jsonl.zst", zstandard.ZstdDecompressor().decompress)):
        assert run("combine", "-", "--method", "vote", "-o", name, stdin=text).code == 0
        data = Path(name).read_bytes()
        assert (opened(data) if name.endswith("gz") else opened(data, max_output_size=10**6)) == expected.encode()
    tables = [run("evaluate", "-", "--json", stdin=text), run("evaluate", "e.jsonl", "--json")]
    assert tables[0].out == tables[1].out


def test_experts_of_a_model():
    put()
    assert run("fit", "e.jsonl", "-o", "m.structens", "--experts", "beta,alpha,gamma").code == 0
    new = {"id": 1, "experts": {"alpha": ["a"], "omega": ["b"]}}
    run("combine", "-", "-m", "m.structens", stdin=lines(new).encode()).refused(
        "<stdin>:1", "record 1", "expert 'omega'"
    )
    fewer = run("combine", "-", "-m", "m.structens", stdin=lines({"id": 1, "experts": {"gamma": ["a", "b"]}}).encode())
    assert fewer.answers == {1: ["a", "b"]}
    assert min(fewer.rows[0]["confidence"]) > 0.99
    assert "answers missing, which do not vote: alpha 1, beta 1" in fewer.err
    nobody = run("combine", "-", "-m", "m.structens", stdin=lines({"id": 1, "experts": {"gamma": None}}).encode())
    silent = {"id": 1, "prediction": None, "confidence": [], "confidence_record": None, "experts": []}
    assert nobody.rows == [silent]


def test_models_that_cannot_be_used():
    put()
    run("combine", "e.jsonl", "-m", "none.structens").refused("none.structens: there is no such model file")
    Path("bad.structens").write_text("{}")
    run("combine", "e.jsonl", "-m", "bad.structens").refused("bad.structens: not a structens model: it is JSON")
    run("fit", "e.jsonl", "-o", "m.structens", "--method", "mvote")
    Path("cut.structens").write_bytes(Path("m.structens").read_bytes()[:-9])
    run("combine", "e.jsonl", "-m", "cut.structens").refused("cut.structens: the file is cut short")


if not FILE.exists():  # the checks of the cases that need no case file run all the same
    VALUES = {
        "CLI-02": {"exit_sigint": 130, "leftover_files": 0},
        "CLI-03": {},
        "CLI-05": {"escape_bytes": 0},
        "CLI-09": {"seconds_max": 1.0},
        "CLI-11": {"exit": 0},
        "CLI-12": {"connections": 0},
        "CLI-14": {"distinct_outputs": 1},
    }

    @pytest.mark.cli
    @pytest.mark.parametrize("ident", VALUES)
    def test_checks_of_cases_without_the_file(ident):
        CHECKS[ident](Case({"id": ident, "family": "7-cli", "input": {}, "expected": {"values": VALUES[ident]}}))


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs /dev/stdout")
def test_standard_output_by_its_other_name(folder):
    put()
    done = run_process("combine", "e.jsonl", "-o", "/dev/stdout", "--method", "vote", "--json")
    assert (done.code, len(done.rows)) == (0, 40)
    assert json.loads(done.err)["output"] is None
    assert run("combine", "e.jsonl", "-o", os.devnull, "--method", "vote").code == 0
