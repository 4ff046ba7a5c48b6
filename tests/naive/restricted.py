"""Learning under a restriction from its definition: every path of every record, one Hedge for each context."""

from itertools import groupby, product

GAP, ABSENT = -1, -2


def runs_of(contexts):
    """Slots of each run: equal contexts next to each other."""
    return [[s for s, _ in group] for _, group in groupby(enumerate(contexts), key=lambda pair: pair[1])]


def paths_of(contexts, labels, there):
    """Every choice of an expert for each run, as one expert a slot; `there` tells who may be chosen in a context."""
    runs = runs_of(contexts)
    for choice in product(range(len(labels[0]) if labels else 0), repeat=len(runs)):
        path = [0] * len(contexts)
        for run, j in zip(runs, choice, strict=True):
            for s in run:
                path[s] = j
        if all(labels[s][j] != ABSENT and (contexts[s], j) in there for s, j in enumerate(path)):
            yield tuple(path)


def text_of(path, labels):
    return [labels[s][j] for s, j in enumerate(path) if labels[s][j] != GAP]


def flows(contexts, labels, weights, there, accepts):
    """Probability of each transition among the admissible paths; all paths if there is none. Lists of rows."""
    paths = list(paths_of(contexts, labels, there))
    good = [path for path in paths if accepts(text_of(path, labels))]
    out = [[0.0] * len(row) for row in labels]
    total = 0.0
    for path in good or paths:
        mass = 1.0
        for run in runs_of(contexts):
            mass *= weights[contexts[run[0]]][path[run[0]]]
        total += mass
        for s, j in enumerate(path):
            out[s][j] += mass
    return [[x / total for x in row] for row in out] if total else out


def survivors(contexts, labels, there, accepts):
    """(slot, expert) pairs that lie on an admissible path, and whether there is one."""
    good = [path for path in paths_of(contexts, labels, there) if accepts(text_of(path, labels))]
    return {(s, j) for path in good for s, j in enumerate(path)}, bool(good)


class Learner:
    """Hedge for each context, its absent experts asleep, on the charged losses of restricted rounds."""

    def __init__(self, p, beta, how, accepts, largest=1.0):
        self.p, self.beta, self.how, self.accepts, self.largest = p, beta, how, accepts, largest
        self.weights, self.deleted = {}, set()

    def there(self, contexts):
        return {(c, j) for c in contexts for j in range(self.p)} - self.deleted

    def play(self, contexts, labels, losses):
        """Expected loss of the round averaged over its slots; None where no path expert is left."""
        for c in contexts:
            self.weights.setdefault(c, [1.0 / self.p] * self.p)
        there = self.there(contexts)
        played = flows(contexts, labels, self.weights, there, self.accepts)
        paid = sum(f * x for row, loss in zip(played, losses, strict=True) for f, x in zip(row, loss, strict=True))
        live, possible = survivors(contexts, labels, there, self.accepts)
        present = {(s, j) for s, row in enumerate(labels) for j, a in enumerate(row) if a != ABSENT}
        charged = {(s, j): losses[s][j] for s, j in present}
        if self.how == "per_round" and possible:
            charged.update(dict.fromkeys(present - live, self.largest))
        if self.how == "permanent":
            self.deleted |= {(contexts[s], j) for s, j in present - live}
            if any(all((c, j) in self.deleted for j in range(self.p)) for c in contexts):
                return None
        if self.how == "per_round" or possible:
            self._update(contexts, charged)
        return paid / max(len(contexts), 1)

    def _update(self, contexts, charged):
        for c in set(contexts):
            slots = [s for s, d in enumerate(contexts) if d == c]
            awake = [j for j in range(self.p) if (slots[0], j) in charged and (c, j) not in self.deleted]
            w = self.weights[c]
            new = {j: w[j] * self.beta ** sum(charged[s, j] for s in slots) for j in awake}
            before, after = sum(w[j] for j in awake), sum(new.values())
            for j in awake:
                w[j] = new[j] * before / after
