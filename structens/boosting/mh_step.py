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
        +1 and -1, as the base learner has it; real votes replace it.
    signed, sizes : ndarray of float64, shape (leaves, K)
        Sums of the signed weights w * y, and of their sizes.

    References
    ----------
    Schapire and Singer (1999), section 3; Kegl (ICML 2014), equations 8 and 9.
    """
    weight = float(sizes.sum())
    edge = float((vote * signed).sum() / weight)
    right, wrong = np.maximum((sizes + signed) / 2, 0), np.maximum((sizes - signed) / 2, 0)
    if settings.real:
        smooth = settings.smoothing / (vote.shape[1] * settings.n_rows) * weight
        vote, coefficient = settings.shrinkage * np.log((right + smooth) / (wrong + smooth)) / 2, 1.0
    else:
        inside = float(np.clip(edge, settings.clamp - 1.0, 1.0 - settings.clamp))
        coefficient = settings.shrinkage * 0.5 * float(np.log((1 + inside) / (1 - inside)))
    vote = np.asarray(vote, np.float32)
    h = coefficient * vote.astype(np.float64)
    total = float((right * np.exp(-h) + wrong * np.exp(h)).sum())
    return Step(vote, coefficient, edge, total / weight, np.exp(-h) / total, np.exp(h) / total)
