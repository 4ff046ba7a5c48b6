"""Kernels of CoBoost: pseudo-labels, row weights, sums over posting lists, the best abstaining rule.

Collins and Singer, "Unsupervised models for named entity classification" (EMNLP 1999), section 4. A view is a binary
matrix, kept by rows and by columns (the posting list of a feature: the rows that have it). A rule (feature, label)
votes +1 on the label's column and -1 on all others where the feature is present, and 0 elsewhere. What a rule would
gain needs two masses: of the columns it gets right and of those it gets wrong, over its posting list. They are kept
and summed anew, in the order of the list, only for features of rows that changed: no rounding errors pile up.
"""

from __future__ import annotations

import math

from numba import njit

BETTER = 1e-12
"""Criteria that differ by no more than this are equal: rounding decides no ties."""
STEEPEST = 500.0
"""Largest exponent of a row weight; another origin is taken before it is passed."""


@njit(cache=True)
def say(rows, score, known, said, other, counts):  # type: ignore[no-untyped-def]
    """What a view says of some rows: the known label, else the column that is the largest alone and above 0, else -1.

    Parameters
    ----------
    rows : ndarray of int32
        Rows whose scores may have changed.
    score : ndarray of float64, shape (n, K)
        Votes of the view.
    known : ndarray of int32, shape (n,)
        Known labels; -1 for unlabelled rows.
    said, other : ndarray of int32, shape (n,)
        In and out: what the view says; and what the other view says.
    counts : ndarray of int64, shape (2 + K,)
        In and out, over unlabelled rows: where both speak, where they agree, and how often they say each label.
    """
    for i in rows:
        label = known[i]
        if label < 0:
            best, second = 0, -math.inf
            for k in range(1, score.shape[1]):
                if score[i, k] > score[i, best]:
                    second = score[i, best]
                    best = k
                elif score[i, k] > second:
                    second = score[i, k]
            label = best if score[i, best] > 0.0 and score[i, best] > second else -1
        if label == said[i]:
            continue
        if known[i] < 0:
            if said[i] >= 0:
                counts[0] -= other[i] >= 0
                counts[1] -= other[i] == said[i]
                counts[2 + said[i]] -= 1
            if label >= 0:
                counts[0] += other[i] >= 0
                counts[1] += other[i] == label
                counts[2 + label] += 1
        said[i] = label


@njit(cache=True)
def differing(wanted, pseudo, rows):  # type: ignore[no-untyped-def]
    """Take over other pseudo-labels; the rows where they differed go into `rows`, their number is returned."""
    n_changed = 0
    for i in range(pseudo.shape[0]):
        if wanted[i] != pseudo[i]:
            pseudo[i] = wanted[i]
            rows[n_changed] = i
            n_changed += 1
    return n_changed


@njit(cache=True)
def reweigh(rows, score, pseudo, weight, origin, right_wrong, mass):  # type: ignore[no-untyped-def]
    """Masses of some rows, weight * exp(-margin - origin) in each column, and what rules for each label make of them.

    Parameters
    ----------
    rows : ndarray of int32
    score : ndarray of float64, shape (n, K)
    pseudo : ndarray of int32, shape (n,)
    weight : ndarray of float64, shape (n,)
    origin : ndarray of float64, shape (1,)
    right_wrong : ndarray of float64, shape (n, 2 K)
        Out: the mass of the columns that a rule for label k gets right, and in column K + k, wrong; 0 where the
        pseudo-label is -1.
    mass : ndarray of float64, shape (n,)
        Out: both together.

    Returns
    -------
    float
        The largest exponent; if it is over `STEEPEST` the masses are cut and of no use.
    """
    K = score.shape[1]
    steepest = -math.inf
    for i in rows:
        label = pseudo[i]
        total = 0.0
        for k in range(2 * K):
            right_wrong[i, k] = 0.0
        if label >= 0:
            for k in range(K):
                exponent = (-score[i, k] if k == label else score[i, k]) - origin[0]
                steepest = max(steepest, exponent)
                right_wrong[i, K + k] = weight[i] * math.exp(min(exponent, STEEPEST))
                total += right_wrong[i, K + k]
            _as_rules(right_wrong[i], label)
        mass[i] = total
    return steepest


