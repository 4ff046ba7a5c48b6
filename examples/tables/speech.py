"""Speech in the style of SDS: p systems, transcripts of 2 to 15 words; and what the length of a transcript decides."""

import numpy as np

from structens.datasets import PAD, disjoint_folds, padded, speech
from structens.ensembles import BestExpert, DeepESPBoost, ESPBoost, LengthGated, PathExpertEnsemble
from tables.protocol import comparisons, markdown, papers_methods, run

BETA = 0.97
PUBLISHED = {
    "H_MVote": ".2465±.00248",
    "H_FPL": ".2500±.00248",
    "H_CV": ".2504±.00576",
    "H_FPL-CV": ".2726±.00839",
    "H_ESPBoost": ".2572±.00062",
    "H_SLE": ".2572±.00061",
    "H_Rand": ".2877±.00480",
    "best h_j": ".2573±.00060",
}
SETS = (
    ("asr_commonvoice_2019", 2),
    ("asr_commonvoice_2019", 4),
    ("asr_commonvoice_valid_dev", 3),
    ("asr_librispeech_clean", 4),
    ("crowdspeech_test_other", 5),
    ("crowdspeech_test_other", 7),
)
LENGTHS = ((2, 3), (4, 7), (8, 15))
BY_LENGTH = {
    "best h_j, learnt": BestExpert,
    "H_MVote": lambda: PathExpertEnsemble("mvote"),
    "H_ESPBoost": ESPBoost,
    "Deep ESPBoost": DeepESPBoost,
    "H_MVote from 4 units": lambda: LengthGated(PathExpertEnsemble("mvote"), 4),
    "H_MVote from a learnt length": lambda: LengthGated(PathExpertEnsemble("mvote")),
}


def top(X, p):
    """The p experts with the fewest errors on all records, in the order of their names."""
    error = BestExpert().fit(X).error_
    return X.select([X.names[j] for j in sorted(np.argsort(error, kind="stable")[:p])])


def tables(data, quick):
    """Markdown of the tables."""
    found, head = {}, ["method", "SDS p = 5, m = 1500 published"]
    for corpus, p in SETS[: 1 if quick else None]:
        X = top(speech(data, corpus, min_words=4), p)
        folds = list(disjoint_folds(len(X)))
        made, rounds = run(padded(X), folds[: 2 if quick else None], papers_methods(BETA), ignore_tokens=[PAD])
        key = f"{corpus}, p = {p}"
        found[key] = made["hamming"], rounds
        head.append(f"{key}, m = {len(folds[0][0])}")
    names = list(next(iter(found.values()))[0].folds)
    rows = [
        [name, PUBLISHED.get(name, ""), *(r.cell(name) + r.mark(name) for r, _ in found.values())] for name in names
    ]
    padded_table = "### Padded, 4 to 15 words, tie position\n\n" + markdown(head, rows) + "\n\n" + comparisons(found)
    return padded_table + "\n\n" + by_length(data, quick)


def by_length(data, quick):
    """Word error of aligned slots by the length of the right transcript."""
    head = ["data", "words", "transcripts", *BY_LENGTH]
    rows, compared = [], {}
    corpora = list(dict.fromkeys(corpus for corpus, _ in SETS))
    for corpus in corpora[: 1 if quick else None]:
        X = speech(data, corpus)
        folds = list(disjoint_folds(len(X)))[: 2 if quick else None]
        made, rounds = run(X, folds, BY_LENGTH, ("wer",))
        results = made["wer"]
        compared[corpus] = results, rounds
        length = X.references.lengths[X.reference_offsets[:-1]]
        if quick:
            length = length[np.unique(np.concatenate([test for _, test in folds]))]
        for low, high in (*LENGTHS, (2, 15)):
            inside = (length >= low) & (length <= high)
            cells = [results.record[name] for name in BY_LENGTH]
            shown = [f"{errors[inside].sum() / words[inside].sum():.4f}".replace("0.", ".") for errors, words in cells]
            best = min(shown)
            shown = [f"**{cell}**" if cell == best else cell for cell in shown]
            rows.append([corpus, f"{low} to {high}", int(inside.sum()), *shown])
    gains = markdown(
        ["data", *(name for name in BY_LENGTH if name != "best h_j, learnt")],
        [
            [corpus, *(difference_to_learnt(results, name) for name in BY_LENGTH if name != "best h_j, learnt")]
            for corpus, (results, _) in compared.items()
        ],
    )
    title = "### Aligned slots, tie expert, word error rate by length"
    said = "Difference to the best expert learnt, 2 to 15 words, in points:"
    return f"{title}\n\n{markdown(head, rows)}\n\n{said}\n\n{gains}"


def difference_to_learnt(results, name):
    """In points, with its interval."""
    middle, low, high, _ = results.against(name, "best h_j, learnt")
    return f"{middle:+.2f} [{low:+.2f}, {high:+.2f}]"
