"""The documentation says what is true: its Python runs, its links lead somewhere, every command and method is in it."""

import re
from pathlib import Path

import pytest

from structens.ensembles import METHODS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "data" / "README.md"]
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]+)\)")
BLOCKS = [(page, n, code) for page in PAGES for n, code in enumerate(PYTHON.findall(page.read_text(encoding="utf-8")))]


@pytest.mark.parametrize(("page", "number", "code"), BLOCKS, ids=[f"{p.name}-{n}" for p, n, _ in BLOCKS])
def test_python_blocks_run(page, number, code, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    exec(compile(code, f"{page.name} block {number}", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    broken = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()]
    assert not broken


def test_every_command_and_method_is_documented():
    reference = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    choose = (ROOT / "docs" / "how-to" / "choose.md").read_text(encoding="utf-8")
    for command in ("combine", "fit", "evaluate", "automaton", "train", "tag"):
        assert f"## structens {command}" in reference
    for method in METHODS:
        assert f"`{method}" in choose
