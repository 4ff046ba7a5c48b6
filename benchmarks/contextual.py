#!/usr/bin/env python3
"""BoostedPaths on real files, beside votes and beside LightGBM on the candidates.

    contextual.py [--data DIR] [--only pron,pos] [--write docs/contextual.md]

Each file is cut by a hash of the record id, as in its folder's DATA.md: one half is learnt from, the other tested. The
error is that of tokens, counted by rapidfuzz against the nearest gold. "LightGBM" is what a good engineer builds in an
afternoon: a row for each label proposed in a slot, who supports it, who supports its rivals, what the majority says in
the two slots on either side, place and length; for tags, letters and phones the labels themselves. CPU seconds of
BoostedPaths are for learning and for 1,000 records combined; they are not comparable between machines.
"""

import hashlib
import json
import math
import os
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gzip

import numpy as np
from pages import files_of, parser_of, put
from rapidfuzz.distance import Levenshtein

from structens.align import align, needs_alignment
from structens.core import GAP, ExpertPredictions
from structens.ensembles import BoostedPaths, make_ensemble
from structens.ensembles.candidates import candidates

LIMIT = 4000
BASELINES = ("best", "vote", "rover", "mvote")


def is_learnt_from(record):
    return hashlib.sha256(str(record["id"]).encode()).digest()[0] < 128


def predictions(records):
    """Records of a file; a confidence of null is one that is not given."""
    names = sorted({name for r in records for name in r["experts"]})
    X = ExpertPredictions.of(
        {name: [r["experts"].get(name) for r in records] for name in names},
        gold=[r["gold"] for r in records],
        alternatives=[r.get("gold_alternatives", []) for r in records],
        ids=[r["id"] for r in records],
    )
    if any(r.get("workers") for r in records):
        X = X.with_workers({name: [(r.get("workers") or {}).get(name) for r in records] for name in names})
    if not any(r.get("confidences") for r in records):
        return X
    given = {
        name: [_row(r, name) for r in records]
        for name in names
        if any((r.get("confidences") or {}).get(name) for r in records)
    }
    return X.with_confidences(given)


def _row(record, name):
    row = (record.get("confidences") or {}).get(name)
    return None if row is None or any(v is None for v in row) else row


def errors_of(answers, records):
    golds = [[r["gold"], *r.get("gold_alternatives", [])] for r in records]
    return np.array([min(Levenshtein.distance(a, g) for g in all_of) for a, all_of in zip(answers, golds, strict=True)])


class LightGBMCandidates:
    """A classifier of candidates, right or wrong, on supports and neighbours."""

    def fit(self, X):
        import lightgbm

        self.mode = "always" if needs_alignment(X) else "never"
        slots = align(X, mode=self.mode)
        counts = np.bincount(slots.gold[slots.gold >= 0], minlength=len(X.alphabet))
        self.closed = (counts > 0).sum() <= 250 and counts.sum() > 10 * (counts > 0).sum()
        self.labels = {label: k for k, label in enumerate(X.alphabet.labels)}
        found = candidates(slots.labels)
        rows = np.flatnonzero(found.contested)
        x, right = self.features(slots, found, rows), (found.label == slots.gold[found.slot])[rows]
        self.model = lightgbm.LGBMClassifier(
            n_estimators=200, learning_rate=0.05, num_leaves=31, min_child_samples=10, subsample=0.8, subsample_freq=1,
            colsample_bytree=0.7, verbose=-1, n_jobs=1, random_state=0,
        )  # fmt: skip
        self.model.fit(x, right, categorical_feature=self.categories)
        return self

    def features(self, slots, found, rows):
        slot, p = found.slot[rows], slots.n_experts
        code = np.array([*(self.labels.get(label, -2) for label in slots.alphabet.labels), -1])
        support = np.where(found.of[slot] < 0, np.nan, found.of[slot] == rows[:, None])
        order = np.lexsort((found.first, -found.n_supporters, found.slot))
        begins = np.flatnonzero(np.diff(found.slot[order], prepend=-1) != 0)
        top, share = np.full(len(slots.labels), -2), np.zeros(len(slots.labels))
        top[found.slot[order[begins]]] = code[found.label[order[begins]]]
        awake = np.maximum((found.of >= 0).sum(axis=1), 1)
        share[found.slot[order[begins]]] = found.n_supporters[order[begins]] / awake[found.slot[order[begins]]]
        record, columns, categories = slots.record, [], []
        for step in (-2, -1, 1, 2):
            beside = np.clip(slot + step, 0, len(record) - 1)
            inside = record[beside] == record[slot]
            columns.append(np.where(inside, share[beside], np.nan))
            if self.closed:
                categories.append(p + 6 + len(columns))
                columns.append(np.where(inside, top[beside], -3) + 3)
        n, most = found.n_supporters[rows], share[slot] * awake[slot]
        place, length = slots.position[slot], slots.lengths[record[slot]]
        several = np.diff(found.offsets)[slot]
        fixed = [n, n / awake[slot], n - most, several, found.label[rows] == GAP, place, length - 1 - place]
        if self.closed:
            categories.append(p + 7 + len(columns))
            columns.append(code[found.label[rows]] + 3)
        self.categories = categories
        return np.column_stack([support, *fixed, *columns]).astype(np.float64)

    def predict(self, X):
        slots = align(X, mode=self.mode)
        found = candidates(slots.labels)
        rows = np.flatnonzero(found.contested)
        score = np.ones(len(found))
        score[rows] = self.model.predict_proba(self.features(slots, found, rows))[:, 1]
        order = np.lexsort((found.first, -score, found.slot))
        begins = np.flatnonzero(np.diff(found.slot[order], prepend=-1) != 0)
        label = np.full(len(slots.labels), GAP)
        label[found.slot[order[begins]]] = found.label[order[begins]]
        rows = [label[a:b] for a, b in zip(slots.offsets[:-1], slots.offsets[1:], strict=True)]
        texts = [slots.alphabet.decode(row[row >= 0]) for row in rows]
        return ["".join(text) for text in texts] if X.is_text else texts


