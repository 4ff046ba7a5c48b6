"""Lattices in HTK's format and Kaldi's text: scores, scales, words, and what is refused."""

import io
import math
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structens.automata import n_best, path_labels, total_weight
from structens.core import Alphabet, Automaton, DataError, ParameterError, StructensError
from structens.io import (
    Symbols,
    const_fst_bytes,
    iter_kaldi_lattices,
    read_const_fst,
    read_htk_lattice,
    read_kaldi_lattice,
    read_openfst,
    read_symbols,
)

WORDS_ON_NODES = """\
# made by hand
VERSION=1.0
UTTERANCE=utt-7
lmscale=2.0  wdpenalty=-0.5
acscale=0.1
vocab=none
N=6 L=7
I=0 t=0.00 W=!NULL
I=1 t=0.30 W=the v=1
I=2 t=0.30 W=a
I=3 t=0.70 W=cat
I=4 t=0.70 W=cut
I=5 t=1.00 W=</s>
J=0 S=0 E=1 a=-10.0 l=-1.0
J=1 S=0 E=2 a=-12.0 l=-2.0
J=2 S=1 E=3 a=-20.0 l=-0.5 r=-0.25
J=3 S=1 E=4 a=-21.0 l=-3.0
J=4 S=2 E=3 a=-20.0 l=-0.75
J=5 S=3 E=5 a=0 l=0
J=6 S=4 E=5
"""

COMPACT = """\
utt-1
0 1 the 1.5,10,3_3_4
0 2 a 2.5,9,3
1 3 cat 0.5,20,7_7
2 3 cat 0.75,20,
3 0.25,1,9

utt-2
0 1 no
1

"""

LATTICE = """\
utt-1
0\t1\t3\t12\t1.5,10
0\t1\t4\t0\t2,11
1\t2\t9\t31
2\t0.25,0.5
"""


def stream(text):
    return io.BytesIO(text.encode())


def strings(made, n=10):
    """Best paths as words, with their costs."""
    found = n_best(*made.weighted[:2], n, made.final_weight)
    rows = path_labels(made.automaton, found.paths).to_list()
    names = made.alphabet.labels
    return [(" ".join(names[c] for c in row if c >= 0), w) for row, w in zip(rows, found.weight.tolist(), strict=True)]


def test_htk_words_on_nodes():
    made = read_htk_lattice(stream(WORDS_ON_NODES))
    assert made.key == "utt-7"
    assert made.states == (0, 1, 2, 3, 4, 5)
    costs = {
        "the cat": 0.1 * 30 + 2 * 1.5 + 0.25 + 2 * 0.5,
        "the cut": 0.1 * 31 + 2 * 4.0 + 2 * 0.5,
        "a cat": 0.1 * 32 + 2 * 2.75 + 2 * 0.5,
    }
    assert strings(made) == [(text, pytest.approx(cost)) for text, cost in sorted(costs.items(), key=lambda x: x[1])]
    assert total_weight(*made.weighted) == pytest.approx(-math.log(sum(math.exp(-c) for c in costs.values())))


def test_htk_scales_of_the_caller_win():
    made = read_htk_lattice(stream(WORDS_ON_NODES), acoustic_scale=1.0, lm_scale=0.0, word_penalty=0.0)
    assert dict(strings(made))["the cut"] == pytest.approx(31)
    with pytest.raises(ParameterError, match="finite"):
        read_htk_lattice(stream(WORDS_ON_NODES), lm_scale=math.nan)


def test_htk_words_on_links_base_quotes_and_start():
    text = (
        "base=10 start=7 end=3\nNODES=3 LINKS=4\nI=7\nI=1\nI=3\n"
        'J=0 START=7 END=1 WORD="don\'t \\"go\\"" acoustic=-1 language=-0.5\nJ=1 S=7 E=1 W=d\\\'y\\303\\251 a=-2\n'
        "J=2 S=1 E=3 W=!NULL\nJ=3 S=7 E=3 W='=' a=-inf\n"
    )
    made = read_htk_lattice(stream(text))
    assert made.states == (7, 1, 3)
    assert strings(made) == [
        ('don\'t "go"', pytest.approx(1.5 * math.log(10))),
        ("d'yé", pytest.approx(2 * math.log(10))),
    ]
    assert made.alphabet.labels[2] == "="
    assert np.isinf(made.weight).sum() == 1


def test_htk_linear_scores():
    made = read_htk_lattice(stream("base=0\nI=0\nI=1\nJ=0 S=0 E=1 W=a a=0.25 l=0.5\n"))
    assert made.weight[0] == pytest.approx(math.log(8))
    with pytest.raises(DataError, match=":4: with base=0 scores are likelihoods"):
        read_htk_lattice(stream("base=0\nI=0\nI=1\nJ=0 S=0 E=1 W=a a=-0.25\n"))


