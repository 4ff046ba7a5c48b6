#!/usr/bin/env python3
"""Records that a learnt model combines in a CPU-second, in Python and by `structens combine -m`, on short real records.

    model_speed.py [--data DIR] [--files pron,ocr_letters,...] [--methods confusion,boosted-paths,auto]

Each file is cut as in `auto.py`: the first part is learnt from, the others are combined. In Python medians of three
runs of `combine`, confidences included; the command reads and writes JSON Lines, its start-up (a run on one record) is
taken off, and it is run with auto only. One thread.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from auto import read
from combine_speed import cpu_of
from contextual import errors_of

from structens.ensembles import make_ensemble
from structens.io.ensemble_file import save

ROOT = Path(__file__).resolve().parents[1]
FILES = "pron,ocr_letters,ud18_fi_tdt_upos"
COPIES = 5
"""Times that the command gets the records, under different ids: its start-up must not decide."""


def seconds(model, Y):
    """Median CPU-seconds of combining."""
    model.combine(Y[:20])
    spent = []
    for _ in range(3):
        start = time.process_time()
        model.combine(Y)
        spent.append(time.process_time() - start)
    return statistics.median(spent)


def rate_of_command(model, test, unit, folder):
    """Records a CPU-second of `structens combine -m`."""
    path, few, many = folder / "model.structens", folder / "few.jsonl", folder / "many.jsonl"
    save(model, path, reading={"unit": unit if unit != "token" else "char"})
    lines = [json.dumps({"id": f"{k}-{r['id']}", "experts": r["experts"]}) for k in range(COPIES) for r in test]
    few.write_text(lines[0] + "\n", encoding="utf-8")
    many.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def spent(source):
        target = str(folder / "out.jsonl")
        command = [sys.executable, "-m", "structens", "combine", str(source), "-m", str(path), "-o", target, "--quiet"]
        return statistics.median(cpu_of(command)[0] for _ in range(3))

    return len(lines) / (spent(many) - spent(few))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--files", default=FILES)
    parser.add_argument("--methods", default="confusion,boosted-paths,auto")
    options = parser.parse_args()
    if not options.data.exists():
        raise SystemExit(f"{options.data} is missing: the records are there")
    os.environ.setdefault("PYTHONPATH", str(ROOT))
    head = ("file", "units", "experts", "method", "records / CPU-s", "command, records / CPU-s", "token error")
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|", flush=True)
    for name in options.files.split(","):
        (_, test), X, Y = read(options.data / f"{name}.jsonl.gz")
        length = sum(len(r["gold"]) for r in test)
        for method in options.methods.split(","):
            model = make_ensemble(method).fit(X)
            rate = len(Y) / seconds(model, Y)
            command = ""
            if method == "auto":
                with tempfile.TemporaryDirectory() as folder:
                    command = f"{rate_of_command(model, test, X.unit, Path(folder)):,.0f}"
            error = errors_of(model.predict(Y), test).sum() / length
            print(
                f"| {name} | {length / len(test):.1f} | {X.n_experts} | {method} | {rate:,.0f} | {command} "
                f"| {error:.4f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
