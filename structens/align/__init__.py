"""Answers of different lengths to slots, and gold onto slots."""

from structens.align.distance import edit_distance
from structens.align.slots import align, needs_alignment, oracle_errors

__all__ = ["align", "edit_distance", "needs_alignment", "oracle_errors"]
