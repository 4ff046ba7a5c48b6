"""Drawings: escaping, layout without overlaps, the best path, and the picture of a record."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies_automata import automata, weighted

from structens.align import align
from structens.automata import Semiring, shortest_path
from structens.core import Alphabet, Automaton, AutomatonError, DataError, ExpertPredictions, ParameterError
from structens.report import expert_picture, picture, to_dot, to_svg
from structens.report.layout import GAP, layered
from structens.report.picture import expert_shares
from structens.report.svg import clipped

NASTY = Alphabet(('"', "\\", "a\nb", "<&>", "\\N", "x" * 60, " ", "", "\x00\x1b", "\ufffe", "]]>", "漢字"))
SVG = "{http://www.w3.org/2000/svg}"
X = ExpertPredictions.of(
    {"a": ["kat"], "b": ["kæt"], "c": ["kætz"], "d": ["gæt"], "e": [None], "f": ["kæt"]},
)


def nasty():
    n = len(NASTY)
    return Automaton.from_transitions([(k, k + 1, k) for k in range(n)] + [(0, n, 0)], final=[n])


def texts(svg):
    return ["".join(e.itertext()) for e in ET.fromstring(svg).iter(f"{SVG}text")]


@given(st.data(), st.booleans())
def test_every_automaton_can_be_drawn(data, transducer):
    made = data.draw(weighted(Semiring.LOG, least_label=-1, transducer=transducer))
    drawn = picture(*made, alphabet=Alphabet(("K", "T", "S")), best=True, title="t")
    svg = ET.fromstring(to_svg(drawn))
    circles = list(svg.iter(f"{SVG}circle"))
    assert len(circles) == made.automaton.n_states + made.automaton.is_final.sum()
    assert "nan" not in to_svg(drawn)
    edges = [e for e in svg.iter(f"{SVG}path") if e.get("class", "").startswith("e") and "C" in e.get("d")]
    assert len(edges) == made.automaton.n_transitions
    assert to_dot(drawn).count(" -> ") == made.automaton.n_transitions + 1
    assert to_dot(drawn).count("doublecircle") == made.automaton.is_final.sum()
    try:
        path = shortest_path(*made).tolist()
    except AutomatonError:
        path = []
    assert drawn.best == frozenset(path)
    assert to_dot(drawn).count("style=bold") == len(path)
    assert sum("h" in e.get("class").split() for e in edges) == len(path)


@given(automata(most_states=9, most_transitions=20))
def test_no_two_boxes_of_a_column_overlap(automaton):
    pairs = sorted(set(zip(automaton.source.tolist(), automaton.target.tolist(), strict=True)))
    extents = [(10.0 + k, 20.0) for k in range(len(pairs))]
    plan = layered(automaton.n_states, pairs, extents, [1.0] * len(pairs), 13.0)
    boxes = {}
    for q in range(automaton.n_states):
        boxes.setdefault(plan.column[q], []).append((plan.y[q] - 13.0, plan.y[q] + 13.0))
    for (up, down), way, (q, r) in zip(extents, plan.way, pairs, strict=True):
        assert [c for c, _ in way] == list(range(plan.column[q] + 1, plan.column[r]))
        for c, y in way:
            boxes.setdefault(c, []).append((y - up, y + down))
    assert all(plan.column[r] >= plan.column[q] + 2 for q, r in pairs)
    assert min(top for column in boxes.values() for top, _ in column) == pytest.approx(0.0)
    for column in boxes.values():
        column.sort()
        for (_, end), (begin, _) in pairwise(column):
            assert begin - end >= GAP - 1e-6


def test_columns_are_longest_distances():
    plan = layered(4, [(0, 1), (0, 3), (1, 2), (2, 3)], [(5.0, 5.0)] * 4, [1.0] * 4, 10.0)
    assert plan.column == [0, 2, 4, 6]
    assert len(plan.way[1]) == 5


def test_crossings_are_removed():
    bundles = [(0, 1), (0, 2), (1, 4), (2, 3), (3, 5), (4, 5)]
    plan = layered(6, bundles, [(5.0, 5.0)] * 6, [1.0] * 6, 10.0)
    assert (plan.y[1] < plan.y[2]) == (plan.y[4] < plan.y[3])


def test_svg_text_is_escaped_and_readable():
    svg = to_svg(picture(nasty(), alphabet=NASTY, title="a < b & \x07 ]]>"))
    found = texts(svg)
    for text in ('"', "\\", "a\\nb", "<&>", "\\N", "␣", '""', "]]>", "漢字", "a < b & \\x07 ]]>"):
        assert text in found, text
    assert not [c for c in svg if ord(c) < 32 and c not in "\n\t"]
    long = next(text for text in found if text.startswith("xxx"))
    assert long == clipped("x" * 60)
    assert long.endswith("…")
    assert f"{'x' * 60}: " in svg  # whole under the pointer
    assert "<script" not in svg


def test_dot_text_is_escaped():
    dot = to_dot(picture(nasty(), np.arange(13.0), alphabet=NASTY, title='say "\\N"'))
    assert 'label="say \\"\\\\N\\""' in dot
    assert '0 -> 1 [label="\\"\\n0"' in dot
    assert 'label="\\\\\\n2"' in dot
    labels = re.findall(r'label="((?:[^"\\]|\\.)*)"', dot)
    shown = [re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], label).split("\n")[0] for label in labels]
    assert {'"', "\\", "a\\nb", "<&>", "\\N"} <= set(shown)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_reads_our_dot():
    dot = to_dot(picture(nasty(), alphabet=NASTY, best=True, title='"\\'))
    done = subprocess.run(["dot", "-Tplain"], input=dot, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.count("\nedge ") == nasty().n_transitions + 1


def test_the_path_experts_of_a_record():
    slots = align(X)
    drawn = expert_picture(slots, 0, title="w1")
    said = dict(zip(zip(drawn.automaton.source.tolist(), drawn.labels, strict=True), drawn.notes, strict=True))
    assert said[0, "k"] == "4 of 5"
    assert said[0, "g"] == "d"
    assert said[1, "a"] == "a"
    assert said[3, "z"] == "c"
    assert said[3, "ε"] == "4 of 5"
    best = [drawn.labels[e] for e in sorted(drawn.best)]
    assert best == ["k", "æ", "t", "ε"]
    cuts = drawn.automaton.offsets
    assert np.allclose(np.add.reduceat(drawn.thickness, cuts[:-2]), 1.0)
    assert "w1" in texts(to_svg(drawn))
    assert drawn._repr_svg_() == to_svg(drawn)


def test_weights_decide_thickness_and_the_best_path():
    slots = align(X)
    weights = np.ones((4, 6))
    weights[:, 3] = 9.0
    drawn = expert_picture(slots, 0, weights)
    best = [drawn.labels[e] for e in sorted(drawn.best)]
    assert best == ["g", "æ", "t", "ε"]
    g = drawn.labels.index("g")
    assert drawn.thickness[g] == pytest.approx(9 / 13)
    assert drawn.notes[g] == "d · 0.69"
    assert expert_picture(slots, 0, weights, best=False).best == frozenset()
    share = expert_shares(slots, 0, weights)
    assert share.sum() == pytest.approx(4.0)
    weights[:] = 0.0  # experts that are there and have no weight count the same
    assert np.allclose(expert_shares(slots, 0, weights), 0.2)
    weights[0, 0] = -1.0
    for bad in (weights, np.ones((4, 2)), np.full((4, 6), np.nan)):
        with pytest.raises(DataError, match="need a weight >= 0"):
            expert_picture(slots, 0, bad)


def test_straight_line_of_the_best_labels():
    svg = ET.fromstring(to_svg(expert_picture(align(X), 0)))
    heights = {c.get("cy") for c in svg.iter(f"{SVG}circle")}
    assert len(heights) == 1
    best = [t for t in svg.iter(f"{SVG}text") if t.get("class") == "l b"]
    assert len({t.get("y") for t in best}) == 1
    left = [float(t.get("x")) for t in best]
    assert left == sorted(left)


def test_empty_records_and_automata():
    empty = ExpertPredictions.of({"a": [""], "b": [""]})
    assert len(list(ET.fromstring(to_svg(expert_picture(align(empty), 0))).iter(f"{SVG}circle"))) == 2
    nothing = Automaton(np.zeros(1, np.int64), np.zeros(0), np.zeros(0), np.zeros(0, np.bool_))
    assert ET.fromstring(to_svg(picture(nothing))).tag == f"{SVG}svg"
    assert to_dot(picture(nothing)).startswith("digraph")


def test_what_nobody_could_read_is_refused():
    chain = Automaton.from_transitions([(k, k + 1, 0) for k in range(2001)], final=[2001])
    with pytest.raises(ParameterError, match="2,001 transitions are too many for a drawing"):
        to_svg(picture(chain))
    assert to_dot(picture(chain)).count(" -> ") == 2002
    with pytest.raises(DataError, match="label code 0 is not in the alphabet"):
        picture(chain, alphabet=Alphabet())


def test_chosen_transitions_and_names_of_states():
    a = Automaton.from_transitions([(0, 1, 0), (0, 1, 1)], final=[1])
    drawn = picture(a, [1.0, np.inf], [0.0, 0.5], best=[1], states=["s", "<end>"])
    assert drawn.best == frozenset({1})
    assert drawn.notes == ("1", "∞")
    assert drawn.stops == ("", "0.5")
    assert "s" in texts(to_svg(drawn))
    assert "state &lt;end&gt;" in to_svg(drawn)
