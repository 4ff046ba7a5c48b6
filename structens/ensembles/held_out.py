"""Choice of beta by cross-validation on the records of learning, with the decoder that will be used.

The papers never say how they picked beta. Regret bounds recommend rates for the worst case; on real data the best rate
can be far from them, and a grid costs a dozen passes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structens.core import Slots
from structens.ensembles.vote import vote
from structens.losses import AdditiveLoss
from structens.online.converted import convert, parameters_of, transition_weights
from structens.online.rates import eta_of
from structens.online.rounds import rounds_of
from structens.online.tying import Tie, Tying

BETA_GRID = (*(1.0 - 0.9 * (0.0001 / 0.9) ** (np.arange(13) / 12.0)).round(6).tolist(), 1.0)
"""From .1 to .9999, geometric in 1 - beta, and 1."""
N_FOLDS = 5
MOST_SLOTS = 200_000
"""Slots of the first records that the choice looks at; more change it little."""


def held_out_beta(
    slots: Slots,
    tie: Tie,
    *,
    rule: str = "mvote",
    loss: str | AdditiveLoss = "hamming",
    loss_scale: str = "per_substructure",
    delta: float = 0.05,
    union_bound: bool = False,
) -> float:
    """Beta of the grid with the least held-out loss; of equal ones the largest, nearest to the plain vote.

    Every fifth record makes a fold. Other records are learnt from in their order, and the loss of the label voted for
    is summed over the fold's slots, where a unit too many or too few counts like a wrong one. For rule "rand" it is the
    expected loss. Deterministic.

    Parameters
    ----------
    slots : Slots
        Records with gold, at least two.
    tie, rule, loss, loss_scale, delta, union_bound
        As in `structens.ensembles.path_experts.PathExpertEnsemble`.

    Examples
    --------
    >>> from structens.core import Alphabet
    >>> labels = np.array([[0, 1, 1]] * 40, np.int32)
    >>> s = Slots(labels, np.arange(41), np.zeros((40, 3), int), ("a", "b", "c"), Alphabet(("x", "y")),
    ...           np.zeros(40, np.int32), np.zeros(40, int))
    >>> held_out_beta(s, "expert") < 1
    True
    """
    n_records = max(int(np.searchsorted(slots.offsets, MOST_SLOTS, side="right")) - 1, 2)
    slots = slots[:n_records] if n_records < len(slots) else slots
    fold = np.arange(len(slots)) % min(N_FOLDS, len(slots))
    total = np.zeros(len(BETA_GRID))
    for k in range(int(fold.max()) + 1):
        learn, test = slots[fold != k], slots[fold == k]
        tying = Tying.learn(learn, tie)
        rounds = rounds_of(learn, tying, loss, loss_scale)
        loss_of = rounds_of(test, Tying.learn(test, "expert"), loss).loss
        parameter, _ = parameters_of(test, tying)
        for i, beta in enumerate(BETA_GRID):
            # 8 rounds are enough to compare rates where tying by label averages over a grid
            averaging = "mvote" if rule == "rand" else rule
            made = convert(rounds, eta_of(beta), averaging, delta=delta, union_bound=union_bound, n_most=8)
            weights = transition_weights(made, parameter, eta_of(beta))
            total[i] += _loss(test, weights, loss_of, draws=rule == "rand")
    return float(BETA_GRID[len(total) - 1 - int(total[::-1].argmin())])


def _loss(slots: Slots, weights: NDArray[np.float64], loss: NDArray[np.float64], *, draws: bool) -> float:
    if draws:
        total = weights.sum(axis=1, keepdims=True)
        return float((weights / np.where(total > 0, total, 1.0) * loss).sum())
    first = vote(slots.labels, weights).first
    return float(loss[np.arange(len(loss)), first].sum())
