#!/usr/bin/env python3
"""`auto` beside every other method, and beside what is built by hand in an afternoon, on real files; learning curve.

    auto.py [--data DIR] [--only pron,pos] [--seeds 5] [--cache auto.json] [--curve] [--write docs/auto.md]

Each file is cut by the first byte of sha256(id): below 128 learns, the rest tests. Errors are edit distances to the
nearest gold by rapidfuzz. What was measured is kept in the cache, record by record, so that an interrupted run goes on;
only what is missing is run. Methods without chance run once; auto with as many seeds of folds as are asked for. Needs
lightgbm, python-crfsuite and crowd-kit (`auto_peers.py`); a peer that fails is left out, and said.
"""

import json
import math
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gzip

import numpy as np
from auto_peers import PEERS
from contextual import LightGBMCandidates, errors_of, is_learnt_from, predictions
from pages import files_of, parser_of, put

from structens.align import align, needs_alignment, oracle_errors
from structens.ensembles import make_ensemble
from structens.ensembles.out_of_fold import hide_gold, judged
from structens.evaluate import reliability

LIMIT = 4000
PLAIN = ("best", "vote", "rover", "mvote", "sle", "confusion", "boosted-paths")
CROWDS = ("dawid-skene",)
"""Where records name workers."""
VOTES = ("best", "vote", "rover", "mvote")
SIZES = (10, 30, 100, 300, 1000, 5000)
N_DRAWS = 3
N_OTHERS = 400
"""Records without gold beside those with gold, of the curve."""
COLUMNS = {
    "best": "best expert", "vote": "majority", "rover": "ROVER", "sle": "H_SLE", "mvote": "H_MVote",
    "crowd-kit": "crowd-kit", "LightGBM one-hot": "LightGBM, votes", "CRF on votes": "CRF",
    "LightGBM candidates": "LightGBM, candidates", "confusion": "confusions", "boosted-paths": "BoostedPaths",
    "dawid-skene": "Dawid-Skene", "auto": "auto",
}  # fmt: skip


class Cache:
    """Results by file and method, on disk after each."""

    def __init__(self, path):
        self.path = Path(path)
        self.known = json.loads(self.path.read_text()) if self.path.exists() else {}

    def get(self, name, key, run):
        row = self.known.setdefault(name, {})
        if key not in row:
            row[key] = run()
            aside = self.path.with_suffix(".tmp")
            aside.write_text(json.dumps(self.known))
            aside.replace(self.path)
        return row[key]


