#!/usr/bin/env python3
"""Methods for no and little gold: votes, Dawid-Skene, HRRASA, and what learns from gold, on real and generated files.

    generative.py [--data DIR] [--only crowd,pron] [--cache generative.json] [--write docs/how-to/little_gold.md]

Each file is cut by the first byte of sha256(id): one half is tested. The other gives gold: of 0, 10, 30, 100 of its
records (the same drawn at random for all methods), or of all. All records are given, those tested without gold:
what it means to combine a file. Dawid-Skene and HRRASA learn from those too, auto where they name workers.
Crowds give a word error rate over all records tested, to the nearest gold; the published figures, of the answers that
the files carry, are counted on the same records. Results are kept in the cache.
"""

import gzip
import hashlib
import json
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from pages import ROOT, files_of, parser_of, put
from rapidfuzz.distance import Levenshtein

from structens.core import ExpertPredictions
from structens.ensembles import METHODS, make_ensemble

FILES = ("crowdspeech", "crowdwsa", "ocr_lines", "pron")
GENERATED = {"str": "str:1500:40:5", "tag": "tag:1500:20:5"}
MOST = 1500
"""Records of a file that is no crowd's."""
SIZES = (0, 10, 30, 100, "half")
ALONE = ("vote", "rover", "hrrasa")
BOTH = ("dawid-skene",)
LITTLE = ("confusion", "auto")


def read(path):
    """Records with gold."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records = [r for r in map(json.loads, file) if r.get("gold") is not None]
    return records if path.name.startswith("crowd") else records[:MOST]


def generated(name):
    """Records of the generator in `peers/combine_bench.py`."""
    sys.path.insert(0, str(ROOT.parent / "shared" / "peers"))
    sys.dont_write_bytecode = True
    import combine_bench

    kind, *numbers = GENERATED[name].split(":")
    made = getattr(combine_bench, f"gen_{kind}")(*map(int, numbers))
    if kind == "tag":
        ends = made["lens"].cumsum()
        rows = [[row.tolist() for row in np.split(a.astype(str), ends[:-1])] for a in (made["ref"], *made["preds"])]
    else:
        rows = [[list(text) for text in part] for part in (made["ref"], *made["preds"])]
    return [
        {"id": i, "gold": gold, "experts": {f"e{k}": one for k, one in enumerate(said)}}
        for i, (gold, *said) in enumerate(zip(*rows, strict=True))
    ]


def predictions(records):
    names = sorted({name for r in records for name in r["experts"]})
    X = ExpertPredictions.of(
        {name: [r["experts"].get(name) for r in records] for name in names}, ids=[r["id"] for r in records]
    )
    if not any(r.get("workers") for r in records):
        return X
    return X.with_workers({name: [(r.get("workers") or {}).get(name) for r in records] for name in names})


def rate(answers, records):
    """Error in per cent, to the nearest gold."""
    errors = length = 0
    for answer, r in zip(answers, records, strict=True):
        golds = [r["gold"], *r.get("gold_alternatives", [])]
        near = min(golds, key=lambda gold, answer=answer: Levenshtein.distance(answer or [], gold))
        errors, length = errors + Levenshtein.distance(answer or [], near), length + len(near)
    return 100 * errors / length


def measure(records, known):
    """Error rates of all methods at all sizes; those known are kept."""
    X = predictions(records)
    tested = np.array([hashlib.sha256(str(r["id"]).encode()).digest()[0] >= 128 for r in records])
    test = [r for r, t in zip(records, tested, strict=True) if t]
    order = np.random.default_rng(0).permutation(np.flatnonzero(~tested))
    for name in sorted({k for r in test for k in r.get("aggregated") or {}}):
        known.setdefault(f"published {name}", [rate([r["aggregated"].get(name) for r in test], test), 0.0])
    known["records"] = [len(records), len(test)]
    for size in SIZES:
        chosen = np.sort(order if size == "half" else order[:size])
        gold = [None] * len(records)
        for i in chosen.tolist():
            gold[i] = records[i]["gold"]
        for method in (*ALONE, *BOTH, *LITTLE) if size == 0 else (*BOTH, *LITTLE):
            key = f"{method} {size}"
            if key in known or (size == 0 and method == "confusion"):
                continue
            whole = X.with_gold(gold)
            start = time.process_time()
            model = make_ensemble(method).fit(whole)
            answers = model.predict(X[np.flatnonzero(tested)])
            known[key] = [rate(answers, test), time.process_time() - start]
            yield key


def table(results):
    """Markdown: files, and for each amount of gold the methods."""
    parts = [[f"{m} 0" for m in (*ALONE, *BOTH, "auto")]]
    parts += [[f"{m} {size}" for m in (*BOTH, *LITTLE)] for size in SIZES[1:]]
    heads = [METHODS[c.split()[0]][0] for c in parts[0]]
    heads += [" / ".join(METHODS[c.split()[0]][0] for c in part) + f", {part[0].split()[1]}" for part in parts[1:]]
    lines = ["| file | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for name, known in results.items():
        cells = []
        for part in parts:
            least = min((known[c][0] for c in part if c in known), default=0.0)
            own = [_cell(known[c][0], least) if c in known else "-" for c in part]
            cells += own if part is parts[0] else [" / ".join(own)]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(value, least):
    return f"**{value:.2f}**" if value == least else f"{value:.2f}"


def published(results):
    """The answers that the files of crowds carry."""
    lines = ["| file | published, on the records tested |", "|---|---|"]
    for name, known in results.items():
        found = [f"{k.removeprefix('published ')} {v[0]:.2f}" for k, v in known.items() if k.startswith("published")]
        if found:
            lines.append(f"| {name} | {', '.join(found)} |")
    return "\n".join(lines)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--cache", type=Path, default=Path("generative.json"), help="file of what was measured")
    options = parser.parse_args()
    results = json.loads(options.cache.read_text()) if options.cache.exists() else {}
    wanted = [part for part in options.only.split(",") if part]
    sources = {n: (lambda n=n: generated(n)) for n in GENERATED if not wanted or n in wanted}
    options.only = options.only or ",".join(FILES)
    if not wanted or set(wanted) - set(GENERATED):
        for path in files_of(options):
            if any(part in path.name for part in FILES):
                sources[path.name.removesuffix(".jsonl.gz")] = lambda path=path: read(path)
    for name, source in sources.items():
        known = results.setdefault(name, {})
        for key in measure(source(), known):
            print(name, key, [round(v, 2) for v in known[key]], file=sys.stderr, flush=True)
            options.cache.write_text(json.dumps(results))
    options.cache.write_text(json.dumps(results))
    tables = {"errors": table(results), "published": published(results)}
    print(*tables.values(), sep="\n\n")
    if options.write:
        put(options.write, tables)


if __name__ == "__main__":
    main()
