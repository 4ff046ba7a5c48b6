"""Part-of-speech tagging in the style of TR1 (nine taggers, beta = .95) and TR2 (five, beta = .98), sentences < 20."""

from structens.datasets import disjoint_folds, tagging
from tables.protocol import comparisons, markdown, papers_methods, run

BETA = {"tr1": 0.95, "tr2": 0.98}
METHODS = ("H_MVote", "H_FPL", "H_CV", "H_FPL-CV", "H_ESPBoost", "H_SLE", "H_Rand", "best h_j")
PUBLISHED = {
    "tr1": ".0850±.00096 .0859±.00110 .0843±.00006 .1093±.00129 .1041±.00056 .0778±.00934 .1128±.00048 .1032±.00007",
    "tr2": ".0746±.00014 .0769±.00218 .0741±.00011 .1550±.00182 .1414±.00233 .0814±.02558 .1652±.00077 .1415±.00005",
}
SETS = (
    ("en_ewt_xpos", "position"),
    ("en_ewt_xpos", "expert"),
    ("en_ewt_upos", "position"),
    ("de_gsd_upos", "position"),
    ("fr_sequoia_upos", "position"),
    ("fi_tdt_upos", "position"),
)


def methods(tie, beta):
    """The papers' for weights of positions; our own rates for one weight an expert."""
    return papers_methods(beta) if tie == "position" else papers_methods(tie="expert")


def tables(data, quick):
    """Markdown of the tables."""
    made = []
    for style, beta in BETA.items():
        published = dict(zip(METHODS, PUBLISHED[style].split(), strict=True))
        found, head = {}, ["method", f"{style.upper()} published"]
        for treebank, tie in SETS[: 1 if quick else None]:
            X = tagging(data, style, treebank)
            folds = list(disjoint_folds(len(X)))
            results, rounds = run(X, folds[: 2 if quick else None], methods(tie, beta))
            key = treebank if tie == "position" else f"{treebank}, tie {tie}"
            found[key] = results["hamming"], rounds
            head.append(f"{key} (m = {len(folds[0][0])})")
        names = list(next(iter(found.values()))[0].folds)
        rows = [
            [name, published.get(name, ""), *(r.cell(name) + r.mark(name) for r, _ in found.values())] for name in names
        ]
        made.append(f"### {style.upper()}, beta = {beta}\n\n" + markdown(head, rows) + "\n\n" + comparisons(found))
    return "\n\n".join(made)
