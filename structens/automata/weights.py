"""Checks that a weight vector fits its automaton and semiring; every verb of this package begins here."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata.semiring import Semiring
from structens.core import Automaton, DataError, ParameterError


def as_weights(
    automaton: Automaton,
    weight: ArrayLike,
    final_weight: ArrayLike | None = None,
    semiring: Semiring = Semiring.LOG,
    *,
    non_negative: bool = False,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Transition and final weights as float64, the second with the semiring's zero at states that are not final.

    Parameters
    ----------
    automaton : Automaton
    weight : array_like, shape (n_transitions,)
        Costs (LOG, TROPICAL) or real numbers (REAL).
    final_weight : array_like, shape (n_states,), or None
        None is the semiring's one at every final state; values at states that are not final are not looked at.
    semiring : Semiring
    non_negative : bool
        Also refuse negative weights of REAL, for algorithms that need a distribution.

    Returns
    -------
    weight, final_weight : ndarrays of float64
        The first may be the caller's own array; nobody writes to it.

    Raises
    ------
    DataError
        If a shape is wrong, or a weight is no number, NaN, minus infinity (a cost), infinite or negative (REAL).

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7)], final=[1])
    >>> as_weights(a, [0.5])
    (array([0.5]), array([inf,  0.]))
    """
    semiring = Semiring(semiring)
    checked = _vector(weight, automaton.n_transitions, "weight", "transition")
    refuse_weights(checked, semiring, "weight", "transition", non_negative)
    if final_weight is None:
        return checked, np.where(automaton.is_final, semiring.one, semiring.zero)
    final = np.where(
        automaton.is_final, _vector(final_weight, automaton.n_states, "final weight", "state"), semiring.zero
    )
    refuse_weights(final, semiring, "final weight", "state", non_negative)
    return checked, final


def as_semiring(semiring: Semiring, allowed: tuple[Semiring, ...], verb: str, reason: str) -> Semiring:
    """The semiring, if the verb can work in it.

    Raises
    ------
    ParameterError
        If it cannot.

    Examples
    --------
    >>> as_semiring(Semiring.LOG, (Semiring.TROPICAL,), "shortest_path", "no path is the best one")
    Traceback (most recent call last):
    structens.core.errors.ParameterError: shortest_path needs Semiring.TROPICAL, not LOG: no path is the best one
    """
    semiring = Semiring(semiring)
    if semiring not in allowed:
        names = " or ".join(f"Semiring.{one.name}" for one in allowed)
        raise ParameterError(f"{verb} needs {names}, not {semiring.name}: {reason}")
    return semiring


def is_count(value: object, least: int) -> bool:
    """True for a whole number from `least` on that an array can be as long as.

    Examples
    --------
    >>> is_count(2, 1), is_count(1.5, 1), is_count(True, 1), is_count(0, 1)
    (True, False, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) < 2**31


def refuse_weights(
    values: NDArray[np.float64], semiring: Semiring, name: str, item: str, non_negative: bool = False
) -> None:
    """Refuse what is no weight: NaN, a cost of minus infinity, an infinite (or negative) real weight.

    Raises
    ------
    DataError
        Names the first of them.

    Examples
    --------
    >>> refuse_weights(np.array([0.0, -1.0]), Semiring.REAL, "weight", "transition")
    >>> refuse_weights(np.array([0.0, -1.0]), Semiring.REAL, "weight", "transition", True)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    structens.core.errors.DataError: weight -1.0 of transition 1 cannot be used; a probability needs weights >= 0; ...
    """
    # Two passes at most: a minimum or maximum that is NaN, too, fails the comparison.
    if not len(values):
        return
    low: Any = values.min()
    if semiring is not Semiring.REAL:
        if not low > -np.inf:
            _complain(values, ~(values > -np.inf), name, item, "a cost is a number or +inf (no such transition)")
    elif not (values.max() < np.inf and low > -np.inf):
        _complain(values, ~np.isfinite(values), name, item, "a real weight is finite; use LOG for larger ones")
    elif non_negative and low < 0:
        _complain(values, values < 0, name, item, "a probability needs weights >= 0; costs go with Semiring.LOG")


def _vector(values: ArrayLike, size: int, name: str, item: str) -> NDArray[np.float64]:
    try:
        vector: NDArray[np.float64] = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be one number a {item}; got {values!r}") from None
    if vector.shape != (size,):
        raise DataError(f"{name} has shape {vector.shape}, the automaton needs one number a {item}: ({size},)")
    return vector


def _complain(values: NDArray[np.float64], bad: NDArray[np.bool_], name: str, item: str, rule: str) -> None:
    place = int(np.flatnonzero(bad)[0])
    raise DataError(f"{name} {values[place]} of {item} {place} cannot be used", hint=rule)
