"""Binary AdaBoost and the smoothed rule from their definitions: every cut is tried, every sum is written out."""

import itertools
import math

CHANCE = TIE = 1e-12


def cuts(X):
    """All cuts in the order in which equals are preferred: (feature, threshold, sign); feature -1 is the constant."""
    out = [(-1, -math.inf, 1), (-1, -math.inf, -1)]
    for j in range(len(X[0])):
        values = sorted({row[j] for row in X})
        for lower, upper in itertools.pairwise(values):
            middle = lower / 2 + upper / 2
            out += [(j, middle if lower < middle <= upper else upper, sign) for sign in (1, -1)]
    return out


def says(cut, row):
    """1 or -1."""
    feature, threshold, sign = cut
    return sign if feature < 0 or row[feature] >= threshold else -sign


def adaboost(X, y, weight, n_rounds):
    """Rounds as (cut, error, alpha, Z, weights after it); y is +-1."""
    D = [w / sum(weight) for w in weight]
    rounds = []
    for _ in range(n_rounds):
        best, least = None, math.inf
        for cut in cuts(X):
            error = sum(d for d, row, label in zip(D, X, y, strict=True) if says(cut, row) != label)
            if error < least - TIE / 2:
                best, least = cut, error
        if least >= 0.5 - CHANCE:
            break
        if least == 0:
            alpha = 1.0 if not rounds else 0.5 * math.log(2 * len(X) - 1)
        else:
            alpha = 0.5 * math.log((1 - least) / least)
        D = [d * math.exp(-alpha * label * says(best, row)) for d, row, label in zip(D, X, y, strict=True)]
        Z = sum(D)
        D = [d / Z for d in D]
        rounds.append((best, least, alpha, Z, D))
        if least == 0:
            break
    return rounds


def vote(rounds, row):
    """Sum of the votes for one row."""
    return sum(alpha * says(cut, row) for cut, _, alpha, _, _ in rounds)


def smoothed_minimum(errors, min_rounds, kegl_exact):
    """T* of equation 15; errors[t - 1] is that of round t."""
    best, least = None, math.inf
    for T in range(min(min_rounds, len(errors) - 1) + 1, len(errors) + 1):
        first = T * 8 // 10
        window = [errors[t - 1] for t in range(max(first, 1), T + 1)]
        value = sum(window) / (max(T - first, 1) if kegl_exact else len(window))
        if value < least - 1e-12:
            best, least = T, value
    return best
