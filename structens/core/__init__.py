"""Nouns that every layer shares; numpy only."""

from structens.core.alphabet import ABSENT, GAP, UNKNOWN, Alphabet
from structens.core.automaton import EPSILON, Automaton
from structens.core.encoder import Encoder
from structens.core.errors import (
    AutomatonError,
    DataError,
    ModelError,
    NotFittedError,
    ParameterError,
    StructensError,
)
from structens.core.estimator import Estimator
from structens.core.predictions import ExpertPredictions
from structens.core.ragged import Ragged
from structens.core.slots import Slots

__all__ = [
    "ABSENT",
    "EPSILON",
    "GAP",
    "UNKNOWN",
    "Alphabet",
    "Automaton",
    "AutomatonError",
    "DataError",
    "Encoder",
    "Estimator",
    "ExpertPredictions",
    "ModelError",
    "NotFittedError",
    "ParameterError",
    "Ragged",
    "Slots",
    "StructensError",
]
