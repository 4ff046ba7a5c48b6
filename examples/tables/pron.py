"""Pronunciation in the style of PDS: Hamming on sequences padded on the right, edit distance, and aligned slots."""

from structens.datasets import PAD, disjoint_folds, padded, pronunciations
from structens.ensembles import ForwardSelection
from structens.losses import edit_distance
from tables.protocol import comparisons, markdown, papers_methods, run

METHODS = ("H_MVote", "H_FPL", "H_CV", "H_FPL-CV", "H_ESPBoost", "H_SLE", "H_Rand", "best h_j")
HAMMING = {
    130: ".2225±.00301 .2657±.07947 .2316±.00189 .4451±.02743 .3625±.01054 .3130±.05137 .4713±.00360 .3449±.00368",
    400: ".2323±.00069 .2337±.00229 .2364±.00080 .4090±.01388 .3499±.00509 .3308±.03182 .4607±.00131 .3413±.00067",
    200: ".2343±.00083 .2393±.00335 .2364±.00048 .4464±.01110 .3524±.00662 .3217±.03929 .4651±.00092 .3413±.00050",
    600: ".2304±.00148 .2332±.00313 .2362±.00109 .4063±.00976 .3458±.00276 .3307±.03165 .4544±.00308 .3412±.00053",
}
EDIT = {
    130: ".8395±.01076 1.0158±.34379 .8668±.00553 1.8044±.09315 1.3977±.06017 1.1762±.12530 1.8962±.01064 "
    "1.2163±.00619",
    400: ".9626±.00341 .9744±.01277 .9840±.00364 1.8625±.06016 1.4092±.04352 1.2477±.12267 2.0838±.00518 1.2883±.00219",
}
BETA = {130: 0.85, 400: 0.97, 200: 0.97, 600: 0.97}
SET = {130: "PDS1", 400: "PDS2", 200: "PDS2", 600: "PDS2"}
ON_EDITS = "H_SLE on edit distance"


def edits_without_padding(gold, answer):
    """Edit distance of what is no padding."""
    return edit_distance([u for u in gold if u != PAD], [u for u in answer if u != PAD])


def tables(data, quick):
    """Markdown of the tables."""
    X = pronunciations(data)
    made, found = [], {}
    for m in (130,) if quick else (130, 400, 200, 600):
        folds = list(disjoint_folds(len(X), m))[: 2 if quick else None]
        makers = papers_methods(BETA[m])
        if m not in EDIT:
            del makers["Deep ESPBoost"]  # only the published rows, for the effect of m
        if m in EDIT:
            makers[ON_EDITS] = lambda: ForwardSelection(edits_without_padding, n_rounds=100)
        measures = ("hamming", "edit") if m in EDIT else ("hamming",)
        pads, rounds = run(padded(X), folds, makers, measures, ignore_tokens=[PAD])
        published = dict(zip(METHODS, HAMMING[m].split(), strict=True))
        head = ["method", f"{SET[m]} m = {m} published, Hamming", "padded, Hamming"]
        columns = [published.get, lambda name, r=pads["hamming"]: r.cell(name) + r.mark(name)]
        found[f"m = {m}: padded, Hamming"] = pads["hamming"], rounds
        if m in EDIT:
            for kept in (pads["edit"].folds, pads["edit"].record):
                kept["H_SLE"] = kept.pop(ON_EDITS)
            slots, slot_rounds = run(X, folds, papers_methods(tie="expert", metric="edit"), ("edit",))
            columns += edit_columns(m, pads["edit"], slots["edit"])
            head += ["published, edit distance", "padded, edit distance", "slots, edit distance"]
            found[f"m = {m}: padded, edit distance"] = pads["edit"], {}
            found[f"m = {m}: slots, edit distance"] = slots["edit"], slot_rounds
        names = [name for name in pads["hamming"].folds if name != ON_EDITS]
        rows = [[name, *(column(name) or "" for column in columns)] for name in names]
        made.append(f"### m = {m}, beta = {BETA[m]}\n\n" + markdown(head, rows))
    return "\n\n".join([*made, comparisons(found)])


def edit_columns(m, pads, slots):
    """Published, padded and aligned."""
    published = dict(zip(METHODS, EDIT[m].split(), strict=True))

    return [published.get, *(lambda name, r=r: r.cell(name) + r.mark(name) for r in (pads, slots))]
