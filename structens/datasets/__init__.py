"""Data made by rule, for examples and replications."""

from structens.datasets.ads import ads

__all__ = ["ads"]
