"""Named entities under BIO validity, and what is learnt under a constraint: with and without it.

    python benchmarks/bio.py [--data ../shared/data] [--write docs/how-to/bio.md]

Methods that learn do so on half of the records (the first byte of sha256(id) below 128), as in benchmarks/real_data.py;
all are tested on the other half. The second table has pronunciation and words of letters under the bigrams (borders
count) that occur in the gold of the learning half: answers that the experts themselves do break. With --write the
tables between the marks of the page are replaced. At the end the CPU time of 20,000 sentences is measured.
"""

import time
from dataclasses import replace

import numpy as np
from pages import parser_of, put
from real_data import learns, split

from structens.core import DataError
from structens.ensembles import METHODS, make_ensemble
from structens.ensembles.restriction import compile_restriction
from structens.evaluate import count_errors
from structens.evaluate.entities import entity_counts
from structens.io import read_records

FILES = ("ner_wnut17_submissions", "ner_wnut17_own")
RUNS = (("vote", "marginal"), ("mvote", "marginal"), ("mvote", "viterbi"), ("mvote", "string"), ("mvote", "mbr"))
BY_GRAMS = ("pron", "ocr_letters", "ocr_letters_by_word_type")
TIES = ("expert", "position")
LEARNT = (None, "per_round", "permanent")
SHOWN = {None: "as usual", "per_round": "per round", "permanent": "permanent"}


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
    for tie in TIES:
        for restrict in LEARNT[tie == "expert" :]:
            ensemble = make_ensemble("mvote", restriction="bio", restrict=restrict, tie=tie).fit(learn)
            label = f"H_MVote by {tie}, marginal, learnt {SHOWN[restrict]}"
            rows.append([label, "bio", row_of(ensemble.predict(test), test)])
    return len(test), rows


def bigrams_of(answers):
    pairs = {pair for y in answers for pair in zip([None, *y], [*y, None], strict=True)}
    return {"allowed": sorted(map(list, pairs), key=str)}


def measure_grams(path):
    X = read_records(path)
    learn, test = split(X, path.name.removesuffix(".jsonl.gz"))
    restriction = bigrams_of(learn.gold)
    acceptor = compile_restriction(restriction, X.alphabet)
    n_units = sum(map(len, test.gold))

    def broken(answers):
        return sum(a is not None and not acceptor.accepts(X.alphabet.encode(list(a))) for a in answers)

    own = [broken(learn[name]) for name in learn.names]
    rows = []
    for tie in TIES:
        runs = [(None, None), *((restriction, restrict) for restrict in LEARNT)]
        for constraint, restrict in runs:
            try:
                ensemble = make_ensemble("mvote", restriction=constraint, restrict=restrict, tie=tie).fit(learn)
                said = ensemble.predict(test)
                found = f"{broken(said):,} | {100 * count_errors(said, test, loss='edit').errors.sum() / n_units:.2f}"
            except DataError:
                found = " | no expert left"
            rows.append(f"| {tie} | {'none' if constraint is None else SHOWN[restrict]} | {found} |")
    return len(learn), len(test), (min(own), max(own)), rows


def speed(path, n=20_000):
    X = read_records(path)
    X = X[np.arange(n) % len(X)]
    X = replace(X, ids=tuple(range(n)))
    out = {}
    runs = {"vote": ("vote", {}), "restricted vote": ("vote", {"restriction": "bio"})}
    for restrict in LEARNT:
        options = {"restriction": "bio", "restrict": restrict, "beta": 0.9}
        runs[f"H_MVote learnt {SHOWN[restrict]}"] = ("mvote", options)
    for name, (method, options) in runs.items():
        make_ensemble(method, **options).fit(X[:100]).combine(X[:100])
        start = time.process_time()
        ensemble = make_ensemble(method, **options).fit(X)
        middle = time.process_time()
        ensemble.combine(X)
        out[name] = (middle - start, time.process_time() - middle)
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


def markdown_grams(measured):
    lines = []
    for name, (n_learn, n, (fewest, most), rows) in measured.items():
        lines += [f"`{name}`, {n:,} words tested; of {n_learn:,} learnt from, an expert breaks {fewest} to {most}:", ""]
        lines += ["| tie | learnt | inadmissible answers | error % |", "|---|---|---|---|", *rows, ""]
    return "\n".join(lines)


def main():
    options = parser_of(__doc__, only=False).parse_args()
    paths = {name: options.data / f"{name}.jsonl.gz" for name in FILES}
    if not all(path.exists() for path in paths.values()):
        raise SystemExit(f"{' and '.join(FILES)} are not in {options.data}")
    tables = {"table": markdown({name: measure(path) for name, path in paths.items()})}
    tables["bigrams"] = markdown_grams({name: measure_grams(options.data / f"{name}.jsonl.gz") for name in BY_GRAMS})
    print(*tables.values(), sep="\n")
    if options.write:
        put(options.write, tables)
    seconds, n_tokens = speed(paths["ner_wnut17_own"])
    print(f"20,000 sentences, {n_tokens:,} tokens, CPU seconds to learn and to combine:")
    for name, (learning, combining) in seconds.items():
        print(f"{name}: {learning:.2f} + {combining:.2f}")


if __name__ == "__main__":
    main()
