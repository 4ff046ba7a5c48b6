"""Stumps and Hamming trees from their definition, on signed weights w * y: Kegl (ICML 2014), Figures 2 and 3."""

import itertools
import math

TIE = 1e-12


def edge(signed, phi, vote):
    """Sum of w * v * phi * y over rows and classes."""
    return sum(w * v * p for row, p in zip(signed, phi, strict=True) for w, v in zip(row, vote, strict=True))


def best_vote(signed, phi):
    """The vote vector of the largest edge; -1 where it makes no difference."""
    classes = range(len(signed[0]))
    return [1 if sum(row[k] * p for row, p in zip(signed, phi, strict=True)) > TIE else -1 for k in classes]


def cuts(X, rows, nominal=()):
    """(feature, threshold, NaN on the + side, signs) of each cut of the rows, in the order in which ties are broken."""
    for j in range(len(X[0])):
        values = sorted({X[i][j] for i in rows if not math.isnan(X[i][j])})
        missing = any(math.isnan(X[i][j]) for i in rows)
        if j in nominal:
            for v in values if len(values) > 1 else ():
                yield j, v, False, [1 if X[i][j] == v else -1 for i in rows]
            continue
        bounds = [a + (b - a) / 2 for a, b in itertools.pairwise(values)]
        for nan_up in (True, False) if missing else (True,):
            for b in bounds + [math.inf] * (missing and nan_up and bool(values)):
                signs = [(1 if nan_up else -1) if math.isnan(X[i][j]) else 1 if X[i][j] >= b else -1 for i in rows]
                yield j, b, nan_up, signs


def stump(X, signed, rows, rule="hybrid", nominal=()):
    """Edge, vote and cut (None: the constant) of the best base classifier on some rows; all votes are tried."""
    weights = [signed[i] for i in rows]
    best = None
    for j, b, nan_up, phi in cuts(X, rows, nominal):
        reached = max(edge(weights, phi, vote) for vote in itertools.product((1, -1), repeat=len(signed[0])))
        if best is None or reached > best[0] + TIE:
            best = reached, best_vote(weights, phi), (j, b, nan_up, phi)
    ones = [1] * len(rows)
    vote = best_vote(weights, ones)
    constant = edge(weights, ones, vote)
    wins = best is not None and (best[0] > constant + TIE or (rule == "hybrid" and best[0] > constant - TIE))
    return best if wins else (constant, vote, None)


def tree(X, signed, n_inner, rule="hybrid", nominal=(), base=stump):
    """Keys in the order of the cuts, the cuts, and what each row is voted, best first; `base` finds a cut as above."""
    rows = list(range(len(X)))
    out = [[0] * len(signed[0]) for _ in rows]
    queue = [(base(X, signed, rows, rule, nominal), rows, 0.0)]
    keys, made = [], []
    for step in range(n_inner):
        if not queue:
            break
        place = 0
        for k, (found, _, has) in enumerate(queue):
            if found[0] - has > queue[place][0][0] - queue[place][2] + TIE:
                place = k
        (reached, vote, cut), rows, has = queue.pop(place)
        if reached - has <= TIE and (step > 0 or cut is None):
            break
        keys.append(reached - has)
        made.append(None if cut is None else cut[:3])
        for side in (-1, 1):
            part = [i for i, sign in zip(rows, cut[3] if cut else [1] * len(rows), strict=True) if sign == side]
            for i in part:
                out[i] = [side * v for v in vote]
            if cut is not None:
                has = edge([signed[i] for i in part], [side] * len(part), vote)
                queue.append((base(X, signed, part, rule, nominal), part, has))
    return keys, made, out


def signed_weights(labels, n_classes):
    """1/2 for the label, the other half for all others; Kegl (2014), equation 3."""
    n = len(labels)
    return [
        [1 / (2 * n) if k == label else -1 / (2 * n * (n_classes - 1)) for k in range(n_classes)] for label in labels
    ]


def reweighted(signed, votes):
    """Weights after a base classifier with these votes, and Z."""
    raw = [
        [w * math.exp(-v * (1 if w > 0 else -1)) for w, v in zip(*pair, strict=True)]
        for pair in zip(signed, votes, strict=True)
    ]
    z = sum(abs(w) for row in raw for w in row)
    return [[w / z for w in row] for row in raw], z


def least_z(signed, sizes):
    """Z with the best votes and coefficient, where any of the pairs of a leaf and a class may be silent: all are tried.

    `signed` and `sizes` are the pairs' sums of w * v * y and of w; returns Z and the pairs that speak.
    """
    best = None
    for chosen in itertools.product((False, True), repeat=len(signed)):
        right = sum((s + g) / 2 for g, s, c in zip(signed, sizes, chosen, strict=True) if c)
        wrong = sum((s - g) / 2 for g, s, c in zip(signed, sizes, chosen, strict=True) if c)
        silent = sum(s for s, c in zip(sizes, chosen, strict=True) if not c)
        z = silent + 2 * math.sqrt(max(right, 0.0) * max(wrong, 0.0))
        if best is None or z < best[0] - TIE:
            best = z, chosen
    return best


def energy(alpha, theta, right, wrong, silent):
    """What the coefficient of AdaBoost with an edge offset minimises."""
    return math.exp(alpha * theta) * (wrong * math.exp(alpha) + right * math.exp(-alpha) + silent)


def bins(column, max_bins):
    """Values, or first values of bins, and the bin of each number, NaN after the last; all by sorting and counting."""
    ordered = sorted(x for x in column if not math.isnan(x))
    values = sorted(set(ordered))
    if len(values) <= max_bins:
        starts = values
    else:
        starts = sorted({ordered[0], *(ordered[k * len(ordered) // max_bins] for k in range(1, max_bins))})
    code = [len(starts) if math.isnan(x) else sum(s <= x for s in starts) - 1 for x in column]
    held = [[x for x, c in zip(column, code, strict=True) if c == b] for b in range(len(starts))]
    return [min(h) for h in held], [max(h) for h in held], code
