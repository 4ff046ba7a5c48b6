"""Tables 1 and 2 of the papers: ADS1 to ADS3, m = 200, beta = .95, epsilon = .5 / (p l) = .01."""

from structens.datasets import ads, disjoint_folds
from structens.ensembles import ForwardSelection, PathExpertEnsemble
from tables.protocol import Results, markdown, papers_methods, run, span, stops

M, BETA = 200, 0.95
SETS = ((1, "matched"), (1, "printed"), (2, "matched"), (3, "matched"), (3, "printed"))  # ADS2 is the same in both
NAMES = ("H_MVote", "H_FPL", "H_CV", "H_FPL-CV", "H_ESPBoost", "H_SLE", "H_Rand", "best h_j")
ROWS = {
    1: ".0197±.00002 .0228±.00947 .0197±.00002 .0741±.04087 .0197±.00002 .5641±.00044 .1112±.00540 .5635±.00004",
    2: ".2172±.00983 .2517±.05322 .2385±.00002 .4001±.00028 .2267±.00834 .2500±.05003 .4000±.00018 .4000",
    3: ".1788±.00004 .2189±.04097 .1788±.00004 .3148±.00387 .1831±.00240 .1954±.00185 .3196±.00018 .2957±.00005",
}
PUBLISHED = {which: dict(zip(NAMES, row.split(), strict=True)) for which, row in ROWS.items()}


def methods():
    """The papers' methods, and what tells their unsaid choices apart."""
    made = papers_methods(BETA)
    laplace = {"tie": "position", "epsilon": "papers", "noise": "laplace"}
    made |= {
        "H_FPL, Laplace noise": lambda: PathExpertEnsemble("fpl", **laplace),
        "H_FPL-CV, Laplace noise": lambda: PathExpertEnsemble("fplcv", **laplace),
        "H_SLE, ties by index": lambda: ForwardSelection(n_rounds=100, tie="index"),
        # so much confidence that the longest suffix of rounds is taken
        "H_Rand, all rounds": lambda: PathExpertEnsemble("rand", tie="position", beta=BETA, delta=1e-300),
    }
    return made


def measured(which, preset, n=40_000, n_folds=10, seed=0, names=None) -> tuple[Results, dict]:
    """Losses of every method, or of those named, on one set."""
    made = {name: maker for name, maker in methods().items() if names is None or name in names}
    X = ads(which, preset, n=n, seed=seed)
    results, rounds = run(X, list(disjoint_folds(len(X), M, n_folds, seed=None)), made)
    return results["hamming"], rounds


def tables(data, quick):
    """Markdown of the table; needs no data."""
    found = {key: measured(*key, **({"n": 2000, "n_folds": 2} if quick else {})) for key in SETS}
    head, columns = ["method"], []
    for which in (1, 2, 3):
        head.append(f"ADS{which} published")
        columns.append(lambda name, which=which: PUBLISHED[which].get(name, ""))
        for key in SETS:
            if key[0] == which:
                head.append(f"{'as printed' if key == (2, 'matched') else key[1]}")
                columns.append(lambda name, key=key: found[key][0].cell(name))
    names = list(next(iter(found.values()))[0].folds)
    rows = [[name, *(column(name) for column in columns)] for name in names]
    notes = []
    for key, (_, rounds) in found.items():
        cv = span([t for t, _ in rounds["H_CV"]])
        copies = span([n for n, _ in rounds["H_SLE"]])
        boosted = f"ESPBoost {stops(rounds, 'H_ESPBoost')}, Deep ESPBoost {stops(rounds, 'Deep ESPBoost')}"
        notes.append(f"- ADS{key[0]} {key[1]}: H_CV chose round {cv}; experts in H_SLE {copies}; rounds of {boosted}.")
    return markdown(head, rows) + "\n\nWhat was chosen in the folds:\n\n" + "\n".join(notes)
