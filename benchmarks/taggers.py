#!/usr/bin/env python3
"""Position taggers beside the systems of the shared files: letters from pixels, tags from words.

    taggers.py ocr [--folds 0,5]    Kassel's letters: each fold tagged by what learnt from the words of the other nine
                                    (--by-word-type: folds of whole word types; --share .5: from half of the words)
    taggers.py pos [--languages en,de,fr,fi]
                                    tags: one half of the sentences learns, beside a CRF on the same columns
    taggers.py size                 10,000 generated sentences of 25 tokens, 100,000 columns, 17 labels: time and memory

Seconds are of the processor. `pos` needs python-crfsuite.
"""

import argparse
import copy
import os
import resource
import tempfile
import time
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from contextual import is_learnt_from

from structens import PositionTagger, VectorWindows, WordFeatures, add_experts, evaluate_methods, read_records, render
from structens.boosting import AdaBoostMH, HammingTree
from structens.ensembles import Tagged
from structens.io import read_feature_arrays, read_tagged

PENALTIES = [(0.0, 0.1), (0.0, 1.0), (0.03, 0.03), (0.1, 0.1), (0.3, 0.03), (0.01, 0.01)]
"""Of the CRF: weights of absolute and of squared values."""
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def timed(run):
    start = time.process_time()
    out = run()
    return out, time.process_time() - start


def ocr(options):
    boost = AdaBoostMH(HammingTree(20), 300, votes="real", learning_rate=0.3, max_features=0.3, random_state=0)
    makers = {
        "letter": PositionTagger(VectorWindows(0), boost, decode="position"),
        "letter, label before": PositionTagger(VectorWindows(0), boost, previous_labels=1),
        "window": PositionTagger(VectorWindows(1), boost),
    }
    key, file = ("type_fold", "ocr_letters_by_word_type") if options.by_word_type else ("fold", "ocr_letters")
    words = read_feature_arrays(DATA / "ocr_letters" / "kassel.npz", unpack_bits=True, id_format="kassel-{:04d}")
    X = read_records(DATA / f"{file}.jsonl.gz", keep=["fold", "type_fold"])
    place = {ident: i for i, ident in enumerate(words.ids)}
    fold = np.array([fields[key] for fields in X.fields])
    own = np.array(words.folds)
    if options.by_word_type:  # the file holds part of the words, but all word types
        of_type = {"".join(words.gold[place[ident]]): k for ident, k in zip(X.ids, fold.tolist(), strict=True)}
        own = np.array([of_type["".join(gold)] for gold in words.gold])
    rows = np.flatnonzero(np.isin(fold, options.folds))
    tagged = {name: {} for name in ["letter", "letter, label before", "window", "window, Viterbi"]}
    wrong = {name: [] for name in tagged}
    for k in options.folds:
        few = np.random.default_rng(int(k)).random(len(own)) < options.share
        learn = words.select(np.flatnonzero((own != k) & few).tolist())
        test = words.select([place[X.ids[i]] for i in rows[fold[rows] == k]])
        for name, maker in makers.items():
            tagger, seconds = timed(lambda: maker.fit(learn.sequences, learn.gold))  # noqa: B023
            print(f"fold {k} {name}: {len(learn):,} words learnt in {seconds:.0f} s")
            answers = {name: tagger}
            if name == "window":  # one model, decoded in two ways
                answers = {"window, Viterbi": tagger, "window": copy.copy(tagger)}
                answers["window"].decode = "position"
            for shown, model in answers.items():
                said, seconds = timed(lambda: model.tag(test.sequences))  # noqa: B023
                tagged[shown].update(zip(test.ids, zip(said.labels, said.confidences, strict=True), strict=True))
                wrong[shown].append(error(said.labels, test.gold))
                print(f"fold {k} {shown}: error {wrong[shown][-1]:.2f} %, tagged in {seconds:.1f} s", flush=True)
    for name, errors in wrong.items():
        spread = np.std(errors, ddof=1) / np.sqrt(len(errors)) if len(errors) > 1 else np.nan
        print(f"{name}: mean of folds {np.mean(errors):.2f} % (standard error {spread:.2f})")
    part = X[rows]
    columns = {name: Tagged(*map(list, zip(*(of[i] for i in part.ids), strict=True))) for name, of in tagged.items()}
    letter, best = ({name: columns[name]} for name in ("letter", "window, Viterbi"))
    for added in () if options.alone else ({}, letter, best, columns):
        print("\nwith", ", ".join(added) or "no tagger")
        print(render(evaluate_methods(add_experts(part, added) if added else part, ("vote", "mvote", "sle", "auto"))),
              flush=True)  # fmt: skip


def pos(options):
    for language in options.languages:
        (file,) = DATA.glob(f"pos_{language}_*_upos.jsonl.gz")
        read = read_tagged(file)
        first = np.array([is_learnt_from({"id": ident}) for ident in read.ids])
        learn, test = (read.select(np.flatnonzero(part).tolist()) for part in (first, ~first))
        print(f"{language}: {len(learn):,} sentences learn, {len(test):,} test", flush=True)
        wrong = {name: wrong_of(said, test.gold) for name, said in tagged_by_all(learn, test)}
        crf = wrong["CRF"]
        n = sum(map(len, test.gold))
        for name in wrong.keys() - {"CRF"}:
            apart = wrong[name] - crf  # sentences are drawn, not words
            error = np.sqrt(len(apart) * np.var(apart, ddof=1)) / n
            print(
                f"{language}: {name} minus CRF: {100 * apart.sum() / n:+.2f} points (standard error {100 * error:.2f})"
            )


