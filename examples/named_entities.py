"""Names in newspaper text, told apart from seven seed rules: CoBoost and DL-CoTrain on two views of 88,860 names.

Collins and Singer, "Unsupervised models for named entity classification" (EMNLP 1999): view 1 is the spelling, view 2
the context, labels are person, organization and location; CoBoost reached 91.1 % (83.1 % with noise), DL-CoTrain 91.3 %
(83.3 %). "Clean" leaves out names of the test set that are none of the three; days and months are left out of both.

    python examples/named_entities.py            # 5,000 rounds: a minute
    python examples/named_entities.py --quick    # 1,000 rounds, and 50 iterations of DL-CoTrain instead of 500

The data have no stated licence, so they are not part of this project: two_views/ne_collins_singer.jsonl.gz and
.seeds.json are expected in ../shared/data, or in the folder that --data names.
"""

import argparse
import gzip
import json
import warnings
from pathlib import Path

import numpy as np

from structens import ExpertPredictions
from structens.boosting import CoBoost, CollapseWarning, DLCoTrain

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "two_views"
MONTHS = "January February March April May June July August Aug September October November December"
CALENDAR = frozenset(f"{MONTHS} Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())


def read(folder):
    """Views of the training rows and of the test rows, gold of the test rows, and the seed rules."""
    with gzip.open(folder / "ne_collins_singer.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    seeds = json.loads((folder / "ne_collins_singer.seeds.json").read_text(encoding="utf-8"))
    train = [row for row in rows if row["split"] == "train"]
    test = [row for row in rows if row["split"] == "test" and not is_date(row)]
    return views(train), views(test), [row["label"] for row in test], {s["feature"]: s["label"] for s in seeds}


def views(rows):
    """Spelling and context; without the type of the context, which every row has (as in the paper)."""
    contexts = [[f for f in row["view2"] if not f.startswith("X3_")] for row in rows]
    return [row["view1"] for row in rows], contexts


def is_date(row):
    return any(f.removeprefix("X0_") in CALENDAR for f in row["view1"] if f.startswith("X0_"))


def line(name, predicted, gold):
    right = sum(p == g for p, g in zip(predicted, gold, strict=True))
    clean = right / sum(g != "noise" for g in gold)
    print(f"{name:32} clean {100 * clean:5.2f} %   with noise {100 * right / len(gold):5.2f} %", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the data")
    parser.add_argument("--quick", action="store_true", help="1,000 rounds")
    args = parser.parse_args()
    if not (args.data / "ne_collins_singer.jsonl.gz").exists():
        print(f"No data in {args.data}: nothing to show (see the top of this file).")
        return
    train, test, gold, seeds = read(args.data)
    line("always organization", ["organization"] * len(gold), gold)

    lists = DLCoTrain(n_more=50 if args.quick else 5).fit(train, seeds=seeds)
    line("DL-CoTrain", lists.predict(test), gold)

    with warnings.catch_warnings():
        warnings.simplefilter("error", CollapseWarning)
        model = CoBoost(1000 if args.quick else 5000).fit(train, seeds=seeds)
    for n_rounds in (100, 300, 1000, 2000, 3000, 5000):
        if n_rounds <= model.n_rounds_:
            line(f"CoBoost, {n_rounds:,} rounds", model.predict(test, n_rounds), gold)
    print(f"views agree on {100 * model.agreement_[-1]:.1f} % of the names of which both speak")
    print(f"test names of which no rule speaks: {int(model.abstains(test).sum())} of {len(gold)}\n")
    print("First rules:", *map(str, model.rules_[:6]), sep="\n    ")
    for label in model.classes_.tolist():
        print(f"{label}: {', '.join(str(feature) for feature, _ in model.strongest(2, label, 6))}")

    # as experts beside others: one label a name, with confidences
    experts = {"coboost": model, "dl-cotrain": lists}
    X = ExpertPredictions.of({name: [[label] for label in m.predict(test).tolist()] for name, m in experts.items()})
    agree = np.mean([X["coboost"][i] == X["dl-cotrain"][i] for i in range(len(gold))])
    print(f"\nBoth methods say the same of {100 * agree:.1f} % of the test names")


if __name__ == "__main__":
    main()
