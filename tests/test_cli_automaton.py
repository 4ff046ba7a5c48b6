"""`structens automaton`."""

import io
import math
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from run_cli import lines, run

from structens.automata import total_weight
from structens.io import read_const_fst, read_openfst, read_symbols

RECORDS = lines(
    {"id": "w1", "experts": {"a": ["K", "AE", "T"], "b": ["K", "AH", "T"], "c": ["K", "AE"]}, "gold": ["K", "AE", "T"]},
    {"id": "w2", "experts": {"a": ["S", "AH"], "b": ["S", "AE"], "c": None}, "gold": ["S", "AH"]},
    {"id": 7, "experts": {"a": [], "b": ["S"], "c": ["Z"]}},
    {"id": "w4", "experts": {"a": None, "b": None, "c": None}},
)
TEXTS = lines({"id": "t", "experts": {"a": "a b", "b": "a%b"}})
COMPACT = "u1\n0 1 the 1.5,10,3\n0 1 a 2,9,3\n1\n\nu2\n0 1 no\n1\n"
SLF = "UTTERANCE=utt\nN=2 L=2\nI=0\nI=1\nJ=0 S=0 E=1 W=yes a=-5 l=-1\nJ=1 S=0 E=1 W=no a=-7\n"


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {"e.jsonl": RECORDS, "t.jsonl": TEXTS, "l.txt": COMPACT, "l.slf": SLF}
    for name, data in files.items():
        (tmp_path / name).write_text(data, encoding="utf-8")
    return tmp_path


def stream(text):
    return io.BytesIO(text.encode())


def test_dot_is_the_default():
    done = run("automaton", "e.jsonl", "--id", "w1")
    assert (done.code, done.err) == (0, "w1: 4 states, 9 transitions, 27 paths\n")
    assert done.out.startswith("digraph automaton {\n")
    assert '0 -> 1 [label="K\\n3 of 3", penwidth=5.00, style=bold' in done.out
    assert '2 -> 3 [label="ε\\nc"' in done.out
    assert "style=bold" not in run("automaton", "e.jsonl", "--id", "w1", "--no-best").out


def test_svg_by_the_suffix(tmp_path):
    done = run("automaton", "e.jsonl", "--id", "w1", "-o", "w1.svg")
    assert done.err.endswith("; wrote w1.svg\n")
    assert ET.fromstring((tmp_path / "w1.svg").read_text(encoding="utf-8")).tag.endswith("svg")
    assert run("automaton", "e.jsonl", "--id", "w1", "--format", "svg", "--quiet").err == ""


def test_the_picture_in_the_documentation_is_what_is_drawn(monkeypatch):
    root = Path(__file__).resolve().parents[1]
    monkeypatch.chdir(root)
    done = run("automaton", "data/pronunciation.jsonl", "--id", "pron-05930", "--format", "svg")
    assert done.out == (root / "docs" / "img" / "automaton.svg").read_text(encoding="utf-8")


def test_ids_may_be_numbers_and_experts_chosen():
    assert run("automaton", "e.jsonl", "--id", "7").err.startswith("7: 2 states, 3 transitions")
    assert run("automaton", "e.jsonl", "--id", "w1", "--experts", "b,a").err.startswith("w1: 4 states, 6 transitions")


def test_openfst_text_and_symbols(tmp_path):
    done = run("automaton", "e.jsonl", "--id", "w2", "--format", "openfst", "--symbols", "s.txt")
    assert done.err == "w2: 3 states, 4 transitions, 4 paths; wrote s.txt\n"
    table = read_symbols(tmp_path / "s.txt")
    assert set(table.alphabet.labels) == {"K", "AE", "T", "AH", "S", "Z"}
    made = read_openfst(stream(done.out), symbols=table, acceptor=True)
    assert [table.alphabet.labels[c] for c in made.automaton.label] == ["S", "S", "AH", "AE"]
    assert made.weight is None


def test_weights_of_a_model(tmp_path):
    assert run("fit", "e.jsonl", "-o", "m.structens", "--beta", "0.5").code == 0
    done = run("automaton", "e.jsonl", "--id", "w1", "-m", "m.structens", "-o", "w1.fst")
    assert done.code == 0, done.err
    made = read_const_fst(tmp_path / "w1.fst")
    assert made.automaton.n_transitions == 9
    assert total_weight(*made.weighted) == pytest.approx(0.0)  # the weights of a slot sum to one
    first = np.exp(-made.weight[:3])
    assert first[0] > first[1]
    assert first[0] > first[2]
    drawn = run("automaton", "e.jsonl", "--id", "w1", "-m", "m.structens")
    assert f"b · {np.exp(-made.weight[4]):.2f}" in drawn.out
    run("fit", "e.jsonl", "-o", "best.structens", "--method", "best")
    best = run("automaton", "e.jsonl", "--id", "w1", "-m", "best.structens", "--format", "openfst")
    costs = read_openfst(stream(best.out), names=True, acceptor=True).weight
    assert sorted(set(costs)) == [0.0, math.inf]
    run("automaton", "e.jsonl", "--id", "w1", "-m", "m.structens", "--experts", "a").refused("--experts", code=2)


def test_labels_that_break_lines_are_encoded():
    done = run("automaton", "t.jsonl", "--format", "openfst", "--symbols", "s.txt")
    assert done.notes == ["some labels would break a line, so labels are percent-encoded"]
    made = read_openfst(stream(done.out), symbols="s.txt", escape=True, acceptor=True)
    assert [made.alphabet.labels[c] for c in made.automaton.label] == ["a", "a", " ", "%", "b", "b"]
    assert not run("automaton", "t.jsonl").notes


