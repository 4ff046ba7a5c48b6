"""Experts that are sometimes absent: do they sleep, or are they charged the others' mean loss?

    python benchmarks/absent_experts.py [FILE ...]

Answers are taken out of records with gold: each with chance .4 ("evenly"), or with a chance of each expert's own from
.1 to .8 ("unevenly"). The first half is learnt from, the second tested: summed edit distance over summed gold length,
per cent, mean over three draws.
"""

import sys
from pathlib import Path

import numpy as np

from structens.core import ExpertPredictions
from structens.ensembles import MajorityVote, PathExpertEnsemble
from structens.io import read_records

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
FILES = [
    DATA / "pron.jsonl.gz",
    DATA / "pos_en_ewt_upos.jsonl.gz",
    DATA / "ocr_letters.jsonl.gz",
    DATA / "ud18_br_keb_upos.jsonl.gz",
]
MOST, N_SEEDS = 3000, 3
MADE = [
    ("H_MVote, sleep", lambda: PathExpertEnsemble("mvote", absent="sleep")),
    ("H_MVote, neutral", lambda: PathExpertEnsemble("mvote", absent="neutral")),
    ("H_CV, sleep", lambda: PathExpertEnsemble("cv", absent="sleep")),
    ("H_CV, neutral", lambda: PathExpertEnsemble("cv", absent="neutral")),
    ("AdaHedge, sleep", lambda: PathExpertEnsemble("mvote", learner="adahedge", absent="sleep")),
    ("AdaHedge, neutral", lambda: PathExpertEnsemble("mvote", learner="adahedge", absent="neutral")),
    ("Squint, sleep", lambda: PathExpertEnsemble("mvote", learner="squint", absent="sleep")),
]


def thinned(X, evenly, seed):
    rng = np.random.default_rng(seed)
    n, p = X.present.shape
    chance = np.full(p, 0.4) if evenly else rng.permutation(np.linspace(0.1, 0.8, p))
    there = rng.random((n, p)) >= chance
    nobody = np.flatnonzero(~there.any(axis=1))
    there[nobody, rng.integers(p, size=len(nobody))] = True
    said = {
        name: [answer if here else None for answer, here in zip(X[name], there[:, j], strict=True)]
        for j, name in enumerate(X.names)
    }
    return ExpertPredictions.of(said, gold=X.gold, ids=X.ids)


def main():
    print("| data | absent | majority | " + " | ".join(name for name, _ in MADE) + " |")
    print("|---|---|---|" + "---|" * len(MADE))
    for path in [Path(name) for name in sys.argv[1:]] or FILES:
        X = read_records(path, limit=MOST)
        X = X[X.has_gold]
        for evenly in (True, False):
            rows = []
            for seed in range(N_SEEDS):
                Y = thinned(X, evenly, seed)
                learn, test = Y[: len(Y) // 2], Y[len(Y) // 2 :]
                makers = [MajorityVote, *(maker for _, maker in MADE)]
                rows.append([100 * (1 - maker().fit(learn).score(test)) for maker in makers])
            cells = " | ".join(f"{x:.2f}" for x in np.mean(rows, axis=0))
            print(f"| {path.name.split('.')[0]} | {'evenly' if evenly else 'unevenly'} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
