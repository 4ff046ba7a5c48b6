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

NOT_YET: dict[str, str] = {}
"""Cases that are not run, and why."""

PARTLY = {
    "PARSE-18": "CoNLL-U is read, not written: ranges and empty nodes are passed over",
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