def tagged_by_all(learn, test):
    """Names of a CRF and of taggers, with what they say of the test sentences."""
    makers = {"words": WordFeatures(), "words, all of them": WordFeatures(min_count=1)}
    said, seconds = timed(lambda: conditional_field(list(makers.values()), learn, test))
    print(f"CRF: {error(said, test.gold):.2f} %, chosen and learnt in {seconds:.0f} s", flush=True)
    yield "CRF", said
    for name, maker in makers.items():
        tagger = PositionTagger(maker)
        _, seconds = timed(lambda: tagger.fit(learn.sequences, learn.gold))  # noqa: B023
        said = tagger.predict(test.sequences)
        print(f"{name}: {error(said, test.gold):.2f} %, held out {100 * tagger.held_out_error_:.2f}, "
              f"learnt in {seconds:.0f} s", flush=True)  # fmt: skip
        yield name, said


def conditional_field(makers, learn, test):
    """What a CRF says that sees the columns of one of the makers; maker and penalties do best on a fifth held out."""
    fifth = np.arange(len(learn)) % 5 == 0
    most, held = (learn.select(np.flatnonzero(part).tolist()) for part in (~fifth, fifth))
    found = []
    for i, maker in enumerate(makers):
        for c1, c2 in PENALTIES:
            rate = error(crf_tags(maker, c1, c2, most, held), held.gold)
            found.append((rate, i, c1, c2))
            print(f"    CRF, min_count {maker.min_count}, c1 {c1}, c2 {c2}: {rate:.2f} % held out", flush=True)
    _, i, c1, c2 = min(found)
    said, seconds = timed(lambda: crf_tags(makers[i], c1, c2, learn, test))
    print(
        f"CRF takes min_count {makers[i].min_count}, c1 {c1}, c2 {c2}: learnt and asked in {seconds:.0f} s", flush=True
    )
    return said


def crf_tags(maker, c1, c2, learn, test):
    from pycrfsuite import Tagger, Trainer

    maker.fit(learn.sequences)
    trainer = Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": c1, "c2": c2, "max_iterations": 200})
    for rows, gold in zip(columns_of(maker, learn.sequences), learn.gold, strict=True):
        trainer.append(rows, gold)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "crf")
        trainer.train(path)
        tagger = Tagger()
        tagger.open(path)
        return [tagger.tag(rows) for rows in columns_of(maker, test.sequences)]


def columns_of(maker, sequences):
    """The columns present at each position of each sentence, by number."""
    rows = maker.transform(sequences)
    columns = [list(map(str, row)) for row in np.split(rows.indices, rows.indptr[1:-1])]
    ends = np.cumsum([0, *map(len, sequences)]).tolist()
    return [columns[a:b] for a, b in pairwise(ends)]


def wrong_of(said, gold):
    return np.array([sum(a != b for a, b in zip(x, y, strict=True)) for x, y in zip(said, gold, strict=True)])


def error(said, gold):
    return 100 * wrong_of(said, gold).sum() / sum(map(len, gold))


def size(options):
    X, y = ambiguous_text(np.random.default_rng(0))
    tagger = PositionTagger(WordFeatures(n_features=100_000))
    start = time.monotonic()
    _, seconds = timed(lambda: tagger.fit(X, y))
    passed, peak = time.monotonic() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    rows = tagger.features_.transform(X)
    print(f"{rows.shape[0]:,} positions, {rows.nnz:,} non-zeros in {len(np.unique(rows.indices)):,} of "
          f"{rows.shape[1]:,} columns: {seconds:.0f} CPU-s, {passed:.0f} s by the clock, "
          f"peak {peak:.2f} GB, held-out error {100 * tagger.held_out_error_:.2f} %")  # fmt: skip


def ambiguous_text(rng, n=10_000, length=25, n_words=400_000, n_labels=17, noise=0.03):
    """Sentences of a hidden Markov chain: a label makes the next one, and the word; a share of the labels is noise.

    Words follow Zipf's law and have a label of their own, which one ending in two tells; two words in ten come under
    another label, and only the neighbours tell that.
    """
    steps = np.cumsum(rng.dirichlet(np.full(n_labels, 0.3), size=n_labels), axis=1)
    labels = np.empty((n, length), dtype=np.int64)
    labels[:, 0] = rng.integers(n_labels, size=n)
    for i in range(1, length):
        drawn = rng.random((n, 1)) > steps[labels[:, i - 1]]
        labels[:, i] = np.minimum(drawn.sum(axis=1), n_labels - 1)
    own = np.where(rng.random((n, length)) < 0.8, labels, (labels * 5 + 3) % n_labels)
    zipf = np.cumsum(1 / (np.arange(n_words // n_labels) + 50.0))
    rank = np.searchsorted(zipf, rng.random((n, length)) * zipf[-1])
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    stems = ["".join(row) for row in letters[rng.integers(26, size=(n_words, 6))].tolist()]
    told = (rng.random(n_words) < 0.5).tolist()
    words = [stem + (f"{letters[k % n_labels]}e" if told[k] else "") for k, stem in enumerate(stems)]
    X = [[words[k] for k in row] for row in (rank * n_labels + own).tolist()]
    wrong = rng.random((n, length)) < noise
    said = np.where(wrong, rng.integers(n_labels, size=(n, length)), labels)
    return X, [[f"t{label}" for label in row] for row in said.tolist()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("ocr", "pos", "size"))
    parser.add_argument("--folds", type=lambda s: [int(k) for k in s.split(",")], default=[0, 5])
    parser.add_argument("--by-word-type", action="store_true")
    parser.add_argument("--alone", action="store_true", help="no ensembles")
    parser.add_argument("--languages", type=lambda s: s.split(","), default=["en"])
    parser.add_argument("--share", type=float, default=1.0)
    options = parser.parse_args()
    {"ocr": ocr, "pos": pos, "size": size}[options.what](options)


if __name__ == "__main__":
    main()
