"""ESPBoost: coordinate descent on an exponential bound of the Hamming loss, over path experts.

Cortes, Kuznetsov and Mohri, "Learning ensembles of structured prediction rules" (ACL 2014), section 4.2, algorithm 1:

    F(alpha) = 1/(ml) sum_i,k exp(-sum_j alpha_j rho(h_j^k, x_i, y_i)),  rho = 1 where h_j is right, else -1,

is at least the training loss of the vote of the path experts. Each round takes the path expert with the least weighted
error eps (a shortest path), alpha = 1/2 log((1 - eps) / eps), and D <- D exp(-alpha rho) / Z. Where answers may be
missing (rho = 0) or scores are real, W+ and W- are the sums of D times positive and negative margins, the path expert
is that with the largest W+ - W-, and alpha = 1/2 log(W+ / W-) or the minimum of Z by Newton's method.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from structens.boosting.esp_boost_kernels import newton_step
from structens.boosting.esp_slots import PathExperts
from structens.boosting.ranges import check_whole
from structens.core import ParameterError

STEPS = ("newton", "closed")
TOLERANCE = 1e-12
"""An edge W+ - W- below twice this is none, and so is an error below it."""


@dataclass(frozen=True, eq=False)
class Boosted:
    """Path experts with their coefficients, and how they came about.

    Parameters
    ----------
    paths : list of ndarray of int64
        The different paths chosen, in order of their first round; each an array of parameter numbers.
    alpha : ndarray of float64, shape (n_paths,)
        Coefficient of each; 0 for one that was cancelled.
    round_path : ndarray of int64, shape (T,)
        Number of the path of each round.
    step : ndarray of float64, shape (T,)
        What its coefficient rose by; below zero where it fell.
    edge : ndarray of float64, shape (T,)
        W+ - W- of the path in its round, 1 - 2 eps where all answers are there.
    epsilon : ndarray of float64, shape (T,)
        W-, the weighted error.
    z : ndarray of float64, shape (T,)
        What the loss fell by, as a factor.
    stopped : {"rounds", "weak", "perfect", "converged"}
        All rounds were played; no path expert is better than chance; one is right in all slots; or nothing is to be
        gained.
    fallback : ndarray of int64
        The best path under D_1, which answers where no round was played.

    Examples
    --------
    >>> from structens.boosting.esp_slots import SlotPaths
    >>> made = boost_paths(SlotPaths([[1, -1], [1, -1], [1, -1], [-1, 1]], [0, 0, 0, 0]), n_rounds=1)
    >>> made.alpha.round(6).tolist(), made.votes(2).round(6).tolist()
    ([0.549306], [0.549306, 0.0])
    """

    paths: list[NDArray[np.int64]]
    alpha: NDArray[np.float64]
    round_path: NDArray[np.int64]
    step: NDArray[np.float64]
    edge: NDArray[np.float64]
    epsilon: NDArray[np.float64]
    z: NDArray[np.float64]
    stopped: str
    fallback: NDArray[np.int64]

    @property
    def n_rounds(self) -> int:
        """Rounds played, T."""
        return len(self.step)

    @property
    def by_path(self) -> dict[tuple[int, ...], float]:
        """Coefficient of each path in use: the votes merged by path."""
        return {tuple(path.tolist()): float(a) for path, a in zip(self.paths, self.alpha, strict=True) if a > 0}

    def votes(self, n_parameters: int, *, n_rounds: int | None = None) -> NDArray[np.float64]:
        """Votes of the parameters, V: the sum of the coefficients of the paths through each; shape (n_parameters,).

        Parameters
        ----------
        n_parameters : int
        n_rounds : int, optional
            Only the first of the rounds. The fallback has one vote where there is none.
        """
        out = np.zeros(n_parameters)
        played = slice(0, n_rounds)
        alpha = np.bincount(self.round_path[played], weights=self.step[played], minlength=len(self.paths))
        for path, a in zip(self.paths, np.maximum(alpha, 0.0), strict=True):
            out[path] += a
        if not out.any():
            out[self.fallback] = 1.0
        return out

    def margins(self, paths: PathExperts, *, n_rounds: int | None = None) -> NDArray[np.float64]:
        """Sum of alpha rho over the sum of alpha, in each cell of the path experts that were boosted.

        The vote's own margin is no less: wrong answers of different path experts may differ.

        Parameters
        ----------
        paths : PathExperts
        n_rounds : int, optional
            Only the first of the rounds. The fallback has one vote where there is none.
        """
        played = slice(0, n_rounds)
        alpha = np.bincount(self.round_path[played], weights=self.step[played], minlength=len(self.paths))
        used = [(path, a) for path, a in zip(self.paths, alpha.tolist(), strict=True) if a > TOLERANCE]
        out, total = np.zeros(len(paths.weight)), 0.0
        for path, a in used or [(self.fallback, 1.0)]:
            out += a * paths.margin(path)
            total += a
        return out / total


def boost_paths(paths: PathExperts, n_rounds: int = 100, *, step: str = "newton") -> Boosted:
    """Boost path experts.

    Parameters
    ----------
    paths : PathExperts
        `SlotPaths`, `LabelPaths` or `AutomatonPaths`.
    n_rounds : int
        Most rounds to play.
    step : {"newton", "closed"}
        For real-valued margins: the step that minimises Z, or 1/2 log((1 + r) / (1 - r)) with r = W+ - W-, which
        minimises a bound on it. For margins -1, 0 and 1 the first is 1/2 log(W+ / W-).

    Returns
    -------
    Boosted
        The product of its `z` is F(alpha).

    Raises
    ------
    ParameterError

    Notes
    -----
    It stops, and throws the path away, where the best edge is at most 2e-12 (eps >= 1/2 - 1e-12). A path without an
    error gets the coefficient of one with 1/(2n) errors, n the number of slots. It ends the game where it is right in
    all slots; where it is silent in some, others go on with these.

    Examples
    --------
    >>> from structens.boosting.esp_slots import SlotPaths
    >>> made = boost_paths(SlotPaths([[1, -1], [-1, 1]], [0, 1]))
    >>> made.by_path, made.stopped
    ({(0, 3): 0.5493061443340549}, 'perfect')
    """
    if step not in STEPS:
        raise ParameterError(f"step must be one of {', '.join(STEPS)}; got {step!r}")
    check_whole("n_rounds", n_rounds, 1)
    ledger = Ledger()
    log_d, stopped, fallback = np.log(paths.weight), "rounds", None
    for _ in range(n_rounds):
        d = np.exp(log_d)
        plus, minus = paths.masses(d)
        path = paths.best(plus - minus, plus + minus)
        fallback = path if fallback is None else fallback
        rho = paths.margin(path)
        right, wrong = masses_of(rho, d)
        if right - wrong <= 2.0 * TOLERANCE:
            stopped = "weak"
            break
        alpha = step_of(paths, rho, d, step)
        z = float((d * np.exp(-alpha * rho)).sum())
        log_d -= alpha * rho + math.log(z)
        ledger.enter(path, alpha, right - wrong, wrong, z)
        if float(d[rho <= 0.0].sum()) <= TOLERANCE:  # right everywhere, and silent nowhere
            stopped = "perfect"
            break
    return ledger.closed(stopped, np.zeros(0, np.int64) if fallback is None else fallback)


def step_of(paths: PathExperts, rho: NDArray[np.float64], d: NDArray[np.float64], step: str) -> float:
    """The coefficient of a path expert with these margins under D.

    Examples
    --------
    >>> from structens.boosting.esp_slots import SlotPaths
    >>> paths = SlotPaths([[1, -1], [1, -1], [1, -1], [-1, 1]], [0, 0, 0, 0])
    >>> round(step_of(paths, paths.margin(paths.path([0])), paths.weight, "newton"), 6)
    0.549306
    """
    right, wrong = masses_of(rho, d)
    least = min(0.5 / paths.n, 0.25 * right)  # the error of a path without errors; with one slot 1/2 would be chance
    silent = max(1.0 - right - wrong, 0.0)
    highest = 0.5 * math.log((1.0 - silent - least) / least) if paths.is_discrete else 0.5 * math.log(1.0 / least - 1.0)
    if step == "closed":
        r = right - wrong
        return min(0.5 * math.log1p(2.0 * r / max(1.0 - r, 2.0 * least)), highest)
    if not paths.is_discrete:
        return newton_step(rho, d, highest)
    return highest if wrong <= TOLERANCE else 0.5 * math.log(right / wrong)


def masses_of(rho: NDArray[np.float64], d: NDArray[np.float64]) -> tuple[float, float]:
    """W+ and W-: the sums of D times positive, and times negative margins.

    Examples
    --------
    >>> masses_of(np.array([1.0, -1.0, 0.0]), np.array([0.5, 0.25, 0.25]))
    (0.5, 0.25)
    """
    signed = d * rho  # no d @ rho: threads of BLAS would wait longer than they work
    return float(np.maximum(signed, 0.0).sum()), float(np.maximum(-signed, 0.0).sum())


def log_exponential_loss(paths: PathExperts, made: Boosted) -> float:
    """Logarithm of F(alpha), the mean of exp(-sum alpha rho) over slots weighted by D_1.

    Examples
    --------
    >>> from structens.boosting.esp_slots import SlotPaths
    >>> paths = SlotPaths([[1, -1], [1, -1], [1, -1], [-1, 1]], [0, 0, 0, 0])
    >>> made = boost_paths(paths, n_rounds=1)
    >>> round(log_exponential_loss(paths, made), 6), round(math.log(made.z.prod()), 6)
    (-0.143841, -0.143841)
    """
    exponent = np.log(paths.weight)
    for path, a in zip(made.paths, made.alpha, strict=True):
        if a > 0:
            exponent = exponent - a * paths.margin(path)
    top = float(exponent.max())
    return top + math.log(float(np.exp(exponent - top).sum()))


class Ledger:
    """The rounds as they are played, paths merged.

    Examples
    --------
    >>> ledger = Ledger()
    >>> for a in (0.5, 0.25):
    ...     number = ledger.enter(np.array([0, 3]), a, 0.5, 0.25, 0.9)
    >>> ledger.closed("rounds", np.array([0, 3])).by_path
    {(0, 3): 0.75}
    """

    def __init__(self) -> None:
        self.number: dict[bytes, int] = {}
        self.paths: list[NDArray[np.int64]] = []
        self.rows: list[tuple[int, float, float, float, float]] = []

    def find(self, path: NDArray[np.int64]) -> int | None:
        """Number of the path, if it was chosen before."""
        return self.number.get(path.tobytes())

    def enter(self, path: NDArray[np.int64], step: float, edge: float, epsilon: float, z: float) -> int:
        """Add a round; returns the number of its path."""
        j = self.number.setdefault(path.tobytes(), len(self.paths))
        if j == len(self.paths):
            self.paths.append(path)
        self.rows.append((j, step, edge, epsilon, z))
        return j

    def closed(self, stopped: str, fallback: NDArray[np.int64]) -> Boosted:
        """The result."""
        table = np.array(self.rows, dtype=np.float64).reshape(-1, 5)
        which, step = table[:, 0].astype(np.int64), table[:, 1].copy()
        alpha = np.bincount(which, weights=step, minlength=len(self.paths)).astype(np.float64)
        alpha[alpha < TOLERANCE] = 0.0  # cancelled
        return Boosted(
            paths=self.paths,
            alpha=alpha,
            round_path=which,
            step=step,
            edge=table[:, 2].copy(),
            epsilon=table[:, 3].copy(),
            z=table[:, 4].copy(),
            stopped=stopped,
            fallback=fallback,
        )
