"""Checks of the acceptance cases of family 7: the command line and the package."""

import ast
import ctypes
import importlib.metadata
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import pytest
from case_adapter import COMMANDS, check
from run_cli import COMMAND, environment, lines, run, run_process

ROOT = Path(__file__).resolve().parents[1]
RECORD = {"id": "u1", "gold": ["x"], "experts": {"A": ["x"], "B": ["y"], "C": ["x"]}}


def many(n):
    """Records of three experts, two of whom are right."""
    return lines(*({**RECORD, "id": k, "gold": [f"t{k % 50}"], "experts": said(k)} for k in range(n)))


def said(k):
    return {"A": [f"t{k % 50}"], "B": [f"t{k % 49}"], "C": [f"t{k % 50}"]}


def started(args, folder):
    """A command that reads standard input, in a folder of its own with an old output."""
    folder.mkdir()
    (folder / "out.jsonl").write_text("old")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    ignored = signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell may have it ignored, also for the command
    try:
        return subprocess.Popen([*COMMAND, *args], cwd=folder, **pipes)
    finally:
        signal.signal(signal.SIGINT, ignored)


def interrupted(process, number, folder, *, writes):
    """Send a signal while the command reads or, with `writes`, has begun to write; its exit status and output."""
    # more than a pipe holds: when it is gone, the command reads; and enough to fill what is written at once
    process.stdin.write(many(9_000 if writes else 2_000).encode())
    process.stdin.flush()
    end = time.monotonic() + 60
    while writes and not any(path.stat().st_size for path in folder.glob(".out*.tmp")):
        assert time.monotonic() < end
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err.decode()


@check("CLI-02")
def signals_leave_the_old_output(case):
    assert COMMANDS["train"] == "fit"
    Path("learn.jsonl").write_text(many(100))
    assert run("fit", "learn.jsonl", "-o", "m.structens", "-q", "--method", "mvote").code == 0
    model = str(Path("m.structens").resolve())
    status = {signal.SIGINT: case.values["exit_sigint"], signal.SIGTERM: 143}
    both, one, other = [signal.SIGINT, signal.SIGTERM], [signal.SIGINT], [signal.SIGTERM]
    for k, (args, numbers) in enumerate(
        ((["combine", "-", "-m", model], both), (["combine", "-"], one), (["fit", "-"], other))
    ):
        signals = {number: status[number] for number in numbers}
        folders = {number: Path(f"{k}-{number}") for number in signals}
        running = {number: started([*args, "-o", "out.jsonl"], folder) for number, folder in folders.items()}
        for number, expected in signals.items():
            code, out, err = interrupted(running[number], number, folders[number], writes="-m" in args)
            assert (code, out) == (expected, b"")
            assert err == "structens: interrupted; no output file was changed\n"
            assert (folders[number] / "out.jsonl").read_text() == "old"
            assert len(os.listdir(folders[number])) == 1 + case.values["leftover_files"]


@check("CLI-03")
def output_over_the_input(case):
    Path("learn.jsonl").write_text(many(20))
    assert run("fit", "learn.jsonl", "-o", "m.structens", "-q").code == 0
    model = Path("m.structens").read_bytes()
    Path("experts.jsonl").write_text(many(50))
    Path("link.jsonl").symlink_to("experts.jsonl")
    os.link("experts.jsonl", "hard.jsonl")
    for command in (["combine"], ["combine", "-m", "m.structens"], ["fit"]):
        for name in ("experts.jsonl", "link.jsonl", "hard.jsonl"):
            done = run(*command, "experts.jsonl", "-o", name)
            assert (done.code, done.out) == (2, "")
            assert "would replace the input" in done.err
            assert Path(name).read_text() == many(50)
    assert run("combine", "experts.jsonl", "-m", "m.structens", "-o", "m.structens").code == 2
    assert Path("m.structens").read_bytes() == model


