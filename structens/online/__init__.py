"""Learners over path experts: Weighted Majority by cumulative losses, and its conversions to batch predictors.

Two forms of one algorithm: `WeightedMajority` plays on any acyclic automaton; `play` and its companions play the game
of Figure 1 on aligned records (`Slots`), in time linear in the number of transitions.
"""

from structens.online.conversion import AveragedFlows, averaged_flows, cv_round, round_losses, thetas
from structens.online.converted import RULES, Converted, convert
from structens.online.decoding import Decoded, marginal, position_scores, string, string_probabilities, viterbi
from structens.online.draws import record_keys, uniforms
from structens.online.gamma import cv_penalty, gamma, suffix_start
from structens.online.hedge import cumulative_at, play, slot_flows, softmin
from structens.online.rates import eta_of
from structens.online.regret import recommended_rate, regret, regret_bound
from structens.online.restricted import RESTRICTS, RestrictedMajority
from structens.online.rounds import Rounds, rounds_of
from structens.online.slot_conversion import average_weights, grid_size, slot_cv_round, slot_thetas, spread
from structens.online.tying import TIES, Tying
from structens.online.weighted_majority import WeightedMajority

__all__ = [
    "RESTRICTS",
    "RULES",
    "TIES",
    "AveragedFlows",
    "Converted",
    "Decoded",
    "RestrictedMajority",
    "Rounds",
    "Tying",
    "WeightedMajority",
    "average_weights",
    "averaged_flows",
    "convert",
    "cumulative_at",
    "cv_penalty",
    "cv_round",
    "eta_of",
    "gamma",
    "grid_size",
    "marginal",
    "play",
    "position_scores",
    "recommended_rate",
    "record_keys",
    "regret",
    "regret_bound",
    "round_losses",
    "rounds_of",
    "slot_cv_round",
    "slot_flows",
    "slot_thetas",
    "softmin",
    "spread",
    "string",
    "string_probabilities",
    "suffix_start",
    "thetas",
    "uniforms",
    "viterbi",
]
