"""Named entities under BIO validity: invalid answers, token error and entity F1 with and without the constraint.

    python benchmarks/bio.py [--data ../shared/data] [--write docs/how-to/bio.md]

Methods that learn do so on half of the records (the first byte of sha256(id) below 128), as in benchmarks/real_data.py;
all are tested on the other half. With --write the table between the marks of the page is replaced. At the end the time
of restricted decoding on 20,000 sentences is measured.
"""

import argparse
import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from real_data import learns

from structens.ensembles import METHODS, make_ensemble
from structens.ensembles.restriction import compile_restriction
from structens.evaluate.entities import entity_counts
from structens.io import read_records

ROOT = Path(__file__).resolve().parents[1]
FILES = ("ner_wnut17_submissions", "ner_wnut17_own")
RUNS = (("vote", "marginal"), ("mvote", "marginal"), ("mvote", "viterbi"), ("mvote", "string"), ("mvote", "mbr"))
MARKS = re.compile(r"(<!-- table -->\n).*?(<!-- end -->)", re.DOTALL)


def row_of(answers, test):
    acceptor = compile_restriction("bio", test.alphabet)
    invalid = sum(not acceptor.accepts(test.alphabet.encode(answer)) for answer in answers)
    wrong = sum(a != g for said, gold in zip(answers, test.gold, strict=True) for a, g in zip(said, gold, strict=True))
    counts = entity_counts(test.gold, answers)
    return invalid, 100 * wrong / sum(map(len, test.gold)), 100 * counts.f1


def measure(path):
    X = read_records(path)
    first = np.array([learns(i) for i in X.ids]) & X.has_gold
    learn, test = X[np.flatnonzero(first)], X[np.flatnonzero(X.has_gold & ~first)]
    rows = []
    singles = [(row_of(test[name], test), name) for name in test.names if test.present[:, test.column(name)].all()]
    best = max(singles, key=lambda item: item[0][2])
    rows.append([f"best expert by F1 ({best[1]})", "", best[0]])
    for method, decode in RUNS:
        for restriction in (None, "bio"):
            ensemble = make_ensemble(method, decode=decode, restriction=restriction).fit(learn)
            rows.append(
                [f"{METHODS[method][0]}, {decode}", restriction or "none", row_of(ensemble.predict(test), test)]
            )
    return len(test), rows


def speed(path, n=20_000):
    X = read_records(path)
    X = X[np.arange(n) % len(X)]
    X = replace(X, ids=tuple(range(n)))
    out = {}
    for restriction in (None, "bio"):
        ensemble = make_ensemble("vote", restriction=restriction).fit(X[:100])
        ensemble.combine(X[:100])
        start = time.perf_counter()
        ensemble.combine(X)
        out[restriction] = time.perf_counter() - start
    return out, int(X.hypotheses.lengths.reshape(n, -1)[:, 0].sum())


def markdown(measured):
    lines = []
    for name, (n, rows) in measured.items():
        lines += [f"`{name}`, {n:,} sentences tested:", ""]
        lines += ["| method | constraint | invalid answers | token error % | entity F1 |", "|---|---|---|---|---|"]
        lines += [
            f"| {label} | {how} | {invalid} | {error:.2f} | {f1:.2f} |" for label, how, (invalid, error, f1) in rows
        ]
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    paths = {name: options.data / f"{name}.jsonl.gz" for name in FILES}
    if not all(path.exists() for path in paths.values()):
        raise SystemExit(f"{' and '.join(FILES)} are not in {options.data}")
    table = markdown({name: measure(path) for name, path in paths.items()})
    print(table)
    if options.write:
        page = options.write.read_text(encoding="utf-8")
        options.write.write_text(MARKS.sub(lambda m: m[1] + table + m[2], page), encoding="utf-8")
    seconds, n_tokens = speed(paths["ner_wnut17_own"])
    print(f"20,000 sentences, {n_tokens:,} tokens: vote {seconds[None]:.2f} s, restricted {seconds['bio']:.2f} s")


if __name__ == "__main__":
    main()
