"""Deep ESPBoost: boosting with a price on the complexity of path experts.

Deep Boosting of Cortes, Mohri and Syed (ICML 2014) with the cells of ESPBoost for examples and its margins for y h(x):

    minimise  1/n sum_cells Phi(1 - sum_j alpha_j rho_j)  +  sum_j Lambda_j alpha_j,   alpha >= 0,

Phi(u) = exp(u) or log2(1 + exp(u)); alpha is not negative since the opposite of a path expert is none. With
S = sum Phi'(1 - f), D = Phi'(1 - f) / S and c = Lambda n / S, a path expert is worth taking up where its edge
W+ - W- exceeds c: this takes the place of ESPBoost's stop at edge 0. The step is a soft threshold, the solution of
W- u^2 + c u - W+ = 0 in u = exp(step), and where that would take the coefficient below zero it is cancelled.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from structens.boosting.esp_boost import TOLERANCE, Boosted, Ledger, masses_of
from structens.boosting.esp_complexity import Complexity
from structens.boosting.esp_slots import PathExperts
from structens.boosting.ranges import check_whole
from structens.core import ParameterError

SURROGATES = ("exp", "logistic")
MOST_KEPT = 2**24
"""Margins of paths in use that are kept, in numbers."""


def deep_boost_paths(
    paths: PathExperts, complexity: Complexity, n_rounds: int = 100, *, surrogate: str = "exp"
) -> Boosted:
    """Boost path experts under a penalty.

    Parameters
    ----------
    paths : PathExperts
    complexity : Complexity
        `AdditiveComplexity` or `SwitchComplexity`.
    n_rounds : int
        Most steps.
    surrogate : {"exp", "logistic"}
        Phi. The logistic loss goes on where slots that no path expert gets right stop the exponential one.

    Returns
    -------
    Boosted
        Its `z` is the factor by which S fell; `stopped` "converged" where no step is worth its penalty.

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> from structens.boosting.esp_complexity import AdditiveComplexity
    >>> from structens.boosting.esp_slots import SlotPaths
    >>> paths = SlotPaths([[1, -1], [1, -1], [1, -1], [-1, 1]], [0, 0, 0, 0])
    >>> for lambda_n_over_s in (0.0, 0.1, 0.4, 0.6):
    ...     made = deep_boost_paths(paths, AdditiveComplexity(np.zeros(2), 0.0, lambda_n_over_s * math.e), 1)
    ...     print(made.step.round(6).tolist())
    [0.549306]
    [0.434091]
    [0.102447]
    []
    """
    if surrogate not in SURROGATES:
        raise ParameterError(f"surrogate must be one of {', '.join(SURROGATES)}; got {surrogate!r}")
    check_whole("n_rounds", n_rounds, 1)
    game = _Game(paths, complexity, surrogate)
    stopped = "rounds"
    for _ in range(n_rounds):
        if not game.play():
            stopped = "converged" if game.ledger.rows else "weak"
            break
    return game.ledger.closed(stopped, game.fallback)


def objective(paths: PathExperts, complexity: Complexity, made: Boosted, surrogate: str = "exp") -> float:
    """What Deep ESPBoost minimises, at the coefficients of a result.

    Examples
    --------
    >>> from structens.boosting.esp_complexity import AdditiveComplexity
    >>> from structens.boosting.esp_slots import SlotPaths
    >>> paths, price = SlotPaths([[1], [1], [-1]], [0, 0, 0]), AdditiveComplexity(np.zeros(1), 0.0, 0.1)
    >>> [round(objective(paths, price, deep_boost_paths(paths, price, t)), 4) for t in (1, 2)]
    [2.5955, 2.5955]
    """
    f, price = np.zeros(len(paths.weight)), 0.0
    for path, a in zip(made.paths, made.alpha, strict=True):
        f += a * paths.margin(path)
        price += a * complexity.penalty(path)
    phi = np.exp(1.0 - f) if surrogate == "exp" else np.logaddexp(0.0, 1.0 - f) / math.log(2.0)
    return float(paths.weight @ phi + price)


def deep_step(right: float, wrong: float, alpha: float, penalty: float) -> float:
    """The step of one coefficient; `penalty` is Lambda n / S.

    Parameters
    ----------
    right, wrong : float
        W+ and W- of the path under D; `wrong` > 0.
    alpha : float
        The coefficient before the step, >= 0.
    penalty : float

    Examples
    --------
    >>> [round(deep_step(0.75, 0.25, 0.0, c), 6) for c in (0, 0.1, 0.4, 0.6)]
    [0.549306, 0.434091, 0.102447, 0.0]
    >>> deep_step(0.55, 0.45, 0.05, 0.2)
    -0.05
    """
    if right * math.exp(alpha) - wrong * math.exp(-alpha) <= penalty:
        return -alpha if alpha > 0.0 else 0.0
    c = penalty / (2.0 * wrong)
    root = math.sqrt(c * c + right / wrong)
    return math.log((right / wrong) / (root + c))  # -c + root, without cancellation


class _Game:
    """The state between steps."""

    def __init__(self, paths: PathExperts, complexity: Complexity, surrogate: str) -> None:
        self.paths, self.complexity, self.surrogate = paths, complexity, surrogate
        self.f = np.zeros(len(paths.weight))
        self.log_weight = np.log(paths.weight)
        self.ledger = Ledger()
        self.alpha: list[float] = []
        self.penalties: list[float] = []
        self.table = np.zeros((0, 0), dtype=np.int64)  # paths of the ledger by rows, filled up with -1
        self.kept: dict[int, NDArray[np.float64]] = {}
        self.log_s, self.d = self._distribution()
        self.fallback = np.zeros(0, dtype=np.int64)

    def _distribution(self) -> tuple[float, NDArray[np.float64]]:
        """log(S / n), and D."""
        u = 1.0 - self.f
        log_slope = u if self.surrogate == "exp" else -np.logaddexp(0.0, -u) - math.log(math.log(2.0))
        log_mass = self.log_weight + log_slope
        top = float(log_mass.max())
        mass = np.exp(log_mass - top)
        total = float(mass.sum())
        return top + math.log(total), mass / total

    def play(self) -> bool:
        """One step; False where none is worth its penalty."""
        paths, scale = self.paths, math.exp(-self.log_s)
        plus, minus = paths.masses(self.d)
        best = self.complexity.best(paths, plus - minus, plus + minus, scale)
        if not len(self.fallback):
            self.fallback = best
        j = self._steepest_old(plus - minus, scale)
        rho = paths.margin(best)
        right, wrong = masses_of(rho, self.d)
        new = right - wrong - scale * self.complexity.penalty(best)
        number = self.ledger.find(best)
        if number is not None and self.alpha[number] > 0.0:
            new = -math.inf  # among the old ones
        if j is not None and abs(j[1]) >= new:
            number, best = j[0], self.ledger.paths[j[0]]
            rho = self._margin(number)
            right, wrong = masses_of(rho, self.d)
        elif new <= 2.0 * TOLERANCE:
            return False
        return self._step(best, number, rho, right, wrong, scale)

    def _steepest_old(self, gain: NDArray[np.float64], scale: float) -> tuple[int, float] | None:
        """The path in use whose coefficient is most worth changing, and twice |d_j| with its sign."""
        used = np.flatnonzero(np.array(self.alpha) > 0.0)
        if not len(used):
            return None
        if self.paths.is_additive:
            edge = np.append(gain, 0.0)[self.table[used]].sum(axis=1)
        else:
            edge = np.array([np.subtract(*masses_of(self._margin(j), self.d)) for j in used.tolist()])
        value = edge - scale * np.array(self.penalties)[used]
        j = int(np.abs(value).argmax())
        return (int(used[j]), float(value[j])) if abs(value[j]) > 1e-9 else None

    def _write_down(self, path: NDArray[np.int64]) -> None:
        """Another row of the table."""
        n, width = self.table.shape
        grown = np.full((n + 1, max(width, len(path))), -1, dtype=np.int64)
        grown[:n, :width], grown[n, : len(path)] = self.table, path
        self.table = grown

    def _margin(self, j: int) -> NDArray[np.float64]:
        """Margins of a path in use, kept where they are few."""
        if j in self.kept:
            return self.kept[j]
        rho = self.paths.margin(self.ledger.paths[j])
        if len(rho) * (len(self.kept) + 1) <= MOST_KEPT:
            self.kept[j] = rho
        return rho

    def _step(
        self,
        path: NDArray[np.int64],
        number: int | None,
        rho: NDArray[np.float64],
        right: float,
        wrong: float,
        scale: float,
    ) -> bool:
        alpha = 0.0 if number is None else self.alpha[number]
        edge, penalty = right - wrong, self.complexity.penalty(path)
        if not self.paths.is_discrete:  # exp(-a rho) lies under its chord from -1 to 1
            right, wrong = 0.5 * (1.0 + edge), 0.5 * (1.0 - edge)
        least = min(0.5 / self.paths.n, 0.25 * right) if right > 0 else 0.5 / self.paths.n
        step = deep_step(right, max(wrong, least), alpha, scale * penalty)
        if abs(step) <= TOLERANCE:
            return False
        before = self.log_s
        self.f += step * rho
        self.log_s, self.d = self._distribution()
        j = self.ledger.enter(path, step, edge, wrong, math.exp(self.log_s - before))
        if j == len(self.alpha):
            self._write_down(path)
            self.alpha.append(0.0)
            self.penalties.append(penalty)
        self.alpha[j] = max(alpha + step, 0.0) if alpha + step > TOLERANCE else 0.0
        return True
