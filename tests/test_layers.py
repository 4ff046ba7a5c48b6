"""A file imports only from layers below its own, and from core; siblings never import each other."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "structens"
LEVEL = {
    "core": 0,
    "losses": 1,
    "datasets": 1,
    "automata": 2,
    "align": 2,
    "online": 3,
    "boosting": 3,
    "ensembles": 4,
    "evaluate": 5,
    "io": 5,
    "distributed": 5,
    "report": 6,
    "cli": 7,
}
CORE_ALLOWED = {"numpy", "structens", "regex", "sklearn"}  # the last two lazily: units of text, tags for clone


def imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            yield node.lineno, node.module


def test_every_import_points_down():
    wrong = []
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).parts
        if len(parts) == 1:
            continue
        here = parts[0]
        for line, name in imports(path):
            if not name.startswith("structens"):
                continue
            there = name.split(".")[1] if "." in name else "the top"
            if there != here and LEVEL.get(there, 99) >= LEVEL[here]:
                wrong.append(f"{path}:{line}: {here} imports {there}")
    assert not wrong, "\n".join(wrong)


def test_core_needs_numpy_only():
    wrong = []
    for path in (ROOT / "core").rglob("*.py"):
        import sys

        for line, name in imports(path):
            root = name.split(".")[0]
            if root not in CORE_ALLOWED and root not in sys.stdlib_module_names:
                wrong.append(f"{path}:{line}: core imports {name}")
    assert not wrong, "\n".join(wrong)


def test_every_package_has_a_level():
    packages = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith("__")}
    assert packages <= set(LEVEL)
