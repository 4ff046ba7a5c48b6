"""Dawid and Skene's expectation-maximisation from the definition: dictionaries, and products of probabilities.

Labels are numbers, `gap` is one more; an answer is a pair (source, label).
"""

import itertools
import math


def votes(row, truths):
    """The posterior that the vote starts from: exp(2 n) for n votes."""
    said = [x for _, x in row]
    return normed({t: math.exp(2.0 * said.count(t)) for t in truths})


def normed(weights):
    total = sum(weights.values())
    return {key: w / total for key, w in weights.items()}


def maximise(rows, posterior):
    """Expected counts of (source, truth, said)."""
    out = {}
    for row, q in zip(rows, posterior, strict=True):
        for t, w in q.items():
            for source, x in row:
                out[source, t, x] = out.get((source, t, x), 0.0) + w
    return out


def coin(counts, n_sources, gap, shrinkage):
    """For each source the chances (right, left out, wrong) at a label, and (right, wrong) at GAP."""
    own = []
    for source in range(n_sources):
        n = [0.0] * 5
        for (s, t, x), c in counts.items():
            if s == source and t == gap:
                n[3 if x == gap else 4] += c
            elif s == source:
                n[0 if x == t else 1 if x == gap else 2] += c
        own.append(n)
    out = [[0.0] * 5 for _ in own]
    for part in ((0, 1, 2), (3, 4)):
        whole = [sum(n[i] for n in own) + 0.5 for i in part]
        pool = [w / sum(whole) for w in whole]
        for n, rates in zip(own, out, strict=True):
            for i, base in zip(part, pool, strict=True):
                rates[i] = (n[i] + shrinkage * base) / (sum(n[k] for k in part) + shrinkage)
    return out


def confusion(counts, n_sources, gap, shrinkage):
    """P(said | truth) of every source: right as often as it is, shrunk to itself and the pool; errors to the pool's."""
    labels, sources = range(gap + 1), range(n_sources)

    def total(sources, truths, right):
        return sum(c for (s, t, x), c in counts.items() if s in sources and t in truths and (x == t or not right))

    def wrong(sources, truths, x):
        return sum(c for (s, t, y), c in counts.items() if s in sources and t in truths and y == x != t)

    out = {}
    for source, truth in itertools.product(sources, labels):
        alike = [t for t in labels if (t == gap) == (truth == gap)]
        pool = (total(sources, alike, True) + 0.7) / (total(sources, alike, False) + 1.0)
        own = (total([source], alike, True) + shrinkage * pool) / (total([source], alike, False) + shrinkage)
        n, n_right = total([source], [truth], False), total([source], [truth], True)
        n_wrong = total(sources, [truth], False) - total(sources, [truth], True)
        rate = (n_right + shrinkage * own) / (n + shrinkage)
        base = normed({x: wrong(sources, labels, x) + 0.5 for x in labels if x != truth})
        for x, b in base.items():
            pooled = (wrong(sources, [truth], x) + shrinkage * b) / (n_wrong + shrinkage)
            mine = (wrong([source], [truth], x) + shrinkage * pooled) / (n - n_right + shrinkage)
            out[source, truth, x] = (1.0 - rate) * mine
        out[source, truth, truth] = rate
    return out


def expectation_maximisation(rows, gap, n_sources, rounds, *, closed, shrinkage, gold=None):
    """Log likelihoods after each round, and the last posterior.

    Parameters
    ----------
    rows : list of list of (int, int)
        Answers of each slot.
    closed : bool
        All labels may be right, but something stands in every slot; else one of those said is.
    gold : list of int or None, optional
        Truths of slots that are known.
    """
    gold = gold or [None] * len(rows)
    said = [x for row in rows for _, x in row]
    spread = [(said.count(x) + 0.5) / (len(said) + 0.5 * (gap + 1)) for x in range(gap + 1)]
    truths_of = [
        set(range(gap)) if closed else {x for _, x in row} | {g} - {None} for row, g in zip(rows, gold, strict=True)
    ]
    clamp = [truths if g is None else {g} for truths, g in zip(truths_of, gold, strict=True)]
    posterior = [votes(row, truths) for row, truths in zip(rows, clamp, strict=True)]
    few, totals = 0.5 * min(shrinkage, 1.0), []
    for _ in range(rounds):
        counts = maximise(rows, posterior)
        prior = normed({t: sum(q.get(t, 0.0) for q in posterior) + few for t in range(gap + 1)})
        table = (confusion if closed else coin)(counts, n_sources, gap, shrinkage)
        posterior, total = [], 0.0
        for row, truths in zip(rows, clamp, strict=True):
            joint = {}
            for t in truths:
                joint[t] = prior[t]
                for source, x in row:
                    joint[t] *= table[source, t, x] if closed else _tossed(table[source], t, x, gap, spread)
            total += math.log(sum(joint.values()))
            posterior.append(normed(joint))
        totals.append(total)
    return totals, posterior


def _tossed(rates, truth, said, gap, spread):
    if truth == gap:
        return rates[3] if said == gap else rates[4] * spread[said]
    if said == truth:
        return rates[0]
    return rates[1] if said == gap else rates[2] * spread[said]


def hrrasa(like, who, rounds, shrinkage):
    """Column chosen in each record, and the workers' reliabilities; ``like[i][j][k]`` is a likeness of two answers."""
    names = sorted({w for row in who for w in row})
    weight = dict.fromkeys(names, 1.0)
    for _ in range(rounds):
        scores = selection_scores(like, who, weight)
        pairs = [(w, s) for row, own in zip(who, scores, strict=True) for w, s in zip(row, own, strict=True)]
        pool = sum(s for _, s in pairs) / len(pairs)
        for name in names:
            own = [s for w, s in pairs if w == name]
            weight[name] = (sum(own) + shrinkage * pool) / (len(own) + shrinkage)
    scores = selection_scores(like, who, weight)
    ranked = [[(s, weight[w]) for s, w in zip(*pair, strict=True)] for pair in zip(scores, who, strict=True)]
    return [row.index(max(row)) for row in ranked], weight


def selection_scores(like, who, weight):
    """Mean likeness of each answer to the others of its record, by their workers' reliabilities."""
    out = []
    for i, row in enumerate(who):
        out.append([])
        for j in range(len(row)):
            others = [k for k in range(len(row)) if k != j]
            out[-1].append(sum(weight[row[k]] * like[i][j][k] for k in others) / sum(weight[row[k]] for k in others))
    return out


def edit_distance(a, b):
    """Least number of insertions, deletions and substitutions."""
    if not a or not b:
        return len(a) + len(b)
    return min(edit_distance(a[1:], b) + 1, edit_distance(a, b[1:]) + 1, edit_distance(a[1:], b[1:]) + (a[0] != b[0]))
