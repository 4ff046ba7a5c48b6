"""structens: combine the outputs of several sequence predictors into one better output, and prove it.

Names are imported when they are used, so that ``structens --help`` loads nothing heavy.
"""

import lazy_loader as _lazy

from structens.compiler_cache import compile_anew_if_nothing_can_be_kept as _compile_anew_if_nothing_can_be_kept

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submodules=[
        "align",
        "automata",
        "core",
        "datasets",
        "ensembles",
        "evaluate",
        "io",
        "losses",
        "online",
        "report",
    ],
    submod_attrs={
        "core": ["Alphabet", "Automaton", "ExpertPredictions", "Ragged", "Slots", "StructensError"],
        "losses": ["AdditiveLoss", "CostMatrix", "Hamming", "LinearBleu", "NGramGain"],
        "ensembles": [
            "AutoEnsemble",
            "BestExpert",
            "Calibrated",
            "BoostedPaths",
            "DawidSkene",
            "DeepESPBoost",
            "ESPBoost",
            "ConfusionPaths",
            "ForwardSelection",
            "LengthGated",
            "MajorityVote",
            "MatrixFeatures",
            "PathExpertEnsemble",
            "PositionTagger",
            "ReliabilitySelection",
            "VectorWindows",
            "WordFeatures",
            "add_experts",
            "cross_predict",
            "make_ensemble",
        ],
        "online": ["WeightedMajority"],
        "evaluate": ["evaluate_experts", "evaluate_methods"],
        "io": ["iter_records", "read_records", "write_predictions"],
        "io.ensemble_file": ["load", "save"],
        "report": ["render"],
    },
)

_compile_anew_if_nothing_can_be_kept()
