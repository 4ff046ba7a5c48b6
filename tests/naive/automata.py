"""Slow reference of structens.automata, from the definition: enumerate the accepting paths, then add up."""

import math
from fractions import Fraction

from structens.automata import Semiring
from structens.core import EPSILON


def accepting_paths(automaton):
    """Every accepting path as a tuple of transition numbers, in lexicographic order."""
    paths = []

    def walk(state, path):
        if automaton.is_final[state]:
            paths.append(path)
        for e in range(automaton.offsets[state], automaton.offsets[state + 1]):
            walk(int(automaton.target[e]), (*path, e))

    if automaton.n_states:
        walk(automaton.start, ())
    return paths


def last_state(automaton, path):
    return int(automaton.target[path[-1]]) if path else automaton.start


def final_weights(automaton, final_weight, semiring):
    given = [semiring.one] * automaton.n_states if final_weight is None else list(final_weight)
    return [w if final else semiring.zero for w, final in zip(given, automaton.is_final, strict=True)]


def times(semiring, weights):
    """Real numbers are multiplied as fractions: nothing underflows."""
    if semiring is Semiring.REAL:
        return math.prod(Fraction(float(w)) for w in weights)
    return math.fsum(weights)


def plus(semiring, weights):
    if semiring is Semiring.REAL:
        return sum(Fraction(w) for w in weights)
    low = min(weights, default=math.inf)
    if semiring is Semiring.TROPICAL or low == math.inf:
        return low
    return low - math.log(math.fsum(math.exp(low - w) for w in weights))


def path_weight(automaton, path, weight, final_weight, semiring):
    final = final_weights(automaton, final_weight, semiring)[last_state(automaton, path)]
    return times(semiring, [*(weight[e] for e in path), final])


def total_weight(automaton, weight, final_weight, semiring):
    paths = accepting_paths(automaton)
    return plus(semiring, [path_weight(automaton, path, weight, final_weight, semiring) for path in paths])


def paths_between(automaton, first, last):
    """Every path from one state to another; the empty one from a state to itself."""
    paths = []

    def walk(state, path):
        if state == last:
            paths.append(path)
        for e in range(automaton.offsets[state], automaton.offsets[state + 1]):
            walk(int(automaton.target[e]), (*path, e))

    walk(first, ())
    return paths


def distances(automaton, weight, final_weight, semiring, reverse):
    final = final_weights(automaton, final_weight, semiring)
    result = []
    for q in range(automaton.n_states):
        if reverse:
            ways = [
                times(semiring, [*(weight[e] for e in path), final[last]])
                for last in range(automaton.n_states)
                for path in paths_between(automaton, q, last)
                if automaton.is_final[last]
            ]
        else:
            ways = [times(semiring, [weight[e] for e in path]) for path in paths_between(automaton, automaton.start, q)]
        result.append(plus(semiring, ways))
    return result


def path_probabilities(automaton, weight, final_weight, semiring):
    """Share of every accepting path in the total, as real numbers."""
    paths = accepting_paths(automaton)
    weights = [path_weight(automaton, path, weight, final_weight, semiring) for path in paths]
    if semiring is not Semiring.REAL:
        low = min(weights)
        weights = [math.exp(low - w) for w in weights]
    total = sum(weights)
    return {path: float(w / total) for path, w in zip(paths, weights, strict=True)}


def flows(automaton, probabilities):
    """Flow of each transition, of each state, and of ending in each state."""
    transition, state, final = ([0.0] * k for k in (automaton.n_transitions, automaton.n_states, automaton.n_states))
    for path, p in probabilities.items():
        visited = [automaton.start, *(int(automaton.target[e]) for e in path)]
        for e in path:
            transition[e] += p
        for q in visited:
            state[q] += p
        final[visited[-1]] += p
    return transition, state, final


def best_paths(automaton, weight, final_weight):
    """Accepting paths of finite cost with their costs, best first, ties in lexicographic order."""
    scored = [
        (path_weight(automaton, path, weight, final_weight, Semiring.TROPICAL), path)
        for path in accepting_paths(automaton)
    ]
    return sorted((cost, path) for cost, path in scored if cost < math.inf)


def useful(automaton, weight, final_weight, semiring):
    """States and transitions on accepting paths whose weight is not zero."""
    states, transitions = set(), set()
    for path in accepting_paths(automaton):
        if path_weight(automaton, path, weight, final_weight, semiring) != semiring.zero:
            states.update([automaton.start, *(int(automaton.target[e]) for e in path)])
            transitions.update(path)
    return sorted(states), sorted(transitions)


