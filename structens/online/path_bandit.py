"""PathBandit: EXP3-AG of Cortes and co-authors (ALT 2019), learning over paths from any gain of the path drawn.

The paper multiplies a growing automaton by one that knows the path drawn. Here the weights of the paths that were drawn
lie in a dictionary, over equal weights of all others, which is the same distribution at less cost.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.automata import n_paths, push, sample
from structens.core import Automaton, DataError, ParameterError


class PathBandit:
    """EXP3-AG: a learner over the paths of a small automaton that sees any gain in [0, 1] of its own path.

    Parameters
    ----------
    automaton : Automaton
        Acyclic; the same in all rounds. The regret grows with the root of its number of paths.
    eta : float
        Rate.
    by : {"loss", "gain"}
        Estimate 1 - gain by (1 - gain) / W, as the proof of the bound does, or the gain itself by gain / W, as the
        paper prints; W is the chance of the path drawn.
    seed : int

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1])
    >>> learner = PathBandit(a, eta=0.1)
    >>> for _ in range(200):
    ...     learner.update(float(learner.path()[0] == 1))
    >>> learner.probability([1]) > 0.9
    True
    """

    def __init__(self, automaton: Automaton, eta: float, *, by: str = "loss", seed: int = 0) -> None:
        if not eta >= 0 or by not in ("loss", "gain"):
            raise ParameterError(f"need eta >= 0 and by 'loss' or 'gain'; got {eta!r} and {by!r}")
        self.automaton, self.eta, self.by, self.seed = automaton, eta, by, seed
        self.n_paths = n_paths(automaton)
        self._uniform = push(automaton, np.zeros(automaton.n_transitions)).weight
        self._log_bonus: dict[tuple[int, ...], float] = {}
        self.n_rounds = 0

    @property
    def _log_total(self) -> float:
        """Logarithm of the summed weights: 1 for each path never drawn, and the bonuses."""
        logs = list(self._log_bonus.values())
        rest = self.n_paths - len(logs)
        if rest:
            logs.append(math.log(rest))
        top = max(logs)
        return top + math.log(math.fsum(math.exp(x - top) for x in logs))

    def probability(self, path: Any) -> float:
        """Chance of a path in this round."""
        return math.exp(self._log_bonus.get(tuple(int(e) for e in path), 0.0) - self._log_total)

    def path(self) -> NDArray[np.int64]:
        """Transitions of the path drawn for this round; the same until `update`."""
        generator = np.random.default_rng([self.seed, self.n_rounds])
        x, total = generator.random(), self._log_total
        for path, bonus in self._log_bonus.items():
            x -= math.exp(bonus - total)
            if x < 0:
                return np.array(path, dtype=np.int64)
        while len(self._log_bonus) < self.n_paths:  # one of those never drawn
            drawn = sample(self.automaton, self._uniform, 1, generator)[0]
            if tuple(drawn.tolist()) not in self._log_bonus:
                return drawn
        return np.array(path, dtype=np.int64)

    def update(self, gain: float) -> None:
        """Learn from the gain of `path`.

        Raises
        ------
        DataError
            If the gain is not between 0 and 1.
        """
        if not 0 <= gain <= 1:
            raise DataError(f"the gain of a path must be between 0 and 1; got {gain!r}; divide by the largest")
        path = tuple(self.path().tolist())
        change = gain if self.by == "gain" else gain - 1.0
        step = self.eta * change / self.probability(path)
        self._log_bonus[path] = self._log_bonus.get(path, 0.0) + step
        self.n_rounds += 1


def path_bandit_regret(automaton: Automaton, n_rounds: int, largest: float = 1.0) -> float:
    """Expected regret at rate sqrt(2 ln N / (T N)): at most U sqrt(2 T N ln N); N is exponential in the length.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7), (0, 1, 8)], final=[1])
    >>> round(path_bandit_regret(a, 10_000), 1)
    166.5
    """
    count = n_paths(automaton)
    return largest * math.sqrt(2.0 * n_rounds * count * math.log(count))
