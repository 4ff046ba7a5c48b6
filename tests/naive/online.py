"""On-line learning from its definitions, in plain Python: every path and every path expert is written out."""

import math
from itertools import pairwise, product


def paths_of(automaton):
    """All accepting paths as tuples of transition numbers."""
    out, todo = [], [(automaton.start, ())]
    while todo:
        state, path = todo.pop()
        if automaton.is_final[state]:
            out.append(path)
        for e in range(automaton.offsets[state], automaton.offsets[state + 1]):
            todo.append((int(automaton.target[e]), (*path, e)))
    return sorted(out)


def path_probabilities(automaton, cumulative, eta, prior=None):
    """Probability of each path: prior times exp(-eta loss), normalised over all paths."""
    prior = [0.0] * automaton.n_transitions if prior is None else prior
    cost = {path: sum(prior[e] + eta * cumulative[e] for e in path) for path in paths_of(automaton)}
    low = min(cost.values())
    weight = {path: math.exp(low - c) for path, c in cost.items()}
    total = sum(weight.values())
    return {path: w / total for path, w in weight.items()}


def path_flows(automaton, probabilities):
    """Probability that a path takes each transition."""
    flow = [0.0] * automaton.n_transitions
    for path, mass in probabilities.items():
        for e in path:
            flow[e] += mass
    return flow


class Game:
    """The game on slots for contexts shared by a slot's experts, over all p^(number of contexts) path experts.

    records: one list of slots a record; a slot is (context, losses), a loss of None for an absent expert.
    """

    def __init__(self, records, n_contexts, p, eta, scales):
        self.p, self.n_contexts, self.eta = p, n_contexts, eta
        self.experts = list(product(range(p), repeat=n_contexts))
        self.records = [[(c, self._complete(losses)) for c, losses in record] for record in records]
        self.scales = scales

    def _complete(self, losses):
        here = [x for x in losses if x is not None]
        mean = sum(here) / len(here) if here else 0.0
        return [mean if x is None else x for x in losses]

    def loss(self, h, s):
        """Summed loss of path expert h in round s."""
        return sum(losses[h[c]] for c, losses in self.records[s])

    def distribution(self, t):
        """p_t over the path experts, from the rounds before t."""
        cost = [self.eta * sum(self.scales[s] * self.loss(h, s) for s in range(t)) for h in self.experts]
        weight = [math.exp(min(cost) - c) for c in cost]
        return [w / sum(weight) for w in weight]

    def mean_loss(self, t, s):
        """Expected loss of p_t in round s, averaged over the slots of the record."""
        p_t = self.distribution(t)
        total = sum(mass * self.loss(h, s) for mass, h in zip(p_t, self.experts, strict=True))
        return total / max(len(self.records[s]), 1)

    def weights(self, t):
        """Probability under p_t that context c has expert j."""
        p_t = self.distribution(t)
        out = [[0.0] * self.p for _ in range(self.n_contexts)]
        for mass, h in zip(p_t, self.experts, strict=True):
            for c, j in enumerate(h):
                out[c][j] += mass
        return out

    def best_charge(self):
        """Charged loss of the best path expert in hindsight."""
        charges = (sum(a * self.loss(h, s) for s, a in enumerate(self.scales)) for h in self.experts)
        return min(charges)


def label_flows(labels, losses, eta, scales, t):
    """Tying by label: weight of each (expert, label) before round t, as a function of one slot's labels.

    labels, losses: a list of slots a record, each slot a list over experts; None for an absent expert.
    """
    cumulative = {}
    for s in range(t):
        for row, costs in zip(labels[s], losses[s], strict=True):
            here = [c for a, c in zip(row, costs, strict=True) if a is not None]
            for j, (a, c) in enumerate(zip(row, costs, strict=True)):
                if a is not None:
                    key = (j, a)
                    cumulative[key] = cumulative.get(key, 0.0) + scales[s] * (c - sum(here) / len(here))

    def flows(row):
        weight = [0.0 if a is None else math.exp(-eta * cumulative.get((j, a), 0.0)) for j, a in enumerate(row)]
        total = sum(weight)
        return [w / total if total else 0.0 for w in weight]

    return flows


