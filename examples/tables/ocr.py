"""Handwritten words (OCR): Kassel's letters, beta = .5; learn on one of ten folds, test on the other nine."""

import numpy as np

from structens.datasets import folds_of, letters
from tables.protocol import comparisons, markdown, papers_methods, run

BETA = 0.5
PUBLISHED = {
    "H_MVote": ".1992±.00274",
    "H_FPL": ".1992±.00270",
    "H_CV": ".1993±.00266",
    "H_FPL-CV": ".2030±.00278",
    "H_ESPBoost": ".1992±.00274",
    "H_SLE": ".1994±.00307",
    "H_Rand": ".1994±.00276",
    "best h_j": ".1994±.00306",
}
FOLDS = {"fold": "own folds", "type_fold": "folds of word types"}


def methods(tie):
    """The papers' for weights of positions; our own rates for one weight an expert."""
    return papers_methods(BETA) if tie == "position" else papers_methods(tie="expert")


def tables(data, quick):
    """Markdown of the tables."""
    found = {}
    for by, label in FOLDS.items():
        X = letters(data, by)
        folds = list(folds_of(np.array([fields[by] for fields in X.fields])))[: 2 if quick else None]
        for tie in ("position", "expert"):
            results, rounds = run(X, folds, methods(tie))
            found[f"{label}, tie {tie}"] = results["hamming"], rounds
    names = list(next(iter(found.values()))[0].folds)
    rows = [
        [name, PUBLISHED.get(name, ""), *(r.cell(name) + r.mark(name) for r, _ in found.values())] for name in names
    ]
    return markdown(["method", "published", *found], rows) + "\n\n" + comparisons(found)
