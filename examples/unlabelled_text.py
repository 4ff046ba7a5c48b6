"""A tagger of names improved by unlabelled text: CoBoost from a few labelled names and 88,860 without a label.

Every name is seen from two sides: its spelling, and the words around it. CoBoost learns from the labelled names alone,
and from all names; DL-CoTrain learns from all too, and the three are experts that vote. The labelled names and those
that are tested are drawn from the 877 labelled persons, organizations and locations of Collins and Singer (EMNLP 1999);
no name is learnt from and tested in one draw.

    python examples/unlabelled_text.py            # 10 draws of 30 and of 100 labelled names: five minutes
    python examples/unlabelled_text.py --quick    # 2 draws, 100 rounds: half a minute

The data are those of named_entities.py beside this file, and not part of this project either.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from named_entities import DATA, read

from structens import ExpertPredictions, MajorityVote
from structens.boosting import CoBoost, CollapseWarning, DLCoTrain

N_TESTED = 577


def drawn(views, rows):
    """The views of some rows."""
    return tuple([view[i] for i in rows] for view in views)


def errors(text, names, gold, n_labelled, n_rounds, seed):
    """Shares of wrong answers on the tested names, by method."""
    order = np.random.default_rng(seed).permutation(len(gold))
    labelled, tested = order[:n_labelled], order[-N_TESTED:]
    known, right = [gold[i] for i in labelled], [gold[i] for i in tested]
    few, new = drawn(names, labelled), drawn(names, tested)
    everything = tuple(a + b for a, b in zip(few, text, strict=True))
    y = known + [None] * len(text[0])

    alone = CoBoost(n_rounds, unlabelled_mass=0).fit(few, known)
    models = {"coboost": CoBoost(n_rounds).fit(everything, y), "dl-cotrain": DLCoTrain(n_more=25).fit(everything, y)}
    answers = {"labelled names alone": alone.predict(new), **{name: m.predict(new) for name, m in models.items()}}
    # the labelled names were learnt from, so they cannot say how good the learners are: a vote, with no weights learnt
    experts = {name: [[label] for label in answer.tolist()] for name, answer in answers.items()}
    sure = {"coboost": models["coboost"].predict_proba(new).max(axis=1)}
    answers["vote of the three"] = np.array(vote(experts))
    return {
        **{name: np.mean(answer != right) for name, answer in answers.items()},
        "coboost, its surest half": np.mean(half(answers["coboost"] != right, sure["coboost"])),
    }, models["coboost"]


def vote(experts):
    """The plain vote; three different answers go to the first expert, so the best stands first."""
    order = ("coboost", "dl-cotrain", "labelled names alone")
    X = ExpertPredictions.of({name: experts[name] for name in order})
    return [answer[0] for answer in MajorityVote().fit(X).predict(X)]


def half(wrong, confidence):
    return wrong[np.argsort(-confidence, kind="stable")[: len(wrong) // 2]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the data")
    parser.add_argument("--quick", action="store_true", help="2 draws, 100 rounds")
    args = parser.parse_args()
    if not (args.data / "ne_collins_singer.jsonl.gz").exists():
        print(f"No data in {args.data}: nothing to show (see the top of named_entities.py).")
        return
    text, test, gold, _ = read(args.data)
    names = [i for i, label in enumerate(gold) if label != "noise"]
    test, gold = drawn(test, names), np.array([gold[i] for i in names])
    n_draws, n_rounds = (2, 100) if args.quick else (10, 300)
    for n_labelled in (30, 100):
        rows, warned = [], 0
        for seed in range(n_draws):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", CollapseWarning)
                row, model = errors(text, test, gold, n_labelled, n_rounds, seed)
            rows.append(row)
            warned += bool(caught)
        print(
            f"\n{n_labelled} labelled names, {len(text[0]):,} without a label, {n_draws} draws: % wrong of {N_TESTED}"
        )
        for name in rows[0]:
            wrong = 100 * np.array([row[name] for row in rows])
            print(f"    {name:24} {wrong.mean():5.1f}   ({wrong.min():.1f} to {wrong.max():.1f})", flush=True)
        print(f"    CoBoost warned of a collapse in {warned} of {n_draws} draws")
    print("\nWhat the contexts of names say, learnt mostly from text without labels:")
    for label in model.classes_.tolist():
        print(f"    {label}: {', '.join(str(feature) for feature, _ in model.strongest(2, label, 5))}")


if __name__ == "__main__":
    main()
