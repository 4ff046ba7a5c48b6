"""Checks of the acceptance cases of family 1: combining."""

import itertools
import json
import os
import subprocess
from pathlib import Path

import pytest
from case_adapter import check, option, row_of
from run_cli import COMMAND, environment, lines, run

from structens.core.units import cut
from structens.losses import edit_distance

PLAIN = "def njit(*functions, **options): return functions[0] if functions else njit"
"""In place of numba: without the compiler a process starts in a third of the time."""


@check("COMB-01")
def ties_go_to_the_first_expert(case):
    result = case.combine("--json")
    assert result.answers == {"u1": case.values["u1"], "u2": case.values["u2"]}
    assert strict_summary(result)["ties"] == 2 * case.values["ties_per_utterance"]
    said = set()
    Path("plain").mkdir()
    Path("plain/numba.py").write_text(PLAIN)
    path = os.pathsep.join(["plain", *filter(None, [os.environ.get("PYTHONPATH")])])
    for first in range(0, 20, 4):
        variables = [environment(PYTHONHASHSEED=str(seed), PYTHONPATH=path) for seed in range(first, first + 4)]
        command = [*COMMAND, "combine", "experts.jsonl", "-q"]
        running = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE) for env in variables]
        said |= {process.communicate(timeout=120)[0] for process in running}
    assert said == {result.out.encode()}


def strict_summary(result):
    """The summary that --json prints, on standard error where the answers take standard output."""
    return json.loads(result.err.splitlines()[-1])


@check("COMB-02")
def order_of_keys_decides_nothing(case):
    record = json.loads(case.files["experts.jsonl"])
    outputs = set()
    for order in itertools.permutations(record["experts"]):
        text = lines({"id": "u1", "experts": {name: record["experts"][name] for name in order}})
        outputs.add(run("combine", "-", stdin=text.encode()).out)
    assert len(outputs) == case.values["distinct_outputs_over_6_orders"]
    answer = json.loads(outputs.pop())["prediction"]
    assert answer in case.values["allowed_outputs"]
    distance = sum(edit_distance(answer, said) for said in record["experts"].values())
    assert distance == case.values["total_edit_distance_of_each_candidate"]


@check("COMB-04")
def nothing_is_an_empty_list(case):
    result = case.combine()
    assert result.code == 0
    assert result.answers == case.values


@check("COMB-05")
def normal_forms(case):
    nfc, none = case.combine("--normalize", "NFC"), case.combine("--normalize", "none")
    assert nfc.answers == {"l1": case.values["NFC_output"]}
    assert nfc.notes == []
    assert none.code == 0
    assert [note for note in none.notes if "mix Unicode normal forms" in note] == none.notes[:1]
    experts = json.loads(case.files["experts.jsonl"])["experts"]
    assert [len(experts[name]) for name in "AB"] == [case.values["len_A"], case.values["len_B"]]
    Path("pair.jsonl").write_text(lines({"id": "l1", "gold": experts["A"], "prediction": experts["B"]}))
    plain = run("evaluate", "pair.jsonl", "--json", *option("--unit char"))
    assert row_of(plain)["errors"] == case.values["distance_A_B_codepoints_none"]
    assert row_of(run("evaluate", "pair.jsonl", "--json", "--normalize", "NFC"))["errors"] == 0


@check("COMB-07")
def letters_that_look_alike(case):
    clusters = case.evaluate("--json", *option("--unit grapheme"), file="pair.jsonl")
    points = case.evaluate("--json", *option("--unit char"), file="pair.jsonl")
    assert row_of(clusters)["errors"] == case.values["edit_grapheme"]
    assert row_of(points)["errors"] == case.values["edit_codepoint"]
    for form in ("NFC", "NFKC"):
        folded = case.evaluate("--json", "--normalize", form, file="pair.jsonl")
        assert (row_of(folded)["errors"] == 0) is case.values[f"equal_after_{form}"]


@check("COMB-08")
def emoji_stay_whole(case):
    assert case.combine().answers == {"m1": case.values["combine"]}
    experts = json.loads(case.files["experts.jsonl"])["experts"]
    a, b = experts["A"][0], experts["B"][0]
    assert len(a.encode("utf-16-le")) // 2 == case.values["utf16_units"]
    pairs = [{"id": "t", "gold": [a], "prediction": [b]}]
    texts = [{"id": "t", "gold": a, "prediction": b}]
    flags = [{"id": "t", "gold": "\U0001f1eb\U0001f1f7", "prediction": "\U0001f1e9\U0001f1ea"}]
    assert row_of(scored(pairs, "--unit grapheme"))["errors"] == case.values["token_distance"]
    for name, neutral in (("grapheme", "--unit grapheme"), ("codepoint", "--unit char")):
        found, expected = scored(texts, neutral), case.values[name]
        row = row_of(found)
        assert (row["errors"], row["reference_length"]) == (expected["distance"], expected["ref_len"])
        assert row["rate"] == pytest.approx(expected["rate"], rel=1e-9)
        assert found.json["unit"] == option(neutral)[1]
        assert row_of(scored(flags, neutral))["errors"] == case.values["flags_FR_DE"][name]
    assert run("evaluate", "pair.jsonl").out.startswith("Character error")
    assert run("evaluate", "pair.jsonl", *option("--unit char")).out.startswith("Code point error")