def on_a_terminal(args, **variables):
    """What a command writes to a terminal, as bytes."""
    import pty

    ours, theirs = pty.openpty()
    env = environment(TERM="xterm-256color", COLUMNS="120", **variables)
    process = subprocess.Popen([*COMMAND, *args], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    data = b""
    while True:
        try:
            block = os.read(ours, 65536)
        except OSError:  # what Linux says when the last writer has gone
            block = b""
        if not block:
            break
        data += block
    os.close(ours)
    assert process.wait(60) == 0
    return data


@check("CLI-05")
def colours(case):
    Path("pairs.jsonl").write_text(lines({"id": 1, "gold": "ab", "prediction": "aa"}))
    Path("experts.jsonl").write_text(many(5))
    for args in (["evaluate", "pairs.jsonl"], ["--help"]):
        result = run_process(*args, env=environment(NO_COLOR=None, FORCE_COLOR=None, TERM="xterm-256color"))
        assert result.code == 0
        assert (result.out + result.err).count("\x1b") == case.values["escape_bytes"]
    if os.name != "posix":
        return
    quiet = on_a_terminal(["evaluate", "pairs.jsonl"], NO_COLOR="1")
    assert b"Character error" in quiet
    assert quiet.count(b"\x1b") == case.values["escape_bytes"]
    assert b"\x1b" in on_a_terminal(["evaluate", "pairs.jsonl"], NO_COLOR=None)


@check("CLI-08")
def exit_statuses(case):
    expected = case.values["exit"]
    for option in ("--help", "--version"):
        result = run(option)
        assert (result.code, result.err) == (expected[option], "")
        assert "structens" in result.out
    Path("bad.jsonl").write_text('{"id": "u1", "experts": {"A": ["x"]}')
    Path("good.jsonl").write_text(lines(RECORD))
    Path("empty.jsonl").write_text("")
    Path("folder").mkdir()
    usage = {"unknown option": ["combine", "good.jsonl", "--nope"], "unknown command": ["nope"]}
    more = [[], ["combine"], ["fit", "good.jsonl"], ["combine", "good.jsonl", "--method", "nope"]]
    for args, code in [*((args, expected[name]) for name, args in usage.items()), *((args, 2) for args in more)]:
        result = run(*args)
        assert (result.code, result.out) == (code, "")
        assert result.err
        assert "Traceback" not in result.err
    bad = {
        "no such file": [
            ["combine", "nope.jsonl"],
            ["evaluate", "nope.jsonl"],
            ["combine", "good.jsonl", "-m", "nope"],
        ],
        "bad JSON": [["combine", "bad.jsonl"], ["fit", "bad.jsonl", "-o", "m"], ["evaluate", "bad.jsonl"]],
    }
    others = [
        ["combine", "folder"],
        ["evaluate", "folder"],
        ["combine", "empty.jsonl"],
        ["combine", "good.jsonl", "-o", "folder"],
        ["combine", "good.jsonl", "-o", "nowhere/out.jsonl"],
        ["combine", "good.jsonl", "-m", "bad.jsonl"],
    ]
    for args, code in [
        *((args, expected[name]) for name, some in bad.items() for args in some),
        *((a, 1) for a in others),
    ]:
        run(*args).refused(code=code)
    assert not Path("m").exists()
    with pytest.raises(ValueError, match="there is no such file"):
        run("--debug", "combine", "nope.jsonl")


HEAVY = ("numpy", "numba", "sklearn", "scipy", "matplotlib", "networkx", "msgspec", "rapidfuzz", "regex", "zstandard")
HELP = """
import json, sys
heavy = json.loads(sys.argv[1])
for name in heavy:
    sys.modules[name] = None  # as if it were not installed
from structens.cli.main import main
for args in (["--help"], ["--version"], ["combine", "--help"], ["fit", "--help"], ["evaluate", "--help"]):
    sys.argv = ["structens", *args]
    try:
        main()
    except SystemExit as leaving:
        assert not leaving.code, leaving.code
assert all(sys.modules[name] is None for name in heavy)
"""


@check("CLI-09")
def help_needs_nothing_heavy(case):
    result = run_process(json.dumps(HEAVY), command=(sys.executable, "-c", HELP))
    assert (result.code, result.err) == (0, "")
    assert result.out.count("Example: structens ") == 4
    assert case.values["seconds_max"] == 1.0  # held by a benchmark


DROP_BOUNDING, DAC_OVERRIDE = 24, 1


def obey_modes():
    """Take from root the power to write where modes forbid it."""
    if os.geteuid() == 0 and ctypes.CDLL(None).prctl(DROP_BOUNDING, DAC_OVERRIDE, 0, 0, 0):
        raise OSError("cannot drop CAP_DAC_OVERRIDE")


@check("CLI-11")
def nowhere_to_keep_compiled_code(case):
    if not sys.platform.startswith("linux"):
        pytest.skip("a read-only installation is made with the modes and capabilities of Linux")
    Path("e.jsonl").write_text(many(3))
    home, site = Path("home").resolve(), Path("site").resolve()
    home.mkdir()
    shutil.copytree(ROOT / "structens", site / "structens", ignore=shutil.ignore_patterns("__pycache__"))
    closed = [home, site, *site.rglob("*")]
    modes = {path: path.stat().st_mode for path in closed}
    changes = {"HOME": str(home / "none"), "TMPDIR": str(home / "none"), "PYTHONPATH": str(site)}
    env = environment(NUMBA_CACHE_DIR=None, XDG_CACHE_HOME=None, **changes)
    try:
        for path in closed:
            path.chmod(modes[path] & ~0o222)
        try:
            subprocess.run([sys.executable, "-c", ""], check=True, preexec_fn=obey_modes)
        except subprocess.SubprocessError:
            pytest.skip("root may write everywhere here, and cannot give that up")
        result = run_process("combine", "e.jsonl", "--method", "vote", env=env, preexec_fn=obey_modes)
        where = run_process(command=(sys.executable, "-c", "import structens; print(structens.__file__)"), env=env)
    finally:
        for path in closed:
            path.chmod(modes[path])
    assert result.code == case.values["exit"], result.err
    assert len(result.rows) == 3
    assert where.out.startswith(str(site))


@check("CLI-12")
def no_connections(case):
    connections = []

    def refuse(*args, **options):
        connections.append(args)
        raise OSError("no network")

    Path("e.jsonl").write_text(many(20))
    names = ("socket", "create_connection", "getaddrinfo", "gethostbyname")
    with mock.patch.multiple(socket, **dict.fromkeys(names, refuse)):
        for args in (
            ["fit", "e.jsonl", "-o", "m.structens"],
            ["combine", "e.jsonl", "-m", "m.structens", "-o", "out.jsonl"],
            ["combine", "e.jsonl", "--table"],
            ["evaluate", "e.jsonl", "--definitions"],
            ["evaluate", "out.jsonl", "--gold", "e.jsonl", "--format", "md"],
        ):
            assert run(*args).code == 0
    assert len(connections) == case.values["connections"]


RUNS = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from run_cli import run
for k, args in enumerate([
    ["combine", "experts.jsonl", "--table"],
    ["combine", "experts.jsonl", "--method", "rand", "--seed", "3"],
    ["combine", "experts.jsonl", "--method", "vote", "--ties", "random"],
    ["fit", "experts.jsonl", "-o", "model.structens", "--tie", "label"],
    ["combine", "experts.jsonl", "-m", "model.structens", "-o", "out.jsonl.gz"],
    ["evaluate", "experts.jsonl", "--json", "--by", "g"],
    ["evaluate", "experts.jsonl", "--methods", "vote,mvote,cv", "--n-resamples", "50"],
]):
    done = run(*args)
    assert done.code == 0, done
    Path(f"{k}.out").write_text(done.out)
    Path(f"{k}.err").write_text(done.err)
"""


@check("CLI-14")
def hash_seeds_change_nothing(case):
    words = [f"w{k}" for k in range(40)]
    records = []
    for k in range(60):
        gold = [words[(7 * k + 3 * i) % 40] for i in range(k % 6)]
        experts = {e: [words[(3 * k + i) % 40] if (k * i + j) % 4 == 0 else w for i, w in enumerate(gold)][: j + 2]
                   for j, e in enumerate(("zeta", "alpha", "mid", "b"))}  # fmt: skip
        records.append({"id": f"r{k}", "gold": gold, "experts": experts, "g": "xy"[k % 2]})
    folders, running = [], []
    for seed in ("0", "1", "2", "random"):
        folder = Path(seed)
        folder.mkdir()
        (folder / "experts.jsonl").write_text(lines(*records))
        command = [sys.executable, "-c", RUNS, str(Path(__file__).parent)]
        running.append(
            subprocess.Popen(command, cwd=folder, env=environment(PYTHONHASHSEED=seed), stderr=subprocess.PIPE)
        )
        folders.append(folder)
        if len(running) % 2 == 0:
            for process in running[-2:]:
                err = process.communicate(timeout=120)[1]
                assert process.returncode == 0, err.decode()
    outputs = {tuple((path.name, path.read_bytes()) for path in sorted(folder.iterdir())) for folder in folders}
    assert len(outputs) == case.values["distinct_outputs"]
    (found,) = outputs
    assert len(found) == 1 + 14 + 2
    assert not any(str(Path().resolve()).encode() in data for _, data in found)


@check("CLI-15")
def declared_python(case):
    assert importlib.metadata.metadata("structens")["Requires-Python"] == ">=3.11"
    for path in (ROOT / "structens").rglob("*.py"):
        ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 11))
    assert run("--help").code == case.values["exit"]
