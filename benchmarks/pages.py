"""What benchmarks on the real files share: their options, the files asked for, and the places of tables in pages.

A table stands in a page between ``<!-- its name -->`` and the next ``<!-- end -->``.
"""

import argparse
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def parser_of(doc, *, only=True):
    """A parser of --data, --write and, if wanted, --only."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of the data files")
    if only:
        parser.add_argument("--only", default="", help="parts of names of files, by comma")
    parser.add_argument("--write", type=Path, help="page whose tables to exchange")
    return parser


def files_of(options):
    """The files asked for, by name."""
    wanted = [part for part in options.only.split(",") if part]
    found = [p for p in sorted(options.data.glob("*.jsonl.gz")) if not wanted or any(w in p.name for w in wanted)]
    if not found:
        raise SystemExit(f"no data files in {options.data}")
    return found


def put(page, tables):
    """Exchange tables, name -> Markdown, of a page."""
    text = page.read_text(encoding="utf-8")
    for name, table in tables.items():
        place = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not place.search(text):
            raise SystemExit(f"{page} has no place for {name!r}")
        text = place.sub(lambda m, table=table: f"{m[1]}{table}\n{m[2]}", text)
    page.write_text(text, encoding="utf-8")