def test_htk_word_on_the_first_node():
    made = read_htk_lattice(stream("wdpenalty=-1\nI=0 W=so\nI=1 W=it\nJ=0 S=0 E=1 a=-2\n"))
    assert strings(made) == [("so it", pytest.approx(4.0))]
    assert made.states[made.automaton.start] == -1


def test_htk_key_is_the_file_and_null_words_are_chosen(tmp_path):
    (tmp_path / "u3.slf").write_text("I=0\nI=1\nJ=0 S=0 E=1 W=uh\nJ=1 S=0 E=1 W=!NULL\n")
    made = read_htk_lattice(tmp_path / "u3.slf", null_words={"uh"})
    assert made.key == "u3"
    assert made.alphabet.labels == ("!NULL",)
    assert made.automaton.label.tolist() == [-1, 0]


def htk(line, number):
    lines = WORDS_ON_NODES.split("\n")
    lines[number - 1] = line
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (htk("J=6 S=4 E=9", 20), ":20: node 9 is not among the 6 nodes"),
        (htk("J=6 S=4", 20), ":20: a link names its end node"),
        (htk("J=5 S=4 E=5", 20), ":20: link 5 is in line 19 already"),
        (htk("J=6 S=4 E=5 a=x", 20), ":20: a score must be a number; got 'x'"),
        (htk("J=6 S=4 E=5 a=nan", 20), ":20: a score must be a number"),
        (htk("J=6 S=4 E=5 a=inf", 20), ":20: a score must be a number"),
        (htk("J=6 S=4 E=5 a=1 a=2", 20), ":20: field a comes twice"),
        (htk("J=6 S=4 E=5 what", 20), ":20: fields are name=value; cannot read 'what'"),
        (htk('J=6 S=4 E=5 W="what', 20), ":20: fields are name=value"),
        (htk("J=6 S=4 E=5 W=\\351", 20), ":20: the escapes"),
        (htk("", 20), ":7: 7 links are announced, and there are 6; the file may be cut"),
        (htk("I=4 t=0.70 W=cut L=sub", 12), ":12: sublattices are not read"),
        (htk("I=3 t=0.70 W=cut", 12), ":12: node 3 is in line 11 already"),
        (htk("J=6 S=4 E=1", 20), ":20: only acyclic automata are used; this one has the cycle 1 -> 4 -> 1"),
        (htk("J=6 S=4 E=0\nX=1", 20), ":21: after the header each line is a node"),
        (htk("acscale=x", 5), ":5: acscale must be a number"),
        (htk("base=1", 5), ":5: base must be"),
        (htk("start=9", 5), ":5: the start node 9 is not among"),
        ("I=0\nI=1\nI=2\nJ=0 S=0 E=1\n", "2 nodes that no links lead to: 0, 2; say which in the header: start=node"),
        (
            "I=0\nI=1\nJ=0 S=0 E=1\nJ=1 S=1 E=0\n",
            ":4: only acyclic automata are used; this one has the cycle 0 -> 1 -> 0",
        ),
        ("nothing here\n", ":1: fields are name=value"),
        ("", "no nodes"),
    ],
)
def test_htk_refusals(text, said):
    with pytest.raises(DataError, match=said.replace("(", r"\(").replace("->", "-+>")):
        read_htk_lattice(stream(text))


def test_kaldi_compact_lattices():
    one, two = iter_kaldi_lattices(stream(COMPACT), acoustic_scale=0.1, lm_scale=2.0)
    assert (one.key, two.key) == ("utt-1", "utt-2")
    end = 2 * 0.25 + 0.1
    wanted = {"the cat": 2 * 2.0 + 0.1 * 30 + end, "a cat": 2 * 3.25 + 0.1 * 29 + end}
    assert strings(one) == [(text, pytest.approx(cost)) for text, cost in wanted.items()]
    assert strings(two) == [("no", 0.0)]


def test_kaldi_lattices_with_a_table_of_words():
    words = read_symbols(stream("<eps> 0\nyes 12\nno 31\n"))
    made = read_kaldi_lattice(stream(LATTICE), words=words)
    assert strings(made) == [("yes no", pytest.approx(12.25)), ("no", pytest.approx(13.75))]
    assert made.automaton.output is None
    assert made.alphabet.labels == ("yes", "no")
    with pytest.raises(DataError, match=":4: word number 31 is not in the table of 1 words"):
        read_kaldi_lattice(stream(LATTICE), words=stream("yes 12\n"))
    named = LATTICE.replace("\t12\t", "\tyes\t").replace("\t31", "\tno").replace("\t0\t", "\t<eps>\t", 2)
    assert {text for text, _ in strings(read_kaldi_lattice(stream(named)))} == {"yes no", "no"}


