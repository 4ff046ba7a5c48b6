"""n-gram gains, edit-distance learning and their games from the definitions: paths and subsequences written out."""

import math
from itertools import combinations, product

from naive.losses import edits


def pattern_counts(sequence, r, max_gap=0, discount=1.0):
    """Discounted number of occurrences of each pattern of r units that leave out at most max_gap units."""
    out = {}
    for places in combinations(range(len(sequence)), r):
        gap = places[-1] - places[0] + 1 - r
        if gap <= max_gap:
            pattern = tuple(sequence[i] for i in places)
            out[pattern] = out.get(pattern, 0.0) + discount**gap
    return out


def ngram_gain(answer, gold, weights, max_gap=0, discount=1.0, presence=False, length_weight=0.0):
    """U: inner product of pattern counts, order by order."""
    total = length_weight * len(answer)
    for r, weight in enumerate(weights, 1):
        mine = pattern_counts(answer, r, max_gap, discount)
        theirs = pattern_counts(gold, r, max_gap, discount)
        if weight != 0:
            total += weight * sum(
                c * ((theirs[w] > 0) if presence else theirs[w]) for w, c in mine.items() if w in theirs
            )
    return total


def said(automaton, path, labels=None):
    """What a path says: its labels without EPSILON."""
    labels = automaton.label if labels is None else labels
    return [int(labels[e]) for e in path if labels[e] >= 0]


def edit(answer, gold, costs=(1.0, 1.0, 1.0)):
    """Edit distance that turns gold into the answer."""
    return edits(tuple(gold), tuple(answer), costs)[0]


def softmax(gains, eta):
    """Probability of each path from its summed gain."""
    top = max(gains.values())
    weight = {path: math.exp(eta * (g - top)) for path, g in gains.items()}
    total = sum(weight.values())
    return {path: w / total for path, w in weight.items()}


def expected_edit(labels, flow, gold):
    """Expected edit distance of a path drawn slot by slot."""
    total = 0.0
    for choice in product(*[range(len(row)) for row in labels]):
        mass = math.prod(flow[k][j] for k, j in enumerate(choice))
        if mass > 0:
            answer = [labels[k][j] for k, j in enumerate(choice) if labels[k][j] >= 0]
            total += mass * min(edit(answer, g) for g in gold)
    return total


def replacements(labels, path, golds):
    """Edit distance to the nearest gold of the path with slot k as expert j has it; None where absent (-2)."""
    out = []
    for k, row in enumerate(labels):
        out.append([])
        for label in row:
            changed = [*path[:k], label, *path[k + 1 :]]
            answer = [a for a in changed if a >= 0]
            out[-1].append(None if label == -2 else min(edit(answer, g) for g in golds))
    return out
