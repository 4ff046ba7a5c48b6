"""Base learners beside trees from their definition: sums by bin, indicators by trying all sets of values, UCB."""

import itertools
import math


def sums_by_value(column, signed):
    """Sums of the signed weights of the rows of each value: {value: list of K}, NaN under None."""
    out = {}
    for value, row in zip(column, signed, strict=True):
        key = None if math.isnan(value) else value
        out[key] = [a + w for a, w in zip(out.get(key, [0.0] * len(row)), row, strict=True)]
    return out


def best_indicator(sums):
    """The largest sum of sizes of u M over all signs u that are not all the same."""
    best = -1.0
    for u in itertools.product((1, -1), repeat=len(sums)):
        if len(set(u)) == 2:
            best = max(
                best, sum(abs(sum(s * row[k] for s, row in zip(u, sums, strict=True))) for k in range(len(sums[0])))
            )
    return best


def alternating_edges(weight, vote, answer):
    """Edges that the alternating scheme reaches, one after the other; `answer` learns signs from (labels, weights)."""
    edges = []
    n, n_classes = len(weight), len(weight[0])
    while True:
        pseudo = [sum(w * v for w, v in zip(row, vote, strict=True)) for row in weight]
        phi = answer([1 if p > 0 else -1 for p in pseudo], [abs(p) for p in pseudo])
        by_class = [sum(weight[i][k] * phi[i] for i in range(n)) for k in range(n_classes)]
        edge = sum(map(abs, by_class))
        if edges and edge <= edges[-1] + 1e-12:
            return edges
        edges.append(edge)
        vote = [1 if g > 0 else -1 for g in by_class]


def ucb_arm(rewards):
    """The arm UCB pulls next, from the rewards of each arm so far; arms never pulled first."""
    for arm, seen in enumerate(rewards):
        if not seen:
            return arm
    t = sum(map(len, rewards))
    bounds = [sum(r) / len(r) + math.sqrt(2 * math.log(t) / len(r)) for r in rewards]
    return bounds.index(max(bounds))


def exp3p_probabilities(n_arms, pulls, gamma, eta, horizon):
    """Of Auer et al. (2002b), Figure 2, after these (arm, reward) pairs."""
    weight = [1.0] * n_arms

    def shares():
        return [(1 - gamma) * w / sum(weight) + gamma / n_arms for w in weight]

    for arm, reward in pulls:
        p = shares()
        for j in range(n_arms):
            estimate = reward / p[j] if j == arm else 0.0
            bonus = eta / (p[j] * math.sqrt(n_arms * horizon))
            weight[j] *= math.exp(gamma / (3 * n_arms) * (estimate + bonus))
    return shares()
