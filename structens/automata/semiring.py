"""Semirings: what it means to join two paths (plus) and to go on along one (times).

A closed set, passed to kernels as an int code. Weights of `LOG` and `TROPICAL` are costs, minus the log of a
probability; those of `REAL` are the numbers themselves.

========  =====================  =======  =======  =====
semiring  plus                   times    zero     one
========  =====================  =======  =======  =====
LOG       -log(e^-a + e^-b)      a + b    +inf     0
TROPICAL  min(a, b)              a + b    +inf     0
REAL      a + b                  a b      0        1
========  =====================  =======  =======  =====

Source: Mohri, "Weighted automata algorithms" (Handbook of Weighted Automata, 2009), section 2.
"""

from __future__ import annotations

import math
from enum import IntEnum

from numba import njit


class Semiring(IntEnum):
    """The three semirings; the number is the code that kernels take.

    Examples
    --------
    >>> int(Semiring.LOG), Semiring.TROPICAL.has_path_property, Semiring.REAL.has_path_property
    (0, True, False)
    """

    LOG = 0
    TROPICAL = 1
    REAL = 2

    @property
    def has_path_property(self) -> bool:
        """True where ``plus(a, b)`` is always one of a and b, so that one path can be the best."""
        return self is Semiring.TROPICAL

    @property
    def zero(self) -> float:
        """Weight of a path that is not there."""
        return 0.0 if self is Semiring.REAL else math.inf

    @property
    def one(self) -> float:
        """Weight of the path without transitions."""
        return 1.0 if self is Semiring.REAL else 0.0


_LOG, _TROPICAL, _REAL = int(Semiring.LOG), int(Semiring.TROPICAL), int(Semiring.REAL)


@njit(cache=True)
def zero(semiring: int) -> float:
    """Neutral element of plus; takes the int code of the semiring.

    Examples
    --------
    >>> zero(int(Semiring.LOG)), zero(int(Semiring.REAL))
    (inf, 0.0)
    """
    return 0.0 if semiring == _REAL else math.inf


@njit(cache=True)
def one(semiring: int) -> float:
    """Neutral element of times.

    Examples
    --------
    >>> one(int(Semiring.TROPICAL)), one(int(Semiring.REAL))
    (0.0, 1.0)
    """
    return 1.0 if semiring == _REAL else 0.0


@njit(cache=True)
def plus(semiring: int, a: float, b: float) -> float:
    """Weight of two paths side by side; commutative to the last bit.

    Examples
    --------
    >>> plus(int(Semiring.TROPICAL), 3.0, 2.0), plus(int(Semiring.REAL), 3.0, 2.0)
    (2.0, 5.0)
    """
    if semiring == _REAL:
        return a + b
    low, high = min(a, b), max(a, b)
    if semiring == _TROPICAL or high == math.inf:
        return low
    return low - math.log1p(math.exp(low - high))


@njit(cache=True)
def times(semiring: int, a: float, b: float) -> float:
    """Weight of one path followed by the other.

    Examples
    --------
    >>> times(int(Semiring.LOG), 3.0, 2.0), times(int(Semiring.REAL), 3.0, 2.0)
    (5.0, 6.0)
    """
    return a * b if semiring == _REAL else a + b


@njit(cache=True)
def divide(semiring: int, a: float, b: float) -> float:
    """The x with ``times(x, b) == a``.

    Raises
    ------
    ZeroDivisionError
        If b is the zero of the semiring.

    Examples
    --------
    >>> divide(int(Semiring.LOG), 3.0, 2.0), divide(int(Semiring.REAL), 3.0, 2.0)
    (1.0, 1.5)
    """
    if b == zero(semiring):
        raise ZeroDivisionError("division by the zero of the semiring")
    return a / b if semiring == _REAL else a - b
