"""Slow twins of the alignment kernels, written from the definitions."""

from itertools import combinations

import numpy as np

from structens.core import ABSENT, GAP


def edit_distance(a, b):
    """Levenshtein distance: the full matrix."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def sum_of_pairs(columns):
    """Number of (slot, pair of experts) where the two differ; columns is a list of slots, each a list of codes."""
    return sum(x != y for column in columns for x, y in combinations(column, 2))


def profile_cost(units, columns):
    """Least cost of aligning the units to slots: members that do not say the unit, that say something, or all."""
    members = len(columns[0]) if columns else 0
    row = [0]
    for column in columns:
        row.append(row[-1] + sum(code != GAP for code in column))
    for t in units:
        diagonal, row[0] = row[0], row[0] + members
        for j, column in enumerate(columns, 1):
            stand = diagonal + sum(code != t for code in column)
            leave = row[j - 1] + sum(code != GAP for code in column)
            diagonal, row[j] = row[j], min(stand, leave, row[j] + members)
    return row[-1]


def slot_price(column, code):
    """Error and minus support of a code (GAP: nothing) as the gold of a slot."""
    awake = [said for said in column if said != ABSENT]
    if code == GAP and not awake:
        return 0, 0
    return (0 if code in awake else 1), -awake.count(code)


def gold_cost(reference, columns):
    """Least (errors, -support) of aligning a reference to slots: the full matrix."""
    plus = lambda a, b: (a[0] + b[0], a[1] + b[1])  # noqa: E731
    row = [(0, 0)]
    for column in columns:
        row.append(plus(row[-1], slot_price(column, GAP)))
    for t in reference:
        diagonal, row[0] = row[0], plus(row[0], (1, 0))
        for j, column in enumerate(columns, 1):
            choices = (
                plus(diagonal, slot_price(column, t)),
                plus(row[j - 1], slot_price(column, GAP)),
                plus(row[j], (1, 0)),
            )
            diagonal, row[j] = row[j], min(choices)
    return row[-1]


def gold_cost_by_trying(reference, columns):
    """The same by trying every choice of units and of slots for them."""
    best = None
    n, n_slots = len(reference), len(columns)
    for k in range(min(n, n_slots) + 1):
        for units in combinations(range(n), k):
            for slots in combinations(range(n_slots), k):
                gold = [GAP] * n_slots
                for i, j in zip(units, slots, strict=True):
                    gold[j] = reference[i]
                cost = price_of_gold(gold, n - k, columns)
                best = cost if best is None else min(best, cost)
    return best


def price_of_gold(gold, unplaced, columns):
    """Errors and minus support of a finished column of gold."""
    prices = [slot_price(column, code) for column, code in zip(columns, gold, strict=True)]
    return unplaced + sum(e for e, _ in prices), sum(s for _, s in prices)


def columns_of(slots, i):
    """Slots of record i as lists of codes."""
    return slots.labels[slots.offsets[i] : slots.offsets[i + 1]].tolist()


def gold_of(slots, i):
    """Gold of record i, slot by slot."""
    return np.asarray(slots.gold[slots.offsets[i] : slots.offsets[i + 1]]).tolist()
