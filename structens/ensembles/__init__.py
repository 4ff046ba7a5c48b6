"""Estimators: `fit`, `combine`, `predict`, `confidence`, `score`; taggers, which are imported when they are used."""

from typing import TYPE_CHECKING, Any

from structens.ensembles.auto import AutoEnsemble
from structens.ensembles.base import Combined, Ensemble
from structens.ensembles.boosted_paths import BoostedPaths
from structens.ensembles.calibrated import Calibrated
from structens.ensembles.confusion_paths import ConfusionPaths
from structens.ensembles.dawid_skene import DawidSkene
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
from structens.ensembles.reliability_selection import ReliabilitySelection
from structens.ensembles.tagged import Tagged, add_experts
from structens.ensembles.vote import Votes, rover, vote
from structens.ensembles.voting import BestExpert, MajorityVote

if TYPE_CHECKING:
    from structens.ensembles.in_sample import OutOfFold, honest_tags
    from structens.ensembles.position_tagger import PositionTagger
    from structens.ensembles.vector_features import MatrixFeatures, VectorWindows
    from structens.ensembles.word_features import WordFeatures

__all__ = [
    "DECODERS",
    "LEARNING",
    "MBR",
    "METHODS",
    "AutoEnsemble",
    "BestExpert",
    "BoostedPaths",
    "Calibrated",
    "Combined",
    "ConfusionPaths",
    "DawidSkene",
    "DeepESPBoost",
    "ESPBoost",
    "Ensemble",
    "ForwardSelection",
    "LengthGated",
    "MajorityVote",
    "MatrixFeatures",
    "NBest",
    "OutOfFold",
    "PathExpertEnsemble",
    "PositionTagger",
    "ReliabilitySelection",
    "Tagged",
    "VectorWindows",
    "Votes",
    "WordFeatures",
    "add_experts",
    "cross_predict",
    "default_method",
    "folds",
    "honest_tags",
    "make_ensemble",
    "rover",
    "vote",
]

_TAGGING = {
    "in_sample": ("OutOfFold", "honest_tags"),
    "position_tagger": ("PositionTagger",),
    "vector_features": ("MatrixFeatures", "VectorWindows"),
    "word_features": ("WordFeatures",),
}


def __getattr__(name: str) -> Any:
    """Import taggers, and boosting with them, when they are used: combining needs neither."""
    from importlib import import_module

    for module, names in _TAGGING.items():
        if name in names:
            return getattr(import_module(f"structens.ensembles.{module}"), name)
    raise AttributeError(f"module 'structens.ensembles' has no attribute {name!r}")
