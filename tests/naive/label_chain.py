"""Label chains from the definition: every sequence of labels is written out and weighed."""

from itertools import product

import numpy as np


def weights(score, table, final, acceptor=None):
    """Log weight of every admissible sequence of labels, by sequence."""
    n = table.shape[1]
    out = {}
    for labels in product(range(n), repeat=len(score)):
        if acceptor is not None and not acceptor.accepts(labels):
            continue
        total, before = 0.0, n
        for k, label in enumerate(labels):
            total += (score[k, label] if score.ndim == 2 else score[k, before, label]) + table[before, label]
            before = label
        out[labels] = total + final[before]
    return out


def marginals(score, table, final, acceptor=None):
    """Probability of each label at each position; None if nothing is admissible."""
    found = weights(score, table, final, acceptor)
    if not found or max(found.values()) == -np.inf:
        return None
    most = max(found.values())
    out = np.zeros((len(score), table.shape[1]))
    for labels, weight in found.items():
        for k, label in enumerate(labels):
            out[k, label] += np.exp(weight - most)
    return out / sum(np.exp(weight - most) for weight in found.values())


def bigram_ratios(rows, n):
    """Log P(b | a) - log P(b) with Witten and Bell's interpolation, one pair at a time."""
    pairs = [(a, b) for row in rows for a, b in zip([n, *row], [*row, n], strict=True) if row]
    after = {b: 1.0 + sum(1 for pair in pairs if pair[1] == b) for b in range(n + 1)}
    out = np.empty((n + 1, n + 1))
    for a in range(n + 1):
        seen = [b for x, b in pairs if x == a]
        kinds = max(len(set(seen)), 1)
        for b in range(n + 1):
            unigram = after[b] / sum(after.values())
            out[a, b] = np.log((seen.count(b) + kinds * unigram) / (len(seen) + kinds)) - np.log(unigram)
    return out
