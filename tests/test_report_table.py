"""Tables: what stands where, how wide, without escape bytes; Markdown; strict JSON; printed alignments."""

import io
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from structens.core import ExpertPredictions, ParameterError
from structens.evaluate import alignment, compare, evaluate_experts
from structens.report import DEFINITIONS, legend, render, render_alignment, render_comparison, wants_color
from structens.report.columns import best_row, ranked
from structens.report.text import fit, number, percent, visible


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def evaluation():
    gold = ["abcdef", "ghijkl", "mnopqr", "stuvwx"]
    X = ExpertPredictions.of(
        {"bad": ["xbcdef", "ghxxkl", "mnopq", "stuvwx"], "fair": ["abcdef", "ghijkl", "mxxpqr", None]}, gold=gold
    )
    X = replace(X, fields=({"speaker": "anna"}, {"speaker": "anna"}, {"speaker": "bert"}, {}))
    return evaluate_experts(X, {"vote": ["abcdef", "ghijkl", "mnopqr", "stuvw"]}, by="speaker")


def test_the_table_is_sorted_marks_the_best_and_ends_with_the_signature(evaluation):
    lines = render(evaluation).splitlines()
    assert lines[0] == "Character error on 4 records, 24 characters of gold"
    systems = [re.split(r"\s{2,}", line.strip())[0] for line in lines[2:8]]
    assert systems == ["*", "bad", "fair", "─" * len(lines[5]), "best expert per record", ""]
    assert lines[2].startswith("*  vote ")
    assert re.search(r"ensemble\s+4\.17 \[ ?0\.00, \d+\.\d\d\]\s+0\s+1\s+0\s+4\.17\s+25\.00\s+0$", lines[2])
    assert re.search(r"expert\s+33\.33 \[", lines[4])
    assert lines[-1] == evaluation.signature
    assert [row.name for row in ranked(evaluation.rows)] == ["vote", "bad", "fair", "best expert per record"]
    assert best_row(evaluation.rows).name == "vote"


def test_the_remarks_say_what_changed_and_what_is_missing(evaluation):
    text = " ".join(render(evaluation).split())
    assert "vote makes 75.0 % fewer errors than bad: 4.17 % against 16.67 %, difference -12.50 points [" in text
    assert "(paired bootstrap, 1,000 resamples); records better 3, worse 1, equal 0; 4 answers differ" in text
    assert "note: records that 'fair' did not answer, counted as deletions: 1 of 4 (first 3)" in text


def test_groups_stand_below(evaluation):
    lines = render(evaluation).splitlines()
    at = lines.index("error % by speaker")
    assert re.split(r"\s{2,}", lines[at + 1]) == ["speaker", "records", "vote", "bad", "best expert per record", "fair"]
    assert re.split(r"\s{2,}", lines[at + 2]) == ["anna", "2", "0.00", "25.00", "0.00", "0.00"]
    assert re.split(r"\s{2,}", lines[at + 4]) == ["(no value)", "1", "16.67", "0.00", "0.00", "100.00"]


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_line_is_wider_than_asked(evaluation, width):
    lines = render(evaluation, width=width).splitlines()[:-1]
    assert max(map(cell_len, lines)) <= width
    assert "mean %" in lines[1]  # both averages are always there
    assert "error %" in lines[1]
    assert ("sub" in lines[1]) == (width >= 100)


