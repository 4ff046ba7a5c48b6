"""Token error of boosted path experts on real multi-system files, beside the best expert and H_MVote.

    python benchmarks/esp_boost_real.py [--data ../shared/data] [--only pron,pos] [--write docs/esp-boost.md]

Records are cut as in `real_data.py`. One recipe for all files: every method as it is by default (tie "expert"), and
Deep ESPBoost also with tie "label". Rounds are those that were played; "weak" says that ESPBoost stopped because no
path expert was better than chance on what the rounds before had left.
"""

import time

from pages import files_of, parser_of, put
from real_data import split

from structens.ensembles import make_ensemble
from structens.evaluate import compare_counts, count_errors
from structens.io import read_records

SHOWN = {
    "best": ("best", {}),
    "H_MVote": ("mvote", {}),
    "ESPBoost": ("esp-boost", {}),
    "Deep ESPBoost": ("deep-esp-boost", {}),
    "Deep, tie label": ("deep-esp-boost", {"tie": "label"}),
}
BOOSTED = ("ESPBoost", "Deep ESPBoost", "Deep, tie label")


def band(counts, name):
    c = compare_counts(counts[name], counts["best"], (name, "best"))
    return f"{100 * c.difference:+.2f} [{100 * c.interval.low:+.2f}, {100 * c.interval.high:+.2f}]", c.interval.low > 0


def measure(path):
    name = path.name.removesuffix(".jsonl.gz")
    learn, test = split(read_records(path), name)
    counts, rounds, start = {}, {}, time.process_time()
    for title, (method, options) in SHOWN.items():
        ensemble = make_ensemble(method, **options).fit(learn)
        counts[title] = count_errors(ensemble.predict(test), test, loss="edit")
        if title in BOOSTED:
            rounds[title] = f"{ensemble.n_rounds_} {ensemble.stopped_}"
    length = sum(counts["best"].reference_length)
    error = {title: float(c.errors.sum() / length) for title, c in counts.items()}
    low = min(error.values())
    cells = [f"**{e:.4f}**" if e == low else f"{e:.4f}" for e in error.values()]
    bands = [band(counts, title) for title in BOOSTED]
    worse = [title for title, (_, is_worse) in zip(BOOSTED, bands, strict=True) if is_worse]
    row = [name, *cells, rounds["ESPBoost"], rounds["Deep ESPBoost"], *(text for text, _ in bands)]
    return row, worse, time.process_time() - start


def main():
    options = parser_of(__doc__).parse_args()
    head = ["data", *SHOWN, "rounds", "rounds, deep", *(f"{title} - best [95 %]" for title in BOOSTED)]
    lines, worse, seconds = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)], [], 0.0
    for path in files_of(options):
        row, of_file, spent = measure(path)
        lines.append("| " + " | ".join(row) + " |")
        worse += [f"{title} on {row[0]}" for title in of_file]
        seconds += spent
        print(lines[-1], flush=True)
    print("significantly worse than the best expert:", ", ".join(worse) or "none", f"; {seconds:.0f} CPU-seconds")
    if options.write:
        put(options.write, {"real data": "\n".join(["", *lines, ""])})


if __name__ == "__main__":
    main()
