"""CoBoost and DL-CoTrain from their definitions: rows are sets, every sum is taken anew over all rows."""

import math

TIE = 1e-12


def says(g):
    """The column that is the largest alone and above 0, else -1."""
    best = max(g)
    return g.index(best) if best > 0 and g.count(best) == 1 else -1


def matched(labels, g, known, shares):
    """Unlabelled rows in proportion to the shares, the surest first; rows of equal margin stay or go as one."""
    if shares is None:
        return labels
    out = list(labels)
    counts = [sum(known[i] < 0 and label == k for i, label in enumerate(labels)) for k in range(len(shares))]
    whole = min(count / share for count, share in zip(counts, shares, strict=True))
    for k, share in enumerate(shares):
        rows = [i for i, label in enumerate(labels) if known[i] < 0 and label == k]
        margin = {i: g[i][k] - max(v for c, v in enumerate(g[i]) if c != k) for i in rows}
        most = round(share * whole)
        kept = set()
        for value in sorted(set(margin.values()), reverse=True):
            group = {i for i in rows if margin[i] == value}
            if len(kept) + len(group) > most:
                break
            kept |= group
        for i in rows:
            if i not in kept:
                out[i] = -1
    return out


def coboost(views, known, K, n_rounds, epsilon, weight=1.0, shares=None):
    """Rules as (round, view, feature, label, alpha, W+, W-) and the scores of both views; views are lists of sets."""
    n = len(known)
    known = list(known)
    g = [[[0.0] * K for _ in range(n)] for _ in (0, 1)]
    rules = []
    choices = [[1, 0]] if K == 2 else [[label] for label in range(K)]
    for t in range(n_rounds):
        found_any = False
        for j in (0, 1):
            other = g[1 - j]
            said = [known[i] if known[i] >= 0 else says(other[i]) for i in range(n)]
            pseudo = matched(said, other, known, shares)
            for labels in choices:
                rule = best_rule(views[j], g[j], pseudo, known, K, labels, weight)
                if rule is None:
                    continue
                found_any = True
                feature, label, right, wrong = rule
                alpha = 0.5 * math.log((right + epsilon) / (wrong + epsilon))
                for i in range(n):
                    if feature in views[j][i]:
                        for k in range(K):
                            g[j][i][k] += alpha if k == label else -alpha
                rules.append((t, j, feature, label, alpha, right, wrong))
        if not found_any:
            break
    return rules, g


def best_rule(view, g, pseudo, known, K, labels, weight):
    """The first of the rules of least W0 + 2 sqrt(W+ W-) with W+ > W-."""
    n = len(view)
    D = [[0.0] * K for _ in range(n)]
    for i in range(n):
        if pseudo[i] >= 0:
            for k in range(K):
                y = 1 if k == pseudo[i] else -1
                D[i][k] = (weight if known[i] < 0 else 1.0) * math.exp(-y * g[i][k])
    total = sum(map(sum, D))
    if total == 0:
        return None
    tried = []
    for feature in sorted(set().union(*view)):
        for label in labels:
            right = wrong = 0.0
            for i in range(n):
                if feature in view[i]:
                    for k in range(K):
                        h, y = (1 if k == label else -1), (1 if k == pseudo[i] else -1)
                        if h == y:
                            right += D[i][k] / total
                        else:
                            wrong += D[i][k] / total
            if right - wrong > TIE * (right + wrong):
                tried.append((1 - right - wrong + 2 * math.sqrt(right * wrong), feature, label, right, wrong))
    if not tried:
        return None
    least = min(criterion for criterion, *_ in tried)
    if least > 1 - TIE:
        return None
    return next(rule for criterion, *rule in tried if criterion <= least + TIE)


def decide(rows, rules):
    """Label and strength by the strongest rule; rules are {feature: (label, strength)}; the first feature of equals."""
    out = []
    for row in rows:
        best = (-1, 0.0)
        for feature in sorted(row):
            if feature in rules and rules[feature][1] > best[1]:
                best = rules[feature]
        out.append(best)
    return out


def induce(rows, labels, K, smoothing, most, min_precision, seeds):
    """A decision list: for each label the most frequent rules of high precision, and the seeds."""
    found = {}
    for feature in sorted(set().union(*rows)):
        counts = [sum(feature in row and label == k for row, label in zip(rows, labels, strict=True)) for k in range(K)]
        total, best = sum(counts), max(counts)
        if total and best > min_precision * total:
            found[feature] = (counts.index(best), (best + smoothing) / (total + K * smoothing), total)
    kept = {}
    for k in range(K):
        own = sorted((f for f in found if found[f][0] == k), key=lambda f: -found[f][2])
        kept.update({f: found[f][:2] for f in own[:most]})
    kept.update({f: (k, 0.9999) for f, k in seeds})
    return kept


def dl_cotrain(views, known, seeds, K, n_first, n_more, n_last, min_precision=0.95, smoothing=0.1):
    """The final lists of both views; `seeds` holds (feature, code) a view. No early end."""

    def filled(*lists):
        columns = zip(known, *lists, strict=True)
        return [next((label for label in column if label >= 0), -1) for column in columns]

    lists = [{f: (k, 0.9999) for f, k in seeds[j]} for j in (0, 1)]
    labels = filled(*([label for label, _ in decide(views[j], lists[j])] for j in (0, 1)))
    for n in range(n_first, n_last + 1, n_more):
        for j in (1, 0):
            lists[j] = induce(views[j], labels, K, smoothing, n, min_precision, seeds[j])
            labels = filled([label for label, _ in decide(views[j], lists[j])])
    first, second = (decide(views[j], lists[j]) for j in (0, 1))
    labels = filled([b[0] if b[1] > a[1] else a[0] for a, b in zip(first, second, strict=True)])
    return [induce(views[j], labels, K, smoothing, None, 0.0, seeds[j]) for j in (0, 1)]
