"""Decoders and restrictions from their definitions: every path, every string, every sequence."""

from itertools import product

GAP, ABSENT = -1, -2


def slot_strings(labels, weights):
    """Probability of each string of a slot network whose slots are independent; labels and weights are S x p."""
    out = {(): 1.0}
    for row, votes in zip(labels, weights, strict=True):
        total = sum(w for a, w in zip(row, votes, strict=True) if a != ABSENT)
        step = {}
        for text, mass in out.items():
            for a, w in zip(row, votes, strict=True):
                if a != ABSENT and w > 0:
                    longer = text if a == GAP else (*text, a)
                    step[longer] = step.get(longer, 0.0) + mass * w / total
        out = step
    return out


def choices(labels):
    """Every sequence of one alternative a slot."""
    return product(*[sorted({a for a in row if a != ABSENT}) for row in labels])


def text_of(choice):
    return tuple(a for a in choice if a != GAP)


def votes_for(choice, labels, weights):
    """Summed shares of the votes for a choice."""
    score = 0.0
    for a, row, votes in zip(choice, labels, weights, strict=True):
        total = sum(w for b, w in zip(row, votes, strict=True) if b != ABSENT)
        score += sum(w for b, w in zip(row, votes, strict=True) if b == a) / total
    return score


def best_admissible(labels, weights, violations):
    """Fewest violations, then the most votes: (violations, votes) of the best choice."""
    return max((-violations(text_of(c)), votes_for(c, labels, weights)) for c in choices(labels))


def has_forbidden(text, grams):
    """True if one of the n-grams occurs; None is the border."""
    padded = (None, *text, None)
    return any(padded[i : i + len(g)] == tuple(g) for g in grams for i in range(len(padded)))


def all_allowed(text, grams):
    """True if every n-gram is listed; a shorter string is a part of a listed one."""
    grams = {tuple(g) for g in grams}
    n = len(next(iter(grams)))
    padded = (None, *text, None) if any(None in g for g in grams) else tuple(text)
    if len(padded) < n:
        return any(padded == g[i : i + len(padded)] for g in grams for i in range(n))
    return all(padded[i : i + n] in grams for i in range(len(padded) - n + 1))


def accepted(text, transitions, final, start=0):
    """True if the automaton with EPSILON -1 accepts the text."""

    def closed(states):
        states = set(states)
        while True:
            more = {r for q, r, a in transitions if q in states and a == -1} - states
            if not more:
                return states
            states |= more

    here = closed({start})
    for label in text:
        here = closed({r for q, r, a in transitions if q in here and a == label})
    return bool(here & set(final))


def bio_violations(text):
    """Places where I-X follows neither B-X nor I-X."""
    count = 0
    for before, label in zip(("O", *text)[: len(text)], text, strict=True):
        if label.startswith("I"):
            count += before[:1] not in ("B", "I") or before[1:] != label[1:]
    return count


def bioes_valid(text):
    """True if the text is made of O, S-X and chunks B-X I-X ... E-X."""
    inside = None
    for label in text:
        kind, name = label[0], label[1:]
        if inside is None:
            if kind in "IE":
                return False
            inside = name if kind == "B" else None
        else:
            if kind not in "IE" or name != inside:
                return False
            inside = name if kind == "I" else None
    return inside is None


def least_risk(candidates, posterior, loss):
    """Least expected loss of a candidate under a distribution over strings."""
    return min(sum(p * loss(truth, c) for truth, p in posterior.items()) for c in candidates)