def read(path):
    """Both parts: records as they came, and as predictions."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records = [r for r in map(json.loads, file) if r.get("gold") is not None]
    parts = [[r for r in records if is_learnt_from(r) is first][:LIMIT] for first in (True, False)]
    both = [*parts[0], *parts[1]]
    whole, n = predictions(both), len(parts[0])
    if any("workers" in r for r in both) and whole.workers is None:
        whole = whole.with_workers({name: [r.get("workers", {}).get(name) for r in both] for name in whole.names})
    return parts, whole[:n], whole[n:]


def timed(model, X, Y, test):
    """Errors of each record, CPU seconds of learning and of combining 1,000 records, and what confidences are worth."""
    start = time.process_time()
    model.fit(X)
    fit = time.process_time() - start
    model.combine(Y[:20])
    start = time.process_time()
    done = model.combine(Y)
    spent = (time.process_time() - start) / len(Y) * 1000
    found = judged(done.prediction, done.X if done.X.has_gold.all() else Y)
    trust = reliability(done.confidence, found.hit)
    return {
        "errors": errors_of(done.answers, test).tolist(),
        "fit": fit,
        "combine": spent,
        "calibration": trust.calibration_error,
        "least": trust.errors_in_least_sure,
        "said": getattr(model, "explanation_", ""),
    }


def measure(path, cache, seeds):
    name = path.name.removesuffix(".jsonl.gz")
    if (
        name in cache.known
        and {"auto 0", *PLAIN, *PEERS, "LightGBM candidates"} <= cache.known[name].keys()
        and (f"auto {seeds - 1}" in cache.known[name])
    ):
        return
    (train, test), X, Y = read(path)
    mode = "always" if needs_alignment(X) or needs_alignment(Y) else "never"
    length = sum(len(r["gold"]) for r in test)
    cache.get(name, "facts", lambda: {
        "learn": len(train), "test": len(test), "experts": X.n_experts, "length": length,
        "oracle": float(oracle_errors(Y, align(Y, mode=mode)).sum() / length),
    })  # fmt: skip
    for seed in range(seeds):
        cache.get(name, f"auto {seed}", lambda seed=seed: timed(make_ensemble("auto", seed=seed), X, Y, test))
    for method in (*PLAIN, *(CROWDS if X.workers is not None else ())):
        cache.get(name, method, lambda method=method: timed(make_ensemble(method), X, Y, test))

    def by_slots(peer):
        answers = Y.render(peer(align(X, mode=mode), align(Y, mode=mode)))
        return {"errors": errors_of(answers, test).tolist()}

    def attempt(what, run):
        try:
            return run()
        except Exception as error:  # a peer's own faults are a result
            print(f"{name}: {what} failed: {error!r}"[:200], file=sys.stderr, flush=True)
            return {"errors": None}

    for what, peer in PEERS.items():
        cache.get(name, what, lambda what=what, peer=peer: attempt(what, lambda: by_slots(peer)))
    cache.get(name, "LightGBM candidates", lambda: attempt(
        "LightGBM", lambda: {"errors": errors_of(LightGBMCandidates().fit(X).predict(Y), test).tolist()}
    ))  # fmt: skip
    rates = {m: rate(cache.known[name], m) for m in COLUMNS}
    print(name, {m: round(r, 4) for m, r in rates.items() if r is not None}, file=sys.stderr, flush=True)


def seeds_of(row):
    return [key for key in row if key.startswith("auto ")]


def rate(row, method):
    """Token error; of auto the mean over its seeds."""
    keys = seeds_of(row) if method == "auto" else [method]
    if any(row.get(key, {}).get("errors") is None for key in keys) or not keys:
        return None
    return float(np.mean([np.sum(row[key]["errors"]) for key in keys]) / row["facts"]["length"])


def paired(row, a, b, n=2000):
    """Difference of token errors in points and its bootstrap interval over records."""
    d = (np.array(row[a]["errors"]) - np.array(row[b]["errors"])) / row["facts"]["length"] * 100
    rng = np.random.default_rng(0)
    draws = rng.multinomial(len(d), np.full(len(d), 1 / len(d)), size=n) @ d
    return d.sum(), *np.quantile(draws, [0.025, 0.975])


def geometric(pairs):
    logs = [math.log(a / b) for a, b in pairs if a and b]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan, len(logs)


def tables(known):
    rows = {name: row for name, row in sorted(known.items()) if not name.startswith("curve ") and seeds_of(row)}
    lines = [
        "| file | learnt | " + " | ".join(COLUMNS.values()) + " | oracle path | auto - best other, points [95 %] |"
    ]
    lines.append("|---" * (len(COLUMNS) + 4) + "|")
    worse = []
    for name, row in rows.items():
        rates = {m: rate(row, m) for m in COLUMNS}
        least = min(r for r in rates.values() if r is not None)
        cells = ["-" if r is None else f"**{r:.4f}**" if r == least else f"{r:.4f}" for r in rates.values()]
        others = {m: r for m, r in rates.items() if r is not None and m != "auto"}
        rival = min(others, key=others.get)
        d, low, high = paired(row, "auto 0", rival)
        if low > 0:
            worse.append(f"{name} ({COLUMNS[rival]})")
        lines.append(f"| {name} | {row['facts']['learn']:,} | {' | '.join(cells)} | {row['facts']['oracle']:.4f} "
                     f"| {d:+.2f} [{low:+.2f}, {high:+.2f}] {COLUMNS[rival]} |")  # fmt: skip
    out = ["\n".join(lines), "", "Geometric means of auto's error over that of others:", ""]
    for m, title in COLUMNS.items():
        if m != "auto":
            ratio, n = geometric([(rate(row, "auto"), rate(row, m)) for row in rows.values() if rate(row, m)])
            out.append(f"- {title}: {ratio:.3f} ({n} files)")
    ratio, n = geometric([(rate(row, "auto"), min(rate(row, m) for m in VOTES)) for row in rows.values()])
    out.append(f"- the best of best expert, majority, ROVER and H_MVote: **{ratio:.3f}** ({n} files)")
    out += ["", f"Significantly worse than the best other method on {len(worse)} of {len(rows)} files"
            + (f": {', '.join(worse)}." if worse else ".")]  # fmt: skip
    return "\n".join(out), trust_table(rows)


def trust_table(rows):
    lines = ["| file | records learnt from | what auto took (seed 0) | learning, CPU s | 1,000 combined, CPU s | "
             "calibration error | errors in the 10 % least sure |", "|---|---|---|---|---|---|---|"]  # fmt: skip
    for name, row in rows.items():
        one = row["auto 0"]
        took = one["said"].split(": ")[0].split(", least error")[0].split(", preferred")[0]
        held = "-" if one["least"] is None else f"{100 * one['least']:.0f} %"
        lines.append(f"| {name} | {row['facts']['learn']:,} | {took} | {one['fit']:.1f} | {one['combine']:.2f} "
                     f"| {one['calibration']:.4f} | {held} |")  # fmt: skip
    return "\n".join(lines)


def curve(path, cache, sizes):
    """auto and the best expert on few records, drawn at random."""
    name = path.name.removesuffix(".jsonl.gz")
    (train, test), X, Y = read(path)
    Y, test = Y[:500], test[:500]
    row = cache.known.setdefault(f"curve {name}", {})
    row["facts"] = {"length": sum(len(r["gold"]) for r in test)}
    for size in sizes:
        if size > len(train) and (size != SIZES[-1] or len(train) <= SIZES[-2]):
            continue
        for draw in range(N_DRAWS if size < len(train) else 1):
            rows = np.sort(np.random.default_rng([draw, size]).permutation(len(train))[:size])
            some = with_others(X, rows)
            for method in ("auto", "best"):
                cache.get(f"curve {name}", f"{method} {size} {draw}", lambda method=method, some=some: {
                    "errors": errors_of(make_ensemble(method).fit(some).predict(Y), test).tolist()
                })  # fmt: skip
    print("curve", name, file=sys.stderr, flush=True)


def with_others(X, rows):
    """Some records, and up to N_OTHERS others whose gold is hidden."""
    others = np.setdiff1d(np.arange(len(X)), rows)[:N_OTHERS]
    both = np.sort(np.concatenate([rows, others]))
    return hide_gold(X[both], np.isin(both, others))


def curve_table(known):
    lines = ["| records with gold | runs | auto over best expert [95 % over files] | better | significantly worse |"]
    lines.append("|---|---|---|---|---|")
    files = {name: row for name, row in known.items() if name.startswith("curve ")}
    for size in SIZES:
        ratios, better, worse, n = {}, 0, [], 0
        for name, row in files.items():
            for draw in range(N_DRAWS):
                a, b = f"auto {size} {draw}", f"best {size} {draw}"
                if a in row and b in row:
                    _, low, high = paired(row, a, b)
                    n, better = n + 1, better + (high < 0)
                    if low > 0:
                        worse.append(name.removeprefix("curve "))
                    ratio = (sum(row[a]["errors"]) + 0.5) / (sum(row[b]["errors"]) + 0.5)
                    ratios.setdefault(name, []).append(math.log(ratio))
        if n:
            means = np.array([np.mean(r) for r in ratios.values()])
            draws = np.random.default_rng(0).choice(means, (2000, len(means))).mean(axis=1)
            low, high = np.exp(np.quantile(draws, [0.025, 0.975]))
            what = f"{len(worse)}" + (f" ({', '.join(sorted(set(worse)))})" if worse else "")
            lines.append(f"| {size:,} | {n} | {np.exp(means.mean()):.3f} [{low:.3f}, {high:.3f}] | {better} | {what} |")
    return "\n".join(lines)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--cache", default="auto.json", help="file of what was measured")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="of the curve, records with gold")
    parser.add_argument("--curve", action="store_true", help="measure the learning curve instead")
    parser.add_argument("--tables", action="store_true", help="measure nothing, show what is there")
    options = parser.parse_args()
    cache = Cache(options.cache)
    for path in () if options.tables else files_of(options):
        if options.curve:
            curve(path, cache, [int(size) for size in options.sizes.split(",")])
        else:
            measure(path, cache, options.seeds)
    errors, trust = tables(cache.known)
    steps = curve_table(cache.known)
    print(errors, trust, steps, sep="\n\n")
    if options.write:
        put(options.write, {"errors": errors, "trust": trust, "curve": steps})


if __name__ == "__main__":
    main()
