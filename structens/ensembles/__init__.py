"""Estimators: `fit`, `combine`, `predict`, `confidence`, `score`."""

from structens.ensembles.base import Combined, Ensemble
from structens.ensembles.decoding import DECODERS
from structens.ensembles.deep_esp_boost import DeepESPBoost
from structens.ensembles.esp_boost import ESPBoost
from structens.ensembles.forward_selection import ForwardSelection
from structens.ensembles.length_gated import LengthGated
from structens.ensembles.mbr import MBR
from structens.ensembles.methods import LEARNING, METHODS, default_method, make_ensemble
from structens.ensembles.model_selection import cross_predict, folds
from structens.ensembles.n_best import NBest
from structens.ensembles.path_experts import PathExpertEnsemble
from structens.ensembles.vote import Votes, rover, vote
from structens.ensembles.voting import BestExpert, MajorityVote

__all__ = [
    "DECODERS",
    "LEARNING",
    "MBR",
    "METHODS",
    "BestExpert",
    "Combined",
    "DeepESPBoost",
    "ESPBoost",
    "Ensemble",
    "ForwardSelection",
    "LengthGated",
    "MajorityVote",
    "NBest",
    "PathExpertEnsemble",
    "Votes",
    "cross_predict",
    "default_method",
    "folds",
    "make_ensemble",
    "rover",
    "vote",
]
