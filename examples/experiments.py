"""Rebuild every table of docs/experiments.md from data.

    python examples/experiments.py                    # writes docs/experiments.md; 17 minutes of CPU
    python examples/experiments.py --only ads,pos     # only these tables; the others stay as they are
    python examples/experiments.py --quick            # small and noisy, prints only: shows that it runs

Cortes, Kuznetsov and Mohri, "Ensemble methods for structured prediction" (ICML 2014) and "Learning ensembles of
structured prediction rules" (ACL 2014), section 5. Prose stands in the page; a table stands between two marks there.
"""

import argparse
import re
import sys
import time
from pathlib import Path

from tables import absent, ads, ocr, pos, pron, protocol, speech

from structens.core import DataError

ROOT = Path(__file__).resolve().parents[1]
TABLES = {"ads": ads, "ocr": ocr, "pos": pos, "pron": pron, "speech": speech, "absent": absent}


def replaced(page, name, made):
    """The page with the table of that name exchanged."""
    mark = re.compile(rf"(<!-- table {name} -->\n)(?:.*?\n)??(<!-- end -->)", re.DOTALL)
    if not mark.search(page):
        raise SystemExit(f"the page has no place for the table {name!r}")
    return mark.sub(lambda m: f"{m[1]}{made}\n{m[2]}", page)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help=f"tables by comma, of {', '.join(TABLES)}")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of the data files")
    parser.add_argument("--write", type=Path, default=ROOT / "docs" / "experiments.md", help="page to bring up to date")
    parser.add_argument("--quick", action="store_true", help="little data and few folds; the page is left alone")
    args = parser.parse_args()
    chosen = [name for name in args.only.split(",") if name] or list(TABLES)
    if unknown := set(chosen) - set(TABLES):
        parser.error(f"there is no table {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
    if args.quick:
        protocol.DEEP_ROUNDS = 5
    for name in chosen:
        start = time.process_time()
        try:
            made = TABLES[name].tables(args.data, args.quick)
        except DataError as error:
            print(f"{name}: left as it is: {error}", file=sys.stderr)
            continue
        print(f"\n## {name} ({time.process_time() - start:.0f} s of CPU)\n\n{made}", flush=True)
        if not args.quick:
            page = args.write.read_text(encoding="utf-8")
            args.write.write_text(replaced(page, name, made), encoding="utf-8")


if __name__ == "__main__":
    main()
