"""Kernels of binary AdaBoost: the best axis-parallel cut by one scan a feature, and the votes of many cuts.

Cumulative sums over presorted values, after Freund and Schapire, "A decision-theoretic generalization of on-line
learning and an application to boosting" (JCSS 55, 1997); stumps as in Kegl (ICML 2014), Figure 3, for one label.
"""

from __future__ import annotations

from numba import njit

BETTER = 1e-12
"""An edge must be larger by more than this to win: rounding decides no ties."""


@njit(cache=True)
def best_cut(order, signed, least, found, edge):  # type: ignore[no-untyped-def]
    """The cut of largest absolute edge; the first of equals: the constant, then features, then thresholds upwards.

    Parameters
    ----------
    order : ndarray of int32, shape (d, n)
        Rows by rising value of each feature; the complement ~row where the next row's value is larger.
    signed : ndarray of float64, shape (n,)
        Weight times label +-1.
    least : ndarray of float64, shape (1,)
        Weight that both sides of a cut must have; 0 for no rule.
    found : ndarray of int64, shape (2,)
        Out: feature and place in its order, the last row under the cut; (-1, -1) is the constant.
    edge : ndarray of float64, shape (1,)
        Out: sum of weight * label * cut, where the cut says +1 from the threshold on; the vote's sign is the edge's.
    """
    constant = total = 0.0
    for i in range(signed.shape[0]):
        constant += signed[i]
        total += abs(signed[i])
    found[0], found[1], edge[0] = -1, -1, constant
    best = abs(constant)
    for j in range(order.shape[0]):
        under = under_weight = 0.0
        for i in range(order.shape[1]):
            row = order[j, i]
            ends = row < 0
            if ends:
                row = ~row
            under += signed[row]
            under_weight += abs(signed[row])
            if not ends or (least[0] > 0.0 and min(under_weight, total - under_weight) < least[0]):
                continue
            here = constant - 2.0 * under
            if abs(here) > best + BETTER:
                best = abs(here)
                found[0], found[1], edge[0] = j, i, here


@njit(cache=True)
def add_votes(columns, feature, threshold, vote, out):  # type: ignore[no-untyped-def]
    """Add to `out`, shape (n,), the votes of all cuts, in their order: +vote from the threshold on, else -vote.

    Parameters
    ----------
    columns : ndarray of float64, shape (d, n)
        Features, one after the other.
    feature : ndarray of int64, shape (T,)
        -1 for the constant.
    threshold, vote : ndarray of float64, shape (T,)
    out : ndarray of float64, shape (n,)
    """
    n = out.shape[0]
    for begin in range(0, n, 512):  # a block of rows stays in the cache for all cuts
        end = min(begin + 512, n)
        for t in range(feature.shape[0]):
            j, cut, a = feature[t], threshold[t], vote[t]
            if j < 0:
                for i in range(begin, end):
                    out[i] += a
            else:
                for i in range(begin, end):
                    out[i] += a if columns[j, i] >= cut else -a