def scored(records, unit):
    """The table of records with gold and prediction."""
    Path("pair.jsonl").write_text(lines(*records), encoding="utf-8")
    return run("evaluate", "pair.jsonl", "--json", *option(unit))


@check("COMB-10")
def clean_up_only_on_request(case):
    assert case.combine().answers["u1"] == case.values["default"]
    folded = case.combine("--casefold", "--strip-punct")
    assert folded.answers["u1"] == case.values["folded_output"]
    assert [len(names) for names in folded.rows[0]["experts"]] == [3, 2]
    keys = case.values["folded_vote_keys"]
    assert [word.strip(",.").lower() for word in folded.answers["u1"]] == keys
    for k, said in enumerate(("yes,", "yes!")):
        Path("pair.jsonl").write_text(lines({"id": "u1", "gold": ["yes"], "prediction": [said]}))
        assert row_of(run("evaluate", "pair.jsonl", "--json"))["rate"] == case.values["wer_plain"][k]
        stripped = run("evaluate", "pair.jsonl", "--json", "--strip-punct")
        assert row_of(stripped)["rate"] == case.values["wer_strip_punct"][k]


@check("COMB-11")
def blanks(case):
    result = case.evaluate("--unit", "word", "--per-record", file="pair.jsonl")
    u1, u2 = result.rows
    assert (u1["errors"], u1["ref_len"]) == (case.values["u1_errors"], case.values["u1_ref_len"])
    assert (u2["errors"], u2["ref_len"]) == (case.values["u2_errors"], case.values["u2_ref_tokens"])
    assert u2["hits"] + u2["sub"] + u2["ins"] == case.values["u2_hyp_tokens"]
    assert len([note for note in result.notes if "U+00A0" in note]) == 1
    assert "" not in cut(" a  b ", "word")


@check("COMB-13")
def ids_that_occur_twice(case):
    result = case.combine("-o", "out.jsonl")
    result.refused("experts.jsonl", *case.values["message_mentions"])
    assert not Path("out.jsonl").exists()


@check("COMB-14")
def missing_is_not_empty(case):
    case.write()
    run("collect", "-e", "A=A.jsonl", "-e", "C=C.jsonl", "-o", "both.jsonl")
    result = run("combine", "both.jsonl", "--json")
    assert result.answers["u2"] == case.values["combine_u2"]
    summary = strict_summary(result)
    assert f"{summary['records'] - summary['absent']['C']}/{summary['records']}" == case.values["coverage_C"]
    assert "answers missing, which do not vote: C 1" in run("combine", "both.jsonl").err
    for options, key in (((), "eval_default"), (("--present-only",), "eval_present_only")):
        found, expected = run("evaluate", "C.jsonl", "--gold", "ref.jsonl", "--json", *options), case.values[key]
        row = row_of(found, "C")
        assert (row["errors"], row["reference_length"]) == (expected["errors"], expected["ref_len"])
        assert row["rate"] == pytest.approx(expected["rate"], rel=1e-9)
        assert found.json["missing"] == {"C": ["u2"]}
        assert len(found.json["missing"]["C"]) == case.values["eval_default"]["missing"]


@check("COMB-16")
def ids_that_are_not_shared(case):
    case.write()
    result = run("evaluate", "A.jsonl", "--gold", "B.jsonl")
    said = (f"{case.values['shared_ids']} of 1 ids are shared", "'u1'", "'u1 -77'", "A.jsonl", "B.jsonl")
    result.refused(*said)
    run("collect", "-e", "A=A.jsonl", "-e", "B=B.jsonl", "-o", "o.jsonl").refused(*said)
    assert not Path("o.jsonl").exists()


@check("COMB-17")
def a_babbling_expert_is_outvoted(case):
    assert case.combine().answers == case.values
    record = json.loads(case.files["experts.jsonl"])
    record["experts"]["C"] *= 100
    assert run("combine", "-", stdin=lines(record).encode()).answers == case.values
