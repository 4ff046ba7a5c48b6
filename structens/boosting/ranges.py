"""Whole numbers and numbers among parameters: refused by name, where Python would stumble over them later."""

from __future__ import annotations

from numbers import Integral, Real

from structens.core import ParameterError


def check_whole(name: str, value: object, least: int, what: str = "a whole number") -> None:
    """Refuse what is no whole number, or less than `least`.

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> check_whole("n_rounds", 2.5, 1)
    Traceback (most recent call last):
    structens.core.errors.ParameterError: n_rounds must be a whole number >= 1; got 2.5
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ParameterError(f"{name} must be {what} >= {least}; got {value!r}")


def within(value: object, low: float, high: float, *, open_low: bool = False) -> bool:
    """True for a number in this range; never for NaN, or what is no number.

    Examples
    --------
    >>> within(0.5, 0, 1), within("a", 0, 1), within(float("nan"), 0, 1), within(0, 0, 1, open_low=True)
    (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return low <= float(value) <= high and not (open_low and float(value) == low)
