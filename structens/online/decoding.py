"""Decoders: one output from a distribution over the paths of an automaton. Three rules, three answers.

* `marginal`: at every position the label with the largest summed flow. From eq. (5) of the ACL 2014 paper; it
  minimises the expected Hamming loss, and keeps the bound 2 L(H_Rand).
* `string`: the most probable string of the mixture, all paths with this string together (ICML 2014, appendix E).
* `viterbi`: the string of the single most probable path.

Eq. (6) of the ICML 2014 paper, a product over positions of averaged weights, is the same as `marginal` in its argmax on
Figure 1, and is not the probability of a string under the mixture.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata import Semiring, best_strings, flows, shortest_path
from structens.automata.best_strings import MOST_EXPANSIONS
from structens.core import EPSILON, Automaton, AutomatonError, DataError


class Decoded(NamedTuple):
    """An output and what it rests on.

    Attributes
    ----------
    labels : list of int
    score : float
        Mean share of the flow (`marginal`), probability of the string (`string`), or of the path (`viterbi`).
    """

    labels: list[int]
    score: float


def position_scores(automaton: Automaton, flow: ArrayLike) -> list[dict[int, float]]:
    """Summed flow of each label at each position; labels in order of their first transition.

    Parameters
    ----------
    automaton : Automaton
        Layered: all paths to a state have the same number of transitions.
    flow : array_like, shape (n_transitions,)

    Raises
    ------
    AutomatonError
        If a state lies at two positions.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (0, 1, 7)], final=[1])
    >>> position_scores(a, [0.25, 0.5, 0.25])
    [{7: 0.5, 8: 0.5}]
    """
    flow = _one_each(automaton, flow)
    depth = np.full(automaton.n_states, -1)
    depth[automaton.start] = 0
    scores: list[dict[int, float]] = []
    for e, (q, r) in enumerate(zip(automaton.source.tolist(), automaton.target.tolist(), strict=True)):
        if depth[q] < 0:
            continue
        if depth[r] not in (-1, depth[q] + 1):
            rule = f"state {r} is reached after {depth[r]} and after {depth[q] + 1} transitions"
            raise AutomatonError(f"{rule}; positions need a layered automaton, use string or viterbi")
        depth[r] = depth[q] + 1
        while len(scores) <= depth[q]:
            scores.append({})
        label = int(automaton.label[e])
        scores[depth[q]][label] = scores[depth[q]].get(label, 0.0) + float(flow[e])
    return scores


def marginal(automaton: Automaton, flow: ArrayLike) -> Decoded:
    """At each position the label with the largest summed flow; ties go to the label of the earlier transition.

    Parameters
    ----------
    automaton : Automaton
        Layered; EPSILON is a label like others and left out of the output.
    flow : array_like, shape (n_transitions,)
        Averaged over rounds where several distributions are mixed.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8), (0, 1, 7)], final=[1])
    >>> marginal(a, [0.3, 0.4, 0.3])
    Decoded(labels=[7], score=0.6)
    """
    best = [max(scores.items(), key=lambda item: item[1]) for scores in position_scores(automaton, flow)]
    share = sum(score for _, score in best) / len(best) if best else 1.0
    return Decoded([label for label, _ in best if label != EPSILON], share)


def string(automaton: Automaton, weights: ArrayLike, max_expansions: int = MOST_EXPANSIONS) -> Decoded:
    """Most probable string of a mixture of distributions, by A* (`structens.automata.best_strings`).

    Parameters
    ----------
    automaton : Automaton
    weights : array_like, shape (n_transitions,) or (n_distributions, n_transitions)
        Pushed probabilities of each distribution, all mixed alike.
    max_expansions : int
        Most prefixes to extend; their number can grow exponentially with length (the problem is NP-hard). Beyond it the
        answer is that of `viterbi`, and the score that of its path.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 7), (0, 1, 8)], final=[1])
    >>> best = string(a, [0.3, 0.3, 0.4])
    >>> best.labels, round(best.score, 9)
    ([7], 0.6)
    """
    mixed = _mixture(automaton, weights)
    stopping = np.array([_stopping(automaton, row) for row in mixed])
    options = {"semiring": Semiring.REAL, "max_expansions": max_expansions}
    found = best_strings(automaton, mixed, 1, stopping, **options)  # type: ignore[arg-type]
    if found.strings:
        return Decoded(found.strings[0], float(found.probability[0]))
    each = [flows(automaton, row, stop, Semiring.REAL) for row, stop in zip(mixed, stopping, strict=True)]
    return viterbi(automaton, np.mean([f.transition for f in each], axis=0), np.mean([f.state for f in each], axis=0))


def string_probabilities(
    automaton: Automaton, weights: ArrayLike, max_strings: int = 100_000
) -> dict[tuple[int, ...], float]:
    """Probability of every string under the mixture, in order of discovery, by enumeration.

    Parameters
    ----------
    automaton, weights
        As in `string`.
    max_strings : int
        Most strings to hold.

    Raises
    ------
    AutomatonError
        If there are more strings.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1])
    >>> string_probabilities(a, [[0.3, 0.7], [0.5, 0.5]])
    {(7,): 0.4, (8,): 0.6}
    """
    mixed = _mixture(automaton, weights)
    reached: list[dict[tuple[int, ...], NDArray[np.float64]]] = [{} for _ in range(automaton.n_states)]
    reached[automaton.start][()] = np.ones(len(mixed))
    n_strings = 1
    for e, (q, r) in enumerate(zip(automaton.source.tolist(), automaton.target.tolist(), strict=True)):
        label = int(automaton.label[e])
        for prefix, mass in reached[q].items():
            longer = prefix if label == EPSILON else (*prefix, label)
            n_strings += longer not in reached[r]
            reached[r][longer] = reached[r].get(longer, 0.0) + mass * mixed[:, e]
        if n_strings > max_strings:
            raise AutomatonError(f"more than {max_strings} strings; use best_strings, or raise max_strings")
    out: dict[tuple[int, ...], float] = {}
    stopping = np.array([_stopping(automaton, row) for row in mixed])  # pushed weights sum to 1 with the final weight
    for q in np.flatnonzero(automaton.is_final).tolist():
        for text, mass in reached[q].items():
            out[text] = out.get(text, 0.0) + float((mass * stopping[:, q]).mean())
    return out


def viterbi(automaton: Automaton, transition_flow: ArrayLike, state_flow: ArrayLike) -> Decoded:
    """String of the most probable path, after the flows of a mixture are made one distribution: flow / state flow.

    Parameters
    ----------
    automaton : Automaton
    transition_flow : array_like, shape (n_transitions,)
    state_flow : array_like, shape (n_states,)
        From `structens.automata.flows`, averaged over rounds where distributions are mixed.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 7), (0, 1, 8)], final=[1])
    >>> viterbi(a, [0.3, 0.3, 0.4], [1.0, 1.0])
    Decoded(labels=[8], score=0.4)
    """
    flow, state = _one_each(automaton, transition_flow), np.asarray(state_flow, dtype=np.float64)
    visited = np.where(state > 0, state, 1.0)
    share = flow / visited[automaton.source]
    cost, stop = _costs(share), _costs(_stopping(automaton, share))
    path = shortest_path(automaton, cost, stop)
    labels = automaton.label[path].tolist()
    end = int(automaton.target[path[-1]]) if len(path) else automaton.start
    return Decoded([label for label in labels if label != EPSILON], math.exp(-cost[path].sum() - stop[end]))


def _mixture(automaton: Automaton, weights: ArrayLike) -> NDArray[np.float64]:
    mixed = np.atleast_2d(np.asarray(weights, dtype=np.float64))
    if mixed.shape[1] != automaton.n_transitions:
        raise DataError(f"need one weight for each of {automaton.n_transitions} transitions; got {mixed.shape[1]}")
    return mixed


def _stopping(automaton: Automaton, probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability to end in each state: at final states what the transitions leave, or nothing if only by rounding."""
    left = 1.0 - np.bincount(automaton.source, weights=probability, minlength=automaton.n_states)
    return np.where(automaton.is_final & (left > 1e-12), left, 0.0)


def _costs(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    out = np.full(len(probability), np.inf)
    out[probability > 0] = -np.log(probability[probability > 0])
    return out


def _one_each(automaton: Automaton, values: ArrayLike) -> NDArray[np.float64]:
    out = np.asarray(values, dtype=np.float64)
    if out.shape != (automaton.n_transitions,) or not all(map(math.isfinite, out.tolist())):
        raise DataError(f"need one finite number for each of {automaton.n_transitions} transitions; got {out.shape}")
    return out
