"""Rounds of boosting on binned features: memory, threads, and what the kernels leave behind."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from structens.boosting.binning import BLOCK, BinnedFeatures
from structens.boosting.crew import Crew
from structens.boosting.histogram_layout import (
    CUT,
    FEATURE,
    HIGH,
    INNER,
    LEFT,
    MISSING,
    N_BUCKETS,
    NOMINAL,
    RIGHT,
    SLOT,
    STATE,
    Table,
    Work,
)
from structens.boosting.round_kernels import first_masses, play_round
from structens.boosting.settings import RULES, RoundSettings
from structens.boosting.trees import AT_LEAST, AT_LEAST_OR_NAN_BELOW, EQUAL, HammingTreeArrays

_PLAIN = bool(getattr(numba.config, "DISABLE_JIT", False))
LARGEST_POOL = 512 * 2**20  # bytes of histograms kept for subtraction; beyond, both children are counted


def padded(n_classes: int) -> int:
    """Numbers a row of weights takes: whole lanes, whole numbers of which fit into lines of cache."""
    return -(-n_classes // 8) * 8


def aligned(count: int, dtype: Any) -> NDArray[Any]:
    """Zeros that begin at a line of cache."""
    width = np.dtype(dtype).itemsize
    memory = np.zeros(count * width + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + count * width].view(dtype)


class HistogramRounds:
    """State of boosting: weights, and memory for the next tree.

    Parameters
    ----------
    binned : BinnedFeatures
    weight : ndarray of float32, shape (n * padded(K),)
        Signed weights w * y; from `aligned`; changed in place.
    n_classes : int
    settings : RoundSettings
    n_threads : int
    going_on : bool
        Whether rounds have been played already.
    """

    def __init__(
        self,
        binned: BinnedFeatures,
        weight: NDArray[np.float32],
        n_classes: int,
        settings: RoundSettings,
        n_threads: int = 1,
        going_on: bool = False,
    ) -> None:
        self.binned, self.n_classes, self.settings = binned, n_classes, settings
        self.kp, n = padded(n_classes), binned.n
        n_blocks = len(binned.code) // (BLOCK * n)
        self.n_threads = 1 if _PLAIN else max(1, min(n_threads, n_blocks))
        self.span = int(binned.n_bins.sum()) * self.kp
        slots = settings.n_inner_nodes + 1
        pooled = slots * self.span * 4 <= LARGEST_POOL
        block_span = BLOCK * int(binned.n_bins.max(initial=1)) * self.kp
        row_blocks = int(np.clip(n // 512, 1, 16))
        pause = 0 if self.n_threads == 1 else _pause()
        plan = [
            n,
            BLOCK,
            self.kp,
            settings.n_inner_nodes,
            self.n_threads,
            pause,
            self.span if pooled else 0,
            row_blocks,
        ]
        plan += [block_span, RULES[settings.rule], n_classes, int(settings.real)]
        self.plan = np.array(plan, np.int64)
        smooth = settings.smoothing / (n_classes * settings.n_rows)
        trim = settings.trim if going_on else 0.0  # not in the first round: its weights say nothing yet
        self.least_edge = settings.over(1e-6)
        offset = np.arctanh(settings.edge_offset)
        self.rates = np.array([trim, settings.shrinkage, smooth, settings.clamp / 2, self.least_edge, 1e-30, offset])
        self.work = self._memory(weight, slots * self.span if pooled else self.n_threads * block_span, row_blocks)
        self.out = np.zeros(8)
        self.table = self.list_features(np.arange(binned.d))
        self._crew = Crew(self.n_threads, self._play)
        first_masses(self.plan, self.work)

    def _memory(self, weight: NDArray[np.float32], pool: int, row_blocks: int) -> Work:
        n, t, kp, leaves = self.binned.n, self.n_threads, self.kp, self.settings.n_inner_nodes + 1
        cells = 2 * leaves - 1
        mass = aligned(n, np.float32)
        return Work(
            weight,
            mass,
            mass.view(np.int32),
            np.zeros((row_blocks, N_BUCKETS)),
            np.zeros((t, 8)),
            aligned(pool, np.float32),
            np.zeros((t, n), np.int32),
            np.zeros((t, n), np.int32),
            np.zeros((t, n), np.int32),
            np.zeros((t, cells, 10), np.int64),
            np.zeros((t, cells, 2)),
            np.zeros((t, cells)),
            aligned(t * cells * kp, np.float32),
            aligned(t * cells * kp, np.float32),
            aligned(t * cells * kp, np.float32),
            np.zeros((2, t, 2, 4), np.int64),
            aligned(2 * t * 2 * kp, np.float32),
            aligned(t * 2048, np.float32),
            aligned(row_blocks * 2 * leaves * kp, np.float64),
            aligned(16, np.int64),
            np.zeros((t, 256), np.bool_),
            np.zeros((t, cells), np.int64),
        )

    def list_features(self, features: NDArray[np.int64]) -> Table:
        """The table of the features that may be cut in a round, in ascending order."""
        binned = self.binned
        block = features // BLOCK
        n_blocks = len(binned.code) // (BLOCK * binned.n)
        first = np.searchsorted(block, np.arange(n_blocks + 1))
        n_bins = binned.n_bins[features]
        offset = np.concatenate([[0], np.cumsum(n_bins * self.kp)])[:-1].astype(np.int64)
        self.listed = features
        per_feature = (block, features % BLOCK, offset, n_bins, binned.kind[features], binned.first[features])
        return Table(binned.code, first, *per_feature, binned.lower, binned.upper)

    def play(self, features: NDArray[np.int64] | None = None) -> HammingTreeArrays:
        """Grow the next tree and, where its edge is positive, change the weights."""
        if features is not None:
            self.table = self.list_features(features)
        self.out[7] = 0.0
        self._crew.play(lambda: bool(self.out[7]))
        self.rates[0] = self.settings.trim
        return self._tree()

    def _play(self, thread: int) -> None:
        play_round(thread, self.plan, self.rates, self.table, self.work, self.out)

    def weights(self) -> NDArray[np.float32]:
        """Signed weights, shape (n, K); a view."""
        out: NDArray[np.float32] = self.work.weight.reshape(-1, self.kp)[:, : self.n_classes]
        return out

    def close(self) -> None:
        """Let the threads go."""
        self._crew.close()

    def _tree(self) -> HammingTreeArrays:
        work, out = self.work, self.out
        n_cells, n_leaves = int(out[3]), int(out[4])
        cell, gain = work.cell[0, :n_cells], work.key[0, :n_cells, 0]
        cuts = np.flatnonzero(cell[:, STATE] == CUT)
        cuts = cuts[np.argsort(cell[cuts, INNER])]
        number = -1 - cell[:, SLOT]
        number[cuts] = np.arange(len(cuts))
        listed = cell[cuts, FEATURE]
        kind, n_bins = self.table.kind[listed], self.table.n_bins[listed]
        below = (kind == MISSING) & (cell[cuts, HIGH] < n_bins - 1)
        test = np.where(kind == NOMINAL, EQUAL, np.where(below, AT_LEAST_OR_NAN_BELOW, AT_LEAST))
        made = (cell[:, INNER] > 0) & (cell[:, STATE] != CUT)
        return HammingTreeArrays(
            self.listed[listed].astype(np.int32),
            work.threshold[0, cuts],
            test.astype(np.int8),
            number[cell[cuts, LEFT]].astype(np.int32),
            number[cell[cuts, RIGHT]].astype(np.int32),
            gain[cuts] / out[0],
            work.plus[: n_leaves * self.kp].reshape(n_leaves, self.kp)[:, : self.n_classes].copy(),
            float(out[2]),
            float(out[1]),
            float(out[5]),
            float(gain[made].sum() / out[0]),
        )


def _pause() -> int:
    """Address of the C function that lets another thread run, 0 if there is none."""
    try:
        if sys.platform == "win32":
            function: Any = ctypes.windll.kernel32.SwitchToThread  # type: ignore[attr-defined]
        else:
            function = ctypes.CDLL(None).sched_yield
    except (AttributeError, OSError):
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0
