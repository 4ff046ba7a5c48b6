"""The step of AdaBoost.MH once a base classifier's leaves are known: votes, coefficient, edge and Z."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.boosting.settings import RoundSettings


class Step(NamedTuple):
    """What a base classifier adds, h = coefficient * vote, and what becomes of the weights."""

    vote: NDArray[np.float32]  # (leaves, K)
    coefficient: float
    edge: float
    normalizer: float
    for_positive: NDArray[np.float64]  # exp(-h) / total: factor of the weights of y = +1, (leaves, K)
    for_negative: NDArray[np.float64]


def step_of(settings: RoundSettings, vote: Any, signed: NDArray[np.float64], sizes: NDArray[np.float64]) -> Step:
    """The step for leaves with these sums of weights.

    Parameters
    ----------
    settings : RoundSettings
    vote : ndarray, shape (leaves, K)
        +1 and -1, as the base learner has it, or 0; real votes replace it.
    signed, sizes : ndarray of float64, shape (leaves, K)
        Sums of the signed weights w * y, and of their sizes.

    References
    ----------
    Schapire and Singer (1999), section 3; Kegl (ICML 2014), equations 8 and 9.
    """
    weight = float(sizes.sum())
    if settings.votes == "abstain":
        vote = abstaining(vote, signed, sizes)
    edge = float((vote * signed).sum() / weight)
    right, wrong = np.maximum((sizes + signed) / 2, 0), np.maximum((sizes - signed) / 2, 0)
    if settings.real:
        smooth = settings.smoothing / (vote.shape[1] * settings.n_rows) * weight
        vote, coefficient = settings.shrinkage * np.log((right + smooth) / (wrong + smooth)) / 2, 1.0
    else:
        speaking = float(sizes[vote != 0].sum()) / weight
        inside = float(np.clip(edge / speaking if speaking > 0 else 0.0, settings.clamp - 1.0, 1.0 - settings.clamp))
        shares = speaking * (1.0 + inside) / 2, speaking * (1.0 - inside) / 2, 1.0 - speaking
        coefficient = settings.shrinkage * coefficient_of(*shares, settings.edge_offset) if speaking > 0 else 0.0
    vote = np.asarray(vote, np.float32)
    h = coefficient * vote.astype(np.float64)
    total = float((right * np.exp(-h) + wrong * np.exp(h)).sum())
    return Step(vote, coefficient, edge, total / weight, np.exp(-h) / total, np.exp(h) / total)


def reweight(weight: NDArray[np.float64], step: Step, leaf: NDArray[np.int64]) -> None:
    """Multiply signed weights, shape (n, K), by exp(-h y) / total, for the leaf of each row."""
    weight *= np.where(weight > 0, step.for_positive[leaf], step.for_negative[leaf])


def coefficient_of(right: float, wrong: float, silent: float = 0.0, edge_offset: float = 0.0) -> float:
    """alpha from the shares of the weight that a base classifier has right, has wrong, and is silent on.

    It minimises exp(alpha theta) (wrong e^alpha + right e^-alpha + silent), theta being the edge offset; it is positive
    if the edge right - wrong is over theta.

    Parameters
    ----------
    right, wrong : float
        > 0.
    silent : float
    edge_offset : float

    Examples
    --------
    >>> round(coefficient_of(0.6, 0.3, 0.1), 6), round(coefficient_of(0.6, 0.3, 0.1, edge_offset=0.1), 6)
    (0.346574, 0.234394)

    References
    ----------
    Raetsch and Warmuth, "Efficient margin maximizing with boosting" (JMLR 6, 2005), for AdaBoost_rho.
    """
    if edge_offset == 0.0 or silent <= 0.0:  # half the log-odds, less those of an edge of theta
        return float(0.5 * np.log(right / wrong) - np.arctanh(edge_offset))
    # e^alpha solves (1 + theta) wrong x^2 + theta silent x = (1 - theta) right, without a difference of near equals
    linear = edge_offset * silent
    root = np.sqrt(linear * linear + 4.0 * (1.0 - edge_offset**2) * wrong * right)
    return float(np.log(2.0 * (1.0 - edge_offset) * right / (linear + root)))


def abstaining(vote: Any, signed: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The votes that make Z least if some may be silent: 0 for the leaves and classes that are nearly a coin's toss.

    Of votes in falling order of right over wrong a first part is the best choice: for any alpha those pay whose odds
    are over e^alpha. So it is found by sorting, where MultiBoost drops one class after the other or tries all 2^K.

    Parameters
    ----------
    vote, signed, sizes : ndarray, shape (leaves, K)
        As in `step_of`.

    Examples
    --------
    >>> abstaining(np.array([[1.0, -1.0]]), np.array([[0.4, -0.01]]), np.array([[0.5, 0.5]])).tolist()
    [[1.0, -0.0]]
    """
    vote, gained = np.asarray(vote, np.float64), (vote * signed).reshape(-1)
    right, wrong = np.maximum(sizes.reshape(-1) + gained, 0) / 2, np.maximum(sizes.reshape(-1) - gained, 0) / 2
    order = np.argsort(-gained / np.where(sizes.reshape(-1) > 0, sizes.reshape(-1), 1.0), kind="stable")
    spoken = np.cumsum(right[order]), np.cumsum(wrong[order])
    z = sizes.sum() - spoken[0] - spoken[1] + 2.0 * np.sqrt(spoken[0] * spoken[1])
    kept = np.zeros(len(order), np.bool_)
    kept[order[: int(np.argmin(z)) + 1]] = True
    out: NDArray[np.float64] = vote * kept.reshape(vote.shape)
    return out
