"""What a contextual model knows about a candidate: who supports it, how reliable they are, what stands beside it.

Two tables, one row a candidate: `support_features` need only the slot, `context_features` also the posteriors of all
candidates by an earlier model, which say what probably stands in the neighbouring slots and which experts can be
trusted in this record. NaN is "not known".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.boosting.compiled import lean_entry, lean_inner
from structens.core import GAP
from structens.ensembles.candidates import Candidates
from structens.ensembles.label_ngram import BITS, LabelNGram, _log_p

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SUPPORT = (
    *("supporters", "share", "awake", "candidates", "stronger", "lead", "bayes", "bayes lead"),
    *("own reliability", "best reliability", "others' reliability", "gap", "label", "place", "from end", "slots"),
)
"""Columns of `support_features`, followed by the log-odds of each expert."""
CONTEXT = (
    *("log-odds", "log-odds lead", "rank", "left sure", "right sure", "left label", "right label", "left 2", "right 2"),
    *("n-gram before", "n-gram before lead", "n-gram", "n-gram lead", "rival", "left gap", "right gap"),
    *("left agree", "right agree", "agree", "left others", "right others", "others", "best agree", "same left"),
    *("same right", "rival supporters"),
)
"""Columns of `context_features`."""
NOMINAL = ("label", "left label", "right label", "left 2", "right 2", "rival")


class View(NamedTuple):
    """Slots as kernels see them.

    Attributes
    ----------
    offsets, slot, n_supporters, of : ndarray
        As in `Candidates`.
    label : ndarray of int32, shape (n,)
        Code or GAP.
    said : ndarray of int64, shape (n,)
        Class of the label.
    record_offsets : ndarray of int64
        Slots of each record.
    record : ndarray of int64, shape (n_slots,)
    """

    offsets: Ints
    slot: NDArray[np.int32]
    n_supporters: NDArray[np.int32]
    of: NDArray[np.int32]
    label: NDArray[np.int32]
    said: Ints
    record_offsets: Ints
    record: Ints


def view_of(found: Candidates, said: Ints, record_offsets: Ints) -> View:
    """The view of some candidates."""
    record = np.repeat(np.arange(len(record_offsets) - 1), np.diff(record_offsets))
    return View(found.offsets, found.slot, found.n_supporters, found.of, found.label, said, record_offsets, record)


def support_features(view: View, rows: Ints, reliability: NDArray[np.float32], table: Ints) -> NDArray[np.float32]:
    """Features of candidates that need only their slots, shape (len(rows), len(SUPPORT) + p).

    Parameters
    ----------
    view : View
    rows : ndarray of int64
        Candidates, all of a slot beside each other.
    reliability : ndarray of float32, shape (n_tables, p, K, K + 1)
    table : ndarray of int64, shape (n_records,)
        Which table is for a record.
    """
    out = np.full((len(rows), len(SUPPORT) + view.of.shape[1]), np.nan, np.float32)
    _support(view, rows, reliability, table, out)
    _lead(view, rows, out, np.array([SUPPORT.index("bayes"), SUPPORT.index("bayes lead")]))
    return out


def context_features(view: View, rows: Ints, q: Floats, models: list[LabelNGram], table: Ints) -> NDArray[np.float32]:
    """Features of candidates in view of what probably stands around them, shape (len(rows), len(CONTEXT)).

    Parameters
    ----------
    view : View
    rows : ndarray of int64
    q : ndarray of float64, shape (n_candidates,)
        Posteriors by an earlier model that had not learnt from the record.
    models : list of LabelNGram
    table : ndarray of int64, shape (n_records,)
        Which of the models had not learnt from a record.
    """
    out = np.full((len(rows), len(CONTEXT)), np.nan, np.float32)
    out[:, [CONTEXT.index(name) for name in NOMINAL[1:]]] = -1.0
    around = neighbours(view, q)
    _context(view, rows, q, around, out)
    before, whole = CONTEXT.index("n-gram before"), CONTEXT.index("n-gram")
    out[:, [before, whole]] = ngram_features(view, view.slot[rows], view.said[rows], around, models, table)
    out[view.label[rows] == GAP, before] = np.nan
    _lead(view, rows, out, np.array([CONTEXT.index("n-gram before"), CONTEXT.index("n-gram before lead")]))
    _lead(view, rows, out, np.array([CONTEXT.index("n-gram"), CONTEXT.index("n-gram lead")]))
    return out


def ngram_features(
    view: View, slot: NDArray[np.int32], said: Ints, around: Neighbours, models: list[LabelNGram], table: Ints
) -> Floats:
    """Log probability of classes after what stands before their slots, and of them with what follows, shape (n, 2).

    Parameters
    ----------
    view : View
    slot, said : ndarray of int, shape (n,)
        Slots and classes.
    around : Neighbours
    models, table
        As for `context_features`.
    """
    out = np.zeros((len(slot), 2))
    tops = np.append(view.said, 0)[around.top]
    of_row = table[view.record[slot]]
    for k, model in enumerate(models):
        _ngrams(slot, said, np.flatnonzero(of_row == k), tops, around, model, out)
    return out


def confidence_features(view: View, rows: Ints, confidence: NDArray[np.float32]) -> NDArray[np.float32]:
    """Summed, mean and largest confidence of supporters, summed of the others, the difference, and each expert's.

    Parameters
    ----------
    view : View
    rows : ndarray of int64
    confidence : ndarray of float32, shape (n_slots, p)
        NaN where an expert gives none. In the last columns it is negative where an expert says something else.
    """
    out = np.full((len(rows), 5 + view.of.shape[1]), np.nan, np.float32)
    _confidence(view, rows, confidence, out)
    return out


class Neighbours(NamedTuple):
    """Of each slot its most probable candidate, and the next slots left and right that probably are not empty.

    -1 for none; and for each record and expert the summed posterior of what it says.
    """

    top: Ints
    left: Ints
    right: Ints
    trust: Floats


def neighbours(view: View, q: Floats) -> Neighbours:
    """What probably stands where, by posteriors."""
    n_slots, n_records = len(view.record), len(view.record_offsets) - 1
    top, left, right = (np.full(n_slots, -1, np.int64) for _ in range(3))
    trust = np.zeros((n_records, view.of.shape[1]))
    _neighbours(view, q, top, left, right, trust)
    return Neighbours(top, left, right, trust)


@lean_entry
def _support(view, rows, reliability, table, out):  # type: ignore[no-untyped-def]
    p, k = view.of.shape[1], reliability.shape[2]
    base = out.shape[1] - p
    for i in range(len(rows)):
        c = rows[i]
        s, mine = view.slot[c], view.said[c]
        r = view.record[s]
        logits = reliability[table[r]]
        awake, total, own, best, others = 0, 0.0, 0.0, -np.inf, 0.0
        for j in range(p):
            said = view.of[s, j]
            if said < 0:
                continue
            awake += 1
            x = logits[j, view.said[said], k if said == c else mine]
            out[i, base + j] = x
            total += x
            if said == c:
                own += x
                best = max(best, x)
            else:
                others += x
        n, stronger, rival = view.n_supporters[c], 0, 0
        for other in range(view.offsets[s], view.offsets[s + 1]):
            if other != c:
                stronger += view.n_supporters[other] > n
                rival = max(rival, view.n_supporters[other])
        begin, end = view.record_offsets[r], view.record_offsets[r + 1]
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = n, n / awake, awake, view.offsets[s + 1] - view.offsets[s]
        out[i, 4], out[i, 5], out[i, 6] = stronger, n - rival, total
        if n > 0:
            out[i, 8], out[i, 9] = own / n, best
        if awake > n:
            out[i, 10] = others / (awake - n)
        out[i, 11], out[i, 12] = view.label[c] == GAP, mine
        out[i, 13], out[i, 14], out[i, 15] = s - begin, end - 1 - s, end - begin


@lean_entry
def _lead(view, rows, out, columns):  # type: ignore[no-untyped-def]
    """A column less its largest value among the rivals, into another column."""
    i = 0
    while i < len(rows):
        end = i + 1
        while end < len(rows) and view.slot[rows[end]] == view.slot[rows[i]]:
            end += 1
        first, second = -np.inf, -np.inf
        for a in range(i, end):
            x = out[a, columns[0]]
            if x > first:
                first, second = x, first
            elif x > second:
                second = x
        for a in range(i, end):
            x = out[a, columns[0]]
            best = second if x == first else first
            out[a, columns[1]] = x - best if best > -np.inf else np.nan
        i = end


@lean_entry
def _neighbours(view, q, top, left, right, trust):  # type: ignore[no-untyped-def]
    for s in range(len(view.record)):
        for c in range(view.offsets[s], view.offsets[s + 1]):
            if top[s] < 0 or q[c] > q[top[s]]:
                top[s] = c
        for j in range(view.of.shape[1]):
            if view.of[s, j] >= 0:
                trust[view.record[s], j] += q[view.of[s, j]]
    for r in range(len(view.record_offsets) - 1):
        begin, end = view.record_offsets[r], view.record_offsets[r + 1]
        last = -1
        for s in range(begin, end):
            left[s] = last
            if top[s] >= 0 and view.label[top[s]] != GAP:
                last = s
        last = -1
        for s in range(end - 1, begin - 1, -1):
            right[s] = last
            if top[s] >= 0 and view.label[top[s]] != GAP:
                last = s


@lean_entry
def _context(view, rows, q, around, out):  # type: ignore[no-untyped-def]
    p = view.of.shape[1]
    for i in range(len(rows)):
        c = rows[i]
        s = view.slot[c]
        r = view.record[s]
        begin, end = view.record_offsets[r], view.record_offsets[r + 1]
        rival, rank = -1, 0
        for other in range(view.offsets[s], view.offsets[s + 1]):
            if other != c:
                rank += q[other] > q[c]
                if rival < 0 or q[other] > q[rival]:
                    rival = other
        mine, theirs = _logit(q[c]), _logit(q[rival])
        out[i, 0], out[i, 1], out[i, 2] = mine, mine - theirs, rank
        out[i, 13], out[i, 25] = view.said[rival], view.n_supporters[rival]
        for side in range(2):
            beside = s - 1 if side == 0 else s + 1
            if begin <= beside < end and around.top[beside] >= 0:
                out[i, 3 + side] = q[around.top[beside]]
                out[i, 14 + side] = view.label[around.top[beside]] == GAP
                _agreement(view, c, s, beside, q, out[i, 16 + side : 20 + side : 3])
            near = around.left[s] if side == 0 else around.right[s]
            if near >= 0:
                out[i, 5 + side] = view.said[around.top[near]]
                out[i, 23 + side] = view.label[around.top[near]] == view.label[c]
                near = around.left[near] if side == 0 else around.right[near]
                if near >= 0:
                    out[i, 7 + side] = view.said[around.top[near]]
        own, best, others, n, m = 0.0, -np.inf, 0.0, 0, 0
        for j in range(p):
            said = view.of[s, j]
            if said < 0 or end - begin < 2:
                continue
            x = (around.trust[r, j] - q[said]) / (end - begin - 1)
            if said == c:
                own += x
                n += 1
                best = max(best, x)
            else:
                others += x
                m += 1
        if n > 0:
            out[i, 18], out[i, 22] = own / n, best
        if m > 0:
            out[i, 21] = others / m


@lean_inner
def _logit(x):  # type: ignore[no-untyped-def]
    x = min(max(x, 1e-5), 1.0 - 1e-5)
    return np.log(x / (1.0 - x))


@lean_inner
def _agreement(view, c, s, beside, q, out):  # type: ignore[no-untyped-def]
    """Mean posterior, in the slot beside, of what those who support a candidate say there, and the others."""
    own, others, n, m = 0.0, 0.0, 0, 0
    for j in range(view.of.shape[1]):
        if view.of[s, j] < 0:
            continue
        x = q[view.of[beside, j]]
        if view.of[s, j] == c:
            own += x
            n += 1
        else:
            others += x
            m += 1
    if n > 0:
        out[0] = own / n
    if m > 0:
        out[1] = others / m


@lean_entry
def _ngrams(slot, said, mine, tops, around, model, out):  # type: ignore[no-untyped-def]
    """Log probability of a class after the probable labels before its slot, and of it and those that follow."""
    order, border = model.shape[0], model.shape[1]
    keep = (np.int64(1) << np.int64(BITS * order)) - 1
    for i in mine:
        s = slot[i]
        gram, near = np.int64(0), np.int64(s)
        for k in range(order - 1):
            near = around.left[near] if near >= 0 else near
            x = border if near < 0 else tops[near]
            gram |= np.int64(x) << np.int64(BITS * k)
        out[i, 0] = out[i, 1] = 0.0
        if said[i] != border:  # the class of GAP
            gram = ((gram << np.int64(BITS)) | said[i]) & keep
            out[i, 0] = out[i, 1] = _log_p(model, gram, order)
        near = np.int64(s)
        for _ in range(order - 1):
            near = around.right[near]
            x = border if near < 0 else tops[near]
            gram = ((gram << np.int64(BITS)) | np.int64(x)) & keep
            out[i, 1] += _log_p(model, gram, order)
            if near < 0:
                break


@lean_entry
def _confidence(view, rows, confidence, out):  # type: ignore[no-untyped-def]
    for i in range(len(rows)):
        c = rows[i]
        s = view.slot[c]
        own, others, best, n = 0.0, 0.0, np.nan, 0
        for j in range(view.of.shape[1]):
            x = confidence[s, j]
            if view.of[s, j] < 0 or np.isnan(x):
                continue
            if view.of[s, j] == c:
                own += x
                n += 1
                best = x if n == 1 else max(best, x)
                out[i, 5 + j] = x
            else:
                others += x
                out[i, 5 + j] = -x
        out[i, 0], out[i, 2], out[i, 3], out[i, 4] = own, best, others, own - others
        if n > 0:
            out[i, 1] = own / n
