"""Token error of `combine --online`: each record answered by what was learnt from the gold of those before it.

    python benchmarks/online_table.py [--data ../shared/data] [--only pron,pos] [--write docs/real-data.md]

All records with gold, in the order of their file, at most 6,000. Every learner runs as it is, without a setting of its
own for any file. "hindsight" is the best single expert of all records, which nobody knows beforehand.
"""

import time

import numpy as np
from pages import files_of, parser_of, put

from structens.ensembles import MajorityVote, PathExpertEnsemble
from structens.evaluate import count_errors
from structens.io import read_records

MOST = 6000
LEARNERS = ("adahedge", "squint", "hedge", "fixed-share", "prequential")
HEAD = ("data", "records", "experts", "hindsight", "vote", *LEARNERS, "s")


def rate_of(answers, X):
    counts = count_errors(answers, X, loss="edit")
    return 100.0 * counts.errors.sum() / sum(counts.reference_length)


def measure(path):
    """Rates of one file, and CPU seconds of the prequential learner."""
    X = read_records(path)
    X = X[np.flatnonzero(X.has_gold)[:MOST]]
    alone = [rate_of(X[name], X) for name in X.names]  # an expert that gave no answer has deleted all
    rates, start = [rate_of(MajorityVote().fit(X).predict(X), X)], 0.0
    for learner in LEARNERS:
        start = time.process_time()
        rates.append(rate_of(PathExpertEnsemble("last", learner=learner).combine_online(X).answers, X))
    return path.name.removesuffix(".jsonl.gz"), len(X), X.n_experts, min(alone), rates, time.process_time() - start


def markdown(rows):
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    for name, n, p, hindsight, rates, seconds in rows:
        low = min(rates)
        shown = [f"**{r:.2f}**" if r == low else f"{r:.2f}" for r in rates]
        lines.append("| " + " | ".join([name, f"{n:,}", str(p), f"{hindsight:.2f}", *shown, f"{seconds:.1f}"]) + " |")
    best = np.array([min([r[3], *r[4]]) for r in rows])
    beyond = np.array([r[4] for r in rows]) - best[:, None]
    for what, values in (("mean beyond the row's best", beyond.mean(axis=0)), ("most beyond it", beyond.max(axis=0))):
        lines.append("| " + " | ".join([what, "", "", "", *(f"{v:.2f}" for v in values), ""]) + " |")
    return "\n".join(lines)


def main():
    options = parser_of(__doc__).parse_args()
    rows = []
    for path in files_of(options):
        rows.append(measure(path))
        print(rows[-1][0], *(f"{r:.2f}" for r in rows[-1][4]), flush=True)
    table = markdown(rows)
    print("\n" + table)
    if options.write:
        put(options.write, {"online": table})


if __name__ == "__main__":
    main()
