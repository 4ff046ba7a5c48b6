"""Rounds of boosting on presorted features in float64, for small data; see `histogram_rounds` for large."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.boosting.exact_kernels import ExactWork, grow_exact, reweight_exact
from structens.boosting.histogram_layout import (
    CUT,
    FEATURE,
    INNER,
    LEFT,
    MISSING,
    NOMINAL,
    NUMERIC,
    RIGHT,
    SLOT,
    STATE,
)
from structens.boosting.mh_step import Step, step_of
from structens.boosting.settings import RULES, RoundSettings
from structens.boosting.trees import AT_LEAST, AT_LEAST_OR_NAN_BELOW, EQUAL, HammingTreeArrays


class ExactRounds:
    """State of boosting: weights and sorted features.

    Parameters
    ----------
    X : ndarray, shape (n, d)
        NaN is a missing value.
    weight : ndarray of float64, shape (n, K)
        Signed weights w * y, of total size 1; changed in place.
    settings : RoundSettings
    nominal : ndarray of bool, shape (d,), optional
    """

    def __init__(
        self,
        X: NDArray[Any],
        weight: NDArray[np.float64],
        settings: RoundSettings,
        nominal: NDArray[np.bool_] | None = None,
    ) -> None:
        column = np.ascontiguousarray(X.T, dtype=np.float64)
        d, n = column.shape
        self.settings, self.n_classes = settings, weight.shape[1]
        self.order = np.argsort(column, axis=1, kind="stable").astype(np.int32)
        kind = np.where(np.isnan(column).any(axis=1), MISSING, NUMERIC)
        if nominal is not None:
            kind = np.where(nominal, NOMINAL, kind)
        cells = 2 * settings.n_inner_nodes + 1
        self.work = ExactWork(
            column,
            kind.astype(np.int64),
            self.order.copy(),
            weight,
            np.zeros((cells, 10), np.int64),
            np.zeros((cells, 2)),
            np.zeros(cells),
            np.zeros((cells, self.n_classes)),
            np.zeros((cells, self.n_classes)),
            np.zeros((cells, self.n_classes)),
            np.zeros(n, np.int32),
            np.zeros(n, np.bool_),
            np.zeros(n, np.int32),
            np.zeros(self.n_classes),
            np.zeros(cells, np.int64),
            np.zeros((cells, self.n_classes)),
            np.zeros(n),
            np.array([settings.least_share]),
        )
        self.plan = np.array([settings.n_inner_nodes, RULES[settings.rule]])
        self.all_features = np.arange(d)
        self.out = np.zeros(8)
        self.least_edge = settings.over()

    def play(self, features: NDArray[np.int64] | None = None) -> HammingTreeArrays:
        """Grow the next tree and, where its edge is positive, change the weights."""
        work = self.work
        work.order[:] = self.order
        grow_exact(self.all_features if features is None else features, self.plan, work, self.out)
        weight, n_leaves = self.out[0], int(self.out[4])
        step = step_of(self.settings, work.vote[:n_leaves], work.plus[:n_leaves], work.total[:n_leaves])
        if step.edge > self.least_edge:
            h = step.coefficient * step.vote.astype(np.float64)
            reweight_exact(h, work.weight, work.leaf, step.normalizer * weight)
        return self._tree(step)

    def weights(self) -> NDArray[np.float64]:
        """Signed weights, shape (n, K)."""
        out: NDArray[np.float64] = self.work.weight
        return out

    def close(self) -> None:
        """Nothing to let go."""

    def _tree(self, step: Step) -> HammingTreeArrays:
        work, n_cells = self.work, int(self.out[3])
        cell, gain = work.cell[:n_cells], work.key[:n_cells, 0] / self.out[0]
        cuts = np.flatnonzero(cell[:, STATE] == CUT)
        cuts = cuts[np.argsort(cell[cuts, INNER])]
        number = -1 - cell[:, SLOT]
        number[cuts] = np.arange(len(cuts))
        feature = cell[cuts, FEATURE]
        kind, nan_above = work.kind[feature], work.key[cuts, 1] > 0
        below = (kind == MISSING) & ~nan_above & np.isfinite(work.threshold[cuts])
        seen = self._nan_seen(cuts, feature, kind)
        test = np.where(kind == NOMINAL, EQUAL, np.where(below & seen, AT_LEAST_OR_NAN_BELOW, AT_LEAST))
        made = (cell[:, INNER] > 0) & (cell[:, STATE] != CUT)
        return HammingTreeArrays(
            feature.astype(np.int32),
            work.threshold[cuts],
            test.astype(np.int8),
            number[cell[cuts, LEFT]].astype(np.int32),
            number[cell[cuts, RIGHT]].astype(np.int32),
            gain[cuts],
            step.vote,
            step.coefficient,
            step.edge,
            step.normalizer,
            float(gain[made].sum()),
        )

    def _nan_seen(self, cuts: Any, feature: Any, kind: Any) -> NDArray[np.bool_]:
        """Whether a cut's cell had rows with NaN; only then was a direction learnt."""
        work = self.work
        seen: NDArray[np.bool_] = np.asarray(kind == MISSING)
        for k in np.flatnonzero(seen):
            rows = work.order[feature[k], work.cell[cuts[k], 0] : work.cell[cuts[k], 1]]
            seen[k] = bool(np.isnan(work.column[feature[k], rows]).any())
        return seen