def test_lattices():
    done = run("automaton", "l.slf", "--from", "htk", "--lm-scale", "3", "--format", "openfst")
    assert done.out == "0\t1\tyes\t8.0\n0\t1\tno\t7.0\n1\t0.0\n"
    assert done.err == "utt: 2 states, 2 transitions, 2 paths\n"
    done = run("automaton", "l.txt", "--from", "kaldi", "--id", "u1", "--acoustic-scale", "0.1")
    assert 'label="the\\n2.5"' in done.out
    text = run("automaton", "l.slf", "--from", "htk", "--format", "openfst").out
    names = ["--read-symbols", "names", "--acceptor"]
    again = run("automaton", "-", "--from", "openfst", "--format", "openfst", *names, stdin=text.encode())
    assert again.out == text
    assert run("automaton", "l.slf", "--from", "htk", "-o", "l.fst").code == 0
    assert run("automaton", "l.fst", "--from", "const", "--format", "openfst").out == text


KALDI_NUMBERS = {
    "lattice": "u\n0 1 12 7 1.5,2.0\n0 1 13 8 1,1\n1 2 14 0 0,0\n2\n\n",
    "compact": "u\n0 1 7 1.5,2.0,3_3\n0 1 8 1,1,4\n1 2 0 0,0,\n2 0,0,\n\n",
}


@pytest.mark.parametrize("kind", KALDI_NUMBERS)
def test_numbers_of_kaldi_are_named_by_a_table(kind):
    Path("k.txt").write_text(KALDI_NUMBERS[kind])
    Path("words.txt").write_text("<eps> 0\nyes 7\nno 8\n")
    options = ["automaton", "k.txt", "--from", "kaldi", "--format", "openfst"]
    named = run(*options, "--read-symbols", "words.txt")
    assert named.out == "0\t1\tyes\t3.5\n0\t1\tno\t2.0\n1\t2\t<eps>\t0.0\n2\t0.0\n"
    plain = run(*options, "--read-symbols", "names")
    assert plain.out == named.out.replace("yes", "7").replace("no", "8")
    assert plain.out == run(*options).out
    Path("few.txt").write_text("yes 7\n")
    run(*options, "--read-symbols", "few.txt").refused("k.txt:3: word number 8 is not in the table of 1 words")
    run(*options, "--read-symbols", "none.txt").refused("none.txt: cannot be read")
    drawn = run("automaton", "k.txt", "--from", "kaldi", "--read-symbols", "words.txt")
    assert 'label="yes' in drawn.out


def test_refusals():
    near = run("automaton", "e.jsonl", "--id", "w11").refused("no record with id 'w11' among 4", "'w1'")
    assert near.count("'w") == 4
    run("automaton", "e.jsonl").refused("4 records", "--id", "'w1', 'w2', '7'", code=2)
    run("automaton", "e.jsonl", "--id", "w4").refused("record 'w4'", "no expert answers it")
    run("automaton", "e.jsonl", "--id", "w1", "--align", "never").refused("w1")
    run("automaton", "no.jsonl", "--id", "w1").refused("no.jsonl", "no such file")
    run("automaton", "e.jsonl", "--format", "png").refused("format must be one of dot, svg, openfst, const", code=2)
    run("automaton", "e.jsonl", "--from", "julius").refused("must be one of", "htk", code=2)
    run("automaton", "e.jsonl", "--id", "w1", "--lm-scale", "2").refused("--lm-scale does not go with", code=2)
    run("automaton", "e.jsonl", "--id", "w1", "--symbols", "s").refused("--symbols", "--format openfst", code=2)
    both = ["--format", "openfst", "--symbols", "s", "-o", "s"]
    run("automaton", "e.jsonl", "--id", "w1", *both).refused("different files", code=2)
    run("automaton", "l.slf", "--from", "htk", "-m", "m").refused("--model does not go with --from htk", code=2)
    run("automaton", "l.slf", "--from", "htk", "--id", "u").refused("--id does not go with --from htk", code=2)
    run("automaton", "l.slf", "--from", "kaldi").refused("l.slf:2", "a state must be a whole number from 0; got 'N=2'")
    run("automaton", "l.txt", "--from", "kaldi").refused("there are 2 lattices: u1, u2")
    run("automaton", "l.txt", "--from", "const").refused("no binary file of OpenFst")
    run("automaton", "l.txt", "--from", "htk", "--acceptor").refused("--acceptor does not go with", code=2)


READING = [["--casefold"], ["--unit", "word"], ["--align", "never"], ["--normalize", "NFC"], ["--strip-punct"]]


@pytest.mark.parametrize("option", READING, ids=lambda option: option[0])
def test_how_records_are_read_is_refused_where_it_changes_nothing(option):
    Path("k.txt").write_text(KALDI_NUMBERS["lattice"])
    lattice = run("automaton", "k.txt", "--from", "kaldi", *option)
    lattice.refused(f"{option[0]} does not go with --from kaldi", code=2)
    assert run("fit", "e.jsonl", "-o", "m.structens", "--beta", "0.5").code == 0
    settled = run("automaton", "e.jsonl", "--id", "w1", "-m", "m.structens", *option)
    settled.refused(f"{option[0]} does not go with --model", code=2)
    for kind in ("--acceptor", "--transducer"):
        run("automaton", "e.jsonl", "--id", "w1", kind).refused(f"{kind} does not go with --from records", code=2)


def test_a_line_of_one_field():
    Path("k.txt").write_text(KALDI_NUMBERS["lattice"])
    Path("w.txt").write_text("yes\n")
    run("automaton", "k.txt", "--from", "kaldi", "--read-symbols", "w.txt").refused("this one has one field")
