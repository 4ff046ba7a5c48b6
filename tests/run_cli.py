"""The command line for tests: in this process where that is as good, else in one of its own."""

import functools
import io
import json
import os
import random
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import typer.main

from structens.cli import scoring
from structens.cli.main import main

# all commands and options are built anew at every call, which takes longer than most of the runs here
typer.main.get_command = functools.cache(typer.main.get_command)


def strict(text):
    """Strict JSON: NaN and infinities are refused."""

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


@dataclass
class Result:
    """What a run left behind."""

    code: int
    out: str
    err: str

    @property
    def rows(self):
        """Standard output, one JSON value a line."""
        return [strict(line) for line in self.out.split("\n")[:-1]]

    @property
    def answers(self):
        """Prediction of each id."""
        return {row["id"]: row["prediction"] for row in self.rows}

    @property
    def json(self):
        """Standard output as one JSON value."""
        return strict(self.out)

    @property
    def notes(self):
        """Notes on standard error."""
        return [line.removeprefix("note: ") for line in self.err.split("\n") if line.startswith("note: ")]

    def refused(self, *mentioned, code=1):
        """Check that the run ended with one sentence that mentions these, and with nothing else."""
        assert self.code == code, self
        assert self.out == ""
        assert self.err.startswith("structens: "), self.err
        assert self.err.endswith("\n")
        assert self.err.count("\n") == 1, self.err
        for text in mentioned:
            assert str(text) in self.err, self.err
        return self.err


def run(*args, stdin=b"", env=None):
    """Run `structens` in this process."""
    out, err = io.BytesIO(), io.BytesIO()
    streams = {
        "stdin": io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"),
        "stdout": io.TextIOWrapper(out, encoding="utf-8"),
        "stderr": io.TextIOWrapper(err, encoding="utf-8", errors="backslashreplace"),
    }
    terminated = signal.getsignal(signal.SIGTERM)
    scoring._kept.clear()
    try:
        with (
            mock.patch.multiple(sys, argv=["structens", *map(str, args)], **streams),
            mock.patch.dict(os.environ, env or {}),
        ):
            try:
                main()
                code = 0
            except SystemExit as leaving:
                code = leaving.code or 0
            for name in ("stdout", "stderr"):
                getattr(sys, name).flush()
    finally:
        signal.signal(signal.SIGTERM, terminated)
    return Result(code, out.getvalue().decode(), err.getvalue().decode())


COMMAND = (sys.executable, "-m", "structens")


def environment(**changes):
    """This process's environment with changes; None takes a name out."""
    env = {**os.environ, **{k: v for k, v in changes.items() if v is not None}}
    return {k: v for k, v in env.items() if k not in changes or changes[k] is not None}


def run_process(*args, stdin=b"", command=COMMAND, **options):
    """Run `structens` in a process of its own."""
    line = [*command, *map(str, args)]
    done = subprocess.run(line, check=False, input=stdin, capture_output=True, timeout=120, **options)
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def lines(*records):
    """Records as JSON Lines."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


GREEK = ("alpha", "beta", "gamma", "delta")


def records(n=40, *, kind="tokens", seed=0, gold=True, uneven=True):
    """Records of four experts of falling quality; texts, or lists of tokens."""
    chance = random.Random(seed)
    letters = "abcdefgh "
    out = []
    for k in range(n):
        right = [chance.choice(letters) for _ in range(chance.randrange(1, 9))]
        experts = {}
        for j, name in enumerate(GREEK):
            said = [chance.choice(letters) if chance.random() < 0.1 * (j + 1) else unit for unit in right]
            if uneven and chance.random() < 0.2:
                said.insert(chance.randrange(len(said) + 1), "z")
            experts[name] = said
        record = {"id": f"r{k}", "experts": experts, "part": "xy"[k % 2], "note": {"n": [k, None]}}
        if gold:
            record["gold"] = right
        if kind == "texts":
            record["experts"] = {name: "".join(said) for name, said in experts.items()}
            record |= {"gold": "".join(right)} if gold else {}
        out.append(record)
    return out


def put(name="e.jsonl", made=None, **options):
    """Write records to a file; returns its name."""
    Path(name).write_text(lines(*(made or records(**options))), encoding="utf-8")
    return name
