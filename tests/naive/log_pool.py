"""The log-linear pool from its definition: products of powers, slot by slot; its likelihood; a logistic model's."""

import math


def probabilities(rows, powers, gap, least):
    """rows: for each method {label: probability} of one slot; powers: one a method, of the gap, and one not in use."""
    score = {}
    for label in rows[0]:
        product = math.exp(powers[-2]) if label == gap else 1.0
        for row, power in zip(rows, powers, strict=False):
            product *= (row[label] + least) ** power
        score[label] = product
    total = sum(score.values())
    return {label: value / total for label, value in score.items()}


def risk(slots, gold, powers, prior, strength, gap, least):
    """Penalised negative log-likelihood over the slots where gold is one of several labels."""
    out = strength / 2 * sum((a - b) ** 2 for a, b in zip(powers, prior, strict=True))
    for rows, right in zip(slots, gold, strict=True):
        if right in rows[0] and len(rows[0]) > 1:
            out -= math.log(probabilities(rows, powers, gap, least)[right])
    return out


def logistic_risk(features, target, weights, prior, strength):
    out = strength / 2 * sum((a - b) ** 2 for a, b in zip(weights, prior, strict=True))
    for row, right in zip(features, target, strict=True):
        z = weights[0] + sum(w * x for w, x in zip(weights[1:], row, strict=True))
        out += math.log1p(math.exp(-z)) if right else math.log1p(math.exp(z))
    return out
