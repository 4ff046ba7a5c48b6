"""ADS1 to ADS3: the artificial data of Cortes, Kuznetsov and Mohri (ICML 2014, section 5; ACL 2014, table 2).

40,000 sequences of 10 letters from an arbitrary Markov chain, and p = 5 experts that err to a neighbouring letter:

1. expert j is nearly always right at positions 2j - 1 and 2j, and often wrong elsewhere;
2. every expert is wrong at 4 random positions of each sequence;
3. expert j is always right on the letters of its own fifth of the alphabet, and often wrong on others.

Preset "printed" takes the rates of the papers' text. They contradict the papers' own tables (on ADS1 the text means a
best error of .41, the table says .56). Preset "matched" takes rates fitted to the tables: ADS1 .98 and .3, ADS3 .6,
and one neighbour for all experts that err in a place. ADS2 is the same in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from structens.core import Alphabet, ExpertPredictions, ParameterError, Ragged

N_EXPERTS = 5
LENGTH = 10
N_WRONG_ADS2 = 4


@dataclass(frozen=True)
class _Preset:
    """Chance to be right at home (own positions or letters) and away; does one wrong neighbour serve all experts."""

    home: float
    away: float
    shared: bool


_PRESETS = {
    (1, "printed"): _Preset(0.97, 0.5, shared=False),
    (1, "matched"): _Preset(0.98, 0.3, shared=True),
    (2, "printed"): _Preset(1.0, 0.6, shared=False),
    (2, "matched"): _Preset(1.0, 0.6, shared=False),
    (3, "printed"): _Preset(1.0, 0.7, shared=False),
    (3, "matched"): _Preset(1.0, 0.6, shared=True),
}


def ads(which: int, preset: str = "printed", n: int = 40_000, seed: int = 0) -> ExpertPredictions:
    """Make one of the artificial data sets.

    Parameters
    ----------
    which : {1, 2, 3}
    preset : {"printed", "matched"}
        Rates of the papers' text, or rates fitted to their tables.
    n : int
        Number of sequences.
    seed : int

    Returns
    -------
    ExpertPredictions
        With gold; experts h1 to h5, labels a to z, every sequence of length 10.

    Raises
    ------
    ParameterError
        If there is no such set or preset, or n is negative.

    Examples
    --------
    >>> X = ads(2, n=100)
    >>> len(X), X.names
    (100, ('h1', 'h2', 'h3', 'h4', 'h5'))
    >>> sum(a != b for a, b in zip(X["h3"][7], X.gold[7]))
    4
    """
    if (which, preset) not in _PRESETS:
        raise ParameterError(f"which must be 1, 2 or 3 and preset 'printed' or 'matched'; got {which!r}, {preset!r}")
    if n < 0:
        raise ParameterError(f"n must be >= 0; got {n}")
    rng = np.random.default_rng([which, seed])
    rates = _PRESETS[which, preset]
    gold = _markov_chain(n, rng)
    wrong = _errors(which, rates, gold, rng)
    neighbour = _neighbours(gold, 1 if rates.shared else N_EXPERTS, rng)
    said = np.where(wrong, neighbour, gold[:, None, :]).astype(np.int32)
    return ExpertPredictions(
        names=tuple(f"h{j + 1}" for j in range(N_EXPERTS)),
        alphabet=Alphabet(tuple(ascii_lowercase)),
        hypotheses=Ragged(said.ravel(), np.arange(n * N_EXPERTS + 1) * LENGTH),
        present=np.ones((n, N_EXPERTS), dtype=np.bool_),
        ids=tuple(range(n)),
        references=Ragged(gold.ravel(), np.arange(n + 1) * LENGTH),
        reference_offsets=np.arange(n + 1),
        unit="token",
    )


def _markov_chain(n: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Sequences of a chain whose rows are drawn uniformly from all distributions; shape (n, LENGTH)."""
    size = len(ascii_lowercase)
    up_to = rng.dirichlet(np.ones(size), size=size).cumsum(axis=1)
    out = np.zeros((n, LENGTH), dtype=np.int32)
    out[:, 0] = rng.integers(size, size=n)
    for k in range(1, LENGTH):
        drawn = rng.random(n)
        out[:, k] = np.minimum((up_to[out[:, k - 1]] <= drawn[:, None]).sum(axis=1), size - 1)
    return out


def _errors(which: int, rates: _Preset, gold: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Where each expert errs, shape (n, N_EXPERTS, LENGTH)."""
    shape = (len(gold), N_EXPERTS, LENGTH)
    if which == 2:
        rank: NDArray[np.bool_] = rng.random(shape).argsort(axis=2) < N_WRONG_ADS2
        return rank
    expert = np.arange(N_EXPERTS)[:, None]
    if which == 1:
        at_home = np.arange(LENGTH) // 2 == expert
    else:
        size = len(ascii_lowercase)
        owner = np.empty(size, dtype=np.int64)
        owner[rng.permutation(size)] = np.arange(size) % N_EXPERTS
        at_home = owner[gold][:, None, :] == expert
    wrong: NDArray[np.bool_] = rng.random(shape) >= np.where(at_home, rates.home, rates.away)
    return wrong


def _neighbours(gold: NDArray[np.int32], copies: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """The letter before or after, at random; the ends of the alphabet have one neighbour. Shape (n, copies, LENGTH)."""
    size = len(ascii_lowercase)
    step = rng.integers(2, size=(len(gold), copies, LENGTH), dtype=np.int32) * 2 - 1
    moved = gold[:, None, :] + step
    return np.where((moved < 0) | (moved >= size), gold[:, None, :] - step, moved)
