"""AdaBoostMH on features as a tagger has them: 250,000 rows, 100,000 binary columns, 30 of them in a row, 17 labels.

    python benchmarks/boosting_sparse.py [inner nodes] [rounds] [max_features]

The labels come from random weights of three tenths of the columns, most of them rare, with noise: harder than real
tags.
Prints CPU seconds of one thread, the largest memory of the process before and after learning, and errors.
"""

import resource
import sys
import time

import numpy as np
import scipy.sparse as sp

from structens.boosting import AdaBoostMH, HammingTree

ROWS, HELD, COLUMNS, TEMPLATES, LABELS = 250_000, 10_000, 100_000, 30, 17


def made_up(rng):
    """Each row has one column of each template, by Zipf's law."""
    n, per = ROWS + HELD, COLUMNS // TEMPLATES
    columns = np.minimum((rng.zipf(1.3, (n, TEMPLATES)) - 1) % per, per - 1) + per * np.arange(TEMPLATES)
    ends = np.arange(0, n * TEMPLATES + 1, TEMPLATES)
    X = sp.csr_matrix((np.ones(n * TEMPLATES, np.float32), columns.reshape(-1), ends), (n, COLUMNS))
    teacher = rng.normal(size=(COLUMNS, LABELS)) * (rng.random((COLUMNS, 1)) < 0.3)
    return X, (X @ teacher + 0.5 * rng.gumbel(size=(n, LABELS))).argmax(axis=1)


def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    n_inner, n_rounds = (int(a) for a in (sys.argv[1:3] if len(sys.argv) > 2 else (20, 100)))
    max_features = float(sys.argv[3]) if len(sys.argv) > 3 else None
    X, y = made_up(np.random.default_rng(0))
    base = HammingTree(n_inner)
    AdaBoostMH(base, 2).fit(X[:500], y[:500])  # compiles
    before, begin = megabytes(), time.process_time()
    model = AdaBoostMH(base, n_rounds, max_features=max_features, random_state=0).fit(X[:ROWS], y[:ROWS])
    seconds = time.process_time() - begin
    print(f"fit {seconds:.1f} s CPU, {1e3 * seconds / n_rounds:.0f} ms a round; {before:.0f} -> {megabytes():.0f} MB")
    begin = time.process_time()
    error = 1 - model.score(X[ROWS:], y[ROWS:])
    print(f"predict {(time.process_time() - begin) / HELD * 1e6:.1f} us a row")
    print(f"error {error:.3f}, learnt from {1 - model.score(X[:HELD], y[:HELD]):.3f}")


if __name__ == "__main__":
    main()
