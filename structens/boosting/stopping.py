"""How many rounds: the smoothed rule of Kegl (ICML 2014), equation 15, and the online rule of MultiBoost."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.core import DataError, ParameterError


def smoothed_curve(errors: ArrayLike, *, kegl_exact: bool = False) -> NDArray[np.float64]:
    """Errors, each averaged with those of the last fifth of the rounds before it.

    Parameters
    ----------
    errors : array_like of float, shape (T,)
        Validation error after 1, 2, ..., T rounds.
    kegl_exact : bool
        As printed in the paper: the sum from floor(.8 t) to t, divided by t - floor(.8 t), one less than it has terms.
        Default is the mean.

    Returns
    -------
    ndarray of float64, shape (T,)

    Raises
    ------
    DataError
        If errors is empty, not flat, or not finite.

    References
    ----------
    Kegl, "The return of AdaBoost.MH: multi-class Hamming trees" (ICML 2014), equation 15.

    Examples
    --------
    >>> smoothed_curve([0.5, 0.25, 0.125, 0.0625, 0.0625, 0.0]).tolist()
    [0.5, 0.375, 0.1875, 0.09375, 0.0625, 0.041666666666666664]
    """
    error = np.asarray(errors, dtype=np.float64)
    if error.ndim != 1 or len(error) == 0 or not np.isfinite(error).all():
        raise DataError(f"errors must be one finite number a round, at least one; got an array of shape {error.shape}")
    t = np.arange(1, len(error) + 1)
    begin = (8 * t) // 10  # floor(.8 t) without rounding
    total = np.concatenate([[0.0], np.cumsum(error)])
    summed = total[t] - total[np.maximum(begin, 1) - 1]
    out: NDArray[np.float64] = summed / np.maximum(t - begin, 1)
    return out if kegl_exact else summed / (t - np.maximum(begin, 1) + 1)


def smoothed_minimum(errors: ArrayLike, *, min_rounds: int = 50, kegl_exact: bool = False) -> int:
    """Number of rounds T* with the least smoothed error; the first of equals.

    Parameters
    ----------
    errors : array_like of float, shape (T,)
        Validation error after 1, 2, ..., T rounds.
    min_rounds : int
        T* is larger than this, where there are more rounds.
    kegl_exact : bool
        As in `smoothed_curve`.

    Returns
    -------
    int
        From 1 to T.

    Raises
    ------
    ParameterError
        If min_rounds is negative.
    DataError
        As in `smoothed_curve`.

    References
    ----------
    Kegl (ICML 2014), equation 15; T_min = 50 there.

    Examples
    --------
    >>> errors = [.9] * 5 + [.5] * 5 + [.2, .3, .2, .1, .2, .2, .3, .2, .2, .4]
    >>> smoothed_minimum(errors, min_rounds=5), smoothed_minimum(errors, min_rounds=5, kegl_exact=True)
    (14, 16)
    """
    if min_rounds < 0:
        raise ParameterError(f"min_rounds must be >= 0; got {min_rounds}")
    curve = smoothed_curve(errors, kegl_exact=kegl_exact)
    begin = min(min_rounds, len(curve) - 1)
    # sums in floating point: what is equal up to rounding is equal
    late = curve[begin:]
    return begin + 1 + int(np.argmax(late <= late.min() + 1e-12))


def rounds_without_error(n_rows: int, n_classes: int, edge: float) -> int:
    """Rounds after which single-label AdaBoost.MH makes no training error, if no round has a smaller edge.

    From the bound on the error, the product of all Z = sqrt(1 - edge^2) <= exp(-edge^2 / 2), and the least weight of a
    label, 1 / (2 n (K - 1)). It holds for plain votes (learning rate 1) and the weights "sharepoints".

    Parameters
    ----------
    n_rows, n_classes : int
        n, and K >= 2.
    edge : float
        Over 0, up to 1.

    Raises
    ------
    ParameterError
        If one is out of its range.

    References
    ----------
    Kegl, "The return of AdaBoost.MH: multi-class Hamming trees" (ICML 2014), section 2.

    Examples
    --------
    >>> rounds_without_error(100, 10, 0.1)
    1501
    """
    if n_rows < 1 or n_classes < 2 or not 0 < edge <= 1:
        raise ParameterError(
            f"this needs a row, two classes and an edge over 0 and up to 1; got {n_rows}, {n_classes}, {edge}"
        )
    return math.ceil(2.0 * math.log(2.0 * n_rows * (n_classes - 1)) / edge**2) + 1


class OnlineStopping:
    """Stop when the smoothed error has not improved for long: MultiBoost's ``--earlystopping``.

    In round t, counted from 0 as there, the last (smoothing * t + 1) errors are averaged. From ``t > min_rounds`` on
    their least average so far is remembered; learning stops when t is over `lookahead` times the round that had it.

    Parameters
    ----------
    min_rounds : int
    smoothing : float
        Share of the rounds so far that are averaged, from 0 to 1.
    lookahead : float
        At least 1.

    Attributes
    ----------
    best_rounds : int
        Number of rounds with the least average so far; 0 before there is one.
    best_error : float
        That average; infinite before there is one.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.

    Examples
    --------
    >>> rule = OnlineStopping(min_rounds=1, smoothing=0.0, lookahead=1.5)
    >>> [rule.update(error) for error in (0.5, 0.4, 0.3, 0.2, 0.3, 0.3)]
    [False, False, False, False, False, True]
    >>> rule.best_rounds, rule.best_error
    (4, 0.2)
    """

    def __init__(self, min_rounds: int = 50, smoothing: float = 0.2, lookahead: float = 1.5) -> None:
        if min_rounds < 0:
            raise ParameterError(f"min_rounds must be >= 0; got {min_rounds}")
        if not 0 <= smoothing <= 1:
            raise ParameterError(f"smoothing must be from 0 to 1; got {smoothing}")
        if not lookahead >= 1:
            raise ParameterError(f"lookahead must be >= 1; got {lookahead}")
        self.min_rounds, self.smoothing, self.lookahead = min_rounds, smoothing, lookahead
        self.best_rounds, self.best_error = 0, float("inf")
        self._window: deque[float] = deque()
        self._round = -1

    def update(self, error: float) -> bool:
        """Take the error of the next round; true when learning should stop after it."""
        self._round += 1
        t = self._round
        self._window.append(float(error))
        while len(self._window) > self.smoothing * t + 1:
            self._window.popleft()
        if t <= self.min_rounds:
            return False
        mean = sum(self._window) / len(self._window)
        if mean < self.best_error:
            self.best_error, self.best_rounds = mean, t + 1
        return t > self.lookahead * (self.best_rounds - 1)
