"""Path experts of aligned slots, as ESPBoost sees them: a choice of one expert for every context.

Slots that look the same to every path expert (same context, same margins of all experts) keep the same share of the
distribution D for ever, so they are one cell with the summed weight: the rounds cost no more than there are different
slots. Cortes, Kuznetsov and Mohri (ACL 2014), section 4; contexts are those of tied slots (the paper's are positions).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.boosting.esp_boost_kernels import label_margins, label_masses, slot_masses
from structens.core import DataError

TIE_TOLERANCE = 1e-12
"""Gains closer than this part of the mass behind them are a tie, which the first expert wins."""


class PathExperts(Protocol):
    """What ESPBoost needs to know of a set of path experts; a path is an array of parameter numbers.

    Attributes
    ----------
    weight : ndarray of float64, shape (n_cells,)
        D_1 of the cells, summing to one.
    n : float
        Number of slots that the cells stand for.
    is_additive : bool
        The masses of a path are the sums of those of its parameters.
    is_discrete : bool
        All margins are -1, 0 or 1.
    """

    weight: NDArray[np.float64]
    n: float
    is_additive: bool
    is_discrete: bool

    def masses(self, d: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums of D times right and D times wrong margins of each parameter, shape (n_parameters,)."""

    def best(self, gain: NDArray[np.float64], mass: NDArray[np.float64]) -> NDArray[np.int64]:
        """The path with the largest summed gain; gains within a tiny part of their mass are ties."""

    def margin(self, path: NDArray[np.int64]) -> NDArray[np.float64]:
        """Margin of the path in each cell, in [-1, 1]."""