@njit(cache=True)
def sum_again(rows, by_row, by_column, right_wrong, stamp, sums, gains):  # type: ignore[no-untyped-def]
    """Sums and gains of all features that one of these rows has, from their posting lists.

    Parameters
    ----------
    rows : ndarray of int32
    by_row, by_column : tuple of ndarray
        Offsets (int64) and entries (int32): the features of each row, the rows of each feature.
    right_wrong : ndarray of float64, shape (n, 2 K)
    stamp : ndarray of int64, shape (d + 1,)
        Which features were summed in this call; the last entry counts calls.
    sums : ndarray of float64, shape (d, 2 K)
        In and out: sums over the posting lists.
    gains : ndarray of float64, shape (K, d)
        In and out: (sqrt(right) - sqrt(wrong))^2 of the rule for each label; 0 if it is wrong as often as right.
    """
    row_offsets, features = by_row
    offsets, postings = by_column
    K = gains.shape[0]
    now = stamp[-1] + 1
    stamp[-1] = now
    for i in rows:
        for at in range(row_offsets[i], row_offsets[i + 1]):
            f = features[at]
            if stamp[f] == now:
                continue
            stamp[f] = now
            sums[f, :] = 0.0
            for place in range(offsets[f], offsets[f + 1]):
                for k in range(2 * K):
                    sums[f, k] += right_wrong[postings[place], k]
            for k in range(K):
                right, wrong = sums[f, k], sums[f, K + k]
                better = right - wrong > BETTER * (right + wrong)
                gains[k, f] = (math.sqrt(right) - math.sqrt(wrong)) ** 2 if better else 0.0


@njit(cache=True)
def best_rule(sums, gains, whole, labels, found, shares):  # type: ignore[no-untyped-def]
    """The rule of least W0 + 2 sqrt(W+ W-) with W+ > W-: the first of equals by feature, then in the order of labels.

    Since W0 = 1 - W+ - W-, that is the largest gain (sqrt(W+) - sqrt(W-))^2.

    Parameters
    ----------
    sums : ndarray of float64, shape (d, 2 K)
    gains : ndarray of float64, shape (K, d)
    whole : ndarray of float64, shape (1,)
        The whole mass, > 0.
    labels : ndarray of int64
        The labels that the rule may vote for.
    found : ndarray of int64, shape (2,)
        Out: feature and label; (-1, -1) if no rule is admissible and better than none.
    shares : ndarray of float64, shape (3,)
        Out: W+, W- and the criterion.
    """
    K = gains.shape[0]
    most = 0.0
    for label in labels:
        for f in range(gains.shape[1]):
            most = max(most, gains[label, f])
    found[0], found[1] = -1, -1
    if most <= BETTER * whole[0]:
        return
    for f in range(gains.shape[1]):
        for label in labels:
            if found[0] < 0 and gains[label, f] > 0.0 and gains[label, f] >= most - BETTER * whole[0]:
                found[0], found[1] = f, label
        if found[0] >= 0:
            break
    f, label = found[0], found[1]
    shares[0] = sums[f, label] / whole[0]
    shares[1] = sums[f, K + label] / whole[0]
    shares[2] = 1.0 - gains[label, f] / whole[0]


@njit(cache=True)
def vote(rows, label, alpha, score):  # type: ignore[no-untyped-def]
    """Add a rule's vote to the scores of its rows: + alpha[0] in the column label[0], - alpha[0] in all others."""
    for i in rows:
        for k in range(score.shape[1]):
            score[i, k] += alpha[0] if k == label[0] else -alpha[0]


@njit(cache=True)
def _as_rules(row, label):  # type: ignore[no-untyped-def]
    """From the weights of the columns, in the second half of `row`, to the mass that a rule for each label gets right
    and wrong. A rule for another label is wrong in two columns, its own and that of the label.
    """
    K = row.shape[0] // 2
    own = row[K + label]
    before = after = 0.0
    for k in range(K):  # sums of all others but the label's column: added, not subtracted, so that 0 stays 0
        row[k] = before
        if k != label:
            before += row[K + k]
    for k in range(K - 1, -1, -1):
        row[k] += after
        if k != label:
            after += row[K + k]
    row[label] += own
    for k in range(K):
        row[K + k] = 0.0 if k == label else row[K + k] + own
