"""CPU time and memory of ESPBoost's training, and how they grow with records, slots and experts.

    python benchmarks/esp_boost.py [--quick]

Every figure is of a process of its own: CPU-seconds of `ESPBoost.fit` from records with gold to the fitted ensemble
(compilation excluded by a small run before), and the largest resident memory of the process, data included. In each
slot at most two fifths of the experts err, drawn at random, so that no round is too weak and all 100 are played.
"votes" are margins of -1 and 1, where equal slots are merged; "confidences" are real margins, all different, which
nothing can merge; Newton's method finds their steps. Tie is "position".
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

from structens.core import Alphabet, ExpertPredictions, Ragged
from structens.ensembles import ESPBoost

N_LABELS = 20
SIZES = [
    (25_000, 20, 10),
    (50_000, 20, 10),
    (100_000, 20, 10),
    (100_000, 10, 10),
    (100_000, 40, 10),
    (100_000, 20, 5),
    (100_000, 20, 20),
]


def records(n, length, p, confidences, seed=0):
    rng = np.random.default_rng(seed)
    gold = rng.integers(N_LABELS, size=(n, 1, length), dtype=np.int32)
    rank = rng.random((n, p, length), dtype=np.float32).argsort(axis=1)
    n_wrong = rng.integers(1, max(2 * p // 5, 1) + 1, size=(n, 1, length))
    said = np.where(rank < n_wrong, (gold + 1) % N_LABELS, gold).astype(np.int32)
    return ExpertPredictions(
        names=tuple(f"h{j}" for j in range(p)),
        alphabet=Alphabet(tuple(f"l{a}" for a in range(N_LABELS))),
        hypotheses=Ragged(said.ravel(), np.arange(n * p + 1) * length),
        present=np.ones((n, p), dtype=np.bool_),
        ids=tuple(range(n)),
        references=Ragged(gold.ravel(), np.arange(n + 1) * length),
        reference_offsets=np.arange(n + 1),
        unit="token",
        confidence=rng.uniform(0.2, 1.0, said.size) if confidences else None,
    )


def measure(n, length, p, base):
    real = base == "confidences"
    ensemble = ESPBoost(n_rounds=100, tie="position", base=base)
    ensemble.fit(records(50, 3, p, real))
    X = records(n, length, p, real)
    start = time.process_time()
    ensemble.fit(X)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"seconds": seconds, "rounds": ensemble.n_rounds_, "peak": peak}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the records")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        n, length, p, base = options.one.split(",")
        print(json.dumps(measure(int(n), int(length), int(p), base)))
        return
    print("| margins | records | slots | experts | rounds | CPU s | CPU us a record, slot and expert | peak GiB |")
    print("|---|---|---|---|---|---|---|---|")
    for base in ("votes", "confidences"):
        for size, length, p in SIZES:
            n = size // 10 if options.quick else size
            command = [sys.executable, __file__, "--one", f"{n},{length},{p},{base}"]
            done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            each = 1e6 * done["seconds"] / (n * length * p)
            row = [
                base,
                f"{n:,}",
                length,
                p,
                done["rounds"],
                f"{done['seconds']:.2f}",
                f"{each:.3f}",
                f"{done['peak']:.2f}",
            ]
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
