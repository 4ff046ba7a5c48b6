"""Learners over path experts, and their conversions to batch predictors.

Two forms of each algorithm: one plays on any acyclic automaton (`WeightedMajority`, `AdaHedge`, `PerturbedLeader`); the
other plays the game of Figure 1 on aligned records (`Slots`), in time linear in the number of transitions.
"""

from structens.online.adahedge import AdaHedge, SlotAdaHedge
from structens.online.bandit import Bandit
from structens.online.component_hedge import ComponentHedge
from structens.online.composed import ComposedLearner, PathLoss, laplace_noise
from structens.online.context_learner import ContextLearner
from structens.online.conversion import AveragedFlows, PathLearner, averaged_flows, cv_round, round_losses, thetas
from structens.online.converted import RULES, Converted, convert
from structens.online.decoding import Decoded, marginal, position_scores, string, string_probabilities, viterbi
from structens.online.draws import record_keys, uniforms
from structens.online.edit_learning import EditGradient, edit_gradient, edit_rounds, rounds_by
from structens.online.fixed_share import FixedShare, tracking_regret
from structens.online.gamma import cv_penalty, gamma, suffix_start
from structens.online.hedge import cumulative_at, play, slot_flows, softmin
from structens.online.history import History
from structens.online.history_conversion import LEARNERS, context_learner, convert_history
from structens.online.history_game import HistoryGame
from structens.online.leading import LeadingLearner
from structens.online.log_odds import LogOdds
from structens.online.ngram_decoding import NGramDecoded, ngram_mbr
from structens.online.ngram_learning import HistoryLearner, SlotHistoryLearner
from structens.online.noise import NOISES, Perturbation, noise_of, printed_epsilon, tuned_epsilon
from structens.online.path_bandit import PathBandit
from structens.online.perturbed_leader import PerturbedLeader
from structens.online.rates import eta_of
from structens.online.rational import RationalLearner, rational_loss
from structens.online.regret import recommended_rate, regret, regret_bound
from structens.online.restricted import RESTRICTS, RestrictedMajority
from structens.online.rounds import Rounds, rounds_of
from structens.online.semi_bandit import SemiBandit
from structens.online.sleeping import SleepingHedge
from structens.online.slot_conversion import average_weights, grid_size, slot_cv_round, slot_thetas, spread
from structens.online.slot_leaders import LEADER_RULES, convert_leaders, leader_losses, leaders
from structens.online.squint import Squint, log_squint_weight, squint_potential
from structens.online.tropical import TropicalLearner, tropical_loss
from structens.online.tying import TIES, Tying
from structens.online.visits import Visits, visits_of
from structens.online.weighted_majority import Played, WeightedMajority, play_automaton

__all__ = [
    "LEADER_RULES",
    "LEARNERS",
    "NOISES",
    "RESTRICTS",
    "RULES",
    "TIES",
    "AdaHedge",
    "AveragedFlows",
    "Bandit",
    "ComponentHedge",
    "ComposedLearner",
    "ContextLearner",
    "Converted",
    "Decoded",
    "EditGradient",
    "FixedShare",
    "History",
    "HistoryGame",
    "HistoryLearner",
    "LeadingLearner",
    "LogOdds",
    "NGramDecoded",
    "PathBandit",
    "PathLearner",
    "PathLoss",
    "Perturbation",
    "PerturbedLeader",
    "Played",
    "RationalLearner",
    "RestrictedMajority",
    "Rounds",
    "SemiBandit",
    "SleepingHedge",
    "SlotAdaHedge",
    "SlotHistoryLearner",
    "Squint",
    "TropicalLearner",
    "Tying",
    "Visits",
    "WeightedMajority",
    "average_weights",
    "averaged_flows",
    "context_learner",
    "convert",
    "convert_history",
    "convert_leaders",
    "cumulative_at",
    "cv_penalty",
    "cv_round",
    "edit_gradient",
    "edit_rounds",
    "eta_of",
    "gamma",
    "grid_size",
    "laplace_noise",
    "leader_losses",
    "leaders",
    "log_squint_weight",
    "marginal",
    "ngram_mbr",
    "noise_of",
    "play",
    "play_automaton",
    "position_scores",
    "printed_epsilon",
    "rational_loss",
    "recommended_rate",
    "record_keys",
    "regret",
    "regret_bound",
    "round_losses",
    "rounds_by",
    "rounds_of",
    "slot_cv_round",
    "slot_flows",
    "slot_thetas",
    "softmin",
    "spread",
    "squint_potential",
    "string",
    "string_probabilities",
    "suffix_start",
    "thetas",
    "tracking_regret",
    "tropical_loss",
    "tuned_epsilon",
    "uniforms",
    "visits_of",
    "viterbi",
]
