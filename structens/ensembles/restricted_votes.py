"""Conditioned: the answers of new records under a restriction that was learnt under, and the weights that remain.

The path experts of a record weigh the product of their contexts' learnt weights (H_MVote's averages: equation 6 of
Cortes, Kuznetsov and Mohri, ICML 2014), and those with an inadmissible answer, or deleted in learning, nothing. For
H_Rand the round is drawn first, then a path expert among the admissible ones of its distribution.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.core import Slots
from structens.ensembles.restriction import Restriction, compile_restriction
from structens.online.admissible import AdmissiblePaths
from structens.online.converted import Converted, parameters_of, transition_weights
from structens.online.draws import uniforms
from structens.online.hedge import slot_flows
from structens.online.slot_conversion import spread
from structens.online.tying import Tying

MOST_EXPECTED = 64
"""Rounds of H_Rand that its expected loss is averaged over."""


class Conditioned(NamedTuple):
    """Records, their admissible paths, and who may be on them.

    Parameters
    ----------
    paths : AdmissiblePaths
    parameter : ndarray of int32, shape (n_slots, p)
        From `structens.online.converted.parameters_of`.
    there : ndarray of bool, shape (n_slots, p)
    """

    paths: AdmissiblePaths
    parameter: NDArray[np.int32]
    there: NDArray[np.bool_]

    @classmethod
    def of(cls, slots: Slots, tying: Tying, restriction: Restriction, alive: NDArray[np.bool_]) -> Conditioned:
        """Judge these records; a context that is new has the experts that are left in any.

        Parameters
        ----------
        slots : Slots
        tying : Tying
        restriction : str or mapping
        alive : ndarray of bool, shape (n_contexts, p), or no rows
            Transitions left.
        """
        paths = AdmissiblePaths.of(slots, compile_restriction(restriction, slots.alphabet), tying.contexts(slots))
        parameter, _ = parameters_of(slots, tying)
        there = paths.present
        if len(alive):
            flat = np.append(np.vstack([alive, alive.any(axis=0)]).ravel(), False)
            there = there & flat[parameter]
        return cls(paths, parameter, there)

    def drawn(
        self, snapshots: NDArray[np.float64], rate: float, keys: NDArray[np.uint64], order: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Weight 1 on one path of each record: a round by its key, then an admissible path of the round.

        Parameters
        ----------
        snapshots : ndarray of float64, shape (n_kept, n_parameters + p)
        rate : float
        keys : ndarray of uint64, shape (n_records,)
        order : ndarray of int64, shape (p,)
            Experts in an order that does not depend on how they were given.
        """
        p = self.parameter.shape[1]
        keys = np.repeat(keys, np.diff(self.paths.offsets))
        context = self.parameter.max(axis=1, initial=-1) // p
        pick, choice = uniforms(keys, np.zeros(1, np.int64)), uniforms(keys, context.astype(np.int64) + 1)
        row = (pick * len(snapshots)).astype(np.int64)
        costs = np.where(self.parameter >= 0, snapshots[row[:, None], np.maximum(self.parameter, 0)], np.inf)
        low = costs.min(axis=1, initial=np.inf, keepdims=True)
        weights = np.exp(-rate * np.where(self.parameter >= 0, costs - np.where(np.isfinite(low), low, 0.0), np.inf))
        paths = replace(self.paths, labels=np.ascontiguousarray(self.paths.labels[:, order]))
        return paths.drawn(weights[:, order], self.there[:, order], choice)[:, np.argsort(order)]

    def chances(self, converted: Converted, rate: float) -> NDArray[np.float64]:
        """Probability that one draw takes each transition.

        By the averaged weights; where rounds are kept to draw from ("rand") the mean over at most 64 of them.
        """
        if len(converted.snapshots) == 0:
            return self.paths.flows(transition_weights(converted, self.parameter, rate), self.there)
        kept = converted.snapshots[spread(0, len(converted.snapshots), MOST_EXPECTED)]
        out = np.zeros(self.there.shape)
        for snapshot in kept:
            out += self.paths.flows(slot_flows(snapshot, self.parameter, rate), self.there)
        return out / len(kept)
