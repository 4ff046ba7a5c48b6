"""Slow reference of the vote, from its definition."""

from fractions import Fraction

from structens.core import ABSENT, GAP


def vote(labels, weights):
    """(winner, share, tie, first supporter) of one slot; weights are exact fractions."""
    awake = [j for j, label in enumerate(labels) if label != ABSENT]
    if sum(weights[j] for j in awake) == 0:
        weights = [Fraction(1)] * len(labels)
    sums = {}
    for j in awake:
        sums[labels[j]] = sums.get(labels[j], Fraction(0)) + weights[j]
    top = max(sums.values())
    tied = [label for label in sums if sums[label] == top]  # in order of first supporter
    winner = next((label for label in tied if label != GAP), GAP) if len(awake) > 2 else tied[0]
    return winner, top / sum(sums.values()), len(tied) > 1, labels.index(winner)


def rover(labels, confidence, alpha, null_confidence, maximum):
    """The scores of the labels of one slot, by first supporter."""
    awake = [j for j, label in enumerate(labels) if label != ABSENT]
    scores = {}
    for label in dict.fromkeys(labels[j] for j in awake):
        behind = [j for j in awake if labels[j] == label]
        known = [confidence[j] for j in behind if confidence[j] == confidence[j]]
        if label == GAP or not known:
            sure = null_confidence
        else:
            sure = max(known) if maximum else sum(known) / len(known)
        scores[label] = alpha * len(behind) / len(awake) + (1 - alpha) * sure
    return scores
