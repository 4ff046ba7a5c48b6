"""Complexities of path experts for Deep ESPBoost: what a unit of a path expert's coefficient costs.

Cortes, Mohri and Syed, "Deep boosting" (ICML 2014): Lambda_h = lambda r_h + beta, r_h the Rademacher complexity of the
family that h comes from, here by Massart's bound sqrt(2 log(size) / m) for families of 0/1 functions on m records.

* additive: r_h is the sum over the path of what its experts cost, so that the best path is a shortest path;
* by switches: H_s holds the paths that change the expert at most s times from context to context, of which there are
  sum_i<=s C(l-1, i) p (p-1)^i; r_s = sqrt(2 log|H_s| / m). One best path for each s, by a sweep over contexts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.boosting.esp_slots import PathExperts
from structens.core import ParameterError

SLACK = 1e-12
"""As part of the mass of all slots: sums closer than this are a tie."""


class Complexity(Protocol):
    """Penalties of paths, and the best path under them."""

    def penalty(self, path: NDArray[np.int64]) -> float:
        """Lambda of a path."""

    def best(
        self, paths: PathExperts, gain: NDArray[np.float64], mass: NDArray[np.float64], scale: float
    ) -> NDArray[np.int64]:
        """The path with the largest gain less `scale` times its penalty."""


def massart(size: float, n_records: int) -> float:
    """Bound sqrt(2 log(size) / m) on the Rademacher complexity of `size` functions with values 0 and 1.

    Examples
    --------
    >>> round(massart(130, 200), 4)
    0.2206
    """
    return math.sqrt(2.0 * math.log(max(size, 1.0)) / max(n_records, 1))


@dataclass(frozen=True, eq=False)
class AdditiveComplexity:
    """Lambda_h = lambda times the sum of r over the path's parameters, plus beta.

    Parameters
    ----------
    r : ndarray of float64, shape (n_parameters,)
    lambda_, beta : float
        >= 0.

    Examples
    --------
    >>> AdditiveComplexity(np.array([0.1, 0.3]), 0.5, 0.01).penalty(np.array([1]))
    0.16
    """

    r: NDArray[np.float64]
    lambda_: float
    beta: float

    def penalty(self, path: NDArray[np.int64]) -> float:
        """As in `Complexity`."""
        return self.lambda_ * float(self.r[path].sum()) + self.beta

    def best(
        self, paths: PathExperts, gain: NDArray[np.float64], mass: NDArray[np.float64], scale: float
    ) -> NDArray[np.int64]:
        """As in `Complexity`."""
        return paths.best(gain - scale * self.lambda_ * self.r, mass)


@dataclass(frozen=True, eq=False)
class SwitchComplexity:
    """Lambda_h = lambda r_s + beta, s the number of times that the path changes its expert.

    Parameters
    ----------
    r : ndarray of float64, shape (most switches + 1,)
        Rising.
    n_experts : int
    lambda_, beta : float

    Examples
    --------
    >>> c = SwitchComplexity(np.array([0.1, 0.2, 0.3]), 2, 1.0, 0.0)
    >>> c.penalty(np.array([0, 3, 5])), c.penalty(np.array([0, 2, 4]))
    (0.2, 0.1)
    """

    r: NDArray[np.float64]
    n_experts: int
    lambda_: float
    beta: float

    def penalty(self, path: NDArray[np.int64]) -> float:
        """As in `Complexity`."""
        s = int((np.diff(path % self.n_experts) != 0).sum())
        return self.lambda_ * float(self.r[min(s, len(self.r) - 1)]) + self.beta

    def best(
        self, paths: PathExperts, gain: NDArray[np.float64], mass: NDArray[np.float64], scale: float
    ) -> NDArray[np.int64]:
        """As in `Complexity`; `paths` are `SlotPaths`."""
        table = gain.reshape(-1, self.n_experts)
        total, experts = best_by_switches(table, len(self.r) - 1)
        value = total - scale * self.lambda_ * self.r[: len(total)]
        s = int((value >= value.max() - SLACK * max(float(mass.sum()), 1e-300)).argmax())
        path: NDArray[np.int64] = np.arange(len(table), dtype=np.int64) * self.n_experts + experts[s]
        return path


def switch_complexities(length: int, n_experts: int, n_records: int, most: int | None = None) -> NDArray[np.float64]:
    """r_s for s = 0 to `most` (default: length - 1) switches.

    Examples
    --------
    >>> [round(math.exp(r * r / 2 * 100)) for r in switch_complexities(3, 2, 100)]
    [2, 6, 8]
    """
    most = max(length - 1, 0) if most is None else min(most, max(length - 1, 0))
    out, size = np.zeros(most + 1), 0
    for s in range(most + 1):
        size += math.comb(length - 1, s) * n_experts * (n_experts - 1) ** s
        out[s] = math.sqrt(2.0 * math.log(max(size, 1)) / max(n_records, 1))  # Python's log takes integers of any size
    return out


def best_by_switches(gain: NDArray[np.float64], most: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """For each s the largest gain of a choice of experts with at most s switches, and the choice.

    Parameters
    ----------
    gain : ndarray of float64, shape (l, p)
    most : int

    Returns
    -------
    total : ndarray of float64, shape (most + 1,)
    experts : ndarray of int64, shape (most + 1, l)
        Ties go to staying, then to the first expert.

    Raises
    ------
    ParameterError
        If `most` is negative or there is no context.

    Examples
    --------
    >>> total, experts = best_by_switches(np.array([[3.0, 0.0], [0.0, 2.0], [1.0, 0.0]]), 2)
    >>> total.tolist(), experts.tolist()
    ([4.0, 5.0, 6.0], [[0, 0, 0], [0, 1, 1], [0, 1, 0]])
    """
    length, p = gain.shape
    if most < 0 or not gain.size:
        raise ParameterError(f"need switches >= 0 and a context; got {most} and a table of shape {gain.shape}")
    value = np.full((most + 1, p), -np.inf)  # of the first contexts, with exactly s switches, ending at j
    value[0] = gain[0]
    came = np.zeros((length, most + 1, p), dtype=np.int64)
    for k in range(1, length):
        came[k] = np.arange(p)
        following = value.copy()
        for s in range(1, most + 1):
            other, second = _two_best(value[s - 1])
            from_other = np.where(
                np.arange(p) == other, value[s - 1][second] if p > 1 else -np.inf, value[s - 1][other]
            )
            switch = from_other > following[s]
            came[k, s] = np.where(switch, np.where(np.arange(p) == other, second, other), np.arange(p))
            following[s] = np.where(switch, from_other, following[s])
        value = following + gain[k]
    total, experts = np.empty(most + 1), np.empty((most + 1, length), dtype=np.int64)
    for s in range(most + 1):
        used = int(value[: s + 1].max(axis=1).argmax())
        j = int(value[used].argmax())
        total[s] = value[used, j]
        for k in range(length - 1, -1, -1):
            experts[s, k] = j
            before = int(came[k, used, j])
            used, j = (used, j) if before == j or k == 0 else (used - 1, before)
    return total, experts


def _two_best(row: NDArray[np.float64]) -> tuple[int, int]:
    """Places of the largest and the second largest, the first on ties."""
    best = int(row.argmax())
    rest = row.copy()
    rest[best] = -np.inf
    return best, int(rest.argmax())


def expert_complexities(
    r: ArrayLike | None, n_contexts: int, n_experts: int, n_labels: int, n_records: int
) -> NDArray[np.float64]:
    """r of each parameter: those of the experts, or by default sqrt(2 log(p |Y|) / m) for all.

    Examples
    --------
    >>> expert_complexities(None, 1, 5, 26, 200).round(4).tolist()
    [0.2206, 0.2206, 0.2206, 0.2206, 0.2206]
    """
    if r is None:
        return np.full(n_contexts * n_experts, massart(n_experts * n_labels, n_records))
    try:
        of_experts = np.asarray(r, dtype=np.float64)
    except (TypeError, ValueError):
        of_experts = np.zeros(0)  # refused below
    if of_experts.shape != (n_experts,) or not (np.isfinite(of_experts) & (of_experts >= 0)).all():
        raise ParameterError(f"complexity must give one finite number >= 0 for each of {n_experts} experts; got {r!r}")
    return np.tile(of_experts, n_contexts)
