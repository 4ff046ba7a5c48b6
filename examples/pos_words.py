"""Parts of speech from words to a combined answer: train taggers by folds, tag out of fold, combine, evaluate.

English sentences of the Universal Dependencies treebank EWT (its development and test parts). Three taggers of boosted
Hamming trees differ in what they see: the word and its neighbours, the word alone, and suffixes. Each sentence is
tagged by taggers that did not learn from it (`cross_predict`), and their answers join those of 25 other systems, a
conditional random field (crf_all) among them. Weights are learnt out of fold too (`evaluate_methods`).

    python examples/pos_words.py          # 400 sentences, three folds: a minute (--quick is the same)
    python examples/pos_words.py --full   # all 2,519 sentences, five folds, more rounds: three minutes

The taggers learn from 270 to 2,000 sentences here, crf_all learnt from 12,000: they are worse, and with 400 sentences
they add nothing to the others.

--full took 170 CPU-seconds: 7.73 % of the tags were wrong by the tagger that sees neighbours, 6.34 % by crf_all; 5.32 %
by H_SLE without the taggers, 5.15 % with them (plain vote 6.46 and 6.29 %, H_MVote 6.04 and 5.97 %). The data (CC BY-SA
4.0) are not part of this project: pos_en_ewt_upos.jsonl.gz is expected in ../shared/data, or where --data says.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from ocr_letters import DATA, shown

from structens import PositionTagger, WordFeatures, cross_predict, read_records
from structens.boosting import AdaBoostMH, HammingTree
from structens.io import read_tagged


def taggers(full):
    """Taggers by name; in a quick look they boost for fewer rounds."""
    makers = {
        "words": WordFeatures(),
        "word alone": WordFeatures(radius=0, near_affixes=0),
        "suffixes": WordFeatures(affixes=3, shapes=False),
    }
    n_rounds = 300 if full else 100
    boost = AdaBoostMH(HammingTree(40), n_rounds, votes="real", learning_rate=0.5, max_features=0.04, random_state=0)
    return {name: PositionTagger(maker, boost) for name, maker in makers.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the data")
    parser.add_argument("--quick", action="store_true", help="400 sentences, three folds (the default)")
    parser.add_argument("--full", action="store_true", help="all sentences, five folds, more rounds")
    args = parser.parse_args()
    file = args.data / "pos_en_ewt_upos.jsonl.gz"
    if not file.exists():
        print(f"No data in {args.data}: nothing to show (see the top of this file).")
        return
    X, sentences = read_records(file), read_tagged(file)
    if not args.full:
        chosen = np.arange(0, len(X), len(X) // 400)[:400]
        X, sentences = X[chosen], sentences.select(chosen)
    print(f"{len(X):,} sentences, {sum(map(len, sentences.sequences)):,} words", flush=True)
    begin = time.process_time()
    columns = cross_predict(taggers(args.full), sentences.sequences, sentences.gold, folds=5 if args.full else 3)
    print(f"taggers learnt and asked out of fold in {time.process_time() - begin:.0f} CPU-seconds\n", flush=True)
    shown(X, columns)


if __name__ == "__main__":
    main()
