"""An automaton that charges for n-grams: every time a listed n-gram of labels occurs, its cost is added.

The automaton of Aho and Corasick: a state is the longest suffix of what has been read that begins a listed n-gram, so
that n-grams of several lengths are counted at once, overlapping or one in the other. It comes back to its states, so it
is a `Transducer`; composed with an automaton it gives an acyclic one, on which n-gram costs are costs of transitions.

Sources: Aho and Corasick, "Efficient string matching" (1975); Allauzen, Mohri and Roark, "Generalized algorithms for
constructing statistical language models" (2003), for counting by composition.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from structens.automata.compose import Composed, compose
from structens.automata.semiring import Semiring
from structens.automata.transducer import Transducer
from structens.automata.weighted import WeightedAutomaton
from structens.core import DataError


def ngram_automaton(ngrams: Sequence[Sequence[int]], cost: ArrayLike, n_labels: int) -> Transducer:
    """Acceptor of all strings, whose cost is the summed cost of the n-grams that occur in a string.

    Parameters
    ----------
    ngrams : sequence of sequences of int
        Labels 0 to n_labels - 1; of any lengths >= 1.
    cost : array_like, shape (len(ngrams),)
        inf forbids the n-gram. An n-gram that is listed twice costs the sum.
    n_labels : int

    Returns
    -------
    Transducer
        An acceptor with n_labels transitions from each state; state 0 is the start, all states are final.

    Raises
    ------
    DataError
        If an n-gram is empty, a label is out of range, or the costs do not fit.

    Examples
    --------
    >>> ngram_automaton([[0, 1], [1]], [5.0, 1.0], n_labels=2).weight.tolist()
    [0.0, 1.0, 0.0, 6.0, 0.0, 1.0, 0.0, 1.0]
    """
    costs = np.asarray(cost, dtype=np.float64)
    grams = [tuple(int(label) for label in gram) for gram in ngrams]
    if costs.shape != (len(grams),) or np.isnan(costs).any() or (costs == -np.inf).any():
        raise DataError(f"need one cost for each of {len(grams)} n-grams, a number or inf")
    if any(not gram or min(gram) < 0 or max(gram) >= n_labels for gram in grams):
        raise DataError(f"an n-gram holds one label or more of 0 to {n_labels - 1}")
    children: list[dict[int, int]] = [{}]
    paid = [0.0]
    for gram, price in zip(grams, costs.tolist(), strict=True):
        node = 0
        for label in gram:
            if label not in children[node]:
                children[node][label] = len(children)
                children.append({})
                paid.append(0.0)
            node = children[node][label]
        paid[node] += price
    n_states = len(children)
    go = np.zeros((n_states, n_labels), dtype=np.int32)
    queue = [(0, 0)]  # breadth first, with the state of the longest proper suffix
    for node, suffix in queue:
        if node:
            paid[node] += paid[suffix]
            go[node] = go[suffix]
        for label, child in children[node].items():
            queue.append((child, int(go[node, label])))
            go[node, label] = child
    return Transducer(
        offsets=np.arange(n_states + 1, dtype=np.int64) * n_labels,
        target=go.ravel(),
        label=np.tile(np.arange(n_labels, dtype=np.int32), n_states),
        weight=np.array(paid)[go.ravel()],
        final_weight=np.zeros(n_states),
    )


def compose_ngram(
    weighted: WeightedAutomaton, ngrams: Sequence[Sequence[int]], cost: ArrayLike, semiring: Semiring = Semiring.LOG
) -> Composed:
    """Add the cost of each n-gram to the paths on which it occurs; EPSILON transitions do not part its labels.

    Parameters
    ----------
    weighted : WeightedAutomaton
        Costs. If it is a transducer, what it writes counts.
    ngrams, cost
        As in `ngram_automaton`; n-grams with labels that do not occur are left out.
    semiring : Semiring
        LOG or TROPICAL.

    Returns
    -------
    Composed
        Each accepting path of the argument once, unless a forbidden n-gram occurs on it. ``first`` is the argument's
        transition; weights are without its own where ``weight - argument_weight[first]`` is taken.

    Raises
    ------
    AutomatonError, DataError
        As `compose` and `ngram_automaton`.

    Examples
    --------
    >>> from structens.core import Automaton
    >>> a = Automaton.from_transitions([(0, 1, 0), (0, 1, 1), (1, 2, 1)], final=[2])
    >>> made = compose_ngram(WeightedAutomaton(a, [0.0, 0.0, 0.0]), [[0, 1]], [2.5])
    >>> made.first.tolist(), made.weight.tolist()
    ([0, 1, 2, 2], [0.0, 0.0, 0.0, 2.5])
    """
    automaton = weighted.automaton
    labels = automaton.label if automaton.output is None else automaton.output
    n_labels = int(labels.max(initial=-1)) + 1
    costs = np.asarray(cost, dtype=np.float64)
    used = [i for i, gram in enumerate(ngrams) if max(gram, default=0) < n_labels]
    if costs.shape == (len(ngrams),):
        costs, ngrams = costs[used], [ngrams[i] for i in used]
    return compose(weighted, ngram_automaton(ngrams, costs, n_labels), semiring)
