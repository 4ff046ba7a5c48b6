import numpy as np
import pytest

from structens.core import ParameterError, Slots
from structens.datasets import ads
from structens.ensembles.vote import vote
from structens.losses import slot_losses
from structens.online import (
    Tying,
    average_weights,
    cumulative_at,
    eta_of,
    play,
    rounds_of,
    slot_cv_round,
    softmin,
    suffix_start,
)


def slots_of(X):
    """Slots of answers of one length."""
    n, p, length = len(X), X.n_experts, 10
    said = X.hypotheses.values.reshape(n, p, length).transpose(0, 2, 1).reshape(-1, p)
    source = np.arange(n * p * length).reshape(n, p, length).transpose(0, 2, 1).reshape(-1, p)
    offsets = np.arange(n + 1) * length
    return Slots(said, offsets, source, X.names, X.alphabet, X.references.values, np.zeros(n, int))


def errors(which, preset, n=6000, m=200, n_folds=3, tie="position"):
    """Mean error of best expert in hindsight, H_MVote, H_CV and of H_Rand (suffix, all rounds), and rounds of CV."""
    slots = slots_of(ads(which, preset, n=n, seed=1))
    loss, eta, rows, chosen = slot_losses(slots), eta_of(0.95), [], []
    for fold in range(n_folds):
        rounds = rounds_of(slots[fold * m : fold * m + m], tying := Tying.learn(slots, tie))
        rest = np.delete(np.arange(n), np.s_[fold * m : fold * m + m])
        where = (rest[:, None] * 10 + np.arange(10)).ravel()
        place, labels, costs = tying.parameters(slots)[where], slots.labels[where], loss[where]
        t = slot_cv_round(rounds, eta)
        suffix = average_weights(rounds, eta, suffix_start(play(rounds, eta)))
        cv = softmin(cumulative_at(rounds, np.array([t]))[0].reshape(suffix.shape), eta)
        whole = average_weights(rounds, eta, 0)
        voted = [costs[np.arange(len(costs)), vote(labels, w.ravel()[place]).first].mean() for w in (suffix, cv)]
        drawn = [(w.ravel()[place] * costs).sum(axis=1).mean() for w in (suffix, whole)]
        rows.append([costs.mean(axis=0).min(), *voted, *drawn])
        chosen.append(t)
    return np.mean(rows, axis=0), chosen


# the table of the specification (its re-simulation), with room for 6,000 sequences instead of 40,000
@pytest.mark.parametrize(
    ("which", "preset", "expected", "room"),
    [
        (1, "matched", [0.562, 0.0201, 0.0201, 0.050, 0.179], [0.004, 0.0015, 0.0015, 0.012, 0.008]),
        (1, "printed", [0.405, 0.0301, 0.0301, 0.091, 0.186], [0.004, 0.002, 0.002, 0.015, 0.01]),
        (2, "printed", [0.400, 0.238, 0.237, 0.400, 0.400], [0, 0.008, 0.006, 0.001, 0.001]),
        (3, "matched", [0.308, 0.182, 0.180, 0.320, 0.320], [0.02, 0.008, 0.006, 0.004, 0.004]),
        (3, "printed", [0.231, 0.058, 0.058, 0.240, 0.240], [0.02, 0.005, 0.004, 0.004, 0.004]),
    ],
)
def test_published_table_as_far_as_it_can_be_reproduced(which, preset, expected, room):
    found, chosen = errors(which, preset)
    assert (np.abs(found - expected) <= np.array(room) + 1e-12).all(), found
    if which != 1:
        assert max(chosen) <= 1  # H_CV takes the (nearly) uniform vote where no expert is better at any position


def test_one_over_l_in_the_exponent_learns_nothing_from_200_rounds():
    slots = slots_of(ads(1, "matched", n=2000))
    rounds = rounds_of(slots[:200], Tying.learn(slots, "position"), loss_scale="normalized")
    weights = average_weights(rounds, eta_of(0.95), 0)
    rest = slots[200:]
    labels = vote(rest.labels, weights[rest.position]).label
    assert (labels != rest.gold).mean() == pytest.approx(0.657, abs=0.02)


def test_errors_are_made_where_the_papers_say():
    gold = {which: slots_of(ads(which, "printed", n=4000)) for which in (1, 2, 3)}
    wrong = {which: (s.labels != s.gold[:, None]).reshape(4000, 10, 5) for which, s in gold.items()}
    for j in range(5):
        home = wrong[1][:, 2 * j : 2 * j + 2, j].mean()
        away = np.delete(wrong[1][:, :, j], [2 * j, 2 * j + 1], axis=1).mean()
        assert home == pytest.approx(0.03, abs=0.01)
        assert away == pytest.approx(0.5, abs=0.02)
    assert (wrong[2].sum(axis=1) == 4).all()
    letters = gold[3].gold
    never = np.array([[not wrong[3].reshape(-1, 5)[letters == a, j].any() for j in range(5)] for a in range(26)])
    assert (never.sum(axis=1) == 1).all()  # each letter has the one expert that knows it
    assert sorted(never.sum(axis=0)) == [5, 5, 5, 5, 6]
    for s in gold.values():
        step = np.abs(s.labels - s.gold[:, None])
        assert step.max() == 1


def test_matched_experts_err_alike():
    s = slots_of(ads(1, "matched", n=500))
    for row, right in zip(s.labels, s.gold, strict=True):
        assert len({int(x) for x in row if x != right}) <= 1


def test_data_depend_on_the_seed_alone():
    one, same, other = ads(1, n=50, seed=3), ads(1, n=50, seed=3), ads(1, n=50, seed=4)
    assert one.hypotheses.values.tolist() == same.hypotheses.values.tolist()
    assert one.references.values.tolist() != other.references.values.tolist()
    assert len(ads(2, n=0)) == 0


@pytest.mark.parametrize(("which", "preset", "n"), [(4, "printed", 1), (1, "exact", 1), (1, "printed", -1)])
def test_unknown_sets_are_refused(which, preset, n):
    with pytest.raises(ParameterError, match="must be"):
        ads(which, preset, n)