def strings(automaton, path):
    """What a path reads and what it writes, without epsilon."""
    output = automaton.label if automaton.output is None else automaton.output
    read = tuple(int(automaton.label[e]) for e in path)
    written = tuple(int(output[e]) for e in path)
    return tuple(a for a in read if a != EPSILON), tuple(a for a in written if a != EPSILON)


def string_weights(automaton, weight, final_weight, semiring):
    """Weight of every pair of strings (read, written) that is not zero."""
    ways = {}
    for path in accepting_paths(automaton):
        cost = path_weight(automaton, path, weight, final_weight, semiring)
        if cost != semiring.zero:
            ways.setdefault(strings(automaton, path), []).append(cost)
    return {pair: plus(semiring, costs) for pair, costs in ways.items()}


def composed_weights(first, second, semiring):
    """String weights of a composition: every pair of paths where one writes what the other reads."""
    ways = {}
    for path_1 in accepting_paths(first[0]):
        cost_1 = path_weight(first[0], path_1, *first[1:], semiring)
        read, handed = strings(first[0], path_1)
        for path_2 in accepting_paths(second[0]):
            cost_2 = path_weight(second[0], path_2, *second[1:], semiring)
            taken, written = strings(second[0], path_2)
            cost = times(semiring, [cost_1, cost_2]) if semiring is not Semiring.REAL else cost_1 * cost_2
            if handed == taken and cost != semiring.zero:
                ways.setdefault((read, written), []).append(cost)
    return {pair: plus(semiring, costs) for pair, costs in ways.items()}


def n_distinct_futures(automaton, weight, final_weight, semiring):
    """States of the minimal automaton of a trimmed deterministic one: string weights of each state, up to a factor."""
    final = final_weights(automaton, final_weight, semiring)
    futures = set()
    for q in range(automaton.n_states):
        ways = {}
        for last in range(automaton.n_states):
            for path in paths_between(automaton, q, last):
                if final[last] != semiring.zero:
                    read = tuple(int(automaton.label[e]) for e in path)
                    ways[read] = times(semiring, [*(weight[e] for e in path), final[last]])
        total = plus(semiring, list(ways.values()))
        share = {a: w / total if semiring is Semiring.REAL else w - total for a, w in ways.items()}
        futures.add(frozenset((a, round(float(w), 6)) for a, w in share.items()))
    return len(futures)


def best_strings(automaton, weight, final_weight):
    """(cost, labels read) of every string of finite cost, best first, ties in the order of labels."""
    ways = string_weights(automaton, weight, final_weight, Semiring.TROPICAL)
    best = {}
    for (read, _), cost in ways.items():
        best[read] = min(cost, best.get(read, math.inf))
    return sorted((cost, read) for read, cost in best.items())


def edit_cost(read, written, substitution, insertion, deletion):
    """Least cost of turning one string into the other; costs are functions of labels."""
    if not read:
        return sum(insertion(b) for b in written)
    if not written:
        return sum(deletion(a) for a in read)
    a, b = read[-1], written[-1]
    return min(
        edit_cost(read[:-1], written[:-1], substitution, insertion, deletion) + substitution(a, b),
        edit_cost(read[:-1], written, substitution, insertion, deletion) + deletion(a),
        edit_cost(read, written[:-1], substitution, insertion, deletion) + insertion(b),
    )


def edit_product(automaton, weight, y, substitution, insertion, deletion):
    """Transitions (source, target, read, written, weight, origin) of an automaton with the edit transducer and y."""
    m, rows = len(y), []
    for q in range(automaton.n_states):
        out = range(automaton.offsets[q], automaton.offsets[q + 1])
        onward = [(e, int(automaton.label[e]), int(automaton.target[e]) * (m + 1)) for e in out]
        for j in range(m + 1):
            here = q * (m + 1) + j
            if j < m:
                b = int(y[j])
                rows.append((here, here + 1, -1, b, insertion(b), -1))
                rows += [(here, r + j + 1, a, b, weight[e] + substitution(a, b), e) for e, a, r in onward if a >= 0]
            rows += [(here, r + j, a, -1, weight[e] + (deletion(a) if a >= 0 else 0.0), e) for e, a, r in onward]
    return rows


def ngram_cost(labels, ngrams, costs):
    """Cost of every occurrence of every n-gram."""
    return sum(
        cost
        for gram, cost in zip(ngrams, costs, strict=True)
        for i in range(len(labels) - len(gram) + 1)
        if tuple(labels[i : i + len(gram)]) == tuple(gram)
    )


def mean(probabilities, value):
    """Of a function of paths."""
    return sum(p * value(path) for path, p in probabilities.items())
