"""Learners over path experts: Weighted Majority by cumulative losses, and its conversions to batch predictors.

Two forms of one algorithm: `WeightedMajority` plays on any acyclic automaton; `play` and its companions play the game
of Figure 1 on aligned records (`Slots`), in time linear in the number of transitions.
"""

from structens.online.conversion import AveragedFlows, averaged_flows, round_losses
from structens.online.decoding import Decoded, marginal, position_scores, string, string_probabilities, viterbi
from structens.online.draws import record_keys, uniforms
from structens.online.gamma import cv_penalty, gamma, suffix_start
from structens.online.hedge import cumulative_at, play, slot_flows, softmin
from structens.online.rounds import Rounds, rounds_of
from structens.online.slot_conversion import average_weights, cv_round, grid_size, spread, thetas
from structens.online.tying import TIES, Tying
from structens.online.weighted_majority import WeightedMajority

__all__ = [
    "TIES",
    "AveragedFlows",
    "Decoded",
    "Rounds",
    "Tying",
    "WeightedMajority",
    "average_weights",
    "averaged_flows",
    "cumulative_at",
    "cv_penalty",
    "cv_round",
    "gamma",
    "grid_size",
    "marginal",
    "play",
    "position_scores",
    "record_keys",
    "round_losses",
    "rounds_of",
    "slot_flows",
    "softmin",
    "spread",
    "string",
    "string_probabilities",
    "suffix_start",
    "thetas",
    "uniforms",
    "viterbi",
]
