"""Data of the papers: sets made by rule, loaders of files that a user has, and how the papers cut and padded them."""

from structens.datasets.ads import ads
from structens.datasets.files import letters, pronunciations, read_experts, speech, tagging
from structens.datasets.protocol import PAD, disjoint_folds, folds_of, padded
from structens.datasets.two_views import TwoViews, two_views

__all__ = [
    "PAD",
    "TwoViews",
    "ads",
    "disjoint_folds",
    "folds_of",
    "letters",
    "padded",
    "pronunciations",
    "read_experts",
    "speech",
    "tagging",
    "two_views",
]
