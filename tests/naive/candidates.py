"""Slow references of candidates, their features, and label n-grams, from the definitions."""

import math
from collections import Counter

from structens.core import ABSENT, GAP


def candidates(labels):
    """Of each slot its distinct labels in the order of their first supporters: (label, supporters)."""
    out = []
    for row in labels:
        found = {}
        for j, label in enumerate(row):
            if label != ABSENT:
                found.setdefault(label, []).append(j)
        out.append(list(found.items()))
    return out


def support(labels, reliability, classes):
    """Rows of `support_features` for one record in which every candidate is asked for."""
    rows = []
    k, p = len(reliability[0]), len(reliability)
    for s, slot in enumerate(candidates(labels)):
        totals, here = [], []
        for label, backers in slot:
            x = [math.nan] * p
            for j, said in enumerate(labels[s]):
                if said != ABSENT:
                    x[j] = float(reliability[j][classes(said)][k if said == label else classes(label)])
            own = [x[j] for j in backers]
            others = [v for j, v in enumerate(x) if j not in backers and v == v]
            awake, n = sum(v == v for v in x), len(backers)
            sizes = [len(b) for other, b in slot if other != label]
            totals.append(sum(own) + sum(others))
            here.append(
                [
                    *(n, n / awake, awake, len(slot), sum(m > n for m in sizes), n - max(sizes, default=0)),
                    *(totals[-1], math.nan, sum(own) / n, max(own), sum(others) / len(others) if others else math.nan),
                    *(label == GAP, classes(label), s, len(labels) - 1 - s, len(labels), *x),
                ]
            )
        for i, row in enumerate(here):
            rivals = totals[:i] + totals[i + 1 :]
            row[7] = row[6] - max(rivals) if rivals else math.nan
            rows.append(row)
    return rows


def worker_log_odds(labels, gold, workers, n, seen, strength):
    """Of each of n workers and of one unknown, from the slots of the records `seen`; workers[record][expert]."""
    cases, hits = [0] * (n + 1), [0] * (n + 1)
    for r in seen:
        for row, right in zip(labels[r], gold[r], strict=True):
            if len({label for label in row if label != ABSENT}) > 1:
                for j, label in enumerate(row):
                    if label != ABSENT:
                        cases[workers[r][j]] += 1
                        hits[workers[r][j]] += label == right
    pool = (sum(hits) + 1) / (sum(cases) + 2)
    cases[n] = hits[n] = 0
    rates = [(h + strength * pool) / (m + strength) for h, m in zip(hits, cases, strict=True)]
    return [math.log(p / (1 - p)) for p in rates]


def worker_row(row, label, x):
    """What `worker_features` says of a label, with the log-odds x of who stands at each expert's place."""
    own = [v for v, said in zip(x, row, strict=True) if said == label]
    others = [v for v, said in zip(x, row, strict=True) if said not in (label, ABSENT)]
    mean = [sum(side) / len(side) if side else math.nan for side in (own, others)]
    return [mean[0], max(own, default=math.nan), mean[1], sum(own), sum(own) - sum(others)]


def gap_errors(rows, lengths, gold, weight, distance):
    """Edits of all records; rows hold {label: probability} of each slot, GAP among them; ties to the first."""
    total, s = 0, 0
    for length, right in zip(lengths, gold, strict=True):
        best = [max(r, key=lambda label, r=r: r[label] * (weight if label == GAP else 1)) for r in rows[s : s + length]]
        total += distance(right, [label for label in best if label != GAP])
        s += length
    return total


def witten_bell(sequences, n_labels, order, history, label):
    """P(label | history) of interpolated Witten-Bell smoothing; n_labels is the border."""
    history = list(history)[max(0, len(history) - order + 1) :]
    p = 1.0 / (n_labels + 1)
    for k in range(len(history) + 1):
        context = history[len(history) - k :]
        after = []
        for sequence in sequences:
            padded = [n_labels] * (order - 1) + list(sequence) + [n_labels]
            for i in range(order - 1, len(padded)):
                if padded[i - k : i] == context:
                    after.append(padded[i])
        if after:
            types = len(set(after))
            p = (after.count(label) + types * p) / (len(after) + types)
    return p


def kneser_ney(sequences, n_labels, order, history, label):
    """P(label | history) of interpolated Kneser-Ney smoothing; n_labels ends a sequence, n_labels + 1 begins it."""
    padded = [(n_labels + 1, *sequence, n_labels) for sequence in sequences]
    grams = [Counter(row[i : i + k] for row in padded for i in range(len(row) - k + 1)) for k in range(1, order + 1)]

    def used(gram):
        if gram[-1] == n_labels + 1:
            return 0
        before = 0 if len(gram) == order else sum(longer[1:] == gram for longer in grams[len(gram)])
        return before or grams[len(gram) - 1][gram]

    def discount(k):
        counts = [used(gram) for gram in grams[k - 1]]
        once, twice = counts.count(1), counts.count(2)
        return min(max(once / max(once + 2 * twice, 1), 0.1), 0.9)

    def p(context):
        lower = p(context[1:]) if context else 1 / (n_labels + 1)
        after = [used(gram) for gram in grams[len(context)] if gram[:-1] == context]
        if not sum(after):
            return lower
        d = discount(len(context) + 1)
        mine = max(used((*context, label)) - d, 0) if grams[len(context)][(*context, label)] else 0
        return (mine + d * sum(n > 0 for n in after) * lower) / sum(after)

    return p(tuple(history)[max(0, len(history) - order + 1) :])


def agreement(labels, q, s, backers):
    """Mean posterior of what the backers of a candidate say in a slot, and of what the others say; q[s][label]."""
    own = [q[s][labels[s][j]] for j in backers]
    others = [q[s][labels[s][j]] for j in range(len(labels[s])) if j not in backers]
    return [sum(side) / len(side) if side else math.nan for side in (own, others)]
