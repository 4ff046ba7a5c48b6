"""Every acceptance case of the families that exist, through one adapter; none is left out without a reason.

The checks of a family stand in a file of their own, ``cases_*.py``; see `case_adapter`.
"""

import sys
from importlib import import_module

import pytest

pytest.register_assert_rewrite(*({"run_cli", "case_adapter"} - sys.modules.keys()))
from case_adapter import CASES, CHECKS, FAMILIES, FILE  # noqa: E402

if not FILE.exists():
    pytest.skip("../shared/cases/cases.jsonl, which holds the acceptance cases, is not there", allow_module_level=True)

for family in ("cases_combine", "cases_read", "cases_learn", "cases_boost", "cases_process"):
    if family not in sys.modules:
        pytest.register_assert_rewrite(family)
    import_module(family)

NOT_YET = {
    "PARSE-17": "STM is read by `structens collect`, which does not exist yet",
    "PARSE-18": "CoNLL-U is read by `structens collect`, which does not exist yet",
    "PARSE-20": "CoNLL-U is read by `structens collect`, which does not exist yet",
    "PARSE-21": "Kaldi's text is read by `structens collect`, which does not exist yet",
    "CLI-06": "NAME=PATH is an argument of `structens collect`, which does not exist yet",
}
"""Cases that are not run, and why."""

PARTLY = {
    "COMB-14": "one file an expert is put together by `collect`; here the test does it",
    "COMB-16": "two files with ids that differ are joined by `evaluate --gold`; `collect` will refuse them too",
    "PARSE-02": "JSON Lines; Kaldi's text and CoNLL-U are read by `collect`",
    "METR-11": "alternatives are given as gold_alternatives; the notation { a / b } of STM is read by `collect`",
    "METR-14": "files without ids are refused; a format without ids is not read yet",
    "TAG-05": "new labels are noted where weights depend on labels (tie=label); elsewhere none is special",
    "CLI-15": "the declared minimum and the syntax of all files; installing into other Pythons is not the tests' work",
}
"""Cases of which a part is run, and what is not."""

PROCESSES = {"COMB-01", "CLI-02", "CLI-05", "CLI-09", "CLI-11", "CLI-14"}
"""Cases that start processes."""


@pytest.mark.parametrize(
    "ident", [pytest.param(i, marks=pytest.mark.cli if i in PROCESSES else ()) for i in sorted(CASES)]
)
def test_case(ident, tmp_path, monkeypatch):
    if ident in NOT_YET:
        pytest.skip(NOT_YET[ident])
    monkeypatch.chdir(tmp_path)
    CHECKS[ident](CASES[ident])


def test_every_case_is_run_or_has_a_reason():
    assert len({case.family for case in CASES.values()}) == len(FAMILIES)
    assert not CHECKS.keys() & NOT_YET.keys()
    assert CHECKS.keys() | NOT_YET.keys() == CASES.keys()
    assert PARTLY.keys() | PROCESSES <= CHECKS.keys()
