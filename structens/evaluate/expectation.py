"""Expected errors of a randomised rule, to set beside the vote derived from it (which is at most twice as bad)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from structens.core import ParameterError
from structens.evaluate.error_counts import ErrorCounts, check_same_records


def expected_counts(counts: Sequence[ErrorCounts], weights: Sequence[float]) -> ErrorCounts:
    """Expected counts of the randomised rule that draws one system for each record.

    Parameters
    ----------
    counts : sequence of ErrorCounts
        Over the same records.
    weights : sequence of float
        Probability of each system; scaled to sum 1.

    Returns
    -------
    ErrorCounts
        With float64 counts. `reference` is that of the first system, `missing` is true where every system is missing.

    Examples
    --------
    >>> from structens.core import ExpertPredictions
    >>> from structens.evaluate import count_errors
    >>> X = ExpertPredictions.of({"A": [["a"]], "B": [["b"]], "C": [["b"]]}, gold=[["a"]])
    >>> each = [count_errors(name, X) for name in X.names]
    >>> expected_counts(each, [0.4, 0.3, 0.3]).errors.tolist()
    [0.6]
    """
    share = np.asarray(weights, dtype=np.float64)
    if len(share) != len(counts) or not (share >= 0).all() or not 0 < share.sum() < np.inf:
        raise ParameterError(f"need {len(counts)} weights >= 0 that do not all vanish, got {list(weights)!r}")
    share = share / share.sum()
    check_same_records(counts)
    names = ("substitutions", "deletions", "insertions", "hits")
    means = {name: np.einsum("j,jn->n", share, np.stack([getattr(c, name) for c in counts])) for name in names}
    return replace(counts[0], missing=np.all([c.missing for c in counts], axis=0), **means)
