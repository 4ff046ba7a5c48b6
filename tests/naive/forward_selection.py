"""Slow reference of forward selection, from its definition: every ensemble is voted anew."""

from structens.core import ABSENT, GAP


def winner(row, copies, entered):
    """Label of one slot: most copies, then the first that entered; GAP last where three answered."""
    tied = tied_labels(row, copies, entered)
    return tied[0] if tied else None


def tied_labels(row, copies, entered):
    """Labels that share the top of a slot, by first supporter in order of entering; none where nobody answered."""
    awake = [j for j, label in enumerate(row) if label != ABSENT]
    if not awake:
        return []
    votes = list(copies) if any(copies[j] for j in awake) else [1] * len(row)
    order = [j for j in [*entered, *(j for j in range(len(row)) if j not in entered)] if j in awake]
    sums = {}
    for j in order:
        sums[row[j]] = sums.get(row[j], 0) + votes[j]
    tied = [label for label in sums if sums[label] == max(sums.values())]
    return [label for label in tied if label != GAP] or tied if len(awake) > 2 else tied


def select(rows, cost, n_rounds, tie):
    """Expert of each round and the summed cost after it; `cost` is a function of the tied labels of all slots."""
    p = len(rows[0])
    copies, entered, chosen, path = [0] * p, [], [], []
    for _ in range(n_rounds):
        values = []
        for j in range(p):
            more = [c + (i == j) for i, c in enumerate(copies)]
            values.append(cost([tied_labels(row, more, list(dict.fromkeys([*entered, j]))) for row in rows]))
        equal = [j for j in range(p) if values[j] <= min(values) + 1e-9]
        best = min(equal, key=lambda j: (copies[j], j)) if tie == "spread" else equal[0]
        copies[best] += 1
        entered = list(dict.fromkeys([*entered, best]))
        chosen.append(best)
        path.append(values[best])
    return chosen, path
