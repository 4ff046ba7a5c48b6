"""Experts that are sometimes absent: do they sleep, or are they charged the others' mean loss?

Answers are taken out of records with gold: each with chance .4 ("evenly"), or with a chance of each expert's own from
.1 to .8 ("unevenly"). The first half is learnt from, the second tested: summed edit distance over summed gold length,
per cent, mean over three draws.
"""

import numpy as np

from structens.core import ExpertPredictions
from structens.ensembles import MajorityVote, PathExpertEnsemble
from structens.io import read_records
from tables.protocol import markdown

FILES = ("pron", "pos_en_ewt_upos", "ocr_letters", "ud18_br_keb_upos")
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


def tables(data, quick):
    """Markdown of the table."""
    rows = []
    for name in FILES[: 1 if quick else None]:
        X = read_records(data / f"{name}.jsonl.gz", limit=300 if quick else MOST)
        X = X[X.has_gold]
        for evenly in (True, False):
            made = []
            for seed in range(1 if quick else N_SEEDS):
                Y = thinned(X, evenly, seed)
                learn, test = Y[: len(Y) // 2], Y[len(Y) // 2 :]
                makers = [MajorityVote, *(maker for _, maker in MADE)]
                made.append([100 * (1 - maker().fit(learn).score(test)) for maker in makers])
            cells = [f"{x:.2f}" for x in np.mean(made, axis=0)]
            rows.append([name, "evenly" if evenly else "unevenly", *cells])
    return markdown(["data", "absent", "majority", *(name for name, _ in MADE)], rows)