def measured(path):
    """Token errors by method, and CPU seconds."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records = [r for r in map(json.loads, file) if r.get("gold") is not None]
    train = [r for r in records if is_learnt_from(r)][:LIMIT]
    test = [r for r in records if not is_learnt_from(r)][:LIMIT]
    X, Y = predictions(train), predictions(test)
    Y = Y.reindex(X.names)
    length, row = sum(len(r["gold"]) for r in test), {"file": path.name.split(".")[0], "n": len(train)}
    for method in BASELINES:
        model = make_ensemble(method, **({"tie": "expert"} if method == "mvote" else {}))
        row[method] = errors_of(model.fit(X).predict(Y), test).sum() / length
    row["lightgbm"] = errors_of(LightGBMCandidates().fit(X).predict(Y), test).sum() / length
    start = time.process_time()
    model = BoostedPaths().fit(X)
    row["fit"] = time.process_time() - start
    model.predict(Y[:50])  # compiles
    start = time.process_time()
    answers = model.predict(Y)
    row["combine"] = (time.process_time() - start) / len(test) * 1000
    row["boosted-paths"] = errors_of(answers, test).sum() / length
    row["others"] = min(row[method] for method in BASELINES)
    return row


def mean_ratio(rows, method, by):
    logs = [math.log(row[method] / row[by]) for row in rows if row[method] > 0 and row[by] > 0]
    return math.exp(sum(logs) / len(logs))


def table_of(rows):
    names = (*BASELINES, "lightgbm", "boosted-paths")
    lines = ["| file | records learnt from | best expert | majority | ROVER | H_MVote | LightGBM | BoostedPaths | "]
    lines[0] += "over the best vote | learning, s | 1,000 records, s |"
    lines.append("|---" * 11 + "|")
    for row in rows:
        least = min(row[name] for name in names)
        shown = (f"**{row[name]:.4f}**" if row[name] == least else f"{row[name]:.4f}" for name in names)
        more = f"{row['boosted-paths'] / row['others']:.2f} | {row['fit']:.1f} | {row['combine']:.2f}"
        lines.append(f"| {row['file']} | {row['n']:,} | {' | '.join(shown)} | {more} |")
    votes, boosted = mean_ratio(rows, "boosted-paths", "others"), mean_ratio(rows, "boosted-paths", "lightgbm")
    lines += ["", f"Geometric means over {len(rows)} files: BoostedPaths over the best of the four votes {votes:.3f}, "]
    lines[-1] += f"over LightGBM {boosted:.3f}; LightGBM over the votes {mean_ratio(rows, 'lightgbm', 'others'):.3f}."
    return "\n".join(lines)


def main():
    options = parser_of(__doc__).parse_args()
    rows = []
    for path in files_of(options):
        rows.append(measured(path))
        shown = {k: round(v, 4) if isinstance(v, float) else v for k, v in rows[-1].items()}
        print(json.dumps(shown), file=sys.stderr, flush=True)
    table = table_of(rows)
    print(table)
    if options.write:
        put(options.write, {"contextual": table})


if __name__ == "__main__":
    main()
