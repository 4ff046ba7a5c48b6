"""What taggers say, and how it becomes a further expert."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.core import ExpertPredictions
from structens.core.units import join


class Tagged(NamedTuple):
    """Labels of sequences and how sure each is.

    Attributes
    ----------
    labels : list of list of str
    confidences : list of ndarray of float64
        Probability of each label to be right, in [0, 1].
    """

    labels: list[list[str]]
    confidences: list[NDArray[np.float64]]


def add_experts(X: ExpertPredictions, columns: Mapping[str, Any]) -> ExpertPredictions:
    """The same records with more experts, last in the order, such as what `cross_predict` says.

    Parameters
    ----------
    X : ExpertPredictions
    columns : mapping of name to Tagged, or to a list of answers
        One answer a record, in the order of X, None for none; texts, or labels to be joined, where X has texts.

    Raises
    ------
    DataError
        If a name is taken, or answers do not fit the records.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": [["D", "V"]]}, ids=["s1"])
    >>> both = add_experts(X, {"tagger": Tagged([["D", "N"]], [np.array([0.9, 0.6])])})
    >>> both["tagger"], both.confidence.tolist()
    ([['D', 'N']], [nan, nan, 0.9, 0.6])
    """
    for name, column in columns.items():
        answers = column.labels if isinstance(column, Tagged) else column
        if X.is_text:
            answers = [row if row is None or isinstance(row, str) else join(list(row), X.unit) for row in answers]
        X = X.add(name, answers)
        if isinstance(column, Tagged):
            sure = [None if row is None else row.tolist() for row in column.confidences]
            there, own = X.confidence, X.with_confidences({name: sure}).confidence
            X = replace(X, confidence=own if there is None or own is None else np.where(np.isnan(own), there, own))
    return X
