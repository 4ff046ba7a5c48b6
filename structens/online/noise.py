"""Noise of Follow the Perturbed Leader, in the four shapes that the papers and their tables allow.

"laplace"  density proportional to exp(-epsilon |q|): the text of Cortes, Kuznetsov and Mohri (ICML 2014, algorithm 3)
"exp_add"  density epsilon exp(-epsilon q), q >= 0, added to the losses: the closest to the published ADS1
"exp_sub"  the same subtracted, as in the theory of Kalai and Vempala (2005), FPL*
"uniform"  on [0, 1/epsilon], added: Kalai and Vempala's FPL(epsilon)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.core import ParameterError
from structens.online.draws import record_keys, uniforms

NOISES = ("exp_add", "laplace", "exp_sub", "uniform")


def noise_of(noise: str, epsilon: float, u: NDArray[np.float64]) -> NDArray[np.float64]:
    """Noise from numbers uniform in [0, 1), by the inverse of its distribution function.

    Parameters
    ----------
    noise : {"exp_add", "laplace", "exp_sub", "uniform"}
    epsilon : float
        Larger than 0; the scale of the noise is 1/epsilon. Infinity means none.
    u : ndarray of float64

    Returns
    -------
    ndarray of float64
        To be added to losses, of the shape of `u`.

    Raises
    ------
    ParameterError
        If there is no such noise, or epsilon is not larger than 0.

    Examples
    --------
    >>> u = np.array([0.25, 0.5, 0.75])
    >>> for noise in NOISES:
    ...     print(noise, noise_of(noise, 0.5, u).round(4).tolist())
    exp_add [0.5754, 1.3863, 2.7726]
    laplace [-1.3863, -0.0, 1.3863]
    exp_sub [-0.5754, -1.3863, -2.7726]
    uniform [0.5, 1.0, 1.5]
    """
    if noise not in NOISES:
        raise ParameterError(f"noise must be one of {', '.join(NOISES)}; got {noise!r}")
    if not epsilon > 0:
        raise ParameterError(f"epsilon must be a number > 0; got {epsilon!r}; its inverse is the scale of the noise")
    scale = 1.0 / epsilon
    if noise == "uniform":
        return scale * u
    if noise == "laplace":
        side = 2.0 * u - 1.0
        # |side| is 1 for u = 0 only, which moves to the next number
        tail = np.maximum(1.0 - np.abs(side), 2.0**-53)
        return -scale * np.sign(side) * np.log(tail)
    exponential = -scale * np.log1p(-u)
    return exponential if noise == "exp_add" else -exponential


class Perturbation(NamedTuple):
    """The noise of a run; that of a round depends on the seed, the round's number and the parameter only.

    Parameters
    ----------
    epsilon : float
    noise : str
    seed : int
    ids : ndarray of int64, shape (n_parameters,), or None
        What a parameter is called in its draws, so that they need not depend on how parameters are numbered.

    Examples
    --------
    >>> q = Perturbation(0.5, "uniform", seed=1)
    >>> q.of_rounds([0, 1], np.arange(3)).shape, bool((q.of_rounds([1], np.arange(3)) <= 2).all())
    ((2, 3), True)
    """

    epsilon: float
    noise: str = "exp_add"
    seed: int = 0
    ids: NDArray[np.int64] | None = None

    def lots(self, rounds: Iterable[int], parameter: NDArray[Any]) -> NDArray[np.float64]:
        """Numbers in [0, 1) from which the noise is made, rows rounds; `parameter` broadcasts against them."""
        return uniforms(record_keys(rounds, self.seed)[:, None], self.names(parameter))

    def of_rounds(self, rounds: Iterable[int], parameter: NDArray[Any]) -> NDArray[np.float64]:
        """Noise of each parameter in each round."""
        return noise_of(self.noise, self.epsilon, self.lots(rounds, parameter))

    def names(self, parameter: NDArray[Any]) -> NDArray[np.int64]:
        """Counters of the draws of these parameters."""
        return parameter.astype(np.int64) if self.ids is None else self.ids[parameter]


def printed_epsilon(n_experts: int, length: float) -> float:
    """Epsilon of the experiments of ICML 2014: 0.5 / (p l).

    Examples
    --------
    >>> printed_epsilon(5, 10), 1 / printed_epsilon(5, 10)
    (0.01, 100.0)
    """
    return 0.5 / (n_experts * length)


def tuned_epsilon(n_rounds: int, largest_path: float, largest_sum: float, diameter: float) -> float:
    """Epsilon that minimises the bound of FPL(epsilon): sqrt(D / (R A T)) (Kalai and Vempala 2005, theorem 1.1).

    Parameters
    ----------
    n_rounds : int
        T.
    largest_path, largest_sum : float
        R, the largest loss of a path in a round, and A, the largest sum of the losses of all transitions.
    diameter : float
        D, the largest number of transitions in which two paths differ, both counted.

    Examples
    --------
    >>> round(tuned_epsilon(200, 10, 50, 20), 4)
    0.0141
    """
    return math.sqrt(diameter / (largest_path * largest_sum * n_rounds))
