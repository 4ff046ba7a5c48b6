"""Sums over the paths of a lattice from the definition: dictionaries of states, one transition after the other."""

import math


def step(model, state, label):
    """Follower and log probability of a label after a state of the n-gram tree."""
    cost = 0.0
    while True:
        for child in range(model.first_child[state], model.first_child[state + 1]):
            if model.label[child] == label:
                return int(model.state[child]), cost + model.log_probability[child]
        cost += model.log_backoff[state]
        if state == 0:
            return 0, cost + model.log_probability[0]
        state = model.shorter[state]


def last_label(model, state):
    """The context that knows of a state only its last label."""
    while state > model.sizes[0] + 2:
        state = model.shorter[state]
    return int(model.state[state])


def sums(label, score, model, scale, whole, width):
    """Probabilities of one record's candidates, log total and expected log probability of the n-grams.

    All states of a slot but the `whole` best are merged by their last labels; those `width` nats below are dropped.
    """
    before, transitions = {int(model.sizes[2]): 1.0}, []
    for s, row in enumerate(label):
        mass, ways = {}, []
        for k, x in enumerate(row):
            if x == -2 or score[s][k] == -math.inf:
                continue
            for state, value in before.items():
                to, cost = (state, 0.0) if x == -1 else step(model, state, x)
                weight = math.exp(score[s][k] + scale * cost)
                ways.append((k, state, to, weight, cost))
                mass[to] = mass.get(to, 0.0) + value * weight
        if not mass:
            transitions.append(None)
            continue
        least = max(mass.values()) * math.exp(-width)
        kept = sorted(mass, key=mass.get, reverse=True)[:whole]
        name = {}
        for state, value in mass.items():
            if value >= least:
                name[state] = state if state in kept else last_label(model, state)
        transitions.append([(k, a, name[b], w, c) for k, a, b, w, c in ways if b in name])
        before = {}
        for state, value in mass.items():
            if state in name:
                before[name[state]] = before.get(name[state], 0.0) + value
    ends = {state: step(model, state, model.sizes[0])[1] for state in before}
    return _backward(transitions, before, {state: math.exp(scale * c) for state, c in ends.items()}, ends, model, label)


def _backward(transitions, before, later, ends, model, label):
    total = sum(value * later[state] for state, value in before.items())
    mean = sum(value * later[state] * ends[state] for state, value in before.items()) / total
    forward = [{int(model.sizes[2]): 1.0}]
    for ways in transitions:
        if ways is None:
            forward.append(forward[-1])
            continue
        after = {}
        for _, a, b, weight, _ in ways:
            after[b] = after.get(b, 0.0) + forward[-1][a] * weight
        forward.append(after)
    probability = [[0.0] * len(row) for row in label]
    for s in reversed(range(len(transitions))):
        if transitions[s] is None:
            continue
        earlier = {}
        for k, a, b, weight, cost in transitions[s]:
            earlier[a] = earlier.get(a, 0.0) + weight * later.get(b, 0.0)
            mass = forward[s][a] * weight * later.get(b, 0.0) / total
            probability[s][k] += mass
            mean += mass * cost
        later = earlier
    return probability, math.log(total), mean
