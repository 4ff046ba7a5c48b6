"""A made-up task with two views: what two independent sources say of each row, and seed rules for a quarter of it.

The setting that co-training is made for (Blum and Mitchell, COLT 1998): given the class, the views are independent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.core import ParameterError

N_WORDS, WORDS_A_ROW, LEAN = 600, 6, 0.8
N_SEEDS, COVERAGE, NOISE = 3, 0.25, 0.1


class TwoViews(NamedTuple):
    """Rows seen from two sides.

    Parameters
    ----------
    view1, view2 : list of list of str
        Names of the features of each row.
    labels : ndarray of str, shape (n,)
        "no" or "yes".
    seeds : dict of str to str
        From features of view 1 to labels.
    """

    view1: list[list[str]]
    view2: list[list[str]]
    labels: NDArray[Any]
    seeds: dict[str, str]


def two_views(n: int = 5000, prior: float = 0.5, seed: int = 0) -> TwoViews:
    """Draw n rows of two classes.

    Each view draws six words a row from 600, which lean to one class or the other. Three more features of view 1 for
    each class are seed rules: together they cover about a quarter of the rows, and one of ten that they cover has the
    other class.

    Parameters
    ----------
    n : int
        Rows, at least 1.
    prior : float
        Share of the class "yes", over 0 and under 1.
    seed : int

    Raises
    ------
    ParameterError
        If n or prior is out of its range.

    Examples
    --------
    >>> data = two_views(n=100)
    >>> len(data.view1), sorted(set(data.labels.tolist())), data.seeds["seed-yes-1"]
    (100, ['no', 'yes'], 'yes')
    """
    if n < 1 or not 0 < prior < 1:
        raise ParameterError(f"n must be at least 1 and prior over 0 and under 1; got {n} and {prior}")
    rng = np.random.default_rng(seed)
    yes = rng.random(n) < prior
    views = [_words(rng, yes, letter) for letter in "ab"]
    seeds = {}
    for label, own, share in (("no", ~yes, 1.0 - prior), ("yes", yes, prior)):
        for k in range(1, N_SEEDS + 1):
            seeds[f"seed-{label}-{k}"] = label
            rate = COVERAGE / N_SEEDS * np.where(own, 1.0 - NOISE, NOISE * share / (1.0 - share))
            for i in np.flatnonzero(rng.random(n) < rate):
                views[0][i].append(f"seed-{label}-{k}")
    return TwoViews(views[0], views[1], np.where(yes, "yes", "no"), seeds)


def _words(rng: np.random.Generator, yes: NDArray[np.bool_], letter: str) -> list[list[str]]:
    common, lean = rng.gamma(1.0, size=N_WORDS), rng.normal(0.0, LEAN, size=N_WORDS)
    drawn = np.empty((len(yes), WORDS_A_ROW), dtype=np.int64)
    for rows, sign in ((~yes, -1.0), (yes, 1.0)):
        p = common * np.exp(sign * lean)
        drawn[rows] = rng.choice(N_WORDS, size=(int(rows.sum()), WORDS_A_ROW), p=p / p.sum())
    return [sorted({f"{letter}{word:03d}" for word in row}) for row in drawn.tolist()]