def test_kaldi_archive_by_key():
    assert read_kaldi_lattice(stream(COMPACT), key="utt-2").key == "utt-2"
    assert read_kaldi_lattice(stream(LATTICE)).key == "utt-1"
    with pytest.raises(DataError, match="no lattice 'utt-3' among 2: utt-1, utt-2"):
        read_kaldi_lattice(stream(COMPACT), key="utt-3")
    with pytest.raises(DataError, match="there are 2 lattices: utt-1, utt-2; say which"):
        read_kaldi_lattice(stream(COMPACT))
    with pytest.raises(DataError, match="holds no lattice"):
        read_kaldi_lattice(stream("\n\n"))
    assert read_kaldi_lattice(stream("u\n\n")).automaton.n_states == 0


def test_kaldi_is_read_a_lattice_at_a_time():
    lattices = iter_kaldi_lattices(stream(COMPACT + "broken line here\n"))
    assert [next(lattices).key, next(lattices).key] == ["utt-1", "utt-2"]
    with pytest.raises(DataError, match=":12: a lattice begins with a line that holds its key alone"):
        next(lattices)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("u\n0 1 a 1,2,3\n0 1 b 1,x,3\n1\n", ":3: a cost must be a number; got 'x'"),
        ("u\n0 1 5 a 1,2\n0 1 5 a 1\n1\n", ":3: costs are graph,acoustic; got '1'"),
        ("u\n0 1 5 a 1,2\n0 1 a\n1\n", ":3: a line of a lattice has 4 or 5 fields; got 3"),
        ("u\n0 1 x a 1,2\n1\n", ":2: a transition id must be a whole number"),
        ("u\n0 1 a 1,2,3 4 5\n1\n", ":2: a line of a lattice has 4 or 5 fields; got 6"),
        (
            "u\n0 1 a 1,2,3\n1 2 b 1,2,3\n2 1 c 1,2,\n2\n",
            ":4: only acyclic automata are used; this one has the cycle 1 -> 2",
        ),
        ("u\n0 1 a 1,2,3\n1\n1 1,2,\n", ":4: state 1 has a line of its own already"),
        ("u\n0 b a 1,2,3\n", ":2: a state must be a whole number"),
        ("u\n0\n\nu\n0\n", ":4: key 'u' is in line 1 already"),
        ("u\n0 1 a 1,2,3\n1 -inf,0,\n", ":3: a cost must be a number; got '-inf'"),
    ],
)
def test_kaldi_refusals(text, said):
    with pytest.raises(DataError, match=said.replace("->", "-+>")):
        list(iter_kaldi_lattices(stream(text)))
    with pytest.raises(ParameterError, match="lm_scale must be a finite number"):
        list(iter_kaldi_lattices(stream(text), lm_scale=math.inf))


def test_kaldi_costs_of_infinity_are_no_transition():
    made = read_kaldi_lattice(stream("u\n0 1 a Infinity,0,\n0 1 b 1,1,\n1 Infinity,Infinity,\n0 2 c\n2\n"))
    assert made.weight.tolist() == [math.inf, 2.0, 0.0]
    assert made.automaton.is_final.tolist() == [False, False, True]
    assert made.alphabet.labels == Symbols.of(made.alphabet).alphabet.labels


def binary():
    a = Automaton.from_transitions([(0, 1, 0), (0, 1, -1), (1, 2, 1)], final=[1, 2])
    return const_fst_bytes(a, [0.5, 1.5, 2.5], alphabet=Alphabet(("K", "T")))


READERS = {
    "htk": (WORDS_ON_NODES.encode(), read_htk_lattice),
    "compact": (COMPACT.encode(), lambda source: list(iter_kaldi_lattices(source))),
    "lattice": (LATTICE.encode(), lambda source: list(iter_kaldi_lattices(source))),
    "openfst": (b"0 1 1 0.5\n1 2 0 1\n2 0.25\n", read_openfst),
    "const": (binary(), read_const_fst),
    "symbols": (b"<eps> 0\nK 1\nT 2\n", read_symbols),
}


@pytest.mark.parametrize("name", READERS)
@given(st.data())
def test_damaged_files_are_read_or_refused_in_words(name, data):
    whole, read = READERS[name]
    bytes_ = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(bytes_) - 1))
        kind = data.draw(st.sampled_from(["set", "drop", "insert"]))
        if kind == "drop":
            del bytes_[at : at + data.draw(st.integers(1, 9))]
        else:
            piece = data.draw(
                st.one_of(st.binary(min_size=1, max_size=2), st.sampled_from([b" ", b"\n", b"=", b"-1", b"9"]))
            )
            bytes_[at : at + (len(piece) if kind == "set" else 0)] = piece
        if not bytes_:
            return
    with suppress(StructensError):  # any other error fails
        read(io.BytesIO(bytes(bytes_)))