class SlotPaths:
    """Path experts over contexts that all experts of a slot share.

    Parameters
    ----------
    rho : array_like, shape (n_slots, p)
        Margin of each expert's answer, in [-1, 1]; 0 for no answer.
    context : array_like of int, shape (n_slots,)
        Context of each slot, from 0.
    weight : array_like, shape (n_slots,), optional
        D_1 up to a factor; by default all slots weigh the same.
    n_contexts : int, optional

    Raises
    ------
    DataError
        If the arrays do not fit, there are no slots, or a margin or weight is out of range.

    Examples
    --------
    >>> paths = SlotPaths([[1, -1], [1, -1], [-1, 1]], [0, 0, 1])
    >>> len(paths.weight), paths.n, paths.path([0, 1]).tolist()
    (2, 3.0, [0, 3])
    >>> plus, minus = paths.masses(paths.weight)
    >>> paths.best(plus - minus, plus + minus).tolist()
    [0, 3]
    """

    is_additive = True

    def __init__(
        self,
        rho: ArrayLike,
        context: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        n_contexts: int | None = None,
    ) -> None:
        rho, weight = checked_margins(rho, weight)
        context = np.asarray(context, dtype=np.int32)
        if context.shape != (len(rho),) or context.min() < 0:
            raise DataError(f"need one context >= 0 for each of {len(rho)} slots; got shape {context.shape}")
        self.n, self.n_experts = float(len(rho)), rho.shape[1]
        self.n_contexts = int(context.max()) + 1 if n_contexts is None else n_contexts
        self.is_discrete = is_discrete(rho)
        first, cell_weight = same_cells([context], rho, weight) if self.is_discrete else (slice(None), weight)
        self.rho = np.ascontiguousarray(rho[first], dtype=np.float64)
        self.context = np.ascontiguousarray(context[first])
        self.weight = cell_weight / cell_weight.sum()

    @cached_property
    def count(self) -> NDArray[np.float64]:
        """Part of D_1 in each context, shape (n_contexts,)."""
        return np.bincount(self.context, weights=self.weight, minlength=self.n_contexts).astype(np.float64)

    def masses(self, d: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """As in `PathExperts`; parameter ``context * p + expert``."""
        plus, minus = slot_masses(self.rho, self.context, d, self.n_contexts)
        return plus.ravel(), minus.ravel()

    def best(self, gain: NDArray[np.float64], mass: NDArray[np.float64]) -> NDArray[np.int64]:
        """In each context the expert with the largest gain, on ties the first: the shortest path of Figure 1."""
        table = gain.reshape(-1, self.n_experts)
        slack = TIE_TOLERANCE * mass.reshape(table.shape).max(axis=1, initial=0.0)
        return self.path((table >= table.max(axis=1, keepdims=True) - slack[:, None]).argmax(axis=1))

    def path(self, experts: ArrayLike) -> NDArray[np.int64]:
        """Parameters of the path that takes these experts, one for each context."""
        chosen = np.asarray(experts, dtype=np.int64)
        out: NDArray[np.int64] = np.arange(self.n_contexts, dtype=np.int64) * self.n_experts + chosen
        return out

    def margin(self, path: NDArray[np.int64]) -> NDArray[np.float64]:
        """As in `PathExperts`."""
        expert = (path % self.n_experts)[self.context]
        out: NDArray[np.float64] = self.rho[np.arange(len(self.rho)), expert]
        return out


class LabelPaths:
    """Path experts where every label is a context: for each label one expert, whose answer counts if it says it.

    In a slot such a path says several labels, or none. Its score of label a is 1 if the expert chosen for a says a, so
    that its margin is 1, 0 or -1; the oracle charges every wrong label said, which is an upper bound. Labels on which
    every expert does harm have no expert.

    Parameters
    ----------
    rho : array_like, shape (n_slots, p)
    parameter : array_like of int, shape (n_slots, p)
        ``context * p + expert``; -1 for no answer.
    weight : array_like, shape (n_slots,), optional
    n_contexts : int

    Raises
    ------
    DataError
        As `SlotPaths`.

    Examples
    --------
    >>> paths = LabelPaths([[1, -1], [-1, 1]], [[0, 3], [0, 1]], n_contexts=2)
    >>> plus, minus = paths.masses(paths.weight)
    >>> path = paths.best(plus - minus, plus + minus)
    >>> path.tolist(), sorted(paths.margin(path).tolist())
    ([1], [0.0, 1.0])
    """

    is_additive = False

    def __init__(
        self, rho: ArrayLike, parameter: ArrayLike, weight: ArrayLike | None = None, *, n_contexts: int
    ) -> None:
        rho, weight = checked_margins(rho, weight)
        parameter = np.asarray(parameter, dtype=np.int32)
        if parameter.shape != rho.shape:
            raise DataError(f"need one parameter an answer, shape {rho.shape}; got {parameter.shape}")
        rho = np.where(parameter < 0, 0.0, rho)
        self.n, self.n_experts, self.n_contexts = float(len(rho)), rho.shape[1], n_contexts
        self.is_discrete = is_discrete(rho)
        columns = list(parameter.T)
        first, cell_weight = same_cells(columns, rho, weight) if self.is_discrete else (slice(None), weight)
        self.rho = np.ascontiguousarray(rho[first], dtype=np.float64)
        self.parameter = np.ascontiguousarray(parameter[first])
        self.weight = cell_weight / cell_weight.sum()

    def masses(self, d: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """As in `PathExperts`."""
        return label_masses(self.rho, self.parameter, d, self.n_contexts * self.n_experts)

    def best(self, gain: NDArray[np.float64], mass: NDArray[np.float64]) -> NDArray[np.int64]:
        """For each label the expert with the largest gain, if that is above zero."""
        table = gain.reshape(-1, self.n_experts)
        slack = TIE_TOLERANCE * mass.reshape(table.shape).max(axis=1, initial=0.0)
        top = table.max(axis=1)
        expert = (table >= top[:, None] - slack[:, None]).argmax(axis=1)
        used = np.flatnonzero(top > slack)
        out: NDArray[np.int64] = used * self.n_experts + expert[used]
        return out

    def margin(self, path: NDArray[np.int64]) -> NDArray[np.float64]:
        """As in `PathExperts`."""
        chosen = np.zeros(self.n_contexts * self.n_experts, dtype=np.bool_)
        chosen[path] = True
        return label_margins(self.rho, self.parameter, chosen)


def checked_margins(rho: ArrayLike, weight: ArrayLike | None) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Margins and weights that can be used; weights sum to one.

    Raises
    ------
    DataError
        If they cannot.

    Examples
    --------
    >>> checked_margins([[1, -1]], None)[1].tolist()
    [1.0]
    """
    margins = np.asarray(rho)
    if margins.ndim != 2 or not margins.size or not (np.abs(margins) <= 1).all():
        raise DataError(f"need margins between -1 and 1 of shape (n_slots, p), at least one; got shape {margins.shape}")
    weights = np.ones(len(margins)) if weight is None else np.asarray(weight, dtype=np.float64)
    if weights.shape != (len(margins),) or not (weights > 0).all() or not np.isfinite(weights).all():
        raise DataError(f"need one finite weight > 0 for each of {len(margins)} slots; got shape {weights.shape}")
    return margins, weights / weights.sum()


def is_discrete(rho: NDArray[Any]) -> bool:
    """True where all margins are -1, 0 or 1.

    Examples
    --------
    >>> is_discrete(np.array([1.0, 0.0])), is_discrete(np.array([0.5]))
    (True, False)
    """
    return bool(rho.dtype.kind in "iub" or (rho == np.rint(rho)).all())


def same_cells(
    keys: Iterable[NDArray[Any]], rho: NDArray[Any], weight: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """One slot of each kind, and the summed weights of the kinds, in an order that does not depend on the slots'.

    Parameters
    ----------
    keys : iterable of ndarray of int, each of shape (n_slots,)
    rho : ndarray, shape (n_slots, p)
        Values -1, 0 and 1.
    weight : ndarray of float64, shape (n_slots,)

    Examples
    --------
    >>> first, weight = same_cells([np.array([1, 0, 1])], np.array([[1, 0], [1, 0], [1, 0]]), np.ones(3))
    >>> first.tolist(), weight.tolist()
    ([1, 0], [1.0, 2.0])
    """
    n, p = rho.shape
    code, size = np.zeros(n, dtype=np.int64), 1  # codes are below size

    def joined(column: NDArray[Any], width: int) -> None:
        nonlocal code, size
        if size > 2**62 // width:
            code = np.unique(code, return_inverse=True)[1].ravel()
            size = n
        code = code * width + column
        size *= width

    for key in keys:
        joined(key.astype(np.int64) + 1, int(key.max()) + 2)
    for j in range(p):
        joined(rho[:, j].astype(np.int64) + 1, 3)
    _, first, inverse = np.unique(code, return_index=True, return_inverse=True)
    return first.astype(np.int64), np.bincount(inverse.ravel(), weights=weight).astype(np.float64)
