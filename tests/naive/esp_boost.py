"""ESPBoost from its definitions, in plain Python: every path expert is written out, every cell is a term of a sum."""

import math
from itertools import pairwise, product

TIE = 1e-12


def slot_paths(rows, contexts, n_contexts, p):
    """Path -> margins of all slots; a path is a tuple of experts, one for each context."""
    return {h: [row[h[c]] for row, c in zip(rows, contexts, strict=True)] for h in product(range(p), repeat=n_contexts)}


def label_margin(row, labels, chosen):
    """Margin of a choice label -> expert (None for none) in a slot: right answers said, less wrong ones."""
    said = [rho for j, (rho, a) in enumerate(zip(row, labels, strict=True)) if a is not None and chosen[a] == j]
    return max([0.0, *said]) - max([0.0, *(-rho for rho in said)])


def automaton_paths(automaton, rho, slot, silence):
    """Path (transitions) -> margins of all (record, slot) cells."""
    n_slots, out = len(silence[0]), {}
    todo = [(automaton.start, ())]
    while todo:
        q, path = todo.pop()
        if automaton.is_final[q]:
            said = {int(slot[automaton.source[e]]): e for e in path}
            out[path] = [
                rho[i][said[k]] if k in said else silence[i][k] for i in range(len(rho)) for k in range(n_slots)
            ]
        for e in range(int(automaton.offsets[q]), int(automaton.offsets[q + 1])):
            todo.append((int(automaton.target[e]), (*path, e)))
    return dict(sorted(out.items()))


def exponential_loss(paths, alpha, weight):
    """F(alpha)."""
    total = 0.0
    for g, w in enumerate(weight):
        total += w * math.exp(-sum(a * paths[h][g] for h, a in alpha.items()))
    return total


def boost(paths, weight, n_rounds, n):
    """Rounds as (path, epsilon, alpha, z), by algorithm 1 with rho = 0 allowed."""
    d, rounds = list(weight), []
    for _ in range(n_rounds):
        edge = {h: sum(x * r for x, r in zip(d, rho, strict=True)) for h, rho in paths.items()}
        top = max(edge.values())
        h = next(h for h, e in edge.items() if e >= top - TIE)
        not_right = sum(x for x, r in zip(d, paths[h], strict=True) if r <= 0)
        right = sum(x * max(r, 0) for x, r in zip(d, paths[h], strict=True))
        wrong = sum(x * max(-r, 0) for x, r in zip(d, paths[h], strict=True))
        if right - wrong <= 2 * TIE:
            return rounds, "weak"
        if wrong <= TIE:
            least = min(0.5 / n, 0.25 * right)
            alpha = 0.5 * math.log((right + wrong - least) / least)
        else:
            alpha = 0.5 * math.log(right / wrong)
        d = [x * math.exp(-alpha * r) for x, r in zip(d, paths[h], strict=True)]
        z = sum(d)
        d = [x / z for x in d]
        rounds.append((h, wrong, alpha, z))
        if not_right <= TIE:
            return rounds, "perfect"
    return rounds, "rounds"


def deep(paths, weight, price, n_rounds, n, surrogate):
    """Steps as (path, step): the coordinate with the steepest slope, moved by the soft threshold.

    They end where two coordinates are about as steep, so that rounding would decide.
    """
    alpha, steps = dict.fromkeys(paths, 0.0), []
    for _ in range(n_rounds):
        f = [sum(a * paths[h][g] for h, a in alpha.items() if a) for g in range(len(weight))]
        slope = [math.exp(1 - x) if surrogate == "exp" else 1 / math.log(2) / (1 + math.exp(x - 1)) for x in f]
        mass = [w * s for w, s in zip(weight, slope, strict=True)]
        s = sum(mass)
        d = [x / s for x in mass]
        size = {}
        for h, rho in paths.items():
            value = sum(x * r for x, r in zip(d, rho, strict=True)) - price[h] / s
            size[h] = abs(value) if alpha[h] > 0 else value
        h = max(size, key=size.get)
        if size[h] <= 1e-7 or any(x > size[h] - 1e-7 for g, x in size.items() if g != h):
            break
        right = sum(x * max(r, 0) for x, r in zip(d, paths[h], strict=True))
        wrong = max(sum(x * max(-r, 0) for x, r in zip(d, paths[h], strict=True)), min(0.5 / n, 0.25 * right))
        if right * math.exp(alpha[h]) - wrong * math.exp(-alpha[h]) <= price[h] / s:
            step = -alpha[h]
        else:  # the root above 0 of wrong u^2 + (price / s) u - right
            c = price[h] / s / (2 * wrong)
            step = math.log(-c + math.sqrt(c * c + right / wrong))
        alpha[h] += step
        steps.append((h, step))
    return steps, alpha


def switches(h):
    """How often a path of experts changes its expert."""
    return sum(a != b for a, b in pairwise(h))
