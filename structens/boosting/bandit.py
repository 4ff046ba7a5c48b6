"""Which features the next base classifier may cut, learnt by a bandit from how much earlier ones earned.

Arms are sets of features, the reward of a round is what its base classifier takes off the bound on the error.
Busa-Fekete and Kegl, "Accelerating AdaBoost using UCB" (KDD Cup 2009) and "Fast boosting using adversarial bandits"
(ICML 2010).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BANDITS = ("ucb", "ucbv", "exp3", "exp3p")


def reward_of(edge: float) -> float:
    """min(1, -log Z) for an edge, Z = sqrt(1 - edge^2): from 0 to 1.

    Examples
    --------
    >>> round(reward_of(0.2), 6), reward_of(1.0)
    (0.020411, 1.0)
    """
    inside = 1.0 - min(edge * edge, 1.0)
    return 1.0 if inside <= np.exp(-2.0) else float(max(0.0, -0.5 * np.log(inside)))


class FeatureBandit:
    """Arms, and the rewards of those pulled.

    Every arm is pulled once at the start, in the order in which they were drawn.

    Parameters
    ----------
    d : int
        Features.
    size : int
        Features of an arm; they are shared out at random, and the last arm may have fewer.
    policy : {"ucb", "ucbv", "exp3", "exp3p"}
        "ucb": the largest mean + sqrt(2 ln t / pulls), Auer et al. (2002). "ucbv": the same with the variance of the
        rewards, Audibert et al. (2009). "exp3": at random, by weights that grow with rewards over probabilities, Auer
        et al. (2002b), gamma .01. "exp3p": the same where all arms gain a little more the rarer they are, gamma .1, so
        that the regret is bounded with high probability.
    random_state : int

    Examples
    --------
    >>> bandit = FeatureBandit(d=3, size=1, policy="ucb")
    >>> for edge in [0.1, 0.9, 0.2]:
    ...     _ = bandit.pull()
    ...     bandit.reward(edge)
    >>> bandit.pull().tolist() == bandit.arms[1].tolist()
    True
    """

    eta, horizon = 0.4, 100  # of "exp3p", as MultiBoost has them

    def __init__(self, d: int, size: int, policy: str, random_state: int = 0) -> None:
        self.gamma = 0.1 if policy == "exp3p" else 0.01
        self.policy, self.rng = policy, np.random.default_rng([random_state, 11])
        order = self.rng.permutation(d)
        self.arms: list[NDArray[np.int64]] = [np.sort(order[at : at + size]) for at in range(0, d, size)]
        n = len(self.arms)
        self.pulls, self.sums, self.squares = np.zeros(n, np.int64), np.zeros(n), np.zeros(n)
        self.log_weight = np.zeros(n)
        self.arm = -1

    def pull(self) -> NDArray[np.int64]:
        """Features of the next arm, ascending."""
        waiting = np.flatnonzero(self.pulls == 0)
        if len(waiting):
            self.arm = int(waiting[0])
        elif self.policy in ("exp3", "exp3p"):
            self.arm = int(self.rng.choice(len(self.arms), p=self.probabilities()))
        else:
            self.arm = int(np.argmax(self.indices()))
        return self.arms[self.arm]

    def reward(self, edge: float) -> None:
        """The edge reached with the arm pulled last."""
        value = reward_of(edge)
        if self.policy == "exp3" and self.pulls.all():
            share = self.probabilities()[self.arm]
            self.log_weight[self.arm] += self.gamma / len(self.arms) * value / share
        elif self.policy == "exp3p" and self.pulls.all():
            shares, n = self.probabilities(), len(self.arms)
            gained = self.eta / (shares * np.sqrt(n * self.horizon))
            gained[self.arm] += value / shares[self.arm]
            self.log_weight += self.gamma / (3 * n) * gained
        self.pulls[self.arm] += 1
        self.sums[self.arm] += value
        self.squares[self.arm] += value * value

    def indices(self) -> NDArray[np.float64]:
        """Upper confidence bound of each arm, infinite before its first pull."""
        pulls = np.maximum(self.pulls, 1)
        mean, log_t = self.sums / pulls, np.log(max(1, int(self.pulls.sum())))
        if self.policy == "ucbv":
            variance = np.maximum(self.squares / pulls - mean**2, 0.0)
            bound = mean + np.sqrt(2.0 * variance * log_t / pulls) + log_t / pulls  # zeta 1, c 1/3, b 1
        else:
            bound = mean + np.sqrt(2.0 * log_t / pulls)
        return np.where(self.pulls == 0, np.inf, bound)

    def probabilities(self) -> NDArray[np.float64]:
        """Of the arms, for "exp3" and "exp3p"."""
        weight = np.exp(self.log_weight - self.log_weight.max())
        out = (1.0 - self.gamma) * weight / weight.sum() + self.gamma / len(self.arms)
        shares: NDArray[np.float64] = out / out.sum()
        return shares


class BanditRounds:
    """Rounds whose features a bandit chooses.

    Parameters
    ----------
    rounds : Rounds
    bandit : FeatureBandit
    """

    def __init__(self, rounds: Any, bandit: FeatureBandit) -> None:
        self.rounds, self.bandit, self.least_edge = rounds, bandit, rounds.least_edge

    def play(self, features: NDArray[np.int64] | None = None) -> Any:
        """The next base classifier. An arm without any edge is passed over, as long as there are others to try."""
        for _ in self.bandit.arms:
            played = self.rounds.play(self.bandit.pull())
            edge = (played[0] if isinstance(played, list) else played).edge
            self.bandit.reward(edge)
            if edge > self.least_edge:
                break
        return played

    def weights(self) -> NDArray[Any]:
        """Signed weights, shape (n, K)."""
        out: NDArray[Any] = self.rounds.weights()
        return out

    def close(self) -> None:
        """Let go of threads."""
        self.rounds.close()
