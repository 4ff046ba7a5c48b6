"""Token error of every method on real multi-system files, learnt on one part of the records and tested on the other.

    python benchmarks/real_data.py [--data ../shared/data] [--only pron,pos] [--write docs/real-data.md]

Records are cut by the first byte of sha256(id): below 128 learns, the rest tests. Pronunciation learns on 2,000 words
and is tested on all others. Every file runs in the same way: H_MVote and H_CV with tie "expert" and the rate chosen by
cross-validation on the learning part. The oracle path is the best that any choice of one expert a slot can give.
"""

import hashlib
import time
from dataclasses import dataclass

import numpy as np
from pages import files_of, parser_of

from structens.align import align, oracle_errors
from structens.ensembles import METHODS, make_ensemble
from structens.evaluate import compare_counts, count_errors
from structens.io import read_records

SHOWN = ("best", "vote", "rover", "mvote", "cv")
UNIT = {"crowdspeech": "word", "asr": "word"}


@dataclass
class Row:
    name: str
    n_learn: int
    n_test: int
    n_experts: int
    error: dict
    oracle: float
    against_best: object
    seconds: float


def learns(record_id):
    return hashlib.sha256(str(record_id).encode()).digest()[0] < 128


def split(X, name):
    known = X.has_gold
    first = np.array([learns(i) for i in X.ids]) & known
    if name == "pron":
        first &= np.cumsum(first) <= 2000
    return X[np.flatnonzero(first)], X[np.flatnonzero(known & ~first)]


def measure(path):
    name = path.name.removesuffix(".jsonl.gz")
    X = read_records(path)
    learn, test = split(X, name)
    start = time.process_time()
    counts = {}
    for method in SHOWN:
        ensemble = make_ensemble(method, tie="expert").fit(learn)
        counts[method] = count_errors(ensemble.predict(test), test, loss="edit")
    seconds = time.process_time() - start
    length = sum(counts["best"].reference_length)
    return Row(
        name=name,
        n_learn=len(learn),
        n_test=len(test),
        n_experts=X.n_experts,
        error={m: float(c.errors.sum() / length) for m, c in counts.items()},
        oracle=float(oracle_errors(test, align(test)).sum() / length),
        against_best=compare_counts(counts["mvote"], counts["best"], ("mvote", "best")),
        seconds=seconds,
    )


def markdown(rows):
    head = [
        "data",
        "learnt",
        "tested",
        "experts",
        *(METHODS[m][0] for m in SHOWN),
        "oracle path",
        "H_MVote - best [95 %]",
    ]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        low = min(row.error.values())
        cells = [f"**{row.error[m]:.4f}**" if row.error[m] == low else f"{row.error[m]:.4f}" for m in SHOWN]
        c = row.against_best
        band = f"{100 * c.difference:+.2f} [{100 * c.interval.low:+.2f}, {100 * c.interval.high:+.2f}]"
        first = [row.name, f"{row.n_learn:,}", f"{row.n_test:,}", str(row.n_experts)]
        lines.append("| " + " | ".join([*first, *cells, f"{row.oracle:.4f}", band]) + " |")
    return "\n".join(lines)


def main():
    options = parser_of(__doc__).parse_args()
    rows = []
    for path in files_of(options):
        rows.append(measure(path))
        row = rows[-1]
        print(
            row.name,
            " ".join(f"{m} {e:.4f}" for m, e in row.error.items()),
            f"oracle {row.oracle:.4f}",
            f"{row.seconds:.1f} s",
            flush=True,
        )
    table = markdown(rows)
    print("\n" + table)
    if options.write:
        options.write.write_text(PAGE.format(table=table), encoding="utf-8")


PAGE = """# Real data

Token error (summed edit distance over summed gold length, nearest alternative) of every method on real multi-system
outputs, by `python benchmarks/real_data.py --write docs/real-data.md`. Learnt on the records whose sha256(id) begins
with a byte below 128 (pronunciation: 2,000 words), tested on the others; bold is the lowest. The last column is the
paired difference in points with its bootstrap interval: below zero H_MVote is better.

{table}
"""

if __name__ == "__main__":
    main()
