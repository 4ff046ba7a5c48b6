"""The one place that maps the neutral names of the acceptance cases onto the real ones.

The cases are read from ``../shared/cases/cases.jsonl``, seen from the root of the repository. A check of a case is a
function ``check(case)`` that is registered under the case's id; it runs in an empty folder of its own.
"""

import json
from pathlib import Path

from run_cli import run

FILE = Path(__file__).resolve().parents[2] / "shared" / "cases" / "cases.jsonl"
FAMILIES = ("1-combine", "2-parse", "3-metric", "4-wfa", "5-boost", "6-seqlab", "7-cli")

FIELDS = {"truth": "gold", "ref": "gold", "hyp": "prediction"}
"""Keys of the records: neutral -> real. The others have the same name."""
COMMANDS = {"eval": "evaluate", "train": "fit"}
OPTIONS = {
    "--unit grapheme": "--unit char",
    "--unit char": "--unit codepoint",
    "--metric edit": "--loss edit",
    "--per-utterance": "--per-record",
}
"""Options of `eval`. In `combine` a neutral "char" is a grapheme cluster too (COMB-05)."""


class Case:
    """One acceptance case: its input files under real names, and what is expected."""

    def __init__(self, record):
        self.id, self.family = record["id"], record["family"]
        self.input, self.values = record["input"], record["expected"]["values"]
        self.files = {name: real(text) for name, text in self.input.get("files", {}).items()}

    def write(self, *names):
        """Write the case's files, or some of them, into the current folder."""
        for name in names or self.files:
            Path(name).write_bytes(self.files[name].encode())

    def combine(self, *options, file="experts.jsonl"):
        """`structens combine` of a file of the case."""
        self.write(file)
        return run("combine", file, *options)

    def evaluate(self, *options, file="pairs.jsonl"):
        """`structens evaluate` of a file of the case."""
        self.write(file)
        return run("evaluate", file, *options)


def real(text):
    """A file of a case with the real keys; its faults stay as they are."""
    for neutral, name in FIELDS.items():
        text = text.replace(f'"{neutral}":', f'"{name}":')
    return text


def option(neutral):
    """An option of `eval` as `structens evaluate` calls it, in parts."""
    return OPTIONS[neutral].split()


def row_of(result, name=None):
    """A row of the table that `evaluate --json` gave: that of a name, or the first."""
    rows = result.json["rows"]
    return rows[0] if name is None else next(row for row in rows if row["name"] == name)


CASES = {}
if FILE.exists():
    for line in FILE.read_text(encoding="utf-8").splitlines():
        found = Case(json.loads(line))
        if found.family in FAMILIES:
            CASES[found.id] = found

CHECKS = {}


def check(ident):
    """Register a check under the id of its case."""

    def register(function):
        assert ident not in CHECKS
        CHECKS[ident] = function
        return function

    return register