def test_cli_05_no_escape_byte_unless_asked(evaluation, monkeypatch):
    for format in ("table", "md", "json"):
        assert "\x1b" not in render(evaluation, format)
    painted = render(evaluation, color=True)
    assert "\x1b[1;32m*  vote" in painted
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == render(evaluation)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_color(Terminal())
    assert not wants_color(io.StringIO())
    assert not wants_color(object())
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_color(Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_color(Terminal())
    monkeypatch.setenv("NO_COLOR", "")
    assert wants_color(Terminal())


def test_names_from_files_cannot_move_the_cursor():
    nasty = "a\x1b[31m\r\n|`<b>\u202e"
    e = evaluate_experts(ExpertPredictions.of({nasty: ["x"], "twin": ["x"]}, gold=["y"], ids=[nasty]))
    for format in ("table", "md"):
        text = render(e, format)
        assert not set("\x1b\r\u202e\x1f") & set(text)
        assert "\\x1b" in text
    assert "<b>" not in re.sub(r"\\<", "", render(e, "md"))
    assert json.loads(render(e, "json"))["rows"][0]["name"] == nasty


def test_json_is_strict_and_has_null_for_undefined():
    e = evaluate_experts(ExpertPredictions.of({"e": [["x"]]}, gold=[[]]))

    def refuse(name):
        raise AssertionError(name)

    data = json.loads(render(e, "json"), parse_constant=refuse)
    assert data["rows"][0]["rate"] is None
    assert data["rows"][0]["errors"] == 1
    assert data["fingerprint"] == e.fingerprint
    assert "   e" in render(e)
    assert " - " in render(e)


def test_markdown_is_a_table(evaluation):
    lines = render(evaluation, "md").splitlines()
    assert lines[2].startswith("|  | system | kind | error % \\[95 %\\] | sub |")
    widths = {line.replace("\\|", "").count("|") for line in lines[2:8]}
    assert len(widths) == 1
    assert lines[4].startswith("| \\* | vote | ensemble | 4.17 ")
    assert lines[-1] == f"`{evaluation.signature}`"


def test_every_printed_number_has_a_definition(evaluation):
    heads = re.split(r"\s{2,}", render(evaluation).splitlines()[1].strip())
    for head in heads:
        assert head in ("system", "kind") or head.split(" [")[0] in DEFINITIONS
    assert {row.kind for row in evaluation.rows} <= set(DEFINITIONS)
    assert all(row.name in DEFINITIONS for row in evaluation.rows if row.kind == "oracle")
    text = " ".join(render(evaluation, definitions=True).split())
    assert all(line in text for line in legend())
    assert legend(["ins", "nothing"]) == [f"ins: {DEFINITIONS['ins']}"]


def test_hamming_has_one_column_of_errors():
    e = evaluate_experts(ExpertPredictions.of({"e": [["x", "y"]]}, gold=[["x", "z"]]))
    lines = render(e).splitlines()
    assert lines[0] == "Token error on 1 records, 2 tokens of gold"
    assert re.split(r"\s{2,}", lines[1].strip()) == ["system", "kind", "error % [95 %]", "errors", "mean %", "wrong %"]
    assert re.split(r"\s{2,}", lines[2]) == ["*", "e", "expert", "50.00", "1", "50.00", "100.00"]


def test_comparisons_in_words():
    X = ExpertPredictions.of({"a": ["ab", "cd"], "b": ["ab", "cx"], "n": ["ab", "cd"]}, gold=["ab", "cd"])
    assert render_comparison(compare(X, "b", "a"), width=300).startswith(
        "b makes errors, a none: 25.00 % against 0.00 %"
    )
    assert render_comparison(compare(X, "a", "n"), width=300).startswith("a makes as many errors as n: 0.00 % against")
    worse = ExpertPredictions.of({"a": ["xx"], "b": ["ax"]}, gold=["ab"])
    text = render_comparison(compare(worse, "a", "b", test="randomization"), "md")
    assert text.startswith("a makes 100.0 % more errors than b: 100.00 % against 50.00 %, difference 50.00 points, p =")
    assert "approximate randomisation" in text
    data = json.loads(render_comparison(compare(X, "a", "b"), "json"))
    assert (data["better"], data["difference"]) == (1, -0.25)
    assert len(data["interval"]) == 2
    empty = ExpertPredictions.of({"a": [["x"]], "b": [[]]}, gold=[[]])
    assert "no error rates to compare; records better 0, worse 1" in render_comparison(compare(empty, "a", "b"))


def test_unknown_formats_are_refused(evaluation):
    with pytest.raises(ParameterError, match="table, json or md, got 'csv'"):
        render(evaluation, "csv")
    with pytest.raises(ParameterError, match="table, json or md, got 'csv'"):
        render_comparison(evaluation.verdict, "csv")


def test_metr_06_the_printed_alignment_adds_up():
    text = render_alignment(["a", "b", "c", "d"], ["b", "x", "c"])
    marks = [line for line in text.splitlines() if line.startswith("EVAL:")]
    assert re.sub(r"[^SDI]", "", marks[0][5:]) in ("DID", "IDD", "DDI")


@given(
    st.lists(st.sampled_from(["a", "b c", "", "\n", "中", "long-word", "***"]), max_size=12),
    st.lists(st.sampled_from(["a", "b c", "", "中", "x"]), max_size=12),
    st.integers(1, 40),
)
def test_alignment_blocks_hold_every_column_once(ref, hyp, width):
    lines = render_alignment(ref, hyp, width=width).splitlines()
    ops = [column.op for column in alignment(ref, hyp)]
    marks = "".join(line[5:] for line in lines if line.startswith("EVAL:")).replace(" ", "")
    assert marks == "".join({"sub": "S", "del": "D", "ins": "I", "hit": ""}[op] for op in ops)
    for head, op in (("REF:", "ins"), ("HYP:", "del")):
        cells = [cell for line in lines if line.startswith(head) for cell in line[5:].split()]
        assert len(cells) == len(ops)
        side = ref if op == "ins" else hyp
        assert [cell for cell, o in zip(cells, ops, strict=True) if o != op] == [
            visible(unit).replace(" ", "␣") or "''" for unit in side
        ]


@given(st.text(max_size=12), st.integers(0, 12), st.sampled_from(["left", "right"]))
def test_fitted_text_has_exactly_the_width(text, width, align):
    assert cell_len(fit(visible(text), width, align)) == width


def test_numbers():
    assert [percent(x) for x in (None, 0.0, 1.2345, 0.00004)] == ["-", "0.00", "123.45", "0.00"]
    assert [number(x) for x in (0, 1234567, 1234.56)] == ["0", "1,234,567", "1,234.6"]
