#!/usr/bin/env python3
"""Position taggers beside the systems of the shared files: letters from pixels, tags from words.

    taggers.py ocr [--folds 0,5]    Kassel's letters: each fold tagged by what learnt from the words of the other nine
                                    (--by-word-type: folds of whole word types; --share .5: from half of the words)
    taggers.py pos                  English tags: one half learns, beside a CRF on the same sentences and templates
    taggers.py size                 10,000 sentences of 25 tokens, 100,000 columns, 17 labels: time and memory

Seconds are of the processor. `pos` needs python-crfsuite.
"""

import argparse
import copy
import os
import resource
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from contextual import is_learnt_from

from structens import PositionTagger, VectorWindows, WordFeatures, add_experts, evaluate_methods, read_records, render
from structens.boosting import AdaBoostMH, HammingTree
from structens.ensembles import Tagged
from structens.io import read_feature_arrays, read_tagged

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
    for added in ({}, letter, best, columns):
        print("\nwith", ", ".join(added) or "no tagger")
        print(render(evaluate_methods(add_experts(part, added) if added else part, ("vote", "mvote", "sle", "auto"))),
              flush=True)  # fmt: skip


def pos(options):
    from pycrfsuite import Tagger, Trainer

    read = read_tagged(DATA / "pos_en_ewt_upos.jsonl.gz")
    first = np.array([is_learnt_from({"id": ident}) for ident in read.ids])
    learn, test = (read.select(np.flatnonzero(part).tolist()) for part in (first, ~first))
    print(f"{len(learn):,} sentences learn, {len(test):,} test")
    trainer = Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c2": 0.1, "c1": 0.1, "max_iterations": 100})
    for tokens, gold in zip(learn.sequences, learn.gold, strict=True):
        trainer.append(templates(tokens), gold)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "crf")
        _, seconds = timed(lambda: trainer.train(path))
        crf = Tagger()
        crf.open(path)
        said = [crf.tag(templates(tokens)) for tokens in test.sequences]
    print(f"CRF: {error(said, test.gold):.2f} %, learnt in {seconds:.0f} s", flush=True)
    for name, tagger in {
        "words": PositionTagger(WordFeatures()),
        "words, all of them": PositionTagger(WordFeatures(min_count=1)),
    }.items():
        _, seconds = timed(lambda: tagger.fit(learn.sequences, learn.gold))  # noqa: B023
        print(f"{name}: {error(tagger.predict(test.sequences), test.gold):.2f} %, held out "
              f"{100 * tagger.held_out_error_:.2f}, learnt in {seconds:.0f} s", flush=True)  # fmt: skip


def templates(tokens):
    """Of a CRF: words two to each side, affixes to four letters, shapes."""
    out = []
    for i, token in enumerate(tokens):
        row = [f"{d}:{tokens[i + d].lower()}" for d in range(-2, 3) if 0 <= i + d < len(tokens)]
        row += [f"p{n}:{token[:n].lower()}" for n in range(1, 5)] + [f"s{n}:{token[-n:].lower()}" for n in range(1, 5)]
        shape = "".join("X" if c.isupper() else "x" if c.islower() else "9" if c.isdigit() else c for c in token)
        row += [f"shape:{shape}", f"w:{token}"]
        for d in (-1, 1):
            if 0 <= i + d < len(tokens):
                row += [f"{d}s{n}:{tokens[i + d][-n:].lower()}" for n in (2, 3)]
        out.append(row)
    return out


def error(said, gold):
    pairs = [(a, b) for x, y in zip(said, gold, strict=True) for a, b in zip(x, y, strict=True)]
    return 100 * sum(a != b for a, b in pairs) / len(pairs)


def size(options):
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}{'aeiou'[i % 5]}{i % 97}" for i in range(60_000)])
    codes = np.minimum(rng.zipf(1.2, size=(10_000, 25)) - 1, len(words) - 1)
    X = [words[row].tolist() for row in codes]
    y = [[f"t{(c * 7 + c // 11) % 17}" for c in row] for row in codes.tolist()]
    tagger = PositionTagger(WordFeatures(n_features=100_000))
    start = time.monotonic()
    _, seconds = timed(lambda: tagger.fit(X, y))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    columns = tagger.features_.transform(X[:1]).shape[1]
    print(f"{columns:,} columns: {seconds:.0f} CPU-s, {time.monotonic() - start:.0f} s by the clock, "
          f"peak {peak:.2f} GB, held-out error {100 * tagger.held_out_error_:.2f} %")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("ocr", "pos", "size"))
    parser.add_argument("--folds", type=lambda s: [int(k) for k in s.split(",")], default=[0, 5])
    parser.add_argument("--by-word-type", action="store_true")
    parser.add_argument("--share", type=float, default=1.0)
    options = parser.parse_args()
    {"ocr": ocr, "pos": pos, "size": size}[options.what](options)


if __name__ == "__main__":
    main()
