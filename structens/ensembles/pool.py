"""LogPool: several methods as one, their probabilities multiplied with powers that are learnt out of fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import ABSENT, ExpertPredictions, Slots
from structens.ensembles.base import Ensemble
from structens.ensembles.decoding import Decode
from structens.ensembles.log_pool import learn_powers, pooled
from structens.ensembles.opinions import Opinion, opinion_of, side_by_side
from structens.ensembles.out_of_fold import Learning, Said, say, without_gold
from structens.ensembles.restriction import Restriction
from structens.ensembles.slot_posteriors import PosteriorEnsemble, Posteriors, shares_of

Floats = NDArray[np.float64]

STRENGTH = 20.0
"""Of the pull of the powers to equal ones that sum to 1."""
LEAST_POWER = 0.1
"""Members with a smaller power are left out."""


class Given(PosteriorEnsemble):
    """Distributions that are there already, as an ensemble that decodes them.

    Parameters
    ----------
    found : Posteriors
    labels : sequence of str
        The alphabet.
    seed, decode, restriction
        As in `LogPool`.
    """

    def __init__(
        self,
        found: Posteriors,
        labels: Sequence[str] = (),
        seed: int = 0,
        decode: Decode = "marginal",
        restriction: Restriction | None = None,
    ) -> None:
        self.found = found
        self.labels = labels
        self.seed = seed
        self.decode = decode
        self.restriction = restriction
        self.labels_ = list(labels)

    def _posteriors(self, slots: Slots, X: ExpertPredictions) -> Posteriors:
        return self.found


class LogPool(PosteriorEnsemble):
    """The probability of a label is proportional to the product of those that the members give it, each to a power.

    `structens.ensembles.AutoEnsemble` makes it, and chooses it where it is better than its members.

    Parameters
    ----------
    seed : int
        Of the samples of "mbr".
    decode : {"marginal", "viterbi", "string", "mbr"} or MBR
        "viterbi" is "marginal" here: the pool knows slots, no paths.
    restriction : "bio", "bioes", mapping, or None

    Attributes
    ----------
    members_ : list of Ensemble
        Learnt from all gold.
    member_names_ : list of str
    powers_ : ndarray of float64, shape (n_members + 2,)
        Of the members, of GAP, and of labels that nobody proposed.
    labels_ : list of str
        Labels of the records learnt from.
    """

    members_: list[Ensemble]
    member_names_: list[str]
    powers_: Floats

    def __init__(self, seed: int = 0, decode: Decode = "marginal", restriction: Restriction | None = None) -> None:
        self.seed = seed
        self.decode = decode
        self.restriction = restriction

    def join(self, learning: Learning, said: Mapping[str, Said], members: Mapping[str, Ensemble]) -> LogPool:
        """Learn the powers.

        Parameters
        ----------
        learning : Learning
        said : mapping of name to Said
            Out of fold.
        members : mapping of name to Ensemble
            Learnt from all of it; asked only for those that stay.
        """
        self.names_, self.aligned_ = learning.X.names, learning.aligned
        self.labels_ = list(learning.X.alphabet.labels)
        names = list(said)
        for _ in range(2):  # with all, then with those that count
            powers = _powers(learning.slots, [said[name].opinion for name in names])
            kept = [name for name, power in zip(names, powers.tolist(), strict=False) if abs(power) >= LEAST_POWER]
            if kept == names or not kept:
                break
            names = kept
        self.powers_ = _powers(learning.slots, [said[name].opinion for name in names])
        self.member_names_, self.members_ = names, [members[name] for name in names]
        return self

    def out_of_fold(self, learning: Learning, said: Mapping[str, Said]) -> Said:
        """What a pool says of each fold by powers that are learnt from the others."""
        slots, p = learning.slots, learning.slots.n_experts
        wide, shares = side_by_side(slots.labels, [one.opinion for one in said.values()])
        out, fold = np.full(wide.shape, -1.0), learning.fold[slots.record]
        prior = _prior(len(shares))
        for k in range(learning.n_folds):
            inside = fold == k
            outside = [share[~inside] for share in shares]
            powers = learn_powers(wide[~inside], slots.gold[~inside], outside, prior, STRENGTH, p)
            out[inside] = pooled(wide[inside], [share[inside] for share in shares], powers, p)
        return said_by(posteriors_of(wide, out), learning, self.get_params(deep=False))

    def _posteriors(self, slots: Slots, X: ExpertPredictions) -> Posteriors:
        wide, shares = side_by_side(slots.labels, [opinion_of(member, slots, X) for member in self.members_])
        return posteriors_of(wide, pooled(wide, shares, self.powers_, slots.n_experts))

    def _shares(self, slots: Slots, X: ExpertPredictions) -> Floats:
        return shares_of(slots.labels, self._posteriors(slots, X))


def said_by(found: Posteriors, learning: Learning, options: Mapping[str, Any]) -> Said:
    """Answers from distributions over the labels of the slots learnt from, given out of fold."""
    blind, unknown = without_gold(learning.slots, learning.X)
    return say(Given(found, labels=learning.X.alphabet.labels, **options), blind, unknown)


def posteriors_of(wide: NDArray[np.int32], probability: Floats) -> Posteriors:
    """Distributions from labels and their probabilities at first supporters, -1 elsewhere."""
    there = probability >= 0
    return Posteriors(np.where(there, wide, ABSENT).astype(np.int32), np.where(there, probability, 0.0))


def _prior(n: int) -> Floats:
    return np.concatenate([np.full(n, 1.0 / n), np.zeros(2)])


def _powers(slots: Slots, opinions: Sequence[Opinion]) -> Floats:
    wide, shares = side_by_side(slots.labels, opinions)
    return learn_powers(wide, slots.gold, shares, _prior(len(shares)), STRENGTH, slots.n_experts)
