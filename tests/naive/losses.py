"""Losses from their definitions, in plain Python."""

from functools import cache


def edits(reference, hypothesis, costs=(1.0, 1.0, 1.0)):
    """Least (cost, substitutions, deletions, insertions) over all alignments, by recursion on the last step."""
    ins, dele, sub = costs

    @cache
    def best(i, j):
        if i == 0 and j == 0:
            return (0.0, 0, 0, 0)
        options = []
        if i and j:
            c, s, d, n = best(i - 1, j - 1)
            wrong = reference[i - 1] != hypothesis[j - 1]
            options.append((c + sub * wrong, s + wrong, d, n))
        if i:
            c, s, d, n = best(i - 1, j)
            options.append((c + dele, s, d + 1, n))
        if j:
            c, s, d, n = best(i, j - 1)
            options.append((c + ins, s, d, n + 1))
        return min(options)

    return best(len(reference), len(hypothesis))


def slot_loss(gold, predicted, cost, gap_cost, gap=-1, absent=-2, unknown=-3):
    """Loss of one transition; cost is a function of two codes."""
    if predicted == absent or gold == unknown or (gold == gap and predicted == gap):
        return 0.0
    if (gold == gap) != (predicted == gap):
        return gap_cost
    return cost(gold, predicted)
