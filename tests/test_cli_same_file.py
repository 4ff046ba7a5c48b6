"""No command writes over what it reads, nor writes one file twice."""

import os
from pathlib import Path

import pytest
from run_cli import lines, run

RECORDS = lines(
    {"id": 1, "experts": {"A": ["x", "y"], "B": ["x", "z"], "C": ["x", "y"]}, "gold": ["x", "y"]},
    {"id": 2, "experts": {"A": ["z", "y"], "B": ["x", "z"], "C": ["z", "z"]}, "gold": ["z", "y"]},
    {"id": 3, "experts": {"A": ["x", "x"], "B": ["x", "z"], "C": ["x", "x"]}},
)
FILES = {
    "g.jsonl": RECORDS,
    "cc.json": '{"ngrams": [["x", "y"]]}',
    "k.txt": "u\n0 1 12 7 1.5,2.0\n1\n\n",
    "w1.txt": "<eps> 0\nyes 7\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, data in FILES.items():
        (tmp_path / name).write_text(data, encoding="utf-8")
    assert run("fit", "g.jsonl", "-o", "p.st", "--method", "last", "--beta", "0.5").code == 0
    os.symlink("g.jsonl", "link.jsonl")
    return tmp_path


COMBINE, PICTURE = ["combine", "g.jsonl"], ["automaton", "g.jsonl", "--id", "1"]
TWICE = {
    "model over input": [*COMBINE, "--online", "--save-model", "g.jsonl", "-o", os.devnull],
    "model over a link's input": ["combine", "link.jsonl", "--online", "--save-model", "g.jsonl", "-o", os.devnull],
    "model and answers": [*COMBINE, "--online", "--save-model", "s.st", "-o", "./s.st"],
    "model over constraint": [*COMBINE, "--online", "--constraint", "cc.json", "--save-model", "cc.json"],
    "answers over constraint": [*COMBINE, "--constraint", "cc.json", "-o", "cc.json"],
    "answers over input": [*COMBINE, "-o", "link.jsonl"],
    "answers over model": [*COMBINE, "--online", "-m", "p.st", "--save-model", "p.st", "-o", "p.st"],
    "fitted over constraint": ["fit", "g.jsonl", "--constraint", "cc.json", "-o", "cc.json"],
    "table over input": [*PICTURE, "--format", "openfst", "-o", "o.txt", "--symbols", "g.jsonl"],
    "table and text": [*PICTURE, "--format", "openfst", "-o", "o.txt", "--symbols", "./o.txt"],
    "table and text on standard output": [*PICTURE, "--format", "openfst", "--symbols", "-"],
    "picture over table": ["automaton", "k.txt", "--from", "kaldi", "--read-symbols", "w1.txt", "-o", "w1.txt"],
    "picture over model": [*PICTURE, "-m", "p.st", "-o", "p.st"],
    "picture over input": [*PICTURE, "-o", "g.jsonl"],
}


@pytest.mark.parametrize("args", TWICE.values(), ids=TWICE)
def test_is_refused_and_nothing_written(folder, args):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    run(*args).refused(code=2)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_model_may_be_continued_in_place():
    before = Path("p.st").read_bytes()
    done = run(*COMBINE, "--online", "-m", "p.st", "--save-model", "p.st", "-o", "o.jsonl")
    assert done.code == 0, done.err
    assert Path("p.st").read_bytes() != before
    assert run(*PICTURE, "--format", "openfst", "-o", os.devnull, "--symbols", "s.txt").code == 0


def test_a_model_is_not_written_to_standard_output():
    run(*COMBINE, "--online", "--save-model", "-").refused("--save-model", code=2)
