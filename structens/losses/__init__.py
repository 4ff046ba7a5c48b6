"""Losses: what a mistake costs. A loss hands out data (a cost matrix), never code, to kernels."""

from structens.losses.base import AdditiveLoss, get, largest_loss, slot_losses
from structens.losses.bleu import LinearBleu, bleu
from structens.losses.cost_matrix import CostMatrix
from structens.losses.edit import edit_counts, edit_distance
from structens.losses.hamming import Hamming
from structens.losses.label_weights import signed_weights
from structens.losses.ngram import NGramGain

__all__ = [
    "AdditiveLoss",
    "CostMatrix",
    "Hamming",
    "LinearBleu",
    "NGramGain",
    "bleu",
    "edit_counts",
    "edit_distance",
    "get",
    "largest_loss",
    "signed_weights",
    "slot_losses",
]
