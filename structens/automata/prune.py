"""Pruning: leave out the transitions that hardly matter.

Sources: Sixtus and Ortmanns, "High quality word graphs using forward-backward pruning" (1999), for the beam; posterior
pruning is usual with lattices of speech recognisers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from structens.automata.marginals import flows
from structens.automata.semiring import Semiring
from structens.automata.shortest_distance import shortest_distance
from structens.automata.shortest_path import shortest_path
from structens.automata.topological import Renumbered, connect
from structens.automata.weights import as_weights
from structens.core import Automaton, ParameterError


def prune(
    automaton: Automaton,
    weight: ArrayLike,
    *,
    posterior: float | None = None,
    beam: float | None = None,
    final_weight: ArrayLike | None = None,
    semiring: Semiring = Semiring.LOG,
) -> Renumbered:
    """Keep the transitions that paths take often enough, or that lie on paths good enough. The best path always stays.

    Parameters
    ----------
    automaton : Automaton
    weight : array_like, shape (n_transitions,)
        Costs (LOG, TROPICAL) or real weights >= 0 (REAL).
    posterior : float or None
        Keep transitions that a path takes with at least this probability; in [0, 1]. Not with TROPICAL.
    beam : float or None
        Keep transitions on a path that costs at most this much more than the best; >= 0. In REAL the cost is minus the
        log of the weight.
    final_weight : array_like, shape (n_states,), or None
    semiring : Semiring

    Returns
    -------
    Renumbered
        What is kept, in the old order, trimmed; bring weights along with ``weight[r.transition]``.

    Raises
    ------
    AutomatonError
        If there is no accepting path.
    DataError
        If the weights do not fit.
    ParameterError
        If not exactly one of the two thresholds is given, or it is out of range.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (0, 1, 9)], final=[1])
    >>> prune(a, [6.0, 3.0, 1.0], posterior=0.2, semiring=Semiring.REAL).transition.tolist()
    [0, 1]
    >>> prune(a, [1.0, 4.0, 1.5], beam=1.0).transition.tolist()
    [0, 2]
    """
    if (posterior is None) == (beam is None):
        raise ParameterError("give either a posterior or a beam")
    semiring = Semiring(semiring)
    weights, final = as_weights(automaton, weight, final_weight, semiring, non_negative=True)
    if semiring is Semiring.REAL:
        with np.errstate(divide="ignore"):
            costs, final_cost = -np.log(weights), -np.log(final)
    else:
        costs, final_cost = weights, final
    best = shortest_path(automaton, costs, final_cost)
    if posterior is not None:
        if not 0.0 <= posterior <= 1.0:
            raise ParameterError(f"posterior is a probability; got {posterior}")
        keep = flows(automaton, weights, final, semiring).transition >= posterior
    else:
        if not beam >= 0.0:  # type: ignore[operator]
            raise ParameterError(f"beam must be >= 0; got {beam}")
        onward = shortest_distance(automaton, costs, final_cost, Semiring.TROPICAL, reverse=True)
        before = shortest_distance(automaton, costs, None, Semiring.TROPICAL)
        least = onward[automaton.start]
        # A path's cost added up in another order may differ in the last digits.
        limit = least + beam + 1e-12 * (1.0 + abs(least))
        keep = before[automaton.source] + costs + onward[automaton.target] <= limit
    keep[best] = True
    return connect(automaton, np.where(keep, weights, semiring.zero), final, semiring)
