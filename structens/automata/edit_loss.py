"""The edit distance to one answer as an additive loss: an automaton with one path for each path, and losses on it.

A path has many alignments to the answer, and its edit distance is the least of them; so the minimum is determinised
before it can weigh a path. A state is a state of the argument together with the column of the dynamic programme over
prefixes of the answer, less its minimum; a transition pays the rise of the minimum. How large this gets is left open by
Cortes, Kuznetsov, Mohri and Warmuth, "On-line learning algorithms for path experts with non-additive losses" (COLT
2015), appendix D.

Columns differ in entries that can never matter: where an answer's prefix j' is so much cheaper than j that no
continuation makes good for it, entry j is dropped. How much any continuation can make good is bounded backward from the
end; this dominance clipping turns hundreds of thousands of states into dozens.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata.edit_loss_kernels import bounds_kernel, expand_kernel
from structens.automata.marginals import flows
from structens.automata.semiring import Semiring
from structens.automata.weights import as_weights
from structens.core import Automaton, AutomatonError, DataError, ParameterError


class EditLoss(NamedTuple):
    """An automaton on which an edit distance is additive, and where its parts come from.

    Attributes
    ----------
    automaton : Automaton
        One accepting path for each accepting path of the argument, with the same labels.
    loss : ndarray of float64, shape (n_transitions,)
    final_loss : ndarray of float64, shape (n_states,)
        0 at states that are not final. The sum along a path is its edit distance.
    transition : ndarray of int64, shape (n_transitions,)
        Number of the argument's transition.
    state : ndarray of int32, shape (n_states,)
        State of the argument.
    """

    automaton: Automaton
    loss: NDArray[np.float64]
    final_loss: NDArray[np.float64]
    transition: NDArray[np.int64]
    state: NDArray[np.int32]


def edit_loss(
    automaton: Automaton,
    target: ArrayLike,
    *,
    costs: tuple[float, float, float] = (1.0, 1.0, 1.0),
    clip: bool = True,
    max_states: int = 1_000_000,
) -> EditLoss:
    """Losses on transitions that add up to the edit distance between a path's labels and the right answer.

    Time O(transitions x units) for the bounds times units, then O(states x (labels x units + units squared)).
    The number of distinct labels a slot decides about the number of states, not that of experts.

    Parameters
    ----------
    automaton : Automaton
        EPSILON transitions say nothing and cost nothing.
    target : array_like of int, shape (n_units,)
        Labels of the right answer.
    costs : (insertion, deletion, substitution)
        Of a unit of the path that the answer lacks, of a missing unit, and of a wrong one; finite and >= 0.
    clip : bool
        Drop entries of columns that cannot matter. False is the plain determinisation, for comparison.
    max_states : int
        Give up beyond this many states.

    Raises
    ------
    AutomatonError
        If more states are needed.
    ParameterError
        If a cost is negative or not finite.
    DataError
        If a label of the target is negative.

    References
    ----------
    Cortes et al. (COLT 2015), appendices B and D.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (1, 2, 8)], final=[2])
    >>> e = edit_loss(a, [7])
    >>> e.loss.tolist(), e.final_loss.tolist()
    ([0.0, 1.0, 1.0], [0.0, 0.0, 0.0])
    """
    if len(costs) != 3 or not all(math.isfinite(c) and c >= 0 for c in costs):
        raise ParameterError(
            f"costs must be three finite numbers >= 0 (insertion, deletion, substitution); got {costs}"
        )
    y = np.asarray(target, dtype=np.int32)
    if y.ndim != 1 or (len(y) and y.min() < 0):
        raise DataError("the target must be a sequence of label codes >= 0")
    if clip and automaton.n_states * (len(y) + 1) ** 2 > _MOST_BOUNDS:
        rule = f"bounds for {automaton.n_states} states and {len(y)} units need more than {_MOST_BOUNDS} numbers"
        raise AutomatonError(f"{rule}; {_HINT}")
    price = np.array(costs, dtype=np.float64)
    graph = (automaton.offsets, automaton.target, automaton.label, automaton.is_final, _leaders(automaton))
    bounds = np.full((automaton.n_states if clip else 0, len(y) + 1, len(y) + 1), -np.inf)
    if clip:
        bounds_kernel(graph, y, price, bounds)
    degree = max(1, int(np.diff(automaton.offsets).max(initial=0)))
    room = min(1024, max_states)
    while automaton.n_states:  # the kernel stops where its arrays are full, and starts again with larger ones
        column, base, ending = np.empty((room, len(y) + 1)), np.empty(room, np.int32), np.zeros(room)
        order, target_state, paid = np.empty(room, np.int64), np.empty(room * degree, np.int64), np.empty(room * degree)
        arrays = (column, base, ending, order, target_state, paid)
        n_states, n_steps = expand_kernel(graph, automaton.start, y, price, bounds, arrays)
        if n_states >= 0:
            return _in_order(automaton, base, ending, order[:n_states], target_state[:n_steps], paid[:n_steps])
        if room >= max_states:
            raise AutomatonError(f"the edit distance needs more than {max_states} states; {_HINT}")
        room = min(4 * room, max_states)
    nothing = np.zeros(0)
    return EditLoss(automaton, nothing, nothing, np.zeros(0, np.int64), np.zeros(0, np.int32))


def expected_edit_distance(
    automaton: Automaton,
    weight: ArrayLike,
    target: ArrayLike,
    final_weight: ArrayLike | None = None,
    semiring: Semiring = Semiring.LOG,
    *,
    costs: tuple[float, float, float] = (1.0, 1.0, 1.0),
    max_states: int = 1_000_000,
) -> float:
    """Mean edit distance to the answer of a path drawn from the weights, exactly.

    Parameters
    ----------
    automaton : Automaton
    weight : array_like, shape (n_transitions,)
        Costs (LOG) or real weights >= 0 (REAL); need not be pushed.
    target : array_like of int, shape (n_units,)
    final_weight : array_like, shape (n_states,), or None
    semiring : Semiring
        LOG or REAL.
    costs, max_states
        See `edit_loss`.

    Raises
    ------
    AutomatonError, DataError, ParameterError
        As `edit_loss` and `structens.automata.flows`.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1])
    >>> expected_edit_distance(a, [0.75, 0.25], [7], semiring=Semiring.REAL)
    0.25
    """
    weight, final = as_weights(automaton, weight, final_weight, semiring, non_negative=True)
    made = edit_loss(automaton, target, costs=costs, max_states=max_states)
    flow = flows(made.automaton, weight[made.transition], final[made.state], semiring)
    return float(flow.transition @ made.loss + flow.final @ made.final_loss)


_MOST_BOUNDS = 100_000_000
_HINT = "take fewer experts or shorter records, or the sampled surrogate (structens.online.edit_learning)"


def _leaders(automaton: Automaton) -> NDArray[np.int64]:
    """For each transition the first one with the same source, label and target."""
    columns = (automaton.target, automaton.label, automaton.source)
    order = np.lexsort(columns)
    new = np.zeros(len(order), dtype=np.bool_)
    new[:1] = True
    for column in columns:
        new[1:] |= column[order][1:] != column[order][:-1]
    out = np.empty(len(order), np.int64)
    out[order] = order[new][np.cumsum(new) - 1]
    return out


def _in_order(
    automaton: Automaton,
    base: NDArray[np.int32],
    ending: NDArray[np.float64],
    order: NDArray[np.int64],
    target_state: NDArray[np.int64],
    paid: NDArray[np.float64],
) -> EditLoss:
    """Number the states in the order in which they were worked off, which is topological."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    state = base[order]
    degree = np.diff(automaton.offsets)[state]
    offsets = np.concatenate([[0], np.cumsum(degree)]).astype(np.int64)
    source = np.repeat(np.arange(len(order)), degree)
    transition = np.arange(len(source)) - offsets[source] + automaton.offsets[state[source]]
    made = Automaton(
        offsets=offsets,
        target=place[target_state].astype(np.int32),
        label=automaton.label[transition],
        is_final=automaton.is_final[state],
    )
    return EditLoss(made, paid.copy(), ending[order], transition, state)
