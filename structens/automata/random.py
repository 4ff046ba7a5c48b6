"""Random automata, for tests, benchmarks and examples.

After OpenFst's `rand-fst.h`, but every state lies on an accepting path.
"""

from __future__ import annotations

import numpy as np

from structens.automata.topological import top_sort
from structens.automata.weighted import WeightedAutomaton
from structens.core import EPSILON, ParameterError


def random_automaton(
    n_states: int,
    n_transitions: int,
    n_labels: int,
    seed: int | np.random.Generator,
    *,
    width: int | None = None,
    epsilon: float = 0.0,
    transducer: bool = False,
) -> WeightedAutomaton:
    """A random acyclic automaton with exponential costs; every state lies on an accepting path.

    Parameters
    ----------
    n_states : int
        With `width`, the number of layers is what fits: 1 + width * (layers - 1) states.
    n_transitions : int
        At least twice `n_states`, so that every state can be reached and left.
    n_labels : int
        Labels are 0 to n_labels - 1.
    seed : int or numpy.random.Generator
    width : int or None
        None: a transition may lead to any later state. Else states stand in layers of that width, and one transition in
        ten skips a layer.
    epsilon : float
        Share of labels that are EPSILON, in [0, 1].
    transducer : bool
        Also draw output labels.

    Returns
    -------
    WeightedAutomaton
        State 0 is the start; the last state, or layer, is final.

    Raises
    ------
    ParameterError
        If a number does not fit.

    Examples
    --------
    >>> made = random_automaton(100, 400, 5, seed=0)
    >>> made.automaton.n_states, made.automaton.n_transitions
    (100, 400)
    >>> layered = random_automaton(101, 1000, 5, seed=0, width=10)
    >>> int(layered.automaton.is_final.sum())
    10
    """
    if n_states < 2 or n_labels < 1 or not 0.0 <= epsilon <= 1.0 or not (width is None or 1 <= width < n_states):
        raise ParameterError("need 2 states, 1 label, a share of EPSILON in [0, 1], and a width below n_states")
    if n_transitions < 2 * n_states:
        raise ParameterError(f"{n_states} states need {2 * n_states} transitions or more; got {n_transitions}")
    rng = np.random.default_rng(seed)
    layer = np.arange(n_states) if width is None else (np.arange(n_states) + width - 1) // width
    depth = int(layer[-1])
    begin = np.searchsorted(layer, np.arange(depth + 2))
    if width is not None and n_states > begin[depth] and begin[depth + 1] - begin[depth] < width:
        n_states = int(begin[depth])  # the last layer is full
        layer, depth = layer[:n_states], depth - 1
    n_final = n_states - int(begin[depth])

    def of_layer(wanted: np.ndarray[tuple[int], np.dtype[np.int64]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return begin[wanted] + rng.integers(0, begin[wanted + 1] - begin[wanted])

    inner = np.arange(1, n_states)
    onward = np.arange(n_states - n_final)
    # One transition into each state, one out of each, then the rest anywhere.
    if width is None:
        into, after = rng.integers(0, inner), rng.integers(onward + 1, n_states)
        extra = rng.integers(0, n_states - 1, n_transitions - len(inner) - len(onward))
        reach = rng.integers(extra + 1, n_states)
    else:
        into, after = of_layer(layer[inner] - 1), of_layer(layer[onward] + 1)
        extra = rng.integers(0, n_states - n_final, n_transitions - len(inner) - len(onward))
        skip = (rng.random(len(extra)) < 0.1) & (layer[extra] + 2 <= depth)
        reach = of_layer(layer[extra] + 1 + skip)
    source, target = np.concatenate([into, onward, extra]), np.concatenate([inner, after, reach])
    labels = rng.integers(0, n_labels, (2, len(source)))
    labels[rng.random(labels.shape) < epsilon] = EPSILON
    final = range(n_states - n_final, n_states)
    output = labels[1] if transducer else None
    made = top_sort(source, target, labels[0], final=list(final), n_states=n_states, output=output)
    return WeightedAutomaton(made.automaton, rng.exponential(1.0, len(source)), None)