def gamma(losses, delta, union_bound):
    """Gamma of each suffix."""
    n = len(losses)
    log_term = math.log((n if union_bound else 1) / delta)
    return [sum(losses[t:]) / (n - t) + math.sqrt(log_term / (n - t)) for t in range(n)]


def sleeping_weights(visits, n_contexts, p, eta):
    """Weights before each visit (context, losses with None for the experts asleep) and at the end, by multiplication.

    w_j <- w_j beta^loss (sum awake before / sum awake after) for the experts awake; the others keep their weight.
    """
    weights = [[1.0 / p] * p for _ in range(n_contexts)]
    before = []
    for c, losses in visits:
        before.append(list(weights[c]))
        awake = [j for j in range(p) if losses[j] is not None]
        new = {j: weights[c][j] * math.exp(-eta * losses[j]) for j in awake}
        factor = sum(weights[c][j] for j in awake) / sum(new.values()) if awake else 1.0
        for j in awake:
            weights[c][j] = new[j] * factor
    return before, weights


def adahedge(rounds, p):
    """Weights, rates and gap of AdaHedge for one game; a loss of None is an expert asleep, which gets the mix loss."""
    cumulative, gap, before, rates = [0.0] * p, 0.0, [], []
    for losses in rounds:
        low = min(cumulative)
        eta = math.log(p) / gap if gap > 0 else math.inf
        weight = [float(c - low <= 1e-12) if eta == math.inf else math.exp(-eta * (c - low)) for c in cumulative]
        weight = [w / sum(weight) for w in weight]
        before.append(weight)
        rates.append(eta)
        awake = [j for j in range(p) if losses[j] is not None]
        if not awake:
            continue
        mass = sum(weight[j] for j in awake)
        share = {j: weight[j] / mass if mass else 1.0 / len(awake) for j in awake}
        expected = sum(share[j] * losses[j] for j in awake)
        if eta == math.inf:
            mix = min(cumulative[j] + losses[j] for j in awake) - min(cumulative[j] for j in awake)
        else:
            mix = -math.log(sum(share[j] * math.exp(-eta * losses[j]) for j in awake)) / eta
        if expected - mix > 1e-12:
            gap += expected - mix
        for j in range(p):
            cumulative[j] += losses[j] if j in awake else mix
    return before, rates, gap


def log_integral(regret, variance, n=20_000):
    """Logarithm of the integral from 0 to 1/2 of exp(eta R - eta^2 V), by the midpoint rule around its peak."""
    high = [(k + 0.5) * 0.5 / n for k in range(n)]
    exponents = [e * regret - e * e * variance for e in high]
    top = max(exponents)
    return top + math.log(math.fsum(math.exp(x - top) for x in exponents) * 0.5 / n)


def squint(rounds, p):
    """Weights of Squint before each round for losses in [0, 1]; None is an expert asleep."""
    regret, variance, before = [0.0] * p, [0.0] * p, []
    for losses in rounds:
        logs = [log_integral(r, v, 4000) for r, v in zip(regret, variance, strict=True)]
        weight = [math.exp(x - max(logs)) for x in logs]
        weight = [w / sum(weight) for w in weight]
        before.append(weight)
        awake = [j for j in range(p) if losses[j] is not None]
        mass = sum(weight[j] for j in awake)
        expected = sum(weight[j] * losses[j] for j in awake) / mass if awake else 0.0
        for j in awake:
            regret[j] += expected - losses[j]
            variance[j] += (expected - losses[j]) ** 2
    return before


def sharing_sequences(losses, p, eta, share):
    """Fixed share as Hedge over all sequences of experts: share of each expert in round len(losses)."""
    n = len(losses) + 1
    total = [0.0] * p
    for path in product(range(p), repeat=n):
        weight = 1.0 / p
        for a, b in pairwise(path):
            weight *= (1.0 - share) * (a == b) + share / p
        weight *= math.exp(-eta * sum(row[j] for row, j in zip(losses, path, strict=False)))
        total[path[-1]] += weight
    return [w / sum(total) for w in total]
