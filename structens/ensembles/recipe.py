"""Recipe: how rounds become a predictor: rule and learner; shared by fitting and by the choice of rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from structens.core import ParameterError, Slots
from structens.ensembles.restriction import Restriction, compile_restriction
from structens.online.converted import RULES, Converted, convert
from structens.online.history_conversion import LEARNERS, RATELESS, context_learner, convert_history, with_mean_row
from structens.online.noise import Perturbation
from structens.online.rates import eta_of
from structens.online.regret import regret, regret_bound
from structens.online.restricted import RESTRICTS
from structens.online.restricted_slots import RestrictedGame, restricted_game
from structens.online.rounds import Rounds
from structens.online.slot_conversion import MOST_AVERAGED
from structens.online.slot_leaders import ARGMIN, LEADER_RULES, convert_leaders
from structens.online.tying import Tying
from structens.online.visits import ABSENCES, visits_of

ALL_RULES = (*RULES, *LEADER_RULES)


@dataclass(frozen=True)
class Played:
    """A predictor and the game it comes from.

    Parameters
    ----------
    converted : Converted
    reading_rate : float
        Rate at which the snapshots are read.
    regret, bound : float
        Charged loss beyond the best path expert in hindsight, and a bound on it; infinite where there is none.
    state : dict of str to ndarray
        The learner's state, for the rule "last" and contexts shared by a slot's experts; else empty.
    excess : float
        What restricted play was charged beyond play on all paths; part of `regret`.
    """

    converted: Converted
    reading_rate: float
    regret: float
    bound: float
    state: dict[str, NDArray[np.float64]]
    excess: float = 0.0


@dataclass(frozen=True)
class Recipe:
    """Parameters as in `structens.ensembles.path_experts.PathExpertEnsemble`.

    Raises
    ------
    ParameterError
        In `check`, if one is out of range or two do not go together.
    """

    rule: str = "mvote"
    learner: str = "hedge"
    absent: str = "sleep"
    share: float = 0.01
    noise: str = "exp_add"
    delta: float = 0.05
    union_bound: bool = False
    seed: int = 0
    restrict: str | None = None
    restriction: Restriction | None = None

    @property
    def follows_leaders(self) -> bool:
        """The rule is one of Follow the Perturbed Leader, whose rate is epsilon."""
        return self.rule in LEADER_RULES

    @property
    def takes_rate(self) -> bool:
        """Beta or epsilon matters."""
        return self.follows_leaders or self.learner not in RATELESS

    def check(self, tie: object) -> None:
        """Refuse what cannot be done."""
        for name, allowed in (("rule", ALL_RULES), ("learner", LEARNERS), ("absent", ABSENCES)):
            if getattr(self, name) not in allowed:
                raise ParameterError(f"{name} must be one of {', '.join(allowed)}; got {getattr(self, name)!r}")
        if self.follows_leaders and self.learner != "hedge":
            raise ParameterError(f"rule {self.rule!r} follows perturbed leaders; it does not go with {self.learner!r}")
        if tie == "label" and self.learner != "hedge":
            rule = "with tie 'label' the experts of a slot share no context, so that only learner 'hedge' is defined"
            raise ParameterError(f"{rule}; got {self.learner!r}")
        if self.learner == "prequential" and self.rule != "last":
            rule = "learner 'prequential' judges answers as they are given, so its rule is 'last'"
            raise ParameterError(f"{rule}; got {self.rule!r}")
        if self.restrict is not None:
            self._check_restrict(tie)

    def _check_restrict(self, tie: object) -> None:
        if self.restrict not in RESTRICTS:
            raise ParameterError(f"restrict must be None or one of {', '.join(RESTRICTS)}; got {self.restrict!r}")
        if self.restriction is None:
            rule = f"restrict={self.restrict!r} says how a restriction is learnt under"
            raise ParameterError(f"{rule}, and none is given; give restriction (--constraint), or leave restrict out")
        if self.follows_leaders or tie == "label":
            what = f"rule {self.rule!r}" if self.follows_leaders else "tie 'label'"
            way_out = "leave restrict out to learn as usual and decode restricted"
            raise ParameterError(f"restrict={self.restrict!r} is not defined for {what}; {way_out}")

    def game(
        self,
        slots: Slots,
        rounds: Rounds,
        tying: Tying,
        *,
        alive: NDArray[np.bool_] | None = None,
        ids: Sequence[str | int] | None = None,
    ) -> RestrictedGame | None:
        """The rounds as they are played under the restriction; None where learning is not restricted.

        Parameters
        ----------
        slots, rounds, tying
        alive, ids
            See `structens.online.restricted_slots.restricted_game`.
        """
        if self.restrict is None or self.restriction is None:
            return None
        acceptor, sleep = compile_restriction(self.restriction, slots.alphabet), self.absent == "sleep"
        return restricted_game(slots, rounds, tying, acceptor, self.restrict, sleep=sleep, alive=alive, ids=ids)

    def play(
        self,
        rounds: Rounds,
        awake: NDArray[np.bool_],
        rate: float,
        *,
        ids: NDArray[np.int64] | None = None,
        n_most: int = MOST_AVERAGED,
        game: RestrictedGame | None = None,
    ) -> Played:
        """Play the rounds and convert.

        Parameters
        ----------
        rounds : Rounds
        awake : ndarray of bool, shape (n_slots, p)
        rate : float
            Beta, or epsilon for the rules of the leader.
        ids : ndarray of int64, optional
            See `structens.online.noise.Perturbation`.
        n_most : int
            See `structens.online.converted.convert`.
        game : RestrictedGame, optional
            From `game`, of these rounds; its own rounds are played.
        """
        options = {"delta": self.delta, "union_bound": self.union_bound}
        if self.follows_leaders:
            how = Perturbation(rate, self.noise, self.seed, ids)
            made = convert_leaders(rounds, how, self.rule, **options)  # type: ignore[arg-type]
            return Played(made, ARGMIN, regret(rounds, made.round_losses), math.inf, {})
        eta = eta_of(rate) if self.takes_rate else 0.0
        if game is not None:
            rounds, awake = game.rounds, game.awake
        everybody = (self.absent == "neutral" and game is None) or bool(awake.all())
        keeps_state = self.rule == "last" and rounds.by_slot
        if not rounds.by_slot or (self.learner == "hedge" and everybody and not keeps_state and game is None):
            made = convert(rounds, eta, self.rule, n_most=n_most, **options)  # type: ignore[arg-type]
            return Played(made, eta, regret(rounds, made.round_losses), regret_bound(rounds, eta), {})
        learner = context_learner(self.learner, rounds.n_experts, eta, self.share)
        history = learner.play(visits_of(rounds, None if everybody else awake))
        made = convert_history(history, rounds, self.rule, game=game, **options)  # type: ignore[arg-type]
        state = learner.state if keeps_state else {}
        if keeps_state:
            final = history.final if game is None else game.left(history.final)
            made = made._replace(weights=with_mean_row(final, learner.state["n_visits"]))
        excess = 0.0 if game is None else game.excess(history, made.round_losses)
        bound = learner.regret_bound() if game is None or game.keeps_bound else math.inf
        return Played(made, 1.0, learner.regret() + excess, bound, state, excess)


def noise_ids(tying: Tying, names: tuple[str, ...]) -> NDArray[np.int64]:
    """Names of parameters for draws that do not depend on the order of experts or of labels; shape (n_parameters,).

    Examples
    --------
    >>> noise_ids(Tying("position", np.array([0, 1]), 2), ("b", "a")).tolist()
    [1, 0, 3, 2]
    """
    rank = np.argsort(np.argsort(names))
    p = len(names)
    if tying.by_slot:
        return (np.arange(tying.n_contexts)[:, None] * p + rank).ravel()
    labels = [f"label {label}" for label in tying.keys] + ["gap"]
    keys = [int.from_bytes(blake2b(label.encode(), digest_size=7).digest(), "big") % (2**40) for label in labels]
    return (np.array(keys, dtype=np.int64)[:, None] * p + rank).ravel()
