"""What a method gives of each slot: probabilities of the labels proposed there, and of a few that nobody proposed.

Methods that know confusions may be sure of a label that no expert says. Such labels stand in columns of their own
beside the experts', so that several methods can be compared label by label.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.core import ABSENT, ExpertPredictions, Slots
from structens.ensembles.base import Combined, Ensemble
from structens.ensembles.slot_posteriors import PosteriorEnsemble, Posteriors, proposed_mass

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]

N_EXTRA = 2
"""Labels that nobody proposed, of each slot and method."""


class Opinion(NamedTuple):
    """Probabilities of labels by one method.

    Attributes
    ----------
    share : ndarray of float64, shape (n_slots, p)
        Of each label proposed, at its first supporter; -1 elsewhere.
    extra : ndarray of int32, shape (n_slots, m)
        Labels that nobody proposed, ABSENT where there are fewer than m.
    extra_share : ndarray of float64, shape (n_slots, m)
    """

    share: Floats
    extra: Labels
    extra_share: Floats


def opinion_of(ensemble: Ensemble, slots: Slots, X: ExpertPredictions) -> Opinion:
    """The opinion of a learnt ensemble on the slots of records."""
    if isinstance(ensemble, PosteriorEnsemble):
        return opinion_in(slots.labels, ensemble._posteriors(slots, X))
    return plain_opinion(ensemble._shares(slots, X))


def opinion_behind(done: Combined, ensemble: Ensemble, slots: Slots) -> Opinion:
    """The opinion of a learnt ensemble on the slots of records that it has just combined, by what it found then."""
    if done.posteriors is None:
        return opinion_of(ensemble, slots, done.X)
    return opinion_in(slots.labels, done.posteriors)


def plain_opinion(share: Floats) -> Opinion:
    """An opinion on labels proposed, and no others."""
    return Opinion(share, np.zeros((len(share), 0), np.int32), np.zeros((len(share), 0)))


def opinion_in(labels: Labels, found: Posteriors) -> Opinion:
    """An opinion from distributions over labels, proposed or not.

    Examples
    --------
    >>> found = Posteriors(np.array([[3, 5, 7]], np.int32), np.array([[0.3, 0.1, 0.6]]))
    >>> one = opinion_in(np.array([[5, 3, 3]], np.int32), found)
    >>> one.share.tolist(), one.extra.tolist(), one.extra_share.tolist()
    ([[0.1, 0.3, -1.0]], [[7, -2]], [[0.6, 0.0]])
    """
    share, left = proposed_mass(labels, found)
    m = min(N_EXTRA, left.shape[1])
    order = np.argsort(-left, axis=1, kind="stable")[:, :m]
    extra_share = np.take_along_axis(left, order, axis=1)
    extra = np.where(extra_share > 0, np.take_along_axis(found.label, order, axis=1), ABSENT).astype(np.int32)
    return Opinion(share, extra, extra_share)


def side_by_side(labels: Labels, opinions: Sequence[Opinion]) -> tuple[Labels, list[Floats]]:
    """Labels of slots with those that nobody proposed in further columns, and the opinions on all of them.

    Parameters
    ----------
    labels : ndarray of int32, shape (n_slots, p)
    opinions : sequence of Opinion

    Returns
    -------
    labels : ndarray of int32, shape (n_slots, p + m)
        ABSENT in a further column that holds nothing new.
    shares : list of ndarray of float64, shape (n_slots, p + m)
        As `Opinion.share`; 0 for labels that a method does not think of.

    Examples
    --------
    >>> plain = plain_opinion(np.array([[0.9, 0.1]]))
    >>> other = Opinion(np.array([[0.2, 0.1]]), np.array([[7]], np.int32), np.array([[0.7]]))
    >>> wide, shares = side_by_side(np.array([[5, 3]], np.int32), [plain, other])
    >>> wide.tolist(), [share.tolist() for share in shares]
    ([[5, 3, 7]], [[[0.9, 0.1, 0.0]], [[0.2, 0.1, 0.7]]])
    """
    extra = np.concatenate([one.extra for one in opinions], axis=1)
    for k in range(1, extra.shape[1]):
        again = (extra[:, :k] == extra[:, k : k + 1]).any(axis=1)
        extra[again, k] = ABSENT
    shares = []
    for one in opinions:
        more = np.where(extra == ABSENT, -1.0, 0.0)
        for k in range(one.extra.shape[1]):
            same = (extra == one.extra[:, k : k + 1]) & (extra != ABSENT)
            more = np.where(same, one.extra_share[:, k : k + 1], more)
        shares.append(np.concatenate([one.share, more], axis=1))
    return np.concatenate([labels, extra], axis=1), shares


def stacked(parts: Sequence[Opinion], rows: Sequence[NDArray[np.int64]], n_slots: int) -> Opinion:
    """An opinion on all slots from those on disjoint sets of them, each given by its places."""
    first = parts[0]
    m = max(one.extra.shape[1] for one in parts)
    out = Opinion(
        np.empty((n_slots, first.share.shape[1])), np.full((n_slots, m), ABSENT, np.int32), np.zeros((n_slots, m))
    )
    for one, place in zip(parts, rows, strict=True):
        out.share[place] = one.share
        out.extra[place, : one.extra.shape[1]] = one.extra
        out.extra_share[place, : one.extra.shape[1]] = one.extra_share
    return out
