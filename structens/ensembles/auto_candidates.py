"""Which methods `AutoEnsemble` tries, in which order, and what it takes by their out-of-fold errors.

With little gold few methods are tried, since the least of many uncertain errors is a bad guide, and the method that has
proved itself with so little gold must be beaten by more than chance before another is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from structens.core import ParameterError

POOL = "pool"
"""Name of the log-linear pool of all candidates."""
CANDIDATES: tuple[tuple[str, int], ...] = (
    (POOL, 10),
    ("dawid-skene", 2),
    ("mvote", 2),
    ("sle", 2),
    ("confusion", 10),
    ("boosted-paths", 10),
    ("best", 2),
    ("vote", 2),
)
"""Method and the least number of records with gold from which on it is tried.

They are in the order of what they are worth with little gold: by the mean error of each learnt on 3 to 50 records of
real data, and by how far it can be worse than the best expert (docs/auto.md).
"""
WITHOUT_GOLD = ("dawid-skene",)
"""They learn from records without gold too. Tried where records name workers, or where gold is little and others have
none: otherwise experts that repeat each other's mistakes deceive them (docs/auto.md)."""
LITTLE = 100
"""Records with gold up to which it is little."""
MOST_OTHERS = 2000
"""Records without gold, and without workers, that are learnt from."""
CERTAIN_FROM = 50
"""Records with gold from which on the least error is taken, whatever the order of preference."""


def candidates_of(n_gold: int, asked: Sequence[str] | None, known: Sequence[str], *, others: bool = False) -> list[str]:
    """Methods to try, the most useful first.

    Parameters
    ----------
    n_gold : int
        Records with gold.
    asked : sequence of str, optional
        Those of the user; then no others.
    known : sequence of str
        Methods that there are.
    others : bool
        Whether those that learn from records without gold are to be tried.

    Raises
    ------
    ParameterError
        If one asked for is unknown.

    Examples
    --------
    >>> candidates_of(5, None, ("best", "vote", "mvote", "sle", "cv")), candidates_of(1, None, ("best", "vote"))
    (['mvote', 'sle', 'best', 'vote'], [])
    """
    if asked is not None:
        for name in asked:
            if name not in known:
                raise ParameterError(f"candidates must be of {', '.join(known)}; got {name!r}")
        return list(dict.fromkeys(asked))
    able = [name for name in known if others or name not in WITHOUT_GOLD]
    return [name for name, fewest in CANDIDATES if n_gold >= fewest and name in able]


@dataclass(frozen=True)
class Trial:
    """Out-of-fold errors of one candidate.

    Parameters
    ----------
    name : str
    errors : ndarray of float64, shape (n,)
        Edit distance of each record's answer.
    """

    name: str
    errors: NDArray[np.float64]


def choose(trials: Sequence[Trial]) -> tuple[str, str]:
    """The candidate to take, and the one with the least error.

    With `CERTAIN_FROM` records or more they are the same. With fewer the first candidate is taken whose error is larger
    than the least by no more than one standard error of the difference. That is the rule of Breiman, Friedman, Olshen
    and Stone, "Classification and Regression Trees" (1984), section 3.4.3, with paired differences, and with the order
    of preference where they have that of simplicity.

    Parameters
    ----------
    trials : sequence of Trial
        In the order of preference.

    Examples
    --------
    >>> few = [Trial("best", np.array([1.0, 0, 0, 1, 0])), Trial("mvote", np.array([0.0, 1, 0, 0, 0]))]
    >>> choose(few), choose([Trial(t.name, np.tile(t.errors, 40)) for t in few])
    (('best', 'mvote'), ('mvote', 'mvote'))
    """
    totals = [float(trial.errors.sum()) for trial in trials]
    least = trials[int(np.argmin(totals))]
    if len(least.errors) >= CERTAIN_FROM:
        return least.name, least.name
    for trial in trials:
        worse = trial.errors - least.errors
        slack = np.sqrt(len(worse)) * worse.std(ddof=1)
        if worse.sum() <= slack * (1.0 + 1e-9):
            return trial.name, least.name
    return least.name, least.name


def by_preference(names: Sequence[str]) -> list[str]:
    """Candidates in the order of preference; what is not named comes last.

    Examples
    --------
    >>> by_preference(["other", "best", "sle", "pool"])
    ['pool', 'sle', 'best', 'other']
    """
    rank = {name: i for i, (name, _) in enumerate(CANDIDATES)}
    return sorted(names, key=lambda name: rank.get(name, len(rank)))


def pools(n_gold: int) -> bool:
    """Whether there is gold enough for a pool.

    Examples
    --------
    >>> pools(9), pools(10)
    (False, True)
    """
    return n_gold >= dict(CANDIDATES)[POOL]
