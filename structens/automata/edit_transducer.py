"""The Levenshtein transducer: what it costs to turn a string into another, with costs given as data.

Source: Mohri, "Edit-distance of weighted automata: general definitions and algorithms" (2003).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata.transducer import Transducer
from structens.core import EPSILON, DataError, ParameterError


class EditCosts(NamedTuple):
    """Costs of edits: one number, or one for each label (pair of labels).

    Attributes
    ----------
    substitution : float or array_like, shape (n_labels, n_labels)
        Row the label read, column the label written; a number is for two different labels, equal ones are free. The
        diagonal of a matrix is the cost of a match.
    insertion : float or array_like, shape (n_labels,)
        Of a label written.
    deletion : float or array_like, shape (n_labels,)
        Of a label read.
    """

    substitution: ArrayLike = 1.0
    insertion: ArrayLike = 1.0
    deletion: ArrayLike = 1.0


UNIT = EditCosts()
"""Levenshtein's costs."""


def edit_transducer(n_labels: int, y: ArrayLike | None = None, costs: EditCosts = UNIT) -> Transducer:
    """The Levenshtein transducer over labels 0 to n_labels - 1, composed with a string if one is given.

    Without a string it has one state and reads nothing in a loop (an insertion), so that it cannot be composed with an
    automaton; with a string of m labels it has m + 1 states and can.

    Parameters
    ----------
    n_labels : int
    y : array_like of int, or None
    costs : EditCosts

    Raises
    ------
    DataError
        If costs do not fit, or a label of the string is none of them.
    ParameterError
        If there is no label.

    Examples
    --------
    >>> edit_transducer(2).n_transitions, edit_transducer(2, [0, 1, 1]).n_transitions
    (8, 17)
    """
    if n_labels < 1:
        raise ParameterError(f"an edit transducer needs labels; got {n_labels}")
    labels = np.arange(n_labels, dtype=np.int32)
    string = labels if y is None else as_string(y)
    if string.max(initial=0) >= n_labels:
        raise DataError(f"label {string.max()} of the string is none of {n_labels}")
    substitution, insertion, deletion = edit_tables(costs, labels, string)
    m = len(string)
    n_states, step = (1, 0) if y is None else (m + 1, 1)
    # By place in the string: substitutions, then insertions; and in every state the deletions.
    place = np.tile(np.arange(m), n_labels) * step, np.arange(m) * step, np.repeat(np.arange(n_states), n_labels)
    source = np.concatenate(place)
    target = source + np.repeat([step, 0], [m * (n_labels + 1), n_states * n_labels])
    read = np.repeat(labels, m), np.full(m, EPSILON), np.tile(labels, n_states)
    written = np.tile(string, n_labels), string, np.full(n_states * n_labels, EPSILON)
    weight = np.concatenate([substitution.T.ravel(), insertion, np.tile(deletion[:n_labels], n_states)])
    order = np.argsort(source, kind="stable")
    final = np.full(n_states, np.inf)
    final[-1] = 0.0
    return Transducer(
        offsets=np.concatenate([[0], np.cumsum(np.bincount(source, minlength=n_states))]),
        target=target[order].astype(np.int32),
        label=np.concatenate(read)[order].astype(np.int32),
        weight=weight[order],
        final_weight=final,
        output=np.concatenate(written)[order].astype(np.int32),
    )


def as_string(y: ArrayLike) -> NDArray[np.int32]:
    """A row of labels.

    Raises
    ------
    DataError
        If it is no row of whole numbers, or a label is negative or beyond 32 bits.

    Examples
    --------
    >>> as_string([2, 0]).tolist()
    [2, 0]
    """
    try:
        given = np.asarray(y)
    except ValueError:  # rows of unequal length
        given = np.array(None)
    fits = given.ndim == 1 and (given.dtype.kind in "iu" or not len(given))
    if not fits or given.min(initial=0) < 0 or given.max(initial=0) >= 2**31:
        raise DataError(f"a string is one row of labels, whole numbers >= 0 and below 2**31; got {y!r}")
    return given.astype(np.int32, copy=False)


def edit_tables(
    costs: EditCosts, labels: NDArray[np.int32], string: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Substitution at place j of label a, insertion at place j, deletion of label a; that of EPSILON (-1) is free.

    Raises
    ------
    DataError
        If costs do not fit the labels, or one is NaN.

    Examples
    --------
    >>> substitution, _, deletion = edit_tables(UNIT, np.array([0, 1], np.int32), np.array([1], np.int32))
    >>> substitution.tolist(), deletion.tolist()
    ([[1.0, 0.0]], [1.0, 1.0, 0.0])
    """
    lowest, n_labels = int(labels.min(initial=0)), 1 + int(labels.max(initial=-1))
    try:
        substitution, insertion, deletion = (np.asarray(cost, dtype=np.float64) for cost in costs)
    except (TypeError, ValueError):
        raise DataError("costs of edits are numbers, or arrays of them", hint=f"got {costs!r}") from None
    fits = (substitution.ndim in (0, 2) and insertion.ndim in (0, 1) and deletion.ndim in (0, 1)) and not (
        np.isnan(substitution).any() or np.isnan(insertion).any() or np.isnan(deletion).any()
    )
    lengths = [(len(deletion), n_labels)] if deletion.ndim else []
    lengths += [(len(insertion), 1 + int(string.max(initial=-1)))] if insertion.ndim else []
    if substitution.ndim == 2:
        lengths += [(substitution.shape[0], n_labels), (substitution.shape[1], 1 + int(string.max(initial=-1)))]
    if not fits or lowest < EPSILON or any(given < needed for given, needed in lengths):
        rule = "a number, one for each label (insertion, deletion), or a matrix of label read and label written"
        raise DataError("costs of edits do not fit the labels, or one is NaN", hint=rule)
    if substitution.ndim == 0:
        table = np.where(np.arange(n_labels) == string[:, None], 0.0, substitution)
    else:
        table = substitution[:n_labels, string].T
    inserted = np.full(len(string), insertion) if insertion.ndim == 0 else insertion[string]
    deleted = np.full(n_labels, deletion) if deletion.ndim == 0 else deletion[:n_labels]
    return np.ascontiguousarray(table), np.ascontiguousarray(inserted), np.append(deleted, 0.0)
