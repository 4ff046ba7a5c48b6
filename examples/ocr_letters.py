"""Handwritten words from pixels to a combined reading: train taggers by folds, tag out of fold, combine, evaluate.

Kassel's words (6,877 of 55 different ones, letters of 16 x 8 pixels, ten folds of their own). Two taggers of boosted
Hamming trees learn letters from pixels: one sees a letter, the other also its neighbours. Each word is read by taggers
that did not learn from it (`cross_predict`), and their readings join those of nine systems that other programs made in
the same folds, a conditional random field among them. Weights are learnt out of fold too (`evaluate_methods`).

    python examples/ocr_letters.py                # 600 words, three folds: a minute (--quick is the same)
    python examples/ocr_letters.py --full         # all 4,128 of the file, ten folds: four minutes
    python examples/ocr_letters.py --word-types   # folds of whole words, so that nobody knows a word by heart

All words occur in all folds, so whatever looks at neighbours knows them by heart; --word-types shows the rest. The
taggers of a quick look learn from 400 words, those of --full from 3,700, the other systems from 3,000 to 6,200.

--full took 247 CPU-seconds: 5.45 % of the letters were wrong by the tagger of single letters, 6.89 % by the other (both
with Viterbi), 15.53 % by the best other system; 15.01 % by the plain vote without the taggers, 11.45 % with them;
12.95 % and 5.45 % by H_MVote, which then says what the better tagger says. The data are not part of this project:
ocr_letters/kassel.npz and ocr_letters.jsonl.gz are expected in ../shared/data, or where --data says.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from structens import PositionTagger, VectorWindows, add_experts, cross_predict, evaluate_methods, read_records, render
from structens.boosting import AdaBoostMH, HammingTree
from structens.io import read_feature_arrays

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
METHODS = ("vote", "mvote", "sle")


def taggers(full):
    """Taggers by name; in a quick look they boost for fewer rounds."""
    n_rounds = 200 if full else 60
    boost = AdaBoostMH(HammingTree(20), n_rounds, votes="real", learning_rate=0.5, max_features=0.3, random_state=0)
    return {name: PositionTagger(VectorWindows(radius), boost) for name, radius in (("letter", 0), ("window", 1))}


def shown(X, columns):
    """Print the table of all experts and methods, and what the taggers add to the others."""
    both = add_experts(X, columns)
    evaluations = [evaluate_methods(part, METHODS) for part in (X, both)]
    print(render(evaluations[1]))
    print()
    for method in METHODS:
        before, after = (row_of(evaluation, method) for evaluation in evaluations)
        print(f"{before.name:22} {100 * before.rates.rate:6.2f} %   with the taggers {100 * after.rates.rate:6.2f} %")


def row_of(evaluation, method):
    """The row of a method in a table."""
    from structens.ensembles import METHODS as KNOWN

    return next(row for row in evaluation.rows if row.name == KNOWN[method][0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the data")
    parser.add_argument("--quick", action="store_true", help="600 words, three folds (the default)")
    parser.add_argument("--full", action="store_true", help="all words, ten folds, more rounds")
    parser.add_argument("--word-types", action="store_true", help="folds of whole words")
    args = parser.parse_args()
    pixels, others = args.data / "ocr_letters" / "kassel.npz", args.data / "ocr_letters.jsonl.gz"
    if args.word_types:
        others = args.data / "ocr_letters_by_word_type.jsonl.gz"
    if not (pixels.exists() and others.exists()):
        print(f"No data in {args.data}: nothing to show (see the top of this file).")
        return

    words = read_feature_arrays(pixels, unpack_bits=True, id_format="kassel-{:04d}")
    field = "type_fold" if args.word_types else "fold"
    X = read_records(others, keep=[field])
    if not args.full:
        X = X[np.arange(0, len(X), len(X) // 600)[:600]]
    place = {ident: i for i, ident in enumerate(words.ids)}
    words = words.select([place[ident] for ident in X.ids])
    folds = np.array([fields[field] for fields in X.fields])
    folds = folds if args.full else folds % 3
    print(
        f"{len(words):,} words, {sum(map(len, words.sequences)):,} letters, {len(set(folds.tolist()))} folds",
        flush=True,
    )

    begin = time.process_time()
    columns = cross_predict(taggers(args.full), words.sequences, words.gold, folds=folds)
    print(f"taggers learnt and asked out of fold in {time.process_time() - begin:.0f} CPU-seconds\n", flush=True)
    shown(X, columns)


if __name__ == "__main__":
    main()
